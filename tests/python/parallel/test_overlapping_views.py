"""Arrays whose elements overlap, as `as_strided` and `sliding_window_view` make them: stores keep their order."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from lancehead import cuda, errors, guvectorize, njit, parallel_chunksize, prange, set_num_threads, stencil, vectorize

View = Callable[[np.ndarray], np.ndarray]


@pytest.fixture(autouse=True)
def threads():
    set_num_threads(2)
    with warnings.catch_warnings(), parallel_chunksize(1):
        warnings.simplefilter("ignore", errors.ParallelRaceWarning)
        yield


def view(rng: np.random.Generator, rank: int, dtype: Any) -> tuple[int, View]:
    """A size in words of eight bytes, and a view with any extents and strides of memory of that size."""
    shape = tuple(int(n) for n in rng.integers(1, 12, rank))
    strides = tuple(8 * int(s) for s in rng.integers(-6, 7, rank))
    ways = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    first, end = -sum(min(w, 0) for w in ways), sum(max(w, 0) for w in ways) + np.dtype(dtype).itemsize

    def of(memory: np.ndarray) -> np.ndarray:
        element = memory.view(np.uint8)[first : first + np.dtype(dtype).itemsize].view(dtype)
        return as_strided(element, shape, strides)

    return (first + end) // 8, of


def any_view(rng: np.random.Generator, rank: int) -> tuple[np.ndarray, View, np.ndarray]:
    """Memory, a view of it, and other values of its shape."""
    dtype = np.float64 if rng.random() < 0.7 else np.complex128
    size, of = view(rng, rank, dtype)
    memory = rng.integers(0, 9, size).astype(np.float64)
    return memory, of, rng.integers(0, 9, of(memory).shape).astype(dtype)


def fill(a, b):
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = b[i, j]


def fill_line(a, b):
    for i in prange(a.shape[0]):
        a[i] = b[i]


def fill_cube(a, b):
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[2]):
                a[i, j, k] = b[i, j, k]


def fill_rows(a, b):
    for i in prange(a.shape[0]):
        a[i] = b[i] + 1


def add(a, b):
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] += b[i, j]


def columns(a, b):
    for j in prange(a.shape[1]):
        for i in range(a.shape[0]):
            a[i, j] = b[i, j] * 2 + j


def sums(a, b):
    for j in prange(a.shape[1]):
        for i in range(a.shape[0]):
            s = b[0, 0]
            for k in range(b.shape[0]):
                s += b[k, j]
            a[i, j] = s + i


def checked(a, b):
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] == -1.0:
                raise ValueError("minus one")
            a[i, j] = b[i, j] + a[i, j]


def counted(a, b):
    for i in prange(b.shape[0]):
        for j in range(b.shape[1]):
            a[i % a.shape[0], j] += b[i, j]


def neighbours(a, b):
    for i in prange(1, a.shape[0] - 1):
        for j in range(a.shape[1]):
            a[i - 1, j] += b[i, j]
            a[i, j] += 2 * b[i, j]


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize(
    "function", [fill, fill_line, fill_cube, fill_rows, add, columns, sums, checked, counted, neighbours]
)
def test_loops_are_those_of_the_interpreter(function: Callable[..., Any], parallel: bool) -> None:
    rng = np.random.default_rng(1)
    rank = {"fill_line": 1, "fill_cube": 3}.get(function.__name__, 2)
    compiled = njit(parallel=parallel)(function)
    for _ in range(60):
        memory, of, b = any_view(rng, rank)
        want, got = memory.copy(), memory.copy()
        with np.errstate(all="ignore"):
            function(of(want), b)
        compiled(of(got), b)
        assert want.tobytes() == got.tobytes(), (b.dtype, b.shape, of(want).strides)


def in_place(a, b):
    a += b


def assigned(a, b):
    a[...] = b * 2


def reversed_itself(a, b):
    a[::-1] = a + b


def given_out(a, b):
    np.add(b, 1, out=a)


def summed_out(a, b):
    np.sum(np.stack((b, b)), axis=0, out=a)


def two(a, b):
    a[1:] = b[1:]
    b[1:] = 0.0


def by_index(a, values):
    for at in np.ndindex(a.shape):
        a[at] = values[at]


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("function", [in_place, assigned, reversed_itself, given_out, summed_out, two])
def test_array_expressions_are_computed_before_they_are_stored(function, rank: int, parallel: bool) -> None:
    rng = np.random.default_rng(rank)
    compiled = njit(parallel=parallel)(function)
    for _ in range(40):
        memory, of, b = any_view(rng, rank)
        values = of(memory).copy()
        function(values, b.copy())
        want, got = memory.copy(), memory.copy()
        way = {reversed_itself: np.s_[::-1], two: np.s_[1:]}.get(function, np.s_[:])
        by_index(of(want)[way], values[way])
        compiled(of(got), b.copy())
        assert want.tobytes() == got.tobytes(), (b.dtype, b.shape, of(want).strides)


def test_loops_over_windows_run_in_order_and_say_so() -> None:
    @njit(parallel=True)
    def windows(a):
        for i in prange(a.shape[0]):
            for j in range(3):
                a[i, j] = i * 10 + j

    x = np.zeros(20_002)
    with pytest.warns(errors.ParallelRaceWarning, match="elements of an array overlap"):
        windows(sliding_window_view(x, 3, writeable=True))
    want = np.zeros(20_002)
    windows.py_func(sliding_window_view(want, 3, writeable=True))
    assert np.array_equal(x, want)


def test_views_without_overlap_stay_parallel() -> None:
    @njit(parallel=True)
    def numbered(a):
        for i in prange(a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j] = i * 10 + j

    with warnings.catch_warnings():
        warnings.simplefilter("error", errors.ParallelRaceWarning)
        for of in (
            np.transpose,
            lambda x: x[::-1, ::-2],
            lambda x: x[3:-3:2, 5:],
            lambda x: x[:, :1],
            lambda x: x[:0, ::2],
        ):
            got, want = np.zeros((300, 200)), np.zeros((300, 200))
            numbered(of(got))
            numbered.py_func(of(want))
            assert np.array_equal(got, want)


@vectorize(["float64(float64, float64)"], target="parallel")
def plus(x, y):
    return x + 2 * y


@vectorize(["float64(float64, float64)"])
def plus_in_order(x, y):
    return x + 2 * y


@guvectorize(["(float64[:], float64[:])"], "(n)->(n)", target="parallel")
def scaled(x, out):
    for i in range(len(x)):
        out[i] = 3 * x[i]


@guvectorize(["(float64[:], float64[:])"], "(n)->(n)")
def scaled_in_order(x, out):
    for i in range(len(x)):
        out[i] = 3 * x[i]


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_ufuncs_on_threads_are_those_on_one(rank: int) -> None:
    rng = np.random.default_rng(rank)
    for _ in range(60):
        size, of = view(rng, rank, np.float64)
        memory = rng.integers(0, 9, size).astype(np.float64)
        b = rng.integers(0, 9, of(memory).shape).astype(np.float64)
        for shared, alone, arguments in ((plus, plus_in_order, (b, b)), (scaled, scaled_in_order, (b,))):
            want, got = memory.copy(), memory.copy()
            alone(*arguments, out=of(want))
            shared(*arguments, out=of(got))
            assert want.tobytes() == got.tobytes(), (shared, of(want).shape, of(want).strides)


def test_views_made_in_the_function() -> None:
    @njit(parallel=True)
    def windows(x, n):
        a = np.lib.stride_tricks.as_strided(x, (n, 4), (x.itemsize, x.itemsize))
        for i in prange(n):
            for j in range(4):
                a[i, j] = i * 10 + j
        a += 1.0
        return a.sum()

    got, want = np.zeros(5003), np.zeros(5003)
    assert windows(got, 5000) == windows.py_func(want, 5000)
    assert np.array_equal(got, want)


def test_the_race_checker_finds_the_overlap() -> None:
    @njit(parallel={"race": True})
    def windows(a):
        for i in prange(a.shape[0]):
            for j in range(3):
                a[i, j] = i

    @njit(parallel={"race": True})
    def histogram(a, k):
        for i in prange(len(k)):
            a[k[i]] += 1

    for f, arguments in ((windows, ()), (histogram, (np.arange(40) % 7,))):
        x = np.zeros(50)
        a = sliding_window_view(x, 3, writeable=True) if f is windows else as_strided(x, (9,), (0,))
        with pytest.raises(errors.ParallelRaceError):
            f(a, *arguments)


@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.int32])
def test_histograms_of_arrays_that_overlap(dtype: Any) -> None:
    @njit(parallel=True)
    def histogram(h, k):
        for i in prange(len(k)):
            h[k[i]] += 1

    k = np.random.default_rng(3).integers(0, 9, 30_000)
    for strides in (0, 4, -8, 8):
        got, want = np.zeros(40, dtype), np.zeros(40, dtype)
        of = lambda x: as_strided(x[18:], (9,), (strides,))
        if np.dtype(dtype).itemsize == 8 and strides == 4:
            continue
        histogram(of(got), k)
        histogram.py_func(of(want), k)
        assert np.array_equal(got, want)


@pytest.mark.parametrize("name", ["in a tuple", "stencil", "kernel"])
def test_other_ways_to_windows(name: str) -> None:
    n = 60_000

    @njit(parallel=True)
    def in_a_tuple(pair, b):
        for i in prange(b.shape[0]):
            for j in range(3):
                pair[0][i, j] = b[i, j]

    @stencil
    def sums(a):
        return a[0, 0] + a[0, 1]

    @njit(parallel=True)
    def by_stencil(b, a):
        sums(b, out=a)

    @cuda.jit
    def by_kernel(a, b):
        i = cuda.grid(1)
        if i < a.shape[0]:
            for j in range(3):
                a[i, j] = b[i, j]

    ways = {
        "in a tuple": lambda a, b: in_a_tuple((a, 1), b),
        "stencil": lambda a, b: by_stencil(b, a),
        "kernel": lambda a, b: by_kernel[n // 64 + 1, 64](a, b),
    }
    b = np.arange(3.0 * n).reshape(n, 3)
    for threads in (1, 2, 2, 2, 2):
        set_num_threads(threads)
        x = np.zeros(n + 2)
        ways[name](as_strided(x, (n, 3), (8, 8)), b)
        if threads == 1:
            want = x
        assert np.array_equal(x, want)


def test_arrays_in_tuples_are_not_private_to_an_iteration() -> None:
    @njit(parallel=True)
    def last(pair, n):
        for i in prange(n):
            pair[0][0] = pair[0][0] * 2 + i

    @njit(parallel=True)
    def shifted(pair, n):
        for i in prange(n):
            pair[0][i] = pair[1][i] + 1

    with pytest.raises(errors.ParallelRaceError):
        last((np.zeros(3), 1), 1000)
    x = np.zeros(10_001)
    shifted((x[1:], x[:-1]), 10_000)
    assert x[-1] == 10_000


def test_arrays_that_are_not_aligned_and_overlap_themselves_are_refused() -> None:
    memory = np.zeros(20, np.int32)
    a = as_strided(memory[:2].view(np.int64), (9,), (4,))
    assert not a.flags.aligned
    with pytest.raises(errors.TypingError, match="overlaps itself"):
        njit(lambda a: a[0])(a)
    a.flags.writeable = False
    assert njit(lambda a: a[0])(a) == 0
