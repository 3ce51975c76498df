"""Regions whose last operations are computed piece by piece: the text of their loops.

Operations of elements from which nothing else is computed than the region's result are in the loops, on slices of
their operands. All others are computed before, as in any region.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from lancehead.xp.graph import Node, Op
from lancehead.xp.rows import Kind
from lancehead.xp.schedules import Schedule

#: For each of a node's first axes the axis of the loops along which it is cut, or -1; nothing if it is whole.
Cut = tuple[int, ...]


class Loops(NamedTuple):
    """The facts that the text depends on; equal ones are one structure."""

    #: For each operation, and each array.
    entries: tuple[Cut, ...]
    leaves: tuple[Cut, ...]
    #: The operation that is cut: the result's, or the one that it reduces.
    base: int
    dtype: str
    #: How the results of pieces are combined, if they are not parts of the result.
    combined: str
    #: How many axes may be cut.
    ndim: int
    #: The number of the first operand of the loops: extents of the base and of the result, sizes of pieces.
    operand: int


def loops_of(
    schedule: Schedule, root: Node, nodes: Sequence[Node], leaves: Sequence[Node], place: Any, numbers: list[Any]
) -> Loops:
    """The loops of a region whose result is the root; adds their operands to the numbers."""
    base = root.inputs[0] if root.op.kind is Kind.REDUCTION else root
    rows = (math.ceil(base.shape[0] / schedule.chunks),) if schedule.chunks else schedule.tile
    assert rows is not None, "pieces have a size"
    law = None if base is root or not reduces_rows(root) else root.op.row.law
    facts = Loops(
        tuple(_cut(n, base.shape, len(rows)) for n in nodes),
        tuple(_cut(n, base.shape, len(rows)) for n in leaves),
        place[base],
        "np.bool_" if root.dtype.kind == "b" else f"np.{root.dtype.name}",
        "" if law is None else law.ufunc,
        len(rows),
        len(numbers),
    )
    numbers += [base.shape, root.shape, *(max(n, 1) for n in rows)]
    return facts


def _cut(node: Node, shape: tuple[int, ...], count: int) -> Cut:
    before = max(len(shape) - len(node.shape), 0)
    cut = [k if shape[k] != 1 and node.shape[k - before] == shape[k] else -1 for k in range(before, count)]
    while cut and cut[-1] == -1:
        cut.pop()
    return tuple(cut)


def reduces_rows(node: Node) -> bool:
    """Whether a reduction is along the first axis, among others."""
    axes = node.op.static[1]
    return axes is None or 0 in (axes if isinstance(axes, tuple) else (axes,))


class Looped:
    """The operations of a region with loops: `inside` are those of which the loops compute pieces."""

    def __init__(self, entries: Sequence[Any], first: Sequence[int], kept: Sequence[int], loops: Loops) -> None:
        self.entries, self.first, self.kept, self.loops = entries, first, kept, loops
        self.root = kept[0]
        self.base = first[loops.base] if loops.base >= 0 else loops.base
        self.inside = self._inside()

    def _inside(self) -> set[int]:
        # Operations of elements of which the loops compute pieces.
        users: dict[int, set[int]] = {}
        for i, (_, inputs, _dynamic) in enumerate(self.entries):
            if self.first[i] == i:
                for k in inputs:
                    if k >= 0:
                        users.setdefault(self.first[k], set()).add(i)
        found = {self.root} if self.cut(self.base) else set()
        for i in range(self.root - 1, -1, -1):
            op: Op = self.entries[i][0]
            if (
                self.first[i] == i
                and op.kind is Kind.ELEMENTWISE
                and i not in self.kept
                and users.get(i, {-1}) <= found
                and self.cut(i)
            ):
                found.add(i)
        return found

    def cut(self, k: int) -> Cut:
        """The axes along which an operation or an array is cut."""
        return self.loops.entries[k] if k >= 0 else self.loops.leaves[-k - 1]

    def lines(self, name: Callable[[int], str], numbers: Callable[[int], str]) -> list[str]:
        """The lines of the loops, whose result is `out`, for names of operations and arrays, and of numbers."""
        loops, n = self.loops, self.loops.operand
        axes = [k for k in self.cut(self.base) if k >= 0]
        step = {k: numbers(n + 2 + k) for k in axes}
        shape = numbers(n)
        at, body = self._piece(name, numbers, step)
        if loops.combined:
            (k,) = axes
            again = f"out = np.{loops.combined}(out, {body[-1]})"
            lines = ["k0 = 0", *body[:-1], f"out = {body[-1]}"]
            start, body = {k: step[k]}, [*body[:-1], again]
        else:
            lines = [f"out = np.empty({numbers(n + 1)}, {loops.dtype})"]
            start, body = dict.fromkeys(axes, "0"), [*body[:-1], f"out[{at}] = {body[-1]}"]
        depth = 0
        for k in axes:
            lines.append(f"{'    ' * depth}for k{k} in range({start[k]}, {shape}[{k}], {step[k]}):")
            depth += 1
        return lines + ["    " * depth + line for line in body]

    def _piece(
        self, name: Callable[[int], str], numbers: Callable[[int], str], step: dict[int, str]
    ) -> tuple[str, list[str]]:
        # Where a piece is in the result, and the lines that compute it; the last is an expression.
        def place(cut: Cut) -> str:
            return ", ".join(f"k{k}:k{k} + {step[k]}" if k >= 0 else ":" for k in cut)

        def piece(k: int) -> str:
            k = self.first[k] if k >= 0 else k
            if k in self.inside or not self.cut(k):
                return name(k)
            if k not in pieces:
                pieces.add(k)
                body.append(f"p{name(k)} = {name(k)}[{place(self.cut(k))}]")
            return f"p{name(k)}"

        body: list[str] = []
        pieces: set[int] = set()
        for i in sorted(self.inside):
            op, inputs, dynamic = self.entries[i]
            text = op.text([piece(k) for k in inputs] + [numbers(k) for k in dynamic])
            body.append(text if i == self.root else f"t{i} = {text}")
        return place(self.cut(self.base)), body
