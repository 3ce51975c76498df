"""Signatures of the library's functions of NumPy; those of NumPy where an operation has no text in the library."""

from __future__ import annotations

import functools
import importlib
import inspect
from typing import Any

import numpy as np


@functools.cache
def parameters(name: str, home: str) -> list[inspect.Parameter]:
    """Parameters but for a method's object, or one of any kind where nothing tells."""
    for owner in owners(home):
        function = getattr(owner, name.rpartition(".")[2], None)
        if function is None:
            continue
        try:
            found = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            continue
        return found[1:] if home == "ndarray" else found
    return [inspect.Parameter("x", inspect.Parameter.POSITIONAL_ONLY)]


def owners(home: str) -> list[Any]:
    """The library's module or class, then NumPy's."""
    if home == "ndarray":
        return [importlib.import_module("lancehead.lib.numpy").ndarray, np.ndarray]
    return [importlib.import_module(f"lancehead.lib.{home}"), importlib.import_module(home)]
