"""`cuda.reduce`: reductions of arrays with a function of two values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lancehead.cuda.devicearray import DeviceNDArray, device_array
from lancehead.cuda.dispatcher import jit
from lancehead.cuda.names import grid, gridsize

_THREADS = 256


class Reduce:
    """A reduction with a function of two values, which must be associative and commutative."""

    def __init__(self, functor: Callable[[Any, Any], Any]) -> None:
        self._functor = functor
        combine = jit(functor, device=True)

        def partial(values: Any, out: Any, size: int) -> None:
            i = grid(1)
            if i < out.size:
                total = values[i]
                for j in range(i + gridsize(1), size, gridsize(1)):
                    total = combine(total, values[j])
                out[i] = total

        def final(values: Any, out: Any, init: Any, size: int) -> None:
            total = combine(out.dtype.type(init), values[0])
            for j in range(1, size):
                total = combine(total, values[j])
            out[0] = total

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
            return None if res is not None else out[0]
        count = min(n, _THREADS)
        partial: DeviceNDArray = device_array(count, arr.dtype)
        self._partial[1, count, stream](arr, partial, n)
        self._final[1, 1, stream](partial, out, init, count)
        return None if res is not None else out[0]


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
