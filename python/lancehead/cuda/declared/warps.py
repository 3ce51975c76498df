"""Functions by which the 32 threads of a warp, its lanes, exchange values.

The bits of a mask stand for lanes; each lane of the mask has to call the function.
"""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


def activemask() -> int:
    """Mask of the lanes that run this together.

    >>> @cuda.jit
    ... def kernel(out): out[0] = cuda.activemask()
    >>> out = np.zeros(1, np.uint32); kernel[1, 32](out); out
    array([4294967295], dtype=uint32)
    """


def lanemask_lt() -> int:
    """Mask of the lanes before the thread's own.

    >>> @cuda.jit
    ... def kernel(out): out[cuda.laneid] = cuda.lanemask_lt()
    >>> out = np.zeros(32, int); kernel[1, 32](out); out[:4]
    array([0, 1, 3, 7])
    """


def syncwarp(mask: int = 0xFFFFFFFF) -> None:
    """Waits until the lanes of a mask have come here; each then sees what the others have written before.

    >>> @cuda.jit
    ... def kernel(a, out):
    ...     a[cuda.laneid] = cuda.laneid
    ...     cuda.syncwarp()
    ...     out[cuda.laneid] = a[31 - cuda.laneid]
    >>> a, out = np.zeros(32, int), np.zeros(32, int); kernel[1, 32](a, out); out[:3]
    array([31, 30, 29])
    """


def shfl_sync(mask: int, value: T, src_lane: int) -> T:
    """The value that a lane has given.

    >>> @cuda.jit
    ... def kernel(out): out[cuda.laneid] = cuda.shfl_sync(0xFFFFFFFF, cuda.laneid, 5)
    >>> out = np.zeros(32, int); kernel[1, 32](out); out[:3]
    array([5, 5, 5])
    """


def shfl_up_sync(mask: int, value: T, delta: int) -> T:
    """The value that the lane `delta` before has given; the own one where there is none.

    The low five bits of `delta` count.

    >>> @cuda.jit
    ... def kernel(out): out[cuda.laneid] = cuda.shfl_up_sync(0xFFFFFFFF, cuda.laneid, 1)
    >>> out = np.zeros(32, int); kernel[1, 32](out); out[:4]
    array([0, 0, 1, 2])
    """


def shfl_down_sync(mask: int, value: T, delta: int) -> T:
    """The value that the lane `delta` after has given; the own one where there is none.

    The low five bits of `delta` count.

    >>> @cuda.jit
    ... def total(a, out):
    ...     x = a[cuda.laneid]
    ...     for step in (16, 8, 4, 2, 1):
    ...         x += cuda.shfl_down_sync(0xFFFFFFFF, x, step)
    ...     if cuda.laneid == 0:
    ...         out[0] = x
    >>> out = np.zeros(1, int); total[1, 32](np.arange(32), out); out
    array([496])
    """


def shfl_xor_sync(mask: int, value: T, lane_mask: int) -> T:
    """The value of the lane whose number differs from the own one in the bits of `lane_mask`.

    >>> @cuda.jit
    ... def kernel(out): out[cuda.laneid] = cuda.shfl_xor_sync(0xFFFFFFFF, cuda.laneid, 1)
    >>> out = np.zeros(32, int); kernel[1, 32](out); out[:4]
    array([1, 0, 3, 2])
    """


def all_sync(mask: int, predicate: int) -> bool:
    """Whether all lanes of a mask have given a true value.

    >>> @cuda.jit
    ... def kernel(out): out[cuda.laneid] = cuda.all_sync(0xFFFFFFFF, cuda.laneid < 31)
    >>> out = np.ones(32, bool); kernel[1, 32](out); bool(out[0])
    False
    """


def any_sync(mask: int, predicate: int) -> bool:
    """Whether a lane of a mask has given a true value.

    >>> @cuda.jit
    ... def kernel(out): out[cuda.laneid] = cuda.any_sync(0xFFFFFFFF, cuda.laneid == 31)
    >>> out = np.zeros(32, bool); kernel[1, 32](out); bool(out[0])
    True
    """


def eq_sync(mask: int, predicate: int) -> bool:
    """Whether all lanes of a mask have given the same truth value.

    >>> @cuda.jit
    ... def kernel(out): out[cuda.laneid] = cuda.eq_sync(0xFFFFFFFF, cuda.laneid > 40)
    >>> out = np.zeros(32, bool); kernel[1, 32](out); bool(out[0])
    True
    """


def ballot_sync(mask: int, predicate: int) -> int:
    """Mask of the lanes that have given a true value.

    >>> @cuda.jit
    ... def kernel(out): out[cuda.laneid] = cuda.ballot_sync(0xFFFFFFFF, cuda.laneid < 4)
    >>> out = np.zeros(32, int); kernel[1, 32](out); out[:2]
    array([15, 15])
    """


def match_any_sync(mask: int, value: Any) -> int:
    """Mask of the lanes that have given the same value as the own one.

    >>> @cuda.jit
    ... def kernel(out): out[cuda.laneid] = cuda.match_any_sync(0xFFFFFFFF, cuda.laneid // 2)
    >>> out = np.zeros(32, int); kernel[1, 32](out); out[:4]
    array([ 3,  3, 12, 12])
    """


def match_all_sync(mask: int, value: Any) -> tuple[int, bool]:
    """The mask, and whether all its lanes have given the same value; if not, the mask is 0.

    >>> @cuda.jit
    ... def kernel(out):
    ...     lanes, same = cuda.match_all_sync(0xFFFFFFFF, 7)
    ...     out[cuda.laneid] = same
    >>> out = np.zeros(32, bool); kernel[1, 32](out); bool(out[0])
    True
    """
