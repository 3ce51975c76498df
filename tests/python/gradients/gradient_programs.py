"""Statements with derivatives, as functions of two arrays of three rows and four columns, for `gradient_cases.py`."""

from __future__ import annotations

import numpy as np

CHOSEN = np.array([[True, False, True, False]] * 3)


def put(x, y):
    a, b, c = x.copy(), x.copy(), x.copy()
    np.put(a, [1, 5], y[0, :2])
    b.put([0, 3], y[0, :2])
    np.put_along_axis(c, np.array([[1, 0, 2, 1]]), y[:1], 0)
    return a, b, c


def masked(x, y):
    a, b, c, d = x.copy(), x.copy(), x.copy(), x.copy()
    np.place(a, CHOSEN, y[0])
    np.putmask(b, CHOSEN, y)
    np.copyto(c, y, where=y > 0.0)
    np.multiply(x, y, out=d, where=y > 0.0)
    return a, b, c, d


def filled(x, y):
    a, b, c = x.copy(), x.copy(), x.copy()
    np.fill_diagonal(a, y[0, 0])
    b.fill(y[1, 1])
    np.copyto(c, y)
    return a, b, c


def updated_at(x, y):
    a, b, c = x[0].copy(), x[1].copy(), x[2].copy()
    np.add.at(a, [0, 1, 0], y[0, :3])
    np.multiply.at(b, [0, 1, 0], y[1, :3])
    np.subtract.at(c, [0, 1, 0], y[2, :3])
    return a, b, c


def stored(x, y):
    a = x.copy()
    a[1] = y[0]
    a[:, 2] *= y[:, 0]
    a[a > 1.0] = y[2, 2]
    a[[0, 2], [1, 3]] += y[1, :2]
    a.flat[3] = y[0, 1]
    a.flat[5:7] = y[0, :2]
    return a


def sorted_in_place(x, y):
    a, b, c, d = x.copy(), x.copy(), x[0].copy(), np.asfortranarray(x)
    a.sort(axis=0)
    b.partition(2, axis=1)
    c.sort()
    d.sort(axis=1)
    return a * y, b[:, 2], c * y[0], d * y


def with_out(x, y):
    a, b, c, d = np.empty_like(x), np.empty((2, 4)), np.empty((3, 3)), np.empty((3, 4))
    np.multiply(x, y, out=a)
    np.sin(a, out=a)
    np.take(x, [0, 1], axis=0, out=b)
    np.dot(x, y.T, out=c)
    np.clip(x, -0.5, 0.5, out=d)
    return a, b, c, d


def iterated(x, y):
    s = 0.0
    for v in x.flat:
        s += v * v
    for i, v in np.ndenumerate(y):
        s += v * (i[0] + 1)
    for i in np.ndindex(2, 3):
        s += x[i] * y[i]
    for row in x:
        s += row[0] * row[1]
    for a, b in np.nditer((x, y)):
        s += a[()] * b[()]
    for a, b in np.broadcast(x, y[0]):
        s += a * b
    return s


def piecewise(x, y):
    a = np.piecewise(x, [x < 0.0, x >= 0.5], [lambda v: v * v, lambda v: np.sin(v), 1.5])
    b = np.piecewise(x, [x < 0.0, x >= 0.5], [-1.0, lambda v: v * 2.0])
    return a, b, np.piecewise(x, [x < 0.0], [lambda v, k: v * k, lambda v, k: v - k], y[0, 0])


def along_axes(x, y):
    a = np.apply_along_axis(lambda v: np.cumsum(v * v), 1, x)
    b = np.apply_along_axis(lambda v: v[0] * v[1], 0, y)
    return a, b, np.apply_over_axes(np.sum, x, (0, 1))


def sorted_along_axis(x, y):
    return np.apply_along_axis(np.sort, 0, x) * y


def made_by_functions(x, y):
    a = np.fromfunction(lambda i, j: i * x[0, 0] + j * y[0, 0], (2, 3))
    return a, np.fromiter((v * v for v in x[0]), float), np.fromiter([v * v for v in y[0]], float)


def split(x, y):
    a, b = np.split(x, 2, axis=1)
    c, d = np.broadcast_arrays(x, y[0])
    e, f, g = np.unstack(x)
    return a * b, np.array_split(y, 2)[0], np.hsplit(x, 2)[1], np.vsplit(x, (1,))[0], c * d, e * f + g


def containers(x, y):
    v = list(x[0])
    v.append(y[0, 0])
    v.reverse()
    d = {0: x[0, 0], 1: y[0, 0]}
    d[2] = d[0] * d[1]
    return sum(v) * max(v) - min(v), sorted(v)[1], v, sum(d.values()), d[2]


def zipped(x, y):
    products = sum(a * b for a, b in zip(x[0], y[0]))
    return products, sum(map(lambda a, b: a / b, x[0], y[0])), sum(v for v in filter(lambda v: v > 0, x[0]))


def between(x, y):
    a, b = np.linspace(x[0, 0], y[0, 0], 5), np.linspace(x[0, 0], y[0, 0], 4, endpoint=False)
    return a, b, np.geomspace(1.0 + x[0, 0] ** 2, 3.0 + y[0, 0] ** 2, 4), np.logspace(x[0, 0], y[0, 0], 3)
