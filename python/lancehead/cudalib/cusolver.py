"""cuSOLVER's factorisations of matrices whose elements are all stored. Matrices are by columns, as in `cublas`.

>>> from lancehead.cudalib import cusolver
>>> a, b = np.array([[2.0, 1.0], [1.0, 3.0]], order="F"), np.array([[3.0], [5.0]], order="F")
>>> pivots = np.zeros(2, np.int32)
>>> solver = cusolver.Solver()
>>> solver.getrf(a, pivots), solver.getrs("N", a, pivots, b)
(0, 0)
>>> b.ravel().round(12)
array([0.8, 1.4])
"""

from __future__ import annotations

import bisect
import ctypes
from typing import Any

import numpy as np

from lancehead.cudalib import solver_kernels as loops
from lancehead.cudalib.blas_host import HERMITIAN, SYMMETRIC, filled, solve_triangular
from lancehead.cudalib.errors import CuSolverError
from lancehead.cudalib.libraries import CUSOLVER, Session
from lancehead.cudalib.operands import LETTERS, Call, choice, leading, pointer, real_of, value_type
from lancehead.cudalib.routines import FILL, OPERATION, SIDE
from lancehead.options import public

_JOB: dict[Any, int] = {"N": 0, "V": 1}
_JOBS = "ANS"


