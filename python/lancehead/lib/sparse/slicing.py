"""Rows, columns and elements of sparse matrices in compressed rows."""

from lancehead import prange
from lancehead.lib import prim
from lancehead.lib.sparse.arithmetic import plus, times
from lancehead.lib.sparse.places import at, put


def size_of_rows(indptr, rows, out_indptr):
    """How many entries some rows have, as places where they begin."""
    total = 0
    put(out_indptr, 0, 0)
    for n in range(rows.shape[0]):
        i = at(rows, n)
        total += at(indptr, i + 1) - at(indptr, i)
        put(out_indptr, n + 1, total)
    return total


def take_rows(indptr, indices, data, rows, out_indptr, out_indices, out_data):
    """Some rows, one after the other."""
    for n in prange(rows.shape[0]):
        start, to = at(indptr, at(rows, n)), at(out_indptr, n)
        count = at(out_indptr, n + 1) - to
        # Rows are short: two entries at a time, without a look at whether arrays overlap.
        k = 0
        while k + 2 <= count:
            i, j = prim.item(indices, start + k), prim.item(indices, start + k + 1)
            v, w = prim.item(data, start + k), prim.item(data, start + k + 1)
            prim.set_item(out_indices, to + k, i)
            prim.set_item(out_indices, to + k + 1, j)
            prim.set_item(out_data, to + k, v)
            prim.set_item(out_data, to + k + 1, w)
            k += 2
        if k < count:
            prim.set_item(out_indices, to + k, prim.item(indices, start + k))
            prim.set_item(out_data, to + k, prim.item(data, start + k))


def size_of_range(indptr, indices, rows, first, last, out_indptr):
    """How many entries of each row lie in a range of columns, as places where rows begin."""
    total = 0
    put(out_indptr, 0, 0)
    for i in range(rows):
        for k in range(at(indptr, i), at(indptr, i + 1)):
            total += first <= at(indices, k) < last
        put(out_indptr, i + 1, total)
    return total


def take_range(indptr, indices, data, rows, first, last, out_indices, out_data):
    """The entries in a range of columns."""
    to = 0
    for i in range(rows):
        for k in range(at(indptr, i), at(indptr, i + 1)):
            j = at(indices, k)
            if first <= j < last:
                put(out_indices, to, j - first)
                prim.set_item(out_data, to, prim.item(data, k))
                to += 1


def size_of_columns(indptr, indices, rows, starts, out_indptr):
    """How many entries a choice of columns has in each row; `starts` is where the places of each column begin."""
    total = 0
    put(out_indptr, 0, 0)
    for i in range(rows):
        for k in range(at(indptr, i), at(indptr, i + 1)):
            j = at(indices, k)
            total += at(starts, j + 1) - at(starts, j)
        put(out_indptr, i + 1, total)
    return total


def take_columns(indptr, indices, data, rows, starts, places, out_indices, out_data):
    """The entries of a choice of columns; `places` lists, column by column, where it is chosen."""
    to = 0
    for i in range(rows):
        for k in range(at(indptr, i), at(indptr, i + 1)):
            j = at(indices, k)
            for m in range(at(starts, j), at(starts, j + 1)):
                put(out_indices, to, at(places, m))
                prim.set_item(out_data, to, prim.item(data, k))
                to += 1


def entry_from(indices, start, end, j):
    """The first entry of a sorted row, among some, whose column is not before one."""
    low, high = start, end
    while low < high:
        middle = (low + high) >> 1
        if at(indices, middle) < j:
            low = middle + 1
        else:
            high = middle
    return low


def add_entries(indices, data, start, end, is_sorted, j, out, n):
    """Adds up the entries of a row that are in a column."""
    k = entry_from(indices, start, end, j) if is_sorted else start
    while k < end and (not is_sorted or at(indices, k) == j):
        if at(indices, k) == j:
            prim.set_item(out, n, plus(prim.item(out, n), prim.item(data, k)))
        k += 1


def are_rows(indptr, indices, data, first, last):
    """Whether some rows have entries of the arrays."""
    if not 0 <= first <= last < indptr.shape[0]:
        return False
    start, end = at(indptr, first), at(indptr, last)
    return 0 <= start <= end <= min(indices.shape[0], data.shape[0])


def element(indptr, indices, data, is_sorted, i, j, out):
    """Adds up the entries at a place, if the row is there; whether it is."""
    if not are_rows(indptr, indices, data, i, i + 1):
        return False
    add_entries(indices, data, at(indptr, i), at(indptr, i + 1), is_sorted, j, out, 0)
    return True


def elements(indptr, indices, data, is_sorted, rows, columns, out):
    """Adds up the entries at some places."""
    for n in prange(rows.shape[0]):
        i, j = at(rows, n), at(columns, n)
        add_entries(indices, data, at(indptr, i), at(indptr, i + 1), is_sorted, j, out, n)


def places_of(indptr, indices, rows, columns, out):
    """The places of entries in rows without order; false if one is not there, is there twice, or takes long to find."""
    left = 2 * indices.shape[0]
    for n in range(rows.shape[0]):
        i, j, found = at(rows, n), at(columns, n), -1
        start, end = at(indptr, i), at(indptr, i + 1)
        left -= end - start
        if left < 0:
            return False
        for k in range(start, end):
            if at(indices, k) == j:
                if found >= 0:
                    return False
                found = k
        if found < 0:
            return False
        put(out, n, found)
    return True


def lower_bounds(indptr, indices, rows, columns, out):
    """The places of entries in sorted rows; where there is none, `~k` of the place `k` that it would have."""
    for n in range(rows.shape[0]):
        i, j = at(rows, n), at(columns, n)
        end = at(indptr, i + 1)
        low = entry_from(indices, at(indptr, i), end, j)
        put(out, n, low if low < end and at(indices, low) == j else ~low)


def diagonal(indptr, indices, data, rows, offset, out):
    """Adds up the entries of a diagonal; the first row has its first element in column `offset`."""
    for i in range(rows):
        for k in range(at(indptr, i), at(indptr, i + 1)):
            if at(indices, k) == i + offset:
                n = min(i, i + offset)
                prim.set_item(out, n, plus(prim.item(out, n), prim.item(data, k)))


def scale_rows(indptr, data, rows, factors, out):
    """Multiplies each row by a number."""
    for i in prange(rows):
        for k in range(at(indptr, i), at(indptr, i + 1)):
            v, w = prim.item(data, k), prim.item(factors, i)
            prim.set_item(out, k, times(prim.cast(v, prim.dtype_of(out)), prim.cast(w, prim.dtype_of(out))))


def scale_columns(indices, data, factors, out):
    """Multiplies each column by a number."""
    for k in prange(data.shape[0]):
        v, w = prim.item(data, k), prim.item(factors, at(indices, k))
        prim.set_item(out, k, times(prim.cast(v, prim.dtype_of(out)), prim.cast(w, prim.dtype_of(out))))
