"""Second derivatives of programs: reverse and forward mode over each other, beside differences."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from lancehead import njit, prange
from lancehead.gradients import grad, hessian, hvp, jacfwd, jacrev, jvp

POINT = np.array([0.7, 1.1, 0.9])
ALONG = np.array([0.3, -0.5, 0.8])


def kept_numbers(x):
    s = x[0]
    for i in range(1, x.shape[0]):
        s = np.sin(s) * x[i] + s * x[0]
    return s


def kept_arrays(x):
    y = x
    for _ in range(3):
        y = y * np.sin(y)
    return np.sum(y)


def copied_arrays(x):
    u = x.copy()
    for _ in range(4):
        v = u.copy()
        for j in range(1, u.shape[0] - 1):
            v[j] += 0.1 * (u[j - 1] - 2.0 * u[j] + u[j + 1]) * u[j]
        u = v
    return np.sum(u**2)


def arrays_in_inner_loops(x):
    s = 0.0
    for i in range(2):
        y = x * (i + 1.0)
        for _ in range(2):
            z = y * x
            y = z * z + y
        s += np.sum(y)
    return s


def rows(x):
    a = np.outer(x, x)
    s = 0.0
    for i in range(3):
        r = a[i] * x
        a[i] = r
        s += np.sum(r) ** 2
    return s + np.sum(a * a)


def until_large(x):
    s = x[0]
    while s < 10.0:
        s = s * 1.5 + x[1] * s * x[2]
    return s


def lists(x):
    found = [x[0]]
    for i in range(1, 3):
        found.append(found[-1] * x[i] * x[i])
    s = 0.0
    for v in found:
        s += v * v
    return s


def lists_of_arrays(x):
    found = []
    for i in range(3):
        found.append(x * (i + 1.0))
    s = 0.0
    for r in found:
        s += np.sum(r * r * r)
    return s


def dictionaries(x):
    found = {0: x[0]}
    for i in range(1, 3):
        found[i] = found[i - 1] * x[i] * x[i]
    s = 0.0
    for k in found:
        s += found[k] * found[k]
    return s


@njit
def power(x, n):
    if n == 0:
        return x[0]
    return power(x, n - 1) * x[1] + x[2] * x[2] * x[0]


def recursion(x):
    return power(x, 3)


@njit
def products(x, n):
    if n < x.shape[0]:
        x[n] = x[n] * x[n - 1]
        products(x, n + 1)


def recursion_in_arrays(x):
    y = x.copy()
    products(y, 1)
    return np.sum(y * y)


@njit
def powers(x):
    y = x[0]
    for i in range(3):
        yield y * x[i]
        y = y * x[i]


def generators(x):
    s = 0.0
    for v in powers(x):
        s += v * v
    return s


class Pair(NamedTuple):
    at: np.ndarray
    speed: float


def named_tuples(x):
    p = Pair(x * 1.0, x[1])
    for _ in range(3):
        p = Pair(p.at * p.speed + x, p.speed * np.sin(p.at[0]))
    return np.sum(p.at) * p.speed


@dataclass
class Body:
    at: float
    speed: float


def objects(x):
    b = Body(x[0], x[1])
    for _ in range(3):
        b.speed -= 0.3 * b.at * x[2]
        b.at += 0.3 * b.speed * b.speed
    return b.at * b.speed


def handlers(x):
    s = 1.0
    for i in range(4):
        try:
            if i == 2:
                raise ValueError("no")
            s *= x[i % 3] * s + x[0]
        except ValueError:
            s = s * x[1]
    return s


def solved(x):
    b = x
    for _ in range(2):
        a = np.outer(x, b) + 3.0 * np.eye(3)
        b = np.linalg.solve(a, b * b)
    return np.sum(b)


def in_parallel(x):
    s = 0.0
    for i in prange(x.shape[0]):
        s += np.sin(x[i]) * x[i]
    return s


def in_parallel_loops(x):
    s = 0.0
    for i in prange(x.shape[0]):
        t = x[i]
        for _ in range(3):
            t = t * np.sin(t) * x[0]
        s += t
    return s


def stored_in_parallel(x):
    y = np.empty_like(x)
    for i in prange(x.shape[0]):
        y[i] = x[i] ** 3 * x[0]
    return np.sum(y * y)


def steps_in_parallel(x):
    u = x.copy()
    for _ in range(3):
        for i in prange(u.shape[0]):
            u[i] = math.sin(x[i] * u[i])
    return np.sum(u)


def overlapping_copies(x):
    a = np.concatenate((x, x * x))
    a[1:] = a[:-1] * a[1:]
    a[::-1][1:] = a[:-1] + a[1:] * x[0]
    return np.sum(a * a)


SERIAL = [
    kept_numbers,
    kept_arrays,
    copied_arrays,
    arrays_in_inner_loops,
    rows,
    until_large,
    lists,
    lists_of_arrays,
    dictionaries,
    recursion,
    recursion_in_arrays,
    generators,
    named_tuples,
    objects,
    handlers,
    solved,
    overlapping_copies,
]
PARALLEL = [in_parallel, in_parallel_loops, stored_in_parallel, steps_in_parallel]
PROGRAMS = [njit(f) for f in SERIAL] + [njit(parallel=True)(f) for f in PARALLEL]


def reverse_over_reverse(f):
    slope = grad(f)
    return grad(njit(lambda x: np.sum(slope(x) * ALONG)))(POINT.copy())


def reverse_over_forward(f):
    return grad(njit(lambda x: jvp(f, (x,), (ALONG,))[1]))(POINT.copy())


def forward_over_reverse(f):
    return jvp(grad(f), (POINT.copy(),), (ALONG.copy(),))[1]


def forward_over_forward(f):
    along = njit(lambda x: jvp(f, (x,), (ALONG,))[1])
    return np.array([jvp(along, (POINT.copy(),), (e,))[1] for e in np.eye(3)])


def expected(f):
    h = 1e-4

    def slope(x):
        return np.array([(f.py_func(x + h * e) - f.py_func(x - h * e)) / (2 * h) for e in np.eye(3)])

    return (slope(POINT + h * ALONG) - slope(POINT - h * ALONG)) / (2 * h)


def named(f):
    return f.__name__


MODES = [reverse_over_reverse, reverse_over_forward, forward_over_reverse, forward_over_forward]


@pytest.mark.parametrize("mode", MODES, ids=named)
@pytest.mark.parametrize("f", PROGRAMS, ids=named)
def test_second_derivatives(f, mode):
    assert np.allclose(mode(f), expected(f), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("f", [njit(copied_arrays), njit(lists), njit(parallel=True)(in_parallel_loops)], ids=named)
def test_matrices_of_second_derivatives(f):
    found = [hessian(f), jacrev(grad(f)), jacfwd(grad(f)), jacrev(jacfwd(f)), jacfwd(jacfwd(f))]
    first = found[0](POINT)
    assert np.allclose(first @ ALONG, expected(f), rtol=1e-4, atol=1e-5)
    assert np.allclose(first, first.T)
    for other in found[1:]:
        assert np.allclose(other(POINT), first)
    assert np.allclose(hvp(f)(POINT, ALONG), first @ ALONG)
