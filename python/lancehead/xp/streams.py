"""Random numbers of others' streams: NumPy's bit generators, and the generators that cuRAND has in kernels."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from lancehead.decorators import njit
from lancehead.xp import dtypes
from lancehead.xp.arrays import from_numpy, ndarray, wrap
from lancehead.xp.creation import as_shape
from lancehead.xp.devices import CPU, Device
from lancehead.xp.drawing import philox4x32
from lancehead.xp.elementwise import add, multiply
from lancehead.xp.folds import map
from lancehead.xp.graph import Emit, Node, leaf, made, transferred
from lancehead.xp.manipulation import reshape
from lancehead.xp.rows import Kind, Row

_CURAND = Row("curand", Kind.DRAWN)

#: NumPy's bit generators by the names of their streams.
_BITS = {
    "numpy": np.random.PCG64,
    "PCG64": np.random.PCG64,
    "PCG64DXSM": np.random.PCG64DXSM,
    "MT19937": np.random.MT19937,
    "SFC64": np.random.SFC64,
    "Philox": np.random.Philox,
}


def _plain(x: Any) -> Any:
    return x.numpy() if isinstance(x, ndarray) else x


def _drawn(name: str) -> Any:
    origin = getattr(np.random.Generator, name)

    def f(self: Sequential, *arguments: Any, **keywords: Any) -> Any:
        given = {k: _plain(x) for k, x in keywords.items()}
        found = origin(self.origin, *[_plain(x) for x in arguments], **given)
        value = np.asarray(found)
        return from_numpy(np.array(value, order="C"), self.device) if value.dtype in dtypes.ALL else found

    functools.update_wrapper(f, origin)
    f.__doc__ = f"The numbers of `numpy.random.Generator.{name}`, as an array."
    return f


class Sequential:
    """A generator of NumPy whose methods give arrays of this package.

    Each number of such a stream comes after those before it, so that they are drawn where the call is written, and
    copied to the device of the arrays.
    """

    def __init__(self, origin: np.random.Generator, device: Device | None = None) -> None:
        #: NumPy's generator, which has the state.
        self.origin = origin
        self.device = device

    @property
    def bit_generator(self) -> np.random.BitGenerator:
        """NumPy's bit generator."""
        return self.origin.bit_generator

    @property
    def state(self) -> Any:
        """The state of NumPy's bit generator, which may be set."""
        return self.origin.bit_generator.state

    @state.setter
    def state(self, state: Any) -> None:
        self.origin.bit_generator.state = state

    def spawn(self, n_children: int) -> list[Sequential]:
        """So many generators that are independent of this one and of each other."""
        return [Sequential(child, self.device) for child in self.origin.spawn(n_children)]

    def shuffle(self, x: ndarray, axis: int = 0) -> None:
        """Brings an array into random order along an axis, in place."""
        if not isinstance(x, ndarray):
            raise TypeError(f"an array of lancehead.xp is needed, not {type(x).__name__}")
        value = np.array(x.numpy())
        self.origin.shuffle(value, axis)
        x[...] = from_numpy(value, x.device)

    def __repr__(self) -> str:
        return f"Generator({type(self.origin.bit_generator).__name__})"


for _name in (
    "beta", "binomial", "chisquare", "choice", "dirichlet", "exponential", "f", "gamma", "geometric", "gumbel",
    "hypergeometric", "integers", "laplace", "logistic", "lognormal", "logseries", "multinomial",
    "multivariate_hypergeometric", "multivariate_normal", "negative_binomial", "noncentral_chisquare", "noncentral_f",
    "normal", "pareto", "permutation", "permuted", "poisson", "power", "random", "rayleigh", "standard_cauchy",
    "standard_exponential", "standard_gamma", "standard_normal", "standard_t", "triangular", "uniform", "vonmises",
    "wald", "weibull", "zipf",
):  # fmt: skip
    setattr(Sequential, _name, _drawn(_name))


def numpy_generator(seed: Any, stream: str | None, device: Device | None = None) -> Sequential:
    """The generator of a stream of NumPy, or around a generator; ValueError for another name."""
    if stream is None:
        return Sequential(np.random.default_rng(seed), device)
    if stream not in _BITS:
        names = ", ".join(repr(name) for name in ("Philox4x32", *_BITS, *Threads.STREAMS))
        raise ValueError(f"a stream is one of {names}, not {stream!r}")
    return Sequential(np.random.Generator(_BITS[stream](seed)), device)


