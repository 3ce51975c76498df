"""Rows of `docs/differences.md` about sums, loops, ufuncs, kernels, CUDA's libraries and CuPy's interface."""

import math
import warnings

import numpy as np
import pytest

import lancehead.cupy as cp
from difference_rows import row
from lancehead import cuda, njit, prange, vectorize, xp
from lancehead.cudalib import cublas, curand, cusparse


@row("sums of floats")
def test_sums_are_within_an_error_bound():
    a = np.random.default_rng(0).random(10_001) - 0.5
    exact, bound = math.fsum(a), 1e-16 * math.log2(a.size) * np.abs(a).sum()
    assert abs(njit(lambda a: a.sum())(a) - exact) < bound
    assert abs(a.sum() - exact) < bound


@row("iterations combine an array by an expression (`v = v + a[i]`)")
def test_combined_arrays_keep_their_shapes():
    def combine(v, a):
        for i in range(a.shape[0]):
            v = v + a[i]
        return v

    @njit(parallel=True)
    def parallel(v, a):
        for i in prange(a.shape[0]):
            v = v + a[i]
        return v

    serial = njit(combine)
    grown, one = np.ones((3, 2)), np.zeros(1)
    assert serial(one, grown).tolist() == combine(one, grown).tolist() == [3, 3]
    with pytest.raises(ValueError, match="broadcast"):
        parallel(one, grown)
    nothing = np.ones((0, 1))
    assert combine(one, nothing) is one
    assert serial(one, nothing) is one
    assert parallel(one, nothing) is not one
    assert not np.shares_memory(parallel(one, nothing), one)


@row("an exception leaves the loop")
def test_exceptions_leave_parallel_loops():
    def fill(out, counts):
        for i in prange(out.size):
            counts[i % 3] += 1
            if i == 7:
                raise ValueError("seven")
            out[i] = i

    out, counts = np.full(10, -1), np.zeros(3, np.int64)
    with pytest.raises(ValueError, match="seven"):
        fill(out, counts)
    assert (out.tolist(), counts.tolist()) == ([0, 1, 2, 3, 4, 5, 6, -1, -1, -1], [3, 3, 2])

    out, counts = np.full(10, -1), np.zeros(3, np.int64)
    with pytest.raises(ValueError, match="seven"):
        njit(parallel=True)(fill)(out, counts)
    # Some iterations have done their part, or none has.
    assert all(x in (-1, i) for i, x in enumerate(out))
    assert out[7] == -1
    assert (counts <= [4, 3, 3]).all()


@row("an index out of range, on the CPU device")
def test_indices_out_of_range_in_kernels():
    def store(a, i):
        a[i] = 1

    a = np.zeros(8)
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 2"):
        cuda.jit(store)[1, 1](a[:2], 5)
    cuda.jit(boundscheck=False)(store)[1, 1](a[:2], 5)
    assert a.tolist() == [0, 0, 0, 0, 0, 1, 0, 0]


@row("`Sparse.api`, the modules `binding`")
def test_names_of_c_functions_are_not_there():
    with pytest.raises(AttributeError):
        cusparse.Sparse().api
    for module in (cublas, cusparse, curand):
        assert not hasattr(module, "binding")


@row("`amax`, `amin`")
def test_places_of_sizes():
    blas = cublas.Blas()
    a = np.array([2.0, -5.0, 3.0, 1.0])
    assert (blas.amax(a), blas.amin(a)) == (1, 3)
    assert a.argmax() == 2
    assert (blas.amax(a[:0]), blas.amin(a[:0])) == (-1, -1)


@row("MTGP32, scrambled Sobol sequences on the CPU device")
def test_generators_whose_tables_only_curand_has():
    for kind, name in (
        (curand.PRNG, "MTGP32"),
        (curand.QRNG, "SCRAMBLED_SOBOL32"),
        (curand.QRNG, "SCRAMBLED_SOBOL64"),
    ):
        with pytest.raises(NotImplementedError, match=f"{name} has tables that only cuRAND has"):
            kind(getattr(kind, name))


@row("Poisson numbers, and MT19937 after its first 8, on the CPU device")
def test_numbers_of_the_same_distributions():
    numbers, words = np.zeros(20_000, np.uint32), np.zeros(20_000, np.uint32)
    curand.PRNG(seed=1).poisson(numbers, 4.0)
    assert abs(numbers.mean() - 4.0) < 0.1
    assert abs(numbers.var() - 4.0) < 0.2
    curand.PRNG(curand.PRNG.MT19937, seed=1).generate(words)
    assert abs(words.mean() / 2**32 - 0.5) < 0.02


@row("a global or captured value changes")
def test_ufuncs_read_globals_once():
    shift = 1

    @vectorize
    def shifted(x):
        return x + shift

    assert shifted(np.arange(2)).tolist() == [1, 2]
    shift = 5
    assert shifted(np.arange(2)).tolist() == [1, 2]
    assert shifted(np.arange(2.0)).tolist() == [5, 6]


