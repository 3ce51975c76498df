"""Derivatives of eigenvalues, singular values, and least squares.

They are those of Giles, Collected matrix derivative results (2008), and of Seeger and others, Auto-differentiating
linear algebra (2017); phases of complex vectors are as in Wan and Zhang, Automatic differentiation for complex valued
SVD (2019). Quotients by differences of equal values count as zero.
"""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives import along, fitted
from lancehead.lib.derivatives.numpy.axes import conj
from lancehead.lib.derivatives.numpy.conditioning import along_inverse, of_inverse
from lancehead.lib.derivatives.numpy.stacks import diagonals, reciprocals_of_differences, turned
from lancehead.lib.numpy.layout import copy_c
from lancehead.lib.numpy.spectral import EighResult, EigResult, SVDResult, eig, eigh, eigvals, eigvalsh, lstsq, svd


def svd_forward(a, full_matrices=True, compute_uv=True, hermitian=False):
    """The factors, or the singular values, and the narrow factors."""
    if hermitian:
        prim.error("`svd` with `hermitian=True` has no derivative: use `eigh`")
    u, s, vh = svd(a, False, True)
    if not compute_uv:
        return svd(a, compute_uv=False), (u, s, vh)
    return svd(a, full_matrices, True), (u, s, vh)


def svd_backward(saved, adjoint, wanted, shadows):
    """`U (skew(U^H adjoint(U)) / E S + S skew(V^H adjoint(V)) / E + diag(adjoint(S))) V^H`, and what lies outside of
    the spaces of `U` and `V`, with `E` the differences of squares."""
    u, s, vh = saved
    if prim.is_array(adjoint):
        return (np.matmul(u * adjoint[..., None, :], vh),)
    k = s.shape[-1]
    gu, gv = adjoint[0], turned(adjoint[2])
    if np.any(gu[..., k:]) or np.any(gv[..., k:]):
        raise NotImplementedError("`svd` of matrices that are not square has a derivative for `full_matrices=False`")
    gu, gv = np.ascontiguousarray(gu[..., :k]), np.ascontiguousarray(gv[..., :k])
    return (_of_factors(u, s, vh, gu, adjoint[1], gv),)


def _of_factors(u, s, vh, gu, gs, gv):
    one = prim.cast(1, prim.dtype_of(s))
    zero = prim.cast(0, prim.dtype_of(s))
    over = np.where(s > zero, one / np.where(s > zero, s, one), zero)
    f = reciprocals_of_differences(s * s)
    x, y = np.matmul(turned(u), gu), np.matmul(vh, gv)
    middle = f * (x - turned(x)) * s[..., None, :] + s[..., :, None] * (f * (y - turned(y)))
    middle = middle + diagonals(gs)
    if prim.is_complex(prim.dtype_of(u)):
        middle = middle + diagonals(over) * (x - turned(x)) * prim.cast(0.5, prim.dtype_of(s))
    own = np.matmul(np.matmul(u, middle), vh)
    outside = (gu - np.matmul(u, x)) * over[..., None, :]
    across = (gv - np.matmul(turned(vh), y)) * over[..., None, :]
    return own + np.matmul(outside, vh) + np.matmul(u, turned(across))


def eigh_forward(a, UPLO="L"):
    """The eigenvalues and eigenvectors, twice."""
    result = eigh(a, UPLO)
    return result, (np.copy(result[0]), np.copy(result[1]))


def eigh_backward(saved, adjoint, wanted, shadows):
    """The Hermitian part of `V (diag(adjoint(w)) + F V^H adjoint(V)) V^H`."""
    w, v = saved
    middle = reciprocals_of_differences(w) * np.matmul(turned(v), adjoint[1]) + diagonals(adjoint[0])
    own = np.matmul(np.matmul(v, middle), turned(v))
    return ((own + turned(own)) * prim.cast(0.5, prim.dtype_of(w)),)


def eigvalsh_forward(a, UPLO="L"):
    """The eigenvalues, and the eigenvectors."""
    return eigvalsh(a, UPLO), eigh(a, UPLO)[1]


def eigvalsh_backward(saved, adjoint, wanted, shadows):
    """`V diag(adjoint) V^H`."""
    return (np.matmul(saved * adjoint[..., None, :], turned(saved)),)


def eig_forward(a):
    """The eigenvalues and eigenvectors, twice."""
    result = eig(a)
    return result, (np.copy(result[0]), np.copy(result[1]))


