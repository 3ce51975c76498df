"""Derivatives of linear systems and triangular factors.

The formulas are those of Giles, Collected matrix derivative results (2008), for Cholesky's factor and QR in the form of
Seeger and others, Auto-differentiating linear algebra (2017).
"""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives import along, fitted
from lancehead.lib.derivatives.numpy.axes import conj, summed_to
from lancehead.lib.derivatives.numpy.stacks import lower, turned
from lancehead.lib.numpy.layout import copy_c
from lancehead.lib.numpy.solving import QRResult, SlogdetResult, cholesky, det, inv, qr, slogdet, solve


def solve_forward(a, b):
    """The solution, the matrix, and the solution again."""
    x = solve(a, b)
    m = np.asarray(a)
    return x, (copy_c(m, prim.dtype_of(m)), np.copy(x))


def solve_backward(saved, adjoint, wanted, shadows):
    """Of `A x = b`: `adjoint(b) = A^-H adjoint(x)` and `adjoint(A) = -adjoint(b) x^H`."""
    return of_solution(saved[0], saved[1], adjoint, np.asarray(shadows[1]))


def of_solution(a, x, adjoint, b):
    """The adjoints of matrices and right-hand sides for one of the solutions."""
    if b.ndim == 1:
        g = np.linalg.solve(turned(a), adjoint[..., None])[..., 0]
        return summed_to(-g[..., :, None] * conj(x)[..., None, :], a.shape), summed_to(g, b.shape)
    h = np.linalg.solve(turned(a), adjoint)
    return summed_to(-np.matmul(h, turned(x)), a.shape), summed_to(h, b.shape)


def inv_forward(a):
    """The inverse, twice."""
    x = inv(a)
    return x, np.copy(x)


def inv_backward(saved, adjoint, wanted, shadows):
    """`-A^-H adjoint A^-H`."""
    h = turned(saved)
    return (-np.matmul(np.matmul(h, adjoint), h),)


def det_forward(a):
    """The determinant, and the matrix."""
    x = np.asarray(a)
    return det(a), copy_c(x, prim.dtype_of(x))


def det_backward(saved, adjoint, wanted, shadows):
    """The adjoint times the matrix of cofactors, which singular matrices have, too."""
    return (conj(_cofactors(saved)) * _beside(adjoint),)


def _cofactors(a):
    # By singular values `a = U S V^H`: `det(U V^H) U C V^H` with the products of all other singular values in `C`.
    u, s, vh = np.linalg.svd(a)
    n = s.shape[-1]
    others = np.ones(s.shape, prim.dtype_of(s))
    for i in range(n):
        for k in range(n):
            if k != i:
                others[..., i] *= s[..., k]
    sign = np.linalg.det(np.matmul(u, vh))
    return conj(np.matmul(u * others[..., None, :], vh)) * _beside(sign)


def slogdet_forward(a):
    """Sign and logarithm, and the inverse."""
    result = slogdet(a)
    return result, (np.linalg.inv(a), np.asarray(result[0]).copy())


def slogdet_backward(saved, adjoint, wanted, shadows):
    """`A^-H` times the adjoint of the logarithm; the phase of complex determinants turns with the imaginary part."""
    inverse, sign = saved
    if prim.is_complex(prim.dtype_of(inverse)):
        turn = np.conj(sign) * adjoint[0]
        return (turned(inverse) * _beside(turn - turn.real + adjoint[1]),)
    return (turned(inverse) * _beside(adjoint[1]),)


def _beside(x):
    # A number for each matrix.
    return np.asarray(x)[..., None, None]


def cholesky_forward(a, /, *, upper=False):
    """The factor, the lower one of the two, and `None` if it is the result."""
    x = cholesky(a, upper=upper)
    if upper:
        return x, (np.copy(turned(x)), 0)
    return x, (np.copy(x), None)


def cholesky_backward(saved, adjoint, wanted, shadows):
    """With the lower factor `L`: the Hermitian part of `L^-H lower(L^H adjoint(L)) L^-1`."""
    factor, is_upper = saved
    return (of_factor(factor, adjoint if is_upper is None else turned(adjoint)),)


def of_factor(factor, g):
    """The adjoint of a matrix for one of its lower factor."""
    h = turned(factor)
    half = np.linalg.solve(h, lower(np.matmul(h, g)))
    own = turned(np.linalg.solve(h, turned(half)))
    return (own + turned(own)) * prim.cast(0.5, prim.dtype_of(own))


def qr_forward(a, mode="reduced"):
    """The factors, twice."""
    if mode == "raw":
        prim.error("this mode of `qr` has no derivative: use `mode='reduced'`")
    if mode == "r":
        return qr(a, mode), qr(a)
    result = qr(a, mode)
    return result, (np.copy(result[0]), np.copy(result[1]))


def qr_backward(saved, adjoint, wanted, shadows):
    """With `M = R adjoint(R)^H - adjoint(Q)^H Q`: `(adjoint(Q) + Q hermitian(lower(M))) R^-H`.

    Of wide matrices that is the derivative of the first columns, as many as there are rows; the others are `Q` times
    those of `R`. Functions that depend on the phases of complex vectors have no such derivative.
    """
    if prim.is_array(adjoint):
        return (_of_factors(saved[0], saved[1], np.zeros_like(saved[0]), adjoint),)
    return (_of_factors(saved[0], saved[1], adjoint[0], adjoint[1]),)


