"""`cuda.reduce`: reductions of arrays with a function of two values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lancehead.cuda.args import In
from lancehead.cuda.devicearray import DeviceNDArray, device_array
from lancehead.cuda.dispatcher import jit
from lancehead.cuda.gpu import current_gpu
from lancehead.cuda.names import blockIdx, shared, syncthreads, threadIdx

_THREADS = 256
# At most so many blocks, each of which has at least so many elements for each thread.
_BLOCKS, _EACH = 1024, 32


class Reduce:
    """A reduction with a function of two values, which must be associative and commutative.

    >>> total = cuda.Reduce(lambda a, b: a + b)
    >>> int(total(np.arange(10)))
    45
    """

    def __init__(self, functor: Callable[[Any, Any], Any]) -> None:
        self._functor = functor
        combine = jit(functor, device=True)

        def partial(values: Any, out: Any, size: int, row: int) -> None:
            t, start = threadIdx.x, blockIdx.x * row
            stop = min(start + row, size)
            count = min(stop - start, _THREADS)
            some = shared.array(_THREADS, out.dtype)
            # The loop is the same for all threads: those without an element have another one's, which is not used.
            total = values[min(start + t, stop - 1)]
            whole = (stop - start) // _THREADS
            for j in range(1, whole):
                total = combine(total, values[start + j * _THREADS + t])
            rest = start + whole * _THREADS + t
            if whole > 0 and rest < stop:
                total = combine(total, values[rest])
            some[t] = total
            syncthreads()
            while count > 1:
                half = (count + 1) // 2
                if t < count - half:
                    some[t] = combine(some[t], some[t + half])
                syncthreads()
                count = half
            if t == 0:
                out[blockIdx.x] = some[0]

        def final(values: Any, out: Any, init: Any) -> None:
            out[0] = combine(out.dtype.type(init), values[0])

        self._partial, self._final = jit(partial), jit(final)

    def __call__(self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0, stream: Any = 0) -> Any:
        if arr.ndim != 1:
            raise TypeError("only support 1D array")
        n = arr.size if size is None else size
        if n > arr.size:
            raise ValueError("size exceeds the array")
        out = res if res is not None else np.empty(1, arr.dtype)
        if n == 0:
            out[0] = init
        elif res is not None or current_gpu() is None:
            self._final[1, 1, stream](self.combined(arr, n, stream), out, init)
        else:
            there = device_array(1, arr.dtype, stream=stream)
            self._final[1, 1, stream](self.combined(arr, n, stream), there, init)
            out = there.copy_to_host(stream=stream)
        return None if res is not None else out[0]

    def combined(self, arr: Any, size: int, stream: Any = 0) -> DeviceNDArray:
        """The first elements of an array combined, at least one: the same order on each device."""
        row = -(-size // min(_BLOCKS, -(-size // (_EACH * _THREADS))))
        blocks = -(-size // row)
        out = device_array(blocks, arr.dtype, stream=stream)
        given = In(arr) if isinstance(arr, np.ndarray) and current_gpu() is not None else arr
        self._partial[blocks, _THREADS, stream](given, out, size, row)
        return out if blocks == 1 else self.combined(out, blocks, stream)


def reduce(functor: Callable[[Any, Any], Any]) -> Reduce:
    """Makes a reduction of a function of two values.

    >>> from lancehead import cuda
    >>> import numpy as np
    >>> @cuda.reduce
    ... def total(a, b):
    ...     return a + b
    >>> int(total(np.arange(10)))
    45
    """
    return Reduce(functor)
