"""Loops whose exceptions are looked for ahead: what they have done when they raise, and arrays that share memory."""

import math

import numpy as np
import pytest

from lancehead import njit

SIZES = [0, 5, 31, 32, 100, 1024, 1025, 5000]


def quotients(a, b, c):
    for i in range(a.shape[0]):
        c[i] = a[i] / b[i]


def in_place(a, b):
    for i in range(a.shape[0]):
        a[i] = 1.0 / a[i] + 2 / b[i]


def guarded(a, b, c):
    for i in range(a.shape[0]):
        if b[i] != 0:
            c[i] = a[i] / b[i]
        else:
            c[i] = 7


def chained(a):
    for i in range(1, a.shape[0]):
        a[i] = 1.0 / a[i - 1] + a[i]


def counted(a, c):
    total = 0
    for i in range(a.shape[0]):
        c[i] = 1.0 / (a[i] * a[i] + 1.0) + 1.0 / (i + 1)
        total += int(10 / a[i])
    return total


@pytest.fixture(scope="module")
def draw():
    rng = np.random.default_rng(7)
    return lambda n: rng.random(n) + 0.5


@pytest.mark.parametrize("boundscheck", [True, False])
@pytest.mark.parametrize("n", SIZES)
def test_raises_where_it_would(draw, n, boundscheck):
    f = njit(boundscheck=boundscheck)(quotients)
    a, b, c = draw(n), draw(n), np.zeros(n)
    f(a, b, c)
    assert (c == a / b).all()
    for k in {0, n // 2, n - 1} if n else ():
        zero, done = b.copy(), np.full(n, -1.0)
        zero[k] = 0
        with pytest.raises(ZeroDivisionError):
            f(a, zero, done)
        assert (done[:k] == c[:k]).all() and (done[k:] == -1).all()


def test_the_array_is_shorter_than_the_loop(draw):
    a, b, c = draw(3000), draw(2000), np.zeros(3000)
    with pytest.raises(IndexError):
        njit(quotients)(a, b, c)
    assert (c[:2000] == a[:2000] / b).all() and (c[2000:] == 0).all()


@pytest.mark.parametrize("n", SIZES)
def test_arrays_that_share_memory(draw, n):
    f, g, h = njit(quotients), njit(in_place), njit(chained)
    for first, second, third in [(0, 0, 1), (0, 1, 1), (1, 0, 0), (2, 0, 1), (0, 0, 0)]:
        z = draw(n + 2)
        w = z.copy()
        f(z[first:][:n], z[second:][:n], z[third:][:n])
        quotients(w[first:][:n], w[second:][:n], w[third:][:n])
        assert (z == w).all()
    z = draw(n)
    w = z.copy()
    g(z, z)
    in_place(w, w)
    assert np.allclose(z, w)
    z = draw(n)
    w = z.copy()
    h(z)
    chained(w)
    assert (z == w).all()
    z = draw(n)
    w = z.copy()
    g(z[::-1], z)
    in_place(w[::-1], w)
    assert np.allclose(z, w)


@pytest.mark.parametrize("n", SIZES)
def test_conditions_on_the_way(draw, n):
    a, b, c = draw(n), draw(n), np.zeros(n)
    b[n // 2 :] = 0
    njit(guarded)(a, b, c)
    assert (c[: n // 2] == a[: n // 2] / b[: n // 2]).all() and (c[n // 2 :] == 7).all()


@pytest.mark.parametrize("n", SIZES)
def test_divisors_that_cannot_be_zero(draw, n):
    a, c, d = draw(n), np.zeros(n), np.zeros(n)
    assert njit(counted)(a, c) == counted(a, d)
    assert (c == d).all()


def test_the_loop_is_vectorised(draw):
    f = njit(quotients)
    f(draw(100), draw(100), np.zeros(100))
    assert "vectorised" in str(f.explain()).replace("not vectorised", "")


def exponentials(a, out, n):
    for i in range(n):
        out[i] = math.exp(a[i])


def test_copies_of_a_loop_differ_by_an_ulp_at_most():
    compiled = njit(exponentials)
    a = np.random.default_rng(1).random(1000) * 4 - 2
    without, checked = np.zeros(1000), np.zeros(1000)
    compiled(a, without, 1000)
    with pytest.raises(IndexError):
        compiled(a, checked, 1001)
    assert np.abs(without.view(np.int64) - checked.view(np.int64)).max() <= 1
    assert np.abs(without / np.exp(a) - 1).max() < 3e-16
