"""The modified Bessel function of order zero, and the window of Kaiser made of it."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import new_array

#: Coefficients of Chebyshev's polynomials: of `exp(-x) * i0(x)` up to 8, and of `exp(-x) * sqrt(x) * i0(x)` from 8 on.
NEAR = (
    -4.4153416464793395e-18,
    3.3307945188222384e-17,
    -2.431279846547955e-16,
    1.715391285555133e-15,
    -1.1685332877993451e-14,
    7.676185498604936e-14,
    -4.856446783111929e-13,
    2.95505266312964e-12,
    -1.726826291441556e-11,
    9.675809035373237e-11,
    -5.189795601635263e-10,
    2.6598237246823866e-09,
    -1.300025009986248e-08,
    6.046995022541919e-08,
    -2.670793853940612e-07,
    1.1173875391201037e-06,
    -4.4167383584587505e-06,
    1.6448448070728896e-05,
    -5.754195010082104e-05,
    0.00018850288509584165,
    -0.0005763755745385824,
    0.0016394756169413357,
    -0.004324309995050576,
    0.010546460394594998,
    -0.02373741480589947,
    0.04930528423967071,
    -0.09490109704804764,
    0.17162090152220877,
    -0.3046826723431984,
    0.6767952744094761,
)
FAR = (
    -7.233180487874754e-18,
    -4.830504485944182e-18,
    4.46562142029676e-17,
    3.461222867697461e-17,
    -2.8276239805165836e-16,
    -3.425485619677219e-16,
    1.7725601330565263e-15,
    3.8116806693526224e-15,
    -9.554846698828307e-15,
    -4.150569347287222e-14,
    1.54008621752141e-14,
    3.8527783827421426e-13,
    7.180124451383666e-13,
    -1.7941785315068062e-12,
    -1.3215811840447713e-11,
    -3.1499165279632416e-11,
    1.1889147107846439e-11,
    4.94060238822497e-10,
    3.3962320257083865e-09,
    2.266668990498178e-08,
    2.0489185894690638e-07,
    2.8913705208347567e-06,
    6.889758346916825e-05,
    0.0033691164782556943,
    0.8044904110141088,
)


def _sum(x, coefficients):
    # Clenshaw's, over a tuple, of which the compiler makes a line of operations.
    now, before, last = 0.0, 0.0, 0.0
    for c in coefficients:
        last = before
        before = now
        now = x * before - last + c
    return 0.5 * (now - last)


def _i0(x):
    if prim.is_complex(x):
        prim.error("i0 not supported for complex values")
    dtype = prim.dtype_of(x) if prim.is_float(x) else np.float64
    a = prim.fabs(prim.cast(x, np.float64))
    near = a <= 8.0
    y = a / 2.0 - 2.0 if near else 32.0 / a - 2.0
    total = _sum(y, NEAR) if near else _sum(y, FAR) / prim.sqrt(a)
    return prim.cast(prim.exp(a) * total, dtype)


def i0(x):
    """The modified Bessel function of the first kind, of order zero.

    >>> np.i0(np.array([0.0, 1.0]))
    array([1.        , 1.26606588])
    """
    if prim.is_number(x):
        return asarray(_i0(x))
    return prim.map(_i0, asarray(x))


def kaiser(M, beta):
    """Kaiser's window.

    >>> np.kaiser(3, 0.0)
    array([1., 1., 1.])
    """
    size, shape = float(M), float(beta)
    n = int(prim.ceil(size)) if size > 0.0 else 0
    out = new_array((n,), np.float64)
    alpha = (size - 1.0) / 2.0
    for i in range(n):
        t = (float(i) - alpha) / alpha if size != 1.0 else 0.0
        x = 1.0 if size == 1.0 else _i0(shape * prim.sqrt(1.0 - t * t)) / _i0(shape)
        prim.set_item(out, i, x)
    return out
