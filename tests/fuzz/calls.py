"""Calls of every name that the manual lists as supported, with arguments that fit and arguments that do not.

An answer is CPython's and NumPy's; what is not served is said in a diagnostic of at most 25 lines. An internal error, a
crash or another answer is a fault.

    python tests/fuzz/calls.py --count 20000 --seed 7000
"""

from __future__ import annotations

import functools
import inspect
import pathlib
import random
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import children
import operands
from lancehead import njit

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/supported.md"
MODULES = (
    "math, cmath, operator, random, heapq, functools, itertools, bisect, collections, contextlib, dataclasses, "
    "scipy.linalg"
)
#: Calls of a process. A crash costs a new one.
BATCH = 500
# Constants, which the compiler sees, beside the values that are passed.
# fmt: off
CONSTANTS = [
    "0", "1", "-1", "2", "1.5", "True", "None", "1j", "'x'", "'i4'", "()", "(1,)", "(2, 3)", "[]", "[1, 2]",
    "np.int8", "float", "np.float32", "slice(None)", "...", "len", "range(3)", "np.dtype('f4')", "np.zeros(3)",
]
# Values that fit some parameters of these names.
FITTING = {
    "axis": ["0", "-1", "None", "(0,)"], "dtype": ["float", "np.int8", "'f4'", "None", "np.dtype('i4')"],
    "order": ["'C'", "'F'", "'A'", "'K'", "None"], "kind": ["'stable'", "None"], "side": ["'left'", "'right'"],
    "keepdims": ["True", "False"], "out": ["None", "np.zeros(3)", "np.zeros(())"], "mode": ["'full'", "'raise'"],
}
# Keywords where Python does not tell which there are.
KEYWORDS = ["axis", "dtype", "ddof", "out", "keepdims", "order", "size", "key", "reverse", "k", "n", "where"]
OWNERS: dict[str, Any] = {
    "ndarray": np.ndarray, "str": str, "list": list, "tuple": tuple, "range": range, "slice": slice, "int": int,
    "float": float, "complex": complex, "generic": np.generic,
}
# Receivers of types that cannot be arguments yet: the function itself makes them.
RECEIVERS = {
    "dict": "{1: 2, 3: 4}", "set": "{1, 3}", "bytes": "b'ab c'", "bytearray": "bytearray(b'ab')",
    "memoryview": "memoryview(b'abc')", "frozenset": "frozenset({1, 3})", "deque": "collections.deque([1, 3])",
    "Counter": "collections.Counter('ab')", "OrderedDict": "collections.OrderedDict([(1, 2), (3, 4)])",
    "defaultdict": "collections.defaultdict(int, [(1, 2)])", "ExitStack": "contextlib.ExitStack()",
    "datetime64": "np.datetime64('2020-01-02')", "timedelta64": "np.timedelta64(5, 's')",
    "Generator": "np.random.default_rng(5)", "BitGenerator": "np.random.PCG64(5)",
    "SeedSequence": "np.random.SeedSequence(5)", "broadcast": "np.broadcast([1, 2], 3)",
    "nditer": "np.nditer(np.zeros((2, 3)), ['multi_index'])",
}
# fmt: on
ARRAYS = [v for v in operands.VALUES if isinstance(v, np.ndarray) and v.dtype.names is None]
NUMERIC = [v for v in operands.VALUES if isinstance(v, (int, float, complex))] + ARRAYS
# Their results say what a process is, or are not made of the arguments alone.
UNCOMPARED = ("empty", "empty_like", "ndarray", "id", "hash", "print")
# Answers that docs/differences.md lists, by the call and the verdict.
LISTED = [
    r"^'(math|cmath)\..*raises (ValueError: math domain error|OverflowError: math range error)",
    r"^'np\.linalg\.(svd|eigh?|qr)\b.*CPython (SVD|Eig|QR)",
    # Signs of vectors, and what is singular in single precision.
    r"^'scipy\.linalg\.(svd|svdvals|qr|orth|null_space|eigh?|lstsq)\(.*gave .*CPython \(?array",
    # Of a singular matrix, where the least singular value is an error of rounding, or none.
    r"^'np\.linalg\.pinv\(.*gave array\(\[\[ ?-?\d\.\d+e\+0[67]",
    r"^'np\.linalg\.cond\(.*gave .*(inf|e\+(0[7-9]|[1-9]\d)).*CPython .*(inf|e\+(0[7-9]|[1-9]\d))",
    r"^'operator\.(invert|inv)\(.*gave (True|False), CPython -[12]$",
    r"^'range\(.*raises TypeError: 'float' object cannot be interpreted",
    r"^'np\.reciprocal\(.*gave .*-9223372036854775808",
    # Of truth values, in `float32`, not `float16`.
    r"^'np\.(log1p|expm1)\(.*gave array\(\[+(0\.6931|1\.7182)",
    r"^'np\.(log\w*|exp\w*|a?(sin|cos|tan)h?|arc\w+|sqrt|cbrt|deg\w+|rad\w+)\(.*gave array.*CPython array.* with True$",
    r"^'np\.sinc\(.*gave -?\d\.\d+e-0[78], CPython",
    # Arrays that are not sorted.
    r"searchsorted\(.*gave (array.*CPython array|\d+, CPython np\.int64)",
    # Elements come as a generator.
    r"^'np\.nditer\(.*CPython <numpy\.nditer object",
    # A set's items are in the order in which they came.
    r"^'\{1, 3\}\.pop\(\)': gave 3, CPython 1$",
    # Iterators are generators, which look at their arguments when the first item is asked for.
    r"^['\"]itertools\..*gave ",
    r"(\.elements|heapq\.merge|np\.nditer|['\"](zip|enumerate|map|filter|reversed|iter))\(.*gave <compiled generator",
    r"^'zip\(.*gave \(\), CPython <zip",
    # NumPy leaves their order open.
    r"^'np\.unique_values\(.*gave array.*CPython array",
    # A dtype and its class are one.
    r"^\"(repr|ascii)\(np\.dtype\(",
    r"^['\"]isinstance\(.*raises TypeError: isinstance\(\) arg 2",
    r"CPython \"<class ",
    # Rank, shape and type of results do not depend on whether there are elements.
    r"^'np\.nan(percentile|quantile)\(.*gave array\(\[\]|^'np\.poly\(.*gave array\(\[1\.\]\), CPython 1\.0",
    # Choices that are written while they are read, integers that are rounded in place, truth values as places.
    r"'a\.choose\((a, |choices=)|^'np\.round\(.*raises UFuncTypeError|^'np\.insert\(.*raises AttributeError: 'bool'",
    # Defaults that cannot be told from what was given.
    r"\.hex\(\.\.\.|argument 'encoding' must be str, not None|^'format\(.*argument 2 must be str",
    r"^'np\.iterable\(.*\.\.\.",
    # Methods of integers make integers of enumerations.
    r"\.from_bytes\(.*(is not a valid|CPython (True|False))",
    r"raises TypeError: (_flapack\.|Missing a non-None stop)|generate_state\(.*got 'True'",
    r"(operator\.call|functools\.partial)\(np\.dtype\(",
    # Numbers as masks of variances count otherwise; where they are zeros, results without outputs are undefined.
    r"^'np\.\w+\(.*where=[ab01]",
    # Lists have the methods of typed ones.
    r"has no attribute '\w+_unchecked'",
    # None is no mask to most functions.
    r"^'np\.\w+\(.*where=None",
    # A number of an enumeration is an integer of Python.
    r"^'np\.result_type\(.*dtype\('int64'\)",
    # An output that is not made has the shape of the operands, not of the other output.
    r"^['\"]np\.(modf|frexp|divmod)\(.*gave \(array.*\), \d",
    # Other versions of Python and NumPy have these.
    r"put_along_axis\(\) missing 1 required positional argument: 'axis'",
    r"raises AttributeError: '[\w.]+' object has no attribute '(is_integer|ptp)'$",
    r"raises TypeError: Random\.expovariate\(\) missing 1 required",
]


