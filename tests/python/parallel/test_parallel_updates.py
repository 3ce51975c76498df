"""Elements that all iterations update: in copies, in place by atomic operations, or by one block; never another
result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lancehead import get_num_threads, njit, parallel_chunksize, prange, set_num_threads

INTEGERS = [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64]
#: Many iterations for few elements, and few for many.
SIZES = [(5000, 7), (5000, 40000), (30, 100000), (1, 1), (0, 10), (3000, 3000)]
RANDOM = np.random.default_rng(11)


def add(h: Any, k: Any, x: Any) -> None:
    for i in prange(len(k)):
        h[k[i]] += x[i]


def subtract(h: Any, k: Any, x: Any) -> None:
    for i in prange(len(k)):
        h[k[i]] -= x[i]


def multiply(h: Any, k: Any, x: Any) -> None:
    for i in prange(len(k)):
        h[k[i]] *= x[i]


def both(h: Any, k: Any, x: Any) -> None:
    for i in prange(len(k)):
        h[k[i]] &= x[i]


def either(h: Any, k: Any, x: Any) -> None:
    for i in prange(len(k)):
        h[k[i]] |= x[i]


def differ(h: Any, k: Any, x: Any) -> None:
    for i in prange(len(k)):
        h[k[i]] ^= x[i]


def greatest(h: Any, k: Any, x: Any) -> None:
    for i in prange(len(k)):
        h[k[i]] = max(h[k[i]], x[i])


UPDATES = [add, subtract, multiply, both, either, differ, greatest]


def arguments(dtype: Any, iterations: int, elements: int) -> tuple[Any, Any, Any]:
    high = min(100, np.iinfo(dtype).max) if np.issubdtype(dtype, np.integer) else 100
    low = -high if np.iinfo(dtype).min < 0 else 0
    k = RANDOM.integers(0, elements, iterations)
    return RANDOM.integers(low, high, elements).astype(dtype), k, RANDOM.integers(low, high, iterations).astype(dtype)


@pytest.mark.parametrize("update", UPDATES)
def test_integers_as_in_order(update: Any) -> None:
    compiled = njit(parallel=True)(update)
    for dtype in (np.int64, np.uint32):
        for iterations, elements in SIZES:
            h, k, x = arguments(dtype, iterations, elements)
            expected = h.copy()
            with np.errstate(over="ignore"):
                update(expected, k, x)
            for threads in range(1, get_num_threads() + 1):
                set_num_threads(threads)
                for chunk in (0, 13):
                    with parallel_chunksize(chunk):
                        got = h.copy()
                        compiled(got, k, x)
                    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_every_width(dtype: Any) -> None:
    for update in (add, greatest):
        compiled = njit(parallel=True)(update)
        for iterations, elements in SIZES[:3]:
            h, k, x = arguments(dtype, iterations, elements)
            expected = h.copy()
            with np.errstate(over="ignore"):
                update(expected, k, x)
            compiled(h, k, x)
            np.testing.assert_array_equal(h, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_are_the_same_for_any_number_of_threads(dtype: Any) -> None:
    compiled = njit(parallel=True)(add)
    most = get_num_threads()
    for iterations, elements in SIZES:
        k, x = RANDOM.integers(0, elements, iterations), RANDOM.random(iterations).astype(dtype)
        expected = np.zeros(elements, dtype)
        add(expected, k, x)
        got = []
        for threads in range(1, most + 1):
            set_num_threads(threads)
            h = np.zeros(elements, dtype)
            compiled(h, k, x)
            got.append(h)
        assert all(np.array_equal(h, got[0]) for h in got)
        np.testing.assert_allclose(got[0], expected, rtol=1e-4 if dtype == np.float32 else 1e-12)
    set_num_threads(most)


def test_two_dimensions_two_arrays_and_strides() -> None:
    @njit(parallel=True)
    def count(pairs, sums, h, k, x):
        total = 0
        for i in prange(len(k)):
            h[k[i], i % 3] += 1
            sums[k[i]] += x[i]
            pairs[-1 - k[i]] += i
            total += 1
        return total

    for elements in (5, 20000):
        k, x = RANDOM.integers(0, elements, 4000), RANDOM.random(4000)
        h, sums, pairs = np.zeros((3, elements), np.int64).T, np.zeros(elements), np.zeros(2 * elements, np.int32)
        assert count(pairs[::2], sums, h, k, x) == 4000
        np.testing.assert_allclose(sums, np.bincount(k, x, elements), rtol=1e-12)
        np.testing.assert_array_equal(pairs[::2][::-1], np.bincount(k, np.arange(4000), elements))
        assert not pairs[1::2].any()
        for column in range(3):
            np.testing.assert_array_equal(h[:, column], np.bincount(k[column::3], minlength=elements))


def test_an_exception_leaves_the_threads_in_order() -> None:
    compiled = njit(parallel=True)(add)
    for elements in (5, 200000):
        h, k = np.zeros(elements, np.int64), RANDOM.integers(0, elements, 4000)
        k[3000] = elements
        with pytest.raises(IndexError):
            compiled(h, k, np.ones(4000, np.int64))
        k[3000] = 0
        h[:] = 0
        compiled(h, k, np.ones(4000, np.int64))
        np.testing.assert_array_equal(h, np.bincount(k, minlength=elements))