def _check_columns(q, r):
    if q.shape[-1] > r.shape[-1]:
        raise NotImplementedError("`qr` of tall matrices has a derivative for `mode='reduced'`")


def _of_factors(q, r, gq, gr):
    _check_columns(q, r)
    m, n = r.shape[-2], r.shape[-1]
    if m >= n:
        return _of_columns(q, r, gq, gr)
    rest, of_rest = r[..., m:], gr[..., m:]
    others = np.matmul(q, rest)
    of_q = gq + np.matmul(others, turned(of_rest))
    own = np.empty(q.shape[:-1] + (n,), prim.dtype_of(q))
    own[..., :m] = _of_columns(q, np.ascontiguousarray(r[..., :m]), of_q, gr[..., :m])
    own[..., m:] = np.matmul(q, of_rest)
    return own


def _of_columns(q, r, of_q, of_r):
    half = lower(np.matmul(r, turned(of_r)) - np.matmul(turned(of_q), q))
    g = of_q + np.matmul(q, half + turned(half))
    return turned(np.linalg.solve(r, turned(g)))


def solve_tangent(wanted, tangents, a, b):
    """Of `A x = b`: the solution for `db - dA x`."""
    x = solve(a, b)
    da, db = along(wanted & 1, tangents[0]), along(wanted & 2, tangents[1])
    if np.asarray(b).ndim == 1:
        return x, solve(a, (db - np.matmul(da, x[..., None])[..., 0])[..., None])[..., 0].copy()
    return x, solve(a, db - np.matmul(da, x))


def inv_tangent(wanted, tangents, a):
    """`-A^-1 dA A^-1`."""
    x = inv(a)
    return x, -np.matmul(np.matmul(x, along(wanted & 1, tangents[0])), x)


def det_tangent(wanted, tangents, a):
    """The sum of the products of cofactors and tangents."""
    return det(a), np.sum(_cofactors(np.asarray(a)) * along(wanted & 1, tangents[0]), (-2, -1))


def cholesky_tangent(wanted, tangents, a, /, *, upper=False):
    """With the lower factor `L`: `L` times the lower part of `L^-1 dA L^-H` with half of its diagonal."""
    factor = cholesky(a)
    own = along_factor(factor, along(wanted & 1, tangents[0]))
    if upper:
        x = cholesky(a, upper=True)
        return x, fitted(turned(own), x)
    return factor, fitted(own, factor)


def along_factor(factor, t):
    """The tangents of lower factors for those of matrices, of which the Hermitian part counts."""
    both = (t + turned(t)) * prim.cast(0.5, prim.dtype_of(t))
    inside = turned(np.linalg.solve(factor, turned(np.linalg.solve(factor, both))))
    return np.matmul(factor, lower(inside))


def slogdet_tangent(wanted, tangents, a):
    """The trace of `A^-1 dA`, whose imaginary part turns the phase of complex determinants."""
    result = slogdet(a)
    sign, logarithm = result
    p = np.matmul(np.linalg.inv(a), along(wanted & 1, tangents[0]))
    traces = np.sum(np.diagonal(p, 0, -2, -1), -1)
    turn = sign * (traces - traces.real) if prim.is_complex(prim.dtype_of(p)) else sign * prim.cast(0, prim.dtype_of(p))
    return result, SlogdetResult(fitted(turn, sign), fitted(traces.real, logarithm))


def qr_tangent(wanted, tangents, a, mode="reduced"):
    """With `P = Q^H dA R^-1` and the skew matrix `W` of what is below its diagonal: `dA R^-1 + Q (W - P)` and
    `(P - W) R`; of wide matrices that holds for the first columns."""
    if mode == "raw":
        prim.error("this mode of `qr` has no derivative: use `mode='reduced'`")
    t = along(wanted & 1, tangents[0])
    if mode == "r":
        r = qr(a, mode)
        return r, fitted(_along_factors(qr(a)[0], r, t)[1], r)
    result = qr(a, mode)
    q, r = result
    _check_columns(q, r)
    of_q, of_r = _along_factors(q, r, t)
    return result, QRResult(fitted(of_q, q), fitted(of_r, r))


def _along_factors(q, r, t):
    m, n = r.shape[-2], r.shape[-1]
    first = m if m < n else n
    square = np.ascontiguousarray(r[..., :first])
    over = turned(np.linalg.solve(turned(square), turned(t[..., :first])))
    p = np.matmul(turned(q), over)
    below = np.tril(p, -1)
    turn = below - turned(below)
    if prim.is_complex(prim.dtype_of(p)):
        phases = np.diagonal(p, 0, -2, -1)
        turn = turn + (phases - phases.real)[..., None, :] * np.eye(first)
    of_q = over + np.matmul(q, turn - p)
    of_r = np.empty(r.shape, prim.dtype_of(r))
    of_r[..., :first] = np.matmul(p - turn, square)
    if n > first:
        others = np.matmul(q, r[..., first:])
        of_r[..., first:] = np.matmul(turned(of_q), others) + np.matmul(turned(q), t[..., first:])
    return of_q, of_r
