"""The graph: operations that were asked for, and arrays that are there.

An operation of the program adds a [`Node`][lancehead.xp.graph.Node]. When a value is needed,
[`compute`][lancehead.xp.regions.compute] evaluates the nodes behind it that have none yet.
"""

from __future__ import annotations

import hashlib
import math
import re
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lancehead import _core
from lancehead.caches import Cache
from lancehead.xp import places
from lancehead.xp.devices import Device
from lancehead.xp.rows import Kind, Row, plain
from lancehead.xp.schedules import Schedule

#: The text of a call: names of the operands, then the operation's constants.
Emit = Callable[..., str]


class Op(_core.GraphOp):
    """An operation with its constants. There is one object for equal ones, so that regions are compared by identity.

    `emit` gives the text of the operation for names of operands and the constants in `static`. One with a name in place
    of a row has nothing to say of itself.
    """

    __slots__ = ("emit", "fills", "function", "here", "is_costly", "is_fresh", "kind", "name", "row", "static")

    def __init__(
        self,
        row: Row | str,
        emit: Emit,
        static: tuple[Any, ...] = (),
        is_costly: bool = False,
        is_fresh: bool = False,
        here: Emit | None = None,
    ) -> None:
        self.row = plain(row) if isinstance(row, str) else row
        self.name, self.kind, self.emit, self.static = self.row.name, self.row.kind, emit, static
        #: The text that changes the first operand, if `emit` changes a copy of it.
        self.here = here
        #: The function of elements of a map.
        self.function: Any = None
        #: Whether its result is kept where the program holds it, even if only another one was asked for.
        self.is_costly = is_costly
        #: Whether its result is new memory in row-major order, which nothing else reads.
        self.is_fresh = is_fresh
        #: Whether results, if they are numbers or truth values, may be stored in an array instead of a new one.
        self.fills = self.kind is Kind.ELEMENTWISE or self.kind is Kind.REDUCTION or self.row.fills
        #: The same for the extension module.
        self.facts = is_costly | (self.kind is Kind.VIEW) << 1
        #: The compiled function of this operation and no other; and the one that stores the result in an array, its
        #: last argument, None until it is needed, False if there is none.
        self.alone: Any = None
        self.filling: Any = None if self.fills else False

    def text(self, operands: Sequence[str], in_place: bool = False) -> str:
        """The call for names of operands; one that changes the first of them if that is wanted."""
        emit = self.here if in_place and self.here is not None else self.emit
        return emit(*operands, *self.static)


class Name(str):
    """The name of an object in texts of operations. The object, and names in its content, stay as long as the name."""

    __slots__ = ("__weakref__", "content", "of")
    content: tuple[Any, ...]
    of: Any


#: Functions of this package that texts name, by their names.
_LIBRARY: dict[str, object] = {}
#: The names that there are: no two objects have one name at a time. Names by identity of the objects.
_LIVING: weakref.WeakValueDictionary[str, Name] = weakref.WeakValueDictionary()
_NAMES: Cache[int, Name] = Cache(4096)
_NAMING = threading.RLock()
#: The attribute of functions of Python with what a name is made of.
_CONTENT = "__lancehead_content__"


def add_to_library(**objects: object) -> None:
    """Adds what texts name by names of its own."""
    _LIBRARY.update(objects)


def describe(function: FunctionType, *content: object) -> None:
    """Says what a function is, in texts, numbers and names, of which the name of its compiled function is made."""
    function.__dict__[_CONTENT] = content


def _content(x: Any) -> tuple[Any, ...]:
    if isinstance(x, np.dtype):
        return (repr(x),)
    function = getattr(x, "__wrapped__", getattr(x, "pyfunc", x))
    return function.__dict__.get(_CONTENT, ()) if type(function) is FunctionType else ()


def objects_of(names: Iterable[str]) -> dict[str, Any]:
    """The objects that names of a text stand for, by name, and the names, which stay with them."""
    found: dict[str, Any] = {name: _LIBRARY[name] for name in names if name in _LIBRARY}
    living = [name for name in map(_LIVING.get, names) if name is not None]
    return found | {name: name.of for name in living} | {"__lancehead_names__": living}


def name_of(x: Any) -> Name:
    """The name of an object in texts of operations.

    It consists of the object's own name and module, and a digest of its content, of texts and numbers, if there is
    some: in another process it is the same, so that regions are found in the cache.
    """
    found = _NAMES.get(id(x))
    if found is None:
        content = _content(x)
        stem = f"f_{getattr(x, '__module__', '')}_{getattr(x, '__name__', type(x).__name__)}"
        if content:
            stem += "_" + hashlib.sha1(repr(content).encode()).hexdigest()[:16]
        stem = text = re.sub(r"\W", "_", stem)
        with _NAMING:
            count, found = 1, _LIVING.get(text)
            while found is not None and found.of is not x:
                # Content that has no text does not tell objects apart.
                count += 1
                found = _LIVING.get(text := f"{stem}_{count}")
            if found is None:
                found = Name(text)
                found.of, found.content = x, content
                _LIVING[text] = found
        _NAMES[id(x)] = found
    return found


_OPS: Cache[Any, Op] = Cache(8192)
_known_op = _OPS.get


def op(
    row: Row | str,
    emit: Emit,
    static: tuple[Any, ...] = (),
    *,
    count: int = 0,
    is_costly: bool = False,
    is_fresh: bool = False,
    here: Emit | None = None,
) -> Op:
    """The operation of a row, a text, constants, and so many inputs where their number differs."""
    # Code and rows stay, and the hash of code takes long.
    key = row, id(emit.__code__), static, count, is_costly, is_fresh
    found = _OPS.get(key)
    if found is None:
        found = _OPS.added(key, Op(row, emit, static, is_costly, is_fresh, here))
    return found


