"""`lancehead.cudalib.cublas` on the CPU device: each routine as SciPy's BLAS."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg.blas as known

from lancehead import cuda
from lancehead.cudalib import cublas
from lancehead.cudalib.routines import ROUTINES

TYPES = {np.float32: ("s", 2e-4), np.complex128: ("z", 1e-11)}
M, N, K = 5, 7, 2


@pytest.fixture(params=TYPES, ids=lambda t: t.__name__)
def case(request):
    return Case(request.param)


class Case:
    """Arrays of a type, and SciPy's routines for it."""

    def __init__(self, dtype):
        self.dtype, self.rng, self.blas = dtype, np.random.default_rng(7), cublas.Blas()
        self.letter, self.tolerance = TYPES[dtype]
        self.is_complex = self.letter == "z"
        self.alpha, self.beta = (0.5 - 0.25j, 1.5 + 1j) if self.is_complex else (0.5, 1.5)

    def made(self, *shape):
        a = self.rng.normal(size=shape) + (1j * self.rng.normal(size=shape) if self.is_complex else 0)
        return np.asfortranarray(a.astype(self.dtype))

    def square(self, n):
        """One whose triangles are far from singular."""
        return np.asfortranarray(self.made(n, n) + 4 * np.eye(n, dtype=self.dtype))

    def known(self, name, *args, **kwargs):
        return getattr(known, self.letter + name)(*args, **kwargs)

    def agrees(self, name, arguments, expected):
        """The last argument becomes what is expected, on the host and on the device."""
        there = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]
        getattr(self.blas, name)(*arguments)
        np.testing.assert_allclose(arguments[-1], expected, rtol=self.tolerance, atol=self.tolerance, err_msg=name)
        getattr(self.blas, name)(*there)
        np.testing.assert_array_equal(there[-1].copy_to_host(), arguments[-1])


@pytest.mark.parametrize("trans", range(3))
def test_matrix_times_vector(case, trans):
    x, y = (case.made(n) for n in ((N, M) if trans == 0 else (M, N)))
    a, band = case.made(M, N), case.made(4, N)
    expected = case.known("gemv", case.alpha, a, x, case.beta, y, trans=trans)
    case.agrees("gemv", ["NTC"[trans], M, N, case.alpha, a, x, case.beta, y.copy()], expected)
    expected = case.known("gbmv", M, N, 1, 2, case.alpha, band, x, beta=case.beta, y=y, trans=trans)
    case.agrees("gbmv", ["NTC"[trans], M, N, 1, 2, case.alpha, band, x, case.beta, y.copy()], expected)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("trans", range(3))
