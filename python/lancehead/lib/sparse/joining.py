"""Elementwise operations of two sparse matrices in compressed rows, whose rows are sorted and have no place twice."""

from lancehead.lib import prim
from lancehead.lib.sparse.places import at, put


def keep(c_indices, c_data, to, j, v):
    """Stores an entry that is not zero; returns where the next one goes."""
    put(c_indices, to, j)
    prim.set_item(c_data, to, v)
    return to + (v != 0)


def united(op, rows, a, b, c, operand):
    """The results where one of two matrices has an entry and they are not zero, with zero for what has none.

    `operand` is a line of the type in which the operation computes. Returns how many there are.
    """
    a_indptr, a_indices, a_data = a
    b_indptr, b_indices, b_data = b
    c_indptr, c_indices, c_data = c
    t = prim.dtype_of(operand)
    zero, to = prim.cast(0, t), 0
    put(c_indptr, 0, 0)
    for i in range(rows):
        k, a_end = at(a_indptr, i), at(a_indptr, i + 1)
        m, b_end = at(b_indptr, i), at(b_indptr, i + 1)
        while k < a_end and m < b_end:
            p, q = at(a_indices, k), at(b_indices, m)
            x = prim.cast(prim.item(a_data, k), t) if p <= q else zero
            y = prim.cast(prim.item(b_data, m), t) if q <= p else zero
            to = keep(c_indices, c_data, to, min(p, q), prim.cast(op(x, y), prim.dtype_of(c_data)))
            k += p <= q
            m += q <= p
        while k < a_end:
            v = op(prim.cast(prim.item(a_data, k), t), zero)
            to = keep(c_indices, c_data, to, at(a_indices, k), prim.cast(v, prim.dtype_of(c_data)))
            k += 1
        while m < b_end:
            v = op(zero, prim.cast(prim.item(b_data, m), t))
            to = keep(c_indices, c_data, to, at(b_indices, m), prim.cast(v, prim.dtype_of(c_data)))
            m += 1
        put(c_indptr, i + 1, to)
    return to


def met(op, rows, a, b, c, operand):
    """The results where both matrices have an entry and they are not zero. Returns how many there are."""
    a_indptr, a_indices, a_data = a
    b_indptr, b_indices, b_data = b
    c_indptr, c_indices, c_data = c
    t, to = prim.dtype_of(operand), 0
    put(c_indptr, 0, 0)
    for i in range(rows):
        k, a_end = at(a_indptr, i), at(a_indptr, i + 1)
        m, b_end = at(b_indptr, i), at(b_indptr, i + 1)
        while k < a_end and m < b_end:
            p, q = at(a_indices, k), at(b_indices, m)
            if p == q:
                v = op(prim.cast(prim.item(a_data, k), t), prim.cast(prim.item(b_data, m), t))
                to = keep(c_indices, c_data, to, p, prim.cast(v, prim.dtype_of(c_data)))
            k += p <= q
            m += q <= p
        put(c_indptr, i + 1, to)
    return to
