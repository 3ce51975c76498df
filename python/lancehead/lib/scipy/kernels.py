"""Special functions of one or two `float`s: of errors and gammas, and what is made of them."""

import numpy as np

from lancehead.lib import prim

#: `sqrt(2)` and its inverse, `2 / sqrt(pi)`, `log(2 * pi) / 2`.
ROOT_2 = 1.4142135623730951
ROOT_HALF = 0.7071067811865476
ROOT_HALF_LOW = -4.833646656726457e-17
SLOPE = 1.1283791670955126
LOG_ROOT_2PI = 0.9189385332046728
#: Coefficients of Stirling's series, `B[2k] / (2k (2k - 1))`, and of that of the digamma function, `B[2k] / 2k`.
STIRLING = (
    0.08333333333333333, -0.002777777777777778, 0.0007936507936507937, -0.0005952380952380953, 0.0008417508417508417,
    -0.0019175269175269176, 0.00641025641025641,
)  # fmt: skip
DIGAMMA = (
    0.08333333333333333, -0.008333333333333333, 0.003968253968253968, -0.004166666666666667, 0.007575757575757576,
    -0.021092796092796094, 0.08333333333333333,
)  # fmt: skip
#: The zero of the digamma function, in two parts.
ZERO_HIGH = 1.4616321449683622
ZERO_LOW = 9.549995429965697e-17


def erfcinv(q):
    """The number beyond which the complementary error function is below `q`."""
    if not (q > 0.0 and q < 2.0):
        return np.inf if q == 0.0 else (-np.inf if q == 2.0 else np.nan)
    if q >= 0.5 and q <= 1.5:
        # The difference is exact.
        return _erfinv_near_zero(1.0 - q)
    tail = q if q <= 1.0 else 2.0 - q
    t = prim.sqrt(-2.0 * prim.log(tail / 2.0))
    x = -ROOT_HALF * ((2.30753 + t * 0.27061) / (1.0 + t * (0.99229 + t * 0.04481)) - t)
    for _ in range(3):
        # Halley's step.
        error = prim.erfc(x) - tail
        slope = SLOPE * prim.exp(-x * x)
        x += error / (slope - x * error) if slope > 0.0 else 0.0
    return x if q <= 1.0 else -x


def erfinv(y):
    """The number whose error function is `y`."""
    a = prim.fabs(y)
    if not a < 1.0:
        return prim.copysign(np.inf, y) if a == 1.0 else np.nan
    if a > 0.5:
        return prim.copysign(erfcinv(1.0 - a), y)
    return _erfinv_near_zero(y)


def _erfinv_near_zero(y):
    x = y / SLOPE * (1.0 + 0.2617993877991494 * y * y * (1.0 + 0.55 * y * y))
    for _ in range(3):
        error = prim.erf(x) - y
        x -= error / (SLOPE * prim.exp(-x * x) + x * error)
    return x


def _half(a):
    # The leading bits of a number: products of such are exact.
    c = 134217729.0 * a
    return c - (c - a)


def _erfc_of_part(x):
    # Of `x / sqrt(2)`, with what rounding has taken from the quotient: the tail would magnify it.
    t = x * ROOT_HALF
    value = prim.erfc(t)
    if not (t > 1.0 and t < 30.0):
        return value
    a, b = _half(x), _half(ROOT_HALF)
    lost = ((a * b - t) + a * (ROOT_HALF - b) + (x - a) * b) + (x - a) * (ROOT_HALF - b) + x * ROOT_HALF_LOW
    return value - lost * SLOPE * prim.exp(-t * t)


def ndtr(x):
    """The part of the normal distribution up to a number."""
    return 0.5 * _erfc_of_part(-x)


def ndtri(p):
    """The number up to which the normal distribution has a part `p`."""
    return -ROOT_2 * erfcinv(2.0 * p) if p <= 0.5 else ROOT_2 * erfcinv(2.0 * (1.0 - p))


def log_ndtr(x):
    """The logarithm of the part of the normal distribution up to a number."""
    if x > 0.0:
        return prim.log1p(-0.5 * _erfc_of_part(x))
    if x > -20.0 or x != x:
        return prim.log(0.5 * _erfc_of_part(-x))
    # The asymptotic series of the quotient of Mills.
    z = 1.0 / (x * x)
    series = z * (-1.0 + z * (3.0 + z * (-15.0 + z * (105.0 + z * (-945.0 + z * 10395.0)))))
    return -0.5 * x * x - prim.log(-x) - LOG_ROOT_2PI + prim.log1p(series)


def expit(x):
    """The logistic function."""
    if x < 0.0:
        e = prim.exp(x)
        return e / (1.0 + e)
    return 1.0 / (1.0 + prim.exp(-x))


def log_expit(x):
    """The logarithm of the logistic function."""
    return x - prim.log1p(prim.exp(x)) if x < 0.0 else -prim.log1p(prim.exp(-x))


def logit(p):
    """The inverse of the logistic function."""
    if p < 0.3 or p > 0.65:
        if p == 1.0:
            return np.inf
        return prim.log(p / (1.0 - p)) if p > 0.0 and p < 1.0 else (-np.inf if p == 0.0 else np.nan)
    s = 2.0 * (p - 0.5)
    return prim.log1p(s) - prim.log1p(-s)


