"""Numba's answers that differ from Python's and NumPy's, which functions of the library reproduce: random streams."""

import json

import numpy as np
import pytest

import numba_streams
from lancehead import njit

RECORDED = json.loads(numba_streams.RECORDED.read_text())
AS_NUMBA = njit(semantics="numba")


@pytest.mark.parametrize("text", numba_streams.NUMBERS + numba_streams.ARRAYS)
def test_random_numbers_are_numbas(text):
    np.testing.assert_allclose(numba_streams.drawn(text, AS_NUMBA), RECORDED[text], rtol=1e-13)


def test_python_semantics_draw_as_python_and_numpy():
    assert numba_streams.drawn("random.random()", njit) == numba_streams.drawn("random.random()", lambda f: f)
    gamma = "np.random.gamma(2.5, 2.0)"
    assert numba_streams.drawn(gamma, njit) == numba_streams.drawn(gamma, lambda f: f)
    assert numba_streams.drawn(gamma, njit) != RECORDED[gamma]


MATRIX = np.array([[4.0, 1.0, 2.0], [1.0, 3.0, 0.0], [2.0, 0.0, 5.0]])


@AS_NUMBA
def factors(a):
    return (np.linalg.inv(a), np.linalg.pinv(a), np.linalg.solve(a, a), *np.linalg.qr(a), *np.linalg.svd(a)[::2],
            np.linalg.eig(a)[1], np.linalg.eigh(a)[1])  # fmt: skip


def test_factors_are_column_major():
    for dtype in (np.float32, np.float64, np.complex128):
        for a in (MATRIX.astype(dtype), np.asfortranarray(MATRIX.astype(dtype))):
            for x, wanted in zip(factors(a), factors.py_func(a)):
                assert x.flags.f_contiguous and x.dtype == wanted.dtype and x.shape == wanted.shape
            np.testing.assert_allclose(factors(a)[0], np.linalg.inv(a), rtol=1e-5)
    assert njit(factors.py_func)(MATRIX)[0].flags.c_contiguous


# fmt: off
@pytest.mark.parametrize(("text", "a", "said"), [
    ("inv(a)", np.ones((2, 3)), "Last 2 dimensions of the array must be square."),
    ("inv(a)", np.ones((3, 3)), "Matrix is singular to machine precision."),
    ("solve(a, a)", np.ones((3, 3)), "Matrix is singular to machine precision."),
    ("solve(a, a[:2])", MATRIX, "Incompatible array sizes, system is not dimensionally valid."),
    ("cholesky(a)", -MATRIX, "Matrix is not positive definite."),
    ("eigvals(a)", np.full((2, 2), np.nan), "Array must not contain infs or NaNs."),
    ("det(a)", np.full((2, 2), np.inf), "Array must not contain infs or NaNs."),
    ("svd(a)", np.zeros((0, 2)), "Arrays cannot be empty"),
    ("lstsq(a, a)", np.zeros((0, 2)), "Arrays cannot be empty"),
    ("cond(a)", np.zeros((0, 2)), "Arrays cannot be empty"),
])
# fmt: on
def test_errors_of_linalg_have_numbas_texts(text, a, said):
    f = AS_NUMBA(eval(f"lambda a: np.linalg.{text}", {"np": np}))
    with pytest.raises(np.linalg.LinAlgError) as e:
        f(a)
    assert str(e.value) == said
