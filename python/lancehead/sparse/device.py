"""Products of sparse arrays with vectors and matrices in a device's memory, by a kernel.

>>> from lancehead import cuda
>>> A = DeviceMatrix([[0.0, 2.0], [3.0, 0.0]])
>>> (A @ cuda.to_device(np.array([1.0, 10.0]))).copy_to_host()
array([20.,  3.])
"""

# Bodies of kernels are typed when they are compiled.
# mypy: ignore-errors

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from lancehead import cuda
from lancehead.sparse import dtypes
from lancehead.sparse.conversions import sparse, to_csr
from lancehead.sparse.formats import Parts, rows_of

#: Threads of a block: rows, and columns of the result.
BLOCK = 32, 8


@cuda.jit
def _rows_by_matrix(parts, x, y):
    i, c = cuda.grid(2)
    if i < y.shape[0] and c < y.shape[1]:
        y[i, c] = 0
        total = y[i, c]
        for k in range(parts.indptr[i], parts.indptr[i + 1]):
            total += parts.data[k] * x[parts.indices[k], c]
        y[i, c] = total


class DeviceMatrix:
    """A matrix in compressed rows in a device's memory, as it was when it was copied there."""

    def __init__(self, a: Any) -> None:
        rows = to_csr(sparse(a))
        if len(rows._shape) != 2:
            raise ValueError(f"a device has matrices of two dimensions, not of {len(rows._shape)}")
        # Kernels look at no index: the arrays are looked at here.
        given = rows_of(rows)
        self.shape, self.dtype = rows._shape, given.data.dtype
        moved = (cuda.to_device(np.ascontiguousarray(x)) for x in (given.data, given.indices, given.indptr))
        self.parts = Parts(*moved, self.shape)

    def __matmul__(self, x: Any) -> Any:
        if not hasattr(x, "__cuda_array_interface__"):
            raise TypeError(f"the matrix is in a device's memory, and the {type(x).__name__} is not: move one of them")
        given = cuda.as_cuda_array(x)
        if given.ndim not in (1, 2) or given.shape[0] != self.shape[1]:
            raise ValueError(f"matmul: dimension mismatch of {self.shape} and {given.shape}")
        kind = dtypes.joined(self.dtype, dtypes.supported(given.dtype))
        width = 1 if given.ndim == 1 else given.shape[1]
        out = cuda.device_array((self.shape[0], width), kind)
        if out.size:
            grid = -(-self.shape[0] // BLOCK[0]), -(-width // BLOCK[1])
            _rows_by_matrix[grid, BLOCK](self.parts, given.reshape(given.shape[0], width), out)
        out = out.reshape(self.shape[0]) if given.ndim == 1 else out
        is_lazy = type(x).__module__.startswith("lancehead.xp")
        return importlib.import_module("lancehead.xp").asarray(out) if is_lazy else out


def matmul(a: Any, b: Any, semiring: Any) -> Any:
    """The product of a sparse array with an array in a device's memory, where the result is, too.

    Raises:
        TypeError: the dense array is the first one, or there is a semiring.
    """
    if semiring is not None or hasattr(a, "__cuda_array_interface__"):
        what = "in a semiring" if semiring is not None else "of a dense array and a sparse one"
        raise TypeError(f"products {what} are not computed on a device; copy the array to the host")
    return DeviceMatrix(a) @ b
