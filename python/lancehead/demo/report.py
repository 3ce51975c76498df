"""The demo's table."""

from __future__ import annotations

import itertools
import os
import sys
import textwrap

from lancehead.demo.program import Measurement, Program

#: Columns of a terminal that has room for the sizes of inputs.
_WIDE = 110
#: The least columns for the titles of programs, for which columns of numbers are left out.
_TITLES = 16
_HEADINGS = ("Program", "Speed-up", "Compiled", "Plain", "Compile time", "Input")
#: The places of these columns in the table, from the left to the right.
_ORDER = (0, 5, 3, 2, 1, 4)


def print_report(width: int, results: list[Measurement]) -> None:
    """The table of times, then what failed by name."""
    shown = [result for result in results if not result.failure]
    print("\n".join(table(width, shown)))
    print(wrapped(agreement([result.program for result in shown]), width))
    for result in results:
        if result.failure:
            print(wrapped(f"failed {result.program.name}: {result.failure}", width))


def table(width: int, results: list[Measurement]) -> list[str]:
    """The lines of the table.

    Titles go on in the next line where there is no room. Numbers are never cut: the least important columns of them are
    left out in a terminal that is too narrow for all.
    """
    rows = [_HEADINGS, *map(cells, results)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    count = 6 if width >= _WIDE else 5
    while count > 2 and width - sum(2 + w for w in widths[1:count]) < _TITLES:
        count -= 1
    columns = [column for column in _ORDER if column < count]
    widths[0] = max(min(widths[0], width - sum(2 + w for w in widths[1:count])), len(_HEADINGS[0]))
    lines = ["lancehead demo", ""]
    for row in rows:
        titles = textwrap.wrap(row[0], widths[0])
        for title, is_first in zip(titles, itertools.chain([True], itertools.repeat(False))):
            parts = [title.ljust(widths[0])]
            for column in columns[1:]:
                text = row[column] if is_first else ""
                text = text.ljust(widths[column]) if column == 5 else text.rjust(widths[column])
                parts.append(coloured(text) if column == 1 and row is not _HEADINGS else text)
            lines.append("  ".join(parts).rstrip())
        if row is _HEADINGS:
            lines.append("─" * (sum(widths[column] + 2 for column in columns) - 2))
    return [*lines, ""]


def cells(result: Measurement) -> tuple[str, ...]:
    """A row of the table, in the order of `_HEADINGS`."""
    return (
        result.program.title,
        f"{result.speedup:,.0f} ×" if result.speedup >= 100 else f"{result.speedup:.1f} ×",
        seconds(result.compiled),
        f"{result.program.baseline} {seconds(result.plain):>7}",
        seconds(result.compiling),
        result.size,
    )


def coloured(text: str) -> str:
    """A text in bold green where a terminal shows it."""
    return f"\x1b[1;32m{text}\x1b[m" if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else text


def wrapped(text: str, width: int) -> str:
    """A sentence in lines of the terminal's width."""
    return textwrap.fill(text, max(width, 20), subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def agreement(programs: list[Program]) -> str:
    """How well plain and compiled answers agree."""
    near = [f"{program.name} {program.tolerance:.0e}" for program in programs if program.tolerance]
    return (
        "Answers are equal"
        + (f"; where sums are taken in another order, within: {', '.join(near)}" if near else "")
        + "."
    )


def seconds(value: float) -> str:
    """A time with three digits and a fitting unit."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value * factor >= 1.0:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e9:.0f} ns"
