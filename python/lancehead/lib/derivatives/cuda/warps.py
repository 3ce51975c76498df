"""Derivatives of shuffles: a lane gets the adjoints of all lanes that have taken its value."""

from lancehead.lib import prim
from lancehead.lib.cuda.exchange import lanes
from lancehead.lib.cuda.warps import (
    laneid,
    match_all_sync,
    shfl_down_sync,
    shfl_sync,
    shfl_up_sync,
    shfl_xor_sync,
)
from lancehead.lib.derivatives import along


def _here(mask):
    # Of the last warp of a block there may be fewer lanes than a mask says.
    return mask & ((1 << lanes()) - 1)


def _has(mask, lane):
    return 0 <= lane and lane < 32 and (_here(mask) >> lane) & 1 != 0


def _is_same(mask, distance):
    _, same = match_all_sync(mask, distance)
    return same


def _given_back(mask, adjoint, source):
    """The sum of the adjoints of the lanes whose source is the own one."""
    total, own = prim.cast(0, prim.dtype_of(adjoint)), laneid()
    for k in range(32):
        if _has(mask, k):
            given, of = shfl_sync(mask, adjoint, k), shfl_sync(mask, source, k)
            if of == own:
                total += given
    return total


def shfl_sync_forward(mask, value, src_lane):
    """The value of a lane; nothing else is needed."""
    return shfl_sync(mask, value, src_lane), None


def shfl_sync_backward(saved, adjoint, wanted, shadows):
    """Any number of lanes may have taken one value."""
    return (None, _given_back(int(shadows[0]), adjoint, int(shadows[2]) & 31))


def shfl_sync_tangent(wanted, tangents, mask, value, src_lane):
    """The tangent of that lane."""
    return shfl_sync(mask, value, src_lane), shfl_sync(mask, along(wanted & 2, tangents[1]), src_lane)


def shfl_up_sync_forward(mask, value, delta):
    """The value of a lane before the own one; nothing else is needed."""
    return shfl_up_sync(mask, value, delta), None


def shfl_up_sync_backward(saved, adjoint, wanted, shadows):
    """The lanes after get theirs back; the first ones have taken their own values."""
    mask, distance, own = int(shadows[0]), int(shadows[2]) & 31, laneid()
    if not _is_same(mask, distance):
        return (None, _given_back(mask, adjoint, own - distance if own >= distance else own))
    given = shfl_down_sync(mask, adjoint, distance)
    none = prim.cast(0, prim.dtype_of(adjoint))
    total = given if _has(mask, own + distance) else none
    if own < distance:
        total += adjoint
    return (None, total)


def shfl_up_sync_tangent(wanted, tangents, mask, value, delta):
    """The tangent of that lane."""
    return shfl_up_sync(mask, value, delta), shfl_up_sync(mask, along(wanted & 2, tangents[1]), delta)


def shfl_down_sync_forward(mask, value, delta):
    """The value of a lane after the own one; nothing else is needed."""
    return shfl_down_sync(mask, value, delta), None


def shfl_down_sync_backward(saved, adjoint, wanted, shadows):
    """The lanes before get theirs back; the last ones have taken their own values."""
    mask, distance, own = int(shadows[0]), int(shadows[2]) & 31, laneid()
    if not _is_same(mask, distance):
        return (None, _given_back(mask, adjoint, own + distance if own + distance < 32 else own))
    given = shfl_up_sync(mask, adjoint, distance)
    none = prim.cast(0, prim.dtype_of(adjoint))
    total = given if _has(mask, own - distance) else none
    if own + distance > 31:
        total += adjoint
    return (None, total)


def shfl_down_sync_tangent(wanted, tangents, mask, value, delta):
    """The tangent of that lane."""
    return shfl_down_sync(mask, value, delta), shfl_down_sync(mask, along(wanted & 2, tangents[1]), delta)


def shfl_xor_sync_forward(mask, value, lane_mask):
    """The value of a lane whose number differs in some bits; nothing else is needed."""
    return shfl_xor_sync(mask, value, lane_mask), None


def shfl_xor_sync_backward(saved, adjoint, wanted, shadows):
    """Two lanes have taken each other's values."""
    mask, distance, own = int(shadows[0]), int(shadows[2]) & 31, laneid()
    if not _is_same(mask, distance):
        return (None, _given_back(mask, adjoint, own ^ distance))
    given = shfl_xor_sync(mask, adjoint, distance)
    none = prim.cast(0, prim.dtype_of(adjoint))
    total = given if _has(mask, own ^ distance) else none
    return (None, total)


def shfl_xor_sync_tangent(wanted, tangents, mask, value, lane_mask):
    """The tangent of that lane."""
    return shfl_xor_sync(mask, value, lane_mask), shfl_xor_sync(mask, along(wanted & 2, tangents[1]), lane_mask)
