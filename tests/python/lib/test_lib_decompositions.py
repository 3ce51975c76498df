"""Singular value decompositions: the factors are unitary, their product is the matrix, the values are NumPy's."""

import numpy as np
import pytest

import lancehead as lh

DTYPES = ["f4", "f8", "c8", "c16", "i8"]
SHAPES = [(0, 0), (0, 3), (3, 0), (1, 1), (5, 5), (7, 3), (3, 7), (1, 6), (20, 20)]


@lh.njit
def square(a):
    return np.linalg.svd(a)


@lh.njit
def narrow(a):
    return np.linalg.svd(a, full_matrices=False)


@lh.njit
def values(a):
    return np.linalg.svd(a, compute_uv=False)


def check(a):
    near = 1e-4 if a.dtype.char in "fF" else 1e-12
    want = np.linalg.svd(a, compute_uv=False)
    largest = want.max(initial=0) or 1.0
    np.testing.assert_allclose(values(a) / largest, want / largest, atol=near)
    for svd, full in ((square, True), (narrow, False)):
        result = svd(a)
        assert result._fields == ("U", "S", "Vh")
        u, s, vh = result
        expected = np.linalg.svd(a, full_matrices=full)
        assert [(x.shape, x.dtype) for x in (u, s, vh)] == [(x.shape, x.dtype) for x in expected]
        assert all(s[:-1] >= s[1:])
        np.testing.assert_allclose(s / largest, want / largest, atol=near)
        np.testing.assert_allclose(u.conj().T @ u, np.eye(u.shape[1]), atol=near)
        np.testing.assert_allclose(vh @ vh.conj().T, np.eye(vh.shape[0]), atol=near)
        np.testing.assert_allclose(u[:, : len(s)] * (s / largest) @ vh[: len(s)], a / largest, atol=near)


def matrix(dtype, shape):
    random = np.random.default_rng(1)
    a = random.normal(size=shape) * 5
    return (a + 1j * random.normal(size=shape) if dtype[0] == "c" else a).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_as_numpy(dtype, shape):
    a = matrix(dtype, shape)
    for b in (a, np.asfortranarray(a), a[::-1], a[:, ::-2]):
        check(b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(5, 5), (7, 3), (3, 7)])
def test_dependent_rows(dtype, shape):
    a = matrix(dtype, shape)
    a[-1] = a[0]
    for b in (a, np.zeros_like(a), np.ones_like(a), np.eye(*shape, dtype=dtype)):
        check(b)


@pytest.mark.parametrize("scale", [1e200, 1e-200, 1e-300])
def test_numbers_whose_squares_have_no_form(scale):
    check(matrix("f8", (6, 4)) * scale)
    check(matrix("c16", (4, 6)) * scale)
    check(np.diag([scale, 1.0, 0.0]))


def test_nearly_singular():
    check(np.vander(np.linspace(0, 1, 12)))
    check(1 / (np.arange(10)[:, None] + np.arange(10) + 1.0))


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_what_is_not_finite(odd):
    with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge"):
        square(np.array([[1.0, odd], [0.0, 1.0]]))


def test_vectors_are_refused():
    with pytest.raises(lh.errors.TypingError, match="two dimensions"):
        square(np.ones(2))
