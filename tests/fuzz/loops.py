"""Random programs of parallel loops in CPython, compiled in order, and on one to eight threads.

    python tests/fuzz/loops.py --count 1000 --seed 1

Loops read and write elements of arrays, rows and slices, and combine sums, products, extremes and their places, flags,
whole arrays and elements. They are one inside the other, leave early, raise, and follow each other with swapped
buffers. All numbers are whole and small, so that each order of a sum gives the same. Iterations never meet, so few
programs may be refused; loops may run in order.
"""

from __future__ import annotations

import os
import random
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import children

os.environ.setdefault("LANCEHEAD_NUM_THREADS", "8")

#: A reduction: what stands before the loop, in the loop with `{x}` for a value, and after it.
REDUCTIONS = (
    ("{v} = 0", "{v} += {x}", "{v}"),
    ("{v} = 5", "{v} -= {x}", "{v}"),
    ("{v} = 1", "{v} *= 1 - 2 * ({x} > 3)", "{v}"),
    ("{v} = 1000", "{v} = min({v}, {x})", "{v}"),
    ("{v} = -1000", "{v} = max({v}, {x})", "{v}"),
    ("{v} = -1000", "if {x} > {v}: {v} = {x}", "{v}"),
    ("{v}, {v}at = 1000, -1", "if {x} < {v}: {v}, {v}at = {x}, i", "{v}, {v}at"),
    ("{v} = 0", "if {x} % 3 == 1: {v} += 1", "{v}"),
    ("{v} = True", "{v} = {v} and {x} > -40", "{v}"),
    ("{v} = False", "if {x} > 20: {v} = True", "{v}"),
    ("{v} = 3", "{v} ^= int({x}) & 15", "{v}"),
    ("{v} = np.zeros(5, np.int64)", "{v}[int({x}) % 5] += 1", "{v}"),
    ("{v} = np.zeros(k)", "{v} += m[i]", "{v}"),
    ("{v} = np.full(k, 7.0)", "{v} = np.minimum({v}, m[i])", "{v}"),
    ("{v} = np.zeros((2, k))", "{v}[1] += m[i] * 2", "{v}"),
    ("{v}, {v}b = 0, 0", "{v}, {v}b = {v} + {x}, {v}b + 1", "{v}, {v}b"),
)


