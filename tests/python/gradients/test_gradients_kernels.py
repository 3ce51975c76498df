"""Derivatives of CUDA kernels, on the CPU device with and without the checker, and as PTX."""

import math

import numpy as np
import pytest

from differences import differences
from lancehead import cuda, float32, float64
from lancehead.errors import TypingError

THREADS = 16


@cuda.jit
def square(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] * x[i]


@cuda.jit
def heat(u, v, k):
    i = cuda.grid(1)
    if 0 < i < u.size - 1:
        v[i] = u[i] + k * (u[i - 1] - 2 * u[i] + u[i + 1]) * u[i]


@cuda.jit
def in_place(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = math.sin(x[i]) * x[i]


@cuda.jit
def reduced(x, out):
    shared = cuda.shared.array(THREADS, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    shared[t] = x[i] * x[i] if i < x.size else 0.0
    cuda.syncthreads()
    k = THREADS // 2
    while k > 0:
        if t < k:
            shared[t] = shared[t] * 1.5 + shared[t + k]
        cuda.syncthreads()
        k //= 2
    if t == 0:
        cuda.atomic.add(out, 0, math.sin(shared[0]))


@cuda.jit
def product(a, b, c):
    left = cuda.shared.array((8, 8), float32)
    right = cuda.shared.array((8, 8), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for i in range(3):
        left[tx, ty] = a[x, ty + i * 8]
        right[tx, ty] = b[tx + i * 8, y]
        cuda.syncthreads()
        for j in range(8):
            total += left[tx, j] * right[j, ty]
        cuda.syncthreads()
    c[x, y] = total


@cuda.jit
def own_memory(x, y):
    held = cuda.local.array(4, float64)
    i = cuda.grid(1)
    if i < x.size:
        for k in range(4):
            held[k] = x[i] ** (k + 1)
        held[0] = held[1] * held[3]
        y[i] = held[0] + held[2] * held[1]


@cuda.jit
def repeated(x, y):
    i = cuda.grid(1)
    if i < x.size:
        s = x[i]
        for _ in range(int(y[i])):
            s = math.sin(s) * x[i]
        y[i] = s


def normal(*shape):
    return np.random.default_rng(len(shape) + sum(shape)).normal(size=shape)


@pytest.fixture(params=[False, True], ids=["plain", "checked"])
def vjp(request):
    """`cuda.vjp`, with the checker of races and bounds or without it."""
    return lambda kernel: cuda.vjp(kernel, debug=request.param, opt=not request.param)


def test_a_map(vjp):
    x, y, gx, gy = np.arange(3.0), np.zeros(3), np.ones(3), np.array([1.0, 2.0, 3.0])
    vjp(square)[1, 32](x, y, gx, gy)
    # Adjoints of inputs are added to those that are there; those of outputs become those of what was overwritten.
    assert y.tolist() == [0, 1, 4] and gx.tolist() == [1, 5, 13] and gy.tolist() == [0, 0, 0]
    vjp(square)[1, 32](np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0))


def test_a_stencil_and_a_number(vjp):
    u, w = normal(100), normal(99)[:99]
    w = np.append(w, 0.5)
    gu, gv, gk = np.zeros(100), w.copy(), np.zeros(1)
    vjp(heat)[4, 32](u, np.zeros(100), 0.3, gu, gv, gk)

    def loss(u, k=0.3):
        v = np.zeros(100)
        v[1:-1] = u[1:-1] + k * (u[:-2] - 2 * u[1:-1] + u[2:]) * u[1:-1]
        return np.sum(v * w)

    np.testing.assert_allclose(gu, differences(loss, u), atol=1e-7)
    assert gk[0] == pytest.approx((loss(u, 0.3 + 1e-6) - loss(u, 0.3 - 1e-6)) / 2e-6, rel=1e-6)
    # An argument without an adjoint is not differentiated.
    again = np.zeros(100)
    vjp(heat)[4, 32](u, np.zeros(100), 0.3, again, w.copy(), None)
    np.testing.assert_allclose(again, gu, rtol=1e-12)


def test_in_place(vjp):
    x, g = normal(50), np.ones(50)
    at = x.copy()
    vjp(in_place)[2, 32](at, g)
    np.testing.assert_allclose(at, np.sin(x) * x, rtol=1e-12)
    np.testing.assert_allclose(g, np.cos(x) * x + np.sin(x), rtol=1e-12)


def test_shared_memory_and_atomic_sums(vjp):
    x, gx, out, go = normal(40), np.zeros(40), np.zeros(1), np.ones(1)
    vjp(reduced)[3, THREADS](x, out, gx, go)

    def loss(x):
        out = np.zeros(1)
        reduced[3, THREADS](x, out)
        return out[0]

    np.testing.assert_allclose(gx, differences(loss, x), atol=1e-7)
    assert go[0] == 1 and out[0] == pytest.approx(loss(x))


def test_products_by_tiles(vjp):
    a, b, g = (np.random.default_rng(n).normal(size=(24, 24)).astype(np.float32) for n in range(3))
    c, ga, gb = (np.zeros((24, 24), np.float32) for _ in range(3))
    w = g.copy()
    vjp(product)[(3, 3), (8, 8)](a, b, c, ga, gb, g)
    np.testing.assert_allclose(c, a @ b, rtol=2e-4, atol=1e-5)
    np.testing.assert_allclose(ga, w @ b.T, rtol=2e-4, atol=1e-5)
    np.testing.assert_allclose(gb, a.T @ w, rtol=2e-4, atol=1e-5)
    assert not g.any()


def test_local_memory(vjp):
    x = np.linspace(0.5, 1.5, 7)
    y, gx, gy = np.zeros(7), np.zeros(7), np.ones(7)
    vjp(own_memory)[1, 32](x, y, gx, gy)
    np.testing.assert_allclose(y, x**6 + x**5)
    np.testing.assert_allclose(gx, 6 * x**5 + 5 * x**4)


def test_loops_of_any_length(vjp):
    x, gx = np.linspace(0.1, 1, 4), np.zeros(4)
    vjp(repeated)[1, 4](x, np.full(4, 50.0), gx, np.ones(4))

    def loss(x):
        s = x
        for _ in range(50):
            s = np.sin(s) * x
        return np.sum(s)

    np.testing.assert_allclose(gx, differences(loss, x), atol=1e-7)
    with pytest.raises(RuntimeError, match="runs more than 512 times in a thread"):
        vjp(repeated)[1, 4](x, np.full(4, 5000.0), gx, np.ones(4))


@cuda.jit
def reversed_squares(x, y):
    shared = cuda.shared.array(0, float64)
    t = cuda.threadIdx.x
    shared[t] = x[t] * 2.0
    cuda.syncthreads()
    y[t] = shared[shared.size - 1 - t] ** 2


def test_shared_memory_of_the_launch(vjp):
    x, y, gx, gy = normal(8), np.zeros(8), np.zeros(8), np.arange(8.0)
    vjp(reversed_squares)[1, 8, 0, 8 * 8](x, y, gx, gy)
    np.testing.assert_allclose(y, (4 * x * x)[::-1])
    np.testing.assert_allclose(gx, 8 * x * np.arange(8.0)[::-1])


@cuda.jit
def relaxed(x):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    for _ in range(3):
        left = x[i - 1] if i > 0 else 0.0
        grid.sync()
        x[i] = math.sin(x[i]) + 0.5 * left
        grid.sync()


def test_barriers_of_the_grid(vjp):
    x, g = normal(16), np.ones(16)
    vjp(relaxed)[2, 8](x.copy(), g)

    def loss(x):
        for _ in range(3):
            x = np.sin(x) + 0.5 * np.concatenate(([0.0], x[:-1]))
        return np.sum(x)

    np.testing.assert_allclose(g, differences(loss, x), atol=1e-7)


def test_complex_numbers(vjp):
    @cuda.jit
    def squares(x, y):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            y[i] = (x[i] * x[i]).real + abs(x[i]) * 2.0

    x = normal(20) + 1j * normal(20)[::-1]
    gx = np.zeros(20, complex)
    vjp(squares)[2, 4](x, np.zeros(20), gx, np.ones(20))
    np.testing.assert_allclose(gx, 2 * x.conj() + 2 * x / np.abs(x))


def test_on_device_arrays():
    x, y, gx, gy = (cuda.to_device(a) for a in (np.arange(3.0), np.zeros(3), np.zeros(3), np.ones(3)))
    cuda.vjp(square)[1, 32](x, y, gx, gy)
    assert gx.copy_to_host().tolist() == [0, 2, 4]


@pytest.mark.parametrize("kernel", [square, reduced], ids=lambda k: k.py_func.__name__)
def test_ptx(kernel):
    types = "void(float64[::1], float64[::1], float64[::1], float64[::1])"
    ptx, _ = cuda.compile_ptx(cuda.vjp(kernel).dispatcher.py_func, types, cc=(9, 0))
    assert "atom" in ptx or "red." in ptx
    # A kernel without shared memory needs no barrier.
    assert ("bar.sync" in ptx) == (kernel is reduced)


@cuda.jit
def shuffles(x, y):
    t = cuda.threadIdx.x
    v = x[t] * x[t]
    full = 0xFFFFFFFF
    y[0, t] = cuda.shfl_sync(full, v, (t * 7 + 3) % 32)
    y[1, t] = cuda.shfl_up_sync(full, v, 3)
    y[2, t] = cuda.shfl_down_sync(full, v, 5)
    y[3, t] = cuda.shfl_xor_sync(full, v, 6)
    y[4, t] = cuda.shfl_sync(full, v, 9)
    # The distance may differ from lane to lane.
    y[5, t] = cuda.shfl_up_sync(full, v, t - t // 2)
    if t < 8:
        y[6, t] = cuda.shfl_xor_sync(0xFF, v, 1) * cuda.shfl_down_sync(0xFF, v, 1 - t // 4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_shuffles(vjp, dtype):
    t = np.arange(32)
    of = [(t * 7 + 3) % 32, np.where(t >= 3, t - 3, t), np.where(t < 27, t + 5, t), t ^ 6, np.full(32, 9), t // 2]
    x, w = normal(32), normal(7, 32)

    def loss(x):
        v = x * x
        s = sum(np.sum(w[k] * v[source]) for k, source in enumerate(of))
        return s + np.sum(w[6, :8] * v[t[:8] ^ 1] * v[t[:8] + 1 - t[:8] // 4])

    gx, gy = np.zeros(32, dtype), w.astype(dtype)
    vjp(shuffles)[1, 32](x.astype(dtype), np.zeros((7, 32), dtype), gx, gy)
    np.testing.assert_allclose(gx, differences(loss, x), atol=1e-6 if dtype == np.float64 else 1e-3)


@cuda.jit
def summed_by_warps(x, out):
    i = cuda.grid(1)
    v = math.sin(x[i]) if i < x.size else 0.0
    k = 16
    while k > 0:
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, k) * 0.5
        k //= 2
    if cuda.any_sync(0xFFFFFFFF, v > 1e9):
        v *= 2.0
    if cuda.laneid == 0:
        cuda.atomic.sub(out, 0, v * v)


@cuda.jit
def combined_by_blocks(x, y):
    i = cuda.grid(1)
    v = x[i] * x[i]
    total = cuda.block.sum(v)
    before = cuda.block.scan(x[i], lambda a, b: a + b)
    y[i] = total * before + cuda.warp.sum(x[i])


def test_sums_of_warps_and_blocks(vjp):
    x, out, gx, go = normal(50), np.zeros(1), np.zeros(50), np.ones(1)
    vjp(summed_by_warps)[2, 32](x, out, gx, go)

    def loss(x):
        out = np.zeros(1)
        summed_by_warps[2, 32](x, out)
        return out[0]

    np.testing.assert_allclose(gx, differences(loss, x), atol=1e-6)
    x, w = normal(96), np.cos(np.arange(96.0))
    gx = np.zeros(96)
    vjp(combined_by_blocks)[2, 48](x, np.zeros(96), gx, w.copy())

    def combined(x):
        y = np.zeros(96)
        combined_by_blocks[2, 48](x, y)
        return np.sum(y * w)

    np.testing.assert_allclose(gx, differences(combined, x), atol=1e-5)


@cuda.jit
def extremes(x, out, total):
    shared = cuda.shared.array(1, float64)
    if cuda.threadIdx.x == 0:
        shared[0] = -10.0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.max(out, 0, x[i] * x[i])
        cuda.atomic.min(out, 1, x[i])
        cuda.atomic.nanmax(shared, 0, math.sin(x[i]))
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(total, 0, shared[0])


def test_extremes(vjp):
    x, w = normal(70), np.array([2.0, 3.0])
    gx, go, out, total = np.zeros(70), w.copy(), np.zeros(2), np.zeros(1)
    vjp(extremes)[3, 16](x, out, total, gx, go, np.full(1, 5.0))

    def loss(x, out):
        total = np.zeros(1)
        extremes[3, 16](x, out, total)
        return np.sum(out * w) + 5.0 * total[0]

    left = np.zeros(2)
    loss(x, left)
    assert out.tolist() == left.tolist()
    np.testing.assert_allclose(gx, differences(lambda x: loss(x, np.zeros(2)), x), atol=1e-7)
    # Threads have given the extremes, not what was there before.
    assert go.tolist() == [0.0, 0.0]
    gx, go = np.zeros(70), w.copy()
    vjp(extremes)[3, 16](x, np.array([1e3, -1e3]), np.zeros(1), gx, go, np.zeros(1))
    assert go.tolist() == [2.0, 3.0] and not gx.any()
    # One of the threads that gave the extreme has its adjoint.
    gx = np.zeros(4)
    vjp(extremes)[1, 4](np.array([3.0, -3.0, 1.0, 3.0]), np.array([9.0, -5.0]), np.zeros(1), gx, w.copy(), np.zeros(1))
    assert sorted(np.abs(gx)) == [0, 0, 0, 12]


@pytest.mark.parametrize("kernel", [summed_by_warps, extremes], ids=lambda k: k.py_func.__name__)
def test_ptx_of_warps_and_extremes(kernel):
    arrays = 4 if kernel is summed_by_warps else 6
    types = f"void({', '.join(['float64[::1]'] * arrays)})"
    ptx, _ = cuda.compile_ptx(cuda.vjp(kernel).dispatcher.py_func, types, cc=(9, 0))
    assert ("shfl.sync" in ptx) == (kernel is summed_by_warps)
    assert ("exch" in ptx) == (kernel is extremes)


def test_refusals():
    @cuda.jit
    def swapped(x, y):
        cuda.atomic.exch(y, 0, x[cuda.threadIdx.x])

    with pytest.raises(TypingError, match="order in which threads"):
        cuda.vjp(swapped)[1, 32](np.ones(32), np.ones(1), np.ones(32), np.ones(1))

    @cuda.jit
    def used_again(x, y):
        cuda.atomic.max(y, 0, x[cuda.threadIdx.x])
        cuda.syncthreads()
        y[0] = y[0] * 2.0

    with pytest.raises(TypingError, match="is written again"):
        cuda.vjp(used_again)[1, 32](np.ones(32), np.ones(1), np.ones(32), np.ones(1))
    with pytest.raises(TypeError, match="the adjoint of each"):
        cuda.vjp(square)[1, 32](np.ones(3), np.ones(3), np.ones(3))