# --- cuRAND's functions in kernels ------------------------------------------------------------------------------------


def step(v: int) -> int:
    """The five words of XORWOW, the first of them lowest, after one step."""
    first, last = v & 0xFFFFFFFF, v >> 128
    t = first ^ first >> 2
    new = (last ^ last << 4 ^ t ^ t << 1) & 0xFFFFFFFF
    return v >> 32 | new << 128


def applied(matrix: list[int], v: int) -> int:
    """The words that a matrix of bits makes of words: the sum of its rows where these have bits."""
    found = 0
    while v:
        low = v & -v
        found ^= matrix[low.bit_length() - 1]
        v ^= low
    return found


@functools.cache
def power(k: int) -> list[int]:
    """The matrix of 2**k steps."""
    if k == 0:
        return [step(1 << i) for i in range(160)]
    half = power(k - 1)
    return [applied(half, row) for row in half]


@functools.cache
def _table() -> np.ndarray:
    # The effect of 2**67 steps on each byte of the words.
    rows = power(67)
    table = np.zeros((20, 256, 5), np.uint32)
    for place in range(20):
        for byte in range(1, 256):
            low = byte & -byte
            table[place, byte] = table[place, byte ^ low]
            row = rows[8 * place + low.bit_length() - 1]
            table[place, byte] ^= np.array([row >> 32 * k & 0xFFFFFFFF for k in range(5)], np.uint32)
    return table


def xorwow_start(seed: int, offset: int) -> tuple[list[int], int]:
    """The five words and the counter after `curand_init(seed, 0, offset)`."""
    low = (seed & 0xFFFFFFFF ^ 0xAAD26B49) * 1099087573 & 0xFFFFFFFF
    high = (seed >> 32 & 0xFFFFFFFF ^ 0xF7DCEFDD) * 2591861531 & 0xFFFFFFFF
    words = [123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high, 5783321 + low]
    v = sum((w & 0xFFFFFFFF) << 32 * k for k, w in enumerate(words))
    for k in range(offset.bit_length()):
        if offset >> k & 1:
            v = applied(power(k), v)
    return [v >> 32 * k & 0xFFFFFFFF for k in range(5)], 6615241 + low + high + 362437 * offset & 0xFFFFFFFF