def eig_backward(saved, adjoint, wanted, shadows):
    """`V^-H (diag(adjoint(w)) + conj(F) (X - V^H V diag(X))) V^H` with `X = V^H adjoint(V)`: vectors keep the length
    one."""
    return (of_eigenvectors(saved[0], saved[1], adjoint[0], adjoint[1]),)


def of_eigenvectors(w, v, of_w, of_v):
    """The adjoint of a matrix for those of its eigenvalues and eigenvectors."""
    h = turned(v)
    x = np.matmul(h, of_v)
    along = np.diagonal(x, 0, -2, -1)
    lengths = along.real if prim.is_complex(prim.dtype_of(x)) else along
    x = x - np.matmul(h, v) * lengths[..., None, :]
    middle = conj(reciprocals_of_differences(w)) * x + diagonals(of_w)
    return np.linalg.solve(h, np.matmul(middle, h))


def eigvals_forward(a):
    """The eigenvalues, and the eigenvectors."""
    return eigvals(a), eig(a)[1]


def eigvals_backward(saved, adjoint, wanted, shadows):
    """`V^-H diag(adjoint) V^H`."""
    return (of_eigenvalues(saved, adjoint),)


def of_eigenvalues(v, adjoint):
    """The adjoint of a matrix for that of its eigenvalues."""
    h = turned(v)
    return np.linalg.solve(h, adjoint[..., :, None] * h)


def lstsq_forward(a, b, rcond=None):
    """The solution and what comes with it; the operands, and the pseudoinverse."""
    result = lstsq(a, b, rcond)
    x, y = np.asarray(a), np.asarray(b)
    real = prim.real_dtype(prim.dtype_of(x)) if prim.is_complex(prim.dtype_of(x)) else prim.dtype_of(x)
    most = x.shape[0] if x.shape[0] > x.shape[1] else x.shape[1]
    part = float(np.finfo(real).eps) * float(most) if rcond is None else float(rcond)
    rows = copy_c(y[:, None] if y.ndim == 1 else y, prim.dtype_of(y))
    return result, (copy_c(x, prim.dtype_of(x)), rows, np.linalg.pinv(x, part))


def lstsq_backward(saved, adjoint, wanted, shadows):
    """Those of the pseudoinverse times the right-hand sides; residuals are orthogonal to the columns of the matrix."""
    a, b, inverse = saved
    gx, gr, _, gs = adjoint
    g = gx[:, None] if gx.ndim == 1 else gx
    of_b = np.matmul(turned(inverse), g)
    of_a = of_inverse(a, inverse, np.matmul(g, turned(b)))
    if gr.size > 0:
        x = np.matmul(inverse, b)
        errors = (np.matmul(a, x) - b) * (gr + gr)
        of_a, of_b = of_a + np.matmul(errors, turned(x)), of_b - errors
    if np.any(gs):
        u, _, vh = np.linalg.svd(a, False)
        of_a = of_a + np.matmul(u * gs, vh)
    return of_a, of_b.reshape(np.asarray(shadows[1]).shape)


def svd_tangent(wanted, tangents, a, full_matrices=True, compute_uv=True, hermitian=False):
    """With `P = U^H dA V`: the diagonal of `P`, `U (P S + S P^H) / E`, `V (S P + P^H S) / E`, and what leaves the
    spaces of `U` and `V`. Further columns of square factors turn so that they stay orthogonal."""
    if hermitian:
        prim.error("`svd` with `hermitian=True` has no derivative: use `eigh`")
    t = along(wanted & 1, tangents[0])
    u, s, vh = svd(a, False, True)
    p = np.matmul(np.matmul(turned(u), t), turned(vh))
    of_s = np.diagonal(p, 0, -2, -1).real
    if not compute_uv:
        found = svd(a, compute_uv=False)
        return found, fitted(of_s, found)
    of_u, of_v = _along_factors(t, u, s, vh, p)
    result = svd(a, full_matrices, True)
    if full_matrices:
        of_u, of_v = _completed(of_u, u, result[0]), _completed(of_v, turned(vh), turned(result[2]))
    return result, SVDResult(fitted(of_u, result[0]), fitted(of_s, result[1]), fitted(turned(of_v), result[2]))


