"""Accesses of a thread to one memory keep their order in vectorised rows of threads."""

from __future__ import annotations

import numpy as np
import pytest

from lancehead import cuda

pytestmark = pytest.mark.optimised


@cuda.jit
def of_own_memory(out, n):
    t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
    lane, i = t % 32, cuda.blockIdx.x * 96 + t
    own = cuda.local.array(4, np.int64)
    for j in range(4):
        own[j] = t + j
    own[(lane // 6) & 3] = 1000
    own[3] = i * 7
    if n > 3:
        pass
    out[i] = own[n & 3]


def test_an_index_between_constant_ones():
    out = np.zeros(288, np.int64)
    for n in range(8):
        of_own_memory[3, (24, 4)](out, n)
        i, k = np.arange(288), n & 3
        t = i % 96
        want = np.where((t % 32 // 6) & 3 == k, 1000, t + k) if k < 3 else 7 * i
        np.testing.assert_array_equal(out, want)


@cuda.jit
def of_global_memory(a, at):
    i = cuda.grid(1)
    if i < at.size:
        a[4 * i] = 1.0
        a[4 * i + 1] = 2.0
        a[at[i]] = 3.0
        a[4 * i + 2] = 4.0
        a[4 * i + 3] = 5.0


@pytest.mark.parametrize("place", range(4))
def test_a_store_among_neighbours(place):
    n = 200
    at = 4 * np.arange(n) + place
    a = np.zeros(4 * n)
    of_global_memory[4, 64](a, at)
    want = np.tile([1.0, 2.0, 4.0, 5.0], n)
    # The two last ones are stored after it.
    want[at] = 3.0 if place < 2 else want[at]
    np.testing.assert_array_equal(a, want)


@cuda.jit
def of_read_memory(a, at, out):
    i = cuda.grid(1)
    if i < at.size:
        x = a[2 * i]
        a[at[i]] = 7
        out[i] = x + 10 * a[2 * i + 1]


@pytest.mark.parametrize("place", range(2))
def test_a_load_after_a_store(place):
    n = 100
    a, out = np.ones(2 * n, np.int64), np.zeros(n, np.int64)
    of_read_memory[2, 64](a, 2 * np.arange(n) + place, out)
    np.testing.assert_array_equal(out, 71 if place else 11)


@cuda.jit
def of_one_of_two_memories(out, at, first):
    i = cuda.grid(1)
    if i < at.size:
        own, other = cuda.local.array(4, np.float64), cuda.local.array(4, np.float64)
        either = own if first else other
        one_of_both = own if i % 3 else other
        own[0] = 1.0
        own[1] = 2.0
        either[at[i]] = 3.0
        one_of_both[at[i] ^ 1] = 4.0
        own[2] = 5.0
        own[3] = 6.0
        for k in range(4):
            out[4 * i + k] = own[k]


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("place", range(4))
def test_memory_that_may_be_either(place, first):
    n = 200
    out = np.zeros(4 * n)
    of_one_of_two_memories[4, 64](out, np.full(n, place), first)
    want = np.tile([1.0, 2.0, 5.0, 6.0], (n, 1))
    if place < 2:
        want[:, place] = 3.0 if first else want[:, place]
        want[np.arange(n) % 3 != 0, place ^ 1] = 4.0
    np.testing.assert_array_equal(out, want.ravel())
