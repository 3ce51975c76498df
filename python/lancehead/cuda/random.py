"""Random numbers for kernels: xoroshiro128+, one state to each thread, with the states and numbers of numba-cuda.

The generator is by Blackman and Vigna, its seeding by splitmix64; both are in the public domain.
"""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from lancehead.cuda.devicearray import DeviceNDArray, device_array, to_device
from lancehead.cuda.dispatcher import jit
from lancehead.cuda.names import Name, grid
from lancehead.options import public

xoroshiro128p_dtype = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)

if TYPE_CHECKING:
    from lancehead.cuda.declared.random import (
        init_xoroshiro128p_state,
        xoroshiro128p_jump,
        xoroshiro128p_next,
        xoroshiro128p_normal_float32,
        xoroshiro128p_normal_float64,
        xoroshiro128p_uniform_float32,
        xoroshiro128p_uniform_float64,
    )  # fmt: skip
else:
    init_xoroshiro128p_state = Name("cuda.random.init_xoroshiro128p_state")
    xoroshiro128p_jump = Name("cuda.random.xoroshiro128p_jump")
    xoroshiro128p_next = Name("cuda.random.xoroshiro128p_next")
    xoroshiro128p_uniform_float32 = Name("cuda.random.xoroshiro128p_uniform_float32")
    xoroshiro128p_uniform_float64 = Name("cuda.random.xoroshiro128p_uniform_float64")
    xoroshiro128p_normal_float32 = Name("cuda.random.xoroshiro128p_normal_float32")
    xoroshiro128p_normal_float64 = Name("cuda.random.xoroshiro128p_normal_float64")


_WORD = (1 << 64) - 1
_THREADS = 32
# States that one thread makes, each from the one before.
_RUN = 64
# The jump polynomial, by its authors: which of the next 128 states are added up for the one 2**64 steps on.
_JUMP = 0xD86B048B86AA9922BEAC0467EBA5FACB


@jit
def _make_runs(states: Any, first: Any) -> None:
    thread = grid(1)
    if thread < first.shape[0]:
        start = thread * _RUN
        states[start] = first[thread]
        for i in range(start + 1, min(states.shape[0], start + _RUN)):
            states[i] = states[i - 1]
            xoroshiro128p_jump(states, i)


def _first_states(runs: int, seed: int, start: int) -> np.ndarray:
    """The first state of each run. A jump is linear over bits, so many at a time are a product of matrices, whose rows
    are states."""
    made = np.empty(runs, xoroshiro128p_dtype)
    made[:1] = _splitmix64(seed)
    jump, known = _matrix_of_jump(), min(runs, 1)
    for bit in range(start.bit_length()):
        if start >> bit & 1:
            made[:known] = _product(jump, made[:known])
        jump = _product(jump, jump) if start >> bit + 1 else jump
    jump = _matrix_of_jump()
    for _ in range(_RUN.bit_length() - 1):
        jump = _product(jump, jump)
    while known < runs:
        more = made[known : 2 * known]
        more[:] = _product(jump, made[: len(more)])
        known += len(more)
        jump = _product(jump, jump)
    return made


def _splitmix64(seed: int) -> tuple[int, int]:
    z = (seed + 0x9E3779B97F4A7C15) & _WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _WORD
    z ^= z >> 31
    return z, z


def _matrix_of_jump() -> np.ndarray:
    """The matrix of a jump: the state after it, for each state with a single bit set."""
    bits = np.zeros(128, xoroshiro128p_dtype)
    bits["s0"][:64] = bits["s1"][64:] = np.uint64(1) << np.arange(64, dtype=np.uint64)
    made = np.zeros_like(bits)
    for i in range(128):
        if _JUMP >> i & 1:
            made["s0"] ^= bits["s0"]
            made["s1"] ^= bits["s1"]
        s0, s1 = bits["s0"], bits["s1"] ^ bits["s0"]
        bits["s0"], bits["s1"] = _rotated(s0, 55) ^ s1 ^ s1 << np.uint64(14), _rotated(s1, 36)
    return made


def _rotated(x: np.ndarray, by: int) -> np.ndarray:
    return x << np.uint64(by) | x >> np.uint64(64 - by)


def _product(matrix: np.ndarray, states: np.ndarray) -> np.ndarray:
    """A linear function of each of some states."""
    made = np.zeros_like(states)
    for i, row in enumerate(matrix):
        is_set = (states["s1" if i >= 64 else "s0"] >> np.uint64(i % 64) & np.uint64(1)).astype(bool)
        for part in ("s0", "s1"):
            np.bitwise_xor(made[part], row[part], out=made[part], where=is_set)
    return made


def init_xoroshiro128p_states(states: Any, seed: int, subsequence_start: int = 0, stream: Any = 0) -> None:
    """Sets states: each is 2**64 steps after the one before, the first so many such steps after the seed.

    >>> states = np.zeros(3, cuda.random.xoroshiro128p_dtype)
    >>> cuda.random.init_xoroshiro128p_states(states, seed=1)
    >>> bool((states["s0"] != 0).all())
    True
    """
    made = create_xoroshiro128p_states(len(states), seed, subsequence_start, stream)
    if isinstance(states, DeviceNDArray):
        states.copy_to_device(made)
    else:
        states[:] = made.copy_to_host()


def create_xoroshiro128p_states(n: int, seed: int, subsequence_start: int = 0, stream: Any = 0) -> DeviceNDArray:
    """New states on the device, see `init_xoroshiro128p_states`.

    >>> @cuda.jit
    ... def kernel(states, out): out[cuda.grid(1)] = cuda.random.xoroshiro128p_uniform_float64(states, cuda.grid(1))
    >>> out = np.zeros(32)
    >>> kernel[1, 32](cuda.random.create_xoroshiro128p_states(32, seed=1), out)
    >>> bool(0 <= out.min() < out.max() < 1)
    True
    """
    states, runs = device_array(n, xoroshiro128p_dtype, stream=stream), -(-n // _RUN)
    if n:
        first = to_device(_first_states(runs, int(np.uint64(seed)), max(0, index(subsequence_start))), stream)
        _make_runs[-(-runs // _THREADS), _THREADS, stream](states, first)
    return states


def __dir__() -> list[str]:
    return [name for name in globals() if "xoroshiro128p" in name and name[0] != "_"]


public(globals())
