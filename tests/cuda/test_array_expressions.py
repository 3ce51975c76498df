"""NumPy's functions of small arrays in kernels: the CPU device gives what NumPy gives, lifted PTX the same bits,
without a heap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import linalg

from both_ways import both
from corpus import Kernel
from lancehead import cuda, errors

F4, F8, I4, C16 = np.float32, np.float64, np.int32, np.complex128
Expression = Callable[..., Any]


def kernel(f: Expression, width: int, dtype: Any) -> Kernel:
    """Stores `f` of two local arrays of 4 elements in a row for each thread."""

    def k(x, out):
        i = cuda.threadIdx.x
        a, b = cuda.local.array(4, dtype), cuda.local.array(4, dtype)
        a[:] = x[i, :4]
        b[:] = x[i, 4:]
        out[i, :width] = f(a, b)

    name = np.dtype(dtype).name
    arguments = lambda rng: ((9 * rng.random((8, 8)) + 1).astype(dtype), np.zeros((8, width), dtype))
    return Kernel(k, f"void({name}[:, ::1], {name}[:, ::1])", 1, 8, arguments)


def updated(a, b):
    c = a * b
    a += c
    a[1:3] -= b[:2]
    a[::2] *= 3
    return a


def shifted(a, b):
    a[1:] = a[:-1] + b[1:]
    a[:] = a[::-1] + b
    return a


def made(a, b):
    c, d, e = np.zeros(4), np.full((2, 2), 2.5), np.ones_like(a)
    for i in range(4):
        c[i] += a[i]
    d[0] = b[:2]
    return c + d.ravel() * e + np.arange(4) + np.linspace(0, 1, 4)


def stepped(a, b):
    for _ in range(5):
        r = np.sqrt(np.sum(a * a))
        b += -a / (r * r * r)
        a += 0.01 * b
    return a


def sorted_in_place(a, b):
    a.sort()
    return a + b[np.argsort(b)]


def blended(a, b):
    m, w = a.reshape(2, 2), b[:2]
    return (m * w + w[:, None] * m.T - (m + 1)).ravel()


def iterated(a, b):
    m, v = a.reshape(2, 2), b[2:]
    for _ in range(4):
        v[:] = m @ v
        v /= np.sqrt(v @ v)
    return v


def thirds(a, b):
    a[a > 5] = 0
    return np.round(a, 1) + np.clip(b, 2, 7) + np.floor(a) ** 2


EXPRESSIONS: dict[str, tuple[Expression, int, Any]] = {
    "updated": (updated, 4, F8), "shifted": (shifted, 4, F8), "shifted_f4": (shifted, 4, F4), "made": (made, 4, F8),
    "stepped": (stepped, 4, F8),
    "sorted": (sorted_in_place, 4, F8), "sorted_i4": (sorted_in_place, 4, I4), "blended": (blended, 4, F4),
    "iterated": (iterated, 2, F8),
    "thirds": (thirds, 4, F8), "where": (lambda a, b: np.where(a > b, a, b), 4, F8),
    "where_0": (lambda a, b: np.where(a > 5, a, 0), 4, F4),
    "std": (lambda a, b: np.std(a) + b.var(), 1, F8), "mean": (lambda a, b: a.mean() + np.average(b), 1, F4),
    "dot": (lambda a, b: np.dot(a, b) + a @ a, 1, F8),
    "dot_complex": (lambda a, b: np.dot(a * 1j, b) + np.vdot(a, b), 1, C16),
    "complex": (lambda a, b: a * np.conj(b) + np.exp(1j * a).real, 4, C16),
    "product": (lambda a, b: (a.reshape(2, 2) @ b.reshape(2, 2)).ravel(), 4, F8),
    "product_t": (lambda a, b: (a.reshape(2, 2).T @ b.reshape(2, 2)).ravel(), 4, F4),
    "product_c": (lambda a, b: (a.reshape(2, 2) @ b.reshape(2, 2).T).ravel(), 4, C16),
    "product_i": (lambda a, b: (a.reshape(2, 2) @ b.reshape(2, 2)).ravel(), 4, I4),
    "outer": (lambda a, b: np.outer(a[:2], b[:2]).ravel(), 4, F8),
    "cross": (lambda a, b: np.cross(a[:3], b[:3]), 3, F8),
    "sum_axis": (lambda a, b: a.reshape(2, 2).sum(axis=0) + np.sum(b.reshape(2, 2), axis=1), 2, F8),
    "max_axis": (lambda a, b: a.reshape(2, 2).max(axis=1), 2, F8),
    "std_axis": (lambda a, b: np.std(a.reshape(2, 2), axis=0), 2, F8),
    "argmin": (lambda a, b: np.argmin(a) + 10 * b.argmax() + 100 * np.ptp(a), 1, F8),
    "argmin_axis": (lambda a, b: np.argmin(a.reshape(2, 2), axis=0), 2, F8),
    "median": (lambda a, b: np.median(a) + np.percentile(b, 30.0), 1, F8),
    "cumsum": (lambda a, b: np.cumsum(a) + b.cumprod(), 4, F8), "diff": (lambda a, b: np.diff(a), 3, F8),
    "prod": (lambda a, b: np.prod(a) - np.min(b), 1, F8),
    "joined": (lambda a, b: np.concatenate((a[:2], b[:2])) + np.stack((a, b))[1] + np.vstack((a, b))[0], 4, F8),
    "moved": (lambda a, b: np.roll(a, 1) + np.flip(b), 4, F8),
    "copied": (lambda a, b: a.copy() + b.astype(np.float32) + a.reshape(2, 2).T.flatten(), 4, F8),
    "truth": (lambda a, b: np.any(a > 8) + 2 * np.all(b > 2) + 4 * np.count_nonzero(a > 5) + (b > 5).sum(), 1, F8),
    "nans": (lambda a, b: np.nansum(a) + np.nanmax(b) + np.nanmean(a), 1, F8),
    "norm": (lambda a, b: np.linalg.norm(a) * b, 4, F8),
    "interp": (lambda a, b: np.interp(1.5, np.arange(4.0), a) + np.polyval(b, 0.5), 1, F8),
    "integers": (lambda a, b: a // b + (a % b << 2), 4, I4),
    "solved": (lambda a, b: np.linalg.solve(a.reshape(2, 2) + 9 * np.eye(2), b[:2]) + np.linalg.det(a.reshape(2, 2))
               + np.trace(b.reshape(2, 2)), 2, F8),
    "inverse": (lambda a, b: (np.linalg.inv(a.reshape(2, 2) + 9 * np.identity(2))
                              @ np.array(((1.0, 2.0), (3.0, 4.0)))).ravel(), 4, F8),
    "factored": (lambda a, b: linalg.lu_solve(linalg.lu_factor(a.reshape(2, 2)), b[:2])
                 + linalg.solve_triangular(a.reshape(2, 2), b[:2], lower=True), 2, F8),
    "positive": (lambda a, b: linalg.cho_solve(linalg.cho_factor(a.reshape(2, 2) + 9 * np.eye(2)), b[:2])
                 + linalg.solve(a.reshape(2, 2) + 9 * np.eye(2), b[:2], assume_a="pos"), 2, F8),
    "exponential": (lambda a, b: linalg.expm(a.reshape(2, 2) / 9).ravel(), 4, F8),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_small_arrays_compute_the_same_without_a_heap(name: str) -> None:
    f, width, dtype = EXPRESSIONS[name]
    k = kernel(f, width, dtype)
    (x, _), (direct, lifted) = both(k)
    expected = np.zeros((8, width), dtype)
    for i, row in enumerate(x):
        expected[i] = f(row[:4].copy(), row[4:].copy())
    np.testing.assert_allclose(direct, expected, rtol=1e-5 if dtype == F4 else 1e-11)
    assert np.array_equal(direct, lifted)
    assert ".extern" not in cuda.compile_ptx(k.function, k.signature, cc=(7, 5))[0]


def test_rows_of_arguments() -> None:
    def k(x, out):
        i = cuda.threadIdx.x
        out[i] = x[i] * 2 + x[i, 0]
        out[i, :4] = x[i, 4:] + np.sin(x[i, :4])
        out[i] += 1
        out[i, 0] = np.max(x[i, 2:5]) + np.std(x[i]) + np.dot(x[i], x[i])

    signature = "void(float64[:, ::1], float64[:, ::1])"
    (x, _), (direct, lifted) = both(Kernel(k, signature, 1, 8, lambda rng: (rng.random((8, 8)), np.zeros((8, 8)))))
    expected = x * 2 + x[:, :1]
    expected[:, :4] = x[:, 4:] + np.sin(x[:, :4])
    expected += 1
    expected[:, 0] = np.max(x[:, 2:5], axis=1) + np.std(x, axis=1) + np.sum(x * x, axis=1)
    np.testing.assert_allclose(direct, expected, rtol=1e-14)
    assert np.array_equal(direct, lifted)


def test_rows_that_overlap_raise() -> None:
    from lancehead import _core

    def k(x, n):
        x[1 : n + 1] = x[:n] * 2

    made = _core.compile_ptx(k, "void(float64[::1], int64)", "k", (9, 0), debug=True)
    assert ("ValueError", "what is read is overwritten", k.__code__.co_firstlineno + 1) in [
        (c, text, line) for c, text, _, _, line in made.raise_sites
    ]


def test_messages_keep_what_is_constant() -> None:
    from lancehead import _core

    def k(a, n):
        if n > 3:
            raise ValueError("too far: " + str(n) + " of " + str(a.size))
        b = cuda.local.array(3, np.float64)
        b[:] = a

    sites = _core.compile_ptx(k, "void(float64[::1], int64)", "k", (9, 0), debug=True).raise_sites
    assert [(c, text) for c, text, *_ in sites] == [
        ("ValueError", "too far: ... of ..."),
        ("ValueError", "operands could not be broadcast together"),
    ]


def test_functions_of_the_program_make_arrays() -> None:
    def scaled(a, b):
        return a * 2 + b

    device = cuda.jit(device=True)(scaled)
    f = lambda a, b: device(a, b)
    direct, lifted = both(kernel(f, 4, F8))[1]
    assert np.array_equal(direct, lifted) and direct.all()


def test_sizes_that_are_not_known_are_refused() -> None:
    def of_rows(x, out):
        out[0] = (x * x).sum()

    def found(x, out):
        a = cuda.local.array(4, np.float64)
        a[:] = x[0]
        out[0] = np.nonzero(a)[0][0]

    for function in (of_rows, found):
        with pytest.raises(errors.TypingError, match="a GPU cannot make new arrays") as refused:
            cuda.compile_ptx(function, "void(float64[::1], float64[::1])")
        assert "test_array_expressions.py" in str(refused.value) and "known while compiling" in str(refused.value)
