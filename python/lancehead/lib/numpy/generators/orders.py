"""`shuffle`, `permutation`, `permuted` and `choice` of `numpy.random.Generator`."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import index_of
from lancehead.lib.numpy.creation import arange, asarray
from lancehead.lib.numpy.generators.discrete import INTERVAL
from lancehead.lib.numpy.generators.drawing import reals
from lancehead.lib.numpy.generators.integers import integers
from lancehead.lib.numpy.layout import as_shape, copy_c, count, flat, new_array, with_shape


def _up_to(rng, most):
    return prim.lh_rng_count(rng._bits, rng._kind, INTERVAL, 0.0, 0.0, most, 0, 0)


def _below(rng, most):
    # Choices draw integers in another way than shuffles.
    return prim.lh_rng_up_to(rng._bits, rng._kind, most, 64)


def _shuffle_chosen(rng, v, first):
    for i in range(v.size - 1, first - 1, -1):
        j = _below(rng, i)
        kept = prim.item(v, i)
        prim.set_item(v, i, prim.item(v, j))
        prim.set_item(v, j, kept)


def _shuffle_row(rng, v, first):
    # Puts the items of one dimension in random order, from the end until the first.
    size = prim.itemsize(prim.dtype_of(v))
    if size == 1 or size == 2 or size == 4 or size == 8 or size == 16:
        prim.lh_rng_shuffle(rng._bits, rng._kind, prim.data(v), v.size, first, size, v.strides[0])
        return
    for i in range(v.size - 1, first - 1, -1):
        j = _up_to(rng, i)
        kept = prim.item(v, i)
        prim.set_item(v, i, prim.item(v, j))
        prim.set_item(v, j, kept)


def _axis(axis, ndim):
    if axis < -ndim or axis >= ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return axis + ndim if axis < 0 else axis


def _shuffle_along(rng, x, axis):
    n = x.shape[axis]
    if x.size == 0:
        return
    rows = np.swapaxes(x, 0, axis)
    kept = np.empty_like(rows[0])
    for i in range(n - 1, 0, -1):
        j = _up_to(rng, i)
        if i != j:
            kept[...] = rows[j]
            rows[j] = rows[i]
            rows[i] = kept


class Orders:
    """The methods of `Generator` that shuffle, permute and choose items."""

    def shuffle(self, x, axis=0):
        """Puts the items, or slices along an axis, in random order.

        >>> x = np.arange(5)
        >>> np.random.default_rng(2).shuffle(x)
        >>> x
        array([2, 4, 3, 0, 1])
        """
        if prim.is_array(x):
            if prim.is_readonly(x):
                raise ValueError("array is read-only")
            if x.ndim == 0:
                raise TypeError("len() of unsized object")
            at = _axis(index_of(axis), x.ndim)
            if x.ndim == 1:
                _shuffle_row(self, x, 1)
            else:
                _shuffle_along(self, x, at)
        else:
            if axis != 0:
                raise NotImplementedError("Axis argument is only supported on ndarray objects")
            for i in range(len(x) - 1, 0, -1):
                j = _up_to(self, i)
                item = x[i]
                x[i] = x[j]
                x[j] = item

    def permutation(self, x, axis=0):
        """The items (or the integers below a number) in random order.

        >>> np.random.default_rng(2).permutation(5)
        array([2, 4, 3, 0, 1])
        """
        if prim.is_number(x):
            order = arange(index_of(x))
            _shuffle_row(self, order, 1)
            return order
        a = asarray(x)
        at = _axis(index_of(axis), a.ndim)
        if a.ndim == 1:
            out = copy_c(a, prim.dtype_of(a))
            _shuffle_row(self, out, 1)
            return out
        order = arange(a.shape[at])
        _shuffle_row(self, order, 1)
        return np.take(a, order, at)

    def permuted(self, x, *, axis=None, out=None):
        """The items in random order, or those of each row along an axis by themselves.

        >>> np.random.default_rng(2).permuted([[1, 2, 3], [4, 5, 6]], axis=1)
        array([[3, 1, 2],
               [6, 5, 4]])
        """
        a = asarray(x)
        if a.ndim == 0:
            prim.error("`permuted` takes arrays of at least one dimension")
        if out is None:
            made = np.array(a)
        else:
            if out.shape != a.shape:
                raise ValueError("out must have the same shape as x")
            if prim.is_readonly(out):
                raise ValueError("output array is read-only")
            made = out
            made[...] = a
        if axis is None:
            _permute_all(self, made.T if prim.layout(made) == "F" else made)
            return made
        at = _axis(index_of(axis), made.ndim)
        if made.size > 0:
            _permute_rows(self, np.moveaxis(made, at, -1))
        return made

    def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
        """Items of an array, or integers below a number.

        >>> np.random.default_rng(2).choice(10, 3, replace=False)
        array([2, 1, 6])
        """
        if prim.is_number(a):
            n = index_of(a)
            if n <= 0 and _asks_for_some(size):
                raise ValueError("a must be a positive integer unless no samples are taken")
            return _indices(self, n, size, replace, p, shuffle)
        items = asarray(a)
        if items.ndim == 0:
            prim.error("`choice` takes an integer, or an array of one dimension or more")
        at = _axis(index_of(axis), items.ndim)
        n = items.shape[at]
        if n == 0 and _asks_for_some(size):
            raise ValueError("a cannot be empty unless no samples are taken")
        chosen = _indices(self, n, size, replace, p, shuffle)
        if size is None:
            return items[chosen] if items.ndim == 1 else np.moveaxis(items, at, 0)[chosen].copy()
        if items.ndim == 1:
            return with_shape(np.take(items, flat(chosen)), chosen.shape)
        if chosen.ndim == 1:
            return np.take(items, chosen, at)
        return _taken(items, chosen, at)


def _taken(items, chosen, at):
    # The axes of the indices come in place of one of the items.
    rows = np.take(np.moveaxis(items, at, 0), flat(chosen), 0)
    out = with_shape(rows, chosen.shape + rows.shape[1:])
    moved = np.moveaxis(out, chosen.ndim - 1, at + chosen.ndim - 1)
    for i in range(chosen.ndim - 2, -1, -1):
        moved = np.moveaxis(moved, i, at + i)
    return moved


def _permute_all(rng, x):
    # All items in their order of memory.
    if prim.layout(x) == "C":
        _shuffle_row(rng, flat(x), 1)
    else:
        v = copy_c(x, prim.dtype_of(x))
        _shuffle_row(rng, flat(v), 1)
        x[...] = v


def _permute_rows(rng, x):
    if x.ndim == 1:
        _shuffle_row(rng, x, 1)
    else:
        for i in range(x.shape[0]):
            _permute_rows(rng, x[i])


def _asks_for_some(size):
    return True if size is None else count(as_shape(size)) != 0


def _indices(rng, n, size, replace, p, shuffle):
    if p is not None:
        weights = reals(p)
        _check_weights(weights, n)
        w = copy_c(weights, np.float64)
        if size is None:
            return int(_weighted(rng, w, rng.random((1,)))[0])
        shape = as_shape(size)
        if replace:
            return with_shape(_weighted(rng, w, rng.random((count(shape),))), shape)
        return with_shape(_weighted_without(rng, w, n, _checked(count(shape), n)), shape)
    if size is None:
        if replace:
            return integers(rng, 0, n, None, np.int64, False)
        return int(_without(rng, n, 1, shuffle)[0])
    if replace:
        return integers(rng, 0, n, size, np.int64, False)
    shape = as_shape(size)
    return with_shape(_without(rng, n, _checked(count(shape), n), shuffle), shape)


def _checked(size, n):
    if size > n:
        raise ValueError("Cannot take a larger sample than population when replace is False")
    return size


def _check_weights(p, n):
    if p.ndim != 1:
        raise ValueError("p must be 1-dimensional")
    if p.size != n:
        raise ValueError("a and p must have same size")
    total, lost, is_negative = 0.0, 0.0, False
    for i in range(p.size):
        x = float(p[i])
        is_negative = is_negative or x < 0.0
        if i == 0:
            total = x
        else:
            y = x - lost
            t = total + y
            lost = (t - total) - y
            total = t
    if total != total:
        raise ValueError("Probabilities contain NaN")
    if is_negative:
        raise ValueError("Probabilities are not non-negative")
    # Single precision gives less.
    most = 0.000345266983001244 if prim.dtype_of(p) == np.float32 else 1.4901161193847656e-08
    if prim.fabs(total - 1.0) > most:
        raise ValueError("Probabilities do not sum to 1. See Notes section of docstring for more information.")


def _weighted(rng, p, samples):
    sums = np.cumsum(p)
    sums /= sums[-1]
    return np.searchsorted(sums, samples, "right")


def _weighted_without(rng, p, n, size):
    if np.count_nonzero(p > 0) < size:
        raise ValueError("Fewer non-zero entries in p than size")
    found = np.zeros(size, np.int64)
    known = 0
    while known < size:
        samples = rng.random((size - known,))
        for i in range(known):
            p[found[i]] = 0.0
        new = _weighted(rng, p, samples)
        for i in range(new.size):
            is_new = True
            for j in range(i):
                is_new = is_new and new[j] != new[i]
            if is_new:
                found[known] = new[i]
                known += 1
    return found


def _without(rng, n, size, shuffle):
    # All items in a row, whose last ones are put in random order, or Floyd's algorithm where they are few.
    if n > 10000 and size > n // (50 if shuffle else 20):
        order = arange(n)
        _shuffle_chosen(rng, order, max(n - size, 1))
        return order[n - size :].copy()
    mask = 1
    while mask < int(1.2 * size):
        mask = mask << 1 | 1
    if int(1.2 * size) == 0:
        mask = 0
    out = new_array((size,), np.int64)
    seen = np.full(mask + 1, -1, np.int64)
    for j in range(n - size, n):
        value = _below(rng, j)
        at = value & mask
        while seen[at] != -1 and seen[at] != value:
            at = (at + 1) & mask
        if seen[at] != -1:
            value = j
            at = j & mask
            while seen[at] != -1:
                at = (at + 1) & mask
        seen[at] = value
        out[j - n + size] = value
    if shuffle:
        _shuffle_chosen(rng, out, 1)
    return out
