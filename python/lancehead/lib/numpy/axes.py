"""Functions of all elements along one axis, several or all of them."""

from lancehead.lib import prim
from lancehead.lib.conversions import axis_of, check_flag
from lancehead.lib.numpy.folds import keep, lines_axis
from lancehead.lib.numpy.layout import check_axis, contiguous, count, new_array, row, with_shape
from lancehead.lib.numpy.manip import moveaxis


def table_of(x, axis):
    """A table whose rows have the elements that become one result, and the shape of the results."""
    if axis is None:
        return with_shape(contiguous(x), (1, x.size)), ()
    if not prim.is_tuple(prim.sized(axis)):
        return table_of(x, (axis_of(axis),))
    moved = moveaxis(x, axis, _last(axis))
    kept = moved.shape[: x.ndim - len(axis)]
    return with_shape(contiguous(moved), (count(kept), count(moved.shape[x.ndim - len(axis) :]))), kept


def _last(axis):
    # The last axes, as many as there are.
    return (-len(axis),) + _last(axis[1:]) if len(axis) > 0 else ()


def kept_shape(x, axis):
    """The shape with extent one along the axes."""
    if axis is None:
        return prim.tuple_fill(x.ndim, 1)
    if not prim.is_tuple(axis):
        return prim.tuple_set(x.shape, check_axis(axis_of(axis), x.ndim), 1)
    shape = x.shape
    for k in range(len(axis)):
        shape = prim.tuple_set(shape, check_axis(axis[k], x.ndim), 1)
    return shape


def lines_axes(f, x, axis, keepdims, dtype, extra):
    """A function of every line of elements along one axis, several or all."""
    check_flag(keepdims)
    if axis is None:
        return keep(f(with_shape(contiguous(x), (x.size,)) if x.ndim != 1 else x, extra), x.ndim, keepdims)
    if not prim.is_tuple(prim.sized(axis)):
        return lines_axis(f, x, axis_of(axis), keepdims, dtype, extra)
    table, shape = table_of(x, axis)
    out = new_array(shape, dtype)
    line = with_shape(out, (table.shape[0],))
    for i in range(table.shape[0]):
        prim.set_item(line, i, f(row(table, i), extra))
    return with_shape(out, kept_shape(x, axis)) if keepdims else out[()]
