"""Singular value decomposition, by Jacobi's rotations of pairs of columns until all are orthogonal."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import new_array, new_zeros
from lancehead.lib.numpy.reductions import mean_dtype
from lancehead.lib.numpy.stacks import conj, real_dtype

#: Squares of columns that count as zero; what is larger keeps its digits when it is squared.
TINY = 1e-280


def _size(x):
    return prim.hypot(x.real, x.imag) if prim.is_complex(x) else prim.fabs(x)


def _scale(x, work):
    # The divisor that keeps the squares of very large or small elements in range; 1 for other matrices.
    largest = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            size = _size(prim.cast(prim.item(x, i, j), work))
            if not size <= 1.7976931348623157e308:
                raise np.linalg.LinAlgError("SVD did not converge")
            largest = prim.maximum(largest, size)
    return largest if largest > 1e10 or 0.0 < largest < 1e-10 else 1.0


def _product(w, p, q):
    # Of two rows, the first conjugated.
    total = prim.cast(0, prim.dtype_of(w))
    for i in range(w.shape[1]):
        total += conj(prim.item(w, p, i)) * prim.item(w, q, i)
    return total


def _square(w, p):
    total = 0.0
    for i in range(w.shape[1]):
        x = prim.item(w, p, i)
        total += x.real * x.real + x.imag * x.imag if prim.is_complex(x) else x * x
    return total


def _rotate(w, p, q, c, s, turn):
    for i in range(w.shape[1]):
        x, y = prim.item(w, p, i), prim.item(w, q, i) * turn
        prim.set_item(w, p, i, x * c - y * s)
        prim.set_item(w, q, i, x * s + y * c)


def _sweep(w, v):
    # Makes each pair of rows orthogonal, once; false if all were.
    changed = False
    small = 2.2e-16 * prim.sqrt(prim.cast(w.shape[1], np.float64))
    for p in range(w.shape[0]):
        for q in range(p + 1, w.shape[0]):
            a, b, g = _square(w, p), _square(w, q), _product(w, p, q)
            size = _size(g)
            if a < TINY or b < TINY or size <= small * prim.sqrt(a) * prim.sqrt(b):
                continue
            changed = True
            z = (b - a) / (size + size)
            t = prim.copysign(1.0 / (prim.fabs(z) + prim.hypot(1.0, z)), z)
            c = 1.0 / prim.hypot(1.0, t)
            turn = conj(g / size)
            _rotate(w, p, q, c, c * t, turn)
            _rotate(v, p, q, c, c * t, turn)
    return changed


def _complete(u, known):
    # Adds rows to those that are orthonormal, each from the unit vector that is farthest from them.
    length = u.shape[1]
    left = new_array((length,), np.float64)
    for i in range(length):
        prim.set_item(left, i, 1.0)
    for k in range(u.shape[0]):
        if k >= known:
            best = 0
            for i in range(length):
                best = i if prim.item(left, i) > prim.item(left, best) else best
            prim.set_item(u, k, best, prim.cast(1, prim.dtype_of(u)))
            for again in range(2):
                for j in range(k):
                    g = _product(u, j, k)
                    for i in range(length):
                        prim.set_item(u, k, i, prim.item(u, k, i) - g * prim.item(u, j, i))
                size = prim.sqrt(_square(u, k))
                for i in range(length):
                    prim.set_item(u, k, i, prim.item(u, k, i) / size)
        for i in range(length):
            size = _size(prim.item(u, k, i))
            prim.set_item(left, i, prim.item(left, i) - size * size)


def _turned(u, dtype):
    out = new_array((u.shape[1], u.shape[0]), dtype)
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            prim.set_item(out, j, i, prim.cast(prim.item(u, i, j), dtype))
    return out


def _conjugated(u, dtype):
    out = new_array(u.shape, dtype)
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            prim.set_item(out, i, j, prim.cast(conj(prim.item(u, i, j)), dtype))
    return out


def jacobi(a, full_matrices, compute_uv):
    """Singular values of a matrix, largest first, between its unitary factors unless `compute_uv` is false.

    The factors are square, or with `full_matrices=False` as narrow as the smaller side.

    >>> np.linalg.svd(np.array([[3.0, 0.0], [0.0, -4.0]]))[1]
    array([4., 3.])
    """
    x = asarray(a)
    if x.ndim != 2:
        prim.error("a matrix is needed: an array of two dimensions")
    dtype = mean_dtype(prim.dtype_of(x))
    real = real_dtype(dtype)
    work = np.complex128 if prim.is_complex(dtype) else np.float64
    wide = x.shape[0] < x.shape[1]
    least, most = (x.shape[0], x.shape[1]) if wide else (x.shape[1], x.shape[0])
    # Rows of `w` are the columns of the matrix or, if it is wide, of its adjoint.
    w, v = new_array((least, most), work), new_zeros((least, least if compute_uv else 0), work)
    scale = _scale(x, work)
    for i in range(least):
        for j in range(most):
            y = prim.cast(prim.item(x, i, j) if wide else prim.item(x, j, i), work)
            prim.set_item(w, i, j, (conj(y) if wide else y) / scale)
        if compute_uv:
            prim.set_item(v, i, i, prim.cast(1, work))
    for sweep in range(60):
        if not _sweep(w, v):
            break
    squares, s = new_array((least,), np.float64), new_array((least,), real)
    for i in range(least):
        prim.set_item(squares, i, _square(w, i))
    u = new_zeros((most if full_matrices else least, most if compute_uv else 0), work)
    z = new_array(v.shape, work)
    known = 0
    for k in range(least):
        best = 0
        for i in range(least):
            best = i if prim.item(squares, i) > prim.item(squares, best) else best
        square = prim.item(squares, best)
        prim.set_item(squares, best, -1.0)
        size = prim.sqrt(square) if square >= TINY else 0.0
        prim.set_item(s, k, prim.cast(size * scale, real))
        known += 1 if size > 0.0 else 0
        for i in range(u.shape[1] if size > 0.0 else 0):
            prim.set_item(u, k, i, prim.item(w, best, i) / size)
        for i in range(v.shape[1]):
            prim.set_item(z, k, i, prim.item(v, best, i))
    if not compute_uv:
        return s
    _complete(u, known)
    if wide:
        return _turned(z, dtype), s, _conjugated(u, dtype)
    return _turned(u, dtype), s, _conjugated(z, dtype)
