"""Functions of the library in forward mode, in reverse mode and by differences: `gradient_cases.py` has them.

For random tangents `v` and adjoints `w`, `<J v, w> = <v, J' w>`, and `J v` is the difference along `v`. Derivatives
have the types of what they belong to.
"""

from __future__ import annotations

import cmath
import math
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
import scipy.special

import gradient_programs
from differences import differences
from gradient_cases import GROUPS
from lancehead import njit
from lancehead.gradients import grad, hessian, jacrev, jvp, pulled, pushed, value_and_grad

RULES = Path(__file__).parents[3] / "python" / "lancehead" / "lib" / "derivatives"
TYPES = {"d": (np.float64, float), "f": (np.float32, np.float32), "z": (np.complex128, complex)}


def function_of(row, names):
    """The function of an expression, whose result is a tuple."""
    names_in_expressions = {"np": np, "math": math, "scipy": scipy, "programs": gradient_programs}
    return eval(f"lambda {names}: ({row},)", names_in_expressions)


def leaves(x):
    if isinstance(x, (tuple, list)):
        return [leaf for part in x for leaf in leaves(part)]
    return [np.asarray(x)]


def like(x, fill):
    """A value of the structure of another, its floats replaced by those that `fill` gives for them."""
    if isinstance(x, tuple):
        parts = [like(part, fill) for part in x]
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    if np.asarray(x).dtype.kind not in "fc":
        return x
    filled = np.asarray(fill(np.asarray(x)), np.asarray(x).dtype)
    return filled if isinstance(x, np.ndarray) else type(x)(filled[()])


def random_like(rng, x):
    def fill(part):
        made = rng.normal(size=part.shape)
        return made + 1j * rng.normal(size=part.shape) if part.dtype.kind == "c" else made

    return like(x, fill)


def products(a, b):
    """The products of all elements, real parts of complex ones: their sum is the derivative of a real result."""
    pairs = zip(leaves(a), leaves(b), strict=True)
    wide = [x.astype(complex) * y.astype(complex) for x, y in pairs if x.dtype.kind in "fc"]
    return np.concatenate([x.real.ravel() for x in wide])


def moved(args, along, step):
    def one(a, t):
        return a + np.asarray(step, a.real.dtype) * t if isinstance(a, np.ndarray) else type(a)(a + step * t)

    return tuple(one(a, t) for a, t in zip(args, along, strict=True))


def both_modes(f, n):
    asked = (0,) * n

    @njit
    def modes(args, along, adjoint):
        return pushed(f, args, along), pulled(f, adjoint, asked, args)

    return modes


def check(f, args, is_unique=True):
    rng = np.random.default_rng(1)
    modes = both_modes(f, len(args))
    expected = f(*args)
    along, adjoint = random_like(rng, args), random_like(rng, expected)
    (value, tangent), adjoints = modes(args, along, adjoint)
    is_single = any(x.dtype == np.float32 for x in leaves(args))
    for x, y, t in zip(leaves(value), leaves(expected), leaves(tangent), strict=True):
        assert t.shape == x.shape == y.shape and t.dtype == x.dtype
        # Numbers are Python's, and decompositions that may be complex always are.
        assert t.dtype == y.dtype or t.ndim == 0 or not is_unique and np.iscomplexobj(t)
        if is_unique:
            np.testing.assert_allclose(x, y, rtol=1e-3 if is_single else 1e-9, atol=1e-3 if is_single else 1e-9)
    for a, g in zip(args, adjoints, strict=True):
        assert np.shape(g) == np.shape(a) and np.asarray(g).dtype == np.asarray(a).dtype
    forward, reverse = products(tangent, adjoint), products(along, adjoints)
    off = abs(forward.sum() - reverse.sum())
    assert off <= (1e-4 if is_single else 1e-10) * (1.0 + np.abs(forward).sum()), (forward.sum(), reverse.sum())
    if is_unique and not is_single:
        ends = [leaves(f(*moved(args, along, s * 1e-6))) for s in (1.0, -1.0)]
        for high, low, t in zip(*ends, leaves(tangent), strict=True):
            scale = 1.0 + np.abs(t).max(initial=0.0)
            np.testing.assert_allclose(t, (high - low) / 2e-6, rtol=1e-5, atol=1e-6 * scale)