@functools.cache
def names() -> list[tuple[str, str]]:
    """The text before the parenthesis, and the kind of its first operand: a module's or a method's."""
    found, module = [], ""
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            module = line[3:]
        elif module.startswith("lancehead"):
            # Python's own answers are asked for.
            continue
        elif name := re.match(r"\| `(\w+)` \|", line):
            prefix = {"builtins": "", "numpy": "np."}.get(module, module.replace("numpy", "np") + ".")
            found.append((prefix + name[1], module))
        elif line.startswith("Of `"):
            owner, *members = re.findall(r"`(\w+)`", line)
            found += [(f"{RECEIVERS.get(owner, 'a')}.{member}", owner) for member in members]
    return found


@functools.cache
def space() -> dict[str, Any]:
    """The globals of the functions."""
    seen: dict[str, Any] = {"np": np}
    exec(f"import {MODULES}", seen)
    return seen


@functools.cache
def parameters(name: str, home: str) -> list[inspect.Parameter]:
    """Parameters but for a method's object, or nothing where Python does not tell."""
    try:
        function = getattr(OWNERS[home], name[2:]) if name.startswith("a.") else eval(name, dict(space()))
        found = list(inspect.signature(function).parameters.values())
    except (AttributeError, TypeError, ValueError):
        return []
    return found[1:] if name.startswith("a.") else found


