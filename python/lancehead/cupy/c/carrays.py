"""Arrays and indexers of CuPy's kernels: `CArray` and `CIndexer` of its header `carray.cuh`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lancehead.cupy.c.tokens import Failure
from lancehead.cupy.c.values import BOOL, INT, LONG, Pointer, Value, constant, exact, loaded

if TYPE_CHECKING:
    from lancehead.cupy.c.parsing import Node
    from lancehead.cupy.c.writing import Writer


@dataclass(frozen=True)
class Indexed:
    """An array of a kernel: the name of its dense memory, its type, rank, and names of its extents and strides.

    Memory of one element stands for all of them, if it is said so; `size` is the text of their number.
    """

    name: str
    of: np.dtype[Any]
    ndim: int
    shape: str
    strides: str
    size: str
    is_one: bool = False
    is_contiguous: bool = True

    def element(self, w: Writer, at: Value, line: int) -> Value:
        """An element by its number in row-major order, or by an array of indices."""
        if at.is_pointer:
            place = self._of_indices(w, at)
        elif at.type is not None and at.type.kind in "biu":
            place = at.text
        else:
            raise Failure("indices of raw arrays are integers", line)
        return Value("0" if self.is_one else place, self.of, base=self.name, is_element=True)

    def _of_indices(self, w: Writer, at: Value) -> str:
        p = w.decayed(at)
        text = ""
        for k in range(self.ndim):
            index = loaded(f"{p.base}[{w.place(p)} + {k}]", p.type.of).text
            extent = f"{w.needed(self.shape)}[{k}]" if k else ""
            text = f"({text} * {extent} + {index})" if k else f"np.int64({index})"
        return text or "0"

    def of_list(self, w: Writer, items: list[Node], line: int) -> Value:
        """An element by its indices in braces."""
        if len(items) != self.ndim:
            raise Failure(f"{self.ndim} indices are needed, not {len(items)}", line)
        text = "0"
        for k, item in enumerate(items):
            index = exact(w.value(item)).text
            text = f"({text} * {w.needed(self.shape)}[{k}] + {index})" if k else f"np.int64({index})"
        return self.element(w, Value(text, LONG), line)

    def member(self, name: str, line: int) -> Value:
        """A constant of the class."""
        if name == "ndim":
            return constant(self.ndim, INT)
        if name == "c_contiguous":
            return constant(self.is_contiguous, BOOL)
        raise Failure(f'class "CArray" has no member "{name}"', line)

    def method(self, w: Writer, name: str, given: list[Value], line: int) -> Value:
        """The result of a method."""
        if given or name not in ("size", "shape", "strides"):
            raise Failure(f'class "CArray" has no member function "{name}" of {len(given)} arguments', line)
        if name == "size":
            return Value(self.size, LONG)
        return Value("", Pointer(LONG), base=w.needed(self.shape if name == "shape" else self.strides))


@dataclass(frozen=True)
class Indexer:
    """The indexer of a kernel's elements: its name, rank, and the texts of its size and of the place where it is."""

    name: str
    ndim: int
    size: str
    place: str

    def member(self, name: str, line: int) -> Value:
        """A constant of the class."""
        if name == "ndim":
            return constant(self.ndim, INT)
        raise Failure(f'class "CIndexer" has no member "{name}"', line)

    def method(self, w: Writer, name: str, given: list[Value], line: int) -> Value:
        """The result of a method."""
        if len(given) != (name == "set") or name not in ("size", "get", "set"):
            raise Failure(f'class "CIndexer" has no member function "{name}" of {len(given)} arguments', line)
        if name == "size":
            return Value(self.size, LONG)
        at = w.needed(f"{self.name}_at")
        if name == "get":
            return Value("", Pointer(LONG), base=at)
        for text in self.setting(w, exact(given[0]).text):
            w.add(text)
        return Value("0", None)

    def setting(self, w: Writer, place: str) -> list[str]:
        """Lines that make the indices those of a place."""
        shape = w.needed(f"{self.name}_shape")
        lines = [f"{self.name}_rest = np.int64({place})"]
        for k in range(self.ndim - 1, 0, -1):
            lines.append(f"{self.name}_at[{k}] = {self.name}_rest % {shape}[{k}]")
            lines.append(f"{self.name}_rest = {self.name}_rest // {shape}[{k}]")
        return [*lines, *([f"{self.name}_at[0] = {self.name}_rest"] if self.ndim else [])]

    def begin(self, w: Writer) -> list[str]:
        """Lines that make the memory of the indices, if the text asks for them."""
        if f"{self.name}_at" not in w.needs:
            return []
        made = [f"{self.name}_at = cuda.local.array({max(self.ndim, 1)}, np.int64)"]
        return made + [f"{self.name}_at[{k}] = 0" for k in range(self.ndim)]

    def enter(self, w: Writer) -> list[str]:
        """Lines that make the indices those of the element, if the text asks for them."""
        return self.setting(w, self.place) if f"{self.name}_at" in w.needs else []


__all__ = ["Indexed", "Indexer"]
