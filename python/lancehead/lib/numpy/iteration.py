"""Iteration over the elements of arrays in the order of memory."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import unmixed
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import count
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


class broadcast:
    """Arrays in one shape, and tuples of their elements, in row-major order."""

    __parameters__ = ("T",)
    __fields__ = {"_arrays": "T", "index": "int"}

    def __new__(*arrays):
        """The shape that arrays have together, and their elements side by side.

        >>> np.broadcast(np.ones(3), np.ones((2, 1))).shape
        (2, 3)
        """
        wide = broadcast_arrays(*arrays) if len(arrays) > 0 else ()
        self = prim.new("numpy.broadcast", wide)
        self._arrays = wide
        return self

    @property
    def shape(self):
        """The shape of all."""
        return self._arrays[0].shape if len(self._arrays) > 0 else ()

    @property
    def ndim(self):
        """The number of dimensions."""
        return len(self.shape)

    @property
    def nd(self):
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self):
        """The number of elements of each."""
        return count(self.shape)

    @property
    def numiter(self):
        """The number of arrays."""
        return len(self._arrays)

    def reset(self):
        """Begins anew."""
        self.index = 0

    def __iter__(self):
        n = self.size
        while self.index < n:
            at = self.index
            self.index = at + 1
            yield _values(self._arrays, at)


def _values(arrays, at):
    return (arrays[0].flat[at],) + _values(arrays[1:], at) if len(arrays) > 0 else ()
