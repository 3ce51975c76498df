"""Exceptions and warnings, which are NumPy's."""

from __future__ import annotations

from numpy.exceptions import AxisError, ComplexWarning, RankWarning, TooHardError, VisibleDeprecationWarning

from lancehead.options import public

__all__ = ["AxisError", "ComplexWarning", "RankWarning", "TooHardError", "VisibleDeprecationWarning"]
public(globals())
