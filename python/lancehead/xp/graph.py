"""The graph: operations that were asked for, and their evaluation as one compiled function.

An operation adds a [`Node`][lancehead.xp.graph.Node]. When a value is needed, the nodes behind it that have none yet
form a region: its text is a function of NumPy calls, which `njit` compiles once for each structure and types. The
compiler's own passes fuse what the region computes.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lancehead.decorators import njit

#: The text of a call: names of the operands, then the operation's constants.
Emit = Callable[..., str]


class Node:
    """An operation of the graph, or an array that is there.

    `emit` gives the text of the operation for names of operands and the constants in `static`, which are part of the
    structure; `dynamic` are numbers and tuples that change without a new compilation, as further operands. `objects`
    are functions that the text calls: they get names, which come after the operands, and their identities are part of
    the structure. An extent of -1 is one that only the value tells, so that such a node is computed at once.
    """

    __slots__ = (
        "dtype",
        "dynamic",
        "emit",
        "inputs",
        "is_costly",
        "name",
        "objects",
        "parts",
        "shape",
        "static",
        "users",
        "value",
        "__weakref__",
    )

    def __init__(
        self,
        name: str,
        emit: Emit | None,
        inputs: Sequence[Node],
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        *,
        static: tuple[Any, ...] = (),
        dynamic: tuple[Any, ...] = (),
        objects: tuple[Any, ...] = (),
        is_costly: bool = False,
        value: np.ndarray | None = None,
    ) -> None:
        self.name, self.emit, self.inputs, self.static, self.dynamic = name, emit, tuple(inputs), static, dynamic
        self.shape, self.dtype, self.is_costly, self.value = shape, dtype, is_costly, value
        self.objects = objects
        #: Arrays of the program that stand for this node.
        self.users = 0
        #: If the operation has several results, their nodes, which hold this one.
        self.parts: tuple[weakref.ref[Node], ...] = ()

    def __repr__(self) -> str:
        state = "computed" if self.value is not None else "not computed"
        return f"<{self.name} of shape {self.shape} and type {self.dtype}, {state}>"


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
def scattered(a, places, x):  # type: ignore[no-untyped-def]
    """A copy of an array with values at places, which count its elements in row-major order."""
    out = a.copy()
    flat = out.reshape(-1)
    values = np.broadcast_to(x, places.shape)
    for i, place in np.ndenumerate(places):
        flat[place] = values[i]
    return out


def leaf(value: np.ndarray) -> Node:
    """A node that is an array."""
    return Node("array", None, (), value.shape, value.dtype, value=value)


def several(
    name: str,
    emit: Emit,
    inputs: Sequence[Node],
    results: Sequence[tuple[tuple[int, ...], np.dtype[Any]]],
    static: tuple[Any, ...] = (),
    dynamic: tuple[Any, ...] = (),
    objects: tuple[Any, ...] = (),
) -> tuple[Node, ...]:
    """The nodes of an operation with several results, of these shapes and types."""
    whole = Node(name, emit, inputs, (), np.dtype(np.void), static=static, dynamic=dynamic, objects=objects)
    parts = tuple(
        Node(name, _part, (whole,), shape, dtype, static=(i,), is_costly=True)
        for i, (shape, dtype) in enumerate(results)
    )
    whole.parts = tuple(map(weakref.ref, parts))
    return parts


def _part(whole: str, i: int) -> str:
    return f"{whole}[{i}]"


def _region(wanted: Sequence[Node]) -> list[Node]:
    # The nodes without a value behind the wanted ones, operands first.
    order: list[Node] = []
    seen: set[int] = set()
    stack = [(node, False) for node in reversed(wanted)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            order.append(node)
            continue
        if id(node) in seen or node.value is not None:
            continue
        seen.add(id(node))
        stack.append((node, True))
        stack.extend((n, False) for n in reversed(node.inputs))
    return order


#: Compiled regions by their structure.
_COMPILED: dict[Any, Any] = {}
_LOCK = threading.Lock()


def _compiled(text: str, objects: Sequence[Any]) -> Any:
    # The compiled function keeps its objects, so that their identities stay theirs.
    key = (text, *map(id, objects))
    with _LOCK:
        found = _COMPILED.get(key)
        if found is None:
            names: dict[str, Any] = {"np": np, "strided": strided, "stored": stored, "scattered": scattered}
            names.update((f"f{i}", x) for i, x in enumerate(objects))
            exec(compile(text, "<lancehead.xp>", "exec"), names)
            found = _COMPILED[key] = njit(names["region"], error_model="numpy")
    return found


def compute(*wanted: Node) -> None:
    """Gives nodes their values. Intermediate results that the program holds and that are costly are kept, too.

    Raises what the operations raise.
    """
    order = _region(wanted)
    if not order:
        return
    found = (part() for n in order for part in n.parts)
    parts = [p for p in found if p is not None and p.users and p.value is None]
    if parts:
        order = _region([*wanted, *parts])
    is_wanted = {id(n) for n in wanted}
    kept = [n for n in order if id(n) in is_wanted or (n.is_costly and n.users)]
    leaves: list[Node] = []
    numbers: list[Any] = []
    names: dict[int, str] = {}
    lines, objects = [], dict[int, tuple[str, Any]]()
    for i, node in enumerate(order):
        operands = []
        for n in node.inputs:
            if id(n) not in names:
                names[id(n)] = f"a{len(leaves)}"
                leaves.append(n)
            operands.append(names[id(n)])
        for x in node.dynamic:
            operands.append(f"s{len(numbers)}")
            numbers.append(x)
        for x in node.objects:
            operands.append(objects.setdefault(id(x), (f"f{len(objects)}", x))[0])
        names[id(node)] = f"t{i}"
        assert node.emit is not None, "a node without a value is an operation"
        lines.append(f"    t{i} = {node.emit(*operands, *node.static)}")
    result = ", ".join(names[id(n)] for n in kept)
    parameters = ", ".join([f"a{i}" for i in range(len(leaves))] + [f"s{i}" for i in range(len(numbers))])
    text = f"def region({parameters}):\n" + "\n".join(lines) + f"\n    return ({result},)\n"
    values = _compiled(text, [x for _, x in objects.values()])(*[n.value for n in leaves], *numbers)
    for node, value in zip(kept, values, strict=True):
        made = np.asarray(value, dtype=node.dtype)
        node.shape = made.shape if -1 in node.shape else node.shape
        node.value = made.reshape(node.shape)
        # What it was computed from is not needed any more.
        node.inputs, node.dynamic, node.objects = (), (), ()
