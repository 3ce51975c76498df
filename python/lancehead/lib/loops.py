"""Inner loops of ufuncs: a scalar function over strided memory, as NumPy calls them.

Addresses are of first elements and strides in bytes. The loops have versions for elements that are adjacent, which is
what vectorises, and for operands whose stride is 0, which are read once.
"""

from lancehead.lib import prim


def elementwise(f, ins, outs, n, at, by):
    """`f` for each of `n` elements: operands of the dtypes `ins`, results of the dtypes `outs`."""
    sizes = _sizes(ins, outs)
    if by == sizes:
        _run(f, ins, outs, n, at, sizes)
        return
    if len(ins) == 2:
        if (0, *by[1:]) == by and by[1:] == sizes[1:]:
            _run(f, ins, outs, n, at, (0, *sizes[1:]))
            return
        if by[1] == 0 and by[0] == sizes[0] and by[2:] == sizes[2:]:
            _run(f, ins, outs, n, at, (sizes[0], 0, *sizes[2:]))
            return
    _run(f, ins, outs, n, at, by)


def _sizes(ins, outs):
    sizes = ()
    for t in ins + outs:
        sizes = sizes + (prim.itemsize(t),)
    return sizes


def _run(f, ins, outs, n, at, by):
    for i in range(n):
        _write(outs, f(*_read(ins, at, by, i)), at[len(ins) :], by[len(ins) :], i)


def _read(ins, at, by, i):
    xs = ()
    for k, t in enumerate(ins):
        xs = xs + (prim.load(prim.ptr_add(at[k], i * by[k]), t),)
    return xs


def _write(outs, result, at, by, i):
    if prim.is_tuple(result):
        for k, t in enumerate(outs):
            prim.store(prim.ptr_add(at[k], i * by[k]), prim.cast(result[k], t))
    else:
        prim.store(prim.ptr_add(at[0], i * by[0]), prim.cast(result, outs[0]))


def generalised(f, n, operands):
    """`f` called `n` times with arrays, and numbers, that lie `stride` apart."""
    for i in range(n):
        f(*_operands(operands, i))


def _operands(operands, i):
    xs = ()
    for operand in operands:
        xs = xs + (_operand(operand, i),)
    return xs


def _operand(operand, i):
    if prim.is_array(operand[0]):
        a, step = operand
        data = prim.ptr_add(prim.data(a), i * step)
        return prim.array(prim.owner(a), data, a.shape, a.strides, prim.dtype_of(a), prim.layout(a))
    dtype, p, step = operand
    return prim.load(prim.ptr_add(p, i * step), dtype)
