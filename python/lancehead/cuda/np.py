"""Types of NumPy's dtypes, where numba-cuda has them."""

from __future__ import annotations

from types import SimpleNamespace

from lancehead.options import public
from lancehead.types import from_dtype

__all__ = ["numpy_support"]
public(globals())

numpy_support = SimpleNamespace(from_dtype=from_dtype)
