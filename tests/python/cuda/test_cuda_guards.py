"""Branches on a thread's index: loops over threads end where a branch ends them, and checks of indices go by
branches."""

import numpy as np
import pytest

from lancehead import cuda

LIMITS = [-(2**63), -5, -1, 0, 1, 3, 63, 64, 65, 127, 128, 190, 191, 192, 193, 2**31, 2**63 - 1]
COMPARISONS = ["<", "<=", ">", ">=", "==", "!="]


def by_comparison(template):
    """A kernel for each comparison."""
    kernels = {}
    for op in COMPARISONS:
        names = {"cuda": cuda}
        exec(compile(template.replace("OP", op), "guards.py", "exec"), names)
        kernels[op] = names["k"]
    return kernels


def truth(op, a, b):
    """The comparison, by NumPy."""
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}[op]


ONE_WAY = """
@cuda.jit
def k(out, m):
    i = cuda.grid(1)
    if i OP m:
        out[i] = i + 1
"""
BOTH_WAYS = """
@cuda.jit
def k(out, m):
    i = cuda.grid(1)
    if i OP m:
        out[i] = i + 1
    else:
        out[i] = -i
"""
TURNED = """
@cuda.jit
def k(out, m):
    if not m OP cuda.threadIdx.x:
        out[cuda.grid(1)] = 7
"""


@pytest.mark.parametrize("template", [ONE_WAY, BOTH_WAYS, TURNED])
def test_threads_beyond_a_limit(template):
    i = np.arange(192)
    for op, kernel in by_comparison(template).items():
        for m in LIMITS:
            out = np.zeros(192, np.int64)
            kernel[3, 64](out, m)
            taken = truth(op, i, m)
            if template is ONE_WAY:
                want = np.where(taken, i + 1, 0)
            elif template is BOTH_WAYS:
                want = np.where(taken, i + 1, -i)
            else:
                want = np.where(~truth(op, np.int64(m), i % 64), 7, 0)
            assert (out == want).all(), (op, m)


@cuda.jit
def edges(u, out, k):
    i = cuda.grid(1)
    n = u.size
    if i < n:
        if i == 0:
            out[i] = u[i]
        elif i == n - 1:
            out[i] = u[i] * k
        else:
            out[i] = u[i] + k * (u[i - 1] - 2 * u[i] + u[i + 1])


@pytest.mark.parametrize("n", [0, 1, 2, 3, 63, 64, 65, 129, 200])
@pytest.mark.parametrize("shape", [(4, 64), (1, 256), (13, 16), (1, (64, 2))])
def test_edges(n, shape):
    u, out = np.arange(n) ** 2.0, np.full(n, -1.0)
    want = out.copy()
    x = shape[1] if isinstance(shape[1], int) else shape[1][0]
    for i in range(min(n, shape[0] * x)):
        if i == 0:
            want[i] = u[i]
        elif i == n - 1:
            want[i] = u[i] * 0.25
        else:
            want[i] = u[i] + 0.25 * (u[i - 1] - 2 * u[i] + u[i + 1])
    edges[shape](u, out, 0.25)
    assert (out == want).all()


@cuda.jit
def plane(a, w, h):
    x, y = cuda.grid(2)
    if x < w and y < h:
        a[y, x] += x + 1000 * y


@pytest.mark.parametrize("size", [(0, 5), (5, 0), (1, 1), (16, 8), (17, 9), (31, 33)])
def test_plane(size):
    w, h = size
    a = np.zeros((h, w), np.int64)
    plane[(2, 5), (16, 8)](a, w, h)
    y, x = np.mgrid[:h, :w]
    assert (a == np.where((x < 32) & (y < 40), x + 1000 * y, 0)).all()
    if w and h:
        with pytest.raises(IndexError, match=r"tid=.*out of bounds"):
            plane[(3, 6), (16, 8)](a, w + 1, h)


