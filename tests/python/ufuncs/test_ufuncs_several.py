"""Ufuncs with several results in compiled code: NumPy's, and those that users make."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from lancehead import errors, njit, vectorize

NAN, INF = np.nan, np.inf
FLOATS = np.array([1.5, -2.75, 0.0, -0.0, 7.0, NAN, INF, -INF, 5e-324, -1e300])
ONE = {"modf": np.modf, "frexp": np.frexp}


def arrays():
    """Operands of ranks 0 to 3, contiguous and not, with elements and without."""
    for dtype in ("f4", "f8", "i4", "i8", "u8"):
        base = np.nan_to_num(FLOATS, posinf=9, neginf=-9).clip(-100, 100).astype(dtype)
        yield from (
            base,
            base[::-3],
            base[:0],
            base[:6].reshape(2, 3),
            np.asfortranarray(base[:6].reshape(2, 3)),
            base[:8].reshape(2, 2, 2).T,
            base[1:2].reshape(()),
        )
    yield FLOATS
    yield FLOATS.astype("f4")


def same(want, got):
    """Whether two results are equal, but for a scalar's width, which compiled code does not keep."""
    for w, g in itertools.zip_longest(want, got):
        assert np.shape(w) == np.shape(g)
        if isinstance(w, np.ndarray):
            assert w.dtype == g.dtype
        np.testing.assert_array_equal(w, g)
        signs = [np.signbit(np.nan_to_num(np.asarray(x, "f8"), nan=1.0)) for x in (w, g)]
        np.testing.assert_array_equal(*signs)


@pytest.mark.parametrize("name", ONE)
def test_one_operand(name):
    f = ONE[name]
    compiled = njit(lambda a: f(a))
    with np.errstate(all="ignore"):
        for a in arrays():
            same(f(a), compiled(a))
    for x in (2.5, -0.0, 3, True, np.float32(1.25), INF):
        same(f(np.float64(x)), compiled(x))


@njit
def divide(a, b):
    return np.divmod(a, b)


@njit
def divide_in_python(a, b):
    return divmod(a, b)


@pytest.mark.parametrize("f", [divide, divide_in_python])
def test_two_operands_that_are_broadcast(f):
    divisors = [
        3,
        -2.5,
        np.array([2, -3]),
        np.array([[1.5], [-2]]),
        np.array(4),
        np.array([], np.float32).reshape(0, 1),
    ]
    values = [
        np.array([7, -7]),
        np.array([[7.5, -7.5], [0, -0.0]]),
        np.array([[9], [-9]], np.int32),
        np.array(7.5),
        np.zeros((2, 0, 1)),
        np.array([200, 7], np.uint8),
    ]
    for a, b in itertools.product(values, divisors):
        try:
            want = np.divmod(a, b)
        except ValueError:
            with pytest.raises(ValueError):
                f(a, b)
            continue
        same(want, f(a, b))


def test_division_by_zero_is_as_in_numpy():
    with np.errstate(all="ignore"):
        for a, b in (([7, -7, 0], 0), ([7.5, -7.5, 0.0, NAN], 0.0), ([1.5, INF], [INF, 2.0])):
            same(np.divmod(np.array(a), np.array(b)), divide(np.array(a), np.array(b)))
        same(
            np.divmod([True, False, True], [True, True, False]),
            divide(np.array([True, False, True]), np.array([True, True, False])),
        )


def test_sequences_are_operands():
    @njit
    def f(t):
        return np.modf(t), np.divmod(t, (2, 3)), np.modf([1.5, 2]), np.frexp((4, 8.0))

    t = (7.5, -7.5)
    for want, got in zip(f.py_func(t), f(t)):
        same(want, got)


def test_outputs():
    @njit
    def keyword(a, p, q):
        r = np.modf(a, out=(p, q))
        return r[0] is p, r[1] is q

    @njit
    def positional(a, p, q):
        np.modf(a, p, q)

    @njit
    def one_of_two(a, q):
        return np.modf(a, out=(None, q))

    a = np.array([[1.5, -2.25], [3.0, -0.0]])
    want = np.modf(a)
    for order in "CF":
        p, q, r = np.full((2, 2), 9.0, order=order), np.full((3, 2), 9.0, order=order)[1:], np.empty((2, 2))
        assert keyword(a, p, q) == (True, True)
        same(want, (p, q))
        p[:], q[:] = 9.0, 9.0
        positional(a, p, q)
        same(want, (p, q))
        made, given = one_of_two(a, r)
        assert given is r
        same(want, (made, r))
    # Results over operands, one of them over all of it and one over other elements.
    b = np.arange(6) * 1.25
    whole, fraction = b.copy(), np.empty(6)
    keyword(whole, fraction, whole)
    same(np.modf(b), (fraction, whole))
    shared = np.concatenate((b, b))
    positional(shared[:6], shared[3:9], fraction)
    same(np.modf(b), (shared[3:9], fraction))
    # A larger output has the operand's elements several times.
    wide, other = np.empty((2, 6)), np.empty((2, 6))
    keyword(b, wide, other)
    same([np.broadcast_to(x, (2, 6)) for x in np.modf(b)], (wide, other))
    with pytest.raises(ValueError, match="broadcast"):
        keyword(b, np.empty(5), np.empty(5))


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: np.modf(a, out=b),
        lambda a, b: np.modf(a, b),
        lambda a, b: np.sqrt(a, out=(b, b)),
        lambda a, b: np.sign(a, out=(b, b)),
        lambda a, b: np.modf(a, out=(b, 3)),
        lambda a, b: np.modf(a, out=(b.astype(np.int64), b)),
        lambda a, b: np.modf(a * 1j),
        lambda a, b: np.modf(),
        lambda a, b: np.modf(a, b, b, b),
        lambda a, b: np.divmod(a),
        lambda a, b: np.sin(a, out=b.astype(np.int64)),
    ],
)
def test_what_does_not_fit_is_refused(call):
    with pytest.raises(errors.TypingError):
        njit(call)(np.ones(3), np.ones(3))


@vectorize
def apart(x, y):
    return x + y, x - y, x < y


@vectorize(["UniTuple(float32, 2)(float32)", "UniTuple(float64, 2)(float64)"])
def declared(x):
    return x + 1, x * 2


def test_users_ufuncs():
    @njit
    def of_two(a, b):
        return apart(a, b)

    @njit
    def of_one(a):
        return declared(a)

    @njit
    def into(a, p, q):
        declared(a, out=(p, q))
        return declared(a, out=(None, p))

    for a, b in (
        (np.arange(3.0), 2),
        (np.arange(6).reshape(2, 3).T, np.array([1.5, 2])),
        (np.array(3), 4.5),
        (np.zeros((0, 2)), np.ones(2)),
    ):
        same(apart(a, b), of_two(a, b))
    for a in (np.arange(3), np.arange(3, dtype=np.float32), np.array(2.5), 3.0):
        same(declared(a), of_one(a))
    a, p, q = np.arange(4.0), np.empty(4), np.empty(4)
    fresh, last = into(a, p, q)
    assert last is p
    same((a + 1, a * 2, a * 2), (fresh, last, q))


def test_in_parallel_and_in_loops():
    @njit(parallel=True)
    def f(a):
        whole, rest = np.divmod(a * 2, 3)
        total = 0.0
        for i in range(len(a)):
            fraction, part = np.modf(a[i : i + 2])
            total += fraction.sum() + part.sum()
        return whole, rest, total

    a = np.arange(50.0) / 4
    whole, rest, total = f(a)
    same(np.divmod(a * 2, 3), (whole, rest))
    assert total == pytest.approx(f.py_func(a)[2])
