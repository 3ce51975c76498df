"""The modified Bessel function of order zero, and the window of Kaiser made of it."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import new_array
from lancehead.lib.scipy import bessel


def _i0(x):
    if prim.is_complex(x):
        prim.error("i0 not supported for complex values")
    dtype = prim.dtype_of(x) if prim.is_float(x) else np.float64
    return prim.cast(bessel.i0(prim.cast(x, np.float64)), dtype)


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
    if not prim.is_number(beta):
        prim.error("`beta` is a number")
    size, shape = float(M), float(beta)
    if size != size:
        raise ValueError("arange: cannot compute length")
    n = int(prim.ceil(size)) if size > 0.0 else 0
    out = new_array((n,), np.float64)
    alpha = (size - 1.0) / 2.0
    for i in range(n):
        t = (float(i) - alpha) / alpha if size != 1.0 else 0.0
        x = 1.0 if size == 1.0 else _i0(shape * prim.sqrt(1.0 - t * t)) / _i0(shape)
        prim.set_item(out, i, x)
    return out