class Solver(Session):
    """Factorisations, and what is solved with them, in place.

    Arrays are NumPy's or those of the device in use, of `float32`, `float64`, `complex64` or `complex128`; pivots are
    of `int32` and begin with 1. Each method gives LAPACK's `info`: 0, or a positive number that says where the
    factorisation has failed.
    """

    LIBRARY = CUSOLVER
    CREATE, DESTROY, SET_STREAM = "cusolverDnCreate", "cusolverDnDestroy", "cusolverDnSetStream"

    def potrf(self, uplo: str, A: Any) -> int:
        """The factor of a positive definite matrix, A = L L^H or U^H U, in the triangle that is stored."""
        fill = choice(uplo, "uplo", FILL)
        with self._call() as call:
            a = _square(call.matrix(A, "A", value_type(A, "A"), True))
            if call.gpu is None:
                return _cholesky(a, fill == 1)
            return self._run(call, "potrf", a.dtype, [fill, a.shape[0], a])

    def potrs(self, uplo: str, A: Any, B: Any) -> int:
        """Solves A X = B, in place of B, with what `potrf` gives."""
        fill = choice(uplo, "uplo", FILL)
        with self._call() as call:
            a = _square(call.matrix(A, "A", value_type(A, "A")))
            b = _rows(call.matrix(B, "B", a.dtype, True), "B", a.shape[0])
            if call.gpu is not None:
                given = [fill, a.shape[0], b.shape[1], a, b]
                return self._run(call, "potrs", a.dtype, given, has_work=False)
            for trans in (2, 0) if fill else (0, 2):
                solve_triangular(a, fill == 1, trans, False, True, a.dtype.type(1), b)
            return 0

    def getrf(self, A: Any, ipiv: Any) -> int:
        """The factors of A = P L U, in place; `ipiv` has the row that each row was exchanged with."""
        with self._call() as call:
            a = call.matrix(A, "A", value_type(A, "A"), True)
            pivots = _length(call.flat(ipiv, "ipiv", np.int32, True), "ipiv", min(a.shape))
            if call.gpu is None:
                return _lu(a, pivots)
            return self._run(call, "getrf", a.dtype, [*a.shape, a], [pivots], has_length=False)

    def getrs(self, trans: str, A: Any, ipiv: Any, B: Any) -> int:
        """Solves op(A) X = B, in place of B, with what `getrf` gives."""
        operation = choice(trans, "trans", OPERATION)
        with self._call() as call:
            a = _square(call.matrix(A, "A", value_type(A, "A")))
            n = a.shape[0]
            pivots = _length(call.flat(ipiv, "ipiv", np.int32), "ipiv", n)
            b = _rows(call.matrix(B, "B", a.dtype, True), "B", n)
            if call.gpu is not None:
                given = [operation, n, b.shape[1], a, pivots, b]
                return self._run(call, "getrs", a.dtype, given, has_work=False)
            if n and not (1 <= pivots.min() and pivots.max() <= n):
                raise ValueError(f"ipiv has a row outside of the {n} rows of A")
            rows = np.arange(n)
            for i, pivot in enumerate(pivots):
                rows[[i, pivot - 1]] = rows[[pivot - 1, i]]
            if operation == 0:
                b[...] = b[rows]
            for is_upper in (False, True) if operation == 0 else (True, False):
                solve_triangular(a, is_upper, operation, not is_upper, True, a.dtype.type(1), b)
            if operation != 0:
                b[rows] = b.copy()
            return 0

    def geqrf(self, A: Any, tau: Any) -> int:
        """The factors of A = Q R, in place: R, and the reflections of Q below it with their factors in `tau`."""
        with self._call() as call:
            a = call.matrix(A, "A", value_type(A, "A"), True)
            factors = _length(call.flat(tau, "tau", a.dtype, True), "tau", min(a.shape))
            if call.gpu is None:
                found, factors[:] = np.linalg.qr(a, mode="raw")
                a[...] = found.T
                return 0
            return self._run(call, "geqrf", a.dtype, [*a.shape, a], [factors])

    def orgqr(self, A: Any, tau: Any) -> int:
        """The columns of Q of what `geqrf` gives, in place, of as many reflections as `tau` has; of complex numbers
        too."""
        with self._call() as call:
            a = call.matrix(A, "A", value_type(A, "A"), True)
            factors = call.flat(tau, "tau", a.dtype)
            m, n = a.shape
            if not factors.size <= n <= m:
                raise ValueError(f"Q has at most {m} columns, and at least one for each of {factors.size} reflections")
            if call.gpu is not None:
                name = "ungqr" if a.dtype.kind == "c" else "orgqr"
                return self._run(call, name, a.dtype, [m, n, factors.size, a, factors])
            vectors = a[:, : factors.size].copy(order="F")
            a[...] = np.eye(m, n, dtype=a.dtype)
            loops.apply_reflections(vectors, factors, False, a)
            return 0

    ungqr = orgqr

    def ormqr(self, side: str, trans: str, A: Any, tau: Any, C: Any) -> int:
        """C = op(Q) C, or C op(Q) on the right side, in place, with what `geqrf` gives; of complex numbers too."""
        left, operation = choice(side, "side", SIDE) == 0, choice(trans, "trans", OPERATION)
        with self._call() as call:
            a = call.matrix(A, "A", value_type(A, "A"))
            if operation == 1 and a.dtype.kind == "c":
                raise ValueError("of complex numbers trans is 'N' or 'C'")
            factors = call.flat(tau, "tau", a.dtype)
            c = call.matrix(C, "C", a.dtype, True)
            order = c.shape[0] if left else c.shape[1]
            if a.shape[0] != order or not factors.size <= min(a.shape):
                raise ValueError(f"Q has {a.shape[0]} rows, C {' x '.join(map(str, c.shape))} elements by columns")
            if call.gpu is not None:
                name = "unmqr" if a.dtype.kind == "c" else "ormqr"
                return self._run(call, name, a.dtype, [int(not left), operation, *c.shape, factors.size, a, factors, c])
            part = a[:, : factors.size]
            if left:
                loops.apply_reflections(part, factors, operation != 0, c)
            else:
                # C Q is the adjoint of Q^H C^H.
                turned = np.conj(c.T).copy(order="F")
                loops.apply_reflections(part, factors, operation == 0, turned)
                c[...] = np.conj(turned.T)
            return 0

    unmqr = ormqr

    def gesvd(self, jobu: str, jobvt: str, A: Any, S: Any, U: Any = None, VT: Any = None) -> int:
        """Singular values in descending order in `S`, and vectors in `U` and `VT`: all of them ("A"), as many as there
        are values ("S"), or none ("N"). A is destroyed; it has at least as many rows as columns."""
        for name, job in (("jobu", jobu), ("jobvt", jobvt)):
            if job not in _JOBS:
                raise ValueError(f"{name} is 'A', 'S' or 'N', not {job!r}")
        with self._call() as call:
            a = call.matrix(A, "A", value_type(A, "A"), True)
            m, n = a.shape
            if m < n:
                raise ValueError(f"A has {m} rows and {n} columns: its transpose has as many rows as columns, or more")
            s = _length(call.flat(S, "S", real_of(a.dtype), True), "S", n)
            u = None if jobu == "N" else _shaped(call.matrix(U, "U", a.dtype, True), "U", (m, m if jobu == "A" else n))
            v = None if jobvt == "N" else _shaped(call.matrix(VT, "VT", a.dtype, True), "VT", (n, n))
            if call.gpu is not None:
                return self._gesvd(call, jobu, jobvt, a, s, u, v)
            left, values, right = loops.singular_values(np.ascontiguousarray(a), jobu == "A")
            s[:] = values
            if u is not None:
                u[...] = left
            if v is not None:
                v[...] = right
            return 0

    def syevd(self, jobz: str, uplo: str, A: Any, W: Any) -> int:
        """Eigenvalues of a symmetric or Hermitian matrix in ascending order in `W`; with "V" its vectors as columns in
        place of A, which with "N" is destroyed."""
        job, fill = choice(jobz, "jobz", _JOB), choice(uplo, "uplo", FILL)
        with self._call() as call:
            a = _square(call.matrix(A, "A", value_type(A, "A"), True))
            w = _length(call.flat(W, "W", real_of(a.dtype), True), "W", a.shape[0])
            is_complex = a.dtype.kind == "c"
            if call.gpu is not None:
                return self._run(call, "heevd" if is_complex else "syevd", a.dtype, [job, fill, a.shape[0], a, w])
            values, vectors = loops.eigenvalues(filled(a, fill == 1, HERMITIAN if is_complex else SYMMETRIC))
            w[:] = values
            if job:
                a[...] = vectors
            return 0

    heevd = syevd

    def _call(self) -> Call:
        self.check()
        return Call(self.stream)

    def _run(
        self, call: Call, name: str, dtype: np.dtype[Any], given: list[Any], extra: list[np.ndarray] | None = None,
        has_work: bool = True, has_length: bool = True,
    ) -> int:  # fmt: skip
        """Calls a function of cuSOLVER with its memory and `info`. `extra` are arrays that its question of how much
        memory it needs does not have; LU has its pivots after the memory, and no length of that."""
        symbol = f"cusolverDn{LETTERS[dtype]}{name}"
        arguments = _words(given)
        extra = extra or []
        info = call.empty(1, np.int32)
        if not has_work:
            CUSOLVER.call(symbol, self._handle, *arguments, pointer(info))
            return self._info(call, info)
        length = ctypes.c_int()
        CUSOLVER.call(f"{symbol}_bufferSize", self._handle, *arguments, ctypes.byref(length))
        work = call.empty(max(length.value, 1), dtype)
        if has_length:
            CUSOLVER.call(
                symbol, self._handle, *arguments, *map(pointer, extra), pointer(work), length, pointer(info)
            )  # fmt: skip
        else:
            CUSOLVER.call(symbol, self._handle, *arguments, pointer(work), *map(pointer, extra), pointer(info))
        return self._info(call, info)

    def _gesvd(self, call: Call, jobu: str, jobvt: str, a: np.ndarray, s: np.ndarray, u: Any, v: Any) -> int:
        symbol = f"cusolverDn{LETTERS[a.dtype]}gesvd"
        length = ctypes.c_int()
        CUSOLVER.call(f"{symbol}_bufferSize", self._handle, *map(ctypes.c_int, a.shape), ctypes.byref(length))
        work, info = call.empty(max(length.value, 1), a.dtype), call.empty(1, np.int32)
        none = [ctypes.c_void_p(), ctypes.c_int(1)]
        CUSOLVER.call(
            symbol, self._handle, ctypes.c_byte(ord(jobu)), ctypes.c_byte(ord(jobvt)), *_words([*a.shape, a]),
            pointer(s), *(none if u is None else _words([u])), *(none if v is None else _words([v])), pointer(work),
            length, ctypes.c_void_p(), pointer(info),
        )  # fmt: skip
        return self._info(call, info)

    def _info(self, call: Call, info: np.ndarray) -> int:
        found = int(call.read(info)[0])
        if found < 0:
            raise CuSolverError(3, f"argument {-found} of the call")
        return found


