"""Memory of blocks and threads, loads and stores with a hint for caches, and the order in which others see writes."""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from typing import Any

import numpy as np


class shared:
    """Memory that all threads of a block share.

    >>> @cuda.jit
    ... def reverse(a):
    ...     some = cuda.shared.array(4, np.int64)
    ...     some[cuda.threadIdx.x] = a[cuda.threadIdx.x]
    ...     cuda.syncthreads()
    ...     a[cuda.threadIdx.x] = some[3 - cuda.threadIdx.x]
    >>> a = np.arange(4); reverse[1, 4](a); a
    array([3, 2, 1, 0])
    """

    @staticmethod
    def array(shape: int | tuple[int, ...], dtype: Any, alignment: int | None = None) -> np.ndarray[Any, Any]:
        """An array that all threads of the block share; what is in it before it is written is not defined.

        The shape is constant. The shape 0 stands for the memory whose size the launch says, in bytes, as its fourth
        number. `alignment` is a power of two.

        >>> @cuda.jit
        ... def rotate(a):
        ...     some = cuda.shared.array(shape=4, dtype=np.int64)
        ...     some[cuda.threadIdx.x] = a[cuda.threadIdx.x]
        ...     cuda.syncthreads()
        ...     a[cuda.threadIdx.x] = some[(cuda.threadIdx.x + 1) % 4]
        >>> a = np.arange(4); rotate[1, 4](a); a
        array([1, 2, 3, 0])
        """


class local:
    """Memory that a thread has for itself.

    >>> @cuda.jit
    ... def kernel(out):
    ...     own = cuda.local.array(2, np.int64)
    ...     own[0], own[1] = 3, 4
    ...     out[0] = own[0] * own[1]
    >>> out = np.zeros(1, int); kernel[1, 1](out); out
    array([12])
    """

    @staticmethod
    def array(shape: int | tuple[int, ...], dtype: Any, alignment: int | None = None) -> np.ndarray[Any, Any]:
        """An array that the thread has for itself; what is in it before it is written is not defined.

        The shape is constant. `alignment` is a power of two.

        >>> @cuda.jit
        ... def kernel(out):
        ...     own = cuda.local.array((2, 2), np.int64)
        ...     own[1, 0] = cuda.threadIdx.x
        ...     out[cuda.threadIdx.x] = own[1, 0] + 1
        >>> out = np.zeros(3, int); kernel[1, 3](out); out
        array([1, 2, 3])
        """


class const:
    """Memory that kernels only read.

    >>> table = np.array([10, 20, 30])
    >>> @cuda.jit
    ... def kernel(out): out[cuda.threadIdx.x] = cuda.const.array_like(table)[cuda.threadIdx.x]
    >>> out = np.zeros(3, int); kernel[1, 3](out); out
    array([10, 20, 30])
    """

    @staticmethod
    def array_like(array: Any, /) -> np.ndarray[Any, Any]:
        """A global or captured array, in memory that kernels only read.

        >>> weights = np.array([1, 2, 4])
        >>> @cuda.jit
        ... def kernel(out): out[0] = cuda.const.array_like(weights).sum()
        >>> out = np.zeros(1, int); kernel[1, 1](out); out
        array([7])
        """


def threadfence() -> None:
    """Makes threads of the device see what this one has written before not later than what it writes after.

    >>> @cuda.jit
    ... def kernel(data, ready):
    ...     data[0] = 5
    ...     cuda.threadfence()
    ...     ready[0] = 1
    >>> data, ready = np.zeros(1, int), np.zeros(1, int); kernel[1, 1](data, ready); data
    array([5])
    """


def threadfence_block() -> None:
    """As `threadfence`, for threads of the block.

    >>> @cuda.jit
    ... def kernel(data, ready):
    ...     data[0] = 5
    ...     cuda.threadfence_block()
    ...     ready[0] = 1
    >>> data, ready = np.zeros(1, int), np.zeros(1, int); kernel[1, 1](data, ready); data
    array([5])
    """


