"""Creation and change of shape against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lancehead import TypingError, njit
from strategies import ALL, arrays, check


@njit
def shape_facts(a):
    strides = a.strides if a.size else a.shape
    return a.shape, a.ndim, a.size, a.itemsize, a.nbytes, strides, len(a)


@njit
def turned(a):
    return a.T, a.transpose(), a.ravel(), a.flatten(), a.copy()


@njit
def reshaped(a):
    return a.reshape(a.size), a.reshape(-1), a.reshape((1, a.size)), a.reshape(a.size, 1)


@njit
def like(a):
    return np.zeros_like(a), np.ones_like(a), np.full_like(a, 1), np.empty_like(a).shape


@njit
def made(n, m):
    return np.zeros(n), np.ones((n, m)), np.full((m, n), 2.5), np.eye(n), np.zeros((n, m), np.int8)


@njit
def counted(a, b, c):
    return np.arange(a, b, c)


@njit
def spaced(a, b, n):
    return np.linspace(a, b, n)


@given(a=arrays(ALL, dims=(1, 3)))
def test_attributes(a):
    check(shape_facts, a)


@given(a=arrays(("float64", "int8", "bool"), dims=(1, 3)))
def test_transpose_and_ravel(a):
    check(turned, a)


@given(a=arrays(("float64", "int8"), dims=(1, 3), least=1))
def test_reshape(a):
    check(reshaped, a)


@given(a=arrays(ALL, dims=(1, 2)))
def test_like(a):
    check(like, a)


@given(n=st.integers(0, 5), m=st.integers(0, 5))
def test_creation(n, m):
    check(made, n, m)


@given(a=st.integers(-20, 20), b=st.integers(-20, 20), c=st.sampled_from((-7, -2, -1, 1, 2, 7)))
def test_arange_of_integers(a, b, c):
    check(counted, a, b, c)


@given(a=st.integers(-20, 20), b=st.integers(-20, 20), c=st.sampled_from((-1.5, -0.25, 0.25, 0.5, 3.0)))
def test_arange_of_floats(a, b, c):
    check(counted, float(a), float(b), c)


@given(a=st.integers(-20, 20), b=st.integers(-20, 20), n=st.integers(0, 9))
def test_linspace(a, b, n):
    check(spaced, float(a), float(b), n, tolerance=1e-15)


@given(a=arrays(("float64",), dims=(2, 2), least=1))
def test_views_share_memory(a):
    transposed = turned(a)[0]
    assert np.shares_memory(a, transposed)
    transposed[0, 0] = 123.5
    assert a[0, 0] == 123.5


@pytest.mark.parametrize(
    "args",
    [(3 + 2j,), (0, 3 + 4j), (0, 3 + 4j, 1 + 1j), (np.complex64(3 + 3j),), (5, 7j, -1 + 2j), (0, 1 + 1j, 0.25 + 0.3j)],
)
def test_arange_of_complex_numbers(args):
    def f(*args):
        return np.arange(*args)

    got, expected = njit(f)(*args), f(*args)
    assert got.dtype == np.complex128 and np.array_equal(got, expected)


@njit
def reordered(a, order):
    return np.transpose(a, order), a.transpose(order)


def test_the_order_of_axes_may_be_a_list():
    a, b = np.arange(24).reshape(2, 3, 4), np.arange(6.0).reshape(2, 3)
    for x, order in [(a, [1, 0, 2]), (a, [-1, 0, 1]), (b, [1, 0]), (b, np.array([0, 1])), (b[0], [0]), (b[0], 0)]:
        for got, expected in zip(reordered(x, order), reordered.py_func(x, order), strict=True):
            assert got.strides == expected.strides
            np.testing.assert_array_equal(got, expected)
    for x, order in [(a, [0, 1]), (a, [0, 0, 1]), (a, [0, 1, 3]), (b, 1)]:
        with pytest.raises(ValueError) as wanted:
            reordered.py_func(x, order)
        with pytest.raises(ValueError) as found:
            reordered(x, order)
        assert str(found.value) == str(wanted.value)
    with pytest.raises(TypingError, match="or a tuple is needed here: how long a list or a range is"):
        njit(lambda a: a.reshape([6, 4]))(a)
