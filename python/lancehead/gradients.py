"""Derivatives of compiled functions: `grad`, `value_and_grad`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from lancehead.decorators import njit


def differentiate(f: Callable[..., Any], asked: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
    """In compiled code: the result of `f(*args)` and the adjoints of its arguments."""
    raise TypeError("`differentiate` has a meaning in compiled code only")


def chosen(adjoints: tuple[Any, ...]) -> Any:
    """In compiled code: the adjoints that are not `None`."""
    raise TypeError("`chosen` has a meaning in compiled code only")


def value_and_grad(fun: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Any:
    """A function that gives the result of `fun`, and its derivative with respect to one argument, or a tuple of those
    with respect to several.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    asked = _asked(argnums)
    if isinstance(argnums, int):
        number = argnums

        def derivative(*args):  # type: ignore[no-untyped-def]
            value, adjoints = differentiate(fun, asked, args)
            return value, adjoints[number]

    else:
        def derivative(*args):  # type: ignore[no-untyped-def]
            value, adjoints = differentiate(fun, asked, args)
            return value, chosen(adjoints)

    return njit(_named(derivative, fun))


def grad(fun: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Any:
    """The derivative of a function with a number as its result, with respect to one argument, or a tuple of those with
    respect to several.

    >>> grad(lambda x: x * x)(3.0)
    6.0
    """
    both = value_and_grad(fun, argnums)

    def derivative(*args):  # type: ignore[no-untyped-def]
        return both(*args)[1]

    return njit(_named(derivative, fun))


def _asked(argnums: int | tuple[int, ...]) -> tuple[Any, ...]:
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    if not numbers or min(numbers) < 0:
        raise ValueError("argnums are positions of arguments, from 0 on")
    return tuple(0 if i in numbers else None for i in range(max(numbers) + 1))


def _named(derivative: Any, fun: Any) -> Any:
    functools.update_wrapper(derivative, fun, assigned=("__name__", "__doc__"), updated=())
    del derivative.__wrapped__
    return derivative