def cases():
    for group in GROUPS:
        for row in filter(None, map(str.strip, group.rows.splitlines())):
            for kind in group.kinds:
                yield pytest.param(group, row, kind, id=f"{row}-{kind}")


def of_kind(args, kind):
    dtype, number = TYPES[kind]
    rng = np.random.default_rng(7)

    def one(x):
        if not isinstance(x, np.ndarray):
            return number(x)
        if kind == "z" and not np.iscomplexobj(x):
            # Matrices stay well-conditioned.
            return x + 0.1j * rng.normal(size=x.shape)
        return x.astype(dtype)

    return tuple(map(one, args))


@pytest.mark.parametrize(("group", "row", "kind"), list(cases()))
def test_modes_agree(group, row, kind):
    is_unique = not row.startswith("~")
    check(function_of(row.lstrip("~ "), group.names), of_kind(group.args, kind), is_unique)


def test_edges():
    """Values at which rules could go wrong: equal and extreme ones, zeros, nothing at all."""
    halves = grad(lambda x, y: np.logaddexp(x, y), (0, 1))
    assert halves(1.5, 1.5) == (0.5, 0.5)
    np.testing.assert_allclose(hessian(lambda x: np.logaddexp(x[0], x[1]))(np.ones(2)), [[0.25, -0.25], [-0.25, 0.25]])
    ties, along = np.array([1.0, 3.0, 3.0]), np.array([5.0, 1.0, 2.0])
    assert jvp(lambda x: np.max(x), (ties,), (along,)) == (3.0, 1.5)
    assert jvp(lambda x: np.sort(x), (ties,), (along,))[1].tolist() == [5.0, 1.0, 2.0]
    assert jvp(lambda x: np.median(x), (ties,), (along,)) == (3.0, 1.0)
    assert jvp(lambda x: np.linalg.norm(x, 3.0), (np.zeros(3),), (along,)) == (0.0, 0.0)
    # Quotients by differences of equal values count as zero.
    value, tangent = jvp(lambda a: np.linalg.eigh(a), (np.eye(3),), (np.diag(along),))
    assert tangent[0].tolist() == [5.0, 1.0, 2.0] and not tangent[1].any()
    assert jvp(lambda x: np.sort(x), (np.zeros(0),), (np.zeros(0),))[1].shape == (0,)
    assert jvp(lambda a: np.linalg.svd(a), (np.zeros((0, 3)),), (np.zeros((0, 3)),))[1][2].shape == (3, 3)


#: Functions that `where` does not choose at -1 and 0, where they or their slopes are infinite or NaN.
UNCHOSEN = """
    x * np.log(x), np.log(x) ** 2, np.sin(1.0 / x), np.tanh(np.log(x)), np.cos(np.sqrt(x)), np.hypot(np.log(x), x)
    scipy.special.xlogy(x, x), scipy.special.xlog1py(x, x - 0.1), scipy.special.erf(np.log(x)), np.mod(3.0, 1.0 / x)
    np.sqrt(x), np.log(x), np.arccosh(x + 1.0), 1.0 / x, x**-0.5, np.cbrt(x), np.arctanh(1.0 / (x + 1.0))
    scipy.special.gammaln(x), scipy.special.gamma(x), scipy.special.digamma(x), scipy.special.beta(x, x)
    scipy.special.y0(x), scipy.special.y1(x), scipy.special.erfinv(x / 20.0 + 0.99), scipy.special.logit(x)
    scipy.special.erfcinv(x / 20.0), scipy.special.ndtri(x / 20.0), scipy.special.betaln(x, x)
"""


