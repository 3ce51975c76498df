"""xoroshiro128+ by Blackman and Vigna, in kernels: a state is a record of two 64-bit numbers."""

import numpy as np

from lancehead.lib import prim


def _u64(x):
    return prim.cast(x, np.uint64)


def _rotl(x, k):
    return (x << _u64(k)) | (x >> _u64(64 - k))


def init_xoroshiro128p_state(states, index, seed):
    """Sets a state from a seed, by splitmix64."""
    z = _u64(seed) + _u64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> _u64(30))) * _u64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> _u64(27))) * _u64(0x94D049BB133111EB)
    z = z ^ (z >> _u64(31))
    states[index].s0 = z
    states[index].s1 = z


def xoroshiro128p_next(states, index):
    """The next 64 bits."""
    s0, s1 = states[index].s0, states[index].s1
    result = s0 + s1
    s1 = s1 ^ s0
    states[index].s0 = _rotl(s0, 55) ^ s1 ^ (s1 << _u64(14))
    states[index].s1 = _rotl(s1, 36)
    return result


def xoroshiro128p_jump(states, index):
    """Goes on by 2**64 steps."""
    s0, s1 = _u64(0), _u64(0)
    for word in (_u64(0xBEAC0467EBA5FACB), _u64(0xD86B048B86AA9922)):
        for b in range(64):
            if word & (_u64(1) << _u64(b)) != _u64(0):
                s0 = s0 ^ states[index].s0
                s1 = s1 ^ states[index].s1
            xoroshiro128p_next(states, index)
    states[index].s0 = s0
    states[index].s1 = s1


def xoroshiro128p_uniform_float64(states, index):
    """A number from 0 to before 1."""
    return float(xoroshiro128p_next(states, index) >> _u64(11)) * 1.1102230246251565e-16


def xoroshiro128p_uniform_float32(states, index):
    """A number from 0 to before 1."""
    return prim.cast(xoroshiro128p_uniform_float64(states, index), np.float32)


def xoroshiro128p_normal_float64(states, index):
    """A number of the standard normal distribution, by Box and Muller; of uniform ones that are `float32`, as Numba has
    it."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return prim.sqrt(-2.0 * float(prim.log(u1))) * prim.cos(6.283185307179586 * float(u2))


def xoroshiro128p_normal_float32(states, index):
    """A number of the standard normal distribution, by Box and Muller."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    two_pi = prim.cast(6.283185307179586, np.float32)
    return prim.sqrt(prim.cast(-2.0, np.float32) * prim.log(u1)) * prim.cos(two_pi * u2)
