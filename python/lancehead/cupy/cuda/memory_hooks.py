"""Hooks that print what pools do, and which lines ask for memory."""

from __future__ import annotations

import json
import sys
import traceback
from typing import Any

from lancehead.cupy.cuda.memory_hook import MemoryHook
from lancehead.options import public


class DebugPrintHook(MemoryHook):
    """Prints a line of JSON for what a pool does."""

    name = "DebugPrintHook"

    def __init__(self, file: Any = None, flush: bool = True) -> None:
        self.file, self.flush = sys.stdout if file is None else file, flush

    def _print(self, what: str, facts: dict[str, Any]) -> None:
        known = {"hook": what, **facts}
        if "pmem_id" in known:
            known["pmem_id"] = hex(known["pmem_id"])
        print(json.dumps(known), file=self.file, flush=self.flush)

    def alloc_postprocess(self, **facts: Any) -> None:
        """After a pool got memory of the device."""
        self._print("alloc", facts)

    def malloc_postprocess(self, **facts: Any) -> None:
        """After a pool gave memory."""
        self._print("malloc", facts)

    def free_postprocess(self, **facts: Any) -> None:
        """After memory went back to a pool."""
        self._print("free", facts)


class LineProfileHook(MemoryHook):
    """Adds up the bytes that pools give and get, by the lines of the program that ask for them."""

    name = "LineProfileHook"

    def __init__(self, max_depth: int = 0) -> None:
        self._depth = max_depth
        #: For each place of a stack: the two sums and the places below.
        self._root: list[Any] = [0, 0, {}]

    def malloc_preprocess(self, **facts: Any) -> None:
        """Before a pool gives memory."""
        self._add(0, facts["mem_size"])

    def alloc_preprocess(self, **facts: Any) -> None:
        """Before a pool gets memory of the device."""
        self._add(1, facts["mem_size"])

    def _add(self, which: int, size: int) -> None:
        stack = [f for f in traceback.extract_stack() if "lancehead" not in f.filename.replace("\\", "/").split("/")]
        node = self._root
        node[which] += size
        for frame in stack[: self._depth - 1] if self._depth else stack:
            node = node[2].setdefault((frame.filename, frame.lineno, frame.name), [0, 0, {}])
            node[which] += size

    def print_report(self, file: Any = None) -> None:
        """Prints the tree of lines: bytes that pools gave, and those that they got for it."""
        self._write("_root", self._root, 0, sys.stdout if file is None else file)

    def _write(self, name: str, node: list[Any], depth: int, file: Any) -> None:
        print(f"{'  ' * depth}{name} ({_size(node[0])}, {_size(node[1])})", file=file)
        for (path, line, function), below in node[2].items():
            self._write(f"{path}:{line}:{function}", below, depth + 1, file)


def _size(count: float) -> str:
    units = ["B", "KB", "MB", "GB", "TB"]
    while count >= 1024 and len(units) > 1:
        count /= 1024
        del units[0]
    return f"{count:.2f}{units[0]}"


__all__ = ["DebugPrintHook", "LineProfileHook"]
public(globals())
