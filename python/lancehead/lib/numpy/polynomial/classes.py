"""The classes of `numpy.polynomial`, one for each family."""

import lancehead.lib.numpy.polynomial._classes as shared
from lancehead.lib import prim
from lancehead.lib.copying import copied
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

    @staticmethod
    def _kind():
        return Polynomial


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

    @staticmethod
    def _kind():
        return Chebyshev

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

    @staticmethod
    def _kind():
        return Legendre


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

    @staticmethod
    def _kind():
        return Laguerre


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

    @staticmethod
    def _kind():
        return Hermite


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

    @staticmethod
    def _kind():
        return HermiteE


for _class in (Polynomial, Chebyshev, Legendre, Laguerre, Hermite, HermiteE):
    _own = {"__name__": __name__, "_kind": _class._kind}
    for _name in ("fit", "fromroots", "identity", "basis", "cast"):
        setattr(_class, _name, staticmethod(copied(getattr(Series, _name), f"{_class.__name__}.{_name}", _own)))
del _class
