"""CUDA's libraries for tests, without a GPU: objects that take the place of what `dlopen` gives.

Arguments are compared with the C interfaces (`library_signatures.json`, from the headers of CUDA 13: `p` a pointer, `i`
an `int` or an enumeration, `l` `int64_t`, `z` `size_t`, `u` `unsigned`, `f` and `d` floats, `b` a byte). Then BLAS is
the Fortran one that SciPy has, transforms are NumPy's, and sparse matrices SciPy's, in the memory of the stand-in for
the driver.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg.cython_blas
import scipy.sparse

SIGNATURES: dict[str, dict[str, str]] = json.loads(Path(__file__).with_name("library_signatures.json").read_text())
_POINTERS = (ctypes.c_void_p, ctypes.Array, type(ctypes.byref(ctypes.c_int())), type(None))
_TYPES: dict[str, Any] = {
    "p": _POINTERS, "i": (ctypes.c_int, int), "l": ctypes.c_int64, "z": ctypes.c_size_t, "u": ctypes.c_uint,
    "f": ctypes.c_float, "d": ctypes.c_double, "b": ctypes.c_byte,
}  # fmt: skip
_LETTERS = {"S": np.float32, "D": np.float64, "C": np.complex64, "Z": np.complex128}
_DATA = {0: np.float32, 1: np.float64, 4: np.complex64, 5: np.complex128}


def number(x: Any) -> int:
    """The number that an argument is, or the address."""
    if x is None:
        return 0
    return int(x if isinstance(x, int) else x.value or 0)


def address(x: Any) -> int:
    """Where an argument points to: memory of the GPU is the host's, at addresses with a tag."""
    return number(x) & ~(0xFF << 56)


def at(x: Any, dtype: Any, n: int, step: int = 1) -> np.ndarray:
    """Elements at a distance from each other."""
    item = np.dtype(dtype).itemsize
    if n == 0:
        return np.empty(0, dtype)
    memory = (ctypes.c_char * (((n - 1) * abs(step) + 1) * item)).from_address(address(x))
    found = np.frombuffer(memory, dtype)[:: abs(step)]
    return found if step > 0 else found[::-1]


def columns(x: Any, dtype: Any, m: int, n: int, ld: int) -> np.ndarray:
    """A matrix by columns."""
    memory = at(x, dtype, (n - 1) * ld + m if m and n else 0)
    return np.lib.stride_tricks.as_strided(memory, (m, n), (memory.itemsize, memory.itemsize * ld))


class Library:
    """A library whose calls are checked and noted; it does what `do_NAME` does, and says 0."""

    def __init__(self, name: str, prefix: str) -> None:
        self._signatures, self._prefix = SIGNATURES[name], prefix
        self.called: list[str] = []
        self.status = 0
        #: Does what is in streams: libraries come after that.
        self.before: Callable[[], object] = lambda: None
        self.objects: dict[int, Any] = {}

    def __getattr__(self, symbol: str) -> Callable[..., int]:
        if symbol not in self._signatures:
            raise AttributeError(symbol)
        signature = self._signatures[symbol]

        def call(*args: Any) -> int:
            assert len(args) == len(signature), f"{symbol} takes {len(signature)} arguments, not {len(args)}"
            for i, (x, kind) in enumerate(zip(args, signature, strict=True)):
                assert isinstance(x, _TYPES[kind]) and not isinstance(x, bool), f"argument {i} of {symbol} is {x!r}"
            self.called.append(symbol)
            self.before()
            if self.status:
                return self.status
            name = symbol[len(self._prefix) :].removesuffix("_v2")
            return self.run(name, args) or 0

        return call

    def run(self, name: str, args: tuple[Any, ...]) -> int | None:
        """Does what a function does."""
        if name.startswith("Create") and len(args) == 1:
            self.new(args[0], name)
        elif name.startswith("Destroy"):
            assert number(args[0]) in self.objects, f"{name} of what there is not"
            del self.objects[number(args[0])]
        elif (do := getattr(type(self), f"do_{name}", None)) is not None:
            do(self, *args)
        else:
            self.other(name, args)
        return None

    def new(self, out: Any, thing: Any) -> None:
        """A handle."""
        handle = 1 + max(self.objects, default=0)
        self.objects[handle] = thing
        out._obj.value = handle

    def other(self, name: str, args: tuple[Any, ...]) -> None:
        """Does what functions without a method of their own do."""


def _fortran(name: str) -> Any:
    capsule = scipy.linalg.cython_blas.__pyx_capi__[name]
    get_name, get = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, get_name(capsule))


