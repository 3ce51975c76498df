"""`fuse`: functions of arrays as one kernel. All operations here are fused, so the decorator only names it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


class Fusion:
    """A function whose operations on arrays are compiled together when a value is needed."""

    def __init__(self, function: Callable[..., Any], kernel_name: str | None = None) -> None:
        self.func = function
        self.kernel_name = kernel_name or function.__name__
        functools.update_wrapper(self, function)

    def __repr__(self) -> str:
        return f"<Fusion '{self.kernel_name}'>"

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self.func(*given, **named)

    def clear_cache(self) -> None:
        """Nothing is kept here: compiled code is kept by its structure."""


def fuse(*args: Any, **kwargs: Any) -> Any:
    """Decorates a function of arrays, plainly or with `kernel_name=`."""
    name = kwargs.pop("kernel_name", None)
    if kwargs or len(args) > 1:
        raise TypeError("fuse takes a function or the keyword kernel_name")
    if args and callable(args[0]):
        return Fusion(args[0], name)
    if args:
        raise TypeError("fuse takes a function or the keyword kernel_name")
    return lambda f: Fusion(f, name)


__all__ = ["Fusion", "fuse"]
