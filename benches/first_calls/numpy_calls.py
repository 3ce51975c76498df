"""A dozen functions of NumPy in one function."""

import numpy as np

from lancehead import njit


@njit
def solve(a, b):
    x = np.linalg.solve(a + a.shape[0] * np.eye(a.shape[0]), b)
    s = np.sort(a @ x)
    w = np.where(s > s.mean(), s, -s)
    m = a * w - b.reshape(b.size, 1)
    c = np.concatenate((w, np.zeros(b.size)[: b.size // 2]))
    return np.sum(m[1:-1, ::2]) + np.max(m) - np.min(w) + np.sqrt(np.abs(c)).sum() + np.dot(s, s) + np.cumsum(c)[-1]


A, B = np.arange(144.0).reshape(12, 12) % 7, np.arange(12.0)


def first():
    return solve(A, B)


def is_right(found):
    return np.isclose(found, solve.py_func(A, B))
