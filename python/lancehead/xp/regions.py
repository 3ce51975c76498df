"""Evaluation: the nodes behind a value that have none yet form a region, which is compiled as one function.

The function's text is made of NumPy calls, and `njit` compiles it once for each structure and types. The compiler's
own passes fuse what it computes. A structure is which operations there are and how they are joined; equal operations on
equal operands are one, and a store into memory that nothing else reads happens in place.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from operator import attrgetter
from sys import getrefcount
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy import empty

from lancehead.caches import Cache
from lancehead.decorators import njit
from lancehead.lib import prim
from lancehead.xp import devices
from lancehead.xp.cutting import rounds
from lancehead.xp.graph import Node, Op, add_to_library, backend, describe, objects_of, size
from lancehead.xp.places import add_note, add_note_of_region
from lancehead.xp.rows import Kind
from lancehead.xp.tiling import Looped, Loops, loops_of


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
def stored_number(a, x, offset, shape, strides):  # type: ignore[no-untyped-def]
    """A number, or the value in a view of it."""
    out = a.reshape(-1).copy()
    np.lib.stride_tricks.as_strided(out[offset:], shape, strides)[...] = x
    return out[0]


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


add_to_library(
    prim=prim, strided=strided, stored=stored, stored_here=stored_here, stored_number=stored_number,
    scattered=scattered, scattered_here=scattered_here,
)  # fmt: skip


Entries = Sequence[tuple[Op, tuple[int, ...], tuple[int, ...]]]


class Region:
    """A structure and its compiled function. Operations in `copies` are computed beside their equals."""

    __slots__ = ("first", "function", "inside", "lines", "seconds", "signatures", "text")

    def __init__(
        self,
        entries: Entries,
        kept: Sequence[int],
        copies: frozenset[int] = frozenset(),
        loops: Loops | None = None,
        hint: tuple[int, int] = (0, 0),
    ) -> None:
        first, kept = _distinct(entries, kept, copies)
        here = _stores_in_place(entries, first, kept)
        looped = None if loops is None else Looped(entries, first, kept, loops)
        #: Operations of which loops compute pieces.
        self.inside: set[int] = set() if looped is None else looped.inside
        #: For each node the first one that computes the same.
        self.first = first
        #: The line of each node's operation; None for one that an earlier node has computed.
        self.lines: list[str | None] = []
        arrays, numbers = 0, 0
        for i, (op, inputs, dynamic) in enumerate(entries):
            arrays = max([arrays, *(-k for k in inputs)])
            numbers = max([numbers, *(k + 1 for k in dynamic)])
            if loops is not None:
                arrays, numbers = len(loops.leaves), loops.operand + 2 + loops.ndim
            if first[i] != i:
                self.lines.append(None)
                continue
            names = [f"t{first[k]}" if k >= 0 else f"a{-k - 1}" for k in inputs] + [f"s{k}" for k in dynamic]
            self.lines.append(f"t{i} = {op.text(names, i in here)}")
        parameters = [f"a{i}" for i in range(arrays)] + [f"s{i}" for i in range(numbers)]
        body = [line for i, line in enumerate(self.lines) if line is not None and i not in self.inside]
        results = [f"t{i}" for i in kept]
        if looped is not None and looped.inside:
            body += looped.lines(lambda k: f"t{k}" if k >= 0 else f"a{-k - 1}", lambda k: f"s{k}")
            results[0] = "out"
        if any(hint):
            body.insert(0, f"prim.loop_hint{hint}")
        body.append(f"return ({', '.join(results)},)")
        self.text = f"def region({', '.join(parameters)}):\n    " + "\n    ".join(body) + "\n"
        self.function = _compiled(self.text)
        #: How long the last call took that compiled nothing.
        self.seconds: float | None = None
        self.signatures = 0


_numbered = itertools.count()
_nogil = False
#: Compiled functions by their texts; schedules differ in numbers, too.
_FUNCTIONS: Cache[str, Any] = Cache(2048)


def release_gil() -> None:
    """Has regions that are compiled from now on release the interpreter's lock, as several threads run them."""
    global _nogil
    _nogil = True


