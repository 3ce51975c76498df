"""Functions of `numpy.linalg` made of others, against NumPy: types, stacks, orders, strides, keywords, empties."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

import lancehead
from lib_cases import outcome, same

#: Expressions of `np` and a matrix `a`; `q` marks those of square ones.
OF_MATRICES = """
np.linalg.norm(a)
np.linalg.norm(a, 2), np.linalg.norm(a, -2), np.linalg.norm(a, "nuc"), np.linalg.norm(a, -np.inf)
np.linalg.norm(a, axis=(0, 1)), np.linalg.norm(a, "fro", keepdims=True), np.linalg.norm(a, 3, axis=0)
np.linalg.norm(a, "f", axis=(1, 0)), np.linalg.norm(a, -1, axis=(1, 0), keepdims=True)
np.linalg.matrix_norm(a, ord=1), np.linalg.vector_norm(a), np.linalg.vector_norm(a, axis=(0, 1), ord=1)
np.linalg.vector_norm(a, axis=0, keepdims=True, ord=0), np.linalg.vector_norm(a, ord=np.inf, keepdims=True)
np.linalg.svdvals(a), np.linalg.matrix_rank(a), np.linalg.matrix_rank(a, tol=1.0), np.linalg.matrix_rank(a, rtol=0.5)
np.linalg.pinv(a), np.linalg.pinv(a, 0.3), np.linalg.pinv(a, rtol=0.1)
np.linalg.cond(a), np.linalg.cond(a, -2)
np.linalg.matrix_transpose(a), np.linalg.diagonal(a, offset=1), np.linalg.trace(a), np.linalg.outer(a[0], a[1])
np.linalg.matmul(a, a.T), np.linalg.vecdot(a, a), np.linalg.tensordot(a, a, axes=((0,), (0,)))
np.trace(a, 1), np.diagonal(a, -1), np.kron(a, a[0])
np.cross(a[:3, :3], a[0, :3]), np.cross(a[:3, :3], a[1, :3], axisa=0, axisc=0), np.cross(a[:3, :2], a[:3, :3])
np.linalg.cross(a[:3, :3], a[:3, :3].T, axis=0)
np.linalg.multi_dot((a, a.T)), np.linalg.multi_dot((a[0], a.T, a, a[1])), np.linalg.multi_dot((a[0], a.T, a, a.T))
""".split("\n")[1:-1]
OF_SQUARE = """
np.linalg.cond(a, 1), np.linalg.cond(a, "fro"), np.linalg.cond(a, np.inf)
np.linalg.matrix_rank(a, hermitian=True), np.linalg.pinv(a, hermitian=True)
np.linalg.matrix_power(a, 0), np.linalg.matrix_power(a, 1), np.linalg.matrix_power(a, 5)
np.linalg.multi_dot((a, a, a)), np.linalg.multi_dot([a, a, a, a])
""".split("\n")[1:-1]
OF_STACKS = """
np.linalg.norm(a, axis=(-2, -1)), np.linalg.norm(a, 2, axis=(1, 3)), np.linalg.norm(a, axis=1)
np.linalg.norm(a, "nuc", axis=(2, 0), keepdims=True), np.linalg.matrix_norm(a, ord=1, keepdims=True)
np.linalg.vector_norm(a, axis=(0, 2)), np.linalg.vector_norm(a, axis=(2, 1), keepdims=True)
np.linalg.svdvals(a), np.linalg.matrix_rank(a), np.linalg.pinv(a), np.linalg.cond(a), np.linalg.cond(a, 1)
np.linalg.matrix_rank(a, tol=np.ones((2, 1))), np.linalg.pinv(a, np.array([0.1, 0.2, 0.5]))
np.linalg.matrix_transpose(a), np.linalg.diagonal(a, offset=-1), np.linalg.trace(a), np.linalg.matrix_power(a, 3)
np.matmul(a, a[0]), np.matmul(a[:, :1], a[:1]), a @ a[0, 0, 0], a[0, 0, 0] @ a, np.matmul(a, a[0, 0])
np.linalg.vecdot(a, a, axis=1), np.vecdot(a, a[0, 0]), np.matvec(a, a[0, 0, 0]), np.vecmat(a[0, 0, 0], a)
np.dot(a, a[0]), np.inner(a, a[0]), np.kron(a, a[0]), np.trace(a, 1, 2, 1), np.diagonal(a, 1, 3, 0), a.diagonal(1, 3, 0)
""".split("\n")[1:-1]
OTHERS = ["c8", "i8", "f4", "c16"]


def with_types(texts):
    """Each text with doubles, and with another type in turn."""
    return [(t, "f8") for t in texts] + [(t, OTHERS[i % 4]) for i, t in enumerate(texts)]


def function(text):
    file, source = f"<{text}>", f"def f(a): return {text}"
    linecache.cache[file] = (len(source), None, [source], file)
    names = {"np": np}
    exec(compile(source, file, "exec"), names)
    return names["f"]


def numbers(shape, dtype):
    rng = np.random.default_rng(3)
    a = rng.standard_normal(shape) * 3
    return (a + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else a).astype(dtype)


def agree(text, arrays, rtol):
    f = function(text)
    compiled = lancehead.njit(f)
    for a in arrays:
        want, got = outcome(f, a), outcome(compiled, a)
        parts = zip(want, got) if isinstance(want, tuple) and isinstance(got, tuple) else [(want, got)]
        for w, g in parts:
            g = np.asarray(g).astype(w.dtype)[()] if isinstance(w, np.generic) and not isinstance(g, np.ndarray) else g
            assert same(w, g, rtol), (text, a.dtype, a.shape, w, g)


def tolerance(dtype):
    return 2e-4 if np.dtype(dtype).itemsize == (8 if np.dtype(dtype).kind == "c" else 4) else 1e-9


@pytest.mark.parametrize("text, dtype", with_types(OF_MATRICES))
def test_of_matrices(text, dtype):
    a = numbers((7, 4), dtype)
    agree(text, [a, a[::-1]] if dtype != "f8" else [a, np.asfortranarray(a), a[::2, ::-1], a[:4]], tolerance(dtype))


@pytest.mark.parametrize("text, dtype", with_types(OF_SQUARE))
def test_of_square_matrices(text, dtype):
    a = numbers((4, 4), dtype)
    agree(text, [a] if dtype != "f8" else [a, a.T, a[:3, :3], a * 0], 10 * tolerance(dtype))


@pytest.mark.parametrize("text", OF_STACKS)
def test_of_stacks(text):
    agree(text, [numbers((2, 3, 4, 4), "f8"), numbers((2, 3, 4, 4), "c8")][: 1 + len(text) % 2], 2e-4)


def test_of_tensors():
    solve = lancehead.njit(lambda a, b: np.linalg.tensorsolve(a, b))
    moved = lancehead.njit(lambda a, b: np.linalg.tensorsolve(a, b, (0, 2)))
    inverse, first = (
        lancehead.njit(lambda a: np.linalg.tensorinv(a)),
        lancehead.njit(lambda a: np.linalg.tensorinv(a, 1)),
    )
    for dtype in ("f8", "c16", "i8"):
        a, b = numbers((2, 3, 6), dtype), numbers((2, 3), dtype)
        assert same(np.linalg.tensorsolve(a, b), solve(a, b), 1e-9)
        a, b = numbers((2, 6, 3), dtype), numbers((6,), dtype)
        assert same(np.linalg.tensorsolve(a, b, (0, 2)), moved(a, b), 1e-9)
        a = numbers((4, 6, 8, 3), dtype)
        assert same(np.linalg.tensorinv(a), inverse(a), 1e-8)
        a = numbers((24, 8, 3), dtype)
        assert same(np.linalg.tensorinv(a, 1), first(a), 1e-8)
    with pytest.raises(np.linalg.LinAlgError, match="must satisfy the requirement"):
        solve(numbers((2, 3, 5), "f8"), numbers((2, 3), "f8"))


@pytest.mark.parametrize(
    "text",
    [
        "np.linalg.norm(a, axis=(1, 1))", "np.linalg.norm(a, 7)", 'np.linalg.norm(a, "x", axis=0)',
        "np.linalg.matrix_rank(a, tol=1.0, rtol=1.0)", "np.linalg.pinv(a, 0.1, rtol=0.1)", "np.linalg.cond(a[:0])",
        "np.linalg.cond(a, 1)", "np.linalg.matrix_power(a, 2)", "np.linalg.cross(a, a)", "np.cross(a, a)",
        "np.diagonal(a, 0, 1, 1)", "np.linalg.tensorinv(a, 0)", "np.linalg.multi_dot([a])",
        "np.linalg.norm(a[:0], -np.inf)",
        "np.linalg.vecdot(a, a[:, :2])", "np.matmul(a, a)", "np.dot(a, a)",
    ],
)  # fmt: skip
def test_errors_are_numpys(text):
    a = numbers((3, 4), "f8")
    f = function(text)
    with pytest.raises((ValueError, np.linalg.LinAlgError)) as wanted:
        f(a)
    with pytest.raises(type(wanted.value)) as got:
        lancehead.njit(f)(a)
    assert str(got.value)[:40] == str(wanted.value)[:40]


def test_nothing_and_not_a_number():
    for text in ("np.linalg.pinv(a)", "np.linalg.norm(a, 1)", "np.linalg.norm(a, 2)", "np.linalg.matrix_rank(a.T)"):
        agree(text, [numbers((0, 3), "f8")], 1e-9)
    bad = np.array([[1.0, np.nan], [2.0, 3.0]])
    for text in ("np.linalg.norm(a, 1)", "np.linalg.norm(a, -1)", "np.linalg.norm(a, np.inf)", "np.linalg.cond(a, 1)"):
        agree(text, [bad, bad[::-1]], 1e-9)


def test_outputs():
    a, out = numbers((3, 3), "f8"), np.empty((3, 3))
    product = lancehead.njit(lambda a, out: np.linalg.multi_dot((a, a, a), out=out))
    assert same(np.linalg.multi_dot((a, a, a)), product(a, out)) and same(product(a, out), out)
    assert same(np.dot(a, a), lancehead.njit(lambda a, out: np.dot(a, a, out=out))(a, out))
    assert same(np.matmul(a, a), lancehead.njit(lambda a, out: np.matmul(a, a, out))(a, out))


@pytest.mark.parametrize("dtypes", [("f8", "f8"), ("f4", "f8"), ("c16", "c16"), ("f2", "f2"), ("i4", "i8")], ids=repr)
def test_products_of_stacks(dtypes):
    rng = np.random.default_rng(5)
    multiply = lancehead.njit(lambda a, b: a @ b)

    def stack(dtype, *shape):
        numbers = rng.integers(-9, 9, shape) + (1j * rng.integers(-9, 9, shape) if dtype == "c16" else 0)
        return numbers.astype(dtype)

    # Sizes below and above the limit of the loops, rests of four columns, empty ones.
    for m, n, k in [
        (1, 1, 1),
        (4, 4, 4),
        (3, 7, 2),
        (2, 9, 5),
        (12, 11, 13),
        (4, 1, 4),
        (1, 6, 3),
        (0, 3, 2),
        (2, 3, 0),
    ]:
        a, b = stack(dtypes[0], 3, m, k), stack(dtypes[1], 3, k, n)
        # Numbers that float16 and float32 hold: sums in any order are equal.
        for first, second in [(a, b), (a[:1], b), (a, b[:1]), (a[::-1], b), (a[:0], b[:0])]:
            assert same(first @ second, multiply(first, second))
        columns = np.ascontiguousarray(b.swapaxes(1, 2)).swapaxes(1, 2)
        assert same(a @ columns, multiply(a, columns))
        assert same(a[0] @ b, multiply(a[0], b))
        assert same(a @ b[0], multiply(a, b[0]))
        assert same(a[:, None] @ b, multiply(a[:, None], b))
    with pytest.raises(ValueError, match="broadcast"):
        multiply(stack(dtypes[0], 3, 2, 2), stack(dtypes[1], 2, 2, 2))


def test_products_of_complex_vectors():
    dot, vdot = lancehead.njit(lambda a, b: np.dot(a, b)), lancehead.njit(lambda a, b: np.vdot(a, b))
    rng = np.random.default_rng(1)
    for dtype, tolerance in ((np.complex64, 1e-5), (np.complex128, 1e-13)):
        for n in (0, 1, 2, 7, 64, 1000):
            a, b = (rng.standard_normal((2, 2 * n)) + 1j * rng.standard_normal((2, 2 * n))).astype(dtype)
            for x, y in ((a[:n], b[:n]), (a[::2], b[::-2]), (a[:n].real, b[:n]), (a[:n], b[:n].astype(np.complex128))):
                for compiled in (dot, vdot):
                    got, wanted = compiled(x, y), compiled.py_func(x, y)
                    assert abs(got - wanted) <= tolerance * max(1.0, np.abs(x) @ np.abs(y))
    assert np.isnan(vdot(np.array([np.nan + 0j, 1]), np.array([1, 1j])).real)
