"""How generators draw: one number, an array of a shape, or one number for each of broadcast parameters.

Distributions are numbered as in `continuous.rs` and `discrete.rs` of `lh-runtime/src/random/generator/`.
"""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import int_of_float
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import as_shape, c_strides, copy_c, f_strides, flat, new_array, with_shape

UNIFORM, NORMAL, EXPONENTIAL, EXPONENTIAL_INVERTED, GAMMA32 = 0, 1, 2, 3, 4
#: Numbers that are drawn between two looks at whether Ctrl-C was pressed.
PIECE = 1 << 20


def require(x, is_fine, text):
    """ValueError unless all numbers of a parameter are fine."""
    if prim.is_number(x):
        _ask(is_fine(float(x)), text)
    else:
        v = flat(asarray(x))
        for i in range(v.size):
            _ask(is_fine(float(prim.item(v, i))), text)


def whole(n):
    """A parameter that counts: an integer, or integers; a float that is none has no number."""
    if prim.is_number(n):
        return int_of_float(n) if prim.is_float(n) else n
    a = asarray(n)
    if a.ndim > 0 and not prim.is_int(prim.dtype_of(a)) and not prim.is_bool(prim.dtype_of(a)):
        prim.error("what is counted is given as integers: convert the array by `.astype(np.int64)`")
    return n


def _ask(fine, text):
    if not fine:
        raise ValueError(text)


def not_negative(x):
    """For what may be 0, or NaN."""
    return not prim.signbit(x) or x != x


def positive(x):
    """For what must be above 0."""
    return x > 0.0


def probability(x):
    """For what lies between 0 and 1."""
    return x >= 0.0 and x <= 1.0


def positive_probability(x):
    """For what is above 0, and at most 1."""
    return x > 0.0 and x <= 1.0


def shape_for(size, dims):
    """The shape of a result: that of the broadcast parameters, or a given one that they fit."""
    if size is None:
        return dims
    shape = as_shape(size)
    if len(dims) > len(shape) or np.broadcast_shapes(shape, dims) != shape:
        raise ValueError(
            "Output size " + str(shape) + " is not compatible with broadcast dimensions of inputs " + str(dims) + "."
        )
    return shape


def reals(x):
    """A parameter as an array; complex numbers are refused."""
    a = asarray(x)
    if prim.is_complex(prim.dtype_of(a)):
        prim.error("parameters of distributions are real")
    return a


def spread(x, shape, dtype):
    """A parameter for each item of a shape, in a row."""
    whole = copy_c(np.broadcast_to(reals(x), shape), dtype)
    return with_shape(whole, (whole.size,))


def fill(rng, which, out, a, b, c):
    """Fills contiguous memory with numbers of a continuous distribution."""
    done = 0
    size = prim.itemsize(prim.dtype_of(out))
    while done < out.size:
        prim.lh_interrupted()
        n = PIECE if out.size - done > PIECE else out.size - done
        to = prim.ptr_add(prim.data(out), done * size)
        if prim.dtype_of(out) == np.float32:
            prim.lh_rng_fill32(rng._bits, rng._kind, which, to, n, np.float32(a))
        else:
            prim.lh_rng_fill(rng._bits, rng._kind, which, to, n, a, b, c)
        done += n
    return out


def drawn(rng, which, size, a, b, c):
    """Numbers of a continuous distribution with up to three parameters."""
    if prim.is_number(a) and prim.is_number(b) and prim.is_number(c):
        x, y, z = float(a), float(b), float(c)
        if size is None:
            return prim.lh_rng_draw(rng._bits, rng._kind, which, x, y, z)
        return fill(rng, which, new_array(as_shape(size), np.float64), x, y, z)
    return _drawn_each(rng, which, size, asarray(a), asarray(b), asarray(c))


def _drawn_each(rng, which, size, a, b, c):
    shape = shape_for(size, np.broadcast_shapes(a.shape, b.shape, c.shape))
    out = new_array(shape, np.float64)
    _draw_each(rng, which, with_shape(out, (out.size,)), a, b, c, shape)
    if size is None and out.ndim == 0:
        return out[()]
    return out


