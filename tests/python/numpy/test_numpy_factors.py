"""Linear algebra on types, stacks, layouts and sizes: what is unique is NumPy's, factors are what they should be."""

import numpy as np
import pytest

import lancehead as lh

DTYPES = ["f4", "f8", "c8", "c16", "i8"]
#: On both sides of the size from which the run-time library factors.
SIZES = [0, 1, 2, 5, 17, 33]
LEADS = [(), (3,), (0, 1)]


def make(dtype, shape, seed=3):
    random = np.random.default_rng(seed)
    a = random.normal(size=shape)
    return (a + 1j * random.normal(size=shape) if dtype[0] == "c" else a * 3).astype(dtype)


def views(a):
    yield a
    yield a[..., ::-1, ::-1]
    if a.ndim == 2:
        yield np.asfortranarray(a)


def definite(dtype, lead, n):
    a = make("f8" if dtype == "i8" else dtype, (*lead, n, n))
    h = a @ adjoint(a) / (n + 1) + np.eye(n, dtype=a.dtype)
    return np.round(h.real).astype("i8") + 4 * np.eye(n, dtype="i8") if dtype == "i8" else h


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


def near(a):
    return 2e-3 if a.dtype.char in "fF" else 1e-9


def same(got, want):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    # Scalars come back as Python's.
    assert got.dtype == want.dtype or got.ndim == 0
    np.testing.assert_allclose(got, want, rtol=near(want), atol=near(want) * (1 + np.abs(want).max(initial=0)))


UNIQUE = {
    "inv": lambda a: np.linalg.inv(a),
    "det": lambda a: np.linalg.det(a),
    "cholesky": lambda a: np.linalg.cholesky(a),
    "upper": lambda a: np.linalg.cholesky(a, upper=True),
    "eigvalsh": lambda a: np.linalg.eigvalsh(a),
    "eigvalsh_upper": lambda a: np.linalg.eigvalsh(a, UPLO="U"),
    "svdvals": lambda a: np.linalg.svdvals(a),
    "values": lambda a: np.linalg.svd(a, compute_uv=False),
}


@pytest.mark.parametrize("name", UNIQUE)
def test_answers_of_numpy(name):
    function = UNIQUE[name]
    compiled = lh.njit(function)
    for dtype in ["f4", "f8", "c16"] if name != "det" else DTYPES:
        for lead in LEADS:
            for n in SIZES:
                if n == 0 and name in ("svdvals", "values"):
                    continue
                a = definite(dtype, lead, n)
                for b in views(a) if n in (2, 17) and dtype == "f8" else [a]:
                    same(compiled(b), function(b))


solve = lh.njit(lambda a, b: np.linalg.solve(a, b))
slogdet = lh.njit(lambda a: np.linalg.slogdet(a))
reduced = lh.njit(lambda a: np.linalg.qr(a))
complete = lh.njit(lambda a: np.linalg.qr(a, mode="complete"))
only_r = lh.njit(lambda a: np.linalg.qr(a, "r"))
raw = lh.njit(lambda a: np.linalg.qr(a, "raw"))
eigh = lh.njit(lambda a: np.linalg.eigh(a))
eigh_upper = lh.njit(lambda a: np.linalg.eigh(a, "U"))
eig = lh.njit(lambda a: np.linalg.eig(a))
eigvals = lh.njit(lambda a: np.linalg.eigvals(a))
lstsq = lh.njit(lambda a, b, rcond: np.linalg.lstsq(a, b, rcond))


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_solve(dtype):
    for n in SIZES[1:]:
        for lead in LEADS:
            a = definite(dtype, lead, n)
            for b in (make("f8", (n,)), make(dtype, (n, 3)), make("f4", (2, *lead, n, 1))):
                same(solve(a, b), np.linalg.solve(a, b))
            got, want = slogdet(a), np.linalg.slogdet(a)
            same(got.logabsdet, want.logabsdet)
            same(got.sign, want.sign)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (5, 5), (9, 4), (4, 9), (30, 20), (2, 6, 3)])
