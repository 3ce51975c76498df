"""Primitives of `lancehead.xp` in compiled code, against those of lazy arrays; functions that give several values."""

from __future__ import annotations

import numpy as np
import pytest

import lancehead
from lancehead import njit, xp

A = xp.asarray


def values(n, dtype, seed=0, special=True):
    """Few different values, so that there are equal ones; NaN among floats."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 60, n).astype(dtype)
    if np.dtype(dtype).kind == "c":
        x += (1j * rng.integers(0, 3, n)).astype(dtype)
    if np.dtype(dtype).kind in "fc" and special and n:
        x[rng.integers(0, n, n // 50 + 1)] = np.nan
    return x


def arrays(found):
    """The arrays of a result, lazy or of NumPy, in order."""
    if isinstance(found, tuple):
        return [a for part in found for a in arrays(part)]
    return [np.asarray(found)]


def same(found, expected, with_type=True):
    """Values and shapes, NaN included; types, but for numbers, which compiled code gives as Python's."""
    found, expected = arrays(found), arrays(expected)
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert a.shape == b.shape
        assert a.dtype == b.dtype or not a.shape or not with_type
        np.testing.assert_array_equal(a, b)


def either(a, b):
    return a if b != b else b


def wrapped(a, b):
    # Associative, but not commutative: pairs (a // 1000, a % 1000) of a linear map modulo 97.
    return (a // 1000 * (b // 1000)) % 97 * 1000 + (a % 1000 * (b // 1000) + b % 1000) % 97


# --- the same results ---------------------------------------------------------------------------------------------


@njit
def folds(x, y, zero, offsets):
    return (
        xp.map(lambda a, b: a * b == a, x, y),
        xp.reduce(lambda a, b: a if b != b else b, x, init=zero),
        xp.transform_reduce(lambda a, b: a if a == b else b, lambda a, b: a if b != b else b, zero, x, y),
        xp.scan(lambda a, b: a if b != b else b, x),
        xp.exclusive_scan(lambda a, b: a if b != b else b, x, init=zero),
        xp.segmented_reduce(lambda a, b: a if b != b else b, x, offsets, zero),
        xp.segmented_scan(lambda a, b: a if b != b else b, x, offsets, init=zero, exclusive=True),
        xp.adjacent_difference(x, lambda a, b: a if a == a else b),
    )


@pytest.mark.parametrize("dtype", ("bool", "int8", "complex64"))
def test_folds_are_those_of_lazy_arrays(dtype):
    zero = np.dtype(dtype).type(1)
    for n in (0, 1, 2, 2047, 2049, 5000):
        x, y = values(n, dtype), values(n, dtype, 1)
        offsets = np.array([0, n // 3, n // 3, n])
        for u, v in ((x, y), (np.repeat(x, 2)[::-2], y[::-1])):
            a, b = A(u), A(v)
            expected = (
                xp.map(lambda a, b: a * b == a, a, b),
                xp.reduce(either, a, init=zero),
                xp.transform_reduce(lambda a, b: a if a == b else b, either, zero, a, b),
                xp.scan(either, a),
                xp.exclusive_scan(either, a, init=zero),
                xp.segmented_reduce(either, a, A(offsets), zero),
                xp.segmented_scan(either, a, A(offsets), init=zero, exclusive=True),
                xp.adjacent_difference(a, lambda a, b: a if a == a else b),
            )
            same(folds(u, v, zero, offsets), expected)


@njit(parallel=True)
def folds_in_parallel(x):
    return (
        xp.reduce(lambda a, b: a + b, x, init=0.5),
        xp.scan(lambda a, b: a + b, x),
        xp.map(lambda a: a * 2, x),
        xp.k_select(x, 3),
    )


@njit
def folds_in_order(x):
    return (
        xp.reduce(lambda a, b: a + b, x, init=0.5),
        xp.scan(lambda a, b: a + b, x),
        xp.map(lambda a: a * 2, x),
        xp.k_select(x, 3),
    )


@njit(parallel=True)
def of_rows(x):
    out = np.empty(x.shape[0])
    for i in lancehead.prange(x.shape[0]):
        out[i] = xp.reduce(lambda a, b: a + b, x[i], init=0.0) + xp.k_select(x[i], 2)
    return out


def test_parallel_code_gives_the_same_bits():
    x = np.random.default_rng(0).normal(size=300_001)
    same(folds_in_parallel(x), folds_in_order(x))
    same(folds_in_order(x)[0], xp.reduce(lambda a, b: a + b, A(x), init=0.5))
    x = x[:30_000].reshape(10, 3000)
    rows = [float(xp.reduce(lambda a, b: a + b, A(r), init=0.0)) + np.sort(r)[1] for r in x]
    np.testing.assert_array_equal(of_rows(x), rows)


@njit
def along(x, axis, offsets):
    return (
        xp.reduce(lambda a, b: a * 3 + b, x, init=0, axis=axis),
        xp.scan(lambda a, b: a * 3 + b, x, axis=axis),
        xp.adjacent_difference(x, axis=axis),
        xp.segmented_reduce(lambda a, b: a * 3 + b, x, offsets, 1, axis=axis),
        xp.segmented_scan(lambda a, b: a * 3 + b, x, offsets, axis=axis),
        xp.top_k(x, 2, axis),
        xp.k_select(x, 2, axis=axis),
        xp.sort_by_key(x % 3, x, axis=axis),
    )


def test_axes():
    def op(a, b):
        return a * 3 + b

    for x in (np.arange(24).reshape(2, 3, 4) * 7 % 11, np.arange(15).reshape(5, 3).T * 4 % 13):
        for axis in range(-x.ndim, x.ndim):
            n = x.shape[axis]
            offsets = np.array([0, 1, 1, n])
            found = along(x, axis, offsets)
            lazy = A(x)
            expected = (
                xp.reduce(op, lazy, init=0, axis=axis),
                xp.scan(op, lazy, axis=axis),
                xp.adjacent_difference(lazy, axis=axis),
                xp.segmented_reduce(op, lazy, A(offsets), 1, axis=axis),
                xp.segmented_scan(op, lazy, A(offsets), axis=axis),
                xp.top_k(lazy, 2, axis),
                xp.k_select(lazy, 2, axis=axis),
                xp.sort_by_key(lazy % 3, lazy, axis=axis),
            )
            same(found, expected)
            same(found[6], np.sort(x, axis).take(1, axis))
            order = np.argsort(x % 3, axis, kind="stable")
            same(found[7], (np.take_along_axis(x % 3, order, axis), np.take_along_axis(x, order, axis)))
            parts = [np.sum(x.take(range(*s), axis), axis) for s in ((0, 1), (1, 1), (1, n))]
            sums = xp.segmented_reduce(lambda a, b: a + b, lazy, A(offsets), 0, axis=axis)
            same(sums, np.stack(parts, axis if axis >= 0 else axis + x.ndim))


@njit
def selections(x, y, mask, k):
    return (
        (xp.compact(x, mask), xp.partition(x, mask), xp.sort_by_key(x, y), xp.top_k(x, k)),
        (xp.k_select(x, k + 1), xp.unique(x), xp.run_length(x)),
        (xp.merge(np.sort(x), np.sort(y)), xp.union(x, y), xp.intersection(x, y)),
        (xp.difference(x, y), xp.symmetric_difference(x, y)),
    )


@pytest.mark.parametrize("dtype", ("bool", "uint64", "float32", "complex64"))
def test_selections_are_those_of_lazy_arrays(dtype):
    for n in (1, 2, 600):
        x, y, mask = values(n, dtype), values(n, dtype, 1), values(n, "int8", 2) % 2 == 1
        a, b, m, k = A(x), A(y), A(mask), n // 2
        expected = (
            (xp.compact(a, m), xp.partition(a, m), xp.sort_by_key(a, b), xp.top_k(a, k)),
            (xp.k_select(a, k + 1), xp.unique(a), xp.run_length(a)),
            (xp.merge(A(np.sort(x)), A(np.sort(y))), xp.union(a, b), xp.intersection(a, b)),
            (xp.difference(a, b), xp.symmetric_difference(a, b)),
        )
        same(selections(x, y, mask, k), expected)


def test_results_with_several_parts_are_of_the_same_classes():
    x = np.array([3, 1, 2])
    found = njit(lambda x: (xp.top_k(x, 1), xp.run_length(x), xp.sort_by_key(x, x)))(x)
    lazy = xp.top_k(A(x), 1), xp.run_length(A(x)), xp.sort_by_key(A(x), A(x))
    assert [type(p) for p in found] == [type(p) for p in lazy]


@njit
def rows(x, mask, places, new):
    return (
        xp.compact(x, mask),
        xp.partition(x, mask),
        xp.gather(x, places),
        xp.scatter(x, places, new),
        xp.scatter(x, places, new, "add"),
        xp.scatter(x, places, 2, "max"),
        xp.scatter(x, places, new, lambda a, b: a * 2 + b),
        xp.permutation(x, places),
        xp.reverse(x),
        xp.strided(x, 2, 1),
        xp.outer(lambda a, b: a - b, x, x[0]),
        xp.inner(lambda a, b: a * b, lambda a, b: a + b, x, x),
        xp.inner(lambda a, b: abs(a - b), min, x, x[0], init=100),
    )


def test_rows_and_places():
    x = np.arange(12).reshape(4, 3) * 5 % 7
    mask, places = np.array([True, False, True, True]), np.array([3, -1, 0])
    new = np.arange(9).reshape(3, 3)
    a, m, p, w = A(x), A(mask), A(places), A(new)
    expected = (
        xp.compact(a, m),
        xp.partition(a, m),
        xp.gather(a, p),
        xp.scatter(a, p, w),
        xp.scatter(a, p, w, "add"),
        xp.scatter(a, p, 2, "max"),
        xp.scatter(a, p, w, lambda a, b: a * 2 + b),
        xp.permutation(a, p),
        xp.reverse(a),
        xp.strided(a, 2, 1),
        xp.outer(lambda a, b: a - b, a, a[0]),
        xp.inner(lambda a, b: a * b, lambda a, b: a + b, a, a),
        xp.inner(lambda a, b: abs(a - b), lambda a, b: min(a, b), a, a[0], init=100),
    )
    same(rows(x, mask, places, new), expected)
    same(rows(x.T.copy().T, mask, places, new), expected)
    line = np.array([5.0, 6.0])
    same(njit(lambda x: xp.gather(x, np.array([[0, 1], [1, 1]])))(line), line[[[0, 1], [1, 1]]])
    same(njit(lambda x: xp.scatter(x, np.array([1, 1]), np.array([1, 2])))(line), [5.0, 2.0])
    with pytest.raises(IndexError, match="index 4 is out of bounds"):
        rows(x, mask, np.array([0, 4, 1]), new)


def test_counts_and_iterators():
    @njit
    def f(x, w):
        return (
            (xp.histogram(x, 4), xp.histogram(x, 3, (0, 9)), xp.histogram(x, np.array([0, 4, 9]), weights=w)),
            (xp.bincount(x), xp.bincount(x, w, 12), xp.counting(4, 2), xp.constant(2.5, (2, 2))),
            xp.transform_reduce(lambda p: p[0] * p[1], lambda a, b: a + b, 0, xp.zip(xp.counting(9), x)),
            xp.map(lambda p, k: p[0] * p[1] + k, xp.zip(x, w), 1),
        )

    x, w = np.array([1, 4, 4, 9, 0, 2, 2, 8, 3]), np.arange(9.0)
    a, b = A(x), A(w)
    expected = (
        (xp.histogram(a, 4), xp.histogram(a, 3, (0, 9)), xp.histogram(a, A([0, 4, 9]), weights=b)),
        (xp.bincount(a), xp.bincount(a, b, 12), xp.counting(4, 2), xp.constant(2.5, (2, 2))),
        xp.transform_reduce(lambda p: p[0] * p[1], lambda a, b: a + b, 0, xp.zip(xp.counting(9), a)),
        xp.map(lambda p, k: p[0] * p[1] + k, xp.zip(a, b), 1),
    )
    same(f(x, w), expected)


@njit
def stencils(x, y):
    return (
        xp.stencil(lambda a, b, c: a + 3 * b + 9 * c, x, 1),
        xp.stencil(lambda a, b, c: a + 3 * b + 9 * c, x, 1, "valid"),
        xp.stencil(lambda a, b: a - b, x, [-2, 1], "constant", value=100),
        xp.stencil(lambda a, b: a - b, x, [-3, 1], "reflect"),
        xp.stencil(lambda a, b: a * b, y, [(2, 0), (0, -1)], "wrap"),
        xp.stencil(lambda a, b, c, d, e, f, g, h, i: a + 2 * b + 3 * c + 4 * e + 5 * h + 6 * i, y, 1, "mirror"),
    )


def test_stencils():
    for n in (0, 1, 2, 40):
        x, y = np.random.default_rng(n).integers(-9, 9, n), np.random.default_rng(n).normal(size=(n, 3)).T
        a, b = A(x), A(y)
        expected = (
            xp.stencil(lambda a, b, c: a + 3 * b + 9 * c, a, 1),
            xp.stencil(lambda a, b, c: a + 3 * b + 9 * c, a, 1, "valid"),
            xp.stencil(lambda a, b: a - b, a, [-2, 1], "constant", value=100),
            xp.stencil(lambda a, b: a - b, a, [-3, 1], "reflect"),
            xp.stencil(lambda a, b: a * b, b, [(2, 0), (0, -1)], "wrap"),
            xp.stencil(lambda a, b, c, d, e, f, g, h, i: a + 2 * b + 3 * c + 4 * e + 5 * h + 6 * i, b, 1, "mirror"),
        )
        same(stencils(x, y), expected)


# --- functions, types, errors -------------------------------------------------------------------------------------


def test_types_are_those_of_lazy_arrays():
    x = np.array([1, 2, 3], np.int8)
    functions = (
        lambda x: xp.scan(lambda a, b: a + b, x, init=0.5),
        lambda x: xp.scan(lambda a, b: (a + b) * 1.0, x),
        lambda x: xp.scan(lambda a, b: a + b, x, init=np.int32(0)),
        lambda x: xp.map(lambda a, b: a * b, x, 2),
        lambda x: xp.map(lambda a, b: b, x, 2.0),
        lambda x: xp.map(lambda a: 1, x),
        lambda x: xp.adjacent_difference(x, lambda a, b: a / b),
        lambda x: xp.union(x, np.ones(1, np.float32)) if isinstance(x, np.ndarray) else xp.union(x, A(np.float32([1]))),
    )
    for f in functions[:-1]:
        same(njit(f)(x), f(A(x)))
    same(njit(lambda x: xp.union(x, np.ones(1, np.float32)))(x), xp.union(A(x), A(np.ones(1, np.float32))))
    assert njit(lambda x: xp.reduce(np.maximum, x, init=None))(x) == 3
    with pytest.raises(OverflowError):
        njit(lambda x: xp.reduce(lambda a, b: a + b, x, init=1000))(x)


def test_functions_may_be_captured_and_be_arguments():
    @njit
    def apply(op, x, k):
        return xp.reduce(op, xp.map(lambda v: v * k, x), init=0)

    @njit
    def add(a, b):
        return a + b

    x = np.arange(5)
    assert apply(add, x, 2) == 20
    assert apply(njit(lambda a, b: max(a, b)), x, 3) == 12

    @njit
    def curried(x, modulus):
        def op(a, b):
            return (a + b) % modulus

        return xp.scan(op, x, init=modulus - 1)

    same(curried(x, 7), xp.scan(lambda a, b: (a + b) % 7, A(x), init=6))
    x = np.random.default_rng(3).integers(0, 97, (5000, 2)) @ np.array([1000, 1])
    assert njit(lambda x: xp.reduce(wrapped, x, init=1000, check=True))(x) == int(xp.reduce(wrapped, A(x), init=1000))


def test_errors():
    x = np.arange(6.0).reshape(2, 3)
    for f, wrong in (
        (lambda x: xp.reduce(lambda a, b: a + b, x[:0], init=None), ValueError),
        (lambda x: xp.reduce(lambda a, b: a - b, x, init=0.0, check=True), ValueError),
        (lambda x: xp.reduce(lambda a, b: a + b, x, init=0.0, axis=2), np.exceptions.AxisError),
        (lambda x: xp.map(lambda a, b: a + b, x, np.ones(2)), ValueError),
        (lambda x: xp.zipwith(lambda a, b: a + b, x, np.ones((2, 1))), ValueError),
        (lambda x: xp.segmented_reduce(lambda a, b: a + b, x[0], np.array([0, 4]), 0), IndexError),
        (lambda x: xp.segmented_scan(lambda a, b: a + b, x[0], np.array([0, 2, 1, 3])), ValueError),
        (lambda x: xp.k_select(x, 7), ValueError),
        (lambda x: xp.top_k(x, 4), ValueError),
        (lambda x: xp.compact(x, np.ones(3, np.bool_)), ValueError),
        (lambda x: xp.sort_by_key(x[0], x), ValueError),
        (lambda x: xp.counting(-1), ValueError),
        (lambda x: xp.strided(x, 0), ValueError),
    ):
        with pytest.raises(wrong):
            njit(f)(x)
    for f in (
        lambda x: xp.map(lambda a: "text", x),
        lambda x: xp.scan(lambda a, b: a + b, x),
        lambda x: xp.scatter(x, np.array([0]), 1j),
        lambda x: xp.scatter(x, np.array([0]), 1, "most"),
        lambda x: xp.gather(x, np.array([0.5])),
        lambda x: xp.reduce(lambda a, b: (a, b), x, init=0),
        lambda x: xp.map(3, x),
        lambda x: xp.stencil(lambda a: a, x, (0, 0)),
        lambda x: xp.stencil(lambda a: a, x, [(0, 0)], "none"),
    ):
        with pytest.raises(lancehead.TypingError):
            njit(f)(x)

    @njit
    def checked(v):
        if v == 0:
            raise KeyError("zero")
        return v

    # The function is typed, and called for elements only.
    assert njit(lambda x: xp.map(checked, x).size + xp.reduce(checked_sum, x, init=1))(np.array([1, 2])) == 6
    with pytest.raises(KeyError, match="zero"):
        njit(lambda x: xp.map(checked, x))(np.array([1, 0]))


@njit
def checked_sum(a, b):
    if a == 0 or b == 0:
        raise KeyError("zero")
    return a + b


# --- several values -----------------------------------------------------------------------------------------------


def double(v):
    return v * 2, v + 0.5


def later(a, b):
    # The greater value, with the first place of it.
    return b if b[0] > a[0] else a


def joined(a, b):
    # Count, mean and sum of squared differences, by Chan's formula.
    n = a[0] + b[0]
    if n == 0:
        return a
    d = b[1] - a[1]
    return n, a[1] + d * b[0] / n, a[2] + b[2] + d * d * a[0] * b[0] / n


@njit
def several(x, places):
    zipped = xp.zip(x, places)
    return (
        xp.map(lambda v: (v * 2, v + 0.5), x),
        xp.reduce(lambda a, b: b if b[0] > a[0] else a, zipped, init=(-1.0, 0)),
        xp.scan(lambda a, b: b if b[0] > a[0] else a, zipped),
        xp.exclusive_scan(lambda a, b: b if b[0] > a[0] else a, zipped, init=(-1.0, -7)),
        xp.transform_reduce(lambda v: (1.0, v, 0.0), joined, (0.0, 0.0, 0.0), x),
        xp.segmented_reduce(lambda a, b: b if b[0] > a[0] else a, zipped, np.array([0, 5, x.size]), (-1.0, 0)),
        xp.segmented_scan(lambda a, b: b if b[0] > a[0] else a, zipped, np.array([0, 5, x.size])),
        xp.map(lambda v: ((v, v + 1), v > 0), x),
    )


def test_functions_that_give_several_values():
    for n in (5, 2049, 5000):
        x = np.random.default_rng(n).normal(size=n)
        a = A(x)
        zipped, offsets = xp.zip(a, xp.counting(n)), A(np.array([0, 5, n]))
        lazy = (
            xp.map(double, a),
            xp.reduce(later, zipped, init=(-1.0, 0)),
            xp.scan(later, zipped),
            xp.exclusive_scan(later, zipped, init=(-1.0, -7)),
            xp.transform_reduce(lambda v: (1.0, v, 0.0), joined, (0.0, 0.0, 0.0), a),
            xp.segmented_reduce(later, zipped, offsets, (-1.0, 0)),
            xp.segmented_scan(later, zipped, offsets),
            xp.map(lambda v: ((v, v + 1), v > 0), a),
        )
        same(several(x, np.arange(n)), lazy)
        same(lazy[0], (x * 2, x + 0.5))
        same(lazy[1], (x.max(), x.argmax()), with_type=False)
        same(lazy[2][0], np.maximum.accumulate(x))
        count, mean, squares = map(float, lazy[4])
        np.testing.assert_allclose((count, mean, squares / count), (n, x.mean(), x.var()))
        same(lazy[5][1], [np.argmax(x[:5]) if x[:5].max() > -1 else 0, 5 + np.argmax(x[5:]) if n > 5 else 0])
        same(lazy[7], (x, x + 1, x > 0))


def test_several_values_along_axes_and_their_types():
    x = np.arange(24, dtype=np.int16).reshape(2, 3, 4) * 5 % 17
    places = np.broadcast_to(np.arange(4), x.shape)
    for axis in (0, 1, 2, -1):
        found = xp.reduce(later, xp.zip(A(x), A(places)), init=(-1, 0), axis=axis)
        same(found[0], x.max(axis))
        assert [str(a.dtype) for a in found] == ["int16", "int64"]
        compiled = njit(lambda x, p, k: xp.reduce(later, xp.zip(x, p), init=(-1, 0), axis=k))
        same(compiled(x, places, axis), found)
        same(xp.scan(later, xp.zip(A(x), A(places)), axis=axis)[0], np.maximum.accumulate(x, axis))
    # Accumulators become what holds them.
    found = xp.reduce(lambda a, b: (a[0] + b[0] * 0.5, a[1]), xp.zip(A(x), A(x)), init=(0, 0))
    assert [str(a.dtype) for a in found] == ["float64", "int16"]
    total, _ = xp.reduce(lambda a, b: (a[0] + b[0], a[1] * b[1] % 7), xp.zip(A(x), A(x)), init=None, check=True)
    assert int(total) == x.sum()
    with pytest.raises(TypeError):
        xp.reduce(later, xp.zip(A(x), A(x)), init=0)
    with pytest.raises(TypeError):
        xp.reduce(lambda a, b: (a, b), A(x), init=0)
    with pytest.raises(ValueError):
        xp.scan(later, xp.zip(A(x), A(x[0])), axis=0)
    with pytest.raises(ValueError, match="not associative"):
        xp.reduce(lambda a, b: (a[0] - b[0], b[1]), xp.zip(A(x), A(x)), init=(0, 0), check=True)[0].compute()


def test_records_are_elements_in_compiled_code():
    particles = np.zeros(5, [("mass", np.float32), ("at", np.float64, 2)])
    particles["mass"], particles["at"] = np.arange(5), np.arange(10.0).reshape(5, 2)

    @njit
    def f(p):
        moments = xp.transform_reduce(
            lambda r: (np.float64(r.mass), r.mass * r.at[0]), lambda a, b: (a[0] + b[0], a[1] + b[1]), (0.0, 0.0), p
        )
        return xp.map(lambda r: r.mass * 2, p), moments

    same(f(particles), (particles["mass"] * 2, 10.0, (particles["mass"] * particles["at"][:, 0]).sum()))


@njit
def totals(a, columns):
    return (
        xp.reduce(lambda p, q: p + q, a, axis=1),
        xp.reduce(lambda p, q: p + q, columns, axis=0),
        xp.reduce(lambda p, q: p + q * 1.0, a, axis=1),
        xp.inner(lambda p, q: p * q, lambda p, q: p + q, a, a),
    )


@pytest.mark.parametrize("n", [1, 5, 63, 64, 65, 4095, 4097, 9000])
def test_orders_of_floats_are_those_of_lazy_arrays(n):
    a = np.random.default_rng(n).normal(size=(3, n))
    x = A(a)
    same(
        totals(a, np.ascontiguousarray(a.T)),
        (
            xp.reduce(lambda p, q: p + q, x, axis=1),
            xp.reduce(lambda p, q: p + q, A(np.ascontiguousarray(a.T)), axis=0),
            xp.reduce(lambda p, q: p + q * 1.0, x, axis=1),
            xp.inner(lambda p, q: p * q, lambda p, q: p + q, x, x),
        ),
    )
