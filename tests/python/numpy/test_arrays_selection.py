"""Indexing by arrays of indices and masks beside slices and integers, against NumPy."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from lancehead import njit

S = slice(None)
I = np.array([2, 0, -1])
J = np.array([[0], [1]])
NOTHING = np.zeros(0, np.int64)
MASK4 = np.array([True, False, True, True])

KEYS_2D = [
    (S, I), (I, S), (I, I), (1, I), (I, 1), (..., I), (I, ...), (slice(1, None), I), (S, MASK4), (I, None), (None, I),
    (S, None, I), (J, I), (S, J), (np.array([True, False, True]), I[:2]), (S, NOTHING), (slice(None, None, -1), I), J,
    (J,),
    (np.array(1), I), (S, I.astype(np.uint8) % 3), (slice(0, 0), I),
]  # fmt: skip
KEYS_3D = [
    (S, I, S), (I, S, I), (I, S, 1), (0, S, I), (S, I, I), (S, J, I), (I, I, I), (J, I, 1), (..., I, S), (I, 1),
    (S, S, I),
    (np.arange(12).reshape(3, 4) % 2 == 0, S), np.arange(12).reshape(3, 4) % 2 == 0,
    (S, np.arange(20).reshape(4, 5) % 3 == 0),
    (slice(None, None, 2), I, slice(3, 0, -1)), (I, None, S, I), J,
]  # fmt: skip


@njit
def get(a, k):
    return a[k]


@njit
def put(a, k, x):
    a[k] = x


def agree(a, k):
    want, got = a[k], get(a, k)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_array_equal(got, want)
    values = (np.arange(want.size) + 100).reshape(want.shape).astype(a.dtype)
    for x in (7, values, values[:1], values.astype(np.int16)):
        by_numpy, by_us = a.copy(), a.copy()
        by_numpy[k] = x
        put(by_us, k, x)
        np.testing.assert_array_equal(by_us, by_numpy)


@pytest.mark.parametrize("n", range(len(KEYS_2D)))
@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, lambda a: a[::-1, ::-1]], ids=["C", "F", "A"])
def test_matrix(n, make):
    agree(make(np.arange(12.0).reshape(3, 4)), KEYS_2D[n])


@pytest.mark.parametrize("n", range(len(KEYS_3D)))
def test_three_dimensions(n):
    agree(np.arange(60).reshape(3, 4, 5), KEYS_3D[n])


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex64", "complex128"])
def test_types_of_elements(dtype):
    agree((np.arange(12).reshape(3, 4) % 5).astype(dtype), (S, I))


@pytest.mark.parametrize(
    "k", [(S, np.array([4])), (np.array([0, 3]), S), (np.array([0, 1]), np.array([0, 1, 2])), (S, MASK4[:3])]
)
def test_what_is_out_of_range_raises(k):
    a = np.arange(12.0).reshape(3, 4)
    with pytest.raises(IndexError):
        a[k]
    with pytest.raises(IndexError):
        get(a, k)
    with pytest.raises(IndexError):
        put(a, k, 1)


def test_values_that_do_not_fit_raise():
    a = np.arange(12.0).reshape(3, 4)
    with pytest.raises(ValueError):
        put(a, (S, I), np.arange(5.0))
    assert a.tolist() == np.arange(12.0).reshape(3, 4).tolist()


def test_displays_of_indices():
    @njit
    def f(a):
        a[:, [0, 1]] = a[:, [1, 0]]
        return a[[0, 2]], a[[True, False, True]], a[[1], [2]]

    a = np.arange(12).reshape(3, 4)
    want = f.py_func(a.copy())
    for x, y in zip(f(a), want):
        np.testing.assert_array_equal(x, y)


def reversed_at(a, i):
    a[i] = a[::-1]


def by_itself(a):
    a[a] = a[::-1]


def masked_by_part(a, m):
    a[m] = a[1:4]


def columns(a, i):
    a[:, i] = a[:, ::-1]


def rows(a, i):
    a[i] = a[::-1].T


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (reversed_at, (np.arange(6.0), np.arange(6))),
        (reversed_at, (np.arange(12.0)[::-2], np.arange(-6, 0))),
        (by_itself, (np.array([2, 0, 1, 3]),)),
        (masked_by_part, (np.arange(6.0), np.array([0, 1, 0, 1, 1, 0], bool))),
        (columns, (np.arange(12.0).reshape(3, 4), np.arange(4))),
        (rows, (np.arange(9.0).reshape(3, 3), np.arange(3))),
    ],
)
def test_values_that_overlap_the_array_are_those_of_before(function, arguments):
    expected, got = copy.deepcopy(arguments), copy.deepcopy(arguments)
    function(*expected)
    njit(function)(*got)
    np.testing.assert_array_equal(got[0], expected[0])


def test_a_mask_that_overlaps_the_array_counts_as_it_was_before():
    def f(a):
        a[1:][a[:-1]] = np.array([False, False, True])

    a = np.array([True, False, True, True, False, False])
    njit(f)(a)
    # A difference from NumPy, which has cleared the mask's fourth item by the time it gets there.
    assert a.tolist() == [True, False, True, False, True, False]
