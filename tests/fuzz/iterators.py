"""Random programs that make, hand on and advance iterators, and change what they go through, against CPython.

    python tests/fuzz/iterators.py --count 10000 --seed 1 --jobs 2

A program that does not compile is refused, which is no fault, but counted.
"""

from __future__ import annotations

import itertools
import random
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import differential
from generate import Program
from objects import is_refusal, reason

#: Functions that programs hand iterators to.
AROUND = """
@njit
def taken(it, n):
    out = [0]
    for x in it:
        out.append(fold(x))
        if len(out) > n:
            break
    return out

@njit
def following(it, default):
    return next(it, default)

@njit
def numbered(it):
    return enumerate(it, 3)

@njit
def doubled(it):
    for x in it:
        yield (x, x)

@njit
def beside(it, other):
    return zip(it, other)
"""
#: The outcome of a call where docs/differences.md lists another one.
UNCOMPARED = "uncompared"
#: The type of items: `i` is an integer, `s` a text, a tuple one of such.
Item = Any
SEQUENCES: dict[str, Item] = {"l": "i", "a": "i", "t": "s", "range(2, 11, 3)": "i", "(4, 0, 9)": "i"}
CHANGES = (
    "l.append({0})", "l.pop()", "l.insert(0, {0})", "del l[0]", "l.remove(l[-1])", "l.extend([{0}, 1])", "l.clear()",
    "l[1:2] = [{0}, 2, 3]",
)  # fmt: skip
CHANGES_OF_DICT = (
    "d[{0}] = 1", "d.pop(next(iter(d)), 0)", "d.clear()", "d.update({{{0}: 2, 51: 3}})", "d[2] = {0}", "d.popitem()",
)  # fmt: skip


@dataclass
class Iterator:
    """An iterator that the program has a name for."""

    item: Item
    is_endless: bool = False


@dataclass
class Writer:
    """The lines of a program so far, and its iterators by name."""

    rng: random.Random
    lines: list[str] = field(default_factory=list)
    iterators: dict[str, Iterator] = field(default_factory=dict)
    indent: int = 1
    count: int = 0
    #: Whether the dictionary gets more keys, and loses none.
    grows: bool = True

    def write(self, *lines: str) -> None:
        self.lines += ["    " * self.indent + line for line in lines]

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def iterator(self, may_be_endless: bool = True) -> str | None:
        """The name of an iterator."""
        names = [n for n, it in self.iterators.items() if may_be_endless or not it.is_endless]
        return self.rng.choice(names) if names else None


def folded(item: Item, text: str) -> str:
    """An item as an integer."""
    if item == "i":
        return f"int({text})"
    if item == "s":
        return f"ord({text})"
    return " + ".join(f"{2 * i + 1} * {folded(part, f'{text}[{i}]')}" for i, part in enumerate(item))


def default(item: Item) -> str:
    if item == "i":
        return "-7"
    return "'z'" if item == "s" else f"({''.join(default(part) + ', ' for part in item)})"


def source(w: Writer, depth: int, bounded: bool = False) -> tuple[str, Item, bool]:
    """An iterable: its text, its items, and whether it has no end."""
    form = w.rng.random()
    name = w.iterator(not bounded)
    if name and form < 0.45:
        return name, w.iterators[name].item, w.iterators[name].is_endless
    if depth and form < 0.7:
        return made(w, depth - 1, bounded)
    if form < 0.8:
        return w.rng.choice([("d", "i", False), ("d.items()", ("i", "i"), False), ("d.values()", "i", False)])
    text, item = w.rng.choice(list(SEQUENCES.items()))
    return text, item, False


