"""Histograms of one dimension and several."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import flag_of, index_of
from lancehead.lib.numpy.creation import asarray, line_of, linspace
from lancehead.lib.numpy.layout import contiguous, count, flat, new_array, new_zeros, with_shape
from lancehead.lib.numpy.sorting import before, searchsorted


def histogram(a, bins=10, range=None, density=None, weights=None):
    """Number of elements in each bin, or the sums of their weights, and the edges of the bins.

    >>> np.histogram(np.array([1, 2, 1]), bins=np.array([0, 1, 2, 3]))
    (array([0, 2, 1]), array([0, 1, 2, 3]))
    >>> np.histogram(np.array([1.0, 2.0, 1.0, 5.0]), bins="sqrt", density=True)
    (array([0.375, 0.125]), array([1., 3., 5.]))
    """
    x = _numbers(a)
    if weights is not None:
        w = _weights_of(x, a, weights)
        edges = _edges(x, bins, range, weights)
        return _delivered(_weighted(x, w, edges, bins), edges, density)
    if prim.is_number(bins):
        counts, edges = _even_histogram(x, index_of(bins), range)
    elif prim.is_str(bins):
        counts, edges = _even_histogram(x, _estimated(x, bins, range), range)
    else:
        counts, edges = _histogram(x, _increasing(line_of(bins)))
    return _delivered(counts, edges, density)


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """The edges of the bins of a histogram.

    >>> np.histogram_bin_edges(np.array([0.0, 1.0, 2.0, 4.0]), bins=4)
    array([0., 1., 2., 3., 4.])
    """
    x = _numbers(a)
    if weights is not None:
        _weights_of(x, a, weights)
    return _edges(x, bins, range, weights)


def _numbers(a):
    x = flat(contiguous(asarray(a)))
    return asarray(x, np.uint8) if prim.is_bool(prim.dtype_of(x)) else x


def _weights_of(x, a, weights):
    w = asarray(weights)
    if prim.is_bool(prim.dtype_of(w)):
        prim.error("weights are numbers, not truth values")
    if w.ndim != asarray(a).ndim:
        raise ValueError("weights should have the same shape as a.")
    if w.shape != asarray(a).shape:
        raise ValueError("weights should have the same shape as a.")
    return flat(contiguous(w))


def _edges(x, bins, limits, weights):
    if prim.is_number(bins):
        return _even_edges(x, index_of(bins), limits)
    if prim.is_str(bins):
        if weights is not None:
            raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
        return _even_edges(x, _estimated(x, bins, limits), limits)
    return _increasing(line_of(bins))


def _delivered(counts, edges, density):
    if density is None:
        return counts, edges
    if not density:
        return counts, edges
    return counts / np.asarray(np.diff(edges), np.float64) / np.sum(counts), edges


def _weighted(x, w, edges, bins):
    n = edges.size - 1 if edges.size > 0 else 0
    wide = np.complex128 if prim.is_complex(prim.dtype_of(w)) else np.float64
    if prim.is_int(prim.dtype_of(w)):
        wide = np.int64
    sums = new_zeros((n,), wide)
    for i in range(x.size if n > 0 else 0):
        k = _place(edges, prim.item(x, i), prim.is_number(bins) or prim.is_str(bins))
        if k >= 0:
            prim.set_item(sums, k, prim.item(sums, k) + prim.cast(prim.item(w, i), wide))
    return asarray(sums, prim.dtype_of(w))


def _place(edges, x, even):
    # The bin of a number, or -1 outside of all.
    n = edges.size - 1
    low, high = prim.item(edges, 0), prim.item(edges, n)
    if not (x >= low and x <= high):
        return -1
    if not even:
        return n - 1 if x == high else int(searchsorted(edges, x, "right")) - 1
    width = float(high) - float(low)
    k = prim.cast((float(x) - float(low)) / width * float(n), np.int64) if width > 0.0 else prim.cast(0, np.int64)
    k = n - 1 if k >= n else int(k)
    while k > 0 and x < prim.item(edges, k):
        k -= 1
    while k < n - 1 and x >= prim.item(edges, k + 1):
        k += 1
    return k


def _span(x):
    # The distance from the least to the greatest; of integers without overflow.
    low, high = np.min(x), np.max(x)
    if prim.is_float(prim.dtype_of(x)):
        return float(high - low)
    return float(prim.cast(high, np.uint64) - prim.cast(low, np.uint64))


def _estimated(x, name, limits):
    # The number of even bins by an estimator.
    if not (
        name == "auto" or name == "fd" or name == "doane" or name == "scott" or name == "stone"
        or name == "rice" or name == "sturges" or name == "sqrt"
    ):  # fmt: skip
        raise ValueError("'" + name + "' is not a valid estimator for `bins`")
    first, last = _limits(x, limits)
    v = x if limits is None else x[(x >= first) & (x <= last)]
    if v.size == 0:
        return 1
    width = _width(v, name, first, last)
    if not width > 0.0:
        return 1
    if not prim.is_float(prim.dtype_of(v)) and width < 1.0:
        width = 1.0
    return int(prim.ceil((last - first) / width))


def _width(x, name, first, last):
    n = float(x.size)
    if name == "sqrt":
        return _span(x) / prim.sqrt(n)
    if name == "sturges":
        return _span(x) / (prim.log2(n) + 1.0)
    if name == "rice":
        return _span(x) / (2.0 * prim.pow(n, 1.0 / 3.0))
    if name == "scott":
        return prim.pow(24.0 * prim.sqrt(np.pi) / n, 1.0 / 3.0) * float(np.std(x))
    if name == "doane":
        return _doane(x)
    if name == "stone":
        return _stone(x, first, last)
    near = 2.0 * float(np.percentile(x, 75) - np.percentile(x, 25)) * prim.pow(n, -1.0 / 3.0)
    if name == "fd":
        return near
    near = prim.maximum(near, _span(x) / prim.sqrt(n) / 2.0)
    return prim.minimum(near, _span(x) / (prim.log2(n) + 1.0))


def _doane(x):
    n = float(x.size)
    if x.size <= 2:
        return 0.0
    sigma = np.std(x)
    if not sigma > 0.0:
        return 0.0
    skew = float(np.mean(((x - np.mean(x)) / sigma) ** 3))
    error = prim.sqrt(6.0 * (n - 2.0) / ((n + 1.0) * (n + 3.0)))
    return _span(x) / (1.0 + prim.log2(n) + prim.log2(1.0 + prim.fabs(skew) / error))


def _stone(x, first, last):
    n, span = float(x.size), _span(x)
    if x.size <= 1 or span == 0.0:
        return 0.0
    most = max(100, int(prim.sqrt(n)))
    best, least = 1, np.inf
    for bins in range(1, most + 1):
        counts, _ = _even_histogram(x, bins, (first, last))
        total = 0.0
        for k in range(bins):
            p = float(prim.item(counts, k)) / n
            total += p * p
        risk = (2.0 - (n + 1.0) * total) / (span / float(bins))
        if risk < least:
            best, least = bins, risk
    return span / float(best)


def _increasing(edges):
    for k in range(edges.size - 1):
        if prim.item(edges, k) > prim.item(edges, k + 1):
            raise ValueError("`bins` must increase monotonically, when an array")
    return edges


def _histogram(x, edges):
    n = edges.size - 1 if edges.size > 0 else 0
    counts = new_zeros((n,), np.int64)
    if n == 0:
        return counts, edges
    # In one type: also beside integers, what is no number comes after all numbers.
    dtype = prim.result_type(prim.dtype_of(x), prim.dtype_of(edges))
    last = prim.cast(prim.item(edges, n), dtype)
    for i in range(x.size):
        y = prim.cast(prim.item(x, i), dtype)
        if not before(y, last) and not before(last, y):
            prim.set_item(counts, n - 1, prim.item(counts, n - 1) + 1)
            continue
        k = int(searchsorted(edges, y, "right")) - 1
        if k >= 0 and k < n:
            prim.set_item(counts, k, prim.item(counts, k) + 1)
    return counts, edges


def _even_edges(x, n, limits):
    if n < 1:
        raise ValueError("`bins` must be positive, when an integer")
    first, last = _limits(x, limits)
    # Edges are of the elements' type, and elements are compared with these.
    dtype = prim.dtype_of(x) if prim.is_float(prim.dtype_of(x)) else np.float64
    if limits is None:
        edges = linspace(prim.cast(first, dtype), prim.cast(last, dtype), n + 1)
    else:
        edges = linspace(first, last, n + 1, dtype=dtype)
    for k in range(n):
        if not prim.item(edges, k) < prim.item(edges, k + 1):
            raise ValueError("Too many bins for data range. Cannot create " + str(n) + " finite-sized bins.")
    return edges


def _even_histogram(x, n, limits):
    edges = _even_edges(x, n, limits)
    dtype = prim.dtype_of(edges)
    low, high = float(prim.item(edges, 0)), float(prim.item(edges, n))
    scale = prim.fdiv(float(n), high - low)
    # More than rounding does to quotients and edges.
    bits = 47 if prim.itemsize(dtype) == 8 else 18 if prim.itemsize(dtype) == 4 else 5
    near = 0.5**bits * (n + max(abs(low), abs(high)) * scale)
    if not near < 0.25:
        return _histogram(x, edges)
    # The last is for elements outside of all bins.
    counts = new_zeros((n + 1,), np.int64)
    bins = new_array((256,), np.int64)
    for start in range(0, x.size, 256):
        size = min(256, x.size - start)
        # Quotients near an edge are left to the edge, apart from the others, which vectors are enough for.
        unclear = False
        for i in range(size):
            y = float(prim.item(x, start + i))
            q = (y - low) * scale if y >= low and y <= high else n + 0.5
            k = prim.cast(q, np.int64)
            unclear |= (q - k <= near) | (q - k >= 1.0 - near)
            prim.set_item(bins, i, k)
        if unclear:
            for i in range(size):
                y = float(prim.item(x, start + i))
                is_inside = y >= low and y <= high
                edge = prim.cast((y - low) * scale + 0.5 if is_inside else 0.0, np.int64)
                k = min(edge - int(y < prim.item(edges, edge)), n - 1)
                prim.set_item(bins, i, k if is_inside else n)
        for i in range(size):
            k = prim.item(bins, i)
            prim.set_item(counts, k, prim.item(counts, k) + 1)
    return counts[:n], edges


def _limits(x, limits):
    if limits is None:
        if x.size == 0:
            return 0.0, 1.0
        low, high = float(x.min()), float(x.max())
        _check_finite("autodetected", low, high)
    else:
        low, high = float(limits[0]), float(limits[1])
        if low > high:
            raise ValueError("max must be larger than min in range parameter.")
        _check_finite("supplied", low, high)
    if low == high:
        return low - 0.5, high + 0.5
    return low, high


def _check_finite(origin, low, high):
    if not (prim.isfinite(low) and prim.isfinite(high)):
        raise ValueError(origin + " range of [" + str(low) + ", " + str(high) + "] is not finite")


def _columns(sample, dims, k):
    # The coordinates as lines: of an array with a point in each row, or of a sequence of lines.
    if len(dims) == 0:
        return ()
    if prim.is_tuple(sample):
        return (_numbers(line_of(sample[k])),) + _columns(sample, dims[1:], k + 1)
    return (contiguous(sample[:, k]),) + _columns(sample, dims[1:], k + 1)


def _alike(columns):
    # Lines as the type that all have in common, which is that of an array of them.
    if len(columns) == 1:
        return columns
    rest = _alike(columns[1:])
    dtype = prim.result_type(prim.dtype_of(columns[0]), prim.dtype_of(rest[0]))
    return (asarray(columns[0], dtype),) + _of_type(rest, dtype)


def _of_type(columns, dtype):
    if len(columns) == 0:
        return ()
    return (asarray(columns[0], dtype),) + _of_type(columns[1:], dtype)


def _all_edges(columns, bins, ranges, k):
    if len(columns) == 0:
        return ()
    own = bins[0] if prim.is_tuple(bins) else bins
    limits = None if ranges is None else ranges[0]
    others = bins[1:] if prim.is_tuple(bins) else bins
    rest = _all_edges(columns[1:], others, None if ranges is None else ranges[1:], k + 1)
    return (_own_edges(columns[0], own, limits, k),) + rest


def _bins_of_all(columns, bins, k):
    # An item of an array or a list for each dimension: a number of bins or their edges.
    if len(columns) == 0:
        return ()
    return (bins[k],) + _bins_of_all(columns[1:], bins, k + 1)


def _own_edges(x, bins, limits, k):
    if prim.is_number(bins):
        n = index_of(bins)
        if n < 1:
            raise ValueError("`bins[" + str(k) + "]` must be positive, when an integer")
        first, last = _limits(x, limits)
        dtype = _even_type(x, limits)
        if limits is not None:
            return linspace(first, last, n + 1, dtype=dtype)
        even = linspace(prim.cast(first, dtype), prim.cast(last, dtype), n + 1, dtype=dtype)
        if prim.item(even, 0) != prim.item(even, 0):
            # The distance of the ends is not finite.
            raise ValueError("invalid entry in coordinates array")
        return even
    edges = line_of(bins)
    for i in range(edges.size - 1):
        if prim.item(edges, i) > prim.item(edges, i + 1):
            raise ValueError("`bins[" + str(k) + "]` must be monotonically increasing, when an array")
    return edges


def _flat_place(columns, edges, bins, i):
    # The place of a point among all bins in row-major order, or -1 outside of all.
    if len(columns) == 0:
        return 0
    own = bins[0] if prim.is_tuple(bins) else bins
    k = _place(edges[0], prim.item(columns[0], i), prim.is_number(own)) if edges[0].size > 1 else -1
    rest = _flat_place(columns[1:], edges[1:], bins[1:] if prim.is_tuple(bins) else bins, i)
    if k < 0 or rest < 0:
        return -1
    return k * count(_extents(edges[1:])) + rest


def _extents(edges):
    if len(edges) == 0:
        return ()
    return (edges[0].size - 1 if edges[0].size > 0 else 0,) + _extents(edges[1:])


def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    """Number of points in each bin of several dimensions, or the sums of their weights, and a tuple of the edges.

    The number of dimensions is part of the result's type: it is that of a tuple of coordinates, or of `bins` or `range`
    as a tuple.

    >>> np.histogramdd((np.array([0.0, 1.0, 1.0]), np.array([0.0, 0.0, 1.0])), bins=(2, 2))[0]
    array([[1., 0.],
           [1., 1.]])
    """
    if prim.is_tuple(sample):
        return _histogramdd(_alike(_columns(sample, sample, 0)), bins, range, density, weights)
    points = asarray(sample)
    if points.ndim == 1:
        return _histogramdd((_numbers(points),), bins, range, density, weights)
    if points.ndim != 2:
        prim.error("points are the rows of an array of two dimensions")
    if prim.is_bool(prim.dtype_of(points)):
        return histogramdd(asarray(points, np.uint8), bins, range, density, weights)
    if prim.is_tuple(bins):
        dims = bins
    elif prim.is_tuple(range):
        dims = range
    else:
        prim.error("how many dimensions there are is part of the type: give `bins` for each, as in `bins=(10, 10)`")
    if points.shape[1] != len(dims):
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    return _histogramdd(_columns(points, dims, 0), bins, range, density, weights)


def _histogramdd(columns, bins, ranges, density, weights):
    if prim.is_tuple(bins):
        if len(bins) != len(columns):
            prim.error("The dimension of bins must be equal to the dimension of the sample x.")
    elif not prim.is_number(bins):
        if len(bins) != len(columns):
            raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
        return _histogramdd(columns, _bins_of_all(columns, bins, 0), ranges, density, weights)
    if ranges is not None:
        if len(ranges) != len(columns):
            prim.error("range argument must have one entry per dimension")
    n = columns[0].size
    for x in columns:
        if x.size != n:
            raise ValueError("setting an array element with a sequence. The coordinates are not equally many.")
    edges = _all_edges(columns, bins, ranges, 0)
    shape = _extents(edges)
    sums = new_zeros((count(shape),), np.float64)
    if weights is None:
        for i in range(n):
            k = _flat_place(columns, edges, bins, i)
            if k >= 0:
                prim.set_item(sums, k, prim.item(sums, k) + 1.0)
    else:
        _add_weights(sums, columns, edges, bins, weights)
    if density is None:
        return with_shape(sums, shape), edges
    if flag_of(density):
        return _per_volume(with_shape(sums, shape), edges, shape), edges
    return with_shape(sums, shape), edges


def _add_weights(sums, columns, edges, bins, weights):
    if prim.is_complex(prim.dtype_of(asarray(weights))):
        prim.error("weights are real numbers")
    w = line_of(asarray(weights, np.float64))
    if w.size != columns[0].size:
        raise ValueError("The weights and list don't have the same length.")
    for i in range(w.size):
        k = _flat_place(columns, edges, bins, i)
        if k >= 0:
            prim.set_item(sums, k, prim.item(sums, k) + prim.item(w, i))


def _volumes(edges):
    # The volumes of all bins in row-major order.
    widths = asarray(np.diff(edges[0]), np.float64)
    if len(edges) == 1:
        return widths
    inner = _volumes(edges[1:])
    out = new_array((widths.size * inner.size,), np.float64)
    for i in range(widths.size):
        for j in range(inner.size):
            prim.set_item(out, i * inner.size + j, prim.item(widths, i) * prim.item(inner, j))
    return out


def _per_volume(sums, edges, shape):
    return sums / with_shape(_volumes(edges), shape) / np.sum(sums)


def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    """Number of points in each bin of two dimensions, or the sums of their weights, and the edges of both.

    `bins` for each dimension are a tuple; an array or list is two numbers of bins, or edges for both.

    >>> np.histogram2d(np.array([0.0, 1.0, 1.0]), np.array([0.0, 0.0, 1.0]), bins=2)[0]
    array([[1., 0.],
           [1., 1.]])
    """
    first, second = _alike((_numbers(line_of(x)), _numbers(line_of(y))))
    if first.size != second.size:
        raise ValueError("x and y must have the same length.")
    if range is None or prim.is_tuple(range):
        return _histogram2d(first, second, bins, range, density, weights)
    limits = asarray(range)
    return _histogram2d(first, second, bins, (limits[0], limits[1]), density, weights)


def _histogram2d(x, y, bins, ranges, density, weights):
    if prim.is_number(bins) or prim.is_tuple(bins):
        counts, edges = _histogramdd((x, y), bins, ranges, density, weights)
        return counts, edges[0], edges[1]
    given = line_of(bins)
    if prim.is_int(prim.dtype_of(given)):
        # Two integers are numbers of bins; that makes the edges floats.
        if given.size == 2:
            pair = (int(prim.item(given, 0)), int(prim.item(given, 1)))
            counts, edges = _histogramdd((x, y), pair, ranges, density, weights)
            return counts, edges[0], edges[1]
    elif given.size == 2:
        raise TypeError("`bins[0]` must be an integer, when a scalar")
    if given.size == 1:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    if prim.is_int(prim.dtype_of(given)):
        own = (asarray(given, _even_type(x, ranges)), asarray(given, _even_type(y, ranges)))
        counts, edges = _histogramdd((x, y), own, ranges, density, weights)
        return counts, edges[0], edges[1]
    counts, edges = _histogramdd((x, y), (given, given), ranges, density, weights)
    return counts, edges[0], edges[1]


def _even_type(x, limits):
    # The type of the edges of even bins.
    return prim.dtype_of(x) if limits is None and prim.is_float(prim.dtype_of(x)) else np.float64
