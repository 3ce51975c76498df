"""`lancehead demo`: real programs on real data, plain and compiled, side by side."""

from __future__ import annotations

import importlib
import shutil
import sys
from pathlib import Path

from lancehead.demo import peers
from lancehead.demo.program import Measurement, Program, measure
from lancehead.demo.programs import NAMES
from lancehead.demo.report import print_report, wrapped
from lancehead.options import suggestion

#: Packages by the modules that they are imported as, where these have other names.
PACKAGES = {"english_words": "english-words", "sklearn": "scikit-learn"}
#: How to install all that some programs need.
INSTALL = "pip install 'lancehead[demo]'"


def load(name: str) -> Program:
    """The program of this name."""
    found: Program = importlib.import_module(f"lancehead.demo.programs.{name}").PROGRAM
    return found


def run(only: list[str], quick: bool, charts: list[Path]) -> int:
    """Runs the demo and prints its table; 1 if a program failed or one that was asked for needs a package, else 0."""
    unknown = sorted(set(only) - set(NAMES))
    if unknown:
        near = suggestion(unknown[0], NAMES)
        known = f"{near} There" if near else "; there"
        print(
            f"lancehead demo: no program is named {', '.join(unknown)}{known} are: {', '.join(NAMES)}", file=sys.stderr
        )
        return 2
    try:
        draw = importlib.import_module("lancehead.demo.chart").draw_chart if charts else None
    except ImportError as error:
        print(f"lancehead demo: a chart needs {needed(error)}: {INSTALL}")
        return 2
    width = shutil.get_terminal_size((120, 24)).columns
    results, missing = measured([name for name in NAMES if not only or name in only], quick)
    print_report(width, results)
    for package, names in missing.items():
        print(wrapped(f"not run for want of {package}: {', '.join(names)}", width))
    if missing:
        print(f"all that they need: {INSTALL}")
    if blas := peers.blas():
        print(wrapped(f"NumPy's BLAS: {blas}", width))
    if draw:
        draw(results, charts)
        print("chart:", ", ".join(map(str, charts)))
    return int(any(result.failure for result in results) or bool(only and missing))


def measured(names: list[str], quick: bool) -> tuple[list[Measurement], dict[str, list[str]]]:
    """Measures the programs one after the other, and gives the names of those that need packages by package."""
    results: list[Measurement] = []
    missing: dict[str, list[str]] = {}
    for place, name in enumerate(names, 1):
        if sys.stderr.isatty():
            print(f"\r\x1b[K{name} ({place} of {len(names)})", end="", file=sys.stderr, flush=True)
        try:
            results.append(measure(load(name), quick))
        except ImportError as error:
            missing.setdefault(needed(error), []).append(name)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    return results, missing


def needed(error: ImportError) -> str:
    """The package that is missing, or what else an import says."""
    module = (error.name or "").partition(".")[0]
    if module == "lancehead":
        raise error
    return PACKAGES.get(module, module) or str(error).strip().splitlines()[0]
