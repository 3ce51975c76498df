"""Kernels on the CPU device: geometry, memory, barriers, warps."""

import numpy as np
import pytest

from lancehead import cuda, errors

TPB = 16


@cuda.jit
def vector_add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


@cuda.jit
def increment(a):
    x, y = cuda.grid(2)
    if x < a.shape[0] and y < a.shape[1]:
        a[x, y] += 1


@cuda.jit
def shared_matmul(a, b, c):
    sa = cuda.shared.array((TPB, TPB), np.float32)
    sb = cuda.shared.array((TPB, TPB), np.float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0.0)
    for i in range(cuda.gridDim.x):
        sa[ty, tx] = a[y, tx + i * TPB] if y < a.shape[0] and tx + i * TPB < a.shape[1] else 0
        sb[ty, tx] = b[ty + i * TPB, x] if x < b.shape[1] and ty + i * TPB < b.shape[0] else 0
        cuda.syncthreads()
        for j in range(TPB):
            total += sa[ty, j] * sb[j, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


@cuda.jit
def block_sum(a, out):
    shared = cuda.shared.array(256, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    shared[t] = a[i] if i < a.size else 0
    cuda.syncthreads()
    k = 128
    while k > 0:
        if t < k:
            shared[t] += shared[t + k]
        cuda.syncthreads()
        k //= 2
    if t == 0:
        cuda.atomic.add(out, 0, shared[0])


@cuda.jit
def heat(now, after, steps):
    i = cuda.grid(1)
    grid = cuda.cg.this_grid()
    for _ in range(steps):
        if i == 0 or i == now.size - 1:
            after[i] = now[i]
        elif i < now.size:
            after[i] = now[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1])
        grid.sync()
        now, after = after, now


@pytest.mark.parametrize("n", [0, 1, 255, 256, 1000])
def test_vector_add(n):
    a, b, out = np.random.rand(n), np.random.rand(n), np.zeros(n)
    vector_add[max(1, (n + 255) // 256), 256](a, b, out)
    assert (out == a + b).all()
    out[:] = 0
    vector_add.forall(n)(a, b, out)
    assert (out == a + b).all()


def test_increment_in_two_dimensions():
    a = np.zeros((33, 65))
    increment[(3, 5), (16, 16)](a)
    assert (a == 1).all()


@pytest.mark.parametrize("n", [16, 50, 64])
def test_shared_matmul(n):
    a, b = np.random.rand(2, n, n).astype(np.float32)
    c = np.zeros((n, n), np.float32)
    blocks = (n + TPB - 1) // TPB
    shared_matmul[(blocks, blocks), (TPB, TPB)](a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4)


def test_block_sum():
    a, out = np.random.rand(1000).astype(np.float32), np.zeros(1, np.float32)
    block_sum[4, 256](a, out)
    np.testing.assert_allclose(out[0], a.sum(), rtol=1e-5)


def test_heat_with_a_grid_barrier():
    now, after = np.zeros(256), np.zeros(256)
    now[128] = 1
    want = now.copy()
    heat[4, 64](now, after, 10)
    for _ in range(10):
        next_ = want.copy()
        next_[1:-1] = want[1:-1] + 0.25 * (want[:-2] - 2 * want[1:-1] + want[2:])
        want = next_
    np.testing.assert_allclose(now, want)


def test_warps_exchange():
    @cuda.jit
    def sums(a):
        i = cuda.grid(1)
        v = a[i]
        offset = 16
        while offset > 0:
            v += cuda.shfl_down_sync(0xFFFFFFFF, v, offset)
            offset //= 2
        if cuda.laneid == 0:
            a[i] = v

    a = np.arange(64, dtype=np.int32)
    sums[1, 64](a)
    assert a[0] == sum(range(32)) and a[32] == sum(range(32, 64))


def test_an_index_out_of_range_is_an_error_by_default() -> None:
    @cuda.jit
    def beyond(a):  # type: ignore[no-untyped-def]
        a[cuda.grid(1) + 5] = 1.0

    with pytest.raises(IndexError, match=r"index 8 is out of bounds for axis 0 with size 8"):
        beyond[1, 32](np.zeros(8))


def test_a_kernel_with_a_result_is_refused_before_it_is_made():
    def choose(c):
        if c:
            x = 3

            def inner(y):
                return y + x

            return inner(1)
        return 2

    with pytest.raises(errors.TypingError, match="a kernel returns nothing"):
        cuda.jit("void(int64)")(choose)


def test_integers_beyond_a_parameters_type_give_their_low_bits():
    @cuda.jit("void(int32, uint8, UniTuple(int8, 2), int64[::1])")
    def kernel(mask, byte, pair, out):
        out[0], out[1], out[2], out[3] = mask, byte, pair[0], pair[1]

    out = np.zeros(4, np.int64)
    kernel[1, 1](0xFFFFFFFF, -1, (255, 300), out)
    assert out.tolist() == [-1, 255, -1, 44]


def test_constant_memory_is_counted():
    table = np.arange(100.0)

    @cuda.jit("void(float64[::1])")
    def kernel(out):
        out[0] = cuda.const.array_like(table)[cuda.grid(1)]

    assert kernel.get_const_mem_size() == 800


def test_states_of_random_numbers_are_records():
    states = cuda.random.create_xoroshiro128p_states(10, seed=42)

    @cuda.jit
    def draw(states, out):
        i = cuda.grid(1)
        if i < states.size:
            out[i] = cuda.random.xoroshiro128p_next(states, i)
            out[i] -= states[i].s0 - states[i]["s0"]

    there, here = np.zeros(10, np.uint64), np.zeros(10, np.uint64)
    host = states.copy_to_host()
    first = host.copy()
    draw[1, 32](states, there)
    draw[1, 32](host, here)
    assert there.tolist() == here.tolist() == (first["s0"] + first["s1"]).tolist()
    assert states.copy_to_host().tolist() == host.tolist()


def test_records_may_have_fields_of_any_names():
    @cuda.jit
    def swap(pairs):
        i = cuda.grid(1)
        pairs[i].s0, pairs[i].s1 = pairs[i].s1, pairs[i].s0

    pairs = np.array([(1.5, 2), (3.5, 4)], [("s0", "f4"), ("s1", "i2")])
    there = cuda.to_device(pairs)
    swap[1, 2](there)
    assert there.copy_to_host().tolist() == [(2.0, 1), (4.0, 3)]


@pytest.mark.parametrize("function", [np.min, np.nanmax, np.nansum, np.isnan])
def test_fast_math_of_kernels_knows_nans(function):
    @cuda.jit(fastmath=True)
    def kernel(a, out):
        out[0] = function(a) if function is not np.isnan else np.isnan(a[1])

    a, out = np.array([5.0, np.nan, -1.5, np.inf]), np.zeros(1)
    kernel[1, 1](a, out)
    np.testing.assert_equal(out[0], function(a[:2]).any() if function is np.isnan else function(a))
