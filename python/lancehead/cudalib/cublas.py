"""cuBLAS: vectors and matrices, by the names of NumbaPro's and pyculib's.

>>> from lancehead.cudalib import cublas
>>> a = np.asfortranarray(np.arange(6.0).reshape(2, 3))
>>> x, y = np.ones(3), np.zeros(2)
>>> cublas.Blas().gemv("N", 2, 3, 1.0, a, x, 0.0, y)
>>> y
array([ 3., 12.])
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable
from numbers import Number
from typing import Any

import numpy as np

from lancehead.cudalib import blas_host, blas_kernels
from lancehead.cudalib.errors import CuBLASError
from lancehead.cudalib.libraries import CUBLAS, Session
from lancehead.cudalib.operands import (
    FLOATS,
    LETTERS,
    Call,
    choice,
    count,
    host_pointer,
    leading,
    pointer,
    real_of,
    scalar,
    step,
)  # fmt: skip
from lancehead.cudalib.routines import CHOICES, ROUTINES, SIZES, Routine
from lancehead.options import public


def _dtype_of(value: Any, name: str, letters: str) -> np.dtype[Any]:
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        raise TypeError(f"{name} is an array of NumPy or of a device, not {type(value).__name__}")
    found = next((t for t in FLOATS if t == dtype and LETTERS[t] in letters), None)
    if found is None:
        known = ", ".join(str(t) for t in FLOATS if LETTERS[t] in letters)
        raise TypeError(f"{name} is an array of {dtype}, where one of {known} is needed")
    return found


def _method(routine: Routine) -> Callable[..., None]:
    parameters = [inspect.Parameter(p, inspect.Parameter.POSITIONAL_OR_KEYWORD) for p in routine.parameters]
    signature = inspect.Signature(parameters)

    def method(self: Blas, *args: Any, **kwargs: Any) -> None:
        self._routine(routine, signature.bind(*args, **kwargs).arguments)

    method.__name__, method.__qualname__ = routine.name, f"Blas.{routine.name}"
    method.__doc__ = f"{routine.formula}."
    self = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    method.__signature__ = inspect.Signature([self, *parameters])  # type: ignore[attr-defined]
    return method


class Blas(Session):
    """The routines of BLAS as methods.

    Arrays are NumPy's or those of the device in use, of one type: `float32`, `float64`, `complex64` or `complex128`.
    Matrices are by columns, as BLAS has them: an array by rows is taken as the memory that it is, its transpose.
    Scalars become numbers of that type. The last array is the one that is written.
    """

    LIBRARY = CUBLAS
    CREATE, DESTROY, SET_STREAM = "cublasCreate_v2", "cublasDestroy_v2", "cublasSetStream_v2"

    # --- Vectors ------------------------------------------------------------------------------------------------------

    def _vectors(self, call: Call, letters: str, written: str, **given: Any) -> tuple[Any, ...]:
        """The vectors of a routine of the first level, which are of one type and one length, and the type."""
        (first, value), *_ = given.items()
        dtype = _dtype_of(value, first, letters)
        self.check()
        made = {name: call.vector(x, name, dtype, name in written) for name, x in given.items()}
        if len({x.size for x in made.values()}) > 1:
            sizes = ", ".join(f"{name} has {x.size}" for name, x in made.items())
            raise ValueError(f"the vectors have different numbers of elements: {sizes}")
        return (*made.values(), dtype)

    def _run(self, name: str, *args: Any) -> None:
        """Calls a function of cuBLAS; vectors become a pointer and a distance."""
        given: list[Any] = []
        for x in args:
            if isinstance(x, np.ndarray):
                given += [pointer(x), ctypes.c_int(step(x))]
            else:
                given.append(x)
        function = CUBLAS.function(f"cublas{name}_v2", f"cublas{name}")
        status = function(self._handle, *given)
        if status != 0:
            raise CuBLASError(status, f"from cublas{name}")

    def _number(self, name: str, dtype: Any, *args: Any) -> Any:
        """The number that a function of cuBLAS gives."""
        out = np.zeros(1, dtype)
        self._run(name, *args, host_pointer(out))
        return out[0]

    def nrm2(self, x: Any) -> Any:
        """The norm of a vector, `np.linalg.norm(x)`."""
        with Call(self.stream) as call:
            x, dtype = self._vectors(call, "SDCZ", "", x=x)
            if call.gpu is None:
                real = real_of(dtype)
                limits = np.finfo(real)
                # Squares above the least normal number divided by the precision are exact enough.
                least, most = real.type(limits.tiny / limits.eps), limits.max
                return real.type(blas_kernels.nrm2(x, least, most))
            names = {"S": "Snrm2", "D": "Dnrm2", "C": "Scnrm2", "Z": "Dznrm2"}
            return self._number(names[LETTERS[dtype]], real_of(dtype), _size(x), x)

    def asum(self, x: Any) -> Any:
        """The sum of the sizes of the elements; of complex ones, of their parts."""
        with Call(self.stream) as call:
            x, dtype = self._vectors(call, "SDCZ", "", x=x)
            if call.gpu is None:
                return real_of(dtype).type(blas_kernels.asum(x))
            names = {"S": "Sasum", "D": "Dasum", "C": "Scasum", "Z": "Dzasum"}
            return self._number(names[LETTERS[dtype]], real_of(dtype), _size(x), x)

    def dot(self, x: Any, y: Any) -> Any:
        """The sum of the products of two vectors, `np.dot(x, y)`."""
        return self._dot("dotu", "SDCZ", x, y)

    def dotc(self, x: Any, y: Any) -> Any:
        """The sum of the products with the first vector's conjugates, `np.vdot(x, y)`, of complex numbers."""
        return self._dot("dotc", "CZ", x, y)

    def _dot(self, name: str, letters: str, x: Any, y: Any) -> Any:
        with Call(self.stream) as call:
            x, y, dtype = self._vectors(call, letters, "", x=x, y=y)
            if call.gpu is None:
                return (np.vdot if name == "dotc" else np.dot)(x, y)
            name = name if dtype.kind == "c" else "dot"
            return self._number(f"{LETTERS[dtype]}{name}", dtype, _size(x), x, y)

    def scal(self, alpha: Any, x: Any) -> None:
        """x = alpha x."""
        with Call(self.stream) as call:
            x, dtype = self._vectors(call, "SDCZ", "x", x=x)
            alpha = scalar(alpha, "alpha", dtype)
            if call.gpu is None:
                np.multiply(alpha, x, out=x)
            else:
                self._run(f"{LETTERS[dtype]}scal", _size(x), host_pointer(alpha), x)

    def axpy(self, alpha: Any, x: Any, y: Any) -> None:
        """y = alpha x + y."""
        with Call(self.stream) as call:
            x, y, dtype = self._vectors(call, "SDCZ", "y", x=x, y=y)
            alpha = scalar(alpha, "alpha", dtype)
            if call.gpu is None:
                blas_kernels.axpy(alpha, x, y)
            else:
                self._run(f"{LETTERS[dtype]}axpy", _size(x), host_pointer(alpha), x, y)

    def amax(self, x: Any) -> int:
        """The index of the first element of the greatest size, where that of a complex number is the sum of its parts'
        sizes; -1 of no elements."""
        return self._extreme("amax", x)

    def amin(self, x: Any) -> int:
        """The index of the first element of the least size, as `amax` has sizes."""
        return self._extreme("amin", x)

    def _extreme(self, name: str, x: Any) -> int:
        with Call(self.stream) as call:
            x, dtype = self._vectors(call, "SDCZ", "", x=x)
            if call.gpu is None:
                return int(blas_kernels.extreme(x, name == "amax"))
            return int(self._number(f"I{LETTERS[dtype].lower()}{name}", np.int32, _size(x), x)) - 1

    def rot(self, x: Any, y: Any, c: Any, s: Any) -> None:
        """x, y = c x + s y, -conj(s) x + c y, where c is real."""
        with Call(self.stream) as call:
            x, y, dtype = self._vectors(call, "SDCZ", "xy", x=x, y=y)
            c, s = scalar(c, "c", real_of(dtype)), scalar(s, "s", dtype)
            if call.gpu is None:
                blas_kernels.rot(x, y, c, s)
            else:
                self._run(f"{LETTERS[dtype]}rot", _size(x), x, y, host_pointer(c), host_pointer(s))

    def rotg(self, a: Any, b: Any) -> tuple[Any, Any, Any, Any]:
        """The rotation that makes the second of two numbers zero, as (r, z, c, s): r is what the first becomes, c and s
        are for `rot`, and from z both can be computed again."""
        self.check()
        a, b = np.asarray(a), np.asarray(b)
        if a.ndim or b.ndim or a.dtype != b.dtype:
            raise TypeError("a and b are numbers of one type")
        dtype = _dtype_of(a if a.dtype.kind != "i" else a.astype(float), "a", "SDCZ")
        if self._gpu is None:
            return _givens(dtype.type(a[()]), dtype.type(b[()]))
        r, z, s = (np.array([v], dtype) for v in (a, b, 0))
        c = np.zeros(1, real_of(dtype))
        self._run(f"{LETTERS[dtype]}rotg", *map(host_pointer, (r, z, c, s)))
        return r[0], z[0], c[0], s[0]

    def rotm(self, x: Any, y: Any, param: Any) -> None:
        """x, y = h11 x + h12 y, h21 x + h22 y, where `param` is [flag, h11, h21, h12, h22]. A flag of -1 takes all
        four, 0 has 1 on the diagonal, 1 has 1 and -1 beside it, and -2 leaves x and y as they are."""
        with Call(self.stream) as call:
            x, y, dtype = self._vectors(call, "SD", "xy", x=x, y=y)
            h = np.ascontiguousarray(param, dtype)
            if h.shape != (5,) or h[0] not in (-2, -1, 0, 1):
                raise ValueError("param is [flag, h11, h21, h12, h22] with a flag of -2, -1, 0 or 1")
            if call.gpu is not None:
                self._run(f"{LETTERS[dtype]}rotm", _size(x), x, y, host_pointer(h))
            elif h[0] != -2:
                blas_kernels.rotm(x, y, *map(dtype.type, _whole(h)))

    def rotmg(self, d1: Any, d2: Any, x1: Any, y1: Any) -> np.ndarray:
        """`param` of `rotm` for the modified rotation that makes sqrt(d2) y1 zero beside sqrt(d1) x1."""
        self.check()
        given = [np.asarray(v) for v in (d1, d2, x1, y1)]
        dtype = np.result_type(*given) if all(v.ndim == 0 for v in given) else np.dtype(object)
        dtype = _dtype_of(np.empty(0, float if dtype.kind == "i" else dtype), "d1", "SD")
        numbers = [np.array([v], dtype) for v in given]
        param = np.zeros(5, dtype)
        if self._gpu is None:
            param[:] = _modified(*(dtype.type(v[0]) for v in numbers))
        else:
            self._run(f"{LETTERS[dtype]}rotmg", *map(host_pointer, numbers), host_pointer(param))
        return param

    # --- Matrices -----------------------------------------------------------------------------------------------------

    def _routine(self, routine: Routine, given: dict[str, Any]) -> None:
        first = next(p for p in routine.parameters if p in routine.extents)
        dtype = _dtype_of(given[first], first, routine.letters)
        self.check()
        values: dict[str, Any] = {}
        with Call(self.stream) as call:
            for name in routine.parameters:
                value = given[name]
                if name in CHOICES:
                    values[name] = choice(value, name, CHOICES[name])
                elif name in SIZES:
                    values[name] = count(value, name)
                elif name not in routine.extents:
                    values[name] = scalar(value, name, real_of(dtype) if name in routine.real else dtype)
                else:
                    take: Any = call.vector if name.islower() else call.flat if name == "AP" else call.matrix
                    values[name] = take(value, name, dtype, name == routine.out)
            for name, rule in routine.extents.items():
                values[name] = _part(name, values[name], _extents(rule, values))
            if call.gpu is None:
                if values[routine.out].size:
                    blas_host.run(routine.name, values)
            else:
                self._run(f"{LETTERS[dtype]}{routine.name}", *_arguments(routine, values))

    gemv, gbmv, trmv = _method(ROUTINES["gemv"]), _method(ROUTINES["gbmv"]), _method(ROUTINES["trmv"])
    tbmv, tpmv, trsv = _method(ROUTINES["tbmv"]), _method(ROUTINES["tpmv"]), _method(ROUTINES["trsv"])
    tbsv, tpsv, symv = _method(ROUTINES["tbsv"]), _method(ROUTINES["tpsv"]), _method(ROUTINES["symv"])
    hemv, sbmv, hbmv = _method(ROUTINES["hemv"]), _method(ROUTINES["sbmv"]), _method(ROUTINES["hbmv"])
    spmv, hpmv, ger = _method(ROUTINES["spmv"]), _method(ROUTINES["hpmv"]), _method(ROUTINES["ger"])
    geru, gerc, syr = _method(ROUTINES["geru"]), _method(ROUTINES["gerc"]), _method(ROUTINES["syr"])
    her, spr, hpr = _method(ROUTINES["her"]), _method(ROUTINES["spr"]), _method(ROUTINES["hpr"])
    syr2, her2, spr2 = _method(ROUTINES["syr2"]), _method(ROUTINES["her2"]), _method(ROUTINES["spr2"])
    hpr2, gemm, symm = _method(ROUTINES["hpr2"]), _method(ROUTINES["gemm"]), _method(ROUTINES["symm"])
    hemm, syrk, herk = _method(ROUTINES["hemm"]), _method(ROUTINES["syrk"]), _method(ROUTINES["herk"])
    syr2k, her2k, trsm = _method(ROUTINES["syr2k"]), _method(ROUTINES["her2k"]), _method(ROUTINES["trsm"])
    trmm, dgmm, geam = _method(ROUTINES["trmm"]), _method(ROUTINES["dgmm"]), _method(ROUTINES["geam"])


