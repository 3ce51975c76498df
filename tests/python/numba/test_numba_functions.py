"""Functions of NumPy under Numba's semantics: results, errors and refusals as Numba has them."""

import json
from typing import Any

import numpy as np
import pytest

import numba_functions
from lancehead import errors, njit
from lancehead.extensions import cross2d

RECORDED = json.loads(numba_functions.RECORDED.read_text())
AS_NUMBA = njit(semantics="numba")


def are_near(a: Any, b: Any) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(are_near, a, b))
    if a == b or not (isinstance(a, str) and isinstance(b, str)):
        return a == b
    try:
        return bool(np.isclose(complex(a), complex(b), rtol=1e-14, equal_nan=True))
    except ValueError:
        return False


@pytest.mark.parametrize("text", numba_functions.CALLS)
def test_functions_answer_as_numba(text):
    for given in numba_functions.CALLS[text]:
        found = numba_functions.outcome(text, given, AS_NUMBA, errors.NumbaError)
        assert are_near(found, RECORDED[text][given]), (given, found, RECORDED[text][given])


def test_python_semantics_answer_as_numpy():
    assert njit(lambda a: np.clip(a, 1.5, 2.5))(np.arange(4)).dtype == np.float64
    assert njit(lambda a: np.flip(a))((1, 2)).tolist() == [2, 1]
    with pytest.raises(ValueError, match="first array argument cannot be empty"):
        njit(lambda a: np.correlate(a, a))(np.zeros(0))


def test_cross2d():
    a, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([5.0, 6.0])
    f = njit(lambda a, b: cross2d(a, b))
    np.testing.assert_array_equal(f(a, b), cross2d(a, b))
    assert f(b, b[::-1]).shape == () and f(b, b[::-1]) == cross2d(b, b[::-1]) == -11.0
    for g in (cross2d, f):
        with pytest.raises(ValueError, match="Incompatible dimensions for 2D cross product"):
            g(np.ones(3), np.ones(3))
