"""Sorting, selection and what is found by order."""

import numpy as np

from lancehead.lib import chars, prim
from lancehead.lib.conversions import axis_of, check_flag, flag_of, integer_of
from lancehead.lib.numpy.axes import lines_axes
from lancehead.lib.numpy.creation import asarray, line_of
from lancehead.lib.numpy.folds import deliver
from lancehead.lib.numpy.layout import (
    check_axis,
    contiguous,
    copy_c,
    copy_into,
    flat,
    lane,
    lanes,
    new_array,
    packed_lane,
)
from lancehead.lib.numpy.reductions import mean_dtype, quotient
from lancehead.lib.times import of_key as time_of_key
from lancehead.lib.times import to_key as key_of_time


def before(a, b):
    """Order of sorting: NaN last, complex numbers by real part first."""
    if prim.is_float(a) or prim.is_time(a):
        return (not b <= a) & (a == a)
    if prim.is_complex(a):
        return _complex_before(a, b)
    if prim.is_bool(a):
        return b and not a
    return a < b


def _complex_before(a, b):
    # A NaN in the imaginary part puts a number behind those without one, whatever its real part is.
    if a.real < b.real:
        return a.imag == a.imag or b.imag != b.imag
    if a.real > b.real:
        return a.imag == a.imag and b.imag != b.imag
    if a.real == b.real or (a.real != a.real and b.real != b.real):
        return before(a.imag, b.imag)
    return b.real != b.real


def _wide(v):
    # `float16` is sorted as what holds it exactly.
    return prim.map(_single, v)


def _single(x):
    return prim.cast(x, np.float32)


def _keys(v):
    # Times are sorted as counts, with NaT last.
    return prim.map(key_of_time, v)


def _put_back(v, keys):
    prim.map_into(v, time_of_key, keys, v)


def _sort_few(v, order):
    # On a GPU, where threads have few elements, or of indices: each goes down to its place.
    for i in range(v.size):
        x, k = prim.item(v, i), i
        while k > 0 and before(x, prim.item(v, k - 1 if order is None else prim.item(order, k - 1))):
            k -= 1
            if order is None:
                prim.set_item(v, k + 1, prim.item(v, k))
            else:
                prim.set_item(order, k + 1, prim.item(order, k))
        if order is None:
            prim.set_item(v, k, x)
        else:
            prim.set_item(order, k, i)


def _sort_packed(v, dtype):
    # The run-time library sorts contiguous elements of each type.
    if prim.on_gpu():
        _sort_few(v, None)
    elif prim.is_float(dtype) and prim.itemsize(dtype) == 2:
        wide = _wide(v)
        _sort_packed(wide, np.float32)
        v[:] = wide
    elif prim.is_time(dtype):
        keys = _keys(v)
        _sort_packed(keys, np.int64)
        _put_back(v, keys)
    elif prim.is_chars(dtype):
        chars.sort_packed(v)
    else:
        prim.lh_sort(dtype, prim.data(v), v.size)


def _argsort_packed(v, order, dtype):
    if prim.on_gpu():
        _sort_few(v, order)
    elif prim.is_float(dtype) and prim.itemsize(dtype) == 2:
        _argsort_packed(_wide(v), order, np.float32)
    elif prim.is_time(dtype):
        _argsort_packed(_keys(v), order, np.int64)
    elif prim.is_chars(dtype):
        chars.sort_order(v, order)
    else:
        prim.lh_argsort(dtype, prim.data(v), prim.data(order), v.size)


def _select_packed(v, k, dtype):
    if prim.on_gpu():
        _sort_few(v, None)
    elif prim.is_float(dtype) and prim.itemsize(dtype) == 2:
        wide = _wide(v)
        _select_packed(wide, k, np.float32)
        v[:] = wide
    elif prim.is_time(dtype):
        keys = _keys(v)
        _select_packed(keys, k, np.int64)
        _put_back(v, keys)
    elif prim.is_chars(dtype):
        chars.sort_packed(v)
    else:
        prim.lh_partition(dtype, prim.data(v), v.size, k)


