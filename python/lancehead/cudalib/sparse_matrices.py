"""Sparse matrices on a device, of those of SciPy."""

from __future__ import annotations

import importlib
from typing import Any, TypeVar

import numpy as np

from lancehead.cuda import to_device

_Self = TypeVar("_Self", bound="CudaSparseMatrix")


class CudaSparseMatrix:
    """Values, indices and pointers on a device, as the attributes `data`, `indices` and `indptr`."""

    #: The name of SciPy's class.
    KIND = ""

    def from_host_matrix(self: _Self, matrix: Any, stream: Any = 0) -> _Self:
        """Copies a matrix of SciPy."""
        if np.prod(matrix.shape, dtype=object) and max(*matrix.shape, matrix.nnz) >= 2**31:
            raise ValueError(f"a matrix of shape {matrix.shape} has indices that int32 does not hold")
        indices, pointers = (np.ascontiguousarray(a, np.int32) for a in (matrix.indices, matrix.indptr))
        data = np.ascontiguousarray(matrix.data)
        return self.from_attributes(
            matrix.dtype, matrix.shape, matrix.nnz, *(to_device(a, stream=stream) for a in (data, indices, pointers))
        )

    def from_attributes(self: _Self, dtype: Any, shape: Any, nnz: int, data: Any, indices: Any, indptr: Any) -> _Self:
        """Takes arrays that are on a device already."""
        self.dtype, self.shape, self.ndim, self.nnz = np.dtype(dtype), tuple(shape), len(shape), int(nnz)
        self.data, self.indices, self.indptr = data, indices, indptr
        return self

    def copy_to_host(self, stream: Any = 0) -> Any:
        """A matrix of SciPy."""
        parts = tuple(a.copy_to_host(stream=stream) for a in (self.data, self.indices, self.indptr))
        return getattr(_scipy(), self.KIND)(parts, shape=self.shape)


class CudaBSRMatrix(CudaSparseMatrix):
    """A matrix of blocks, of the shape `blocksize`."""

    KIND = "bsr_matrix"

    def from_host_matrix(self, matrix: Any, stream: Any = 0) -> CudaBSRMatrix:
        """Copies a matrix of SciPy."""
        super().from_host_matrix(matrix, stream)
        self.blocksize = matrix.blocksize
        return self


class CudaCSCMatrix(CudaSparseMatrix):
    """A matrix by columns."""

    KIND = "csc_matrix"


class CudaCSRMatrix(CudaSparseMatrix):
    """A matrix by rows."""

    KIND = "csr_matrix"


def _scipy() -> Any:
    return importlib.import_module("scipy.sparse")


def bsr_matrix(*args: Any, **kws: Any) -> CudaBSRMatrix:
    """A matrix of blocks on the device, by the arguments of SciPy's function.

    >>> cusparse.bsr_matrix(np.eye(4), blocksize=(2, 2)).indices.copy_to_host()
    array([0, 1], dtype=int32)
    """
    return CudaBSRMatrix().from_host_matrix(_scipy().bsr_matrix(*args, **kws))


def csc_matrix(*args: Any, **kws: Any) -> CudaCSCMatrix:
    """A matrix by columns on the device, by the arguments of SciPy's function.

    >>> cusparse.csc_matrix(np.eye(3)).copy_to_host().toarray()[0]
    array([1., 0., 0.])
    """
    return CudaCSCMatrix().from_host_matrix(_scipy().csc_matrix(*args, **kws))


def csr_matrix(*args: Any, **kws: Any) -> CudaCSRMatrix:
    """A matrix by rows on the device, by the arguments of SciPy's function.

    >>> cusparse.csr_matrix(np.eye(3)).nnz
    3
    """
    return CudaCSRMatrix().from_host_matrix(_scipy().csr_matrix(*args, **kws))