def xlogy(x, y):
    """`x * log(y)`, which is zero where `x` is."""
    return 0.0 if x == 0.0 and y == y else x * prim.log(y)


def xlog1py(x, y):
    """`x * log(1 + y)`, which is zero where `x` is."""
    return 0.0 if x == 0.0 and y == y else x * prim.log1p(y)


def gamma(x):
    """The gamma function."""
    if x == 0.0:
        return prim.copysign(np.inf, x)
    return np.nan if x < 0.0 and prim.floor(x) == x else prim.tgamma(x)


def gammaln(x):
    """The logarithm of the absolute gamma function."""
    return x if x == -np.inf else prim.lgamma(x)


def digamma(x):
    """The derivative of the logarithm of the gamma function."""
    if x == 0.0:
        return prim.copysign(np.inf, -x)
    if x < 0.0:
        if prim.floor(x) == x:
            return np.nan
        # The reflection, with an angle of less than half a turn.
        part = x - prim.floor(x)
        part = part if part <= 0.5 else part - 1.0
        return _digamma(1.0 - x) - np.pi / prim.tan(np.pi * part)
    return _digamma(x)


def _digamma(x):
    if x == np.inf or x != x:
        return x
    # Near the zero, by Taylor's series of differences: those of the recurrence against the zero's own.
    if prim.fabs(x - ZERO_HIGH) < 0.25:
        return _near_zero(x)
    total = 0.0
    while x < 12.0:
        total -= 1.0 / x
        x += 1.0
    z, series = 1.0 / (x * x), 0.0
    for c in DIGAMMA[::-1]:
        series = series * z + c
    return total + prim.log(x) - 0.5 / x - z * series


def _near_zero(x):
    # Differences from what is zero, term by term, so that nothing is lost.
    d = (x - ZERO_HIGH) - ZERO_LOW
    total, r = 0.0, ZERO_HIGH
    for _ in range(12):
        total += d / (r * (r + d))
        r += 1.0
    s = r + d
    u, v = 1.0 / (r * r), 1.0 / (s * s)
    total += prim.log1p(d / r) + 0.5 * d / (r * s)
    # Of powers of the squares, by the factor that they have in common.
    drop, sum_of, pu = d * (r + s) * u * v, 1.0, 1.0
    series = 0.0
    for c in DIGAMMA:
        series += c * sum_of
        pu *= u
        sum_of = sum_of * v + pu
    return total + drop * series


def betaln(a, b):
    """The logarithm of the absolute beta function."""
    p, q = (a, b) if a < b else (b, a)
    if not p > 0.0:
        if p != p or q != q:
            return np.nan
        return _betaln_below_zero(p, q)
    if q == np.inf:
        return -np.inf
    s = p + q
    if p >= 10.0:
        rest = _rest(p) + _rest(q) - _rest(s)
        return (-0.5 * prim.log(q) + LOG_ROOT_2PI + rest) + (p - 0.5) * prim.log(p / s) + q * prim.log1p(-p / s)
    if q >= 10.0:
        rest = _rest(q) - _rest(s)
        return prim.lgamma(p) + rest + p - p * prim.log(s) + (q - 0.5) * prim.log1p(-p / s)
    if p < 1e-20:
        return -prim.log(p)
    return prim.log(prim.tgamma(p) * (prim.tgamma(q) / prim.tgamma(s)))


def _betaln_below_zero(p, q):
    return prim.log(prim.fabs(beta(p, q)))


def _rest(x):
    # The remainder of Stirling's formula, as an asymptotic series.
    z, series = 1.0 / (x * x), 0.0
    for c in STIRLING[::-1]:
        series = series * z + c
    return series / x


def _is_pole(x):
    return x <= 0.0 and prim.floor(x) == x


def beta(a, b):
    """The beta function."""
    p, q = (a, b) if a < b else (b, a)
    if p != p or q != q:
        return np.nan
    if _is_pole(p):
        return _beta_at_pole(p, q)
    if _is_pole(q):
        return _beta_at_pole(q, p)
    s = p + q
    if _is_pole(s):
        return 0.0
    if p > 0.0 and (q > 10.0 or s > 150.0):
        return prim.exp(betaln(p, q))
    if s > 150.0 or p < -150.0:
        sign = _sign(p) * _sign(q) * _sign(s)
        return sign * prim.exp(prim.lgamma(p) + prim.lgamma(q) - prim.lgamma(s))
    return prim.tgamma(q) / prim.tgamma(s) * prim.tgamma(p)


def _sign(x):
    # Of the gamma function.
    return -1.0 if x < 0.0 and prim.floor(x) % 2.0 != 0.0 else 1.0


def _beta_at_pole(pole, x):
    # The poles of two gamma functions cancel for integers.
    if prim.floor(x) == x and 1.0 - pole - x > 0.0 and prim.fabs(x) < 9e15:
        sign = 1.0 if prim.floor(x / 2.0) * 2.0 == x else -1.0
        return sign * beta(1.0 - pole - x, x)
    return np.inf