def _draw_each(rng, which, v, a, b, c, shape):
    x, y, z = spread(a, shape, np.float64), spread(b, shape, np.float64), spread(c, shape, np.float64)
    for i in range(v.size):
        one = prim.lh_rng_draw(rng._bits, rng._kind, which, prim.item(x, i), prim.item(y, i), prim.item(z, i))
        prim.set_item(v, i, one)


def counted(rng, which, size, a, b, counts):
    """Numbers of a discrete distribution: two parameters of floating point, and three integers."""
    x, y, z = counts
    if prim.is_number(a) and prim.is_number(b) and prim.is_number(x) and prim.is_number(y) and prim.is_number(z):
        return _counted(rng, which, size, float(a), float(b), (int(x), int(y), int(z)))
    return _counted_each(rng, which, size, asarray(a), asarray(b), asarray(x), asarray(y), asarray(z))


def _counted(rng, which, size, a, b, counts):
    x, y, z = counts
    if size is None:
        return prim.lh_rng_count(rng._bits, rng._kind, which, a, b, x, y, z)
    out = new_array(as_shape(size), np.int64)
    done = 0
    while done < out.size:
        prim.lh_interrupted()
        n = 65536 if out.size - done > 65536 else out.size - done
        to = prim.ptr_add(prim.data(out), done * 8)
        prim.lh_rng_counts(rng._bits, rng._kind, which, to, n, a, b, x, y, z)
        done += n
    return out


def _counted_each(rng, which, size, a, b, x, y, z):
    shape = shape_for(size, np.broadcast_shapes(a.shape, b.shape, x.shape, y.shape, z.shape))
    out = new_array(shape, np.int64)
    v = with_shape(out, (out.size,))
    p, q = spread(a, shape, np.float64), spread(b, shape, np.float64)
    i, j, k = spread(x, shape, np.int64), spread(y, shape, np.int64), spread(z, shape, np.int64)
    for at in range(v.size):
        one = prim.lh_rng_count(
            rng._bits,
            rng._kind,
            which,
            prim.item(p, at),
            prim.item(q, at),
            prim.item(i, at),
            prim.item(j, at),
            prim.item(k, at),
        )
        prim.set_item(v, at, one)
    if size is None and out.ndim == 0:
        return out[()]
    return out


def output(out, size, dtype, only_rows):
    """Asks whether an array can be filled."""
    if not prim.is_array(out):
        prim.error("`out` is an array")
    if prim.is_readonly(out):
        raise ValueError(NOT_FIT)
    if prim.dtype_of(out) != dtype:
        raise TypeError("Supplied output array has the wrong type.")
    item = prim.itemsize(dtype)
    is_fit = out.size == 0 or out.strides == c_strides(out.shape, item)
    if not is_fit and (only_rows or out.strides != f_strides(out.shape, item)):
        raise ValueError(NOT_FIT)
    if size is not None and not _is_same(as_shape(size), out.shape):
        raise ValueError("size must match out.shape when used together")
    return out


NOT_FIT = "Supplied output array must be contiguous, writable, aligned, and in machine byte-order."


def _is_same(a, b):
    return len(a) == len(b) and a == b


def standard(rng, which, size, dtype, out):
    """Numbers without parameters, in either precision."""
    t = prim.as_dtype(dtype)
    if t != np.float64 and t != np.float32:
        prim.error("random numbers of floating point are `float64` or `float32`")
    if out is not None:
        return fill(rng, which, output(out, size, t, False), 0.0, 0.0, 0.0)
    if size is not None:
        return fill(rng, which, new_array(as_shape(size), t), 0.0, 0.0, 0.0)
    if t == np.float32:
        return prim.lh_rng_draw32(rng._bits, rng._kind, which, np.float32(0))
    if which == UNIFORM:
        return prim.lh_rng_f64(rng._bits, rng._kind)
    if which == NORMAL:
        return prim.lh_rng_normal(rng._bits, rng._kind)
    if which == EXPONENTIAL:
        return prim.lh_rng_exponential(rng._bits, rng._kind)
    return prim.lh_rng_draw(rng._bits, rng._kind, which, 0.0, 0.0, 0.0)