def _packed(v):
    # The line itself if it is contiguous, else a copy.
    if prim.layout(v) == "C":
        return v
    return copy_c(v, prim.dtype_of(v))


def sort_line(v):
    """Sorts a line in place; NaN goes last."""
    sort_any(v)


def sort_any(v):
    """Sorts a line in place, also one that has no derivative."""
    c = _packed(v)
    _sort_packed(c, prim.dtype_of(v))
    if prim.layout(v) != "C":
        copy_into(v, c)


def put_rank(v, k):
    """Puts the element of rank `k` of a contiguous line in its place, lesser ones before and greater ones after it."""
    put_any_rank(v, k)


def put_any_rank(v, k):
    """As `put_rank`, also of a line that has no derivative."""
    _select_packed(v, k, prim.dtype_of(v))


def argsort_line(v):
    """The indices that sort a line, stably."""
    c = _packed(v)
    order = new_array((v.size,), np.int64)
    _argsort_packed(c, order, prim.dtype_of(v))
    return order


def on_lines(f, a, axis, extra):
    """Applies `f(line, extra)`, which changes a contiguous line in place, along an axis of a row-major array."""
    v = lanes(a, check_axis(axis_of(axis), a.ndim))
    outer, n, inner = v.shape
    if inner == 1:
        for i in range(outer):
            f(packed_lane(v, i), extra)
        return
    buffer = new_array((n,), prim.dtype_of(a))
    for i in range(outer):
        for j in range(inner):
            line = lane(v, i, j)
            copy_into(buffer, line)
            f(buffer, extra)
            copy_into(line, buffer)


def _sort(line, extra):
    sort_line(line)


def _select(line, k):
    put_rank(line, k)


def check_kind(kind, order=None, stable=None):
    """Refuses names that no way of sorting has; all ways are one here."""
    if order is not None:
        prim.error("`order` names fields of records: sort the field, or use `np.lexsort`")
    if stable is not None and kind is not None:
        raise ValueError("`kind` and keyword parameters can't be provided at the same time. Use only one of them.")
    if stable is not None:
        flag_of(stable)
    if kind is None:
        return
    if not prim.is_str(kind):
        prim.error("a kind of sorting is a string")
    if not _is_kind(kind):
        raise ValueError("sort kind must be one of 'quick', 'heap', or 'stable' (got '" + kind + "')")


def check_selection(kind, order):
    """Refuses names of ways of selecting other than the only one."""
    if order is not None:
        prim.error("`order` names fields of records: select in the field")
    if kind != "introselect":
        raise ValueError("select kind must be 'introselect' (got '" + kind + "')")


def _is_kind(kind):
    if kind == "stable" or kind == "quicksort" or kind == "mergesort" or kind == "heapsort":
        return True
    return kind == "quick" or kind == "merge" or kind == "heap"


def sort_in_place(a, axis):
    """Sorts along an axis, whatever the strides."""
    if a.ndim == 1:
        check_axis(axis_of(axis), 1)
        sort_line(a)
    elif prim.layout(a) == "C":
        on_lines(_sort, a, axis, None)
    else:
        c = copy_c(a, prim.dtype_of(a))
        on_lines(_sort, c, axis, None)
        copy_into(a, c)


def sort(a, axis=-1, kind=None, order=None, *, stable=None):
    """A sorted copy; `axis` None sorts all elements.

    >>> np.sort(np.array([3, 1, 2]))
    array([1, 2, 3])
    >>> np.sort(np.array([[3, 1], [2, 4]]), axis=0)
    array([[2, 1],
           [3, 4]])
    """
    check_kind(kind, order, stable)
    x = asarray(a)
    if axis is not None:
        check_axis(axis_of(axis), x.ndim)
    if axis is None or x.ndim == 1:
        line = copy_c(flat(x), prim.dtype_of(x))
        sort_line(line)
        return line
    if prim.layout(x) == "F":
        # A copy lies in memory as the array does.
        return sort(x.T, x.ndim - 1 - check_axis(axis_of(axis), x.ndim)).T
    c = copy_c(x, prim.dtype_of(x))
    on_lines(_sort, c, axis, None)
    return c


def argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    """Indices that sort; equal elements keep their order.

    >>> np.argsort(np.array([3, 1, 2]))
    array([1, 2, 0])
    """
    check_kind(kind, order, stable)
    x = asarray(a)
    if axis is not None:
        # A number counts as a line, here only.
        check_axis(axis, x.ndim if x.ndim > 0 else 1)
    if axis is None or x.ndim <= 1:
        return argsort_line(flat(x))
    k = check_axis(axis, x.ndim)
    out = new_array(x.shape, np.int64)
    v, w = lanes(contiguous(x), k), lanes(out, k)
    for i in range(v.shape[0]):
        for j in range(v.shape[2]):
            copy_into(lane(w, i, j), argsort_line(lane(v, i, j)))
    return out


def _checked_rank(kth, n):
    k = integer_of(kth)
    if k < -n or k >= n:
        raise ValueError("kth(=" + str(k) + ") out of bounds (" + str(n) + ")")
    return k + n if k < 0 else k


def _check_ranks(kth):
    if prim.is_tuple(kth) and len(kth) == 0:
        prim.error("a rank is an integer")


def partition_in_place(a, kth, axis):
    """Puts the element of a rank in its place along an axis."""
    _check_ranks(kth)
    along = check_axis(axis_of(axis), a.ndim)
    if not prim.is_number(kth):
        for k in kth:
            _checked_rank(k, a.shape[along])
        # The lowest ranks last would undo the others; a sorted line has every rank in place.
        sort_in_place(a, axis)
        return
    k = _checked_rank(kth, a.shape[along])
    if prim.layout(a) == "C":
        on_lines(_select, a, axis, k)
    else:
        c = copy_c(a, prim.dtype_of(a))
        on_lines(_select, c, axis, k)
        copy_into(a, c)


@prim.means("selection")
def partition(a, kth, axis=-1, kind="introselect", order=None):
    """A copy with the element of a rank in its place, lesser ones before and greater ones after it.

    >>> np.partition(np.array([3, 1, 2]), 1)[1]
    np.int64(2)
    """
    check_selection(kind, order)
    x = asarray(a)
    if axis is None:
        line = copy_c(flat(x), prim.dtype_of(x))
        partition_in_place(line, kth, 0)
        return line
    if x.ndim > 1 and prim.layout(x) == "F":
        return partition(x.T, kth, x.ndim - 1 - check_axis(axis_of(axis), x.ndim)).T
    c = copy_c(x, prim.dtype_of(x))
    partition_in_place(c, kth, axis)
    return c


def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    """Indices of a partition.

    >>> np.argpartition(np.array([3, 1, 2]), 1)[1]
    np.int64(2)
    """
    check_selection(kind, order)
    _check_ranks(kth)
    x = asarray(a)
    if axis is not None and x.ndim == 0:
        check_axis(axis_of(axis), 1)
    if axis is None or x.ndim == 0:
        return argpartition(flat(x), kth, 0)
    along = check_axis(axis_of(axis), x.ndim)
    if not prim.is_number(kth):
        for k in kth:
            _checked_rank(k, x.shape[along])
        return argsort(x, axis)
    rank = _checked_rank(kth, x.shape[along])
    if x.shape[along] <= 32:
        # Short lines are sorted as fast.
        return argsort(x, axis)
    out = new_array(x.shape, np.int64)
    v, w = lanes(contiguous(x), along), lanes(out, along)
    buffer = new_array((x.shape[along],), prim.dtype_of(x))
    for i in range(v.shape[0]):
        for j in range(v.shape[2]):
            line = lane(v, i, j)
            copy_into(buffer, line)
            put_rank(buffer, rank)
            _arrange(lane(w, i, j), line, prim.item(buffer, rank))
    return out


