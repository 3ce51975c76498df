"""Bessel functions, inverse error functions and the scaled one, for `libdevice.py`: computed in `float64`, given as
what came in.

Bessel functions are sums of Chebyshev polynomials, whose coefficients stand from the last to the first: up to 8 of the
square of the argument, beyond of the squared inverse for amplitude and phase.
"""

import math

import numpy as np

from lancehead.lib import prim

_J0 = (
    1.2218515873961411e-17, -7.588508125447546e-16, 4.125320595634374e-14, -1.9438346867370164e-12,
    7.848696314479465e-11,
    -2.679253530557673e-09, 7.608163592418782e-08, -1.7619469077621507e-06, 3.246032882100508e-05,
    -0.00046062616620627504,
    0.004819180069467605, -0.034893769411408884, 0.15806710233209725, -0.37009499387264977, 0.2651786132033368,
    -0.008723442352852221, 0.15772797147489012,
)  # fmt: skip
_J1 = (
    -2.4441972916190464e-17, 1.4232144003513942e-15, -7.221755239651773e-14, 3.160154580348003e-12,
    -1.178026622695885e-10,
    3.687133759097148e-09, -9.521984756750436e-08, 1.9858774049915165e-06, -3.255554866857259e-05,
    0.0004050337728354822,
    -0.003646940600769276, 0.022213639654966037, -0.08268049176681791, 0.1609992623572097, -0.1489751450676521,
    0.08104484632565812,
)  # fmt: skip
_Y0 = (
    -2.6977881152566837e-17, 1.6434898714919468e-15, -8.747341203310769e-14, 4.02633081830612e-12,
    -1.5837552541812015e-10,
    5.248794787330516e-09, -1.44072332740187e-07, 3.206532537654801e-06, -5.632079141056987e-05, 0.0007531135932577742,
    -0.007287962479552079, 0.04719668959576339, -0.17730201278114358, 0.26156734625504663, 0.17903431407718268,
    -0.2744743055297453, -0.03314611320328494,
)  # fmt: skip
_Y1 = (
    5.34668038572867e-17, -3.0511859694473254e-15, 1.51429151205002e-13, -6.4651518414115946e-12, 2.344337905911516e-10,
    -7.11055004989928e-09, 1.7707804556154404e-07, -3.53808001868935e-06, 5.505982873338744e-05, -0.0006414551451326356,
    0.005289897544167113, -0.028328123944594365, 0.08445197259652346, -0.09591204536083074, -0.01608717304766875,
    0.0025380132357417816,
)  # fmt: skip
_P0 = (
    -2.880866169482871e-18, 1.6305919233744186e-17, -1.0011513723467786e-16, 6.748072215733873e-16,
    -5.069034095935236e-15,
    4.3265957431549404e-14, -4.3045788699253914e-13, 5.168262387349193e-12, -7.86409137723707e-11,
    1.6306464635151382e-09,
    -5.1705945376060975e-08, 3.0751847875194745e-06, -0.0005365220468132117, 0.9994603493475187,
)  # fmt: skip
_Q0 = (
    1.0473158973776097e-18, -4.952892629886516e-18, 2.4865952389390515e-17, -1.3348852171502517e-16,
    7.729703176242605e-16,
    -4.87994410531204e-15, 3.4041800321963686e-14, -2.6690625482579414e-13, 2.404916100281365e-12,
    -2.565397936797308e-11,
    3.376097523734991e-10, -5.817532749493056e-09, 1.4377965798375193e-07, -5.9315987288485175e-06,
    0.0005470815954089319,
    -0.12444683684269607,
)  # fmt: skip
_P1 = (
    3.0492991197665872e-18, -1.7312313216116335e-17, 1.0667689114335412e-16, -7.221180842274018e-16,
    5.452674896044717e-15,
    -4.6842237839904895e-14, 4.699195515230542e-13, -5.704863640395645e-12, 8.816898659582339e-11,
    -1.8718907491063067e-09,
    6.177633960644299e-08, -3.987284300488908e-06, 0.0008989898330859408, 1.0009030408600137,
)  # fmt: skip
_Q1 = (
    -1.101261718787959e-18, 5.2192649196714085e-18, -2.626761589838529e-17, 1.4141084390211833e-16,
    -8.215318025458595e-16,
    5.206626366226707e-15, -3.649001916061838e-14, 2.8774212663332235e-13, -2.61145253946232e-12,
    2.8121750359748866e-11,
    -3.749090950541556e-10, 6.583354662120443e-09, -1.676782510726674e-07, 7.3108922063643636e-06,
    -0.0007702178839325664,
    0.3742222965562826,
)  # fmt: skip