def _cholesky(a: np.ndarray, is_upper: bool) -> int:
    whole, n = filled(a, is_upper, HERMITIAN), a.shape[0]
    found = _factor(whole)
    order = n
    if found is None:
        # Up to some order leading minors have factors, and from there on none has.
        order = bisect.bisect_left(range(n), True, key=lambda k: _factor(whole[: k + 1, : k + 1]) is None)
        found = _factor(whole[:order, :order])
    part, low = a[:order, :order], np.tri(order, dtype=bool)
    np.copyto(part, np.conj(found.T) if is_upper else found, where=low.T if is_upper else low)
    return 0 if order == n else order + 1


def _factor(a: np.ndarray) -> Any:
    try:
        return loops.cholesky_factor(np.ascontiguousarray(a))
    except np.linalg.LinAlgError:
        return None


def _lu(a: np.ndarray, pivots: np.ndarray) -> int:
    found = np.array(a, order="C")
    there, places = list(range(a.shape[0])), list(range(a.shape[0]))
    for i, row in enumerate(loops.lu(found)[: pivots.size].tolist()):
        j, other = places[row], there[i]
        pivots[i] = j + 1
        there[i], there[j], places[row], places[other] = row, other, i, j
    a[...] = found
    zeros = np.flatnonzero(a.diagonal() == 0)
    return int(zeros[0]) + 1 if zeros.size else 0


def _words(given: list[Any]) -> list[Any]:
    """Arguments of C: matrices become a pointer and a distance, other arrays a pointer, numbers `int`."""
    found: list[Any] = []
    for x in given:
        if not isinstance(x, np.ndarray):
            found.append(ctypes.c_int(x))
        elif x.ndim == 2:
            found += [pointer(x), ctypes.c_int(leading(x))]
        else:
            found.append(pointer(x))
    return found


def _square(a: np.ndarray) -> np.ndarray:
    if a.shape[0] != a.shape[1]:
        raise ValueError(f"A is a square matrix, not {a.shape[0]} x {a.shape[1]}")
    return a


def _rows(b: np.ndarray, name: str, n: int) -> np.ndarray:
    if b.shape[0] != n:
        raise ValueError(f"{name} has {b.shape[0]} rows by columns, where {n} are needed")
    return b


def _shaped(a: np.ndarray, name: str, shape: tuple[int, int]) -> np.ndarray:
    if a.shape != shape:
        raise ValueError(f"{name} has the shape {a.shape} by columns, where {shape} is needed")
    return a


def _length(a: np.ndarray, name: str, n: int) -> np.ndarray:
    if a.size < n:
        raise ValueError(f"{name} has {a.size} elements, where {n} are needed")
    return a[:n]


__all__ = ["CuSolverError", "Solver"]
public(globals())