def _arrange(out, v, middle):
    # The indices of the elements before the one of some rank, of those equal to it, and of those after it.
    n_before, n_equal = 0, 0
    for i in range(v.size):
        x = prim.item(v, i)
        n_before += 1 if before(x, middle) else 0
        n_equal += 0 if before(x, middle) or before(middle, x) else 1
    low, equal, high = 0, n_before, n_before + n_equal
    for i in range(v.size):
        x = prim.item(v, i)
        is_before, is_after = before(x, middle), before(middle, x)
        prim.set_item(out, low if is_before else high if is_after else equal, i)
        low += 1 if is_before else 0
        high += 1 if is_after else 0
        equal += 0 if is_before or is_after else 1


@prim.means("selection")
def _median_line(v, extra):
    n = v.size
    dtype = mean_dtype(prim.dtype_of(v))
    if n == 0:
        return quotient(prim.cast(0, dtype), 0)
    buffer = new_array((n,), prim.dtype_of(v))
    copy_into(buffer, v)
    k = prim.shr(n, 1)
    put_rank(buffer, k)
    high = prim.cast(prim.item(buffer, k), dtype)
    for i in range(k, n):
        # A NaN is greater than all numbers.
        x = prim.cast(prim.item(buffer, i), dtype)
        if x != x:
            return x
    if (n & 1) == 1:
        # The mean of one complex number makes NaN of what is beside an infinite part.
        return quotient(high, 1) if prim.is_complex(high) else high
    low = prim.item(buffer, 0)
    for i in range(1, k):
        if before(low, prim.item(buffer, i)):
            low = prim.item(buffer, i)
    return quotient(prim.cast(low, dtype) + high, 2)


