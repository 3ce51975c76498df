"""Schedules: how the program wants an array to be computed. They never change a result.

A schedule is data. It belongs to the operation whose result the array is, and is part of what a compiled region is
known by.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from lancehead.xp.graph import Node
from lancehead.xp.rows import Gives, Kind

#: The most elements in a row and of a vector, and the number that stands for as many as the compiler likes.
MOST, ANY = 64, 255


@dataclasses.dataclass(frozen=True)
class Schedule:
    """How an array is computed; None leaves a choice to lancehead.

    >>> from lancehead import xp
    >>> xp.Schedule(tile=(64, 64))
    Schedule(tile=(64, 64))
    >>> xp.Schedule(chunks=4) == xp.Schedule(chunks=4)
    True
    """

    #: Rows, columns and so on that are computed at a time.
    tile: tuple[int, ...] | None = None
    #: So many elements, or vectors of them, stand in a row in the loop over them; on a device, elements of a thread.
    unroll: int | None = None
    #: Elements of a vector; False and 1: none, True: the compiler chooses how many, though it expects no gain.
    vectorize: bool | int | None = None
    #: Threads of a block of kernels.
    block: int | None = None
    #: Whether kernels use the memory that threads of a block share.
    shared: bool | None = None
    #: The device.
    place: str | None = None
    #: False stores the value, so that operations on it are another region.
    fuse: bool | None = None
    #: True computes the value again for each operation that reads it, False stores it once.
    recompute: bool | None = None
    #: So many pieces along the first axis.
    chunks: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.tile, int) and not isinstance(self.tile, bool):
            object.__setattr__(self, "tile", (self.tile,))
        if self.tile is not None:
            _check(isinstance(self.tile, (tuple, list)), f"tile is a tuple of numbers, not {self.tile!r}")
            object.__setattr__(self, "tile", tuple(self.tile))
            for n in self.tile:
                _positive("tile", n)
        for name in ("unroll", "chunks", "block", "vectorize"):
            n = getattr(self, name)
            if n is not None and not (name == "vectorize" and isinstance(n, bool)):
                _positive(name, n)
        if type(self.vectorize) is int and self.vectorize == 1:
            # Vectors of one element are none; as a number this would equal True.
            object.__setattr__(self, "vectorize", False)
        for name in ("fuse", "recompute", "shared"):
            _check(getattr(self, name) in (None, True, False), f"{name} is True or False, not {getattr(self, name)!r}")
        if self.place is not None:
            object.__setattr__(self, "place", str(self.place))
        self._agree()

    def _agree(self) -> None:
        if self.tile is not None and self.chunks is not None:
            raise ValueError("tile has the rows of a piece, so that there are no chunks beside it")
        if self.is_apart and self.fuse:
            raise ValueError("loops and a device are of a region that ends with the array; fuse=True denies it one")
        if self.is_apart and self.recompute:
            raise ValueError("recompute=True is for values that are not stored; they have no region of their own")

    @property
    def has_loops(self) -> bool:
        """Whether the region is computed piece by piece."""
        return self.tile is not None or self.chunks is not None

    @property
    def is_apart(self) -> bool:
        """Whether a region ends with the array."""
        says = (self.place, self.block, self.shared, self.unroll, self.vectorize)
        return self.fuse is False or self.has_loops or any(x is not None for x in says)

    @property
    def hint(self) -> tuple[int, int]:
        """The hint for loops over elements: how many are unrolled, and the width of a vector; 0 for no hint."""
        if self.vectorize is True:
            return self.unroll or 0, ANY
        return self.unroll or 0, 0 if self.vectorize is None else max(int(self.vectorize), 1)

    def __repr__(self) -> str:
        said = [(f.name, getattr(self, f.name)) for f in dataclasses.fields(self)]
        return f"Schedule({', '.join(f'{name}={x!r}' for name, x in said if x is not None)})"


def _check(holds: bool, text: str) -> None:
    if not holds:
        raise TypeError(text)


def _positive(name: str, n: Any) -> None:
    _check(isinstance(n, int) and not isinstance(n, bool), f"{name} is of integers, not {n!r}")
    if n < 1:
        raise ValueError(f"{name} is positive, not {n}")


#: Checks of `device_schedules`, which imports this module: another place, and the schedule of a device.
ON_DEVICES: list[Callable[..., None]] = []


def check(node: Node, schedule: Schedule, device: Callable[[Any], Any]) -> None:
    """Raises ValueError if a node cannot be computed so; `device` finds the device of a name, and raises so, too."""
    own = device("cpu") if node.device is None else node.device
    where = own if schedule.place is None else device(schedule.place)
    if node.value is not None:
        raise ValueError("the array has been computed, so that a schedule has no effect")
    if where is not own:
        ON_DEVICES[0](node)
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
        ON_DEVICES[1](node, schedule)


def _check_hint(node: Node, schedule: Schedule) -> None:
    for name in ("unroll", "vectorize"):
        n = getattr(schedule, name)
        if n is None:
            continue
        if not isinstance(n, bool) and (n > MOST or n & (n - 1)):
            raise ValueError(f"{name} is a power of two, up to {MOST}, not {n}")
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


__all__ = ["Schedule"]
