"""Operands of `scipy.linalg`: their checks, their types, and stacks of them."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import check_flag, flag_of
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import copy_c, count, with_shape
from lancehead.lib.numpy.manip import broadcast_shapes, broadcast_to
from lancehead.lib.numpy.stacks import matrices


def checked(a, check_finite):
    """An argument as an array; with the flag, an infinity or NaN is a ValueError."""
    x = asarray(a)
    if flag_of(check_finite):
        own = prim.dtype_of(x)
        if prim.is_float(own) or prim.is_complex(own):
            if not np.all(np.isfinite(x)):
                raise ValueError("array must not contain infs or NaNs")
    return x


def side_of(lower):
    """The flag that names the lower triangle, as LAPACK takes it."""
    check_flag(lower)
    if lower != 0 and lower != 1:
        raise ValueError("(lower==0||lower==1) failed")
    return flag_of(lower)


def check_rank(x):
    """Refuses what holds no matrices."""
    if x.ndim < 2:
        prim.error("a matrix is needed: an array of at least two dimensions")


def check_single(x):
    """Refuses stacks, for functions whose results have no common shape or are not arrays."""
    check_rank(x)
    if x.ndim != 2:
        prim.error("this function takes one matrix here: call it in a loop over the stack")


def check_right(y):
    """Refuses right-hand sides that are numbers."""
    if y.ndim == 0:
        prim.error("right-hand sides have one dimension or more")


def check_batch(x, name):
    """Stacks of no matrices are a ValueError where SciPy loops over them."""
    if x.ndim > 2:
        if count(x.shape[:-2]) == 0:
            raise ValueError("`" + name + "` does not support zero-size batches.")


def lapack_dtype(dtype):
    """The type in which LAPACK computes: integers of at most 16 bits and truth values count as `float32`."""
    if prim.is_complex(dtype):
        return dtype
    if prim.is_float(dtype):
        return np.float64 if prim.itemsize(dtype) == 8 else np.float32
    if not (prim.is_int(dtype) or prim.is_bool(dtype)):
        prim.error("linear algebra takes numbers")
    return np.float32 if prim.itemsize(dtype) <= 2 else np.float64


def inexact_dtype(dtype):
    """The type in which functions compute that take all integers as `float64`."""
    if prim.is_int(dtype) or prim.is_bool(dtype):
        return np.float64
    return lapack_dtype(dtype)


def lapack_dtype_of(x, y):
    """The type in which LAPACK computes with two arrays."""
    return prim.result_type(lapack_dtype(prim.dtype_of(x)), lapack_dtype(prim.dtype_of(y)))


def rows_of(y):
    """The number of rows of right-hand sides: of a vector its length."""
    return y.shape[0] if y.ndim == 1 else y.shape[y.ndim - 2]


def lead_of(x, y):
    """The shape of the stack that matrices and right-hand sides make together; a vector goes with each matrix."""
    if y.ndim == 1:
        return x.shape[:-2]
    return broadcast_shapes(x.shape[:-2], y.shape[:-2])


def spread(x, lead):
    """Matrices for each of a stack of a shape, in three dimensions and row-major."""
    if x.ndim == 2 and len(lead) == 0:
        return matrices(x)
    return matrices(broadcast_to(x, lead + (x.shape[x.ndim - 2], x.shape[x.ndim - 1])))


def right_sides(y, lead, dtype):
    """A copy of right-hand sides for each matrix of a stack, and the same memory as a stack of matrices."""
    if y.ndim == 1:
        n = y.shape[0]
        out = copy_c(broadcast_to(y, lead + (n,)), dtype)
        return out, with_shape(out, (count(lead), n, 1))
    out = copy_c(broadcast_to(y, lead + (y.shape[y.ndim - 2], y.shape[y.ndim - 1])), dtype)
    return out, matrices(out)


def text_of_shape(shape):
    """A shape as Python writes it."""
    text = "("
    for k in range(len(shape)):
        text += (", " if k > 0 else "") + str(shape[k])
    return text + (",)" if len(shape) == 1 else ")")
