"""How functions of the library are differentiated by rules of their own, in place of their text.

The rule of `numpy.reductions.sum` is `derivatives.numpy.reductions.sum_forward` and `sum_backward`. The first takes the
arguments and gives the result and what the second one needs; the second takes that, the adjoint of the result, a bit
for each argument whose adjoint is wanted, and the arguments' shadows: memory like theirs that holds adjoints. It gives
a tuple of adjoints, one for each of the first arguments, `None` where there is none.

In place of `sum_forward` there may be a `sum_kept`, which takes a bit for each argument before them: it is set if the
memory of the argument is not written after the call, so that no copy has to be kept.

Adjoints of complex numbers are `d/dx + i d/dy`, so that the adjoint of `A x` is `A^H` times that of the result.

In forward mode functions are differentiated by their text, unless there is a `sum_tangent`: it takes a bit for each
argument that has a tangent, a tuple of tangents (read them by `along`), then the arguments, and gives the result and
its tangent.

In place of all of these there may be a `sort_text`: the function is differentiated as if it were written so.
"""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.layout import copy_c, ends


def zeros(x):
    """Zeros of the type, structure and strides of a value: its shadow. Integers and texts stay what they are."""
    if prim.is_optional(x):
        return _zeros_of_optional(x)
    if prim.is_array(x):
        return _zeros_like(x)
    if prim.is_tuple(x):
        return _zeros_of(x) if prim.is_plain_tuple(x) else prim.of_fields(x, _zeros_of(x))
    if prim.is_float(x) or prim.is_complex(x):
        return prim.cast(0, prim.dtype_of(x))
    if prim.is_user(x) or prim.is_closure(x):
        return prim.of_fields(x, _zeros_of(prim.fields_of(x)))
    if prim.is_a(x, "builtins.list"):
        return _zero_items(x, x.copy())
    if prim.is_dict(x):
        return _zero_values(x, x.copy())
    if not (x is None or prim.is_scalar(x) or prim.is_str(x) or prim.is_func(x) or prim.is_enum(x)):
        prim.error(x, "derivatives flow through numbers, arrays, tuples, lists, dictionaries and dataclasses of them")
    return x


def _zeros_of_optional(x):
    if x is None:
        return None
    return zeros(x)


def _zero_items(x, out):
    for i in range(len(x)):
        out[i] = zeros(x[i])
    return out


def _zero_values(x, out):
    for k, v in x.items():
        out[k] = zeros(v)
    return out