def made(w: Writer, depth: int, bounded: bool = False) -> tuple[str, Item, bool]:
    """A new iterator."""
    rng = w.rng
    form = rng.choice(FORMS)
    if form in ("reversed", "count", "ndindex", "ndenumerate", "flat"):
        return simple(w, form, bounded)
    of, item, endless = source(w, depth, bounded or form in ("filter", "takewhile", "dropwhile"))
    value = folded(item, "x")
    match form:
        case "enumerate":
            return f"enumerate({of}{rng.choice(('', ', 5'))})", ("i", item), endless
        case "zip" | "beside":
            other, kind, also = source(w, depth)
            call = "zip" if form == "zip" or depth == 0 else "beside"
            return f"{call}({of}, {other})", (item, kind), endless and also
        case "map":
            return f"map(lambda x: {rng.choice((value, f'({value}) % 7'))}, {of})", "i", endless
        case "map2":
            other, kind, also = source(w, depth)
            return f"map(lambda x, y: {value} - {folded(kind, 'y')}, {of}, {other})", "i", endless and also
        case "filter":
            return f"filter(lambda x: ({value}) % {rng.choice((2, 3))} == 0, {of})", item, endless
        case "iter":
            return f"iter({of})", item, endless
        case "expression":
            return f"({rng.choice((value, f'9 // ({value})'))} for x in {of})", "i", endless
        case "numbered":
            return f"numbered({of if of in w.iterators else f'iter({of})'})", ("i", item), endless
        case "doubled":
            return f"doubled({of})", (item, item), endless
        case "chain":
            other = rng.choice([n for n, kind in SEQUENCES.items() if kind == "i"])
            return f"itertools.chain(map(lambda x: {value}, {of}), {other})", "i", endless
        case "islice":
            return f"itertools.islice({of}, {rng.choice(('3', '1, 4', '0, 6, 2'))})", item, False
        case "takewhile":
            return f"itertools.takewhile(lambda x: ({value}) % 5 != 0, {of})", item, endless
        case "dropwhile":
            return f"itertools.dropwhile(lambda x: ({value}) % 5 != 0, {of})", item, endless
        case _:
            return f"itertools.starmap(lambda x, y: x * 2 + {folded(item, 'y')}, enumerate({of}))", "i", endless


FORMS = (
    "reversed", "count", "ndindex", "ndenumerate", "flat", "enumerate", "enumerate", "zip", "zip", "map", "map", "map2",
    "filter", "iter", "iter", "expression", "numbered", "doubled", "chain", "islice", "takewhile", "dropwhile",
    "starmap", "beside",
)  # fmt: skip


def simple(w: Writer, form: str, bounded: bool) -> tuple[str, Item, bool]:
    """A new iterator over no other."""
    match form:
        case "count" if not bounded:
            return f"itertools.count({w.rng.randint(0, 5)}, 2)", "i", True
        case "ndindex":
            return "np.ndindex(2, 3)", ("i", "i"), False
        case "ndenumerate":
            return "np.ndenumerate(a)", (("i",), "i"), False
        case "flat":
            return "a.flat", "i", False
        case _:
            of = w.rng.choice(["l", "a", "t", "d", "d.items()", *list(SEQUENCES)[3:]])
            return f"reversed({of})", ("i", "i") if of == "d.items()" else SEQUENCES.get(of, "i"), False


def make(w: Writer) -> None:
    text, item, endless = made(w, 2)
    name = w.fresh()
    w.write(f"{name} = {text}")
    w.iterators[name] = Iterator(item, endless)


def alias(w: Writer) -> None:
    name, old = w.fresh(), w.iterator()
    w.write(f"{name} = {old}", f"log.append(int(iter({name}) is {old}))")
    w.iterators[name] = w.iterators[old or ""]


def advance(w: Writer) -> None:
    name, x = w.iterator() or "", w.fresh()
    it = w.iterators[name]
    match w.rng.randrange(4):
        case 0:
            w.write(f"{x} = next({name}, {default(it.item)})", f"log.append({folded(it.item, x)})")
        case 1:
            w.write("try:", f"    {x} = next({name})", f"    log.append({folded(it.item, x)})")
            w.write("except StopIteration:", "    log.append(-1)")
        case 2:
            w.write(f"{x} = following({name}, {default(it.item)})", f"log.append({folded(it.item, x)})")
        case _:
            w.write(f"{x} = ({name}, 5)", f"log.append({folded(it.item, f'next({x}[0], {default(it.item)})')})")


def loop(w: Writer, depth: int = 1) -> None:
    rng = w.rng
    text, item, endless = source(w, 1) if rng.random() < 0.8 else made(w, 1)
    x, n = w.fresh(), w.fresh()
    w.write(f"{n} = 0", f"for {x} in {text}:")
    w.indent += 1
    w.write(f"{n} += 1", f"log.append({folded(item, x)})")
    w.write(f"if {n} > {rng.randint(1, 9) if endless or rng.random() < 0.6 else 12}:", "    break")
    if rng.random() < 0.3:
        w.write(f"if {n} > {rng.randint(1, 6)}:", "    continue")
    for _ in range(rng.randrange(3)):
        if rng.random() < 0.4:
            w.write(f"if {n} < {rng.randint(2, 9)}:", "    " + change(w))
        elif depth:
            before = dict(w.iterators)
            loop(w, depth - 1) if rng.random() < 0.4 else rng.choice(STATEMENTS)(w)
            # Inside the loop a name is not always bound.
            w.iterators = before
    w.indent -= 1
    if rng.random() < 0.3:
        w.write("else:", "    log.append(-2)")


def change(w: Writer) -> str:
    # A dictionary that loses and gains as many keys while it is gone through is a difference that the manual has.
    of_dict = [c for c in CHANGES_OF_DICT if any(word in c for word in ("pop", "clear")) != w.grows]
    return w.rng.choice(CHANGES if w.rng.random() < 0.6 else of_dict).format(w.rng.randint(20, 40))


