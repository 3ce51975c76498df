"""The common parts of the primitives of warps and blocks: exchange of values of any type, orders and sums.

A value is a number or a tuple of values. Threads of a block are counted along its axes, the first one first.
"""

from lancehead.lib import prim
from lancehead.lib.cuda.warps import shfl_sync
from lancehead.lib.lancehead.xp.elements import accumulated, as_type, joined, strong
from lancehead.lib.primitives.selecting import float_before, pair_before, plain_before

#: Threads of a block, and warps of it, at most.
THREADS, WARPS = 1024, 32
#: The first of the numbers by which shared memory of these primitives is known, which no kernel computes with.
_SITE = (1 << 60) + (77 << 48)


def thread():
    """Number of the thread in its block."""
    cx = prim.lh_cuda_context()
    return prim.lh_cuda_tid_x() + prim.lh_cuda_bdim_x(cx) * (
        prim.lh_cuda_tid_y() + prim.lh_cuda_bdim_y(cx) * prim.lh_cuda_tid_z()
    )


def threads():
    """Number of threads of the block."""
    cx = prim.lh_cuda_context()
    return prim.lh_cuda_bdim_x(cx) * prim.lh_cuda_bdim_y(cx) * prim.lh_cuda_bdim_z(cx)


def sync():
    """Waits for the threads of the block."""
    if not prim.on_gpu():
        # Checks tell barriers apart by the last place in the program that a thread has come to, which may be in an
        # operator that not all threads have called.
        prim.lh_race_place("cuda.block", 1)
    prim.lh_cuda_sync(prim.lh_cuda_context())


def lanes():
    """Number of threads of the warp: of the last one of a block there may be fewer than 32."""
    return min(threads() - (thread() & -32), 32)


def taken(number, value, lane):
    """The value that a lane has given, of so many lanes; the own one if there is no such lane."""
    own = thread() & 31
    source = lane if 0 <= lane and lane < number else own
    return _taken((1 << number) - 1, value, source)


def _taken(mask, value, lane):
    if prim.is_tuple(value):
        if len(value) == 0:
            return ()
        return (_taken(mask, value[0], lane), *_taken(mask, value[1:], lane))
    if prim.is_complex(value):
        parts = prim.complex(shfl_sync(mask, value.real, lane), shfl_sync(mask, value.imag, lane))
        return prim.cast(parts, prim.dtype_of(value))
    return shfl_sync(mask, value, lane)


def shared(n, like, use):
    """An array of the block for so many values of a type, or a tuple of arrays. Different uses have their own."""
    if prim.is_tuple(like):
        if len(like) == 0:
            return ()
        return (shared(n, like[0], 16 * prim.literally(use)), *shared(n, like[1:], prim.literally(use) + 1))
    dtype = prim.dtype_of(like)
    size = prim.itemsize(dtype)
    number = prim.literally(n) * size
    at = prim.lh_cuda_shared(prim.lh_cuda_context(), _SITE + (prim.literally(use) << 20) + number, number, min(size, 8))
    return prim.array(prim.nobody(), at, (n,), (size,), dtype, "C")


def before_of(before, like):
    """An order of values: the given one, or that of NumPy, with NaN last."""
    if not prim.is_none(before):
        return before
    if prim.is_tuple(like):
        return _tuple_before
    if prim.is_complex(like):
        return pair_before
    if prim.is_float(like):
        return float_before
    return plain_before


def backward(order):
    """The order from the last key to the first."""

    def after(a, b):
        return order(b, a)

    return after


def _tuple_before(a, b):
    if len(a) == 0:
        return False
    order = before_of(None, a[0])
    if order(a[0], b[0]):
        return True
    if order(b[0], a[0]):
        return False
    return _tuple_before(a[1:], b[1:])


def typed(value, op, init=None):
    """A value as the type that the results of an operator have, and a value of this type."""
    like = strong(value)
    if not prim.is_none(init):
        like = joined(like, init)
    like = accumulated(op, like)
    return as_type(value, like), like


def plus(a, b):
    """The sum of two values."""
    return a + b


def zero(value):
    """The sum of no values of a type."""
    if prim.is_tuple(value):
        prim.error("tuples have no sum; say what combines them")
    return prim.cast(0, prim.strong(prim.dtype_of(value)))
