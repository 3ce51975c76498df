"""Functions of NumPy over the memory of arrays, for what has no kernel: the host computes them, and results go back.

On the CPU device they read the arrays' memory itself; from a GPU and to it there are copies.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lancehead.cupy import layout
from lancehead.options import missing
from lancehead.xp import arrays as lazy

#: The class of arrays; its module sets it.
ARRAY: list[Any] = [lazy.ndarray]


def wrap(x: lazy.ndarray) -> Any:
    """A new array of `lancehead.xp` as one of this interface."""
    x.__class__ = ARRAY[0]
    return x


def array_of(node: Any) -> Any:
    """An array of this interface with a node of its own."""
    x = object.__new__(ARRAY[0])
    x._node, x._view = node, None
    return x


def given(x: Any) -> Any:
    """An argument for a function of NumPy; TypeError for arrays of the host."""
    if isinstance(x, lazy.ndarray):
        return layout.host(x)
    if type(x) is np.ndarray:
        raise TypeError(f"Unsupported type {np.ndarray}: arrays of NumPy become arrays of the device by asarray(x)")
    if type(x) in (list, tuple):
        return type(x)(map(given, x))
    return x


def result(x: Any) -> Any:
    """The result of a function of NumPy, with arrays of the device in place of arrays and scalars of NumPy."""
    if isinstance(x, (np.ndarray, np.generic)):
        return wrap(layout.placed(x))
    if isinstance(x, tuple):
        parts = [result(v) for v in x]
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    return [result(v) for v in x] if type(x) is list else x


def call(f: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """The result of a function of NumPy for arrays of the device. `out` gets the values, with a conversion."""
    out = options.pop("out", None)
    values = tuple(given(x) for x in arguments)
    named = {k: given(x) for k, x in options.items()}
    with np.errstate(all="ignore"):
        if out is None:
            return result(f(*values, **named))
        if not isinstance(out, lazy.ndarray):
            raise TypeError(f"out is an array of the device, not {type(out).__name__}")
        there = np.array(layout.host(out), copy=True, order="C")
        f(*values, **named, out=there)
    out[...] = result(there)
    return out


def hosted(f: Callable[..., Any], name: str | None = None, drop: Sequence[str] = ()) -> Callable[..., Any]:
    """A function of NumPy for arrays of the device; options named in `drop` are not handed on."""

    def g(*arguments: Any, **options: Any) -> Any:
        for k in drop:
            options.pop(k, None)
        return call(f, *arguments, **options)

    g.__name__ = g.__qualname__ = name or f.__name__
    g.__doc__ = f"`numpy.{g.__name__}` for arrays of the device, computed by the host."
    return g


def changing(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy that changes its first argument."""

    def g(a: Any, *arguments: Any, **options: Any) -> None:
        if not isinstance(a, lazy.ndarray):
            raise TypeError(f"an array of the device is needed, not {type(a).__name__}")
        there = np.array(layout.host(a), copy=True)
        f(there, *[given(x) for x in arguments], **{k: given(x) for k, x in options.items()})
        a[...] = result(there)

    g.__name__ = g.__qualname__ = f.__name__
    g.__doc__ = f"`numpy.{f.__name__}` for an array of the device, which it changes; computed by the host."
    return g


def of_module(module: str, name: str) -> Any:
    """A function of another library for arrays of the device, computed by the host; other names are its own."""
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        served = importlib.import_module(module)
    except ImportError as e:
        raise AttributeError(f"{name}: {module} is not installed") from e
    if not hasattr(served, name):
        raise missing(f"lancehead.cupyx.{module}", name, calls=2)
    found = getattr(served, name)
    if not callable(found) or isinstance(found, type):
        return found
    return hosted(found, name)


def names_of(module: str) -> list[str]:
    """The public names of another library's module; none if it is not installed."""
    try:
        return sorted({*importlib.import_module(module).__all__})
    except ImportError:
        return []


__all__ = ["ARRAY", "array_of", "call", "changing", "given", "hosted", "names_of", "of_module", "result", "wrap"]
