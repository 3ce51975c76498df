"""Odd arguments have CPython's and NumPy's answers or an error: no third answer, and no error without need."""

import cmath
import math
import random

import numpy as np
import pytest

from lancehead import errors, njit

A = np.arange(6.0).reshape(2, 3)
TRUTHS = np.array([True, False, True])
Z = np.array([[1j, 0.0, 2.0]])
SPACE = {"np": np, "math": math, "cmath": cmath, "random": random}


def function(text):
    """`lambda a: text`, for an argument."""
    space = dict(SPACE)
    exec(f"def f(a):\n    return {text}", space)
    return space["f"]


def refuses(text, a=A):
    """Whether CPython raises, and compiled code does or does not compile."""
    f = function(text)
    with pytest.raises(Exception):  # noqa: B017
        f(a.copy())
    try:
        njit(f)(a.copy())
    except errors.InternalError:
        return False
    except Exception:
        return True
    return False


def check_same(text, a=A):
    """Compiled code gives the values, shapes and, of arrays, the types that CPython gives."""
    f = function(text)
    want, got = f(a.copy()), njit(f)(a.copy())
    if isinstance(want, np.ndarray):
        assert isinstance(got, np.ndarray)
        assert (got.dtype, got.shape) == (want.dtype, want.shape), text
    np.testing.assert_allclose(np.asarray(got, np.complex128), np.asarray(want, np.complex128), 1e-13, err_msg=text)


def test_degrees_of_freedom_of_cov_are_integers_of_any_type():
    check_same("np.cov(a, ddof=1.0)")
    check_same("np.cov(a, ddof=True)")
    for given in ("0.5", "np.nan", "np.inf", "1j"):
        assert refuses(f"np.cov(a, ddof={given})")


@pytest.mark.parametrize("name", ["argmin", "argmax"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "uint64", "complex128"])
def test_places_go_into_integers(name, dtype):
    assert refuses(f"np.{name}(a, 0, out=np.zeros(3, np.{dtype}))")
    assert refuses(f"a.{name}(out=np.zeros((), np.{dtype}))")


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint32", "bool_"])
def test_places_go_into_integers_that_fit(dtype):
    check_same(f"np.argmax(a, 0, out=np.zeros(3, np.{dtype}))")


@pytest.mark.parametrize(
    "text",
    ["np.std(a, 0, out={})", "np.ptp(a, 0, out={})", "np.quantile(a, 0.5, 0, {})", "np.percentile(a, 50, 0, {})",
     "np.nanmean(a, 0, out={})", "np.nanvar(a, 0, out={})", "np.nanstd(a, 0, out={})"],
)  # fmt: skip
def test_outputs_that_numpy_does_not_cast_to(text):
    assert refuses(text.format("np.zeros(3, np.int64)"))
    check_same(text.format("np.zeros(3)"))


@pytest.mark.parametrize("name", ["sum", "prod", "max", "mean", "var", "median", "nansum", "nanmax", "any"])
def test_outputs_that_numpy_casts_to(name):
    check_same(f"np.{name}(a, 0, out=np.zeros(3, np.int64))")


def test_rounded_values_need_an_output_of_their_dimensions():
    assert refuses("np.round(a, 0, np.zeros(()))", np.ones(1))
    check_same("np.round(a, 0, np.zeros((2, 1)))", np.ones((2, 1)))


@pytest.mark.parametrize("text", ["a.fill(1j)", "np.zeros(3, np.int64).fill(1j)"])
def test_complex_numbers_fill_no_real_arrays(text):
    assert refuses(text)


def test_complex_numbers_are_true_unless_zero():
    def filled(a):
        a.fill(1j)
        return a

    assert njit(filled)(TRUTHS.copy()).all()
    texts = ["np.full(3, 1j, np.bool_)", "np.full_like(a > 0, 1j)", "np.full_like(a[0] > 0, [1j, 2, 0])"]
    for text in [*texts, "np.array([1j, 0], bool)", "np.array(1j, bool)", "np.asarray(0j, np.bool_)"]:
        check_same(text)
    for text in ("a.astype(bool)", "a.T.astype(bool)", "a[:, ::2].astype(np.bool_)", "np.array(a, bool)"):
        check_same(text, Z)
    check_same("a[0, 0].astype(bool)", Z)


@pytest.mark.parametrize("seed", ["a", "np.array(5)", "'x'", "1j", "(1,)"])
def test_seeds_are_numbers(seed):
    f = njit(function(f"random.seed({seed})"))
    with pytest.raises(errors.TypingError):
        f(A)


