"""The `lancehead` command: `demo`, `run`, `numba`, `cache`, `pack`, `build`, `info` and `help`."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from lancehead import __version__, demo, errors
from lancehead._command import ahead, cache, environment, info, packing, pages, running
from lancehead.options import suggestion

_COMMANDS = ("demo", "run", "numba", "cache", "pack", "build", "info")
_STATUS = """exit status:
  0  done
  1  something failed: a program of the demo, a compilation, an entry of the cache that is damaged
  2  wrong use: an unknown argument, a file that does not exist
  `run` ends with the status of the program, and with 1 after an exception."""


class _Help(argparse.HelpFormatter):
    """Wraps all lines to the width of the terminal; those of commands go on as a shell lets them."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(self._filled(line, width) for line in text.split("\n"))

    def _filled(self, line: str, width: int) -> str:
        if not line.startswith("  lancehead "):
            hanging = re.match(r" *(\d  )?", line)
            return textwrap.fill(line, width, subsequent_indent=" " * len(hanging[0] if hanging else ""))
        lines = [""]
        for word in re.findall(r" *(?:'[^']*'|[^ '])+", line):
            if lines[-1] and len(lines[-1]) + len(word) > width - 2:
                lines.append(f"     {word}")
            else:
                lines[-1] += word
        return " \\\n".join(lines)

    def _format_usage(self, usage: str | None, *others: Any) -> str:
        text = super()._format_usage(usage, *others)
        return text if usage is None else f"{textwrap.fill(text, self._width, subsequent_indent=' ' * 7)}\n\n"


class _Parser(argparse.ArgumentParser):
    """Names the nearest command or option after one that does not exist."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Help, **options)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Keeps the words, among which a misspelt option may be why others are missing."""
        self._words = list(sys.argv[1:] if args is None else args)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Ends the command after wrong use."""
        if message.startswith("the following arguments are required"):
            options = [word for word in self._words if re.match("--?[a-z]", word)]
            unknown = [word for word in options if word.partition("=")[0] not in self._option_string_actions]
            message = f"unrecognized arguments: {' '.join(unknown)}" if unknown else message
        if choice := re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message):
            known = choice[2].replace("'", "")
            near = suggestion(choice[1], known.split(", "))
            message = f"there is no `{choice[1]}`{f'{near} There' if near else '; there'} are: {known}"
        elif strange := re.match(r"unrecognized arguments: (--?[\w-]+)", message):
            message += suggestion(strange[1], self._option_string_actions)
        super().error(message)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status."""
    top = parser()
    options, strange = top.parse_known_args(arguments)
    if strange:
        # The command names its own options, where `parse_args` would name those before it.
        options.parser.error(f"unrecognized arguments: {' '.join(strange)}")
    if options.action is None:
        top.print_help(sys.stderr)
        return 2
    try:
        status: int = options.action(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, such as `head`, has enough. Nothing is left to be written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = _Parser(prog="lancehead", description="Compiles Python and NumPy functions to native code.", epilog=_STATUS)
    top.add_argument("-V", "--version", action="version", version=f"lancehead {__version__}")
    top.set_defaults(action=None, parser=top)
    commands = top.add_subparsers(title="commands", dest="command", metavar="COMMAND")
    add_demo(commands)
    add_run(commands)
    add_numba(commands)
    add_cache(commands)
    add_pack(commands)
    add_build(commands)
    about = command(
        commands,
        "info",
        "print what a bug report needs",
        "Prints versions, the processor and settings.",
        "lancehead info > report.txt",
    )
    about.set_defaults(action=print_info)
    manual = command(
        commands, "help", "explain a diagnostic or a command",
        "Prints the page of a diagnostic: what it means, an example, what to write instead. Without an id, lists all.",
        "lancehead help read-only", "lancehead help cache",
    )  # fmt: skip
    manual.add_argument("id", nargs="?", help="the word in brackets of an error: error[read-only]; or a command")
    manual.set_defaults(action=print_page)
    return top


def command(commands: Any, name: str, summary: str, description: str, *examples: str) -> argparse.ArgumentParser:
    """A subcommand whose help has a description and examples."""
    shown = "\n".join(["example:" if len(examples) == 1 else "examples:", *(f"  {example}" for example in examples)])
    made: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=description, epilog=shown)
    made.set_defaults(parser=made)
    return made


