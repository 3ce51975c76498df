"""Second derivatives of functions of the library whose derivatives make memory, or have rules of several parts."""

import numpy as np
import pytest

from lancehead import njit
from lancehead.gradients import grad, hvp, jvp

POINT = np.array([0.9, -0.3, 0.7, 1.2])
ALONG = np.array([0.4, 0.7, -0.2, 0.5])
SYMMETRIC = np.array([[2.0, 0.3, 0.1, 0.2], [0.3, 3, 0.2, 0.1], [0.1, 0.2, 5, 0.4], [0.2, 0.1, 0.4, 7]])
ANY = SYMMETRIC + np.triu(SYMMETRIC, 1) * 0.3


def scattered(x):
    z = np.zeros(4)
    z[np.array([0, 2, 2, 1])] += x**2
    return np.sum(z * z)


def multiplied_at(x):
    z = np.ones(4)
    z[np.array([0, 2])] *= x[:2]
    z[1:3] -= x[1:3] ** 2
    return np.sum(z**3)


def grown(x):
    found = []
    for i in range(4):
        found.append(x[i] * x[0])
    return np.sum(np.array(found) ** 2)


JOINED = [
    lambda x: np.sum(np.stack((x, x**2)) ** 2),
    lambda x: np.sum(np.vstack((x, x**2)) ** 2 * x),
    lambda x: np.sum(np.hstack((x, x * x[0])) ** 3),
    lambda x: np.sum(np.column_stack((x, x**2)) ** 2),
    lambda x: np.sum(np.dstack((x, x**2)) ** 2),
    lambda x: np.sum(np.concatenate((x, x[::-1] * x)) ** 2),
    lambda x: np.sum(np.append(x, x[:2] * x[2:]) ** 2),
    lambda x: np.sum(np.array([x[0] * x[1], x[2], x[3] ** 2]) ** 2),
    lambda x: np.sum(np.insert(x * x, 1, x[3]) ** 2),
    lambda x: np.sum(np.delete(x * x, 1) ** 2),
    lambda x: np.sum(np.pad(x * x, 1, mode="reflect") ** 2),
    lambda x: np.sum(np.tile(x, 2) ** 3),
    lambda x: np.sum(np.roll(x, 1) * x * x),
    lambda x: np.cov(x, x**2)[0, 1],
    lambda x: np.corrcoef(x, x**2)[0, 1],
    lambda x: np.sum(np.unique(x) ** 3),
    lambda x: np.sum(np.meshgrid(x, x)[0] ** 3),
    lambda x: np.sum(np.outer(x, x) ** 2),
    lambda x: np.sum(np.kron(x, x) * np.kron(x, x)),
    lambda x: np.median(x * x) * np.max(x * x[0]),
    lambda x: np.sum(np.sort(x * x) * x),
    lambda x: np.sum(np.where(x > 0, x**3, x**2)),
    lambda x: np.sum(np.interp(x, np.array([-1.0, 0.5, 2.0]), np.array([1.0, 3.0, 2.0])) ** 2),
    scattered,
    multiplied_at,
    grown,
]

FACTORED = [
    lambda x: np.linalg.eigh(np.diag(x) + SYMMETRIC)[0][0],
    lambda x: np.linalg.eigh(np.diag(x) + SYMMETRIC)[1][0, 0] ** 2,
    lambda x: np.linalg.eigvalsh(np.diag(x) + SYMMETRIC)[1],
    lambda x: np.linalg.svd(np.diag(x) + ANY)[1][0],
    lambda x: np.linalg.svd(np.diag(x) + ANY)[0][0, 0] ** 2,
    lambda x: np.linalg.qr(np.diag(x) + ANY)[1][0, 1],
    lambda x: np.linalg.eig(np.diag(x) + ANY)[0][0].real ** 2,
    lambda x: np.linalg.slogdet(np.diag(x) + ANY)[1],
    lambda x: np.linalg.cholesky(np.diag(x) + SYMMETRIC)[3, 0],
    lambda x: np.sum(np.linalg.lstsq(np.diag(x) + ANY, x)[0]),
    lambda x: np.linalg.det(np.diag(x) + ANY),
    lambda x: np.sum(np.linalg.pinv(np.diag(x) + ANY)),
    lambda x: np.linalg.norm(np.diag(x) + ANY, 2),
]


def product_by_differences(f):
    slope, h = grad(f), 1e-5
    return (slope(POINT + h * ALONG) - slope(POINT - h * ALONG)) / (2 * h)


@pytest.mark.parametrize("f", JOINED + FACTORED)
def test_forward_over_reverse(f):
    f = njit(f)
    np.testing.assert_allclose(hvp(f)(POINT.copy(), ALONG.copy()), product_by_differences(f), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("f", JOINED)
def test_reverse_over_both(f):
    f = njit(f)
    slope, expected = grad(f), product_by_differences(f)
    over_reverse = grad(njit(lambda x: np.sum(slope(x) * ALONG)))(POINT.copy())
    over_forward = grad(njit(lambda x: jvp(f, (x,), (ALONG,))[1]))(POINT.copy())
    np.testing.assert_allclose([over_reverse, over_forward], [expected] * 2, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("at", [0, 3, 5])
def test_reverse_over_both_of_factors(at):
    test_reverse_over_both(FACTORED[at])
