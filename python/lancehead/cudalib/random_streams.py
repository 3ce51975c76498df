"""Generators of the CPU device with cuRAND's streams: the same words for a seed and an offset."""

from __future__ import annotations

import functools
import importlib.util
import math
from pathlib import Path
from typing import Any

import numpy as np

from lancehead.cudalib import random_kernels as loops
from lancehead.cudalib.errors import CuRandError
from lancehead.xp.streams import _table, xorwow_start

_LENGTH, _RANGE = 105, 104
_M1, _M2 = loops.M1, loops.M2
_STEP1 = np.array([[0, 1, 0], [0, 0, 1], [-810728 % _M1, 1403580, 0]], object)
_STEP2 = np.array([[0, 1, 0], [0, 0, 1], [-1370589 % _M2, 0, 527612]], object)


class Stream:
    """Words for numbers one after the other."""

    is_mrg = False

    def __init__(self) -> None:
        self.seed, self.offset = 0, 0
        self._is_ready = False

    def restart(self, seed: int | None = None, offset: int | None = None) -> None:
        """Begins at an offset of the sequence of a seed."""
        self.seed = self.seed if seed is None else seed
        self.offset = self.offset if offset is None else offset
        self._is_ready = False

    def words(self, rows: int, width: int, paired: bool) -> tuple[np.ndarray, int, int]:
        """Words for so many numbers, in pairs if they are paired, as rows of an array: a column is for one number, or
        for two. The number of the first element, and how many there are for a column."""
        if not self._is_ready:
            self._begin()
            self._is_ready = True
        return self._next(rows, width, paired)

    def _begin(self) -> None:
        raise NotImplementedError

    def _next(self, count: int, width: int, paired: bool) -> tuple[np.ndarray, int, int]:
        raise NotImplementedError

    def bits(self, out: np.ndarray) -> None:
        """Words of 32 bits."""
        words, _, _ = self.words(out.size, 1, False)
        out[:] = words[0]

    def uniform(self, out: np.ndarray) -> None:
        """Numbers above 0 and up to 1."""
        words, _, _ = self.words(out.size, 2 if out.itemsize == 8 and not self.is_mrg else 1, False)
        loops.uniform(words, self.is_mrg, 0, out)

    def normal(self, out: np.ndarray, mean: float, deviation: float) -> None:
        """Normal numbers: the even ones are sines, the odd ones cosines."""
        second = 2 if out.itemsize == 8 and not self.is_mrg else 1
        words, first, per_column = self.words(out.size, 2 * second, True)
        u, v = np.empty(words.shape[1], out.dtype), np.empty(words.shape[1], out.dtype)
        loops.uniform(words, self.is_mrg, 0, u)
        loops.uniform(words, self.is_mrg, second, v)
        sines, cosines = np.empty_like(u), np.empty_like(u)
        kind = out.dtype.type
        loops.sides(u, v, kind(mean), kind(deviation), sines, cosines)
        # Where a column is for one number, it is for the sine or the cosine of its pair.
        even, odd = first % 2, 1 - first % 2
        out[even::2] = sines if per_column == 2 else sines[even::2]
        out[odd::2] = cosines if per_column == 2 else cosines[odd::2]

    def lognormal(self, out: np.ndarray, mean: float, deviation: float) -> None:
        """Exponentials of normal numbers."""
        self.normal(out, mean, deviation)
        loops.exponentials(out)

    def poisson(self, out: np.ndarray, rate: float) -> None:
        """Counts of a Poisson distribution, each of one uniform number by the inverse of the distribution."""
        first, shares = _poisson_shares(rate)
        numbers = np.empty(out.size)
        self.uniform(numbers)
        loops.counts(numbers, first, shares, out)


class _Turns(Stream):
    """Threads of which each gives the words for one number, or one pair."""

    THREADS = 0

    def __init__(self) -> None:
        super().__init__()
        self._turn = 0
        self._states: np.ndarray = np.empty((0, 6))

    def _begin(self) -> None:
        rounds, self._turn = divmod(self.offset, self.THREADS)
        self._states = self._started(rounds)
        if self._turn:
            self._draw(0, np.empty((1, self._turn), np.uint32))

    def _started(self, rounds: int) -> np.ndarray:
        raise NotImplementedError

    def _draw(self, turn: int, out: np.ndarray) -> None:
        raise NotImplementedError

    def _next(self, count: int, width: int, paired: bool) -> tuple[np.ndarray, int, int]:
        if paired and count % 2:
            raise CuRandError(_LENGTH, f"normal numbers are made in pairs, and {count} are asked for")
        rows = count // 2 if paired else count
        out = np.empty((width, rows), np.uint32)
        self._draw(self._turn, out)
        self._turn = (self._turn + rows) % self.THREADS
        return out, 0, 2 if paired else 1


