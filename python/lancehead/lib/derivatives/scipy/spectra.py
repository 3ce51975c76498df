"""Derivatives of eigenvalues and pseudoinverses of `scipy.linalg`; other functions call those of `numpy.linalg`."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives import along, fitted
from lancehead.lib.derivatives.numpy.conditioning import along_inverse, of_inverse
from lancehead.lib.derivatives.numpy.spectral import along_eigenvectors, of_eigenvalues, of_eigenvectors
from lancehead.lib.numpy.layout import copy_c
from lancehead.lib.scipy.spectra import _general, pinv


def _general_forward(a, b, wants_vectors, check_finite, name):
    """The eigenvalues and eigenvectors, twice, and whether both are asked for."""
    w, v = _general(a, b, True, check_finite, name)
    saved = (np.copy(w), np.copy(v), 0 if wants_vectors else None)
    if wants_vectors:
        return (w, v), saved
    return _general(a, b, False, check_finite, name), saved


def _general_backward(saved, adjoint, wanted, shadows):
    """As those of `numpy.linalg.eig`."""
    w, v, both = saved
    if both is None:
        return (of_eigenvalues(v, adjoint[0]),)
    return (of_eigenvectors(w, v, adjoint[0], adjoint[1]),)


def pinv_forward(a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    """The pseudoinverse, twice, and the matrix."""
    if return_rank:
        prim.error("`pinv` with `return_rank=True` has no derivative: leave it out")
    x = np.asarray(a)
    found = pinv(a, atol=atol, rtol=rtol, check_finite=check_finite)
    return found, (copy_c(x, prim.dtype_of(x)), np.copy(found))


def pinv_backward(saved, adjoint, wanted, shadows):
    """As that of `numpy.linalg.pinv`."""
    return (of_inverse(saved[0], saved[1], adjoint),)


def _general_tangent(wanted, tangents, a, b, wants_vectors, check_finite, name):
    """As those of `numpy.linalg.eig`."""
    result, (w, v, _) = _general_forward(a, b, wants_vectors, check_finite, name)
    of_w, of_v = along_eigenvectors(w, v, along(wanted & 1, tangents[0]))
    if wants_vectors:
        return result, (fitted(of_w, result[0]), fitted(of_v, result[1]))
    return result, (fitted(of_w, result[0]), result[1])


def pinv_tangent(wanted, tangents, a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    """As that of `numpy.linalg.pinv`."""
    found, (m, inverse) = pinv_forward(a, atol=atol, rtol=rtol, return_rank=return_rank, check_finite=check_finite)
    return found, fitted(along_inverse(m, inverse, along(wanted & 1, tangents[0])), found)
