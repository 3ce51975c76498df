"""Primitives of `lancehead.xp` with functions of the program, against NumPy and plain Python."""

from __future__ import annotations

import functools
import itertools
import operator
import os
import subprocess
import sys

import numpy as np
import pytest

import lancehead
from lancehead import njit, xp

SIZES = (0, 1, 2, 5, 63, 127, 2049, 4096, 9000)
DTYPES = ("bool", "int8", "uint64", "float32", "complex64")
A = xp.asarray


def values(n, dtype, seed=0, special=True):
    """Few different values, so that there are equal ones; NaN among floats."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 60, n).astype(dtype)
    if np.dtype(dtype).kind == "i":
        x -= np.asarray(30, dtype)
    if np.dtype(dtype).kind == "c":
        x += (1j * rng.integers(0, 3, n)).astype(dtype)
    if np.dtype(dtype).kind in "fc" and special and n:
        x[rng.integers(0, n, n // 50 + 1)] = np.nan
    return x


def same(found, expected, dtype=None):
    """Values, shape and type, NaN included."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == (expected.dtype if dtype is None else np.dtype(dtype))
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)


def forms(x):
    """The array as it is and backward, as lazy views, with the values."""
    yield A(x), x
    yield A(np.repeat(x, 2))[::-2], np.repeat(x, 2)[::-2]


def add(a, b):
    return a + b


