"""Lists and ranges where NumPy takes a sequence of integers, against NumPy: axes, shifts, extents."""

import numpy as np
import pytest

from lancehead import TypingError, njit

SHAPES = [(2, 3, 4), (3, 0, 2), (1, 1, 1)]


@njit
def moved(a, p, q):
    return np.moveaxis(a, p, q), np.flip(a, p), np.roll(a, q, axis=p), np.roll(a, q), np.roll(a, 2, axis=p)


@njit
def of_ranges(a):
    return np.flip(a, range(2)), np.roll(a, range(3), range(3)), np.moveaxis(a, range(2), range(1, 3))


@njit
def shifted(a, p):
    return np.fft.fftshift(a, p), np.fft.ifftshift(a, p), np.trim_zeros(a, axis=p)


def outcome(f, *args):
    """The result of a function, or the class of its exception."""
    try:
        return f(*args)
    except (ValueError, IndexError) as e:
        return type(e)


def check(f, *args):
    got, wanted = outcome(f, *args), outcome(f.py_func, *args)
    if isinstance(wanted, type):
        assert got is wanted, (got, args)
        return
    for x, y in zip(got, wanted, strict=True):
        assert x.dtype == y.dtype and x.shape == y.shape
        np.testing.assert_array_equal(x, y)


def arrays():
    """Arrays of several types and orders, some of them empty."""
    rng = np.random.default_rng(3)
    for shape in SHAPES:
        a = rng.integers(0, 3, shape)
        yield from (a, a.astype(np.float32), a.transpose(2, 1, 0).astype(np.float32).T, a[::-1, :, ::-1])


@pytest.mark.parametrize("sequence", [list, np.array, tuple])
def test_axes_and_shifts_may_be_lists(sequence):
    for a in arrays():
        for p, q in [([0, 1], [2, 0]), ([-1, 0], [0, 2]), ([0, 0], [1, 2]), ([0, 1], [2, -1])]:
            if sequence is not np.array:
                check(moved, a, sequence(p), sequence(q))
        if sequence is list:
            check(moved, a, [1], [2, 0])
            check(moved, a, [2, 1, 0], [0, 1])
            check(of_ranges, a)
        if sequence is not np.array:
            check(shifted, a, sequence([2, 0]))


@njit
def transforms(a, axes, s):
    return np.fft.fftn(a, axes=axes), np.fft.ifftn(a, s, axes), np.fft.rfftn(a, s, axes), np.fft.irfftn(a, s, axes)


def test_axes_and_lengths_of_transforms_may_be_lists():
    a = np.random.default_rng(1).normal(size=(4, 3, 5))
    for x in (a, a.T, a[:, ::-1]):
        for axes, s in [([0, 1], [3, 4]), ([-1], [4]), ([2, 0, 1], [2, -1, 4]), ([1, 2], [5, -1])]:
            for got, wanted in zip(transforms(x, axes, s), transforms.py_func(x, axes, s), strict=True):
                assert got.shape == wanted.shape
                np.testing.assert_allclose(got, wanted, atol=1e-12)
        check(transforms, x, [0, 1], [3])


@njit
def windows(a, shape, some, axes):
    view = np.lib.stride_tricks.sliding_window_view
    return view(a, shape), view(a, (1, 2), axis=axes), view(a, some, axis=(0, 1))


def test_windows_may_have_lists_of_extents():
    a = np.arange(24).reshape(2, 3, 4)
    with pytest.raises(TypingError, match="a list or a range is, is no part of its type"):
        windows(a, [1, 2, 3], [1, 2], [0, 1])


@njit
def windows_of_all(a, shape, axes):
    view = np.lib.stride_tricks.sliding_window_view
    return view(a, shape), view(a, (1, 2), axis=axes)


def test_windows_over_all_axes_may_have_a_list_of_extents():
    for a in (np.arange(24).reshape(2, 3, 4), np.arange(24.0).reshape(4, 3, 2).T):
        for shape, axes in [([1, 2, 3], [0, 1]), ([2, 3, 4], [-1, 0]), ([1, 1], [0, 1]), ([3, 1, 1], [0, 1])]:
            check(windows_of_all, a, shape, axes)


def test_a_shape_of_unknown_length_is_refused_with_the_way_out():
    for f in (
        lambda n: np.zeros([0] * n),
        lambda n: np.ones(range(n)),
        lambda n: np.arange(n).reshape([n for _ in "a"]),
    ):
        with pytest.raises(TypingError, match="or a tuple is needed here: how long a list or a range is"):
            njit(f)(2)
