"""Indexing, slicing and views against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lancehead import TypingError, njit
from strategies import ALL, arrays, check

BOUNDS = st.integers(-7, 7)
STEPS = st.sampled_from((-3, -2, -1, 1, 2, 3))


@njit
def item(a, i):
    return a[i]


@njit
def item2(a, i, j):
    return a[i, j]


@njit
def part(a, start, stop, step):
    return a[start:stop:step]


@njit
def part2(a, start, stop, step, k):
    return a[start:stop:step, k], a[k, start:stop:step]


@njit
def open_ended(a, n):
    return a[n:], a[:n], a[::-1], a[:], a[n::2], a[:n:-1]


@njit
def fill_part(a, start, stop, step, value):
    a[start:stop:step] = value
    return a


@njit
def copy_part(a, n):
    a[n:] = a[: a.shape[0] - n]
    return a


@njit
def double_part(a, start, stop, step):
    a[start:stop:step] *= 2
    return a


@njit
def more_axes(a):
    return a[None], a[:, None], a[..., None], a[...]


@njit
def scan(a):
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total = total * 0.5 + a[i, j]
    return total


@njit
def rows(a):
    total = 0.0
    for row in a:
        for x in row:
            total = total * 0.5 + x
    return total


@njit
def flat(a):
    total = 0.0
    for x in a.flat:
        total = total * 0.5 + x
    return total


@given(a=arrays(ALL, dims=(1, 1)), i=BOUNDS)
def test_item(a, i):
    check(item, a, i)


@given(a=arrays(("float64", "int16", "complex64"), dims=(2, 2)), i=BOUNDS, j=BOUNDS)
def test_item_of_two_dimensions(a, i, j):
    check(item2, a, i, j)


@given(a=arrays(("float64", "int16"), dims=(2, 2)), i=BOUNDS)
def test_row(a, i):
    check(item, a, i)


@given(a=arrays(("float64", "uint8"), dims=(1, 2)), start=BOUNDS, stop=BOUNDS, step=STEPS)
def test_slice(a, start, stop, step):
    check(part, a, start, stop, step)


@given(a=arrays(("int64",), dims=(2, 2), least=1), start=BOUNDS, stop=BOUNDS, step=STEPS)
def test_slice_and_index(a, start, stop, step):
    check(part2, a, start, stop, step, 0)


@given(a=arrays(("int64",), dims=(1, 1)), n=BOUNDS)
def test_open_ended_slices(a, n):
    check(open_ended, a, n)


@given(a=arrays(("float32", "int8"), dims=(1, 2), plain=True), start=BOUNDS, stop=BOUNDS, step=STEPS)
def test_store_into_slice(a, start, stop, step):
    check(fill_part, a, start, stop, step, 7)
    check(double_part, a, start, stop, step)


@given(a=arrays(("int64", "float64"), dims=(1, 2), least=2))
def test_overlapping_copy(a):
    check(copy_part, a, 1)


@given(a=arrays(("int64", "bool"), dims=(1, 2)))
def test_new_axes(a):
    check(more_axes, a)


@given(a=arrays(("float64", "int32", "bool"), dims=(2, 2), plain=True))
def test_iteration(a):
    check(scan, a)
    check(rows, a)
    check(flat, a)


@given(a=arrays(("float64", "int8"), dims=(1, 2)))
def test_slices_share_memory(a):
    view = part(a, 0, a.shape[0], 1)
    if view.size:
        assert np.shares_memory(a, view)
        assert view.strides == a[0 : a.shape[0] : 1].strides


def parts(a, b):
    a.real += 1
    a.imag *= b
    a[..., :1].imag = b[..., :1]
    a.imag[:] = a.imag + a.real
    a.real = a.imag[..., ::-1]
    a.T.real = 3
    a.imag = [b.size]
    b.real = b + 1
    return a, b


def flat_items(a, b):
    a.flat = b
    b.flat = [1, 2, 3]
    return a, b, a.real


def test_parts_of_arrays_are_assigned_to():
    table = np.arange(12.0).reshape(3, 4)
    for make in (np.copy, np.asfortranarray, lambda a: np.repeat(a, 2, 1)[:, ::2], lambda a: a[::-1], lambda a: a[0]):
        for kind in (np.complex128, np.complex64):
            for f in (parts, flat_items):
                given = [
                    (make(table * (1 + 2j)).astype(kind, order="K"), make(table * 0.5).copy("K")) for _ in range(2)
                ]
                for got, wanted in zip(njit(f)(*given[0]), f(*given[1]), strict=True):
                    assert got.dtype == wanted.dtype
                    np.testing.assert_array_equal(got, wanted)
    frozen = table * 1j
    frozen.flags.writeable = False
    for a in (table, frozen):
        with pytest.raises(TypingError, match="read-only"):
            njit(set_imag)(a)


def set_imag(a):
    a.imag = 1
