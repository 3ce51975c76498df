"""Creation and change of shape against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lancehead import TypingError, njit
from lib_cases import same
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


def of_lists(a, n, m):
    made = np.zeros([n, 3]), np.ones(shape=[n]), np.full([n, m], 2.5), np.empty([0, n]), np.zeros_like(a, shape=[m, 1])
    return made, np.full_like(a, 1, shape=[n]), np.indices([n, m]), np.fromfunction(lambda i, j: i + j * n, [n, m])


def in_lists(a, n):
    shaped = (
        a.reshape([4, 6]),
        a.reshape([-1]),
        np.reshape(a, [n, 12], order="F"),
        np.resize(a, [3, n]),
        a.T.reshape([24]),
    )
    wide = (
        np.broadcast_to(a, [n, 2, 3, 4]),
        np.tile(a, [n, 1, 1]),
        np.expand_dims(a, [0, n]),
        np.broadcast_shapes([3, 1], [n]),
    )
    return shaped, wide, np.unravel_index(5, [n, 4]), np.ravel_multi_index((1, 2), [n, 4])


def over_lists(a):
    middle = (
        np.median(a, axis=[0, 2]),
        np.quantile(a, [0.25, 0.5], axis=[1, 0], keepdims=True),
        np.nanmedian(a, [0, -1]),
    )
    sums = np.average(a, [0, 1]), np.apply_over_axes(np.sum, a, [0, 2]), np.tensordot(a, a, axes=[[0, 1], [0, 1]])
    return middle, sums, np.gradient(a, axis=[1, 2]), np.roll(a, [1, 2], axis=[0, 1]), np.tensordot(a, a, [[2], [2]])


def drawn_in_lists(seed, n):
    rng = np.random.default_rng(seed)
    return rng.random([n, 3]), rng.normal(0, 1, [2, n]), rng.integers(0, 9, size=[n]), rng.choice(5, [n, 2])


def shape_of_variables(n):
    shape = [n, 3]
    total = 0.0
    for k in range(n):
        total += np.ones([k + 1, n]).sum() + k
    return np.zeros(shape), total, (*[n, 2], 1), tuple([n, 3]), np.maximum(*[n, 2])  # noqa: C409


def test_a_list_display_is_a_shape_or_axes():
    a = np.arange(24.0).reshape(2, 3, 4)
    for f, args in [
        (of_lists, (a, 2, 4)),
        (in_lists, (a, 2)),
        (in_lists, (a.astype(np.int8).copy("F"), 2)),
        (over_lists, (a[:, ::-1],)),
        (drawn_in_lists, (3, 4)),
        (shape_of_variables, (3,)),
    ]:
        assert same(njit(f)(*args), f(*args)), f.__name__
    with pytest.raises(ValueError, match="negative dimensions"):
        njit(lambda n: np.zeros([n, 2]))(-1)
    with pytest.raises(ValueError, match="reshape"):
        njit(lambda a: a.reshape([5, 5]))(a)


def used_again(n):
    shape = [n, 3]
    return np.zeros(shape), len(shape)


def grown(n):
    shape = [n]
    shape.append(3)
    return np.zeros(shape)


def test_a_list_with_another_use_is_refused_with_the_way_out():
    given = njit(lambda shape: np.zeros(shape))
    for f, arg in [(used_again, 2), (grown, 2), (given, [2, 3]), (lambda n: given([n, 2]), 2)]:
        with pytest.raises(TypingError, match=r"(?s)or a tuple is needed here.*write a tuple, `\(2, 3\)`"):
            (f if f is given else njit(f))(arg)
    # NumPy takes no list there either.
    for f in (lambda a: a.sum(axis=[0, 1]), lambda a: a.squeeze([0]), lambda a: np.linalg.norm(a, axis=[0, 1])):
        with pytest.raises(TypingError, match="tuple is needed"):
            njit(f)(np.ones((1, 2)))


def over_memory(b, shape, at, steps):
    views = np.ndarray(shape, np.int16, b, at), np.ndarray(shape, np.int16, b, order="F"), np.ndarray([2], "b", b)
    return (
        views,
        np.ndarray(shape, np.uint8, b, at, steps),
        np.ndarray(shape).shape,
        np.ndarray((2, 2), order="F").strides,
    )


def test_arrays_over_memory():
    compiled, memory = njit(over_memory), np.arange(12, dtype=np.int32)
    for args in [
        (memory, (2, 3), 4, (8, 4)),
        (memory, (3,), 0, (-2,)),
        (memory, (0, 2), 48, (1, 1)),
        (memory[:0], (1,), 0, (1,)),
    ]:
        try:
            wanted = over_memory(*args)
        except (ValueError, TypeError) as e:
            with pytest.raises(type(e)):
                compiled(*args)
        else:
            assert same(compiled(*args), wanted)
    for args in [
        (memory, (2, 3), -1, (8, 4)),
        (memory, (25,), 0, (1,)),
        (memory, (2,), 0, (48,)),
        (memory[::2], (2,), 0, (1,)),
    ]:
        with pytest.raises((TypeError, ValueError)):
            over_memory(*args)
        with pytest.raises((TypeError, ValueError)):
            compiled(*args)
    view = njit(lambda b: np.ndarray((3,), np.int32, b, 4))(memory)
    assert np.shares_memory(view, memory)