def test_triangles(case, trans, unit, upper):
    fill, op, options = "LU"[upper], "NTC"[trans], {"lower": not upper, "trans": trans, "diag": unit}
    a, band, packed, x = case.square(N), case.made(K + 1, N), case.made(N * (N + 1) // 2) + 2, case.made(N)
    band[K if upper else 0] += 4
    for name in ("trmv", "trsv"):
        case.agrees(name, [fill, op, unit, N, a, x.copy()], case.known(name, a, x, **options))
    for name in ("tbmv", "tbsv"):
        case.agrees(name, [fill, op, unit, N, K, band, x.copy()], case.known(name, K, band, x, **options))
    case.agrees("tpmv", [fill, op, unit, N, packed, x.copy()], case.known("tpmv", N, packed, x, **options))
    solved = case.known("tpsv", N, packed, x, **options)
    if np.abs(solved).max() < 1e3:
        case.agrees("tpsv", [fill, op, unit, N, packed, x.copy()], solved)
    for side in range(2):
        b, a = case.made(M, N), case.square(N if side else M)
        sided = {"side": side, "lower": not upper, "trans_a": trans, "diag": unit}
        flags = ["LR"[side], fill, op, unit, M, N, case.alpha, a]
        case.agrees("trmm", [*flags, b, case.made(M, N)], case.known("trmm", case.alpha, a, b, **sided))
        case.agrees("trsm", [*flags, b.copy("F")], case.known("trsm", case.alpha, a, b, **sided))


def test_systems_larger_than_a_block(case):
    a, b = case.square(150) + 40 * np.eye(150, dtype=case.dtype), case.made(150, 9)
    for fill in "LU":
        options = {"lower": fill == "L"}
        expected = case.known("trsm", case.alpha, a, b, **options)
        case.agrees("trsm", ["L", fill, "N", False, 150, 9, case.alpha, np.asfortranarray(a), b.copy("F")], expected)


@pytest.mark.parametrize("upper", [False, True])
def test_symmetric(case, upper):
    fill, low, al, be = "LU"[upper], {"lower": not upper}, case.alpha, case.beta
    a, band, packed, x, y = (
        case.made(N, N),
        case.made(K + 1, N),
        case.made(N * (N + 1) // 2),
        case.made(N),
        case.made(N),
    )
    names = ("hemv", "hbmv", "hpmv", "hemm") if case.is_complex else ("symv", "sbmv", "spmv", "symm")
    case.agrees(names[0], [fill, N, al, a, x, be, y.copy()], case.known(names[0], al, a, x, be, y, **low))
    expected = case.known(names[1], K, al, band, x, beta=be, y=y, **low)
    case.agrees(names[1], [fill, N, K, al, band, x, be, y.copy()], expected)
    expected = case.known(names[2], N, al, packed, x, beta=be, y=y, **low)
    case.agrees(names[2], [fill, N, al, packed, x, be, y.copy()], expected)
    for side in range(2):
        for name in {names[3], "symm"}:
            a, b, c = case.made(N if side else M, N if side else M), case.made(M, N), case.made(M, N)
            expected = case.known(name, al, a, b, be, c, side=side, **low)
            case.agrees(name, ["LR"[side], fill, M, N, al, a, b, be, c.copy("F")], expected)


@pytest.mark.parametrize("upper", [False, True])
def test_updates(case, upper):
    fill, low, al, be = "LU"[upper], {"lower": not upper}, case.alpha, case.beta
    x, y, a = case.made(N), case.made(N), case.made(N, N)
    hermitian, packed = a.copy("F"), case.made(N * (N + 1) // 2).real.astype(case.dtype)
    hermitian[np.diag_indices(N)] = a.diagonal().real
    case.agrees("syr", [fill, N, al, x, a.copy("F")], case.known("syr", al, x, a=a, **low))
    if case.is_complex:
        case.agrees("her", [fill, N, 0.5, x, hermitian.copy("F")], case.known("her", 0.5, x, a=hermitian, **low))
    two, matrix = ("her2", hermitian) if case.is_complex else ("syr2", a)
    case.agrees(two, [fill, N, al, x, y, matrix.copy("F")], case.known(two, al, x, y, a=matrix, **low))
    one, two = ("hpr", "hpr2") if case.is_complex else ("spr", "spr2")
    case.agrees(one, [fill, N, 0.5, x, packed.copy()], case.known(one, N, 0.5, x, packed, **low))
    case.agrees(two, [fill, N, al, x, y, packed.copy()], case.known(two, N, al, x, y, packed, **low))
    for name in ("syrk", "syr2k", *(("herk", "her2k") if case.is_complex else ())):
        is_hermitian = name[0] == "h"
        for trans in (0, 2 if is_hermitian else 1):
            shape = (N, K) if trans == 0 else (K, N)
            factors = [case.made(*shape) for _ in range(2 if name[-2:] == "2k" else 1)]
            first, second = (0.5 if name == "herk" else al), (1.5 if is_hermitian else be)
            c = hermitian if is_hermitian else a
            expected = case.known(name, first, *factors, second, c, trans=trans, **low)
            case.agrees(name, [fill, "NTC"[trans], N, K, first, *factors, second, c.copy("F")], expected)


def test_products_and_sums(case):
    al, be = case.alpha, case.beta
    x, y, a = case.made(M), case.made(N), case.made(M, N)
    for name in ("geru", "gerc") if case.is_complex else ("ger",):
        case.agrees(name, [M, N, al, x, y, a.copy("F")], case.known(name, al, x, y, a=a))
    op = {"N": lambda v: v, "T": lambda v: v.T, "C": lambda v: v.conj().T}
    for ta in "NTC":
        for tb in "NTC":
            a = case.made(M, K) if ta == "N" else case.made(K, M)
            b, c = case.made(K, N) if tb == "N" else case.made(N, K), case.made(M, N)
            case.agrees("gemm", [ta, tb, M, N, K, al, a, b, be, c.copy("F")], al * (op[ta](a) @ op[tb](b)) + be * c)
            a, b = (case.made(M, N) if t == "N" else case.made(N, M) for t in (ta, tb))
            case.agrees("geam", [ta, tb, M, N, al, a, be, b, c.copy("F")], al * op[ta](a) + be * op[tb](b))
    a, c = case.made(M, N), case.made(M, N)
    case.agrees("dgmm", ["L", M, N, a, case.made(M) * 0 + x, c.copy("F")], x[:, None] * a)
    case.agrees("dgmm", ["R", M, N, a, y, c.copy("F")], a * y)
    # An operand that beta = 0 multiplies is not read.
    c[:] = np.nan
    case.agrees(
        "gemm", ["N", "N", M, M, N, al, a, case.made(N, M) * 0, 0.0, np.full((M, M), np.nan, case.dtype)], 0 * a @ a.T
    )


def test_vectors(case):
    blas, x, y = case.blas, case.made(18)[::2], case.made(9)[::-1]
    near = {"rtol": case.tolerance}
    np.testing.assert_allclose(blas.nrm2(x), np.linalg.norm(x), **near)
    np.testing.assert_allclose(blas.dot(x, y), x @ y, **near)
    parts = np.abs(x.real) + np.abs(x.imag)
    np.testing.assert_allclose(blas.asum(x), parts.sum(), **near)
    assert (blas.amax(x), blas.amin(x)) == (parts.argmax(), parts.argmin())
    assert blas.nrm2(x).dtype == x.real.dtype and blas.dot(x, y).dtype == case.dtype
    huge = np.full(3, np.finfo(case.dtype).max / 4, case.dtype)
    np.testing.assert_allclose(blas.nrm2(huge), huge[0].real * np.sqrt(np.float64(3)), rtol=1e-6)
    before = y.copy()
    blas.axpy(2.0, x, y)
    np.testing.assert_allclose(y, 2 * x + before, **near)
    blas.scal(0.5, y)
    np.testing.assert_allclose(y, x + before / 2, **near)
    u, v = x.copy(), y.copy()
    s = 0.6j if case.is_complex else 0.6
    blas.rot(u, v, 0.8, s)
    np.testing.assert_allclose(u, 0.8 * x + s * y, **near)
    np.testing.assert_allclose(v, 0.8 * y - np.conj(s) * x, rtol=case.tolerance, atol=case.tolerance)
    if case.is_complex:
        np.testing.assert_allclose(blas.dotc(x, y), np.vdot(x, y), **near)
        r, _, c, s = blas.rotg(case.dtype(3 + 1j), case.dtype(1 - 2j))
        np.testing.assert_allclose(
            [c * (3 + 1j) + s * (1 - 2j), c * (1 - 2j) - np.conj(s) * (3 + 1j)], [r, 0], atol=1e-12
        )
    assert blas.nrm2(x[:0]) == 0 and blas.amax(x[:0]) == -1


@pytest.mark.parametrize(
    "given", [(1.0, 2.0, 3.0, 4.0), (2.0, 1.0, -5.0, 0.5), (1e9, 1e-9, 2.0, 3.0), (1.0, 1.0, 1.0, 0.0)]
)
def test_modified_rotations(given):
    blas, (d1, d2, x1, y1) = cublas.Blas(), given
    param, expected = blas.rotmg(*map(np.float64, given)), known.drotmg(*given)
    np.testing.assert_allclose(param[0], expected[0])
    x, y = np.array([x1, 1.0]), np.array([y1, 2.0])
    other = known.drotm(x, y, expected)
    blas.rotm(x, y, param)
    np.testing.assert_allclose([x, y], other, rtol=1e-12, atol=1e-12)
    assert abs(np.sqrt(d2) * y[0]) <= 1e-6 * abs(np.sqrt(d1) * x[0]) or expected[0] == -2


@pytest.mark.parametrize("a, b", [(3.0, 4.0), (-4.0, 3.0), (0.0, 2.0), (2.0, 0.0), (0.0, 0.0)])
def test_rotations(a, b):
    r, z, c, s = cublas.Blas().rotg(a, b)
    np.testing.assert_allclose([c * a + s * b, c * b - s * a], [r, 0], atol=1e-15)
    np.testing.assert_allclose((c, s), known.drotg(a, b))
    assert z == (0 if a == b == 0 else s if abs(a) > abs(b) else 1 / c if c else 1)


def test_functions():
    rng = np.random.default_rng(3)
    a, b, x = rng.normal(size=(3, 4)), rng.normal(size=(5, 4)).astype(np.float32), rng.normal(size=4)
    np.testing.assert_allclose(cublas.gemm("n", "t", 2.0, a, b), 2 * a @ b.T)
    c = np.ones((3, 5))
    assert cublas.gemm("N", "T", 1.0, a, b, 1.0, c) is c
    np.testing.assert_allclose(c, a @ b.T + 1)
    np.testing.assert_allclose(cublas.gemv("N", 1.0, a, x), a @ x)
    y = np.ones(4, np.float32)
    np.testing.assert_allclose(cublas.axpy(2.0, b[0], y), 2 * b[0] + 1)
    np.testing.assert_allclose(cublas.dot(b[0], x), b[0] @ x)

    assert cublas.gemm("N", "T", 2.0, b, b).dtype == np.float32
    with pytest.raises(TypeError, match="C is an array of int64"):
        cublas.gemm("N", "T", 1.0, a, b, 0, np.ones((3, 5), int))
    with pytest.raises(ValueError, match="op.A. is 3 x 4 and op.B. 5 x 4, which do not fit"):
        cublas.gemm("N", "N", 1.0, a, b)
    with pytest.raises(ValueError, match="alpha is a number, not list"):
        cublas.gemv("N", [1], a, x)


def test_memory_is_what_counts():
    """An array by rows is its transpose; the first elements of larger arrays are the matrix."""
    rng, blas = np.random.default_rng(4), cublas.Blas()
    a, b = rng.normal(size=(4, 4)), rng.normal(size=(4, 4))
    c = np.zeros((4, 4), order="F")
    blas.gemm("T", "T", 4, 4, 4, 1.0, a, b, 0.0, c)
    np.testing.assert_allclose(c, a @ b)
    large = np.asfortranarray(rng.normal(size=(9, 6)))
    blas.gemm("N", "N", 3, 2, 4, 1.0, cuda.to_device(large)[1:], np.asfortranarray(b), 0.0, c)
    np.testing.assert_allclose(c[:3, :2], large[1:4, :4] @ b[:, :2])
    host = rng.normal(size=(8, 8))[::2, ::-2]
    blas.gemm("N", "N", 4, 4, 4, 1.0, np.asfortranarray(np.eye(4)), np.asfortranarray(b), 0.0, host)
    np.testing.assert_allclose(host, b)


def test_bad_input():
    blas, a, x = cublas.Blas(), np.ones((3, 3), order="F"), np.ones(3)
    stream = cuda.stream()
    with pytest.raises(TypeError, match="x is an array of int64, where one of float32, float64, complex64, complex128"):
        blas.nrm2(np.arange(3))
    with pytest.raises(TypeError, match="x is an array of float64, where complex128 is needed"):
        blas.hemv("U", 3, 1.0, a.astype(complex), x, 0.0, x)
    with pytest.raises(TypeError, match="A is an array of float64, where one of complex64, complex128"):
        blas.hemv("U", 3, 1.0, a, x, 0.0, x)
    with pytest.raises(ValueError, match="A has 3 x 3 elements by columns, where 4 x 3 are needed"):
        blas.gemv("N", 4, 3, 1.0, a, x, 0.0, np.ones(4))
    with pytest.raises(ValueError, match="y has 3 elements, where 4 are needed"):
        blas.gemv("T", 3, 4, 1.0, np.ones((3, 4), order="F"), x, 0.0, x)
    with pytest.raises(ValueError, match="'N' or 'T' or 'C', not 'X'"):
        blas.gemv("X", 3, 3, 1.0, a, x, 0.0, x)
    with pytest.raises(TypeError, match="alpha is complex, where float64 is needed"):
        blas.scal(1j, x)
    with pytest.raises(ValueError, match="different numbers of elements: x has 3, y has 2"):
        blas.dot(x, np.ones(2))
    with pytest.raises(ValueError, match="has gaps in its columns"):
        blas.gemv("N", 2, 2, 1.0, cuda.to_device(np.ones((4, 4)))[::2, ::2], x, 0.0, x)
    with pytest.raises(ValueError, match="stride of 0"):
        blas.nrm2(np.broadcast_to(np.ones(1), 3))
    with pytest.raises(ValueError, match="x is read-only"):
        x.flags.writeable = False
        blas.scal(2.0, x)
    with pytest.raises(ValueError, match="n is -1"):
        blas.trmv("U", "N", False, -1, a, np.ones(3))
    with pytest.raises(TypeError, match="x is an array of NumPy or of a device, not list"):
        blas.nrm2([1.0])
    with pytest.raises(TypeError, match="missing a required argument: 'y'"):
        blas.gemv("N", 3, 3, 1.0, a, x, 0.0)
    there = cuda.to_device(np.ones(3))
    there.gpu_data.free()
    with pytest.raises(cuda.cudadrv.driver.CudaAPIError, match="the memory was freed"):
        blas.nrm2(there)
    closed = cublas.Blas(stream)
    closed.close()
    closed.close()
    with pytest.raises(cublas.CuBLASError, match="CUBLAS_STATUS_NOT_INITIALIZED: this Blas is closed"):
        closed.nrm2(np.ones(3))
    stream.close()
    with pytest.raises(cuda.cudadrv.driver.CudaAPIError, match="the stream is closed"):
        cublas.Blas(stream)


def test_every_routine_is_a_method_with_help():
    for name, routine in ROUTINES.items():
        method = getattr(cublas.Blas, name)
        assert routine.formula in method.__doc__ and method.__name__ == name
