"""Functions of `scipy.linalg` against SciPy: types, orders, strides, stacks, keywords, empties, errors, refusals."""

from __future__ import annotations

import fractions
import linecache
import warnings

import numpy as np
import pytest
import scipy.linalg as la

import lancehead
from lib_cases import same

#: Expressions of a square matrix `a`, which has a dominant diagonal, and right-hand sides `b`. Results that are
#: determined up to signs or phases are made independent of them.
OF_SQUARE = """
la.solve(a, b), la.solve(a, b[:, 0], overwrite_a=True, overwrite_b=True), la.inv(a, overwrite_a=True), la.det(a, True)
la.lu_solve(la.lu_factor(a), b[:, 0]), la.cho_solve(la.cho_factor(a), b[:, 1]), la.cho_factor(a, True)[0], la.lu(a)
la.solve_triangular(a, b[:, 1], trans="T"), la.solve_triangular(a, b, trans="C", lower=True), la.cholesky(a), la.inv(a)
la.eigvalsh(a), la.eigvalsh(a, subset_by_index=(1, 2)), la.eigvalsh(a, subset_by_value=(9.0, 60.0), lower=False)
eigen(la.eigh(a)), eigen(la.eigh(a, lower=False, subset_by_index=[0, 1], driver="evr")), la.eigh(a, eigvals_only=True)
eigen(la.eigh(a, a @ a.conj().T)), eigen(la.eigh(a, a @ a.T.conj(), lower=False, type=len(b) % 3 + 1))
np.sort_complex(la.eigvals(a)), la.eigvals(a, homogeneous_eigvals=True)[1], fits(a, la.eig(a))
np.sort_complex(la.eig(a, right=False)), np.sort_complex(la.eigvals(np.triu(a) - np.triu(a, 1).T))
""".split("\n")[1:-1]
#: Expressions of any matrix.
OF_MATRICES = """
la.lu(a), la.lu(a, True), la.lu(a, p_indices=True), la.lu_factor(a), la.lu(np.array([[0, 1, 2], [0, 3, 4]]))
la.svdvals(a), la.svd(a, compute_uv=False), restored(la.svd(a)), restored(la.svd(a, False, lapack_driver="gesvd"))
product(la.qr(a)), product(la.qr(a, mode="economic")), np.abs(la.qr(a, mode="r")[0]), np.abs(la.qr(a)[1])
la.pinv(a), la.pinv(a, rtol=0.4), la.pinv(a, atol=5.0, return_rank=True), la.orth(a).shape, la.null_space(a[:2]).shape
la.lstsq(a, a[:, :2])[0], la.lstsq(a, a[:, 0])[::2], la.lstsq(a, (a * a).real, cond=0.3, lapack_driver="gelss")[::2]
la.norm(a), la.norm(a[0]), la.norm(a, 1), la.norm(a, np.inf), la.norm(a, "fro"), la.norm(a, axis=0, keepdims=True)
la.norm(a, 2), la.norm(a[0], 3), la.norm(a, "nuc"), la.norm(a, -1, axis=(0, 1)), la.norm(a, check_finite=False)
la.block_diag(a, a[0], 2, [[1.5]], a.T), la.block_diag(), la.toeplitz(a[0], a[1]), la.toeplitz(a[0]), la.hankel(a[0])
la.hankel(a[0], a[1]), la.circulant(a), la.circulant(a[0]), la.companion(a + 9), la.companion(a[0] + 9), la.hilbert(4)
la.solve_toeplitz(a[0] + 40 * (np.arange(a.shape[1]) == 0), a[1]), la.solve_toeplitz((a[0] + 70, a[1]), a.T[:, :2])
la.solveh_banded(a + 60 * (np.arange(len(a)) == 0)[:, None], a[0], lower=True), la.solve_banded((0, 1), a[:2] + 5, a.T)
la.solve_banded((1, 1), a[:3] + 9, a[0]), la.solve_banded((len(a) - 1, 0), a + 5, a[1])
la.solveh_banded(a + 60 * (np.arange(len(a)) == len(a) - 1)[:, None], a[1]), la.solveh_banded(a[:1] + 20, a.T)
la.solve_banded((0, 0), a[:1], a.T), la.solve_banded((2, 0), a[:3] + 9, a.T)
""".split("\n")[1:-1]
OF_STACKS = """
la.solve(a, b), la.solve(a, b[0]), la.solve(a[0, 0], b), la.solve(a, b[0, :, 0]), la.inv(a), la.det(a)
la.lu(a), la.lu(a, permute_l=True)[0], la.lu(a, p_indices=True)[0], la.cholesky(a), la.expm(a / 99)
la.solve_triangular(a, b), la.solve_triangular(a[0], b[0, :, 0], lower=True), la.cho_solve((a, True), b[0])
la.lu_factor(a)[1], la.lu_solve((la.lu_factor(a)[0], la.lu_factor(a)[1]), b), la.pinv(a), la.svdvals(a)
la.eigvalsh(a), np.sort_complex(la.eigvals(a)), la.svd(a)[1], la.eigh(a)[0], la.eig(a)[1].shape, la.qr(a)[0].shape
""".split("\n")[1:-1]
#: Types of elements, each with an order of `in_order`.
KINDS = [("f8", 0), ("c16", 1), ("f4", 2), ("f8", 1), ("c8", 2), ("i8", 1), ("f8", 2), ("c16", 0), ("i1", 2)]
STRUCTURES = [
    "gen",
    "banded",
    "sym",
    "hermitian",
    "pos",
    "diagonal",
    "tridiagonal",
    "upper triangular",
    "lower triangular",
]
TOLERANCE = {4: 2e-4, 8: 1e-10}


