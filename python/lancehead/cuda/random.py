"""Random numbers for kernels: xoroshiro128+, one state to each thread, with the states and numbers of numba-cuda.

The generator is by Blackman and Vigna, its seeding by splitmix64; both are in the public domain.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lancehead.cuda.devicearray import DeviceNDArray, device_array
from lancehead.cuda.dispatcher import jit
from lancehead.cuda.names import Name

xoroshiro128p_dtype = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)

init_xoroshiro128p_state = Name("cuda.random.init_xoroshiro128p_state")
xoroshiro128p_jump = Name("cuda.random.xoroshiro128p_jump")
xoroshiro128p_next = Name("cuda.random.xoroshiro128p_next")
xoroshiro128p_uniform_float32 = Name("cuda.random.xoroshiro128p_uniform_float32")
xoroshiro128p_uniform_float64 = Name("cuda.random.xoroshiro128p_uniform_float64")
xoroshiro128p_normal_float32 = Name("cuda.random.xoroshiro128p_normal_float32")
xoroshiro128p_normal_float64 = Name("cuda.random.xoroshiro128p_normal_float64")


@jit
def _initialise(states: Any, seed: Any, start: int) -> None:
    # One thread: each state is the one before, 2**64 steps on.
    n = states.shape[0]
    if n > 0:
        init_xoroshiro128p_state(states, 0, seed)
        for _ in range(start):
            xoroshiro128p_jump(states, 0)
        for i in range(1, n):
            states[i] = states[i - 1]
            xoroshiro128p_jump(states, i)


def init_xoroshiro128p_states(states: Any, seed: int, subsequence_start: int = 0, stream: Any = 0) -> None:
    """Sets states: each is 2**64 steps after the one before, the first so many such steps after the seed."""
    made = create_xoroshiro128p_states(len(states), seed, subsequence_start, stream)
    if isinstance(states, DeviceNDArray):
        states.copy_to_device(made)
    else:
        states[:] = made.copy_to_host()


def create_xoroshiro128p_states(n: int, seed: int, subsequence_start: int = 0, stream: Any = 0) -> DeviceNDArray:
    """New states on the device, see `init_xoroshiro128p_states`."""
    states = device_array(n, xoroshiro128p_dtype, stream=stream)
    _initialise[1, 1, stream](states, np.uint64(seed), subsequence_start)
    return states
