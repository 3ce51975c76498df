"""Random numbers on the current device: CuPy's functions, `RandomState` and `Generator`.

Numbers are those of `lancehead.xp`'s generators, so the same on every device; distributions that have no kernel are
drawn by NumPy on the host.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np

from lancehead.cupy import hosted, layout, ufuncs
from lancehead.cupy.creation import array
from lancehead.cupy.hosted import wrap
from lancehead.options import near_members, public
from lancehead.xp import arrays as lazy
from lancehead.xp import random as lazy_random

#: Methods of the lazy generators.
_FUSED = (
    "beta", "binomial", "chisquare", "exponential", "gamma", "geometric", "gumbel", "laplace", "logistic", "lognormal",
    "normal", "pareto", "poisson", "rayleigh", "standard_cauchy", "standard_exponential", "standard_gamma",
    "standard_normal", "uniform", "weibull",
)  # fmt: skip


class BitGenerator:
    """A stream of random numbers by its seed."""

    stream: str | None = None

    def __init__(self, seed: Any = None, *, size: Any = -1) -> None:
        self.seed = _seed_of(seed)
        self.generator = lazy_random.default_rng(self.seed, self.stream, device=str(layout.device()))

    def random_raw(self, size: Any = None, output: bool = True) -> Any:
        """Words of 32 bits."""
        words = self.generator.bits(1 if size is None else size)
        return wrap(words) if size is not None else int(words.numpy()[0])


class XORWOW(BitGenerator):
    """The generator XORWOW with cuRAND's states: element `i` is of the sequence `i`."""

    stream = "XORWOW"


class Philox4x3210(BitGenerator):
    """The generator Philox4x32-10 with cuRAND's states."""

    stream = "Philox4_32_10"


class MRG32k3a(BitGenerator):
    """Refused: the generator is not there."""

    def __init__(self, seed: Any = None, *, size: Any = -1) -> None:
        raise NotImplementedError("MRG32k3a is not there; XORWOW and Philox4x3210 are")


def _seed_of(seed: Any) -> int:
    if seed is None:
        return int.from_bytes(os.urandom(4), "little")
    if isinstance(seed, lazy.ndarray):
        seed = layout.host(seed)
    if isinstance(seed, (np.ndarray, list, tuple)):
        return int(np.random.SeedSequence(np.asarray(seed).astype(np.uint64).ravel().tolist()).generate_state(1)[0])
    if isinstance(seed, float) or not hasattr(seed, "__index__"):
        raise TypeError(f"a seed is an integer, not {type(seed).__name__}")
    number = seed.__index__()
    if not 0 <= number < 1 << 64:
        raise ValueError("Seed must be an integer between 0 and 2**64 - 1")
    return int(number) % (1 << 32) if number >= 1 << 32 else int(number)


@near_members
class _Drawing:
    # The base of RandomState and Generator.
    def __init__(self, seed: Any = None) -> None:
        self._start(_seed_of(seed))

    def _start(self, seed: int) -> None:
        self._seed = seed
        self._lazy: Any = lazy_random.default_rng(seed, device=str(layout.device()))
        self._host = np.random.Generator(np.random.Philox(seed))

    def _drawn(self, name: str, given: tuple[Any, ...], size: Any, dtype: Any = None) -> Any:
        if isinstance(size, np.integer):
            size = int(size)
        values = tuple(wrap(lazy.wrap(x.node())) if isinstance(x, lazy.ndarray) else x for x in given)
        if name in _FUSED:
            found = wrap(getattr(self._lazy, name)(*map(_plain, values), size=size))
        else:
            plain = [hosted.given(x) for x in values]
            named: dict[str, Any] = {}
            if name == "hypergeometric":
                plain = [np.asarray(x).astype(np.int64) for x in plain]
            elif name == "multivariate_normal":
                named = dict(zip(("check_valid", "tol"), plain[2:], strict=True))
                plain = plain[:2]
            found = hosted.result(np.asarray(getattr(self._host, name)(*plain, size=size, **named)))
        return found if dtype is None or found.dtype == np.dtype(dtype) else found.astype(dtype)

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
        """Elements of an array, or integers below a number."""
        if a is None:
            raise ValueError("a must be 1-dimensional or an integer")
        if isinstance(a, lazy.ndarray) or isinstance(a, (np.ndarray, list, tuple)):
            values = array(a)
            if values.ndim != 1:
                raise ValueError("a must be 1-dimensional or an integer")
            n = values.size
        else:
            values, n = None, _integer(a)
        if n <= 0 and (size is None or np.prod(size) > 0):
            raise ValueError("a must be greater than 0")
        if p is not None:
            p = np.asarray(layout.host(p) if isinstance(p, lazy.ndarray) else p, float)
            p = p / p.sum() if p.ndim == 1 and abs(p.sum() - 1) < 1e-6 else p
        found = hosted.result(np.asarray(self._host.choice(n, size, replace, p)))
        return found if values is None else values[found]

    def permutation(self, a: Any) -> Any:
        """An array in a random order along the first axis, or the integers below a number."""
        if isinstance(a, (int, np.integer)) and not isinstance(a, bool):
            if a < 0:
                raise ValueError("negative dimensions are not allowed")
            return hosted.result(self._host.permutation(int(a)))
        values = array(a) if not isinstance(a, lazy.ndarray) else a
        return values[hosted.result(self._host.permutation(values.shape[0]))]

    def shuffle(self, a: Any) -> None:
        """Puts an array into a random order along the first axis."""
        if not isinstance(a, lazy.ndarray):
            raise TypeError("The array must be cupy.ndarray")
        if not a.ndim:
            raise TypeError("An array whose ndim is 0 is not supported")
        a[...] = self.permutation(a)


