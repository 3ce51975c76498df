"""Copies of records. A record is the address of its bytes."""

from lancehead.lib import prim


def copy(to, source, n, word):
    """Copies that many words of a type from one address to another."""
    size = prim.itemsize(word)
    for i in range(n):
        prim.store(prim.ptr_add(to, i * size), prim.load(prim.ptr_add(source, i * size), word))


def assign(dst, x):
    """`dst[...] = x`, of arrays of records and of one record."""
    if prim.is_array(x):
        if x.ndim == dst.ndim:
            if len(x) != len(dst) and len(x) != 1:
                raise ValueError("could not broadcast the records into the shape")
            for i in range(len(dst)):
                if dst.ndim == 1:
                    dst[i] = x[i if len(x) > 1 else 0]
                else:
                    assign(dst[i], x[i if len(x) > 1 else 0])
        else:
            for i in range(len(dst)):
                assign(dst[i], x)
    else:
        for i in range(len(dst)):
            if dst.ndim == 1:
                dst[i] = x
            else:
                assign(dst[i], x)