def _size(x: np.ndarray) -> ctypes.c_int:
    return ctypes.c_int(x.size)


def _arguments(routine: Routine, values: dict[str, Any]) -> list[Any]:
    """The arguments of the C function after the handle."""
    given: list[Any] = []
    for name in routine.parameters:
        value = values[name]
        if name == "AP":
            given.append(pointer(value))
        elif name in routine.extents and name.isupper():
            given += [pointer(value), ctypes.c_int(leading(value))]
        elif name in routine.extents:
            given.append(value)
        elif name in CHOICES or name in SIZES:
            given.append(ctypes.c_int(value))
        else:
            given.append(host_pointer(value))
    return given


def _extents(rule: tuple[str, ...], values: dict[str, Any]) -> tuple[int, ...]:
    """The extents that a rule of the table says, see `routines`."""
    if rule == ("packed",):
        return (values["n"] * (values["n"] + 1) // 2,)
    if rule == ("square",):
        n = values["n" if values["side"] else "m"]
        return n, n
    if "|" in rule[0]:
        either = rule[0].split("|")
        return (values[either[1 if values[rule[1]] else 0]],)
    if rule[0] == "band":
        rows = values["kl"] + values["ku"] + 1 if "kl" in values else values["k"] + 1
        return rows, values["n"]
    found = tuple(values[name] for name in rule[:2])
    return found[::-1] if len(rule) == 3 and values[rule[2]] else found


def _part(name: str, a: np.ndarray, extents: tuple[int, ...]) -> np.ndarray:
    if len(extents) != a.ndim or any(want > there for want, there in zip(extents, a.shape)):
        seen = " x ".join(map(str, a.shape))
        raise ValueError(
            f"{name} has {seen} elements by columns, where {' x '.join(map(str, extents))} are needed; an array by "
            "rows is taken as its transpose"
            if a.ndim == 2
            else f"{name} has {seen} elements, where {extents[0]} are needed"
        )
    return a[tuple(slice(n) for n in extents)]


def _givens(a: Any, b: Any) -> tuple[Any, Any, Any, Any]:
    """`rotg` of two numbers."""
    kind = type(a)
    if np.iscomplexobj(a):
        size = np.hypot(abs(a), abs(b))
        if a == 0:
            return b, b, abs(a), kind(1)
        phase = a / abs(a)
        return kind(phase * size), b, abs(a) / size, kind(phase * np.conj(b) / size)
    larger = a if abs(a) > abs(b) else b
    if larger == 0:
        return kind(0), kind(0), kind(1), kind(0)
    r = kind(np.copysign(np.hypot(a, b), larger))
    c, s = kind(a / r), kind(b / r)
    z = s if abs(a) > abs(b) else kind(1 / c) if c != 0 else kind(1)
    return r, z, c, s


def _whole(h: np.ndarray) -> tuple[Any, Any, Any, Any]:
    """h11, h21, h12, h22 of `param`."""
    flag, h11, h21, h12, h22 = h
    if flag == 0:
        return 1, h21, h12, 1
    if flag == 1:
        return h11, -1, 1, h22
    return h11, h21, h12, h22


def _modified(d1: Any, d2: Any, x1: Any, y1: Any) -> list[Any]:
    """`rotmg`: [flag, h11, h21, h12, h22]."""
    if d1 < 0:
        return [-1, 0, 0, 0, 0]
    p2 = d2 * y1
    if p2 == 0:
        return [-2, 0, 0, 0, 0]
    p1 = d1 * x1
    q1, q2 = p1 * x1, p2 * y1
    if abs(q1) > abs(q2):
        h21, h12 = -y1 / x1, p2 / p1
        u = 1 - h12 * h21
        if u <= 0:
            return [-1, 0, 0, 0, 0]
        return _rescaled(0, d1 / u, d2 / u, [1, h21, h12, 1])
    if q2 < 0:
        return [-1, 0, 0, 0, 0]
    h11, h22 = p1 / p2, x1 / y1
    u = 1 + h11 * h22
    return _rescaled(1, d2 / u, d1 / u, [h11, -1, 1, h22])


def _rescaled(flag: int, d1: Any, d2: Any, h: list[Any]) -> list[Any]:
    """Keeps the weights between 4096**-2 and 4096**2, so that repeated rotations neither overflow nor vanish."""
    gamma, changed = 4096.0, False
    for d, row in ((d1, (0, 2)), (d2, (1, 3))):
        while d != 0 and not gamma**-2 < abs(d) < gamma**2:
            factor = gamma if abs(d) <= gamma**-2 else 1 / gamma
            d *= factor**2
            for place in row:
                h[place] /= factor
            changed = True
    if changed:
        return [-1, *h]
    return [0, 0, h[1], h[2], 0] if flag == 0 else [1, h[0], 0, 0, h[3]]


# --- Functions --------------------------------------------------------------------------------------------------------

_OPERATIONS = ("N", "T", "C")


def _common(*values: Any) -> np.dtype[Any]:
    found = np.result_type(*values)
    return found if found in FLOATS else np.dtype(np.complex128 if found.kind == "c" else np.float64)


def _checked(**values: Any) -> None:
    for name, value in values.items():
        if name in ("alpha", "beta"):
            if not isinstance(value, Number):
                raise ValueError(f"{name} is a number, not {type(value).__name__}")
        elif value is not None or name not in ("y", "C"):
            _dtype_of(value, name, "SDCZ")


def _host_array(a: Any, dtype: np.dtype[Any]) -> np.ndarray:
    return np.asarray(a, dtype, order="F")


def _kept(y: Any, found: np.ndarray, stored: Any) -> Any:
    """The result: where the caller's own array is of its type, that one."""
    if found is y or stored is None or stored.dtype != found.dtype:
        return found
    if isinstance(stored, np.ndarray):
        stored[...] = found
    else:
        stored.copy_to_device(found)
    return stored


def dot(x: Any, y: Any, stream: Any = None) -> Any:
    """The sum of the products of two vectors, in the type that both fit.

    >>> float(cublas.dot(np.arange(3.0), np.ones(3)))
    3.0
    """
    _checked(x=x)
    _dtype_of(y, "y", "SDCZ")
    dtype = _common(x.dtype, y.dtype)
    return Blas(stream).dot(_host_array(x, dtype), _host_array(y, dtype))


def axpy(alpha: Any, x: Any, y: Any, stream: Any = None) -> Any:
    """alpha x + y, in the place of y if that is of the result's type.

    >>> cublas.axpy(2.0, np.arange(3.0), np.ones(3))
    array([1., 3., 5.])
    """
    _checked(alpha=alpha, x=x)
    _dtype_of(y, "y", "SDCZ")
    dtype = _common(alpha, x.dtype, y.dtype)
    found = np.array(_host_array(y, dtype))
    Blas(stream).axpy(alpha, _host_array(x, dtype), found)
    return _kept(y, found, y)


def gemv(trans: str, alpha: Any, A: Any, x: Any, beta: Any = 0, y: Any = None, stream: Any = None) -> Any:
    """alpha op(A) x + beta y, in the place of y if that is given.

    >>> cublas.gemv("T", 1.0, np.arange(6.0).reshape(2, 3), np.ones(2))
    array([3., 5., 7.])
    """
    _checked(alpha=alpha, beta=beta, A=A, x=x, y=y)
    operation = str(trans).upper()
    if operation not in _OPERATIONS or A.ndim != 2 or x.ndim != 1:
        raise ValueError("trans is 'N', 'T' or 'C', A a matrix, x a vector")
    m, n = A.shape
    rows, columns = (m, n) if operation == "N" else (n, m)
    dtype = _common(alpha, beta, A.dtype, x.dtype, *([] if y is None else [y.dtype]))
    if x.shape != (columns,) or (y is not None and y.shape != (rows,)):
        raise ValueError(f"op(A) is {rows} x {columns}, which does not fit the vectors")
    found = np.zeros(rows, dtype) if y is None else np.array(_host_array(y, dtype))
    Blas(stream).gemv(operation, m, n, alpha, _host_array(A, dtype), _host_array(x, dtype), beta, found)
    return _kept(None, found, y)


def gemm(transa: str, transb: str, alpha: Any, A: Any, B: Any, beta: Any = 0, C: Any = None, stream: Any = None) -> Any:
    """alpha op(A) op(B) + beta C, in the place of C if that is given.

    >>> cublas.gemm("N", "T", 1.0, np.arange(4.0).reshape(2, 2), np.eye(2))
    array([[0., 1.],
           [2., 3.]])
    """
    _checked(alpha=alpha, beta=beta, A=A, B=B, C=C)
    ta, tb = str(transa).upper(), str(transb).upper()
    if ta not in _OPERATIONS or tb not in _OPERATIONS or A.ndim != 2 or B.ndim != 2:
        raise ValueError("transa and transb are 'N', 'T' or 'C', A and B matrices")
    m, k = A.shape if ta == "N" else A.shape[::-1]
    inner, n = B.shape if tb == "N" else B.shape[::-1]
    if k != inner or (C is not None and C.shape != (m, n)):
        raise ValueError(f"op(A) is {m} x {k} and op(B) {inner} x {n}, which do not fit each other or C")
    dtype = _common(alpha, beta, A.dtype, B.dtype, *([] if C is None else [C.dtype]))
    found = np.zeros((m, n), dtype, "F") if C is None else np.array(_host_array(C, dtype), order="F")
    Blas(stream).gemm(ta, tb, m, n, k, alpha, _host_array(A, dtype), _host_array(B, dtype), beta, found)
    return _kept(None, found, C)


__all__ = ["Blas", "CuBLASError", "axpy", "dot", "gemm", "gemv"]
public(globals())
