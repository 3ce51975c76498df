"""CUDA's libraries on a GPU: calls of stand-ins for them get what the C interfaces want, and give what the CPU device
gives."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from lancehead import cuda
from lancehead.cuda import toolkit
from lancehead.cuda.errors import CudaAPIError, CudaSupportError
from lancehead.cudalib import cublas, cufft, curand, cusolver, libraries, sorting
from lancehead.cudalib.routines import CHOICES, ROUTINES
from library_stand_in import Cublas, Cufft, Curand, Cusolver, Library
from stand_in import StandIn

TYPES = {"S": np.float32, "D": np.float64, "C": np.complex64, "Z": np.complex128}
SIZES = {"m": 4, "n": 3, "k": 2, "kl": 1, "ku": 2}


@pytest.fixture
def there(gpu: StandIn, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Library]]:
    """The libraries of a GPU."""
    made: dict[str, Library] = {"CUBLAS": Cublas(), "CUFFT": Cufft(), "CURAND": Curand(), "CUSOLVER": Cusolver()}
    for name, library in made.items():
        library.before = gpu.library.fake_finish
        monkeypatch.setattr(getattr(libraries, name), "_opened", library)
    yield made
    for library in made.values():
        library.status = 0
    # Objects that are closed when they are collected belong to these libraries.
    curand._shared.made.clear()
    gc.collect()


def both(
    program: Callable[[], list[Any]], request: pytest.FixtureRequest, tolerance: float = 1e-4
) -> dict[str, Library]:
    """Runs a program on the CPU device and on a GPU; what it gives is the same."""
    expected = program()
    there: dict[str, Library] = request.getfixturevalue("there")
    for i, (x, y) in enumerate(zip(program(), expected, strict=True)):
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance, err_msg=str(i))
    return there


def arguments(routine: Any, dtype: Any, flags: dict[str, Any], rng: np.random.Generator) -> list[Any]:
    """Arguments of a routine, by its line in the table."""
    values: dict[str, Any] = {**SIZES, **flags}
    for name in routine.parameters:
        if name not in values and name not in routine.extents:
            values[name] = 0.5 if name in routine.real or np.dtype(dtype).kind == "f" else 0.5 - 0.25j
    numbers = {k: CHOICES[k][v] if k in CHOICES else v for k, v in values.items()}
    for name, rule in routine.extents.items():
        shape = cublas._extents(rule, numbers)
        a = rng.normal(size=shape) + (1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else 0)
        if len(shape) == 2 and shape[0] == shape[1] and "trs" in routine.name:
            a = a + 3 * np.eye(shape[0])
        values[name] = np.asfortranarray(a.astype(dtype) + (2 if "sv" in routine.name and len(shape) == 1 else 0))
    return [values[name] for name in routine.parameters]


def every_routine() -> list[np.ndarray]:
    rng, found, blas = np.random.default_rng(5), [], cublas.Blas(cuda.stream())
    for routine in ROUTINES.values():
        for i, letter in enumerate(routine.letters):
            flags = {"trans": "NTC"[i % 3], "transa": "TN"[i % 2], "transb": "NC"[i // 2], "uplo": "LU"[i % 2],
                     "side": "LR"[i // 2], "diag": bool(i % 2)}  # fmt: skip
            if routine.name in ("syrk", "syr2k", "herk", "her2k"):
                flags["trans"] = "N" if i % 2 else "C" if routine.name[0] == "h" else "T"
            given = arguments(routine, TYPES[letter], {k: v for k, v in flags.items() if k in routine.parameters}, rng)
            device = [cuda.to_device(a) if isinstance(a, np.ndarray) and i % 2 else a for a in given]
            getattr(blas, routine.name)(*device)
            found.append(np.asarray(device[routine.parameters.index(routine.out)]))
    return found


def test_routines(request: pytest.FixtureRequest) -> None:
    there = both(every_routine, request)
    called = set(there["CUBLAS"].called)
    assert len(called) == 3 + sum(len(r.letters) for r in ROUTINES.values())
    assert "cublasDestroy_v2" in called and not there["CUBLAS"].objects


def vectors() -> list[Any]:
    rng, found = np.random.default_rng(6), []
    for dtype in TYPES.values():
        is_complex = np.dtype(dtype).kind == "c"
        x, y = ((rng.normal(size=8) + (1j * rng.normal(size=8) if is_complex else 0)).astype(dtype) for _ in range(2))
        blas = cublas.Blas()
        part, back = cuda.to_device(x)[::2], y[::-2].copy()
        found += [blas.nrm2(part), blas.asum(x), blas.amax(part), blas.amin(y), blas.dot(part, back)]
        found += [blas.dotc(x, y)] if is_complex else []
        blas.scal(0.5, x)
        blas.axpy(2.0, x, y)
        blas.rot(x, y, 0.6, 0.8)
        found += [x, y, blas.nrm2(x[:0])]
        if not is_complex:
            found += blas.rotg(dtype(3), dtype(4))
            param = blas.rotmg(*map(dtype, (2.0, 1.0, -5.0, 0.5)))
            blas.rotm(x, y, param)
            found += [x, y, param[0]]
    return found


def test_vectors(request: pytest.FixtureRequest) -> None:
    both(vectors, request)


def transforms() -> list[Any]:
    rng, found = np.random.default_rng(7), []
    for dtype, real in ((np.complex64, np.float32), (np.complex128, np.float64)):
        for shape in ((8,), (4, 6), (2, 3, 4)):
            a = (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
            stream = cuda.stream()
            device = cuda.to_device(a, stream=stream)
            cufft.fft_inplace(device, stream=stream)
            found.append(device.copy_to_host())
            found.append(cufft.ifft_inplace(np.array(a, order="F")))
            x = rng.normal(size=shape).astype(real)
            half = np.empty((*shape[:-1], shape[-1] // 2 + 1), dtype)
            found += [cufft.fft(np.array(x, order="F"), half).copy(), cufft.ifft(half, np.empty_like(x))]
            by_columns = cuda.device_array(shape, dtype, order="F")
            cufft.fft(a, by_columns)
            found.append(by_columns.copy_to_host())
    plan = cufft.FFTPlan((4,), np.complex64, np.complex64, batch=3)
    return [*found, plan.forward(np.arange(12).reshape(3, 4).astype(np.complex64))]


def test_transforms(request: pytest.FixtureRequest) -> None:
    there = both(transforms, request)
    assert {f"cufftExec{k}" for k in "R2C C2R C2C D2Z Z2D Z2Z".split()} <= set(there["CUFFT"].called)


def test_random_numbers(there: dict[str, Library]) -> None:
    prng = curand.PRNG(curand.PRNG.MRG32K3A, seed=3, offset=7, stream=cuda.stream())
    host, device = np.zeros(4, np.float32), cuda.to_device(np.zeros(6))
    prng.uniform(host)
    prng.normal(device, 0.0, 1.0, 4)
    assert host.tolist() == [0, 3, 6, 9] and device.copy_to_host().tolist() == [0, 3, 6, 9, 0, 0]
    for method, kind in ((prng.lognormal, np.float32), (prng.lognormal, np.float64), (prng.normal, np.float32)):
        method(np.zeros(4, kind), 0.0, 1.0)
    prng.uniform(np.zeros(4))
    prng.poisson(np.zeros(4, np.uint32), 2.0)
    prng.generate(np.zeros(4, np.uint32))
    for kind in (curand.QRNG.SOBOL32, curand.QRNG.SCRAMBLED_SOBOL64):
        qrng = curand.QRNG(kind, ndim=2, offset=1)
        qrng.generate(np.zeros(4, np.uint32 if kind == curand.QRNG.SOBOL32 else np.uint64))
    curand.PRNG(curand.PRNG.MTGP32).close()
    assert len(curand.uniform(3, device=True)) == 3
    named = set(libraries.CURAND.opened().called)  # type: ignore[attr-defined]
    assert len([n for n in named if n.startswith("curandGenerate")]) == 9


def test_factorisations(there: dict[str, Library]) -> None:
    for dtype in TYPES.values():
        real = np.dtype(np.dtype(dtype).char.lower())
        solver = cusolver.Solver(cuda.stream())
        a, b, tau = np.eye(4, 3, dtype=dtype, order="F"), np.ones((3, 2), dtype, "F"), np.zeros(3, dtype)
        square, pivots = cuda.to_device(np.eye(3, dtype=dtype, order="F")), cuda.to_device(np.ones(3, np.int32))
        found = [
            solver.potrf("L", square), solver.potrs("U", square, b), solver.getrf(square, pivots),
            solver.getrs("N", square, pivots, b), solver.geqrf(a, tau), solver.orgqr(a, tau),
            solver.ormqr("L", "C", a, tau, np.ones((4, 2), dtype, "F")),
            solver.gesvd("S", "N", a, np.zeros(3, real), np.zeros((4, 3), dtype, "F")),
            solver.syevd("V", "L", square, cuda.to_device(np.zeros(3, real))),
        ]  # fmt: skip
        assert found == [0] * 9
    named = set(libraries.CUSOLVER.opened().called)  # type: ignore[attr-defined]
    assert len(named) == 3 + 4 * (7 * 2 + 2)


def sorts() -> list[Any]:
    rng, found = np.random.default_rng(8), []
    for dtype in (np.float64, np.int32, np.uint64):
        keys = (100 * rng.random(300)).astype(dtype)
        keys[:3] = 7
        device, values = cuda.to_device(keys), np.arange(300, dtype=np.uint32)
        sort = sorting.RadixSort(300, dtype, descending=dtype is np.int32)
        found.append(sort.argsort(keys.copy()))
        sort.sort(device, cuda.to_device(values), 0)
        found.append(device.copy_to_host())
        sorting.segmented_sort(keys, values, np.array([10, 10, 200]))
        found += [keys, values]
    return found


def test_sorting_needs_no_library(request: pytest.FixtureRequest) -> None:
    expected = sorts()
    gpu = request.getfixturevalue("gpu")
    for x, y in zip(sorts(), expected, strict=True):
        np.testing.assert_array_equal(x, y)
    assert gpu.launches


def test_statuses_are_errors(there: dict[str, Library]) -> None:
    blas, x = cublas.Blas(), np.ones(3)
    there["CUBLAS"].status = 13
    with pytest.raises(cublas.CuBLASError, match="CUBLAS_STATUS_EXECUTION_FAILED: from cublasDscal") as raised:
        blas.scal(2.0, x)
    assert (raised.value.code, raised.value.status) == (13, "CUBLAS_STATUS_EXECUTION_FAILED") and (x == 1).all()
    there["CUFFT"].status = 2
    with pytest.raises(cufft.CuFFTError, match="CUFFT_ALLOC_FAILED: from cufftPlanMany"):
        cufft.fft_inplace(np.ones(3, complex))
    there["CURAND"].status = 203
    with pytest.raises(curand.CuRandError, match="CURAND_STATUS_INITIALIZATION_FAILED: from curandCreateGenerator"):
        curand.PRNG()
    there["CUBLAS"].status = 99
    with pytest.raises(cublas.CuBLASError, match="status 99: from cublasDscal"):
        blas.scal(2.0, x)


def test_wrong_devices_and_handles(there: dict[str, Library], gpu: StandIn) -> None:
    gpu.library.fake_have(2)
    blas, here = cublas.Blas(), cuda.to_device(np.ones(3))
    other = cuda.gpus
    with other[1]:
        elsewhere = cuda.to_device(np.ones(3))
        with pytest.raises(ValueError, match="this Blas was made for GPU 0, and GPU 1 is in use"):
            blas.nrm2(elsewhere)
        with pytest.raises(ValueError, match="x is in the memory of GPU 0, which is not the device in use"):
            cublas.Blas().nrm2(here)
    with pytest.raises(ValueError, match="x is in the memory of GPU 1"):
        blas.nrm2(elsewhere)
    blas.close()
    with pytest.raises(cublas.CuBLASError, match="NOT_INITIALIZED: this Blas is closed"):
        blas.nrm2(here)
    stream = cuda.stream()
    blas = cublas.Blas(stream)
    stream.close()
    with pytest.raises(CudaAPIError, match="the stream is closed"):
        blas.nrm2(here)


def test_a_library_that_is_missing(gpu: StandIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(toolkit, "homes", lambda: [tmp_path])
    monkeypatch.setattr(libraries.CUBLAS, "_opened", None)
    monkeypatch.setattr(libraries.CUBLAS, "majors", (4711,))
    monkeypatch.setattr(libraries.CUBLAS, "name", "cublas_of_nobody")
    with pytest.raises(
        CudaSupportError, match="libcublas_of_nobody.so was not found: `pip install nvidia-cublas_of_nob"
    ):
        cublas.Blas()
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libcublas_of_nobody.so.13").write_text("no library")
    with pytest.raises(CudaSupportError, match="was not found .*libcublas_of_nobody.so.13: "):
        cublas.Blas()
    # One that is there and has none of the functions.
    monkeypatch.setattr(libraries.CUBLAS, "_opened", ctypes.CDLL(None))
    with pytest.raises(CudaSupportError, match="has no cublasCreate_v2: its version"):
        cublas.Blas()
