"""Inner loops of ufuncs: a function over strided memory, as NumPy calls them.

Addresses are of first elements, strides are in bytes. NumPy promises that no element is written before another one has
been read from the same place, provided that the elements are computed in order.
"""

from lancehead.lib import prim


def elementwise(f, ins, outs, n, at, by):
    """`f` for each of `n` elements.

    Of every operand the dtype is given: alone if its elements are adjacent, in a tuple of one if there is only one
    element, which is read once, and in a tuple of two for any other stride.
    """
    single = _singles(ins, at)
    for i in range(n):
        _write(outs, f(*_read(ins, single, at, by, i)), at[len(ins) :], by[len(ins) :], i)


def _singles(ins, at):
    single = ()
    for k, t in enumerate(ins):
        if prim.is_tuple(t) and len(t) == 1:
            single = (*single, prim.load(at[k], t[0]))
        else:
            single = (*single, None)
    return single


def _read(ins, single, at, by, i):
    xs = ()
    for k, t in enumerate(ins):
        if prim.is_none(single[k]):
            xs = (*xs, prim.load(_address(t, at[k], by[k], i), _dtype(t)))
        else:
            xs = (*xs, single[k])
    return xs


def _dtype(t):
    return t[0] if prim.is_tuple(t) else t


def _address(t, p, stride, i):
    if prim.is_tuple(t):
        return prim.ptr_add(p, i * stride)
    return prim.ptr_add(p, i * prim.itemsize(t))


def _write(outs, result, at, by, i):
    if prim.is_tuple(result):
        for k, t in enumerate(outs):
            prim.store(_address(t, at[k], by[k], i), prim.cast(result[k], _dtype(t)))
    else:
        prim.store(_address(outs[0], at[0], by[0], i), prim.cast(result, _dtype(outs[0])))


def generalised(f, n, operands):
    """`f` called `n` times with arrays, and numbers, that lie `stride` apart."""
    for i in range(n):
        xs = ()
        for operand in operands:
            xs = (*xs, _operand(operand, i))
        f(*xs)


def _operand(operand, i):
    if prim.is_array(operand[0]):
        a, step = operand
        data = prim.ptr_add(prim.data(a), i * step)
        return prim.array(prim.nobody(), data, a.shape, a.strides, prim.dtype_of(a), prim.layout(a))
    dtype, p, step = operand
    return prim.load(prim.ptr_add(p, i * step), dtype)
