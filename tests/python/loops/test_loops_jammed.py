"""Loops of which several iterations run together: the same results to the last bit, whatever the sizes and the
memory."""

import numpy as np
import pytest

from lancehead import njit

SIZES = [0, 1, 7, 8, 9, 40, 67]


def matmul(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


def matmul_in_place(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def rows(a, out):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
        out[i] = s


def columns(a, out):
    for j in range(a.shape[1]):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j]
        out[j] = s


def convolution(a, k, out):
    n = k.shape[0]
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            s = 0.0
            for p in range(n):
                for q in range(n):
                    s += a[i + p, j + q] * k[p, q]
            out[i, j] = s


compiled = {f: njit(f) for f in (matmul, matmul_in_place, rows, columns, convolution)}


def agree(f, *args):
    ours, theirs = [a.copy(order="K") for a in args], [a.copy(order="K") for a in args]
    compiled[f](*ours)
    f(*theirs)
    assert all(np.array_equal(x, y) for x, y in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n", SIZES)
def test_sizes_and_orders(n, order):
    rng = np.random.default_rng(n)
    a, b = rng.random((n, n + 1)).copy(order), rng.random((n + 1, n)).copy(order)
    for f in (matmul, matmul_in_place):
        agree(f, a, b, np.zeros((n, n), order=order))
    agree(rows, a, np.zeros(n))
    agree(columns, a, np.zeros(n + 1))
    agree(convolution, rng.random((n + 2, n + 2)).copy(order), rng.random((3, 3)), np.zeros((n, n), order=order))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, np.complex128])
def test_types(dtype):
    rng = np.random.default_rng(3)
    a, b, c = (
        rng.integers(0, 5, (20, 21)).astype(dtype),
        rng.integers(0, 5, (21, 22)).astype(dtype),
        np.zeros((20, 22), dtype),
    )
    compiled[matmul_in_place](a, b, c)
    assert np.array_equal(c, a @ b)


def test_results_over_operands():
    rng = np.random.default_rng(4)
    k = rng.random((3, 3))
    for n in SIZES:
        ours = rng.random((n + 2, n + 2))
        theirs = ours.copy()
        compiled[convolution](ours, k, ours[:n, :n])
        convolution(theirs, k, theirs[:n, :n])
        assert np.array_equal(ours, theirs)
        ours = rng.random((n, n)) / (n + 1)
        theirs = ours.copy()
        compiled[matmul_in_place](ours, ours, ours)
        matmul_in_place(theirs, theirs, theirs)
        assert np.array_equal(ours, theirs)


def test_exceptions_come_after_what_was_before():
    a, b, c = np.ones((9, 9)), np.ones((8, 9)), np.zeros((9, 9))
    with pytest.raises(IndexError):
        compiled[matmul](a, b, c)
    assert (c == 0).all()


def test_short_sums_in_any_order_run_together():
    fast = njit(fastmath=True)(rows)
    for columns_ in (*range(10), 100):
        for n in SIZES:
            a, out, expected = np.arange(n * columns_, dtype=float).reshape(n, columns_), np.zeros(n), np.zeros(n)
            fast(a, out)
            rows(a, expected)
            assert np.array_equal(out, expected)
