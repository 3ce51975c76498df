"""Types of values, where numba-cuda has them."""

from __future__ import annotations

from types import SimpleNamespace

from lancehead import _core

signature = _core.Signature
typeof = SimpleNamespace(typeof=_core.typeof)
