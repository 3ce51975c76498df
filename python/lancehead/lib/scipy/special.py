"""`scipy.special`: functions of numbers and arrays, element by element.

They are computed in double precision; of `float32` the result is rounded. Bounds of errors are in units of the last
place (ulp) of the result or, where it says "absolute", of the greater of one and the result.
"""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.scipy import bessel, kernels


def _each(f, x):
    if prim.is_number(x):
        return f(x)
    return prim.map(f, asarray(x))


def _both(f, x, y):
    if prim.is_number(x):
        return f(x, y) if prim.is_number(y) else prim.map(f, x, asarray(y))
    return prim.map(f, asarray(x), y if prim.is_number(y) else asarray(y))


def _dtype(x):
    if prim.is_complex(x):
        prim.error("the function is of real numbers here")
    if prim.is_float(x) and not prim.is_weak(x) and prim.itemsize(prim.dtype_of(x)) < 8:
        return np.float32
    if prim.is_bool(x) or (prim.is_int(x) and not prim.is_weak(x) and prim.itemsize(prim.dtype_of(x)) <= 2):
        return np.float32
    return np.float64


def _wide(x):
    return prim.cast(x, np.float64)


def _real(x, y):
    return prim.cast(y, _dtype(x))


def _dtype_of_both(x, y):
    return prim.result_type(_dtype(x), _dtype(y))


def _erf(x):
    return _real(x, prim.erf(_wide(x)))


def erf(x):
    """Error function, within 1 ulp."""
    return _each(_erf, x)


def _erfc(x):
    return _real(x, prim.erfc(_wide(x)))


def erfc(x):
    """Complementary error function, within 1 ulp."""
    return _each(_erfc, x)


def _erfinv(x):
    return _real(x, kernels.erfinv(_wide(x)))


def erfinv(x):
    """Inverse of the error function, within 2 ulp."""
    return _each(_erfinv, x)


def _erfcinv(x):
    return _real(x, kernels.erfcinv(_wide(x)))


def erfcinv(x):
    """Inverse of the complementary error function, within 3 ulp."""
    return _each(_erfcinv, x)


def _gamma(x):
    return _real(x, kernels.gamma(_wide(x)))


def gamma(x):
    """Gamma function, within 5 ulp."""
    return _each(_gamma, x)


def _gammaln(x):
    return _real(x, kernels.gammaln(_wide(x)))


def gammaln(x):
    """Logarithm of the absolute gamma function, within 4 ulp absolute."""
    return _each(_gammaln, x)


def _digamma(x):
    return _real(x, kernels.digamma(_wide(x)))


def digamma(x):
    """Derivative of the logarithm of the gamma function, within 10 ulp absolute."""
    return _each(_digamma, x)


def _ndtr(x):
    return _real(x, kernels.ndtr(_wide(x)))


def ndtr(x):
    """Part of the normal distribution up to a number, within 5 ulp."""
    return _each(_ndtr, x)


def _ndtri(x):
    return _real(x, kernels.ndtri(_wide(x)))


def ndtri(x):
    """Number up to which the normal distribution has a part, within 4 ulp."""
    return _each(_ndtri, x)


def _log_ndtr(x):
    return _real(x, kernels.log_ndtr(_wide(x)))


def log_ndtr(x):
    """Logarithm of the part of the normal distribution up to a number, within 6 ulp."""
    return _each(_log_ndtr, x)


def _expit(x):
    return _real(x, kernels.expit(_wide(x)))


def expit(x):
    """Logistic function, within 3 ulp."""
    return _each(_expit, x)


def _log_expit(x):
    return _real(x, kernels.log_expit(_wide(x)))


def log_expit(x):
    """Logarithm of the logistic function, within 3 ulp."""
    return _each(_log_expit, x)


def _logit(x):
    return _real(x, kernels.logit(_wide(x)))


def logit(x):
    """Inverse of the logistic function, within 3 ulp."""
    return _each(_logit, x)


def _j0(x):
    return _real(x, bessel.j0(_wide(x)))


def j0(x):
    """Bessel function of the first kind, of order zero, within 8 ulp absolute."""
    return _each(_j0, x)


def _j1(x):
    return _real(x, bessel.j1(_wide(x)))


def j1(x):
    """Bessel function of the first kind, of order one, within 6 ulp absolute."""
    return _each(_j1, x)


def _y0(x):
    return _real(x, bessel.y0(_wide(x)))


def y0(x):
    """Bessel function of the second kind, of order zero, within 8 ulp absolute."""
    return _each(_y0, x)


def _y1(x):
    return _real(x, bessel.y1(_wide(x)))


def y1(x):
    """Bessel function of the second kind, of order one, within 6 ulp absolute."""
    return _each(_y1, x)


def _i0(x):
    return _real(x, bessel.i0(_wide(x)))


def i0(x):
    """Modified Bessel function, of order zero, within 6 ulp."""
    return _each(_i0, x)


def _i0e(x):
    return _real(x, bessel.i0e(_wide(x)))


def i0e(x):
    """Modified Bessel function of order zero, divided by `exp(abs(x))`, within 4 ulp."""
    return _each(_i0e, x)


def _i1(x):
    return _real(x, bessel.i1(_wide(x)))


def i1(x):
    """Modified Bessel function, of order one, within 12 ulp."""
    return _each(_i1, x)


def _i1e(x):
    return _real(x, bessel.i1e(_wide(x)))


def i1e(x):
    """Modified Bessel function of order one, divided by `exp(abs(x))`, within 4 ulp."""
    return _each(_i1e, x)


def _beta(x, y):
    return prim.cast(kernels.beta(_wide(x), _wide(y)), _dtype_of_both(x, y))


def beta(x, y):
    """Beta function, within 200 ulp."""
    return _both(_beta, x, y)


def _betaln(x, y):
    return prim.cast(kernels.betaln(_wide(x), _wide(y)), _dtype_of_both(x, y))


def betaln(x, y):
    """Logarithm of the absolute beta function, within 10 ulp absolute."""
    return _both(_betaln, x, y)


def _xlogy(x, y):
    return prim.cast(kernels.xlogy(_wide(x), _wide(y)), _dtype_of_both(x, y))


def xlogy(x, y):
    """`x * log(y)`, which is zero where `x` is, within 3 ulp."""
    return _both(_xlogy, x, y)


def _xlog1py(x, y):
    return prim.cast(kernels.xlog1py(_wide(x), _wide(y)), _dtype_of_both(x, y))


def xlog1py(x, y):
    """`x * log(1 + y)`, which is zero where `x` is, within 3 ulp."""
    return _both(_xlog1py, x, y)


psi = digamma