@njit
def xorwow(start, counter, count, n, table):  # type: ignore[no-untyped-def]
    """So many numbers of each of `n` threads, whose subsequences are 2**67 steps from each other."""
    out = np.empty((n, count), np.uint32)
    v, far = start.copy(), np.empty(5, np.uint32)
    for i in range(n):
        x, d = v.copy(), np.uint32(counter)
        for j in range(count):
            t = x[0] ^ (x[0] >> np.uint32(2))
            new = (x[4] ^ (x[4] << np.uint32(4))) ^ (t ^ (t << np.uint32(1)))
            x[0], x[1], x[2], x[3], x[4] = x[1], x[2], x[3], x[4], new
            d = np.uint32(d + np.uint32(362437))
            out[i, j] = np.uint32(new + d)
        far[:] = 0
        for k in range(20):
            far ^= table[k, (v[k // 4] >> np.uint32(8 * (k % 4))) & np.uint32(255)]
        v[:] = far
    return out


@njit
def philox(seed, offset, count, n):  # type: ignore[no-untyped-def]
    """So many numbers of each of `n` threads from an offset on, by `curand_init(seed, thread, 0)` of Philox4_32_10."""
    out = np.empty((n, count), np.uint32)
    half = np.uint64(32)
    k0, k1 = np.uint32(seed), np.uint32(seed >> half)
    for i in range(n):
        for j in range(count):
            at, thread = offset + np.uint64(j), np.uint64(i)
            block = at >> np.uint64(2)
            c0, c1, c2, c3 = np.uint32(block), np.uint32(block >> half), np.uint32(thread), np.uint32(thread >> half)
            found = philox4x32(c0, c1, c2, c3, k0, k1)
            out[i, j] = found[np.int64(at & np.uint64(3))]
    return out


def _xorwow(start: str, table: str, counter: str, count: str, n: str, helper: str) -> str:
    return f"{helper}({start}, {counter}, {count}, {n}, {table})"


def _philox(seed: str, offset: str, count: str, n: str, helper: str) -> str:
    return f"{helper}({seed}, {offset}, {count}, {n})"


def _bits(x: Any) -> Any:
    return x


def mapped(f: Any, *arrays: Any) -> ndarray:
    """The results of a function that gives one number for the elements of arrays."""
    found: ndarray = map(f, *arrays)
    return found


def _float32(x: Any) -> Any:
    return np.float32(x) * np.float32(2.3283064365386963e-10) + np.float32(1.1641532182693481e-10)


def _float64(x: Any, y: Any) -> Any:
    z = np.uint64(x) ^ (np.uint64(y) << np.uint64(21))
    return np.float64(z) * 1.1102230246251565e-16 + 5.551115123125783e-17


class Threads:
    """Random numbers as kernels get them from cuRAND: element `i` of an array is from the generator of thread `i`.

    That is `curand_init(seed, i, 0)`; each call of a method goes on in these sequences. `bits` are the words of
    `curand`, `random` the numbers of `curand_uniform` (`float32`) and `curand_uniform_double`, above 0 and up to 1.
    """

    STREAMS = ("XORWOW", "Philox4_32_10")

    def __init__(self, seed: Any, stream: str, device: Device | None = None) -> None:
        if not isinstance(seed, (int, np.integer)):
            raise TypeError(f"cuRAND's seeds are integers, not {type(seed).__name__}")
        self.device = device
        self.state: dict[str, Any] = {"stream": stream, "seed": int(seed) % 2**64, "offset": 0}

    def __repr__(self) -> str:
        return "Generator({stream}, seed={seed}, offset={offset})".format(**self.state)

    def _words(self, shape: tuple[int, ...], count: int) -> ndarray:
        n, seed, offset = math.prod(shape), self.state["seed"], self.state["offset"]
        self.state["offset"] = offset + count
        given: tuple[Node, ...] = ()
        if self.state["stream"] == "XORWOW":
            words, counter = xorwow_start(seed, offset)
            given = (leaf(np.array(words, np.uint32)), leaf(_table()))
            emit: Emit = _xorwow
            helper: Any = xorwow
            dynamic: tuple[Any, ...] = (np.uint32(counter), count, n)
        else:
            emit, helper, dynamic = _philox, philox, (np.uint64(seed), np.uint64(offset), count, n)
        node = made(
            _CURAND, emit, given, (n, count), dtypes.uint32, dynamic=dynamic, objects=(helper,),
            is_costly=True, is_fresh=True,
        )  # fmt: skip
        return wrap(node if self.device in (None, CPU) else transferred(node, self.device))

    def bits(self, size: Any = None) -> ndarray:
        """Words of 32 bits as `curand` gives them."""
        shape = () if size is None else as_shape(size)
        return reshape(self._words(shape, 1), shape)

    def random(self, size: Any = None, dtype: Any = np.float64) -> ndarray:
        """Numbers above 0 and up to 1; of `float64` each takes two words."""
        shape = () if size is None else as_shape(size)
        if np.dtype(dtype) == dtypes.float32:
            return mapped(_float32, self.bits(shape))
        if np.dtype(dtype) != dtypes.float64:
            raise TypeError(f"Unsupported dtype {np.dtype(dtype)!r}")
        found = self._words(shape, 2)
        return reshape(map(_float64, found[:, 0], found[:, 1]), shape)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> ndarray:
        """Numbers above `low` and up to `high`."""
        return add(multiply(self.random(size), high - low), low)

    def standard_normal(self, size: Any = None) -> ndarray:
        """Numbers of the standard normal distribution, by Box and Muller of `random`; cuRAND's own are approximate."""
        one, other = self.random(size), self.random(size)
        return mapped(_normal, one, other)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> ndarray:
        """Numbers of a normal distribution."""
        return add(multiply(self.standard_normal(size), scale), loc)


def _normal(u: Any, v: Any) -> Any:
    return np.sqrt(-2.0 * np.log(u)) * np.sin(6.283185307179586 * v)


__all__ = ["Sequential", "Threads", "applied", "mapped", "numpy_generator", "power", "step", "xorwow_start"]
