"""Blocks of a grid on the pool: results, exceptions, printing and atomics are those of blocks one after the other."""

import numpy as np
import pytest

import lancehead
from lancehead import cuda


@pytest.fixture(autouse=True, params=[1, 2])
def threads(request):
    """Runs a test on one thread and on several."""
    if request.param > lancehead.config.NUMBA_NUM_THREADS:
        pytest.skip("the pool has fewer threads")
    lancehead.set_num_threads(request.param)
    yield request.param
    lancehead.set_num_threads(lancehead.config.NUMBA_NUM_THREADS)


@cuda.jit
def steps(out, n):
    i = cuda.grid(1)
    total = 0
    for k in range(n):
        total += (i * k) % 7
    out[i] = total


def test_every_block_runs_once():
    out = np.zeros(1000 * 64, np.int64)
    steps[1000, 64](out, 50)
    i, k = np.arange(out.size)[:, None], np.arange(50)
    assert (out == (i * k % 7).sum(1)).all()


@cuda.jit
def counts(bins, order):
    own = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    if t < 8:
        own[t] = 0
    cuda.syncthreads()
    for _ in range(10):
        cuda.atomic.add(own, t % 8, 1)
    cuda.syncthreads()
    if t < 8:
        cuda.atomic.add(bins, t, own[t])
    cuda.atomic.max(order, 0, cuda.blockIdx.x)
    cuda.atomic.add(order, 1, 1)
    cuda.atomic.sub(order, 2, 1)
    cuda.atomic.xor(order, 3, cuda.blockIdx.x)
    cuda.atomic.or_(order, 4, 1 << (cuda.blockIdx.x % 16))
    cuda.atomic.and_(order, 5, ~(1 << (cuda.blockIdx.x % 16)))


def test_atomics_lose_nothing():
    bins, order = np.zeros(8, np.int32), np.zeros(6, np.int64)
    order[5] = -1
    counts[3000, 32](bins, order)
    assert (bins == 3000 * 40).all()
    assert order.tolist() == [2999, 3000 * 32, -3000 * 32, 0, 0xFFFF, -0x10000]


@cuda.jit
def shared_atomics(out, floats):
    ints = cuda.shared.array(10, np.int32)
    unsigned = cuda.shared.array(4, np.uint32)
    doubles = cuda.shared.array(6, np.float64)
    t = cuda.threadIdx.x
    if t == 0:
        for i in range(10):
            ints[i] = 7
        for i in range(4):
            unsigned[i] = 7
        for i in range(6):
            doubles[i] = 0.5
        doubles[4] = np.nan
        doubles[5] = np.nan
    cuda.syncthreads()
    cuda.atomic.add(ints, 0, t)
    cuda.atomic.sub(ints, 1, t)
    cuda.atomic.max(ints, 2, t)
    cuda.atomic.min(ints, 3, -t)
    cuda.atomic.and_(ints, 4, 6)
    cuda.atomic.or_(ints, 5, t)
    cuda.atomic.xor(ints, 6, t)
    cuda.atomic.exch(ints, 7, t)
    cuda.atomic.cas(ints, 8, t, 100)
    cuda.atomic.compare_and_swap(ints[9:], 7, 3)
    cuda.atomic.inc(unsigned, 0, 9)
    cuda.atomic.dec(unsigned, 1, 9)
    cuda.atomic.max(unsigned, 2, 0xFFFFFFF0)
    cuda.atomic.min(unsigned, 3, 3)
    cuda.atomic.add(doubles, 0, 1.0)
    cuda.atomic.max(doubles, 1, float(t))
    cuda.atomic.min(doubles, 2, -float(t))
    cuda.atomic.max(doubles, 3, np.nan)
    cuda.atomic.nanmax(doubles, 4, float(t))
    cuda.atomic.max(doubles, 5, 1.0)
    cuda.syncthreads()
    if t < 10:
        out[t] = ints[t]
    if t < 4:
        out[10 + t] = unsigned[t]
    if t < 6:
        floats[t] = doubles[t]


def test_atomics_on_shared_memory():
    out, floats = np.zeros(14, np.int64), np.zeros(6)
    shared_atomics[1, 48](out, floats)
    n, total = 48, sum(range(48))
    xor = 7
    for t in range(n):
        xor ^= t
    ring = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    up, down = 7, 7
    for _ in range(n):
        up = 0 if up >= 9 else up + 1
        down = 9 if down == 0 or down > 9 else down - 1
    assert up in ring and down in ring
    assert out.tolist() == [7 + total, 7 - total, 47, -47, 6, 63, xor, 47, 100, 3, up, down, 0xFFFFFFF0, 3]
    np.testing.assert_equal(floats, [48.5, 47.0, -47.0, 0.5, 47.0, np.nan])


def test_the_first_block_that_raises_counts():
    @cuda.jit
    def late(a, first):
        for _ in range(100):
            if cuda.blockIdx.x >= first:
                a[cuda.threadIdx.x + 8] = 1.0

    for first in (0, 700, 1023):
        with pytest.raises(IndexError, match=rf"tid=\[0, 0, 0\] ctaid=\[{first}, 0, 0\]"):
            late[1024, 32](np.zeros(8), first)


