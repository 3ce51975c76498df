"""Ufuncs made by users, called in compiled code."""

import numpy as np
import pytest

import lancehead as lh

pytestmark = pytest.mark.optimised


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


@lh.njit
def reduced_with(u, a, axis, initial, where):
    return u.reduce(a, axis, initial=initial, where=where)


@lh.njit
def kept(u, a, axis):
    return u.reduce(a, axis, keepdims=True)


@lh.njit
def reduced_into(u, a, out):
    return u.reduce(a, 1, out=out)


@lh.njit
def kept_into(u, a, out):
    return u.reduce(a, (0, 1), out=out, keepdims=True)


@lh.njit
def masked(u, a, b, where):
    return u(a, b, where=where)


@lh.njit
def masked_into(u, a, b, where, out):
    return u(a, b, out=out, where=where)


@lh.njit
def masked_off(u, a, b, out):
    return u(a, b, out=out, where=False)


def outside(u):
    return {plus: np.add, over: np.divide}.get(u, u)


@pytest.mark.parametrize("u", [plus, over, np.add, np.maximum])
@pytest.mark.parametrize("axis", [0, -1, (0, 2), (2, 0), (0, 1, 2), None, ()])
def test_initial_where_and_keepdims_of_reduce(u, axis):
    a = np.random.default_rng(1).random((2, 3, 4)) + 0.5
    mask = a > 0.8
    if u is not over or isinstance(axis, int):
        np.testing.assert_allclose(kept(u, a, axis), outside(u).reduce(a, axis, keepdims=True))
    if u is not over:
        np.testing.assert_allclose(
            reduced_with(u, a, axis, 2.5, mask), outside(u).reduce(a, axis, initial=2.5, where=mask)
        )
        np.testing.assert_allclose(
            reduced_with(u, a, axis, 2.5, mask[0, 0]), outside(u).reduce(a, axis, initial=2.5, where=mask[0, 0])
        )
        np.testing.assert_allclose(reduced_with(u, a.T, axis, 2.5, True), outside(u).reduce(a.T, axis, initial=2.5))


def test_where_of_reduce_needs_a_start():
    a = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(reduced_with(plus, a, 0, None, a > 2), np.add.reduce(a, 0, where=a > 2))
    assert reduced_with(plus, a, None, None, np.zeros((2, 3), np.bool_)) == 0
    for u in (over, np.maximum):
        with pytest.raises(ValueError, match="where mask"):
            reduced_with(u, a, 0, None, a > 2)
    with pytest.raises(ValueError):
        reduced_with(plus, a, 0, 0.0, np.zeros(5, np.bool_))


def test_out_of_reduce():
    a = np.arange(6.0).reshape(2, 3)
    out = np.zeros(2)
    assert reduced_into(plus, a, out) is out and out.tolist() == [3, 12]
    small = np.zeros((2,), np.float32)
    assert reduced_into(plus, a, small).tolist() == [3, 12]
    with pytest.raises(ValueError, match="shape"):
        reduced_into(plus, a, np.zeros(3))
    whole = np.zeros((1, 1))
    assert kept_into(plus, a, whole) is whole and whole[0, 0] == 15


@pytest.mark.parametrize("u", [plus, hypot2])
def test_where_of_a_call(u):
    a, b = np.arange(12.0).reshape(3, 4), np.arange(4.0)
    mask = (np.arange(12) % 3 == 0).reshape(3, 4)
    for where in (mask, mask[0], mask[:, :1]):
        full = np.broadcast_to(where, (3, 4))
        np.testing.assert_array_equal(masked(u, a, b, where)[full], u(a, b)[full])
        out = np.full((3, 4), -1.0)
        want = np.full((3, 4), -1.0)
        u(a, b, out=want, where=where)
        assert masked_into(u, a, b, where, out) is out
        np.testing.assert_array_equal(out, want)
    out = np.full((3, 4), -1.0)
    assert (masked_off(u, a, b, out) == -1).all()
    np.testing.assert_array_equal(masked(u, a, b, True), u(a, b))
    with pytest.raises(ValueError):
        masked_into(u, a, b, mask, np.zeros(4))


@pytest.mark.parametrize("shift", [-2, -1, 0, 1, 2])
def test_outputs_that_lie_over_inputs(shift):
    base = np.arange(20.0)
    want, got = base.copy(), base.copy()
    inside, over_it = slice(5, 15), slice(5 + shift, 15 + shift)
    hypot2(want[inside], 1.0, out=want[over_it])
    into(got[inside], got[over_it])
    np.testing.assert_array_equal(got, want)
    want, got = base.copy(), base.copy()
    mask = base[:10] % 2 == 0
    hypot2(want[inside], want[inside], out=want[over_it], where=mask)
    masked_into(hypot2, got[inside], got[inside], mask, got[over_it])
    np.testing.assert_array_equal(got, want)


@lh.njit
def into(a, out):
    hypot2(a, 1.0, out=out)


@lh.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
def running(a, out):
    out[0] = a[0]
    for i in range(1, a.size):
        out[i] = out[i - 1] + a[i]


@lh.njit
def call_into(u, *operands):
    u(*operands)


def _halves(z):
    return [(z[:-1], z[1:]), (z[1:], z[:-1]), (z[::-1], z), (z, z), (z[:1], z[1:2]), (z[::2], z[1::2])]


@pytest.mark.parametrize("case", range(6))
@pytest.mark.parametrize("shape", [(8,), (6, 4)])
def test_outputs_of_generalised_ufuncs_and_of_several_results_lie_over_inputs(case, shape):
    base = np.arange(1.0, np.prod(shape) + 1).reshape(shape)
    for u, outputs in ((running, lambda out: (out,)), (two, lambda out: (out, np.empty(out.shape)))):
        got, want = base.copy(), base.copy()
        a, out = _halves(got)[case]
        call_into(u, a, *outputs(out))
        a, out = _halves(want)[case]
        u(a, *outputs(out))
        np.testing.assert_array_equal(got, want)


def test_read_only_operands_are_not_written_to():
    fixed = np.ones(3)
    fixed.flags.writeable = False
    for u, *operands in ((running, np.ones(3), fixed), (two, np.ones(3), np.ones(3), fixed), (filled, fixed, 2)):
        with pytest.raises(lh.TypingError, match="read-only"):
            call_into(u, *operands)
    np.testing.assert_array_equal(fixed, 1)


@lh.guvectorize(["void(float64[:], int64)"], "(n),()", writable_args=("a",))
def filled(a, value):
    a[:] = value


def test_calls_in_place_are_vectorised():
    a = np.arange(1000.0)

    @lh.njit
    def inplace(a):
        hypot2(a, 1.0, out=a)

    want = hypot2(a, 1.0)
    inplace(a)
    np.testing.assert_array_equal(a, want)
    assembly = next(iter(inplace.inspect_asm().values()))
    assert any(packed in assembly for packed in ("mulpd", "fmadd231pd", "fmadd213pd", "fmadd132pd", "addpd"))


@lh.njit
def sums_and_products(a, i):
    return (
        np.add.accumulate(a),
        np.multiply.accumulate(a),
        np.add.reduceat(a, i),
        np.multiply.reduce(a),
        np.add.reduce(a),
    )


@pytest.mark.parametrize("dtype", "?bBhHiIlLfd")
def test_numpys_sums_and_products_of_small_integers_are_wide(dtype):
    a, i = np.full((9, 2), 3, dtype), np.array([0, 4])
    for x, y in zip(sums_and_products(a, i), sums_and_products.py_func(a, i)):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)
