"""The `lancehead` command: `demo`, `run`, `cache`, `pack`, `build` and `info`."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lancehead import errors
from lancehead._command import ahead, cache, info, serve


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

    add_cache(commands)

    pack = commands.add_parser("pack", help="compile a package's functions into files that are shipped with it")
    pack.add_argument("package", type=Path, help="the package's directory")
    pack.add_argument("-s", "--signature", action="append", default=[], metavar="SIG", help="also this: 'module.function(float64[:])'")
    pack.add_argument("--level", action="append", default=[], choices=cache.LEVELS, help="for these processors (default: all three)")
    pack.set_defaults(action=pack_package)

    add_build(commands)

    about = commands.add_parser("info", help="print what a bug report needs")
    about.set_defaults(action=print_info)
    return top


def add_cache(commands: Any) -> None:
    """`cache` with what it does."""
    kept = commands.add_parser("cache", help="list, check or remove compiled functions that are kept in files")
    whats = kept.add_subparsers(title="what to do", required=True, dest="what")
    made = {}
    for what, text in (
        ("ls", "entries"),
        ("info", "where, how many, how large"),
        ("clear", "remove entries"),
        ("verify", "compare checksums"),
        ("pack", "copy whole entries for another computer"),
    ):
        made[what] = whats.add_parser(what, help=text)
        made[what].add_argument("places", nargs="*", type=Path, metavar="DIRECTORY", help="where; by default, the user's cache")
    made["ls"].add_argument("-l", "--long", action="store_true", help="with what each entry depends on")
    made["verify"].add_argument("--remove", action="store_true", help="remove damaged entries")
    made["pack"].add_argument("--out", type=Path, metavar="DIRECTORY", required=True, help="where to")
    kept.set_defaults(action=keep)


def add_build(commands: Any) -> None:
    """`build` with its options."""
    build = commands.add_parser("build", help="compile a module's functions ahead of time: an extension module, a shared library, a C header")
    build.add_argument("module", type=Path, help="a Python file whose functions have signatures, or with a lancehead.pycc.CC")
    build.add_argument("-o", "--out", type=Path, metavar="DIRECTORY", help="where (default: beside the file)")
    build.add_argument("--name", help="name of the library (default: that of the CC, or the file's with `_native`)")
    build.add_argument("--level", action="append", default=[], help="for these processors (default: x86-64-v2); several: the best is chosen at load")
    build.add_argument("--no-module", action="store_true", help="only the shared library and its header")
    build.add_argument("--no-library", action="store_true", help="only the extension module")
    build.add_argument("-v", "--verbose", action="store_true", help="show what is run")
    build.set_defaults(action=build_module)


def build_module(options: argparse.Namespace) -> int:
    """`lancehead build`."""
    if not options.module.is_file():
        print(f"lancehead build: {options.module} is not a file", file=sys.stderr)
        return 2
    path = options.module.resolve()
    try:
        name, exports = ahead.exports_of(path)
        name = options.name or name or ahead.name_for(path)
        product = ahead.Product(name, options.out or path.parent, ahead.levels(options.level), not options.no_module, not options.no_library, options.verbose)
        made = ahead.build(exports, product)
    except (OSError, ValueError, RuntimeError, errors.NumbaError) as error:
        print(f"lancehead build: {error}", file=sys.stderr)
        return 1
    print("\n".join(f"{p.stat().st_size:>9}  {p}" for p in made))
    return 0


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


def keep(options: argparse.Namespace) -> int:
    """`lancehead cache`."""
    places = options.places
    if options.what == "ls":
        print("\n".join(cache.listing(places, options.long)) or "nothing is kept there")
    elif options.what == "info":
        print("\n".join(cache.facts(places)))
    elif options.what == "clear":
        print(f"{cache.clear(places)} entries removed")
    elif options.what == "verify":
        whole, damaged = cache.verify(places, options.remove)
        print("\n".join([f"{whole} entries are whole", *(f"damaged: {p}" for p in damaged)]))
        return 1 if damaged else 0
    else:
        print(f"{cache.pack(places, options.out)} entries copied to {options.out}")
    return 0


def pack_package(options: argparse.Namespace) -> int:
    """`lancehead pack`."""
    if not options.package.is_dir():
        print(f"lancehead pack: {options.package} is not the folder of a package", file=sys.stderr)
        return 2
    try:
        made = cache.pack_package(options.package, options.signature, options.level or cache.LEVELS)
    except subprocess.CalledProcessError:
        print(f"lancehead pack: {options.package} cannot be compiled, see above; nothing was packed", file=sys.stderr)
        return 1
    print(f"{len(made)} entries, {sum(p.stat().st_size for p in made) / 1e3:.0f} kB, in {cache.PACK} beside the modules")
    return 0


def print_info(options: argparse.Namespace) -> int:
    """`lancehead info`."""
    print("\n".join(info.lines()))
    return 0
