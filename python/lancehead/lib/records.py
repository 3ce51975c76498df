"""Copies of records. A record is the address of its bytes."""

from lancehead.lib import prim


def copy(to, source, n, word):
    """Copies that many words of a type from one address to another."""
    size = prim.itemsize(word)
    for i in range(n):
        prim.store(prim.ptr_add(to, i * size), prim.load(prim.ptr_add(source, i * size), word))


def assign(dst, x):
    """`dst[...] = x`, of arrays of records that share no memory, of one record and of a tuple of its fields."""
    if dst.ndim == 0:
        dst[()] = x[()] if prim.is_array(x) else x
    elif prim.is_array(x) and x.ndim == dst.ndim:
        if len(x) != len(dst) and len(x) != 1:
            raise ValueError(f"could not broadcast input array from shape {x.shape} into shape {dst.shape}")
        step = 0 if len(x) == 1 else 1
        for i in range(len(dst)):
            if dst.ndim == 1:
                dst[i] = x[i * step]
            else:
                assign(dst[i], x[i * step])
    elif prim.is_array(x) and x.ndim == 0:
        assign(dst, x[()])
    else:
        for i in range(len(dst)):
            if dst.ndim == 1:
                dst[i] = x
            else:
                assign(dst[i], x)
