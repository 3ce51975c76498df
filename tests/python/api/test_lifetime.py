"""Code lives as long as something can run it, and so does what it captured."""

import gc
import sys
import threading
import weakref

import numpy as np
import pytest

from lancehead import cfunc, cuda, njit, vectorize


def mappings():
    with open("/proc/self/maps") as lines:
        return sum(1 for _ in lines)


def resident():
    """Bytes of memory without those of files: the compiler's own code comes and goes."""
    with open("/proc/self/status") as lines:
        sizes = dict(line.split(":", 1) for line in lines)
    return 1024 * sum(int(sizes[name].split()[0]) for name in ("RssAnon", "RssShmem"))


def numbered(k, body="return a + {k}", **names):
    exec(f"def f(a):\n    {body.format(k=k)}\n", names)
    return njit(names["f"])


def test_functions_that_are_dropped_leave_nothing():
    def make(count):
        for k in range(count):
            assert numbered(k)(1) == 1 + k
        gc.collect()

    make(300)
    before = mappings(), resident()
    make(500)
    assert mappings() - before[0] < 20
    assert resident() - before[1] < 500 * 5000


def test_functions_that_are_kept_share_mappings():
    before = mappings()
    kept = [numbered(k) for k in range(300)]
    assert [f(1) for f in kept] == [1 + k for k in range(300)]
    assert mappings() - before < 30


def loops(k):
    return numbered(k, "s = 0\n    for i in range(a): s += i\n    return s")


def recursive(k):
    names = {}
    exec(f"def f(a): return {k} if a < 1 else f(a - 1)", names)
    names["f"] = njit(names["f"])
    return names["f"]


def with_global(k):
    return numbered(k, "return a + w.sum() + helper(a)", w=np.ones(k + 1), helper=njit(lambda a: a + 1))


def with_closure(k):
    w = np.full(3, k)

    @njit
    def f(a):
        return a + w[0]

    return f


def with_default(k):
    @njit
    def f(a, w=(1, 2)):
        return a + w[0] + k

    return f


def inner(k):
    return numbered(k, "def g(x): return x + {k}\n    return g(a) + sum([g(i) for i in range(a)])")


@pytest.mark.parametrize("make", [numbered, loops, recursive, with_global, with_closure, with_default, inner])
def test_a_dispatcher_dies_with_its_last_reference(make):
    for k in range(3):
        f = make(k)
        f(3)
        f(2.5) if make not in (loops, inner, recursive) else None
        f.inspect_types(file=open("/dev/null", "w")), f.signatures, f.overloads
        gone = weakref.ref(f)
        del f
        gc.collect()
        assert gone() is None, k


def test_captured_and_global_arrays_die():
    def closure(w):
        @njit
        def f(a):
            return a + w[0]

        return f

    @njit
    def maker(w):
        def g(a):
            return a + w[0]

        return g

    for make in (closure, maker, lambda w: numbered(0, "return a + w[0]", w=w)):
        for k in range(4):
            w = np.full(4, float(k))
            gone = weakref.ref(w)
            f = make(w)
            assert f(1) == 1 + k
            del f, w
            gc.collect()
            assert gone() is None, (make, k)


def test_memory_of_closures_is_free_again():
    @njit
    def make(x):
        def g(y):
            return x[0] + y

        return g

    make(np.ones(131072))(1)
    before = resident()
    for _ in range(60):
        make(np.ones(131072))(1)
    assert resident() - before < 10 * 2**20


def test_closures_of_bytes_share_code():
    @njit
    def make(x):
        def g(y):
            return len(x) + y

        return g

    kept = [make(b"ab" * k) for k in range(6)]
    assert [g(1) for g in kept] == [1 + 2 * k for k in range(6)]
    assert len({g.overloads[g.signatures[0]].entry_point.address for g in kept[1:]}) == 1


def test_a_caller_outlives_what_it_calls():
    names = {"w": np.arange(5.0)}
    exec("def g(a): return a + w[1]\ndef f(a): return g(a) + w[2]", names)
    names["g"] = njit(names["g"])
    f = names["f"] = njit(names["f"])
    assert f(1.0) == 4
    gone = weakref.ref(names["g"])
    names["g"] = njit(lambda a: a * 10)
    gc.collect()
    assert f(1.0) == 12
    for k in range(50):
        numbered(k)(1)
    assert f(2.0) == 22
    del f
    names.clear()
    gc.collect()
    assert gone() is None


