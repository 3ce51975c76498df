"""Kernels of bodies in C: C's arithmetic against `ctypes`-like rules of NumPy, control flow, memory, diagnostics."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lancehead.cupy as cp
from lancehead.cupy.c import calls
from lancehead.cupy.cuda.compiler import CompileException

#: Expressions of `int a, int b, unsigned u, long l, float f, signed char c` with their types and values by C's rules.
ARITHMETIC = r"""
extern "C" __global__ void arithmetic(const int* a, const int* b, const unsigned* u, const float* f,
                                      const signed char* c, int* i, unsigned* v, long long* l, float* g, int n) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n) return;
    int x = a[k], y = b[k];
    unsigned w = u[k];
    i[0 * n + k] = y ? x / y : 0;
    i[1 * n + k] = y ? x % y : 0;
    i[2 * n + k] = x * y;
    i[3 * n + k] = (x ^ y) + (x & ~y) - (x | y);
    i[4 * n + k] = x >> 3;
    i[5 * n + k] = x << 2;
    i[6 * n + k] = c[k] * c[k] + (signed char)x + (short)y;
    i[7 * n + k] = x < w;
    i[8 * n + k] = (int)f[k] + !x + (x && y) + (x > y ? 1 : -1);
    v[0 * n + k] = w * 2654435761u;
    v[1 * n + k] = w - x;
    v[2 * n + k] = (w * 31u) >> 5;
    v[3 * n + k] = (w + 7u) / 3u;
    v[4 * n + k] = (unsigned char)x;
    l[0 * n + k] = (long long)x * y;
    l[1 * n + k] = w - 1u;
    l[2 * n + k] = (long long)(x * y);
    g[0 * n + k] = f[k] / 3 + 1.5f * x;
    g[1 * n + k] = 1 / 2 + 1 / 2.0 + w;
}
"""


def wrapped(x, dtype):
    return np.asarray(x).astype(np.int64).astype(dtype)


def test_arithmetic():
    n = 300
    rng = np.random.default_rng(1)
    corners = np.array([0, 1, -1, 2, -7, 7, 2**31 - 1, -(2**31) + 1], np.int32)
    a = np.concatenate([np.repeat(corners, 8), rng.integers(-(2**31) + 1, 2**31, n - 64)]).astype(np.int32)
    b = np.concatenate([np.tile(corners, 8), rng.integers(-99, 99, n - 64)]).astype(np.int32)
    u = rng.integers(0, 2**32, n).astype(np.uint32)
    f, c = rng.normal(0, 1e3, n).astype(np.float32), rng.integers(-128, 128, n).astype(np.int8)
    i, v, l, g = (
        cp.zeros((9, n), np.int32),
        cp.zeros((5, n), np.uint32),
        cp.zeros((3, n), np.int64),
        cp.zeros((2, n), np.float32),
    )
    cp.RawKernel(ARITHMETIC, "arithmetic")((10,), (32,), (*map(cp.asarray, (a, b, u, f, c)), i, v, l, g, n))
    A, B, U = a.astype(np.int64), b.astype(np.int64), u.astype(np.int64)
    safe = np.where(B == 0, 1, B)
    quotient = np.sign(A) * np.sign(safe) * (abs(A) // abs(safe))
    expected = [
        np.where(B == 0, 0, quotient), np.where(B == 0, 0, A - quotient * safe), A * B, (A ^ B) + (A & ~B) - (A | B),
        A >> 3, A << 2, c.astype(int) ** 2 + a.astype(np.int8) + b.astype(np.int16), A.astype(np.uint32) < u,
        f.astype(np.int64) + (A == 0) + ((A != 0) & (B != 0)) + np.where(A > B, 1, -1),
    ]  # fmt: skip
    for k, e in enumerate(expected):
        np.testing.assert_array_equal(i[k].get(), wrapped(e, np.int32), err_msg=str(k))
    unsigned = [U * 2654435761, U - A, ((U * 31) % 2**32) >> 5, ((U + 7) % 2**32) // 3, a.astype(np.uint8)]
    for k, e in enumerate(unsigned):
        np.testing.assert_array_equal(v[k].get(), wrapped(e, np.uint32), err_msg=str(k))
    np.testing.assert_array_equal(l[0].get(), A * B)
    np.testing.assert_array_equal(l[1].get(), (U - 1) % 2**32)
    np.testing.assert_array_equal(l[2].get(), wrapped(A * B, np.int32))
    np.testing.assert_allclose(g[0].get(), f / np.float32(3) + np.float32(1.5) * a.astype(np.float32), rtol=1e-5)
    np.testing.assert_allclose(g[1].get(), (0.5 + U).astype(np.float32))


FLOW = r"""
#define STEPS 5
template <typename T> __device__ T limited(T x, T low, T high) { return x < low ? low : x > high ? high : x; }
__device__ int collatz(long n, int& steps) {
    steps = 0;
    while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; ++steps; }
    return steps;
}
__constant__ int table[4] = {3, 1, 4, 1};
extern "C" __global__ void flow(const int* x, int* y, int n) {
    __shared__ int shared[32];
    int t = threadIdx.x;
    shared[t] = t < n ? x[t] : 0;
    __syncthreads();
    if (t >= n) return;
    int steps, sum = 0;
    collatz(shared[t] + 1, steps);
    for (int i = 0, j = 10; i < STEPS; i++, j -= 2) {
        if (i == 1) continue;
        if (i == 4) break;
        switch ((x[t] + i) % 4) {
            case 0: sum += 1; break;
            case 1: sum += 10;
            case 2: sum += 100; break;
            default: if (i == 2) continue; sum += 1000;
        }
        sum += j;
    }
    int k = 0;
    do { k += 2; if (k == 4) continue; sum += k; } while (k < 7);
    int local[2][2] = {{1, 2}, {3}};
    int* p = &local[1][0];
    sum += *p++ * 2 + *p + table[t % 4];
    int old = atomicAdd(&y[n], limited(sum, -50, 50));
    (void)old;
    y[t] = sum + steps * limited(0.5f, 1.0f, 2.0f);
}
"""


def plain(x):
    steps, n = 0, x + 1
    while n != 1:
        n, steps = (3 * n + 1 if n % 2 else n // 2), steps + 1
    total, j = 0, 10
    for i in range(5):
        if i == 4:
            break
        case = (x + i) % 4
        skipped = i == 1 or (case == 3 and i == 2)
        if not skipped:
            total += {0: 1, 1: 110, 2: 100, 3: 1000}[case] + j
        j -= 2
    return total + 2 + 6 + 8 + 6, steps


def test_flow():
    x = np.arange(20, dtype=np.int32)
    y = cp.zeros(21, np.int32)
    cp.RawKernel(FLOW, "flow")((1,), (32,), (cp.asarray(x), y, 20))
    sums = [plain(int(v))[0] + [3, 1, 4, 1][t % 4] for t, v in enumerate(x)]
    assert y[:20].get().tolist() == [s + plain(int(v))[1] for s, v in zip(sums, x)]
    assert int(y[20]) == sum(min(max(s, -50), 50) for s in sums)


def test_raw_arguments():
    text = r"""
    extern "C" __global__ void twice(float* x, int n) { for (int i = 0; i < n; ++i) x[i] *= 2; }
    template <typename T, int N> __global__ void fill(T* x) { if (threadIdx.x < N) x[threadIdx.x] = N; }
    __device__ float scale = 3.0f;
    extern "C" __global__ void scaled(float* x) { x[threadIdx.x] *= scale; }
    """
    module = cp.RawModule(code=text, name_expressions=("fill<double, 2>",))
    x = cp.arange(4, dtype=np.float32)
    before = x + 1
    module.get_function("twice")((1,), (1,), (x[1:], np.int32(2)))
    assert x.get().tolist() == [0, 2, 4, 3]
    assert before.get().tolist() == [1, 2, 3, 4]
    y = cp.zeros(3)
    module.get_function("fill<double, 2>")((1,), (32,), (y,))
    assert y.get().tolist() == [2, 2, 0]
    module.get_function("scaled")((1,), (4,), (x,))
    assert x.get().tolist() == [0, 6, 12, 9]
    scale = cp.ndarray((1,), np.float32, module.get_global("scale"))
    scale[0] = 10
    module.get_function("scaled")((1,), (4,), (x,))
    assert x.get().tolist() == [0, 60, 120, 90]
    for bad in ((x,), (np.ones(3, np.float32), 3), (x, x)):
        with pytest.raises(TypeError):
            module.get_function("twice")((1,), (1,), bad)


BODY = cp.ElementwiseKernel(
    "T x, raw T y, int32 k",
    "T z, bool w",
    "T s = 0; for (int j = 0; j < k; ++j) s += y[(i + j) % y.size()]; z = s * x; w = x > 1",
    "body",
)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 3), st.integers(0, 40), st.sampled_from(["float32", "int32", "float64"]), st.booleans())
def test_elementwise(k, n, dtype, is_reversed):
    x = np.arange(n, dtype=dtype)[::-1] if is_reversed else np.arange(n, dtype=dtype)
    y = np.arange(1, 8).astype(dtype)
    there = cp.arange(n, dtype=dtype)
    z, w = BODY(there[::-1] if is_reversed else there, cp.asarray(y), k)
    sums = np.array([sum(y[(i + j) % 7] for j in range(k)) for i in range(n)]).astype(dtype)
    np.testing.assert_allclose(z.get(), (sums * x).astype(dtype))
    assert w.get().tolist() == (x > 1).tolist()


def test_elementwise_arguments():
    f = cp.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = (x - y) * (x - y)", "squared_difference")
    x, y = cp.arange(10, dtype=np.float32).reshape(2, 5), cp.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(f(x, y).get(), (x.get() - y.get()) ** 2)
    np.testing.assert_array_equal(f(x.T.copy().T, 5).get(), (x.get() - 5) ** 2)
    z = cp.empty((2, 10), np.float32)[:, ::2]
    assert f(x, y, z) is z
    np.testing.assert_array_equal(z.get(), (x.get() - y.get()) ** 2)
    for bad, error in (((x,), TypeError), ((x, cp.arange(5)), TypeError), ((x, cp.ones(4, np.float32)), ValueError),
                       ((x, y, cp.empty(5, np.float32)), ValueError), ((x, np.ones(5)), TypeError)):  # fmt: skip
        with pytest.raises(error):
            f(*bad)
    count = cp.ElementwiseKernel("", "raw T y", "y[i] = i * 2", "count")
    assert count(cp.zeros(4), size=4).get().tolist() == [0, 2, 4, 6]
    more = cp.ElementwiseKernel("T x", "T y", "if (x > 1) y += x")
    assert more(cp.arange(3), cp.ones(3, np.int64)).get().tolist() == [1, 1, 3]


def test_memory_of_arguments():
    f = cp.ElementwiseKernel("T x, T y", "T z", "z = x - 2 * y", "minus_twice")
    a = np.arange(1, 9, dtype=np.float32).reshape(2, 4)
    cases = {
        "whole": lambda x: (x, x, x), "reversed": lambda x: (x[:, ::-1], x, x), "one": lambda x: (x, x[1:, 1:2], x),
        "row": lambda x: (x[1], x, x), "columns": lambda x: (x.T.copy().T, x, x), "view": lambda x: (x, x, x[:, :]),
        "new": lambda x: (x, x[:1]), "flipped": lambda x: (x[::-1], 3), "numbers": lambda x: (x.ravel()[2:5], 1),
        "reshaped": lambda x: (x, x.reshape(4, 2).reshape(2, 4), x),
    }  # fmt: skip
    for name, case in cases.items():
        # The second and the third call find what the first one has learnt.
        for _ in range(3):
            x = cp.asarray(a)
            before = x + 1
            given, plain = case(x), case(a.copy())
            found = f(*given)
            expected = (plain[0] - 2 * plain[1]).astype(np.float32)
            np.testing.assert_array_equal(found.get(), expected, err_msg=name)
            assert found is given[2] if len(given) > 2 else found.dtype == np.float32
            np.testing.assert_array_equal(before.get(), a + 1, err_msg=name)
            np.testing.assert_array_equal(x.get(), expected if len(given) > 2 else a, err_msg=name)


def test_numbers_as_arguments():
    f = cp.ElementwiseKernel("T x, T y", "T z", "z = y", "second")
    k = cp.RawKernel(
        """extern "C" __global__ void k(int a, unsigned b, long long c, float d, double e, signed char f, bool g,
                                        double* out) {
               out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; out[5] = f; out[6] = g; }""",
        "k",
    )
    types = "iIqfdb?"
    for v in (0, -1, 300, 2**31, -(2**40), 2**63, 1.75, True, np.int32(-5), np.float32(0.1), np.uint8(200)):
        for d in (np.int8, np.uint32, np.int64, np.float32, np.float64):
            if isinstance(v, np.generic) and v.dtype != d:
                continue
            for _ in range(2):
                found = f(cp.ones(2, d), v)
                np.testing.assert_array_equal(found.get(), np.asarray(v).astype(d), err_msg=f"{v!r} {d}")
        out = cp.zeros(7)
        k((1,), (1,), (*[v] * 7, out))
        expected = [np.asarray(v).astype(t).astype(float) for t in types]
        np.testing.assert_array_equal(out.get(), expected, err_msg=repr(v))
    for grid in (1, [1], (np.int64(1),), (np.asarray(1),), (cp.asarray(1), 1)):
        k(grid, (1,), (*range(7), out))
        assert out.get().tolist() == [0, 1, 2, 3, 4, 5, 1]
        out[...] = 0
    for wrong in (cp.ones(1), "1", None):
        with pytest.raises(TypeError):
            k((1,), (1,), (wrong, 0, 0, 0, 0, 0, 0, out))


def test_reduction():
    norm = cp.ReductionKernel("T x, T w", "T y", "x * x * w", "a + b", "y = sqrt(a)", "0", "norm")
    greatest = cp.ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", None, "greatest")
    for shape, axis in (((3, 400, 2), 1), ((3, 4), None), ((5,), 0), ((2, 3, 4), (0, 2)), ((700,), None)):
        a = np.random.default_rng(0).normal(size=shape)
        x = cp.asarray(a)
        np.testing.assert_allclose(norm(x, 2.0, axis=axis).get(), np.sqrt((a * a * 2).sum(axis=axis)))
        np.testing.assert_array_equal(greatest(x, axis=axis, keepdims=True).get(), a.max(axis=axis, keepdims=True))
    assert float(norm(cp.zeros(0), 1.0)) == 0.0
    with pytest.raises(ValueError):
        greatest(cp.zeros(0))


@pytest.mark.parametrize(
    "body, line, message",
    [
        ("int a = ;\ny[0] = 1;", 2, "expected an expression"),
        ("int a = 1;\ny[0] = b;", 3, 'identifier "b" is undefined'),
        ("y[0] = missing(1);", 2, 'identifier "missing" is undefined'),
        ("double total = 1;\ny[0] = totla;", 3, 'identifier "totla" is undefined; did you mean `total`?'),
        ("y[0] = sqtr(2.0);", 2, 'identifier "sqtr" is undefined; did you mean `sqrt`?'),
        ("int a = 1\ny[0] = a;", 2, 'expected a ";"'),
        ("struct S { int a; } s;", 2, "struct is not served"),
        ("float f = 1.0f;\nint k = f % 2;", 3, "must have integral"),
        ("goto end;", 2, "goto is not served"),
        ("y[0] = pow(2.0f);", 2, "too few arguments"),
        ("if (y[0] > 0) { y[0] = 1;", 3, 'expected a "}"'),
        ("1 = y[0];", 2, "must be a modifiable lvalue"),
        ("for (;;) { break; }\ncontinue;", 3, "only be used within a loop"),
        ("float* p = y;\nint* q = (int*)p;", 3, "pointers are not converted"),
        ("y[0] = 12abc;", 2, "suffix"),
    ],
)
def test_diagnostics(body, line, message):
    text = f'extern "C" __global__ void f(float* y) {{\n{body}\n}}'
    with pytest.raises(CompileException) as e:
        cp.RawKernel(text, "f").compile()
    assert message in str(e.value)
    assert f"({line})" in str(e.value)
    assert text.splitlines()[line - 1].strip() in str(e.value)


def test_diagnostics_of_bodies():
    f = cp.ElementwiseKernel("T x", "T y", "T z = x;\ny = z + bar;", "body")
    with pytest.raises(CompileException, match=r"body\(2\): error: identifier \"bar\" is undefined\s+y = z \+ bar;"):
        f(cp.ones(3))
    for name in ("1", "a b"):
        with pytest.raises(ValueError):
            cp.ElementwiseKernel("T x", "T y", "y = x", name)
    with pytest.raises(CompileException, match="#error directive: no"):
        cp.RawKernel("#ifndef OPTION\n#error no\n#endif", "f").compile()


MORE = r"""
extern "C" __global__ void histogram(const unsigned char* x, unsigned int* counts, int n) {
    extern __shared__ unsigned int own[];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        atomicAdd(&own[x[i]], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(counts + i, own[i]);
}
__device__ float of_warp(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    return v;
}
extern "C" __global__ void total(const void* bytes, float* out, int n) {
    const float* x = (const float*)bytes;
    float v = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) v += x[i];
    v = of_warp(v);
    if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
template <typename T> __global__ void turned(T* x) { x[threadIdx.x] = x[threadIdx.x] * T(2, 1) + conj(x[threadIdx.x]); }
"""


def test_threads_together():
    module = cp.RawModule(code=MORE, name_expressions=["turned<complex<float> >"])
    a = np.random.default_rng(0).integers(0, 256, 10_000).astype(np.uint8)
    counts = cp.zeros(256, np.uint32)
    module.get_function("histogram")((4,), (128,), (cp.asarray(a), counts, a.size), shared_mem=1024)
    np.testing.assert_array_equal(counts.get(), np.bincount(a, minlength=256))
    x, out = np.random.default_rng(1).random(5000, np.float32), cp.zeros(1, np.float32)
    module.get_function("total")((1,), (256,), (cp.asarray(x), out, x.size))
    np.testing.assert_allclose(out.get(), [x.sum()], rtol=1e-5)
    z = np.array([1 + 2j, 3j], np.complex64)
    there = cp.asarray(z)
    module.get_function("turned<complex<float>>")((1,), (2,), (there,))
    np.testing.assert_allclose(there.get(), z * (2 + 1j) + z.conj())


def test_functions_of_numbers():
    x = np.array([1 / 3, 0.1, -2.5, 1e8 + 0.3])
    kernel = cp.ElementwiseKernel(
        "float64 x, float32 f, int32 k",
        "float64 a, float64 b, float32 c, int32 d, float64 e, float64 g, complex128 z",
        """a = __fma_rn(x, 3.0, 0.1);
           double whole; b = modf(x, &whole) + 10 * whole;
           c = fmaf(f, f, f) + fabsf(f) + max(f, 0.5f) + __int_as_float(__float_as_int(f));
           d = __mulhi(k, k) + __popc(k) + __clz(k) + abs(k) + min(k, 7) + isnan(x);
           double s, t; sincos(x, &s, &t); e = s + 2 * t + ldexp(x, 3);
           complex<double> w(x, 2.0); g = norm(w) + abs(w) + arg(w) + real(w) + imag(x) + llrint(x);
           z = exp(conj(w / 1e9)) * make_cuDoubleComplex(1, x);""",
        "functions",
    )
    f, i = x.astype(np.float32), np.array([5, -7, 123456789, 0], np.int32)
    a, b, c, d, e, g, z = (r.get() for r in kernel(cp.asarray(x), cp.asarray(f), cp.asarray(i)))
    # Rounded once.
    assert a.tolist() == [float(Fraction(v) * 3 + Fraction(0.1)) for v in x.tolist()]
    part, whole = np.modf(x)
    np.testing.assert_allclose(b, part + 10 * whole, rtol=1e-15)
    np.testing.assert_allclose(c, f.astype(float) * f + f + abs(f) + np.maximum(f, 0.5) + f, rtol=1e-6)
    wide, bits = i.astype(np.int64), i.view(np.uint32)
    counts = [n.bit_count() + 32 - n.bit_length() for n in bits.tolist()]
    np.testing.assert_array_equal(d, (wide * wide >> 32) + counts + abs(wide) + np.minimum(wide, 7))
    np.testing.assert_allclose(e, np.sin(x) + 2 * np.cos(x) + x * 8, rtol=1e-14)
    w = x + 2j
    np.testing.assert_allclose(g, abs(w) ** 2 + abs(w) + np.angle(w) + x + np.rint(x), rtol=1e-14)
    np.testing.assert_allclose(z, np.exp(np.conj(w / 1e9)) * (1 + 1j * x), rtol=1e-14)


def test_conversions_of_devices():
    """Roundings by name, halves of products and sums, and the bytes of numbers."""
    x = np.array([2.5, -2.5, 3.5, -0.1, 1e9 + 0.7])
    i = np.array([-3, 2**31 - 1, -(2**31), 16777217, 7], np.int32)
    kernel = cp.ElementwiseKernel(
        "float64 x, int32 v",
        "int32 a, int32 b, int32 c, int32 d, float32 f, uint32 g, int32 h, int64 j, uint64 k, float64 l, uint32 m",
        """a = __double2int_rn(x); b = __double2int_rz(x); c = __double2int_rd(x); d = __double2int_ru(x);
           f = __int2float_rn(v); g = __uhadd(v, 5); h = __hadd(v, 5) + __rhadd(v, 6);
           j = __mul64hi((long long)v << 20, (long long)v << 30); k = __umul64hi((unsigned long long)v, 1ull << 40);
           l = __hiloint2double(__double2hiint(x), __double2loint(x)); m = __byte_perm(v, 0x11223344, 0x3276);""",
        "conversions",
    )
    a, b, c, d, f, g, h, j, k, l, m = (r.get() for r in kernel(cp.asarray(x), cp.asarray(i)))
    for found, rounded in ((a, np.rint), (b, np.trunc), (c, np.floor), (d, np.ceil)):
        np.testing.assert_array_equal(found, rounded(x).astype(np.int32))
    wide = [int(v) for v in i]
    np.testing.assert_array_equal(f, i.astype(np.float32))
    np.testing.assert_array_equal(g, [(v % 2**32 + 5) >> 1 for v in wide])
    np.testing.assert_array_equal(h, wrapped([((v + 5) >> 1) + ((v + 7) >> 1) for v in wide], np.int32))
    np.testing.assert_array_equal(j, [(v << 20) * (v << 30) >> 64 for v in wide])
    np.testing.assert_array_equal(k, [((v % 2**64) << 40) >> 64 for v in wide])
    np.testing.assert_array_equal(l, x)
    bytes_of = [(v % 2**32).to_bytes(4, "little") + bytes([0x44, 0x33, 0x22, 0x11]) for v in wide]
    expected = [int.from_bytes(bytes([v[6], v[7], v[2], v[3]]), "little") for v in bytes_of]
    np.testing.assert_array_equal(m, expected)


def test_wrong_arguments_of_known_functions():
    tables = (calls._REAL, calls._COMPLEX, calls._OTHERS)
    for name in sorted(set().union(*tables)):
        most = max(max(t[name].counts) for t in tables if name in t)
        for body, problem in (
            (
                f"y = {name}({', '.join(['x'] * (most + 1))})",
                f"too many arguments in the call of {name}|of these types",
            ),
            (f"y = {name}()", f"too few arguments in the call of {name}|of these types"),
        ):
            if body.endswith("()") and all(0 in t[name].counts for t in tables if name in t):
                continue
            with pytest.raises(CompileException, match=problem):
                cp.ElementwiseKernel("float64 x", "float64 y", body)(cp.ones(1))
    with pytest.raises(CompileException, match="no cuCadd takes arguments of these types"):
        cp.ElementwiseKernel("float64 x", "float64 y", "y = cuCreal(cuCadd(x, x))")(cp.ones(1))
    with pytest.raises(CompileException, match="address"):
        cp.ElementwiseKernel("float64 x", "float64 y", "y = atomicAdd(x, x)")(cp.ones(1))


def test_elements_in_any_order_and_of_several_shapes():
    f = cp.ElementwiseKernel("T x, T y, S z", "T r", "r = x * y - T(z)", "mixed")
    rng = np.random.default_rng(8)
    whole = rng.random((6, 8))
    parts = {
        "rows": lambda a: a, "columns": lambda a: a.T.copy().T, "steps": lambda a: a[::2, ::-1][:, ::2],
        "row": lambda a: a[1], "column": lambda a: a[:, 3:4], "element": lambda a: a[2:3, 5:6], "number": lambda a: 2.5,
    }  # fmt: skip
    for names in itertools.product(parts, repeat=2):
        for third in (lambda a: a[:1, :1], lambda a: 3):
            host = [parts[n](whole.copy()) for n in names] + [third(whole.copy())]
            if "steps" in names and set(names) & {"rows", "columns", "row", "column"}:
                continue
            given = [parts[n](cp.asarray(whole)) for n in names] + [third(cp.asarray(whole))]
            # The second call knows the kernel, the third the shapes, too; the arrays have changed in between.
            for change in (0.0, 1.0, 2.0):
                for x, known in zip(given, host, strict=True):
                    if isinstance(x, cp.ndarray):
                        x += change
                        known += change
                found = f(*given)
                expected = np.asarray(host[0] * host[1] - host[2])
                assert found.shape == expected.shape
                np.testing.assert_allclose(cp.asnumpy(found), expected, rtol=1e-14, atol=1e-14)


def test_shifts_of_int_lose_their_upper_bits():
    x = np.array([13, -1, 0x7FFF, -32767, 255], np.int16)
    for by in (3, 15, 17, 28, 31):
        kernel = cp.ElementwiseKernel("int16 x", "int64 z", f"z = (~x) << {by}", "shifted")
        expected = ((~x.astype(np.int64)) << by).astype(np.int32)
        np.testing.assert_array_equal(kernel(cp.asarray(x)).get(), expected)
        kernel = cp.ElementwiseKernel("int16 x, int32 by", "bool z", "z = (x << by) < 0", "negative")
        expected = (x.astype(np.int64) << by).astype(np.int32) < 0
        np.testing.assert_array_equal(kernel(cp.asarray(x), by).get(), expected)


@pytest.mark.parametrize(
    "step", ["v += 3", "v = v + 3", "v++; v++; v++", "v -= 0xfffffffdu", "for (int k = 0; k < 3; k++) ++v"]
)
def test_unsigned_variables_wrap(step: str) -> None:
    wrap = cp.ElementwiseKernel("int32 e", "int64 r", f"unsigned int v = e; {step}; r = v", "wrap")
    e = np.array([-4, -3, -1, 0, 5], np.int32)
    np.testing.assert_array_equal(cp.asnumpy(wrap(cp.asarray(e))), (e.astype(np.int64) + 3) % 2**32)


@pytest.mark.parametrize(
    ("text", "line", "way"),
    [
        ("struct P { float x; };\nKERNEL(float* p) {}", 1, "struct .*: pass an array for each field"),
        ("typedef struct { float x; } P;\nKERNEL(P* p) {}", 1, "struct .*: pass an array for each field"),
        ("KERNEL(float* p) {\nstruct P q; }", 2, "struct .*: pass an array for each field"),
        ("KERNEL(float4* p) {}", 1, r"float4 .*: take a pointer to float and index it, x\[4 \* i \+ 1\]"),
        ("KERNEL(float* p) {\nint2 q; }", 2, r"int2 .*: take a pointer to int and index it, x\[2 \* i \+ 1\]"),
        ("KERNEL(float* p) {\np[0] = make_float3(1, 2, 3).x; }", 2, r"make_float3 .*: take a pointer to float"),
        ("KERNEL(float* p) {\ndim3 q(1, 2); }", 2, "dim3 .*: use a number for each of them"),
    ],
)
def test_structures_and_vectors_are_refused_with_a_way_out(text, line, way):
    kernel = cp.RawKernel(text.replace("KERNEL", 'extern "C" __global__ void k'), "k")
    with pytest.raises(CompileException, match=rf"k\.cu\({line}\): error: {way}"):
        kernel((1,), (1,), (cp.ones(4, dtype=cp.float32),))


def test_a_variable_may_be_called_like_a_vector():
    kernel = cp.RawKernel('extern "C" __global__ void k(float* dim3) { float double2 = 3; dim3[0] = double2; }', "k")
    x = cp.ones(1, dtype=cp.float32)
    kernel((1,), (1,), (x,))
    assert float(x[0]) == 3.0
