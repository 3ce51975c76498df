"""`lancehead.cudalib` on the CPU device: transforms, random numbers, sorting, factorisations, the programs."""

from __future__ import annotations

import doctest
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
import scipy.stats

from lancehead import cuda, cudalib, guvectorize, vectorize
from lancehead.cudalib import cublas, cufft, curand, cusolver, cusparse, errors, sorting
from lancehead.demo.program import measure
from lancehead.demo.programs import cuda_fft_filter

EXAMPLES = sorted((Path(__file__).parents[3] / "examples" / "cudalib").glob("*.py"))


@pytest.mark.parametrize("program", EXAMPLES, ids=lambda path: path.stem)
def test_programs(program):
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 2


def test_row_of_the_demo():
    assert measure(cuda_fft_filter.PROGRAM, quick=True).failure == ""


def test_names():
    assert (cudalib.blas, cudalib.fft, cudalib.rand, cudalib.sparse) == (cublas, cufft, curand, cusparse)
    assert {"cusolver", "sorting", "rand"} <= set(dir(cudalib))
    with pytest.raises(AttributeError, match="'lancehead.cudalib' has no attribute 'cudnn'"):
        cudalib.cudnn


@pytest.mark.parametrize("name", ["cublas", "cufft", "curand", "cusolver", "cusparse", "sorting"])
def test_examples_of_the_help(name):
    module = getattr(cudalib, name)
    found = doctest.DocTestFinder(exclude_empty=True).find(module, globs={"np": np, name: module, "cuda": cuda})
    if name == "cusparse":
        names = ("bsr_matrix", "csc_matrix", "csr_matrix")
        found += [
            t for n in names for t in doctest.DocTestFinder().find(getattr(module, n), globs={"np": np, name: module})
        ]
    assert sum(len(test.examples) for test in found) >= 3
    told = []
    for test in found:
        doctest.DocTestRunner(verbose=False).run(test, out=told.append)
    assert "".join(told) == ""


def test_import_of_the_package_loads_no_library():
    code = "import lancehead, sys; assert not any('cudalib' in m for m in sys.modules); lancehead.cudalib.sorting"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_target_gpu_is_cuda():
    @vectorize(["float64(float64, float64)"], target="gpu")
    def plus(x, y):
        return x + y

    @guvectorize(["void(float64[:], float64[:])"], "(n)->()", target="gpu")
    def total(x, out):
        out[0] = x.sum()

    there = plus(cuda.to_device(np.arange(3.0)), cuda.to_device(np.ones(3)))
    assert there.copy_to_host().tolist() == [1, 2, 3]
    assert total(np.ones((2, 3))).tolist() == [3, 3]


