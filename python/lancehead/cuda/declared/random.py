"""Random numbers in kernels, from states that `cuda.random.create_xoroshiro128p_states` makes: one for each thread."""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from typing import Any


def init_xoroshiro128p_state(states: Any, index: int, seed: int) -> None:
    """Sets a state from a seed.

    >>> @cuda.jit
    ... def kernel(states): cuda.random.init_xoroshiro128p_state(states, 0, 42)
    >>> states = np.zeros(1, cuda.random.xoroshiro128p_dtype); kernel[1, 1](states); bool(states["s0"][0] != 0)
    True
    """


def xoroshiro128p_next(states: Any, index: int) -> int:
    """The next 64 bits of a state, as an unsigned integer.

    >>> @cuda.jit
    ... def kernel(states, out): out[0] = cuda.random.xoroshiro128p_next(states, 0)
    >>> states, out = cuda.random.create_xoroshiro128p_states(1, seed=1), np.zeros(1, np.uint64)
    >>> kernel[1, 1](states, out); bool(out[0] != 0)
    True
    """


def xoroshiro128p_jump(states: Any, index: int) -> None:
    """Moves a state on by 2**64 numbers: another sequence, which does not overlap with the one before.

    >>> @cuda.jit
    ... def kernel(states): cuda.random.xoroshiro128p_jump(states, 1)
    >>> states = cuda.random.create_xoroshiro128p_states(1, seed=1).copy_to_host().repeat(2)
    >>> kernel[1, 1](states); bool(states[0] != states[1])
    True
    """


def xoroshiro128p_uniform_float64(states: Any, index: int) -> float:
    """The next `float64` of a state, from 0 to before 1.

    >>> @cuda.jit
    ... def kernel(states, out): out[cuda.grid(1)] = cuda.random.xoroshiro128p_uniform_float64(states, cuda.grid(1))
    >>> states, out = cuda.random.create_xoroshiro128p_states(32, seed=1), np.zeros(32)
    >>> kernel[1, 32](states, out); bool(0 <= out.min() < out.max() < 1)
    True
    """


def xoroshiro128p_uniform_float32(states: Any, index: int) -> float:
    """The next `float32` of a state, from 0 to before 1.

    >>> @cuda.jit
    ... def kernel(states, out): out[cuda.grid(1)] = cuda.random.xoroshiro128p_uniform_float32(states, cuda.grid(1))
    >>> states, out = cuda.random.create_xoroshiro128p_states(32, seed=1), np.zeros(32, np.float32)
    >>> kernel[1, 32](states, out); bool(0 <= out.min() < out.max() < 1)
    True
    """


def xoroshiro128p_normal_float64(states: Any, index: int) -> float:
    """The next `float64` of the standard normal distribution; it takes two numbers of the state.

    >>> @cuda.jit
    ... def kernel(states, out): out[cuda.grid(1)] = cuda.random.xoroshiro128p_normal_float64(states, cuda.grid(1))
    >>> states, out = cuda.random.create_xoroshiro128p_states(32, seed=1), np.zeros(32)
    >>> kernel[1, 32](states, out); bool(out.min() < 0 < out.max())
    True
    """


def xoroshiro128p_normal_float32(states: Any, index: int) -> float:
    """The next `float32` of the standard normal distribution; it takes two numbers of the state.

    >>> @cuda.jit
    ... def kernel(states, out): out[cuda.grid(1)] = cuda.random.xoroshiro128p_normal_float32(states, cuda.grid(1))
    >>> states, out = cuda.random.create_xoroshiro128p_states(32, seed=1), np.zeros(32, np.float32)
    >>> kernel[1, 32](states, out); bool(out.min() < 0 < out.max())
    True
    """
