"""Writes `docs/reference/*.md` from the code: the names of the package and of `lancehead.cuda`, and the command's
options.

`cargo xtask docs` runs it; with `--check` it only says whether the pages are current. Descriptions are the first
sentences of docstrings and the help texts of the command: they are changed there, not here.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import pathlib
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import lancehead
from lancehead import cli, cuda, errors, extending, options
from lancehead.cuda import fp16, names

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs/reference"
KERNEL_SOURCES = [ROOT / f"python/lancehead/lib/cuda/{name}.py" for name in ("__init__", "warps")]
NOTE = "The table is written from the code by `cargo xtask docs`."


def sentence(text: str | None) -> str:
    """The first sentence of a docstring, fit for a cell of a table. A signature before it is left out."""
    parts = (text or "").split("\n\n")
    if len(parts) > 1 and re.match(r"[\w.]+\(.*\)( -> .*)?$", parts[0].strip()):
        del parts[0]
    first = " ".join(parts[0].split())
    return re.split(r"(?<=\.)\s", first)[0].replace("|", "\\|")


def parameters(thing: Any) -> str:
    """The parameters of a function without their types, or nothing where they are not known."""
    try:
        given = list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return ""
    if [p.kind for p in given] == [inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD]:
        return ""
    # Options of decorators have a page of their own.
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in given if not isinstance(p.default, options.Default)]
    return re.sub(r"<class '([\w.]+)'>", r"\1", str(inspect.Signature(bare))).replace("|", "\\|")


def own_doc(thing: Any) -> str:
    """The docstring of an object, if it is not that of its class."""
    text = getattr(thing, "__doc__", None) or ""
    return "" if text == type(thing).__doc__ else text


def table(rows: Iterable[tuple[str, str]]) -> list[str]:
    """A table of names."""
    return ["| name | |", "|---|---|", *(f"| `{name}` | {text} |" for name, text in rows), ""]


def public(module: Any) -> Iterator[tuple[str, Any]]:
    """Functions and classes that a module offers under its own name."""
    for name in sorted(dir(module), key=str.lower):
        thing = getattr(module, name)
        home = getattr(thing, "__module__", None) or ""
        if (
            not name.startswith("_")
            and home.startswith("lancehead")
            and (inspect.isclass(thing) or inspect.isfunction(thing))
        ):
            yield name, thing


def described(module: Any, kinds: Any) -> list[tuple[str, str]]:
    """Rows of the things of a module that are of a kind."""
    found = [(n, t) for n, t in public(module) if kinds(t)]
    return [
        (n + (parameters(t) if inspect.isfunction(t) else ""), sentence(own_doc(t) or inspect.getdoc(t)))
        for n, t in found
    ]


def is_exception(thing: Any) -> bool:
    """Whether it is a class of exceptions or warnings."""
    return inspect.isclass(thing) and issubclass(thing, BaseException)


def is_of_cuda(thing: Any) -> bool:
    """Whether it is an exception that only kernels and devices raise."""
    return is_exception(thing) and thing.__module__ == "lancehead.cuda.errors"


def api() -> str:
    """The page of the package's names."""
    extensions = [
        row
        for row in described(extending, inspect.isfunction)
        if re.match(r"overload|register_|is_jitted|get_", row[0])
    ]
    methods = [(n + parameters(m), sentence(inspect.getdoc(m))) for n, m in members(type(lancehead.njit(abs_of)))]
    out = ["# Names of the package", "", NOTE, "", "## `lancehead`", ""]
    out += table(described(lancehead, inspect.isfunction) + [("typeof(value)", sentence(lancehead.typeof.__doc__))])
    out += ["## A compiled function", "", "`@njit` gives an object with these names.", "", *table(methods)]
    out += ["## `lancehead.extending`", "", *table(extensions)]
    out += ["## `lancehead.errors`", "", *table(described(errors, is_exception))]
    return "\n".join(out).rstrip() + "\n"


