"""Derivatives of special functions of one or two `float`s: of gammas by the digamma function, of others by formulas
that are shorter than their text."""

from lancehead.lib import prim
from lancehead.lib.derivatives import along, times
from lancehead.lib.scipy.kernels import (
    SLOPE,
    beta,
    betaln,
    digamma,
    erfcinv,
    erfinv,
    expit,
    gamma,
    gammaln,
    logit,
    xlog1py,
    xlogy,
)


def gamma_forward(x):
    """The gamma function, twice, and the argument."""
    found = gamma(x)
    return found, (x, found)


def gamma_backward(saved, adjoint, wanted, shadows):
    """`gamma(x) digamma(x)`."""
    x, found = saved
    return (adjoint * (found * digamma(x)),)


def gammaln_forward(x):
    """The logarithm, and the argument."""
    return gammaln(x), x


def gammaln_backward(saved, adjoint, wanted, shadows):
    """`digamma(x)`."""
    return (adjoint * digamma(saved),)


def logit_forward(p):
    """The inverse of the logistic function, and its slope, which is infinite at zero and one."""
    found = logit(p)
    return found, prim.fdiv(1.0, p * (1.0 - p)) if found == found else found


def logit_backward(saved, adjoint, wanted, shadows):
    """`1 / (p (1 - p))`."""
    return (adjoint * saved,)


def logit_tangent(wanted, tangents, p):
    """`1 / (p (1 - p))`."""
    found, slope = logit_forward(p)
    return found, times(slope, along(wanted & 1, tangents[0]))


def xlogy_forward(x, y):
    """The product, and both slopes, which are zero where both numbers are."""
    of_x = prim.log(y) if x != 0.0 or y != 0.0 else 0.0
    return xlogy(x, y), (of_x, prim.fdiv(x, y) if x != 0.0 or y != 0.0 else 0.0)


def xlogy_backward(saved, adjoint, wanted, shadows):
    """`log(y)` and `x / y`."""
    return adjoint * saved[0], adjoint * saved[1]


def xlogy_tangent(wanted, tangents, x, y):
    """`log(y)` and `x / y`."""
    found, slopes = xlogy_forward(x, y)
    return found, _along_both(slopes, wanted, tangents)


def _along_both(slopes, wanted, tangents):
    return times(slopes[0], along(wanted & 1, tangents[0])) + times(slopes[1], along(wanted & 2, tangents[1]))


def xlog1py_forward(x, y):
    """The product, and both slopes, which are zero where the number and the logarithm's argument are."""
    of_x = prim.log1p(y) if x != 0.0 or y != -1.0 else 0.0
    return xlog1py(x, y), (of_x, prim.fdiv(x, 1.0 + y) if x != 0.0 or y != -1.0 else 0.0)


def xlog1py_backward(saved, adjoint, wanted, shadows):
    """`log(1 + y)` and `x / (1 + y)`."""
    return adjoint * saved[0], adjoint * saved[1]


def xlog1py_tangent(wanted, tangents, x, y):
    """`log(1 + y)` and `x / (1 + y)`."""
    found, slopes = xlog1py_forward(x, y)
    return found, _along_both(slopes, wanted, tangents)


def digamma_forward(x):
    """The digamma function, and the argument."""
    return digamma(x), x


def digamma_backward(saved, adjoint, wanted, shadows):
    """The trigamma function."""
    return (adjoint * trigamma(saved),)


#: Coefficients of the asymptotic series of the trigamma function: Bernoulli's numbers `B[2k]`.
BERNOULLI = (
    0.16666666666666666, -0.03333333333333333, 0.023809523809523808, -0.03333333333333333, 0.07575757575757576,
    -0.2531135531135531, 1.1666666666666667,
)  # fmt: skip


