"""Operations on devices: how each is computed, and the text of the elements that kernels compute.

An element of an operation is computed from elements of its operands at an index that follows from its own, so that
operations without memory of their own become part of the kernel that needs their elements. An index is the place in
row-major order, or a place along each axis; either follows from the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from lancehead.xp import drawing, dtypes, selecting
from lancehead.xp import functions as of
from lancehead.xp.devices import is_gpu
from lancehead.xp.graph import ARRAY, TRANSFER, Name, Node, name_of
from lancehead.xp.rows import Element, How


def how(node: Node) -> How:
    """How a node is computed on a device. Nothing else decides whether an operation runs on the host."""
    if node.inputs and node.inputs[0].parts:
        return How.PART
    if node.dtype.fields is not None or any(n.dtype.fields is not None for n in node.inputs):
        return How.HOST
    row = node.op.row
    if row.is_real and node.inputs[0].dtype in dtypes.COMPLEX:
        return How.HOST
    return row.how if row.element is None else How.FUSED


def check(node: Node) -> None:
    """Raises NotImplementedError for an operation on a GPU that has no kernel."""
    if how(node) is How.HOST and node.op is not ARRAY and node.op is not TRANSFER and is_gpu(node.device):
        raise NotImplementedError(
            f"{node.op.name} has no kernel for {node.device}; x.to_device('cpu') moves an array to the CPU, which "
            "computes it"
        )


class Conflict(Exception):
    """A kernel would read an element that another thread of it computes."""


class Index(NamedTuple):
    """Where an element is in a shape: its place in row-major order, or the places along the axes."""

    shape: tuple[int, ...]
    flat: str | None = None
    multi: tuple[str, ...] | None = None


class Places(NamedTuple):
    """The nodes of a plan by numbers, as regions have them, their shapes by numbers, and those with memory."""

    place: dict[Node, int]
    shape: dict[tuple[int, ...], int]
    stored: set[Node]


class Code:
    """The lines that compute elements, and the arguments that they need."""

    def __init__(self, places: Places, depth: int = 1) -> None:
        self.places = places
        self.lines: list[str] = []
        #: Names of arguments by what they are.
        self.arguments: dict[Any, str] = {}
        #: Nodes whose elements this kernel computes and stores.
        self.group: set[Node] = set()
        self.known: dict[Any, Any] = {}
        self.depth = depth
        self.count = 0

    def argument(self, *key: Any) -> str:
        """The name of an argument: what it is of which node or shape."""
        return self.arguments.setdefault(key, f"a{len(self.arguments)}")

    def add(self, line: str) -> None:
        """Adds a line."""
        self.lines.append("    " * self.depth + line)

    def let(self, text: str) -> str:
        """A new name for what a text gives."""
        name = self.name()
        self.add(f"{name} = {text}")
        return name

    def name(self) -> str:
        """A new name."""
        self.count += 1
        return f"v{self.count}"

    def extent(self, shape: tuple[int, ...], k: int) -> str:
        """The name of an extent."""
        return self.argument("extent", self.places.shape[shape], k)

    # --- indices -----------------------------------------------------------------------------------------------------
    def flat(self, index: Index) -> str:
        """The place in row-major order."""
        if index.flat is not None:
            return index.flat
        assert index.multi is not None, "an index has one form"
        key = ("flat", index.shape, index.multi)
        if key not in self.known:
            text = "0"
            for k, part in enumerate(index.multi):
                if text != "0":
                    text = f"({text}) * {self.extent(index.shape, k)}" + (f" + {part}" if part != "0" else "")
                else:
                    text = part
            self.known[key] = text if text.isidentifier() or text == "0" else self.let(text)
        found: str = self.known[key]
        return found

    def multi(self, index: Index) -> tuple[str, ...]:
        """The places along the axes."""
        if index.multi is not None:
            return index.multi
        assert index.flat is not None, "an index has one form"
        key = ("multi", index.shape, index.flat)
        if key not in self.known:
            self.known[key] = self.parts(index.flat, [self.extent(index.shape, k) for k in range(len(index.shape))])
        found: tuple[str, ...] = self.known[key]
        return found

    def parts(self, flat: str, extents: Sequence[str]) -> tuple[str, ...]:
        """The places along axes of a place in row-major order."""
        found, rest = [], flat
        for extent in reversed(extents[1:]):
            whole = self.let(f"{rest} // {extent}")
            found.append(self.let(f"{rest} - {whole} * {extent}"))
            rest = whole
        return (rest, *reversed(found)) if extents else ()

    # --- elements ----------------------------------------------------------------------------------------------------
    def load(self, node: Node, index: Index) -> str:
        """The name of an element of a node."""
        key = (node, index.flat or index.multi)
        found = self.known.get(key)
        if found is not None:
            name: str = found
            return name
        if node in self.group:
            raise Conflict
        if is_number(node):
            return self.argument("number", self.places.place[node])
        if node.value is not None or node in self.places.stored:
            name = self.let(f"{self.argument('array', self.places.place[node])}[{self.flat(index)}]")
        else:
            element = node.op.row.element
            assert element is not None, "others are stored"
            name = _TEXTS[element](self, node, index)
        self.known[key] = name
        return name

    def operand(self, node: Node, index: Index) -> str:
        """The name of an element of an operand at the index of the result, to which it broadcasts."""
        if node.shape == index.shape:
            return self.load(node, index)
        if all(n == 1 for n in node.shape):
            return self.load(node, Index(node.shape, None, ("0",) * len(node.shape)))
        parts = self.multi(index)[len(index.shape) - len(node.shape) :]
        multi = tuple("0" if n == 1 else part for n, part in zip(node.shape, parts, strict=True))
        return self.load(node, Index(node.shape, None, multi))


def is_number(node: Node) -> bool:
    """Whether a node is a number of the program, or an array of the host's without axes: an argument by value."""
    return node.value is not None and not node.shape and isinstance(node.value, (np.ndarray, np.generic))


