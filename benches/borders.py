"""Nanoseconds of a call by the kinds of its arguments and results, beside Numba.

    python benches/borders.py [--rounds 3] [--only TEXT] [--json FILE]

Each function does next to nothing, so that a call is what a value takes to cross the border: its type is found, it is
unpacked, and a result becomes an object of Python. Both compilers take turns, each in processes of its own; the least
time of the rounds counts. Needs Numba beside lancehead (`benches/run.sh borders` sees to it).
"""

from __future__ import annotations

import argparse
import collections
import importlib
import json
import math
import subprocess
import sys
import timeit
from collections.abc import Callable
from typing import Any, NamedTuple

import figures
import numpy as np

Point = collections.namedtuple("Point", "x y")
RECORD = np.dtype([("x", "f8"), ("n", "i4")])


class Case(NamedTuple):
    """A function, made by a compiler, and its arguments."""

    make: Callable[[Any], Callable[..., Any]]
    arguments: Callable[[Any], tuple[Any, ...]]


def _kind(function: Callable[..., Any], *arguments: Any) -> Case:
    return Case(lambda jit: jit(function), lambda jit: arguments)


def _generator(jit: Any) -> Callable[..., Any]:
    @jit
    def count(n):
        for i in range(n):
            yield i + 1

    return lambda n: sum(count(n))


def _raising(jit: Any) -> Callable[..., Any]:
    @jit
    def fail(n):
        if n > 0:
            raise ValueError("no")
        return n

    def caught(n):
        try:
            fail(n)
        except ValueError:
            return True
        return False

    return caught


def _keyword(jit: Any) -> Callable[..., Any]:
    @jit
    def f(a, b=2, c=3):
        return a + b + c

    return lambda a: f(a, c=5)


def _typed_list(module: Any) -> Any:
    found = module.typed.List()
    for i in range(10):
        found.append(i)
    return found


def _typed_dict(module: Any) -> Any:
    found = module.typed.Dict.empty(module.types.int64, module.types.float64)
    for i in range(10):
        found[i] = float(i)
    return found


def _instance(module: Any) -> Any:
    @importlib.import_module(f"{module.__name__}.experimental").jitclass([("x", module.types.float64)])
    class Box:
        def __init__(self, x):
            self.x = x

    return Box(1.5)


def _of_module(function: Callable[..., Any], argument: Callable[[Any], Any]) -> Case:
    return Case(lambda jit: jit(function), lambda module: (argument(module),))


def _same(x):
    return x


def _first(x):
    return x[0]


def _length(x):
    return len(x)


def _nothing(x):
    return None


