"""Gangs: operations of warps and loops of different lengths, whatever way lanes go and whatever the shape of a
block."""

import numpy as np
import pytest

from lancehead import cuda

SHAPES = [32, 64, 256, 7, 33, 100, (16, 4), (8, 8, 2), (64, 3), (32, 2, 2), (5, 7, 3)]
FULL = 0xFFFFFFFF


def size(shape):
    """Threads of a block."""
    return int(np.prod(shape))


def warps_of(n):
    """Numbers of threads by warp."""
    return [np.arange(w, min(w + 32, n)) for w in range(0, n, 32)]


def runs_as(kernel, entry, gangs):
    """How its only specialisation is made."""
    [facts] = kernel.overloads.values()
    return (facts.entry, facts.gangs) == (entry, gangs)


DTYPES = [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64]


@pytest.mark.parametrize(
    ("shape", "dtype"), [(s, np.float32) for s in SHAPES] + [(s, d) for s in (48, 64) for d in DTYPES]
)
def test_shuffles(shape, dtype):
    @cuda.jit
    def k(a, out, by):
        t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
        v = a[t]
        out[0, t] = cuda.shfl_sync(FULL, v, by)
        out[1, t] = cuda.shfl_up_sync(FULL, v, by)
        out[2, t] = cuda.shfl_down_sync(FULL, v, by)
        out[3, t] = cuda.shfl_xor_sync(FULL, v, by)
        out[4, t] = cuda.shfl_sync(FULL, v, t * 7)
        out[5, t] = cuda.shfl_down_sync(FULL, v, t % 5)
        out[6, t] = cuda.shfl_up_sync(FULL, v, t % 3)
        out[7, t] = cuda.shfl_xor_sync(FULL, v, t % 32)

    n = size(shape)
    a = (np.random.default_rng(1).random(n) * 200 - 100).astype(dtype)
    for by in (0, 1, 5, 31, 32, 40):
        out, want = np.zeros((8, n), dtype), np.zeros((8, n), dtype)
        k[1, shape](a, out, by)
        for ts in warps_of(n):
            for lane, t in enumerate(ts):
                asked = [
                    by % 32,
                    lane - by % 32,
                    lane + by % 32,
                    lane ^ by % 32,
                    t * 7 % 32,
                    lane + t % 5,
                    lane - t % 3,
                    lane ^ t % 32,
                ]
                for i, src in enumerate(asked):
                    want[i, t] = a[ts[src]] if 0 <= src < len(ts) else a[t]
        assert (out == want).all()
    assert runs_as(k, "blocks", "warps")


