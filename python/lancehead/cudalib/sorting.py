"""Sorting on a device, by the names of NumbaPro's and pyculib's. It is stable, and by lancehead's own code on every
device.

>>> from lancehead.cudalib import sorting
>>> keys = np.array([3.0, 1.0, 2.0])
>>> sorting.RadixSort(3, np.float64).argsort(keys), keys
(array([1, 2, 0], dtype=uint32), array([1., 2., 3.]))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lancehead import cuda, xp
from lancehead.cuda.devicearray import is_cuda_array
from lancehead.cuda.gpu import current_gpu
from lancehead.cuda.streams import check
from lancehead.cudalib import sorting_kernels as loops
from lancehead.cudalib.operands import Call, Described, count
from lancehead.options import public

_KEYS: tuple[np.dtype[Any], ...] = tuple(np.dtype(c) for c in ("f4", "f8", "i4", "u4", "i8", "u8"))
_BLOCK = 256


def _bits(dtype: np.dtype[Any], begin: int, end: int | None) -> tuple[int, Any]:
    """The first bit that counts, and a mask of those that do, in the integer whose order is that of the keys."""
    width = 8 * dtype.itemsize
    last = width if end is None else end
    if not 0 <= begin <= last <= width:
        raise ValueError(f"the bits of {dtype} are from 0 to {width}, not from {begin} to {last}")
    unsigned = np.dtype(f"u{dtype.itemsize}").type
    return begin, unsigned((1 << (last - begin)) - 1)


def _key_type(dtype: Any) -> np.dtype[Any]:
    found = next((t for t in _KEYS if t == np.dtype(dtype)), None)
    if found is None:
        raise TypeError(f"keys are of {', '.join(map(str, _KEYS))}, not of {np.dtype(dtype)}")
    return found


class RadixSort:
    """Sorts up to `maxcount` keys of a type, or finds the first of them in order.

    Args:
        maxcount: the most keys of a call.
        dtype: their type: float32, float64, or an integer of 32 or 64 bits.
        descending: whether the greatest come first.
        stream: the stream that the work is put into.
    """

    def __init__(self, maxcount: int, dtype: Any, descending: bool = False, stream: Any = 0) -> None:
        self.maxcount = count(maxcount, "maxcount")
        self.dtype = _key_type(dtype)
        self.descending, self.stream = bool(descending), stream
        self._closed = False
        check(stream)

    def close(self) -> None:
        """Ends it: calls after that are errors."""
        self._closed = True

    def sort(self, keys: Any, vals: Any = None, begin_bit: int = 0, end_bit: int | None = None) -> None:
        """Sorts keys in place, and values with them, by the bits of the keys from one to before another."""
        self._sort(keys, vals, begin_bit, end_bit, None)

    def select(self, k: int, keys: Any, vals: Any = None, begin_bit: int = 0, end_bit: int | None = None) -> None:
        """Brings the first k keys in order to the front, and values with them. The others are in no known order; of an
        array of the host they stay as they are."""
        self._sort(keys, vals, begin_bit, end_bit, self._count(k, keys))

    def argsort(self, keys: Any, begin_bit: int = 0, end_bit: int | None = None) -> Any:
        """Sorts keys in place; gives where each was before, on the host for keys of the host."""
        places = self.init_arg(self._size(keys))
        self._sort(keys, places, begin_bit, end_bit, None)
        return self._given(places, keys)

    def argselect(self, k: int, keys: Any, begin_bit: int = 0, end_bit: int | None = None) -> Any:
        """`select`, which gives where each of the first k was before."""
        k = self._count(k, keys)
        places = self.init_arg(self._size(keys))
        self._sort(keys, places, begin_bit, end_bit, k)
        return self._given(places[:k], keys)

    def init_arg(self, size: int) -> Any:
        """An array of `uint32` on the device with the numbers from 0 to before `size`."""
        return cuda.to_device(np.arange(count(size, "size"), dtype=np.uint32), stream=self.stream)

    def _size(self, keys: Any) -> int:
        if not hasattr(keys, "dtype"):
            raise TypeError(f"keys are an array of NumPy or of a device, not {type(keys).__name__}")
        return int(keys.size)

    def _count(self, k: Any, keys: Any) -> int:
        if count(k, "k") > self._size(keys):
            raise ValueError(f"k is {k}, and there are {keys.size} keys")
        return int(k)

    def _given(self, places: Any, keys: Any) -> Any:
        return places if is_cuda_array(keys) else places.copy_to_host(stream=self.stream)

    def _sort(self, keys: Any, vals: Any, begin: int, end: int | None, first: int | None) -> None:
        if self._closed:
            raise ValueError("this RadixSort is closed")
        check(self.stream)
        if self._size(keys) > self.maxcount:
            raise ValueError(f"there are {keys.size} keys, and the most is {self.maxcount}")
        bits = _bits(self.dtype, begin, end)
        with Call(self.stream) as call:
            there = call.vector(keys, "keys", self.dtype, True)
            with_keys = None if vals is None else call.vector(vals, "vals", None, True)
            if with_keys is not None and with_keys.size != there.size:
                raise ValueError(f"there are {there.size} keys and {with_keys.size} values")
            if call.gpu is not None:
                _on_gpu(there, with_keys, bits, self.descending)
                return
            order = loops.order(there, bits[0], bits[1], self.descending)
            for a, given in ((there, keys), (with_keys, vals)):
                if a is not None:
                    n = a.size if first is None or is_cuda_array(given) else first
                    a[:n] = a[order[:n]]


def segmented_sort(keys: Any, vals: Any, segments: Any, stream: Any = 0) -> None:
    """Sorts parts of keys in place, and values with them. Parts end before the places that `segments` has, in order;
    the last one is what remains.

    >>> keys, vals = np.array([3, 1, 2, 0], np.int32), np.arange(4, dtype=np.uint32)
    >>> sorting.segmented_sort(keys, vals, np.array([2], np.int32))
    >>> keys, vals
    (array([1, 3, 0, 2], dtype=int32), array([1, 0, 3, 2], dtype=uint32))
    """
    check(stream)
    if not hasattr(keys, "dtype") or not hasattr(segments, "dtype"):
        raise TypeError("keys, values and segments are arrays of NumPy or of a device")
    dtype = _key_type(keys.dtype)
    ends = segments.copy_to_host() if is_cuda_array(segments) else np.asarray(segments)
    if ends.ndim != 1 or ends.dtype.kind not in "iu":
        raise TypeError("segments are an array of integers of one dimension")
    with Call(stream) as call:
        there = call.vector(keys, "keys", dtype, True)
        with_keys = call.vector(vals, "vals", None, True)
        limits = np.concatenate([[0], ends.astype(np.int64), [there.size]])
        if with_keys.size != there.size or (np.diff(limits) < 0).any():
            raise ValueError("there is a value for each key, and segments are in order and within the keys")
        bits = _bits(dtype, 0, None)
        if call.gpu is not None:
            part = np.repeat(np.arange(limits.size - 1, dtype=np.uint32), np.diff(limits))
            _on_gpu(there, with_keys, bits, False, part)
            return
        order = loops.order_of_parts(there, limits, bits[0], bits[1])
        there[:], with_keys[:] = there[order], with_keys[order]


def _on_gpu(
    keys: np.ndarray, vals: np.ndarray | None, bits: tuple[int, Any], descending: bool, part: np.ndarray | None = None
) -> None:
    """Sorts by lancehead's kernels: of the keys' integers, and then stably of the parts they are in."""
    gpu, n = current_gpu(), keys.size
    if gpu is None or n == 0:
        return
    grid = -(-n // _BLOCK)
    there = cuda.as_cuda_array(Described(keys))
    integers = cuda.device_array(n, bits[1].dtype)
    loops.integers_kernel(keys.dtype)[grid, _BLOCK](there.view(bits[1].dtype), bits[0], bits[1], descending, integers)
    order = xp.argsort(xp.asarray(integers, copy=False), stable=True)
    if part is not None:
        parts = xp.take(xp.asarray(cuda.to_device(part), copy=False), order)
        order = xp.take(order, xp.argsort(parts, stable=True))
    places = cuda.as_cuda_array(order)
    for a in (keys, vals):
        if a is not None:
            array = cuda.as_cuda_array(Described(a))
            copy = cuda.device_array(n, a.dtype)
            loops.gathered[grid, _BLOCK](array, places, copy)
            loops.copied[grid, _BLOCK](copy, array)
    gpu.wait()


__all__ = ["RadixSort", "segmented_sort"]
public(globals())