def restored(parts):
    u, s, vh = parts
    return (u[:, : s.size] * s) @ vh[: s.size], s, u.shape, vh.shape


def product(parts):
    return parts[0] @ parts[1], parts[0].shape, parts[1].shape


def eigen(parts):
    # Columns up to signs.
    return parts[0], np.abs(parts[1])


def fits(a, parts):
    w, v = parts
    return np.max(np.abs(a @ v - v * w)) < 1e-3 * np.max(np.abs(w)), np.round(np.sum(np.abs(v) ** 2, axis=0), 3)


def function(text, parameters="a, b"):
    file, source = f"<{text}>", f"def f({parameters}): return {text}"
    linecache.cache[file] = (len(source), None, [source], file)
    names = {"np": np, "la": la, "restored": restored, "product": product, "eigen": eigen, "fits": fits}
    exec(compile(source, file, "exec"), names)
    return names["f"]


def numbers(shape, dtype, seed=3):
    rng = np.random.default_rng(seed)
    a = np.round(rng.random(shape) * 9)
    return (a + 1j * np.round(rng.random(shape) * 9) if np.dtype(dtype).kind == "c" else a).astype(dtype)


def dominant(shape, dtype):
    # Not symmetric, but either triangle is that of a positive definite matrix.
    a = numbers(shape, dtype)
    size = 60 if np.dtype(dtype).itemsize == 1 else 9 * shape[-1] + 30
    i = np.arange(shape[-1])
    a[..., i, i] = size + i
    return a if np.dtype(dtype).itemsize > 1 else np.triu(np.tril(a, 2), -2)


def close(want, got, text, a):
    if isinstance(want, (tuple, list)):
        assert isinstance(got, (tuple, list)) and len(want) == len(got), text
        for w, g in zip(want, got):
            close(w, g, text, a)
        return
    w, g = np.asarray(want), np.asarray(got)
    if isinstance(want, (np.generic, float, complex)):
        g = g.astype(w.dtype)
    assert w.dtype == g.dtype and w.shape == g.shape, (text, a.dtype, a.shape, w.dtype, g.dtype, w.shape, g.shape)
    if w.dtype.kind not in "fc":
        assert np.array_equal(w, g), (text, a.dtype, w, g)
        return
    single = "f4" in str(w.dtype.str) or "c8" in w.dtype.str or a.dtype.str[1:] in ("f4", "c8", "i1")
    rtol = TOLERANCE[4 if single else 8]
    np.testing.assert_allclose(g, w, rtol, rtol * np.abs(w).max(initial=0.0), err_msg=f"{text} {a.dtype} {a.shape}")


def agree(text, arguments):
    f = function(text)
    compiled = lancehead.njit(f)
    for a, b in arguments:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            # SciPy may overwrite its operands.
            want = f(np.copy(a), np.copy(b))
        close(want, compiled(a, b), text, a)


def with_types(texts):
    """Each text with a type of elements and an order in turn."""
    return [(t, *KINDS[i % len(KINDS)]) for i, t in enumerate(texts)]


def in_order(a, order):
    """The same matrix by rows, by columns, or by rows with gaps in reverse."""
    if order == 1:
        return np.asfortranarray(a)
    if order == 2:
        wide = np.zeros((2 * a.shape[0], *a.shape[1:]), a.dtype)
        wide[::2] = a[::-1]
        return wide[::2][::-1]
    return a