def add_demo(commands: Any) -> None:
    """`demo` with its options."""
    demo = command(
        commands, "demo", "run real programs, plain and compiled, side by side",
        "Runs real programs plain (Python, NumPy, SciPy, Dask) and compiled, compares the answers, prints their times.",
        "lancehead demo --quick", "lancehead demo --only nbody --only pi --svg speedups.svg",
    )  # fmt: skip
    demo.add_argument("--svg", type=Path, metavar="FILE", help="draw the speed-ups into an SVG file")
    demo.add_argument("--png", type=Path, metavar="FILE", help="draw the speed-ups into a PNG file")
    demo.add_argument("--quick", action="store_true", help="small inputs: a few seconds in all")
    demo.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="run this program only (may be repeated)"
    )
    demo.set_defaults(action=run_demo)


def add_run(commands: Any) -> None:
    """`run` with its options."""
    run = command(
        commands, "run", "run a program with `import numba` served by lancehead",
        "Runs a Python program in which `import numba` and `import numba_cuda_mlir` give lancehead, whether they are "
        "installed or not.",
        "lancehead run script.py --steps 100", "lancehead run -m pytest tests",
        "lancehead run -c 'import numba; print(numba)'", "lancehead run - < script.py",
    )  # fmt: skip
    run.usage = "lancehead run [-h] (FILE | - | -m MODULE | -c CODE) [ARGUMENT ...]"
    run.add_argument(
        "-m", dest="module", nargs=argparse.REMAINDER, metavar="MODULE", help="run the module MODULE, as python -m does"
    )
    run.add_argument(
        "-c", dest="code", nargs=argparse.REMAINDER, metavar="CODE", help="run the program CODE, given as text"
    )
    run.add_argument("script", nargs="?", metavar="FILE", help="a Python file; - for the standard input")
    run.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGUMENT", help="arguments of the program")
    run.set_defaults(action=run_program)


def add_numba(commands: Any) -> None:
    """`numba` with its actions."""
    numba = command(
        commands, "numba", "serve `import numba` in every program of the environment",
        "With `on`, every program that this Python runs gets lancehead for `import numba`, until it is turned `off`.",
        "lancehead numba on", "lancehead numba status",
    )  # fmt: skip
    numba.add_argument("what", choices=("on", "off", "status"), metavar="on|off|status", help="on, off, or ask")
    numba.set_defaults(action=turn_numba)


def turn_numba(options: argparse.Namespace) -> int:
    """`lancehead numba`."""
    try:
        print(environment.status() if options.what == "status" else environment.turn(options.what == "on"))
    except OSError as error:
        return failed("numba", error, 1)
    return 0


def add_cache(commands: Any) -> None:
    """`cache` with its actions."""
    kept = command(
        commands, "cache", "list, check or remove compiled functions that are kept in files",
        "Lists, checks, removes or copies the files of functions with cache=True.\n\n"
        "They are in __pycache__ beside the source of a function, or in the user's cache where that cannot be written.",
        "lancehead cache ls", "lancehead cache ls script.py", "lancehead cache clear --yes ~/project",
    )  # fmt: skip
    whats = kept.add_subparsers(title="actions", required=True, dest="what", metavar="ACTION")
    made = {}
    for what, text, example in (
        ("ls", "list entries: size, processor, function, types", "lancehead cache ls --long script.py"),
        ("info", "say where entries are, how many and how large", "lancehead cache info"),
        ("clear", "remove entries, after a question", "lancehead cache clear --yes"),
        ("verify", "compare checksums; status 1 if an entry is damaged", "lancehead cache verify --remove"),
        (
            "pack",
            "copy entries for another computer, where LANCEHEAD_CACHE_DIR names the copy",
            "lancehead cache pack --out copy",
        ),
    ):
        made[what] = command(whats, what, text, text[0].upper() + text[1:] + ".", example)
        made[what].add_argument(
            "places", nargs="*", type=Path, metavar="PLACE",
            help="a directory or a script (default: the user's cache, and __pycache__ of the working directory)",
        )  # fmt: skip
    made["ls"].add_argument(
        "-l", "--long", action="store_true", help="with the file of each entry and what it depends on"
    )
    made["clear"].add_argument("-y", "--yes", action="store_true", help="remove without a question")
    made["verify"].add_argument("--remove", action="store_true", help="remove damaged entries")
    made["pack"].add_argument("--out", type=Path, metavar="DIRECTORY", required=True, help="where to")
    kept.set_defaults(action=keep)


