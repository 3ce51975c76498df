"""Errors of CUDA's libraries. Each names the status and the function that gave it."""

from __future__ import annotations

from lancehead.cuda.errors import CudaAPIError, CudaDriverError, CudaSupportError
from lancehead.options import public


class CudaLibraryError(CudaDriverError):
    """A call of one of CUDA's libraries has failed; `code` is its status, `status` the name of that."""

    #: Names of the library's statuses.
    NAMES: dict[int, str] = {}
    #: The status of a handle that is closed.
    CLOSED = 1

    def __init__(self, code: int, text: str = "") -> None:
        self.code, self.status = code, self.NAMES.get(code, f"status {code}")
        super().__init__(f"{self.status}{': ' if text else ''}{text}")


def _numbered(prefix: str, names: str) -> dict[int, str]:
    pairs = (pair.split("=") for pair in names.split())
    return {int(number): f"{prefix}_{name}" for name, number in pairs}


class CuBLASError(CudaLibraryError):
    """A call of cuBLAS has failed."""

    NAMES = _numbered(
        "CUBLAS_STATUS",
        "SUCCESS=0 NOT_INITIALIZED=1 ALLOC_FAILED=3 INVALID_VALUE=7 ARCH_MISMATCH=8 MAPPING_ERROR=11 "
        "EXECUTION_FAILED=13 INTERNAL_ERROR=14 NOT_SUPPORTED=15 LICENSE_ERROR=16",
    )


class CuFFTError(CudaLibraryError):
    """A call of cuFFT has failed."""

    NAMES = _numbered(
        "CUFFT",
        "SUCCESS=0 INVALID_PLAN=1 ALLOC_FAILED=2 INVALID_TYPE=3 INVALID_VALUE=4 INTERNAL_ERROR=5 EXEC_FAILED=6 "
        "SETUP_FAILED=7 INVALID_SIZE=8 UNALIGNED_DATA=9 INCOMPLETE_PARAMETER_LIST=10 INVALID_DEVICE=11 PARSE_ERROR=12 "
        "NO_WORKSPACE=13 NOT_IMPLEMENTED=14 LICENSE_ERROR=15 NOT_SUPPORTED=16 MISSING_DEPENDENCY=17 NVRTC_FAILURE=18 "
        "NVJITLINK_FAILURE=19 NVSHMEM_FAILURE=20",
    )


class CuRandError(CudaLibraryError):
    """A call of cuRAND has failed."""

    NAMES = _numbered(
        "CURAND_STATUS",
        "SUCCESS=0 VERSION_MISMATCH=100 NOT_INITIALIZED=101 ALLOCATION_FAILED=102 TYPE_ERROR=103 OUT_OF_RANGE=104 "
        "LENGTH_NOT_MULTIPLE=105 DOUBLE_PRECISION_REQUIRED=106 LAUNCH_FAILURE=201 PREEXISTING_FAILURE=202 "
        "INITIALIZATION_FAILED=203 ARCH_MISMATCH=204 INTERNAL_ERROR=999",
    )
    CLOSED = 101


class CuSparseError(CudaLibraryError):
    """A call of cuSPARSE has failed."""

    NAMES = _numbered(
        "CUSPARSE_STATUS",
        "SUCCESS=0 NOT_INITIALIZED=1 ALLOC_FAILED=2 INVALID_VALUE=3 ARCH_MISMATCH=4 MAPPING_ERROR=5 EXECUTION_FAILED=6 "
        "INTERNAL_ERROR=7 MATRIX_TYPE_NOT_SUPPORTED=8 ZERO_PIVOT=9 NOT_SUPPORTED=10 INSUFFICIENT_RESOURCES=11",
    )


class CuSolverError(CudaLibraryError):
    """A call of cuSOLVER has failed."""

    NAMES = _numbered(
        "CUSOLVER_STATUS",
        "SUCCESS=0 NOT_INITIALIZED=1 ALLOC_FAILED=2 INVALID_VALUE=3 ARCH_MISMATCH=4 MAPPING_ERROR=5 EXECUTION_FAILED=6 "
        "INTERNAL_ERROR=7 MATRIX_TYPE_NOT_SUPPORTED=8 NOT_SUPPORTED=9 ZERO_PIVOT=10 INVALID_LICENSE=11",
    )


__all__ = [
    "CuBLASError", "CuFFTError", "CuRandError", "CuSolverError", "CuSparseError", "CudaAPIError", "CudaLibraryError",
    "CudaSupportError",
]  # fmt: skip
public(globals())
