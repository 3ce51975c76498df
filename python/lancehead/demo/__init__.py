"""`lancehead demo`: real programs on real data, plain and compiled, side by side."""

from __future__ import annotations

import importlib
from pathlib import Path

from rich.console import Console

from lancehead.demo import peers
from lancehead.demo.chart import draw_chart
from lancehead.demo.program import Program
from lancehead.demo.programs import NAMES, NOT_YET
from lancehead.demo.report import print_report, run_with_progress


def load(names: list[str]) -> list[Program]:
    """The programs of these names."""
    return [importlib.import_module(f"lancehead.demo.programs.{name}").PROGRAM for name in names]


def run(only: list[str], quick: bool, charts: list[Path]) -> int:
    """Runs the demo and prints its table; 1 if a program failed, else 0."""
    unknown = sorted(set(only) - set(NAMES) - set(NOT_YET))
    if unknown:
        print(f"lancehead demo: no program is named {', '.join(unknown)}; there are: {', '.join(NAMES)}")
        return 2
    chosen = [name for name in NAMES if not only or name in only]
    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    results = list(run_with_progress(console, load(chosen), quick))
    print_report(console, results, {name: why for name, why in NOT_YET.items() if not only or name in only})
    if blas := peers.blas():
        console.print(f"NumPy's BLAS: {blas}", highlight=False)
    if charts:
        draw_chart(results, charts)
        console.print("chart:", ", ".join(map(str, charts)))
    return int(any(result.failure for result in results))