class Program:
    """The text of a function of two buffers, an array, a matrix and a permutation, and arguments for it."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.names = 0
        self.results: list[str] = ["b", "c", "m"]
        self.body: list[str] = ["n, k = m.shape"]
        self.raises = False
        for _ in range(self.rng.randint(1, 3)):
            self.rng.choice((self.loop, self.loop, self.repeated, self.slices))(0)
        lines = [*self.body, f"return {', '.join(self.results)}"]
        self.source = "\n".join(["def f(a, b, c, m, perm):", *(f"    {line}" for line in lines)])
        n, k = self.rng.choice((0, 1, 2, 7, 40, 200)), self.rng.randint(1, 9)
        numbers, dtype = np.random.default_rng(seed), self.rng.choice((np.float64, np.float64, np.int64, np.float32))
        vectors = [numbers.integers(-9, 10, n).astype(dtype) for _ in range(3)]
        self.arguments = (*vectors, numbers.integers(-9, 10, (n, k)).astype(dtype), numbers.permutation(n))

    def new(self) -> str:
        self.names += 1
        return f"v{self.names}"

    def add(self, depth: int, *lines: str) -> None:
        self.body += ["    " * depth + line for line in lines]

    def value(self, own: tuple[str, ...], locals: tuple[str, ...], depth: int = 0) -> str:
        """A value: of arrays that the loop writes, only the element of the iteration."""
        draw = self.rng.random()
        if depth > 2 or draw < 0.15:
            return self.rng.choice((*locals, "i", str(self.rng.randint(-5, 5))))
        if draw < 0.55:
            array = self.rng.choice("abcm")
            places = (
                ("i",) if array in own else ("i", "i - 1", "(i + 3) % n", "n - 1 - i", "perm[i]", "min(i + 1, n - 1)")
            )
            column = self.rng.choice(("0", "-1", "k // 2"))
            return f"{array}[{self.rng.choice(places)}{f', {column}' if array == 'm' else ''}]"
        left, right = (self.value(own, locals, depth + 1) for _ in range(2))
        if draw < 0.65:
            return f"({left} if {right} > {self.rng.randint(-4, 4)} else {self.value(own, locals, depth + 1)})"
        if draw < 0.7:
            return f"helper({left}, {right})"
        return f"({left} {self.rng.choice('+-*')} {right})"

    def small(self, own: tuple[str, ...], locals: tuple[str, ...]) -> str:
        return f"({self.value(own, locals)}) % 64 - 32"

    def slices(self, depth: int) -> None:
        self.add(
            depth,
            self.rng.choice(
                (
                    "b[1:] = a[:-1]",
                    "c[::2] += 1",
                    "b[:] = b[::-1] + 1",
                    "m[:, 0] -= a",
                    "m[:] = np.where(m > 2, m - 1, m + 1)",
                    "c[:-1] = (c[1:] + b[:-1]) % 32",
                )
            ),
        )

    def repeated(self, depth: int) -> None:
        """A loop that is run several times, with buffers that change places."""
        step = f"s{self.names}"
        self.add(depth, f"for {step} in range({self.rng.randint(1, 4)}):")
        self.loop(depth + 1)
        if self.rng.random() < 0.6:
            self.add(depth + 1, self.rng.choice(("b, c = c, b", "b, c = c, b", "c[:] = b", "b = c.copy()")))
        if self.rng.random() < 0.2:
            self.add(depth + 1, f"if {step} == 1: break")

    def loop(self, depth: int) -> None:
        own = tuple(self.rng.sample(("b", "c", "m"), self.rng.randint(0, 2)))
        reductions = [(*self.rng.choice(REDUCTIONS), self.new()) for _ in range(self.rng.choice((0, 1, 1, 2)))]
        for before, _, after, v in reductions:
            self.add(depth, before.format(v=v))
            if depth == 0:
                self.results.append(after.format(v=v))
        extent = self.rng.choice(("n", "n", "1, n", "0, n, 2", "n - 1, -1, -1", "1, n - 1", "len(a)"))
        self.add(depth, f"for i in prange({extent}):")
        locals: tuple[str, ...] = ()
        for _ in range(self.rng.randint(0, 2)):
            t = self.new()
            self.add(depth + 1, f"{t} = {self.small(own, locals)}")
            locals = (*locals, t)
        self.leave(depth + 1, own, locals)
        for array in own:
            self.store(depth + 1, array, own, locals)
        for _, inside, _, v in reductions:
            self.add(depth + 1, inside.format(v=v, x=f"({self.small(own, locals)})"))
        if self.rng.random() < 0.4:
            locals = (*locals, self.inner(depth + 1, own, locals))
            if own and own[0] != "m":
                self.add(depth + 1, f"{own[0]}[i] = ({own[0]}[i] + {locals[-1]}) % 64")
        self.add(depth + 1, "pass")

    def leave(self, depth: int, own: tuple[str, ...], locals: tuple[str, ...]) -> None:
        draw, test = self.rng.random(), f"if {self.small(own, locals)} > {self.rng.randint(10, 31)}:"
        if draw < 0.12:
            self.add(depth, f"{test} continue")
        elif draw < 0.17:
            self.add(depth, f"{test} break")
        elif draw < 0.2:
            self.raises = True
            self.add(depth, f"{test} raise ValueError('at', i)")

    def store(self, depth: int, array: str, own: tuple[str, ...], locals: tuple[str, ...]) -> None:
        x = self.small(own, locals)
        ways = (f"{array}[i] = {x}", f"{array}[i] = ({array}[i] + {x}) % 64 - 32")
        if array == "m":
            free = [other for other in "abc" if other not in own]
            source = self.rng.choice(free)
            ways = (
                f"m[i] = {x}",
                f"m[i, 0] = {x}",
                f"m[i, 1:] = (m[i, 1:] + {x}) % 16",
                f"m[i, :] = (m[i, ::-1] + {source}[i]) % 32",
                f"for j in range(k): m[i, j] = ({x} + j) % 64 - 32",
                f"for j in prange(k): m[i, j] = ({x} * j) % 64 - 32",
            )
        elif self.rng.random() < 0.1:
            self.add(depth, f"if {self.small(own, locals)} > 0: {self.rng.choice(ways)}", f"else: {ways[0]}")
            return
        self.add(depth, self.rng.choice(ways))

    def inner(self, depth: int, own: tuple[str, ...], locals: tuple[str, ...]) -> str:
        """A loop or an array of the iteration, which leave a number."""
        t, x = self.new(), self.small(own, locals)
        kind = self.rng.randrange(4)
        if kind == 0:
            self.add(depth, f"{t} = 0", "for j in range(k):", f"    if {x} + j > 25: break", f"    {t} += j")
        elif kind == 1:
            self.add(depth, f"{t} = 0", "for j in prange(k):", f"    {t} += (j + {x}) % 7")
        elif kind == 2:
            self.add(depth, f"{t}w = np.zeros(k)", f"{t}w[:] = {x}", f"{t}w[0] = i", f"{t} = {t}w.sum()")
        else:
            self.add(depth, f"{t} = 0", f"while {t} < 9 and {t} * {t} < {x}:", f"    {t} += 1")
        return t


def helper(x: Any, y: Any) -> Any:
    return x * 2 - y if x > y else y - x


def outcome(f: Any, arguments: tuple[np.ndarray, ...]) -> Any:
    """Results as lists of numbers, and the arguments' values; of an exception, its text."""
    copies = [x.copy() for x in arguments]
    try:
        results = f(*copies)
    except ValueError as error:
        return f"{type(error).__name__}{error.args}"
    return [np.asarray(x, np.float64).tolist() for x in (*results, *copies)]