class Cublas(Library):
    """Calls Fortran's routines with the arguments in their order: numbers by address, choices as letters."""

    CHOICES = {
        "gemv": "t", "gbmv": "t", "ger": "", "geru": "", "gerc": "", "gemm": "tt", "syrk": "ut", "herk": "ut",
        "syr2k": "ut", "her2k": "ut", "symm": "su", "hemm": "su", "trsm": "sutd", "trmm": "sutd",
        **{f"t{m}{k}v": "utd" for m in "rbp" for k in "ms"},
        **dict.fromkeys("symv hemv sbmv hbmv spmv hpmv syr her spr hpr syr2 her2 spr2 hpr2".split(), "u"),
    }  # fmt: skip
    WORDS = {"t": "NTC", "u": "LU", "s": "LR", "d": "NU"}

    def __init__(self) -> None:
        super().__init__("cublas", "cublas")

    def other(self, name: str, args: tuple[Any, ...]) -> None:
        if name.startswith("Set"):
            return
        letter, kind = name[0], name[1:]
        if kind in ("dgmm", "geam", "trmm") or kind in ("symv", "syr", "syr2") and letter in "CZ":
            getattr(self, kind)(_LETTERS[letter], *args[1:])
        elif kind in self.CHOICES:
            self.fortran(name.lower(), self.CHOICES[kind], args[1:])
        else:
            self.vectors(name, args[1:])

    def fortran(self, name: str, choices: str, args: tuple[Any, ...]) -> None:
        given: list[Any] = [
            ctypes.c_char_p(self.WORDS[kind][number(x)].encode()) for kind, x in zip(choices, args, strict=False)
        ]
        for x in args[len(choices) :]:
            is_pointer = isinstance(x, ctypes.c_void_p)
            given.append(ctypes.c_void_p(address(x)) if is_pointer else ctypes.byref(ctypes.c_int(number(x))))
        ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(given))(_fortran(name))(
            *[ctypes.cast(g, ctypes.c_void_p) for g in given]
        )

    def vectors(self, name: str, args: tuple[Any, ...]) -> None:
        places = name[0] == "I"
        letter = name[1].upper() if places else {"Sc": "C", "Dz": "Z"}.get(name[:2], name[0])
        dtype, real = (
            _LETTERS[letter],
            np.dtype(_LETTERS[letter].__name__.replace("complex64", "float32").replace("complex128", "float64")),
        )
        kind = name.lower().lstrip("i")
        is_first = places or kind.endswith(("nrm2", "asum", "dot", "dotu", "dotc", "rot"))
        x = at(args[1], dtype, number(args[0]), number(args[2])) if is_first else np.empty(0)
        if kind.endswith("nrm2"):
            at(args[-1], real, 1)[:] = np.linalg.norm(x)
        elif kind.endswith("asum"):
            at(args[-1], real, 1)[:] = (abs(x.real) + abs(x.imag)).sum()
        elif places:
            sizes = abs(x.real) + abs(x.imag)
            at(args[-1], np.int32, 1)[:] = 1 + (sizes.argmax() if "amax" in kind else sizes.argmin())
        elif "dot" in kind:
            y = at(args[3], dtype, number(args[0]), number(args[4]))
            at(args[-1], dtype, 1)[:] = np.vdot(x, y) if kind.endswith("dotc") else x @ y
        elif kind.endswith("scal"):
            at(args[2], dtype, number(args[0]), number(args[3]))[:] *= at(args[1], dtype, 1)
        elif kind.endswith("axpy"):
            n = number(args[0])
            at(args[4], dtype, n, number(args[5]))[:] += at(args[1], dtype, 1) * at(args[2], dtype, n, number(args[3]))
        elif kind.endswith("rot"):
            y, c, s = at(args[3], dtype, number(args[0]), number(args[4])), at(args[5], real, 1), at(args[6], dtype, 1)
            x[:], y[:] = c * x + s * y, c * y - np.conj(s) * x
        else:
            self.fortran(name.lower(), "", args)

    def trmm(self, dtype: Any, side: Any, uplo: Any, trans: Any, diag: Any, *rest: Any) -> None:
        m, n, alpha, a, lda, b, ldb, c, ldc = rest
        columns(c, dtype, number(m), number(n), number(ldc))[:] = columns(b, dtype, number(m), number(n), number(ldb))
        self.fortran(f"{'sdczSDCZ'['SDCZ'.index([k for k, v in _LETTERS.items() if v is dtype][0])]}trmm", "sutd",
                     (side, uplo, trans, diag, m, n, alpha, a, lda, c, ldc))  # fmt: skip

    def symv(self, dtype: Any, uplo: Any, n: Any, alpha: Any, a: Any, lda: Any, x: Any, incx: Any, beta: Any, y: Any,
             incy: Any) -> None:  # fmt: skip
        a = columns(a, dtype, number(n), number(n), number(lda))
        part = np.triu(a) if number(uplo) else np.tril(a)
        there = at(y, dtype, number(n), number(incy))
        product = (part + part.T - np.diag(part.diagonal())) @ at(x, dtype, number(n), number(incx))
        there[:] = at(alpha, dtype, 1) * product + at(beta, dtype, 1) * there

    def syr(self, dtype: Any, uplo: Any, n: Any, alpha: Any, x: Any, incx: Any, *rest: Any) -> None:
        y, incy, a, lda = rest if len(rest) == 4 else (x, incx, *rest)
        u, v = (at(z, dtype, number(n), number(step)) for z, step in ((x, incx), (y, incy)))
        change = at(alpha, dtype, 1) * (np.outer(u, v) + (np.outer(v, u) if len(rest) == 4 else 0))
        matrix = columns(a, dtype, number(n), number(n), number(lda))
        matrix += np.triu(change) if number(uplo) else np.tril(change)

    syr2 = syr

    def dgmm(
        self, dtype: Any, side: Any, m: Any, n: Any, a: Any, lda: Any, x: Any, incx: Any, c: Any, ldc: Any
    ) -> None:
        m, n, is_right = number(m), number(n), number(side)
        factors = at(x, dtype, n if is_right else m, number(incx))
        values = columns(a, dtype, m, n, number(lda))
        columns(c, dtype, m, n, number(ldc))[:] = values * (factors if is_right else factors[:, None])

    def geam(self, dtype: Any, ta: Any, tb: Any, m: Any, n: Any, alpha: Any, a: Any, lda: Any, beta: Any, b: Any,
             ldb: Any, c: Any, ldc: Any) -> None:  # fmt: skip
        m, n = number(m), number(n)
        parts = []
        for trans, factor, x, ld in ((ta, alpha, a, lda), (tb, beta, b, ldb)):
            t = number(trans)
            values = columns(x, dtype, *((n, m) if t else (m, n)), number(ld))
            parts.append(at(factor, dtype, 1) * (values if t == 0 else values.T if t == 1 else values.conj().T))
        columns(c, dtype, m, n, number(ldc))[:] = parts[0] + parts[1]


