"""Answers at the ends of types: nothing wraps, no part of a number is forgotten, Python numbers keep their value."""

from __future__ import annotations

import cmath
import warnings
from typing import Any

import numpy as np
import pytest

from lancehead import cuda, errors, njit
from lib_cases import same

INTEGERS = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8")
BEYOND = (-1, 300, 2**40, -(2**40))


def outcome(f: Any, *args: Any) -> Any:
    """The result, or the class of the exception."""
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return f(*copies), copies
        except errors.TypingError as e:
            pytest.fail(str(e))
        except (ArithmeticError, LookupError, TypeError, ValueError) as e:
            return type(e)


def plain(x: Any) -> Any:
    """Scalars as Python's numbers, by whose type the kind is compared."""
    if isinstance(x, (tuple, list)):
        return [plain(i) for i in x]
    return x.item() if isinstance(x, np.generic) or (isinstance(x, np.ndarray) and x.ndim == 0) else x


def agrees(f: Any, *args: Any, rtol: float = 1e-12) -> None:
    """A function gives NumPy's result and leaves its arguments as NumPy does, for arguments of one type."""
    want, got = plain(outcome(f, *args)), plain(outcome(njit(f), *args))
    assert same(want, got, rtol), (args, want, got)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_weights_of_integers_do_not_wrap(dtype: str) -> None:
    top = np.iinfo(dtype).max
    a = np.array([[top, 3, 7], [0, top - 1, 1]], dtype)
    agrees(lambda a, w: (np.average(a, weights=w), np.average(a, 1, w, True), np.average(a, 0, w[:, 0])), a, a[::-1])
    agrees(lambda a: np.cov(a, aweights=np.array([1, 2, 3], np.uint8)), a, rtol=1e-9)


@pytest.mark.parametrize("dtype", [*INTEGERS, "?", "f4", "f8"])
def test_numbers_outside_of_the_type_are_found_where_they_belong(dtype: str) -> None:
    a = np.sort(np.array([1, 0, 0 if dtype == "?" else 100, 1], dtype))
    at = njit(lambda a, v: (np.searchsorted(a, v), np.searchsorted(a, v, "right"), np.digitize(v, a), np.isin(a, v)))
    for v in (*BEYOND, 1, 0.1, 0.5, 300.5, np.nan, np.inf):
        want = outcome(at.py_func, a, v)
        assert same(plain(want), plain(outcome(at, a, v))), (v, want)
    agrees(lambda a: (np.searchsorted(a, 0.1), np.digitize(0.1, a)), np.array([0.1, 0.2], np.float32))


STORES = [
    lambda a, v: np.full_like(a, v),
    lambda a, v: np.full((2, 2), v, np.uint8),
    lambda a, v: np.array([v, 1], np.int16),
    lambda a, v: a.fill(v),
    lambda a, v: np.put(a, [0, 1], v),
    lambda a, v: np.put(a, 0, [v]),
    lambda a, v: np.place(a, a > 1, [v]),
    lambda a, v: np.putmask(a, a > 1, v),
    lambda a, v: np.copyto(a, v),
    lambda a, v: np.copyto(a, v, where=a > 1),
    lambda a, v: np.insert(a, 1, v),
    lambda a, v: np.fill_diagonal(a.reshape(2, 2), v),
    lambda a, v: (a.max(initial=v), np.minimum.reduce(a, initial=v)),
    lambda a, v: (a.sum(initial=v), np.nanmax(a, initial=v)),
    lambda a, v: (np.where(a > 1, a, v), np.append(a, v), np.clip(a, 0, v)),
]  # fmt: skip


@pytest.mark.parametrize("store", STORES)
def test_numbers_that_do_not_fit_raise_where_numpy_raises(store: Any) -> None:
    compiled = njit(store)
    for dtype in ("u1", "i2", "i8"):
        for v in (3, *BEYOND):
            a = np.array([1, 2, 3, 4], dtype)
            want = outcome(store, a, v)
            assert same(plain(want), plain(outcome(compiled, a, v))), (dtype, v, want)


