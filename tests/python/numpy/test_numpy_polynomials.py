"""Polynomials, of `numpy` and of the six families, against NumPy."""

from __future__ import annotations

import linecache

import numpy as np
import numpy.polynomial as families
import pytest

import lancehead
from lib_cases import outcome, same

rng = np.random.default_rng(5)
POINTS, GRID = rng.standard_normal(600), rng.standard_normal((2, 3))
OF_SERIES = """
M.Padd(c, d), M.Psub(c, d), M.Psub(c, c), M.Pmulx(c), M.Pmulx(c * 0), M.Ppow(c, 3), M.Ppow(c, 0), M.Pline(1, 2)
M.Pmul(c, d), M.Pmul(d, c), M.Pdiv(c, d), M.Pdiv(d, c), M.Pdiv(c, d[:1]), M.Pline(c[0], c[1]), M.Pline(c[0], 0)
M.Pfromroots(d), M.Pcompanion(c), M.Pcompanion(c[-2:]), M.Ptrim(c, 1)
M.Pval(x, c), M.Pval(x[0], c), M.Pval(3, c), M.Pval(x, c[:1]), M.Pval(x, c[:2]), M.Pval([1, 2], c)
M.Pvander(x, 3), M.Pvander(x[0], 3), M.Pvander(x, 0)
M.Pder(c), M.Pder(c, 2), M.Pder(c, 0), M.Pder(c, 3, 0.5), M.Pder(c, 9)
M.Pint(c), M.Pint(c, 2, [1.0, 2.0]), M.Pint(c, 2, 1), M.Pint(c, 1, (), 0.5), M.Pint(c, 3, (1.5,), -1, 2), M.Pint(c * 0)
M.Pval(g, e), M.Pval(g[0], e, False), M.Pval(2.0, e), M.Pval(e[0], e.T.copy()), M.Pvander(g, 2)
M.Pgrid2d(g[0], g[1], e), M.Pval2d(g, g * 2, e), M.Pvander2d(g, g * 2, [1, 2]), M.Pvander3d(g, g, g, (1, 2, 1))
M.Pval3d(g, g, g, h), M.Pgrid3d(x[:2], x[:3], x[:2], h)
M.Pder(e, 1, 1, 1), M.Pder(e), M.Pint(e, 1, axis=1), M.Pint(e, 2), M.Pint(e.T, 1, 3, axis=0)
""".replace("\nM", "\n    M").split("\n    ")[1:]
OWN = {
    "polynomial": ("poly", "M.polyvalfromroots(g, c), M.polyvalfromroots(2.0, e)"),
    "chebyshev": (
        "cheb",
        "M.chebgauss(5), M.chebweight(g / 9), M.chebpts1(4), M.chebpts2(4), M.cheb2poly(c), M.poly2cheb(c)",
    ),
    "legendre": ("leg", "M.leggauss(1), M.leggauss(20), M.legweight(g), M.leg2poly(c), M.poly2leg(c)"),
    "hermite": ("herm", "M.hermgauss(1), M.hermgauss(20), M.hermweight(g), M.herm2poly(c), M.poly2herm(c)"),
    "hermite_e": ("herme", "M.hermegauss(2), M.hermegauss(21), M.hermeweight(g), M.herme2poly(c), M.poly2herme(c)"),
    "laguerre": ("lag", "M.laggauss(1), M.laggauss(20), M.lagweight(g), M.lag2poly(c), M.poly2lag(c)"),
}
#: The families whose series are tried with other coefficients than doubles.
TYPES = {"polynomial": "c16", "chebyshev": "i8", "laguerre": "i8"}


def function(text, parameters, **names):
    file, source = f"<{text}>", f"def f({parameters}): return {text.strip()}"
    linecache.cache[file] = (len(source), None, [source], file)
    names = {"np": np, **names}
    exec(compile(source, file, "exec"), names)
    return names["f"]


def agree(f, *args, rtol=1e-10):
    want, got = outcome(f, *args), outcome(lancehead.njit(f), *args)
    for w, g in zip(want, got) if isinstance(want, tuple) and isinstance(got, tuple) else [(want, got)]:
        if isinstance(w, np.generic) and not isinstance(g, np.ndarray):
            g = np.asarray(g).astype(w.dtype)[()]
        assert same(w, g, rtol), (w, g)


def coefficients(dtype):
    for shape in (5, 3, (4, 3), (2, 3, 4)):
        c = rng.standard_normal(shape) * 4
        c = (c + 1j * rng.standard_normal(shape) if dtype[0] == "c" else c).astype(dtype)
        c[-1] = 3
        yield c


