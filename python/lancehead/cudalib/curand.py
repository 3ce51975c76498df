"""cuRAND: random numbers on a device, by the names of NumbaPro's and pyculib's.

>>> from lancehead.cudalib import curand
>>> numbers = np.empty(4, np.float32)
>>> curand.PRNG(seed=1).uniform(numbers)
>>> bool(((numbers > 0) & (numbers <= 1)).all())
True
"""

from __future__ import annotations

import ctypes
import threading
import time
from typing import Any

import numpy as np

from lancehead.cuda import device_array
from lancehead.cudalib import random_streams
from lancehead.cudalib.errors import CuRandError
from lancehead.cudalib.libraries import CURAND, Session
from lancehead.cudalib.operands import Call, count, pointer
from lancehead.cudalib.random_streams import PSEUDO, Sobol, Stream
from lancehead.options import public

_QUASI = {200: 32, 201: 32, 203: 64}


class RNG(Session):
    """The base of all generators."""

    LIBRARY, DESTROY, SET_STREAM = CURAND, "curandDestroyGenerator", "curandSetStream"
    _kinds: Any = ()

    def __init__(self, rndtype: int, stream: Any) -> None:
        self.rndtype = rndtype
        self._source: Any = None
        self._offset = 0
        super().__init__(stream)
        if self._gpu is None:
            self._source = self._local()

    def _local(self) -> Any:
        """The generator of the CPU device."""
        raise NotImplementedError

    def _create(self) -> Any:
        handle = ctypes.c_void_p()
        CURAND.call("curandCreateGenerator", ctypes.byref(handle), ctypes.c_int(self.rndtype))
        return handle

    @property
    def offset(self) -> int:
        """Where in the sequence the generator begins. Setting it begins there."""
        return self._offset

    @offset.setter
    def offset(self, offset: int) -> None:
        self.check()
        self._offset = _word(offset, "offset")
        if self._handle is not None:
            CURAND.call("curandSetGeneratorOffset", self._handle, ctypes.c_ulonglong(self._offset))
        elif isinstance(self._source, Sobol):
            self._source.offset = self._offset
        else:
            self._source.restart(offset=self._offset)

    def _fill(self, ary: Any, size: Any, dtypes: str, run: Any, functions: dict[str, str], *extra: Any) -> None:
        """Fills the first elements of an array: `run` on the CPU device, on a GPU the function for the type."""
        self.check()
        dtype = getattr(ary, "dtype", None)
        if dtype is None:
            raise TypeError(f"an array of NumPy or of a device is filled, not {type(ary).__name__}")
        if np.dtype(dtype).char not in dtypes and not (np.dtype(dtype).kind == "u" and "u" in dtypes):
            known = " or ".join(str(np.dtype(c)) for c in functions)
            raise TypeError(f"an array of {known} is filled, not one of {dtype}")
        with Call(self.stream) as call:
            there = call.array(ary, "ary", out=True)
            if there.ndim != 1:
                raise TypeError(f"an array of one dimension is filled, not one of {there.ndim}")
            if there.size > 1 and there.strides[0] != there.itemsize:
                raise TypeError("the array has gaps between its elements")
            n = there.size if size is None else count(size, "size")
            if n > there.size:
                raise ValueError(f"{n} numbers do not fit into an array of {there.size}")
            if n == 0:
                return
            if call.gpu is None:
                run(there[:n])
            else:
                name = functions[np.dtype(dtype).char]
                CURAND.call(name, self._handle, pointer(there), ctypes.c_size_t(n), *extra)


def _word(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} is an integer, not {type(value).__name__}")
    if not 0 <= value < 2**64:
        raise ValueError(f"{name} is {value}, where a number from 0 to 2**64 - 1 is needed")
    return int(value)


