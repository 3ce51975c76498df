"""The demo's table and progress."""

from __future__ import annotations

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from lancehead.demo.program import Measurement, Program, measure

#: Columns of a terminal that has room for the sizes of inputs.
_WIDE = 110


def run_with_progress(console: Console, programs: list[Program], quick: bool) -> Iterator[Measurement]:
    """Measures the programs one after the other and shows which one is running."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(programs))
        for program in programs:
            progress.update(task, description=program.title)
            yield measure(program, quick)
            progress.advance(task)


def print_report(console: Console, results: list[Measurement], not_yet: dict[str, str]) -> None:
    """The table of times, then what failed and what is not there yet, by name."""
    shown = [result for result in results if not result.failure]
    wide = console.width >= _WIDE
    table = Table(
        title="lancehead demo", title_justify="left", header_style="bold", box=SIMPLE_HEAD, caption_justify="left"
    )
    # Words go on in the next line where there is no room; numbers are never cut.
    table.add_column("Program")
    if wide:
        table.add_column("Input")
    rows = [list(cells(result, wide)) for result in shown]
    first = 1 + wide
    for place, heading in enumerate(("Plain", "Compiled", "Speed-up", "Compile time"), first):
        longest = max(cell_len(Text.from_markup(text).plain) for text in (heading, *(row[place] for row in rows)))
        table.add_column(heading, justify="right", no_wrap=True, min_width=longest)
    for row in rows:
        table.add_row(*row)
    table.caption = agreement([result.program for result in shown])
    console.print(table)
    for result in results:
        if result.failure:
            console.print(f"[bold red]failed[/] {result.program.name}: ", end="")
            console.print(result.failure, markup=False, highlight=False)
    for name, reason in not_yet.items():
        console.print(f"[bold]not yet[/] {name}: ", end="")
        console.print(reason, markup=False, highlight=False)


def cells(result: Measurement, wide: bool) -> Iterator[str]:
    """A row of the table."""
    yield result.program.title
    if wide:
        yield result.size
    yield f"{result.program.baseline} {seconds(result.plain):>7}"
    yield seconds(result.compiled)
    yield (
        f"[bold green]{result.speedup:,.0f} ×[/]" if result.speedup >= 100 else f"[bold green]{result.speedup:.1f} ×[/]"
    )
    yield seconds(result.compiling)


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
