"""The steps of an evaluation on a device, and the texts of their kernels.

Reductions and scans have the orders of the host (`device_orders.py`), whichever kernels compute them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from lancehead import cuda
from lancehead.caches import Cache
from lancehead.decorators import njit
from lancehead.xp import captured, dtypes
from lancehead.xp import device_orders as orders
from lancehead.xp import device_texts as texts
from lancehead.xp import functions as of
from lancehead.xp.device_folds import fold_of
from lancehead.xp.device_schedules import THREADS, tile_of
from lancehead.xp.devices import over_host
from lancehead.xp.graph import Node, objects_of
from lancehead.xp.kernels import Code, Index, Places, axis_of, cast, how, order_of, strided
from lancehead.xp.regions import alone
from lancehead.xp.rows import How

#: Threads of a block, and elements of a thread, of the kernels that are launched.
SHAPE: ContextVar[tuple[int, int]] = ContextVar("SHAPE", default=(THREADS, 1))
#: Elements that a thread counts and moves.
PART = 1024

_COMPILED: Cache[str, dict[str, Any]] = Cache(2048)
_numbered = itertools.count()


def compiled(text: str) -> dict[str, Any]:
    """The kernels that a text defines, and their functions. They are compiled when they are first used."""
    found = _COMPILED.get(text)
    if found is None:
        code = compile(text, f"<lancehead.xp kernel {next(_numbered)}>", "exec")
        names = dict(objects_of(captured.all_names(code)), np=np, cuda=cuda, njit=njit)
        exec(code, names)
        found = _COMPILED.added(text, names)
    return found


def launch(kernel: Any, count: int, *arguments: Any) -> None:
    """Starts a kernel with a thread for each of so many elements."""
    if count:
        threads, each = SHAPE.get()
        kernel[min(-(-count // (threads * each)), 1 << 30), threads](*arguments)


class Step:
    """Kernels that compute one node, or several of one shape. `notes` say for whom, `text` is that of the kernels."""

    def __init__(self, nodes: Sequence[Node], places: Places, text: str, arguments: Any = ()) -> None:
        self.outs = [(places.place[n], places.shape[n.shape], n.dtype) for n in nodes]
        self.kind, self.text = how(nodes[0]), text
        self.keys = list(arguments)
        self.names = compiled(text) if text else {}

    def given(self, run: Any) -> list[Any]:
        """The arguments."""
        return [_resolved(run, key) for key in self.keys]

    def new(self, run: Any, i: int = 0) -> Any:
        """New memory for a result."""
        place, shape, dtype = self.outs[i]
        found = run.values[place] = empty(math.prod(run.shapes[shape]), dtype)
        return found

    def run(self, run: Any) -> None:
        """Computes the values."""
        raise NotImplementedError

    def launched(self, run: Any) -> tuple[int, int]:
        """Threads of a block, and elements of a thread, as the schedules of the nodes say."""
        found = [s for s in [run.node(place).schedule for place, _, _ in self.outs] if s is not None]
        block = next((s.block for s in found if s.block is not None), THREADS)
        return block, next((s.unroll for s in found if s.unroll is not None), 1)


def empty(count: int, dtype: Any) -> Any:
    """New memory of the device in use."""
    return cuda.device_array(count, dtype)


def _resolved(run: Any, key: Any) -> Any:
    match key[0]:
        case "array":
            return run.array(key[1])
        case "number":
            return run.node(key[1]).value[()]
        case "extent":
            return run.shapes[key[1]][key[2]]
        case "dynamic":
            return run.node(key[1]).dynamic[key[2]]
    node = run.node(key[1])
    return node.dynamic[2][key[2]] // node.dtype.itemsize


class Elements(Step):
    """One kernel for all elements of arrays of one shape."""

    def run(self, run: Any) -> None:
        outs = [self.new(run, i) for i in range(len(self.outs))]
        launch(self.names["kernel"], outs[0].size, outs[0].size, *outs, *self.given(run))


def element_step(nodes: Sequence[Node], code: Code, places: Places) -> Step:
    """The step of a kernel whose lines are there."""
    outs = [f"out{i}" for i in range(len(nodes))]
    return Elements(nodes, places, texts.elements([*outs, *code.arguments.values()], code.lines), code.arguments)


class Checked(Step):
    """Raises IndexError for places that an axis does not have."""

    def __init__(self, node: Node, places: Places) -> None:
        super().__init__((node,), places, texts.CHECK)
        self.places = places.place[node.inputs[1]]
        self.axis = axis_of(node)
        self.extent = places.shape[node.inputs[0].shape]

    def run(self, run: Any) -> None:
        n, known = run.shapes[self.extent][self.axis], run.node(self.places).value
        if isinstance(known, np.ndarray):
            wrong = known[(known < -n) | (known >= n)]
            if wrong.size:
                raise IndexError(f"index {wrong[0]} is out of bounds for axis {self.axis} with size {n}")
            return
        places = run.array(self.places)
        if places.size:
            bad = cuda.to_device(np.asarray([places.size]))
            launch(self.names["kernel"], places.size, places.size, n, places, bad)
            at = int(bad.copy_to_host()[0])
            if at < places.size:
                place = places[at : at + 1].copy_to_host()[0]
                raise IndexError(f"index {place} is out of bounds for axis {self.axis} with size {n}")


def check_step(node: Node, places: Places) -> Step:
    """The step that checks the places of an operation."""
    return Checked(node, places)


class Folded(Step):
    """A reduction: kernels for the blocks of all lines, and for their results."""

    def __init__(self, node: Node, places: Places) -> None:
        fold = fold_of(node, places)
        super().__init__((node,), places, fold.text, fold.arguments)
        self.fold = fold.facts

    def run(self, run: Any) -> None:
        out, given = self.new(run), self.given(run)
        rows, n = self.fold.extents(run)
        if not n or not rows:
            launch(self.names["nothing"], rows, out, rows, *given)
            return
        if self.fold.has_means:
            means = empty(rows, out.dtype)
            self._whole("mean_", means, rows, n, given)
            given = [means, *given]
        self._whole("", out, rows, n, given)

    def _whole(self, name: str, out: Any, rows: int, n: int, given: list[Any]) -> None:
        # Passes over the lines, and then over the results of blocks, until there is one for each line.
        order, size = self.fold.order, n
        parts: list[Any] = []
        while True:
            blocks = -(-size // orders.BLOCK)
            kernel = f"{name}{'joined_' if parts else ''}"
            if parts and (order == "left" or (order == "lanes" and size < orders.FROM[order])):
                launch(self.names[f"{name}finish"], rows, out, *parts, rows, n, size, *given)
                return
            if order == "halves":
                blocks = max(size // 8, 1) if parts else orders.parts_of(n)
            elif order == "lanes" and parts:
                blocks = 1
            found = out if blocks == 1 else empty(rows * blocks, out.dtype)
            facts = (found, rows, size, n, blocks, *parts, *given)
            if size >= orders.FROM.get(order, size + 1) and not (parts and order == "halves"):
                threads = orders.THREADS[order]
                count = -(-rows * blocks // 16) if order == "lanes" else rows * blocks
                self.names[f"{kernel}blocks"][count, threads](*facts)
            else:
                launch(self.names[f"{kernel}lines"], rows * blocks, *facts)
            if blocks == 1:
                return
            size, parts = blocks, [found]


class Scanned(Folded):
    """A scan: a kernel for the spans of all lines, one for what comes before each, one for the results."""

    def run(self, run: Any) -> None:
        out, given = self.new(run), self.given(run)
        rows, n = self.fold.extents(run)
        spans = -(-n // orders.SPAN)
        before = empty(rows * spans, out.dtype)
        if spans > 1:
            launch(self.names["spans"], rows * spans, before, rows, n, spans, *given)
        if spans:
            launch(self.names["carry"], rows, before, rows, spans, *given)
        launch(self.names["write"], rows * spans, out, before, rows, n, spans, *given)


class Stored(Step):
    """A store into a view, in place or into a copy."""

    def __init__(self, node: Node, places: Places, in_place: bool) -> None:
        owner, value = node.inputs
        code = Code(places, 2)
        shape = node.dynamic[1]
        multi = code.parts("i", [code.extent(shape, k) for k in range(len(shape))])
        at = strided(code, node, multi)
        name = code.operand(value, Index(shape, None, multi))
        code.add(f"out[{at}] = {cast(node.dtype, name, value.dtype)}")
        super().__init__((node,), places, texts.elements(["out", *code.arguments.values()], code.lines), code.arguments)
        self.place, self.owner, self.in_place = places.place[node], places.place[owner], in_place

    def run(self, run: Any) -> None:
        out = copied(self, run, self.owner, self.in_place)
        count = math.prod(run.node(self.place).dynamic[1])
        launch(self.names["kernel"], count, count, out, *self.given(run))


def copied(step: Step, run: Any, owner: int, in_place: bool) -> Any:
    """The memory that a store changes."""
    place = step.outs[0][0]
    if in_place:
        run.values[place] = run.values[owner]
        return run.values[place]
    out = step.new(run)
    if out.size:
        out.copy_to_device(run.array(owner))
    return out


class Scattered(Step):
    """Values that are combined with elements at places, those of one place in their order.

    The places are sorted; a thread combines what goes to one place.
    """

    def __init__(self, node: Node, places: Places, in_place: bool) -> None:
        owner, at, values = node.inputs
        code = Code(places, 3)
        # Elements of the host's array count in row-major order, or rows are counted from either end.
        is_flat = len(node.op.static) == 1
        self.is_flat, self.in_place = is_flat, in_place
        row = 0 if is_flat or len(node.shape) == 1 else 1
        width = code.extent(node.shape, 1) if row else "1"
        name = code.operand(values, Index(at.shape, "j")) if not row else code.load(
            values, Index(values.shape, code.let(f"j * {width} + column"))
        )  # fmt: skip
        op = None if is_flat else node.op.static[1]
        names = code.arguments.values()
        text = texts.scatter(names, code.lines, name, op, of.typed(node.dtype))
        super().__init__((node,), places, text, code.arguments)
        self.owner, self.places = places.place[owner], places.place[at]
        self.at_shape, self.axis_shape = places.shape[at.shape], places.shape[owner.shape]
        self.row = row
        self.sort = compiled(texts.sort(order_of(dtypes.int64)))
        self.check = None if is_flat else Checked(node, places)

    def run(self, run: Any) -> None:
        if self.check is not None:
            self.check.run(run)
        out = copied(self, run, self.owner, self.in_place)
        places = run.array(self.places)
        shape = run.shapes[self.axis_shape]
        n, count = (out.size if self.is_flat else shape[0]), places.size
        if not count or not out.size:
            return
        counted = empty(count, np.int64)
        launch(self.names["counted"], count, counted, places, count, n)
        order = sorted_order(self.sort, counted, 1, count, 1)
        width = shape[1] if self.row else 1
        launch(self.names["kernel"], count * width, out, counted, order, count, width, *self.given(run))


def sorted_order(names: dict[str, Any], keys: Any, rows: int, n: int, m: int) -> Any:
    """The places of the elements of lines in their order; elements are so many from each other in memory."""
    order = empty(rows * n, np.int64)
    runs = -(-n // 16)
    launch(names["begin"], rows * runs, order, keys, rows, n, m, runs)
    width = 16
    while width < n:
        merged = empty(rows * n, np.int64)
        launch(names["merge"], rows * n, merged, order, keys, rows, n, m, width)
        order, width = merged, 2 * width
    return order


class Sorted(Step):
    """Lines along an axis in their order, or the places of their elements in it."""

    def __init__(self, node: Node, places: Places) -> None:
        (keys,) = node.inputs
        super().__init__((node,), places, texts.sort(order_of(keys.dtype)))
        self.axis, self.is_order = axis_of(node), node.op.row.gives_places
        self.keys_place = places.place[keys]

    def run(self, run: Any) -> None:
        shape = run.shapes[self.outs[0][1]]
        out, keys = self.new(run), run.array(self.keys_place)
        n, m = shape[self.axis] if shape else 1, math.prod(shape[self.axis + 1 :])
        if out.size:
            rows = out.size // n
            order = sorted_order(self.names, keys, rows, n, m)
            kernel = self.names["places" if self.is_order else "values"]
            launch(kernel, out.size, out, order, keys, rows, n, m)


class Tiled(Step):
    """Products of matrices, in which products are added from left to right."""

    def __init__(self, node: Node, places: Places) -> None:
        self.tile = tile_of(node.schedule)
        is_shared = node.schedule is None or node.schedule.shared is not False
        super().__init__((node,), places, texts.product(of.typed(node.dtype), self.tile, is_shared))
        self.given_places = [(places.place[n], places.shape[n.shape]) for n in node.inputs]

    def run(self, run: Any) -> None:
        out = self.new(run)
        (a, one), (b, other) = [(run.array(place), run.shapes[shape]) for place, shape in self.given_places]
        left = (1, *one) if len(one) == 1 else one
        right = (*other, 1) if len(other) == 1 else other
        (m, k), n = left[-2:], right[-1]
        outer = np.broadcast_shapes(left[:-2], right[:-2])
        if not out.size:
            return
        # Where the matrices of each product begin.
        firsts = []
        for shape in (left, right):
            size = shape[-2] * shape[-1]
            first = np.arange(math.prod(shape[:-2])).reshape(shape[:-2]) * size
            firsts.append(np.broadcast_to(first, outer).reshape(-1).copy())
        count = math.prod(outer)
        tile = self.tile
        grid = (-(-n // tile), -(-m // tile), min(count, 65535))
        self.names["kernel"][grid, (tile, tile)](out, a, b, *map(cuda.to_device, firsts), count, m, k, n)

    def launched(self, run: Any) -> tuple[int, int]:
        return self.tile * self.tile, 1


class Part(Step):
    """One of the results of an operation with several."""

    def __init__(self, node: Node, places: Places) -> None:
        super().__init__((node,), places, "")
        # A number, or the numbers that lead to an item of tuples in tuples.
        at = node.op.static[0]
        self.whole, self.path = places.place[node.inputs[0]], at if isinstance(at, tuple) else (at,)

    def run(self, run: Any) -> None:
        place = self.outs[0][0]
        node, found = run.node(place), run.values[self.whole]
        for i in self.path:
            found = found[i]
        if not hasattr(found, "copy_to_host"):
            # The host's functions may give several results in one memory.
            found = np.array(found, dtype=node.dtype, order="C")
            if -1 in node.shape:
                node.shape = found.shape
            found = cuda.DeviceNDArray(found.reshape(-1))
        run.values[place] = found


class OnHost(Step):
    """The compiled function of the host on a CPU device's memory."""

    def __init__(self, node: Node, places: Places) -> None:
        super().__init__((node,), places, "")
        self.kind = How.HOST

    def run(self, run: Any) -> None:
        place = self.outs[0][0]
        node = run.node(place)
        values = [_host(run, run.number[n], n) for n in node.inputs]
        found = alone(node)(*values, *node.dynamic)
        if isinstance(found, tuple):
            run.values[place] = found
            return
        found = np.asarray(found, dtype=node.dtype)
        if not found.flags.c_contiguous or any(
            np.may_share_memory(found, v) for v in values if not isinstance(v, tuple)
        ):
            found = np.array(found, order="C")
        if -1 in node.shape:
            node.shape = found.shape
        run.values[place] = cuda.DeviceNDArray(found.reshape(-1))


def _host(run: Any, place: int, node: Node) -> Any:
    # The value of a node for the host's function, which reads the memory of the device.
    if place < 0 and isinstance(node.value, (np.ndarray, np.generic)):
        return node.value
    found = run.values.get(place)
    if isinstance(found, tuple):
        return found
    return over_host(run.array(place)).reshape(node.shape)