@pytest.mark.parametrize("text, dtype, order", with_types(OF_SQUARE))
def test_square(text, dtype, order):
    arrays = [(dominant((n, n), dtype), numbers((n, 3), dtype, 5)) for n in (3, 21, 5)]
    agree(text, [(in_order(a, order), in_order(b, order)) for a, b in arrays])


@pytest.mark.parametrize("text, dtype, order", with_types(OF_MATRICES))
def test_matrices(text, dtype, order):
    shapes = [(4, 4), (4, 7), (18, 20)] if "banded" in text or "toeplitz" in text else [(5, 3), (3, 5), (19, 18)]
    agree(text, [(in_order(numbers(s, dtype, 4), order), None) for s in shapes])


@pytest.mark.parametrize("dtype", ["f8", "c16"])
def test_structures(dtype):
    f = lambda a, b, kind, lower, turned: la.solve(a, b, lower, assume_a=kind, transposed=turned)
    g = lambda a, kind, lower: la.inv(a, assume_a=kind, lower=lower)
    solve, inv = lancehead.njit(f), lancehead.njit(g)
    for n in (3, 21):
        a, b = dominant((n, n), dtype), numbers((n, 3), dtype, 5)
        for kind in STRUCTURES:
            for lower in (False, True):
                for turned in (False, True) if dtype == "f8" else (False,):
                    close(f(a, b, kind, lower, turned), solve(a, b, kind, lower, turned), kind, a)
                if kind not in ("banded", "tridiagonal", "diagonal", "hermitian"):
                    close(g(a, kind, lower), inv(a, kind, lower), kind, a)


@pytest.mark.parametrize("dtype", ["f8", "c16"])
def test_triangles(dtype):
    def f(a, b, trans, lower, unit):
        x = la.solve_triangular(a, b, trans, lower, unit)
        y = la.lu_solve(la.lu_factor(a), b, trans)
        return x, y, la.cholesky(a, lower), la.cho_factor(a, lower), la.cho_solve(la.cho_factor(a, lower), b)

    compiled = lancehead.njit(f)
    for n in (3, 21):
        a, b = dominant((n, n), dtype), numbers((n, 3), dtype, 5)
        for trans in (0, 1, 2):
            for lower in (False, True):
                for unit in (False, True):
                    close(f(a / 50, b, trans, lower, unit), compiled(a / 50, b, trans, lower, unit), "triangles", a)


@pytest.mark.parametrize("dtype", ["f8", "c16", "f4"])
def test_exponentials(dtype):
    expm = lancehead.njit(lambda a: la.expm(a))
    rng = np.random.default_rng(2)
    for n in (1, 2, 5, 25):
        for size in (0.0, 0.02, 0.2, 1.0, 3.0, 10.0, 40.0):
            a = rng.standard_normal((n, n)) + (1j * rng.standard_normal((n, n)) if dtype == "c16" else 0)
            a = (a * (size / np.sqrt(n))).astype(dtype)
            for x in (a, np.triu(a), np.tril(a), np.diag(np.diag(a))):
                got, want = expm(x), la.expm(x)
                assert got.dtype == want.dtype
                assert (
                    np.abs(got - want).max() <= (1e-4 if dtype == "f4" else 1e-13) * (1 + size) * np.abs(want).max()
                ), (size, n)


@pytest.mark.parametrize("text, dtype", [(t, KINDS[i][0]) for i, t in enumerate(OF_STACKS)])
def test_stacks(text, dtype):
    agree(text, [(dominant((2, 3, n, n), dtype), numbers((3, n, 2), dtype)) for n in (2, 3)])