def threadfence_system() -> None:
    """As `threadfence`, for all devices and the host.

    >>> @cuda.jit
    ... def kernel(data, ready):
    ...     data[0] = 5
    ...     cuda.threadfence_system()
    ...     ready[0] = 1
    >>> data, ready = np.zeros(1, int), np.zeros(1, int); kernel[1, 1](data, ready); data
    array([5])
    """


def ldca(array: Any, i: int | tuple[int, ...]) -> Any:
    """An element of an array, with the hint to keep it in all caches.

    >>> @cuda.jit
    ... def kernel(a, out): out[cuda.grid(1)] = cuda.ldca(a, cuda.grid(1)) + 1
    >>> out = np.zeros(3, int); kernel[1, 3](np.arange(3), out); out
    array([1, 2, 3])
    """


def ldcg(array: Any, i: int | tuple[int, ...]) -> Any:
    """An element of an array, with the hint to keep it in the cache that all share.

    >>> @cuda.jit
    ... def kernel(a, out): out[cuda.grid(1)] = cuda.ldcg(a, cuda.grid(1)) + 1
    >>> out = np.zeros(3, int); kernel[1, 3](np.arange(3), out); out
    array([1, 2, 3])
    """


def ldcs(array: Any, i: int | tuple[int, ...]) -> Any:
    """An element of an array, with the hint that it is read once.

    >>> @cuda.jit
    ... def kernel(a, out): out[cuda.grid(1)] = cuda.ldcs(a, cuda.grid(1)) + 1
    >>> out = np.zeros(3, int); kernel[1, 3](np.arange(3), out); out
    array([1, 2, 3])
    """


def ldlu(array: Any, i: int | tuple[int, ...]) -> Any:
    """An element of an array, with the hint that it is read for the last time.

    >>> @cuda.jit
    ... def kernel(a, out): out[cuda.grid(1)] = cuda.ldlu(a, cuda.grid(1)) + 1
    >>> out = np.zeros(3, int); kernel[1, 3](np.arange(3), out); out
    array([1, 2, 3])
    """


def ldcv(array: Any, i: int | tuple[int, ...]) -> Any:
    """An element of an array, read from memory anew, as what others write meanwhile is.

    >>> @cuda.jit
    ... def kernel(a, out): out[cuda.grid(1)] = cuda.ldcv(a, cuda.grid(1)) + 1
    >>> out = np.zeros(3, int); kernel[1, 3](np.arange(3), out); out
    array([1, 2, 3])
    """


def stwb(array: Any, i: int | tuple[int, ...], value: Any) -> None:
    """Writes an element of an array, with the hint to keep it in all caches.

    >>> @cuda.jit
    ... def kernel(out): cuda.stwb(out, cuda.grid(1), 7)
    >>> out = np.zeros(3, int); kernel[1, 3](out); out
    array([7, 7, 7])
    """


def stcg(array: Any, i: int | tuple[int, ...], value: Any) -> None:
    """Writes an element of an array, with the hint to keep it in the cache that all share.

    >>> @cuda.jit
    ... def kernel(out): cuda.stcg(out, cuda.grid(1), 7)
    >>> out = np.zeros(3, int); kernel[1, 3](out); out
    array([7, 7, 7])
    """


def stcs(array: Any, i: int | tuple[int, ...], value: Any) -> None:
    """Writes an element of an array, with the hint that it is not used again soon.

    >>> @cuda.jit
    ... def kernel(out): cuda.stcs(out, cuda.grid(1), 7)
    >>> out = np.zeros(3, int); kernel[1, 3](out); out
    array([7, 7, 7])
    """


def stwt(array: Any, i: int | tuple[int, ...], value: Any) -> None:
    """Writes an element of an array, through to memory.

    >>> @cuda.jit
    ... def kernel(out): cuda.stwt(out, cuda.grid(1), 7)
    >>> out = np.zeros(3, int); kernel[1, 3](out); out
    array([7, 7, 7])
    """
