"""The compiled functions of random numbers: Philox4x32-10 of Salmon et al., and the laws of what is made of its words.

Numbers `i` of a call have a key and a counter: the block of `i` (64 bits), the call (48 bits), and for laws that try
again the number of the attempt (16 bits). Each depends on these alone, so that threads and devices do not matter.
"""

from __future__ import annotations

import math

import numpy as np

from lancehead.decorators import njit, prange
from lancehead.lib.primitives import counters

#: Numbers that a thread makes at a time.
STRIP = 4096

#: Inlined wherever it is, as functions of the library are: loops with calls in them are not vectorised.
philox4x32 = njit(counters.philox4x32)
words = njit(counters.words)
#: Kernels round a product and its sum once. Here it is said, so that numbers have the same bits everywhere.
fused = njit(counters.fused)


@njit
def unit(a, b):  # type: ignore[no-untyped-def]
    """A number from 0 to before 1 of 53 bits."""
    high, low = np.float64(a >> np.uint32(5)), np.float64(b >> np.uint32(6))
    return (high * 67108864.0 + low) * 1.1102230246251565e-16


@njit
def uniform(a, b, c, d):  # type: ignore[no-untyped-def]
    """Two numbers from 0 to before 1."""
    return unit(a, b), unit(c, d)


@njit
def uniform32(a, b, c, d):  # type: ignore[no-untyped-def]
    """Four numbers from 0 to before 1 of 24 bits."""
    scale, eight = np.float32(5.9604644775390625e-08), np.uint32(8)
    one, two = np.float32(a >> eight) * scale, np.float32(b >> eight) * scale
    return one, two, np.float32(c >> eight) * scale, np.float32(d >> eight) * scale


@njit
def normal(a, b, c, d):  # type: ignore[no-untyped-def]
    """Two numbers of the standard normal distribution, by Box and Muller."""
    radius, angle = np.sqrt(-2.0 * np.log(1.0 - unit(a, b))), 6.283185307179586 * unit(c, d)
    return radius * np.cos(angle), radius * np.sin(angle)


@njit
def normal32(a, b, c, d):  # type: ignore[no-untyped-def]
    """The same as `float32`."""
    one, other = normal(a, b, c, d)
    return np.float32(one), np.float32(other)


@njit
def joined(a, b):  # type: ignore[no-untyped-def]
    """64 bits of two words."""
    return np.uint64(a) << np.uint64(32) | np.uint64(b)


@njit
def pair64(a, b, c, d):  # type: ignore[no-untyped-def]
    """Two numbers of 64 bits."""
    return joined(a, b), joined(c, d)


@njit
def scaled(x, count):  # type: ignore[no-untyped-def]
    """The upper and the lower 64 bits of a product of 64 bits each."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a, b, c, d = x >> half, x & low, count >> half, count & low
    middle = a * d + (b * d >> half)
    other = b * c + (middle & low)
    return a * c + (middle >> half) + (other >> half), x * count


@njit
def below(i, count, least, call, key):  # type: ignore[no-untyped-def]
    """An integer from 0 to before `count`, all equally probable, by Lemire; `count` 0 stands for 2**64.

    `least` is the remainder of 2**64 and `count`.
    """
    attempt, found, low = 0, np.uint64(0), np.uint64(0)
    while True:
        a, b, c, d = words(i >> np.uint64(1), attempt, call, key)
        word = joined(c, d) if i & np.uint64(1) else joined(a, b)
        if count == np.uint64(0):
            return word
        found, low = scaled(word, count)
        if low >= least:
            return found
        attempt += 1


# Laws with parameters have three functions: what the numbers of some parameters have in common; a number of the words
# of its first attempt; and that number and whether it is sure, without branches, for most numbers in loops of vectors.
@njit
def poisson_facts(lam, _):  # type: ignore[no-untyped-def]
    """Facts of the Poisson distribution of a mean."""
    if not 0.0 <= lam <= 9.2233720064847708e18:
        raise ValueError("lam < 0 or lam is NaN, or lam value too large")
    if lam < 10.0:
        return lam, np.exp(-lam), 0.0, 0.0, 0.0, 0.0, False
    slope = fused(2.53, np.sqrt(lam), 0.931)
    shift, fit, accept = fused(0.02483, slope, -0.059), 1.1239 + 1.1328 / (slope - 3.4), 0.9277 - 3.6224 / (slope - 2.0)
    return lam, np.log(lam), slope, shift, np.log(fit), accept, True


@njit
def poisson_trial(a, b, c, d, facts):  # type: ignore[no-untyped-def]
    """A number, if the first attempt is accepted without its logarithm."""
    lam, _, slope, shift, _, accept, _ = facts
    u, v = unit(a, b) - 0.5, 1.0 - unit(c, d)
    near = 0.5 - abs(u)
    k = np.floor(fused(2.0 * shift / max(near, 0.07) + slope, u, lam) + 0.43)
    return np.int64(k), (near >= 0.07) & (v <= accept)


@njit
def poisson_number(a, b, c, d, i, call, key, facts):  # type: ignore[no-untyped-def]
    """A number of the Poisson distribution: small means by inversion, others by Hörmann's rejection (PTRS)."""
    lam, log, slope, shift, fit, accept, _ = facts
    if lam < 10.0:
        # The logarithm's place has the probability of 0.
        u, p, count = unit(a, b), log, 0
        total = p
        while u >= total and p > 1e-20:
            count += 1
            p *= lam / count
            total += p
        return count
    attempt = 0
    while True:
        u, v = unit(a, b) - 0.5, 1.0 - unit(c, d)
        near = 0.5 - abs(u)
        k = np.floor(fused(2.0 * shift / near + slope, u, lam) + 0.43) if near > 0.0 else -1.0
        if near >= 0.07 and v <= accept:
            return np.int64(k)
        if (
            k >= 0.0
            and (near >= 0.013 or v <= near)
            and np.log(v) + fit - np.log(shift / (near * near) + slope) <= fused(k, log, -lam) - math.lgamma(k + 1.0)
        ):
            return np.int64(k)
        attempt += 1
        a, b, c, d = words(i, attempt, call, key)


