"""Whether an array can be computed as a schedule says, and the schedules that arrays get."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from lancehead.xp.graph import Node, backend
from lancehead.xp.rows import Gives, Kind
from lancehead.xp.schedules import Schedule

#: The most elements in a row and of a vector.
_MOST = 64


def check(node: Node, schedule: Schedule, device: Callable[[Any], Any]) -> None:
    """Raises ValueError if a node cannot be computed so; `device` finds the device of a name, and raises so, too."""
    own = device("cpu") if node.device is None else node.device
    where = own if schedule.place is None else device(schedule.place)
    if node.value is not None:
        raise ValueError("the array has been computed, so that a schedule has no effect")
    if where is not own:
        backend().check_place(node)
    if where.number is None:
        for name in ("block", "shared"):
            if getattr(schedule, name) is not None:
                raise ValueError(
                    f"{name} is for the launch of kernels on a device, and this array is computed on 'cpu'"
                )
        _check_hint(node, schedule)
        if schedule.has_loops:
            _check_loops(node, schedule)
    else:
        backend().check_schedule(node, schedule)


def _check_hint(node: Node, schedule: Schedule) -> None:
    for name in ("unroll", "vectorize"):
        n = getattr(schedule, name)
        if n is None:
            continue
        if not isinstance(n, bool) and (n > _MOST or n & (n - 1)):
            raise ValueError(f"{name} is a power of two, up to {_MOST}, not {n}")
        if node.op.kind is not Kind.ELEMENTWISE:
            raise ValueError(
                f"{name} is of the loop over the elements of functions of these, and the array is the result of "
                f"{node.op.name}"
            )
    if schedule.vectorize and node.dtype.kind == "V":
        raise ValueError(f"there are no vectors of {node.dtype}")


def _check_loops(node: Node, schedule: Schedule) -> None:
    name, row, is_reduction = node.op.name, node.op.row, node.op.kind is Kind.REDUCTION
    if node.op.kind is not Kind.ELEMENTWISE and not (is_reduction and schedule.chunks is not None):
        of = "functions of elements" if schedule.chunks is None else "functions of elements and reductions"
        raise ValueError(f"pieces are of {of}, and the array is the result of {name}")
    base = node.inputs[0] if is_reduction else node
    if -1 in base.shape:
        raise ValueError("the array's shape depends on values, so that it has no pieces")
    if schedule.tile is not None and len(schedule.tile) != len(base.shape):
        raise ValueError(f"a tile {schedule.tile} does not fit an array with {len(base.shape)} axes")
    if not base.shape:
        raise ValueError("an array without axes has no chunks")
    if not is_reduction:
        return
    _, axes, _, _ = node.op.static
    if axes is None or 0 in (axes if isinstance(axes, tuple) else (axes,)):
        # Results of pieces are combined by the law, which gives the same whatever the pieces are.
        if not row.is_truth and (row.gives is not Gives.WHOLE or base.dtype.kind not in "biu"):
            raise ValueError(
                f"chunks of {name} along the first axis of {base.dtype} would change the order in which floats are "
                "combined"
            )


_NAMES = [f.name for f in dataclasses.fields(Schedule)]


def scheduled(node: Node, given: Schedule | None, options: dict[str, Any], device: Callable[[Any], Any]) -> None:
    """Gives a node a schedule, or takes it away if nothing is said."""
    if given is not None and not isinstance(given, Schedule):
        raise TypeError(f"a schedule is a Schedule, not {type(given).__name__}; options have names")
    for name in options:
        if name not in _NAMES:
            raise TypeError(f"a schedule has no option {name!r}; there are {', '.join(_NAMES)}")
    schedule = Schedule(**options) if given is None else dataclasses.replace(given, **options)
    if schedule == Schedule():
        node.schedule = None
        return
    check(node, schedule, device)
    node.schedule = schedule


__all__ = ["check", "scheduled"]
