"""The classes of `numpy.polynomial`, one for each family."""

import lancehead.lib.numpy.polynomial._classes as shared
from lancehead.lib import prim
from lancehead.lib.numpy.polynomial._classes import Series
from lancehead.lib.numpy.polynomial.chebyshev import _family as _chebyshev
from lancehead.lib.numpy.polynomial.chebyshev import chebinterpolate
from lancehead.lib.numpy.polynomial.hermite import _family as _hermite
from lancehead.lib.numpy.polynomial.hermite_e import _family as _hermite_e
from lancehead.lib.numpy.polynomial.laguerre import _family as _laguerre
from lancehead.lib.numpy.polynomial.legendre import _family as _legendre
from lancehead.lib.numpy.polynomial.polynomial import _family as _polynomial
from lancehead.lib.numpy.polynomial.polyutils import mapdomain

_FIELDS = {
    "coef": "array(T, 1, C)",
    "domain": "array(float64, 1, C)",
    "window": "array(float64, 1, C)",
    "symbol": "str",
}


class Polynomial(Series):
    """A series of powers."""

    __parameters__ = ("T",)
    __fields__ = _FIELDS
    __by_value__ = True
    _family = staticmethod(_polynomial)

    def __new__(coef, domain=None, window=None, symbol="x"):
        """A series with coefficients from the lowest to the highest.

        >>> float(np.polynomial.Polynomial([1.0, 2.0, 3.0])(2.0))
        17.0
        """
        c, d, w = shared.parts(coef, domain, window, -1.0, symbol)
        return prim.value("numpy.polynomial.Polynomial", (c, d, w, symbol), prim.dtype_of(c))

    def _kind(self):
        return Polynomial

    @staticmethod
    def fit(x, y, deg, domain=None, rcond=None, full=False, w=None, window=None, symbol="x"):
        """The series that comes nearest to values at points."""
        return shared.fit_of(Polynomial, x, y, deg, domain, rcond, full, w, window, symbol)

    @staticmethod
    def fromroots(roots, domain=(), window=None, symbol="x"):
        """The series with these zeros."""
        return shared.from_roots_of(Polynomial, roots, domain, window, symbol)

    @staticmethod
    def identity(domain=None, window=None, symbol="x"):
        """The series whose value is where it is asked."""
        return shared.identity_of(Polynomial, domain, window, symbol)

    @staticmethod
    def basis(deg, domain=None, window=None, symbol="x"):
        """A single polynomial of the family."""
        return shared.basis_of(Polynomial, deg, domain, window, symbol)

    @staticmethod
    def cast(series, domain=None, window=None):
        """A series of any kind as one of this."""
        return series.convert(domain, Polynomial, window)


class Chebyshev(Series):
    """A series of Chebyshev's polynomials of the first kind."""

    __parameters__ = ("T",)
    __fields__ = _FIELDS
    __by_value__ = True
    _family = staticmethod(_chebyshev)

    def __new__(coef, domain=None, window=None, symbol="x"):
        """A series with coefficients from the lowest to the highest.

        >>> float(np.polynomial.Chebyshev([1.0, 2.0, 3.0])(2.0))
        26.0
        """
        c, d, w = shared.parts(coef, domain, window, -1.0, symbol)
        return prim.value("numpy.polynomial.Chebyshev", (c, d, w, symbol), prim.dtype_of(c))

    def _kind(self):
        return Chebyshev

    @staticmethod
    def fit(x, y, deg, domain=None, rcond=None, full=False, w=None, window=None, symbol="x"):
        return shared.fit_of(Chebyshev, x, y, deg, domain, rcond, full, w, window, symbol)

    @staticmethod
    def fromroots(roots, domain=(), window=None, symbol="x"):
        return shared.from_roots_of(Chebyshev, roots, domain, window, symbol)

    @staticmethod
    def identity(domain=None, window=None, symbol="x"):
        return shared.identity_of(Chebyshev, domain, window, symbol)

    @staticmethod
    def basis(deg, domain=None, window=None, symbol="x"):
        return shared.basis_of(Chebyshev, deg, domain, window, symbol)

    @staticmethod
    def cast(series, domain=None, window=None):
        return series.convert(domain, Chebyshev, window)

    @staticmethod
    def interpolate(func, deg, domain=None, args=()):
        """The series that has the values of a function at the points of Chebyshev."""
        ends, onto = shared.interval(domain, -1.0, "Domain"), shared.interval(None, -1.0, "Window")
        return Chebyshev(
            chebinterpolate(lambda x: func(mapdomain(x, onto, ends), *args), deg), ends, onto
        )  # fmt: skip


