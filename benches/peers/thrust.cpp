// Thrust's algorithms on the arrays of `inputs.py`, measured here: the least time of rounds within some seconds.
//
// Results lie in memory that each round takes anew and does not initialise, as the other contenders' do.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/merge.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>
#if THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_OMP
#include <omp.h>
#endif

using std::int64_t;

struct Arrays {
    int64_t n, columns, segments, side;
    const double *x, *y, *a, *b, *runs, *left, *right;
    const int64_t *keys, *places, *segment_of, *counts;
    const uint8_t *mask;
};

/// Says that memory is read, so that the compiler keeps what is written to it.
struct Used {
    template <class T> void operator()(T *at) const {
        asm volatile("" : : "g"(at) : "memory");
        delete[] at;
    }
};

template <class T> std::unique_ptr<T[], Used> memory(int64_t n) { return std::unique_ptr<T[], Used>(new T[n]); }

struct Double { double operator()(double v) const { return v * 2.0 + 1.0; } };
struct Is { bool operator()(uint8_t v) const { return v; } };
struct Both { double operator()(double v, double w) const { return v * w + 1.0; } };
struct Ten { double operator()(double v) const { for (int k = 0; k < 10; k++) v = v * 0.5 + 1.0; return v; } };
struct Row { int64_t columns; int64_t operator()(int64_t i) const { return i / columns; } };
struct Product {
    const double *left, *right; int64_t side;
    double operator()(int64_t i) const { return left[i / side] * right[i % side]; }
};
struct Three {
    const double *x; int64_t n;
    double operator()(int64_t i) const { return x[i ? i - 1 : 0] + x[i] + x[i < n - 1 ? i + 1 : n - 1]; }
};

static volatile double sink;