#: Calls that raise, with the operands.
BAD = [
    ("la.solve(a, b)", [((2, 3), (2,)), ((2, 2), (3,)), ((2, 2), (3, 1)), ("nan", (2,)), ("singular", (2,))]),
    ("la.solve(a, b, assume_a='pos')", [("singular", (2,)), ("negative", (2,))]),
    ("la.solve(a, b, assume_a='what')", [((2, 2), (2,))]),
    ("la.solve(a, b, assume_a='upper triangular')", [("singular upper", (2,))]),
    ("la.solve(a + 1j, b, transposed=True)", [((2, 2), (2,))]),
    ("la.inv(a)", [((2, 3), (2,)), ("nan", (2,)), ("singular", (2,)), ("zero", (2,))]),
    ("la.inv(a, assume_a='what')", [((2, 2), (2,))]),
    ("la.det(a)", [((2, 3), (2,)), ("nan", (2,))]),
    ("la.lu(a)", [("nan", (2,))]),
    ("la.lu_factor(a)", [("nan", (2,)), ((0, 2, 2), (2,))]),
    ("la.lu_solve(la.lu_factor(a), b)", [((2, 2), (3,)), ((2, 2), "nan")]),
    ("la.lu_solve(la.lu_factor(a), b, trans=b.size)", [((3, 3), (3,))]),
    ("la.cholesky(a)", [((2, 3), (2,)), ("nan", (2,)), ("negative", (2,)), ("second", (2,)), ((0, 2, 2), (2,))]),
    ("la.cho_factor(a, lower=True)", [("negative", (2,)), ("late", (2,))]),
    ("la.cho_solve((a, True), b)", [((2, 3), (2,)), ((2, 2), (3,)), ((2, 2), "nan"), ("nan", (2,))]),
    ("la.solve_triangular(a, b)", [((2, 3), (2,)), ((2, 2), (3,)), ("nan", (2,)), ("singular upper", (2,))]),
    ("la.expm(a)", [((2, 3), (2,))]),
    ("la.svd(a)", [("nan", (2,))]),
    ("la.svd(a, lapack_driver='what')", [((2, 2), (2,))]),
    ("la.qr(a, mode='what')", [((2, 2), (2,))]),
    ("la.eigh(a)", [((2, 3), (2,)), ("nan", (2,))]),
    ("la.eigh(a, subset_by_index=(1, 2))", [((2, 2), (2,))]),
    ("la.eigh(a, subset_by_value=(2.0, 1.0))", [((2, 2), (2,))]),
    ("la.eigh(a, a - a)", [((2, 2), (2,))]),
    ("la.eigvalsh(a, driver='gv')", [((2, 2), (2,))]),
    ("la.eig(a)", [((2, 3), (2,)), ("nan", (2,))]),
    ("la.eigvals(a)", [((2, 3), (2,))]),
    ("la.pinv(a, rtol=-1.0)", [((2, 2), (2,))]),
    ("la.norm(a)", [("nan", (2,))]),
    ("la.lstsq(a, b)", [((2, 2), (3,)), ("nan", (2,))]),
    ("la.lstsq(a, b, lapack_driver='what')", [((2, 2), (2,))]),
    ("la.solve_banded((1, 0), a, b)", [((2, 2), (3,)), ((3, 2), (2,)), ("zero", (2,)), ("nan", (2,))]),
    ("la.solveh_banded(a, b)", [((2, 2), (3,)), ("zero", (2,))]),
    ("la.solve_toeplitz(b, a)", [((2, 2), (3,)), ((2, 2), "zero")]),
    ("la.companion(b)", [((2, 2), (1,)), ((2, 2), "zero")]),
]
NAMED = {
    "nan": np.array([[np.nan, 1.0], [2.0, 3.0]]), "singular": np.array([[1.0, 2.0], [2.0, 4.0]]),
    "singular upper": np.array([[1.0, 2.0], [5.0, 0.0]]), "negative": np.array([[-1.0, 0.0], [0.0, 2.0]]),
    "second": np.array([[1.0, 2.0], [2.0, 1.0]]), "zero": np.zeros((2, 2)),
    "late": np.eye(20) - 2 * np.diag(np.arange(20) == 17),
}  # fmt: skip


def operand(x, rank):
    if isinstance(x, str):
        return np.array(NAMED[x] if rank == 2 else NAMED[x][0])
    return np.ones(x) + 2 * np.eye(*x[-2:]) if len(x) > 1 else np.ones(x)


def raised(f, a, b):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f(a, b)
        except Exception as e:
            return e


@pytest.mark.parametrize("text, operands", BAD)
def test_errors(text, operands):
    f = function(text)
    compiled = lancehead.njit(f)
    for x, y in operands:
        a, b = operand(x, 2), operand(y, 1)
        want, got = raised(f, a, b), raised(compiled, a, b)
        assert isinstance(want, Exception) and isinstance(got, Exception), (text, x, y, want, got)
        if "flapack" not in str(type(want)):
            assert type(got) is type(want), (text, x, y, repr(want), repr(got))
            facts = [w for w in str(want).split() if any(c.isdigit() for c in w)]
            said = "eigenvalue" in str(want) or all(w.strip("(),[]") in str(got) for w in facts)
            assert said, (text, str(want), str(got))
        else:
            assert isinstance(got, ValueError)


