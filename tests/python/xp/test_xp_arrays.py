"""Lazy arrays beside NumPy's own: operands, methods, NumPy's functions, and types beyond the standard."""

from __future__ import annotations

import copy
import operator
import pickle
from typing import Any

import numpy as np
import pytest

from lancehead import xp

A = np.arange(12.0).reshape(3, 4) / 4.0


def same(found: Any, expected: Any) -> None:
    """Asserts that a lazy array has the type, shape and values of one of NumPy."""
    assert isinstance(found, xp.ndarray)
    assert (found.dtype, found.shape) == (np.asarray(expected).dtype, np.shape(expected))
    np.testing.assert_array_equal(found.numpy(), expected)


def test_operators_take_arrays_and_scalars_of_numpy() -> None:
    x = xp.asarray(A)
    for found, expected in (
        (x + A, A + A),
        (A[0] - x, A[0] - A),
        (np.float32(2.0) * xp.astype(x, xp.float32), np.float32(2.0) * A.astype(np.float32)),
        (xp.astype(x, xp.float32) * np.float64(2.0), A.astype(np.float32) * np.float64(2.0)),
        (A < x + 1.0, A < A + 1.0),
        (x == A, A == A),
        (np.add(A, x), A + A),
        (np.negative(x), -A),
        (xp.maximum(x, A[::-1]), np.maximum(A, A[::-1])),
    ):
        same(found, expected)
    # The values are those of now.
    b = A.copy()
    later = x * b
    b[:] = 0.0
    same(later, A * A)
    # The same operator on other kinds of operands.
    same(x + 1.0, A + 1.0)
    same(x + A, A + A)


FUNCTIONS: list[Any] = [
    lambda x: np.sum(x, axis=0), lambda x: np.sum(x, 1, None), lambda x: np.mean(x), lambda x: np.var(x, 0, ddof=1),
    lambda x: np.max(x, axis=(0, 1), keepdims=True), lambda x: np.argmin(x), lambda x: np.any(x, 1),
    lambda x: np.cumsum(x), lambda x: np.cumprod(x, axis=1), lambda x: np.nansum(x, axis=0), lambda x: np.diff(x, 2),
    lambda x: np.sort(x, 0), lambda x: np.where(x > 0.5, x, 0), lambda x: np.take(x, np.argmax(x, 1)),
    lambda x: np.concatenate([x, A]), lambda x: np.concatenate((x, x), axis=None), lambda x: np.stack([x, x], -1),
    lambda x: np.transpose(x), lambda x: np.swapaxes(x, 0, -1), lambda x: np.reshape(x, -1), lambda x: np.ravel(x),
    lambda x: np.roll(x, (1, 2), (0, 1)), lambda x: np.tensordot(x, x, ((0,), (0,))), lambda x: np.dot(x, x.T),
    lambda x: np.matmul(x, np.transpose(x)), lambda x: np.clip(x, 0.25, None), lambda x: np.round(x),
    lambda x: np.full_like(x, 3, shape=(2,)), lambda x: np.zeros_like(x, dtype=np.int8), lambda x: np.sin(x),
    lambda x: np.add(x, 1, dtype=np.float64), lambda x: np.hypot(x, A), lambda x: np.linalg.qr(x)[1],
    lambda x: np.fft.rfft(x, 4), lambda x: np.array([1.0], ndmin=2, like=x),
]  # fmt: skip
#: With arguments that the function of this module does not take, or that is not there: results are arrays of NumPy.
OTHERS: list[Any] = [
    lambda x: np.sum(x, where=np.asarray(x) > 0.5), lambda x: np.mean(x, dtype=np.float32), lambda x: np.round(x, 1),
    lambda x: np.reshape(x, (4, 3), order="F"), lambda x: np.sort(x, axis=None), lambda x: np.diff(x, prepend=0),
    lambda x: np.linalg.qr(x, "r"), lambda x: np.percentile(x, 30), lambda x: np.einsum("ij->j", x),
    lambda x: np.add.reduce(x, axis=1), lambda x: np.modf(x)[0], lambda x: np.add(x, 1, dtype=np.float32),
    lambda x: np.take(x, [1, 2], axis=1), lambda x: np.where(x > 0.5)[0], lambda x: np.dot(x, 2.0),
]  # fmt: skip


def test_functions_of_numpy() -> None:
    x = xp.asarray(A)
    for f in FUNCTIONS:
        found, expected = f(x), f(A)
        assert type(found) is xp.ndarray and found.dtype == expected.dtype and found.shape == expected.shape
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-14, atol=1e-15)
    for f in OTHERS:
        found, expected = f(x), f(A)
        assert isinstance(found, (np.ndarray, np.generic)) and found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    integers = np.arange(6).reshape(2, 3)
    assert np.rint(xp.asarray(integers)).dtype == np.rint(integers).dtype == np.sin(xp.asarray(integers)).dtype
    for function, error in ((lambda v: np.sum(v, axis=7), np.exceptions.AxisError), (lambda v: v @ v, ValueError)):
        for v in (x, A):
            with pytest.raises(error):
                function(v)
    b = A.copy()
    alias = b
    b += x
    assert b is alias
    np.testing.assert_array_equal(alias, A + A)
    for f in (lambda: np.add(A, A, out=x), lambda: np.sum(A, axis=0, out=xp.zeros(4))):
        with pytest.raises(TypeError, match="out"):
            f()
    with pytest.raises(ValueError, match="devices"):
        np.concatenate([x, xp.asarray(A, device="cuda:0")])


