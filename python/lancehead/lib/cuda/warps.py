"""Operations of a warp: 32 threads that exchange values. The numbers are the kinds of the run-time
library's `lh_cuda_warp`, to which 16 is added for values of 32 bits: a GPU moves those in one piece.
"""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.cuda.rounding import half_bits, half_of_bits


def _bits(value):
    """A value as 64 bits."""
    if prim.is_float(value):
        if prim.itemsize(prim.dtype_of(value)) == 2:
            return prim.cast(half_bits(value), np.int64)
        if prim.itemsize(prim.dtype_of(value)) == 4:
            return prim.cast(prim.bits_of_f32(value), np.int64)
        return prim.bits_of_f64(value)
    return prim.cast(value, np.int64)


def _value(bits, like):
    """The value of 64 bits, of the type of another."""
    if prim.is_float(like):
        if prim.itemsize(prim.dtype_of(like)) == 2:
            return half_of_bits(prim.dtype_of(like), prim.cast(bits, np.int16))
        if prim.itemsize(prim.dtype_of(like)) == 4:
            return prim.f32_of_bits(prim.cast(bits, np.int32))
        return prim.f64_of_bits(bits)
    return prim.cast(bits, prim.dtype_of(like))


def laneid():
    """Place of the thread in its warp."""
    cx = prim.lh_cuda_context()
    inner = prim.lh_cuda_tid_x() + prim.lh_cuda_bdim_x(cx) * (
        prim.lh_cuda_tid_y() + prim.lh_cuda_bdim_y(cx) * prim.lh_cuda_tid_z()
    )
    return inner & 31


def warpsize():
    """Threads of a warp."""
    return 32


def lanemask_lt():
    """Lanes before the thread's own."""
    return (1 << laneid()) - 1


def activemask():
    """Lanes of the warp that take part."""
    return prim.lh_cuda_activemask(prim.lh_cuda_context())


def syncwarp(mask=0xFFFFFFFF):
    """Waits for the threads of the mask."""
    prim.lh_cuda_warp(prim.lh_cuda_context(), 0, int(mask), 0, 0)


def shfl_sync(mask, value, src_lane):
    """The value of a lane."""
    if prim.itemsize(prim.dtype_of(value)) <= 4:
        return _value(prim.lh_cuda_warp(prim.lh_cuda_context(), 17, int(mask), _bits(value), int(src_lane))[0], value)
    return _value(prim.lh_cuda_warp(prim.lh_cuda_context(), 1, int(mask), _bits(value), int(src_lane))[0], value)


def shfl_up_sync(mask, value, delta):
    """The value of a lane before the own one. As in hardware, the low five bits of the distance count."""
    if prim.itemsize(prim.dtype_of(value)) <= 4:
        return _value(prim.lh_cuda_warp(prim.lh_cuda_context(), 18, int(mask), _bits(value), int(delta) & 31)[0], value)
    return _value(prim.lh_cuda_warp(prim.lh_cuda_context(), 2, int(mask), _bits(value), int(delta) & 31)[0], value)


def shfl_down_sync(mask, value, delta):
    """The value of a lane after the own one. As in hardware, the low five bits of the distance count."""
    if prim.itemsize(prim.dtype_of(value)) <= 4:
        return _value(prim.lh_cuda_warp(prim.lh_cuda_context(), 19, int(mask), _bits(value), int(delta) & 31)[0], value)
    return _value(prim.lh_cuda_warp(prim.lh_cuda_context(), 3, int(mask), _bits(value), int(delta) & 31)[0], value)


def shfl_xor_sync(mask, value, lane_mask):
    """The value of the lane whose number differs in some bits."""
    if prim.itemsize(prim.dtype_of(value)) <= 4:
        return _value(
            prim.lh_cuda_warp(prim.lh_cuda_context(), 20, int(mask), _bits(value), int(lane_mask) & 31)[0], value
        )
    return _value(prim.lh_cuda_warp(prim.lh_cuda_context(), 4, int(mask), _bits(value), int(lane_mask) & 31)[0], value)


def _check_vote(mask, predicate):
    if not prim.is_int(mask):
        prim.error("Mask type must be an integer")
    if not prim.is_int(predicate) and not prim.is_bool(predicate):
        prim.error("Predicate must be an integer or boolean")


def all_sync(mask, predicate):
    """Whether all lanes of the mask have given a true value."""
    _check_vote(mask, predicate)
    return prim.lh_cuda_warp(prim.lh_cuda_context(), 5, int(mask), int(predicate != 0), 0)[0] != 0


def any_sync(mask, predicate):
    """Whether a lane of the mask has given a true value."""
    _check_vote(mask, predicate)
    return prim.lh_cuda_warp(prim.lh_cuda_context(), 6, int(mask), int(predicate != 0), 0)[0] != 0


def eq_sync(mask, predicate):
    """Whether all lanes of the mask have given the same truth value."""
    _check_vote(mask, predicate)
    return prim.lh_cuda_warp(prim.lh_cuda_context(), 7, int(mask), int(predicate != 0), 0)[0] != 0


def ballot_sync(mask, predicate):
    """Lanes of the mask that have given a true value."""
    _check_vote(mask, predicate)
    return prim.lh_cuda_warp(prim.lh_cuda_context(), 8, int(mask), int(predicate != 0), 0)[0]


def match_any_sync(mask, value):
    """Lanes of the mask that have given the same value as the own one."""
    if prim.itemsize(prim.dtype_of(value)) <= 4:
        return prim.lh_cuda_warp(prim.lh_cuda_context(), 25, int(mask), _bits(value), 0)[0]
    return prim.lh_cuda_warp(prim.lh_cuda_context(), 9, int(mask), _bits(value), 0)[0]


def match_all_sync(mask, value):
    """Lanes of the mask and whether all have given the same value; no lanes if not."""
    if prim.itemsize(prim.dtype_of(value)) <= 4:
        lanes, same = prim.lh_cuda_warp(prim.lh_cuda_context(), 26, int(mask), _bits(value), 0)
        return lanes, same != 0
    lanes, same = prim.lh_cuda_warp(prim.lh_cuda_context(), 10, int(mask), _bits(value), 0)
    return lanes, same != 0