@pytest.mark.parametrize(
    "text, message",
    [
        ("la.qr(a, pivoting=True)", "pivoting"),
        ("la.eig(a, left=True)", "left"),
        ("la.eig(a, a)", "takes one matrix"),
        ("la.eigvals(a, a)", "takes one matrix"),
        ("la.lstsq(a, b, lapack_driver='gelsy')", "gelsy"),
        ("la.lu(b)", "matrix"),
        ("la.svd(b)", "matrix"),
        ("la.orth(a[None])", "one matrix"),
        ("la.cho_factor(a[None])", "one matrix"),
        ("la.toeplitz(a)", "vectors"),
        ("la.block_diag(a[None])", "stack"),
        ("la.schur(a)", "schur"),
    ],
)
def test_what_is_refused_is_named(text, message):
    with pytest.raises(lancehead.errors.TypingError, match=message):
        lancehead.njit(function(text))(np.eye(2), np.ones(2))


def test_empty_matrices():
    none, flat = np.zeros((0, 0)), np.zeros((0, 3))
    texts = [
        "la.solve(a, b), la.det(a), la.lu(b), la.lu_factor(b)[1], la.cholesky(a), la.expm(a)",
        "la.svd(a)[1], la.svdvals(b), la.qr(b), la.pinv(b), la.eigvalsh(a), la.eigvals(a), la.lstsq(b, b)[0]",
    ]
    for text in texts:
        agree(text, [(none, flat)])


def test_numbers_as_matrices():
    agree("la.solve(a, b)", [(np.array([[4.0]]), np.arange(3.0)), (np.array([[4.0]]), np.arange(1.0))])
    agree("la.cholesky(b)", [(np.eye(1), np.array([4.0]))])


def test_infinities_pass_without_the_check():
    a = np.array([[np.inf, 1.0], [2.0, 3.0]])
    f = function("la.lu(a, check_finite=False)[2], la.solve_triangular(a, b, lower=True, check_finite=False)")
    with np.errstate(all="ignore"):
        want = f(a, np.ones(2))
    assert same(want, lancehead.njit(f)(a, np.ones(2)))


def test_exponentials_of_triangles_are_exact():
    """SciPy's results are wrong here: powers of a nilpotent matrix that is far from normal are added exactly."""
    a = np.triu(np.round(np.random.default_rng(0).standard_normal((16, 16)) * 80), 1)
    exact = np.array([[fractions.Fraction(int(x)) for x in row] for row in a], dtype=object)
    term = total = np.array([[fractions.Fraction(int(i == j)) for j in range(16)] for i in range(16)], dtype=object)
    for k in range(1, 16):
        term = term.dot(exact) / k
        total = total + term
    want = total.astype(float)
    expm = lancehead.njit(lambda a: la.expm(a))
    for got in (expm(a), expm(np.ascontiguousarray(a.T)).T):
        assert np.abs(got - want).max() < 1e-13 * np.abs(want).max()


def test_exponential_of_what_is_not_finite():
    expm = lancehead.njit(lambda a: la.expm(a))
    with np.errstate(all="ignore"):
        for a in (
            np.array([[np.nan, 1.0], [1.0, 1.0]]),
            np.diag([np.nan, -np.inf]),
            np.array([[1000.0, 1.0], [1.0, 1.0]]),
        ):
            np.testing.assert_array_equal(expm(a), la.expm(a))
    assert np.isnan(expm(np.array([[np.inf, 1.0], [1.0, 1.0]]))).all()


def test_eigenvectors_are_complex():
    """SciPy gives real ones if all eigenvalues are real: the type depends on the values."""
    w, v = lancehead.njit(lambda a: la.eig(a))(np.array([[2.0, 1.0], [1.0, 2.0]]))
    assert w.dtype == v.dtype == np.complex128
    assert not w.imag.any() and not v.imag.any()
    w, v = lancehead.njit(lambda a: la.eig(a))(np.array([[0.0, 1.0], [-1.0, 0.0]]))
    np.testing.assert_allclose(np.array([[0.0, 1.0], [-1.0, 0.0]]) @ v, v * w, atol=1e-15)
    assert sorted(w.imag) == [-1.0, 1.0]


def test_residuals_of_a_vector_are_an_array():
    a, b = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]), np.array([1.0, 0.0, 2.0])
    got, want = lancehead.njit(lambda a, b: la.lstsq(a, b))(a, b), la.lstsq(a, b)
    np.testing.assert_allclose(got[1], [want[1]])
    assert got[2] == want[2]


def test_diagonals_of_hermitian_matrices_count_as_real():
    a = numbers((20, 20), "c16")
    for f in (lambda a: np.linalg.eigvalsh(a), lambda a: la.eigh(a, lower=False)[0]):
        np.testing.assert_allclose(lancehead.njit(f)(a), f(a), atol=1e-12)