def _plain(x: Any) -> Any:
    return lazy.ndarray(x._node, x._view) if isinstance(x, lazy.ndarray) else x


def _integer(x: Any) -> int:
    try:
        if isinstance(x, float):
            raise TypeError
        return int(x.__index__())
    except (TypeError, AttributeError) as e:
        raise ValueError("a must be 1-dimensional or an integer") from e


def _law(name: str, defaults: tuple[Any, ...] = (), parameters: tuple[str, ...] = ()) -> Any:
    # A method that draws from a distribution.
    missing = object()

    def draw(self: Any, *given: Any, size: Any = None, dtype: Any = None, **named: Any) -> Any:
        n = len(parameters)
        if len(given) > n:
            if len(given) > n + 2:
                raise TypeError(f"{name} takes {n} parameters, a size and a type")
            size = given[n]
            dtype = given[n + 1] if len(given) > n + 1 else dtype
            given = given[:n]
        values = [*given, *[missing] * (n - len(given))]
        for k, parameter in enumerate(parameters):
            if parameter in named:
                values[k] = named.pop(parameter)
            elif values[k] is missing:
                behind = k - (n - len(defaults))
                if behind < 0:
                    raise TypeError(f"{name} needs the argument {parameter!r}")
                values[k] = defaults[behind]
        if named:
            raise TypeError(f"{name} got unexpected arguments: {', '.join(named)}")
        return self._drawn(name, tuple(values), size, self._type(dtype))

    draw.__name__ = name
    draw.__doc__ = f"Numbers of the distribution `{name}`; parameters are {', '.join(parameters) or 'none'}."
    return draw


_LAWS: dict[str, tuple[tuple[Any, ...], tuple[str, ...]]] = {
    "beta": ((), ("a", "b")), "binomial": ((), ("n", "p")), "chisquare": ((), ("df",)),
    "dirichlet": ((), ("alpha",)), "exponential": ((1.0,), ("scale",)), "f": ((), ("dfnum", "dfden")),
    "gamma": ((1.0,), ("shape", "scale")), "geometric": ((), ("p",)), "gumbel": ((0.0, 1.0), ("loc", "scale")),
    "hypergeometric": ((), ("ngood", "nbad", "nsample")), "laplace": ((0.0, 1.0), ("loc", "scale")),
    "logistic": ((0.0, 1.0), ("loc", "scale")), "lognormal": ((0.0, 1.0), ("mean", "sigma")),
    "logseries": ((), ("p",)), "multivariate_normal": (("ignore", 1e-8), ("mean", "cov", "check_valid", "tol")),
    "negative_binomial": ((), ("n", "p")), "noncentral_chisquare": ((), ("df", "nonc")),
    "noncentral_f": ((), ("dfnum", "dfden", "nonc")), "normal": ((0.0, 1.0), ("loc", "scale")),
    "pareto": ((), ("a",)), "poisson": ((1.0,), ("lam",)), "power": ((), ("a",)), "rayleigh": ((1.0,), ("scale",)),
    "standard_cauchy": ((), ()), "standard_exponential": ((), ()), "standard_gamma": ((), ("shape",)),
    "standard_normal": ((), ()), "standard_t": ((), ("df",)), "triangular": ((), ("left", "mode", "right")),
    "uniform": ((0.0, 1.0), ("low", "high")), "vonmises": ((), ("mu", "kappa")), "wald": ((), ("mean", "scale")),
    "weibull": ((), ("a",)), "zipf": ((), ("a",)), "multinomial": ((), ("n", "pvals")),
}  # fmt: skip


