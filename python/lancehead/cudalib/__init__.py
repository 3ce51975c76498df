"""CUDA's libraries by the names of NumbaPro's and pyculib's: on a GPU NVIDIA's own, on the CPU device compiled code.

>>> from lancehead.cudalib import cufft
>>> float(cufft.fft_inplace(np.ones(4, np.complex64))[0].real)
4.0
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from lancehead.options import missing

if TYPE_CHECKING:
    from lancehead.cudalib import cublas as cublas
    from lancehead.cudalib import cufft as cufft
    from lancehead.cudalib import curand as curand
    from lancehead.cudalib import cusolver as cusolver
    from lancehead.cudalib import cusparse as cusparse
    from lancehead.cudalib import errors as errors
    from lancehead.cudalib import sorting as sorting

#: Modules, which are loaded when they are asked for; pyculib has other names for four of them.
_MODULES = ("cublas", "cufft", "curand", "cusolver", "cusparse", "errors", "sorting")
_NAMES = {**{name: name for name in _MODULES}, "blas": "cublas", "fft": "cufft", "rand": "curand", "sparse": "cusparse"}

__all__ = ["cublas", "cufft", "curand", "cusolver", "cusparse", "errors", "sorting"]


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return importlib.import_module(f"lancehead.cudalib.{_NAMES[name]}")
    raise missing(__name__, name)


def __dir__() -> list[str]:
    return list(_NAMES)
