"""Arrays over memory that addresses point to."""

from lancehead.lib import prim
from lancehead.lib.numpy.layout import as_shape, c_strides, f_strides


def carray(ptr, shape, dtype=None):
    """An array in C order over the memory at an address, which has to stay. `dtype` is needed if the address does not
    say it."""
    item = prim.pointee(ptr, dtype)
    extents = as_shape(shape)
    return prim.array(prim.no_owner(), prim.address(ptr), extents, c_strides(extents, item.itemsize), item, "C")


def farray(ptr, shape, dtype=None):
    """As `carray`, in Fortran's order."""
    item = prim.pointee(ptr, dtype)
    extents = as_shape(shape)
    return prim.array(prim.no_owner(), prim.address(ptr), extents, f_strides(extents, item.itemsize), item, "F")