METHODS: list[Any] = [
    lambda x: x.sum(), lambda x: x.sum(1), lambda x: x.mean(axis=0, keepdims=True), lambda x: x.std(1),
    lambda x: x.min(), lambda x: x.argmax(1), lambda x: x.cumsum(1), lambda x: x.reshape(4, 3),
    lambda x: x.reshape((2, -1)), lambda x: x.ravel(), lambda x: x.transpose(), lambda x: x.transpose(1, 0),
    lambda x: x[None].squeeze(), lambda x: x.astype(np.float32), lambda x: x.clip(0.5, 1.0), lambda x: x.copy(),
    lambda x: x.argsort(), lambda x: x.round(), lambda x: x.real, lambda x: x.T.flatten(),
]  # fmt: skip


def test_methods_are_those_of_numpy() -> None:
    x = xp.asarray(A)
    for f in METHODS:
        same(f(x), f(A))
    y, b = xp.asarray(A[::-1]), A[::-1].copy()
    y[0, :].sort()
    b[0, :].sort()
    y.T.sort()
    b.T.sort()
    same(y, b)
    y[1].fill(7)
    b[1].fill(7)
    same(y, b)
    assert y.tolist() == b.tolist() and x[1, 2].item() == 1.5 and f"{x[1, 2]:.3f}" == "1.500"
    with pytest.raises(ValueError, match="size 1"):
        x.item()


def test_primitives_are_methods() -> None:
    x = xp.asarray([3.0, -1.0, 2.0])
    same(x.map(lambda v: v * 2.0), [6.0, -2.0, 4.0])
    assert float(x.reduce(max, init=-9.0)) == 3.0
    same(x.scan(lambda a, b: a + b), [3.0, 2.0, 4.0])
    same(x.zipwith(lambda a, b: a - b, x), np.zeros(3))
    same(x.scatter(xp.asarray([0, 0]), 1.0, mode="add"), [5.0, -1.0, 2.0])
    same(x.compact(x > 0.0), [3.0, 2.0])
    assert float(x.k_select(1)) == -1.0
    assert "map" in dir(x) and "node" not in dir(x)
    assert type(x).reduce.__doc__ == xp.reduce.__doc__


def test_integers_take_functions_of_floats() -> None:
    i = np.arange(5, dtype=np.int32)
    x = xp.asarray(i)
    for found, expected in (
        (xp.sqrt(x), np.sqrt(i)), (xp.mean(x), np.mean(i)), (xp.std(x), np.std(i)), (xp.var(x > 2), np.var(i > 2)),
    ):  # fmt: skip
        same(found, expected)


def test_arrays_of_half_floats_dates_spans_and_texts() -> None:
    h = np.array([1.5, -2.0, 0.25], np.float16)
    x = xp.asarray(h)
    for f in (lambda a: a * 2.5 + a, lambda a: a.sum(), lambda a: a.mean(), lambda a: a[::-1], lambda a: a > 0):
        same(f(x), f(h))
    same(x.map(lambda v: v * 2), h * 2)
    same(x.scan(max), np.maximum.accumulate(h))
    same(xp.sort(x), np.sort(h))
    assert float(x.reduce(lambda a, b: a + b)) == -0.25
    days = np.array(["2021-05-01", "2020-01-01", "NaT", "2020-03-01"], "M8[D]")
    d = xp.asarray(days)
    month = np.timedelta64(31, "D")
    for g in (
        lambda a: a[1:] - a[:-1], lambda a: a + month, lambda a: a < np.datetime64("2020-06-01"),
        lambda a: (a[1:] - a[:-1]) * 2, lambda a: a.max(), lambda a: a.astype("M8[M]"), lambda a: a[:2] - month,
    ):  # fmt: skip
        found, expected = g(d), g(days)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found.numpy(), expected)
    np.testing.assert_array_equal(xp.sort(d).numpy(), np.sort(days))
    with pytest.raises(TypeError, match="not elements of datetime64"):
        d.map(lambda v: v)
    texts = np.array(["b", "abc", "a"])
    s = xp.asarray(texts)
    same(s == "a", texts == "a")
    same(xp.sort(s), np.sort(texts))
    same(xp.concat([s, s[:1]]), np.concatenate([texts, texts[:1]]))
    same(xp.full(2, "ab"), np.full(2, "ab"))
    same(xp.zeros(2, dtype="m8[s]"), np.zeros(2, "m8[s]"))
    same(xp.asarray(A.astype(">f8")), A)
    for wrong in (np.array([None]), np.ones(1, np.longdouble)):
        with pytest.raises(TypeError, match="there are no arrays of"):
            xp.asarray(wrong)