def _compiled(text: str) -> Any:
    found = _FUNCTIONS.get(text)
    if found is None:
        names: dict[str, Any] = {"np": np}
        # Reports and tracebacks find the text by the name of its file.
        exec(compile(text, f"<lancehead.xp {next(_numbered)}>", "exec"), names)
        function = names["region"]
        names.update(objects_of(function.__code__.co_names))
        describe(function, text)
        found = _FUNCTIONS[text] = njit(function, error_model="numpy", cache=True, nogil=_nogil)
    return found


def _distinct(entries: Entries, kept: Sequence[int], copies: frozenset[int]) -> tuple[list[int], list[int]]:
    # For each node the first one that computes the same. All operations are pure, stores too.
    found: dict[Any, int] = {}
    first: list[int] = []
    for i, (op, inputs, dynamic) in enumerate(entries):
        key = op, tuple(first[k] if k >= 0 else k for k in inputs), dynamic, i if i in copies else -1
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


def unknown(wanted: Sequence[Node], known: Sequence[Node] = ()) -> list[Node]:
    # The nodes without a value behind the wanted ones, in the order of the program; none behind the known ones.
    order: list[Node] = []
    seen: set[Node] = set(known)
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
_REGIONS: Cache[Any, Region] = Cache(2048)
_known_region = _REGIONS.get
_LOCK = threading.Lock()


def _references(nodes: Sequence[Any]) -> list[int]:
    return [getrefcount(n) for n in nodes]


_inputs = attrgetter("inputs")
_NONE: frozenset[int] = frozenset()


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
        schedule = n.schedule
        if schedule is not None and schedule.recompute is not None and id(n) not in is_wanted and not n.parts:
            cost[n] = 1 if schedule.recompute else 0
            if not schedule.recompute:
                kept.append(n)
            continue
        price = sum([cost.get(k, 0) for k in n.inputs]) + (_FEW + 1 if n.op.is_costly else 1)
        cost[n] = min(price, 2 * _FEW)
        if id(n) in is_wanted:
            cost[n] = 0
        elif price > _FEW and count > _ALONE + uses[id(n)] and n.op.kind is not Kind.VIEW and not n.parts:
            cost[n] = 0
            kept.append(n)
    return kept


class Step(NamedTuple):
    """A region with its operations, those that are kept, the nodes of its arrays, and its numbers."""

    region: Region
    order: Sequence[Node]
    kept: Sequence[Node]
    leaves: list[Node]
    numbers: list[Any]
    #: The lines of operations in the region, and of arrays as negative numbers.
    place: dict[Any, int]

    def arguments(self) -> list[Any]:
        """The arguments of the region's function."""
        return [n.value for n in self.leaves] + self.numbers


def region_of(wanted: Sequence[Node], known: Sequence[Node] = (), order: list[Node] | None = None) -> Step:
    """The region that computes nodes, for which those that are known are arrays; `order` is of all that it computes."""
    return joined(*ordered(wanted, known, order))


def ordered(
    wanted: Sequence[Node], known: Sequence[Node] = (), order: list[Node] | None = None
) -> tuple[list[Node], list[Node]]:
    """The operations that compute nodes, in the order of the program, and those whose results are kept."""
    order = unknown(wanted, known) if order is None else order
    kept = list({n.serial: n for n in wanted}.values())
    if len(order) > _FEW or any(n.op.is_costly or n.parts or n.schedule for n in order):
        if any(n.parts for n in order):
            order = unknown([*wanted, *(p for n in order for p in n.parts)], known)
        kept = _kept(order, kept)
    return order, kept


def scheduled_among(order: Sequence[Node]) -> list[Any]:
    """The nodes that have a schedule."""
    return [n for n in order if n.schedule is not None]


