"""Discrete Fourier transforms.

One axis is transformed at a time, as lines that lie one after the other: `lh-runtime/src/fourier.rs` has the
transforms. In kernels they are sums.
"""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import check_device, integer_of, unranged
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.folds import check_out
from lancehead.lib.numpy.joining import roll
from lancehead.lib.numpy.layout import as_ints, check_axis, contiguous, copy_into, new_array, new_zeros
from lancehead.lib.numpy.manip import moveaxis


def _complex_type(dtype):
    # Single precision stays what it is, as in NumPy from version 2 on.
    if prim.is_complex(dtype):
        return dtype
    if prim.is_float(dtype) and prim.itemsize(dtype) <= 4:
        return np.complex64
    return np.complex128


def _length(n, extent):
    if n is None:
        return extent
    return integer_of(n)


def _check_length(n):
    if n < 1:
        raise ValueError("Invalid number of FFT data points (" + str(n) + ") specified.")


def _scaled(norm, forward):
    # Whether a transform is divided by its length: -1 by the length, 0 not, 1 by its root.
    if norm is None or norm == "backward":
        return 0 if forward else -1
    if norm == "ortho":
        return 1
    if norm == "forward":
        return -1 if forward else 0
    raise ValueError("Invalid norm value " + norm + '; should be "backward","ortho" or "forward".')


def _factor(scaled, n):
    if scaled == 0:
        return 1.0
    return 1.0 / prim.cast(n, np.float64) if scaled == -1 else 1.0 / prim.sqrt(prim.cast(n, np.float64))


def _scale(out, factor):
    if factor == 1.0:
        return
    real = prim.real_dtype(prim.dtype_of(out)) if prim.is_complex(prim.dtype_of(out)) else prim.dtype_of(out)
    out *= prim.cast(factor, real)


def _lines(a, axis, n, dtype):
    # A row-major copy with the axis last, cut or filled with zeros to `n`.
    moved = moveaxis(a, axis, a.ndim - 1)
    m = moved.shape[a.ndim - 1]
    shape = moved.shape[: a.ndim - 1] + (n,)
    if m >= n:
        out = new_array(shape, dtype)
        copy_into(out, moved[..., :n])
        return out
    out = new_zeros(shape, dtype)
    copy_into(out[..., :m], moved)
    return out


def _back(lines, axis):
    return contiguous(moveaxis(lines, lines.ndim - 1, axis))


