"""Where a thread is in its launch, and barriers of blocks and grids."""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from typing import Any, Literal, NamedTuple, overload


class Dim3(NamedTuple):
    """Three numbers of a launch, `x`, `y` and `z`; as a whole they are a tuple."""

    x: int
    y: int
    z: int


class ThreadIdx(Dim3):
    """Place of the thread in its block, from 0.

    >>> @cuda.jit
    ... def kernel(out): out[cuda.threadIdx.x] = cuda.threadIdx.x
    >>> out = np.zeros(4, int); kernel[1, 4](out); out
    array([0, 1, 2, 3])
    """


class BlockIdx(Dim3):
    """Place of the thread's block in the grid, from 0.

    >>> @cuda.jit
    ... def kernel(out): out[cuda.grid(1)] = cuda.blockIdx.x
    >>> out = np.zeros(4, int); kernel[2, 2](out); out
    array([0, 0, 1, 1])
    """


class BlockDim(Dim3):
    """Number of threads of a block, in each dimension.

    >>> @cuda.jit
    ... def kernel(out): out[0] = cuda.blockDim.x * cuda.blockDim.y
    >>> out = np.zeros(1, int); kernel[1, (8, 4)](out); out
    array([32])
    """


class GridDim(Dim3):
    """Number of blocks of the grid, in each dimension.

    >>> @cuda.jit
    ... def kernel(out): out[0] = cuda.gridDim.x
    >>> out = np.zeros(1, int); kernel[5, 32](out); out
    array([5])
    """


class LaneId(int):
    """Place of the thread in its warp, from 0 to 31.

    >>> @cuda.jit
    ... def kernel(out): out[cuda.grid(1)] = cuda.laneid
    >>> out = np.zeros(34, int); kernel[1, 34](out); out[-4:]
    array([30, 31,  0,  1])
    """


class WarpSize(int):
    """Number of threads of a warp, 32.

    >>> @cuda.jit
    ... def kernel(out): out[0] = cuda.warpsize
    >>> out = np.zeros(1, int); kernel[1, 1](out); out
    array([32])
    """


threadIdx, blockIdx, blockDim, gridDim = ThreadIdx(0, 0, 0), BlockIdx(0, 0, 0), BlockDim(0, 0, 0), GridDim(0, 0, 0)
laneid, warpsize = LaneId(), WarpSize()


@overload
def grid(ndim: Literal[1], /) -> int: ...
@overload
def grid(ndim: Literal[2], /) -> tuple[int, int]: ...
@overload
def grid(ndim: Literal[3], /) -> tuple[int, int, int]: ...
def grid(ndim: int, /) -> Any:
    """Place of the thread in the whole grid: a number for `ndim` 1, a tuple for 2 or 3, which is written as a number.

    >>> @cuda.jit
    ... def kernel(out):
    ...     i = cuda.grid(1)
    ...     if i < out.size:
    ...         out[i] = i
    >>> out = np.zeros(5, int); kernel[2, 4](out); out
    array([0, 1, 2, 3, 4])
    """


@overload
def gridsize(ndim: Literal[1], /) -> int: ...
@overload
def gridsize(ndim: Literal[2], /) -> tuple[int, int]: ...
@overload
def gridsize(ndim: Literal[3], /) -> tuple[int, int, int]: ...
def gridsize(ndim: int, /) -> Any:
    """Number of threads of the whole grid: a number for `ndim` 1, a tuple for 2 or 3.

    It is the step of a loop over more elements than there are threads.

    >>> @cuda.jit
    ... def kernel(a):
    ...     for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
    ...         a[i] *= 2
    >>> a = np.arange(5); kernel[1, 2](a); a
    array([0, 2, 4, 6, 8])
    """


def syncthreads() -> None:
    """Waits until all threads of the block have come here; each then sees what the others have written before.

    >>> @cuda.jit
    ... def reverse(a):
    ...     some = cuda.shared.array(4, np.int64)
    ...     i = cuda.threadIdx.x
    ...     some[i] = a[i]
    ...     cuda.syncthreads()
    ...     a[i] = some[3 - i]
    >>> a = np.arange(4); reverse[1, 4](a); a
    array([3, 2, 1, 0])
    """


def syncthreads_count(predicate: Any, /) -> int:
    """As `syncthreads`; gives the number of threads of the block whose argument is true.

    >>> @cuda.jit
    ... def kernel(out): out[0] = cuda.syncthreads_count(cuda.threadIdx.x % 3 == 0)
    >>> out = np.zeros(1, int); kernel[1, 8](out); out
    array([3])
    """


def syncthreads_and(predicate: Any, /) -> int:
    """As `syncthreads`; gives 1 if the argument of every thread of the block is true, otherwise 0.

    >>> @cuda.jit
    ... def kernel(out): out[0] = cuda.syncthreads_and(cuda.threadIdx.x < 7)
    >>> out = np.ones(1, int); kernel[1, 8](out); out
    array([0])
    """


def syncthreads_or(predicate: Any, /) -> int:
    """As `syncthreads`; gives 1 if the argument of a thread of the block is true, otherwise 0.

    >>> @cuda.jit
    ... def kernel(out): out[0] = cuda.syncthreads_or(cuda.threadIdx.x == 7)
    >>> out = np.zeros(1, int); kernel[1, 8](out); out
    array([1])
    """


def nanosleep(ns: int) -> None:
    """Lets other threads go on for about so many nanoseconds, as a thread does that waits for what another one writes.

    >>> @cuda.jit
    ... def kernel(out):
    ...     cuda.nanosleep(100)
    ...     out[0] = 1
    >>> out = np.zeros(1, int); kernel[1, 1](out); out
    array([1])
    """


class grid_group:
    """All threads of a launch, as `cuda.cg.this_grid()` gives them.

    >>> @cuda.jit
    ... def kernel(a):
    ...     cuda.cg.this_grid().sync()
    ...     a[0] = 1
    >>> a = np.zeros(1, int); kernel[2, 2](a); a
    array([1])
    """

    @staticmethod
    def sync() -> int:
        """Waits until all threads of the launch have come here; gives 1.

        >>> @cuda.jit
        ... def kernel(a, out):
        ...     i = cuda.grid(1)
        ...     a[i] = i
        ...     cuda.cg.this_grid().sync()
        ...     out[i] = a[a.size - 1 - i]
        >>> a, out = np.zeros(4, int), np.zeros(4, int); kernel[2, 2](a, out); out
        array([3, 2, 1, 0])
        """


class cg:
    """Cooperative groups: threads that wait for each other beyond their block.

    >>> @cuda.jit
    ... def kernel(a):
    ...     cuda.cg.this_grid().sync()
    ...     a[0] = 1
    >>> a = np.zeros(1, int); kernel[2, 2](a); a
    array([1])
    """

    @staticmethod
    def this_grid() -> grid_group:
        """All threads of the launch, whose `sync()` waits for all.

        >>> @cuda.jit
        ... def kernel(a):
        ...     group = cuda.cg.this_grid()
        ...     group.sync()
        ...     a[cuda.grid(1)] = 1
        >>> a = np.zeros(4, int); kernel[2, 2](a); a
        array([1, 1, 1, 1])
        """
