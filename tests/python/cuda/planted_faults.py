"""Kernels with one fault each, and the same kernels without it: `fault` says which.

Lines that a report must name are marked in the source, the one that it points at as `# here`, the other as `# there`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lancehead import cuda

FULL = 0xFFFFFFFF
PAIR = np.dtype([("x", np.float32), ("y", np.float32)])


@dataclass(frozen=True)
class Fault:
    """A kernel to be made with or without its fault, what is found, and how it is launched."""

    make: Callable[[bool], Any]
    kind: str
    text: str
    grid: Any
    block: Any
    arguments: Callable[[], tuple[Any, ...]]
    shared: int = 0

    @property
    def name(self) -> str:
        """That of the function that makes it."""
        return self.make.__name__

    def run(self, fault: bool) -> tuple[Any, ...]:
        """Launches it; its arguments."""
        args = self.arguments()
        cuda.jit(self.make(fault), debug=True, opt=False)[self.grid, self.block, 0, self.shared](*args)
        return args

    def lines(self, mark: str) -> list[int]:
        """Lines of the source that are marked."""
        text, first = inspect.getsourcelines(self.make)
        return [first + i for i, line in enumerate(text) if line.rstrip().endswith(f"# {mark}")]


FAULTS: list[Fault] = []


def planted(
    kind: str, text: str, grid: Any, block: Any, arguments: Callable[[], tuple[Any, ...]], shared: int = 0
) -> Any:
    """Adds a fault."""
    return lambda make: FAULTS.append(Fault(make, kind, text, grid, block, arguments, shared))


def floats(*sizes: int) -> Callable[[], tuple[np.ndarray, ...]]:
    """Arrays of ones, of zeros where the size is negative."""
    return lambda: tuple(np.ones(n, np.float32) if n > 0 else np.zeros(-n, np.float32) for n in sizes)


def integers(*sizes: int) -> Callable[[], tuple[np.ndarray, ...]]:
    """Arrays of small numbers, of zeros where the size is negative."""
    return lambda: tuple(np.arange(n, dtype=np.int32) % 8 if n > 0 else np.zeros(-n, np.int32) for n in sizes)


@planted("bounds", "tid=[31, 0, 0] ctaid=[1, 0, 0]", 2, 32, floats(63, -64))
def above_a_global_array(fault):
    def k(a, out):
        i = cuda.grid(1)
        if fault or i < a.size:
            out[i] = a[i]  # here

    return k


@planted("bounds", "tid=[0, 0, 0] ctaid=[0, 0, 0]", 1, 32, floats(32, -32))
def below_a_global_array(fault):
    def k(a, out):
        i = cuda.grid(1)
        out[i] = a[i - (33 if fault else 32)]  # here

    return k


@planted("bounds", "tid=[31, 0, 0]", 1, 32, floats(-32))
def above_a_shared_array(fault):
    def k(out):
        s = cuda.shared.array(32, np.float32)
        t = cuda.threadIdx.x
        s[t] = t
        cuda.syncthreads()
        out[t] = s[t + 1 if fault else t]  # here

    return k


@planted("bounds", "tid=[0, 0, 0]", 1, 32, floats(-32))
def above_a_local_array(fault):
    def k(out):
        own = cuda.local.array(4, np.float32)
        for i in range(5 if fault else 4):
            own[i] = i  # here
        out[cuda.threadIdx.x] = own[3]

    return k


@planted("kernel-unwritten", "thread (31, 0, 0) of block (0, 0, 0) reads `s[63]` in shared memory", 1, 32, floats(-32))
def unwritten_shared_memory(fault):
    def k(out):
        s = cuda.shared.array(64, np.float32)
        t = cuda.threadIdx.x
        s[t] = t
        cuda.syncthreads()
        out[t] = s[t + 32 if fault else 31 - t]  # here

    return k


@planted("kernel-unwritten", "thread (31, 0, 0) of block (1, 0, 0) reads `s[31]` in shared memory", 2, 32, floats(-64))
def shared_memory_left_by_the_block_before(fault):
    def k(out):
        s = cuda.shared.array(32, np.float32)
        t = cuda.threadIdx.x
        if cuda.blockIdx.x == 0 or not fault:
            s[t] = t
        cuda.syncthreads()
        out[cuda.grid(1)] = s[t]  # here

    return k


@planted("kernel-unwritten", "reads `own[3]` in local memory", 1, 32, floats(-32))
def unwritten_local_memory(fault):
    def k(out):
        own = cuda.local.array(4, np.float32)
        for i in range(3 if fault else 4):
            own[i] = i
        total = 0.0
        for i in range(4):
            total += own[i]  # here
        out[cuda.threadIdx.x] = total

    return k


@planted("kernel-unwritten", "reads `bins[7]` in shared memory", 1, 64, integers(64, -8))
def counters_that_do_not_begin_at_zero(fault):
    def k(a, out):
        bins = cuda.shared.array(8, np.int32)
        t = cuda.threadIdx.x
        if t < 8 and not fault:
            bins[t] = 0
        cuda.syncthreads()
        cuda.atomic.add(bins, a[t], 1)  # here
        cuda.syncthreads()
        if t < 8:
            out[t] = bins[t]

    return k


@planted(
    "kernel-race",
    "threads (0, 0, 0) and (32, 0, 0) of block (0, 0, 0) meet at `partial[32]` in shared memory",
    2,
    64,
    floats(128, -2),
)
def tree_reduction_without_a_barrier(fault):
    def k(a, out):
        partial = cuda.shared.array(64, np.float32)
        t = cuda.threadIdx.x
        partial[t] = a[cuda.grid(1)]  # here
        if not fault:
            cuda.syncthreads()
        n = 32
        while n > 0:
            if t < n:
                partial[t] += partial[t + n]  # there
            cuda.syncthreads()
            n //= 2
        if t == 0:
            out[cuda.blockIdx.x] = partial[0]

    return k


@planted("kernel-race", "in shared memory", 1, 64, floats(256, -64))
def second_barrier_of_a_loop_is_missing(fault):
    def k(a, out):
        tile = cuda.shared.array(64, np.float32)
        t = cuda.threadIdx.x
        total = 0.0
        for i in range(4):
            tile[t] = a[i * 64 + t]  # here
            cuda.syncthreads()
            for j in range(64):
                total += tile[j]  # there
            if not fault:
                cuda.syncthreads()
        out[t] = total

    return k


@planted("kernel-race", "meet at `s[0]` in shared memory", 1, 64, floats(-64))
def two_writers_of_shared_memory(fault):
    def k(out):
        s = cuda.shared.array(64, np.float32)
        t = cuda.threadIdx.x
        s[t // 2 if fault else t] = t  # here
        cuda.syncthreads()
        out[t] = s[t // 2]

    return k


@planted("kernel-race", "of block (0, 0, 0) meet at `a[1]` in global memory", 1, 64, floats(65))
def neighbours_in_place(fault):
    def k(a):
        t = cuda.threadIdx.x
        v = a[t + 1]  # there
        if not fault:
            cuda.syncthreads()
        a[t] = v  # here

    return k


@planted(
    "kernel-race",
    "thread (31, 0, 0) of block (0, 0, 0) and thread (0, 0, 0) of block (1, 0, 0) meet at `a[32]` in global memory",
    2,
    32,
    floats(65, -64),
)
def neighbours_of_other_blocks(fault):
    def k(a, out):
        i = cuda.grid(1)
        v = a[i + 1]  # there
        cuda.syncthreads()
        if fault:
            a[i] = v  # here
        else:
            out[i] = v

    return k


@planted("kernel-race", "meet at `bins[0]` in global memory", 2, 64, integers(128, -8))
def histogram_without_atomics(fault):
    def k(a, bins):
        i = cuda.grid(1)
        if fault:
            bins[a[i]] += 1  # here
        else:
            cuda.atomic.add(bins, a[i], 1)

    return k


@planted("kernel-race", "an atomic operation is one for other atomic operations only", 1, 64, integers(64, -8))
def atomic_beside_plain(fault):
    def k(a, out):
        t = cuda.threadIdx.x
        cuda.atomic.add(out, 0, a[t])  # there
        if not fault:
            cuda.syncthreads()
        if t == 63:
            out[0] += 1  # here

    return k


@planted("kernel-race", "meet at `found[0]` in shared memory", 1, 64, integers(64, -64))
def flag_without_a_barrier(fault):
    def k(a, out):
        found = cuda.shared.array(1, np.int32)
        t = cuda.threadIdx.x
        if t == 0:
            found[0] = a[0]  # there
        if not fault:
            cuda.syncthreads()
        out[t] = found[0]  # here

    return k


@planted("kernel-barrier", "threads of block (0, 0, 0) wait at different barriers", 1, 64, floats(-64))
def barriers_of_two_branches(fault):
    def k(out):
        t = cuda.threadIdx.x
        if t < (32 if fault else 64):
            out[t] = 1
            cuda.syncthreads()  # here
        else:
            out[t] = 2
            cuda.syncthreads()  # there

    return k


@planted("kernel-barrier", "not all threads of block (1, 0, 0) come to this barrier", 2, 64, floats(100, -2))
def return_before_a_barrier(fault):
    def k(a, out):
        s = cuda.shared.array(64, np.float32)
        i, t = cuda.grid(1), cuda.threadIdx.x
        if fault and i >= a.size:
            return  # there
        s[t] = a[i] if i < a.size else 0
        cuda.syncthreads()  # here
        if t == 0:
            out[cuda.blockIdx.x] = s[0]

    return k


@planted("kernel-barrier", "come to this barrier", 1, 64, floats(-64))
def barrier_in_a_loop_of_different_lengths(fault):
    def k(out):
        t = cuda.threadIdx.x
        for i in range(t // 32 + 1 if fault else 2):
            out[t] += i
            cuda.syncthreads()  # here

    return k


@planted("kernel-barrier", "wait at different barriers", 1, 64, floats(-64))
def barrier_in_a_function_that_not_all_call(fault):
    @cuda.jit(device=True)
    def step(out, t):
        out[t] += 1
        cuda.syncthreads()  # here

    def k(out):
        t = cuda.threadIdx.x
        if t % 2 == 0 or not fault:
            step(out, t)
        cuda.syncthreads()  # there

    return k


@planted("kernel-barrier", "wait for each other for ever", 1, 32, integers(-32))
def warp_and_block_wait_for_each_other(fault):
    def k(out):
        t = cuda.threadIdx.x
        if t < 16 and fault:
            cuda.syncthreads()  # here
        out[t] = cuda.ballot_sync(FULL, t > 3) & 0xFF  # there
        if t >= 16 or not fault:
            cuda.syncthreads()

    return k


@planted("kernel-race", "threads (0, 0, 0) and (1, 0, 0) of block (0, 0, 0) meet at `s[1]`", 1, 32, floats(32, -1))
def warp_reduction_without_syncwarp(fault):
    def k(a, out):
        s = cuda.shared.array(32, np.float32)
        t = cuda.threadIdx.x
        s[t] = a[t]
        cuda.syncthreads()
        n = 16
        while n > 0:
            v = s[t + n] if t < n else np.float32(0)  # there
            if not fault:
                cuda.syncwarp()
            s[t] += v  # here
            if not fault:
                cuda.syncwarp()
            n //= 2
        if t == 0:
            out[0] = s[0]

    return k


@planted("kernel-warp", "reads the value of lane 20, which does not take part", 1, 32, integers(-32))
def value_of_a_lane_that_has_ended(fault):
    def k(out):
        t = cuda.threadIdx.x
        if fault and t >= 20:
            return
        out[t] = cuda.shfl_down_sync(FULL, t, 4)  # here

    return k


@planted("kernel-warp", "the mask 0x0000ffff does not name lane 16", 1, 32, integers(-32))
def mask_without_the_own_lane(fault):
    def k(out):
        t = cuda.threadIdx.x
        out[t] = cuda.ballot_sync(0xFFFF if fault else FULL, t > 3) & 7  # here

    return k


@planted("kernel-race", "in shared memory", 1, 32, floats(-32), shared=512)
def views_of_dynamic_memory_that_overlap(fault):
    def k(out):
        numbers = cuda.shared.array(0, np.float32)
        flags = cuda.shared.array(0, np.int32)
        t = cuda.threadIdx.x
        numbers[t] = t  # there
        flags[31 - t if fault else 32 + t] = 1  # here
        cuda.syncthreads()
        out[t] = numbers[t]

    return k


@planted("kernel-race", "in global memory", 2, 64, lambda: (*floats(128, -128)(), np.int32(4)))
def heat_without_waiting_for_the_grid(fault):
    def k(u, v, steps):
        i = cuda.grid(1)
        g = cuda.cg.this_grid()
        for s in range(steps):
            if 0 < i < u.size - 1:
                if s % 2 == 0:
                    v[i] = u[i] + np.float32(0.25) * (u[i - 1] - np.float32(2.0) * u[i] + u[i + 1])
                else:
                    u[i] = v[i] + np.float32(0.25) * (v[i - 1] - np.float32(2.0) * v[i] + v[i + 1])
            if fault:
                cuda.syncthreads()
            else:
                g.sync()

    return k


def _last_block(with_fence, fenced_by_all):
    def k(a, partial, count, out):
        last = cuda.shared.array(1, np.int32)
        t, b = cuda.threadIdx.x, cuda.blockIdx.x
        if t < 2:
            partial[b * 2 + t] = a[b * 2 + t]
        if with_fence and fenced_by_all:
            cuda.threadfence()
            cuda.syncthreads()
        elif with_fence:
            cuda.syncthreads()
            if t == 0:
                cuda.threadfence()
        else:
            cuda.syncthreads()
        if t == 0:
            last[0] = cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1
        cuda.syncthreads()
        if last[0]:
            if t == 33:
                total = np.float32(0)
                for i in range(partial.size):
                    total += partial[i]
                out[0] = total

    return k


SUMS = lambda: (*floats(16, -16)(), np.zeros(1, np.int32), np.zeros(1, np.float32))


@planted("kernel-race", "in global memory", 8, 64, SUMS)
def last_block_without_a_fence(fault):
    return _last_block(not fault, True)


@planted("kernel-race", "in global memory", 8, 64, SUMS)
def last_block_whose_first_thread_fences(fault):
    return _last_block(not fault, False)


@planted("kernel-race", "meet at an element in shared memory", 1, 32, floats(-32))
def whole_array_written_by_all(fault):
    def k(out):
        s = cuda.shared.array(8, np.float32)
        t = cuda.threadIdx.x
        if fault or t == 0:
            s[:] = 1  # here
        cuda.syncthreads()
        out[t] = s[t % 8]

    return k


@planted("kernel-race", "in shared memory", 1, 64, floats(-64))
def fields_of_records(fault):
    def k(out):
        s = cuda.shared.array(32, PAIR)
        t = cuda.threadIdx.x
        if t % 2 == 0 or fault:
            s[t // 2].x = t  # here
        else:
            s[t // 2].y = t
        cuda.syncthreads()
        out[t] = s[t // 2].x

    return k


@planted("kernel-race", "meet at `a[2, 0]` in global memory", (1, 1), (4, 4), lambda: (np.zeros((4, 5), np.int8),))
def bytes_beside_each_other(fault):
    def k(a):
        x, y = cuda.grid(2)
        a[x, y // 2 if fault and x == 2 else y] = 1  # here

    return k
