"""Fits of polynomials, by `numpy.linalg.lstsq`, and zeros, by `numpy.linalg.eigvals`."""

from __future__ import annotations

import numpy as np
import numpy.polynomial as families
import pytest

import lancehead
from lib_cases import same
from test_numpy_polynomials import OWN, function

rng = np.random.default_rng(7)
POINTS, VALUES, WEIGHTS = rng.standard_normal(12), rng.standard_normal(12), rng.random(12) + 0.5
COLUMNS = rng.standard_normal((12, 2))


@pytest.mark.parametrize(
    "text",
    [
        "np.polyfit(x, y, 3)", "np.polyfit(x, y, 2, w=w)", "np.polyfit(x, y, 2, full=True)", "np.polyfit(x, z, 2)",
        "np.polyfit(x, y, 2, cov=True)", 'np.polyfit(x, y, 2, cov="unscaled", w=w)', "np.polyfit(x, z, 2, cov=True)",
    ],
)  # fmt: skip
def test_fit_of_powers(text):
    f = function(text, "x, y, z, w")
    want, got = f(POINTS, VALUES, COLUMNS, WEIGHTS), lancehead.njit(f)(POINTS, VALUES, COLUMNS, WEIGHTS)
    for w, g in zip(want, got) if isinstance(want, tuple) else [(want, got)]:
        np.testing.assert_allclose(g, w, rtol=1e-8)


@pytest.mark.parametrize("name", OWN)
def test_fits_of_families(name):
    for arguments in ("x, y, 3", "x, y, [0, 2]", "x, y, np.array([3, 1]), w=w", "x, z, 2, w=w", "x, z, (1, 2)"):
        f = function(f"M.{OWN[name][0]}fit({arguments})", "x, y, z, w", M=getattr(families, name))
        assert same(f(POINTS, VALUES, COLUMNS, WEIGHTS), lancehead.njit(f)(POINTS, VALUES, COLUMNS, WEIGHTS), 1e-8)


@pytest.mark.parametrize(
    "text",
    ["np.polyfit(x, y, -1)", "np.polyfit(x[:0], y[:0], 1)", "np.polyfit(x[:3], y, 1)", "np.poly(x.reshape(3, 4))"],
)
def test_errors_are_numpys(text):
    f = function(text, "x, y")
    with pytest.raises((ValueError, TypeError)) as wanted:
        f(POINTS, VALUES)
    with pytest.raises(type(wanted.value), match=str(wanted.value)):
        lancehead.njit(f)(POINTS, VALUES)


def test_zeros():
    f = lancehead.njit(lambda p: np.roots(p))
    for p in ([1.0, -6.0, 11.0, -6.0], [0.0, 2.0, -2.0, 0.0], [1.0], [0.0]):
        np.testing.assert_allclose(np.sort(np.real(f(np.array(p)))), np.sort(np.roots(p)), rtol=1e-9)
    for name, (prefix, _) in OWN.items():
        module = getattr(families, name)
        c = getattr(module, prefix + "fromroots")([1.0, 2.0, 3.0])
        zeros = lancehead.njit(function(f"M.{prefix}roots(c)", "c", M=module))
        np.testing.assert_allclose(np.real(zeros(c)), [1.0, 2.0, 3.0], rtol=1e-9)