A1, A2 = np.arange(10.0), np.ones((3, 4))
CASES: dict[str, Case] = {
    "no argument": _kind(lambda: None),
    "int": _kind(_same, 3),
    "float": _kind(_same, 2.5),
    "bool": _kind(_same, True),
    "complex": _kind(_same, 1 + 2j),
    "None": _kind(_same, None),
    "six ints": _kind(lambda a, b, c, d, e, f: a + f, 1, 2, 3, 4, 5, 6),
    "keyword and defaults": Case(_keyword, lambda module: (1,)),
    "float64": _kind(_same, np.float64(2.5)),
    "float32": _kind(_same, np.float32(2.5)),
    "int8": _kind(_same, np.int8(2)),
    "uint64": _kind(_same, np.uint64(2)),
    "complex64": _kind(_same, np.complex64(2)),
    "datetime64, argument": _kind(_nothing, np.datetime64("2026-01-01", "D")),
    "datetime64": _kind(_same, np.datetime64("2026-01-01", "D")),
    "timedelta64": _kind(_same, np.timedelta64(5, "s")),
    "array, argument": _kind(_first, A1),
    "array": _kind(_same, A1),
    "array of 2 dimensions, argument": _kind(lambda a: a[0, 0], A2),
    "array without order, argument": _kind(lambda a: a[0, 0], A2[:, ::2]),
    "three arrays": _kind(lambda a, b, c: a[0] + b[0] + c[0], A1, A1.copy(), A1.copy()),
    "new array": _kind(lambda n: np.empty(n), 10),
    "slice of an array": _kind(lambda a: a[2:5], A1),
    "0-d array, argument": _kind(lambda a: a[()], np.array(1.5)),
    "array of truth values": _kind(_first, np.ones(4, np.bool_)),
    "array of records, argument": _kind(lambda a: a[0].x, np.zeros(3, RECORD)),
    "record, argument": _kind(lambda r: r.x, np.zeros(3, RECORD)[0]),
    "record": _kind(_first, np.zeros(3, RECORD)),
    "array of texts, argument": _kind(_length, np.array(["ab", "cde"])),
    "memoryview, argument": _kind(_length, memoryview(bytearray(10))),
    "bytearray, argument": _kind(_length, bytearray(10)),
    "bytes, argument": _kind(_length, b"0123456789"),
    "bytes": _kind(_same, b"0123456789"),
    "str, argument": _kind(_length, "0123456789"),
    "str": _kind(_same, "0123456789"),
    "new str": _kind(lambda s: s + "x", "0123456789"),
    "tuple of 2, argument": _kind(_first, (1, 2.5)),
    "tuple of 2": _kind(_same, (1, 2.5)),
    "tuple of 10": _kind(_same, tuple(range(10))),
    "nested tuple": _kind(_same, ((1, 2), (3.0, 4.0))),
    "tuple of arrays": _kind(lambda t: t[0][0], (A1, A1.copy())),
    "named tuple, argument": _kind(lambda p: p.x, Point(1.0, 2.0)),
    "named tuple": _kind(_same, Point(1.0, 2.0)),
    "list of 10, argument": _kind(_first, list(range(10))),
    "new list of 10": _kind(lambda n: [i for i in range(n)], 10),
    "new list of 10 floats": _kind(lambda n: [i * 0.5 for i in range(n)], 10),
    "set of 10, argument": _kind(_length, set(range(10))),
    "new set of 10": _kind(lambda n: {i for i in range(n)}, 10),
    "typed list of 10": _of_module(_first, _typed_list),
    "typed dict of 10": _of_module(lambda d: d[1], _typed_dict),
    "instance of a jitclass": _of_module(lambda b: b.x, _instance),
    "range, argument": _kind(_length, range(10)),
    "slice, argument": _kind(lambda a, s: a[s], A1, slice(2, 5)),
    "function of Python, compiled": Case(
        lambda jit: jit(lambda f, x: f(x)), lambda module: (module.njit(_same), 1.0)
    ),
    "dtype, argument": _kind(lambda d: 1, np.dtype("f8")),
    "generator of 10": Case(_generator, lambda module: (10,)),
    "exception": Case(_raising, lambda module: (1,)),
    "two results": _kind(lambda a, b: (a, b), 1, 2),
    "optional result": _kind(lambda a: None if a < 0 else a, 1),
}  # fmt: skip


def child(compiler: str, names: list[str]) -> None:
    """Prints nanoseconds of a call for each kind; what a compiler refuses has none."""
    module = importlib.import_module(compiler)
    found = {}
    for name in names:
        case = CASES[name]
        try:
            function, arguments = case.make(module.njit), case.arguments(module)
            for _ in range(3):
                function(*arguments)
        except Exception as error:
            print(f"{compiler} refuses {name}: {str(error).strip().splitlines()[0][:80]}", file=sys.stderr)
            continue
        timer = timeit.Timer("f(*a)", globals={"f": function, "a": arguments})
        count = max(200, min(20_000, int(4e-3 / (timer.timeit(50) / 50))))
        found[name] = min(timer.repeat(5, count)) / count * 1e9
    print(json.dumps(found))


def measured(compiler: str, names: list[str]) -> dict[str, float]:
    """Nanoseconds that a new process measures."""
    command = [sys.executable, __file__, "--child", compiler, *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(done.stderr, end="", file=sys.stderr)
    if done.returncode:
        raise SystemExit(f"{compiler} failed")
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Prints a line per kind, and the geometric mean of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="kinds whose names have this text")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    figures.add_json(parser)
    options = parser.parse_args()
    if options.child:
        child(options.child[0], options.child[1:])
        return
    names = [name for name in CASES if options.only in name]
    best: dict[str, dict[str, float]] = {"lancehead": {}, "numba": {}}
    for _ in range(options.rounds):
        for compiler, times in best.items():
            for name, ns in measured(compiler, names).items():
                times[name] = min(ns, times.get(name, math.inf))
    result = figures.Result("borders", "benches/run.sh borders", 1)
    table = result.table("kinds", "kind", ("lancehead", "ns", 0), ("Numba", "ns", 0), ("ratio", "", 2))
    for name in names:
        ours, theirs = (times.get(name, math.nan) for times in best.values())
        table.add(name, ours, theirs, ours / theirs)
        print(f"{name:36}{ours:8.0f}{theirs:8.0f}{ours / theirs:8.2f}", flush=True)
    ratios = [row[3] for row in table.rows if row[3] is not None]
    result.summary = {"geometric mean": figures.geometric_mean(ratios), "above 0.5": sum(r > 0.5 for r in ratios)}
    print(result.summary)
    result.write(options.json)


if __name__ == "__main__":
    main()
