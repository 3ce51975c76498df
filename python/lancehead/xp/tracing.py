"""Functions of arrays whose operations are recorded once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np

from lancehead.caches import Cache
from lancehead.xp import captured, places
from lancehead.xp.arrays import ndarray, wrap
from lancehead.xp.devices import by_kernels
from lancehead.xp.graph import Node, Op, name_of
from lancehead.xp.regions import joined, unknown
from lancehead.xp.rows import Kind

F = TypeVar("F", bound=Callable[..., Any])


def _no_value(*_: Any) -> str:
    raise TypeError(
        "a value of an array is needed while a function is traced; what depends on values is written with where"
    )


_ARGUMENT = Op("argument", _no_value)


def _traced(*given: str) -> str:
    *operands, name, part = given
    return f"{name}({', '.join(operands)}){part}"


class _Structure:
    """The recorded operations of a function for arguments of certain types and shapes."""

    def __init__(self, f: Callable[..., Any], arguments: Sequence[Any], keywords: dict[str, Any]) -> None:
        stand_ins = [
            ndarray(Node(_ARGUMENT, (), x.shape, x.dtype, device=x.device)) if isinstance(x, ndarray) else x
            for x in arguments
        ]
        nodes = [x._node if isinstance(x, ndarray) else None for x in stand_ins]
        began = Node(_ARGUMENT, (), (), np.dtype(bool)).serial
        found = f(*stand_ins, **keywords)
        #: Whether the function's result is a tuple; its items are arrays, or numbers of arguments that it gives back.
        self.is_tuple = isinstance(found, tuple)
        results = found if isinstance(found, tuple) else () if found is None else (found,)
        if not all(isinstance(x, ndarray) for x in results):
            raise TypeError(f"a traced function gives an array, a tuple of arrays or None, not {found!r}")
        self.is_none = found is None
        self.given_back = [next((i for i, s in enumerate(stand_ins) if s is x), None) for x in results]
        #: Arguments that the function changes.
        self.changed = [
            i for i, (s, n) in enumerate(zip(stand_ins, nodes, strict=True)) if n is not None and s._node is not n
        ]
        wanted = [x.node() for x, back in zip(results, self.given_back, strict=True) if back is None]
        wanted += [stand_ins[i]._node for i in self.changed]
        #: The operations, results and arguments of a function on a device.
        self.recorded: tuple[list[Node], list[Node], dict[Node, int]] | None = None
        self.results = [(n.shape, n.dtype) for n in wanted]
        self._join(wanted, nodes, began)
        #: Whether there is one new array as a result and nothing else.
        self.is_plain = self.recorded is None and self.given_back == [None] and not (self.changed or self.is_tuple)

    def _join(self, wanted: Sequence[Node], nodes: Sequence[Node | None], began: int) -> None:
        place = {n: i for i, n in enumerate(nodes) if n is not None}
        order = [n for n in unknown(wanted) if n not in place]
        inputs = {n for node in order for n in node.inputs if n not in place}
        # Numbers of the program are shared among graphs, so that their age says nothing.
        if any(n.serial < began and not isinstance(n.value, np.generic) for n in inputs):
            raise TypeError("a traced function takes the arrays that it reads as arguments")
        if any(n.op.kind is Kind.DRAWN for n in order):
            raise TypeError("a traced function would give the same random numbers in each call; they are arguments")
        if any(n.schedule is not None and n.schedule.is_apart for n in order):
            raise TypeError("a traced function is part of one region; schedules are of its results")
        if len(order) == 0 or any(n in place for n in wanted):
            raise TypeError("a traced function gives new arrays or its arguments, not views of them")
        if by_kernels(*order):
            self.recorded = order, list(wanted), place
            return
        step = joined(order, [n for n in wanted if n not in place])
        region, leaves, self.numbers = step.region, step.leaves, tuple(step.numbers)
        #: For each operand the number of the argument, or its node.
        self.operands = [place.get(n, n) for n in leaves]
        name = name_of(region.function)
        one = len(wanted) == 1
        self.op = Op("traced", _traced, (name, "[0]" if one else ""), one)
        self.parts = [Op("part", _traced, ("", f"[{i}]"), True) for i in range(len(wanted))]

    def apply(self, arguments: Sequence[Any]) -> Any:
        """The results for arguments."""
        if self.is_plain:
            inputs = tuple([arguments[k].node() if isinstance(k, int) else k for k in self.operands])
            shape, dtype = self.results[0]
            node = Node(self.op, inputs, shape, dtype, self.numbers)
            node.place = places.here()
            return wrap(node)
        made = self._added(arguments) if self.recorded is None else self._again(arguments, *self.recorded)
        fresh = iter(made)
        results = tuple([ndarray(next(fresh)) if i is None else arguments[i] for i in self.given_back])
        for i, node in zip(self.changed, fresh, strict=True):
            arguments[i].write(node)
        return None if self.is_none else results if self.is_tuple else results[0]

    def _again(
        self, arguments: Sequence[Any], order: Sequence[Node], wanted: Sequence[Node], place: dict[Node, int]
    ) -> list[Node]:
        # On devices the operations are added again: kernels are found by what they consist of.
        copies = {n: arguments[i].node() for n, i in place.items()}
        for n in order:
            inputs = tuple([copies.get(k, k) for k in n.inputs])
            copy = copies[n] = Node(n.op, inputs, n.shape, n.dtype, n.dynamic, None, n.device)
            copy.place, copy.schedule = n.place, n.schedule
        for n in order:
            copies[n].parts = tuple([copies[p] for p in n.parts if p in copies])
        return [copies[n] for n in wanted]

    def _added(self, arguments: Sequence[Any]) -> list[Node]:
        # The node of the recorded function, and those of its results.
        inputs = tuple([arguments[k].node() if isinstance(k, int) else k for k in self.operands])
        if len(self.results) == 1:
            shape, dtype = self.results[0]
            made = [Node(self.op, inputs, shape, dtype, self.numbers)]
        else:
            whole = Node(self.op, inputs, (), np.dtype(np.void), self.numbers)
            pairs = zip(self.parts, self.results, strict=True)
            made = [Node(op, (whole,), shape, dtype) for op, (shape, dtype) in pairs]
            whole.parts = tuple(made)
        (made[0] if len(made) == 1 else whole).place = places.here()
        return made


def _key(x: Any) -> Any:
    if isinstance(x, ndarray):
        return x.dtype, x.shape, x.device.number
    return type(x), repr(x) if isinstance(x, (float, complex)) else x


def trace(f: F) -> F:
    """A decorator: the operations of a function of arrays are recorded once for types and shapes of its arguments.

    Further calls add one operation to the graph, whatever the function consists of. Arguments that are no arrays are
    part of what is recorded, and so are variables and globals that it reads. The function has no effects beside changes
    of its arguments, and does not ask for values: that raises TypeError, and so do arrays that it reads from elsewhere.
    """
    structures: Cache[Any, _Structure] = Cache(1024)
    known = structures.get
    python = f if type(f) is FunctionType else None
    reads: list[captured.Reads] = []

    @functools.wraps(f)
    def call(*arguments: Any, **keywords: Any) -> Any:
        key = tuple([(x.dtype, x.shape, x.device.number) if type(x) is ndarray else _key(x) for x in arguments])
        if python is not None:
            read = reads[0] if reads else None
            if read is None or (read.state is not None and not read.hold()):
                read = captured.Reads(cast("FunctionType", python))
                reads[:] = [read]
            state = captured.state(cast("FunctionType", python)) if read.state is None else read.state
            if state:
                key = (key, *state)
        if keywords:
            key = (key, *sorted((k, _key(x)) for k, x in keywords.items()))
        found = known(key)
        if found is None:
            if any(isinstance(x, ndarray) for x in keywords.values()):
                raise TypeError("arrays are positional arguments of a traced function")
            found = structures[key] = _Structure(f, arguments, keywords)
        if found.changed:
            owners = [id(x if x._view is None else x._view.owner) for x in arguments if isinstance(x, ndarray)]
            if len(set(owners)) < len(owners):
                # A change of one argument is one of another.
                return f(*arguments, **keywords)
        return found.apply(arguments)

    return cast("F", call)


__all__ = ["trace"]