#: Of nodes that are arrays or numbers of the program.
ARRAY = Op("array", lambda: "")
#: Of copies from one device to another.
TRANSFER = Op("transfer", lambda a: a, (), True, True)


class Node(_core.GraphNode):
    """An operation of the graph, or an array that is there.

    The arguments are `op, inputs, shape, dtype, dynamic=(), value=None, device=None`. `dynamic` are numbers and tuples
    that change without a new compilation, as further operands; `value` is the array, or for a number of the program a
    scalar of NumPy. `device` is that of the inputs, None if the node goes with those of any device, as numbers do;
    ValueError if inputs are on several devices. `serial` says which of two operations the program wrote first. `place`
    is where, for operations with errors that depend on values; `parts` are the nodes of several results, `schedule` is
    how it is computed if the program has said it.
    """

    __slots__ = ()
    if TYPE_CHECKING:

        def __init__(
            self,
            op: Op,
            inputs: tuple[Node, ...],
            shape: tuple[int, ...],
            dtype: np.dtype[Any],
            dynamic: tuple[Any, ...] = (),
            value: Any = None,
            device: Device | None = None,
        ) -> None: ...

    def __repr__(self) -> str:
        state = "computed" if self.value is not None else "not computed"
        return f"<{self.op.name} of shape {self.shape} and type {self.dtype}, {state}>"


def made(
    row: Row | str,
    emit: Emit,
    inputs: Sequence[Node],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    *,
    static: tuple[Any, ...] = (),
    dynamic: tuple[Any, ...] = (),
    objects: tuple[Any, ...] = (),
    is_costly: bool = False,
    is_fresh: bool = False,
    here: Emit | None = None,
    device: Device | None = None,
) -> Node:
    """A node of an operation. `objects` are functions that the text calls: their names come before the constants.

    An extent of -1 is one that only the value tells. Without inputs, `device` says where it is. Raises ValueError if
    that is a GPU and the operation has no kernel.
    """
    if objects:
        static = (*map(name_of, objects), *static)
    count = len(inputs)
    found = _known_op((row, id(emit.__code__), static, count, is_costly, is_fresh))
    if found is None:
        found = op(row, emit, static, count=count, is_costly=is_costly, is_fresh=is_fresh, here=here)
    node = Node(found, tuple(inputs), shape, dtype, dynamic, None, device)
    # Operations that do not come by here have no errors that depend on values.
    node.place = places.here()
    if node.device is not None and node.device.number is not None:
        backend().check(node)
    return node


class Backend(NamedTuple):
    """The functions of the modules that compute on devices other than the host."""

    #: Raises NotImplementedError for a new operation that a device cannot compute.
    check: Callable[[Node], None]
    #: Raises ValueError if a node cannot be computed on another device than its own, or not by a schedule.
    check_place: Callable[[Node], None]
    check_schedule: Callable[[Node, Schedule], None]
    #: Gives nodes of any devices their values.
    compute: Callable[[Sequence[Node]], None]


def _no_backend() -> Backend:
    raise RuntimeError("lancehead.xp is not loaded")


_load_backend = _no_backend


def set_backend(load: Callable[[], Backend]) -> None:
    """Sets the function that loads what computes on devices; it is called when a program has arrays on one."""
    global _load_backend
    _load_backend = load


def backend() -> Backend:
    """The functions that compute on devices."""
    return _load_backend()


def leaf(value: Any, device: Device | None = None) -> Node:
    """A node that is an array of NumPy, or one of a device."""
    return Node(ARRAY, (), value.shape, value.dtype, (), value, device)


def transferred(node: Node, device: Device) -> Node:
    """A node's contents on a device."""
    return Node(TRANSFER, (node,), node.shape, node.dtype, (), None, device)


def size(node: Node) -> int:
    """Bytes of a node's value; 0 if only the value tells its extents."""
    return 0 if node.dtype.kind == "V" or -1 in node.shape else math.prod(node.shape) * node.dtype.itemsize


#: Nodes of numbers by their classes, values and types.
NUMBERS: Cache[Any, Node] = Cache(1000)


def number(x: Any, dtype: np.dtype[Any] | None) -> Node:
    """The node of a Python number as a type; equal ones are one node. OverflowError if the type does not hold it."""
    # Zeros have signs, which equality does not see.
    key = (type(x), x if x else str(x), dtype)
    found = NUMBERS.get(key)
    if found is None:
        scalar = np.asarray(x, dtype=dtype)[()]
        found = Node(ARRAY, (), (), scalar.dtype, (), scalar)
        if type(x) is not complex:
            NUMBERS[key] = found
    return found


def several(
    row: Row | str,
    emit: Emit,
    inputs: Sequence[Node],
    results: Sequence[tuple[tuple[int, ...], np.dtype[Any]]],
    static: tuple[Any, ...] = (),
    dynamic: tuple[Any, ...] = (),
    objects: tuple[Any, ...] = (),
) -> tuple[Node, ...]:
    """The nodes of an operation with several results, of these shapes and types."""
    whole = made(row, emit, inputs, (), np.dtype(np.void), static=static, dynamic=dynamic, objects=objects)
    whole.parts = tuple(
        made(row, _part, (whole,), shape, dtype, static=(i,), is_costly=True)
        for i, (shape, dtype) in enumerate(results)
    )
    return whole.parts


def _part(whole: str, i: int) -> str:
    return f"{whole}[{i}]"
