"""Schedules: how the program wants an array to be computed. They never change a result.

A schedule is data. It belongs to the operation whose result the array is, and is part of what a compiled region is
known by.
"""

from __future__ import annotations

import dataclasses
from typing import Any

#: The number of elements of a vector that stands for as many as the compiler likes.
_ANY = 255


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
            return self.unroll or 0, _ANY
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


__all__ = ["Schedule"]