class Xorwow(_Turns):
    """XORWOW."""

    THREADS = loops.XORWOW_THREADS

    def _started(self, rounds: int) -> np.ndarray:
        words, counter = xorwow_start(self.seed, rounds)
        return loops.xorwow_threads(np.array(words, np.uint32), np.uint32(counter), _table())  # type: ignore[no-any-return]

    def _draw(self, turn: int, out: np.ndarray) -> None:
        loops.xorwow_words(self._states, turn, out)


class Mrg32k3a(_Turns):
    """MRG32k3a."""

    THREADS, is_mrg = loops.MRG_THREADS, True

    def _started(self, rounds: int) -> np.ndarray:
        low, high = self.seed & 0xFFFFFFFF ^ 0x55555555, self.seed >> 32 & 0xFFFFFFFF ^ 0xAAAAAAAA
        factors = (low, high, low, high, low, high) if self.seed else (1,) * 6
        start = [f * 12345 % m for f, m in zip(factors, (_M1,) * 3 + (_M2,) * 3, strict=True)]
        start = [*_power(_STEP1, rounds, _M1) @ start[:3] % _M1, *_power(_STEP2, rounds, _M2) @ start[3:] % _M2]
        jumps = (_power(step, 2**76, m).astype(np.uint64) for step, m in ((_STEP1, _M1), (_STEP2, _M2)))
        return loops.mrg_threads(np.array(start, np.uint64), *jumps)  # type: ignore[no-any-return]

    def _draw(self, turn: int, out: np.ndarray) -> None:
        loops.mrg_words(self._states, turn, out)

    def bits(self, out: np.ndarray) -> None:
        """Words of 32 bits."""
        words, _, _ = self.words(out.size, 1, False)
        loops.mrg_bits(words, out)


def _power(matrix: np.ndarray, n: int, m: int) -> np.ndarray:
    """The power of a matrix of integers, modulo a number."""
    found: np.ndarray = np.eye(3, dtype=object)
    while n:
        found = found @ matrix % m if n % 2 else found
        matrix, n = matrix @ matrix % m, n // 2
    return found