def test_a_generator_outlives_its_function():
    names = {"w": np.arange(3.0)}
    exec("def f(n):\n    for i in range(n):\n        yield w[i % 3] + i", names)
    f = njit(names["f"])
    g = f(6)
    assert next(g) == 0
    del f
    names.clear()
    gc.collect()
    for k in range(50):
        numbered(k)(1)
    assert list(g) == [2, 4, 3, 5, 7]


def test_a_generator_is_closed_after_its_function_is_gone():
    def f(out):
        try:
            yield 1
            yield 2
        finally:
            out[0] = 5

    f = njit(f)
    out = np.zeros(1)
    g = f(out)
    assert next(g) == 1
    del f
    gc.collect()
    for k in range(50):
        numbered(k)(1)
    del g
    gc.collect()
    assert out[0] == 5


def test_texts_outlive_the_code_that_made_them():
    from lancehead.typed import List

    texts = List(["a"])
    for k in range(20):
        names = {}
        exec(f"def f(x):\n    x.append('text number {k}')", names)
        njit(names["f"])(texts)
        del names
        gc.collect()
    assert list(texts) == ["a", *(f"text number {k}" for k in range(20))]


def test_code_that_a_thread_runs_stays():
    def wait(n):
        s = 0.0
        for i in range(n):
            s += np.sin(i) * 0.5
        return s

    want = njit(wait)(3_000_000)
    found = []
    threads = []
    for _ in range(3):
        f = njit(nogil=True)(wait)
        threads.append(threading.Thread(target=lambda f=f: found.append(f(3_000_000))))
        threads[-1].start()
        del f
    for k in range(30):
        numbered(k)(1)
    gc.collect()
    for t in threads:
        t.join()
    assert found == [want] * 3


def test_an_address_that_was_given_away_stays_good():
    import ctypes

    addresses = []
    for k in range(5):
        names = {}
        exec(f"def f(x): return x + {k}", names)
        f = cfunc("float64(float64)")(names["f"])
        addresses.append(f.address)
        del f, names
        gc.collect()
    for k in range(50):
        numbered(k)(1)
    call = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
    assert [call(a)(1.0) for a in addresses] == [1.0 + k for k in range(5)]


def test_functions_as_values_stay():
    @njit
    def call(fs, x):
        s = 0
        for f in fs:
            s += f(x)
        return s

    for k in range(5):
        fs = tuple(njit("int64(int64)")(numbered(i + k).py_func) for i in range(3))
        assert call(fs, 1) == 3 * (1 + k) + 3
        del fs
        gc.collect()


def test_kernels_and_ufuncs_die():
    for k in range(3):
        names = {"cuda": cuda}
        exec(f"def f(a):\n    a[cuda.grid(1)] += {k}\n", names)
        kernel = cuda.jit(names["f"])
        a = np.zeros(4)
        kernel[1, 4](a)
        assert (a == k).all()
        gone = weakref.ref(kernel)
        del kernel
        gc.collect()
        assert gone() is None
        names = {}
        exec(f"def f(a): return a + {k}", names)
        u = vectorize(names["f"])
        assert (u(np.arange(3.0)) == np.arange(3.0) + k).all()
        gone = weakref.ref(u)
        del u
        gc.collect()
        assert gone() is None


@pytest.mark.parametrize(
    "value",
    [1, 2.5, 1 + 2j, True, None, "text", b"bytes", (1, 2.0), [1, 2], {1: 2}, np.arange(3), np.random.default_rng(1)],
)
def test_calls_keep_the_counts_of_references(value):
    f = njit(lambda x: 1)
    if isinstance(value, np.random.Generator):
        f = njit(lambda g: g.random())
    f(value)
    watched = [value, None, getattr(value, "bit_generator", None), f]
    before = [sys.getrefcount(o) for o in watched]
    for _ in range(200):
        f(value)
    assert all(abs(sys.getrefcount(o) - n) < 20 for o, n in zip(watched, before, strict=True))