class Legendre(Series):
    """A series of Legendre's polynomials."""

    __parameters__ = ("T",)
    __fields__ = _FIELDS
    __by_value__ = True
    _family = staticmethod(_legendre)

    def __new__(coef, domain=None, window=None, symbol="x"):
        """A series with coefficients from the lowest to the highest."""
        c, d, w = shared.parts(coef, domain, window, -1.0, symbol)
        return prim.value("numpy.polynomial.Legendre", (c, d, w, symbol), prim.dtype_of(c))

    def _kind(self):
        return Legendre

    @staticmethod
    def fit(x, y, deg, domain=None, rcond=None, full=False, w=None, window=None, symbol="x"):
        return shared.fit_of(Legendre, x, y, deg, domain, rcond, full, w, window, symbol)

    @staticmethod
    def fromroots(roots, domain=(), window=None, symbol="x"):
        return shared.from_roots_of(Legendre, roots, domain, window, symbol)

    @staticmethod
    def identity(domain=None, window=None, symbol="x"):
        return shared.identity_of(Legendre, domain, window, symbol)

    @staticmethod
    def basis(deg, domain=None, window=None, symbol="x"):
        return shared.basis_of(Legendre, deg, domain, window, symbol)

    @staticmethod
    def cast(series, domain=None, window=None):
        return series.convert(domain, Legendre, window)


class Laguerre(Series):
    """A series of Laguerre's polynomials."""

    __parameters__ = ("T",)
    __fields__ = _FIELDS
    __by_value__ = True
    _family = staticmethod(_laguerre)

    def __new__(coef, domain=None, window=None, symbol="x"):
        """A series with coefficients from the lowest to the highest."""
        c, d, w = shared.parts(coef, domain, window, 0.0, symbol)
        return prim.value("numpy.polynomial.Laguerre", (c, d, w, symbol), prim.dtype_of(c))

    def _kind(self):
        return Laguerre

    @staticmethod
    def fit(x, y, deg, domain=None, rcond=None, full=False, w=None, window=None, symbol="x"):
        return shared.fit_of(Laguerre, x, y, deg, domain, rcond, full, w, window, symbol)

    @staticmethod
    def fromroots(roots, domain=(), window=None, symbol="x"):
        return shared.from_roots_of(Laguerre, roots, domain, window, symbol)

    @staticmethod
    def identity(domain=None, window=None, symbol="x"):
        return shared.identity_of(Laguerre, domain, window, symbol)

    @staticmethod
    def basis(deg, domain=None, window=None, symbol="x"):
        return shared.basis_of(Laguerre, deg, domain, window, symbol)

    @staticmethod
    def cast(series, domain=None, window=None):
        return series.convert(domain, Laguerre, window)


class Hermite(Series):
    """A series of Hermite's polynomials, as physics has them."""

    __parameters__ = ("T",)
    __fields__ = _FIELDS
    __by_value__ = True
    _family = staticmethod(_hermite)

    def __new__(coef, domain=None, window=None, symbol="x"):
        """A series with coefficients from the lowest to the highest."""
        c, d, w = shared.parts(coef, domain, window, -1.0, symbol)
        return prim.value("numpy.polynomial.Hermite", (c, d, w, symbol), prim.dtype_of(c))

    def _kind(self):
        return Hermite

    @staticmethod
    def fit(x, y, deg, domain=None, rcond=None, full=False, w=None, window=None, symbol="x"):
        return shared.fit_of(Hermite, x, y, deg, domain, rcond, full, w, window, symbol)

    @staticmethod
    def fromroots(roots, domain=(), window=None, symbol="x"):
        return shared.from_roots_of(Hermite, roots, domain, window, symbol)

    @staticmethod
    def identity(domain=None, window=None, symbol="x"):
        return shared.identity_of(Hermite, domain, window, symbol)

    @staticmethod
    def basis(deg, domain=None, window=None, symbol="x"):
        return shared.basis_of(Hermite, deg, domain, window, symbol)

    @staticmethod
    def cast(series, domain=None, window=None):
        return series.convert(domain, Hermite, window)


class HermiteE(Series):
    """A series of Hermite's polynomials, as probability has them."""

    __parameters__ = ("T",)
    __fields__ = _FIELDS
    __by_value__ = True
    _family = staticmethod(_hermite_e)

    def __new__(coef, domain=None, window=None, symbol="x"):
        """A series with coefficients from the lowest to the highest."""
        c, d, w = shared.parts(coef, domain, window, -1.0, symbol)
        return prim.value("numpy.polynomial.HermiteE", (c, d, w, symbol), prim.dtype_of(c))

    def _kind(self):
        return HermiteE

    @staticmethod
    def fit(x, y, deg, domain=None, rcond=None, full=False, w=None, window=None, symbol="x"):
        return shared.fit_of(HermiteE, x, y, deg, domain, rcond, full, w, window, symbol)

    @staticmethod
    def fromroots(roots, domain=(), window=None, symbol="x"):
        return shared.from_roots_of(HermiteE, roots, domain, window, symbol)

    @staticmethod
    def identity(domain=None, window=None, symbol="x"):
        return shared.identity_of(HermiteE, domain, window, symbol)

    @staticmethod
    def basis(deg, domain=None, window=None, symbol="x"):
        return shared.basis_of(HermiteE, deg, domain, window, symbol)

    @staticmethod
    def cast(series, domain=None, window=None):
        return series.convert(domain, HermiteE, window)