class Philox(Stream):
    """Philox4_32_10."""

    def _begin(self) -> None:
        self._element = self.offset
        groups = self.offset // 4
        used = np.full(loops.PHILOX_THREADS, 4 * (groups // loops.PHILOX_THREADS), np.int64)
        used[: groups % loops.PHILOX_THREADS] += 4
        self._used = used

    def _next(self, count: int, width: int, paired: bool) -> tuple[np.ndarray, int, int]:
        out = np.empty((width, count), np.uint32)
        first = self._element
        loops.philox_words(np.uint64(self.seed), self._used, first, paired, out)
        self._element = first + count
        return out, first, 1


class Mt19937(Stream):
    """MT19937 as one sequence, NumPy's; cuRAND takes turns among 8192 of them."""

    def _begin(self) -> None:
        self._source = np.random.RandomState(self.seed & 0xFFFFFFFF)
        rest = self.offset
        while rest:
            rest -= self._source.randint(0, 2**32, min(rest, 1 << 20), np.uint32).size
        self._element = self.offset

    def _next(self, count: int, width: int, paired: bool) -> tuple[np.ndarray, int, int]:
        if paired and count % 2:
            raise CuRandError(_LENGTH, f"normal numbers are made in pairs, and {count} are asked for")
        rows = count // 2 if paired else count
        words = self._source.randint(0, 2**32, (rows, width), np.uint32)
        return np.ascontiguousarray(words.T), 0, 2 if paired else 1


#: By cuRAND's numbers of generators.
PSEUDO: dict[int, type[Stream]] = {100: Xorwow, 101: Xorwow, 121: Mrg32k3a, 142: Mt19937, 161: Philox}
_ADVICE = "has tables that only cuRAND has; on the CPU device use {}"
_UNSERVED = {
    0: "TEST is none that makes numbers; use {}", 141: f"MTGP32 {_ADVICE}", 202: f"SCRAMBLED_SOBOL32 {_ADVICE}",
    204: f"SCRAMBLED_SOBOL64 {_ADVICE}",
}  # fmt: skip


def refuse(kind: Any, instead: str) -> None:
    """Says why there is no generator of a kind.

    Raises:
        NotImplementedError: cuRAND has it.
        ValueError: it has not.
    """
    if kind in _UNSERVED:
        raise NotImplementedError(_UNSERVED[kind].format(instead))
    raise ValueError(f"{kind!r} is no kind of generator of this class; use {instead}")


@functools.lru_cache(maxsize=8)
def _poisson_shares(rate: float) -> tuple[int, np.ndarray]:
    """The counts that have a share in the distribution: the first, and for each the share of those up to it."""
    if not 0 < rate < 4e9:
        raise CuRandError(_RANGE, f"the rate is above 0 and below 4e9, not {rate}")
    reach = 12 * math.sqrt(rate) + 40
    first = max(0, int(rate - reach))
    k = np.arange(first, int(rate + reach) + 1)
    logs = np.array([math.lgamma(x) for x in k + 1.0])
    shares = np.cumsum(np.exp(k * math.log(rate) - rate - logs))
    return first, shares / shares[-1]


# --- Sobol ------------------------------------------------------------------------------------------------------------

_MOST = 20000


class Sobol:
    """A Sobol sequence in words of 32 or 64 bits, by the numbers of Joe and Kuo."""

    def __init__(self, bits: int) -> None:
        self.dtype = np.dtype(np.uint32 if bits == 32 else np.uint64)
        self.bits, self.dimensions, self.offset = bits, 1, 0

    def generate(self, out: np.ndarray) -> None:
        """The next points: all numbers of the first dimension, then those of the second."""
        if out.size % self.dimensions:
            raise CuRandError(_LENGTH, f"{out.size} numbers are no points of {self.dimensions} dimensions")
        rows = out.reshape(self.dimensions, -1)
        loops.sobol(_directions(self.bits, self.dimensions), self.offset, rows)
        self.offset += rows.shape[1]


def check_dimensions(n: Any) -> int:
    """A number of dimensions.

    Raises:
        CuRandError: it is none that there is a sequence for.
    """
    if not isinstance(n, (int, np.integer)) or not 1 <= n <= _MOST:
        raise CuRandError(_RANGE, f"the number of dimensions is one from 1 to {_MOST}, not {n}")
    return int(n)


@functools.lru_cache(maxsize=8)
def _directions(bits: int, dimensions: int) -> np.ndarray:
    v: list[list[int]] = [[1 << (bits - 1 - k) for k in range(bits)]]
    if dimensions > 1:
        polynomials, starts = _joe_kuo()
        for d in range(1, dimensions):
            v.append(_recurrence(int(polynomials[d]), [int(m) for m in starts[d]], bits))
    return np.array(v, np.uint32 if bits == 32 else np.uint64)


def _recurrence(polynomial: int, start: list[int], bits: int) -> list[int]:
    degree = polynomial.bit_length() - 1
    v = [m << (bits - 1 - k) for k, m in enumerate(start[:degree])]
    for k in range(degree, bits):
        x = v[k - degree] ^ v[k - degree] >> degree
        for i in range(1, degree):
            if polynomial >> (degree - i) & 1:
                x ^= v[k - i]
        v.append(x)
    return v[:bits]


@functools.cache
def _joe_kuo() -> tuple[np.ndarray, np.ndarray]:
    # The interpreter's search for SciPy's folder does not import SciPy.
    spec = importlib.util.find_spec("scipy")
    folders = (spec.submodule_search_locations or ()) if spec else ()
    for folder in folders:
        path = Path(folder) / "stats" / "_sobol_direction_numbers.npz"
        if path.exists():
            with np.load(path) as tables:
                return tables["poly"], tables["vinit"]
    raise NotImplementedError(
        "Sobol sequences of more than one dimension need the direction numbers that SciPy has: `pip install scipy`"
    )