@pytest.mark.parametrize("text", [row.strip() for row in UNCHOSEN.strip().splitlines()])
def test_slopes_do_not_leak(text):
    function = eval(f"lambda x: ({text},)", {"np": np, "scipy": scipy})

    @njit
    def total(x):
        s = 0.0
        for part in function(x):
            s += np.sum(np.where(x > 0.5, part, 0.0))
        return s

    x = np.array([0.0, 0.6, -1.0, 1.7])
    found = grad(total)(x)
    assert found[0] == found[2] == 0.0
    with np.errstate(all="ignore"):
        expected = differences(lambda v: sum(np.sum(part) for part in function(v)), x[x > 0.5])
    np.testing.assert_allclose(found[x > 0.5], expected, rtol=1e-6)
    np.testing.assert_allclose(jvp(total, (x,), (np.where(x > 0.5, 1.0, 0.0),))[1], expected.sum(), rtol=1e-6)


def test_slopes_of_unused_values_do_not_leak():
    """Values that only one branch uses, in loops and by way of memory."""

    def chosen(x):
        out = np.zeros(x.size)
        for i in range(x.size):
            t = x[i] * math.log(abs(x[i])) if x[i] != 0.0 else math.nan * x[i]
            u = t * t + 1.0 / x[i] if x[i] != 0.0 else t * 3.0
            if x[i] > 0.5:
                out[i] = u
        return np.sum(out)

    def by_memory(x):
        t = x * np.log(x)
        return np.sum(np.where(x > 0.5, t, 0.0)) + np.sum(np.where(x > 0.5, t * t, x))

    x = np.array([0.0, 0.6, -1.0, 1.7])
    with np.errstate(all="ignore"):
        for function, others in ((chosen, 0.0), (by_memory, 1.0)):
            found = grad(function)(x)
            np.testing.assert_allclose(found[x > 0.5], differences(function, x)[x > 0.5], rtol=1e-6)
            assert found[0] == found[2] == others


@pytest.mark.parametrize(
    "function",
    [np.sqrt, np.exp, np.log, scipy.special.gammaln, scipy.special.erfinv, math.gamma],
    ids=lambda f: f.__name__,
)
def test_second_derivatives_where_the_first_are_zero(function):
    """An adjoint that is zero is not constant."""
    x = np.array([0.0, 0.7])
    for slopes in (hessian(lambda v: v[0] * function(v[1])), jacrev(grad(lambda v: v[0] * function(v[1])))):
        slope = grad(lambda t: function(t))(0.7)
        np.testing.assert_allclose(slopes(x), [[0.0, slope], [slope, 0.0]], rtol=1e-12)
    slope = grad(lambda t: 1.0 / t)(0.7)
    np.testing.assert_allclose(hessian(lambda v: v[0] / v[1])(x), [[0.0, slope], [slope, 0.0]], rtol=1e-12)


def test_gamma():
    """The function and its logarithm between and at the poles, in both modes, and second derivatives."""
    x = np.array([0.5, 3.0, 20.0, -0.4, -2.7, -7.1])
    gamma, digamma = scipy.special.gamma(x), scipy.special.digamma(x)
    # By the reflection of the trigamma function.
    turned = np.where(x < 0.0, (np.pi / np.sin(np.pi * x)) ** 2, 0.0)
    trigamma = scipy.special.polygamma(1, np.where(x < 0.0, 1.0 - x, x)) * np.where(x < 0.0, -1.0, 1.0) + turned
    slopes = [(math.gamma, gamma * digamma, gamma * (digamma**2 + trigamma)), (math.lgamma, digamma, trigamma)]
    for function, first, second in slopes:
        one = grad(lambda t: function(t))
        np.testing.assert_allclose([one(t) for t in x], first, rtol=1e-11)
        np.testing.assert_allclose([jvp(lambda t: function(t), (t,), (1.0,))[1] for t in x], first, rtol=1e-11)
        np.testing.assert_allclose([grad(one)(t) for t in x], second, rtol=1e-10)
        assert math.isnan(one(-2.0)) and math.isinf(one(0.0)) and one(np.inf) == np.inf and math.isnan(one(np.nan))
        assert type(jvp(lambda t: function(t), (np.float32(2.5),), (np.float32(1),))[1]) is float
    assert grad(lambda t: math.gamma(4) * t)(2.0) == 6.0


