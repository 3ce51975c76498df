"""Runs the Markdown specification of the language: every ``py`` block compiled and in plain CPython, side by side.

A block is executed statement by statement in two name spaces: one where ``njit`` is lancehead's and one where it
returns its function unchanged. A comment at the end of a statement says what must come out of both:

    f(7, 2)        # result: 3.5            revealed: float64
    f(1, 0)        # raises: ZeroDivisionError
    f(-1)          # raises: ValueError: negative: -1
    f("a", 1)      # error: [no-matching-op] "`/` is not supported between `str` and `int64`"
    g(10)          # prints: 10
    h(1.5)         # result: 2.25           within: 1e-15
    k(2**63 - 1)   # result: -9223372036854775808      differs: ints are 64 bits wide

``differs`` says why CPython disagrees: then only the compiled answer is looked at. ``error`` is about compiling, so
CPython does not run it either. ``within`` is a relative tolerance. ``revealed`` is the inferred type of the result. A
block whose first line is ``# differs: why`` is not run in CPython at all.

Expectations are CPython's answers. ``LANCEHEAD_BLESS=1 pytest tests/lang`` rewrites ``result`` and ``raises`` from
CPython, never from the compiler, and fills in statements that end in ``#?``.
"""

from __future__ import annotations

import ast
import cmath
import contextlib
import io
import itertools
import math
import operator
import re
import sys
import textwrap
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

KEYS = ("result", "raises", "error", "prints", "revealed", "within", "differs")
KEY = re.compile(rf"(?:^|\s{{2,}})({'|'.join(KEYS)}): ")


@dataclass
class Block:
    """One fenced block: its heading, the line after its fence, and its text."""

    heading: str
    line: int
    source: str
    path: Path

    @property
    def name(self) -> str:
        return f"{self.heading}:{self.line}"


@dataclass
class Step:
    """A statement of a block with what is expected of it."""

    node: ast.stmt
    line: int
    expect: dict[str, str] = field(default_factory=dict)


@dataclass
class Outcome:
    """The outcome of a step."""

    value: Any = None
    error: BaseException | None = None
    printed: str = ""


class Mismatch(Exception):
    """An expectation that was not met."""


def read_blocks(path: Path) -> list[Block]:
    """All ``py`` blocks of a Markdown file."""
    blocks, heading, fence = [], path.stem, None
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, 1):
        if fence is None and line.startswith("#"):
            heading = line.lstrip("# ").strip()
        elif fence is None and line.strip() == "```py":
            fence = number
        elif fence is not None and line.strip() == "```":
            blocks.append(Block(heading, fence + 1, "\n".join(lines[fence : number - 1]), path))
            fence = None
    if fence is not None:
        raise Mismatch(f"{path}:{fence}: the block is not closed")
    return blocks


def parse_expectation(comment: str) -> dict[str, str]:
    """``result: 3.5   revealed: float64`` as a dictionary."""
    parts = KEY.split(comment)
    return {key: text.strip() for key, text in zip(parts[1::2], parts[2::2])}


def end_comment(line: str) -> str | None:
    """The expectation comment at the end of a line of Python, without its ``#``."""
    start = max(line.rfind(f"# {key}: ") for key in KEYS)
    first = min((i for key in KEYS if (i := line.find(f"# {key}: ")) >= 0), default=-1)
    return line[first + 2 :] if start >= 0 else None


def read_steps(block: Block) -> list[Step]:
    """The statements of a block, with line numbers of the file."""
    tree = ast.parse(textwrap.dedent(block.source))
    lines = block.source.split("\n")
    steps = []
    for node in tree.body:
        last = node.end_lineno or node.lineno
        comment = end_comment(lines[last - 1]) if isinstance(node, (ast.Expr, ast.Assign)) else None
        ast.increment_lineno(node, block.line - 1)
        steps.append(Step(node, node.lineno, parse_expectation(comment) if comment else {}))
    return steps


