"""The graph behind an array as text and as a picture."""

from __future__ import annotations

import html
import linecache
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lancehead._core import typeof
from lancehead.explain import Report
from lancehead.xp import costs
from lancehead.xp.arrays import ndarray
from lancehead.xp.device_loops import Step as DeviceStep
from lancehead.xp.device_regions import steps_of, transfer
from lancehead.xp.device_schedules import elsewhere, is_elsewhere
from lancehead.xp.devices import CPU, fetched, has_kernels
from lancehead.xp.graph import Node, size, transferred
from lancehead.xp.regions import Step, groups, region_of
from lancehead.xp.rows import Kind
from lancehead.xp.schedules import Schedule

_WIDTH, _HEIGHT, _GAP = 190, 44, 30


class Row:
    """An operation or an array of the graph as `explain` shows it."""

    __slots__ = ("bytes", "dtype", "inputs", "is_kept", "name", "note", "operation", "shape")

    def __init__(self, name: str, node: Node, inputs: Sequence[str], note: str, is_kept: bool) -> None:
        self.name, self.operation, self.inputs, self.note = name, node.op.name, tuple(inputs), note
        self.shape, self.dtype, self.is_kept = node.shape, node.dtype, is_kept
        self.bytes = size(node)

    def __str__(self) -> str:
        what = f"{self.operation}({', '.join(self.inputs)})" if self.inputs else self.operation
        several = self.dtype.kind == "V"
        facts = "several results" if several else f"{self.dtype} {self.shape} {self.bytes:,} bytes"
        return f"{self.name:>4}  {what:<28}  {facts}{'  ' if self.note else ''}{self.note}"


@dataclass(frozen=True)
class RegionFacts:
    """A region: its result, the operations that are compiled together, its schedule, bytes and seconds.

    `temporaries` are bytes of results in memory at a time; those whose values are not needed any more share memory.
    Predictions are rough; what was measured is the last evaluation of the structure, of whatever size, if there was
    one beside the first.
    """

    result: str
    operations: tuple[str, ...]
    schedule: Schedule | None
    read: int
    written: int
    temporaries: int
    predicted: float
    measured: float | None

    def __str__(self) -> str:
        schedule = "" if self.schedule is None else f", by {self.schedule}"
        measured = "not measured" if self.measured is None else f"measured {_duration(self.measured)}"
        return (
            f"region of {self.result}: {len(self.operations)} operations as one function{schedule}; "
            f"reads {self.read:,} bytes, writes {self.written:,}, needs {self.temporaries:,} at a time; "
            f"predicted {_duration(self.predicted)}, {measured}"
        )


def _duration(seconds: float) -> str:
    return (
        f"{seconds * 1e6:.3g} us"
        if seconds < 1e-3
        else f"{seconds * 1e3:.3g} ms"
        if seconds < 1
        else f"{seconds:.3g} s"
    )


