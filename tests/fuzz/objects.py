"""Random programs with containers, text, records, classes, generators, closures and exceptions, against CPython.

    python tests/fuzz/objects.py --count 10000 --seed 1 --jobs 2

A program that does not compile is refused, which is no fault, but counted; all else that differs from CPython is one:
answers, what became of arguments, an exception's class and chain, memory that nothing refers to.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import enum
import gc
import random
import re
import signal
import sys
import types
import typing
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import differential
from declarations import write_class, write_errors, write_function, write_generator, write_managers
from generate import Program
from kinds import INT, Kind, Writer, literal, some_kind
from statements import block, declare

#: Seconds for a program.
TIMEOUT = 60
#: The error of an iteration of a dictionary whose keys are replaced. CPython leaves open whether it ends by it.
REPLACED = "dictionary keys changed during iteration"
RECORD = "np.dtype([('a', 'i8'), ('b', 'f8'), ('s', 'U4'), ('n', [('x', 'i4'), ('y', 'f4')])])"


def generate(seed: int) -> Program:
    """The program of a seed, always the same."""
    w = Writer(random.Random(seed))
    rng = w.rng
    around = []
    for _ in range(rng.randint(0, 2)):
        around += write_class(w)
    around += write_errors(w) + write_managers(w)
    for _ in range(rng.randint(0, 2)):
        around += write_function(w, block)
    for _ in range(rng.randint(0, 2)):
        around += write_generator(w, block)
    parameters = {f"p{i}": some_kind(w) for i in range(rng.randint(0, 4))}
    w.variables |= parameters
    if rng.random() < 0.2:
        parameters["rows"] = w.records["rows"] = Kind("records")
    if rng.random() < 0.4:
        w.write("log = [0]")
        w.bind("log", Kind("list", (INT,)))
    for _ in range(rng.randint(1, 3)):
        declare(w)
    block(w, rng.randint(3, 9))
    seen = [n for n, k in w.variables.items() if k.name != "records"]
    w.write(f"return ({''.join(f'{n}, ' for n in seen)})")
    source = "\n".join([*around, "@njit", f"def f({', '.join(parameters)}):", *w.lines, ""])
    calls = [", ".join(argument(w, k, least) for k in parameters.values()) for least in (1, 0, 0)]
    return Program(source, calls)


def argument(w: Writer, kind: Kind, least: int) -> str:
    if kind.name != "records":
        return literal(w.rng, kind, w.classes, least)
    rows = [f"({w.rng.randint(-9, 99)}, {w.rng.randint(0, 9) / 4}, 'r{i}', ({i}, 0.5))" for i in range(3)]
    return f"np.array([{', '.join(rows[: w.rng.randint(1, 3)])}], {RECORD}).view(np.recarray)"


def space(njit: Any, jitclass: Any) -> dict[str, Any]:
    """Names of a new module, and those that a program uses."""
    module = sys.modules["fuzz"] = types.ModuleType("fuzz")
    names = vars(module)
    names |= {
        "np": np, "njit": njit, "jitclass": jitclass, "enum": enum, "dataclass": dataclasses.dataclass,
        "replace": dataclasses.replace, "NamedTuple": typing.NamedTuple,
    }  # fmt: skip
    for module, words in ((collections, "deque Counter defaultdict"),
                          (contextlib, "suppress nullcontext contextmanager")):  # fmt: skip
        names |= {word: getattr(module, word) for word in words.split()}
    return names


def answers(program: Program, njit: Any, jitclass: Any) -> list[str]:
    """The text of every call's outcome, with what became of its arguments."""
    names = space(njit, jitclass)
    exec(compile(program.source, "<fuzz>", "exec"), names)
    return [outcome(names, call) for call in program.calls]


def outcome(names: dict[str, Any], call: str) -> str:
    arguments = eval(f"({call},)" if call else "()", names)
    with np.errstate(all="ignore"):
        try:
            text = show(names["f"](*arguments))
        except Exception as error:
            if is_refusal(error):
                raise
            text = show_error(error)
    return f"{text} with {show(arguments)}"