class PRNG(RNG):
    """A generator of pseudorandom numbers. Its kinds are attributes of the class; numbers of a seed are cuRAND's.

    >>> prng = curand.PRNG(rndtype=curand.PRNG.XORWOW, seed=1234)
    >>> numbers = np.empty(2)
    >>> prng.normal(numbers, 0.0, 1.0)
    >>> numbers.round(6)
    array([ 0.35874 , -1.239593])
    """

    TEST, DEFAULT, XORWOW, MRG32K3A, MTGP32, MT19937, PHILOX4_32_10 = 0, 100, 101, 121, 141, 142, 161

    def __init__(
        self, rndtype: int = DEFAULT, seed: int | None = None, offset: int | None = None, stream: Any = None
    ) -> None:
        self._seed = 0
        super().__init__(rndtype, stream)
        if seed is not None:
            self.seed = seed
        if offset is not None:
            self.offset = offset

    def _local(self) -> Stream:
        if self.rndtype not in PSEUDO:
            random_streams.refuse(self.rndtype, "PRNG.XORWOW, MRG32K3A or PHILOX4_32_10")
        return PSEUDO[self.rndtype]()

    @property
    def seed(self) -> int:
        """The seed. Setting it begins its sequence, at the offset."""
        return self._seed

    @seed.setter
    def seed(self, seed: int) -> None:
        self.check()
        self._seed = _word(seed, "seed")
        if self._handle is not None:
            CURAND.call("curandSetPseudoRandomGeneratorSeed", self._handle, ctypes.c_ulonglong(self._seed))
        else:
            self._source.restart(seed=self._seed)

    def uniform(self, ary: Any, size: int | None = None) -> None:
        """Fills an array of `float32` or `float64`, or its first `size` elements, with numbers above 0 and up to 1."""
        names = {"f": "curandGenerateUniform", "d": "curandGenerateUniformDouble"}
        self._fill(ary, size, "fd", self._source and self._source.uniform, names)

    def normal(self, ary: Any, mean: float, sigma: float, size: int | None = None) -> None:
        """Fills an array of `float32` or `float64` with numbers of a normal distribution, an even number of them unless
        the generator is Philox."""
        names = {"f": "curandGenerateNormal", "d": "curandGenerateNormalDouble"}
        self._normal(ary, mean, sigma, size, "normal", names)

    def lognormal(self, ary: Any, mean: float, sigma: float, size: int | None = None) -> None:
        """Fills an array of `float32` or `float64` with exponentials of what `normal` gives."""
        names = {"f": "curandGenerateLogNormal", "d": "curandGenerateLogNormalDouble"}
        self._normal(ary, mean, sigma, size, "lognormal", names)

    def _normal(self, ary: Any, mean: float, sigma: float, size: Any, method: str, names: dict[str, str]) -> None:
        mean, sigma = float(mean), float(sigma)
        real: Any = ctypes.c_double if getattr(ary, "dtype", None) == np.float64 else ctypes.c_float

        def run(out: np.ndarray) -> None:
            getattr(self._source, method)(out, mean, sigma)

        self._fill(ary, size, "fd", run, names, real(mean), real(sigma))

    def poisson(self, ary: Any, lmbd: float, size: int | None = None) -> None:
        """Fills an array of `uint32` with counts of a Poisson distribution."""
        rate = float(lmbd)

        def run(out: np.ndarray) -> None:
            self._source.poisson(out, rate)

        self._fill(ary, size, "I", run, {"I": "curandGeneratePoisson"}, ctypes.c_double(rate))

    def generate(self, ary: Any, size: int | None = None) -> None:
        """Fills an array of `uint32` with words of 32 random bits."""
        self._fill(ary, size, "I", self._source and self._source.bits, {"I": "curandGenerate"})