def groups(wanted: Sequence[Node], order: Sequence[Node] | None = None) -> list[list[Node]]:
    """The nodes of regions that are computed one after the other: those whose schedules ask for one, those that are
    stored between rounds of a loop, then the rest."""
    order = unknown(wanted) if order is None else order
    apart = {n: None for n in scheduled_among(order) if n.schedule.is_apart}
    found = [[n] for n in apart] if apart else rounds(order)
    if not found:
        return [list(wanted)]
    before = {n for some in found for n in some}
    rest = [n for n in wanted if n not in before]
    return found + ([rest] if rest else [])


def _instances(order: Sequence[Node], kept: Sequence[Node]) -> Iterable[tuple[Node, Any, Sequence[Any]]]:
    # Nodes, what each is known by, and by what its inputs are. Of one that is computed again there is one for each node
    # that reads it.
    scheduled = scheduled_among(order)
    again = {n for n in scheduled if n.schedule.recompute and n not in kept and not n.parts} if scheduled else None
    if not again:
        return zip(order, order, map(_inputs, order))
    found: list[tuple[Node, Any, Sequence[Any]]] = []
    made: set[Any] = set()

    def add(n: Node, known: Any) -> None:
        for k in n.inputs:
            if k in again and (k, n) not in made:
                made.add((k, n))
                add(k, (k, n))
        found.append((n, known, [(k, n) if k in again else k for k in n.inputs]))

    for n in order:
        if n not in again:
            add(n, n)
    return found


def joined(order: Sequence[Node], kept: Sequence[Node]) -> Step:
    """The region of operations in their order, of which some results are kept."""
    place: dict[Any, int] = {}
    leaves: list[Node] = []
    numbers: list[Any] = []
    facts: dict[Any, int] = {}
    key: list[Any] = []
    copied: list[int] = []
    for i, (node, known, given) in enumerate(_instances(order, kept)):
        if known is not node:
            copied.append(i)
        inputs = []
        for n in given:
            k = place.get(n)
            if k is None:
                leaves.append(n)
                k = place[n] = -len(leaves)
            inputs.append(k)
        place[known] = i
        dynamic = []
        for x in node.dynamic:
            # Equal shapes and positions are one operand; of other numbers equality does not say enough.
            k = facts.setdefault(x, len(numbers)) if type(x) in (int, tuple) else len(numbers)
            if k == len(numbers):
                numbers.append(x)
            dynamic.append(k)
        key.append((node.op, tuple(inputs), tuple(dynamic)))
    places = [place[n] for n in kept]
    structure: tuple[Any, ...] = (*key, *places)
    copies, loops = _NONE, None
    if copied:
        copies = frozenset(copied)
        structure = (*structure, copies)
    schedule, hint = kept[0].schedule if kept else None, (0, 0)
    if schedule is not None and (kept[0].device is None or kept[0].device.number is None):
        hint = schedule.hint
        if schedule.has_loops:
            nodes = [n for n, _, _ in _instances(order, kept)]
            loops = loops_of(schedule, kept[0], nodes, leaves, place, numbers)
        structure = (*structure, schedule, loops)
    region = _known_region(structure)
    if region is None:
        with _LOCK:
            region = _REGIONS.get(structure)
            if region is None:
                region = _REGIONS[structure] = Region(key, places, copies, loops, hint)
    return Step(region, order, kept, leaves, numbers, place)


def settle(node: Node, value: Any) -> None:
    """Gives a node its value."""
    if -1 in node.shape:
        node.shape = np.shape(value)
    if node.device is not None and node.device.number is not None:
        if value.shape != node.shape:
            value = value.reshape(node.shape)
    elif type(value) is not np.ndarray or value.dtype != node.dtype or value.shape != node.shape:
        value = np.asarray(value, dtype=node.dtype).reshape(node.shape)
    node.value = value
    # Its operands are not needed any more.
    node.inputs = node.dynamic = ()


def _parameters(node: Node) -> list[str]:
    return [f"a{i}" for i in range(len(node.inputs))] + [f"s{i}" for i in range(len(node.dynamic))]


