"""Second derivatives at removable singularities, and beside them."""

import math

import numpy as np
import pytest
import scipy.special

from lancehead import njit
from lancehead.gradients import grad, hessian, jvp


def both_orders(f, x):
    """The first derivative in both modes and the second in all four."""
    slope, along = grad(f), njit(lambda y: jvp(f, (y,), (1.0,))[1])
    first = [slope(x), along(x)]
    return first, [grad(slope)(x), grad(along)(x), jvp(slope, (x,), (1.0,))[1], jvp(along, (x,), (1.0,))[1]]


def by_series(x):
    """The first and second derivative of `sinc`: of `sum((-1)**k (pi x)**(2 k) / (2 k + 1)!)`."""
    terms = [((-1) ** k * math.pi ** (2 * k) / math.factorial(2 * k + 1), 2 * k) for k in range(14)]
    first = sum(c * n * x ** (n - 1) for c, n in terms[1:])
    return first, sum(c * n * (n - 1) * x ** (n - 2) for c, n in terms[1:])


@pytest.mark.parametrize("x", [0.0, -0.0, 1e-300, 1e-9, -1e-4, 0.01, 0.3, -0.32, 0.7])
def test_sinc(x):
    first, second = by_series(x)
    found = both_orders(njit(lambda x: np.sinc(x)), x)
    np.testing.assert_allclose(found[0], first, rtol=1e-12)
    np.testing.assert_allclose(found[1], second, rtol=1e-12)


def test_sinc_of_other_types():
    points = np.array([0.0, 0.1, -0.5])
    expected = [by_series(x)[1] for x in points]
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-5)):
        found = hessian(lambda x: np.sum(np.sinc(x)))(points.astype(dtype))
        assert found.dtype == dtype
        np.testing.assert_allclose(np.diag(found), expected, rtol=tolerance)
    found = hessian(lambda x: np.sum(np.sinc(x + 0j).real))(points)
    np.testing.assert_allclose(np.diag(found), expected, rtol=1e-12)
    fourth = grad(grad(grad(grad(lambda x: np.sinc(x)))))
    assert fourth(0.0) == pytest.approx(math.pi**4 / 5, rel=1e-12)


#: Functions with cases for zero, and their first and second derivatives there.
AT_ZERO = [
    (lambda x: scipy.special.xlogy(x, 2.0 + x), math.log(2.0), 1.0),
    (lambda x: scipy.special.xlog1py(x, 1.0 + x), math.log(2.0), 1.0),
    (lambda x: scipy.special.xlogy(3.0 * x, 0.5), 3.0 * math.log(0.5), 0.0),
    (lambda x: np.sum(np.i0(x)), 0.0, 0.5),
    (lambda x: scipy.special.j0(x), 0.0, -0.5),
    (lambda x: scipy.special.i1(x), 0.5, 0.0),
    (lambda x: np.expm1(x), 1.0, 1.0),
    (lambda x: np.log1p(x), 1.0, -1.0),
    (lambda x: x**2, 0.0, 2.0),
    (lambda x: np.power(x, 3), 0.0, 0.0),
    (lambda x: np.hypot(x, 1.0), 0.0, 1.0),
    (lambda x: np.arctan2(x, 1.0), 1.0, 0.0),
    (lambda x: np.prod(np.array([x, x, 2.0 + x])), 0.0, 4.0),
    (lambda x: np.linalg.det(np.array([[x, 1.0], [2.0, x]])), 0.0, 2.0),
    (lambda x: np.linalg.norm(np.array([x, 1.0])), 0.0, 1.0),
    (lambda x: np.sinc(x) * np.logaddexp(x, -x), 0.0, 1.0 - math.pi**2 / 3 * math.log(2.0)),
]


@pytest.mark.parametrize(("f", "first", "second"), AT_ZERO)
def test_at_zero(f, first, second):
    for x in (0.0, -0.0):
        found = both_orders(njit(f), x)
        np.testing.assert_allclose(found[0], first, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(found[1], second, rtol=1e-12, atol=1e-14)