def keywords(name: str, home: str) -> list[str]:
    """Names that may stand before `=`."""
    return [p.name for p in parameters(name, home) if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)] or KEYWORDS


def count(draw: random.Random, name: str, home: str) -> int:
    """How many arguments there are: as many as are required, or a few more or less."""
    known = parameters(name, home)
    required = sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in known)
    return max(0, required + draw.choice([-1, 0, 0, 0, 1, 1, 2])) if known else draw.choice([0, 1, 1, 1, 2, 2, 3])


def value(draw: random.Random) -> str:
    return draw.choice("ab") if draw.random() < 0.75 else draw.choice(CONSTANTS)


def argument(draw: random.Random, name: str, home: str) -> str:
    if draw.random() < 0.8:
        return value(draw)
    keyword = draw.choice(keywords(name, home))
    fitting = draw.random() < 0.5
    return f"{keyword}={draw.choice(FITTING[keyword]) if fitting and keyword in FITTING else value(draw)}"


def call(draw: random.Random, name: str, home: str) -> str:
    """A call of a name, its keywords behind the other arguments, each once."""
    drawn = [argument(draw, name, home) for _ in range(count(draw, name, home))]
    positional = [a for a in drawn if "=" not in a]
    by_keyword = {a.split("=")[0]: a for a in drawn if "=" in a}
    return f"{name}({', '.join([*positional, *by_keyword.values()])})"


def function(text: str) -> Callable[..., Any]:
    seen = dict(space())
    lines = ["def f(a, b):", f"    return {text}"]
    if text.startswith(("random.", "np.random.")):
        lines.insert(1, f"    {text[: text.index('random.')]}random.seed(5)")
    exec("\n".join(lines), seen)
    seen["f"].__qualname__ = text
    return seen["f"]


def case(number: int) -> tuple[str, Callable[..., Any], Any, Any]:
    """A function's name, a call of it, and the operands. A name that is new changes no other's calls."""
    turn, at = divmod(number, len(names()))
    name, home = names()[at]
    draw = random.Random(f"{home} {name} {turn}")
    values = operands.VALUES + operands.OWN
    mine = [v for v in values if isinstance(v, OWNERS[home])] if name.startswith("a.") else []
    a, b = (draw.choice(kind or (values if draw.random() < 0.3 else NUMERIC)) for kind in (mine, []))
    return name, function(call(draw, name, home)), a, b


def judge(number: int) -> str:
    """Describes the fault of a call; empty if there is none."""
    name, plain, a, b = case(number)
    said = operands.verdict(njit(plain), plain, a, b)
    if said in ("same", "refused") or (said.startswith("gave") and name.split(".")[-1] in UNCOMPARED):
        return ""
    said = " ".join(said.split())
    kind = " with True" if a is True or b is True or "True" in plain.__qualname__ else ""
    texts = [f"{plain.__qualname__!r}: {said}{more}" for more in ("", kind)]
    return "" if any(re.search(listed, text) for listed in LISTED for text in texts) else said


def describe(number: int) -> str:
    _, plain, a, b = case(number)
    return " ".join(f"{plain.__qualname__!r} of {a!r:.60} and {b!r:.60}".split())


def is_wide(fault: str) -> bool:
    """Whether a call is answered that CPython refuses for the types of its arguments alone.

    The manual says that there are such calls: an argument may be of any type for which the operations on it are
    defined. They are printed where the fuzzer is run by itself.
    """
    return re.search(r"^gave .*CPython raises (TypeError|AttributeError)", fault) is not None


def run(first: int, count: int) -> dict[int, str]:
    """Faults by number, each with its call; `len(names())` calls are one of each name."""
    faults = {n: text for n, text in children.run(__file__, first, count, BATCH).items() if not is_wide(text)}
    return {number: f"{describe(number)}: {fault}" for number, fault in faults.items()}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    sys.exit(children.main(__file__, str(__doc__), judge, describe, 5000))
