"""Iteration over the elements of arrays in the order of memory."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import unmixed
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.manip import _in_memory_order, broadcast_arrays, transpose


def nditer(op, flags=None, op_flags=None, op_dtypes=None, order="K"):
    """The elements of an array in the order of memory, as arrays without dimensions; of several arrays, which are
    broadcast, tuples of these.

    >>> [x.item() for x in np.nditer(np.array([[1, 2], [3, 4]]))]
    [1, 2, 3, 4]
    """
    if flags is not None or op_dtypes is not None:
        prim.error("`nditer` takes no flags or dtypes here: use `np.ndenumerate` for indices, and `astype`")
    operands = unmixed(op)
    if prim.is_a(operands, "builtins.list"):
        prim.error("`nditer` takes several arrays as a tuple")
    if prim.is_tuple(operands):
        wide = broadcast_arrays(*operands)
        _check_orders(operands, order)
        _check_size(wide[0])
        for index in np.ndindex(wide[0].shape):
            yield _elements(wide, index)
    else:
        x = _ordered(asarray(operands), order)
        _check_size(x)
        for index in np.ndindex(x.shape):
            element = _element(x, index)
            yield element if op_flags is not None else prim.readonly(element)


def _check_size(x):
    if x.size == 0:
        raise ValueError("Iteration of zero-sized operands is not enabled")


def _element(x, index):
    data = prim.data(x)
    for i, stride in zip(index, x.strides):
        data = prim.ptr_add(data, i * stride)
    return prim.array(prim.owner(x), data, (), (), prim.dtype_of(x), "C")


def _elements(arrays, index):
    if len(arrays) == 0:
        return ()
    return (prim.readonly(_element(arrays[0], index)),) + _elements(arrays[1:], index)


def _check_orders(operands, order):
    # The order of memory is that of indices if all arrays are row-major.
    if prim.order(order, "K") != "C":
        for x in operands:
            if prim.layout(asarray(x)) != "C":
                prim.error('the order in which several arrays lie in memory is not known: give `order="C"`')


def _ordered(x, order):
    o = prim.order(order, "K")
    if o == "C":
        return x
    if o == "F":
        return transpose(x)
    if prim.layout(x) == "C":
        return x
    return _forwards(_in_memory_order(x))


def _forwards(x):
    # Axes along which addresses fall are gone through from their ends.
    data, strides = prim.data(x), x.strides
    for k in range(x.ndim):
        if strides[k] < 0:
            data = prim.ptr_add(data, (x.shape[k] - 1) * strides[k])
            strides = prim.tuple_set(strides, k, -strides[k])
    return prim.array(prim.owner(x), data, x.shape, strides, prim.dtype_of(x), "A")