@row("a result is NaN or infinite (`np.errstate`)")
def test_warnings_of_ufuncs():
    @vectorize(["float64(float64)"])
    def logarithm(x):
        return math.log(x)

    @vectorize(["float64(float64)"])
    def exponential(x):
        return math.exp(x)

    @vectorize(["float64(float64)"])
    def replaced(x):
        y = math.sqrt(x)
        return 0.0 if math.isnan(y) else y

    for ufunc, x, text in (
        (logarithm, -1.0, "invalid value encountered in logarithm"),
        (exponential, 1000.0, "overflow encountered in exponential"),
    ):
        with pytest.warns(RuntimeWarning, match=text):
            ufunc(np.full(3, x))
    with pytest.warns(RuntimeWarning):
        np.sqrt(np.full(3, -1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(logarithm(np.full(3, math.nan))).all()
        assert np.isinf(exponential(np.full(3, math.inf))).all()
        assert replaced(np.full(3, -1.0)).tolist() == [0, 0, 0]


@row("`arcsin`, `arccosh`, `arctanh` outside of their domain, `(-1.0) ** 0.5`")
def test_ufuncs_outside_of_their_domain_give_nan():
    # Whether there is a warning is left open.
    for function, x in (
        (lambda x: math.asin(x), 2.0),
        (lambda x: math.acosh(x), 0.5),
        (lambda x: math.atanh(x), 2.0),
        (lambda x: (-1.0) ** x, 0.5),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert np.isnan(vectorize(["float64(float64)"])(function)(np.full(3, x))).all()
    with pytest.warns(RuntimeWarning):
        np.arcsin(2.0)


@row("operations on arrays", "functions that are no operation of the graph")
def test_operations_are_computed_when_they_are_needed():
    base = cp.asarray([2])
    later = base ** cp.asarray([-1])
    with pytest.raises(ValueError, match="negative integer powers"):
        later.get()
    with pytest.raises(np.linalg.LinAlgError):
        cp.linalg.cholesky(cp.asarray(-np.eye(2)))
    assert "computed by the host" in cp.interp.__doc__
    x = cp.asarray([1.0, 2.0, 3.0])
    assert cp.interp(cp.asarray([1.5]), x, 2 * x).get().tolist() == [3]


@row("`x.view(dtype)` of another type", "`x.real`, `x.imag` of complex numbers")
def test_views_that_are_copies():
    x = cp.arange(4, dtype=np.int32)
    other, same = x.view(np.uint32), x.view()
    other[0], same[1] = 77, 9
    assert x.get().tolist() == [0, 9, 2, 3]
    assert other.get().tolist() == [77, 1, 2, 3]

    z = cp.asarray([1 + 2j])
    part = z.real
    part[0] = 7
    assert z.get().tolist() == [1 + 2j]
    z.real, z.imag = 5, 6
    assert z.get().tolist() == [5 + 6j]


@row("a kernel that writes to an array which earlier operations still need")
def test_kernels_leave_what_is_still_needed():
    clear = cp.ElementwiseKernel("float64 x", "float64 y", "y = 0 * x", "clear")
    x = cp.arange(3.0)
    before, later = x.data.ptr, x + 1
    clear(x, x)
    assert x.get().tolist() == [0, 0, 0]
    assert later.get().tolist() == [1, 2, 3]
    assert x.data.ptr != before


@row("`cupy.empty`")
def test_empty_arrays_are_zeros():
    used = cp.full(5, 7.0)
    used.get()
    del used
    assert cp.empty(5).get().tolist() == [0] * 5


@row("overflow of `int` in kernels of C text", "integers divided by zero, negative powers of integers")
def test_integers_in_kernels_of_c():
    total = cp.ElementwiseKernel(
        "int32 x, int32 y", "int64 wide, int32 narrow", "wide = x + y; narrow = x + y", "total"
    )
    wide, narrow = total(cp.asarray([2**31 - 1], np.int32), cp.asarray([1], np.int32))
    assert (wide.get()[0], narrow.get()[0]) == (2**31, -(2**31))
    quotient = cp.ElementwiseKernel("int32 x, int32 y", "int32 z", "z = x / y", "divide")
    assert quotient(cp.asarray([5], np.int32), cp.asarray([0], np.int32)).get()[0] == -1
    x, zero = cp.asarray([5]), cp.asarray([0])
    assert ((x // zero).get()[0], (x % zero).get()[0]) == (0, 0)
    with pytest.raises(ValueError, match="negative integer powers"):
        (x**-1).get()


@row("random numbers")
def test_random_numbers_are_those_of_xp():
    words = xp.random.default_rng(1, "XORWOW").random(5).numpy()
    assert (cp.random.default_rng(1).random(5).get() == words).all()
    assert (cp.random.Generator(cp.random.XORWOW(1)).random(5).get() == words).all()