def test_indexing_by_arrays_of_integers_is_lazy() -> None:
    x, k = xp.asarray(A), xp.asarray([2, 0, -1])
    same(x[k], A[[2, 0, -1]])
    same(x[np.array([[0], [1]])], A[[[0], [1]]])
    same(x[x > 1.0], A[A > 1.0])
    y, b = xp.asarray(A), A.copy()
    y[y > 1.0] = 0.5
    b[b > 1.0] = 0.5
    y[k] = xp.asarray([[1.0], [2.0], [3.0]])
    b[[2, 0, -1]] = [[1.0], [2.0], [3.0]]
    same(y, b)
    bad = x[xp.asarray([3])]
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        bad.compute()


# --- values beyond types ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("device", ["cpu", "cuda:0"])
def test_sums_in_narrow_types_wrap(device):
    a = np.array([[100, 27, -128], [5, 77, 120]])
    x = xp.asarray(a, device=device)
    for dtype in ("int8", "uint16", "bool"):
        for axis in (None, 0, 1):
            for name in ("sum", "prod"):
                found = getattr(xp, name)(x, axis=axis, dtype=getattr(xp, dtype))
                expected = getattr(np, name)(a, axis=axis, dtype=dtype)
                assert found.dtype == expected.dtype
                np.testing.assert_array_equal((found | found).numpy(), expected)
        found = xp.cumulative_sum(x, axis=1, dtype=getattr(xp, dtype), include_initial=True)
        np.testing.assert_array_equal(
            (found | found).numpy(), np.cumulative_sum(a, axis=1, dtype=dtype, include_initial=True)
        )


def test_integers_and_numbers_outside_of_their_type():
    for dtype in ("int8", "uint8", "uint64"):
        a = np.array([0, 5, 127], dtype)
        x = xp.asarray(a)
        for n in (-1, 5, 300, 2**70, -(2**70)):
            for f in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
                assert f(x, n).numpy().tolist() == f(a, n).tolist()
                assert f(n, x).numpy().tolist() == f(n, a).tolist()
        with pytest.raises(OverflowError):
            x + 2**70
        assert xp.clip(x, -np.inf, 6.0).numpy().tolist() == [0, 5, 6]
        with pytest.raises(TypeError, match="a bound is an integer"):
            xp.clip(x, 0.5, 3)
    assert 5 in x and 6 not in x
    assert [part.numpy().tolist() for part in divmod(x, 3)] == [[0, 1, 42], [0, 2, 1]]


@pytest.mark.parametrize("device", ["cpu", "cuda:0"])
def test_copies_and_pickles(device):
    x = xp.asarray(A, device=device)
    views = (x, x * 2.0, x[::-1, 1::2], x.T, x[:0], x[1, 1], x > 1.0, xp.asarray(np.array(["2020-01-01"], "M8[D]")))
    for made in (copy.copy, copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))):
        for a in views:
            b, before = made(a), a.numpy().copy()
            assert b.device == a.device
            same(b, before)
            b[...] = b[...] if b.dtype.kind == "M" else ~b if b.dtype == xp.bool else b + 1.0
            same(a, before)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: xp.diff(xp.ones(3), n=-1), ValueError),
        (lambda: xp.cumulative_sum(xp.ones(3), axis=()), TypeError),
        (lambda: xp.asarray([2, 3]) ** -1, ValueError),
        *[
            (lambda f=f: f(xp.asarray(np.array(["2020-01-01"], "M8[D]"))), TypeError)
            for f in (xp.sum, xp.prod, xp.mean)
        ],
        *[
            (lambda f=f: f(xp.asarray(np.array([3], "m8[s]"))), TypeError)
            for f in (xp.prod, xp.var, xp.cumulative_prod)
        ],
        (lambda: xp.asarray(np.array([3], "m8[s]")) @ xp.ones(1), TypeError),
    ],
)
def test_what_has_no_meaning_is_refused_where_it_is_written(call, error):
    with pytest.raises(error):
        call()


@pytest.mark.parametrize("exponent", (2, 3, 4, 0.5, 2.0, 3.0, 1, 0, 7, True))
@pytest.mark.parametrize("dtype", ("float64", "float32", "float16", "int64", "int8", "uint8", "complex128"))
def test_powers_by_numbers(dtype, exponent):
    a = np.array([1, 2, 3, 0], dtype)
    found, expected = (xp.asarray(a) ** exponent).numpy(), a**exponent
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-3 if dtype == "float16" else 1e-6)


def test_arrays_of_numpy_share_the_memory_unless_they_are_copies():
    x = xp.asarray([1.0, 2.0, 3.0]) * 2.0
    shown, copied = np.asarray(x), np.array(x)
    assert np.shares_memory(shown, x.numpy()) and not shown.flags.writeable
    assert not np.shares_memory(copied, x.numpy()) and copied.flags.writeable
    x[0] = 7.0
    assert shown.tolist() == [2.0, 4.0, 6.0] and np.asarray(x).tolist() == [7.0, 4.0, 6.0]
    assert np.asarray(x, np.int64).tolist() == [7, 4, 6]
    with pytest.raises(ValueError):
        np.asarray(x, np.int64, copy=False)
