"""The exponential of a matrix, `scipy.linalg.expm`."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import contiguous, copy_c, copy_into, new_array, new_zeros
from lancehead.lib.numpy.stacks import is_triangle, matrices
from lancehead.lib.scipy.operands import check_rank, inexact_dtype

# Bounds of norms up to which the approximants of degree 3, 5, 7, 9 and 13 are exact to double precision (table 3.1 and
# section 5 of the source).
BOUND_3 = 1.495585217958292e-2
BOUND_5 = 2.539398330063230e-1
BOUND_7 = 9.504178996162932e-1
BOUND_9 = 2.097847961257068
BOUND_13 = 4.25


def _norm(a):
    # The largest sum of absolute values of a column.
    largest = 0.0
    for j in range(a.shape[1]):
        total = 0.0
        for i in range(a.shape[0]):
            total += abs(prim.item(a, i, j))
        if not total <= largest:
            largest = total
    return largest


def _squarings(a, size, degree):
    # The number of further squarings that the backward error asks for: the function "ell" of the source.
    factor = 1.0
    for k in range(1, degree + 1):
        # (m!)^2 / ((2m)! (2m+1)!), one factor after the other.
        factor *= float(k) / float(degree + k)
    for k in range(1, 2 * degree + 2):
        factor /= float(k)
    n = a.shape[0]
    v, w = new_array((n,), np.float64), new_array((n,), np.float64)
    for j in range(n):
        prim.set_item(v, j, 1.0)
    # The norm of a power of absolute values, by products of a row of ones with the matrix.
    for step in range(2 * degree + 1):
        for j in range(n):
            prim.set_item(w, j, 0.0)
        for i in range(n):
            x = prim.item(v, i)
            for j in range(n):
                prim.set_item(w, j, prim.item(w, j) + x * abs(prim.item(a, i, j)))
        copy_into(v, w)
    largest = 0.0
    for j in range(n):
        largest = prim.maximum(largest, prim.item(v, j))
    ratio = factor * (largest / size) / 1.1102230246251565e-16
    if not ratio > 1.0:
        return 0
    if not ratio < np.inf:
        return 1100
    return int(prim.ceil(prim.log2(ratio) / float(2 * degree)))


def _scaled(a, exponent):
    out = copy_c(a, prim.dtype_of(a))
    factor = prim.cast(prim.pow(2.0, float(-exponent)), prim.dtype_of(a))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            prim.set_item(out, i, j, prim.item(a, i, j) * factor)
    return out


def _product(a, b):
    return contiguous(np.dot(a, b))


def _sum(terms, factors, one):
    # A sum of products of matrices with numbers, and of a multiple of the identity.
    dtype = prim.dtype_of(terms[0])
    out = new_zeros(terms[0].shape, dtype)
    for k in range(len(terms)):
        factor = prim.cast(factors[k], dtype)
        for i in range(out.shape[0]):
            for j in range(out.shape[1]):
                prim.set_item(out, i, j, prim.item(out, i, j) + factor * prim.item(terms[k], i, j))
    for i in range(out.shape[0]):
        prim.set_item(out, i, i, prim.item(out, i, i) + prim.cast(one, dtype))
    return out


def _quotient_into(out, a, odd, even):
    # The approximant by its odd part without one factor, and its even part.
    u = _product(a, odd)
    copy_into(out, np.linalg.solve(even - u, even + u))


def _root(a, order):
    return prim.pow(_norm(a), 1.0 / float(order))


def _approximate_into(out, a):
    # The exponential of a matrix divided by a power of two, whose exponent is the result.
    a2 = _product(a, a)
    a4 = _product(a2, a2)
    a6 = _product(a4, a2)
    size, d4, d6 = _norm(a), _root(a4, 4), _root(a6, 6)
    eta = prim.maximum(d4, d6)
    if eta <= BOUND_3 and _squarings(a, size, 3) == 0:
        _quotient_into(out, a, _sum((a2,), (1.0,), 60.0), _sum((a2,), (12.0,), 120.0))
        return 0
    if eta <= BOUND_5 and _squarings(a, size, 5) == 0:
        odd = _sum((a2, a4), (420.0, 1.0), 15120.0)
        _quotient_into(out, a, odd, _sum((a2, a4), (3360.0, 30.0), 30240.0))
        return 0
    a8 = _product(a4, a4)
    d8 = _root(a8, 8)
    eta = prim.maximum(d6, d8)
    if eta <= BOUND_7 and _squarings(a, size, 7) == 0:
        odd = _sum((a2, a4, a6), (277200.0, 1512.0, 1.0), 8648640.0)
        _quotient_into(out, a, odd, _sum((a2, a4, a6), (1995840.0, 25200.0, 56.0), 17297280.0))
        return 0
    if eta <= BOUND_9 and _squarings(a, size, 9) == 0:
        odd = _sum((a2, a4, a6, a8), (302702400.0, 2162160.0, 3960.0, 1.0), 8821612800.0)
        even = _sum((a2, a4, a6, a8), (2075673600.0, 30270240.0, 110880.0, 90.0), 17643225600.0)
        _quotient_into(out, a, odd, even)
        return 0
    eta = prim.minimum(eta, prim.maximum(d8, _root(_product(a4, a6), 10)))
    s = int(prim.ceil(prim.log2(eta / BOUND_13))) if eta > BOUND_13 else 0
    b = _scaled(a, s)
    s += _squarings(b, _norm(b), 13)
    _approximate_13_into(out, _scaled(a, s), _scaled(a2, 2 * s), _scaled(a4, 4 * s), _scaled(a6, 6 * s))
    return s


def _approximate_13_into(out, a, a2, a4, a6):
    powers = (a2, a4, a6)
    odd = _product(a6, _sum(powers, (40840800.0, 16380.0, 1.0), 0.0))
    odd += _sum(powers, (1187353796428800.0, 10559470521600.0, 33522128640.0), 32382376266240000.0)
    even = _product(a6, _sum(powers, (1323241920.0, 960960.0, 182.0), 0.0))
    even += _sum(powers, (7771770303897600.0, 129060195264000.0, 670442572800.0), 64764752532480000.0)
    _quotient_into(out, a, odd, even)


def _put_diagonals(out, a, scale):
    # The diagonal of the exponential of an upper triangle, and the one beside it, are known (fragment 2.1).
    n = a.shape[0]
    for i in range(n):
        x = prim.item(a, i, i) * scale
        y = np.exp(x)
        prim.set_item(out, i, i, y)
        if i > 0:
            last = prim.item(a, i - 1, i - 1) * scale
            quotient = np.exp(last)
            if x != last:
                quotient = (y - quotient) / (x - last)
            prim.set_item(out, i - 1, i, quotient * prim.item(a, i - 1, i) * scale)


def _exponential_into(out, a):
    dtype = prim.dtype_of(a)
    n = a.shape[0]
    is_upper, is_lower = is_triangle(a, False), is_triangle(a, True)
    x = new_zeros((n, n), dtype)
    if is_upper and is_lower:
        for i in range(n):
            prim.set_item(x, i, i, np.exp(prim.item(a, i, i)))
    elif not _norm(a) < np.inf:
        copy_into(x, prim.cast(np.nan, dtype))
    else:
        # A lower triangle is transposed.
        turned = new_array((n, n), dtype)
        copy_into(turned, a)
        if is_lower:
            copy_into(turned, a.T)
        s = _approximate_into(x, turned)
        if (is_upper or is_lower) and s > 0:
            _put_diagonals(x, turned, prim.cast(prim.pow(2.0, float(-s)), dtype))
        for k in range(s - 1, -1, -1):
            copy_into(x, _product(x, x))
            if is_upper or is_lower:
                _put_diagonals(x, turned, prim.cast(prim.pow(2.0, float(-k)), dtype))
        if is_upper or is_lower:
            for i in range(n):
                for j in range(i):
                    prim.set_item(x, i, j, prim.cast(0, dtype))
    for i in range(n):
        for j in range(n):
            y = prim.item(x, j if is_lower else i, i if is_lower else j)
            prim.set_item(out, i, j, prim.cast(y, prim.dtype_of(out)))


def expm(A):
    """Exponential of a matrix, or of a stack of them, by scaling and squaring a Padé approximant.

    The method, with its bounds and its treatment of triangles, is that of A. H. Al-Mohy and N. J. Higham, "A new
    scaling and squaring algorithm for the matrix exponential", SIAM J. Matrix Anal. Appl. 31 (2009), 970-989. Single
    precision is computed in double precision.

    >>> scipy.linalg.expm(np.zeros((2, 2)))
    array([[1., 0.],
           [0., 1.]])
    """
    x = asarray(A)
    check_rank(x)
    if x.shape[x.ndim - 1] != x.shape[x.ndim - 2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    wide = np.complex128 if prim.is_complex(prim.dtype_of(x)) else np.float64
    out = new_array(x.shape, inexact_dtype(prim.dtype_of(x)))
    xs, outs = matrices(copy_c(x, wide)), matrices(out)
    for k in range(outs.shape[0] if out.size > 0 else 0):
        _exponential_into(outs[k], xs[k])
    return out
