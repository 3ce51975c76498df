"""Random nests of loops over arrays, compiled with all kinds of options, against CPython.

    python tests/fuzz/nests.py --count 1000 --seed 1

A nest adds to several places in one iteration, writes stencils, reads neighbours and rows by numbers, and leaves loops
early. Arrays are of several layouts and may overlap. Conditions are exact in any order of additions: they compare
small multiples of 1/4 from arrays that are not written. The rest is compared to the last bit, or nearly where an option
allows another order.
"""

from __future__ import annotations

import random
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import differential
from generate import Program

FLAGS = ("nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc")
#: Lengths of axes; loops are split, jammed and made vectors above some of them.
LENGTHS = (1, 2, 3, 5, 9, 17, 20, 33, 41)
#: Arrays with their axes. The last three are only read, and overlap no other.
ARRAYS = {"a": "rm", "b": "m", "c": "rm", "d": "r", "x": "m", "y": "r", "z": "rm"}
READ_ONLY = ("x", "y", "z")
#: Iterations of all loops of a nest together.
WORK = 12_000


@dataclass
class Index:
    """A variable of a loop along an axis, and how far its neighbours on both sides exist."""

    name: str
    axis: str
    below: int
    above: int


class Writer:
    """A nest being written."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        r = self.rng
        self.dtype = r.choice(("float64", "float64", "float64", "float32", "int64"))
        self.lengths = {axis: r.choice(LENGTHS) for axis in "rm"}
        #: Whether the nest is simple enough for passes that need to see what it accesses.
        self.is_plain = r.random() < 0.5
        #: Whether some indices are out of range.
        self.faulty = r.random() < 0.1
        self.divides = self.dtype == "float64" and r.random() < 0.25
        self.overlap = not self.divides and r.random() < 0.25
        self.prange = r.random() < 0.25
        self.lines: list[str] = []
        self.scope: list[Index] = []
        self.depth, self.loops, self.work = 1, 0, 1
        self.statements = r.randint(1, 2 if self.is_plain else 5)

    def write(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def source(self) -> str:
        self.write("s, m, n = 0, 0, 0" if self.dtype == "int64" else "s, m, n = 0.0, 0.0, 0")
        for _ in range(self.rng.choice((1, 1, 2))):
            self.loop()
        self.write("return s, m, n")
        return "\n".join(["@njit", "def f(a, b, c, d, x, y, z, k, p, q):", *self.lines, ""])

    def loop(self) -> None:
        """A loop, and in it further ones, statements, or both."""
        r, before = self.rng, self.work
        axis = r.choice("rm")
        name = f"i{self.loops}"
        self.loops += 1
        header, below, above = self.header(name, axis)
        self.work *= max(self.lengths[axis], 1)
        outer = self.depth == 1
        self.write(header.replace("range", "prange", 1) if outer and self.prange and "range" in header else header)
        self.depth += 1
        self.scope.append(Index(name, axis, below, above))
        statements = r.randint(0, 2) if len(self.scope) < 3 and self.work < WORK // 41 and r.random() < 0.65 else None
        if statements is None:
            for _ in range(r.randint(1, self.statements)):
                self.statement()
        else:
            for _ in range(statements):
                self.statement()
            self.loop()
            if r.random() < 0.4:
                self.statement()
        if header.startswith("while"):
            self.write(f"{name} += 1")
        self.scope.pop()
        self.depth -= 1
        self.work = before

    def header(self, name: str, axis: str) -> tuple[str, int, int]:
        """The first line of a loop, and how far neighbours of its variable exist."""
        r = self.rng
        length = f"{'a' if axis == 'r' else 'b'}.shape[0]"
        below, above = r.choice((0, 0, 1, 2)), r.choice((0, 0, 1, 2))
        others = [i.name for i in self.scope if i.axis == axis]
        end = f"{length} - {above}" if above else length
        match r.choice(("up", "up", "up", "down", "two", "few", "triangle", "while")):
            case "down":
                return f"for {name} in range({length} - {above + 1}, {below - 1}, -1):", below, above
            case "two":
                return f"for {name} in range({below}, {end}, {r.choice((2, 3))}):", below, above
            case "few" if self.lengths[axis] >= 3:
                return f"for {name} in range(3):", 0, 0
            case "triangle" if others:
                other = r.choice(others)
                if r.random() < 0.5:
                    return f"for {name} in range({other} + 1, {length}):", 1, 0
                return f"for {name} in range({other}):", 0, 0
            case "while" if not (self.depth == 1 and self.prange):
                self.write(f"{name} = {below}")
                return f"while {name} < {end}:", below, above
        return f"for {name} in range({below}, {end}):", below, above

    def statement(self) -> None:
        r = self.rng
        kinds = ("sums", "store", "scalar", "branch", "leave") if r.random() < 0.6 else ("sums",)
        match r.choice(("sums",) if self.is_plain and r.random() < 0.7 else kinds):
            case "sums":
                # Often into several places of one array.
                arrays = r.choice(("aaabbcd", "a", "a", "b", "c"))
                for _ in range(r.choice((1, 2, 2, 3, 4))):
                    self.write(f"{self.element(r.choice(arrays))} {r.choice(('+=', '-='))} {self.term()}")
            case "store":
                self.write(f"{self.place()} = {self.term()}")
            case "scalar":
                self.write(r.choice(("s += {}", "s -= {}", "m = max(m, {})", "n += 1")).format(self.exact_term()))
            case "branch":
                self.write(f"if {self.condition()}:")
                self.depth += 1
                self.write(f"{self.place()} += {self.term()}")
                self.depth -= 1
                if r.random() < 0.4:
                    self.write("else:")
                    self.depth += 1
                    self.write(f"{self.place()} -= {self.term()}")
                    self.depth -= 1
            case "leave":
                self.leave()

    def leave(self) -> None:
        """An early exit, under a condition that is seldom true."""
        r = self.rng
        inside = r.choice(("break", "return s, m, n", "raise ValueError(n)", "continue"))
        if inside == "continue" and any("while" in line for line in self.lines):
            inside = "break"
        if self.prange:
            inside = "continue" if inside != "break" or len(self.scope) < 2 else inside
            if any("while" in line for line in self.lines):
                self.write("n += 1")
                return
        self.write(f"if {self.condition()} and {self.condition()}:")
        self.lines.append("    " * (self.depth + 1) + inside)

    def condition(self) -> str:
        """One whose value no order of additions changes."""
        r = self.rng
        i = r.choice(self.scope)
        other = r.choice([*self.scope, i])
        return r.choice(
            (f"{self.exact()} > {self.exact()}", f"{self.exact()} > 1", f"{i.name} == {other.name}",
             f"{i.name} % 3 == 1", f"k[{self.position('m')}] == {i.name}", f"{i.name} != p")
        )  # fmt: skip

    def position(self, axis: str) -> str:
        """An index along an axis."""
        r = self.rng
        known = [i for i in self.scope if i.axis == axis]
        if self.faulty and r.random() < 0.1:
            return f"{r.choice(self.scope).name} + 1"
        if not known or r.random() < 0.12:
            return r.choice(("p", "q", "0", "-1") if axis == "r" else ("0", "-1"))
        i = r.choice(known)
        if self.is_plain and r.random() < 0.6:
            return i.name
        match r.choice(("self", "self", "self", "near", "near", "mirrored", "number", "half")):
            case "near":
                shift = r.randint(-i.below, i.above)
                return i.name if shift == 0 else f"{i.name} {'+' if shift > 0 else '-'} {abs(shift)}"
            case "mirrored":
                return f"{'a' if axis == 'r' else 'b'}.shape[0] - 1 - {i.name}"
            case "number" if axis == "m":
                return f"k[{i.name}]"
            case "half":
                return f"{i.name} // 2"
        return i.name

    def element(self, array: str) -> str:
        return f"{array}[{', '.join(self.position(axis) for axis in ARRAYS[array])}]"

    def place(self) -> str:
        """An element that may be written."""
        return self.element(self.rng.choice("aaabbcd"))

    def exact(self) -> str:
        """An element of an array that is only read."""
        return self.element(self.rng.choice(READ_ONLY))

    def exact_term(self) -> str:
        r = self.rng
        factor = "2" if self.dtype == "int64" else "0.5"
        return r.choice((self.exact(), f"{self.exact()} * {self.exact()}", f"{self.exact()} + {factor}",
                         f"{factor} * {self.exact()} - {self.exact()}"))  # fmt: skip

    def term(self) -> str:
        """A value to add or to store."""
        r = self.rng
        if self.divides and r.random() < 0.4:
            # Numbers of Python raise where those of NumPy do not.
            return f"float({self.exact()}) / float({self.exact()})"
        if r.random() < (0.97 if self.is_plain else 0.5):
            return self.exact_term()
        shrink = " // 2" if self.dtype == "int64" else " * 0.25"
        element = self.element(r.choice("abcd"))
        return r.choice((f"{element}{shrink}", f"{element}{shrink} - {self.exact()}",
                         f"({element} + {self.element(r.choice('abcd'))}){shrink}"))  # fmt: skip


def arguments(w: Writer, seed: int, zeros: bool) -> tuple[Any, ...]:
    """New arguments, the same for a seed; `zeros` says whether elements that may be divisors are 0."""
    gen = np.random.default_rng(seed)
    made: dict[str, np.ndarray] = {}
    for name, axes in ARRAYS.items():
        shape = tuple(w.lengths[axis] for axis in axes)
        values = gen.integers(-8, 9, shape)
        if not zeros and name in READ_ONLY:
            values[values == 0] = 3
        array = (values if w.dtype == "int64" else values / 4).astype(w.dtype)
        match gen.choice(("C", "C", "C" if w.is_plain else "strided", "F", "reversed")):
            case "F":
                array = np.asfortranarray(array)
            case "strided":
                wide = np.zeros(tuple(2 * n for n in shape), array.dtype)
                wide[tuple(slice(None, None, 2) for _ in shape)] = array
                array = wide[tuple(slice(None, None, 2) for _ in shape)]
            case "reversed":
                array = array[::-1].copy()[::-1]
        made[name] = array
    if w.overlap:
        made["c"] = made["a"]
        if made["a"].flags.c_contiguous and gen.random() < 0.5:
            made["b"] = made["a"][gen.integers(w.lengths["r"])]
    rows = w.lengths["r"]
    numbers = gen.integers(0, w.lengths["m"], w.lengths["m"])
    return *made.values(), numbers, int(gen.integers(rows)), int(gen.integers(rows))


def options(w: Writer) -> list[dict[str, Any]]:
    """Options under which the nest is compiled; the first are the least, the second have `fastmath`."""
    r = w.rng
    out: list[dict[str, Any]] = [{}, {"fastmath": True}]
    for _ in range(2):
        chosen: dict[str, Any] = {"fastmath": r.choice((True, False, {f for f in FLAGS if r.random() < 0.5}))}
        chosen["parallel"] = r.random() < 0.5
        chosen["boundscheck"] = r.choice((None, True, w.faulty))
        chosen["error_model"] = r.choice(("python", "numpy"))
        out.append(chosen)
    return out


def outcome(function: Any, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """The result or the class of the exception, and the arguments afterwards."""
    try:
        return function(*args), args
    except (ValueError, IndexError, ZeroDivisionError) as error:
        if type(error).__module__ != "builtins":
            raise
        return type(error).__name__, args


def is_near(got: Any, want: Any, tolerance: float) -> bool:
    """Whether results or arguments are the same, up to a tolerance relative to the largest number."""
    if isinstance(want, str) or isinstance(got, str):
        return bool(got == want)
    for x, y in zip(got, want):
        x, y = np.asarray(x), np.asarray(y)
        most = np.abs(y).max(initial=1.0)
        if tolerance and not most < 1e30:
            continue
        if not np.allclose(x, y, rtol=0, atol=tolerance * most, equal_nan=True):
            return False
    return True


def complaint(w: Writer, source: str, chosen: dict[str, Any], seed: int, lancehead: Any) -> str:
    """The difference with some options, or nothing."""
    space: dict[str, Any] = {"njit": lambda function: function, "prange": range}
    exec(compile(source, "<nest>", "exec"), space)
    # By zero, NumPy's model divides as arrays do.
    zeros = chosen.get("error_model") != "numpy"
    with np.errstate(all="ignore"):
        want, after = outcome(space["f"], arguments(w, seed, zeros))
    space = {"njit": lancehead.njit(**chosen), "prange": lancehead.prange}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        exec(compile(source, "<nest>", "exec"), space)
        try:
            got, args = outcome(space["f"], arguments(w, seed, zeros))
        except lancehead.errors.ParallelRaceError:
            return "" if w.prange else "a race"
        except Exception as error:
            return differential.show_error(error)
    undone = [str(t.message) for t in told if issubclass(t.category, lancehead.errors.OptimisationWarning)]
    if undone:
        return undone[0]
    reorders = bool(chosen.get("fastmath") or chosen.get("parallel")) and w.dtype != "int64"
    tolerance = {"float32": 1e-4}.get(w.dtype, 1e-9) if reorders else 0
    # Threads that do not raise go on.
    compared = not (isinstance(want, str) and chosen.get("parallel"))
    if not is_near(got, want, tolerance):
        return f"{got}, not {want}"
    return "" if not compared or is_near(args[:7], after[:7], tolerance) else "other elements of arrays"


def run_one(seed: int, module: Any) -> str:
    """`same`, or what differs."""
    w = Writer(seed)
    source = w.source()
    found = {repr(chosen): complaint(w, source, chosen, seed, module) for chosen in options(w)}
    wrong = [f"  {chosen}: {text}" for chosen, text in found.items() if text]
    return "\n".join(wrong) if wrong else "same"


def generate(seed: int) -> Program:
    """The nest of a seed."""
    w = Writer(seed)
    return Program(w.source(), [f"# {w.dtype}, {w.lengths}, overlap {w.overlap}", *(f"# {o}" for o in options(w))])


if __name__ == "__main__":
    sys.exit(differential.main(__doc__, __file__, generate, run_one))