def cast(dtype: np.dtype[Any], text: str, known: np.dtype[Any] | None = None) -> str:
    """The text of an element as a type."""
    # NumPy takes None for a type, too.
    if known is not None and known == dtype:
        return text
    return f"({text}) != 0" if dtype == dtypes.bool and known is not None else f"{of.typed(dtype)}({text})"


def rounded(dtype: np.dtype[Any], text: str) -> str:
    """The text of a number that may be a product, which is rounded before it is added to something, as on the host.

    Kernels round a product and the sum that it is for once. This sum leaves each number as it is, and costs nothing.
    """
    return f"{text} + {of.typed(dtype)}(-0.0)" if dtype.kind == "f" else text


def _ufunc(code: Code, node: Node, index: Index) -> str:
    # A number of NumPy's counts with its type, which an argument of a kernel does not show.
    known = {n.dtype for n in node.inputs}
    texts = [(n, code.operand(n, index)) for n in node.inputs]
    names = [cast(n.dtype, text) if len(known) > 1 and is_number(n) else text for n, text in texts]
    text = cast(node.dtype, f"np.{node.op.name}({', '.join(names)})")
    return code.let(rounded(node.dtype, text) if node.op.row.is_product else text)


def _astype(code: Code, node: Node, index: Index) -> str:
    (source,) = node.inputs
    return code.let(cast(node.dtype, code.load(source, index), source.dtype))


def _part(code: Code, node: Node, index: Index) -> str:
    return code.let(f"{code.load(node.inputs[0], index)}.{node.op.name}")


def _where(code: Code, node: Node, index: Index) -> str:
    m, a, b = [code.operand(n, index) for n in node.inputs]
    return code.let(f"{a} if {m} else {b}")


def function_of(name: Name) -> Name:
    """The name of the compiled function of numbers that a ufunc of `map` has."""
    found: Name = name.content[0]
    return found


def _map(code: Code, node: Node, index: Index) -> str:
    names = [code.operand(n, index) for n in node.inputs]
    return code.let(rounded(node.dtype, cast(node.dtype, f"{function_of(node.op.static[0])}({', '.join(names)})")))


def _full(code: Code, node: Node, index: Index) -> str:
    return code.argument("dynamic", code.places.place[node], 1)


def _counting(code: Code, node: Node, index: Index) -> str:
    return code.let(f"{code.argument('dynamic', code.places.place[node], 0)} + {code.flat(index)}")


def strided(code: Code, node: Node, multi: Sequence[str]) -> str:
    """The place in the memory of an array of an element of a view, whose facts a node has."""
    place = code.places.place[node]
    terms = [code.argument("dynamic", place, 0)]
    terms += [f"{part} * {code.argument('step', place, k)}" for k, part in enumerate(multi) if part != "0"]
    return code.let(" + ".join(terms))


def _view(code: Code, node: Node, index: Index) -> str:
    (owner,) = node.inputs
    return code.load(owner, Index(owner.shape, strided(code, node, code.multi(index))))


def _reshape(code: Code, node: Node, index: Index) -> str:
    (source,) = node.inputs
    return code.load(source, Index(source.shape, code.flat(index)))


def _concat(code: Code, node: Node, index: Index) -> str:
    k = node.op.static[0]
    multi = code.multi(index)
    out, stop, at = code.name(), "0", multi[k]
    firsts, stops = [], []
    for n in node.inputs:
        firsts.append(stop)
        stop = code.let(f"{stop} + {code.extent(n.shape, k)}")
        stops.append(stop)
    known = code.known
    for i, n in enumerate(node.inputs):
        is_last = i == len(node.inputs) - 1
        code.add(
            "else:" if is_last and i else f"{'elif' if i else 'if'} {at} < {stops[i]}:" if not is_last else "if 1:"
        )
        code.depth += 1
        code.known = dict(known)
        part = code.let(f"{at} - {firsts[i]}")
        code.add(f"{out} = {code.load(n, Index(n.shape, None, (*multi[:k], part, *multi[k + 1 :])))}")
        code.depth -= 1
    code.known = known
    return out


