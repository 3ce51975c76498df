"""The rows of the tables of `docs/differences.md`, and the decorator `row` of the tests that show them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

PAGE = Path(__file__).parents[3] / "docs" / "differences.md"

#: The tests by the beginnings of rows that they are registered for.
REGISTERED: dict[str, Callable[..., None]] = {}

Test = TypeVar("Test", bound=Callable[..., None])


class Row(NamedTuple):
    """A row of a table: the number of its line, its first cell, and the paths of the tests that it links to."""

    line: int
    case: str
    links: list[str]


def rows() -> list[Row]:
    """All rows of all tables but the heads."""
    found: list[Row] = []
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        if line.startswith("|---"):
            found.pop()  # The line before is the table's head.
        elif line.startswith("|"):
            case = re.split(r"(?<!\\)\|", line)[1].strip()
            found.append(Row(number, case, re.findall(r"\[test\]\(([^)#]*)", line)))
    return found


def row(*beginnings: str) -> Callable[[Test], Test]:
    """Registers a test for the rows whose first cells begin so."""

    def register(test: Test) -> Test:
        assert test.__name__.startswith("test_")
        for beginning in beginnings:
            assert beginning not in REGISTERED, beginning
            REGISTERED[beginning] = test
        return test

    return register