@pytest.mark.parametrize("seed", ["7", "-7", "True", "7.0", "1.5", "1e300", "np.pi"])
def test_seeds_are_hashed_as_in_cpython(seed):
    text = f"(random.seed({seed}), random.random(), random.random())[1:]"
    assert njit(function(text))(A) == function(text)(A)


def test_a_seed_that_is_no_integer_is_not_negative():
    with pytest.raises(ValueError, match="seed"):
        njit(function("random.seed(-1.5)"))(A)


@pytest.mark.parametrize(
    "text", ["np.positive(a)", "np.positive(True)", "np.gradient(a)", "np.cross(a, a)", "np.round(a, 1)"]
)
def test_functions_that_truth_values_do_not_have(text):
    assert refuses(text, TRUTHS)


@pytest.mark.parametrize(
    "text",
    ["np.square(a)", "np.reciprocal(a)", "np.conjugate(a)", "np.conj(a)", "a.conj()", "np.spacing(a)", "np.sinc(a)",
     "np.nextafter(a, True)", "np.angle(a)", "np.trapezoid(a)", "np.trapezoid(a, a)", "np.square(True)",
     "True.conjugate()", "np.cross(a, [1, 2, 3])"],
)  # fmt: skip
def test_functions_of_truth_values(text):
    check_same(text, TRUTHS)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "float16", "float32"])
def test_the_precision_of_narrow_types(dtype):
    a = np.array([0, 1, 2, 3, 100], dtype)
    for text in ("np.spacing(a)", "np.nextafter(a, a[::-1])", "np.nextafter(a, a)", "np.sinc(a)"):
        f = function(text)
        want, got = f(a), njit(f)(a)
        np.testing.assert_allclose(got, want, 1e-5 if "sinc" in text else 0, atol=1e-6 if "sinc" in text else 0)


def test_neighbours_of_half_precision():
    values = [0.0, -0.0, 6e-8, -6e-8, 2.0**-14, -(2.0**-14), 1.0, -1.0, 1.5, 2.0, -2.0, 65504.0, -65504.0]
    a = np.array([*values, np.inf, -np.inf, np.nan], np.float16)
    with np.errstate(all="ignore"):
        for other in (-np.inf, 0.0, 1.0, np.inf, np.nan):
            f = function(f"np.nextafter(a, np.float16({other}))".replace("inf", "np.inf").replace("nan", "np.nan"))
            np.testing.assert_array_equal(njit(f)(a), f(a))
        f = function("np.spacing(a)")
        np.testing.assert_array_equal(njit(f)(a), f(a))


def test_rounding_narrow_integers():
    check_same("round(a[0]) + 100", np.array([100], np.int8))
    for dtype in ("int8", "uint8", "int16", "uint16"):
        info = np.iinfo(dtype)
        for value in (info.min, info.max, 100, 55, 45):
            for digits in (-1, -2, -3, -5, -12):
                check_same(f"round(a[0], {digits})", np.array([value], dtype))


@pytest.mark.parametrize(
    "text",
    ["math.log(2.0, None)", "cmath.log(2.0, None)", "math.log(2.0, 3.0, 4.0)", "cmath.log(1j, 2, 3)",
     "np.frexp(a, out=None)", "np.modf(1.5, out=None)", "np.sin(a, None, None)", "np.add(a, a, None, None)",
     "np.sin(a, out=(None, None))", "np.modf(a, None, None, None)"],
)  # fmt: skip
def test_none_stands_for_nothing(text):
    assert refuses(text)


@pytest.mark.parametrize(
    "text",
    ["np.sin(a, None)", "np.sin(a, out=None)", "np.sin(a, out=(None,))", "np.sin(1.5, None)", "np.sign(a, None)",
     "np.add(a, a, None)", "np.add(a, a, out=(None,))", "np.less(a, 1, None)", "np.maximum(a, 2, None)",
     "np.frexp(a, None, None)[1]", "np.modf(a, out=(None, None))[0]", "np.modf(1.5, None, None)",
     "np.divmod(7, 2, out=(None, None))", "np.modf(a, np.zeros((2, 3)), None)[1]"],
)  # fmt: skip
def test_an_output_of_none_is_made(text):
    check_same(text)


@pytest.mark.parametrize(
    "text",
    ["np.array_equal(a, a, equal_nan={})", "np.allclose(a, a, equal_nan={})", "np.isclose(a, a, equal_nan={})",
     "np.corrcoef(a, rowvar={})", "np.corrcoef(a[0], rowvar={})", "np.cov(a[0], rowvar={})", "np.cov(a, bias={})",
     "np.linspace(0, 1, 3, endpoint={})", "np.angle(a, deg={})", "a.astype(int, subok={})", "np.vander(a[0], 2, {})"],
)  # fmt: skip
def test_flags_are_single_values(text):
    assert refuses(text.format("a > 0"))
    check_same(text.format("True" if "astype" in text else "np.array(True)[()]"))