@pytest.mark.parametrize("name", OWN)
def test_series(name):
    prefix, _ = OWN[name]
    # Families share their code: of three every other line is enough.
    for i, text in enumerate(OF_SERIES if name in TYPES else OF_SERIES[::2]):
        dtype = TYPES.get(name, "f8") if i % 2 else "f8"
        f = function(text.replace("M.P", "M." + prefix), "c, d, e, h, x, g", M=getattr(families, name))
        agree(f, *coefficients(dtype), POINTS, GRID)


@pytest.mark.parametrize("name", OWN)
def test_what_families_have_of_their_own(name):
    f = function(OWN[name][1], "c, e, g", M=getattr(families, name))
    c, _, e, _ = coefficients("f8")
    agree(f, c, e, GRID)


@pytest.mark.parametrize("name, n", [("legendre", 300), ("hermite", 150), ("laguerre", 150)])
def test_quadrature_of_many_points(name, n):
    gauss = getattr(getattr(families, name), OWN[name][0] + "gauss")
    x, w = lancehead.njit(function("M(n)", "n", M=gauss))(n)
    points, weights = gauss(n)
    np.testing.assert_allclose(x, points, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(w, weights, rtol=1e-8, atol=1e-15)


def test_interpolation():
    @lancehead.njit
    def f(n):
        return families.chebyshev.chebinterpolate(lambda x: np.tanh(x) + 0.5, n)

    want = families.chebyshev.chebinterpolate(lambda x: np.tanh(x) + 0.5, 8)
    np.testing.assert_allclose(f(8), want, atol=1e-14)


BAD = "M.legpow(c, -1) M.legder(c, -1) M.legint(c, 0, 1) M.legadd(c[:0], c) M.legdiv(c, c * 0) M.legvander(c, -1)"
BAD += " M.legval2d(c, c[1:], np.ones((2, 2))) M.leggauss(0) M.legpow(c, 17) M.legcompanion(c[:1]) M.legder(c, axis=1)"


@pytest.mark.parametrize("text", BAD.replace(" M.", ";M.").split(";"))
def test_errors_are_numpys(text):
    f = function(text, "c", M=families.legendre)
    c = np.array([1.0, 2.0, 3.0])
    with pytest.raises((ValueError, ZeroDivisionError)) as wanted:
        f(c)
    with pytest.raises(type(wanted.value)) as got:
        lancehead.njit(f)(c)
    assert str(got.value) == str(wanted.value)


OF_POWERS = """
np.polyadd(a, b), np.polyadd(b, a), np.polyadd(a, 3), np.polyadd([1, 2], a), np.polymul(a, b), np.polymul(a * 0, b)
np.polyder(a), np.polyder(a, 2), np.polyder(a, 9), np.polyint(a), np.polyint(a, 2, [1, 2]), np.polyint(a, 2, 3.0)
np.polydiv(a, b), np.polydiv(b, a), np.polyval(a, b), np.polyval(a, 2), np.polyval(a, b.reshape(1, 3))
np.polysub(a, b), np.polysub(b, a), np.poly(a)
""".split("\n")[1:-1]


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "i8", "u1"])
def test_of_powers(dtype):
    a, b = (rng.standard_normal(6) * 4).astype(dtype), (rng.standard_normal(3) * 4).astype(dtype)
    a[0] = b[0] = 2
    for text in OF_POWERS:
        if dtype == "c16" and "poly(" in text:
            text = "np.polysub(a, b), np.polysub(b, a), np.poly(a * 1j)"
        agree(function(text, "a, b"), a[::-1].copy()[::-1], b, rtol=1e-4 if dtype == "f4" else 1e-10)


def test_errors_of_powers_are_numpys():
    a = np.array([1.0, 2.0, 3.0])
    for text in ("np.polyder(a, -1)", "np.polyint(a, -1)", "np.polyint(a, 3, [1, 2])"):
        f = function(text, "a")
        with pytest.raises(ValueError) as wanted:
            f(a)
        with pytest.raises(ValueError) as got:
            lancehead.njit(f)(a)
        assert str(got.value) == str(wanted.value)


SERIES = """a|g|[2,[1.1,0.]]|[[1,2,0],[0,0]]|([[1,2,0],[3,0]],False)|[[1j],[2]]|(a.astype('f4'),a)|((a,g[0],3),False)|
[a.astype('f4'),g[0].astype('f4')]"""


@pytest.mark.parametrize("text", SERIES.replace("|\n", "|").split("|"))
def test_series_are_brought_together(text):
    arguments = text[1:-1] if text.endswith("False)") else text
    f = function(f"np.polynomial.polyutils.as_series({arguments})", "a, g")
    line = np.array([0.0, 2.0, 0.0])
    assert repr(lancehead.njit(f)(line, GRID)) == repr(f(line, GRID))