@pytest.mark.parametrize("v", [np.nan, np.inf, -np.inf, 300.5, -1.5, 1e300])
def test_floats_that_do_not_fit_raise(v: float) -> None:
    agrees(lambda a, v: a.fill(v), np.array([1], np.uint8), v)
    agrees(lambda a, v: a.fill(v), np.array([1], np.int64), v)
    agrees(lambda a, v: np.insert(a, 0, v), np.array([1], np.uint8), v)
    agrees(lambda a, v: np.put(a, 0, [v]), np.array([1], np.uint8), v)
    agrees(lambda a, v: a.max(initial=v), np.array([1], np.uint8), v)


INFINITE = [np.inf, -np.inf], [1.0, np.inf], [-np.inf, -np.inf], [np.inf, 0.0, 2.0], [np.nan, np.inf, 1.0]
METHODS = ["linear", "lower", "midpoint", "nearest", "weibull", "inverted_cdf", "hazen"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_quantiles_between_infinities(method: str, dtype: str) -> None:
    f = njit(lambda a, q: (np.quantile(a, q, method=method), np.percentile(a, 100, method=method)))
    for line in INFINITE:
        for q in (np.array([0.0, 0.25, 1.0]), np.array([0, 1])):
            a = np.array(line, dtype)
            want = outcome(f.py_func, a, q)
            assert same(plain(want), plain(outcome(f, a, q))), (line, q, want)


EDGES = [0.0, 1.0, 2.0], [2.0, 1.0, 1.0], [1.5, np.nan], [np.nan, 1.0], [1.0, 1.0], [np.nan], [-np.inf, np.inf], []


def test_bins_with_nan_and_infinities() -> None:
    f = njit(lambda x, bins: (np.digitize(x, bins), np.digitize(x, bins, True)))
    for edges in EDGES:
        x, bins = np.array([1.0, 2.0, np.nan, -np.inf, np.inf]), np.array(edges)
        assert same(outcome(f.py_func, x, bins), outcome(f, x, bins)), edges


PARTS = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_means_products_and_reciprocals(dtype: str) -> None:
    def f(a: Any) -> Any:
        return np.mean(a), np.prod(a), np.average(a), np.median(a), np.reciprocal(a), a / a[::-1], a[None, :].prod(0)

    compiled = njit(f)
    for x in PARTS:
        for y in PARTS:
            a = np.array([complex(x, y), 1 + 2j], dtype)
            assert same(plain(outcome(f, a)), plain(outcome(compiled, a))), a


def test_sums_of_negative_zeros_begin_with_zero() -> None:
    def f(a: Any) -> Any:
        sums = a.sum(), np.mean(a), np.nansum(a), np.add.reduce(a), np.sum(a, initial=-0.0), np.average(a)
        return np.copysign(1.0, np.array(sums)), np.copysign(1.0, a.reshape(1, 2).sum(0))

    agrees(f, np.array([-0.0, -0.0]))


def test_angles_of_real_numbers() -> None:
    agrees(lambda a: np.angle(a), np.array([1.0, np.inf, -np.inf, -0.0, np.nan, -1.0]))
    agrees(lambda a: (np.angle(a), np.angle(a, True)), np.array([-3, 0, 2**40]))
    agrees(lambda x: (np.angle(x), np.angle(-x, True), np.angle(2)), 1.5)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_divisors_and_multiples_of_all_bits(dtype: str) -> None:
    info = np.iinfo(dtype)
    a = np.array([info.max, info.min, info.max - 1, 12, 0], dtype)
    agrees(lambda a, b: (np.gcd(a, b), np.lcm(a, b), np.gcd.reduce(a), np.gcd(a, 4), np.lcm(a[3:], 5)), a, a[::-1])


def test_exponents_beyond_32_bits() -> None:
    agrees(lambda x, i: np.ldexp(x, i), np.array([1.0, 1.0, 0.0, 1.5]), np.array([2**40, -(2**40), 2**62, 3]))


def test_variances_of_one_and_of_no_variables() -> None:
    with pytest.raises(ValueError, match=r"m\[0\]"):
        njit(lambda a: np.cov(a))(np.arange(5.0).reshape(1, -1))
    with pytest.raises(ValueError, match=r"m\[0\]"):
        njit(lambda a: np.corrcoef(a))(np.arange(5.0).reshape(1, -1))
    agrees(lambda a: (np.cov(a[0]), np.corrcoef(a[0]), np.cov(a[0], a[0])), np.arange(5.0).reshape(1, -1))
    agrees(lambda a: (np.cov(a, rowvar=False), np.cov(a, bias=True)), np.array([[1.0, 2.0, 4.0], [3.0, 0.0, 1.0]]))
    agrees(lambda a: np.cov(a, rowvar=False), np.array([[1.0, 2.0, 4.0]]))
    agrees(lambda a: np.cov(a), np.zeros((0, 3)))
    agrees(lambda a, w: np.cov(a, aweights=w), np.ones((2, 2)), np.zeros(2))


def test_reductions_of_ufuncs_over_no_axes() -> None:
    def f(x: Any, n: Any) -> Any:
        return (
            np.maximum.reduce(x),
            np.subtract.reduce(x, -1),
            np.add.reduce(n),
            np.multiply.reduce(n, dtype=np.float64),
        )

    agrees(f, np.array(2.5), np.array(100, np.int8))
    agrees(lambda x: np.add.accumulate(x), np.array(2.5))
    agrees(lambda x: np.add.reduceat(x, [0]), np.array(2.5))
    agrees(lambda a: np.subtract.reduce(a, None), np.ones((2, 2)))
    agrees(lambda a: (np.subtract.reduce(a, 1), np.maximum.reduce(a, (0, 1))), np.ones((2, 2)))
    agrees(lambda a: np.nanmin(a, 0), np.array(3.0))


def test_sums_of_ufuncs_are_as_exact_as_sums() -> None:
    agrees(lambda a: (np.add.reduce(a), np.add.reduce(a.reshape(2, -1), 1)), np.full(100000, 0.1, np.float32))


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_nearness_in_the_type_of_the_numbers(dtype: str) -> None:
    top = np.finfo(dtype).max
    a = np.array([top, -top, np.inf, np.nan, 0.0, 1.0], dtype)
    agrees(lambda a, b: (np.isclose(a, b), np.isclose(a, b, equal_nan=True), np.isclose(a, b, atol=1e300)), a, a[::-1])


def test_trapezoids_of_small_integers_are_numpy_s() -> None:
    agrees(lambda a: (np.trapezoid(a), np.trapezoid(a, dx=2.0), np.trapezoid(a, a)), np.array([255, 3, 200], np.uint8))
    agrees(lambda a: np.trapezoid(a), np.full(100000, 0.1, np.float32), rtol=1e-6)


def test_lengths_that_are_not_finite() -> None:
    for stop in (np.inf, -np.inf, np.nan):
        agrees(lambda stop: np.arange(stop), stop)


def test_edges_of_histograms_with_nan() -> None:
    agrees(lambda a, b: np.histogram(a, b), np.array([np.nan, 1.0, 2.0]), np.array([1.0, 2.0, np.nan]))
    agrees(lambda a: np.histogram(a), np.array([3e38, 3e38, -3e38], np.float32))


def test_quantiles_of_signed_integers_do_not_wrap() -> None:
    assert njit(lambda a: np.percentile(a, 50))(np.array([-128, 127], np.int8)) == -0.5


def test_weights_of_integers_in_histograms_are_exact() -> None:
    a, w = np.array([1, 1, 2]), np.array([2**53, 1, 5])
    assert njit(lambda a, w: np.histogram(a, 2, weights=w)[0])(a, w).tolist() == [2**53 + 1, 5]


def test_items_that_do_not_fit_have_their_low_bits() -> None:
    def f(a: Any, n: int) -> Any:
        a[0] = n
        return a[0]

    @cuda.jit
    def k(a: Any, n: int) -> None:
        a[0] = np.uint8(n)

    assert njit(f)(np.zeros(1, np.uint8), 300) == 44
    a = np.zeros(1, np.int64)
    k[1, 1](a, 300)
    assert a[0] == 44


def test_numbers_count_as_lines_where_numpy_has_it_so() -> None:
    def f(x: Any) -> Any:
        return (
            np.repeat(x, 2, 0),
            np.take(x, 0, -1),
            np.packbits(x, axis=0),
            np.argsort(x),
            np.inner(x, np.ones((2, 3))),
        )

    agrees(f, np.array(3))
    agrees(lambda x: np.repeat(x, 2, 1), np.array(3))


def test_slopes_beside_infinite_parts() -> None:
    agrees(lambda a: np.gradient(a), np.array([complex(0, np.inf), 1 + 1j, 2.0, 5.0]))


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_truth_of_complex_numbers_counts_both_parts(dtype: str) -> None:
    def f(a: Any) -> Any:
        reduced = np.logical_or.reduce(a), np.logical_and.reduce(a), np.logical_xor.reduce(a, None)
        running = np.logical_or.accumulate(a), np.logical_and.accumulate(a), np.logical_or.reduceat(a, [0, 1])
        asked = np.any(a), np.all(a), np.count_nonzero(a), np.nonzero(a), np.where(a, 1, 2), a.astype(np.bool_)
        return reduced, running, asked, np.logical_or.reduce(a, where=np.array([False, True, True]))

    for line in ([2j, 0, 1j], [0, 0, 0], [1j, 1, complex(0, np.nan)], [complex(0, -0.0), 5e-45j, 0]):
        agrees(f, np.array(line, dtype))


def counted(a: Any) -> Any:
    s = n = most = 0
    for x in a:
        s += x
        n |= x
        if x > most:
            most = x
    return s, n, most


def counted_in_rows(a: Any) -> Any:
    s = 0
    for row in a:
        for x in row:
            s += x
    return s


def first_or_none(a: Any) -> Any:
    for x in a:
        if x > 5:
            return x
    return 0


def test_counts_join_unsigned_integers_with_all_digits() -> None:
    a = np.array([[2**53 + 1, 2], [7, 2**63]], np.uint64)
    for f in (counted, first_or_none, lambda a: sum(a)):
        agrees(f, a.ravel())
        agrees(f, a.ravel()[:0])
    agrees(counted_in_rows, a)
    agrees(counted_in_rows, a[:, :0])
    agrees(lambda a: sum(a, 5), a.ravel())


def test_a_negative_number_joins_no_unsigned_integers() -> None:
    def last(a: Any) -> Any:
        found = -1
        for x in a:
            found = x
        return found

    assert njit(last)(np.array([3], np.uint64)) == 3.0
    assert njit(last)(np.array([], np.uint64)) == -1.0


KERNELS = [np.maximum, np.minimum, np.fmax, np.fmin, np.fmod, np.gcd, np.lcm, np.divmod, np.floor_divide, np.remainder]


@pytest.mark.parametrize("kernel", KERNELS)
def test_python_numbers_beside_typed_ones_have_their_type(kernel: Any) -> None:
    compiled = njit(lambda a, v: kernel(a, v))
    other = njit(lambda a, v: kernel(v, a))
    for dtype in ("u1", "i2", "u8"):
        for v in (7, 300, -1, 2**40):
            a = np.array([np.iinfo(dtype).max, 1, 9], dtype)
            for f in (compiled, other):
                assert same(plain(outcome(f.py_func, a, v)), plain(outcome(f, a, v))), (dtype, v)


def test_an_array_of_one_item_is_no_item() -> None:
    def item(v: Any, x: Any) -> None:
        v[0] = x

    def element(m: Any, x: Any) -> None:
        m[0, 0] = x

    for dtype in ("f8", "u1", "c16"):
        agrees(item, np.zeros(2, dtype), np.ones(1, dtype))
        agrees(item, np.zeros(2, dtype), np.ones((1, 1), dtype))
        agrees(item, np.zeros(2, dtype), np.array(1, dtype))
        agrees(element, np.zeros((2, 2), dtype), np.ones(1, dtype))
        agrees(item, np.zeros((2, 2), dtype), np.ones(1, dtype))


def test_slices_take_numbers_that_fit() -> None:
    def part(a: Any, v: int) -> None:
        a[1:] = v

    def whole(a: Any) -> None:
        a[...] = -1

    def one(a: Any) -> None:
        a[0] = 300

    for v in (5, 300, -1):
        agrees(part, np.zeros(3, np.uint8), v)
    agrees(whole, np.zeros(3, np.uint16))
    agrees(whole, np.zeros(3, np.int16))
    agrees(one, np.zeros(3, np.uint8))
    agrees(one, np.zeros(3, np.int16))


@pytest.mark.parametrize("u", [np.equal, np.less_equal, np.not_equal])
def test_comparisons_reduce_truth_values_only(u: Any) -> None:
    agrees(lambda a: (u.reduce(a), u.accumulate(a), u.reduceat(a, [0, 2])), np.array([True, False, False]))
    for f in (lambda a: u.reduce(a), lambda a: u.accumulate(a), lambda a: u.reduceat(a, [0, 2])):
        assert outcome(f, np.arange(3)) is TypeError
        with pytest.raises(errors.TypingError, match="truth values"):
            njit(f)(np.arange(3))


@pytest.mark.parametrize("name", ["hypot", "arctan2", "copysign", "logaddexp", "nextafter", "heaviside", "power"])
def test_integers_of_python_are_of_64_bits_beside_truth_values(name: str) -> None:
    f = getattr(np, name)
    for a in (np.array([[True, False], [True, True]]), np.array([True, False])[::-1], np.bool_(True)):
        for call in (lambda a: f(a, 1), lambda a: f(2, a)):
            assert same(call(a), njit(call)(a))
            assert np.asarray(njit(call)(np.atleast_1d(a))).dtype == call(np.atleast_1d(a)).dtype


def test_masks_of_arrays_without_dimensions() -> None:
    for a in (np.array(65535, np.uint16), np.array(2.5)):
        for where in (np.array(True), np.array(False)):
            agrees(lambda a, m: (np.nansum(a, where=m), np.nanmean(a, where=m)), a, where)
            agrees(lambda a, m: (np.sum(a, where=m), np.mean(a, where=m), np.max(a, where=m, initial=0)), a, where)


def test_classes_of_numbers_make_arrays_of_sequences() -> None:
    a = np.zeros((3, 4))
    for f in (
        lambda a: np.int32(a.shape),
        lambda a: np.float32((a.shape[0], 2.5)),
        lambda a: np.complex128([1, 2]),
        lambda a: np.uint8(((1, 2), (3, 4))),
    ):
        want, got = f(a), njit(f)(a)
        assert isinstance(got, np.ndarray) and got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
    for g in (lambda: int((1, 2)), lambda: float([1.0])):
        with pytest.raises(TypeError):
            njit(g)()

    def unpacked(a: Any) -> Any:
        m, n = np.int32(a.shape[-2:])
        return m + 10 * n

    assert njit(unpacked)(a) == unpacked(a) == 43


def test_slopes_at_the_ends_need_their_elements() -> None:
    slopes = lambda a, order: np.gradient(a, edge_order=order)
    for order in (-1, 0, 1, 2):
        for n in (1, 2, 3, 4):
            agrees(slopes, np.array([1.0, 4.0, 9.0, 20.0])[:n], order)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_sums_and_products_begin_with_the_initial_value(dtype: str) -> None:
    a = np.array([[1.5, -2.25, 3.0], [0.5, 1.5, -2.25]], dtype)
    mask = np.array([[True, False, True], [True, False, True]])
    for axis in (None, 0, 1, (0, 1)):
        agrees(lambda a, m: np.add.reduce(a, axis, where=m, initial=-0.0), a, mask)
        agrees(lambda a, m: np.sum(a, axis, initial=-0.0, where=m), a, mask & False)
        agrees(lambda a, m: np.prod(a, axis, initial=np.inf, where=m), a * 1e-40, mask)
    agrees(lambda a: np.multiply.reduce(a, axis=None, initial=np.inf), np.full((2, 3), 2e-30, dtype))
    agrees(lambda a: np.max(a, initial=np.nan), a)


def test_variances_in_the_type_that_is_asked_for() -> None:
    big, infinite = np.array([2**31 - 1] * 3, np.int32), np.array([[1.0, np.inf], [2.0, 3.0]])
    agrees(lambda a: (np.std(a, dtype=np.float32), np.var(a, dtype=np.float32)), big)
    agrees(lambda a: np.var(a, dtype=np.float32), np.array(1.7e308))
    for a in (np.zeros(0), np.zeros((0, 3), np.uint8), infinite, np.array([1.0, 2.0])):
        for ddof in (0, 2):
            agrees(lambda a: (np.var(a, dtype=np.complex128, ddof=ddof), np.var(a, 0, np.complex64, ddof=ddof)), a)
    z = np.array([1 + 2j, 2j, -1.5 - 0.5j, np.nan])
    agrees(lambda z: (np.nanvar(z, dtype=np.float64), np.nanstd(z)), z)
    agrees(lambda z: np.nanmedian(z), np.zeros(0, np.complex64))
    agrees(lambda a: np.var(a, mean=1e300), np.array([np.inf, 1.0], np.float32))


def test_long_lines_of_narrow_floats_keep_their_small_terms() -> None:
    a = np.tile(np.array([0.1, 0.7, 3.3, 1000.1, 0.003], np.float32), 600)
    agrees(lambda a: (np.vecdot(a, a), np.dot(a[::-1], a)), a, rtol=1e-6)
    for order in (1, 2, 3, None):
        agrees(lambda a: (np.linalg.norm(a, order), np.linalg.norm(a.astype(np.complex64), order)), a, rtol=1e-6)


def test_steps_that_vanish_are_not_multiplied() -> None:
    tiny = np.array([4.9e-324, -4.9e-324, 1.5e-323])
    agrees(lambda a: (np.linspace(a.min(), a.max(), 11), np.linspace(a, a[::-1], 5)), tiny)
    agrees(lambda a: (np.linspace(a[0], a[0], 5), np.histogram2d(a, a)), tiny)
    agrees(lambda a, b: np.histogram2d(a, b), np.array([0.5, 3.0], np.float32), np.array([True, False]))
    agrees(lambda a: np.histogram2d(a, a), np.array([-1.7e308, 1.7e308]))


def test_operands_of_updates_in_place_have_a_type_of_their_own() -> None:
    for dtype in ("i1", "u8", "f4", "c8"):
        for number in (300, -1, 2, 2.5):
            for u in (np.add, np.maximum, np.divide):
                agrees(lambda a, v: u.at(a, 0, v), np.array([3, 7], dtype), number)
    agrees(lambda a, v: np.divide.at(a, 0, v), np.array([1j * np.inf, 1], np.complex64), 1e300 + 0j)


def test_numbers_that_are_complex_when_asked_for() -> None:
    agrees(lambda v: np.geomspace(True, v, 5, dtype=np.complex128), -2.5)
    for z in (1.79e308 + 0j, -1e200 - 0j, 1e155j, 1e308 - 1e308j):
        agrees(lambda z: (np.arctanh(z), cmath.atanh(z)), z)
    agrees(lambda z: np.linalg.vector_norm(z), np.array([complex(np.inf, np.nan)]))


def test_calls_that_numpy_refuses() -> None:
    a, b = np.array([[1.5, 2.5]]), np.array([1, 2, 3], np.uint64)
    agrees(lambda x: np.nan_to_num(x, neginf=np.array([1.0, 2.0])), 1.5)
    agrees(lambda x: np.nan_to_num(x, neginf=np.array([[1.0]])), -np.inf)
    agrees(lambda b: np.trapezoid(b, dx=-1), b)
    agrees(lambda a: np.lcm.reduce(a.astype(np.int64), axis=None), a)
    agrees(lambda a: np.equal.reduce(a > 1, axis=None), a)
    agrees(lambda a: np.nanmean(a, axis=0), np.array(3))
    with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
        njit(lambda x, y: np.polyfit(x, y, 1))(np.array([np.nan]), np.array([1.0]))
    with pytest.raises(errors.TypingError, match="complex"):
        njit(lambda x, w: np.polyfit(x, x, 1, w=w))(np.arange(4.0), np.arange(4) + 1j)
    agrees(lambda x, w: np.polyfit(x, x, 1, w=w), np.arange(4.0, dtype=np.float32), np.array([1, 2, 0, 1.0]), rtol=1e-5)
