"""Rows of operations: what others may know of an operation, so that nobody asks for its name.

The module that makes an operation declares its row. Costs, schedules, and the plans and kernels of devices read the
columns.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any


class Kind(Enum):
    """The properties of an operation's result that others may rely on without reading its text."""

    OTHER = auto()
    #: It lies in the memory of the first input.
    VIEW = auto()
    #: All elements are the second of the dynamic operands.
    CONSTANT = auto()
    #: Integers that follow each other, from the first of the dynamic operands on.
    COUNTING = auto()
    #: An element depends on those of the inputs at its place, after broadcasting.
    ELEMENTWISE = auto()
    #: A reduction of NumPy; the constants are its name, axes, whether they are kept, and more arguments.
    REDUCTION = auto()
    #: Random numbers: another call of the same function gives others.
    DRAWN = auto()
    #: Products of matrices.
    PRODUCT = auto()


class How(Enum):
    """How an operation is computed on a device."""

    FUSED = "part of the kernel that needs its elements"
    REDUCED = "a reduction, of which its operands are a part"
    SCANNED = "a scan, of which its operands are a part"
    STORED = "a store of elements that are computed in its kernel"
    SCATTERED = "the same at places that are sorted before"
    SORTED = "merges of sorted parts, each by a kernel"
    TILED = "tiles of matrices"
    CHOSEN = "kernels that count what a mask chooses, and move it"
    RUNS = "kernels that count the beginnings of runs, and move them"
    TOP = "a sort of lines, of which a part is read"
    MERGED = "a kernel that finds for each element its place in the other line"
    COMBINED = "the same of different elements, of which some are moved"
    SEGMENTS_REDUCED = "a thread for each segment"
    SEGMENTS_SCANNED = "a thread for each segment, which keeps all results"
    COUNTED = "a kernel that counts integers"
    BINNED = "a kernel that finds the bins of elements, and counts these"
    PART = "one of several results"
    HOST = "the compiled function of the host, on the CPU device only"


class Element(Enum):
    """The generator in `kernels.py` of an element's text in the kernel that needs it."""

    UFUNC = auto()
    CAST = auto()
    PART_OF_COMPLEX = auto()
    CHOICE = auto()
    MAPPED = auto()
    CONSTANT = auto()
    COUNTING = auto()
    VIEW = auto()
    RESHAPED = auto()
    JOINED = auto()
    #: At a place in row-major order, in rows of the first axis, along an axis, or along an axis in each line.
    AT_PLACE = auto()
    OF_ROW = auto()
    ALONG = auto()
    IN_LINE = auto()
    SEARCHED = auto()
    STENCIL = auto()
    RANDOM = auto()


class Law(Enum):
    """The laws that combine elements: NumPy's function, and the result of no elements if there is one."""

    SUM = "add", 0
    PRODUCT = "multiply", 1
    GREATEST = "maximum", None
    LEAST = "minimum", None
    ALL = "logical_and", True
    ANY = "logical_or", False

    def __init__(self, ufunc: str, nothing: Any) -> None:
        self.ufunc, self.nothing = ufunc, nothing


class Gives(Enum):
    """The results that a reduction makes of the elements that a law combines."""

    WHOLE = auto()
    MEAN = auto()
    VARIANCE = auto()
    DEVIATION = auto()
    #: The place of the first element that decides.
    PLACE = auto()


@dataclass(frozen=True, eq=False)
class Row:
    """An operation without its constants. Rows are compared by identity."""

    name: str
    kind: Kind = Kind.OTHER
    #: The steps of a device that compute it. Operations whose elements have a text need none.
    how: How = How.HOST
    element: Element | None = None
    #: The law of NumPy's reductions and running results; those by operators of the program have none.
    law: Law | None = None
    gives: Gives = Gives.WHOLE
    #: Nanoseconds of an element on the host, if it takes longer than a pass through memory.
    nanoseconds: float | None = None
    #: How many simple operations an element costs in a kernel, and how often it reads an element of an operand.
    price: int = 1
    reads: int = 1
    #: Whether a node of it is the same on all devices.
    is_portable: bool = False
    #: Whether kernels have it for real numbers only.
    is_real: bool = False
    #: Whether the second operand has places along an axis, which are to be checked.
    takes_places: bool = False
    #: Whether elements are places along an axis, which need no check.
    gives_places: bool = False
    #: Whether elements are products, which kernels would round together with a sum that they are for.
    is_product: bool = False
    #: Whether numbers and truth values may be stored in an array of the node's shape; functions of elements and
    #: reductions may.
    fills: bool = False
    #: Kinds of types that it does not take, by NumPy's letters.
    refuses: str = ""
    #: Whether elements may raise errors.
    may_raise: bool = False

    @property
    def is_truth(self) -> bool:
        """Whether it asks for the truth of elements."""
        return self.law in (Law.ALL, Law.ANY)


@functools.cache
def plain(name: str) -> Row:
    """The row of an operation of which nothing is known."""
    return Row(name)
