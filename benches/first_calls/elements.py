"""Finite elements: linear triangles on the unit square, assembled as a sparse matrix in CSR form, and Poisson's
equation solved by conjugate gradients."""

import numpy as np

from lancehead import njit


@njit
def mesh(n):
    """Nodes and triangles of a square of n by n cells, each cut in two."""
    points = np.empty(((n + 1) * (n + 1), 2))
    triangles = np.empty((2 * n * n, 3), np.int64)
    for i in range(n + 1):
        for j in range(n + 1):
            points[i * (n + 1) + j] = i / n, j / n
    for i in range(n):
        for j in range(n):
            first = i * (n + 1) + j
            cell = 2 * (i * n + j)
            triangles[cell] = first, first + n + 1, first + 1
            triangles[cell + 1] = first + 1, first + n + 1, first + n + 2
    return points, triangles


@njit
def local(corners):
    """The stiffness matrix of a triangle, and its area."""
    edges = np.empty((3, 2))
    for k in range(3):
        a, b = corners[(k + 1) % 3], corners[(k + 2) % 3]
        edges[k] = a[1] - b[1], b[0] - a[0]
    area = 0.5 * abs(edges[0, 0] * edges[1, 1] - edges[0, 1] * edges[1, 0])
    return edges @ edges.T / (4.0 * area), area


@njit
def assembled(points, triangles):
    """Row pointers, columns and entries of the stiffness matrix, and the load of a source of 1."""
    n = len(points)
    rows = np.empty(9 * len(triangles), np.int64)
    columns, entries = np.empty_like(rows), np.empty(len(rows))
    load = np.zeros(n)
    k = 0
    for triangle in triangles:
        stiffness, area = local(points[triangle])
        for i in range(3):
            load[triangle[i]] += area / 3.0
            for j in range(3):
                rows[k], columns[k], entries[k] = triangle[i], triangle[j], stiffness[i, j]
                k += 1
    order = np.argsort(rows * n + columns)
    starts, found, values = np.zeros(n + 1, np.int64), np.empty_like(columns), np.empty_like(entries)
    count = 0
    for p in range(len(order)):
        at = order[p]
        if p > 0 and rows[at] == rows[order[p - 1]] and columns[at] == columns[order[p - 1]]:
            values[count - 1] += entries[at]
        else:
            found[count], values[count] = columns[at], entries[at]
            starts[rows[at] + 1] += 1
            count += 1
    return np.cumsum(starts), found[:count], values[:count], load


@njit
def product(starts, columns, entries, x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        for k in range(starts[i], starts[i + 1]):
            out[i] += entries[k] * x[columns[k]]
    return out


@njit
def solved(n):
    """The solution that is 0 on the border."""
    points, triangles = mesh(n)
    starts, columns, entries, load = assembled(points, triangles)
    is_inner = (points > 1e-9).sum(axis=1) + (points < 1.0 - 1e-9).sum(axis=1) == 4
    x = np.zeros(len(points))
    rest = np.where(is_inner, load, 0.0)
    along = rest.copy()
    square = rest @ rest
    while square > 1e-24:
        image = np.where(is_inner, product(starts, columns, entries, along), 0.0)
        step = square / (along @ image)
        x += step * along
        rest -= step * image
        before, square = square, rest @ rest
        along = rest + square / before * along
    return x


def first():
    return solved(16)


def is_right(found):
    # The value in the middle of the square, by the series of the exact solution.
    return abs(found.max() - 0.07367) < 5e-4