class QRNG(RNG):
    """A generator of quasirandom numbers, a Sobol sequence. Its kinds are attributes of the class."""

    TEST, DEFAULT, SOBOL32, SCRAMBLED_SOBOL32, SOBOL64, SCRAMBLED_SOBOL64 = 0, 200, 201, 202, 203, 204

    def __init__(
        self, rndtype: int = DEFAULT, ndim: int | None = None, offset: int | None = None, stream: Any = None
    ) -> None:
        self._ndim = 1
        super().__init__(rndtype, stream)
        if ndim is not None:
            self.ndim = ndim
        if offset is not None:
            self.offset = offset

    def _local(self) -> Sobol:
        if self.rndtype not in _QUASI:
            random_streams.refuse(self.rndtype, "QRNG.SOBOL32 or SOBOL64")
        return Sobol(_QUASI[self.rndtype])

    @property
    def ndim(self) -> int:
        """The number of dimensions of a point."""
        return self._ndim

    @ndim.setter
    def ndim(self, ndim: int) -> None:
        self.check()
        self._ndim = random_streams.check_dimensions(ndim)
        if self._handle is not None:
            CURAND.call("curandSetQuasiRandomGeneratorDimensions", self._handle, ctypes.c_uint(self._ndim))
        else:
            self._source.dimensions = self._ndim

    def generate(self, ary: Any, size: int | None = None) -> None:
        """Fills an array of `uint32`, or of `uint64` for the kinds of 64 bits, with points: all numbers of the first
        dimension, then those of the second. There are as many of each."""
        is_long = self.rndtype in (self.SOBOL64, self.SCRAMBLED_SOBOL64)
        char = "L" if is_long else "I"
        names = {char: "curandGenerateLongLong" if is_long else "curandGenerate"}
        self._fill(ary, size, char, self._source and self._source.generate, names)


# --- Functions --------------------------------------------------------------------------------------------------------


class _Shared(threading.local):
    """The generators of the functions, for each thread and device its own."""

    def __init__(self) -> None:
        self.made: dict[Any, Any] = {}

    def get(self, key: Any, make: Any) -> Any:
        found = self.made.get(key)
        if found is None or found._closed:
            found = self.made[key] = make()
        try:
            found.check()
        except ValueError:
            found = self.made[key] = make()
        return found


_shared = _Shared()


def _prng() -> PRNG:
    return _shared.get("pseudo", lambda: PRNG(seed=time.time_ns() % 2**64))  # type: ignore[no-any-return]


def _made(size: int, dtype: Any, device: bool, fill: Any) -> Any:
    there = device_array(size, dtype) if device else np.empty(size, dtype)
    fill(there)
    return there


def uniform(size: int, dtype: Any = np.float64, device: bool = False) -> Any:
    """Numbers above 0 and up to 1, in a new array of the host or the device.

    >>> curand.uniform(3, np.float32).dtype
    dtype('float32')
    """
    return _made(size, dtype, device, _prng().uniform)


def normal(mean: float, sigma: float, size: int, dtype: Any = np.float64, device: bool = False) -> Any:
    """Numbers of a normal distribution, in a new array of the host or the device.

    >>> curand.normal(0.0, 1.0, 4).shape
    (4,)
    """
    return _made(size, dtype, device, lambda a: _prng().normal(a, mean, sigma))


def lognormal(mean: float, sigma: float, size: int, dtype: Any = np.float64, device: bool = False) -> Any:
    """Exponentials of numbers of a normal distribution, in a new array of the host or the device.

    >>> bool((curand.lognormal(0.0, 1.0, 4) > 0).all())
    True
    """
    return _made(size, dtype, device, lambda a: _prng().lognormal(a, mean, sigma))


def poisson(lmbd: float, size: int, device: bool = False) -> Any:
    """Counts of a Poisson distribution, in a new array of `uint32`.

    >>> curand.poisson(2.5, 4).dtype
    dtype('uint32')
    """
    return _made(size, np.uint32, device, lambda a: _prng().poisson(a, lmbd))


def quasi(size: int, bits: int = 32, nd: int = 1, device: bool = False) -> Any:
    """The next points of a Sobol sequence of `nd` dimensions, in a new array of integers of that many bits.

    >>> sorted(curand.quasi(2, nd=2) % 2)
    [np.uint32(0), np.uint32(0)]
    """
    if bits not in (32, 64):
        raise ValueError(f"the words of a sequence have 32 or 64 bits, not {bits}")
    qrng = _shared.get(bits, lambda: QRNG(QRNG.SOBOL32 if bits == 32 else QRNG.SOBOL64))
    if qrng.ndim != nd:
        qrng.ndim = nd
    return _made(size, np.uint32 if bits == 32 else np.uint64, device, qrng.generate)


__all__ = ["PRNG", "QRNG", "CuRandError", "lognormal", "normal", "poisson", "quasi", "uniform"]
public(globals())