@njit
def gamma_facts(shape, _):  # type: ignore[no-untyped-def]
    """Facts of the standard gamma distribution of a shape."""
    if not shape >= 0.0:
        raise ValueError("shape < 0")
    third = (shape if shape >= 1.0 else shape + 1.0) - 1.0 / 3.0
    return shape, third, 1.0 / np.sqrt(9.0 * third), shape >= 1.0


@njit
def gamma_trial(a, b, c, d, facts):  # type: ignore[no-untyped-def]
    """A number, if the first attempt is accepted."""
    _, third, scale, _ = facts
    x = np.sqrt(-2.0 * np.log(1.0 - unit(a, b))) * np.cos(1.4629180792671596e-09 * (np.float64(c) + 0.5))
    v = fused(scale, x, 1.0) ** 3
    u = (np.float64(d) + 0.5) * 2.3283064365386963e-10
    is_sure = (v > 0.0) & (np.log(u) < fused(0.5 * x, x, third * (1.0 - v + np.log(v))))
    return third * v, is_sure


@njit
def gamma_number(a, b, c, d, i, call, key, facts):  # type: ignore[no-untyped-def]
    """A number of the standard gamma distribution, by Marsaglia and Tsang."""
    shape, third, scale, _ = facts
    if shape == 0.0:
        return 0.0
    attempt = 0
    while True:
        x = np.sqrt(-2.0 * np.log(1.0 - unit(a, b))) * np.cos(1.4629180792671596e-09 * (np.float64(c) + 0.5))
        v = fused(scale, x, 1.0) ** 3
        u = (np.float64(d) + 0.5) * 2.3283064365386963e-10
        if v > 0.0 and np.log(u) < fused(0.5 * x, x, third * (1.0 - v + np.log(v))):
            break
        attempt += 1
        a, b, c, d = words(i, attempt, call, key)
    if shape >= 1.0:
        return third * v
    a, b, _, _ = words(i, 65535, call, key)
    return third * v * (1.0 - unit(a, b)) ** (1.0 / shape)


@njit
def binomial_facts(n, p):  # type: ignore[no-untyped-def]
    """Facts of the binomial distribution of a number of trials and a probability."""
    if not 0.0 <= p <= 1.0:
        raise ValueError("p < 0, p > 1 or p is NaN")
    if n < 0:
        raise ValueError("n < 0")
    if p == 0.0 or p == 1.0 or n == 0:
        return np.int64(n), p, np.int64(n) if p == 1.0 else np.int64(0), 0.0, 0.0, False
    mode = min(np.int64((n + 1) * p), np.int64(n))
    log = math.lgamma(n + 1.0) - math.lgamma(mode + 1.0) - math.lgamma(n - mode + 1.0)
    most = np.exp(fused(float(n - mode), np.log1p(-p), fused(float(mode), np.log(p), log)))
    return np.int64(n), p, mode, most, p / (1.0 - p), False


@njit
def binomial_trial(a, b, c, d, facts):  # type: ignore[no-untyped-def]
    """No number is sure."""
    return np.int64(0), False


@njit
def binomial_number(a, b, c, d, i, call, key, facts):  # type: ignore[no-untyped-def]
    """A number of the binomial distribution: by inversion, from the mode on both ways."""
    n, p, mode, most, odds, _ = facts
    if p == 0.0 or p == 1.0 or n == 0:
        return mode
    above = below = mode
    up = down = most
    u = unit(a, b) - most
    while u >= 0.0 and (above < n or below > 0) and (up > 1e-20 or down > 1e-20):
        if above < n:
            up *= odds * (n - above) / (above + 1.0)
            above += 1
            u -= up
            if u < 0.0:
                return above
        if below > 0:
            down *= below / (odds * (n - below + 1.0))
            below -= 1
            u -= down
            if u < 0.0:
                return below
    return mode


