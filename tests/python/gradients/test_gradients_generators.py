"""Derivatives of programs with generators."""

import itertools

import numpy as np
import pytest

from lancehead import njit
from lancehead.errors import TypingError
from lancehead.gradients import grad, jvp, value_and_grad

X = np.linspace(0.2, 1.5, 6)


def differences(f, x):
    """Central differences with respect to the elements of an array."""
    out = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        for sign in (1, -1):
            moved = x.copy()
            moved[i] += sign * 1e-6
            out[i] += sign * f(moved) / 2e-6
    return out


@njit
def squares(x):
    for i in range(x.shape[0]):
        yield x[i] * x[i]


@njit
def chosen(x, least):
    for i in range(x.shape[0]):
        if x[i] > least:
            yield x[i] * least
        if x[i] > 1.0:
            yield np.sin(x[i])


@njit
def steps(x, n):
    s = x
    k = 0
    while True:
        s = np.sin(s) * x + 0.5
        yield s
        k += 1
        if k >= n:
            return


def simple(x):
    s = 0.0
    for y in squares(x):
        s = s * 0.5 + y * y
    return s


def several_places(x):
    s = 1.0
    for y in chosen(x, 0.5):
        s *= 1 + y
    return s


def expressions(x):
    return sum(np.sin(v) * v for v in x) * sum(v * v for v in x if v > 0.3)


def asked(x):
    g = squares(x)
    a = next(g)
    b = next(g)
    h = steps(x[0], 2)
    s = a * b + next(g)
    for i in range(4):
        s += next(h, x[i]) * x[i + 1]
    return s


def left_early(x):
    s = 0.0
    for y in squares(x):
        if y > 1.0:
            break
        s += y * s + y
    return s


@njit
def squared(a):
    return a * a


def mapped_and_filtered(x):
    s = 0.0
    for v in map(squared, squares(x)):
        s = s * 0.5 + v * x[0]
    for v in filter(lambda a: a > 0.3, squares(x)):
        s += np.exp(v)
    return s


def in_loops(x):
    s = 0.0
    for i in range(3):
        for y in steps(x[i], i + 1):
            s = s * 0.9 + y * x[5]
    return s


def of_arrays(x):
    def rows(x):
        y = x.copy()
        for _ in range(3):
            y = y * x
            yield y

    s = 0.0
    for r in rows(x):
        s += np.sum(r) * x[0]
    return s


def exhausted(x):
    s = 0.0
    g = squares(x)
    try:
        for _ in range(10):
            s += next(g) * x[0]
    except StopIteration:
        s *= x[1]
    return s


def accumulated(x):
    s = 0.0
    for y in itertools.accumulate(x):
        s += y * y
    for a, b in itertools.pairwise(x):
        s += a * b * b
    return s


def collected(x):
    s = 0.0
    for v in list(squares(x)):
        s += v * v
    return s + max(v * v for v in x) + min(np.sin(v) for v in x)


PROGRAMS = [
    simple, several_places, expressions, asked, left_early, mapped_and_filtered, in_loops, of_arrays, exhausted,
    accumulated, collected,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(f):
    reverse = value_and_grad(f)
    rng = np.random.default_rng(0)
    for x in [X, *(rng.uniform(0.1, 1.6, size=6) for _ in range(20))]:
        value, found = reverse(x.copy())
        assert value == pytest.approx(f(x.copy()), rel=1e-12)
        np.testing.assert_allclose(found, differences(f, x), rtol=1e-5, atol=1e-5)
        along = rng.normal(size=6)
        assert jvp(f, (x.copy(),), (along,))[1] == pytest.approx(np.sum(found * along), rel=1e-9)


def test_refusals():
    def kept(x):
        return sum(sum(g) for g in [squares(x), squares(x * 2.0)])

    def older(x):
        g = squares(x)
        s = 0.0
        for i in range(3):
            h = squares(x * (i + 1.0))
            s += next(g) * next(h)
            g = h
        return s

    def in_a_tuple(x):
        return sum(itertools.chain(squares(x), squares(x)))

    def together(x):
        s = 0.0
        for a, b in zip(squares(x), steps(x[1], 4)):
            s += a * b
        return s

    for f in (kept, older, in_a_tuple, together):
        with pytest.raises(TypingError, match="no derivative"):
            grad(f)(X)