class RandomState(_Drawing):
    """Random numbers by CuPy's older interface."""

    def __init__(self, seed: Any = None, method: Any = None) -> None:
        super().__init__(seed)

    def _type(self, dtype: Any) -> Any:
        return dtype

    def seed(self, seed: Any = None) -> None:
        """Begins anew."""
        self._start(_seed_of(seed))

    def random_sample(self, size: Any = None, dtype: Any = float) -> Any:
        """Numbers from 0 to before 1."""
        _check_float(dtype)
        return wrap(self._lazy.random(size, np.dtype(dtype)))

    def rand(self, *size: int, **options: Any) -> Any:
        """Numbers from 0 to before 1 in a shape."""
        dtype = options.pop("dtype", float)
        if options:
            raise TypeError(f"rand() got unexpected keyword arguments {', '.join(options)}")
        return self.random_sample(size or None, dtype)

    def randn(self, *size: int, **options: Any) -> Any:
        """Numbers of the standard normal distribution in a shape."""
        dtype = options.pop("dtype", float)
        if options:
            raise TypeError(f"randn() got unexpected keyword arguments {', '.join(options)}")
        _check_float(dtype)
        return self._drawn("normal", (0.0, 1.0), size or None, dtype)

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
        """Integers from one to before another one."""
        low, high = [layout.host(x) if isinstance(x, lazy.ndarray) else x for x in (low, high)]
        if high is None:
            low, high = 0, low
        if np.any(np.asarray(low) >= np.asarray(high)):
            raise ValueError("low >= high")
        if np.ndim(low) or np.ndim(high):
            found = self._host.integers(low, high, size=size)
            return hosted.result(np.asarray(found)).astype(dtype)
        bounds = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else None
        if bounds is not None and (low < bounds.min or high - 1 > bounds.max):
            side = "low" if low < bounds.min else "high"
            raise ValueError(f"{side} is out of bounds for {np.dtype(dtype).name}")
        return wrap(self._lazy.integers(int(np.ceil(low)), int(np.ceil(high)), size=size)).astype(dtype)

    def random_integers(self, low: Any, high: Any = None, size: Any = None) -> Any:
        """Integers from one to another one, with both."""
        low, high = (1, low) if high is None else (low, high)
        return self.randint(low, high + 1, size)

    def tomaxint(self, size: Any = None) -> Any:
        """Integers that are not negative."""
        return self.randint(0, 2**31 - 1, size)

    def interval(self, mx: int, size: Any) -> Any:
        """Integers from 0 to a number, with it."""
        return self.randint(0, int(mx) + 1, size)


def _check_float(dtype: Any) -> None:
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise TypeError("cupy.random only supports float32 and float64")


class Generator(_Drawing):
    """Random numbers by NumPy's newer interface, from a bit generator."""

    def __init__(self, bit_generator: Any) -> None:
        if not isinstance(bit_generator, BitGenerator):
            raise TypeError("a bit generator is needed; write default_rng(seed)")
        self.bit_generator = bit_generator
        super().__init__(bit_generator.seed)

    def _type(self, dtype: Any) -> Any:
        return dtype

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Numbers from 0 to before 1, of the bit generator's stream."""
        if np.dtype(dtype) not in (np.float32, np.float64):
            raise TypeError(f"Unsupported dtype {np.dtype(dtype)} for random")
        size = out.shape if out is not None and size is None else size
        found = wrap(self.bit_generator.generator.random(size, np.dtype(dtype)))
        return found if out is None else ufuncs.stored_in(out, found)

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False
    ) -> Any:
        """Integers from one to before another one, or with it."""
        low, high = (0, low) if high is None else (low, high)
        values = [hosted.given(x) if isinstance(x, lazy.ndarray) else x for x in (low, high)]
        if any(np.ndim(v) for v in values):
            found = self._host.integers(values[0], values[1], size=size, endpoint=endpoint)
            return hosted.result(np.asarray(found)).astype(dtype)
        return wrap(self._lazy.integers(*values, size=size, endpoint=endpoint)).astype(dtype)