class Cufft(Library):
    """NumPy's transforms."""

    def __init__(self) -> None:
        super().__init__("cufft", "cufft")

    def do_PlanMany(self, out: Any, rank: Any, n: Any, *rest: Any) -> None:
        self.new(out, (tuple(n[: number(rank)]), number(rest[-1])))

    def run(self, name: str, args: tuple[Any, ...]) -> int | None:
        if name == "PlanMany":
            self.do_PlanMany(args[0], args[1], args[2], *args[3:])
        elif name.startswith("Exec"):
            self.execute(name[4:], *args)
        else:
            return super().run(name, args)
        return None

    def execute(self, kind: str, plan: Any, source: Any, to: Any, direction: Any = -1) -> None:
        shape, batch = self.objects[number(plan)]
        axes = tuple(range(1, len(shape) + 1))
        half = (*shape[:-1], shape[-1] // 2 + 1)
        double = kind in ("D2Z", "Z2D", "Z2Z")
        real, whole = (np.float64, np.complex128) if double else (np.float32, np.complex64)

        def array(where: Any, extents: tuple[int, ...], dtype: Any) -> np.ndarray:
            return at(where, dtype, batch * int(np.prod(extents))).reshape(batch, *extents)

        if kind in ("R2C", "D2Z"):
            array(to, half, whole)[:] = np.fft.rfftn(array(source, shape, real), axes=axes)
        elif kind in ("C2R", "Z2D"):
            array(to, shape, real)[:] = np.fft.irfftn(array(source, half, whole), shape, axes, norm="forward")
        else:
            transform = (
                np.fft.fftn if number(direction) == -1 else lambda a, axes: np.fft.ifftn(a, axes=axes, norm="forward")
            )
            array(to, shape, whole)[:] = transform(array(source, shape, whole), axes=axes)


class Curand(Library):
    """Fills arrays with multiples of the seed."""

    def __init__(self) -> None:
        super().__init__("curand", "curand")
        self.seed = 0

    def do_CreateGenerator(self, out: Any, kind: Any) -> None:
        self.new(out, number(kind))

    def run(self, name: str, args: tuple[Any, ...]) -> int | None:
        if name == "CreateGenerator":
            self.do_CreateGenerator(*args)
            return None
        return super().run(name, args)

    def do_SetPseudoRandomGeneratorSeed(self, generator: Any, seed: Any) -> None:
        self.seed = number(seed)

    def other(self, name: str, args: tuple[Any, ...]) -> None:
        if name.startswith("Generate"):
            word = np.uint64 if "LongLong" in name else np.uint32
            plain = "Uniform" not in name and "Normal" not in name
            dtype = word if plain else np.float64 if "Double" in name else np.float32
            n = number(args[2])
            at(args[1], dtype, n)[:] = (self.seed * np.arange(n)).astype(dtype)


class Cusolver(Library):
    """Says how much memory calls need, and that all is well."""

    def __init__(self) -> None:
        super().__init__("cusolver", "cusolverDn")

    def other(self, name: str, args: tuple[Any, ...]) -> None:
        if name.endswith("_bufferSize"):
            args[-1]._obj.value = 16
        elif not name.startswith("Set"):
            at(args[-1], np.int32, 1)[:] = 0
