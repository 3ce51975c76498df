"""Derivatives of discrete Fourier transforms: the transposed matrix is that of the inverse, but for a factor."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives import along
from lancehead.lib.derivatives.numpy.axes import no_out
from lancehead.lib.numpy.fft import _factor, _scale, _scaled, _transform, irfft, rfft
from lancehead.lib.numpy.layout import check_axis


def _transform_forward(a, n, axis, norm, inverse):
    """The transform, its factor, and the direction."""
    found = _transform(a, n, axis, norm, inverse)
    m = found.shape[check_axis(axis, found.ndim)]
    return found, (_factor(_scaled(norm, not inverse), m), 1 if inverse else 0)


def _transform_backward(saved, adjoint, wanted, shadows):
    """The other transform of the adjoint, cut or filled with zeros to the extent of the elements."""
    factor, was_inverse = saved
    a, axis = np.asarray(shadows[0]), shadows[2]
    m = adjoint.shape[check_axis(axis, adjoint.ndim)]
    if was_inverse != 0:
        own = _transform(adjoint, m, axis, "backward", False)
    else:
        own = _transform(adjoint, m, axis, "forward", True)
    _scale(own, factor)
    return (_cut(own, a.shape, axis),)


def _cut(own, shape, axis):
    k = check_axis(axis, own.ndim)
    n, m = shape[k], own.shape[k]
    line = np.moveaxis(own, k, -1)
    if n <= m:
        return np.moveaxis(line[..., :n], -1, k)
    out = np.zeros(shape, prim.dtype_of(own))
    np.moveaxis(out, k, -1)[..., :m] = line
    return out


def rfft_forward(a, n=None, axis=-1, norm=None, out=None):
    """The transform, and its length."""
    no_out(out)
    x = np.asarray(a)
    m = x.shape[check_axis(axis, x.ndim)] if n is None else int(n)
    return rfft(a, n, axis, norm, out), (m, _factor(_scaled(norm, True), m))


def rfft_backward(saved, adjoint, wanted, shadows):
    """`irfft` of the adjoint, whose elements count half where two of the full transform are one of the half."""
    m, factor = saved
    a, axis = np.asarray(shadows[0]), shadows[2]
    k = -1 if axis is None else axis
    half = _doubled(adjoint, m, k, 0.5)
    own = irfft(half, m, k, "forward")
    _scale(own, factor)
    return (_cut(own, a.shape, k),)


def irfft_forward(a, n=None, axis=-1, norm=None, out=None):
    """The transform, and its factor."""
    no_out(out)
    found = irfft(a, n, axis, norm, out)
    return found, _factor(_scaled(norm, False), found.shape[check_axis(axis, found.ndim)])


def irfft_backward(saved, adjoint, wanted, shadows):
    """`rfft` of the adjoint, twice where one element of the half stands for two of the full transform."""
    a, axis = np.asarray(shadows[0]), shadows[2]
    k = -1 if axis is None else axis
    m = adjoint.shape[check_axis(k, adjoint.ndim)]
    own = _doubled(rfft(adjoint, m, k), m, k, 2.0)
    _scale(own, saved)
    return (_cut(own, a.shape, k),)


def _doubled(half, m, axis, factor):
    # A copy with all elements scaled that stand for two of a transform of `m`.
    out = np.copy(half)
    line = np.moveaxis(out, axis, -1)
    line[..., 1 : (m + 1) // 2] *= prim.cast(factor, prim.real_dtype(prim.dtype_of(half)))
    return out


def _transform_tangent(wanted, tangents, a, n, axis, norm, inverse):
    """The transform of the tangent."""
    t = along(wanted & 1, tangents[0])
    return _transform(a, n, axis, norm, inverse), _transform(t, n, axis, norm, inverse)


def rfft_tangent(wanted, tangents, a, n=None, axis=-1, norm=None, out=None):
    """The transform of the tangent."""
    no_out(out)
    return rfft(a, n, axis, norm), rfft(along(wanted & 1, tangents[0]), n, axis, norm)


def irfft_tangent(wanted, tangents, a, n=None, axis=-1, norm=None, out=None):
    """The transform of the tangent."""
    no_out(out)
    return irfft(a, n, axis, norm), irfft(along(wanted & 1, tangents[0]), n, axis, norm)