def _sums(lines, n, inverse):
    # The definition, for kernels: `lines` are of `n` numbers.
    dtype = prim.dtype_of(lines)
    flat = lines.reshape((lines.size // n, n))
    turn = (2.0 if inverse else -2.0) * prim.acos(-1.0) / prim.cast(n, np.float64)
    line = new_array((n,), np.complex128)
    for i in range(flat.shape[0]):
        for k in range(n):
            total = 0j
            for j in range(n):
                angle = turn * prim.cast((j * k) % n, np.float64)
                total += prim.cast(prim.item(flat, i, j), np.complex128) * complex(prim.cos(angle), prim.sin(angle))
            prim.set_item(line, k, total)
        for k in range(n):
            prim.set_item(flat, i, k, prim.cast(prim.item(line, k), dtype))


def _complex_lines(lines, n, inverse):
    if prim.in_kernel():
        _sums(lines, n, inverse)
    else:
        real = prim.real_dtype(prim.dtype_of(lines))
        prim.lh_fft(real, n, lines.size // n, prim.data(lines), 1 if inverse else 0)


def _check(a):
    if a.ndim == 0:
        raise np.exceptions.AxisError(-1, 0)


def _transform(a, n, axis, norm, inverse):
    x = asarray(a)
    _check(x)
    k = check_axis(axis, x.ndim)
    m = _length(n, x.shape[k])
    _check_length(m)
    scaled = _scaled(norm, not inverse)
    lines = _lines(x, k, m, _complex_type(prim.dtype_of(x)))
    _complex_lines(lines, m, inverse)
    _scale(lines, _factor(scaled, m))
    return _back(lines, k)


def fft(a, n=None, axis=-1, norm=None, out=None):
    """Discrete Fourier transform along an axis.

    >>> np.fft.fft(np.array([1.0, 1.0, 1.0, 1.0]))
    array([4.+0.j, 0.+0.j, 0.+0.j, 0.+0.j])
    """
    return _delivered(_transform(a, n, axis, norm, False), out)


def ifft(a, n=None, axis=-1, norm=None, out=None):
    """Inverse of `fft`.

    >>> np.fft.ifft(np.array([4.0, 0.0, 0.0, 0.0]))
    array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    return _delivered(_transform(a, n, axis, norm, True), out)


def rfft(a, n=None, axis=-1, norm=None, out=None):
    """Fourier transform of real numbers: the half that determines the other.

    >>> np.fft.rfft(np.array([1.0, 0.0, 0.0, 0.0]))
    array([1.+0.j, 1.+0.j, 1.+0.j])
    """
    x = asarray(a)
    if prim.is_complex(prim.dtype_of(x)):
        prim.error("`rfft` takes real numbers; `fft` takes complex ones")
    _check(x)
    k = check_axis(axis, x.ndim)
    m = _length(n, x.shape[k])
    _check_length(m)
    scaled = _scaled(norm, True)
    dtype = _complex_type(prim.dtype_of(x))
    real = prim.real_dtype(dtype)
    if prim.in_kernel():
        whole = _lines(x, k, m, dtype)
        _sums(whole, m, False)
        half = contiguous(whole[..., : m // 2 + 1])
    else:
        lines = _lines(x, k, m, real)
        half = new_array(lines.shape[: x.ndim - 1] + (m // 2 + 1,), dtype)
        prim.lh_rfft(real, m, lines.size // m, prim.data(lines), prim.data(half))
    _scale(half, _factor(scaled, m))
    return _delivered(_back(half, k), out)


def irfft(a, n=None, axis=-1, norm=None, out=None):
    """Inverse of `rfft`, for `n` numbers: an even number of them by default.

    >>> np.fft.irfft(np.array([4.0, 0.0, 0.0]))
    array([1., 1., 1., 1.])
    """
    x = asarray(a)
    _check(x)
    k = check_axis(axis, x.ndim)
    m = 2 * (x.shape[k] - 1) if n is None else integer_of(n)
    _check_length(m)
    scaled = _scaled(norm, False)
    dtype = _complex_type(prim.dtype_of(x))
    real = prim.real_dtype(dtype)
    half = _lines(x, k, m // 2 + 1, dtype)
    line = new_array(half.shape[: x.ndim - 1] + (m,), real)
    if prim.in_kernel():
        whole = new_zeros(line.shape, dtype)
        copy_into(whole[..., : m // 2 + 1], half)
        whole[..., 0] = half[..., 0].real
        for j in range(1, (m + 1) // 2):
            whole[..., m - j] = half[..., j].conjugate()
        if m % 2 == 0:
            whole[..., m // 2] = half[..., m // 2].real
        _sums(whole, m, True)
        copy_into(line, whole.real)
    else:
        prim.lh_irfft(real, m, line.size // m, prim.data(line), prim.data(half))
    _scale(line, _factor(scaled, m))
    return _delivered(_back(line, k), out)


def _delivered(result, out):
    # The result, in the array that the caller wants it in.
    if out is None:
        return result
    if not prim.is_array(out):
        prim.error("`out` is an array")
    check_out(out, prim.dtype_of(result), "same_kind")
    if result.ndim != out.ndim:
        raise ValueError("output array has wrong shape.")
    if result.shape != out.shape:
        raise ValueError("output array has wrong shape.")
    out[...] = result
    return out


def _opposite(norm):
    if norm is None or norm == "backward":
        return "forward"
    return "backward" if norm == "forward" else norm


def hfft(a, n=None, axis=-1, norm=None, out=None):
    """Fourier transform of a signal with Hermitian symmetry, given by its half.

    >>> np.fft.hfft(np.array([1.0, 0.0, 0.0]))
    array([1., 1., 1., 1.])
    """
    return irfft(np.conjugate(asarray(a)), n, axis, _opposite(norm), out)


def ihfft(a, n=None, axis=-1, norm=None, out=None):
    """Inverse of `hfft`.

    >>> np.fft.ihfft(np.array([1.0, 1.0, 1.0, 1.0]))
    array([1.-0.j, 0.-0.j, 0.-0.j])
    """
    return _delivered(np.conjugate(rfft(a, n, axis, _opposite(norm))), out)


def _axes_of(a, s, axes):
    # The axes to transform: the given ones, as many as `s` has at the end, or all.
    if axes is None:
        if s is None:
            return _numbers(a.shape, 0)
        if len(s) > 0:
            check_axis(-len(s), a.ndim)
        if prim.is_a(s, "builtins.list"):
            return [a.ndim - len(s) + i for i in range(len(s))]
        return _numbers(s, a.ndim - len(s))
    axes = unranged(axes)
    if prim.is_int(axes) or (s is not None and prim.is_int(s)):
        prim.error("`s` and `axes` are sequences")
    if s is not None and len(s) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    return axes if prim.is_a(axes, "builtins.list") else as_ints(axes)


def _numbers(items, first):
    # As many numbers as there are items.
    if len(items) == 0:
        return ()
    return (first,) + _numbers(items[1:], first + 1)


def _extent(a, s, axes, i):
    k = check_axis(axes[i], a.ndim)
    if s is None:
        return a.shape[k]
    n = integer_of(s[i])
    return a.shape[k] if n == -1 else n


def _each(x, s, axes, norm, inverse, n):
    # Transforms the first `n` of the axes, the last of them first.
    out = contiguous(x)
    for i in range(n):
        check_axis(axes[i], x.ndim)
    for i in range(n - 1, -1, -1):
        out = _transform(out, _extent(out, s, axes, i), axes[i], norm, inverse)
    return out


def _of_axes(a, s, axes, norm, inverse):
    x = asarray(a)
    k = _axes_of(x, s, axes)
    return _each(asarray(x, _complex_type(prim.dtype_of(x))), s, k, norm, inverse, len(k))


def fftn(a, s=None, axes=None, norm=None, out=None):
    """Fourier transform along several axes, by default all.

    >>> np.fft.fftn(np.ones((2, 2)))
    array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]])
    """
    return _delivered(_of_axes(a, s, axes, norm, False), out)


def ifftn(a, s=None, axes=None, norm=None, out=None):
    """Inverse of `fftn`.

    >>> np.fft.ifftn(np.array([[4.0, 0.0], [0.0, 0.0]]))
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """
    return _delivered(_of_axes(a, s, axes, norm, True), out)


def fft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """Fourier transform along two axes.

    >>> np.fft.fft2(np.ones((2, 2)))
    array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]])
    """
    return _delivered(_of_axes(a, s, axes, norm, False), out)


def ifft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """Inverse of `fft2`.

    >>> np.fft.ifft2(np.array([[4.0, 0.0], [0.0, 0.0]]))
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """
    return _delivered(_of_axes(a, s, axes, norm, True), out)


def rfftn(a, s=None, axes=None, norm=None, out=None):
    """Fourier transform of real numbers along several axes, the last one by `rfft`.

    >>> np.fft.rfftn(np.ones((2, 2)))
    array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]])
    """
    x = asarray(a)
    k = _axes_of(x, s, axes)
    if len(k) == 0:
        raise ValueError("at least 1 axis must be transformed")
    last = len(k) - 1
    return _delivered(_each(rfft(x, _extent(x, s, k, last), k[last], norm), s, k, norm, False, last), out)


def irfftn(a, s=None, axes=None, norm=None, out=None):
    """Inverse of `rfftn`.

    >>> np.fft.irfftn(np.array([[4.0, 0.0], [0.0, 0.0]]))
    array([[1., 1.],
           [1., 1.]])
    """
    x = asarray(a)
    k = _axes_of(x, s, axes)
    if len(k) == 0:
        raise ValueError("at least 1 axis must be transformed")
    last = len(k) - 1
    others = _each(asarray(x, _complex_type(prim.dtype_of(x))), s, k, norm, True, last)
    if s is None:
        return irfft(others, None, k[last], norm, out)
    return irfft(others, _extent(x, s, k, last), k[last], norm, out)


def rfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """Fourier transform of real numbers along two axes, the last one by `rfft`.

    >>> np.fft.rfft2(np.ones((2, 2)))
    array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]])
    """
    return rfftn(a, s, axes, norm, out)


def irfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """Inverse of `rfft2`.

    >>> np.fft.irfft2(np.array([[4.0, 0.0], [0.0, 0.0]]))
    array([[1., 1.],
           [1., 1.]])
    """
    return irfftn(a, s, axes, norm, out)


def fftfreq(n, d=1.0, device=None):
    """Frequencies of the results of `fft`, in cycles per unit of the spacing `d`.

    >>> np.fft.fftfreq(4)
    array([ 0.  ,  0.25, -0.5 , -0.25])
    """
    if not prim.is_int(n):
        prim.error("the length is an integer")
    if device is not None:
        check_device(device)
    out = new_array((integer_of(n),), np.float64)
    scale = 1.0 / (prim.cast(n, np.float64) * d)
    half = (n - 1) // 2 + 1
    for i in range(n):
        prim.set_item(out, i, prim.cast(i if i < half else i - n, np.float64) * scale)
    return out


def rfftfreq(n, d=1.0, device=None):
    """Frequencies of the results of `rfft`, in cycles per unit of the spacing `d`.

    >>> np.fft.rfftfreq(4)
    array([0.  , 0.25, 0.5 ])
    """
    if not prim.is_int(n):
        prim.error("the length is an integer")
    if device is not None:
        check_device(device)
    out = new_array((integer_of(n) // 2 + 1,), np.float64)
    scale = 1.0 / (prim.cast(n, np.float64) * d)
    for i in range(out.size):
        prim.set_item(out, i, prim.cast(i, np.float64) * scale)
    return out


def _shifts(shape, axes, sign):
    if len(axes) == 0:
        return ()
    n = shape[check_axis(axes[0], len(shape))]
    return (n // 2 if sign > 0 else -(n // 2),) + _shifts(shape, axes[1:], sign)


def _shifted(x, axes, sign):
    a = asarray(x)
    axes = unranged(axes)
    if axes is None:
        k = _numbers(a.shape, 0)
        return roll(a, _shifts(a.shape, k, sign), k)
    if prim.is_a(axes, "builtins.list"):
        middles = [a.shape[check_axis(k, a.ndim)] // 2 for k in axes]
        return roll(a, middles if sign > 0 else [-n for n in middles], axes)
    if prim.is_int(axes):
        n = a.shape[check_axis(axes, a.ndim)] // 2
        return roll(a, n if sign > 0 else -n, axes)
    return roll(a, _shifts(a.shape, axes, sign), axes)


def fftshift(x, axes=None):
    """Moves the frequency zero to the middle.

    >>> np.fft.fftshift(np.array([0, 1, -2, -1]))
    array([-2, -1,  0,  1])
    """
    return _shifted(x, axes, 1)


def ifftshift(x, axes=None):
    """Inverse of `fftshift`.

    >>> np.fft.ifftshift(np.array([-2, -1, 0, 1]))
    array([ 0,  1, -2, -1])
    """
    return _shifted(x, axes, -1)
