"""The legacy draws of integers and of items."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import index_of
from lancehead.lib.numpy.casting import name_of
from lancehead.lib.numpy.creation import arange, asarray, empty
from lancehead.lib.numpy.indexing import getitem_take
from lancehead.lib.numpy.layout import as_shape, copy_c, flat, new_array, new_zeros, with_shape
from lancehead.lib.numpy.random_draws import whole, words_for
from lancehead.lib.numpy.reductions import cumsum
from lancehead.lib.numpy.sorting import searchsorted

#: All bits of a word of the stream.
WORD = 0xFFFFFFFF
#: Numbers that are drawn between two looks at whether Ctrl-C was pressed.
PIECE = 1 << 20


def _fill_integers(out, low, high):
    done = 0
    while done < out.size:
        prim.lh_interrupted()
        n = PIECE if out.size - done > PIECE else out.size - done
        prim.lh_np_randint_fill(prim.ptr_add(prim.data(out), done * 8), n, low, high)
        done += n
    return out


def _bits(dtype):
    return 1 if prim.is_bool(dtype) else 8 * prim.itemsize(dtype)


def _check_bounds(low, high, dtype):
    # `high` is the number behind the last.
    if prim.itemsize(dtype) < 8:
        _refuse_bounds(low, high, dtype)
    elif not prim.is_signed(dtype):
        _refuse_bounds(low, high, dtype)
    elif low >= high:
        raise ValueError("low >= high")


def _refuse_bounds(low, high, dtype):
    bits = _bits(dtype)
    least, most = 0, 1
    if bits < 64:
        is_signed = False if prim.is_bool(dtype) else prim.is_signed(dtype)
        least, most = (-(1 << (bits - 1)), 1 << (bits - 1)) if is_signed else (0, 1 << bits)
        if low < least:
            raise ValueError("low is out of bounds for " + name_of(dtype))
        if high > most:
            raise ValueError("high is out of bounds for " + name_of(dtype))
    elif not prim.is_signed(dtype) and low < 0:
        raise ValueError("low is out of bounds for " + name_of(dtype))
    if low >= high:
        raise ValueError("low >= high")


def _small(rest, span, bits):
    # A number up to `span` from the bits that are left of a word, or from new words.
    if span == 0:
        return prim.cast(0, np.int64)
    mask = span
    for shift in (1, 2, 4, 8, 16):
        mask |= mask >> shift
    while True:
        if prim.item(rest, 1) == 0:
            prim.set_item(rest, 0, prim.lh_np_interval(WORD))
            prim.set_item(rest, 1, prim.cast(32 // bits, np.int64))
        word = prim.item(rest, 0)
        prim.set_item(rest, 0, word >> bits)
        prim.set_item(rest, 1, prim.item(rest, 1) - 1)
        if word & mask <= span:
            return prim.cast(word & mask, np.int64)


def _integer(rest, low, high, dtype):
    if _bits(dtype) >= 32:
        return prim.cast(prim.lh_np_randint(low, high), dtype)
    x = low + _small(rest, high - 1 - low, _bits(dtype))
    return x != 0 if prim.is_bool(dtype) else prim.cast(x, dtype)


def _of(x, i):
    return x if prim.is_number(x) else prim.item(x, i)


def _between(low, high, size, dtype):
    # Bounds that are arrays.
    shape = np.broadcast_shapes(() if prim.is_number(low) else low.shape, () if prim.is_number(high) else high.shape)
    if size is None:
        return _between_in(low, high, shape, dtype)
    asked = as_shape(size)
    joint = np.broadcast_shapes(asked, shape)
    if len(joint) != len(asked):
        raise ValueError("Output size is not compatible with broadcast dimensions of inputs.")
    if joint != asked:
        raise ValueError("Output size is not compatible with broadcast dimensions of inputs.")
    return _between_in(low, high, asked, dtype)


def _between_in(low, high, shape, dtype):
    first = low if prim.is_number(low) else np.broadcast_to(low, shape).ravel()
    last = high if prim.is_number(high) else np.broadcast_to(high, shape).ravel()
    out, rest = new_array(shape, dtype), new_zeros((2,), np.int64)
    v = flat(out)
    for i in range(v.size):
        _check_bounds(_of(first, i), _of(last, i), dtype)
    for i in range(v.size):
        prim.set_item(v, i, _integer(rest, _of(first, i), _of(last, i), dtype))
    return out


def randint(low, high=None, size=None, dtype=None):
    """Integers from a bound to before another; bounds may be arrays."""
    kind = np.int64 if dtype is None else prim.as_dtype(dtype)
    if not (prim.is_int(kind) or prim.is_bool(kind)):
        prim.error("Unsupported dtype for randint: it gives integers and truth values")
    if high is None:
        return _randint(0, whole(low), size, kind, True)
    return _randint(whole(low), whole(high), size, kind, False)


def _randint(first, last, size, dtype, from_zero):
    if not (prim.is_number(first) and prim.is_number(last)):
        return _between(first, last, size, dtype)
    if from_zero and last <= 0:
        raise ValueError("high <= 0")
    _check_bounds(first, last, dtype)
    if size is None:
        if prim.itemsize(dtype) >= 4:
            return prim.cast(first + prim.lh_np_interval(last - 1 - first), dtype)
        return _integer(new_zeros((2,), np.int64), first, last, dtype)
    if prim.itemsize(dtype) == 8:
        out = new_array(as_shape(size), np.int64)
        _fill_integers(out, first, last)
        return out if prim.is_signed(dtype) else out.view(dtype)
    narrow, rest = new_array(as_shape(size), dtype), new_zeros((2,), np.int64)
    v = flat(narrow)
    for i in range(v.size):
        prim.set_item(v, i, _integer(rest, first, last, dtype))
    return narrow


def random_integers(low, high=None, size=None):
    """Integers between two bounds, both included."""
    if high is None:
        return randint(1, int(low) + 1, size)
    return randint(low, int(high) + 1, size)


def bytes(length):
    """Random bytes."""
    n = index_of(length)
    line = empty((words_for(n),), np.uint32)
    for i in range(line.size):
        prim.set_item(line, i, prim.cast(prim.lh_np_interval(WORD), np.uint32))
    return prim.bytes_of(copy_c(line.view(np.uint8)[:n], np.uint8))


def shuffle(x):
    """Puts the items (or rows) in random order."""
    n = len(x)
    for i in range(n - 1, 0, -1):
        j = prim.lh_np_interval(i)
        if prim.is_array(x) and x.ndim > 1:
            if i != j:
                kept = x[i].copy()
                x[i] = x[j]
                x[j] = kept
        else:
            item = x[i]
            x[i] = x[j]
            x[j] = item


def permutation(x):
    """The items (or the integers below a number) in random order."""
    if prim.is_number(x):
        order = arange(index_of(x))
        shuffle(order)
        return order
    a = asarray(x)
    if a.ndim == 1:
        out = copy_c(a, prim.dtype_of(a))
        shuffle(out)
        return out
    order = arange(a.shape[0])
    shuffle(order)
    return getitem_take(a, order)


def choice(a, size=None, replace=True, p=None):
    """Items of an array, or integers below a number."""
    if prim.is_number(a):
        return _choice(index_of(a), size, replace, p, "a must be greater than 0 unless no samples are taken")
    items = asarray(a)
    if items.ndim != 1:
        prim.error("a must be 1-dimensional: `choice` takes a number or one dimension")
    index = _choice(items.size, size, replace, p, "'a' cannot be empty unless no samples are taken")
    if size is None:
        return prim.item(items, index)
    return getitem_take(items, index)


def _choice(n, size, replace, p, message):
    if size is None:
        if n <= 0:
            raise ValueError(message)
        if p is not None:
            if replace:
                return _weighted(n, None, asarray(p, np.float64))
            return prim.item(_weighted_once(n, (1,), asarray(p, np.float64)), 0)
        if not replace:
            return prim.item(permutation(n), 0)
        return randint(0, n)
    shape = as_shape(size)
    out = new_array(shape, np.int64)
    if n <= 0 and out.size > 0:
        raise ValueError(message)
    if out.size == 0:
        return out
    if p is not None:
        if replace:
            return _weighted(n, shape, asarray(p, np.float64))
        return _weighted_once(n, shape, asarray(p, np.float64))
    if replace:
        return randint(0, n, shape)
    if out.size > n:
        raise ValueError("Cannot take a larger sample than population when 'replace=False'")
    return with_shape(copy_c(permutation(n)[: out.size], np.int64), shape)


def _check_weights(n, p):
    if p.ndim != 1:
        prim.error("'p' must be 1-dimensional")
    if p.size != n:
        raise ValueError("'a' and 'p' must have same size")
    total, lost = 0.0, 0.0
    for i in range(n):
        y = prim.item(p, i) - lost
        t = total + y
        lost = (t - total) - y
        total = t
    if total != total:
        raise ValueError("probabilities contain NaN")
    for i in range(n):
        if prim.item(p, i) < 0.0:
            raise ValueError("probabilities are not non-negative")
    if prim.fabs(total - 1.0) > 1.4901161193847656e-08:
        raise ValueError("probabilities do not sum to 1")


def _weighted(n, size, p):
    _check_weights(n, p)
    sums = cumsum(p)
    return searchsorted(sums / sums[n - 1], np.random.random_sample(size), "right")


def _weighted_once(n, shape, p):
    _check_weights(n, p)
    out = new_zeros(shape, np.int64)
    if out.size > n:
        raise ValueError("Cannot take a larger sample than population when 'replace=False'")
    if np.count_nonzero(p > 0) < out.size:
        raise ValueError("Fewer non-zero entries in p than size")
    left, found = copy_c(p, np.float64), flat(out)
    done = 0
    while done < found.size:
        x = np.random.random_sample(found.size - done)
        for i in range(done):
            prim.set_item(left, prim.item(found, i), 0.0)
        sums = cumsum(left)
        new = searchsorted(sums / sums[n - 1], x, "right")
        # Each once, in the order in which they came.
        begin = done
        for i in range(new.size):
            k, known = prim.item(new, i), False
            for j in range(begin, done):
                known = known or prim.item(found, j) == k
            if not known:
                prim.set_item(found, done, k)
                done += 1
    return out