def trigamma(x):
    """Derivative of the digamma function: by recurrence and the asymptotic series, below zero by reflection."""
    if x <= 0.0:
        if prim.floor(x) == x:
            return prim.fdiv(1.0, prim.fabs(x - x))
        s = prim.sin(3.141592653589793 * (x - prim.floor(x)))
        return 9.869604401089358 / (s * s) - _trigamma(1.0 - x)
    return _trigamma(x)


def _trigamma(x):
    total = 0.0
    while x < 12.0:
        total += 1.0 / (x * x)
        x += 1.0
    z, series = 1.0 / (x * x), 0.0
    for c in BERNOULLI[::-1]:
        series = series * z + c
    return total + (1.0 + 0.5 / x + z * series) / x


def beta_forward(a, b):
    """The beta function, twice, and the arguments."""
    found = beta(a, b)
    return found, (a, b, found)


def beta_backward(saved, adjoint, wanted, shadows):
    """The function times differences of digamma functions."""
    a, b, found = saved
    both = digamma(a + b)
    return adjoint * found * (digamma(a) - both), adjoint * found * (digamma(b) - both)


def betaln_forward(a, b):
    """The logarithm, and the arguments."""
    return betaln(a, b), (a, b)


def betaln_backward(saved, adjoint, wanted, shadows):
    """Differences of digamma functions."""
    a, b = saved
    both = digamma(a + b)
    return adjoint * (digamma(a) - both), adjoint * (digamma(b) - both)


def erfinv_forward(y):
    """The inverse, twice."""
    x = erfinv(y)
    return x, x


def erfinv_backward(saved, adjoint, wanted, shadows):
    """The inverse of the error function's slope."""
    return (adjoint * (prim.exp(saved * saved) / SLOPE),)


def erfcinv_forward(q):
    """The inverse, twice."""
    x = erfcinv(q)
    return x, x


def erfcinv_backward(saved, adjoint, wanted, shadows):
    """The inverse of the complementary error function's slope."""
    return (-adjoint * (prim.exp(saved * saved) / SLOPE),)


def expit_forward(x):
    """The logistic function, twice."""
    y = expit(x)
    return y, y


def expit_backward(saved, adjoint, wanted, shadows):
    """`y (1 - y)`."""
    return (adjoint * (saved * (1.0 - saved)),)


def gamma_tangent(wanted, tangents, x):
    """`gamma(x) digamma(x)`."""
    found = gamma(x)
    return found, times(found * digamma(x), tangents[0])


def gammaln_tangent(wanted, tangents, x):
    """`digamma(x)`."""
    return gammaln(x), times(digamma(x), tangents[0])


def digamma_tangent(wanted, tangents, x):
    """The trigamma function."""
    return digamma(x), times(trigamma(x), tangents[0])


def beta_tangent(wanted, tangents, a, b):
    """The function times differences of digamma functions."""
    found = beta(a, b)
    of_a, of_b = betaln_backward((a, b), found, wanted, None)
    return found, times(of_a, along(wanted & 1, tangents[0])) + times(of_b, along(wanted & 2, tangents[1]))


def betaln_tangent(wanted, tangents, a, b):
    """Differences of digamma functions."""
    of_a, of_b = betaln_backward((a, b), 1.0, wanted, None)
    return betaln(a, b), times(of_a, along(wanted & 1, tangents[0])) + times(of_b, along(wanted & 2, tangents[1]))


def erfinv_tangent(wanted, tangents, y):
    """The inverse of the error function's slope."""
    x = erfinv(y)
    return x, times(erfinv_backward(x, 1.0, wanted, None)[0], tangents[0])


def erfcinv_tangent(wanted, tangents, q):
    """The inverse of the complementary error function's slope."""
    x = erfcinv(q)
    return x, times(erfcinv_backward(x, 1.0, wanted, None)[0], tangents[0])


def expit_tangent(wanted, tangents, x):
    """`y (1 - y)`."""
    y = expit(x)
    return y, tangents[0] * (y * (1.0 - y))