def names(module: Any) -> dict[str, Any]:
    """The names that every block can use without importing them."""
    space: dict[str, Any] = {
        "np": np,
        "math": math,
        "cmath": cmath,
        "operator": operator,
        "namedtuple": __import__("collections").namedtuple,
        "__name__": "lang",
    }
    if module is None:
        space |= {"njit": unchanged, "jit": unchanged, "prange": range, "literal_unroll": tuple}
    else:
        space |= {name: getattr(module, name) for name in ("njit", "jit", "prange", "literal_unroll")}
        space |= {"types": module.types, "typeof": module.typeof}
    # Dataclasses look up their annotations in the module of their class.
    own = sys.modules["lang"] = ModuleType("lang")
    vars(own).update(space)
    return vars(own)


def unchanged(*args: Any, **options: Any) -> Any:
    """``njit`` of plain CPython."""
    if len(args) == 1 and callable(args[0]) and not options:
        return args[0]
    return lambda function: function


def run_step(step: Step, space: dict[str, Any], path: Path) -> Outcome:
    """Executes one statement."""
    out = io.StringIO()
    outcome = Outcome()
    try:
        with contextlib.redirect_stdout(out), np.errstate(all="ignore"):
            if isinstance(step.node, ast.Expr):
                outcome.value = eval(compile(ast.Expression(step.node.value), str(path), "eval"), space)
            else:
                exec(compile(ast.Module([step.node], []), str(path), "exec"), space)
    except Exception as error:
        outcome.error = error
    outcome.printed = out.getvalue()
    return outcome


def show(value: Any) -> str:
    """``repr`` on one line, the same for a Python and a NumPy number."""
    if isinstance(value, np.generic) and not isinstance(value, np.void):
        value = value.item()
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return "(" + ", ".join(map(show, value)) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, list):
        return "[" + ", ".join(map(show, value)) + "]"
    if type(value) is OrderedDict:
        # From 3.12 on, `repr` shows a dictionary instead of pairs.
        return f"OrderedDict({show(list(value.items())) if value else ''})"
    with np.printoptions(floatmode="unique", precision=17, threshold=10_000):
        return " ".join(repr(value).split()).replace("( ", "(").replace("[ ", "[")


def show_error(error: BaseException, expected: str) -> str:
    """The exception as the expectation spells it: with its message only where that is expected."""
    name = type(error).__name__
    return f"{name}: {error}" if ": " in expected else name


def leaves(value: Any) -> Iterator[Any]:
    """Numbers of a nested value, in order."""
    if isinstance(value, (tuple, list, np.ndarray)):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def is_near(a: Any, b: Any, tolerance: float) -> bool:
    """Whether two nested values agree within a relative tolerance."""
    pairs = list(itertools.zip_longest(leaves(a), leaves(b)))
    return all(
        x == y
        or (x != x and y != y)
        or abs(complex(x) - complex(y)) <= tolerance * max(abs(complex(x)), abs(complex(y)))
        for x, y in pairs
    )


def check_outcome(step: Step, got: Outcome, who: str) -> None:
    """Raises unless the outcome is what the step expects."""
    expect = step.expect
    if "raises" in expect:
        if got.error is None:
            raise Mismatch(f"{who} gave {show(got.value)}, expected {expect['raises']}")
        if (shown := show_error(got.error, expect["raises"])) != expect["raises"]:
            raise Mismatch(f"{who} raised {shown}: {got.error}, expected {expect['raises']}") from got.error
        return
    if got.error is not None:
        raise Mismatch(f"{who} raised {type(got.error).__name__}: {got.error}") from got.error
    if "prints" in expect and " ".join(got.printed.split()) != expect["prints"]:
        raise Mismatch(f"{who} printed {got.printed!r}, expected {expect['prints']!r}")
    if "result" not in expect:
        return
    if "within" in expect:
        near = is_near(
            got.value,
            eval(expect["result"], {"array": np.array, "nan": math.nan, "inf": math.inf}),
            float(expect["within"]),
        )
    else:
        near = show(got.value) == expect["result"]
    if not near:
        raise Mismatch(f"{who} gave {show(got.value)}, expected {expect['result']}")