def show(value: Any) -> str:
    """A value as text that tells types and signs of zero apart, with the items of sets in some order."""
    name = type(value).__name__
    if isinstance(value, enum.Enum):
        return f"{name}.{value.name}"
    if isinstance(value, (list, tuple, collections.deque)):
        size = f"/{value.maxlen}" if isinstance(value, collections.deque) else ""
        return f"{name}{size}({', '.join(map(show, value))})"
    if isinstance(value, dict):
        return f"{name}({', '.join(f'{show(k)}: {show(v)}' for k, v in value.items())})"
    if isinstance(value, (set, frozenset)):
        return f"{name}({', '.join(sorted(map(show, value)))})"
    if isinstance(value, np.ndarray):
        return f"array({value.dtype.names}, {value.tolist()!r})"
    if dataclasses.is_dataclass(value):
        return f"{name}({', '.join(show(getattr(value, f.name)) for f in dataclasses.fields(value))})"
    if hasattr(value, "f0"):
        names = [f"f{i}" for i in range(9) if hasattr(value, f"f{i}")]
        return f"instance({', '.join(show(getattr(value, f)) for f in names)})"
    if isinstance(value, np.generic):
        value = value.item()
    return "nan" if value != value else ascii(value)


def show_error(error: BaseException | None) -> str:
    """Class of an exception, its arguments where the program chose them, and its chain."""
    if error is None:
        return "none"
    chosen = len(error.args) == 2 and error.args[0] in ("a", "b", "c") or type(error).__module__ == "fuzz"
    is_key = type(error) is KeyError and len(error.args) == 1 and "popitem" not in str(error)
    shown = show(error.args) if chosen else key_text(error.args[0]) if is_key else ""
    shown = REPLACED if REPLACED in str(error) else shown
    chain = f" from {show_error(error.__cause__)}" if error.__cause__ else ""
    if error.__context__ and not error.__suppress_context__:
        chain += f" during {show_error(error.__context__)}"
    return f"{type(error).__name__}{shown}{chain}"


def key_text(key: Any) -> str:
    """A key that is not there; of a member or an instance, compiled code tells the text, of a namedtuple the tuple."""
    if isinstance(key, tuple):
        return show(tuple(key))
    is_told = isinstance(key, (enum.Enum, frozenset)) or hasattr(key, "f0")
    return show(repr(key) if is_told else key)


def is_refusal(error: Exception) -> bool:
    """Whether it says that the program does not compile."""
    return type(error).__module__.startswith("lancehead") and type(error).__name__ != "InternalError"


def run_one(seed: int, module: Any) -> str:
    """`same`, `refused` and why, or what differs."""
    from lancehead import _core
    from lancehead.experimental import jitclass

    signal.alarm(TIMEOUT)
    program = generate(seed)
    expected = answers(program, lambda function: function, lambda cls: cls)
    try:
        names = space(module.njit, jitclass)
        exec(compile(program.source, "<fuzz>", "exec"), names)
        got = [outcome(names, call) for call in program.calls]
        gc.collect()
        before = _core.live_allocations()
        for call in program.calls:
            outcome(names, call)
        gc.collect()
        leaked = _core.live_allocations() - before
    except Exception as error:
        if is_refusal(error):
            return f"refused {reason(error)}"
        return f"  {type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
    differences = [
        f"  f({call})\n    CPython  {a}\n    compiled {b}"
        for call, a, b in zip(program.calls, expected, got)
        if a != b and REPLACED not in f"{a} {b}"
    ]
    if leaked:
        differences.append(f"  {leaked} allocations leak in {len(program.calls)} calls")
    return "\n".join(differences) or "same"


def reason(error: Exception) -> str:
    """First line of a refusal, and the place that it names."""
    lines = str(error).splitlines()
    place = next((line.strip() for line in lines if re.match(r"\s*\d+ \|", line)), "")
    return f"{lines[0]} {place}"


def is_fault(verdict: str) -> bool:
    return not verdict.startswith(("same", "refused"))


def share(verdicts: dict[int, str]) -> float:
    """The share of programs that compile."""
    return sum(not v.startswith("refused") for v in verdicts.values()) / len(verdicts)


def run(first: int, count: int, jobs: int) -> dict[int, str]:
    """Verdicts of `count` programs."""
    return differential.run(first, count, jobs, __file__)


def main() -> int:
    if "--count" not in sys.argv:
        return differential.main(__doc__, __file__, generate, run_one)
    arguments = dict(zip(sys.argv[1::2], map(int, sys.argv[2::2])))
    verdicts = run(arguments.get("--seed", 0), arguments["--count"], arguments.get("--jobs", 2))
    for seed, text in sorted(verdicts.items()):
        if text != "same":
            print(f"seed {seed}:\n{text}" if is_fault(text) else f"seed {seed}: {text}")
    faults = sum(map(is_fault, verdicts.values()))
    print(f"{faults} of {len(verdicts)} programs are faults, {share(verdicts):.1%} compile")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
