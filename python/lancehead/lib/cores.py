"""Generalised ufuncs, and ufuncs with several results, called in compiled code."""

import numpy as np

from lancehead.lib import prim


def several(f, in_types, out_types, ins, outs):
    """Arrays of the results of `f` for broadcast operands, in `outs` but where these are None."""
    shape = np.broadcast_shapes(*_shapes(ins, outs))
    for out in outs:
        if prim.is_array(out) and out.shape != shape:
            raise ValueError("non-broadcastable output operand")
    made = _made(outs, ins, out_types, shape) if len(outs) > 0 else _results(out_types, shape)
    if len(shape) == 0:
        _put(made, (), f(*_items(in_types, ins, ())))
    else:
        for index in np.ndindex(shape):
            _put(made, index, f(*_items(in_types, ins, index)))
    if len(outs) == 0:
        return _values(made)
    return _delivered(outs, made)


def _made(outs, ins, types, shape):
    made = ()
    for k, out in enumerate(_apart(outs, ins, True)):
        made = (*made, np.empty(shape, types[k])) if prim.is_none(out) else (*made, out)
    return made


def _delivered(outs, made):
    results = ()
    for k, out in enumerate(outs):
        results = (*results, made[k]) if prim.is_none(out) else (*results, _copied_back(out, made[k]))
    return results


def _apart(outs, ins, is_elementwise):
    # Outputs to compute into: copies of those that share memory with an input, other than element by element.
    made = ()
    for a in outs:
        if prim.is_none(a):
            made = (*made, a)
            continue
        free = True
        for b in ins:
            if prim.is_array(b):
                free &= _is_apart(a, b) or (is_elementwise and a is b)
        made = (*made, a if free else a.copy())
    return made


def _is_apart(a, b):
    first, last = _span(a)
    low, high = _span(b)
    return last <= low or high <= first


def _span(a):
    # Addresses of the first byte and of that after the last.
    low = a.ctypes.data
    high = low + a.itemsize
    for n, stride in zip(a.shape, a.strides):
        if n == 0:
            return low, low
        low += min((n - 1) * stride, 0)
        high += max((n - 1) * stride, 0)
    return low, high


def _shapes(ins, outs):
    shapes = ()
    for a in ins + outs:
        shapes = shapes if prim.is_none(a) else (*shapes, np.shape(a))
    return shapes


def _results(types, shape):
    made = ()
    for t in types:
        made = (*made, np.empty(shape, t))
    return made


def _items(types, ins, index):
    xs = ()
    for k, t in enumerate(types):
        a = ins[k]
        if prim.is_array(a):
            xs = (*xs, prim.cast(prim.load(_address(a, (), index), prim.dtype_of(a)), t))
        else:
            xs = (*xs, prim.cast(a, t))
    return xs


def _put(outs, index, results):
    for k, out in enumerate(outs):
        p = _address(out, (), index)
        prim.store(p, prim.cast(results[k] if prim.is_tuple(results) else results, prim.dtype_of(out)))


def _address(a, core, index):
    # Along all dimensions but the core ones; those of extent 1 are repeated.
    p = prim.data(a)
    rank = a.ndim - len(core)
    for k, (n, stride) in enumerate(zip(a.shape[:rank], a.strides[:rank])):
        i = index[len(index) - rank + k]
        p = prim.ptr_add(p, 0 if n == 1 else i * stride)
    return p


def call_generalised(f, name, layout, kinds, dims, sizes, writable, ins, outs):
    """A generalised ufunc: of every operand its kind (a dtype, or a pair of dtype and rank) and its core dimensions.

    Numbers of dimensions are lengths of tuples, since these are known while compiling.
    """
    arrays = _inputs(kinds, writable, ins)
    n = len(arrays)
    for k, a in enumerate(arrays):
        sizes = _core_sizes(name, layout, "Input", k, a, dims[k], sizes)
    loop = np.broadcast_shapes(*_loop_shapes(arrays, dims))
    if len(outs) == 0:
        made = _new_outputs(kinds[n:], dims[n:], sizes, loop)
    else:
        for k, a in enumerate(outs):
            sizes = _core_sizes(name, layout, "Output", k, a, dims[n + k], sizes)
        loop = np.broadcast_shapes(loop, *_loop_shapes(outs, dims[n:]))
        for k, a in enumerate(outs):
            if a.shape[: a.ndim - len(dims[n + k])] != loop:
                raise ValueError("non-broadcastable output operand")
        made = _apart(outs, arrays, False)
    operands = arrays + _typed_outputs(kinds[n:], made)
    if len(loop) == 0:
        f(*_views(kinds, dims, operands, ()))
    else:
        for index in np.ndindex(loop):
            f(*_views(kinds, dims, operands, index))
    if len(outs) > 0:
        _copy_back(outs, operands[n:])
        return outs[0] if len(outs) == 1 else outs
    return _values(made)