def add_pack(commands: Any) -> None:
    """`pack` with its options."""
    pack = command(
        commands, "pack", "compile a package's functions into files that are shipped with it",
        "Compiles the functions of a package that have signatures in their decorators, and those of -s.\n\n"
        "The files go into __lancehead__ beside the modules. An earlier pack stays if something cannot be compiled.",
        "lancehead pack mypackage/ -s 'mypackage.norm(float64[::1])'",
    )  # fmt: skip
    pack.add_argument("package", type=Path, help="the package's directory")
    pack.add_argument(
        "-s",
        "--signature",
        action="append",
        default=[],
        metavar="SIG",
        help="also compile this: 'module.function(float64[:])' (may be repeated)",
    )
    pack.add_argument(
        "--level",
        action="append",
        default=[],
        choices=packing.LEVELS,
        metavar="LEVEL",
        help=f"for these processors: {', '.join(packing.LEVELS)} (may be repeated; default: all three)",
    )
    pack.set_defaults(action=pack_package)


def add_build(commands: Any) -> None:
    """`build` with its options."""
    build = command(
        commands, "build", "compile a module's functions ahead of time",
        "Compiles a module's functions ahead of time: into an extension module, a shared library and a C header.",
        "lancehead build signal_tools.py -o dist --level x86-64-v3",
    )  # fmt: skip
    build.add_argument(
        "module", type=Path, help="a Python file whose functions have signatures, or with a lancehead.pycc.CC"
    )
    build.add_argument("-o", "--out", type=Path, metavar="DIRECTORY", help="where (default: beside the file)")
    build.add_argument("--name", help="name of the library (default: that of the CC, or the file's with `_native`)")
    build.add_argument(
        "--level", action="append", default=[],
        help="for these processors (may be repeated: the best is chosen at load; default: x86-64-v2)",
    )  # fmt: skip
    build.add_argument("--no-module", action="store_true", help="only the shared library and its header")
    build.add_argument("--no-library", action="store_true", help="only the extension module")
    build.add_argument("-v", "--verbose", action="store_true", help="show what is run")
    build.set_defaults(action=build_module)


def failed(name: str, why: object, status: int) -> int:
    """Says on the error output why a command ends, and gives its status."""
    print(f"lancehead {name}: {why}", file=sys.stderr)
    return status


def build_module(options: argparse.Namespace) -> int:
    """`lancehead build`."""
    if not options.module.is_file():
        return failed("build", f"{options.module} is not a file", 2)
    path = options.module.resolve()
    try:
        name, exports = ahead.exports_of(path)
        name = options.name or name or ahead.name_for(path)
        product = ahead.Product(
            name,
            options.out or path.parent,
            ahead.levels(options.level),
            not options.no_module,
            not options.no_library,
            options.verbose,
        )
        made = ahead.build(exports, product)
    except (OSError, ValueError, RuntimeError, errors.NumbaError) as error:
        return failed("build", error, 1)
    print("\n".join(f"{cache.size_text(p.stat().st_size):>9}  {p}" for p in made))
    return 0