def changes(w: Writer) -> None:
    w.write(change(w))


def consume(w: Writer) -> None:
    name = w.iterator(False)
    if name is None:
        return advance(w)
    item, value = w.iterators[name].item, folded(w.iterators[name].item, "x")
    x = w.fresh()
    match w.rng.randrange(12):
        case 0:
            w.write(f"log.append(len(list({name})))")
        case 1:
            w.write(f"log.append(sum([{value} for x in {name}]))")
        case 2:
            w.write(f"log.append(sum(map(lambda x: {value}, {name})))")
        case 3:
            w.write(f"for {x} in sorted({name}):", f"    log.append({folded(item, x)})")
        case 4:
            w.write(f"{x} = max({name}, default={default(item)})", f"log.append({folded(item, x)})")
        case 5:
            w.write(f"log.append(int({default(item)} in {name}))")
        case 6:
            w.write(f"log.append(int(any(({value}) % 4 == 0 for x in {name})))")
        case 7:
            w.write(f"log.append(int(all(map(lambda x: ({value}) % 4 != 0, {name}))))")
        case 8:
            w.write("try:", f"    {x}, {x}b = {name}", f"    log.append({folded(item, x)})")
            w.write("except ValueError:", "    log.append(-3)")
        case 9:
            w.write(f"{x} = {{k: {value} for k, x in enumerate({name})}}", f"log.append(len({x}) + {x}.get(1, 0))")
        case 10:
            w.write(f"log.extend(taken({name}, {w.rng.randint(0, 4)}))")
        case _:
            w.write(f"log.extend([{value} for x in itertools.islice({name}, 2)])")
    return None


def apart(w: Writer) -> None:
    """Statements that may raise where a dictionary or a list has changed."""
    w.write("try:")
    w.indent += 1
    before = dict(w.iterators)
    loop(w)
    w.iterators = before
    w.indent -= 1
    for error in ("RuntimeError", "IndexError", "ZeroDivisionError"):
        w.write(f"except {error}:", f"    log.append(-{len(error)})")


STATEMENTS = (alias, advance, advance, consume, consume, changes)


def generate(seed: int) -> Program:
    """The program of a seed, always the same."""
    w = Writer(random.Random(seed), grows=seed % 2 == 0)
    make(w)
    for _ in range(w.rng.randint(3, 8)):
        w.rng.choice((make, make, loop, apart, apart, *STATEMENTS))(w)
    lines = "\n".join(w.lines)
    item = "\n".join(["@njit", "def fold(x):", "    return 1", AROUND])
    source = f"{item}\n@njit\ndef f(l, a, d, t):\n    log = [0]\n{lines}\n    return log, l, d\n"
    calls = [
        "[1, 2, 3, 4, 5, 6], np.arange(5), {1: 2, 3: 4, 5: 6}, 'abcd'",
        "[7, 7], np.arange(8)[::-3], {9: 9}, 'xy'",
        "[5, 0, 5], np.arange(0), {2: 1, 4: 3, 0: 5, 8: 7}, ''",
    ]
    return Program(source, calls)


def answers(program: Program, njit: Any) -> list[str]:
    """The text of every call's outcome, with what became of its arguments."""
    space = {"np": np, "itertools": itertools, "njit": njit}
    exec(compile(program.source, "<fuzz>", "exec"), space)
    return [outcome(space, call) for call in program.calls]


def outcome(space: dict[str, Any], call: str) -> str:
    arguments = eval(f"({call},)", space)
    try:
        text = repr(space["f"](*arguments))
    except Exception as error:
        if is_refusal(error):
            raise
        if str(error) == "dictionary keys changed during iteration":
            return UNCOMPARED
        text = type(error).__name__
    return f"{text} with {arguments[0]} {arguments[2]}"


def run_one(seed: int, module: Any) -> str:
    """`same`, `refused` and why, or what differs."""
    program = generate(seed)
    expected = answers(program, lambda function: function)
    try:
        got = answers(program, module.njit)
    except Exception as error:
        return f"refused {reason(error)}" if is_refusal(error) else f"  {type(error).__name__}: {error}"
    differences = [
        f"  f({call})\n    CPython  {a}\n    compiled {b}"
        for call, a, b in zip(program.calls, expected, got)
        if a not in (b, UNCOMPARED)
    ]
    return "\n".join(differences) or "same"


def run(first: int, count: int, jobs: int) -> dict[int, str]:
    """Verdicts of `count` programs."""
    return differential.run(first, count, jobs, __file__)


if __name__ == "__main__":
    sys.exit(differential.main(__doc__, __file__, generate, run_one))
