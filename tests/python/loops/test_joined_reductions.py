"""Reductions of elementwise computations, which are read part by part, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lancehead import njit
from strategies import arrays

#: Elements of a part.
PART = 2048


@njit
def products(a, b):
    return np.sum(a * b)


@njit
def distances_across(a, b):
    return ((a - b) ** 2).sum(axis=-1)


@njit
def distances_down(a, b):
    return np.max(np.abs(a - b), axis=0)


@njit
def mean_down(a, b):
    return (a + b).mean(0)


@njit
def kept(a, b):
    return (a * b).sum(axis=1, keepdims=True), np.min(1.0 + a * b, axis=(0, 1), initial=9.0)


@njit
def truths(a, b):
    return np.any(a > b), np.all(a <= b), np.count_nonzero(a != b), (a > b).any(axis=0)


@njit
def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@njit
def used_twice(a, b):
    c = a * b
    return c.sum(), c.max() if c.size > 0 else 0.0, c


@njit
def in_place_after(a, b):
    s = np.sum(a * b)
    a += s
    return s, np.sum(a * b)


SHAPES = [(3, 5), (4, 0), (1, 1), (2, PART + 3), (PART + 3, 2), (70, PART // 64), (5, 2 * PART), (130, 7)]
FUNCTIONS = [products, distances_across, distances_down, mean_down, kept, truths]


def operands(shape):
    """Operands of a shape in several orders, and with repeated extents."""
    rng = np.random.default_rng(abs(hash(shape)) % 1000)
    a, b = rng.standard_normal(shape), rng.standard_normal(shape)
    yield a, b
    yield np.asfortranarray(a), b
    yield a[::-1, ::2], b[:, ::2]
    yield a, b[:1]
    yield a, b[:, :1] if shape[1] else b
    yield a, b[0] if shape[0] else b
    yield a[:, :1] if shape[1] else a, b[:1]


def agree(ours, theirs):
    for x, y in zip(ours, theirs, strict=True) if isinstance(theirs, tuple) else [(ours, theirs)]:
        np.testing.assert_array_equal(x, y)
        assert np.shape(x) == np.shape(y)
        # Numbers are Python's.
        assert not isinstance(y, np.ndarray) or x.dtype == y.dtype


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_shapes_around_a_part(f):
    for shape in SHAPES:
        for a, b in operands(shape):
            if f is distances_down and a.shape[0] == 0:
                continue
            with np.errstate(all="ignore"):
                agree(f(a, b), f.py_func(a, b))


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_code_for_debugging(f):
    # The library's functions are not inlined there.
    slow = njit(debug=True)(f.py_func)
    for a, b in operands((3, PART + 3)):
        agree(slow(a, b), f.py_func(a, b))


@pytest.mark.parametrize("n", [0, 1, 7, 8, 129, PART - 1, PART, PART + 1, 2 * PART + 17, 100_003])
def test_lines_are_summed_in_numpys_order(n):
    rng = np.random.default_rng(n)
    for dtype in (np.float64, np.float32, np.complex128, np.int16, np.bool_):
        a, b = rng.integers(0, 9, n).astype(dtype), (rng.random(n) * 7).astype(dtype)
        # NumPy multiplies complex numbers with rounding of its own.
        tolerance = 1e-14 if dtype is np.complex128 else 0
        np.testing.assert_allclose(products(a, b), np.sum(a * b), rtol=tolerance)
        np.testing.assert_allclose(products(a[::-1], b), np.sum(a[::-1] * b), rtol=tolerance)


@given(arrays(("float64", "float32"), dims=(2, 2), plain=True), st.floats(-2, 2))
def test_arrays_of_any_order(a, x):
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(products(a, x), np.sum(a * x), rtol=1e-5, equal_nan=True)


@pytest.mark.parametrize("shape", [(3, 5), (1, 1), (300, 40), (2, PART + 5), (4, 5, 6)])
def test_softmax_stores_what_it_sums(shape):
    x = np.random.default_rng(1).standard_normal(shape)
    np.testing.assert_allclose(softmax(x), softmax.py_func(x), rtol=1e-15)


def test_other_uses_see_the_whole_array():
    a, b = np.random.default_rng(2).standard_normal((2, 5000))
    agree(used_twice(a, b), used_twice.py_func(a, b))
    agree(used_twice(a[:0], b[:0]), (0.0, 0.0, a[:0]))


def test_a_change_after_the_reduction_is_not_seen_before_it():
    a, b = np.random.default_rng(3).standard_normal((2, 5000))
    c = a.copy()
    agree(in_place_after(a, b), in_place_after.py_func(c, b))


def test_shapes_that_do_not_fit_are_an_error():
    with pytest.raises(ValueError, match=r"\(3,\).*\(4,\)"):
        products(np.ones(3), np.ones(4))
    with pytest.raises(ValueError, match="zero-size"):
        distances_down(np.ones((0, 3)), np.ones((0, 3)))
    with pytest.raises(np.exceptions.AxisError):
        mean_out_of_range(np.ones(3), 2)


@njit
def mean_out_of_range(a, axis):
    return (a + 1.0).mean(axis)


@njit(parallel=True)
def in_parallel(a, b):
    return np.sum(a * b), np.max(np.abs(a - b), axis=0), ((a - b) ** 2).sum(axis=1)


def test_parallel_reductions_agree():
    a, b = np.random.default_rng(4).standard_normal((2, 600, 700))
    for x, y in zip(in_parallel(a, b), in_parallel.py_func(a, b), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)


def test_the_report_says_that_there_is_no_array():
    products(np.ones(3), np.ones(3))
    text = str(products.explain())
    assert "reduced part by part, without an array in between" in text
    softmax(np.ones((2, 3)))
    assert "reduced part by part, while it is stored" in str(softmax.explain())