def test_flags_of_none():
    for text in ("np.isclose(a, a, equal_nan=None)", "np.cov(a, bias=None)", "np.corrcoef(a, rowvar=None)"):
        check_same(text)
    assert refuses("np.array(a, copy='x')")


@pytest.mark.parametrize("tolerance", ["rel_tol", "abs_tol"])
@pytest.mark.parametrize("module", ["math", "cmath"])
def test_tolerances_are_not_negative(module, tolerance):
    with pytest.raises(ValueError, match="non-negative"):
        njit(function(f"{module}.isclose(1, 1, {tolerance}=-1.0)"))(A)


def test_degrees_of_freedom_are_real():
    for name in ("var", "std", "nanvar", "nanstd"):
        with pytest.raises(errors.TypingError, match="ddof"):
            njit(function(f"np.{name}(a, ddof=1j)"))(A)


@pytest.mark.parametrize("points", [1, 2, 4, 5, 9, 40])
def test_interpolation_between_points_in_and_out_of_order(points):
    draw = np.random.default_rng(points)
    for turn in range(20):
        xp, fp = draw.integers(0, 2 * points, points).astype(float), draw.normal(size=points)
        xp = np.sort(xp) if turn % 4 == 0 else xp
        x = np.append(draw.uniform(-1, 2 * points + 1, 60), [np.nan, np.inf, *xp])
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(_interp(x, xp, fp), np.interp(x, xp, fp))
            np.testing.assert_allclose(_interp(x[0], xp, fp), np.interp(x[0], xp, fp))


@njit
def _interp(x, xp, fp):
    return np.interp(x, xp, fp)


@pytest.mark.parametrize(
    "text",
    ["np.median(a, True)", "np.quantile(a, 0.5, True)", "np.percentile(a, 5, True)", "np.sort(a, True)",
     "np.partition(a, 1, True)", "np.average(a, True)", "np.diff(a, axis=True)",
     "np.flip(a, True)", "np.roll(a, 1, True)", "np.expand_dims(a, True)", "np.swapaxes(a, True, False)",
     "np.moveaxis(a, True, False)", "np.rollaxis(a, True)", "np.delete(a, 1, True)", "np.insert(a, 1, 5, True)",
     "np.split(a, 3, True)[1]", "np.array_split(a, 2, True)[0]", "np.stack((a, a), axis=True)",
     "np.linalg.norm(a, axis=True)", "np.take_along_axis(a, np.array([[0], [1]]), True)"],
)  # fmt: skip
def test_an_axis_may_be_a_truth_value(text):
    check_same(text)


@pytest.mark.parametrize("name", ["sum", "max", "argmax", "argsort", "cumsum", "mean", "var", "all", "nansum", "ptp"])
def test_an_axis_may_be_no_truth_value(name):
    assert refuses(f"np.{name}(a, axis=True)")


@pytest.mark.parametrize(
    "text",
    ["np.trapezoid(a, a)", "np.trapezoid(a, [0, 1, 3])", "np.trapezoid(a, [0, 1], axis=0)", "np.trapezoid(a, axis=0)",
     "np.trapezoid(a, np.array([0, 1])[:, None], axis=0)", "np.trapezoid(a[0], a)", "np.trapezoid(a, dx=a[:, :2])",
     "np.trapezoid([1, 2, 3], [[4, 6, 8], [1, 2, 4]])", "np.trapezoid(a, dx=[1, 2])", "np.trapezoid(a, a[:1])",
     "np.trapezoid(a, dx=2)", "np.trapezoid(a, None, 0.5, 0)", "np.trapezoid(a * 1j, a)", "np.trapezoid(a, a * 1j)",
     "np.trapezoid(a.T[::-1], axis=0)", "np.trapezoid(a[:, :0])", "np.trapezoid(a[:, :1])", "np.trapezoid(a[0, :1])",
     "np.trapezoid(a[0], dx=2)", "np.trapezoid(a[None])", "np.trapezoid(a[0] > 1, dx=2)"],
)  # fmt: skip
def test_integrals_along_an_axis(text):
    check_same(text)


@pytest.mark.parametrize(
    "text",
    ["np.trapezoid(a, axis=2)", "np.trapezoid(a, axis=True)", "np.trapezoid(5.0)", "np.trapezoid(a, [0, 1, 2, 3])"],
)
def test_integrals_that_do_not_fit(text):
    assert refuses(text)


