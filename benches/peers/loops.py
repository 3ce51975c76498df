"""Loops by hand, as a program without the primitives of lazy arrays has them; parallel where the primitive is."""

from __future__ import annotations

import numpy as np

from lancehead import njit, prange


@njit(parallel=True)
def map(x):
    out = np.empty(x.size)
    for i in prange(x.size):
        out[i] = x[i] * 2.0 + 1.0
    return out


@njit(parallel=True)
def zipwith(x, y):
    out = np.empty(x.size)
    for i in prange(x.size):
        out[i] = x[i] * y[i] + 1.0
    return out


@njit(parallel=True)
def reduce(x):
    total = 0.0
    for i in prange(x.size):
        total += x[i]
    return total


@njit(parallel=True)
def reduce_rows(x):
    out = np.empty(x.shape[0])
    for i in prange(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total += x[i, j]
        out[i] = total
    return out


@njit(parallel=True)
def reduce_columns(x):
    out = np.zeros(x.shape[1])
    for b in prange((x.shape[1] + 127) // 128):
        stop = min(b * 128 + 128, x.shape[1])
        for i in range(x.shape[0]):
            for j in range(b * 128, stop):
                out[j] += x[i, j]
    return out


@njit(parallel=True)
def sum_map(x):
    total = 0.0
    for i in prange(x.size):
        total += x[i] * 2.0 + 1.0
    return total


@njit(parallel=True)
def inner(x, y):
    total = 0.0
    for i in prange(x.size):
        total += x[i] * y[i]
    return total


@njit
def scan(x):
    out = np.empty(x.size)
    total = 0.0
    for i in range(x.size):
        total += x[i]
        out[i] = total
    return out


@njit
def exclusive_scan(x):
    out = np.empty(x.size)
    total = 0.0
    for i in range(x.size):
        out[i] = total
        total += x[i]
    return out


@njit(parallel=True)
def scan_rows(x):
    out = np.empty(x.shape)
    for i in prange(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total += x[i, j]
            out[i, j] = total
    return out


@njit(parallel=True)
def segmented_reduce(x, offsets):
    out = np.empty(offsets.size - 1)
    for k in prange(offsets.size - 1):
        total = 0.0
        for i in range(offsets[k], offsets[k + 1]):
            total += x[i]
        out[k] = total
    return out


@njit(parallel={"unsafe": True})
def segmented_scan(x, offsets):
    out = np.empty(x.size)
    for k in prange(offsets.size - 1):
        total = 0.0
        for i in range(offsets[k], offsets[k + 1]):
            total += x[i]
            out[i] = total
    return out


@njit(parallel=True)
def gather(x, places):
    out = np.empty(places.size)
    for i in prange(places.size):
        out[i] = x[places[i]]
    return out


@njit
def scatter(x, places, y):
    out = x.copy()
    for i in range(places.size):
        out[places[i]] = y[i]
    return out


@njit
def scatter_add(x, places, y):
    out = x.copy()
    for i in range(places.size):
        out[places[i]] += y[i]
    return out


@njit
def compact(x, mask):
    out = np.empty(np.sum(mask) + 1)
    k = 0
    for i in range(x.size):
        out[k] = x[i]
        k += mask[i]
    return out[:k]


@njit
def partition(x, mask):
    out = np.empty(x.size)
    count = np.sum(mask)
    k, m = 0, count
    for i in range(x.size):
        out[k if mask[i] else m] = x[i]
        k += mask[i]
        m += not mask[i]
    return out, count


@njit
def sort_by_key(keys, y):
    order = np.argsort(keys, kind="stable")
    return keys[order], y[order]


@njit
def top_k(x, few):
    order = np.argsort(x)[: -few - 1 : -1]
    return x[order], order


@njit
def k_select(x, k):
    return np.partition(x, k - 1)[k - 1]


@njit
def unique(x):
    s = np.sort(x)
    out = np.empty(s.size)
    k = 0
    for i in range(s.size):
        if i == 0 or s[i] != s[i - 1]:
            out[k] = s[i]
            k += 1
    return out[:k].copy()


@njit
def run_length(x):
    values, lengths = np.empty(x.size), np.empty(x.size, np.int64)
    k, begin = 0, 0
    for i in range(1, x.size + 1):
        if i == x.size or x[i] != x[i - 1]:
            values[k] = x[i - 1]
            lengths[k] = i - begin
            begin = i
            k += 1
    return values[:k].copy(), lengths[:k].copy()


@njit
def histogram(x, bins):
    counts = np.zeros(bins, np.int64)
    for i in range(x.size):
        counts[min(int(x[i] * bins), bins - 1)] += 1
    return counts


@njit
def bincount(x):
    counts = np.zeros(np.max(x) + 1, np.int64)
    for i in range(x.size):
        counts[x[i]] += 1
    return counts


@njit
def merge(a, b):
    out = np.empty(a.size + b.size)
    i = j = 0
    for k in range(out.size):
        if j == b.size or (i < a.size and a[i] <= b[j]):
            out[k] = a[i]
            i += 1
        else:
            out[k] = b[j]
            j += 1
    return out


@njit
def set_operation(a, b, of_a, of_both, of_b):
    out = np.empty(a.size + b.size)
    i = j = k = 0
    while i < a.size or j < b.size:
        if j == b.size or (i < a.size and a[i] < b[j]):
            v, keep = a[i], of_a
        elif i == a.size or b[j] < a[i]:
            v, keep = b[j], of_b
        else:
            v, keep = a[i], of_both
        if keep:
            out[k] = v
            k += 1
        while i < a.size and a[i] == v:
            i += 1
        while j < b.size and b[j] == v:
            j += 1
    return out[:k].copy()


@njit(parallel=True)
def stencil_line(x):
    out = np.empty(x.size)
    n = x.size
    for i in prange(n):
        if 0 < i < n - 1:
            out[i] = x[i - 1] + x[i] + x[i + 1]
        else:
            out[i] = x[max(i - 1, 0)] + x[i] + x[min(i + 1, n - 1)]
    return out


@njit(parallel=True)
def stencil_plane(x):
    out = np.empty(x.shape)
    n, m = x.shape
    for i in prange(n):
        up, down = max(i - 1, 0), min(i + 1, n - 1)
        for j in range(1, m - 1):
            out[i, j] = x[up, j] + x[down, j] + x[i, j - 1] + x[i, j + 1] - 4.0 * x[i, j]
        for j in (0, m - 1):
            left, right = max(j - 1, 0), min(j + 1, m - 1)
            out[i, j] = x[up, j] + x[down, j] + x[i, left] + x[i, right] - 4.0 * x[i, j]
    return out


@njit(parallel=True)
def outer(a, b):
    out = np.empty((a.size, b.size))
    for i in prange(a.size):
        for j in range(b.size):
            out[i, j] = a[i] * b[j]
    return out


@njit(parallel=True)
def adjacent_difference(x):
    out = np.empty(x.size)
    for i in prange(x.size):
        out[i] = x[i] - x[i - 1] if i else x[i]
    return out


@njit(parallel=True)
def chain(x):
    total = 0.0
    for i in prange(x.size):
        v = x[i]
        for _ in range(10):
            v = v * 0.5 + 1.0
        total += v
    return total
