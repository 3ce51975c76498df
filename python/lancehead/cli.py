"""The `lancehead` command: `demo`, `run` and `info`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from lancehead._command import info, serve


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status."""
    options = parser().parse_args(arguments)
    return options.action(options)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="lancehead", description="Compiles Python and NumPy functions to native code.")
    commands = top.add_subparsers(title="commands", required=True, dest="command")

    demo = commands.add_parser("demo", help="run real programs, plain and compiled, side by side")
    demo.add_argument("--svg", type=Path, metavar="FILE", help="draw the speed-ups into an SVG file")
    demo.add_argument("--png", type=Path, metavar="FILE", help="draw the speed-ups into a PNG file")
    demo.add_argument("--quick", action="store_true", help="small inputs: a few seconds in all")
    demo.add_argument("--only", action="append", default=[], metavar="NAME", help="run this program only (may be repeated)")
    demo.set_defaults(action=run_demo)

    run = commands.add_parser("run", help="run a script with `import numba` served by lancehead")
    run.add_argument("script", help="a Python file")
    run.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the script")
    run.set_defaults(action=run_script)

    about = commands.add_parser("info", help="print what a bug report needs")
    about.set_defaults(action=print_info)
    return top


def run_demo(options: argparse.Namespace) -> int:
    """`lancehead demo`."""
    try:
        import lancehead.demo as demo
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "lancehead":
            raise
        print(f"lancehead demo: {error.name} is missing; install it with: pip install 'lancehead[demo]'", file=sys.stderr)
        return 2
    return demo.run(options.only, options.quick, [path for path in (options.svg, options.png) if path])


def run_script(options: argparse.Namespace) -> int:
    """`lancehead run`."""
    return serve.run(options.script, options.arguments)


def print_info(options: argparse.Namespace) -> int:
    """`lancehead info`."""
    print("\n".join(info.lines()))
    return 0