@pytest.mark.parametrize(
    "text",
    ["np.array(a, ndmin=3)", "np.array(1, ndmin=2)", "np.array([1, 2], ndmin=2)", "np.array((1, 2), float, ndmin=3)",
     "np.array([[1, 2]], ndmin=1)", "np.array(a, ndmin=4, order='F')", "np.array(a.T, ndmin=3)", "np.array(a, ndmin=0)",
     "np.array(a, ndmin=3, copy=None)", "np.array(a, ndmin=3, copy=False)", "np.array(2.5, ndmin=True)"],
)  # fmt: skip
def test_dimensions_that_are_asked_for(text):
    check_same(text)


def test_dimensions_are_known_while_compiling():
    @njit
    def raised(a, n):
        return np.array(a, ndmin=n)

    @njit
    def raised_in_a_loop(a, n):
        total = 0
        for i in range(n):
            total += np.array(a, ndmin=i).size
        return total

    assert raised(A, 3).shape == (1, 2, 3)
    assert raised(A, 4).shape == (1, 1, 2, 3)
    with pytest.raises(errors.TypingError, match="needs-constant"):
        raised_in_a_loop(A, 3)


@pytest.mark.parametrize(
    "text",
    ["np.where(a, None)", "np.put(a, 0, 1j)", "np.put(a, 0, [1j])", "random.randrange(5, step=2)",
     "random.randrange(5, None, 2)",
     "np.arange(3, dtype=bool)", "np.arange(3j, dtype=float)", "np.histogram(a, bins=[0, 3, 2])",
     "np.histogram(a, bins=np.array([3.0, 2.0]))"],
)  # fmt: skip
def test_what_was_taken_for_something_else(text):
    assert refuses(text)


@pytest.mark.parametrize(
    "text",
    ["np.clip(a, np.nan, 2)", "np.clip(a, 0, np.nan)", "np.clip(1.0, np.nan, 2.0)", "np.clip(a, a * np.nan, None)",
     "np.clip(a * np.nan, 1, 2)", "np.clip(a, 5, 2)", "np.clip(a * 1j, 1j, 2)", "np.clip(a, None, 1j)",
     "np.clip(a.astype(int), 1, 3)", "np.clip(a, 1, 3)", "np.clip(5, -1, 3)", "np.arange(1, 3, dtype=bool)"],
)  # fmt: skip
def test_limits_of_all_kinds(text):
    check_same(text)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
def test_limits_beyond_the_type(dtype):
    a = np.array([0, 1, 5, 100], dtype)
    for text in ("np.clip(a, -5, 3)", "np.clip(a, -(2**40), 2**40)", "np.clip(a, -(2**63), 2**63 - 1)"):
        check_same(text, a)
    if dtype != "uint64":
        check_same("np.clip(a, -300, None)", a)
    if dtype in ("int8", "uint8"):
        assert refuses("np.clip(a, 300, None)", a)
    if dtype.startswith("u"):
        assert refuses("np.clip(a, None, -1)", a)


def test_bins_out_of_order():
    with pytest.raises(ValueError, match="monotonic"):
        njit(function("np.histogram(a, np.array([0, 3, 2]))"))(A)
    for edges in ([0.0, 2.0, 2.0, 4.0], [3.0], [1.0, np.nan]):
        f = function("np.histogram(a, bins)")
        f.__globals__["bins"] = np.array(edges)
        for want, got in zip(f(A), njit(f)(A), strict=True):
            np.testing.assert_array_equal(got, want)


def test_edges_with_nan():
    for edges in ([1.0, 2.0, np.nan], [np.nan, 2.0, 1.0], [np.nan], [1.0, 1.0], [1.0, np.nan, 2.0]):
        f = function("np.digitize([0.5, 1.5, 2.5, np.nan], a)")
        np.testing.assert_array_equal(njit(f)(np.array(edges)), f(np.array(edges)))
    with pytest.raises(ValueError, match="monotonic"):
        njit(function("np.digitize([0.5], a)"))(np.array([np.nan, 1.0, 2.0]))


def test_where_chooses_between_numbers():
    # NumPy makes an array of objects of these.
    for text in ("np.where(a, None, None)", "np.where(a, 1, None)"):
        with pytest.raises(errors.TypingError):
            njit(function(text))(A)
    check_same("np.where(a > 2, a, -1)")
    check_same("np.where(a > 2)[1]")


def test_zero_to_complex_powers_in_arrays():
    zeros, powers = np.zeros(6, complex), np.array([1 + 1j, 2, 0, 1j, -1, -1 + 1j])
    with np.errstate(all="ignore"):
        wanted = zeros**powers
    assert np.array_equal(njit(lambda a, b: a**b)(zeros, powers), wanted, equal_nan=True)