def judge(seed: int) -> str:
    """The fault of a program; nothing if all agree."""
    import lancehead

    program = Program(seed)

    def made(how: Any) -> Any:
        space: dict[str, Any] = {"np": np, "prange": lancehead.prange, "helper": how(helper)}
        exec(compile(program.source, "<loops>", "exec"), space)
        return how(space["f"])

    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    expected = outcome(made(lambda f: f), program.arguments)
    rng = random.Random(seed)
    settings = [(1, 0), (2, 1), (rng.randint(2, 8), 0), (rng.randint(2, 8), rng.choice((1, 2, 7)))]
    try:
        got = {"in order": outcome(made(lancehead.njit), program.arguments)}
        parallel = made(lancehead.njit(parallel=True))
        for threads, chunk in settings:
            lancehead.set_num_threads(threads)
            with lancehead.parallel_chunksize(chunk):
                got[f"{threads} threads, chunks of {chunk}"] = outcome(parallel, program.arguments)
    except lancehead.errors.ParallelRaceError as error:
        return f"refused: {error}"[:600]
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:600]
    wrong = [f"{how}: {found}, CPython: {expected}"[:600] for how, found in got.items() if found != expected]
    return wrong[0] if wrong else ""


def verdicts(first: int, count: int) -> dict[int, str]:
    """Faults, and the programs that are refused, by their seeds."""
    return children.run(__file__, first, count, 100)


def run(first: int, count: int) -> dict[int, str]:
    """Faults by their seeds."""
    return {seed: text for seed, text in verdicts(first, count).items() if not text.startswith("refused")}


if __name__ == "__main__":
    sys.exit(children.main(__file__, __doc__ or "", judge, lambda seed: f"\n{Program(seed).source}\n", 1000))
