"""Evaluation on devices: a region becomes a list of kernels, which are compiled once for each structure.

Both devices share graph, shapes, types, views and errors; only what becomes of a region differs. On the host it is one
function, here it is steps: a kernel for elements of one shape, or those of a reduction, a scan, a store, a sort.
Results that are read once, or cost little, have no memory; they are part of the kernels that read them.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from lancehead import cuda
from lancehead.caches import Cache
from lancehead.xp.device_loops import SHAPE, Step, check_step, element_step
from lancehead.xp.device_schedules import again, apart, check_place, elsewhere, is_elsewhere
from lancehead.xp.device_schedules import check as check_schedule
from lancehead.xp.device_selections import step_of
from lancehead.xp.devices import Device, current, fetched, has_kernels, over, over_host, uploaded
from lancehead.xp.graph import TRANSFER, Backend, Node
from lancehead.xp.kernels import Code, Conflict, Index, Places, check, how
from lancehead.xp.places import add_note, raising
from lancehead.xp.regions import alone, compute_here, groups, ordered, region_of, results, settle, unknown
from lancehead.xp.rows import How, Kind

#: Operations that a kernel may do again for an element that another one has computed.
_CHEAP = 8
#: Steps into an array that is there already, which compute what they store.
_STORES = (How.STORED, How.SCATTERED)
#: Operations for one element of a kernel.
_LONG = 64


class Plan:
    """The steps that compute a region on a device."""

    def __init__(self, order: Sequence[Node], kept: Sequence[Node], places: Places) -> None:
        self.steps: list[Step] = []
        self.places, self.kept = places, set(kept)
        self.users = Counter(n for node in order for n in node.inputs)
        self._store(order)
        self._group: list[Node] = []
        self._code = Code(places, 2)
        for node in order:
            if node not in places.stored:
                # Its elements are a part of later kernels, which read places that are there.
                self._check(node)
                continue
            if how(node) is How.FUSED:
                self._join(node)
                continue
            self._flush()
            self._check(node)
            in_place = node.inputs and self._is_free(node.inputs[0])
            self.steps.append(step_of(node, places, bool(in_place)))
        self._flush()

    def _is_free(self, node: Node) -> bool:
        # Whether an array is made here, and only one operation reads it.
        return node.value is None and node in self.places.stored and node not in self.kept and self.users[node] == 1

    def _store(self, order: Sequence[Node]) -> None:
        # Decides which nodes have memory.
        stored = self.places.stored
        elsewhere = Counter[Node]()
        for node in order:
            for n in node.inputs:
                if node.op.kind is not Kind.ELEMENTWISE or n.shape != node.shape:
                    elsewhere[n] += node.op.row.reads
        cost: dict[Node, int] = {}
        for node in order:
            kind = how(node)
            price = node.op.row.price + sum(cost.get(n, 0) for n in set(node.inputs))
            if kind is not How.FUSED:
                stored.update(n for n in node.inputs[_fused(kind, node, price) :] if n.value is None)
                if kind in _STORES:
                    stored.update(n for n in node.inputs[:-1] if n.value is None)
            if node.op.row.takes_places:
                stored.add(node.inputs[1])
            is_shared = elsewhere[node] and elsewhere[node] + (self.users[node] > elsewhere[node]) > 1
            cost[node] = price
            if node in self.kept or kind is not How.FUSED or price > _LONG or is_shared and price > _CHEAP:
                stored.add(node)
                cost[node] = 0

    def _join(self, node: Node) -> None:
        # Adds a node to the kernel of those before it, or begins another one.
        self._check(node)
        if self._group and self._group[0].shape != node.shape:
            self._flush()
        code = self._code
        before = list(code.lines), dict(code.known), dict(code.arguments), code.count
        try:
            self._compute(node)
        except Conflict:
            code.lines, code.known, code.arguments, code.count = before
            self._flush()
            self._compute(node)

    def _compute(self, node: Node) -> None:
        code = self._code
        index = Index(node.shape, "i")
        stored = self.places.stored
        stored.discard(node)
        try:
            name = code.load(node, index)
        finally:
            stored.add(node)
        code.add(f"out{len(self._group)}[i] = {name}")
        code.group.add(node)
        self._group.append(node)

    def _check(self, node: Node) -> None:
        # Places that the program gave are checked, and what they are computed from is computed before.
        if node.op.row.takes_places and not node.inputs[1].op.row.gives_places:
            self._flush()
            self.steps.append(check_step(node, self.places))

    def _flush(self) -> None:
        if self._group:
            self.steps.append(element_step(self._group, self._code, self.places))
        self._group, self._code = [], Code(self.places, 2)


def _fused(kind: How, node: Node, price: int) -> int:
    # How many of the first operands a step reads as elements that it computes. Scans compute them twice.
    limit = {How.REDUCED: _LONG, How.SCANNED: _CHEAP}.get(kind, 0)
    return len(node.inputs) if price <= limit or kind in _STORES else 0


class Run:
    """The values of an evaluation in one dimension, by the numbers of their nodes."""

    def __init__(self, order: Sequence[Node], leaves: Sequence[Node], shapes: Sequence[Any], device: Device) -> None:
        self.order, self.leaves, self.shapes, self.device = order, leaves, shapes, device
        self.number = {n: i for i, n in enumerate(order)} | {n: -i - 1 for i, n in enumerate(leaves)}
        self.values: dict[int, Any] = {}

    def node(self, place: int) -> Node:
        """The node of a number."""
        return self.order[place] if place >= 0 else self.leaves[-place - 1]

    def array(self, place: int) -> Any:
        """The device array of a node, in one dimension."""
        found = self.values.get(place)
        if found is None:
            found = self.node(place).value
            if not hasattr(found, "copy_to_host"):
                found = uploaded(np.asarray(found), self.device)
            found = self.values[place] = found if found.ndim == 1 else found.reshape((found.size,))
        return found


_PLANS: Cache[Any, Plan] = Cache(2048)
_LOCK = threading.Lock()


def planned(order: Sequence[Node], kept: Sequence[Node]) -> tuple[Plan, list[Node], list[tuple[int, ...]]]:
    """The plan of a region, the nodes that it reads, and its shapes."""
    place: dict[Node, int] = {}
    shapes: dict[tuple[int, ...], int] = {}
    leaves: list[Node] = []
    key: list[Any] = []

    def placed(n: Node) -> int:
        k = place.get(n)
        if k is None:
            leaves.append(n)
            k = place[n] = -len(leaves)
            key.append(
                (k, n.dtype, shapes.setdefault(n.shape, len(shapes)), hasattr(n.value, "copy_to_host"), n.value is None)
            )
            key.append(n.device is None)
        return k

    for i, node in enumerate(order):
        inputs = tuple([placed(n) for n in node.inputs])
        place[node] = i
        key.append((node.op, inputs, len(node.dynamic), node.dtype, shapes.setdefault(node.shape, len(shapes))))
        if node.schedule is not None and how(node) is How.TILED:
            key.append(node.schedule)
        if node.op.row.how is How.STORED:
            key.append(shapes.setdefault(node.dynamic[1], len(shapes)))
    key.extend(place[n] for n in kept)
    key.extend(tuple([min(n, 2) for n in shape]) for shape in shapes)
    structure = tuple(key)
    plan = _PLANS.get(structure)
    if plan is None:
        with _LOCK:
            plan = Plan(order, kept, Places(place, dict(shapes), {n for n in leaves if n.value is None}))
            # Nodes of the first evaluation are not kept alive.
            plan.places.place.clear()
            plan.places.stored.clear()
            plan.kept, plan.users = set(), Counter()
            _PLANS[structure] = plan
    return plan, leaves, list(shapes)


def _prepare(wanted: Sequence[Node]) -> None:
    # Nodes that go with any device and have no kernel are computed on the host, as cuRAND's numbers are.
    loose = [n for n in unknown(wanted) if n.device is None and not n.parts and how(n) in (How.HOST, How.PART)]
    if loose:
        compute_here(*loose)


def runner(device: Device, order: Sequence[Node], kept: Sequence[Node]) -> Callable[[], Run]:
    """A function that computes operations on a device each time it is called, and returns the values."""
    plan, leaves, shapes = planned(order, kept)

    def values() -> Run:
        run = Run(order, leaves, shapes, device)
        with current(device):
            for step in plan.steps:
                before = SHAPE.set(step.launched(run))
                try:
                    step.run(run)
                except Exception as error:
                    nodes = [run.node(place) for place, _, _ in step.outs]
                    add_note(error, *[m for n in nodes for m in ([n] if n.place is not None else raising(n))])
                    raise
                finally:
                    SHAPE.reset(before)
        return run

    return values


def _compute_over(device: Device, wanted: Sequence[Node]) -> None:
    # The CPU device has the memory of the host, whose functions compute there.
    for some in groups(wanted):
        some = [n for n in some if n.value is None]
        if not some:
            continue
        step = region_of(some)
        values = results(step.region, step.order, [over_host(n.value) for n in step.leaves] + step.numbers)
        taken: set[int] = set()
        for node, value in zip(step.kept, values, strict=True):
            if node.device is device:
                value = over(_own(node, value, taken), device)
            settle(node, value)


def _own(node: Node, value: Any, taken: set[int]) -> np.ndarray:
    # The result in memory that no other array has: kernels of the program may write to it.
    array = np.asarray(value, node.dtype)
    memory = array.base if array is value else array
    is_own = not isinstance(memory, np.ndarray | None) and node.op.kind is not Kind.VIEW and id(memory) not in taken
    taken.add(id(memory))
    return np.array(array, order="C", copy=None if is_own or array is not value else True)


def _compute_on(device: Device, wanted: Sequence[Node]) -> None:
    if not has_kernels(device):
        _compute_over(device, wanted)
        return
    _prepare(wanted)
    order, kept = ordered(wanted)
    several, copies = again(order, kept)
    del order
    run = runner(device, several, copies)()
    for node, copy in zip(kept, copies, strict=True):
        # Nodes that go with any device have the values of the host.
        if node.device is device:
            settle(node, run.values[run.number[copy]])


def _compute_parts(device: Device, wanted: Sequence[Node]) -> None:
    # Regions one after the other: those that schedules ask for, then the rest.
    prepare(wanted)
    rest = [n for n in wanted if n.value is None]
    if rest:
        _compute_on(device, rest)


def prepare(wanted: Sequence[Node]) -> None:
    """Gives nodes behind others their values that are computed elsewhere, or by themselves."""
    transfer(wanted)
    for node in apart(wanted):
        if node.value is None and node.device is not None and node.device.number is not None:
            _compute_on(node.device, [node])
        elif node.value is None:
            compute_here(node)


def transfer(wanted: Sequence[Node]) -> None:
    """Copies what other devices have, or compute by a schedule."""
    # References to nodes end here, as they say what the program holds.
    for node in [n for n in unknown(wanted) if n.op is TRANSFER or is_elsewhere(n)]:
        if node.value is None:
            source = node.inputs[0] if node.op is TRANSFER else elsewhere(node)
            if source.value is None:
                compute([source])
            where = node.device
            if where is None or where.number is None:
                settle(node, fetched(source.value).copy())
            else:
                settle(node, uploaded(source.value, where))


def _compute_alone(node: Node) -> bool:
    # Gives a node of the CPU device its value if all its inputs have theirs.
    device = node.device
    if device is None or device.number is None or has_kernels(device):
        return False
    if node.op is TRANSFER or node.schedule is not None:
        return False
    given = [over_host(n.value) for n in node.inputs]
    if any(value is None for value in given):
        return False
    try:
        value = (node.op.alone or alone(node))(*given, *node.dynamic)
    except Exception as error:
        add_note(error, node)
        raise
    settle(node, over(_own(node, value, set()), device))
    return True


def compute(wanted: Sequence[Node]) -> None:
    """Gives nodes of any devices their values: transfers before what reads them, then the rest of each device."""
    if len(wanted) == 1 and wanted[0].value is None and _compute_alone(wanted[0]):
        return
    transfer(wanted)
    rest = [n for n in wanted if n.value is None]
    host = [n for n in rest if n.device is None or n.device.number is None]
    if host:
        compute_here(*host)
    for device in {n.device: None for n in rest}:
        if device is not None and device.number is not None:
            _compute_parts(device, [n for n in rest if n.device is device])


class Steps(NamedTuple):
    """The computation of a node: operations, those kept, the nodes that they read, steps, and step numbers by nodes.

    `shapes` are the threads of a block and elements of a thread of each step.
    """

    order: list[Node]
    kept: list[Node]
    leaves: list[Node]
    steps: list[Step]
    numbers: dict[Node, int]
    shapes: list[tuple[int, int]]


def synchronize(device: Device) -> None:
    """Waits until a device has done its kernels."""
    with current(device):
        cuda.synchronize()


def steps_of(node: Node) -> Steps:
    """Plans the computation of a node on its device. Nodes that are computed on other devices get their values."""
    transfer([node])
    _prepare([node])
    found = Steps([], [], [], [], {}, [])
    assert node.device is not None, "it is on a device"
    for root in list(dict.fromkeys([*apart([node]), node])):
        if root.device is None:
            compute_here(root)
            continue
        order, kept = again(*ordered([root], found.kept))
        plan, leaves, shapes = planned(order, kept)
        run = Run(order, leaves, shapes, node.device)
        for step in plan.steps:
            found.numbers.update((run.node(place), len(found.steps)) for place, _, _ in step.outs)
            found.steps.append(step)
            found.shapes.append(step.launched(run))
        found.leaves.extend(n for n in leaves if n not in found.kept and n not in found.leaves)
        found.order.extend(order)
        found.kept.extend(kept)
    return found


#: The functions that other modules call when there are arrays on devices.
BACKEND = Backend(check, check_place, check_schedule, compute)