@prim.means("statistic")
def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The middle element, or the mean of the two in the middle; NaN if there is one.

    >>> np.median(np.array([3, 1, 4, 1]))
    np.float64(2.0)
    >>> np.median(np.array([[3, 1, 2], [6, 5, 4]]), axis=1)
    array([2., 5.])
    """
    check_flag(overwrite_input)
    x = asarray(a)
    return deliver(lines_axes(_median_line, x, axis, keepdims, mean_dtype(prim.dtype_of(x)), None), out)


def place_in_line(v, x, right):
    """Number of elements of a sorted line before `x` (and equal, from the right).

    As many steps whatever `x` is, so that processors begin with the next search before this one has ended.
    """
    low, rest = 0, v.size
    while rest > 1:
        half = prim.shr(rest, 1)
        y = _as_other(prim.item(v, low + half - 1), x)
        low = low + half if ((not before(x, y)) if right else before(y, x)) else low
        rest -= half
    if rest == 1:
        y = _as_other(prim.item(v, low), x)
        low = low + 1 if ((not before(x, y)) if right else before(y, x)) else low
    return low


def _as_other(y, x):
    # The type in which both are compared.
    return prim.cast(y, prim.dtype_of(x)) if prim.is_number(x) else y


def _step(v, low, half, x, right):
    # The place after half of the rest, or as before.
    y = prim.item(v, low + half - 1)
    return low + half if ((not before(x, y)) if right else before(y, x)) else low


def _places(v, x, out, right):
    # Four searches take each step together: none waits for the others.
    whole, dtype = x.size // 4 * 4, prim.dtype_of(v)
    for i in range(0, whole, 4):
        a, b = prim.cast(prim.item(x, i), dtype), prim.cast(prim.item(x, i + 1), dtype)
        c, d = prim.cast(prim.item(x, i + 2), dtype), prim.cast(prim.item(x, i + 3), dtype)
        p = q = r = s = 0
        rest = v.size
        while rest > 0:
            half = prim.shr(rest, 1) if rest > 1 else 1
            p, q = _step(v, p, half, a, right), _step(v, q, half, b, right)
            r, s = _step(v, r, half, c, right), _step(v, s, half, d, right)
            rest = rest - half if rest > 1 else 0
        prim.set_item(out, i, p)
        prim.set_item(out, i + 1, q)
        prim.set_item(out, i + 2, r)
        prim.set_item(out, i + 3, s)
    for i in range(whole, x.size):
        prim.set_item(out, i, place_in_line(v, prim.cast(prim.item(x, i), dtype), right))


def searchsorted(a, v, side="left", sorter=None):
    """Where elements go in a sorted array.

    >>> np.searchsorted(np.array([1, 3, 5]), 3)
    np.int64(1)
    >>> np.searchsorted(np.array([1, 3, 5]), np.array([0, 3, 9]), side="right")
    array([0, 2, 3])
    """
    if side != "left" and side != "right":
        raise ValueError("search side must be 'left' or 'right' (got '" + side + "')")
    right = side == "right"
    if asarray(a).ndim == 0:
        raise ValueError("object of too small depth for desired array")
    if sorter is not None:
        order = asarray(sorter)
        if order.size != asarray(a).size:
            raise ValueError("sorter.size must equal a.size")
        return searchsorted(asarray(a)[order], v, side)
    line = asarray(a)
    if line.ndim != 1:
        raise ValueError(
            "object too deep for desired array" if line.ndim > 1 else "object of too small depth for desired array"
        )
    if prim.is_chars(line) and not prim.is_array(v):
        return prim.cast(place_in_line(line, v, right), np.int64)
    if prim.is_scalar(v):
        # A number of Python is one of 64 bits, as in an array.
        dtype = prim.result_type(prim.dtype_of(line), prim.as_dtype(prim.dtype_of(v)))
        wide = line if prim.is_number(v) else asarray(line, dtype)
        return prim.cast(place_in_line(wide, prim.cast(v, dtype), right), np.int64)
    values = asarray(v)
    dtype = prim.result_type(prim.dtype_of(line), prim.dtype_of(values))
    wide = asarray(line, dtype)
    out = new_array(values.shape, np.int64)
    _places(wide, flat(values), flat(out), right)
    return out


def _are_falling(edges):
    # As floats, like NumPy, for which edges fall if the first ones that differ do not rise: NaN does not.
    n, i = edges.size, 1
    while i < n and _edge(edges, i) == _edge(edges, 0):
        i += 1
    falling = i < n and not _edge(edges, 0) < _edge(edges, i)
    while i + 1 < n:
        earlier, later = _edge(edges, i), _edge(edges, i + 1)
        if earlier < later if falling else earlier > later:
            raise ValueError("bins must be monotonically increasing or decreasing")
        i += 1
    return falling


def _halved(v, x, right):
    # As NumPy searches: where NaN comes first, the line is in no order.
    if not prim.is_number(x):
        values = asarray(x)
        out = new_array(values.shape, np.int64)
        w, places = flat(values), flat(out)
        for i in range(w.size):
            prim.set_item(places, i, _halved(v, prim.cast(prim.item(w, i), np.float64), right))
        return out
    low, high = 0, v.size
    while low < high:
        middle = prim.shr(low + high, 1)
        y = prim.cast(prim.item(v, middle), np.float64)
        if before(y, x) if right else not before(x, y):
            low = middle + 1
        else:
            high = middle
    return v.size - low


def _edge(edges, i):
    x = prim.item(edges, i)
    return x if prim.is_time(x) else prim.cast(x, np.float64)


def digitize(x, bins, right=False):
    """Index of the bin of each element.

    >>> np.digitize(np.array([0.5, 1.5, 3.0]), np.array([0.0, 1.0, 2.0]))
    array([1, 2, 3])
    """
    edges = line_of(bins)
    if prim.is_complex(prim.dtype_of(edges)) or prim.is_complex(prim.dtype_of(x if prim.is_number(x) else asarray(x))):
        prim.error("`digitize` takes real numbers")
    if _are_falling(edges):
        if prim.is_float(prim.dtype_of(edges)) and np.isnan(edges[-1]):
            return _halved(edges[::-1], prim.cast(x, np.float64) if prim.is_number(x) else x, right)
        return edges.size - searchsorted(edges[::-1], x, "right" if not right else "left")
    return searchsorted(edges, x, "left" if right else "right")
