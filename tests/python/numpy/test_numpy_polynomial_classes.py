"""The classes of `numpy.polynomial` against NumPy: one compiled function for each does all that they do."""

import numpy as np
import pytest
from numpy.polynomial import Chebyshev, Hermite, HermiteE, Laguerre, Legendre, Polynomial

from lancehead import TypingError, njit
from lib_cases import same

KINDS = [Polynomial, Chebyshev, Legendre, Laguerre, Hermite, HermiteE]
SERIES = [[1.0, 2.0, 3.0, 0.5], [2.0], [0.0, -1.0, 0.0, 0.0, 4.0], [1.0, 2.0, 1e-9, 0.0]]
POINTS = np.linspace(-1, 1, 6).reshape(2, 3)


def arithmetic(kind):
    def f(c, d, x):
        p, q = kind(c, [0, 4], [-2, 3]), kind(d, [0, 4], (-2, 3))
        quotient, rest = divmod(p, q)
        sums = p + q, p - q, 1 - p, 2 * p + 1 - [1, 2], c + p, -p, +p, p * q, quotient, rest, p // q, p % q, p / 2, p**3
        others = d // p, d % p, p.copy(), p.trim(1e-6), p.truncate(2), p.cutdeg(0), p(q)
        asked = p == q, p != q, p == kind(c), p == 1, len(p), p.degree(), p.has_samecoef(q), p.has_samewindow(kind(c))
        values = p(x), p(2), p(0.5), p([1, 2]), p.mapparms(), p.linspace(4), p.linspace(3, [0, 1]), [t for t in p]
        return [s.coef for s in sums], [s.coef for s in others], asked, values, p.has_sametype(q), p.symbol

    return f


def calculus(kind):
    def f(c, x):
        p = kind(c, [0, 4], [-2, 3], symbol="t")
        made = p.deriv(), p.deriv(2), p.integ(), p.integ(2, [1, 2], 1.5), p.integ(k=3), p.convert(domain=[1, 2])
        kinds = p.convert(kind=Polynomial).coef, p.convert([0, 2], Chebyshev).coef, kind.cast(Chebyshev(c)).coef
        zeros = kind.fromroots(c), kind.fromroots(c, None), kind.fromroots(c, [0, 4], [-2, 3], "z")
        plain = kind.identity(), kind.identity([0, 3]), kind.basis(3), kind.basis(2, [0, 3], window=[0, 1])
        y = np.exp(x)
        fits = kind.fit(x, y, 3), kind.fit(x, y, [0, 2]), kind.fit(x, y, 2, [-2, 2], w=y, window=[0, 1])
        series, status = kind.fit(x, y, 2, full=True)
        return (
            [(s.coef, s.domain, s.window, s.symbol) for s in made],
            kinds,
            [(s.coef, s.domain, s.symbol) for s in zeros],
            [s.coef for s in plain],
            [(s.coef, s.domain, s.window) for s in fits],
            (series.coef, status[0], status[2]),
        )

    return f


@pytest.mark.parametrize("kind", [Polynomial, Legendre, Hermite, HermiteE])
def test_arithmetic(kind):
    f = arithmetic(kind)
    compiled = njit(f)
    for c in SERIES:
        # Of equal series the rest is zero, or rounding errors.
        for d in [d for d in SERIES if d != c]:
            args = np.array(c), np.array(d), POINTS
            assert same(compiled(*args), f(*args), 1e-9), (c, d)


@pytest.mark.parametrize("kind", [Polynomial, Chebyshev, Laguerre])
def test_calculus_fits_and_conversions(kind):
    f = calculus(kind)
    compiled = njit(f)
    for c in [c for c in SERIES if len(c) > 1]:
        args = np.array(c), POINTS.ravel()
        assert same(compiled(*args), f(*args), 1e-8), c


@pytest.mark.parametrize("kind", [Legendre, Hermite, HermiteE])
def test_the_rules_of_families(kind):
    def f(c, x):
        p = kind(c, [0, 4])
        made = p.deriv(), p.integ(2), p * p, p.convert(), kind.fit(x, c, 2), kind.identity([0, 2]), kind.fromroots(c)
        return p(x), [s.coef for s in made]

    compiled = njit(f)
    for c in SERIES[::2]:
        args = np.array(c), np.arange(len(c)) / 2
        assert same(compiled(*args), f(*args), 1e-9)


