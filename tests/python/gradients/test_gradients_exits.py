"""Loops that are left in several ways, in all second derivatives: what reverses them is entered in several ways."""

import numpy as np
import pytest

from lancehead import njit
from lancehead.gradients import grad, hessian, jvp

POINT = np.array([0.7, 1.3, 0.9])
ALONG = np.array([0.3, -0.5, 0.8])


def left_by_break(x):
    s = x[0]
    for i in range(4):
        if s > 3.0:
            break
        s = s * x[1] * x[1] + x[2]
    return s * s


def never_left_early(x):
    s = x[0]
    for i in range(3):
        if s > 1e9:
            break
        s = s * s * x[1]
    return s


def until_converged(x):
    y = 1.0
    for _ in range(50):
        z = 0.5 * (y + x[0] * x[1] / y)
        if abs(z - y) < 1e-13:
            break
        y = z
    return y * x[2] * x[2]


def returns_from_the_inner_loop(x):
    s = x[0]
    for i in range(3):
        for j in range(3):
            s = s * x[j] + x[i]
            if s > 2.2:
                return s * s * x[1]
        s = s * x[0]
    return s


def left_in_three_ways(x):
    s, n = x[0], 0
    while True:
        n += 1
        s = s * x[1] + x[2]
        if n > 6:
            break
        if s > 5.0:
            s = s * x[0]
            break
        if n % 2 == 0:
            continue
        if s < 0.1:
            return s
        s = s + x[2] * s * 0.1
    return s * s


def with_an_else(x):
    s = 0.0
    for i in range(3):
        s += x[i] * x[i] * s + x[0]
        if s > 100.0:
            break
    else:
        s = s * x[1]
    return s


def breaks_of_both_loops(x):
    s = 1.0
    for i in range(3):
        t = x[i]
        for j in range(4):
            t = t * x[j % 3] + s
            if t > 1.6:
                break
        s = s + t * x[0]
        if s > 6.0:
            break
    return s * x[2]


def arrays(x):
    u = x.copy()
    for i in range(4):
        u = u * x + 0.1
        if np.sum(u) > 2.5:
            break
        u[i % 3] *= x[0]
    return np.sum(u * u)


def found_by_search(x):
    for i in range(x.shape[0]):
        if x[i] > 1.0:
            return x[i] ** 3 * x[0]
    return x[0]


def in_a_handler(x):
    s = x[0]
    for i in range(5):
        try:
            if i == 3:
                raise ValueError("no")
            s = s * x[1] + x[2] * s * s
            if s > 4.0:
                break
        except ValueError:
            s = s * x[2]
            break
    return s


PROGRAMS = [
    left_by_break,
    never_left_early,
    until_converged,
    returns_from_the_inner_loop,
    left_in_three_ways,
    with_an_else,
    breaks_of_both_loops,
    arrays,
    found_by_search,
    in_a_handler,
]


def differences(f):
    h = 1e-4

    def slope(x):
        return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(3)])

    return (slope(POINT + h * ALONG) - slope(POINT - h * ALONG)) / (2 * h)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_second_derivatives(f):
    expected, f = differences(f), njit(f)
    slope = grad(f)
    along_reverse = njit(lambda x: np.sum(slope(x) * ALONG))
    along_forward = njit(lambda x: jvp(f, (x,), (ALONG,))[1])
    found = [
        grad(along_reverse)(POINT.copy()),
        grad(along_forward)(POINT.copy()),
        jvp(slope, (POINT.copy(),), (ALONG.copy(),))[1],
        hessian(f)(POINT.copy()) @ ALONG,
    ]
    for second in found:
        np.testing.assert_allclose(second, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found[0], found[2], rtol=1e-10)


def test_third_derivatives():
    cube = grad(grad(grad(lambda x: left_by_powers(x))))
    assert cube(1.1) == pytest.approx(8 * 7 * 6 * 1.1**5)


@njit
def left_by_powers(x):
    for _ in range(3):
        if x > 1e6:
            break
        x = x * x
    return x
