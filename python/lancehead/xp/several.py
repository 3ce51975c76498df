"""Primitives whose functions give several values: their results are tuples of arrays.

The type of a value is that of a number or a tuple of types of values. Compiled code has the same primitives, in the
library (`lib/lancehead/xp`); here regions call those.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lancehead import types
from lancehead.caches import Cache
from lancehead.xp import functions as of
from lancehead.xp.arrays import ndarray, wrap
from lancehead.xp.elementwise import as_node, operands
from lancehead.xp.functions import Zipped
from lancehead.xp.graph import Node, made

#: A data type, or a tuple of such, to any depth.
Kind = Any

_KINDS: Cache[Any, Any] = Cache(4096)


def _type(kind: Kind) -> Any:
    return types.Tuple(tuple(map(_type, kind))) if isinstance(kind, tuple) else of.TYPES[kind]


def _kind(t: Any, f: Any) -> Kind:
    found = of.element_type(str(t))
    if found is not None:
        return found
    if "Tuple" not in str(t) or not t.types:
        raise TypeError(f"elements are numbers, truth values or tuples of these; `{f.__name__}` gives {t}")
    return tuple(_kind(x, f) for x in t.types)


def result(f: Any, given: Sequence[Kind]) -> Kind:
    """The type of a function's results for values of types: it is compiled for them, and does not run.

    Raises TypeError if they are no numbers, truth values or tuples of these, and what the compiler says of it.
    """
    key = (id(f), *given)
    known = _KINDS.get(key)
    if known is None:
        own = of.asked(f, len(given))
        # The function stays, so that its identity stays its.
        known = _KINDS[key] = _kind(own.compile(tuple(map(_type, given))).return_type, f), f
    found: Kind = known[0]
    return found


def joined(a: Kind, b: Kind) -> Kind:
    """The least type that holds values of both. TypeError for tuples of different lengths, or beside numbers."""
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(map(joined, a, b))
    if isinstance(a, tuple) or isinstance(b, tuple):
        raise TypeError("tuples of the same lengths are accumulated, not beside numbers or others")
    return np.promote_types(a, b)


def accumulated(op: Any, kind: Kind) -> Kind:
    """The least type that holds values of a type and an operator's results for what it holds."""
    while (wider := joined(kind, result(op, (kind, kind)))) != kind:
        kind = wider
    return kind


def is_several(x: Any) -> bool:
    """Whether elements or an initial value are tuples."""
    return isinstance(x, (Zipped, tuple))


def elements(x: Any) -> Kind:
    """The type of the elements of an array, or of several as one."""
    return tuple(map(elements, x.arrays)) if isinstance(x, Zipped) else x.dtype


def arrays(x: Any) -> list[Any]:
    """The arrays that are as one, in order."""
    return [a for part in x.arrays for a in arrays(part)] if isinstance(x, Zipped) else [x]


def shape_of(x: Any) -> tuple[int, ...]:
    """The one shape of an array, or of several as one; ValueError if they have several."""
    shapes = {a.shape for a in arrays(x)}
    if len(shapes) != 1:
        raise ValueError(f"arrays of one shape are needed, not of {sorted(shapes)}")
    return next(iter(shapes))


def initial(init: Any, dtype: np.dtype[Any]) -> Node | None:
    """The node of an initial value, a number or an array without axes; None for none. ValueError for other arrays."""
    if init is None:
        return None
    if isinstance(init, np.void):
        node = as_node(init)
    elif isinstance(init, np.generic):
        node = as_node(init.item(), init.dtype)
    else:
        node = as_node(init, None if isinstance(init, ndarray) else np.result_type(dtype, init))
    if node.shape:
        raise ValueError(f"an initial value is one number, not an array of shape {node.shape}")
    return node


class Text:
    """The text of a call, with the nodes of arrays and numbers in it."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []

    def array(self, x: Any) -> str:
        """The place of an array; of several as one a tuple of places."""
        if isinstance(x, Zipped):
            return f"({''.join(f'{self.array(a)}, ' for a in x.arrays)})"
        self.nodes.append(x if isinstance(x, Node) else as_node(x))
        return f"{{{len(self.nodes) - 1}}}"

    def initial(self, init: Any, kind: Kind) -> tuple[str, Kind]:
        """The place of an initial value beside elements of a type, and its type. TypeError for one of another form."""
        if init is None:
            return "None", kind
        if isinstance(init, tuple) != isinstance(kind, tuple) or isinstance(kind, tuple) and len(init) != len(kind):
            raise TypeError("an initial value has the form of the elements: a tuple of as many, or a number")
        if isinstance(init, tuple):
            parts = [self.initial(x, k) for x, k in zip(init, kind, strict=True)]
            return f"({''.join(f'{text}, ' for text, _ in parts)})", tuple(k for _, k in parts)
        node = initial(init, kind)
        assert node is not None, "there is one"
        return self.array(node), node.dtype

    def running(self, op: Any, init: Any, kind: Kind) -> tuple[Any, str, Kind]:
        """The compiled operator, the text of an initial value, and the type of what is accumulated of elements."""
        begin, first = self.initial(init, kind)
        op = of.binary(op)
        return op, begin, accumulated(op, joined(first, kind))


def call(name: str, text: Text, template: str, helper: Any, objects: Sequence[Any], shape: Any, kind: Kind) -> Any:
    """The results of a helper, whose places in a template follow those of the arrays: arrays of a shape, in a tuple."""
    k = len(text.nodes)
    names = ", ".join(f"{{{k + 1 + i}}}" for i in range(len(objects)))
    static = (f"{{{k}}}({names}, {template})",)
    whole = made(name, _filled, text.nodes, (), np.dtype(np.void), static=static, objects=(helper, *objects))
    parts: list[Node] = []

    def part(path: tuple[int, ...], kind: Kind) -> Any:
        if isinstance(kind, tuple):
            return tuple(part((*path, i), k) for i, k in enumerate(kind))
        parts.append(made(name, _part, (whole,), shape, kind, static=(path,), is_costly=True))
        return wrap(parts[-1])

    found = part((), kind)
    whole.parts = tuple(parts)
    return found


def _filled(*given: str) -> str:
    *names, template = given
    return template.format(*names)


def _part(whole: str, path: tuple[int, ...]) -> str:
    return whole + "".join(f"[{i}]" for i in path)


def elementwise(f: Any, given: Sequence[Any]) -> tuple[Any, list[Node], Kind]:
    """A function of elements, the nodes of its arrays, and the type of its results."""
    f, flat = of.flattened(f, given)
    nodes = operands(*flat)
    return f, nodes, result(f, [n.dtype for n in nodes])


__all__ = [
    "Kind", "Text", "accumulated", "arrays", "call", "elements", "elementwise", "initial", "is_several", "joined",
    "result", "shape_of",
]  # fmt: skip