@njit
def law_at(number, facts, i, call, key, first, second):  # type: ignore[no-untyped-def]
    """Number `i` of a law with parameters."""
    a, b, c, d = words(i, 0, call, key)
    return number(a, b, c, d, i, call, key, facts(first, second))


# Strips do not overlap.
@njit(parallel={"unsafe": True})
def each(number, facts, trial, out, call, key, first, second):  # type: ignore[no-untyped-def]
    """An array filled with numbers of a law that has parameters, each a line or one for all."""
    is_one = first.size == 1 and second.size == 1
    for t in prange((out.size + STRIP - 1) // STRIP):
        begin, count = STRIP * t, min(out.size - STRIP * t, STRIP)
        w, is_sure = np.empty((4, count), np.uint32), np.zeros(count, np.bool_)
        for j in range(count):
            w[0, j], w[1, j], w[2, j], w[3, j] = words(np.uint64(begin + j), 0, call, key)
        known = facts(first[0], second[0])
        if is_one and known[-1]:
            for j in range(count):
                out[begin + j], is_sure[j] = trial(w[0, j], w[1, j], w[2, j], w[3, j], known)
        for j in range(count):
            if not is_sure[j]:
                i = begin + j
                if not is_one:
                    known = facts(first[i if first.size > 1 else 0], second[i if second.size > 1 else 0])
                out[i] = number(w[0, j], w[1, j], w[2, j], w[3, j], np.uint64(i), call, key, known)
    return out


@njit
def two_each(law, out, first, call, key):  # type: ignore[no-untyped-def]
    """A line filled with the two numbers that a law makes of each block, from a first block on."""
    for j in range(out.size // 2):
        a, b, c, d = words(first + j, 0, call, key)
        out[2 * j], out[2 * j + 1] = law(a, b, c, d)


@njit
def four_each(law, out, first, call, key):  # type: ignore[no-untyped-def]
    """A line filled with the four numbers that a law makes of each block, from a first block on."""
    for j in range(out.size // 4):
        a, b, c, d = words(first + j, 0, call, key)
        out[4 * j], out[4 * j + 1], out[4 * j + 2], out[4 * j + 3] = law(a, b, c, d)


# Strips do not overlap.
@njit(parallel={"unsafe": True})
def pairs(law, out, call, key):  # type: ignore[no-untyped-def]
    """A line of an even number of elements filled by `two_each`."""
    for t in prange((out.size + STRIP - 1) // STRIP):
        two_each(law, out[STRIP * t : STRIP * t + STRIP], STRIP // 2 * t, call, key)
    return out


@njit(parallel={"unsafe": True})
def fours(law, out, call, key):  # type: ignore[no-untyped-def]
    """A line of a multiple of four elements filled by `four_each`."""
    for t in prange((out.size + STRIP - 1) // STRIP):
        four_each(law, out[STRIP * t : STRIP * t + STRIP], STRIP // 4 * t, call, key)
    return out


@njit(parallel=True)
def fitted(out, low, count, least):  # type: ignore[no-untyped-def]
    """Makes words of 64 bits integers from `low` on; how many of the words are to be replaced by further ones."""
    bad = np.int64(0)
    for i in prange(out.size):
        found, rest = scaled(out[i], count)
        out[i] = low + found
        bad += np.int64(rest < least)
    return bad


@njit(parallel=True)
def whole_numbers(out, call, key, low, count, least):  # type: ignore[no-untyped-def]
    """A line of an even number of elements filled with integers from `low` on: those of `below`."""
    pairs(pair64, out, call, key)
    if count != np.uint64(0) and fitted(out, low, count, least):
        for i in range(out.size):
            out[i] = low + below(np.uint64(i), count, least, call, key)
    return out


@njit
def pair_at(law, i, call, key):  # type: ignore[no-untyped-def]
    """Number `i` of those that `pairs` fills in."""
    j = np.uint64(i)
    a, b, c, d = words(j >> np.uint64(1), 0, call, key)
    one, two = law(a, b, c, d)
    return two if j & np.uint64(1) else one


@njit
def four_at(law, i, call, key):  # type: ignore[no-untyped-def]
    """Number `i` of those that `fours` fills in."""
    j = np.uint64(i)
    a, b, c, d = words(j >> np.uint64(2), 0, call, key)
    one, two, three, four = law(a, b, c, d)
    left, right = (two if j & np.uint64(1) else one), (four if j & np.uint64(1) else three)
    return right if j & np.uint64(2) else left


@njit
def whole_at(i, call, key, low, count, least):  # type: ignore[no-untyped-def]
    """Number `i` of those that `whole_numbers` fills in."""
    return low + below(i, count, least, call, key)


#: Laws with parameters.
POISSON = poisson_number, poisson_facts, poisson_trial
GAMMA = gamma_number, gamma_facts, gamma_trial
BINOMIAL = binomial_number, binomial_facts, binomial_trial

#: The scalar functions that draw one number, by the functions that fill arrays.
AT = {pairs: pair_at, fours: four_at, whole_numbers: whole_at}
