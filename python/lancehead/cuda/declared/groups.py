"""Functions that all threads of a block, or of a warp, call together: reductions, running results, orders.

Operators are device functions, lambdas or functions of Python and NumPy of two values. They are taken to be
associative, and need not be commutative. Values are numbers or tuples of values; results have the least type that holds
the values and the operator's results. In a warp neighbours are combined, then neighbouring results, and so on, by steps
of 1, 2, 4, 8 and 16; the results of a block's warps are combined from left to right. So floats give the same bits on
every device.
"""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class block:
    """Functions that all threads of a block call together, as a barrier.

    Threads are counted along the axes of the block, the first one first. There may be any number of them. Shared memory
    holds a value for each warp, for sorting 1024 keys and values.

    >>> @cuda.jit
    ... def kernel(out):
    ...     i = cuda.threadIdx.x
    ...     out[i] = cuda.block.reduce(i, max)
    >>> out = np.zeros(64, int); kernel[1, 64](out); out[:2]
    array([63, 63])
    """

    @staticmethod
    def reduce(value: Any, op: Callable[[Any, Any], Any], /) -> Any:
        """The values of all threads of the block combined by an operator, in each of them.

        >>> @cuda.jit
        ... def kernel(out):
        ...     i = cuda.threadIdx.x
        ...     out[i] = cuda.block.reduce(i + 1, lambda a, b: a * b % 997)
        >>> out = np.zeros(32, int); kernel[1, 32](out); bool(np.all(out == out[0]))
        True
        """

    @staticmethod
    def sum(value: Any, /) -> Any:
        """The sum of the values of all threads of the block, in each of them.

        >>> @cuda.jit
        ... def kernel(out):
        ...     i = cuda.threadIdx.x
        ...     out[i] = cuda.block.sum(i)
        >>> out = np.zeros(32, int); kernel[1, 32](out); out[:2]
        array([496, 496])
        """

    @staticmethod
    def scan(value: Any, op: Callable[[Any, Any], Any], init: Any = None, exclusive: bool = False) -> Any:
        """The values of the threads before combined, with the own one or, if exclusive, without it.

        An initial value comes first if there is one; exclusive results need one.

        >>> @cuda.jit
        ... def kernel(out):
        ...     i = cuda.threadIdx.x
        ...     out[i] = cuda.block.scan(i, lambda a, b: a + b, init=100)
        >>> out = np.zeros(32, int); kernel[1, 32](out); out[:4]
        array([100, 101, 103, 106])
        """

    @staticmethod
    def inclusive_scan(value: Any, op: Callable[[Any, Any], Any], /) -> Any:
        """The values of the threads up to and with the own one, combined.

        >>> @cuda.jit
        ... def kernel(out):
        ...     i = cuda.threadIdx.x
        ...     out[i] = cuda.block.inclusive_scan(i % 5, max)
        >>> out = np.zeros(32, int); kernel[1, 32](out); out[:7]
        array([0, 1, 2, 3, 4, 4, 4])
        """

    @staticmethod
    def exclusive_scan(value: Any, op: Callable[[Any, Any], Any], init: Any, /) -> Any:
        """An initial value and the values of the threads before the own one, combined.

        >>> @cuda.jit
        ... def kernel(out):
        ...     i = cuda.threadIdx.x
        ...     out[i] = cuda.block.exclusive_scan(i % 5, max, -1)
        >>> out = np.zeros(32, int); kernel[1, 32](out); out[:7]
        array([-1,  0,  1,  2,  3,  4,  4])
        """

    @staticmethod
    def inclusive_sum(value: Any, /) -> Any:
        """The sum of the values of the threads up to and with the own one.

        >>> @cuda.jit
        ... def kernel(out):
        ...     i = cuda.threadIdx.x
        ...     out[i] = cuda.block.inclusive_sum(i)
        >>> out = np.zeros(32, int); kernel[1, 32](out); out[:5]
        array([ 0,  1,  3,  6, 10])
        """

    @staticmethod
    def exclusive_sum(value: Any, /) -> Any:
        """The sum of the values of the threads before the own one; 0 in the first.

        >>> @cuda.jit
        ... def kernel(out):
        ...     i = cuda.threadIdx.x
        ...     out[i] = cuda.block.exclusive_sum(i)
        >>> out = np.zeros(32, int); kernel[1, 32](out); out[:5]
        array([0, 0, 1, 3, 6])
        """

    @staticmethod
    def sort(key: Any, value: Any = None, *, before: Callable[[Any, Any], bool] | None = None) -> Any:
        """The key at the thread's place in the order of all keys of the block, and with it the value given for the key.

        Equal keys stay in the order of the threads. The order is NumPy's, NaN after the numbers, or that of `before`,
        which says whether a key is before another. Without a value the result is the key alone.

        >>> @cuda.jit
        ... def kernel(out):
        ...     i = cuda.threadIdx.x
        ...     out[i, 0], out[i, 1] = cuda.block.sort(i % 3, i)
        >>> out = np.zeros((32, 2), int); kernel[1, 32](out); out[:4].tolist()
        [[0, 0], [0, 3], [0, 6], [0, 9]]
        """

    @staticmethod
    def top_k(value: Any, k: int, /) -> Any:
        """For the first k threads the k greatest values in descending order, and the places of their threads.

        Of equal ones those of earlier threads are first; NaN is greater than the numbers. Other threads get their own
        value, and -1.

        >>> @cuda.jit
        ... def kernel(out):
        ...     i = cuda.threadIdx.x
        ...     out[i, 0], out[i, 1] = cuda.block.top_k(i % 10, 3)
        >>> out = np.zeros((32, 2), int); kernel[1, 32](out); out[:4].tolist()
        [[9, 9], [9, 19], [9, 29], [3, -1]]
        """


class warp(block):
    """Functions that all threads of a warp call together.

    They are those of `block`, of the warp's threads. The last warp of a block may have fewer than 32 threads.

    >>> @cuda.jit
    ... def kernel(out):
    ...     i = cuda.laneid
    ...     out[i] = cuda.warp.reduce(i, max)
    >>> out = np.zeros(32, int); kernel[1, 32](out); out[:2]
    array([31, 31])
    """
