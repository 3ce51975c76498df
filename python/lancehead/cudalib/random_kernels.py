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
def xorwow_threads(start, counter, table):
    """The states of all threads, which are 2**67 steps from each other: a row for each of five words and a counter."""
    states = np.empty((6, XORWOW_THREADS), np.uint32)
    v, far = start.copy(), np.empty(5, np.uint32)
    for i in range(XORWOW_THREADS):
        states[:5, i], states[5, i] = v, np.uint32(counter)
        far[:] = 0
        for k in range(20):
            far ^= table[k, (v[k // 4] >> np.uint32(8 * (k % 4))) & np.uint32(255)]
        v[:] = far
    return states


@njit
def xorwow_words(states, turn, out):
    """Words of the threads from one on, as many of each as `out` has rows."""
    done = 0
    while done < out.shape[1]:
        begin = (turn + done) % XORWOW_THREADS
        count = min(XORWOW_THREADS - begin, out.shape[1] - done)
        part = states[:, begin : begin + count]
        x0, x1, x2, x3, x4, d = part[0], part[1], part[2], part[3], part[4], part[5]
        for j in range(out.shape[0]):
            words = out[j, done : done + count]
            for i in range(count):
                t = x0[i] ^ (x0[i] >> np.uint32(2))
                last = x4[i]
                new = (last ^ (last << np.uint32(4))) ^ (t ^ (t << np.uint32(1)))
                x0[i], x1[i], x2[i], x3[i], x4[i] = x1[i], x2[i], x3[i], last, new
                d[i] = d[i] + np.uint32(362437)
                words[i] = new + d[i]
        done += count


@njit
def _applied(matrix, v, first, m):
    a, b, c = v[first], v[first + 1], v[first + 2]
    for i in range(3):
        total = matrix[i, 0] * a % m
        total = (total + matrix[i, 1] * b % m) % m
        v[first + i] = (total + matrix[i, 2] * c % m) % m


@njit
def mrg_threads(start, jump1, jump2):
    """The states of all threads, which two matrices lead from one to the next: a row for each of six words."""
    states, v = np.empty((6, MRG_THREADS), np.uint64), start.copy()
    m1, m2 = np.uint64(M1), np.uint64(M2)
    for i in range(MRG_THREADS):
        states[:, i] = v
        _applied(jump1, v, 0, m1)
        _applied(jump2, v, 3, m2)
    return states


@njit
def mrg_words(states, turn, out):
    """Numbers from 1 to M1 of the threads from one on, as many of each as `out` has rows.

    2**32 is 209 more than M1 and 22853 more than M2, so that the upper half of a number is 209 or 22853 times itself.
    """
    m1, m2, low, half = np.uint64(M1), np.uint64(M2), np.uint64(0xFFFFFFFF), np.uint64(32)
    over1, over2 = np.uint64(209), np.uint64(22853)
    done = 0
    while done < out.shape[1]:
        begin = (turn + done) % MRG_THREADS
        count = min(MRG_THREADS - begin, out.shape[1] - done)
        part = states[:, begin : begin + count]
        a0, a1, a2, b0, b1, b2 = part[0], part[1], part[2], part[3], part[4], part[5]
        for j in range(out.shape[0]):
            words = out[j, done : done + count]
            for i in range(count):
                p = np.uint64(1403580) * a1[i] + np.uint64(810728) * (m1 - a0[i])
                p = (p >> half) * over1 + (p & low)
                p = p - m1 if p >= m1 else p
                p = p - m1 if p >= m1 else p
                q = np.uint64(527612) * b2[i] + np.uint64(1370589) * (m2 - b0[i])
                q = (q >> half) * over2 + (q & low)
                q = (q >> half) * over2 + (q & low)
                q = q - m2 if q >= m2 else q
                a0[i], a1[i], a2[i], b0[i], b1[i], b2[i] = a1[i], a2[i], p, b1[i], b2[i], q
                words[i] = np.uint32(p - q if p > q else p + m1 - q)
        done += count


@njit
def philox_words(seed, used, element, paired, out):
    """Words of elements from one on: a column of `out` for each. Four elements of one thread follow each other, then it
    is the next one's turn; `used` counts the words that each thread has given. If they are paired, two elements are of
    the same words."""
    half, width, count = np.uint64(32), out.shape[0], out.shape[1]
    k0, k1 = np.uint32(seed), np.uint32(seed >> half)
    words = (2 if paired else 4) * width
    first = element // 4
    for group in range(first, (element + count + 3) // 4):
        thread = group % PHILOX_THREADS
        start = 4 * group - element
        for q in range(0, words, 4):
            block = np.uint64((used[thread] + q) // 4)
            c0, c1 = np.uint32(block), np.uint32(block >> half)
            found = philox4x32(c0, c1, np.uint32(thread), np.uint32(0), k0, k1)
            if width == 1 and 0 <= start and start + 4 <= count:
                out[0, start], out[0, start + 1], out[0, start + 2], out[0, start + 3] = found
                continue
            for r in range(4):
                place, j = (q + r) // width, (q + r) % width
                if paired:
                    place *= 2
                    if 0 <= start + place + 1 < count:
                        out[j, start + place + 1] = found[r]
                if 0 <= start + place < count:
                    out[j, start + place] = found[r]
        if start + 4 <= count:
            used[thread] += words


# --- Numbers of words -------------------------------------------------------------------------------------------------


@njit
def mrg_bits(words, out):
    """Words of 32 bits of numbers from 1 to M1."""
    for i in range(out.size):
        out[i] = np.uint32(np.float64(words[0, i]) * 1.000000048662)


@njit
def uniform(words, is_mrg, first, out):
    """Numbers above 0 and up to 1 of the rows of words from one on: of one row if they are of 32 bits or of MRG32k3a,
    else of two."""
    low = words[first]
    if is_mrg:
        for i in range(out.size):
            out[i] = np.float64(low[i]) * 2.3283065498378288e-10
    elif out.itemsize == 4:
        for i in range(out.size):
            out[i] = np.float32(low[i]) * np.float32(2.3283064365386963e-10) + np.float32(1.1641532182693481e-10)
    else:
        high = words[first + 1]
        for i in range(out.size):
            z = np.uint64(low[i]) ^ (np.uint64(high[i]) << np.uint64(21))
            out[i] = np.float64(z) * 1.1102230246251565e-16 + 5.551115123125783e-17


@njit
def sides(u, v, mean, deviation, sines, cosines):
    """Pairs of normal numbers by Box and Muller, of two uniform ones each."""
    two, turn = u.dtype.type(-2), u.dtype.type(6.283185307179586)
    for i in range(u.size):
        size, angle = np.sqrt(two * np.log(u[i])), v[i] * turn
        sines[i] = mean + deviation * (size * np.sin(angle))
        cosines[i] = mean + deviation * (size * np.cos(angle))


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
