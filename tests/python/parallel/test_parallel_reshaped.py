"""Parallel loops over arrays that are made before them of others, as views or as copies."""

import warnings

import numpy as np
import pytest

from lancehead import errors, njit, prange


def filled(a):
    b = a.reshape(-1)
    for i in prange(b.size):
        b[i] = i
    return b


def rows(a):
    b = a.reshape((2, -1))
    for i in prange(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] = b[i, j] * 2 + i
    return b


def raveled(a):
    b = np.ravel(a)
    for i in prange(len(b)):
        b[i] += 1
    return b


def halves(a):
    b, c = a.reshape((2, -1)), a.reshape(-1)
    for i in prange(b.shape[1]):
        b[0, i] = b[1, i] + i
    return c


def arrays():
    yield np.arange(24.0).reshape(4, 6)
    yield np.asfortranarray(np.arange(24.0).reshape(4, 6))
    yield np.arange(48.0).reshape(4, 12)[:, ::2]
    yield np.arange(24.0).reshape(4, 6)[::-1]


def both(f, *args):
    """The result of a function in parallel, which is Python's, also in the arguments after it, and its warnings."""
    copies = [[a.copy(order="K") if a.flags.forc else np.array(a)[...] for a in args] for _ in range(2)]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = njit(parallel=True)(f)(*copies[0])
    wanted = f(*copies[1])
    np.testing.assert_array_equal(found, wanted)
    for a, b in zip(*copies, strict=True):
        np.testing.assert_array_equal(a, b)
    return [w for w in told if issubclass(w.category, errors.ParallelRaceWarning)]


@pytest.mark.parametrize("f", [filled, rows, raveled, halves])
@pytest.mark.parametrize("number", range(4))
def test_they_are_written_in_parallel(f, number):
    assert not both(f, list(arrays())[number])


def test_a_view_and_its_array_are_told_apart_when_the_loop_begins():
    def of_both(a, order):
        b = a.reshape(-1)
        for i in prange(b.size):
            b[i] = a[0, 5] + i
        return b

    a = np.arange(60_000.0).reshape(200, 300)
    assert both(of_both, a, np.zeros(1)) and not both(of_both, np.asfortranarray(a), np.zeros(1))


def test_windows_that_overlap_stay_in_order():
    def windows(a):
        b = np.lib.stride_tricks.as_strided(a, (a.size - 1, 2), (a.itemsize, a.itemsize))
        for i in prange(b.shape[0]):
            b[i, 0] = i
            b[i, 1] += b[i, 0]
        return a

    with pytest.raises(errors.ParallelRaceError):
        njit(parallel=True)(windows)(np.zeros(40_000))


def test_a_view_of_an_item_of_a_list():
    def of_item(a):
        held = [a, a]
        b = held[1].reshape(-1)
        for i in prange(b.size):
            b[i] = held[0][0, 0] + 1
        return b

    both(of_item, np.zeros((100, 200)))
