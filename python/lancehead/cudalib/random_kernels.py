"""The streams of cuRAND's generators on the CPU device, compiled.

A generator stands for many threads, which take turns: 4096 of XORWOW, 81920 of MRG32k3a, 65536 of Philox, each with a
sequence of its own. A number, or a pair of normal ones, takes its words from the thread whose turn it is.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np

from lancehead.decorators import njit
from lancehead.xp.drawing import philox4x32

XORWOW_THREADS, MRG_THREADS, PHILOX_THREADS = 4096, 81920, 65536
M1, M2 = 4294967087, 4294944443


@njit
def _xorwow_step(x):
    t = x[0] ^ (x[0] >> np.uint32(2))
    new = (x[4] ^ (x[4] << np.uint32(4))) ^ (t ^ (t << np.uint32(1)))
    x[0], x[1], x[2], x[3], x[4] = x[1], x[2], x[3], x[4], new
    x[5] = np.uint32(x[5] + np.uint32(362437))
    return np.uint32(new + x[5])


@njit
def xorwow_threads(start, counter, table):
    """The states of all threads, which are 2**67 steps from each other: five words and a counter."""
    states = np.empty((XORWOW_THREADS, 6), np.uint32)
    v, far = start.copy(), np.empty(5, np.uint32)
    for i in range(XORWOW_THREADS):
        states[i, :5], states[i, 5] = v, np.uint32(counter)
        far[:] = 0
        for k in range(20):
            far ^= table[k, (v[k // 4] >> np.uint32(8 * (k % 4))) & np.uint32(255)]
        v[:] = far
    return states


@njit
def xorwow_words(states, turn, out):
    """Words of the threads from one on, as many of each as a row of `out` has."""
    for i in range(out.shape[0]):
        state = states[(turn + i) % XORWOW_THREADS]
        for j in range(out.shape[1]):
            out[i, j] = _xorwow_step(state)


@njit
def _applied(matrix, v, first, m):
    a, b, c = v[first], v[first + 1], v[first + 2]
    for i in range(3):
        total = matrix[i, 0] * a % m
        total = (total + matrix[i, 1] * b % m) % m
        v[first + i] = (total + matrix[i, 2] * c % m) % m


@njit
def mrg_threads(start, jump1, jump2):
    """The states of all threads, which two matrices lead from one to the next."""
    states, v = np.empty((MRG_THREADS, 6), np.uint64), start.copy()
    m1, m2 = np.uint64(M1), np.uint64(M2)
    for i in range(MRG_THREADS):
        states[i] = v
        _applied(jump1, v, 0, m1)
        _applied(jump2, v, 3, m2)
    return states


@njit
def mrg_words(states, turn, out):
    """Numbers from 1 to M1 of the threads from one on, as many of each as a row of `out` has."""
    m1, m2 = np.uint64(M1), np.uint64(M2)
    for i in range(out.shape[0]):
        s = states[(turn + i) % MRG_THREADS]
        for j in range(out.shape[1]):
            p1 = (np.uint64(1403580) * s[1] + np.uint64(810728) * (m1 - s[0])) % m1
            p2 = (np.uint64(527612) * s[5] + np.uint64(1370589) * (m2 - s[3])) % m2
            s[0], s[1], s[2], s[3], s[4], s[5] = s[1], s[2], p1, s[4], s[5], p2
            out[i, j] = np.uint32(p1 - p2 if p1 > p2 else p1 + m1 - p2)


@njit
def philox_words(seed, used, element, paired, out):
    """Words of elements from one on. Four elements of one thread follow each other, then it is the next one's turn;
    `used` counts the words that each thread has given. If they are paired, two elements are of the same words."""
    half, width = np.uint64(32), out.shape[1]
    k0, k1 = np.uint32(seed), np.uint32(seed >> half)
    for i in range(out.shape[0]):
        place = (element + i) % 4
        thread = (element + i) // 4 % PHILOX_THREADS
        for j in range(width):
            at = used[thread] + (place // 2 if paired else place) * width + j
            block = np.uint64(at // 4)
            c0, c1 = np.uint32(block), np.uint32(block >> half)
            found = philox4x32(c0, c1, np.uint32(thread), np.uint32(0), k0, k1)
            out[i, j] = found[at % 4]
        if place == 3:
            used[thread] += (2 if paired else 4) * width


# --- Numbers of words -------------------------------------------------------------------------------------------------


@njit
def mrg_bits(words, out):
    """Words of 32 bits of numbers from 1 to M1."""
    for i in range(out.size):
        out[i] = np.uint32(np.float64(words[i, 0]) * 1.000000048662)


@njit
def uniform(words, is_mrg, out):
    """Numbers above 0 and up to 1, of one word each if they are of 32 bits or of MRG32k3a, else of two."""
    for i in range(out.size):
        out[i] = _one(words, i, 0, is_mrg, out)


@njit
def _one(words, i, j, is_mrg, out):
    if is_mrg:
        return out.dtype.type(np.float64(words[i, j]) * 2.3283065498378288e-10)
    if out.itemsize == 4:
        return out.dtype.type(
            np.float32(words[i, j]) * np.float32(2.3283064365386963e-10) + np.float32(1.1641532182693481e-10)
        )
    z = np.uint64(words[i, j]) ^ (np.uint64(words[i, j + 1]) << np.uint64(21))
    return out.dtype.type(np.float64(z) * 1.1102230246251565e-16 + 5.551115123125783e-17)


@njit
def normal(words, is_mrg, first, per_row, mean, deviation, out):
    """Normal numbers by Box and Muller of two uniform ones: the sine for even elements, the cosine for odd ones. A row
    of words is for one element, or for two."""
    second = 1 if is_mrg or out.itemsize == 4 else 2
    for i in range(out.size):
        row = i // per_row
        u, v = _one(words, row, 0, is_mrg, out), _one(words, row, second, is_mrg, out)
        angle = v * out.dtype.type(6.283185307179586)
        side = np.sin(angle) if (first + i) % 2 == 0 else np.cos(angle)
        out[i] = mean + deviation * (np.sqrt(out.dtype.type(-2) * np.log(u)) * side)


@njit
def exponentials(out):
    """The exponentials, in place."""
    for i in range(out.size):
        out[i] = np.exp(out[i])


@njit
def counts(numbers, first, shares, out):
    """For numbers from 0 to 1 the least counts from `first` on whose share of the distribution is as great."""
    for i in range(out.size):
        low, high = 0, shares.size - 1
        while low < high:
            middle = (low + high) // 2
            if shares[middle] >= numbers[i]:
                high = middle
            else:
                low = middle + 1
        out[i] = first + low


@njit
def sobol(directions, offset, out):
    """Points of a Sobol sequence from one on in the order of Gray's code: a row of `out` for each dimension."""
    for d in range(out.shape[0]):
        x = out.dtype.type(0)
        gray = offset ^ (offset >> 1)
        k = 0
        while gray >> k:
            if gray >> k & 1:
                x ^= directions[d, k]
            k += 1
        for i in range(out.shape[1]):
            out[d, i] = x
            k, n = 0, offset + i
            while n >> k & 1:
                k += 1
            if k < directions.shape[1]:
                x ^= directions[d, k]