def test_complex_and_other_coefficients():
    def f(z, c, x):
        p = Legendre(z)
        return (p * Legendre(c)).coef, p(x), p.deriv().coef, p.convert(kind=Polynomial).coef, (p + 1j).coef, p.roots()

    compiled = njit(f)
    for z in ([1 + 2j, 3, 1j], [0, 1j]):
        args = np.array(z, complex), np.array([1, 2, 3]), POINTS * 1j
        assert same(compiled(*args), f(*args), 1e-9)
    assert njit(lambda c: Hermite(c).coef)(np.ones(3, np.float32)).dtype == np.float32


def test_roots_of_real_zeros():
    for kind in KINDS:
        compiled = njit(lambda c, kind=kind: kind(c, [0, 4], [-2, 3]).roots())
        for c in ([-1.0, 0.5, 1.0], [1.0, 2.0], [3.0]):
            got, want = compiled(np.array(c)), compiled.py_func(np.array(c))
            np.testing.assert_allclose(np.sort(got), np.sort(want), atol=1e-12)


def test_interpolation():
    f = njit(lambda n: (Chebyshev.interpolate(np.sin, 5, [0, 2]).coef, Chebyshev.interpolate(lambda t: t * n, 2).coef))
    for got, want in zip(f(3.0), f.py_func(3.0), strict=True):
        np.testing.assert_allclose(got, want, atol=1e-13)


def test_errors():
    c = np.array([1.0, 2.0])
    domain, window = (
        njit(lambda c: Legendre(c) + Legendre(c, [0, 1])),
        njit(lambda c: Legendre(c) - Legendre(c, window=[0, 1])),
    )
    size, degree = njit(lambda c: Laguerre(c).truncate(0)), njit(lambda c: Hermite.basis(-1))
    symbols, wrong = njit(lambda c: Laguerre(c) * Laguerre(c, symbol="t")), njit(lambda c: Laguerre(c, symbol="1 2"))
    for f in (domain, window, size, degree, symbols, wrong, njit(lambda c: Hermite(c, [1, 2, 3]))):
        compiled = njit(lambda c, f=f: f(c).coef)
        with pytest.raises((TypeError, ValueError)) as want:
            f.py_func(c)
        with pytest.raises(want.type):
            compiled(c)
    with pytest.raises(TypingError, match="types differ"):
        njit(lambda c: (Polynomial(c) + Chebyshev(c)).coef)(c)
    with pytest.raises(TypingError, match="divided by a number"):
        njit(lambda c: (Polynomial(c) / Polynomial(c)).coef)(c)
    with pytest.raises(TypingError, match="of real numbers"):
        njit(lambda c: Polynomial(c, [1j, 2]).coef)(c)


def made(c, p):
    return p, Legendre(c, [0, 4], symbol="t"), (p * 2 + c, (p, 3))


def test_series_come_from_python_and_go_there():
    compiled = njit(made)
    for kind in KINDS:
        for c in ([1.0, 2.0, 3.0], [1j, 2.0]):
            p = kind(c, [0, 3], [-2, 2], "z")
            got, want = compiled(np.array(c), p), made(np.array(c), p)
            assert got == want and type(got[0]) is kind and type(got[1]) is Legendre
            assert got[0].symbol == "z" and got[2][0].coef.dtype == want[2][0].coef.dtype
            assert got[0].coef.flags.writeable and got[0].domain.dtype == want[0].domain.dtype
    p = Chebyshev([1.0, 2.0])
    compiled(np.ones(2), p)[0].coef[0] = 7
    assert p.coef[0] == 1 and p == Chebyshev([1.0, 2.0])
    f = njit(lambda p, x: (p(x), p.deriv(), len(p), p.roots()))
    for p in (Polynomial([1.0, -3.0, 2.0]), Polynomial(np.array([1, -3, 2], np.float32)), Hermite([1, 2, 3], [0, 1])):
        for got, want in zip(f(p, POINTS), f.py_func(p, POINTS), strict=True):
            assert got == want if isinstance(want, (int, type(p))) else np.allclose(got, want)
    assert {type(x) for x in njit(lambda c: [Polynomial(c), Polynomial(c[1:])])(np.ones(3))} == {Polynomial}
    assert njit(lambda ps: sum([p(2.0) for p in ps]))([Polynomial([1.0, 2.0]), Polynomial([3.0])]) == 8.0

    class Own(Polynomial):
        """A class of its own, whose methods may be others."""

    odd = Polynomial([1.0, 2.0])
    odd.coef = [1.0, 2.0]
    for p in (Own([1.0, 2.0]), odd):
        with pytest.raises(TypeError):
            f(p, POINTS)