for _name, (_defaults, _parameters) in _LAWS.items():
    _method = _law(_name, _defaults, _parameters)
    setattr(RandomState, _name, _method)
    setattr(Generator, _name, _method)


def default_rng(seed: Any = None) -> Generator:
    """A generator from a seed or a bit generator."""
    if isinstance(seed, Generator):
        return seed
    return Generator(seed if isinstance(seed, BitGenerator) else XORWOW(seed))


class _States(threading.local):
    def __init__(self) -> None:
        self.by_device: dict[int, Any] = {}


_STATES = _States()


def get_random_state() -> RandomState:
    """The state that the functions of this module use."""
    found: RandomState | None = _STATES.by_device.get(layout.CURRENT.number)
    if found is None:
        seed = os.environ.get("CUPY_SEED")
        found = _STATES.by_device[layout.CURRENT.number] = RandomState(None if seed is None else int(seed))
    return found


def set_random_state(rs: RandomState) -> None:
    """The state that the functions of this module use from now on."""
    if not isinstance(rs, RandomState):
        raise TypeError(f"Random state must be an instance of RandomState. Actual: {type(rs)}")
    _STATES.by_device[layout.CURRENT.number] = rs


def reset_states() -> None:
    """Forgets all states."""
    _STATES.by_device.clear()


def seed(seed: Any = None) -> None:
    """Begins anew."""
    get_random_state().seed(seed)


def _function(name: str) -> Any:
    def f(*given: Any, **named: Any) -> Any:
        return getattr(get_random_state(), name)(*given, **named)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = getattr(RandomState, name).__doc__
    return f


def bytes(length: int) -> Any:
    """Random bytes."""
    return get_random_state().randint(0, 256, length).astype(np.uint8).tobytes()


beta, binomial, chisquare, choice, dirichlet = map(_function, ("beta", "binomial", "chisquare", "choice", "dirichlet"))
exponential, f, gamma, geometric, gumbel = map(_function, ("exponential", "f", "gamma", "geometric", "gumbel"))
hypergeometric, laplace, logistic, lognormal = map(_function, ("hypergeometric", "laplace", "logistic", "lognormal"))
logseries, multinomial, multivariate_normal = map(_function, ("logseries", "multinomial", "multivariate_normal"))
negative_binomial, noncentral_chisquare = map(_function, ("negative_binomial", "noncentral_chisquare"))
noncentral_f, normal, pareto, permutation = map(_function, ("noncentral_f", "normal", "pareto", "permutation"))
poisson, power, rand, randint, randn = map(_function, ("poisson", "power", "rand", "randint", "randn"))
random_integers, rayleigh, shuffle = map(_function, ("random_integers", "rayleigh", "shuffle"))
standard_cauchy, standard_exponential = map(_function, ("standard_cauchy", "standard_exponential"))
standard_gamma, standard_normal, standard_t = map(_function, ("standard_gamma", "standard_normal", "standard_t"))
triangular, uniform, vonmises, wald, weibull = map(_function, ("triangular", "uniform", "vonmises", "wald", "weibull"))
zipf = _function("zipf")
random = random_sample = ranf = sample = _function("random_sample")

__all__ = [
    "BitGenerator", "Generator", "MRG32k3a", "Philox4x3210", "RandomState", "XORWOW", "beta", "binomial", "bytes",
    "chisquare", "choice", "default_rng", "dirichlet", "exponential", "f", "gamma", "geometric", "get_random_state",
    "gumbel", "hypergeometric", "laplace", "logistic", "lognormal", "logseries", "multinomial", "multivariate_normal",
    "negative_binomial", "noncentral_chisquare", "noncentral_f", "normal", "pareto", "permutation", "poisson", "power",
    "rand", "randint", "randn", "random", "random_integers", "random_sample", "ranf", "rayleigh", "reset_states",
    "sample", "seed", "set_random_state", "shuffle", "standard_cauchy", "standard_exponential", "standard_gamma",
    "standard_normal", "standard_t", "triangular", "uniform", "vonmises", "wald", "weibull", "zipf",
]  # fmt: skip
public(globals())