@pytest.mark.parametrize("n", [2, 30, 2000, 1_200_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zeros_are_sorted_by_their_signs(n, dtype):
    x = np.tile(np.array([0.0, -0.0], dtype), n // 2)
    found = njit(lambda a: np.sort(a, kind="stable"))(x)
    assert np.signbit(found).tolist() == [True] * (n // 2) + [False] * (n // 2)
    # Also among other numbers, and NaN.
    mixed = x.copy()
    mixed[1::7], mixed[::11] = -1.5, np.nan
    found = njit(lambda a: np.sort(a))(mixed)
    assert np.array_equal(found, np.sort(mixed), equal_nan=True)
    assert np.signbit(found[~np.isnan(found)]).sum() == np.signbit(mixed[~np.isnan(mixed)]).sum()
    zeros = np.signbit(found[found == 0.0])
    assert zeros.tolist() == sorted(zeros.tolist(), reverse=True)
    order = njit(lambda a: np.argsort(a, kind="stable"))(x)
    assert order.tolist() == list(range(n))


@pytest.mark.parametrize("name", ["vstack", "hstack", "dstack", "column_stack", "stack", "concatenate"])
@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 4), (0, 3), (0,), (2, 1, 3, 2)])
def test_the_parts_of_an_array_are_joined(name, shape):
    a = np.arange(float(np.prod(shape))).reshape(shape)
    text = f"np.{name}(a)"
    if shape[0] == 0 or (name == "concatenate" and len(shape) == 1):
        assert refuses(text, a)
    else:
        check_same(text, a)
        check_same(f"np.{name}(a[::-1].T)", a)


@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
@pytest.mark.parametrize("a", [A, A > 2, A.astype(np.int8), A * (1 - 2j), np.array(3.5)], ids=lambda a: str(a.dtype))
def test_variances_are_of_the_complex_type_that_is_asked_for(a, dtype):
    rough = 1e-6 if dtype == "complex64" else 1e-13
    for name in ("var", "std", "nanvar", "nanstd"):
        for rest in ("", ", axis=0", ", keepdims=True", ", where=np.array(True)"):
            if a.ndim == 0 and "axis" in rest:
                continue
            f = function(f"np.{name}(a, dtype=np.{dtype}{rest})")
            want, got = f(a), njit(f)(a)
            assert np.asarray(got).dtype.kind == "c" and np.shape(got) == np.shape(want)
            np.testing.assert_allclose(got, want, rough)


def test_masks_of_arrays_of_rank_0():
    for name in ("var", "std", "mean", "nanvar", "nanstd", "nanmean", "sum", "prod"):
        check_same(f"np.{name}(a, where=np.array(True))", np.array(3.5))


@pytest.mark.parametrize("mask", [[True, False, True], [False, True, True], [True, True, False]])
def test_products_of_infinite_complex_numbers_leave_out_what_a_mask_does(mask):
    a = np.array([[complex(np.inf, 1), 1 + 2j, 2 - 1j], [3.0, complex(1, -np.inf), 1j]])
    for axis in (0, 1):
        for dtype in ("complex128", "complex64"):
            check_same(f"np.prod(a, axis={axis}, dtype=np.{dtype}, where=np.array({mask}))", a)
    check_same(f"np.multiply.reduce(a, 0, where=np.array({mask}), initial=2j)", a)


def test_initial_values_that_are_no_integers():
    a = np.array([4, 3], np.uint32)
    for name in ("fmod", "bitwise_or", "maximum", "add", "multiply"):
        for rest in ("", ", where=np.array([True, False])"):
            assert refuses(f"np.{name}.reduce(a, initial=np.nan{rest})", a)
    check_same("np.bitwise_or.reduce(a, initial=8, where=np.array([True, False]))", a)


def test_python_numbers_make_results_for_outputs_of_narrow_integers():
    for text in ("np.add(300, 5, out=a)", "np.multiply(100, 7, a)", "np.invert(300, out=a, where=a > 1)"):
        check_same(text, np.arange(4, dtype=np.int8))
    assert refuses("np.add(a, 300, out=a)", np.arange(4, dtype=np.int8))


def test_other_odd_calls_of_numpy():
    for text in ("np.broadcast_arrays()", "np.base_repr(a[0, 1] + 36.5, 3)"):
        f = function(text)
        assert njit(f)(A) == f(A)
    for text in ("np.real((a, a))", "np.imag([a, 1j * a])", "np.array(5).repeat(np.array(2), axis=0)"):
        check_same(text)
    check_same("np.cov(a, ddof=1e300)")
