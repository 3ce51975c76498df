"""Functions to be measured, each with its arguments."""

from __future__ import annotations

import linecache
import math
from collections.abc import Callable
from typing import Any

import numpy as np


class Collection:
    """Functions of one kind: name, function, arguments and options of `njit`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.functions: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = []

    def function(self, *args: Any, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Takes the decorated function, to be called with `args`."""

        def take(f: Callable[..., Any]) -> Callable[..., Any]:
            self.functions.append((f, args, options))
            return f

        return take

    def expression(self, name: str, parameters: str, text: str, *args: Any, **options: Any) -> None:
        """Takes a function that returns an expression of its parameters."""
        source = f"def {name}({parameters}):\n    return {text}\n"
        file = f"<{self.name}: {name}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        names: dict[str, Any] = {"np": np, "math": math}
        exec(compile(source, file, "exec"), names)
        self.functions.append((names[name], args, options))