@pytest.mark.parametrize("shape", SHAPES)
def test_votes_and_matches(shape):
    @cuda.jit
    def k(a, out, mask):
        t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
        p = a[t] > 4
        out[0, t] = cuda.all_sync(mask, p)
        out[1, t] = cuda.any_sync(mask, p)
        out[2, t] = cuda.eq_sync(mask, p)
        out[3, t] = cuda.ballot_sync(mask, p)
        out[4, t] = cuda.match_any_sync(mask, a[t])
        lanes, same = cuda.match_all_sync(mask, a[t] // 8)
        out[5, t] = lanes
        out[6, t] = same
        cuda.syncwarp()
        out[7, t] = cuda.activemask()

    n = size(shape)
    for mask in (FULL, 0x0F0F0F0F, 1):
        for most in (10, 5, 1):
            a = np.random.default_rng(2).integers(0, most, n)
            out, want = np.zeros((8, n), np.int64), np.zeros((8, n), np.int64)
            k[1, shape](a, out, mask)
            for ts in warps_of(n):
                for lane, t in enumerate(ts):
                    inside = [i for i in range(len(ts)) if (mask | 1 << lane) >> i & 1]
                    p = [a[ts[i]] > 4 for i in inside]
                    bits = lambda f: sum(1 << i for i in inside if f(a[ts[i]]))
                    alike = all(a[ts[i]] // 8 == a[t] // 8 for i in inside)
                    want[:, t] = [
                        all(p), any(p), len(set(p)) == 1, bits(lambda v: v > 4), bits(lambda v: v == a[t]),
                        bits(lambda v: True) if alike else 0, alike, (1 << len(ts)) - 1,
                    ]  # fmt: skip
            assert (out == want).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_loops_of_different_lengths(shape):
    @cuda.jit
    def collatz(a, out):
        i = cuda.blockIdx.x * cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z
        i += cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
        if i < a.size:
            n = a[i]
            steps = 0
            while n != 1:
                if n % 2 == 0:
                    n //= 2
                else:
                    n = 3 * n + 1
                steps += 1
                if steps > 100:
                    break
            out[i] = steps

    n = 2 * size(shape) + 5
    a, out = np.arange(1, n + 1), np.zeros(n, np.int64)
    collatz[3, shape](a, out)
    want = []
    for v in range(1, n + 1):
        steps = 0
        while v != 1:
            v = v // 2 if v % 2 == 0 else 3 * v + 1
            steps += 1
            if steps > 100:
                break
        want.append(steps)
    assert out.tolist() == want
    assert runs_as(collatz, "blocks", "rows")


@pytest.mark.parametrize("shape", SHAPES)
def test_nested_loops_continue_and_early_ends(shape):
    @cuda.jit
    def k(out, most):
        t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
        if t % 11 == 3:
            return
        total = 0
        for i in range(t % 7):
            if i == 2:
                continue
            for j in range(i, most):
                if (i + j + t) % 5 == 4:
                    break
                total += i * j
            else:
                total += 1000
        k = t
        while True:
            k = k * 3 % 101
            if k < 10:
                break
            total += 1
            if total > 5000:
                out[t] = -total
                return
        out[t] = total

    def want(t, most):
        if t % 11 == 3:
            return -1
        total = 0
        for i in range(t % 7):
            if i == 2:
                continue
            for j in range(i, most):
                if (i + j + t) % 5 == 4:
                    break
                total += i * j
            else:
                total += 1000
        k = t
        while True:
            k = k * 3 % 101
            if k < 10:
                break
            total += 1
            if total > 5000:
                return -total
        return total

    n = size(shape)
    for most in (0, 3, 9):
        out = np.full(n, -1)
        k[1, shape](out, most)
        assert out.tolist() == [want(t, most) for t in range(n)]


def counters(thread):
    """Counters that 32 bits just hold, or just do not."""

    def count(most, least, out, wide):
        i = thread()
        n, far = 2147483600 + i % 5, 0
        while n < most:
            n += 1
            far += n
        out[0, i], out[1, i] = n, far
        n = -2147483600 - i % 7
        while n > least:
            n -= 1
        out[2, i] = n
        n = 1 + i
        while n < most:
            n = n * 3
        out[3, i] = n
        n = 1 + i
        while n <= wide:
            n += 1000000007
        out[4, i] = n
        n = 3
        while n <= most and n % (i + 2) != 1:
            n += 536870911
        out[5, i] = n
        n = i
        while n > -5 and n < most:
            n -= 2
        out[6, i] = n

    return count


def test_counters_at_the_limits_of_32_bits():
    k = cuda.jit(counters(cuda.jit(device=True)(lambda: cuda.threadIdx.x)))
    for most, least in [(2**31 - 1, -(2**31)), (2**31 - 3, 5 - 2**31), (0, 0)]:
        out, want = np.zeros((7, 64), np.int64), np.zeros((7, 64), np.int64)
        k[1, 64](np.int32(most), np.int32(least), out, 2**34)
        for i in range(64):
            counters(lambda i=i: i)(most, least, want, 2**34)
        assert (out == want).all()
    assert runs_as(k, "blocks", "rows")


def strides(thread):
    """Loops whose counters go up alike and end apart."""

    def count(a, lo, hi, out, step):
        i = thread()
        far, last = 0, -1
        for j in range(lo[i], hi[i], step):
            far += a[j]
        out[0, i] = far
        for j in range(lo[i], a.size, step):
            last = j
            if a[j] > 90:
                break
        out[1, i] = last
        far = 0
        for j in range(lo[i], hi[i]):
            for m in range(i % 3, j, step):
                far += a[m]
            if far > 3000:
                continue
            far += j
        out[2, i] = far
        j = hi[i]
        while j > lo[i] and a[j - 1] < 95:
            j -= step
        out[3, i] = j
        # Nothing may raise in this one, so lanes go together.
        while j < 7 * i:
            j += 1
        out[4, i] = j

    return count


@pytest.mark.parametrize("n", [64, 45])
def test_counters_that_go_up_alike(n):
    rng = np.random.default_rng(3)
    a, lo = rng.integers(0, 100, 300), rng.integers(3, 40, n)
    k = cuda.jit(strides(cuda.jit(device=True)(lambda: cuda.threadIdx.x)))
    for hi in (lo + 20, lo + rng.integers(-5, 60, n), np.full(n, 77)):
        for step in (1, 3):
            out, want = np.zeros((5, n), np.int64), np.zeros((5, n), np.int64)
            k[1, n](a, lo, hi, out, step)
            for i in range(n):
                strides(lambda i=i: i)(a, lo, hi, want, step)
            assert (out == want).all()
    assert runs_as(k, "blocks", "rows")
    with pytest.raises(IndexError):
        k[1, n](a, lo, lo + 290, out, 3)


def test_barriers_and_warps_where_lanes_have_gone_apart():
    @cuda.jit
    def k(a, out):
        shared = cuda.shared.array(64, np.int64)
        t = cuda.threadIdx.x
        steps = 0
        while a[t] > steps:
            steps += 1
        v = steps
        if t < 32:
            v = cuda.shfl_xor_sync(FULL, v, 1)
            if t % 2 == 0:
                v += 100 * cuda.any_sync(0x55555555, v > 3)
        shared[t] = v
        cuda.syncthreads()
        out[t] = shared[63 - t]

    a, out = np.random.default_rng(3).integers(0, 9, 64), np.zeros(64, np.int64)
    k[1, 64](a, out)
    v = a.copy()
    v[:32] = a[:32].reshape(16, 2)[:, ::-1].ravel()
    v[:32:2] += 100 * (v[:32:2] > 3).any()
    assert (out == v[::-1]).all()


def test_a_barrier_after_some_have_ended():
    @cuda.jit
    def k(out, n):
        shared = cuda.shared.array(128, np.int64)
        t = cuda.threadIdx.x
        if t >= n:
            return
        for i in range(3):
            shared[t] = t + i
            total = cuda.syncthreads_count(t % 3 == 0)
            out[t] += shared[n - 1 - t] * total
            cuda.syncthreads()

    for n in (1, 40, 96, 128):
        out = np.zeros(128, np.int64)
        k[1, 128](out, n)
        t = np.arange(n)
        want = sum((n - 1 - t + i) * ((n + 2) // 3) for i in range(3))
        assert (out[:n] == want).all() and not out[n:].any()


def test_a_loop_that_ends_alike_after_lanes_have_gone_their_ways():
    @cuda.jit
    def k(a, out):
        t = cuda.threadIdx.x
        v = a[t]
        if t % 2 == 0:
            v = cuda.shfl_sync(0x55555555, v, 2)
        if cuda.blockIdx.x % 2 == 0:
            for i in range(3):
                cuda.syncthreads()
                cuda.atomic.add(out, (cuda.blockIdx.x, i), v)

    for threads in (32, 64, 80):
        a, out = np.random.default_rng(5).integers(0, 9, threads), np.zeros((3, 4), np.int64)
        k[3, threads](a, out)
        v = a.copy()
        v[::2] = a[2 : threads + 2 : 32].repeat(16)[: threads // 2]
        assert (out == v.sum() * np.outer([1, 0, 1], [1, 1, 1, 0])).all()


def test_values_of_every_type_are_kept_across_shuffles():
    @cuda.jit
    def k(a, b, c, out):
        t = cuda.threadIdx.x
        local = cuda.local.array(3, np.float64)
        local[0], local[1], local[2] = a[t], b[t], 1.0
        x, y, z = a[t], b[t], c[t]
        flag = x > 0.5
        w = cuda.shfl_down_sync(FULL, x, 1)
        if flag:
            local[2] += w
        v = cuda.shfl_up_sync(FULL, y, 2)
        out[t] = local[0] + local[1] + local[2] + z * v + (1 if flag else 0)

    rng = np.random.default_rng(4)
    a, b, c, out = (
        rng.random(64).astype(np.float32),
        rng.integers(0, 9, 64).astype(np.int16),
        rng.random(64),
        np.zeros(64),
    )
    k[1, 64](a, b, c, out)
    w, v = a.reshape(2, 32).copy(), b.reshape(2, 32).copy()
    w[:, :-1], v[:, 2:] = a.reshape(2, 32)[:, 1:], b.reshape(2, 32)[:, :-2]
    flag = a > 0.5
    want = a.astype(float) + b + 1.0 + np.where(flag, w.ravel(), 0) + c * v.ravel() + flag
    np.testing.assert_allclose(out, want)


def test_the_thread_that_raises_is_named():
    @cuda.jit
    def k(a, out):
        t = cuda.threadIdx.x
        v = cuda.shfl_sync(FULL, a[t], 0)
        n = 0
        while n < t:
            n += 1
            if n == 40:
                out[n + v] = 1

    with pytest.raises(IndexError, match=r"tid=\[\d+, 0, 0\] ctaid=\[0, 0, 0\]: index 47 is out of bounds"):
        k[1, 64](np.full(64, 7), np.zeros(45))


@pytest.mark.parametrize("shape", [*SHAPES, (16, 16), 1])
def test_sums_by_shuffles_in_several_blocks(shape):
    """Blocks whose last warp has fewer lanes, with loads that are checked and memory of the block."""

    @cuda.jit
    def k(a, sums, scans, packed, totals):
        partial = cuda.shared.array(32, np.int64)
        block = cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z
        t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
        i = cuda.blockIdx.x * block + t
        lane = cuda.laneid
        # Lanes that are not there give nothing.
        there = min(block - (t - lane), 32)
        v = total = scan = a[i]
        k = 16
        while k > 0:
            w = cuda.shfl_down_sync(FULL, total, k)
            if lane + k < there:
                total += w
            k //= 2
        k = 1
        while k < 32:
            w = cuda.shfl_up_sync(FULL, scan, k)
            if lane >= k:
                scan += w
            k *= 2
        scans[i] = scan
        some = cuda.ballot_sync(FULL, v % 3 == 0)
        if v % 3 == 0:
            packed[i - lane + cuda.popc(some & cuda.lanemask_lt())] = v
        if lane == 0:
            sums[cuda.blockIdx.x, t // 32] = total
            partial[t // 32] = total
        cuda.syncthreads()
        if t < 32:
            total = 0
            if t < (block + 31) // 32:
                total = partial[t]
            k = 16
            while k > 0:
                w = cuda.shfl_down_sync(FULL, total, k)
                if lane + k < min(block, 32):
                    total += w
                k //= 2
            if t == 0:
                totals[cuda.blockIdx.x] = total

    n, blocks = size(shape), 3
    a = np.random.default_rng(1).integers(0, 1000, n * blocks)
    sums, totals = np.zeros((blocks, 33), np.int64), np.zeros(blocks, np.int64)
    scans, packed, filled = np.zeros_like(a), np.zeros_like(a), np.zeros_like(a)
    k[blocks, shape](a, sums, scans, packed, totals)
    for b in range(blocks):
        for w, ts in enumerate(warps_of(n)):
            own = a[b * n + ts]
            assert sums[b, w] == own.sum()
            assert (scans[b * n + ts] == own.cumsum()).all()
            thirds = own[own % 3 == 0]
            filled[b * n + ts[: len(thirds)]] = thirds
    assert (packed == filled).all()
    assert (totals == a.reshape(blocks, n).sum(1)).all()


def test_lanes_of_a_full_warp_are_vectors():
    @cuda.jit
    def k(a, out):
        v = a[cuda.grid(1)]
        d = 16
        while d > 0:
            v += cuda.shfl_down_sync(FULL, v, d)
            d //= 2
        if cuda.laneid == 0:
            out[cuda.grid(1) // 32] = v

    a, out = np.arange(256, dtype=np.float32), np.zeros(8, np.float32)
    k[2, 128](a, out)
    assert (out == a.reshape(8, 32).sum(1)).all()
    [llvm] = k.inspect_llvm().values()
    # All five steps, in registers: for blocks of whole warps, for whole warps of others, and for the rest.
    assert llvm.count("fadd <32 x float>") in (5, 10, 15)
    assert llvm.count("shufflevector <32 x float>") + llvm.count("shufflevector <32 x i32>") >= 5


@pytest.mark.parametrize("shape", [64, 96, 48, (32, 2), (8, 8)])
def test_what_few_lanes_do(shape):
    @cuda.jit
    def k(a, out, sums):
        t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
        v, w = a[t], 0
        v += cuda.shfl_up_sync(FULL, v, 1)
        if cuda.laneid == 3:
            sums[t // 32] = v
            w = 5
        cuda.syncwarp()
        if v % 8 == 1:
            cuda.atomic.add(sums, 4, v)
            w += 7
        cuda.syncwarp()
        if t != 9:
            w += 1
        else:
            sums[5] = v
            v = -v
        out[t] = cuda.shfl_xor_sync(FULL, v, 1) * 100 + w

    n = size(shape)
    a = np.random.default_rng(2).integers(0, 50, n)
    out, want, sums, wanted = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(6, np.int64), np.zeros(6, np.int64)
    k[1, shape](a, out, sums)
    for ts in warps_of(n):
        v = a[ts] + np.where(np.arange(len(ts)) > 0, np.roll(a[ts], 1), a[ts])
        w = 5 * (np.arange(len(ts)) == 3) + 7 * (v % 8 == 1) + 1 * (ts != 9)
        wanted[ts[0] // 32] = v[3]
        wanted[4] += v[v % 8 == 1].sum()
        if 9 in ts:
            wanted[5] = v[9]
        v = np.where(ts == 9, -v, v)
        other = np.arange(len(ts)) ^ 1
        want[ts] = v[np.where(other < len(ts), other, np.arange(len(ts)))] * 100 + w
    assert (out == want).all() and (sums == wanted).all()


def test_loops_until_no_lane_is_left():
    @cuda.jit
    def k(a, out):
        t = cuda.grid(1)
        v, n = a[t], 0
        while cuda.any_sync(FULL, v > 0):
            v -= 1 + t % 2
            n += cuda.popc(cuda.ballot_sync(FULL, v > 0))
        out[t] = n * 100 + cuda.popc(cuda.match_any_sync(FULL, a[t]))

    a = np.random.default_rng(3).integers(0, 30, 128)
    for n in (128, 100):
        out, want = np.zeros(n, np.int64), np.zeros(n, np.int64)
        k[1, n](a, out)
        for ts in warps_of(n):
            v, count = a[ts].copy(), 0
            while (v > 0).any():
                v -= 1 + ts % 2
                count += (v > 0).sum()
            want[ts] = count * 100 + (a[ts][:, None] == a[ts]).sum(1)
        assert (out == want).all()


@pytest.mark.parametrize("shape", [(64, 2), (32, 2, 2), (16, 8)])
def test_warps_that_wait_on_stacks_of_their_own_know_their_threads(shape):
    def k(out):
        t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
        own = cuda.shared.array(128, np.int64)
        own[t] = cuda.shfl_xor_sync(FULL, t, 1)
        if own[t] >= 0:
            cuda.syncthreads()
        out[t, 0], out[t, 1], out[t, 2], out[t, 3] = own[t ^ 32], cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z

    out = np.zeros((128, 4), np.int64)
    cuda.jit(k)[1, shape](out)
    t, x, y = np.arange(128), shape[0], shape[1]
    assert (out == np.stack([t ^ 33, t % x, t // x % y, t // (x * y)], 1)).all()


@pytest.mark.parametrize("shape", [32, 96, 7, (16, 4)])
def test_lanes_that_have_left_a_loop_go_along(shape):
    """They compute garbage then that nobody sees: numbers beyond all bounds, also as integers and in branches."""

    @cuda.jit
    def k(most, out, seen):
        t = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y
        x, n, m, c = np.float32(1.0), 0, 1, np.float32(t % 5 - 2)
        while n < most[t] and x < np.float32(1000.0):
            x = x * x + c
            m = (m * 3 + np.int32(x)) & 0xFFFFF
            if m >> (n & 31) == 5 or np.int32(x) % 2 == 1:
                n += 1
            n += 1
        out[t] = n
        y, r = np.float64(t), 0
        while True:
            r += 1
            y = y * 0.5 - 1.0
            if y < -1.5:
                break
            if r == most[t]:
                r = -r
                break
        seen[t] = r + y

    n = size(shape)
    most = np.random.default_rng(5).integers(0, 90, n).astype(np.int32)
    out, seen = np.zeros(n, np.int64), np.zeros(n)
    k[1, shape](most, out, seen)
    for t in range(n):
        x, i, m, c = 1, 0, 1, t % 5 - 2
        while i < most[t] and x < 1000:
            x = x * x + c
            m = (m * 3 + x) & 0xFFFFF
            i += 1 + (m >> (i & 31) == 5 or x % 2 == 1)
        y, r = float(t), 0
        while True:
            r += 1
            y = y * 0.5 - 1.0
            if y < -1.5:
                break
            if r == most[t]:
                r = -r
                break
        assert (out[t], seen[t]) == (i, r + y)


@pytest.mark.parametrize("shape", [32, 96, 7, (16, 4)])
def test_lanes_that_leave_a_loop_one_way_or_another_know_their_round(shape):
    """The counter is the same for all in the loop, and each lane's own behind it; so is what comes out of a loop in a
    loop."""

    @cuda.jit
    def k(most, out, also, last):
        t = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y
        x, n, c = np.float32(0.0), 0, np.float32(t % 7) / np.float32(8.0)
        while n < most and x * x < np.float32(4.0):
            x = x * x + c
            n += 1
        out[t] = n
        r, y = 0, t
        while True:
            r += 3
            y = (y * 5 + 1) & 255
            if y < 20 or r >= 60 or y == 77:
                break
        also[t] = r
        total = 0
        for i in range(5):
            j = 2147483600
            while j < 2147483647 and y != 9:
                y = (y * 5 + 1) & 255
                j += 1
            total += j - i
        last[t] = total

    n = size(shape)
    out, also, last = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int64)
    k[1, shape](np.int32(40), out, also, last)
    for t in range(n):
        x, m, c = np.float32(0.0), 0, np.float32(t % 7) / np.float32(8.0)
        while m < 40 and x * x < 4:
            x, m = x * x + c, m + 1
        r, y = 0, t
        while r == 0 or not (y < 20 or r >= 60 or y == 77):
            r, y = r + 3, (y * 5 + 1) & 255
        total = 0
        for i in range(5):
            j = 2147483600
            while j < 2147483647 and y != 9:
                y, j = (y * 5 + 1) & 255, j + 1
            total += j - i
        assert (out[t], also[t], last[t]) == (m, r, total)


@pytest.mark.parametrize("shape", [2, 32, 48, 100, (5, 7, 3)])
@pytest.mark.parametrize("warps", [False, True])
def test_lanes_that_skip_a_loop_come_to_the_next_round_of_the_one_around_it(shape, warps):
    many, most = 30, 5

    @cuda.jit
    def largest(a, values, places, votes):
        t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
        for s in range(most):
            values[t, s] = -1
        for i in range(a.shape[0]):
            if a[i, t] > values[t, 0]:
                slot = 0
                while slot + 1 < most and values[t, slot + 1] < a[i, t]:
                    values[t, slot], places[t, slot] = values[t, slot + 1], places[t, slot + 1]
                    slot += 1
                values[t, slot], places[t, slot] = a[i, t], i
        if warps:
            votes[t] = cuda.any_sync(cuda.activemask(), places[t, 0] >= 0)

    n = size(shape)
    a = np.random.default_rng(1).integers(0, 40, (many, n))
    values, places, votes = np.zeros((n, most), np.int64), np.full((n, most), -1), np.zeros(n, np.int64)
    largest[1, shape](a, values, places, votes)
    for t in range(n):
        assert values[t].tolist() == sorted(a[:, t])[-most:]
        assert a[places[t], t].tolist() == values[t].tolist()
        assert len(set(places[t])) == most
    assert (votes == warps).all()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_threads_divide_integers_exactly(dtype):
    """Short integers are divided as floats, of whose quotients nothing may be lost; 0 as a divisor gives 0, as in
    NumPy."""

    @cuda.jit
    def k(a, b, three, quotients, rests, small):
        i = cuda.grid(1)
        if i < a.size:
            quotients[i] = a[i] // b[i]
            rests[i] = a[i] % b[i]
            x = a[i]
            while x > three:
                x = x // three
            small[i] = x

    info = np.iinfo(dtype)
    edges = {info.min, info.min + 1, -3, -2, -1, 0, 1, 2, 3, 7, 10, info.max // 2, info.max - 1, info.max}
    random = np.random.default_rng(3).integers(info.min, info.max, 20, dtype).tolist()
    some = [v for v in sorted(edges) if info.min <= v] + random
    pairs = [(x, y) for x in some for y in some]
    a, b = (np.array(side, dtype) for side in zip(*pairs, strict=True))
    quotients, rests, small = (np.zeros(a.size, dtype) for _ in range(3))
    k[(a.size + 127) // 128, 128](a, b, np.dtype(dtype).type(3), quotients, rests, small)
    want = [(x // y, x % y) if y else (0, 0) for x, y in pairs]
    wrapped = np.array([w[0] & (2**info.bits - 1) for w in want], np.uint64).astype(dtype)
    assert (quotients == wrapped).all()
    assert rests.tolist() == [w[1] for w in want]
    for x, y in zip(a.tolist(), small.tolist(), strict=True):
        while x > 3:
            x //= 3
        assert x == y


def test_few_lanes_of_a_round_begin_with_what_all_began_with():
    @cuda.jit(device=True)
    def odd(x, y):
        if x % 2 == 0:
            return x + y
        return (x * 3 + y) & 0xFFFFF

    def sums(a, out, found, n):
        i = cuda.threadIdx.x
        w = np.int32(a[i])
        for d in range(5):
            w = np.int32((w + cuda.shfl_up_sync(0xFFFFFFFF, w, 1 << d)) & 0xFFFF)
            if i == 1 << d:
                found[d] = odd(n, w)
        out[i] = w

    for n in (20, 32, 64):
        a = np.random.default_rng(n).integers(0, 1000, n)
        want, each = a.copy(), []
        for d in range(5):
            lane = np.arange(n) % 32
            want = (want + want[np.where(lane >= 1 << d, np.arange(n) - (1 << d), np.arange(n))]) & 0xFFFF
            each.append((5 * 3 + want[1 << d]) & 0xFFFFF)
        out, found = np.zeros(n, np.int64), np.zeros(5, np.int64)
        cuda.jit(sums)[1, n](a, out, found, 5)
        assert (out == want).all()
        assert list(found) == each
