"""The graph behind an array as text and as a picture."""

from __future__ import annotations

import html
import linecache
import math
from collections.abc import Sequence
from typing import Any

from lancehead._core import typeof
from lancehead.explain import Report
from lancehead.xp.array import OPERATORS, ndarray
from lancehead.xp.device_regions import steps_of
from lancehead.xp.devices import fetched
from lancehead.xp.graph import Node
from lancehead.xp.regions import Region, joined, region_of

_WIDTH, _HEIGHT, _GAP = 190, 44, 30


class Row:
    """An operation or an array of the graph as `explain` shows it."""

    __slots__ = ("bytes", "dtype", "inputs", "is_kept", "name", "note", "operation", "shape")

    def __init__(self, name: str, node: Node, inputs: Sequence[str], note: str, is_kept: bool) -> None:
        self.name, self.operation, self.inputs, self.note = name, node.op.name, tuple(inputs), note
        self.shape, self.dtype, self.is_kept = node.shape, node.dtype, is_kept
        self.bytes = math.prod(node.shape) * node.dtype.itemsize

    def __str__(self) -> str:
        what = f"{self.operation}({', '.join(self.inputs)})" if self.inputs else self.operation
        several = self.dtype.kind == "V"
        facts = "several results" if several else f"{self.dtype} {self.shape} {self.bytes:,} bytes"
        return f"{self.name:>4}  {what:<28}  {facts}{'  ' if self.note else ''}{self.note}"


class Explanation:
    """What computes an array: text when printed, a picture in a notebook.

    `rows` are the arrays and operations in their order, `report` says what became of them in the compiled function;
    None if the array has been computed. For an array on a device that is not the host, `kernels` are the texts of the
    kernels in their order instead.
    """

    def __init__(self, x: ndarray) -> None:
        node = x.node()
        self.report: Report | None = None
        self.kernels: list[str] = []
        self.rows = [Row("a0", node, (), "computed", True)]
        self.headline = "The array has been computed; nothing is left to do."
        if node.value is not None:
            return
        if x.device.number is not None:
            self._explain_device(x)
            return
        region, order, kept, arguments = region_of([node])
        _, leaves, _ = joined(order, kept)
        names = {n: f"a{i}" for i, n in enumerate(leaves)} | {n: f"t{i}" for i, n in enumerate(order)}
        self.rows = [Row(names[n], n, (), _number(n), True) for n in leaves]
        for i, n in enumerate(order):
            self.rows.append(Row(f"t{i}", n, [names[k] for k in n.inputs], _note(region, i, n in kept), n in kept))
        size = sum(r.bytes for r in self.rows if r.is_kept)
        self.headline = (
            f"{len(order)} operations on {len(leaves)} arrays and numbers are compiled as one function; arrays that it "
            f"reads and results that it gives have {size:,} bytes."
        )
        self.report = _report(region, arguments)

    def _explain_device(self, x: ndarray) -> None:
        node = x.node()
        order, kept, leaves, steps = steps_of(node)
        names = {n: f"a{i}" for i, n in enumerate(leaves)} | {n: f"t{i}" for i, n in enumerate(order)}
        self.rows = [Row(names[n], n, (), _number(n), True) for n in leaves]
        notes = {place: f"step {k}: {step.kind.value}" for k, step in enumerate(steps) for place, _, _ in step.outs}
        for i, n in enumerate(order):
            self.rows.append(Row(f"t{i}", n, [names[k] for k in n.inputs], notes.get(i, ""), n in kept))
        self.kernels = list(dict.fromkeys(step.text for step in steps if step.text))
        self.headline = (
            f"{len(order)} operations on {len(leaves)} arrays and numbers are computed on {x.device} in {len(steps)} "
            "steps; those without one are part of the kernels that read them."
        )

    def __str__(self) -> str:
        text = "\n".join([self.headline, "", *map(str, self.rows)])
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


def _note(region: Region, i: int, is_kept: bool) -> str:
    line = region.lines[i]
    if line is None:
        return f"the same as t{region.first[i]}"
    return "in place" if "_here(" in line else "the result" if is_kept else ""


def _report(region: Region, arguments: Sequence[Any]) -> Report:
    name = region.function.py_func.__code__.co_filename
    linecache.cache[name] = len(region.text), None, region.text.splitlines(keepends=True), name
    signature = tuple(typeof(x) for x in arguments)
    region.function.compile(signature)
    found: Report = region.function.explain(signature=signature)
    return found


def explain(x: ndarray, /) -> Explanation:
    """What computes an array: operations, which are compiled together, memory. Nothing is computed."""
    return Explanation(x)


OPERATORS["explain"] = explain

__all__ = ["Explanation", "explain"]