#: Functions of complex numbers, and points beside which they are smooth on at least one side of each part.
ENTIRE = "sqrt exp log log10 sinh cosh tanh sin cos tan asinh acosh acos asin atanh atan".split()
ON_AXES = [1.5 + 0j, -1.5 + 0j, 0.5 + 0j, 0.5j, complex(-0.0, 0.7), complex(-1.5, -0.0), 0.3 - 0.2j]


@pytest.mark.parametrize("name", ENTIRE)
def test_complex_functions_on_axes(name):
    """Slopes in all directions, also where a part is zero; on branch cuts those of the side of the value."""
    function = getattr(cmath, name)
    slope = grad(lambda z: function(z).real)
    tangent = njit(lambda z, t: pushed(function, (z,), (t,))[1])
    ufunc = getattr(np, name)
    array = grad(lambda z: np.sum(ufunc(z)).imag)
    for z in ON_AXES:
        # A real part that is zero is moved to the side of its sign, an imaginary one keeps its sign.
        step = math.copysign(1e-7, z.real)
        expected = (function(complex(z.real + step, z.imag)) - function(z)) / step
        assert slope(z) == pytest.approx(expected, rel=1e-5, abs=1e-6)
        assert tangent(z, 2j) == pytest.approx(2j * expected, rel=1e-5, abs=1e-6)
    expected = np.array([-1j * slope(z) for z in ON_AXES])
    np.testing.assert_allclose(array(np.array(ON_AXES)), expected, rtol=1e-12, atol=1e-15)


def test_polar_numbers_on_the_axis():
    by_size, by_angle = grad(lambda r, phi: cmath.rect(r, phi).imag, (0, 1))(2.0, 0.0)
    assert (by_size, by_angle) == (0.0, 2.0)
    assert jvp(lambda r, phi: cmath.rect(r, phi), (-3.0, 0.0), (1.0, 2.0))[1] == 1.0 - 6.0j


def test_exponents_of_complex_powers():
    """Integral exponents, whose powers are products, have derivatives, too."""

    def in_place(z, n):
        y = z.copy()
        y **= n
        return np.sum(y)

    z, n = np.array([2.0 + 1.0j, 1.0j, 0.0j, -1.0 + 0.5j]), np.array([3.0, 2.0, 1.0, -1.0])
    expected = np.where(z == 0.0, 0.0, z**n * np.log(np.where(z == 0.0, 1.0, z)))
    for function in (lambda z, n: np.sum(z**n), lambda z, n: np.sum(np.power(z, n)), in_place):
        found = grad(lambda z, n: function(z, n).real, (0, 1))(z, n.astype(complex))
        np.testing.assert_allclose(found[1], expected, rtol=1e-12)
        np.testing.assert_allclose(found[0], n * np.where(z == 0.0, 1.0, z) ** (n - 1.0), rtol=1e-12)
        real = grad(lambda n: function(z, n).real)(n)
        np.testing.assert_allclose(real, expected.real, rtol=1e-12)
        along = jvp(lambda z, n: function(z, n), (z, n), (np.zeros(4, complex), np.ones(4)))[1]
        np.testing.assert_allclose(along, expected.sum(), rtol=1e-12)
    twice = grad(grad(lambda n: ((2.0 + 1.0j) ** n).real))(3.0)
    assert twice == pytest.approx(((2.0 + 1.0j) ** 3 * cmath.log(2.0 + 1.0j) ** 2).real, rel=1e-12)
    assert grad(lambda z: (z**3).real)(2.0 + 1.0j) == 9.0 + 12.0j


def test_remainders_at_multiples():
    """The slope of a remainder is one also where it is a zero with a sign."""
    for y in (2.0, -2.0):
        assert [grad(lambda x: x % y)(x) for x in (4.0, 0.0, -0.0, -6.0)] == [1.0] * 4
        assert [grad(lambda x: np.fmod(x, y))(x) for x in (4.0, 0.0, -0.0, -6.0)] == [1.0] * 4
    for function in (np.modf, math.modf):
        assert [grad(lambda x: function(x)[0])(x) for x in (-1.0, 0.0, -0.0, 3.0)] == [1.0] * 4
        assert math.copysign(1.0, value_and_grad(lambda x: function(x)[0])(-2.0)[0]) == -1.0
    assert math.copysign(1.0, value_and_grad(lambda x: x % -2.0)(4.0)[0]) == -1.0