def _inputs(kinds, writable, ins):
    arrays = ()
    for k, a in enumerate(ins):
        dtype = _dtype(kinds[k])
        if not prim.is_array(a):
            arrays = (*arrays, np.full((), a, dtype))
        elif prim.dtype_of(a) == dtype:
            arrays = (*arrays, a)
        elif not prim.is_none(writable[k]):
            prim.error(a, "an input that is written to must have the type of the signature")
        else:
            arrays = (*arrays, a.astype(dtype))
    return arrays


def _dtype(kind):
    if prim.is_tuple(kind):
        return kind[0]
    return kind


def _core_sizes(name, layout, which, k, a, dims, sizes):
    rank = len(dims)
    if a.ndim < rank:
        raise ValueError(
            f"{name}: {which} operand {k} does not have enough dimensions (has {a.ndim}, gufunc core with signature "
            f"{layout} requires {rank})"
        )
    for j, dim in enumerate(dims):
        n = a.shape[a.ndim - rank + j]
        want = sizes[len(dim)]
        if want >= 0 and want != n:
            raise ValueError(
                f"Operand has a mismatch in one of its core dimensions: {name}: {which} operand {k} has a mismatch in "
                f"its core dimension {j}, with gufunc signature {layout} (size {n} is different from {want})"
            )
        sizes = prim.tuple_set(sizes, len(dim), n)
    return sizes


def _loop_shapes(arrays, dims):
    shapes = ()
    for k, a in enumerate(arrays):
        shapes = (*shapes, a.shape[: a.ndim - len(dims[k])])
    return shapes


def _new_outputs(kinds, dims, sizes, loop):
    made = ()
    for k, kind in enumerate(kinds):
        made = (*made, np.empty(loop + _extents(dims[k], sizes), _dtype(kind)))
    return made


def _extents(dims, sizes):
    extents = ()
    for dim in dims:
        extents = (*extents, sizes[len(dim)])
    return extents


def _typed_outputs(kinds, outs):
    arrays = ()
    for k, a in enumerate(outs):
        dtype = _dtype(kinds[k])
        arrays = (*arrays, a) if prim.dtype_of(a) == dtype else (*arrays, np.empty(a.shape, dtype))
    return arrays


def _copy_back(outs, computed):
    for k, a in enumerate(outs):
        _copied_back(a, computed[k])


def _copied_back(out, computed):
    if prim.dtype_of(out) != prim.dtype_of(computed) or out is not computed:
        out[...] = computed
    return out


def _views(kinds, dims, operands, index):
    xs = ()
    for k, a in enumerate(operands):
        xs = (*xs, _view(kinds[k], a, dims[k], index))
    return xs


def _view(kind, a, core, index):
    p = _address(a, core, index)
    loops = a.ndim - len(core)
    dtype = prim.dtype_of(a)
    if not prim.is_tuple(kind):
        return prim.load(p, dtype)
    if len(core) == 0 and len(kind[1]) == 1:
        return prim.array(prim.nobody(), p, (1,), (prim.itemsize(dtype),), dtype, "C")
    return prim.array(
        prim.nobody(), p, a.shape[loops:], a.strides[loops:], dtype, "C" if prim.layout(a) == "C" else "A"
    )


def _values(made):
    values = ()
    for a in made:
        values = (*values, a[()]) if a.ndim == 0 else (*values, a)
    return values[0] if len(values) == 1 else values
