"""Sparse arrays by the names of `scipy.sparse`, whose loops are compiled.

>>> A = csr_array([[0.0, 2.0], [3.0, 0.0]])
>>> A @ np.array([1.0, 10.0])
array([20.,  3.])
"""

import importlib
from typing import Any, NoReturn

from lancehead.options import missing, public
from lancehead.sparse import compiled as compiled
from lancehead.sparse import csgraph as csgraph
from lancehead.sparse.arrays import bsr_array, coo_array, csc_array, csr_array
from lancehead.sparse.base import SparseArray
from lancehead.sparse.building import (
    block_array,
    block_diag,
    bmat,
    diags,
    diags_array,
    eye,
    eye_array,
    find,
    get_index_dtype,
    hstack,
    identity,
    issparse,
    kron,
    kronsum,
    load_npz,
    permute_dims,
    rand,
    random,
    random_array,
    save_npz,
    spdiags,
    swapaxes,
    tril,
    triu,
    vstack,
)  # fmt: skip
from lancehead.sparse.formats import SparseEfficiencyWarning, SparseWarning
from lancehead.sparse.matrices import (
    bsr_matrix,
    coo_matrix,
    csc_matrix,
    csr_matrix,
    dia_matrix,
    dok_matrix,
    isspmatrix,
    isspmatrix_bsr,
    isspmatrix_coo,
    isspmatrix_csc,
    isspmatrix_csr,
    isspmatrix_dia,
    isspmatrix_dok,
    isspmatrix_lil,
    lil_matrix,
    sparray,
    spmatrix,
)
from lancehead.sparse.others import dia_array, dok_array, lil_array
from lancehead.sparse.products import Semiring, matmul


def on_device(a: SparseArray) -> Any:
    """A copy of a sparse matrix in a device's memory, for products with arrays that are there."""
    # Without such products CUDA is not loaded.
    return importlib.import_module("lancehead.sparse.device").DeviceMatrix(a)


_INTERNAL = "it is a private module of SciPy's that its own releases remove"
#: Names of `scipy.sparse` that are not here, with the reasons.
REFUSED = {
    "linalg": "solvers and factors of sparse matrices are not compiled here; scipy.sparse.linalg takes A.to_scipy()",
    "expand_dims": "arrays have at most two dimensions; A.reshape(1, -1) makes a row of a line",
    "safely_cast_index_arrays": "constructors cast index arrays and say which does not fit",
    **dict.fromkeys(
        "base bsr compressed construct coo csc csr data dia dok extract lil sparsetools sputils".split(), _INTERNAL
    ),
}


def __getattr__(name: str) -> NoReturn:
    reason = f": {REFUSED[name]}" if name in REFUSED else ""
    raise missing(__name__, name, reason)


__all__ = [
    "Semiring", "SparseArray", "SparseEfficiencyWarning", "SparseWarning", "block_array", "block_diag", "bmat",
    "bsr_array", "bsr_matrix", "coo_array", "coo_matrix", "csc_array", "csc_matrix", "csgraph", "csr_array",
    "csr_matrix", "dia_array", "dia_matrix", "diags", "diags_array", "dok_array", "dok_matrix", "eye", "eye_array",
    "find", "get_index_dtype", "hstack", "identity", "issparse", "isspmatrix", "isspmatrix_bsr", "isspmatrix_coo",
    "isspmatrix_csc", "isspmatrix_csr", "isspmatrix_dia", "isspmatrix_dok", "isspmatrix_lil", "kron", "kronsum",
    "lil_array", "lil_matrix", "load_npz", "matmul", "on_device", "permute_dims", "rand", "random", "random_array",
    "save_npz", "sparray", "spdiags", "spmatrix", "swapaxes", "tril", "triu", "vstack",
]  # fmt: skip
public(globals())