class Explanation:
    """The explanation of how an array is computed: text when printed, a picture in a notebook.

    `rows` are the arrays and operations in their order, `regions` the functions that compute them one after the other.
    `report` says what became of the operations in the last function; None if the array has been computed. For an array
    on a device that is not the host, `kernels` are the texts of the kernels in their order instead.
    """

    def __init__(self, x: ndarray) -> None:
        node = x.node()
        self.report: Report | None = None
        self.regions: list[RegionFacts] = []
        self.kernels: list[str] = []
        self.rows = [Row("a0", node, (), "computed", True)]
        self.headline = "The array has been computed; nothing is left to do."
        if node.value is not None:
            return
        if is_elsewhere(node):
            self._explain_elsewhere(node)
            return
        transfer([node])
        if node.value is not None:
            return
        if has_kernels(x.device):
            self._explain_device(x)
            return
        names: dict[Node, str] = {}
        steps: list[Step] = []
        self.rows = []
        for some in groups([node]):
            step = region_of(some, [n for s in steps for n in s.kept])
            steps.append(step)
            self._add(step, names)
        leaves = sum(n.value is not None for n in names)
        size = sum(r.bytes for r in self.rows if r.is_kept)
        count = f"{len(names) - leaves} operations on {leaves} arrays and numbers are compiled as "
        functions = "one function" if len(steps) == 1 else f"{len(steps)} functions"
        self.headline = (
            f"{count}{functions}; arrays that it reads and results that it gives have {size:,} bytes."
            if len(steps) == 1
            else f"{count}{functions}; arrays that they read and results that they give have {size:,} bytes."
        )
        self.report = _report(steps[-1])

    def _add(self, step: Step, names: dict[Node, str]) -> None:
        # The rows and the facts of a region.
        count = sum(n.value is not None for n in names)
        first = sum(row.name.startswith("t") for row in self.rows)
        for n in step.leaves:
            if n not in names:
                names[n] = f"a{count}"
                count += 1
                self.rows.append(Row(names[n], n, (), _number(n), True))
        names.update((n, f"t{first + i}") for i, n in enumerate(step.order))
        stored = costs.stored(step)
        for n in step.order:
            note, is_kept = _note(step, n, names) or _joined(step, n, names, n in stored), n in step.kept
            self.rows.append(Row(names[n], n, [names[k] for k in n.inputs], note, is_kept))
        root = step.kept[0]
        self.regions.append(
            RegionFacts(
                names[root],
                tuple(names[n] for n in step.order),
                root.schedule,
                sum(map(size, step.leaves)),
                sum(map(size, step.kept)),
                costs.peak(step),
                costs.seconds(step),
                step.region.seconds,
            )
        )

    def _explain_elsewhere(self, node: Node) -> None:
        # Explains the computation on the other device, and adds the copy.
        found = Explanation(ndarray(elsewhere(node)))
        self.report, self.regions, self.kernels = found.report, found.regions, found.kernels
        self.headline = f"{found.headline} The result is copied to {node.device or CPU}."
        self.rows = [*found.rows, Row("copy", transferred(node, node.device or CPU), [found.rows[-1].name], "", True)]
        self.rows[-1].note = f"the result, by {node.schedule}"

    def _explain_device(self, x: ndarray) -> None:
        node = x.node()
        order, kept, leaves, steps, numbers, launches = steps_of(node)
        names = {n: f"a{i}" for i, n in enumerate(leaves)} | {n: f"t{i}" for i, n in enumerate(order)}
        self.rows = [Row(names[n], n, (), _number(n), True) for n in leaves]
        for n in order:
            note = ""
            if n in numbers:
                k = numbers[n]
                note = f"step {k}: {steps[k].kind.value}{_launch(steps[k], launches[k])}"
                note += f", by {n.schedule}" if n.schedule is not None else ""
            self.rows.append(Row(names[n], n, [names[i] for i in n.inputs], note, n in kept))
        self.kernels = list(dict.fromkeys(step.text for step in steps if step.text))
        self.headline = (
            f"{len(order)} operations on {len(leaves)} arrays and numbers are computed on {x.device} in {len(steps)} "
            "steps; those without one are part of the kernels that read them."
        )

    def __str__(self) -> str:
        text = "\n".join([self.headline, "", *map(str, self.rows), "", *map(str, self.regions)])
        text = "\n\n".join([text, *self.kernels])
        return text if self.report is None else f"{text}\n\n{self.report}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rest = "".join(f"<pre>{html.escape(text)}</pre>" for text in self.kernels)
        rest += "" if self.report is None else self.report._repr_html_()
        return f"<p>{html.escape(self.headline)}</p>{self.svg()}{rest}"

    def svg(self) -> str:
        """The graph as a picture: arrays on top, each operation below its operands."""
        level: dict[str, int] = {}
        count: dict[int, int] = {}
        place: dict[str, tuple[int, int]] = {}
        for row in self.rows:
            y = level[row.name] = 1 + max([level[k] for k in row.inputs], default=-1)
            place[row.name] = (count.get(y, 0) * (_WIDTH + _GAP), y * (_HEIGHT + _GAP))
            count[y] = count.get(y, 0) + 1
        width, height = max(count.values()) * (_WIDTH + _GAP), len(count) * (_HEIGHT + _GAP)
        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-size="12">']
        for row in self.rows:
            x, y = place[row.name]
            for k in row.inputs:
                u, v = place[k]
                ends = f'x1="{u + _WIDTH // 2}" y1="{v + _HEIGHT}" x2="{x + _WIDTH // 2}" y2="{y}"'
                parts.append(f'<line {ends} stroke="gray"/>')
            fill = "#dbe7ff" if row.is_kept else "#f2f2f2"
            parts.append(
                f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="5" fill="{fill}" stroke="gray"/>'
            )
            for line, text in enumerate((f"{row.name} {row.operation}", f"{row.dtype} {row.shape} {row.note}")):
                parts.append(f'<text x="{x + 8}" y="{y + 17 + 17 * line}" fill="black">{html.escape(text)}</text>')
        return "".join([*parts, "</svg>"])


def _number(node: Node) -> str:
    return "" if node.shape or node.value is None else f"= {fetched(node.value)[()]}"


def _joined(step: Step, node: Node, names: dict[Node, str], is_stored: bool) -> str:
    # Predicts with which operations it is fused, or why it is stored. The compiler's report tells the actual result.
    if node.dtype.kind == "V" or node.op.kind is Kind.VIEW:
        return ""
    readers = [n for n in step.order if node in n.inputs]
    if not is_stored:
        return f"joined with {', '.join(dict.fromkeys(names[n] for n in readers))}"
    if node.op.kind is not Kind.ELEMENTWISE:
        return "stored"
    whole = [n for n in readers if n.op.kind not in (Kind.ELEMENTWISE, Kind.REDUCTION)]
    return f"stored, as {', '.join(dict.fromkeys(names[n] for n in whole))} reads other elements of it, too"


def _note(step: Step, node: Node, names: dict[Node, str]) -> str:
    region = step.region
    i = step.place.get(node)
    if i is None:
        copies = sum(type(k) is tuple and k[0] is node for k in step.place)
        return f"computed again in {copies} operations, by {node.schedule}"
    line = region.lines[i]
    if line is None:
        first = next(n for n in step.order if step.place.get(n) == region.first[i])
        return f"the same as {names[first]}"
    if "_here(" in line:
        return "in place"
    if i in region.inside:
        return "the result, in pieces" if node is step.kept[0] else "in pieces"
    if node not in step.kept:
        return ""
    if node.schedule is not None:
        return f"the result, by {node.schedule}"
    return "the result" if node is step.kept[0] else "the result, which the program holds"


def _launch(step: DeviceStep, launched: tuple[int, int]) -> str:
    # How its kernel is launched.
    if not step.text:
        return ""
    return f", {launched[0]} threads a block" + (f", {launched[1]} elements a thread" if launched[1] > 1 else "")


def _report(step: Step) -> Report:
    region = step.region
    name = region.function.py_func.__code__.co_filename
    linecache.cache[name] = len(region.text), None, region.text.splitlines(keepends=True), name
    # Results of earlier regions are not there; they will be arrays in row-major order.
    values = [np.empty((0,) * len(n.shape), n.dtype) if n.value is None else n.value for n in step.leaves]
    signature = tuple(typeof(x) for x in [*values, *step.numbers])
    region.function.compile(signature)
    found: Report = region.function.explain(signature=signature)
    return found


__all__ = ["Explanation"]
