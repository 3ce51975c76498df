"""The steps of selections, runs, counts and segments on devices, and the choice of a step for an operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lancehead import cuda
from lancehead.decorators import njit
from lancehead.lib.primitives import folding
from lancehead.xp import device_texts as texts
from lancehead.xp import dtypes
from lancehead.xp import functions as of
from lancehead.xp.device_loops import (
    PART,
    Folded,
    OnHost,
    Part,
    Scanned,
    Scattered,
    Sorted,
    Step,
    Stored,
    Tiled,
    compiled,
    empty,
    launch,
    sorted_order,
)  # fmt: skip
from lancehead.xp.graph import Node
from lancehead.xp.kernels import Places, how, order_of
from lancehead.xp.rows import How

check_offsets = njit(folding.check_offsets)


class Selection(Step):
    """Kernels that read whole arrays: `given` are their places, and each result is new memory."""

    def __init__(self, node: Node, places: Places, text: str) -> None:
        super().__init__((node,), places, text)
        self.inputs = [places.place[n] for n in node.inputs]
        self.types = [n.dtype for n in node.inputs]
        self.dtype = node.dtype

    def arrays(self, run: Any) -> list[Any]:
        """The operands."""
        return [run.array(place) for place in self.inputs]

    def found(self, run: Any, *values: Any) -> None:
        """Sets the results; of an operation with one its extent, too."""
        place = self.outs[0][0]
        node = run.node(place)
        if node.parts:
            for part, value in zip(node.parts, values, strict=True):
                part.shape = tuple(value.size if n == -1 else n for n in part.shape)
            run.values[place] = values
            return
        if -1 in node.shape:
            rest = int(np.prod(node.shape[1:], dtype=int))
            node.shape = (values[0].size // rest if rest else 0, *node.shape[1:])
        run.values[place] = values[0]


def counted(names: dict[str, Any], n: int, *given: Any) -> tuple[Any, int]:
    """How many flags are set before each part, and in all."""
    parts = max(-(-n // PART), 1)
    before = empty(parts + 1, np.int64)
    launch(names["counts"], parts, before, parts, n, *given)
    names["total"][1, 1](before, parts)
    return before, int(before[parts : parts + 1].copy_to_host()[0])


class Chosen(Selection):
    """Rows where a mask is true, and for a partition the others after them."""

    def __init__(self, node: Node, places: Places) -> None:
        super().__init__(node, places, texts.chosen("mask[i]", "mask"))
        self.has_rest = bool(node.parts)

    def run(self, run: Any) -> None:
        rows, mask = self.arrays(run)
        n = mask.size
        width = rows.size // n if n else 0
        before, count = counted(self.names, n, mask)
        out = empty((n if self.has_rest else count) * width, self.types[0])
        launch(self.names["move"], -(-n // PART), out, rows, before, n, count, width, self.has_rest, mask)
        if not self.has_rest:
            node = run.node(self.outs[0][0])
            node.shape = (count, *node.shape[1:])
            run.values[self.outs[0][0]] = out
            return
        self.found(run, out, cuda.to_device(np.asarray([count])))


class Runs(Selection):
    """Runs of equal elements: these and their lengths."""

    def __init__(self, node: Node, places: Places) -> None:
        before = order_of(node.inputs[0].dtype)
        flag = f"i == 0 or {before}(line[i - 1], line[i]) or {before}(line[i], line[i - 1])"
        super().__init__(node, places, texts.runs(flag))

    def run(self, run: Any) -> None:
        (line,) = self.arrays(run)
        before, count = counted(self.names, line.size, line)
        values, lengths, starts = empty(count, line.dtype), empty(count, np.int64), empty(count + 1, np.int64)
        launch(self.names["begin"], -(-line.size // PART), values, starts, before, line.size, line)
        launch(self.names["lengths"], count, lengths, starts, count, line.size)
        self.found(run, values, lengths)


class Top(Selection):
    """The greatest elements of lines, or one of each in its order."""

    def __init__(self, node: Node, places: Places) -> None:
        dtype = node.inputs[0].dtype
        self.is_top = bool(node.parts)
        super().__init__(node, places, texts.sort(order_of(dtype), self.is_top) + texts.FIRST)
        self.shape = places.shape[node.inputs[0].shape]

    def run(self, run: Any) -> None:
        (keys,) = self.arrays(run)
        shape, k = run.shapes[self.shape], run.node(self.outs[0][0]).dynamic[0]
        rows, n = shape if len(shape) == 2 else (1, keys.size)
        count, start = (k, 0) if self.is_top else (1, k)
        values, places = empty(rows * count, keys.dtype), empty(rows * count, np.int64)
        if values.size:
            order = sorted_order(self.names, keys, rows, n, 1)
            launch(self.names["first"], rows * count, values, places, order, keys, rows, n, start, count)
        if self.is_top:
            self.found(run, values, places)
        else:
            self.found(run, values)


class Merged(Selection):
    """Two sorted lines as one."""

    def __init__(self, node: Node, places: Places) -> None:
        super().__init__(node, places, texts.merged(order_of(node.dtype)))

    def run(self, run: Any) -> None:
        a, b = self.arrays(run)
        out = empty(a.size + b.size, self.dtype)
        launch(self.names["kernel"], out.size, out, empty(out.size, np.int8), a, b, a.size, b.size)
        self.found(run, out)


class Combined(Selection):
    """Different elements of sorted lines that are in one of them, or in both."""

    def __init__(self, node: Node, places: Places) -> None:
        before = order_of(node.dtype)
        super().__init__(node, places, texts.combined(before))
        self.merged = compiled(texts.merged(before))
        flag = f"i == 0 or {before}(line[i - 1], line[i])"
        self.different = compiled(texts.runs(flag))

    def run(self, run: Any) -> None:
        keep = run.node(self.outs[0][0]).dynamic[0]
        lines = []
        for line in self.arrays(run):
            before, count = counted(self.different, line.size, line)
            lines.append(empty(count, self.dtype))
            starts = empty(count, np.int64)
            launch(self.different["begin"], -(-line.size // PART), lines[-1], starts, before, line.size, line)
        n = lines[0].size + lines[1].size
        both, sides = empty(n, self.dtype), empty(n, np.int8)
        launch(self.merged["kernel"], n, both, sides, *lines, lines[0].size, lines[1].size)
        given = (both, sides, *map(bool, keep))
        before, count = counted(self.names, n, *given)
        out = empty(count, self.dtype)
        launch(self.names["move"], -(-n // PART), out, both, before, n, count, 1, False, *given)
        self.found(run, out)


class Segments(Selection):
    """Segments of lines, each by one thread."""

    def __init__(self, node: Node, places: Places) -> None:
        self.is_scan = node.op.row.how is How.SEGMENTS_SCANNED
        exclusive = self.is_scan and bool(node.op.static[2])
        self.has_first = node.inputs[0].shape != (0,)
        self.shape = places.shape[node.inputs[1].shape]
        super().__init__(node, places, texts.segments(node.op.static[1], self.is_scan, exclusive, self.has_first))

    def run(self, run: Any) -> None:
        first, line, offsets = self.arrays(run)
        rows, n = run.shapes[self.shape]
        # Wrong ones are told before anything is computed.
        check_offsets(offsets.copy_to_host(), n, self.is_scan)
        count = offsets.size - 1
        out = empty(line.size if self.is_scan else rows * count, self.dtype)
        launch(self.names["kernel"], rows * count, out, rows, n, count, first, line, offsets)
        self.found(run, out)


class Counted(Selection):
    """How often integers are in a line, or the sums of their weights, added in their order."""

    def __init__(self, node: Node, places: Places) -> None:
        super().__init__(node, places, texts.COUNTS)
        self.weighted = compiled(texts.scatter(["weights"], [], "weights[j]", "np.add", "np.float64"))
        self.sort = compiled(texts.sort(order_of(dtypes.int64)))

    def run(self, run: Any) -> None:
        line, *weights = self.arrays(run)
        ends = cuda.to_device(np.asarray([0, -1]))
        launch(self.names["ends"], line.size, line.size, line, ends)
        least, greatest = ends.copy_to_host()
        if least < 0:
            raise ValueError("bincount takes integers that are not negative")
        n = max(int(greatest) + 1, run.node(self.outs[0][0]).dynamic[0])
        out = cuda.to_device(np.zeros(n, self.dtype))
        if weights and line.size:
            order = sorted_order(self.sort, line, 1, line.size, 1)
            launch(self.weighted["kernel"], line.size, out, line, order, line.size, 1, weights[0])
        elif line.size:
            launch(self.names["count"], line.size, line.size, out, line)
        self.found(run, out)


class Binned(Selection):
    """A histogram. Edges are those of NumPy; weights of a bin are added in their order."""

    def __init__(self, node: Node, places: Places) -> None:
        super().__init__(node, places, texts.HISTOGRAM)
        self.has_range, self.has_weights, self.is_density = node.op.static
        self.types = [n.dtype for n in node.parts]
        weights = node.inputs[-1].dtype
        self.weighted = compiled(texts.scatter(["weights"], [], "weights[j]", "np.add", of.typed(weights)))
        self.sort = compiled(texts.sort(order_of(dtypes.int64)))

    def _edges(self, run: Any, line: Any, more: list[Any]) -> np.ndarray:
        given = run.node(self.outs[0][0]).dynamic
        if not given:
            found: np.ndarray = more[0].copy_to_host()
            if np.any(found[:-1] > found[1:]):
                raise ValueError("edges must not decrease")
            return found
        ends = np.empty(0, line.dtype)
        if line.size and not self.has_range:
            low, high = empty(-(-line.size // PART), line.dtype), empty(-(-line.size // PART), line.dtype)
            launch(self.names["ends"], low.size, low, high, line.size, line)
            ends = np.asarray([np.min(low.copy_to_host()), np.max(high.copy_to_host())])
        return np.histogram_bin_edges(ends, given[0], given[1] if self.has_range else None)

    def run(self, run: Any) -> None:
        line, *more = self.arrays(run)
        edges = self._edges(run, line, more).astype(self.types[1])
        number, places = edges.size - 1, empty(line.size, np.int64)
        launch(self.names["bins"], line.size, places, line.size, line, cuda.to_device(edges), number)
        weights = more[-1] if self.has_weights else None
        counts = cuda.to_device(np.zeros(number + 1, np.int64 if weights is None else weights.dtype))
        if weights is None:
            launch(self.names["count"], line.size, line.size, counts, places)
        elif line.size:
            order = sorted_order(self.sort, places, 1, line.size, 1)
            launch(self.weighted["kernel"], line.size, counts, places, order, line.size, 1, weights)
        found = counts.copy_to_host()[:number]
        if self.is_density:
            found = found / np.diff(edges) / found.sum()
        self.found(run, cuda.to_device(found.astype(self.types[0])), cuda.to_device(edges))


#: The steps of nodes whose elements are not a part of other kernels, beside stores.
_STEPS: dict[How, Callable[[Node, Places], Step]] = {
    How.REDUCED: Folded,
    How.SCANNED: Scanned,
    How.SORTED: Sorted,
    How.TILED: Tiled,
    How.PART: Part,
    How.HOST: OnHost,
    How.CHOSEN: Chosen,
    How.RUNS: Runs,
    How.TOP: Top,
    How.MERGED: Merged,
    How.COMBINED: Combined,
    How.SEGMENTS_REDUCED: Segments,
    How.SEGMENTS_SCANNED: Segments,
    How.COUNTED: Counted,
    How.BINNED: Binned,
}


def step_of(node: Node, places: Places, in_place: bool) -> Step:
    """The step of a node whose elements are not a part of other kernels."""
    kind = how(node)
    if kind in (How.STORED, How.SCATTERED):
        return (Stored if kind is How.STORED else Scattered)(node, places, in_place)
    return _STEPS[kind](node, places)
