"""Sparse matrices: the names of `lancehead.sparse`."""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        found = importlib.import_module("lancehead.sparse")
    except ImportError as e:
        raise AttributeError(f"{name}: this version of lancehead has no sparse matrices") from e
    return getattr(found, name)


def __dir__() -> list[str]:
    return dir(importlib.import_module("lancehead.sparse"))