def _along_factors(t, u, s, vh, p):
    one, zero = prim.cast(1, prim.dtype_of(s)), prim.cast(0, prim.dtype_of(s))
    over = np.where(s > zero, one / np.where(s > zero, s, one), zero)
    f = reciprocals_of_differences(s * s)
    right, left = p * s[..., None, :], s[..., :, None] * p
    inner = f * (right + turned(right))
    if prim.is_complex(prim.dtype_of(u)):
        inner = inner + diagonals(over) * (p - turned(p)) * prim.cast(0.5, prim.dtype_of(s))
    across, h = np.matmul(t, turned(vh)), turned(t)
    outside = (across - np.matmul(u, np.matmul(turned(u), across))) * over[..., None, :]
    back = np.matmul(h, u)
    beyond = (back - np.matmul(turned(vh), np.matmul(vh, back))) * over[..., None, :]
    return np.matmul(u, inner) + outside, np.matmul(turned(vh), f * (left + turned(left))) + beyond


def _completed(t, narrow, whole):
    # The tangent of a square factor of which the first columns have the tangent `t`.
    k = narrow.shape[-1]
    out = np.zeros(whole.shape, prim.dtype_of(whole))
    out[..., :k] = t
    out[..., k:] = -np.matmul(narrow, np.matmul(turned(t), whole[..., k:]))
    return out


def _hermitian_part(t):
    return (t + turned(t)) * prim.cast(0.5, prim.real_dtype(prim.dtype_of(t)))


def eigh_tangent(wanted, tangents, a, UPLO="L"):
    """The diagonal of `V^H dA V`, and `V F (V^H dA V)`."""
    result = eigh(a, UPLO)
    w, v = result
    p = np.matmul(np.matmul(turned(v), _hermitian_part(along(wanted & 1, tangents[0]))), v)
    of_v = np.matmul(v, reciprocals_of_differences(w) * p)
    return result, EighResult(fitted(np.diagonal(p, 0, -2, -1).real, w), fitted(of_v, v))


def eigvalsh_tangent(wanted, tangents, a, UPLO="L"):
    """The diagonal of `V^H dA V`."""
    w, v = eigvalsh(a, UPLO), eigh(a, UPLO)[1]
    p = np.matmul(np.matmul(turned(v), _hermitian_part(along(wanted & 1, tangents[0]))), v)
    return w, fitted(np.diagonal(p, 0, -2, -1).real, w)


def eig_tangent(wanted, tangents, a):
    """The diagonal of `V^-1 dA V`, and `V F (V^-1 dA V)` without what changes the length of vectors."""
    result = eig(a)
    w, v = result
    of_w, of_v = along_eigenvectors(w, v, along(wanted & 1, tangents[0]))
    return result, EigResult(fitted(of_w, w), fitted(of_v, v))


def along_eigenvectors(w, v, t):
    """The tangents of eigenvalues and eigenvectors for that of the matrix."""
    p = np.linalg.solve(v, np.matmul(t, v))
    c = np.matmul(v, reciprocals_of_differences(w) * p)
    longer = np.sum((conj(v) * c).real, -2)
    return np.diagonal(p, 0, -2, -1), c - v * longer[..., None, :]


def eigvals_tangent(wanted, tangents, a):
    """The diagonal of `V^-1 dA V`."""
    w, v = eigvals(a), eig(a)[1]
    p = np.linalg.solve(v, np.matmul(along(wanted & 1, tangents[0]), v))
    return w, fitted(np.diagonal(p, 0, -2, -1), w)


def lstsq_tangent(wanted, tangents, a, b, rcond=None):
    """That of the pseudoinverse times the right-hand sides; of residuals `r`, `2 r^H (db - dA x)`."""
    result, (m, rows, inverse) = lstsq_forward(a, b, rcond)
    ta, tb = np.asarray(along(wanted & 1, tangents[0])), np.asarray(along(wanted & 2, tangents[1]))
    change = tb[:, None] if tb.ndim == 1 else tb
    x = np.matmul(inverse, rows)
    of_x = np.matmul(along_inverse(m, inverse, ta), rows) + np.matmul(inverse, change)
    errors = rows - np.matmul(m, x)
    of_sums = np.sum((conj(errors) * (change - np.matmul(ta, x))).real, 0)
    u, _, vh = np.linalg.svd(m, False)
    of_s = np.diagonal(np.matmul(np.matmul(turned(u), ta), turned(vh))).real
    sums = fitted((of_sums + of_sums)[: result[1].size], result[1])
    return result, (fitted(of_x.reshape(result[0].shape), result[0]), sums, result[2], fitted(of_s, result[3]))