def _f64(x):
    return prim.cast(x, np.float64)


def _like(value, x):
    return prim.cast(value, prim.dtype_of(x))


def _sum(coefficients, t):
    a, b = 0.0, 0.0
    for c in coefficients:
        a, b = c + 2.0 * t * a - b, a
    return a - t * b


def _wave(p, q, x):
    # Amplitudes of what is in step with a shifted cosine, and of what is not.
    t = 128.0 / (x * x) - 1.0
    scale = 1.0 / math.sqrt(math.pi * x)
    return _sum(p, t) * scale, _sum(q, t) / x * scale


def _j0_of(x):
    if x <= 8.0:
        return _sum(_J0, x * x * 0.03125 - 1.0)
    if x > 1.7e308:
        return 0.0
    (p, q), s, c = _wave(_P0, _Q0, x), math.sin(x), math.cos(x)
    return p * (c + s) - q * (s - c)


def _j1_of(x):
    if x <= 8.0:
        return x * _sum(_J1, x * x * 0.03125 - 1.0)
    if x > 1.7e308:
        return 0.0
    (p, q), s, c = _wave(_P1, _Q1, x), math.sin(x), math.cos(x)
    return p * (s - c) + q * (s + c)


def _y0_of(x):
    if not x > 0.0:
        return -np.inf if x == 0.0 else np.nan
    if x <= 8.0:
        return _sum(_Y0, x * x * 0.03125 - 1.0) + 2.0 / math.pi * math.log(x) * _j0_of(x)
    if x > 1.7e308:
        return 0.0
    (p, q), s, c = _wave(_P0, _Q0, x), math.sin(x), math.cos(x)
    return p * (s - c) + q * (c + s)


def _y1_of(x):
    if not x > 0.0:
        return -np.inf if x == 0.0 else np.nan
    if x <= 8.0:
        return x * _sum(_Y1, x * x * 0.03125 - 1.0) + 2.0 / math.pi * (math.log(x) * _j1_of(x) - 1.0 / x)
    if x > 1.7e308:
        return 0.0
    (p, q), s, c = _wave(_P1, _Q1, x), math.sin(x), math.cos(x)
    return q * (s - c) - p * (s + c)


def _j0(x):
    """Bessel function of the first kind of order 0."""
    return _like(_j0_of(prim.fabs(_f64(x))), x)


def _j1(x):
    """Bessel function of the first kind of order 1."""
    return _like(prim.copysign(1.0, _f64(x)) * _j1_of(prim.fabs(_f64(x))), x)


def _y0(x):
    """Bessel function of the second kind of order 0."""
    return _like(_y0_of(_f64(x)), x)


def _y1(x):
    """Bessel function of the second kind of order 1."""
    return _like(_y1_of(_f64(x)), x)


def _upwards(n, x, before, last):
    for k in range(1, n):
        before, last = last, 2.0 * k / x * last - before
    return last