# --- cuFFT ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(12,), (1,), (5, 6), (3, 4, 5)])
@pytest.mark.parametrize("dtype, real, tolerance", [("F", "f", 1e-5), ("D", "d", 1e-13)])
def test_transforms(shape, dtype, real, tolerance):
    rng = np.random.default_rng(1)
    a = (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    size, near = a.size, {"rtol": 1, "atol": 50 * tolerance * np.sqrt(a.size)}
    near["rtol"] = tolerance
    expected, out = np.fft.fftn(a.astype(complex)), np.empty_like(a)
    stream = cuda.stream()
    assert cufft.fft(a, out, stream=stream) is out
    np.testing.assert_allclose(out, expected, **near)
    cufft.ifft(out, out)
    np.testing.assert_allclose(out / size, a, **near)
    for order in "CF":
        host = np.array(a, order=order)
        there = cuda.to_device(host)
        assert cufft.fft_inplace(host) is host and cufft.fft_inplace(there) is there
        np.testing.assert_allclose(host, expected, **near)
        np.testing.assert_array_equal(there.copy_to_host(), host)
        np.testing.assert_allclose(cufft.ifft_inplace(host) / size, a, **near)
    x = rng.normal(size=shape).astype(real)
    half = np.empty((*shape[:-1], shape[-1] // 2 + 1), dtype)
    np.testing.assert_allclose(cufft.fft(x, half), np.fft.rfftn(x), **near)
    # Odd numbers of elements are known from the output.
    np.testing.assert_allclose(cufft.ifft(half, np.empty_like(x)) / size, x, **near)


def test_plans():
    rng = np.random.default_rng(2)
    a = (rng.normal(size=(3, 8)) + 1j).astype(np.complex64)
    with cufft.FFTPlan((8,), np.complex64, np.complex64, batch=3) as plan:
        np.testing.assert_allclose(plan.forward(a), np.fft.fft(a), atol=1e-4)
        np.testing.assert_allclose(plan.inverse(a.ravel(), np.empty_like(a)), 8 * np.fft.ifft(a), atol=1e-4)
    plan = cufft.FFTPlan((4, 5), np.complex128, np.float64)
    assert (plan.ishape, plan.oshape, plan.direction) == ((4, 5), (4, 8), "inverse")
    with pytest.raises(TypeError, match="has no forward transform"):
        plan.forward(np.ones((4, 5), complex))
    with pytest.raises(ValueError, match=r"ary has the shape \(4, 6\), where \(4, 5\) is needed"):
        plan.inverse(np.ones((4, 6), complex))
    with pytest.raises(TypeError, match="ary is an array of complex64, where complex128 is needed"):
        plan.inverse(np.ones((4, 5), np.complex64))
    plan.close()
    with pytest.raises(cufft.CuFFTError, match="CUFFT_INVALID_PLAN: this FFTPlan is closed"):
        plan.inverse(np.ones((4, 5), complex))
    with pytest.raises(ValueError, match="no transform from float32 to complex128"):
        cufft.FFTPlan((4,), np.float32, np.complex128)
    for shape in ((), (0,), (2, 2, 2, 2)):
        with pytest.raises(ValueError, match="one to three axes"):
            cufft.FFTPlan(shape, np.complex64, np.complex64)
    with pytest.raises(TypeError, match="in place is one of complex64 or complex128, not of float64"):
        cufft.fft_inplace(np.ones(3))
    both = np.zeros(6, np.complex64)
    with pytest.raises(ValueError, match="not done in place"):
        cufft.fft(both.view(np.float32)[:10], both)


# --- cuRAND -----------------------------------------------------------------------------------------------------------

#: Checksums of a hundred thousand numbers that cuRAND 10.4 makes for the seed 987654321987: of words, float32 and
#: float64, each at the offsets 0 and 1200001; then of 1000 words after numbers of other kinds.
STREAMS = {
    curand.PRNG.XORWOW: ((252779430, 832688622), (46065803, 335419687), (1374285167, 2329490969), 3378483723),
    curand.PRNG.MRG32K3A: ((2872424016, 616373694), (4002179459, 213714993), (2425706674, 3899537545), 3023942942),
    curand.PRNG.PHILOX4_32_10: ((2282728456, 474760976), (3453493227, 821599457), (1553811208, 1095718237), 564394538),
}  # fmt: skip
SEED = 987654321987
#: Normal numbers of the same generators for the seed 1234: the first, the second and the last one.
NORMAL = {
    curand.PRNG.XORWOW: ([-0.12596729397773743, 1.788719892501831, -0.1279555857181549],
                         [-0.16465870905355395, -0.011193745371926989, -0.39654272279273406]),
    curand.PRNG.MRG32K3A: ([-1.6342884302139282, -0.9382068514823914, 0.14530549943447113],
                           [0.24215760420941695, -0.4616048035821552, -0.5816989242061271]),
    curand.PRNG.PHILOX4_32_10: ([-0.5964522361755371, 0.5089136958122253, 0.7137367129325867],
                                [-0.8695486159958047, 0.7972149981415295, 1.3153038075063759]),
}  # fmt: skip


def checksum(fill, n, dtype):
    a = np.zeros(n, dtype)
    fill(a)
    return zlib.crc32(a.tobytes())


@pytest.mark.parametrize("kind", STREAMS)
def test_streams_are_those_of_curand(kind):
    words, singles, doubles, mixed = STREAMS[kind]
    for i, offset in enumerate((0, 1200001)):
        for expected, method, dtype in (
            (words, "generate", "u4"),
            (singles, "uniform", "f4"),
            (doubles, "uniform", "f8"),
        ):
            prng = curand.PRNG(kind, seed=SEED, offset=offset)
            assert checksum(getattr(prng, method), 100_000, dtype) == expected[i]
    prng = curand.PRNG(kind, seed=1234)
    single, double = np.zeros(8000, np.float32), np.zeros(2000)
    prng.generate(np.zeros(5000, np.uint32))
    prng.uniform(np.zeros(3000))
    prng.normal(single, 0, 1)
    prng.normal(double, 0, 1)
    assert checksum(prng.generate, 1000, "u4") == mixed
    np.testing.assert_allclose(single[[0, 1, -1]], NORMAL[kind][0], rtol=1e-5)
    np.testing.assert_allclose(double[[0, 1, -1]], NORMAL[kind][1], rtol=1e-13)


@pytest.mark.parametrize("kind", [*STREAMS, curand.PRNG.MT19937])
def test_sequences(kind):
    """Calls go on where the one before has ended; setting the seed or the offset begins anew."""
    prng, whole = curand.PRNG(kind, seed=5), np.zeros(30)
    prng.uniform(whole)
    prng.seed = 5
    parts = np.zeros(30)
    there = cuda.to_device(parts)
    for begin, end in ((0, 10), (10, 11), (11, 30)):
        prng.uniform(parts[begin:end])
    assert (parts == whole).all() and len(set(whole)) == 30
    prng.offset = 0
    prng.uniform(there)
    assert (there.copy_to_host() == whole).all() and (prng.seed, prng.offset) == (5, 0)
    a = np.zeros(9)
    prng.offset = 0
    prng.uniform(a, 4)
    assert (a[:4] == whole[:4]).all() and not a[4:].any()
    large = np.zeros(200_000)
    prng.normal(large, 3.0, 2.0)
    assert scipy.stats.kstest(large, "norm", (3.0, 2.0)).pvalue > 1e-4
    prng.lognormal(large, 0.5, 0.25)
    assert scipy.stats.kstest(np.log(large), "norm", (0.5, 0.25)).pvalue > 1e-4


@pytest.mark.parametrize("rate", [0.3, 4.0, 250.0, 1e6])
def test_poisson(rate):
    prng, a = curand.PRNG(seed=11), np.zeros(50_000, np.uint32)
    prng.poisson(a, rate)
    deviation = np.sqrt(rate)
    assert abs(a.mean() - rate) < 5 * deviation / np.sqrt(a.size)
    assert abs(a.var() / rate - 1) < 0.1
    low = int(rate - deviation)
    assert abs((a <= low).mean() - scipy.stats.poisson.cdf(low, rate)) < 0.02


def test_sobol():
    for kind, dtype, expected in ((curand.QRNG.SOBOL32, "u4", 2670697873), (curand.QRNG.SOBOL64, "u8", 2597479945)):
        qrng = curand.QRNG(kind, ndim=7, offset=77)
        a = np.zeros(7000, dtype)
        qrng.generate(a)
        assert zlib.crc32(a.tobytes()) == expected
        qrng.generate(b := np.zeros(70, dtype))
        qrng.offset = 77 + 1000
        qrng.generate(c := np.zeros(70, dtype))
        assert (b == c).all()
    curand.QRNG().generate(first := np.zeros(4, np.uint32))
    assert first.tolist() == [0, 2**31, 3 * 2**30, 2**30]
    assert curand.quasi(6, bits=64, nd=2).dtype == np.uint64


def test_functions_of_random_numbers():
    for made in (curand.uniform(10), curand.normal(1.0, 2.0, 10), curand.lognormal(0, 1, 10, np.float32)):
        assert made.shape == (10,) and len(set(made)) == 10
    assert isinstance(curand.uniform(10, device=True), cuda.cudadrv.devicearray.DeviceNDArray)
    assert curand.poisson(3.0, 5).dtype == np.uint32


def test_bad_input_for_random_numbers():
    prng = curand.PRNG()
    with pytest.raises(TypeError, match="an array of float32 or float64 is filled, not one of int64"):
        prng.uniform(np.zeros(3, int))
    with pytest.raises(TypeError, match="of one dimension is filled, not one of 2"):
        prng.uniform(np.zeros((3, 3)))
    with pytest.raises(TypeError, match="has gaps"):
        prng.uniform(np.zeros(6)[::2])
    with pytest.raises(ValueError, match="7 numbers do not fit into an array of 6"):
        prng.uniform(np.zeros(6), 7)
    with pytest.raises(curand.CuRandError, match="CURAND_STATUS_LENGTH_NOT_MULTIPLE: normal numbers are made in pairs"):
        prng.normal(np.zeros(3), 0, 1)
    with pytest.raises(curand.CuRandError, match="CURAND_STATUS_OUT_OF_RANGE"):
        prng.poisson(np.zeros(3, np.uint32), -1.0)
    with pytest.raises(NotImplementedError, match="MTGP32 has tables that only cuRAND has; on the CPU device use PRNG"):
        curand.PRNG(curand.PRNG.MTGP32)
    with pytest.raises(ValueError, match="7 is no kind of generator"):
        curand.PRNG(7)
    with pytest.raises(TypeError, match="seed is an integer, not float"):
        curand.PRNG(seed=1.5)
    with pytest.raises(curand.CuRandError, match="LENGTH_NOT_MULTIPLE: 4 numbers are no points of 3 dimensions"):
        curand.QRNG(ndim=3).generate(np.zeros(4, np.uint32))
    with pytest.raises(curand.CuRandError, match="from 1 to 20000, not 0"):
        curand.QRNG(ndim=0)
    prng.close()
    with pytest.raises(curand.CuRandError, match="CURAND_STATUS_NOT_INITIALIZED: this PRNG is closed"):
        prng.uniform(np.zeros(3))


# --- Sorting ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u4", "i8", "u8"])
def test_radix_sort(dtype):
    rng = np.random.default_rng(5)
    keys = rng.integers(0, 60, 500).astype(dtype)
    if dtype[0] != "u":
        keys -= np.dtype(dtype).type(30)
    if dtype[0] == "f":
        keys[7], keys[8:10] = np.inf, [0.0, -0.0]
    for descending in (False, True):
        sort = sorting.RadixSort(500, dtype, descending=descending)
        order = np.argsort(-keys.astype(np.float64) if descending else keys, kind="stable")
        host, there, vals = keys.copy(), cuda.to_device(keys), np.arange(500, dtype=np.uint32)
        assert (sort.argsort(host) == order).all() and (host == keys[order]).all()
        assert (sort.argselect(9, there).copy_to_host() == order[:9]).all()
        sort.select(9, host := keys.copy(), vals)
        assert (host[:9] == keys[order[:9]]).all() and (host[9:] == keys[9:]).all() and (vals[:9] == order[:9]).all()
    host, vals, ends = keys.copy(), np.arange(500, dtype=np.uint32), [3, 300, 300, 450]
    sorting.segmented_sort(host, vals, np.array(ends))
    for begin, end in zip([0, *ends], [*ends, 500]):
        assert (host[begin:end] == np.sort(keys[begin:end])).all() and (host == keys[vals]).all()


def test_sorting_by_some_bits_and_bad_input():
    keys = np.random.default_rng(6).integers(0, 2**32, 300, dtype=np.uint32)
    sort = sorting.RadixSort(300, np.uint32)
    sort.sort(found := keys.copy(), begin_bit=8, end_bit=16)
    assert (found == keys[np.argsort(keys >> 8 & 255, kind="stable")]).all()
    sort.sort(np.zeros(0, np.uint32))
    with pytest.raises(ValueError, match="from 0 to 32, not from 8 to 40"):
        sort.sort(keys, begin_bit=8, end_bit=40)
    with pytest.raises(ValueError, match="there are 301 keys, and the most is 300"):
        sort.sort(np.zeros(301, np.uint32))
    with pytest.raises(TypeError, match="keys is an array of float32, where uint32 is needed"):
        sort.sort(np.zeros(3, np.float32))
    with pytest.raises(ValueError, match="k is 4, and there are 3 keys"):
        sort.select(4, np.zeros(3, np.uint32))
    with pytest.raises(TypeError, match="keys are of float32.*not of int16"):
        sorting.RadixSort(3, np.int16)
    with pytest.raises(ValueError, match="segments are in order"):
        sorting.segmented_sort(keys, keys.copy(), np.array([5, 3]))
    sort.close()
    with pytest.raises(ValueError, match="is closed"):
        sort.sort(keys)


# --- cuSOLVER ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype, tolerance", [("f", 1e-3), ("D", 1e-10)])
@pytest.mark.parametrize("n", [8, 110])
def test_factorisations(dtype, tolerance, n):
    rng, solver, real = np.random.default_rng(8), cusolver.Solver(cuda.stream()), dtype.lower()

    def made(*shape):
        a = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype == "D" else 0)
        return np.asfortranarray(a.astype(dtype))

    def close(x, y):
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance * n)

    a, b = made(n, n), made(n, 3)
    definite = np.asfortranarray(a @ a.conj().T + n * np.eye(n, dtype=dtype))
    for uplo in "LU":
        factor, x = definite.copy("F"), b.copy("F")
        assert (solver.potrf(uplo, factor), solver.potrs(uplo, factor, x)) == (0, 0)
        close(definite @ x, b)
        assert (np.tril(factor, -1) == np.tril(definite, -1)).all() or uplo == "L"
    factor, pivots = cuda.to_device(a), cuda.to_device(np.zeros(n, np.int32))
    assert solver.getrf(factor, pivots) == 0
    close(factor.copy_to_host(), scipy.linalg.lu_factor(a)[0])
    for trans, op in (("N", a), ("T", a.T), ("C", a.conj().T)):
        solver.getrs(trans, factor, pivots, x := b.copy("F"))
        close(op @ x, b)
    tall, tau = made(n + 4, n), np.zeros(n, dtype)
    solver.geqrf(factor := tall.copy("F"), tau)
    close(factor, scipy.linalg.lapack.get_lapack_funcs("geqrf", (tall,))(tall)[0])
    q = factor.copy("F")
    solver.orgqr(q, tau)
    close(q @ np.triu(factor[:n]), tall)
    for side, c in (("L", made(n + 4, 2)), ("R", made(2, n + 4))):
        whole = np.eye(n + 4, dtype=dtype, order="F")
        solver.ormqr("L", "N", factor, tau, whole)
        for trans, op in (("N", whole), ("C", whole.conj().T)):
            solver.ormqr(side, trans, factor, tau, found := c.copy("F"))
            close(found, op @ c if side == "L" else c @ op)
    s, u, v = np.zeros(n, real), np.zeros((n + 4, n), dtype, "F"), np.zeros((n, n), dtype, "F")
    solver.gesvd("S", "S", tall.copy("F"), s, u, v)
    close(u * s @ v, tall)
    w = np.zeros(n, real)
    solver.syevd("V", "L", vectors := np.asfortranarray(np.tril(definite)), w)
    close(vectors * w @ vectors.conj().T, definite)


def test_failures_of_factorisations():
    solver, a = cusolver.Solver(), np.asfortranarray(np.eye(3))
    a[1, 1] = -1.0
    assert solver.potrf("L", a.copy("F")) == 2
    assert solver.potrf("U", -np.eye(100, order="F")) == 1
    assert solver.getrf(np.zeros((3, 3), order="F"), np.zeros(3, np.int32)) == 1
    with pytest.raises(ValueError, match="A is a square matrix, not 3 x 2"):
        solver.potrf("L", np.zeros((3, 2), order="F"))
    with pytest.raises(ValueError, match="ipiv has 2 elements, where 3 are needed"):
        solver.getrf(a, np.zeros(2, np.int32))
    with pytest.raises(ValueError, match="ipiv has a row outside of the 3 rows"):
        solver.getrs("N", a, np.zeros(3, np.int32), np.zeros((3, 1)))
    with pytest.raises(TypeError, match="ipiv is an array of int64, where int32 is needed"):
        solver.getrf(a, np.zeros(3, int))
    with pytest.raises(ValueError, match="its transpose has as many rows"):
        solver.gesvd("N", "N", np.zeros((2, 3), order="F"), np.zeros(2))
    assert issubclass(cusolver.CuSolverError, errors.CudaLibraryError)
