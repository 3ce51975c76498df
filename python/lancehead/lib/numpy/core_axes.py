"""`axes=` and `order=` of products of vectors and matrices: where these lie in the operands, and how in the result."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import unmixed
from lancehead.lib.numpy.layout import check_axis
from lancehead.lib.numpy.manip import moveaxis


def checked_axes(axes, takes_all):
    """The entries of `axes=`, of which the one of a result without axes of its own may be left out."""
    entries = unmixed(axes)
    if prim.is_tuple(axes) or prim.is_range(axes) or prim.is_scalar(axes):
        prim.error("`axes` is a list with an entry for each operand and the result")
    if len(entries) != 3 and (takes_all or len(entries) != 2):
        raise ValueError(
            "axes should be a list with an entry for all 3 inputs and outputs; entries for outputs can only be omitted "
            "if none of them has core axes."
        )
    return entries


def moved_last(x, entry, last):
    """An operand with the axes of its vectors or matrices behind the others: there they are the `last` ones."""
    return moveaxis(x, core_axes(entry, last, x.ndim), last)


def moved_back(product, entry, last):
    """A product with the axes of its vectors or matrices, its `last` ones, where they are asked for."""
    axes = core_axes(entry, last, product.ndim)
    return moveaxis(product, last, axes) if len(last) > 0 else product


def core_axes(entry, last, ndim):
    """An entry of `axes=` as a tuple of as many axes as there are `last` ones; a number stands for one axis."""
    if prim.is_int(entry):
        return core_axes((entry,), last, ndim)
    if not prim.is_tuple(entry):
        prim.error("an item of `axes` is a tuple or an integer")
    if len(entry) != len(last):
        text = "operand has " + str(len(last)) + " core dimensions, but " + str(len(entry))
        raise np.exceptions.AxisError(text + " dimensions are specified by axes tuple.")
    if len(last) == 2:
        if check_axis(entry[0], ndim) == check_axis(entry[1], ndim):
            raise ValueError("axes item has value " + str(entry[0]) + " repeated")
    return entry


def in_order(product, x, y, order):
    """A product that lies in memory as `order=` says, which is in row-major order by default."""
    if not prim.is_array(product):
        return product
    o = prim.order(order, "K")
    if o == "F" or (o == "A" and prim.layout(x) == "F" and prim.layout(y) == "F"):
        return np.asfortranarray(product)
    return product