def _counted(code: Code, place: str, extent: str) -> str:
    # Negative places count from the end.
    return code.let(f"{place} + {extent} if {place} < 0 else np.int64({place})")


def _at_place(code: Code, node: Node, index: Index) -> str:
    source, places = node.inputs
    return code.load(source, Index(source.shape, code.load(places, index)))


def _of_row(code: Code, node: Node, index: Index) -> str:
    source, places = node.inputs
    first, *rest = code.multi(index)
    place = _counted(code, code.load(places, Index(places.shape, first)), code.extent(source.shape, 0))
    return code.load(source, Index(source.shape, None, (place, *rest)))


def _along(code: Code, node: Node, index: Index) -> str:
    source, places = node.inputs
    k, multi = axis_of(node), code.multi(index)
    stop = k + len(places.shape)
    place = code.load(places, Index(places.shape, None, multi[k:stop]))
    place = _counted(code, place, code.extent(source.shape, k))
    return code.load(source, Index(source.shape, None, (*multi[:k], place, *multi[stop:])))


def _in_line(code: Code, node: Node, index: Index) -> str:
    source, places = node.inputs
    k, multi = axis_of(node), code.multi(index)
    place = _counted(code, code.load(places, index), code.extent(source.shape, k))
    return code.load(source, Index(source.shape, None, (*multi[:k], place, *multi[k + 1 :])))


def axis_of(node: Node) -> int:
    """The axis of an operation with one, the first if it has none."""
    static = [x for x in node.op.static if isinstance(x, int) and not isinstance(x, bool)]
    return static[0] if static else 0


def order_of(dtype: np.dtype[Any]) -> str:
    """The name of the function that says whether an element is before another one."""
    return name_of(selecting.before(dtype))


def _searchsorted(code: Code, node: Node, index: Index) -> str:
    line, values = node.inputs
    v, before = code.load(values, index), order_of(line.dtype)
    low, high, mid, known = code.let("0"), code.let(code.extent(line.shape, 0)), code.name(), code.known
    code.add(f"while {low} < {high}:")
    code.depth, code.known = code.depth + 1, dict(known)
    code.add(f"{mid} = ({low} + {high}) // 2")
    found = code.load(line, Index(line.shape, mid))
    is_left = node.op.static[0] == "left"
    code.add(f"if {f'{before}({found}, {v})' if is_left else f'not {before}({v}, {found})'}:")
    code.add(f"    {low} = {mid} + 1")
    code.add("else:")
    code.add(f"    {high} = {mid}")
    code.depth, code.known = code.depth - 1, known
    return low


def _stencil(code: Code, node: Node, index: Index) -> str:
    (source,) = node.inputs
    f, neighbours = node.op.static
    multi, names = code.multi(index), []
    for steps in neighbours:
        at = tuple(code.let(f"{m} + {step}") for m, step in zip(multi, steps, strict=True))
        names.append(code.load(source, Index(source.shape, None, at)))
    return code.let(rounded(node.dtype, cast(node.dtype, f"{f}({', '.join(names)})")))


def _random(code: Code, node: Node, index: Index) -> str:
    # Numbers depend on the call, the key and their places.
    place, flat = code.places.place[node], code.flat(index)
    given = [f"np.uint64({flat})", code.argument("dynamic", place, 0), code.argument("dynamic", place, 1)]
    name, *rest = node.op.static
    fill = name.of
    if fill is drawing.each:
        name = name_of(drawing.law_at)
        given = [*rest[:2], *given]
        given += [code.load(n, Index(n.shape, "0" if n.shape == (1,) else flat)) for n in node.inputs]
    elif fill in drawing.AT:
        name = name_of(drawing.AT[fill])
        # After the number of elements and the shape there are bounds.
        given = [*rest[:1], *given, *(code.argument("dynamic", place, k) for k in range(4, len(node.dynamic)))]
    else:
        name = function_of(name)
    return code.let(cast(node.dtype, f"{name}({', '.join(given)})"))


#: Names that texts of kernels have without an operation that keeps them.
_NAMES = [
    name_of(f)
    for f in (
        drawing.law_at, *drawing.AT.values(), selecting.plain_before, selecting.float_before, selecting.pair_before,
    )
]  # fmt: skip

_TEXTS: dict[Element, Callable[[Code, Node, Index], str]] = {
    Element.UFUNC: _ufunc,
    Element.CAST: _astype,
    Element.PART_OF_COMPLEX: _part,
    Element.CHOICE: _where,
    Element.MAPPED: _map,
    Element.CONSTANT: _full,
    Element.COUNTING: _counting,
    Element.VIEW: _view,
    Element.RESHAPED: _reshape,
    Element.JOINED: _concat,
    Element.AT_PLACE: _at_place,
    Element.OF_ROW: _of_row,
    Element.ALONG: _along,
    Element.IN_LINE: _in_line,
    Element.SEARCHED: _searchsorted,
    Element.STENCIL: _stencil,
    Element.RANDOM: _random,
}