def alone(node: Node) -> Any:
    """The compiled function of a node's operation."""
    if node.op.alone is None:
        names = _parameters(node)
        node.op.alone = _compiled(f"def region({', '.join(names)}):\n    return {node.op.text(names)}\n")
    return node.op.alone


def _filling(node: Node) -> Any:
    # The compiled function that stores the result of a node's operation in an array, its last argument.
    names, op = _parameters(node), node.op
    op.filling = _compiled(f"def region({', '.join([*names, 'out'])}):\n    out[...] = {op.text(names)}\n")
    return op.filling


#: Results of so many bytes are stored in arrays of NumPy, which keeps memory of this size at hand, so that the call
#: takes half the time. Greater ones are not: some operations would compute them twice.
_SMALL = 4096


def compute_alone(node: Node) -> bool:
    """Gives a node its value if all its inputs have theirs, by the compiled function of its operation.

    Programs that ask for each value have many regions of one operation. Once the functions are there, the extension
    module does the same (`lazy/evaluate.rs`).
    """
    if node.schedule is not None:
        return False
    op = node.op
    given = []
    for n in node.inputs:
        value = n.value
        if value is None:
            return False
        given.append(value)
    if node.dynamic:
        given += node.dynamic
    try:
        if op.fills and -1 not in node.shape and node.dtype.kind in "biufc":
            out = empty(node.shape, node.dtype)
            if out.nbytes <= _SMALL:
                (op.filling or _filling(node))(*given, out)
                node.value = out
                node.inputs = node.dynamic = ()
                return True
        value = (op.alone or alone(node))(*given)
    except Exception as error:
        add_note(error, node)
        raise
    settle(node, value)
    return True


def compute(*wanted: Node) -> None:
    """Gives nodes their values. Intermediate results that the program holds and that are costly are kept, too.

    Raises what the operations raise.
    """
    if devices.IN_USE:
        backend().compute(wanted)
    else:
        compute_here(*wanted)


def compute_here(*wanted: Node) -> None:
    """Gives nodes of the host their values, which read nothing of other devices that has none."""
    if len(wanted) == 1 and wanted[0].value is None and compute_alone(wanted[0]):
        return
    wanted = tuple([n for n in wanted if n.value is None])
    if wanted:
        order = unknown(wanted)
        found = groups(wanted, order)
        if len(found) == 1:
            _run(region_of(found[0], order=order))
            return
        del order
        for some in found:
            # One with several results computes all of them.
            some = [n for n in some if n.value is None]
            if some:
                _run(region_of(some))


def _run(step: Step) -> None:
    for node, value in zip(step.kept, results(step.region, step.order, step.arguments()), strict=True):
        settle(node, value)


def computed_region(order: list[Node], kept: list[Node]) -> Region:
    """Computes operations in their order, of which some results are kept, and gives the region that did."""
    step = joined(order, kept)
    _run(step)
    return step.region


def largest(nodes: Sequence[Node], count: int = 3) -> str:
    """The largest nodes, for a message."""
    found = sorted(dict.fromkeys(nodes), key=size, reverse=True)[:count]
    return ", ".join(f"{n.op.name} of shape {n.shape} and type {n.dtype} ({size(n):,} bytes)" for n in found if size(n))


def failed_region(error: Exception, region: Region, order: Sequence[Node]) -> None:
    """Adds to an error which operation of a region raised it."""
    if isinstance(error, MemoryError):
        raise MemoryError(f"memory does not suffice; the largest results are {largest(order)}") from error
    add_note_of_region(error, region.text, order)


def results(region: Region, order: Sequence[Node], arguments: list[Any]) -> Sequence[Any]:
    """Calls the function of a region with arguments. Errors name the operations that raise them."""
    started = perf_counter()
    try:
        values = region.function(*arguments)
    except Exception as error:
        failed_region(error, region, order)
        raise
    passed = perf_counter() - started
    # Neither compiling nor finding code in the cache is faster than that.
    if passed > 2e-4 and region.signatures != len(region.function.signatures):
        region.signatures = len(region.function.signatures)
    else:
        region.seconds = passed
    return values  # type: ignore[no-any-return]