def copy_back(dtype, target, stride, source, n, size, wanted):
    """The adjoint of a copy of `n` items of `size` bytes to places with a stride: what was copied gets the adjoints of
    the copies, which are zero then. All addresses are of shadows; `wanted` says whether what was copied has one."""
    item = prim.itemsize(dtype)
    shape = (n, size // item)
    copies = prim.array(prim.no_owner(), target, shape, (stride, item), dtype, "A")
    held = np.copy(copies)
    copies[...] = 0
    if wanted != 0:
        own = prim.array(prim.no_owner(), source, shape, (size, item), dtype, "A")
        own[...] += held


def snapshot(x):
    """Copies of the arrays of a value, also of one that consists of several."""
    if prim.is_array(x):
        return copy_c(x, prim.dtype_of(x))
    if prim.is_tuple(x):
        return _snapshot_of(x)
    if prim.is_closure(x):
        return _snapshot_of(prim.fields_of(x))
    return None


def _snapshot_of(xs):
    if len(xs) == 0:
        return ()
    return (snapshot(xs[0]),) + _snapshot_of(xs[1:])


def put_back(x, saved):
    """Makes the arrays of a value what they were."""
    if prim.is_array(x):
        writable(x)[...] = saved
    elif prim.is_tuple(x):
        _put_back_of(x, saved)
    elif prim.is_closure(x):
        _put_back_of(prim.fields_of(x), saved)


def _put_back_of(xs, saved):
    if len(xs) > 0:
        put_back(xs[0], saved[0])
        _put_back_of(xs[1:], saved[1:])


def check_apart(a, b):
    """Raises ValueError if two arrays may share memory."""
    low, high = ends(a)
    first, last = ends(b)
    if a.size > 0 and b.size > 0 and low < last and first < high:
        raise ValueError("arguments that share memory are changed by the function that is differentiated; pass copies")


def zero_shared(p, n):
    """Fills `n` bytes of shared memory with zeros, by all threads of the block."""
    context = prim.lh_cuda_context()
    wide, high = prim.lh_cuda_bdim_x(context), prim.lh_cuda_bdim_y(context)
    thread = prim.lh_cuda_tid_x() + wide * (prim.lh_cuda_tid_y() + high * prim.lh_cuda_tid_z())
    cells = prim.array(prim.no_owner(), p, (n // 4,), (4,), np.float32, "A")
    for i in range(thread, n // 4, wide * high * prim.lh_cuda_bdim_z(context)):
        cells[i] = 0


def zero_local(p, n):
    """Fills `n` bytes of a thread's memory with zeros."""
    cells = prim.array(prim.no_owner(), p, (n // 4,), (4,), np.float32, "A")
    for i in range(n // 4):
        cells[i] = 0


def taken(dtype, wins, p):
    """Takes an adjoint out of memory that threads share if a thread has given the extreme; else zero."""
    if not wins:
        return prim.cast(0, dtype)
    if prim.itemsize(dtype) == 4:
        return prim.f32_of_bits(prim.lh_cuda_exch_i32(p, prim.cast(0, np.int32)))
    return prim.f64_of_bits(prim.lh_cuda_exch_i64(p, prim.cast(0, np.int64)))


def _zeros_of(xs):
    if len(xs) == 0:
        return ()
    return (zeros(xs[0]),) + _zeros_of(xs[1:])


def _zeros_like(x):
    # Views of any strides lie in memory from the least to the greatest address of an element.
    low, high = 0, prim.itemsize(prim.dtype_of(x))
    for n, stride in zip(x.shape, x.strides):
        if stride < 0:
            low += (n - 1) * stride
        else:
            high += (n - 1) * stride
    owner, data = prim.calloc(high - low if x.size > 0 else 0)
    return prim.array(owner, prim.ptr_add(data, -low), x.shape, x.strides, prim.dtype_of(x), prim.layout(x))


def pull(backward, wanted, saved, adjoint, shadows):
    """Calls a rule's second function: adds what it gives to the shadows, and gives the adjoints of numbers.

    NaN among them count as zeros if nothing depends on the result, so that infinite slopes do not leak out of what
    `where` has not chosen.
    """
    is_unused = False
    if is_inexact(adjoint) and not prim.is_array(adjoint):
        is_unused = adjoint == 0
    return _given(wanted, shadows, backward(saved, adjoint, wanted, shadows), is_unused)


def is_inexact(x):
    """Whether it is a float or a complex number, or an array of such."""
    if not (prim.is_array(x) or prim.is_number(x)):
        return False
    return prim.is_float(prim.dtype_of(x)) or prim.is_complex(prim.dtype_of(x))


def times(slope, tangent):
    """The product; zero where the tangent is zero, also if the slope is infinite or NaN."""
    found = tangent * slope
    return found if found == found or tangent != 0 else tangent


def like_signed(x, y):
    """A number, as zero with the sign of another one; its derivative is one also there."""
    return 0.0 + x if prim.copysign(1.0, y) > 0.0 else -(0.0 - x)


def pull_stated(backward, wanted, saved, adjoint, shadows):
    """As `pull`, for a function of the program: it takes what was saved and the adjoint of the result."""
    return _given(wanted, shadows, backward(saved, adjoint), False)


def push_stated(function, wanted, tangents, args):
    """Calls the function by which the program states a tangent: the result and its tangent."""
    return function(args, _all_along(wanted, tangents))


def along(bit, tangent):
    """The tangent of an argument; zeros if its bit says that it has none."""
    return tangent if bit != 0 else zeros(tangent)


def fitted(tangent, result):
    """A tangent as memory of its own, of the type and order of the result that it belongs to."""
    if prim.is_number(result):
        return prim.cast(tangent[()] if prim.is_array(tangent) else tangent, prim.dtype_of(result))
    x = np.asarray(tangent)
    if result.ndim > 1 and prim.layout(result) == "F":
        return copy_c(x.T, prim.dtype_of(result)).T
    return copy_c(x, prim.dtype_of(result))


def _all_along(wanted, tangents):
    if len(tangents) == 0:
        return ()
    return (along(wanted & 1, tangents[0]),) + _all_along(wanted >> 1, tangents[1:])


def _given(wanted, shadows, adjoints, is_unused):
    if len(shadows) == 0:
        return ()
    if len(adjoints) == 0:
        return (None,) + _given(wanted, shadows[1:], (), is_unused)
    first = _one(wanted & 1, shadows[0], adjoints[0], is_unused)
    return (first,) + _given(wanted >> 1, shadows[1:], adjoints[1:], is_unused)


def _one(wanted, shadow, adjoint, is_unused):
    if adjoint is None or shadow is None:
        return None
    if prim.is_tuple(shadow):
        return _each(wanted, shadow, adjoint, is_unused)
    if prim.is_closure(shadow):
        return _each(wanted, prim.fields_of(shadow), prim.fields_of(adjoint), is_unused)
    if prim.is_user(shadow) or prim.is_a(shadow, "builtins.list") or prim.is_dict(shadow):
        if wanted != 0:
            added(shadow, adjoint)
        return None
    if not (prim.is_array(shadow) or prim.is_number(shadow)):
        return None
    # A question about types: what adds to integers is never typed.
    if not (prim.is_float(prim.dtype_of(shadow)) or prim.is_complex(prim.dtype_of(shadow))):
        return None
    fitting = _fitting(adjoint, prim.dtype_of(shadow))
    if prim.is_number(shadow):
        x = prim.cast(fitting[()] if prim.is_array(fitting) else fitting, prim.dtype_of(shadow))
        # A branch, so that the derivative of an adjoint that is zero is the slope, where that is finite.
        return prim.cast(0, prim.dtype_of(shadow)) if is_unused and x != x else x
    if wanted != 0 and is_unused:
        _add(writable(shadow), np.where(fitting == fitting, fitting, prim.cast(0, prim.dtype_of(fitting))))
    elif wanted != 0:
        _add(writable(shadow), fitting)
    return None


def added(x, y):
    """The sum of two values of one structure; what has memory is changed in place. Integers and texts stay, and what
    has `None` added to it."""
    if y is None:
        return x
    if prim.is_optional(x):
        return _added_to_optional(x, y)
    if prim.is_array(x):
        if prim.is_float(prim.dtype_of(x)) or prim.is_complex(prim.dtype_of(x)):
            _add(writable(x), y)
        return x
    if prim.is_float(x) or prim.is_complex(x):
        return prim.cast(x + y, prim.dtype_of(x))
    if prim.is_tuple(x):
        return _added_of(x, y)
    if prim.is_closure(x):
        return prim.of_fields(x, _added_of(prim.fields_of(x), prim.fields_of(y)))
    if prim.is_user(x):
        prim.set_fields(x, _added_of(prim.fields_of(x), prim.fields_of(y)))
    elif prim.is_a(x, "builtins.list"):
        _add_items(x, y)
    elif prim.is_dict(x):
        _add_values(x, y)
    return x


def _added_to_optional(x, y):
    if x is None:
        return None
    return added(x, y)


def _added_of(xs, ys):
    if len(xs) == 0:
        return ()
    return (added(xs[0], ys[0]),) + _added_of(xs[1:], ys[1:])


def _add_items(xs, ys):
    for i in range(len(xs)):
        xs[i] = added(xs[i], ys[i])


def _add_values(xs, ys):
    for k, y in ys.items():
        xs[k] = added(xs[k], y)


def _add(own, adjoint):
    if prim.layout(own) != "A" or not _overlaps(own):
        own[...] += adjoint
        return
    # Of a view in which elements share memory, as in one that is broadcast, those are added one after the other.
    x = copy_c(np.broadcast_to(adjoint, own.shape), prim.dtype_of(own))
    for k in range(own.ndim):
        if own.strides[k] == 0 and own.shape[k] > 1:
            x = np.sum(x, k, None, None, True)
            shape = prim.tuple_set(own.shape, k, 1)
            own = prim.array(prim.owner(own), prim.data(own), shape, own.strides, prim.dtype_of(own), "A")
    _add_in_order(own, x)


def _add_in_order(own, x):
    for i in range(own.shape[0]):
        if own.ndim == 1:
            own[i] += x[i]
        else:
            _add_in_order(own[i], x[i])


def _overlaps(a):
    # Of elements that do not overlap, the steps along two axes are such that one is as long as all of the other.
    for i in range(a.ndim):
        if a.shape[i] > 1 and a.strides[i] == 0:
            return True
        for j in range(i):
            p, q = abs(a.strides[i]), abs(a.strides[j])
            if a.shape[i] > 1 and a.shape[j] > 1 and p < q * a.shape[j] and q < p * a.shape[i]:
                return True
    return False


def writable(shadow):
    """The shadow of an array, also of a view that is read-only."""
    owner, data = prim.owner(shadow), prim.data(shadow)
    return prim.array(owner, data, shadow.shape, shadow.strides, prim.dtype_of(shadow), prim.layout(shadow))


def _fitting(adjoint, dtype):
    # The imaginary part of an adjoint has no effect on real numbers.
    if prim.is_complex(dtype):
        return adjoint
    return adjoint.real if prim.is_complex(prim.dtype_of(adjoint)) else adjoint


def _each(wanted, shadows, adjoints, is_unused):
    if len(shadows) == 0:
        return ()
    first = _one(wanted, shadows[0], adjoints[0], is_unused)
    return (first,) + _each(wanted, shadows[1:], adjoints[1:], is_unused)
