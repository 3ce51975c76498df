"""Random numbers as lazy arrays: `default_rng` and `Generator` with the methods of NumPy's.

The numbers of the stream of this module, Philox4x32-10 of Salmon et al., depend on the seed, on which call of the
generator it is, and on their place in the array. They are the same for any number of threads and in whatever order
values are asked for. NumPy's and cuRAND's streams are served by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lancehead.options import near_members, public
from lancehead.xp import drawing, dtypes
from lancehead.xp import functions as of
from lancehead.xp.arrays import ndarray, wrap
from lancehead.xp.creation import as_shape, asarray
from lancehead.xp.devices import CPU, Device, as_device
from lancehead.xp.elementwise import as_node, convert, multiply
from lancehead.xp.folds import as_line, map
from lancehead.xp.graph import Node, leaf, made
from lancehead.xp.manipulation import axis_of, broadcast_to, reshape, take, take_along_axis
from lancehead.xp.reducing import argsort, cumulative_sum, searchsorted
from lancehead.xp.rows import Element, Kind, Row
from lancehead.xp.streams import Sequential, Threads, mapped, numpy_generator

_RANDOM = Row("random", Kind.DRAWN, element=Element.RANDOM, price=24, is_portable=True)
#: So many numbers are made by all threads, in memory; fewer together with what they are used for.
MANY = 1 << 14


def _not_negative(x: Any) -> Any:
    if x < 0:
        raise ValueError("a parameter is negative")
    return x


def _probability(x: Any) -> Any:
    if not 0.0 <= x <= 1.0:
        raise ValueError("a probability is not from 0 to 1")
    return x


def _checked(name: str, x: Any, check: Callable[[Any], Any] = _not_negative) -> Any:
    # A parameter: of a number the error comes at once, of an array's elements with the value.
    if isinstance(x, ndarray):
        return map(check, x)
    try:
        check(x)
    except ValueError:
        raise ValueError(
            f"{name} < 0" if check is _not_negative else f"{name} < 0, {name} > 1 or {name} is NaN"
        ) from None
    return x


def _size(size: Any, *parameters: Any) -> tuple[int, ...]:
    # The shape of a result: the parameters' without a size, which must be what they broadcast to.
    shapes = [x.shape for x in parameters if isinstance(x, ndarray)]
    if size is None:
        return np.broadcast_shapes(*shapes)
    shape = as_shape(size)
    common = np.broadcast_shapes(*shapes)
    ends = shape[len(shape) - len(common) :]
    if len(common) > len(shape) or any(n not in (1, m) for n, m in zip(common, ends, strict=True)):
        raise ValueError(f"Output size {shape} is not compatible with broadcast dimensions of inputs {common}.")
    return shape


def _in_memory(call: str, key: str, n: str, shape: str, fill: str, law: str, dtype: str, step: int) -> str:
    return (
        f"{fill}({law}, np.empty(({n} + {step - 1}) // {step} * {step}, {dtype}), {call}, {key})[:{n}].reshape({shape})"
    )


def _element_by_element(call: str, key: str, n: str, shape: str, at: str) -> str:
    return f"{at}(np.arange({n}), {call}, {key}).reshape({shape})"


def _of_integers(call: str, key: str, n: str, shape: str, low: str, count: str, least: str, fill: str) -> str:
    out = f"np.empty(({n} + 1) // 2 * 2, np.uint64)"
    return f"{fill}({out}, {call}, {key}, {low}, {count}, {least})[:{n}].reshape({shape})"


def _with_parameters(a: str, b: str, call: str, key: str, n: str, shape: str, fill: str, *law: str) -> str:
    *functions, dtype = law
    return f"{fill}({', '.join(functions)}, np.empty({n}, {dtype}), {call}, {key}, {a}, {b}).reshape({shape})"


@near_members
class Generator:
    """Random numbers as lazy arrays, by the methods of `numpy.random.Generator`.

    Arguments are NumPy's; parameters may be arrays of this package. A call without a size, and without arrays as
    parameters, gives an array without axes. Numbers are made when the value is needed, and belong to the call: other
    calls before or after it, and the order in which values are asked for, do not change them.
    """

    #: The name of the stream.
    stream = "Philox4x32"

    def __init__(self, seed: Any = None, device: Any = None) -> None:
        self._seeds = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
        self._key = int(self._seeds.generate_state(1, np.uint64)[0])
        self._calls = 0
        where = as_device(device)
        #: Where the arrays are; None for those of the host that go with arrays of any device.
        self.device: Device | None = None if device is None and where is CPU else where

    # --- state -------------------------------------------------------------------------------------------------------
    @property
    def state(self) -> dict[str, Any]:
        """The name of the stream, its key of 64 bits, and the number of calls, which may be set."""
        return {"stream": self.stream, "key": self._key, "calls": self._calls}

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        if state["stream"] != self.stream:
            raise ValueError(f"a state of {state['stream']!r} is not one of {self.stream!r}")
        self._key, self._calls = int(state["key"]) % 2**64, int(state["calls"]) % 2**48

    def spawn(self, n_children: int) -> list[Generator]:
        """So many generators that are independent of this one and of each other, by `SeedSequence.spawn`."""
        return [Generator(child, self.device) for child in self._seeds.spawn(n_children)]

    def __repr__(self) -> str:
        return f"Generator({self.stream}, key={self._key:#x}, calls={self._calls})"

    def _next(self) -> tuple[np.uint64, np.uint64]:
        call, self._calls = self._calls, (self._calls + 1) % 2**48
        return np.uint64(call), np.uint64(self._key)

    def _parameter(self, x: Any) -> Any:
        # NumPy's generators take sequences as parameters, too.
        if isinstance(x, (ndarray, bool, int, float)):
            return x
        return x.item() if isinstance(x, np.generic) else asarray(x, device=self.device)

    # --- uniform and normal ------------------------------------------------------------------------------------------
    def _filled(self, shape: tuple[int, ...], dtype: np.dtype[Any], law: Any, step: int) -> ndarray:
        n = math.prod(shape)
        dynamic = (*self._next(), n, shape)
        if n >= MANY:
            objects, static = (drawing.pairs if step == 2 else drawing.fours, law), (of.typed(dtype), step)
            return wrap(
                made(
                    _RANDOM, _in_memory, (), shape, dtype, static=static, dynamic=dynamic, objects=objects,
                    is_costly=True, is_fresh=True, device=self.device,
                )
            )  # fmt: skip
        at = drawing.pair_at if step == 2 else drawing.four_at
        element = of.ufunc(of.made("def call(i, c, k):\n    return f0(f1, i, c, k)\n", at, law), 3)
        return wrap(
            made(
                _RANDOM, _element_by_element, (), shape, dtype, dynamic=dynamic, objects=(element,),
                is_costly=True, device=self.device,
            )
        )  # fmt: skip

    def _two(self, shape: tuple[int, ...], dtype: Any, one: Any, other: Any) -> ndarray:
        wanted = np.dtype(dtype)
        if wanted not in dtypes.REAL_FLOATING:
            raise TypeError(f"Unsupported dtype {wanted!r}")
        law, step = (one, 2) if wanted == dtypes.float64 else other
        return self._filled(shape, wanted, law, step)

    def random(self, size: Any = None, dtype: Any = np.float64) -> ndarray:
        """Numbers from 0 to before 1, of 53 bits, or of 24 as `float32`."""
        return self._two(_size(size), dtype, drawing.uniform, (drawing.uniform32, 4))

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> ndarray:
        """Numbers from `low` to before `high`. OverflowError if the range is not finite."""
        low, high = self._parameter(low), self._parameter(high)
        if not isinstance(low, ndarray) and not isinstance(high, ndarray) and not math.isfinite(high - low):
            raise OverflowError("high - low range exceeds valid bounds")
        return _moved(self.random(_size(size, low, high)), low, high - low)

    def standard_normal(self, size: Any = None, dtype: Any = np.float64) -> ndarray:
        """Numbers of the normal distribution of mean 0 and deviation 1."""
        return self._two(_size(size), dtype, drawing.normal, (drawing.normal32, 2))

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> ndarray:
        """Numbers of a normal distribution. ValueError for a negative deviation."""
        loc, scale = self._parameter(loc), _checked("scale", self._parameter(scale))
        return _moved(self.standard_normal(_size(size, loc, scale)), loc, scale)

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> ndarray:
        """Numbers whose logarithms are normally distributed."""
        mean, sigma = self._parameter(mean), _checked("sigma", self._parameter(sigma))
        return mapped(_exp, self.normal(mean, sigma, size))

    # --- by inversion ------------------------------------------------------------------------------------------------
    def standard_exponential(self, size: Any = None, dtype: Any = np.float64) -> ndarray:
        """Numbers of the exponential distribution of mean 1."""
        return mapped(_exponential, self.random(size, dtype))

    def _scaled(self, f: Any, size: Any, loc: Any, scale: Any) -> ndarray:
        loc, scale = self._parameter(loc), _checked("scale", self._parameter(scale))
        return _moved(mapped(f, self.random(_size(size, loc, scale))), loc, scale)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> ndarray:
        """Numbers of the exponential distribution of a mean."""
        return self._scaled(_exponential, size, 0.0, scale)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> ndarray:
        """Numbers of the Laplace distribution."""
        return self._scaled(_laplace, size, loc, scale)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> ndarray:
        """Numbers of the logistic distribution."""
        return self._scaled(_logistic, size, loc, scale)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> ndarray:
        """Numbers of the Gumbel distribution."""
        return self._scaled(_gumbel, size, loc, scale)

    def rayleigh(self, scale: Any = 1.0, size: Any = None) -> ndarray:
        """Numbers of the Rayleigh distribution."""
        return self._scaled(_rayleigh, size, 0.0, scale)

    def standard_cauchy(self, size: Any = None) -> ndarray:
        """Numbers of the Cauchy distribution."""
        return mapped(_cauchy, self.random(size))

    def weibull(self, a: Any, size: Any = None) -> ndarray:
        """Numbers of the Weibull distribution of a shape."""
        a = _checked("a", self._parameter(a))
        return mapped(_weibull, self.random(_size(size, a)), a)

    def pareto(self, a: Any, size: Any = None) -> ndarray:
        """Numbers of the Pareto distribution (Lomax) of a shape."""
        a = _checked("a", self._parameter(a))
        return mapped(_pareto, self.random(_size(size, a)), a)

    def geometric(self, p: Any, size: Any = None) -> ndarray:
        """Numbers of trials until the first success, from 1 on."""
        p = _checked("p", self._parameter(p), _probability)
        return mapped(_geometric, self.random(_size(size, p)), p)

    # --- by rejection ------------------------------------------------------------------------------------------------
    def _each(self, law: tuple[Any, ...], dtype: np.dtype[Any], size: Any, first: Any, second: Any = 0.0) -> ndarray:
        shape = _size(size, first, second)

        def line(x: Any) -> Node:
            if not isinstance(x, ndarray):
                return leaf(np.asarray([x]))
            return as_line(as_node(x if not x.ndim else broadcast_to(x, shape)))

        objects, static = (drawing.each, *law), (of.typed(dtype),)
        dynamic = (*self._next(), math.prod(shape), shape)
        return wrap(
            made(
                _RANDOM, _with_parameters, (line(first), line(second)), shape, dtype, static=static, dynamic=dynamic,
                objects=objects, is_costly=True, is_fresh=True, device=self.device,
            )
        )  # fmt: skip

    def poisson(self, lam: Any = 1.0, size: Any = None) -> ndarray:
        """Numbers of the Poisson distribution. ValueError for a mean that is negative, NaN or too large."""
        lam = self._parameter(lam)
        if not isinstance(lam, ndarray) and not 0 <= lam <= 9.2233720064847708e18:
            raise ValueError("lam < 0 or lam is NaN" if not lam >= 0 else "lam value too large")
        return self._each(drawing.POISSON, dtypes.int64, size, _float(lam))

    def binomial(self, n: Any, p: Any, size: Any = None) -> ndarray:
        """Numbers of successes of `n` trials of a probability."""
        n, p = _checked("n", self._parameter(n)), _checked("p", self._parameter(p), _probability)
        if isinstance(n, ndarray):
            n = wrap(convert(n.node(), dtypes.int64))
        return self._each(drawing.BINOMIAL, dtypes.int64, size, n, _float(p))

    def standard_gamma(self, shape: Any, size: Any = None) -> ndarray:
        """Numbers of the gamma distribution of a shape and the scale 1."""
        return self._each(drawing.GAMMA, dtypes.float64, size, _float(_checked("shape", self._parameter(shape))))

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> ndarray:
        """Numbers of the gamma distribution."""
        shape, scale = self._parameter(shape), _checked("scale", self._parameter(scale))
        return multiply(self.standard_gamma(shape, _size(size, shape, scale)), scale)

    def chisquare(self, df: Any, size: Any = None) -> ndarray:
        """Numbers of the chi-square distribution. ValueError unless the degrees of freedom are positive."""
        df = self._parameter(df)
        if not isinstance(df, ndarray) and not df > 0:
            raise ValueError("df <= 0")
        return self.standard_gamma(df * 0.5, size) * 2.0

    def beta(self, a: Any, b: Any, size: Any = None) -> ndarray:
        """Numbers of the beta distribution."""
        a, b = self._parameter(a), self._parameter(b)
        shape = _size(size, a, b)
        one, other = self.standard_gamma(a, shape), self.standard_gamma(b, shape)
        return one / (one + other)

    # --- integers, choices and orders --------------------------------------------------------------------------------
    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False
    ) -> ndarray:
        """Integers from `low` to before `high`, or to it with `endpoint`, from 0 without `high`; all equally probable.

        Bounds are numbers. ValueError for bounds that the type does not hold, or between which there are no integers.
        """
        wanted = np.dtype(dtype)
        if wanted not in (dtypes.bool, *dtypes.INTEGRAL):
            raise TypeError(f"Unsupported dtype {wanted!r} for integers")
        first, last = (0, int(low)) if high is None else (int(low), int(high))
        last -= not endpoint
        least, most = (0, 1) if wanted == dtypes.bool else (int(np.iinfo(wanted).min), int(np.iinfo(wanted).max))
        if first < least:
            raise ValueError(f"low is out of bounds for {wanted}")
        if last > most:
            raise ValueError(f"high is out of bounds for {wanted}")
        if first > last:
            raise ValueError("low > high" if endpoint else "high <= 0" if high is None else "low >= high")
        return self._integers(_size(size), first, last - first + 1, wanted)

    def _integers(self, shape: tuple[int, ...], low: int, count: int, dtype: np.dtype[Any]) -> ndarray:
        bounds = (np.uint64(low % 2**64), np.uint64(count % 2**64), np.uint64(2**64 % count))
        dynamic = (*self._next(), math.prod(shape), shape, *bounds)
        objects = (drawing.whole_numbers,)
        node = made(
            _RANDOM, _of_integers, (), shape, dtypes.uint64, dynamic=dynamic, objects=objects,
            is_costly=True, is_fresh=True, device=self.device,
        )  # fmt: skip
        return wrap(convert(node, dtype))

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> ndarray:
        """Elements along an axis, or integers below a number, by probabilities `p` if given.

        Raises ValueError for none to choose from, for more than there are without replacement, for probabilities that
        do not fit, are negative or do not sum to 1.
        """
        source = None if isinstance(a, (int, np.integer)) else self._parameter(a)
        k = 0 if source is None else axis_of(axis, source.ndim)
        count, shape = int(a) if source is None else source.shape[k], _size(size)
        if p is not None:
            p = _probabilities(p, count, self.device)
        n = math.prod(shape)
        if count <= 0 and n:
            raise ValueError("a must be a positive integer unless no samples are taken")
        if replace:
            if p is None:
                places = self._integers((n,), 0, max(count, 1), dtypes.int64)
            else:
                bounds = cumulative_sum(p)
                places = searchsorted(bounds * (1.0 / bounds[-1]), self.random(n), side="right")
        else:
            if n > count or (p is not None and n > np.count_nonzero(p.numpy())):
                raise ValueError("Cannot take a larger sample than population when replace is False")
            # The first of exponential times with rates of the weights are a sample without replacement.
            keys = self._integers((count,), 0, 2**64, dtypes.uint64) if p is None else self.exponential(size=count) / p
            places = argsort(keys)[:n]
        if source is None:
            return _reshape(places, shape)
        return _reshape(take(source, places, axis=k), (*source.shape[:k], *shape, *source.shape[k + 1 :]))

    def _order(self, n: int) -> ndarray:
        return argsort(self._integers((n,), 0, 2**64, dtypes.uint64))

    def permutation(self, x: Any, axis: int = 0) -> ndarray:
        """The integers below a number, or an array along an axis, in random order."""
        if isinstance(x, (int, np.integer)):
            return self._order(int(x))
        x = self._parameter(x)
        k = axis_of(axis, x.ndim)
        return take(x, self._order(x.shape[k]), axis=k)

    def permuted(self, x: Any, *, axis: int | None = None) -> ndarray:
        """Elements in random order, of each line along an axis by itself, or of all."""
        x = self._parameter(x)
        if axis is None:
            return _reshape(take(_reshape(x, (x.size,)), self._order(x.size)), x.shape)
        keys = self._integers(x.shape, 0, 2**64, dtypes.uint64)
        return take_along_axis(x, argsort(keys, axis=axis), axis=axis)

    def shuffle(self, x: ndarray, axis: int = 0) -> None:
        """Brings an array into random order along an axis, in place."""
        if not isinstance(x, ndarray):
            raise TypeError(f"an array of lancehead.xp is needed, not {type(x).__name__}")
        x[...] = self.permutation(x, axis)


def _reshape(x: ndarray, shape: tuple[int, ...]) -> ndarray:
    return wrap(reshape(x, shape).node())


def _float(x: Any) -> Any:
    return wrap(convert(x.node(), dtypes.float64)) if isinstance(x, ndarray) else float(x)


def _probabilities(p: Any, count: int, device: Device | None) -> ndarray:
    value = np.asarray(p.numpy() if isinstance(p, ndarray) else p, dtype=np.float64)
    if value.ndim != 1:
        raise ValueError("p must be 1-dimensional")
    if value.size != count:
        raise ValueError("a and p must have same size")
    if np.isnan(value).any():
        raise ValueError("Probabilities contain NaN")
    if (value < 0).any():
        raise ValueError("Probabilities are not non-negative")
    if abs(float(math.fsum(value)) - 1.0) > 1.4901161193847656e-08 * max(1, count) ** 0.5:
        raise ValueError("Probabilities do not sum to 1. See Notes section of docstring for more information.")
    return asarray(value, device=device)


def _moved(x: ndarray, loc: Any, scale: Any) -> ndarray:
    # Numbers times a scale, and moved.
    given = [a if isinstance(a, ndarray) else float(a) for a in (scale, loc)]
    return mapped(_fused, x, *given)


def _fused(x: Any, scale: Any, loc: Any) -> Any:
    return drawing.fused(x, np.float64(scale), np.float64(loc))


def _exp(x: Any) -> Any:
    return np.exp(x)


def _exponential(u: Any) -> Any:
    return -np.log1p(-u)


def _laplace(u: Any) -> Any:
    # The least number stands for 0, which has no logarithm.
    return np.log(max(2.0 * u, 1.1102230246251565e-16)) if u < 0.5 else -np.log(2.0 - 2.0 * u)


def _logistic(u: Any) -> Any:
    v = max(u, 1.1102230246251565e-16)
    return np.log(v / (1.0 - v))


def _gumbel(u: Any) -> Any:
    return -np.log(max(-np.log1p(-u), 1.1102230246251565e-16))


def _rayleigh(u: Any) -> Any:
    return np.sqrt(-2.0 * np.log1p(-u))


def _cauchy(u: Any) -> Any:
    return np.tan(3.141592653589793 * (u - 0.5))


def _weibull(u: Any, a: Any) -> Any:
    return 0.0 if a == 0.0 else (-np.log1p(-u)) ** (1.0 / a)


def _pareto(u: Any, a: Any) -> Any:
    return np.expm1(-np.log1p(-u) / a)


def _geometric(u: Any, p: Any) -> Any:
    if p >= 1.0:
        return 1
    # A number beyond the type is its largest.
    return int(min(max(np.ceil(np.log1p(-u) / np.log1p(-p)), 1.0), 9.223372036854775e18))


def default_rng(seed: Any = None, stream: str | None = None, device: Any = None) -> Any:
    """A generator of random numbers: with a stream of this package, or by its name one of NumPy or cuRAND.

    Seeds are NumPy's: None, integers, sequences of integers, or a `SeedSequence`. A generator is given back as it is.
    "numpy" is the stream of `numpy.random.default_rng`; "PCG64", "PCG64DXSM", "MT19937", "SFC64" and "Philox" are those
    of `numpy.random.Generator` of these, bit for bit. "XORWOW" and "Philox4_32_10" are those of cuRAND's functions in
    kernels. ValueError for another name.

    Arrays are on a device if it is given: numbers of this package's stream are made there where they are needed, others
    copied. Without one they go with arrays of any.

    >>> from lancehead import xp
    >>> rng = xp.random.default_rng(7)
    >>> rng.random(3).shape
    (3,)
    """
    if isinstance(seed, (Generator, Threads, Sequential)) and stream is None:
        if device is not None and as_device(device) is not (seed.device or CPU):
            raise ValueError(f"the generator's arrays are on {seed.device or CPU}, not on {device}")
        return seed
    if stream in (None, Generator.stream) and not isinstance(seed, (np.random.Generator, np.random.BitGenerator)):
        return Generator(seed, device)
    where = None if device is None and as_device(None) is CPU else as_device(device)
    if isinstance(seed, (np.random.Generator, np.random.BitGenerator)):
        return numpy_generator(seed, None, where)
    if stream in Threads.STREAMS:
        return Threads(seed, stream, where)
    return numpy_generator(seed, stream, where)


__all__ = ["Generator", "default_rng"]
public(globals())