def check_error(step: Step, got: Outcome) -> None:
    """A diagnostic of the expected kind with the expected words."""
    wanted = re.fullmatch(r'\[([\w-]+)\]\s*(?:"(.*)")?', step.expect["error"])
    if wanted is None:
        raise Mismatch('write `# error: [id] "text"`')
    kind, text = wanted.groups()
    if got.error is None:
        raise Mismatch(f"compiled, and gave {show(got.value)}, expected error[{kind}]")
    message = str(got.error)
    if f"error[{kind}]" not in message or (text or "") not in message:
        raise Mismatch(
            f"the diagnostic is\n{type(got.error).__name__}: {message}\nexpected error[{kind}] {text or ''}"
        ) from got.error


def check_revealed(step: Step, space: dict[str, Any], module: Any) -> None:
    """The type inferred for the result of a step that is a call of a dispatcher."""
    call = step.node.value
    function = eval(compile(ast.Expression(call.func), "revealed", "eval"), space)
    args = [eval(compile(ast.Expression(arg), "revealed", "eval"), space) for arg in call.args]
    signature = tuple(module.typeof(arg) for arg in args)
    result = str(function.overloads[signature].signature.return_type)
    if result != step.expect["revealed"]:
        raise Mismatch(f"the type is {result}, expected {step.expect['revealed']}")


def run_block(block: Block, module: Any) -> None:
    """Runs a block both ways; raises `Mismatch` with the place of the first disagreement."""
    steps = read_steps(block)
    compiled, plain = names(module), names(None)
    only_compiled = block.source.lstrip().startswith("# differs:")
    for step in steps:
        try:
            got = run_step(step, compiled, block.path)
            if "error" in step.expect:
                check_error(step, got)
                continue
            check_outcome(step, got, "compiled code")
            if "revealed" in step.expect:
                check_revealed(step, compiled, module)
            if only_compiled:
                continue
            oracle = run_step(step, plain, block.path)
            if "differs" not in step.expect:
                check_outcome(step, oracle, "CPython")
                if not step.expect and isinstance(step.node, ast.Expr) and show(got.value) != show(oracle.value):
                    raise Mismatch(f"compiled code gave {show(got.value)}, CPython {show(oracle.value)}")
        except Mismatch as error:
            text = block.source.split("\n")[step.line - block.line].strip()
            raise Mismatch(f"{block.path.name}:{step.line}: {text}\n    {error}") from error.__cause__


def bless(path: Path) -> bool:
    """Rewrites ``result`` and ``raises`` of a file from CPython; whether that changed anything."""
    lines = path.read_text(encoding="utf-8").split("\n")
    before = list(lines)
    for block in read_blocks(path):
        if not block.source.lstrip().startswith("# differs:"):
            bless_block(block, lines)
    if lines != before:
        path.write_text("\n".join(lines), encoding="utf-8")
    return lines != before


def bless_block(block: Block, lines: list[str]) -> None:
    """Rewrites the lines of one block."""
    space = names(None)
    for step in read_steps(block):
        last = (step.node.end_lineno or step.line) - 1
        unfilled = re.search(r"\s*#[?!]$", lines[last])
        if "error" in step.expect:
            continue
        outcome = run_step(step, space, block.path)
        if not unfilled and not {"result", "raises"} & step.expect.keys() or "differs" in step.expect:
            continue
        expected = ": " if unfilled and unfilled[0].endswith("!") else step.expect.get("raises", "")
        text = f"raises: {show_error(outcome.error, expected)}" if outcome.error else f"result: {show(outcome.value)}"
        rest = [f"{key}: {value}" for key, value in step.expect.items() if key not in ("result", "raises")]
        comment = "# " + "      ".join([text, *rest])
        code = (
            lines[last][: unfilled.start()]
            if unfilled
            else lines[last][: lines[last].index("# " + next(iter(step.expect)) + ": ")].rstrip()
        )
        lines[last] = code.ljust(27) + " " + comment
