"""Estimates of the memory and the time that a region takes, from its operations alone."""

from __future__ import annotations

import math

from lancehead.xp.graph import Node, size
from lancehead.xp.regions import Step
from lancehead.xp.rows import Kind

#: Nanoseconds of an element, where the row does not say them.
_CHEAP, _COSTLY = 0.25, 4.0
_BYTES_OF_A_NANOSECOND = 8.0
#: Microseconds of a call.
_CALL = 5.0


def stored(step: Step) -> set[Node]:
    """Operations whose results are likely in memory: all but those of elements that are computed where they are read,
    and views."""
    readers: dict[Node, list[Node]] = {}
    for n in step.order:
        for k in n.inputs:
            readers.setdefault(k, []).append(n)
    joins = (Kind.ELEMENTWISE, Kind.REDUCTION)
    kept = set(step.kept)
    found = set()
    for n in step.order:
        without = n.op.kind in (Kind.VIEW, Kind.CONSTANT, Kind.COUNTING) or n.dtype.kind == "V" or not n.shape
        joined = n.op.kind is Kind.ELEMENTWISE and all(r.op.kind in joins for r in readers.get(n, ()))
        if n in kept or not (without or joined):
            found.add(n)
    return found


def peak(step: Step) -> int:
    """Bytes of results that are in memory at a time, at most, if each is released after its last use."""
    in_memory = stored(step)
    last: dict[Node, int] = {}
    for i, n in enumerate(step.order):
        for k in n.inputs:
            # Views, and what is computed where it is read, need what they are made of for as long as they are used.
            last[k] = i
    for n in reversed(step.order):
        if n not in in_memory:
            for k in n.inputs:
                last[k] = max(last[k], last.get(n, 0))
    for n in step.kept:
        last[n] = len(step.order)
    now = most = 0
    ends: dict[int, int] = {}
    for i, n in enumerate(step.order):
        if n in in_memory:
            now += size(n)
            end = last.get(n, i)
            ends[end] = ends.get(end, 0) + size(n)
        most = max(most, now)
        now -= ends.pop(i, 0)
    return most


def seconds(step: Step) -> float:
    """The time that the region takes once it is compiled, as a rough prediction."""
    in_memory = stored(step)
    traffic = sum(map(size, step.leaves)) + 2 * sum(map(size, in_memory)) - sum(map(size, step.kept))
    total = traffic / _BYTES_OF_A_NANOSECOND + _CALL * 1e3
    for n in step.order:
        if n.op.kind in (Kind.VIEW, Kind.CONSTANT, Kind.COUNTING) or n.dtype.kind == "V":
            continue
        each = n.op.row.nanoseconds or (_COSTLY if n.op.is_costly else _CHEAP)
        elements = max([abs(math.prod(n.shape)), *(abs(math.prod(k.shape)) for k in n.inputs)])
        if n.op.kind is Kind.PRODUCT:
            elements = math.prod(n.shape) * n.inputs[0].shape[-1]
        total += each * elements
    return total * 1e-9
