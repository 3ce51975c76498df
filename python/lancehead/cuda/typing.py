"""Types of values, where numba-cuda has them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from lancehead import _core
from lancehead.cuda.args import native
from lancehead.options import public

__all__ = ["signature", "typeof"]
public(globals())

signature = _core.Signature


def _typeof(value: Any, purpose: Any = None) -> _core.Type:
    """The type that a kernel sees an argument as."""
    return _core.typeof(native(value))


typeof = SimpleNamespace(typeof=_typeof)
