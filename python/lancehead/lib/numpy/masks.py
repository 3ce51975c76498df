"""Reductions over the elements that a mask tells (`where=`), and from an initial value on."""

from lancehead.lib import prim
from lancehead.lib.numpy.casting import fitting
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.manip import broadcast_to


def _mask_of(where, shape):
    m = asarray(where != 0 if prim.is_number(where) else where)
    if not prim.is_bool(prim.dtype_of(m)):
        prim.error("`where` is a mask of truth values")
    return broadcast_to(m, shape)


def masked(x, where, fill):
    """The array, as the type of a number that stands where a mask is false."""
    return asarray(prim.map(_kept, _mask_of(where, x.shape), x, fill))


def _kept(wanted, x, fill):
    return prim.cast(x, prim.dtype_of(fill)) if wanted else fill


def weights_of(where, shape):
    """One for each element that a mask tells, zero for others: their sum is how many there are."""
    return prim.map(_one, _mask_of(where, shape))


def _one(wanted):
    return prim.cast(1, int) if wanted else prim.cast(0, int)


def begun(found, initial, step):
    """A result joined with the initial value, if there is one."""
    if initial is None:
        return found
    first = fitting(initial, prim.dtype_of(found))
    return prim.map(step, found, first) if prim.is_array(found) else step(first, found)


def zero_of(dtype):
    """The zero with which sums of floats begin: one of negative zeros has no sign."""
    return prim.cast(0, dtype) if prim.is_float(dtype) or prim.is_complex(dtype) else None


def no_summand(dtype):
    """The number that changes no sum: of floats the negative zero, since a positive one changes that."""
    if prim.is_float(dtype) or prim.is_complex(dtype):
        return -prim.cast(0, dtype)
    return prim.cast(0, dtype)


def freedom(ddof, correction):
    """The degrees of freedom that are lost, under either name."""
    if correction is None:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction
