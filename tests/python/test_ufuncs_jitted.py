"""Ufuncs made by users, called in compiled code."""

import numpy as np
import pytest

import lancehead as lh


@lh.vectorize(["float32(float32, float32)", "float64(float64, float64)"])
def hypot2(x, y):
    return x**2 + y**2


@lh.vectorize
def growing(x, y):
    return x + y


@lh.vectorize(["UniTuple(float64, 2)(float64)"])
def two(x):
    return x + 1, x * 2


@lh.guvectorize(["void(float64[:], float64[:])"], "(n)->()")
def total(a, out):
    s = 0.0
    for x in a:
        s += x
    out[0] = s


@lh.guvectorize(["void(float64[:, :], float64[:, :], float64[:, :])"], "(m,n),(n,p)->(m,p)")
def matmul(a, b, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            out[i, j] = s


@lh.njit
def call(u, *args):
    return u(*args)


@lh.njit
def fused(a, b):
    return hypot2(a, b) * 2 - growing(a, 1)


def test_elementwise_with_broadcasting():
    a = np.arange(12.0).reshape(3, 4)
    np.testing.assert_allclose(fused(a, a[0]), (a**2 + a[0] ** 2) * 2 - (a + 1))
    np.testing.assert_allclose(fused(a.T, a[:, 0]), (a.T**2 + a[:, 0] ** 2) * 2 - (a.T + 1))
    assert fused.overloads


def test_one_loop_after_fusion():
    a = np.arange(12.0)
    fused(a, a)
    ir = fused.inspect_ir((lh.float64[::1], lh.float64[::1]))
    assert ir.count("lh_alloc(") <= 2, "one for each way, fitting extents and others"


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32, np.float64, np.bool_])
def test_types_as_outside(dtype):
    a = np.ones(5, dtype)
    for args in ((a, a), (a, 2), (a, 2.5), (a, np.float32(1))):
        want, got = hypot2(*args), call(hypot2, *args)
        assert want.dtype == got.dtype
        np.testing.assert_array_equal(want, got)


def test_scalars_and_several_results():
    assert call(hypot2, 1.0, 2.0) == 5.0
    assert call(two, 3.0) == (4.0, 6.0)
    a = np.arange(6.0).reshape(2, 3)
    for want, got in zip(two(a.T), call(two, a.T)):
        np.testing.assert_array_equal(want, got)


def test_out():
    @lh.njit
    def f(a, o):
        hypot2(a, a, o)
        return growing(a, 1, out=o)

    a, o = np.arange(4.0), np.empty(4)
    assert f(a, o) is not None
    np.testing.assert_array_equal(o, a + 1)


def test_no_loop():
    with pytest.raises(lh.TypingError, match="no loop"):
        call(hypot2, np.ones(2, complex), 1)


def test_generalised():
    x, y = np.random.default_rng(3).random((5, 3, 4)), np.random.default_rng(4).random((4, 2))
    np.testing.assert_allclose(call(matmul, x, y), x @ y)
    np.testing.assert_allclose(call(matmul, x[:, :, ::-1], y), x[:, :, ::-1] @ y)
    np.testing.assert_allclose(call(total, x), x.sum(axis=-1))
    np.testing.assert_allclose(call(total, x.T), x.T.sum(axis=-1))
    assert call(total, x[0, 0]) == pytest.approx(x[0, 0].sum())
    out = np.empty(5)
    call(total, x[:, 0], out)
    np.testing.assert_allclose(out, x[:, 0].sum(axis=-1))


def test_core_dimensions_have_to_fit():
    x = np.ones((3, 4))
    for u in (matmul, lambda *a: call(matmul, *a)):
        with pytest.raises(ValueError, match="mismatch in its core dimension 0"):
            u(x, x)
    for u in (total, lambda *a: call(total, *a)):
        with pytest.raises(ValueError):
            u(x, np.empty(5))


@lh.vectorize(identity=0)
def plus(x, y):
    return x + y


@lh.vectorize
def over(x, y):
    return x / y


@lh.njit
def reduced(u, a, axis):
    return u.reduce(a, axis=axis)


@lh.njit
def accumulated(u, a, axis):
    return u.accumulate(a, axis)


@lh.njit
def reduced_parts(u, a, at, axis):
    return u.reduceat(a, at, axis)


@lh.njit
def changed(u, a, at, b):
    u.at(a, at, b)


@lh.njit
def pairs(u, a, b):
    return u.outer(a, b)


def test_methods_in_compiled_code():
    a = np.arange(1.0, 25.0).reshape(2, 3, 4)
    for axis in (0, 1, -1, (0, 1), (2, 0), (0, 1, 2), ()):
        np.testing.assert_allclose(reduced(plus, a, axis), np.add.reduce(a, axis=axis))
    np.testing.assert_allclose(reduced(np.add, a, 1), a.sum(axis=1))
    np.testing.assert_allclose(reduced(over, a, 1), np.divide.reduce(a, axis=1))
    assert reduced(plus, a.T, None) == a.sum()
    for axis in (0, 1, 2):
        np.testing.assert_allclose(accumulated(plus, a, axis), np.add.accumulate(a, axis))
    np.testing.assert_allclose(reduced_parts(plus, a, np.array([0, 2, 1]), 2), np.add.reduceat(a, [0, 2, 1], 2))
    np.testing.assert_array_equal(pairs(plus, a[0, 0], a[0, 1]), np.add.outer(a[0, 0], a[0, 1]))
    x, y = np.zeros(5), np.zeros(5)
    changed(plus, x, np.array([1, 1, 4]), np.array([1.0, 2.0, 3.0]))
    np.add.at(y, np.array([1, 1, 4]), np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(x, y)


def test_wrong_axes_and_empty_reductions():
    a = np.ones((2, 3))
    for axis in ((0, 0), -3, 2):
        with pytest.raises(ValueError):
            reduced(plus, a, axis)
    assert reduced(plus, a[:0], 0).tolist() == [0, 0, 0]
    with pytest.raises(ValueError):
        reduced(over, a[:0], 0)
    with pytest.raises(IndexError):
        reduced_parts(plus, a, np.array([5]), 0)