@cuda.jit
def tree(a, out):
    s = cuda.shared.array(128, np.int64)
    t = cuda.threadIdx.x
    s[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    k = cuda.blockDim.x // 2
    while k > 0:
        if t < k:
            s[t] += s[t + k]
        cuda.syncthreads()
        k //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@pytest.mark.parametrize("threads", [1, 2, 8, 64, 128])
def test_tree(threads):
    a, out = np.arange(5 * threads) ** 2, np.zeros(5, np.int64)
    tree[5, threads](a, out)
    assert (out == a.reshape(5, -1).sum(1)).all()
    with pytest.raises(IndexError, match=r"ctaid=\[5, 0, 0\]"):
        tree[6, threads](a, np.zeros(6, np.int64))


@cuda.jit
def matrix(a, b, c):
    x, y = cuda.grid(2)
    total = 0.0
    last = -1
    for k in range(a.shape[1]):
        total += a[y, k] * b[k, x]
        if a[y, k] > 0.5:
            last = k
    c[y, x] = total + last


@pytest.mark.parametrize("n", [0, 1, 5, 40])
@pytest.mark.parametrize("block", [(16, 4), (7, 3), (64, 1)])
def test_loops_that_all_threads_go_through_alike(n, block):
    rng = np.random.default_rng(n)
    a, b = rng.random((block[1], n)), rng.random((n, 2 * block[0]))
    c, want = np.zeros((block[1], 2 * block[0])), np.zeros((block[1], 2 * block[0]))
    for k in range(n):
        want += a[:, k, None] * b[k]
    last = np.where((a > 0.5).any(1), n - 1 - np.argmax(a[:, ::-1] > 0.5, axis=1), -1) if n else np.full(block[1], -1)
    matrix[(2, 1), block](a, b, c)
    np.testing.assert_allclose(c, want + last[:, None], rtol=1e-13)
    if n:
        with pytest.raises(IndexError, match=r"ctaid=\[2, 0, 0\].*axis 1"):
            matrix[(3, 1), block](a, b, c)


@cuda.jit
def steps(a, out, n, stop):
    i = cuda.grid(1)
    before, now = 0, 1
    for k in range(n):
        before, now = now, (before + now) % 1000
        for j in range(k, n + 1):
            if k == stop:
                break
            now ^= j
    if i < out.size:
        out[i] = now * a[i] + before


@pytest.mark.parametrize("n", [0, 1, 7, 40])
@pytest.mark.parametrize("stop", [-1, 3])
def test_loops_in_loops(n, stop):
    a, out, want = np.arange(100), np.zeros(100, np.int64), np.zeros(100, np.int64)
    before, now = 0, 1
    for k in range(n):
        before, now = now, (before + now) % 1000
        for j in range(k, n + 1):
            if k == stop:
                break
            now ^= j
    steps[2, 64](a, out, n, stop)
    want[:] = now * a + before
    assert (out == want).all()


@cuda.jit
def swap(a, n):
    t = cuda.threadIdx.x
    x, y = a[0, t], a[1, t]
    k = 0
    while k < n:
        x, y = y, x + k
        k += 1
        cuda.syncthreads()
    a[0, t], a[1, t] = x, y


@pytest.mark.parametrize("n", [0, 1, 2, 33])
def test_values_change_places(n):
    a = np.arange(128).reshape(2, 64)
    x, y = a.copy()
    for k in range(n):
        x, y = y, x + k
    swap[1, 64](a, n)
    assert (a == [x, y]).all()


@cuda.jit
def walls(u, v, steps):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    for s in range(steps):
        if s % 2 == 0:
            a, b = u, v
        else:
            a, b = v, u
        if i == 0 or i == u.size - 1:
            b[i] = a[i]
        else:
            b[i] = a[i] + (a[i - 1] - 2 * a[i] + a[i + 1]) / 4
        grid.sync()


@pytest.mark.parametrize("shape", [(1, 32), (4, 64), (3, 20)])
@pytest.mark.parametrize("steps", [0, 1, 6, 7])
def test_branches_that_all_threads_take_alike(shape, steps):
    n = shape[0] * shape[1]
    u, v = np.random.default_rng(n).random(n), np.zeros(n)
    a, b = u.copy(), np.zeros(n)
    for _ in range(steps):
        b[[0, -1]] = a[[0, -1]]
        b[1:-1] = a[1:-1] + (a[:-2] - 2 * a[1:-1] + a[2:]) / 4
        a, b = b, a
    walls[shape](u, v, steps)
    np.testing.assert_allclose(v if steps % 2 else u, a, rtol=1e-14)
    if steps:
        with pytest.raises(IndexError):
            walls[shape](np.zeros(n - 1), np.zeros(n - 1), steps)
        with pytest.raises(IndexError):
            walls[shape](np.zeros(n), np.zeros(n - 1), steps)


def own_sums(size):
    @cuda.jit
    def k(a, out, n):
        i = cuda.grid(1)
        own = cuda.local.array(size, np.int64)
        for j in range(size):
            own[j] = i + j
        for j in range(n):
            own[j % size] += a[j] * i
        if n % 2 == 0:
            own[0] += n
        else:
            own[1] -= i
        total = 0
        for j in range(size):
            total = total * 3 + own[j]
        out[i] = total

    return k


@pytest.mark.parametrize("n", [0, 1, 6, 45])
@pytest.mark.parametrize("size", [3, 32, 33])
@pytest.mark.parametrize("shape", [(1, 32), (3, 20)])
def test_arrays_of_threads_outlive_what_all_threads_go_through_alike(shape, size, n):
    a, out, i = np.arange(5, n + 5), np.zeros(shape[0] * shape[1], np.int64), np.arange(shape[0] * shape[1])
    own_sums(size)[shape](a, out, n)
    own = i + np.arange(size)[:, None]
    for j in range(n):
        own[j % size] += a[j] * i
    if n % 2 == 0:
        own[0] += n
    else:
        own[1] -= i
    total = np.zeros_like(i)
    for x in own:
        total = total * 3 + x
    assert (out == total).all()