def test_conventions_of_jax():
    """Equal numbers share, points of an interpolation have the slope to the right, ends of a domain are infinite."""
    x = np.array([-1.0, 0.0, 0.5, 1.0, 2.0])
    assert grad(lambda x: np.sum(np.clip(x, 0.0, 1.0)))(x).tolist() == [0.0, 0.5, 1.0, 0.5, 0.0]
    assert grad(lambda x, low: np.clip(x, low, 1.0), (0, 1))(0.5, 0.5) == (0.5, 0.5)
    ties = np.array([3.0, np.nan, 3.0])
    assert grad(lambda x: np.nanmax(x))(ties).tolist() == [0.5, 0.0, 0.5]
    assert jvp(lambda x: np.nanmin(x), (ties,), (np.array([1.0, 9.0, 2.0]),)) == (3.0, 1.5)
    slope = grad(lambda x: np.interp(x, np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 4.0])))
    assert [slope(x) for x in (-1.0, 0.0, 0.5, 1.0, 1.5, 2.0)] == [0.0, 1.0, 1.0, 2.0, 2.0, 0.0]
    for function, y in ((scipy.special.xlogy, 3.0), (scipy.special.xlog1py, 2.0)):
        slopes = grad(lambda x, y: function(x, y), (0, 1))
        assert slopes(0.0, y) == (pytest.approx(math.log(3.0)), 0.0)
        assert jvp(lambda x: function(x, y), (0.0,), (2.0,))[1] == pytest.approx(2.0 * math.log(3.0))
    assert [grad(lambda p: scipy.special.logit(p))(p) for p in (0.0, 0.5, 1.0)] == [np.inf, 4.0, np.inf]


def test_elements_that_share_memory():
    """Adjoints of a view in which elements are one are added."""
    w, scale = np.array([0.5, 0.2, 0.3]), np.arange(4.0)
    spread = grad(lambda w: np.sum(np.sum(np.broadcast_to(w.reshape(3, 1), (3, 4)), axis=0) * scale))
    assert spread(w).tolist() == [6.0, 6.0, 6.0]
    windows = grad(lambda w: np.sum(np.sum(np.lib.stride_tricks.sliding_window_view(w, 2), axis=0) * scale[1:3]))
    assert windows(w).tolist() == [1.0, 3.0, 2.0]


#: Rules of functions that no row names: what they are called by.
CALLED_BY = {
    "_convolved": "np.convolve", "_cholesky": "scipy.linalg.cho_factor", "_extreme_of_all": "np.max",
    "_general": "scipy.linalg.eig", "_line_norm": "np.linalg.norm", "_linear_line": "np.quantile",
    "_matrix_product": "a @ b", "_median_line": "np.median", "_stacked": "np.matmul", "_transform": "np.fft.fft",
    "_variance": "np.var", "contracted": "np.einsum", "copy_c": "np.copy", "euclidean": "np.linalg.norm",
    "argsort_line": "np.argsort", "_extreme": "np.nanmax", "squares_of_numbers": "np.nanvar",
    "sum_of_numbers": "np.nansum",
}  # fmt: skip


def test_every_rule_has_a_row():
    rows = "".join(group.rows for group in GROUPS)
    for path in sorted([*RULES.glob("numpy/*.py"), *RULES.glob("scipy/*.py")]):
        for name in re.findall(r"^def (\w+)_(?:forward|tangent)\(", path.read_text(encoding="utf-8"), re.MULTILINE):
            assert re.search(CALLED_BY.get(name, rf"\.{name}\("), rows), f"{path.name}: {name}"


def test_rules_have_both_modes():
    for path in sorted([*RULES.glob("numpy/*.py"), *RULES.glob("scipy/*.py")]):
        text = path.read_text(encoding="utf-8")
        for name in re.findall(r"^def (\w+)_tangent\(", text, re.MULTILINE):
            assert f"def {name}_backward(" in text, f"{path.name}: {name}"