def run_demo(options: argparse.Namespace) -> int:
    """`lancehead demo`."""
    charts = [path for path in (options.svg, options.png) if path]
    for path in charts:
        # The programs take a while: a path that cannot be written is no news for the end.
        if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
            return failed("demo", f"{path} cannot be written", 2)
    if demo.peers.are_slowed():
        words = ["--quick"] * options.quick + [f"--only={name}" for name in options.only]
        words += [f"--{path_of}={path}" for path_of in ("svg", "png") if (path := getattr(options, path_of))]
        return demo.peers.run_unslowed(["demo", *words])
    return demo.run(options.only, options.quick, charts)


def run_program(options: argparse.Namespace) -> int:
    """`lancehead run`."""
    if options.module:
        return running.run_module(options.module[0], options.module[1:])
    if options.code:
        return running.run_text(options.code[0], "<string>", "-c", options.code[1:])
    if options.script == "-":
        return running.run_text(sys.stdin.read(), "<stdin>", "-", options.arguments)
    if options.script is None:
        options.parser.error("name a file, or give -m MODULE, -c CODE or - for the standard input")
    return running.run_script(options.script, options.arguments)


def keep(options: argparse.Namespace) -> int:
    """`lancehead cache`."""
    try:
        places = cache.places_of(options.places)
    except FileNotFoundError as error:
        return failed(f"cache {options.what}", error, 2)
    if options.what == "ls":
        print("\n".join(cache.listing(places, options.long)))
    elif options.what == "info":
        print("\n".join(cache.facts(places)))
    elif options.what == "clear":
        return clear(places, options.yes)
    elif options.what == "verify":
        whole, damaged = cache.verify(places, options.remove)
        is_are = "is" if len(whole) == 1 else "are"
        print("\n".join([f"{cache.files_text(whole)} {is_are} complete", *(f"damaged: {p}" for p in damaged)]))
        return 1 if damaged else 0
    else:
        print(f"{cache.counted(cache.pack(places, options.out), 'entry', 'entries')} copied to {options.out}")
    return 0


def clear(places: Sequence[Path], yes: bool) -> int:
    """`lancehead cache clear`, which asks first."""
    found = [*cache.files(places), *cache.objects(places)]
    where = ", ".join(map(str, places))
    if not found:
        print(f"no entries in {where}")
        return 0
    size = cache.size_text(sum(p.stat().st_size for p in found))
    if not yes:
        try:
            answer = input(f"Remove {cache.files_text(found)}, {size}, from {where}? [y/N] ")
        except EOFError:
            print()
            return failed("cache clear", "nothing was removed; --yes removes without a question", 1)
        if answer.strip().lower() not in ("y", "yes"):
            return failed("cache clear", "nothing was removed", 1)
    print(f"{cache.files_text(cache.clear(places))} removed")
    return 0


def pack_package(options: argparse.Namespace) -> int:
    """`lancehead pack`."""
    if not options.package.is_dir():
        return failed("pack", f"{options.package} is not the folder of a package", 2)
    try:
        made = packing.pack_package(options.package, options.signature, options.level or packing.LEVELS)
    except packing.PackError as error:
        return failed("pack", error, 1) if str(error) else 1
    size = cache.size_text(sum(p.stat().st_size for p in made))
    print(f"{cache.counted(len(made), 'entry', 'entries')}, {size}, in {packing.PACK} beside the modules")
    return 0


def print_info(options: argparse.Namespace) -> int:
    """`lancehead info`."""
    print("\n".join(info.lines()))
    return 0


def print_page(options: argparse.Namespace) -> int:
    """`lancehead help`."""
    # Pages have lines of 120 characters.
    columns = shutil.get_terminal_size((120, 24)).columns
    if options.id is None:
        title = textwrap.fill("Diagnostics; `lancehead help ID` prints the page of one:", columns)
        print("\n".join([title, "", *pages.contents(columns)]))
        return 0
    if options.id in _COMMANDS:
        # Prints the help and ends.
        parser().parse_args([options.id, "--help"])
    try:
        print(pages.wrapped(pages.page(options.id, _COMMANDS), columns), end="")
    except KeyError as error:
        return failed("help", f"{error.args[0]}\n  `lancehead help` lists all", 2)
    return 0