static std::function<void()> algorithm(const std::string &name, const Arrays &g) {
    const auto by = thrust::device;
    const int64_t n = g.n;
    const auto count = thrust::make_counting_iterator<int64_t>(0);
    if (name == "map") return [=] { auto o = memory<double>(n); thrust::transform(by, g.x, g.x + n, o.get(), Double{}); };
    if (name == "zipwith")
        return [=] { auto o = memory<double>(n); thrust::transform(by, g.x, g.x + n, g.y, o.get(), Both{}); };
    if (name == "reduce") return [=] { sink = thrust::reduce(by, g.x, g.x + n, 0.0); };
    if (name == "reduce rows" || name == "scan rows") {
        const auto rows = thrust::make_transform_iterator(count, Row{g.columns});
        const int64_t whole = n / g.columns * g.columns;
        if (name == "scan rows")
            return [=] {
                auto o = memory<double>(whole);
                thrust::inclusive_scan_by_key(by, rows, rows + whole, g.x, o.get());
            };
        return [=] {
            auto o = memory<double>(n / g.columns);
            thrust::reduce_by_key(by, rows, rows + whole, g.x, thrust::make_discard_iterator(), o.get());
        };
    }
    if (name == "sum(map)" || name == "transform_reduce")
        return [=] { sink = thrust::transform_reduce(by, g.x, g.x + n, Double{}, 0.0, thrust::plus<double>{}); };
    if (name == "chain")
        return [=] { sink = thrust::transform_reduce(by, g.x, g.x + n, Ten{}, 0.0, thrust::plus<double>{}); };
    if (name == "inner") return [=] { sink = thrust::inner_product(by, g.x, g.x + n, g.y, 0.0); };
    if (name == "scan") return [=] { auto o = memory<double>(n); thrust::inclusive_scan(by, g.x, g.x + n, o.get()); };
    if (name == "exclusive_scan")
        return [=] { auto o = memory<double>(n); thrust::exclusive_scan(by, g.x, g.x + n, o.get(), 0.0); };
    if (name == "segmented_reduce")
        return [=] {
            auto o = memory<double>(g.segments);
            thrust::reduce_by_key(by, g.segment_of, g.segment_of + n, g.x, thrust::make_discard_iterator(), o.get());
        };
    if (name == "segmented_scan")
        return [=] {
            auto o = memory<double>(n);
            thrust::inclusive_scan_by_key(by, g.segment_of, g.segment_of + n, g.x, o.get());
        };
    if (name == "gather")
        return [=] { auto o = memory<double>(n); thrust::gather(by, g.places, g.places + n, g.x, o.get()); };
    if (name == "scatter")
        return [=] {
            auto o = memory<double>(n);
            thrust::copy(by, g.x, g.x + n, o.get());
            thrust::scatter(by, g.y, g.y + n, g.places, o.get());
        };
    if (name == "compact")
        return [=] {
            auto o = memory<double>(thrust::count(by, g.mask, g.mask + n, 1));
            thrust::copy_if(by, g.x, g.x + n, g.mask, o.get(), Is{});
        };
    if (name == "partition")
        return [=] {
            auto o = memory<double>(n);
            const auto k = thrust::count(by, g.mask, g.mask + n, 1);
            thrust::stable_partition_copy(by, g.x, g.x + n, g.mask, o.get(), o.get() + k, Is{});
        };
    if (name == "sort_by_key")
        return [=] {
            auto k = memory<int64_t>(n);
            auto v = memory<double>(n);
            thrust::copy(by, g.keys, g.keys + n, k.get());
            thrust::copy(by, g.y, g.y + n, v.get());
            thrust::stable_sort_by_key(by, k.get(), k.get() + n, v.get());
        };
    if (name == "unique")
        return [=] {
            auto k = memory<double>(n);
            thrust::copy(by, g.runs, g.runs + n, k.get());
            thrust::sort(by, k.get(), k.get() + n);
            sink = thrust::unique(by, k.get(), k.get() + n) - k.get();
        };
    if (name == "run_length")
        return [=] {
            auto v = memory<double>(n);
            auto l = memory<int64_t>(n);
            const auto one = thrust::make_constant_iterator<int64_t>(1);
            thrust::reduce_by_key(by, g.runs, g.runs + n, one, v.get(), l.get());
        };
    if (name == "bincount")
        return [=] {
            auto k = memory<int64_t>(n);
            auto o = memory<int64_t>(1000);
            thrust::copy(by, g.counts, g.counts + n, k.get());
            thrust::sort(by, k.get(), k.get() + n);
            thrust::upper_bound(by, k.get(), k.get() + n, count, count + 1000, o.get());
            thrust::adjacent_difference(by, o.get(), o.get() + 1000, o.get());
        };
    if (name == "merge")
        return [=] { auto o = memory<double>(2 * n); thrust::merge(by, g.a, g.a + n, g.b, g.b + n, o.get()); };
    // Equal elements of one set stay several, unlike in ours.
    if (name == "union")
        return [=] { auto o = memory<double>(2 * n); thrust::set_union(by, g.a, g.a + n, g.b, g.b + n, o.get()); };
    if (name == "intersection")
        return [=] { auto o = memory<double>(n); thrust::set_intersection(by, g.a, g.a + n, g.b, g.b + n, o.get()); };
    if (name == "difference")
        return [=] { auto o = memory<double>(n); thrust::set_difference(by, g.a, g.a + n, g.b, g.b + n, o.get()); };
    if (name == "symmetric_difference")
        return [=] {
            auto o = memory<double>(2 * n);
            thrust::set_symmetric_difference(by, g.a, g.a + n, g.b, g.b + n, o.get());
        };
    if (name == "stencil line")
        return [=] { auto o = memory<double>(n); thrust::transform(by, count, count + n, o.get(), Three{g.x, n}); };
    if (name == "outer")
        return [=] {
            auto o = memory<double>(g.side * g.side);
            thrust::transform(by, count, count + g.side * g.side, o.get(), Product{g.left, g.right, g.side});
        };
    if (name == "adjacent_difference")
        return [=] { auto o = memory<double>(n); thrust::adjacent_difference(by, g.x, g.x + n, o.get()); };
    return nullptr;
}

/// The least seconds of an algorithm, or NaN if there is none of that name.
extern "C" double measure(const char *name, const Arrays *given, int threads, double seconds) {
    using clock = std::chrono::steady_clock;
#if THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_OMP
    omp_set_num_threads(threads);
#endif
    const auto run = algorithm(name, *given);
    if (!run) return NAN;
    double best = INFINITY, spent = 0.0;
    for (int round = 0; round < 3 || (spent < seconds && round < 10000); round++) {
        const auto start = clock::now();
        run();
        const double took = std::chrono::duration<double>(clock::now() - start).count();
        best = std::min(best, took);
        spent += took;
    }
    return best;
}