def test_qr(dtype, shape):
    a = make(dtype, shape)
    want = np.linalg.qr(a, "reduced")
    q, r = reduced(a)
    assert (q.shape, q.dtype, r.shape) == (want.Q.shape, want.Q.dtype, want.R.shape)
    np.testing.assert_allclose(q @ r, a, atol=near(q))
    np.testing.assert_allclose(
        adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), r.shape[:-2] + q.shape[-1:] * 2), atol=near(q)
    )
    np.testing.assert_array_equal(r, np.triu(r))
    full = complete(a)
    assert full.Q.shape == np.linalg.qr(a, "complete").Q.shape
    np.testing.assert_allclose(full.Q @ full.R, a, atol=near(q))
    np.testing.assert_allclose(np.abs(only_r(a)), np.abs(want.R), atol=near(q) * 10)
    h, tau = raw(a)
    assert (h.shape, tau.shape) == tuple(x.shape for x in np.linalg.qr(a, "raw"))
    np.testing.assert_allclose(np.triu(np.swapaxes(h, -1, -2))[..., : r.shape[-2], :], r, atol=near(q))


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("n", SIZES[1:])
def test_eigenvectors(dtype, n):
    for lead in LEADS:
        a = definite(dtype, lead, n)
        for w, v in (eigh(a), eigh_upper(a)):
            np.testing.assert_allclose(v * w[..., None, :] @ adjoint(v), a, atol=near(v) * 20 * n)
            np.testing.assert_allclose(adjoint(v) @ v, np.broadcast_to(np.eye(n), v.shape), atol=near(v))
        w, v = eig(a)
        np.testing.assert_allclose(a @ v, v * w[..., None, :], atol=near(v) * 20 * n)
        same(np.sort(eigvals(a).real), np.sort(np.linalg.eigvals(a).real))


def test_eigenvalues_of_a_general_matrix():
    a = make("f8", (12, 12))
    w, v = lh.njit(lambda a: np.linalg.eig(a.astype(np.complex128)))(a)
    np.testing.assert_allclose(a @ v, v * w, atol=1e-10)
    np.testing.assert_allclose(np.linalg.norm(v, axis=0), 1)
    for compiled in (lh.njit(lambda a: np.linalg.eig(a)), lh.njit(lambda a: np.linalg.eigvals(a))):
        with pytest.raises(ValueError, match="argument must not cause a domain change"):
            compiled(a)
    triangle = np.triu(a)
    np.testing.assert_allclose(np.sort(lh.njit(lambda a: np.linalg.eigvals(a))(triangle)), np.sort(np.diag(a)))


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("shape", [(1, 1), (8, 3), (3, 8), (30, 20), (0, 2), (2, 0)])
@pytest.mark.parametrize("rcond", [None, -1, 0.3])
def test_lstsq(dtype, shape, rcond):
    a = make(dtype, shape)
    if shape == (8, 3):
        a[:, 2] = a[:, 1]
    for b in (make("f8", shape[:1]), make(dtype, (shape[0], 2))):
        got, want = lstsq(a, b, rcond), np.linalg.lstsq(a, b, rcond)
        if rcond == -1 and shape == (8, 3):
            # Its rank is a matter of rounding.
            continue
        for x, y in zip(got, want, strict=True):
            same(x, y)


@pytest.mark.parametrize(
    "function, argument, error",
    [
        (lambda a: np.linalg.solve(a, a[0]), np.zeros((3, 3)), np.linalg.LinAlgError),
        (lambda a: np.linalg.inv(a), np.ones((20, 20)), np.linalg.LinAlgError),
        (lambda a: np.linalg.inv(a), np.ones((2, 3)), np.linalg.LinAlgError),
        (lambda a: np.linalg.det(a), np.ones((2, 3)), np.linalg.LinAlgError),
        (lambda a: np.linalg.cholesky(a), -np.eye(30), np.linalg.LinAlgError),
        (lambda a: np.linalg.cholesky(a), -np.eye(3), np.linalg.LinAlgError),
        (lambda a: np.linalg.eigvals(a), np.full((3, 3), np.nan), np.linalg.LinAlgError),
        (lambda a: np.linalg.eig(a), np.full((3, 3), np.inf), np.linalg.LinAlgError),
        (lambda a: np.linalg.svd(a)[1], np.full((20, 20), np.nan), np.linalg.LinAlgError),
        (lambda a: np.linalg.solve(a, a[0, :2]), np.eye(3), ValueError),
        (lambda a: np.linalg.lstsq(a, a[0, :2]), np.eye(3), np.linalg.LinAlgError),
        (lambda a: np.linalg.eigvalsh(a, "X"), np.eye(3), ValueError),
        (lambda a: np.linalg.inv(a), np.eye(3, dtype="f2"), TypeError),
    ],
)
def test_errors_are_numpys(function, argument, error):
    with pytest.raises(error) as want:
        function(argument)
    with pytest.raises(error) as got:
        lh.njit(function)(argument)
    assert str(got.value) == str(want.value)


@pytest.mark.parametrize("n", [3, 30])
def test_nan_and_infinity_end(n):
    a = np.eye(n)
    a[0, 1] = np.nan
    assert np.isnan(lh.njit(lambda a: np.linalg.det(a))(np.full((n, n), np.nan)))
    assert np.isnan(lh.njit(lambda a: np.linalg.solve(a, a[0]))(a)).any()
    assert lh.njit(lambda a: np.linalg.det(a))(np.zeros((n, n))) == 0
    assert lh.njit(lambda a: np.linalg.slogdet(a))(np.zeros((n, n))) == (0, -np.inf)
