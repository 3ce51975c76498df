"""Where the program wrote an operation: errors that depend on values name it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from types import CodeType
from typing import Any

from lancehead import options
from lancehead.caches import Cache

#: A code object and the offset of an instruction; which line that is is found out when it is asked for.
Place = tuple[CodeType, int]

_FOLDER = os.path.dirname(__file__) + os.sep
#: Functions of this package are called from there, too, so that near keywords are told.
_CALLS = options.__file__
#: Whether a file is one of this package.
_IS_OURS: Cache[str, bool] = Cache(4096)
_is_ours = _IS_OURS.get


def here() -> Place | None:
    """The place of the call that led into this package."""
    frame = sys._getframe(2)
    while True:
        code = frame.f_code
        is_ours = _is_ours(code.co_filename)
        if is_ours is False:
            return code, frame.f_lasti
        if is_ours is None:
            is_ours = _IS_OURS[code.co_filename] = code.co_filename.startswith((_FOLDER, _CALLS, "<lancehead.xp"))
            if not is_ours:
                return code, frame.f_lasti
        if frame.f_back is None:
            return None
        frame = frame.f_back


def line(place: Place) -> tuple[str, int]:
    """The file and the line of a place."""
    code, offset = place
    for start, stop, number in code.co_lines():
        if start <= offset < stop and number is not None:
            return code.co_filename, number
    return code.co_filename, code.co_firstlineno


def add_note(error: BaseException, *nodes: Any) -> None:
    """Adds to an error from which operation it is, or from one of which, unless that is known."""
    where = [(n.op.name, *line(n.place)) for n in nodes if n.place is not None]
    note = "from " + " or ".join(f"{name} at {file}:{number}" for name, file, number in where)
    if where and note not in getattr(error, "__notes__", ()):
        error.add_note(note)


def add_note_of_region(error: BaseException, text: str, order: Sequence[Any]) -> None:
    """Adds to an error from which operation of a region it is, by the line of the region's text that failed."""
    tb = error.__traceback__
    while tb is not None and not tb.tb_frame.f_code.co_filename.startswith("<lancehead.xp "):
        tb = tb.tb_next
    lines = text.splitlines()
    if tb is None or tb.tb_lineno > len(lines):
        return
    found = re.match(r"\s*t(\d+) = ", lines[tb.tb_lineno - 1])
    if found is not None and int(found[1]) < len(order):
        node = order[int(found[1])]
        add_note(error, *([node] if node.place is not None else raising(node)))


def raising(node: Any) -> list[Any]:
    """Operations with errors of their own whose elements are computed in the loop of a node, in the program's order."""
    found, seen, stack = [], {node}, [node]
    while stack:
        for n in stack.pop().inputs:
            if n.value is None and not n.op.is_costly and n not in seen:
                seen.add(n)
                stack.append(n)
                if n.place is not None and n.op.row.may_raise:
                    found.append(n)
    return sorted(found, key=lambda n: n.serial)


__all__ = ["Place", "add_note", "add_note_of_region", "here", "line", "raising"]
