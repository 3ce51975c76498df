"""The library's special functions: against values of 50 digits within their stated bounds, and against SciPy."""

from __future__ import annotations

import json
import pathlib
import re

import numpy as np
import pytest

import lancehead
from lancehead.lib.scipy import special as own

VALUES = json.loads((pathlib.Path(__file__).parent / "special_values.json").read_text())
EDGES = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 1.0, -2.0, 2.0, 0.5, -0.5, 1e300, -1e300, -3.5])
BINARY = ("beta", "betaln", "xlogy", "xlog1py")


def compiled(name):
    function = getattr(own, name)
    if name in BINARY:
        return lancehead.njit(lambda x, y: function(x, y))
    return lancehead.njit(lambda x: function(x))


@pytest.mark.parametrize("name", VALUES)
def test_stated_bounds(name):
    *arguments, want = np.array(VALUES[name]).T
    got = compiled(name)(*arguments)
    bound, kind = re.search(r"within (\d+) ulp( absolute)?", getattr(own, name).__doc__).groups()
    size = np.maximum(np.abs(want), 1.0 if kind else 0.0)
    assert (np.abs(got - want) <= (int(bound) + 0.5) * np.spacing(size)).all()


@pytest.mark.parametrize("name", [n for n in VALUES if n not in BINARY])
def test_edges_are_scipys(name):
    scipy = pytest.importorskip("scipy.special")
    f = compiled(name)
    with np.errstate(all="ignore"):
        want = getattr(scipy, name)(EDGES)
        np.testing.assert_allclose(f(EDGES), want, rtol=1e-12, atol=1e-15)
        single = f(EDGES.astype(np.float32))
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, getattr(scipy, name)(EDGES.astype(np.float32)), rtol=1e-6, atol=1e-15)
        np.testing.assert_array_equal(f(EDGES.reshape(2, 7)[:, ::-1]), f(EDGES).reshape(2, 7)[:, ::-1])
        np.testing.assert_allclose(f(np.arange(1, 4)), getattr(scipy, name)(np.arange(1, 4)), rtol=1e-12)
    assert f(0.25) == f(np.array([0.25]))[0]


@pytest.mark.parametrize("name", BINARY)
def test_two_arguments(name):
    scipy = pytest.importorskip("scipy.special")
    f = compiled(name)
    x, y = np.array([[0.0], [0.5], [1.5], [3.0], [-0.5]]), np.array([0.5, 1.0, 2.5, 4.0])
    np.testing.assert_allclose(f(x, y), getattr(scipy, name)(x, y), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(f(x, 2.0), getattr(scipy, name)(x, 2.0), rtol=1e-12)
    np.testing.assert_allclose(f(2.0, y), getattr(scipy, name)(2.0, y), rtol=1e-12, atol=1e-15)
    assert f(2.0, 3.0) == f(np.array([2.0]), 3.0)[0]