def abs_of(x: float) -> float:
    """A function whose dispatcher shows its members."""
    return abs(x)


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """Public methods and attributes of a class."""
    for name in sorted(dir(kind)):
        if not name.startswith("_"):
            yield name, getattr(kind, name)


def library_names() -> dict[str, tuple[str, str]]:
    """`name -> parameters, sentence` of what kernels may call and the library defines."""
    found = {}
    for path in KERNEL_SOURCES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                found[node.name] = (f"({ast.unparse(node.args)})", sentence(ast.get_docstring(node)))
    return found


def kernel_rows() -> list[tuple[str, str]]:
    """Rows of the names that have a meaning in kernels only."""
    library, rows = library_names(), []
    for name, thing in sorted(vars(names).items(), key=lambda pair: pair[0].lower()):
        if not isinstance(thing, names.Name):
            continue
        given, text = library.get(name, ("", ""))
        rows.append((name + (parameters(thing) or given), sentence(own_doc(thing)) or text))
        parts = [(n, p) for n, p in sorted(vars(thing).items()) if isinstance(p, names.Name) and n not in "xyz"]
        rows += [(f"{name}.{n}" + parameters(p), sentence(own_doc(p))) for n, p in parts]
    return rows


def cuda_page() -> str:
    """The page of the names of `lancehead.cuda`."""
    vectors = re.compile(r"^(u?(char|short|int|long|longlong)|float|double|u?int\d+x|float\d+x)\d$")

    def is_plain(thing: Any) -> bool:
        return not isinstance(thing, names.Name) and not vectors.match(getattr(thing, "__name__", ""))

    halves = ", ".join(
        f"`{n}`" for n in sorted(vars(fp16)) if not n.startswith("_") and isinstance(vars(fp16)[n], names.Name)
    )
    out = ["# Names of CUDA", "", NOTE, "[Kernels](../cuda.md) has the rules and examples.", ""]
    out += ["## In kernels", "", "They are names of `lancehead.cuda`.", "", *table(kernel_rows())]
    out += ["## On the host", "", *table(described(cuda, is_plain))]
    out += ["## `cuda.errors`", "", *table(described(cuda.errors, is_of_cuda))]
    if halves:
        out += ["## `cuda.fp16`", "", halves + ".", ""]
    return "\n".join(out).rstrip() + "\n"


def usage(name: str, parser: argparse.ArgumentParser) -> list[str]:
    """The section of one command, and those of its sub-commands."""
    out = [f"## `{name}`", ""]
    out += [parser.description, ""] if parser.description else []
    rows: list[tuple[str, str]] = []
    below: list[list[str]] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            texts = {pseudo.dest: pseudo.help for pseudo in action._choices_actions}
            below += [usage(f"{name} {word}", sub) for word, sub in action.choices.items()]
            rows += [(word, texts.get(word) or "") for word in action.choices]
        elif not isinstance(action, argparse._HelpAction):
            shown = ", ".join(action.option_strings) or str(action.metavar or action.dest)
            value = action.metavar if action.metavar else action.dest.upper()
            rows.append(
                (f"{shown} {value}" if action.option_strings and action.nargs != 0 else shown, action.help or "")
            )
    out += table((shown, sentence(text)) for shown, text in rows) if rows else []
    if parser.epilog:
        out += ["```text", parser.epilog.strip(), "```", ""]
    return out + [line for part in below for line in part]


def command_page() -> str:
    """The page of the command."""
    parser = cli.parser()
    out = ["# The command", "", "`lancehead COMMAND --help` shows the same. " + NOTE, ""]
    return "\n".join(out + usage("lancehead", parser)).rstrip() + "\n"


def main() -> None:
    """Writes the pages, or checks them."""
    PAGES.mkdir(exist_ok=True)
    stale = []
    for name, text in (("api", api()), ("cuda", cuda_page()), ("command", command_page())):
        path = PAGES / f"{name}.md"
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in sys.argv[1:]:
            path.write_text(text, encoding="utf-8")
    if stale and "--check" in sys.argv[1:]:
        sys.exit(f"docs/reference is not current ({', '.join(stale)}): run `cargo xtask docs`")


main()
