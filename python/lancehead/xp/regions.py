"""Evaluation: the nodes behind a value that have none yet form a region, which is compiled as one function.

The function's text is made of NumPy calls, and `njit` compiles it once for each structure and types. The compiler's
own passes fuse what it computes. A structure is which operations there are and how they are joined; equal operations on
equal operands are one, and a store into memory that nothing else reads happens in place.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Sequence
from operator import attrgetter
from sys import getrefcount
from typing import Any

import numpy as np

from lancehead.decorators import njit
from lancehead.xp.graph import NAMES, Kind, Node, Op
from lancehead.xp.places import add_note, add_note_of_region


@njit
def strided(a, offset, shape, strides):  # type: ignore[no-untyped-def]
    """A view of an array's memory in row-major order: first element, extents, strides in bytes."""
    return np.lib.stride_tricks.as_strided(a.reshape(-1)[offset:], shape, strides)


@njit
def stored(a, x, offset, shape, strides):  # type: ignore[no-untyped-def]
    """A copy of an array with a value in a view of it."""
    out = a.copy()
    np.lib.stride_tricks.as_strided(out.reshape(-1)[offset:], shape, strides)[...] = x
    return out


@njit
def stored_here(a, x, offset, shape, strides):  # type: ignore[no-untyped-def]
    """The array with a value in a view of it."""
    out = np.ascontiguousarray(a)
    np.lib.stride_tricks.as_strided(out.reshape(-1)[offset:], shape, strides)[...] = x
    return out


@njit
def scattered(a, places, x):  # type: ignore[no-untyped-def]
    """A copy of an array with values at places, which count its elements in row-major order."""
    return scattered_here(a.copy(), places, x)


@njit
def scattered_here(a, places, x):  # type: ignore[no-untyped-def]
    """The array with values at places, which count its elements in row-major order."""
    out = np.ascontiguousarray(a)
    flat = out.reshape(-1)
    values = np.broadcast_to(x, places.shape)
    for i, place in np.ndenumerate(places):
        flat[place] = values[i]
    return out


NAMES.update({f.__name__: f for f in (strided, stored, stored_here, scattered, scattered_here)})


class Region:
    """A structure and its compiled function."""

    __slots__ = ("first", "function", "lines", "text")

    def __init__(self, entries: Sequence[tuple[Op, tuple[int, ...], tuple[int, ...]]], kept: Sequence[int]) -> None:
        first, kept = _distinct(entries, kept)
        here = _stores_in_place(entries, first, kept)
        #: For each node the first one that computes the same.
        self.first = first
        #: The line of each node's operation; None for one that an earlier node has computed.
        self.lines: list[str | None] = []
        arrays, numbers = 0, 0
        for i, (op, inputs, dynamic) in enumerate(entries):
            arrays = max([arrays, *(-k for k in inputs)])
            numbers = max([numbers, *(k + 1 for k in dynamic)])
            if first[i] != i:
                self.lines.append(None)
                continue
            names = [f"t{first[k]}" if k >= 0 else f"a{-k - 1}" for k in inputs] + [f"s{k}" for k in dynamic]
            self.lines.append(f"t{i} = {op.text(names, i in here)}")
        parameters = [f"a{i}" for i in range(arrays)] + [f"s{i}" for i in range(numbers)]
        body = [line for line in self.lines if line is not None]
        body.append(f"return ({', '.join(f't{i}' for i in kept)},)")
        self.text = f"def region({', '.join(parameters)}):\n    " + "\n    ".join(body) + "\n"
        self.function = _compiled(self.text)


_numbered = itertools.count()


def _compiled(text: str) -> Any:
    names = dict(NAMES, np=np)
    # Reports and tracebacks find the text by the name of its file.
    exec(compile(text, f"<lancehead.xp {next(_numbered)}>", "exec"), names)
    return njit(names["region"], error_model="numpy")


def _distinct(entries: Any, kept: Sequence[int]) -> tuple[list[int], list[int]]:
    # For each node the first one that computes the same. All operations are pure, stores too.
    found: dict[Any, int] = {}
    first: list[int] = []
    for i, (op, inputs, dynamic) in enumerate(entries):
        key = op, tuple(first[k] if k >= 0 else k for k in inputs), dynamic
        first.append(found.setdefault(key, i))
    return first, [first[i] for i in kept]


def _stores_in_place(entries: Any, first: list[int], kept: Sequence[int]) -> set[int]:
    """Stores whose array nobody reads afterwards, so that its memory may become the result."""
    last_use = [0] * len(entries)
    for i, (_, inputs, _dynamic) in enumerate(entries):
        if first[i] == i:
            for k in inputs:
                if k >= 0:
                    last_use[first[k]] = i
    for i in kept:
        last_use[i] = len(entries)
    # The operations whose memory a result may lie in; -1 stands for arrays of the program.
    memory: list[set[int]] = []
    here = set()
    for i, (op, inputs, _dynamic) in enumerate(entries):
        roots: set[int] = set().union(*(memory[first[k]] if k >= 0 else {-1} for k in inputs))
        if op.is_fresh:
            roots = {i}
        if op.here is not None and first[i] == i and op.is_fresh and inputs[0] >= 0:
            mine = memory[first[inputs[0]]]
            others: set[int] = set().union(*(memory[first[k]] for k in inputs[1:] if k >= 0))
            if (
                len(mine) == 1
                and -1 not in mine
                and not mine & others
                and all(last_use[k] <= i for k in range(i) if mine & memory[k])
            ):
                here.add(i)
                roots = mine
        memory.append(roots)
    return here


