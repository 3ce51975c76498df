"""Exceptions and warnings, which are NumPy's."""

from __future__ import annotations

from numpy.exceptions import AxisError, ComplexWarning, RankWarning, TooHardError, VisibleDeprecationWarning

__all__ = ["AxisError", "ComplexWarning", "RankWarning", "TooHardError", "VisibleDeprecationWarning"]
__dir__ = __all__.copy
