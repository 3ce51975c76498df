"""Schedules on devices: what they may say there, and the graphs of arrays that are computed on another device."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from lancehead.xp.devices import CPU, as_device
from lancehead.xp.graph import TRANSFER, Node, transferred
from lancehead.xp.kernels import how
from lancehead.xp.regions import scheduled_among, unknown
from lancehead.xp.rows import How
from lancehead.xp.schedules import Schedule

#: Threads of a block of most kernels, and columns of a tile of a product.
THREADS, TILE = 256, 16
#: The most threads of a block.
_MOST = 1024

_FIXED = {
    How.REDUCED: "its order of elements says how many threads there are",
    How.PART: "it is one of several results of an operation",
    How.HOST: "there is no kernel of it",
}


def check(node: Node, schedule: Schedule) -> None:
    """Raises ValueError if a device cannot compute a node so."""
    kind = How.PART if node.parts else how(node)
    name = node.op.name
    if schedule.chunks is not None:
        raise ValueError("chunks are pieces one after the other, and kernels on a device compute all at once")
    if schedule.vectorize is not None:
        raise ValueError("vectorize is not for kernels on a device, whose threads compute an element each")
    if schedule.unroll is not None and kind is not How.FUSED:
        raise ValueError(f"unroll, elements of a thread, is for functions of elements, and the array is of {name}")
    if schedule.block is not None:
        if schedule.block > _MOST or schedule.block & (schedule.block - 1):
            raise ValueError(f"a block has a power of two of threads, up to {_MOST}, not {schedule.block}")
        if kind in _FIXED:
            raise ValueError(f"block has no effect on {name}: {_FIXED[kind]}")
    if kind is How.TILED:
        tile_of(schedule)
    elif schedule.tile is not None:
        raise ValueError(f"a tile is of products of matrices on a device, and the array is the result of {name}")
    elif schedule.shared is not None:
        raise ValueError(f"shared is for products of matrices, and the kernel of {name} gains nothing from it")


def tile_of(schedule: Schedule | None) -> int:
    """Rows and columns of a tile of a product of matrices; ValueError for a tile that its kernel does not have."""
    if schedule is None:
        return TILE
    sizes = {n for n in schedule.tile or () if n in (2, 4, 8, 16, 32)}
    if schedule.tile is not None and (len(schedule.tile) != 2 or len(sizes) != 1 or len(set(schedule.tile)) != 1):
        raise ValueError(f"a tile of a product has as many rows as columns: 2, 4, 8, 16 or 32, not {schedule.tile}")
    if schedule.block is not None:
        root = 1 << schedule.block.bit_length() // 2
        if root * root != schedule.block or root < 2 or (sizes and sizes != {root}):
            raise ValueError(
                f"a product has a thread for each element of a tile: 4, 16, 64, 256 or 1024, and not {schedule.block}"
                + (f" for {schedule.tile}" if sizes else "")
            )
        return root
    return next(iter(sizes), TILE)


def check_place(node: Node) -> None:
    """Raises ValueError if a node cannot be computed on another device than its own."""
    if not node.op.row.is_portable or node.parts or how(node) in (How.PART, How.HOST):
        raise ValueError(
            f"{node.op.name} is not computed on another device than {node.device or CPU}; place is for functions of "
            "elements, reductions of NumPy, sorts and products, and x.to_device moves what others read"
        )


def is_elsewhere(node: Node) -> bool:
    """Whether a schedule has a node computed on another device than its own."""
    schedule = node.schedule
    if schedule is None or schedule.place is None or node.op is TRANSFER:
        return False
    return as_device(schedule.place) is not (node.device or CPU)


def elsewhere(node: Node) -> Node:
    """Moves the computation of a node to the device of its schedule, with the elementwise operations before it; other
    operands are copied.
    """
    schedule = node.schedule
    assert schedule is not None, "a schedule says where"
    where = as_device(schedule.place)
    moved, stack = {node}, [node]
    while stack:
        for n in stack.pop().inputs:
            is_free = n.value is None and n not in moved and not (n.schedule and n.schedule.is_apart)
            if is_free and n.op.row.is_portable and n.op.row.element is not None and not n.parts:
                moved.add(n)
                stack.append(n)
    copies: dict[Node, Node] = {}
    for n in sorted(moved, key=lambda n: n.serial):
        for k in n.inputs:
            if k not in copies:
                copies[k] = k if k.device is None or k.device is where else transferred(k, where)
        made = Node(n.op, tuple([copies[k] for k in n.inputs]), n.shape, n.dtype, n.dynamic, None, where)
        made.place, made.schedule = n.place, n.schedule
        copies[n] = made
    rest = dataclasses.replace(schedule, place=None)
    made.schedule = None if rest == Schedule() else rest
    return made


def again(order: Sequence[Node], kept: Sequence[Node]) -> tuple[Sequence[Node], Sequence[Node]]:
    """Operations in which those that are computed again have a copy for each that reads them, and the kept ones."""
    several = {n for n in scheduled_among(order) if n.schedule.recompute and n not in kept and _is_one(n)}
    if not several:
        return order, kept
    found: list[Node] = []
    made: dict[Any, Node] = {}
    for n in order:
        if n not in several:
            _copied(n, n, several, made, found)
    for n in order:
        if n.parts:
            made[n].parts = tuple([made[p] for p in n.parts])
    return found, [made[n] for n in kept]


def _is_one(n: Node) -> bool:
    return not n.parts and not (n.inputs and n.inputs[0].parts)


def _copied(n: Node, key: Any, several: set[Node], made: dict[Any, Node], found: list[Node]) -> None:
    inputs = []
    for k in n.inputs:
        known = (k, n) if k in several else k
        if k in several and known not in made:
            _copied(k, known, several, made, found)
        inputs.append(made.get(known, k))
    copy = made[key] = Node(n.op, tuple(inputs), n.shape, n.dtype, n.dynamic, None, n.device)
    # That it has parts says how it is computed; they are made later.
    copy.place, copy.schedule, copy.parts = n.place, n.schedule, n.parts
    found.append(copy)


def apart(wanted: Sequence[Node]) -> list[Node]:
    """The nodes behind others that schedules have computed by themselves, in the program's order."""
    return [n for n in scheduled_among(unknown(wanted)) if n.schedule.is_apart]


__all__ = ["THREADS", "again", "apart", "check", "check_place", "elsewhere", "is_elsewhere", "tile_of"]
