"""Iteration over the elements of arrays in the order of memory."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import unmixed
from lancehead.lib.numpy.casting import check_cast
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import count, new_zeros
from lancehead.lib.numpy.manip import broadcast_arrays

#: Flags of `np.nditer` that change nothing here: elements are used where they are, one at a time.
_WITHOUT_EFFECT = (
    "common_dtype", "copy_if_overlap", "delay_bufalloc", "grow_inner", "ranged", "reduce_ok", "refs_ok"
)  # fmt: skip


class nditer:
    """The elements of arrays side by side, in the order of memory."""

    __parameters__ = ("T", "U", "N", "S", "E")
    __fields__ = {
        "operands": "T",
        "itersize": "int",
        "iterindex": "int",
        "finished": "bool",
        "has_index": "bool",
        "has_multi_index": "bool",
        "_ordered": "U",
        "_at": "N",
        "_axes": "N",
        "_shape": "N",
        "_turned": "int",
        "_started": "bool",
        "_by_columns": "bool",
        "_single": "S",
        "_line": "E",
    }

    def __new__(
        op, flags=None, op_flags=None, op_dtypes=None, order="K", casting="safe", buffersize=0, external_loop=False
    ):
        """The elements of an array in the order of memory, as arrays without dimensions; of several arrays, which are
        broadcast, tuples of these.

        >>> [x.item() for x in np.nditer(np.array([[1, 2], [3, 4]]))]
        [1, 2, 3, 4]
        """
        given = unmixed(prim.sized(op))
        # The compiler finds the flag, which decides on the rank of what is given.
        line = 0 if external_loop else None
        if prim.is_tuple(given):
            return _iterator(given, flags, op_flags, op_dtypes, order, casting, None, line)
        return _iterator((given,), flags, op_flags, op_dtypes, order, casting, 0, line)

    @property
    def nop(self):
        """The number of arrays."""
        return len(self.operands)

    @property
    def multi_index(self):
        """The index of the elements, where the flag asks for it."""
        if not self.has_multi_index:
            raise ValueError("Iterator is not tracking a multi-index")
        self._check_end()
        return self._index()

    @property
    def index(self):
        """The number of the elements by rows or columns, where a flag asks for it."""
        if not self.has_index:
            raise ValueError("Iterator does not have an index")
        self._check_end()
        index, shape, number = self._index(), self._shape, 0
        for k in range(len(shape)):
            at = len(shape) - 1 - k if self._by_columns else k
            number = number * shape[at] + index[at]
        return number

    @property
    def value(self):
        """The elements."""
        self._check_end()
        if self._single is None:
            return _elements(self._ordered, self._at, self._line)
        return _element(self._ordered[0], self._at, self._line)

    def iternext(self):
        """Goes on to the next elements; whether there are any."""
        if self.finished:
            return False
        line = 0 if self._line is None else self._line
        self.iterindex += _extent_of_last(self._ordered[0].shape, line)
        if self.iterindex >= self.itersize:
            self.finished = True
            return False
        at, shape = self._at, self._ordered[0].shape
        k = len(shape) - 1 - line
        while at[k] + 1 >= shape[k]:
            at = prim.tuple_set(at, k, 0)
            k -= 1
        self._at = prim.tuple_set(at, k, at[k] + 1)
        return True

    def reset(self):
        """Begins anew."""
        self.iterindex = 0
        self.finished = self.itersize == 0
        self._started = False
        for k in range(len(self._at)):
            self._at = prim.tuple_set(self._at, k, 0)

    def close(self):
        """Ends the iteration."""
        self.finished = True

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        self.close()

    def __len__(self):
        return len(self.operands)

    def __getitem__(self, i):
        self._check_end()
        return _elements(self._ordered, self._at, self._line)[i]

    def __setitem__(self, i, x):
        self._check_end()
        _elements(self._ordered, self._at, self._line)[i][...] = x

    def __iter__(self):
        while not self.finished:
            if self._started and not self.iternext():
                break
            self._started = True
            yield self.value

    def _check_end(self):
        if self.finished:
            raise ValueError("Iterator is past the end")

    def _index(self):
        # Axes that are gone through from their ends count down.
        index = self._at
        for k in range(len(index)):
            axis = self._axes[k]
            down = (self._turned >> axis) & 1 != 0
            index = prim.tuple_set(index, axis, self._shape[axis] - 1 - self._at[k] if down else self._at[k])
        return index


def _iterator(given, flags, op_flags, op_dtypes, order, casting, single, line):
    dtypes = _for_each(unmixed(op_dtypes), given)
    arrays = _converted(given, dtypes, op_flags, casting)
    wide = _spread(arrays, np.broadcast_shapes(*_shapes_of(arrays)))
    shape, axes, turned = wide[0].shape, prim.tuple_fill(wide[0].ndim, 0), 0
    o = prim.order(order, "K")
    by_columns = o == "F" or o == "A" and _are_fortran(wide)
    for k in range(len(shape)):
        axes = prim.tuple_set(axes, k, len(shape) - 1 - k if by_columns else k)
    if o == "K":
        axes = _sorted_axes(wide, axes)
        turned = _falling(wide, shape) if len(wide) == len(given) else 0
    made = _made(arrays, dtypes, wide, axes)
    operands = made if op_flags is not None else _readonly(made, given)
    ordered = _lined_up(operands, axes, turned)
    self = prim.new("numpy.nditer", operands, ordered, shape, single, line)
    self.operands, self._ordered, self._single = operands, ordered, single
    self._line = None if line is None else _axes_of_line(ordered)
    self._shape, self._axes, self._turned = shape, axes, turned
    self.itersize = count(shape)
    _note_flags(self, flags, _are_converted(given, arrays))
    return self


def _note_flags(self, flags, is_converted):
    may_be_empty, is_buffered = False, False
    if flags is not None:
        if prim.is_str(flags):
            prim.error("`flags` is a list of texts")
        for flag in flags:
            if flag == "multi_index":
                self.has_multi_index = True
            elif flag == "c_index" or flag == "f_index":
                if self.has_index and self._by_columns != (flag == "f_index"):
                    raise ValueError("Iterator flags C_INDEX and F_INDEX cannot both be specified")
                self.has_index, self._by_columns = True, flag == "f_index"
            elif flag == "zerosize_ok":
                may_be_empty = True
            elif flag == "buffered":
                is_buffered = True
            elif flag == "external_loop":
                if self._line is None:
                    raise NotImplementedError("`external_loop` is known from `flags=[...]` at the call only")
            elif flag not in _WITHOUT_EFFECT:
                raise ValueError('Unexpected iterator global flag "' + flag + '"')
    if self._line is not None:
        if self.has_index or self.has_multi_index:
            raise ValueError("Iterator flag EXTERNAL_LOOP cannot be used if an index or multi-index is being tracked")
        if is_buffered:
            raise NotImplementedError("compiled code has no buffers: leave out `buffered` or `external_loop`")
    if self.itersize == 0 and not may_be_empty:
        raise ValueError("Iteration of zero-sized operands is not enabled")
    if is_converted and not is_buffered:
        raise TypeError("Iterator operand required copying or buffering, but neither copying nor buffering was enabled")
    self.finished = self.itersize == 0


def _for_each(dtypes, given):
    # A dtype, or None, for each array: those of a tuple, or the one of all.
    if prim.is_tuple(dtypes):
        return dtypes
    if prim.is_a(dtypes, "builtins.list"):
        if prim.is_str(prim.example(dtypes)):
            prim.error("dtypes in a list are given by their classes, as in `op_dtypes=[np.float64]`")
        return prim.tuple_fill(len(given), prim.example(dtypes))
    return prim.tuple_fill(len(given), dtypes)


def _converted(given, dtypes, op_flags, casting):
    # Arrays of the elements; None is left for one that is to be made.
    if len(given) == 0:
        return ()
    rest = _converted(given[1:], dtypes[1:], op_flags, casting)
    if given[0] is None:
        return (None,) + rest
    x, dtype = asarray(given[0]), dtypes[0]
    if dtype is None:
        return (x,) + rest
    if prim.as_dtype(dtype) == prim.dtype_of(x):
        return (x,) + rest
    if op_flags is not None:
        prim.error("elements that are changed are not converted: `op_flags=` and `op_dtypes=` are for other arrays")
    check_cast(prim.dtype_of(x), prim.as_dtype(dtype), casting)
    return (x.astype(dtype),) + rest


def _are_converted(given, arrays):
    if len(given) == 0:
        return False
    rest = _are_converted(given[1:], arrays[1:])
    return rest if given[0] is None else rest or prim.dtype_of(asarray(given[0])) != prim.dtype_of(arrays[0])


def _shapes_of(arrays):
    if len(arrays) == 0:
        return ()
    if arrays[0] is None:
        return _shapes_of(arrays[1:])
    return (arrays[0].shape,) + _shapes_of(arrays[1:])


def _spread(arrays, shape):
    # Arrays in one shape, except those that are to be made; axes along which they are repeated have no stride.
    if len(arrays) == 0:
        return ()
    if arrays[0] is None:
        return _spread(arrays[1:], shape)
    x = arrays[0]
    wide = np.broadcast_to(x, shape)
    view = prim.array(prim.owner(x), prim.data(x), wide.shape, wide.strides, prim.dtype_of(x), "A")
    return (prim.readonly(view) if prim.is_readonly(x) else view,) + _spread(arrays[1:], shape)


def _are_fortran(arrays):
    return arrays[0].T.flags.c_contiguous and _are_fortran(arrays[1:]) if len(arrays) > 0 else True


def _sorted_axes(arrays, axes):
    # From the greatest strides to the least, by insertion: the order of rows wins where arrays differ.
    n = len(axes)
    for first in range(1, n):
        at, axis = first, axes[n - 1 - first]
        for k in range(first - 1, -1, -1):
            found = _compared(arrays, axes[n - 1 - k], axis)
            if found == 1:
                at = k
            elif found == 0:
                break
        for k in range(first, at, -1):
            axes = prim.tuple_set(axes, n - 1 - k, axes[n - k])
        axes = prim.tuple_set(axes, n - 1 - at, axis)
    return axes


def _compared(arrays, inner, outer):
    # 1 if the inner axis has the greater strides, 0 if not, -1 if no array moves along both.
    found = -1
    for x in arrays:
        i, j = prim.abs(_stride(x, inner)), prim.abs(_stride(x, outer))
        if i != 0 and j != 0:
            if i <= j:
                found = 0
            elif found == -1:
                found = 1
    return found


def _stride(x, axis):
    return 0 if x.shape[axis] == 1 else x.strides[axis]


def _falling(arrays, shape):
    # Axes along which addresses fall in some arrays and rise in none are gone through from their ends.
    turned = 0
    for k in range(len(shape)):
        falls, rises = False, False
        for x in arrays:
            stride = _stride(x, k)
            falls, rises = falls or stride < 0, rises or stride > 0
        if falls and not rises:
            turned |= 1 << k
    return turned


def _made(arrays, dtypes, wide, axes):
    # The arrays, and where one is to be made a new one that lies in memory as they are gone through.
    if len(arrays) == 0:
        return ()
    rest, shape = _made(arrays[1:], dtypes[1:], wide, axes), wide[0].shape
    if arrays[0] is not None:
        return _spread(arrays[:1], shape) + rest
    if dtypes[0] is None:
        return (_new(shape, axes, prim.result_type(*wide)),) + rest
    return (_new(shape, axes, prim.as_dtype(dtypes[0])),) + rest


def _new(shape, axes, dtype):
    flat = new_zeros((count(shape),), dtype)
    strides, step = shape, prim.itemsize(dtype)
    for k in range(len(shape) - 1, -1, -1):
        strides = prim.tuple_set(strides, axes[k], step)
        step *= shape[axes[k]]
    return prim.array(prim.owner(flat), prim.data(flat), shape, strides, dtype, "A")


def _readonly(arrays, given):
    if len(arrays) == 0:
        return ()
    rest = _readonly(arrays[1:], given[1:])
    return (arrays[0] if given[0] is None else prim.readonly(arrays[0]),) + rest


def _lined_up(arrays, axes, turned):
    if len(arrays) == 0:
        return ()
    x = arrays[0]
    data, shape, strides = prim.data(x), x.shape, x.strides
    for k in range(len(axes)):
        axis = axes[k]
        stride = x.strides[axis]
        if (turned >> axis) & 1 != 0:
            data = prim.ptr_add(data, (x.shape[axis] - 1) * stride)
            stride = -stride
        shape, strides = prim.tuple_set(shape, k, x.shape[axis]), prim.tuple_set(strides, k, stride)
    view = prim.array(prim.owner(x), data, shape, strides, prim.dtype_of(x), "A")
    return (prim.readonly(view) if prim.is_readonly(x) else view,) + _lined_up(arrays[1:], axes, turned)


def _axes_of_line(arrays):
    # How many of the last axes are one line in all arrays.
    shape = arrays[0].shape
    inner, size, n = len(shape) - 1, 1, 0
    for k in range(len(shape) - 1, -1, -1):
        if size > 1 and shape[k] > 1 and not _goes_on(arrays, k, inner, size):
            break
        inner = k if size == 1 else inner
        size *= shape[k]
        n += 1
    return n


def _goes_on(arrays, outer, inner, size):
    # Whether so many elements along an inner axis end in all arrays where the next ones along an outer axis begin.
    for x in arrays:
        if _stride(x, inner) * size != _stride(x, outer):
            return False
    return True


def _extent_of_last(shape, n):
    size = 1
    for k in range(len(shape) - n, len(shape)):
        size *= shape[k]
    return size


def _element(x, index, line):
    data = prim.data(x)
    for i, stride in zip(index, x.strides):
        data = prim.ptr_add(data, i * stride)
    if line is None:
        one = prim.array(prim.owner(x), data, (), (), prim.dtype_of(x), "C")
    else:
        size, step = _extent_of_last(x.shape, line), prim.itemsize(prim.dtype_of(x))
        for k in range(x.ndim - line, x.ndim):
            # The innermost axis with several elements.
            step = x.strides[k] if x.shape[k] > 1 else step
        one = prim.array(prim.owner(x), data, (size,), (step,), prim.dtype_of(x), "A")
    return prim.readonly(one) if prim.is_readonly(x) else one


def _elements(arrays, index, line):
    if len(arrays) == 0:
        return ()
    return (_element(arrays[0], index, line),) + _elements(arrays[1:], index, line)


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