def test_geometry_is_printed_as_a_tuple(capsys):
    @cuda.jit
    def kernel():
        print(cuda.threadIdx, "of", cuda.blockDim)

    kernel[1, (2, 1, 2)]()
    assert sorted(capsys.readouterr().out.splitlines()) == [
        "(0, 0, 0) of (2, 1, 2)",
        "(0, 0, 1) of (2, 1, 2)",
        "(1, 0, 0) of (2, 1, 2)",
        "(1, 0, 1) of (2, 1, 2)",
    ]


def test_printing_keeps_the_order_of_blocks(capsys):
    @cuda.jit
    def tells():
        if cuda.threadIdx.x == 0:
            print("block", cuda.blockIdx.x)

    tells[300, 64]()
    assert capsys.readouterr().out == "".join(f"block {i}\n" for i in range(300))


def product(a, b, c):
    x, y = cuda.grid(2)
    total = c[y, x]
    for k in range(24):
        total += a[y, k] * b[k, x]
    c[y, x] = total


@pytest.mark.parametrize("block", [(16, 16), (32, 6), (17, 7), (5, 3), (40, 1)])
def test_rows_of_threads_that_run_together_give_what_each_gives(block):
    rng = np.random.default_rng(1)
    shape = 2 * block[1], 3 * block[0]
    a, b = rng.random((shape[0], 24)).astype(np.float32), rng.random((24, shape[1])).astype(np.float32)
    got, want = np.ones(shape, np.float32), np.ones(shape, np.float32)
    cuda.jit(product)[(3, 2), block](a, b, got)
    cuda.jit(debug=True)(product)[(3, 2), block](a, b, want)
    assert (got == want).all() and np.allclose(got, 1 + a @ b)


@cuda.jit
def turns(out, n):
    t = cuda.threadIdx.x
    own = cuda.shared.array(32, np.int64)
    own[t] = t
    a, b, c = t, 2 * t, 0
    for i in range(n):
        cuda.syncthreads()
        next_one = own[(t + 1) % 32]
        cuda.syncthreads()
        own[t] = next_one + i
        if i % 3 != 0:
            a, b = b, a + next_one
        cuda.syncthreads()
        c += a
    out[t, 0], out[t, 1], out[t, 2] = a, b, c


def test_values_that_change_places_between_barriers():
    out = np.zeros((32, 3), np.int64)
    turns[1, 32](out, 10)
    own, t = np.arange(32), np.arange(32)
    a, b, c = t, 2 * t, 0 * t
    for i in range(10):
        next_one = np.roll(own, -1)
        own = next_one + i
        if i % 3:
            a, b = b, a + next_one
        c = c + a
    assert (out == np.stack([a, b, c], 1)).all()


@pytest.mark.parametrize("setter", [1, 20, 40, 255])
def test_a_thread_waits_for_what_a_later_one_of_its_block_does(setter):
    @cuda.jit
    def by_atomics(flag, out):
        i = cuda.threadIdx.x
        if i == 0:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            out[0] = flag[1]
        elif i == setter:
            flag[1] = 42
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)

    @cuda.jit
    def by_reading(flag, out):
        i = cuda.threadIdx.x
        if i == 0:
            while cuda.ldcv(flag, 0) == 0:
                cuda.nanosleep(10)
            out[0] = flag[1]
        elif i == setter:
            flag[1] = 42
            cuda.threadfence()
            cuda.stwt(flag, 0, 1)

    for kernel in (by_atomics, by_reading):
        out = np.zeros(1, np.int32)
        kernel[1, 256](np.zeros(2, np.int32), out)
        assert out[0] == 42


@cuda.jit
def neighbours(a, out):
    tile = cuda.shared.array((18, 18), np.float64)
    own = cuda.local.array((5, 3), np.int64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y + 1, x + 1] = a[y + 1, x + 1]
    if y == 0:
        tile[y, x + 1], tile[y + 17, x + 1] = a[y, x + 1], a[y + 17, x + 1]
    for i in range(2, 7):
        own[i - 2, 1] = i + x
    cuda.syncthreads()
    total = tile[y, x + 1] + tile[y + 2, x + 1]
    for i in range(-1, 4):
        total += own[i + 1, 1]
    # From the end, and of what the index alone would be far outside.
    out[y, x] = total + tile[x - 17, y + 1] + tile[(y + 2**40) + (1 - 2**40), x + 1]


def test_rows_a_constant_away():
    a, out = np.random.default_rng(1).random((18, 18)), np.zeros((16, 16))
    neighbours[1, (16, 16)](a, out)
    x = np.arange(16)
    want = a[:16, 1:17] + a[2:, 1:17] + (20 + 5 * x)[None, :] + a[1:17, 1:17].T + a[1:17, 1:17]
    assert np.allclose(out, want)