def wrapped(a, b):
    # Associative, but not commutative: pairs (a // 1000, a % 1000) of a linear map modulo 97.
    return (a // 1000 * (b // 1000)) % 97 * 1000 + (a % 1000 * (b // 1000) + b % 1000) % 97


def folded(op, items, init):
    return functools.reduce(op, items, init)


# --- functions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_map_has_the_type_and_values_of_the_function(dtype):
    for n in SIZES:
        for a, x in forms(values(n, dtype)):
            # Truth values are those of Python, whose products are integers.
            same(xp.map(lambda v: v * v, a), x * (x.astype(int) if dtype == "bool" else x))
            same(xp.map(lambda v: v == v, a), x == x)


def test_map_broadcasts_and_takes_numbers_and_no_axes():
    x = np.arange(3.0, dtype=np.float32)
    same(xp.map(lambda a, b: a * b, A(x)[:, None], A(x)), x[:, None] * x)
    same(xp.map(lambda a, b: a * b, A(x), 2), x * 2)
    same(xp.map(lambda a: a + 1, A(3)), np.asarray(4))
    same(xp.outer(lambda a, b: a - b, A(x), A(np.arange(2, dtype=np.float32))), np.subtract.outer(x, x[:2]))
    same(xp.outer(lambda a, b: a - b, A(2.0), A(np.arange(2.0))), 2.0 - np.arange(2.0))
    with pytest.raises(ValueError):
        xp.map(lambda a, b: a * b, A(x), A(np.ones(2)))
    with pytest.raises(ValueError):
        xp.zipwith(lambda a, b: a * b, A(x), A(np.ones((3, 1))))
    with pytest.raises(TypeError):
        xp.map(3, A(x))
    with pytest.raises(TypeError, match="gives unicode_type"):
        xp.map(lambda a: "text", A(x))


def test_functions_capture_numbers_tuples_and_arrays():
    table, weights = np.array([1.0, 10.0, 100.0]), (2, 0.5)
    out = []
    for k in (1, 2):
        out.append(xp.map(lambda i: table[i] * k + weights[1], A(np.array([0, 1, 2]))))
    # A captured number is that of the call, although the values are asked for later.
    same(out[0], table + 0.5)
    same(out[1], table * 2 + 0.5)
    doubled = njit(lambda v: v * 2)
    same(xp.map(doubled, A(np.arange(3))), np.arange(3) * 2)
    same(xp.map(lambda v: doubled(v) + 1, A(np.arange(3))), np.arange(3) * 2 + 1)
    same(xp.map(np.hypot, A(np.ones(2)), A(np.ones(2))), np.hypot(np.ones(2), np.ones(2)))


def test_functions_of_one_code_are_compiled_once():
    from lancehead.xp.functions import compiled

    def made(k):
        return lambda v: v + k

    assert compiled(made(1)) is compiled(made(1))
    assert len({id(compiled(made(k))) for k in (1, 1.0, True, 0.0, -0.0)}) == 5


def test_exceptions_have_their_classes():
    def checked(v):
        if v > 2:
            raise KeyError("big")
        return v

    for make in (
        lambda a: xp.map(checked, a),
        lambda a: xp.transform_reduce(checked, add, 0, a),
        lambda a: xp.scan(lambda p, q: checked(p + q), a),
    ):
        assert make(A(np.array([1, 0]))).compute().size
        late = make(A(np.array([1, 3, 4])))
        with pytest.raises(KeyError, match="big"):
            late.compute()
    with pytest.raises(lancehead.TypingError):
        xp.map(lambda v: v.name, A(np.ones(2)))
    same(xp.map(lambda v: 1 / v, A(np.array([1, 0]))), np.array([1, np.inf]))


# --- reductions ---------------------------------------------------------------------------------------------------


def by_four(x, op):
    """A block by an operator of which nothing is known, as the manual states it, in plain Python."""
    while len(x) > 1:
        groups = [x[k : k + 4] for k in range(0, len(x), 4)]
        x = [op(op(*g[:2]), op(*g[2:])) if len(g) == 4 else functools.reduce(op, g) for g in groups]
    return x[0]


def in_lanes(x, op):
    """A block by a commutative operator, in the same words."""
    whole = len(x) // 64 * 64
    if not whole:
        return functools.reduce(op, x)
    of_groups = [
        [op(op(x[k + j], x[k + j + 16]), op(x[k + j + 32], x[k + j + 48])) for j in range(16)]
        for k in range(0, whole, 64)
    ]
    lanes = [functools.reduce(op, lane) for lane in zip(*of_groups, strict=True)]
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [op(a, b) for a, b in zip(lanes[:half], lanes[half:], strict=True)]
    return functools.reduce(op, x[whole:], lanes[0])


def in_blocks(x, op, init, block=in_lanes):
    """The order of a line."""
    parts = [block(x[at : at + 4096], op) for at in range(0, len(x), 4096)]
    return op(init, parts[0] if len(parts) == 1 else block(parts, op)) if parts else init


def test_reductions_go_in_the_stated_order():
    for n in SIZES:
        x = np.random.default_rng(n).normal(size=n)
        with np.errstate(all="ignore"):
            same(xp.reduce(add, A(x), init=0.5), np.float64(in_blocks(list(x), operator.add, 0.5)))
            f = xp.transform_reduce(lambda a, b: a * b, add, 0.0, A(x), A(x[::-1].copy()))
            same(f, np.float64(in_blocks(list(x * x[::-1]), operator.add, 0.0)))
            found = xp.reduce(lambda a, b: (a + b) * 1.0, A(x), init=0.5)
            same(found, np.float64(in_blocks(list(x), operator.add, 0.5, by_four)))
            mapped = xp.map(lambda a, b: a * b, xp.map(lambda a: a * 3.0, A(x)), xp.map(lambda a: a * 3.0, A(x)))
            found = xp.reduce(operator.add, mapped, init=0.0)
            same(found, np.float64(in_blocks(list((x * 3.0) * (x * 3.0)), operator.add, 0.0)))
    for n in (1, 4097, 8200):
        x = np.random.default_rng(n).normal(size=(2, n, 3))
        parts = [x[:, k : k + 4096].cumsum(1)[:, -1] for k in range(0, n, 4096)]
        same(xp.reduce(add, A(x), init=0.5, axis=1), functools.reduce(operator.add, parts[1:], 0.5 + parts[0]))


def test_reductions_do_not_need_commutative_operators():
    for n in SIZES:
        x = np.random.default_rng(n).integers(0, 97, (n, 2)) @ np.array([1000, 1])
        expected = folded(wrapped, x.tolist(), 1000)
        same(xp.reduce(wrapped, A(x), init=1000, check=True), np.int64(expected))
        assert int(xp.reduce(wrapped, A(np.stack([x, x], 1)), init=1000, axis=0)[1]) == expected


@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions_along_axes(dtype):
    for shape in ((2, 3, 4), (0, 3), (3, 0), (5,), ()):
        x = values(int(np.prod(shape)), dtype, special=False).reshape(shape)
        for axis in (None, *range(-1, x.ndim)):
            if axis is not None and not x.ndim:
                continue
            found = xp.reduce(lambda a, b: a if a == b else b, A(x), init=x.dtype.type(0), axis=axis)
            shape_of = np.sum(x, axis=axis).shape
            lines = x[None] if axis is None else np.moveaxis(x, axis, -1)
            lines = lines.reshape(int(np.prod(shape_of)), x.size if axis is None else x.shape[axis])
            lines = [folded(lambda a, b: b, line, x.dtype.type(0)) for line in lines]
            same(found, np.asarray(lines, dtype).reshape(shape_of))


def test_reductions_have_the_type_that_holds_all():
    x = np.array([1, 2, 3], np.int8)
    same(xp.reduce(add, A(x), init=0), np.int8(6))
    same(xp.reduce(add, A(x), init=0.5), np.float64(6.5))
    same(xp.reduce(lambda a, b: (a + b) * 1.0, A(x), init=0, check=True), np.float64(6))
    same(xp.reduce(add, A(x), init=np.int32(0)), np.int32(6))
    same(xp.reduce(operator.mul, A(x.astype(np.complex64)), init=1), np.complex64(6))
    same(xp.reduce(np.maximum, A(x), init=None), np.int8(3))
    with pytest.raises(ValueError):
        xp.reduce(add, A(x[:0]), init=None)
    with pytest.raises(ValueError):
        xp.reduce(add, A(x), init=A(x))
    with pytest.raises(ValueError, match="not associative"):
        xp.reduce(lambda a, b: a - b, A(x), init=0, check=True)
    with pytest.raises(np.exceptions.AxisError):
        xp.reduce(add, A(x), init=0, axis=1)


def test_inner_is_that_of_numpy():
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(8.0).reshape(2, 4)
    for x, y in ((a, b), (a, b[0]), (b[1], b[0]), (a[:, :0], b), (a, b[:0])):
        same(xp.inner(lambda p, q: p * q, add, A(x), A(y)), np.inner(x, y))
    least = xp.inner(lambda p, q: abs(p - q), lambda p, q: min(p, q), A(a), A(b), init=np.inf)
    same(least, np.abs(a[:, :, None] - b).min(-1))
    with pytest.raises(ValueError):
        xp.inner(lambda p, q: p * q, add, A(a), A(b[:, 1:]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_scans_go_from_left_to_right(dtype):
    def either(a, b):
        # The last that is not zero: associative, and not commutative.
        return b if b != 0 else a

    zero = np.dtype(dtype).type(1)
    for n in SIZES[:-1]:
        for a, x in forms(values(n, dtype)):
            with np.errstate(all="ignore"):
                expected = np.asarray(list(itertools.accumulate(x, either)), dtype).reshape(n)
                after = np.asarray(list(itertools.accumulate(x, either, initial=zero)), dtype)
            same(xp.inclusive_scan(either, a), expected)
            same(xp.inclusive_scan(either, a, init=zero), after[1:])
            same(xp.exclusive_scan(either, a, init=zero), after[:n])


def in_spans(x, before=None):
    """Running sums in the order that is stated."""
    out = []
    for at in range(0, len(x), 512):
        span = np.cumsum(x[at : at + 512])
        out.append(span if before is None else before + span)
        before = out[-1][-1]
    return np.concatenate(out)


def test_scans_go_in_the_stated_order():
    for n in (1, 512, 513, 2049, 140_000):
        x = np.random.default_rng(n).normal(size=n)
        for f in (lambda a: a, lambda a: xp.reshape(A(np.tile(a.numpy(), 16)), (16, n))):
            row = (lambda found: found) if f(A(x)).ndim == 1 else (lambda found: found[7])
            same(row(xp.scan(add, f(A(x)), axis=-1)), in_spans(x))
            same(row(xp.scan(add, f(A(x)), axis=-1, init=0.1)), in_spans(x, 0.1))
            same(row(xp.exclusive_scan(add, f(A(x)), axis=-1, init=0.1)), in_spans(np.append(0.1, x)[:n]))


def test_scans_along_axes():
    x = np.arange(24.0).reshape(2, 3, 4)
    for axis in (0, 1, 2, -1):
        same(xp.scan(add, A(x), axis=axis, check=True), np.cumsum(x, axis))
    same(xp.scan(add, A(np.ones((3, 0))), axis=0), np.ones((3, 0)))
    for wrong in (lambda: xp.scan(add, A(x)), lambda: xp.scan(add, A(x), axis=0, exclusive=True)):
        with pytest.raises(ValueError):
            wrong()


def test_segments():
    for n in SIZES:
        x = np.random.default_rng(n).integers(0, 97, (n, 2)) @ np.array([1000, 1])
        bounds = np.sort(np.random.default_rng(n).integers(0, n + 1, 20))
        lines = [x[i:j].tolist() for i, j in itertools.pairwise(bounds)]
        same(xp.segmented_reduce(wrapped, A(x), A(bounds), 1000), [folded(wrapped, line, 1000) for line in lines])
        bounds = np.array([0, *bounds, n])
        lines = [x[i:j].tolist() for i, j in itertools.pairwise(bounds)]
        running = [list(itertools.accumulate(line, wrapped)) for line in lines]
        same(xp.segmented_scan(wrapped, A(x), A(bounds)), np.array(sum(running, []), np.int64))
        running = [list(itertools.accumulate(line, wrapped, initial=1000))[: len(line)] for line in lines]
        found = xp.segmented_scan(wrapped, A(x), A(bounds), init=1000, exclusive=True)
        same(found, np.array(sum(running, []), np.int64))


def test_segments_must_be_in_order():
    x = A(np.arange(4))
    for bounds, error in (([0, 3, 2], ValueError), ([0, 5], IndexError), ([-1, 2], IndexError)):
        with pytest.raises(error):
            xp.segmented_reduce(add, x, A(bounds), 0).compute()
    for wrong in ([0, 3], [1, 4]):
        with pytest.raises(ValueError):
            xp.segmented_scan(add, x, A(wrong)).compute()
    with pytest.raises(TypeError):
        xp.segmented_reduce(add, x, A([0.0, 1.0]), 0)
    with pytest.raises(ValueError):
        xp.segmented_reduce(add, x, A(np.empty(0, int)), 0)


def test_adjacent_difference():
    x = np.array([[1.0, 4.0, 9.0], [2.0, 2.0, 5.0]])
    same(xp.adjacent_difference(A(x)), [[1.0, 3.0, 5.0], [2.0, 0.0, 3.0]])
    same(xp.adjacent_difference(A(x), add, axis=0), [x[0], x[0] + x[1]])
    same(xp.adjacent_difference(A(x[:, :0])), x[:, :0])
    for dtype in ("float64", "int8", "complex128"):
        for n in (1, 7, 8, 9, 4097, 9000):
            y = values(n, dtype, special=False)
            same(xp.adjacent_difference(A(y)), np.concatenate([y[:1], np.diff(y)]))
            z = np.stack([y, y[::-1]], axis=1)
            same(xp.adjacent_difference(A(z), axis=0), np.concatenate([z[:1], np.diff(z, axis=0)]))


def test_truth_values_differ_from_the_one_before():
    x = values(70, "int8") > 0
    expected = np.concatenate([x[:1], np.diff(x)])
    same(xp.adjacent_difference(A(x)), expected)
    same(njit(lambda a: xp.adjacent_difference(a))(x), expected)
    same(xp.adjacent_difference(A(x.reshape(7, 10)), axis=0)[1:], np.diff(x.reshape(7, 10), axis=0))


# --- places -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_gather_and_scatter(dtype):
    for n in (1, 2047, 2049):
        x = values(n, dtype)
        rng = np.random.default_rng(n)
        places = rng.integers(-n, n, 300)
        given = values(300, dtype, seed=1)
        same(xp.gather(A(x), A(places)), x[places])
        x, given = np.nan_to_num(x), np.nan_to_num(given)
        for mode in ("set", "add", "min", "max"):
            expected = x.copy()
            if mode == "set":
                expected[places] = given
            else:
                {"add": np.add, "min": np.minimum, "max": np.maximum}[mode].at(expected, places, given)
            same(xp.scatter(A(x), A(places), A(given), mode), expected)


def test_gather_and_scatter_rows_and_errors():
    x = np.arange(6.0).reshape(3, 2)
    places = np.array([[2, 0], [-1, 1]], np.int16)
    same(xp.gather(A(x), A(places)), x[places])
    same(xp.gather(A(x)[::-1], A(places[:0])), x[places[:0]])
    nan = xp.scatter(A(x), A(np.array([0])), np.nan, "min")
    same(nan, [[np.nan, np.nan], [2.0, 3.0], [4.0, 5.0]])
    found = xp.scatter(A(x), A(np.array([0, 0, 2])), A(np.array([10.0, 20.0])), lambda a, b: a * 2 + b)
    same(found, [[30.0, 64.0], [2.0, 3.0], [18.0, 30.0]])
    same(xp.scatter(A(x), A(np.array([0])), 7), [[7.0, 7.0], [2.0, 3.0], [4.0, 5.0]])
    same(A(x), x)
    for wrong in (3, -4, 2**63):
        with pytest.raises(IndexError):
            xp.gather(A(x), A(np.array([wrong]))).compute()
        with pytest.raises(IndexError):
            xp.scatter(A(x), A(np.array([wrong])), 1.0).compute()
    with pytest.raises(IndexError):
        xp.gather(A(x[:0]), A(np.array([0]))).compute()
    for wrong in (lambda: xp.gather(A(x), A(x)), lambda: xp.scatter(A(places), A(places), A(x[:, :1]))):
        with pytest.raises(TypeError):
            wrong()
    for wrong in (lambda: xp.scatter(A(x), A(places), 1, "most"), lambda: xp.gather(A(1), A(places))):
        with pytest.raises(ValueError):
            wrong()


@pytest.mark.parametrize("dtype", DTYPES)
def test_compact_and_partition(dtype):
    for n in SIZES:
        for a, x in forms(values(n, dtype)):
            mask = np.random.default_rng(n).random(n) < 0.4
            same(xp.compact(a, A(mask)), x[mask])
            found = xp.partition(a, A(mask))
            same(found.values, np.concatenate([x[mask], x[~mask]]))
            same(found.count, mask.sum())


def test_masks_of_axes():
    x = np.arange(12.0).reshape(3, 4)
    for mask in (x % 3 == 0, np.array([True, False, True])):
        same(xp.compact(A(x), A(mask)), x[mask])
        same(xp.partition(A(x), A(mask)).values, np.concatenate([x[mask], x[~mask]]))
    same(xp.compact(A(5), A(True)), [5])
    with pytest.raises(ValueError):
        xp.compact(A(x), A(np.ones(2, bool)))
    with pytest.raises(TypeError):
        xp.compact(A(x), A(x))


# --- orders -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_orders_are_those_of_numpy(dtype):
    for n in SIZES:
        for a, x in forms(values(n, dtype)):
            order = np.argsort(x, kind="stable")
            found = xp.sort_by_key(a, A(np.arange(n)))
            same(found.keys, x[order])
            same(found.values, order)
            same(xp.unique(a), np.unique(x))
            # The first of equal ones is the first in descending order, too.
            descending = n - 1 - np.argsort(x[::-1], kind="stable")[::-1]
            for k in {0, min(n, 1), n // 2, n}:
                top = xp.top_k(a, k)
                same(top.values, x[descending[:k]])
                same(top.indices, descending[:k])
                if k:
                    same(xp.k_select(a, k), np.sort(x)[k - 1])


def test_k_select_of_long_lines():
    rng = np.random.default_rng(0)
    n = 400_000
    lines = [
        rng.normal(size=n),
        np.where(rng.random(n) < 0.3, np.nan, rng.random(n)),
        rng.integers(0, 3, n).astype(float),
        np.tile(np.arange(24.0), n // 24),
        np.where(np.arange(n) % 24 == 0, -np.inf, rng.random(n)),
    ]
    for x in lines:
        ordered = np.sort(x)
        for k in (1, 2, n // 50, x.size // 2, x.size * 4 // 5, x.size):
            same(xp.k_select(A(x), k), ordered[k - 1])
    x = rng.integers(-(2**62), 2**62, n)
    top = xp.top_k(A(x), 100)
    same(top.values, np.sort(x)[::-1][:100])
    same(top.indices, np.argsort(-x, kind="stable")[:100])


@pytest.mark.parametrize("dtype", DTYPES)
def test_k_select_finds_elements_of_all_types_between_two_of_a_sample(dtype):
    n, rng = 100_000, np.random.default_rng(1)
    wide = np.frombuffer(rng.bytes(n * 16), np.uint32)[:n].astype(dtype)
    if np.dtype(dtype).kind in "fc":
        wide = (wide - wide.mean()) ** 3
    for x in (wide, np.sort(wide)[::-1], values(2 * n, dtype)[::2]):
        ordered = np.sort(x)
        for k in (1, n // 3, n // 2, n - 1, n):
            same(xp.k_select(A(x), k), ordered[k - 1])


def test_unique_and_run_length_of_several_blocks():
    x = np.repeat(np.random.default_rng(0).integers(0, 1000, 9_000), 5)
    x[x % 7 == 0] = 3
    for line in (x, np.where(x == 3, np.nan, x), x[:1], x[:0]):
        firsts = np.flatnonzero([i == 0 or line[i] != line[i - 1] and not (np.isnan(line[i]) and np.isnan(line[i - 1]))
                                 for i in range(line.size)])  # fmt: skip
        found = xp.run_length(A(line))
        same(found.values, line[firsts])
        same(found.lengths, np.diff(np.append(firsts, line.size)))
        same(xp.unique(A(line)), np.unique(line))


@pytest.mark.parametrize("n", (50, 400_000))
def test_complex_numbers_with_nan_in_parts_are_ordered_as_by_numpy(n):
    rng = np.random.default_rng(0)
    z = np.empty(n, complex)
    for part in (z.real, z.imag):
        part[:] = np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 4, n))
    ordered = np.sort(z)
    for k in (1, n // 3, n * 63 // 100, n * 4 // 5, n):
        np.testing.assert_array_equal(xp.k_select(A(z), k).numpy()[None].view(float), ordered[k - 1 : k].view(float))
    found = xp.merge(A(np.sort(z[: n // 2])), A(np.sort(z[n // 2 :]))).numpy()
    np.testing.assert_array_equal(found.view(float), ordered.view(float))
    found = xp.top_k(A(z), n // 4).values.numpy()[::-1].copy()
    np.testing.assert_array_equal(found.view(float), ordered[n - n // 4 :].view(float))


def test_selections_along_axes_and_their_errors():
    x = np.random.default_rng(0).permutation(24).reshape(2, 3, 4).astype(np.float32)
    for axis in (0, 1, 2, -1):
        found = xp.top_k(A(x), 2, axis=axis)
        same(found.values, np.flip(np.sort(x, axis), axis).take([0, 1], axis))
        same(np.take_along_axis(x, found.indices.numpy(), axis), found.values)
    same(xp.k_select(A(x), 5), np.float32(4))
    same(xp.k_select(A(7), 1), 7)
    for wrong in (lambda: xp.top_k(A(x), 5), lambda: xp.k_select(A(x), 25), lambda: xp.k_select(A(x), 0)):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(np.exceptions.AxisError):
        xp.top_k(A(1.0), 1)
    with pytest.raises(ValueError):
        xp.sort_by_key(A([1, 2]), A([1]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_merged_lines_and_sets(dtype):
    for n, m in ((0, 0), (0, 3), (1, 2), (2047, 2049), (2048, 1)):
        x, y = values(n, dtype), values(m, dtype, seed=1)
        both = np.sort(np.concatenate([x, y]))
        same(xp.merge(A(np.sort(x)), A(np.sort(y))), both)
        # All NaN are one here, with which NumPy agrees in unions.
        same(xp.union(A(x), A(y)), np.unique(np.concatenate([x, y])))
        same(xp.union(A(np.sort(x)), A(np.sort(y)), is_sorted=True), np.unique(np.concatenate([x, y])))
        x, y = x[x == x], y[y == y]
        same(xp.intersection(A(x), A(y)), np.intersect1d(x, y))
        same(xp.difference(A(x), A(y)), np.setdiff1d(x, y))
        same(xp.symmetric_difference(A(x), A(y)), np.setxor1d(x, y))


def test_sets_of_several_types_and_nan():
    nan = A(np.array([np.nan, 1.0, np.nan]))
    same(xp.union(nan, nan), [1.0, np.nan])
    same(xp.intersection(nan, A(np.array([np.nan, 3.0]))), [np.nan])
    same(xp.difference(nan, nan), np.empty(0))
    same(xp.union(A(np.array([3, 1], np.int8)), A(np.array([[2.5], [1.0]]))), [1.0, 2.5, 3.0])
    with pytest.raises(ValueError):
        xp.merge(nan[:, None], nan)


@pytest.mark.parametrize("dtype", DTYPES)
def test_runs(dtype):
    for n in SIZES:
        x = np.repeat(values(n, dtype), 2)[:n]
        found = xp.run_length(A(x))
        keyed = [None if v != v else v for v in x.tolist()]
        runs = [(k, len(list(g))) for k, g in itertools.groupby(keyed)]
        same(found.lengths, np.array([length for _, length in runs], np.int64))
        same(found.values, x[np.cumsum([0] + [length for _, length in runs])[:-1]] if n else x)


# --- counts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ("int8", "float32", "float64"))
def test_histograms_are_those_of_numpy(dtype):
    for n in (0, 1, 2047):
        x = values(n, dtype, special=False)
        weights = np.random.default_rng(1).integers(0, 9, n).astype(float)
        edges = np.array([-10.0, 0.0, 3.0, 20.0])
        for found, expected in (
            (xp.histogram(A(x)), np.histogram(x)),
            (xp.histogram(A(x), 7, (0, 20)), np.histogram(x, 7, (0, 20))),
            (xp.histogram(A(x), A(edges), weights=A(weights)), np.histogram(x, edges, weights=weights)),
        ):
            same(found.counts, expected[0])
            np.testing.assert_allclose(found.edges.numpy(), expected[1], rtol=1e-6)
            assert found.edges.dtype == expected[1].dtype
    for wrong in (lambda: xp.histogram(A(x), 0), lambda: xp.histogram(A(x), 3, (1, 0))):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(ValueError):
        xp.histogram(A(x), A([1.0, 0.0])).counts.compute()


def test_bincounts_are_those_of_numpy():
    for n in SIZES:
        x = np.random.default_rng(n).integers(0, 40, n).astype(np.int16)
        weights = np.random.default_rng(n).random(n)
        same(xp.bincount(A(x)), np.bincount(x))
        same(xp.bincount(A(x), A(weights), 50), np.bincount(x, weights, 50))
    with pytest.raises(ValueError):
        xp.bincount(A([-1, 2]))
    with pytest.raises(TypeError):
        xp.bincount(A([1.0]))


# --- neighbours ---------------------------------------------------------------------------------------------------

PADS = {"nearest": "edge", "wrap": "wrap", "reflect": "symmetric", "mirror": "reflect", "constant": "constant"}


@pytest.mark.parametrize("boundary", (*PADS, "valid"))
def test_stencils(boundary):
    for n in (0, 1, 2, 2047, 2049):
        x = np.random.default_rng(n).integers(-50, 50, n)
        found = xp.stencil(lambda a, b, c: a + 3 * b + 9 * c, A(x), 1, boundary)
        padded = x if boundary == "valid" else np.pad(x, 1, PADS[boundary]) if n else np.zeros(2, int)
        padded = padded if padded.size >= 2 else np.zeros(2, int)
        same(found, padded[:-2] + 3 * padded[1:-1] + 9 * padded[2:])
    x = np.arange(20.0).reshape(4, 5)[:, ::-1]
    padded = x if boundary == "valid" else np.pad(x, ((0, 2), (1, 0)), PADS[boundary])
    found = xp.stencil(lambda a, b: a * b, A(x), [(2, 0), (0, -1)], boundary)
    same(found, padded[2:, 1:] * padded[:-2, :-1])


def test_stencils_errors_and_values():
    x = A(np.arange(4.0))
    same(xp.stencil(lambda a, b: a + b, x, [-1, 1], "constant", value=100), [101.0, 2.0, 4.0, 102.0])
    for wrong in (
        lambda: xp.stencil(add, x, [(0, 1), (1, 0)]),
        lambda: xp.stencil(add, x, [0, 1], "none"),
        lambda: xp.stencil(add, x, -1),
        lambda: xp.stencil(add, x, []),
    ):
        with pytest.raises(ValueError):
            wrong()


# --- iterators ----------------------------------------------------------------------------------------------------


def test_iterators():
    same(xp.counting(4, 2), [2, 3, 4, 5])
    same(xp.counting(3, dtype=xp.float32), np.arange(3, dtype=np.float32))
    same(xp.constant(2.5, (2, 2)), np.full((2, 2), 2.5))
    x = np.arange(6).reshape(3, 2)
    same(xp.reverse(A(x)), x[::-1])
    same(xp.strided(A(x), 2, 1), x[1::2])
    same(xp.permutation(A(x), A([2, 0])), x[[2, 0]])
    same(xp.transform(lambda v: v / 2, A(x)), x / 2)
    zipped = xp.zip(xp.counting(3), A(np.array([1.0, 2.0, 3.0])))
    same(xp.map(lambda p, k: p[0] * p[1] + k, zipped, 1), [1.0, 3.0, 7.0])
    same(xp.transform_reduce(lambda p: p[0] * p[1], add, 0, zipped), np.float64(8))
    # Read where they are, not from memory.
    ones, numbers = xp.constant(2, (3, 4)), xp.counting(4, 1)
    for axis, expected in ((None, 60.0), (0, [6.0, 12.0, 18.0, 24.0]), (1, [20.0, 20.0, 20.0])):
        found = xp.transform_reduce(lambda a, b, c: a * b * c, add, 0, ones, numbers, A(np.ones((3, 1))), axis=axis)
        same(found, np.asarray(expected))
    same(xp.transform_reduce(lambda i: i * i, add, 0, xp.counting(5000, -7)), np.sum(np.arange(-7, 4993) ** 2))
    for wrong in (lambda: xp.counting(-1), lambda: xp.strided(A(x), 0)):
        with pytest.raises(ValueError):
            wrong()


def test_tuples_of_tuples():
    x, y = np.array([3, 5, 1, 5]), np.array([0.5, 2.0, 1.0, -1.0])

    def both(a, b):
        return (a[0][0] + b[0][0], max(a[0][1], b[0][1])), b[1]

    items = xp.zip(xp.zip(A(x), A(y)), xp.counting(4))
    (total, most), last = xp.reduce(both, items, init=((0, 0.0), -1))
    assert (int(total), float(most), int(last)) == (14, 2.0, 3)
    (totals, most), last = xp.scan(both, items)
    for found, expected in ((totals, np.cumsum(x)), (most, np.maximum.accumulate(y)), (last, np.arange(4))):
        same(found, expected)
    (totals, _), last = xp.segmented_reduce(both, items, A(np.array([0, 1, 4])), ((0, 0.0), 0))
    same(totals, np.array([3, 11]))
    same(last, np.array([0, 3]))
    with pytest.raises(ValueError, match="one shape"):
        xp.scan(both, xp.zip(xp.zip(A(x), A(y[:3])), A(x))).compute()


def test_neighbours_and_pairs_give_tuples():
    x, y = np.array([3, 5, 1, 5]), np.arange(2.0)
    for found, expected in (
        (xp.stencil(lambda a, b: (b - a, (a > b, a)), A(x), [0, 1], "valid"), (x[1:] - x[:-1], x[:-1] > x[1:], x[:-1])),
        (xp.outer(lambda a, b: (a + b, a), A(x), A(y)), (x[:, None] + y, x[:, None] + 0 * x[:2])),
    ):
        parts = [p for part in found for p in (part if isinstance(part, tuple) else (part,))]
        for part, value in zip(parts, expected, strict=True):
            same(part, value)
    rows = A(np.stack([x, x + 1]))
    total, most = xp.inner(lambda a, b: (a * b, b), lambda a, b: (a[0] + b[0], max(a[1], b[1])), rows, A(x))
    same(total, np.array([x @ x, (x + 1) @ x]))
    same(most, np.array([5, 5]))


def test_half_floats_have_the_order_of_floats():
    # Alike, with NaN after the numbers, in lines of one block and of several.
    for n in (5, 3000):
        wide = values(n, "float32", n)
        (x, a), (y, b) = ((A(w.astype("float16")), A(w)) for w in (wide, wide[::-2] + 1))
        for f in (
            xp.unique, xp.sort, xp.argsort, xp.run_length, lambda p: xp.top_k(p, n // 2), lambda p: xp.k_select(p, n),
            xp.argmax, xp.argmin,
        ):  # fmt: skip
            for found, expected in zip(parts_of(f(x)), parts_of(f(a)), strict=True):
                same(found, expected, "float16" if expected.dtype == np.float32 else None)
        for f in (
            xp.union,
            xp.intersection,
            xp.difference,
            xp.searchsorted,
            lambda p, q: xp.merge(xp.sort(p), xp.sort(q)),
        ):
            given = (xp.sort(x), xp.sort(a)) if f is xp.searchsorted else (x, a)
            found, expected = f(given[0], y), f(given[1], b)
            same(found, expected.numpy(), "float16" if expected.dtype == np.float32 else None)
    finite = np.array([0.1, 3.5, 2.0, 2.0], "float16")
    counts, edges = xp.histogram(A(finite), 7)
    same(counts, np.histogram(finite, 7)[0])
    same(edges, np.histogram(finite, 7)[1])


def parts_of(found):
    return [part.numpy() for part in (found if isinstance(found, tuple) else (found,))]


def test_views_that_are_changed_later_do_not_change_results():
    x = A(np.arange(5))
    found = [xp.reverse(x), xp.strided(x, 2), xp.gather(x, A([0, 1])), xp.map(lambda v: v + 1, x), xp.scan(add, x)]
    x[:] = 100
    expected = [[4, 3, 2, 1, 0], [0, 2, 4], [0, 1], [1, 2, 3, 4, 5], [0, 1, 3, 6, 10]]
    for a, b in zip(found, expected, strict=True):
        same(a, b)


def test_results_do_not_depend_on_threads():
    text = (
        "import numpy as np; from lancehead import xp; x = xp.asarray(np.random.default_rng(0).normal(size=300_001))\n"
        "print(float(xp.reduce(lambda a, b: a + b, x, init=0.0)).hex(), float(xp.k_select(x, 1000)).hex())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", text],
            env={**os.environ, "NUMBA_NUM_THREADS": n, "LANCEHEAD_NUM_THREADS": n},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for n in ("1", "2")
    }
    assert len(found) == 1