def unknown(wanted: Sequence[Node]) -> list[Node]:
    # The nodes without a value behind the wanted ones, in the order of the program.
    order: list[Node] = []
    seen: set[Node] = set()
    stack = list(wanted)
    while stack:
        node = stack.pop()
        if node.value is None and node not in seen:
            seen.add(node)
            order.append(node)
            stack.extend(node.inputs)
    order.sort(key=attrgetter("serial"))
    return order


#: Compiled regions by their structure.
_REGIONS: dict[Any, Region] = {}
_LOCK = threading.Lock()


def _references(nodes: Sequence[Any]) -> list[int]:
    return [getrefcount(n) for n in nodes]


#: References to an object of a list that only the list has.
(_ALONE,) = _references([object()])


#: Operations that a program's array may need again after an evaluation. Loops whose arrays depend on those of the
#: iteration before would else compute, and compile, all iterations again.
_FEW = 8


def _kept(order: Sequence[Node], wanted: Sequence[Node]) -> list[Node]:
    # The wanted nodes, and those to which something refers beside the operations that are computed now and the one that
    # they are a part of, if they would cost much again.
    uses = Counter([id(n) for node in order for n in node.inputs])
    uses.update([id(p) for node in order for p in node.parts])
    uses.update(map(id, wanted))
    found = _references(order)
    cost: dict[Node, int] = {}
    kept = list(wanted)
    is_wanted = set(map(id, wanted))
    for n, count in zip(order, found, strict=True):
        price = sum([cost.get(k, 0) for k in n.inputs]) + (_FEW + 1 if n.op.is_costly else 1)
        cost[n] = min(price, 2 * _FEW)
        if id(n) in is_wanted:
            cost[n] = 0
        elif price > _FEW and count > _ALONE + uses[id(n)] and n.op.kind is not Kind.VIEW and not n.parts:
            cost[n] = 0
            kept.append(n)
    return kept


def region_of(wanted: Sequence[Node]) -> tuple[Region, list[Node], list[Node], list[Any]]:
    """The region that computes nodes: its operations, those that are kept, and the arguments of its function."""
    order = unknown(wanted)
    kept = list({n.serial: n for n in wanted}.values())
    if len(order) > _FEW or any(n.op.is_costly or n.parts for n in order):
        if any(n.parts for n in order):
            order = unknown([*wanted, *(p for n in order for p in n.parts)])
        kept = _kept(order, kept)
    region, leaves, numbers = joined(order, kept)
    return region, order, kept, [n.value for n in leaves] + numbers


def joined(order: Sequence[Node], kept: Sequence[Node]) -> tuple[Region, list[Node], list[Any]]:
    """The region of operations in their order: its structure, the nodes of its arrays, and its numbers."""
    place: dict[Node, int] = {}
    leaves: list[Node] = []
    numbers: list[Any] = []
    facts: dict[Any, int] = {}
    key: list[Any] = []
    for i, node in enumerate(order):
        inputs = []
        for n in node.inputs:
            k = place.get(n)
            if k is None:
                leaves.append(n)
                k = place[n] = -len(leaves)
            inputs.append(k)
        place[node] = i
        dynamic = []
        for x in node.dynamic:
            # Equal shapes and positions are one operand; of other numbers equality does not say enough.
            k = facts.setdefault(x, len(numbers)) if type(x) in (int, tuple) else len(numbers)
            if k == len(numbers):
                numbers.append(x)
            dynamic.append(k)
        key.append((node.op, tuple(inputs), tuple(dynamic)))
    places = [place[n] for n in kept]
    structure = (*key, *places)
    region = _REGIONS.get(structure)
    if region is None:
        with _LOCK:
            region = _REGIONS.get(structure) or _REGIONS.setdefault(structure, Region(key, places))
    return region, leaves, numbers


def _settle(node: Node, value: Any) -> None:
    if -1 in node.shape:
        node.shape = np.shape(value)
    if type(value) is not np.ndarray or value.dtype != node.dtype or value.shape != node.shape:
        value = np.asarray(value, dtype=node.dtype).reshape(node.shape)
    node.value = value
    # What it was computed from is not needed any more.
    node.inputs = node.dynamic = ()


def _alone(node: Node) -> Any:
    # The compiled function of a node's operation.
    names = [f"x{i}" for i in range(len(node.inputs) + len(node.dynamic))]
    node.op.alone = _compiled(f"def region({', '.join(names)}):\n    return {node.op.text(names)}\n")
    return node.op.alone


def compute(*wanted: Node) -> None:
    """Gives nodes their values. Intermediate results that the program holds and that are costly are kept, too.

    Raises what the operations raise.
    """
    node = wanted[0] if len(wanted) == 1 else None
    if node is not None and node.value is None:
        # Programs that ask for each value have many regions of one operation.
        given = []
        for n in node.inputs:
            if n.value is None:
                break
            given.append(n.value)
        else:
            try:
                value = (node.op.alone or _alone(node))(*given, *node.dynamic)
            except Exception as error:
                add_note(error, node)
                raise
            _settle(node, value)
            return
    wanted = tuple([n for n in wanted if n.value is None])
    if wanted:
        region, order, kept, arguments = region_of(wanted)
        try:
            values = region.function(*arguments)
        except Exception as error:
            add_note_of_region(error, region.text, order)
            raise
        for node, value in zip(kept, values, strict=True):
            _settle(node, value)