def _downwards(n, x):
    # From far above, where what is left out is nothing beside the rest, and scaled by the sum of all of even order.
    start = 2 * ((n + int(math.sqrt(160.0 * n))) // 2 + 10)
    total, found, above, here = 0.0, 0.0, 0.0, 1e-300
    for k in range(start, 0, -1):
        above, here = here, 2.0 * k / x * here - above
        if prim.fabs(here) > 1e200:
            above, here, total, found = above * 1e-200, here * 1e-200, total * 1e-200, found * 1e-200
        if k == n + 1:
            found = here
        if k & 1 != 0 and k > 1:
            total += here
    return found / (2.0 * total + here)


def _jn(n, x):
    """Bessel function of the first kind of order `n`."""
    order, size = int(n), prim.fabs(_f64(x))
    if order < 0 or size != size:
        return _like(np.nan, n)
    if order < 2:
        value = _j1_of(size) if order == 1 else _j0_of(size)
    elif size == 0.0 or size > 1.7e308:
        value = 0.0
    elif size > order:
        value = _upwards(order, size, _j0_of(size), _j1_of(size))
    else:
        value = _downwards(order, size)
    return _like(-value if order & 1 != 0 and _f64(x) < 0.0 else value, n)


def _yn(n, x):
    """Bessel function of the second kind of order `n`."""
    order, v = int(n), _f64(x)
    if order < 0:
        return _like(np.nan, n)
    if order < 2 or not v > 0.0 or v > 1.7e308:
        return _like(_y1_of(v) if order == 1 else _y0_of(v), n)
    before, last = _y0_of(v), _y1_of(v)
    for k in range(1, order):
        if last == -np.inf:
            break
        before, last = last, 2.0 * k / v * last - before
    return _like(last, n)


def _scaled(x):
    # `exp(x * x) * erfc(x)` of what is not negative.
    if x < 10.0:
        high = _f64(prim.cast(x, np.float32))
        return math.exp(high * high) * math.exp((x - high) * (x + high)) * prim.erfc(x)
    h, total = 0.5 / x / x, 1.0
    for n in range(12, 0, -1):
        total = 1.0 - (2 * n - 1) * h * total
    return total / x / 1.7724538509055159


def _erfcx(x):
    """The complementary error function, scaled by the exponential of the square of `x`."""
    v = _f64(x)
    if v >= 0.0 or v != v:
        return _like(_scaled(v), x)
    high = _f64(prim.cast(v, np.float32))
    square = math.exp(high * high) * math.exp((v - high) * (v + high)) if v > -27.0 else np.inf
    return _like(2.0 * square - _scaled(-v) if square < np.inf else square, x)


def _inverse_near(x):
    # Of the error function, up to a half: two steps of the third order from a rough value.
    z = x * (0.886226925452758 + x * x * 0.2320136665346544)
    for _ in range(3):
        off = (prim.erf(z) - x) * math.exp(z * z) * 0.8862269254527579
        z -= off / (1.0 + z * off)
    return z


def _inverse_far(y):
    # Of the complement, below a half: steps by its logarithm, which is nearly a parabola.
    log = math.log(y) + math.log(2.0 - y)
    half = 4.330746750799873 + log * 0.5
    z = math.sqrt(math.sqrt(half * half - log * 6.802721088435374) - half)
    for _ in range(4):
        z += math.log1p((prim.erfc(z) - y) / y) * _scaled(z) * 0.8862269254527579
    return z


def _inverse(y):
    # Of the complement.
    if y < 0.5:
        return _inverse_far(y) if y > 0.0 else np.inf if y == 0.0 else np.nan
    if y > 1.5:
        return -_inverse_far(2.0 - y) if y < 2.0 else -np.inf if y == 2.0 else np.nan
    return _inverse_near(1.0 - y)


def _erfcinv(x):
    """Inverse of the complementary error function."""
    return _like(_inverse(_f64(x)), x)


def _erfinv(x):
    """Inverse of the error function."""
    v = _f64(x)
    size = prim.fabs(v)
    return _like(_inverse_near(v) if size <= 0.5 else prim.copysign(1.0, v) * _inverse(1.0 - size), x)


def _normcdfinv(x):
    """Inverse of the standard normal distribution's distribution function."""
    v = _f64(x)
    # Twice the argument would be rounded where it is tiny or the result near nothing.
    return _like(-1.4142135623730951 * _inverse(v + v), x)
