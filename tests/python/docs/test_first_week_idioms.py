"""Idioms of Python and calls of NumPy that a user's first week brings, each compiled and plain with the same result."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lancehead import njit


def walrus(numbers):
    """The first square above 50."""
    for n in numbers:
        if (square := n * n) > 50:
            return square
    return -1


def counted(n):
    """A generator with state."""
    low, high = 0, 1
    while low < n:
        yield low
        low, high = high, low + high


counted_jit = njit(counted)


def generator_sum(n):
    return sum([x for x in counted_jit(n)])


def cleaned_up(numbers, divisor):
    log = [0]
    try:
        quotient = numbers[0] // divisor
    except ZeroDivisionError:
        quotient = -1
    else:
        log.append(1)
    finally:
        log.append(2)
    return quotient, log


def by_key(words):
    return sorted(words, key=lambda word: (-len(word), word))


def star_unpacked(t):
    first, *middle, last = t
    return first + last, len(middle)


def many_to_one(numbers):
    smallest, largest = numbers[0], numbers[0]
    for n in numbers[1:]:
        smallest, largest = min(smallest, n), max(largest, n)
    return smallest, largest


def made_adder(step):
    def add(x):
        return x + step

    return add(1) + add(2)


def hanoi(n):
    return 0 if n == 0 else 2 * hanoi(n - 1) + 1


hanoi_jit = njit(hanoi)


def recursive(n):
    return hanoi_jit(n)


def transposed(rows):
    return [[row[c] for row in rows] for c in range(len(rows[0]))]


def for_else(n):
    for d in range(2, n):
        if n % d == 0:
            break
    else:
        return True
    return False


def chained(a, b, c):
    return a < b <= c != a


def counted_words(text):
    """A word count by sorting: what a dictionary would do."""
    words = sorted(text.lower().split())
    found = [words[0]]
    counts = [0]
    for word in words:
        if word != found[-1]:
            found.append(word)
            counts.append(0)
        counts[-1] += 1
    return list(zip(found, counts))


def formatted(x, n):
    return f"{x:.3f}|{n:>6d}|{n:x}|{x!r}"


def defaults(a, b=2, *rest, scale=1.0):
    return (a + b + sum(rest)) * scale


def grown(n):
    rows = np.zeros((1, 3))
    for i in range(n):
        rows = np.vstack((rows, np.full((1, 3), float(i))))
    return rows


def removed(numbers):
    kept = numbers.copy()
    while kept and kept[-1] == 0:
        kept.pop()
    kept.reverse()
    kept.insert(0, 7)
    return kept, kept.index(7), 3 in kept


def optional(flag, x):
    y = None
    if flag:
        y = x * 2
    return 0 if y is None else y


def bits(n):
    return n.bit_length(), n & -n, n >> 2 ^ n, ~n


def rounded(x):
    return round(x), round(x, 1), int(x), math.floor(x), x // 1, x % 1


def any_all(numbers):
    return any([n > 3 for n in numbers]), all([n > 0 for n in numbers]), max(numbers), sum(numbers)


def replaced(text):
    head, mark, tail = text.partition(":")
    return "-".join([head.strip().upper(), tail.replace("a", "b").zfill(8)]), mark, text.find("c"), text[::-1]


def enumerated(words):
    return [str(i) + word for i, word in enumerate(words) if word]


IDIOMS = {
    walrus: ([1, 5, 8, 9],),
    generator_sum: (50,),
    cleaned_up: ([7], 0),
    by_key: (["pear", "fig", "apple", "date"],),
    star_unpacked: ((1, 2, 3, 4),),
    many_to_one: ([4, 2, 9],),
    made_adder: (10,),
    recursive: (10,),
    transposed: ([[1, 2, 3], [4, 5, 6]],),
    for_else: (13,),
    chained: (1, 2, 2),
    counted_words: ("the cat and the dog and the owl",),
    formatted: (math.pi, 255),
    defaults: (1, 2, 3, 4),
    removed: ([1, 2, 0, 0],),
    optional: (True, 4),
    bits: (44,),
    rounded: (-2.5,),
    any_all: ([1, 2, 4],),
    replaced: (" key: banana",),
    enumerated: (["a", "", "c"],),
}


@pytest.mark.parametrize("idiom", IDIOMS, ids=lambda f: f.__name__)
def test_idiom(idiom):
    compiled = njit(idiom)
    expected = idiom(*IDIOMS[idiom])
    assert compiled(*IDIOMS[idiom]) == expected
    assert compiled.signatures


def test_other_branches():
    assert njit(cleaned_up)([7], 2) == cleaned_up([7], 2) == (3, [0, 1, 2])
    assert njit(optional)(False, 4) == 0
    assert njit(for_else)(15) is False
    np.testing.assert_array_equal(njit(grown)(3), grown(3))


A = np.random.default_rng(20).normal(size=(6, 5))
V = np.array([3.0, 1.0, 2.0, 3.0, -1.0])
K = np.array([3, 1, 2, 3, 0])

CALLS = {
    "unique": (lambda k: np.unique(k), (K,)),
    "searchsorted": (lambda a, v: np.searchsorted(np.sort(a), v), (V, 2.0)),
    "cumsum": (lambda a: np.cumsum(a), (V,)),
    "diff": (lambda a: np.diff(a), (V,)),
    "bincount": (lambda k: np.bincount(k), (K,)),
    "percentile": (lambda a: np.percentile(a, 30), (V,)),
    "median": (lambda a: np.median(a), (V,)),
    "quantile": (lambda a: np.quantile(a, 0.9), (V,)),
    "std": (lambda a: a.std(), (A,)),
    "argsort": (lambda a: np.argsort(a, kind="mergesort"), (V,)),
    "nonzero": (lambda k: np.nonzero(k)[0], (K,)),
    "where": (lambda a: np.where(a > 0, a, -a), (A,)),
    "outer": (lambda a: np.outer(a, a), (V,)),
    "kron": (lambda a: np.kron(a, a), (A,)),
    "dot": (lambda a: a @ a.T, (A,)),
    "det": (lambda a: np.linalg.det(a[:5]), (A,)),
    "inv": (lambda a: np.linalg.inv(a[:5]), (A,)),
    "qr": (lambda a: np.abs(np.linalg.qr(a)[1]), (A,)),
    "cholesky": (lambda a: np.linalg.cholesky(a.T @ a), (A,)),
    "convolve": (lambda a: np.convolve(a, a), (V,)),
    "linspace": (lambda a: np.linspace(a[0], a[1], 7), (V,)),
    "digitize": (lambda a: np.digitize(a, np.array([0.0, 1.5, 2.5])), (V,)),
    "concatenate": (lambda a: np.concatenate((a, a[::-1])), (V,)),
    "repeat": (lambda a: np.repeat(a, 2), (V,)),
    "isnan": (lambda a: np.isnan(a).any(), (V,)),
    "nanmean": (lambda a: np.nanmean(np.where(a > 0, a, np.nan)), (V,)),
    "flip": (lambda a: np.flip(a), (V,)),
    "trapezoid": (lambda a: np.trapezoid(a), (V,)),
    "take": (lambda a, k: np.take(a, k), (V, K)),
    "boolean mask": (lambda a: a[(a > 0) & (a < 1)], (A,)),
    "broadcast": (lambda a: (a - a.mean()) / a.std(), (A,)),
    "cov": (lambda a: np.cov(a), (A,)),
    "clip": (lambda a: np.clip(a, -0.5, 0.5), (A,)),
}


@pytest.mark.parametrize("name", CALLS)
def test_call_of_numpy(name):
    function, arguments = CALLS[name]
    expected = function(*arguments)
    result = njit(function)(*arguments)
    np.testing.assert_allclose(result, expected, rtol=1e-11, atol=1e-13)
    assert np.asarray(result).dtype == np.asarray(expected).dtype
    assert np.shape(result) == np.shape(expected)
