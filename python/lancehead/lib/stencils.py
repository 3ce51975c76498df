"""Stencils: a function of the neighbourhood of every element of an array."""

from collections import namedtuple

import numpy as np

from lancehead import prange
from lancehead.lib import prim
from lancehead.lib.numpy.layout import overlaps_itself

#: An array as the function sees it: it begins at the element being computed; the first and last offsets that may be
#: read.
Relative = namedtuple("Relative", ["stencil_array", "low", "high"])
prim.means("relative")(Relative)


def apply(f, dtype, relative, low, high, shifts, cval, ins, out):
    """The stencil `f` over the first of `ins`; `relative` tells arrays that are indexed relatively."""
    a = ins[0]
    _check_shapes(relative, ins, a.shape)
    if prim.is_none(out):
        made = np.empty(a.shape, dtype)
        _fill_border(made, low, high, prim.cast(0, dtype) if prim.is_none(cval) else cval)
        _run(f, relative, low, high, shifts, ins, made)
        return made
    if out.shape != a.shape:
        raise ValueError("out of a stencil must have the shape of its first array")
    if prim.is_readonly(out):
        prim.error(out, "out of a stencil must be writable")
    if not prim.is_none(cval):
        _fill_border(out, low, high, prim.cast(cval, prim.dtype_of(out)))
    _run(f, relative, low, high, shifts, ins, out)
    return out


def _check_shapes(relative, ins, shape):
    for k, a in enumerate(ins):
        if not prim.is_none(relative[k]):
            for n, m in zip(a.shape, shape):
                if n < m:
                    raise ValueError(
                        "Secondary stencil array has some dimension smaller the same dimension in the first stencil "
                        "input."
                    )


def _fill_border(out, low, high, value):
    for axis, (lo, hi) in enumerate(zip(low, high)):
        n = out.shape[axis]
        first = max(-max(lo, -n), 0)
        last = max(n - max(min(hi, n), 0), first)
        _fill(out, axis, 0, first, value)
        _fill(out, axis, last, n, value)


def _fill(out, axis, start, stop, value):
    # Elements from `start` to before `stop` along one axis.
    if stop > start:
        data = prim.ptr_add(prim.data(out), start * out.strides[axis])
        shape = prim.tuple_set(out.shape, axis, stop - start)
        part = prim.array(prim.nobody(), data, shape, out.strides, prim.dtype_of(out), "A")
        part[...] = value


def _run(f, relative, low, high, shifts, ins, out):
    start, counts = _interior(low, high, out.shape)
    dtype = prim.dtype_of(out)
    if overlaps_itself(out):
        for index in np.ndindex(counts):
            at = _added(index, start)
            prim.store(_address(out, at), prim.cast(f(*views(relative, low, high, shifts, ins, at)), dtype))
    elif out.ndim == 1:
        for j in prange(counts[0]):
            at = _added((j,), start)
            prim.store(_address(out, at), prim.cast(f(*views(relative, low, high, shifts, ins, at)), dtype))
    elif out.ndim == 2:
        for i in prange(counts[0]):
            _row(f, relative, low, high, shifts, ins, out, (i,), start, counts)
    else:
        for i in prange(counts[0]):
            for rest in np.ndindex(counts[1:-1]):
                _row(f, relative, low, high, shifts, ins, out, (i, *rest), start, counts)


def _interior(low, high, shape):
    start = ()
    counts = ()
    for n, lo, hi in zip(shape, low, high):
        first = max(-max(lo, -n), 0)
        start = (*start, first)
        counts = (*counts, max(n - max(min(hi, n), 0) - first, 0))
    return start, counts


def _row(f, relative, low, high, shifts, ins, out, outer, start, counts):
    dtype = prim.dtype_of(out)
    for j in range(counts[out.ndim - 1]):
        at = _added((*outer, j), start)
        p = _address(out, at)
        prim.store(p, prim.cast(f(*views(relative, low, high, shifts, ins, at)), dtype))


def _added(a, b):
    sums = ()
    for x, y in zip(a, b):
        sums = (*sums, x + y)
    return sums


def _negated(a):
    out = ()
    for x in a:
        out = (*out, -x)
    return out


def _address(a, at):
    p = prim.data(a)
    for i, stride in zip(at, a.strides):
        p = prim.ptr_add(p, i * stride)
    return p


def views(relative, low, high, shifts, ins, at):
    """The arguments of the function for the element at an index."""
    given = ()
    for k, a in enumerate(ins):
        if prim.is_none(relative[k]):
            given = (*given, a)
        else:
            given = (*given, _view(low, high, shifts, a, at))
    return given


def _view(low, high, shifts, a, at):
    p = _address(a, _added(at, shifts))
    back = _negated(shifts)
    view = prim.array(prim.nobody(), p, a.shape, a.strides, prim.dtype_of(a), prim.layout(a))
    return Relative(view, _added(low, back), _added(high, back))


def relative_slice(view, index):
    """Part of a neighbourhood: every index is an offset, or a slice from one to before another."""
    a = view.stencil_array
    p = prim.data(a)
    shape = ()
    strides = ()
    for k, i in enumerate(index):
        if prim.is_slice(i):
            start, stop = i.start, i.stop
            step = 1 if prim.is_none(i.step) else i.step
            if prim.is_none(start) or prim.is_none(stop):
                prim.error(view, "slices of a stencil's array need both ends")
            if step < 1:
                raise ValueError("slices of a stencil's array go forward")
            n = max((stop - start + step - 1) // step, 0)
            if n > 0 and (start < view.low[k] or start + (n - 1) * step > view.high[k]):
                raise IndexError("stencil slice outside of the neighborhood")
            p = prim.ptr_add(p, start * a.strides[k])
            shape = (*shape, n)
            strides = (*strides, step * a.strides[k])
        else:
            if i < view.low[k] or i > view.high[k]:
                raise IndexError("stencil index outside of the neighborhood")
            p = prim.ptr_add(p, i * a.strides[k])
    return prim.array(prim.nobody(), p, shape, strides, prim.dtype_of(a), "A")
