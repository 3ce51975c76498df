"""Overloads that need to know values: they say so by `SentryLiteralArgs`, or by raising `ForceLiteralArg`."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

from lancehead import errors, types
from lancehead.decorators import literally


class BoundLiteralArgs(NamedTuple):
    """Names of arguments that must be literals, and the parameters that they are among.

    >>> BoundLiteralArgs(inspect.signature(lambda x, n: x), ["n"]).bind(types.int64, types.literal(2))
    """

    pysig: inspect.Signature
    literal_args: Sequence[str]

    def bind(self, *args: Any, **kwargs: Any) -> None:
        """Looks at the types of a call's arguments.

        Raises:
            ForceLiteralArg: one of those named is no literal.
        """
        bound = self.pysig.bind(*args, **kwargs)
        names = list(self.pysig.parameters)
        wanted = [n for n in self.literal_args if not isinstance(bound.arguments.get(n), types.Literal)]
        if wanted := [n for n in wanted if n in bound.arguments]:
            raise errors.ForceLiteralArg({names.index(n) for n in wanted})


class SentryLiteralArgs(NamedTuple):
    """Names of arguments that an overload needs the values of.

    >>> from lancehead import njit
    >>> from lancehead.extending import overload
    >>> def power(x, n): ...
    >>> @overload(power)
    ... def power_of(x, n):
    ...     SentryLiteralArgs(["n"]).for_function(power_of).bind(x, n)
    ...     return (lambda x, n: x) if n.literal_value == 1 else (lambda x, n: x * x)
    >>> njit(lambda x: power(x, 2))(3)
    9
    """

    literal_args: Sequence[str]

    def for_function(self, func: Any) -> BoundLiteralArgs:
        """With the parameters of a function."""
        return self.for_pysig(inspect.signature(func))

    def for_pysig(self, pysig: inspect.Signature) -> BoundLiteralArgs:
        """With parameters."""
        return BoundLiteralArgs(pysig, self.literal_args)


def sentry_literal_args(pysig: inspect.Signature, literal_args: Sequence[str], args: Any, kwargs: Any) -> None:
    """`SentryLiteralArgs(literal_args).for_pysig(pysig).bind(*args, **kwargs)`.

    >>> sentry_literal_args(inspect.signature(lambda x, n: x), ["n"], (types.int64, types.int64), {})
    Traceback (most recent call last):
    lancehead.errors.ForceLiteralArg: Pseudo-exception to force literal arguments in the dispatcher
    """
    BoundLiteralArgs(pysig, literal_args).bind(*args, **kwargs)


def asking(key: Any, choose: Any, wanted: frozenset[int], given: tuple[Any, ...]) -> Any:
    """A function in place of an overload that has raised `ForceLiteralArg`: it makes the values known and calls what is
    overloaded again; `None` if they are known already."""
    parameters = list(inspect.signature(choose).parameters.values())
    if any(i >= len(parameters) or i < len(given) and isinstance(given[i], types.Literal) for i in wanted):
        return None
    names = [p.name for p in parameters]
    passed = [f"_literally({n})" if i in wanted else n for i, n in enumerate(names)]
    call = f"{names[0]}.{key}({', '.join(passed[1:])})" if isinstance(key, str) else f"_key({', '.join(passed)})"
    heads = [n if p.default is p.empty else f"{n}=_defaults[{i}]" for i, (n, p) in enumerate(zip(names, parameters))]
    space = {"_literally": literally, "_key": key, "_defaults": [p.default for p in parameters]}
    return eval(f"lambda {', '.join(heads)}: {call}", space)


__all__ = ["BoundLiteralArgs", "SentryLiteralArgs", "sentry_literal_args"]
