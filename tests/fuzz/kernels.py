"""Runs random kernels on the CPU device, as lifted PTX and checked, and compares with the interpreter of `tests/cuda`.

    python tests/fuzz/kernels.py --count 1000 --seed 1

Kernels are free of races: what they share lies between barriers, or is updated atomically by operations whose order
does not matter. One barrier that such a kernel needs is then left out, which the check must find.
"""

from __future__ import annotations

import linecache
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "cuda")]
import differential  # noqa: E402
from both_ways import run_lifted  # noqa: E402
from corpus import Kernel  # noqa: E402
from generate import Program  # noqa: E402
from interpreter import Deadlock, interpret, interpreted  # noqa: E402

#: Values are cut to so many bits where they are stored.
MASK = "0xFFFFF"
SHAPES = (32, 64, 96, 48, 33, 20, 100, (24, 4), (8, 4), (16, 6), (4, 4, 4))
FULL = "0xFFFFFFFF"
HELPERS = """
def turn(x, y):
    if x % 2 == 0:
        return x + y
    return (x * 3 + y) & 0xFFFFF

def meet(s, t, x):
    cuda.syncthreads()
    s[t] = x
    cuda.syncthreads()
    return int(s[(t + 1) % THREADS])
"""


class Writer:
    """A kernel being written."""

    block: Any
    grid: Any

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.block, self.grid = self.rng.choice(SHAPES), self.rng.choice((1, 2, 3))
        dims = self.block if isinstance(self.block, tuple) else (self.block,)
        self.threads = int(np.prod(dims))
        self.whole = self.threads % 32 == 0
        self.cooperative = self.rng.random() < 0.15
        #: Threads of such a kernel never wait for each other.
        self.alone = not self.cooperative and self.rng.random() < 0.25
        #: Nor go different ways but in branches.
        self.only_strides = self.alone and self.rng.random() < 0.5
        self.lines: list[str] = []
        self.depth, self.loops, self.left = 1, 0, 14
        #: Lines of barriers without which there is a race for certain.
        self.needed: list[int] = []

    def write(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def variable(self) -> str:
        return f"v{self.rng.randrange(4)}"

    def names(self) -> list[str]:
        """Integers that may be used anywhere."""
        return [self.variable(), self.variable(), "t", "lane", "n"]

    def value(self, depth: int = 0) -> str:
        """An integer expression."""
        r = self.rng
        if depth > 2 or r.random() < 0.3:
            return r.choice([*self.names(), str(r.randrange(1, 40)), *(f"j{k}" for k in range(self.loops))])
        a, b = self.value(depth + 1), self.value(depth + 1)
        return r.choice([
            f"({a} + {b})", f"({a} - {b})", f"(({a} & 0xFFFF) * ({b} & 0xFF))", f"({a} // {r.randrange(1, 9)})",
            f"({a} % {r.randrange(1, 9)})",
            f"({a} ^ {b})", f"({a} & {b})", f"({a} | {b})", f"min({a}, {b})", f"max({a}, {b})", f"abs({a} - {b})",
            f"(({a} & 0xFF) << {r.randrange(4)})",
            f"cuda.popc({a} & 0xFFFF)", f"cuda.selp({self.condition(depth + 1)}, {a}, {b})",
            f"turn({a} & 0xFF, {b} & 0xFF)", f"({a} if {self.condition(depth + 1)} else {b})",
        ])  # fmt: skip

    def condition(self, depth: int = 0) -> str:
        r = self.rng
        a, b = self.value(depth + 1), self.value(depth + 1)
        simple = r.choice([f"{a} % {r.randrange(2, 5)} == 0", f"{a} < {b}", f"({a}) & 1 == 1", f"{a} != {b}"])
        return (
            simple
            if depth > 1 or r.random() < 0.7
            else f"({simple} {r.choice(('and', 'or'))} {self.condition(depth + 2)})"
        )

    def uniform(self) -> str:
        """A condition that is the same for all threads that wait for each other."""
        r = self.rng
        return r.choice(
            [
                "n % 2 == 0",
                "n > 3",
                *["cuda.blockIdx.x % 2 == 0"] * (not self.cooperative),
                *(f"j{k} % 2 == 0" for k in range(self.loops) if k in self.even),
            ]
        )

    even: frozenset[int] = frozenset()

    def body(self, uniform: bool, inside: str = "") -> None:
        """Some statements; `inside` says what kind of loop they are in."""
        self.depth += 1
        before = len(self.lines)
        for _ in range(self.rng.randrange(1, 4)):
            self.statement(uniform, inside)
        if len(self.lines) == before:
            self.assign()
        self.depth -= 1

    def statement(self, uniform: bool, inside: str = "") -> None:
        self.left -= 1
        if self.left < 0:
            return
        kinds: list[Callable[..., None]] = [self.assign, self.assign, self.own, self.atomic, self.floats, self.few]
        if self.depth < 4:
            kinds += [
                lambda: self.branch(uniform, inside),
                lambda: self.loop(uniform),
                lambda: self.branch(uniform, inside),
            ]
        if inside and (inside == "divergent" or uniform):
            kinds.append(lambda: self.leave(uniform, inside))
        if uniform and not self.alone:
            kinds += [
                self.exchange,
                self.exchange,
                self.count,
                self.vote,
                self.vote,
                self.shuffle,
                self.shuffle,
                self.steps,
                self.steps,
                self.until_none,
                self.meet,
            ]
            kinds += [self.by_grid] * (2 * self.cooperative)
            kinds += [self.some_lanes, self.within_warp] * self.whole
        self.rng.choice(kinds)()

    def assign(self) -> None:
        self.write(f"{self.variable()} = {self.value()} & {MASK}")

    def own(self) -> None:
        if self.rng.random() < 0.5:
            self.write(f"own[{self.value()} & 3] = {self.value()} & {MASK}")
        else:
            self.write(f"{self.variable()} = int(own[{self.value()} & 3])")

    def floats(self) -> None:
        self.write(f"f = (f + {self.value()}) * 0.5")

    def atomic(self) -> None:
        op, place = self.rng.choice(
            [("add", 0), ("sub", 0), ("max", 8), ("min", 16), ("or_", 24), ("and_", 32), ("xor", 40)]
        )
        array = self.rng.choice(("sums", "narrow"))
        self.write(f"cuda.atomic.{op}({array}, {place} + ({self.value()} & 7), {self.value()} & {MASK})")

    def branch(self, uniform: bool, inside: str) -> None:
        same = uniform and self.rng.random() < 0.5
        self.write(f"if {self.uniform() if same else self.condition()}:")
        self.body(same, inside)
        if self.rng.random() < 0.5:
            self.write("else:")
            self.body(same, inside)

    def loop(self, uniform: bool) -> None:
        same = uniform and self.rng.random() < 0.6
        j, even = f"j{self.loops}", self.even
        if not same and (self.only_strides or self.rng.random() < 0.4):
            return None if self.only_strides and self.loops else self.stride(j)
        bound = self.rng.choice(("3", "n % 4", "2")) if same else f"{self.value()} % 5"
        kind = "uniform" if same else "divergent"
        while_ = self.rng.random() < 0.3
        if while_:
            self.write(f"{j} = {bound}")
            self.write(f"while {j} > 0:")
            self.write(f"    {j} -= 1")
        else:
            self.write(f"for {j} in range({bound}):")
        self.loops += 1
        self.even = even | {self.loops - 1} if same else even
        self.body(same, kind)
        self.loops -= 1
        self.even = even

    def stride(self, j: str) -> None:
        """Threads begin side by side, and go on by the same step."""
        r = self.rng
        start, step = r.choice(
            (
                ("t", "THREADS"),
                ("t", "cuda.blockDim.x"),
                ("cuda.grid(1)", "cuda.gridsize(1)"),
                ("i + 3", "THREADS * 2"),
                ("lane", "9"),
            )
        )
        bound = r.choice((str(r.randrange(3 * self.threads)), "n * 20", "floats.size", f"{self.variable()} & 127"))
        if r.random() < 0.5:
            self.write(f"for {j} in range({start}, {bound}, {step}):")
            after = None
        else:
            self.write(f"{j} = {start}")
            self.write(f"while {j} < {bound}:")
            after = f"    {j} += {step}"
        self.loops += 1
        self.body(False, "" if after else "divergent")
        self.loops -= 1
        if after:
            self.write(after)

    def leave(self, uniform: bool, inside: str) -> None:
        self.write(f"if {self.condition() if inside == 'divergent' else self.uniform()}:")
        self.write(f"    {self.rng.choice(('break', 'continue'))}")

    def exchange(self) -> None:
        """Through shared memory, between barriers."""
        away = self.rng.randrange(1, self.threads)
        self.write("cuda.syncthreads()")
        self.write(f"s[t] = {self.value()} & {MASK}")
        if self.depth == 1:
            self.needed.append(len(self.lines))
        self.write("cuda.syncthreads()")
        name = self.variable()
        self.write(f"{name} = int(s[(t + {away}) % {self.threads}])")
        # The compiler removes unused reads, so the value is used.
        self.write(f"cuda.atomic.add(sums, 0, {name})")

    def by_grid(self) -> None:
        total = self.threads * self.grid
        self.write("g.sync()")
        self.write(f"buffer[i] = {self.value()} & {MASK}")
        self.write("g.sync()")
        self.write(f"{self.variable()} = int(buffer[(i + {self.rng.randrange(1, total + 1)}) % {total}])")

    def meet(self) -> None:
        self.write(f"{self.variable()} = meet(s, t, {self.value()} & {MASK})")

    def count(self) -> None:
        self.write(
            f"{self.variable()} = int(cuda.syncthreads_{self.rng.choice(('count', 'and', 'or'))}({self.condition()}))"
        )

    def vote(self) -> None:
        r = self.rng
        what = r.choice(
            [f"{k}_sync({FULL}, {self.condition()})" for k in ("all", "any", "eq", "ballot")]
            + [f"match_any_sync({FULL}, {self.value()} & 3)"]
        )
        if r.random() < 0.15:
            self.write(f"bits, same = cuda.match_all_sync({FULL}, {self.value()} & 1)")
            self.write(f"{self.variable()} = (bits + int(same)) & {MASK}")
        else:
            self.write(f"{self.variable()} = int(cuda.{what}) & {MASK}")

    def shuffle(self) -> None:
        r = self.rng
        by = r.choice(
            [
                f"up_sync({FULL}, X, {r.randrange(1, 32)})",
                f"sync({FULL}, X, ({self.value()}) % {min(32, self.threads % 32 or 32)})",
            ]
        )
        if self.whole:
            by = r.choice(
                [by, f"down_sync({FULL}, X, {r.randrange(1, 32)})", f"xor_sync({FULL}, X, {r.randrange(1, 32)})"]
            )
        if r.random() < 0.2:
            self.write(f"f = cuda.shfl_{by.replace('X', 'f')}")
        else:
            self.write(f"{self.variable()} = int(cuda.shfl_{by.replace('X', self.variable())}) & {MASK}")

    def few(self) -> None:
        """Writes statements that one lane or a few run on their own."""
        r = self.rng
        place = r.choice(("lane", "lane", "t", "cuda.laneid", f"{self.variable()} % 8"))
        self.write(f"if {place} {r.choice(('==', '==', '!='))} {r.randrange(8)}:")
        self.depth += 1
        r.choice((self.atomic, self.own, self.assign))()
        self.atomic()
        self.depth -= 1
        if r.random() < 0.3:
            self.write("else:")
            self.write(f"    {self.variable()} = {self.value()} & {MASK}")

    def steps(self) -> None:
        """A scan or a reduction of a warp, of any type."""
        r = self.rng
        head, by = r.choice(
            (
                ("d = 16", "d"),
                ("d = 1", "d"),
                ("for d in (16, 8, 4, 2, 1):", "d"),
                ("for d in range(5):", "1 << d"),
                ("for d in range(n):", "d"),
            )
        )
        self.write(head)
        if head[0] == "d":
            self.write("while d > 0:" if head == "d = 16" else "while d < 32:")
        name = r.choice((self.variable(), "f", "h", "w"))
        moved = f"cuda.shfl_{r.choice(('up', 'down', 'xor')) if self.whole else 'up'}_sync({FULL}, {name}, {by})"
        number = {
            "f": f"f * 0.5 + {moved}",
            "h": f"np.float32(h * np.float32(0.5)) + {moved}",
            "w": f"np.int32((w + {moved}) & 0xFFFF)",
        }
        self.write(f"    {name} = {number.get(name, f'int({name} + {moved}) & {MASK}')}")
        if r.random() < 0.4:
            self.write(f"    if lane {r.choice(('>=', '<', '=='))} {by}:")
            self.write(f"        {self.variable()} = {self.value()} & {MASK}")
        if head[0] == "d":
            self.write("    d //= 2" if head == "d = 16" else "    d *= 2")

    def until_none(self) -> None:
        """Goes on while any lane has something to do."""
        self.write(f"left = {self.variable()} & 15")
        self.write(f"while cuda.{self.rng.choice(('any_sync', 'ballot_sync'))}({FULL}, left > 2):")
        self.write("    left = left // 2")
        self.depth += 1
        self.rng.choice((self.vote, self.shuffle, self.few, self.assign))()
        self.depth -= 1

    def some_lanes(self) -> None:
        """Lanes of a mask by themselves."""
        mask, lanes, first = self.rng.choice(
            [("0x55555555", "lane % 2 == 0", 0), ("0xFFFF0000", "lane >= 16", 20), ("0x0F0F0F0F", "lane & 4 == 0", 9)]
        )
        self.write(f"if {lanes}:")
        self.write(f"    {self.variable()} = int(cuda.shfl_sync({mask}, {self.variable()}, {first})) & {MASK}")
        if self.rng.random() < 0.5:
            self.write("else:")
            other = hex(0xFFFFFFFF ^ int(mask, 16))
            self.write(f"    {self.variable()} = int(cuda.ballot_sync({other}, {self.condition()})) & {MASK}")

    def within_warp(self) -> None:
        self.write("cuda.syncthreads()")
        self.write(f"s[t] = {self.value()} & {MASK}")
        self.write("cuda.syncwarp()")
        self.write(f"{self.variable()} = int(s[t ^ {self.rng.randrange(1, 32)}])")

    def source(self) -> str:
        """The whole kernel."""
        r = self.rng
        self.write("t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)")
        self.write(f"lane, i = t % 32, cuda.blockIdx.x * {self.threads} + t")
        self.write(f"s = cuda.shared.array({self.threads}, np.int64)")
        self.write(f"own = cuda.local.array({r.choice((4, 4, 40))}, np.int64)")
        self.write("for j0 in range(4):")
        self.write("    own[j0] = t + j0")
        self.write("v0, v1, v2, v3 = int(a[i]), t, n, i * 7")
        self.write("f, h, w = np.float64(v0 * 0.5), np.float32(t), np.int32(v0)")
        if self.cooperative:
            self.write("g = cuda.cg.this_grid()")
        for _ in range(r.randrange(4, 9)):
            self.statement(True)
        self.write(f"out[i] = (v0 + 3 * v1 + 5 * v2 + 7 * v3 + own[n & 3]) & {MASK}")
        self.write("floats[i] = f + h + w")
        return "\n".join([f"def k({', '.join(self.parameters())}):", *self.lines, ""])

    @property
    def signature(self) -> str:
        """Types of the arguments."""
        return "void(int64[::1], int64[::1], float64[::1], int64[::1], int32[::1], int64[::1], int64)"

    def parameters(self) -> list[str]:
        return ["a", "out", "floats", "sums", "narrow", "buffer", "n"]

    def arguments(self, seed: int) -> tuple[Any, ...]:
        """New arguments, the same for a seed."""
        rng, total = np.random.default_rng(seed), self.threads * self.grid
        bins = rng.integers(0, 100, 48)
        return (
            rng.integers(0, 1000, total),
            np.zeros(total, np.int64),
            np.zeros(total),
            bins,
            bins.astype(np.int32),
            np.zeros(total, np.int64),
            5,
        )


def generate(seed: int) -> Program:
    """The kernel of a seed."""
    w = Writer(seed)
    return Program(w.source(), [f"# grid {w.grid}, block {w.block}"])


def compiled(w: Writer, source: str, cuda: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    """The kernel as a Python function, with what it needs around it."""
    file = f"<kernel {hash(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space: dict[str, Any] = {"np": np, "cuda": cuda, "THREADS": w.threads}
    helpers = f"<helpers {w.threads}>"
    linecache.cache[helpers] = (len(HELPERS), None, HELPERS.splitlines(True), helpers)
    exec(compile(HELPERS, helpers, "exec"), space)
    for name in ("turn", "meet"):
        space[name] = cuda.jit(space[name], device=True, **options)
    exec(compile(source, file, "exec"), space)
    return space["k"], space


def differs(w: Writer, name: str, got: tuple[Any, ...], want: tuple[Any, ...]) -> list[str]:
    """Names the arrays in which two runs differ; of a strided one, the whole underlying array is compared."""
    whole = lambda x: x if getattr(x, "base", None) is None else x.base
    wrong = [n for n, x, y in zip(w.parameters(), got, want, strict=True) if not np.array_equal(whole(x), whole(y))]
    return [f"  {name}: {', '.join(wrong)}"] if wrong else []


def run_one(seed: int, module: Any) -> str:
    """`same`, or what differs."""
    return compare(Writer(seed), seed)


def compare(w: Writer, seed: int) -> str:
    """Runs a kernel in all ways; `same`, or what differs."""
    from lancehead import cuda
    from lancehead.cuda.errors import CudaCheckError

    source = w.source()
    function, space = compiled(w, source, cuda)
    want = w.arguments(seed)
    try:
        interpret(interpreted(source, "k", space), w.grid, w.block, want, seed=seed)
    except Deadlock:
        return "the kernel is not a right one: it waits for ever"
    except IndexError:
        return raises(w, function, seed)
    wrong = []
    for name, options in (("compiled", {}), ("without checks of indices", {"boundscheck": False})):
        got = w.arguments(seed)
        cuda.jit(function, **options)[w.grid, w.block](*got)
        wrong += differs(w, name, got, want)
    got = w.arguments(seed)
    run_lifted(
        cuda.compile_ptx(function, w.signature, cc=(9, 0))[0],
        Kernel(function, w.signature, w.grid, w.block, lambda _: ()),
        got,
    )
    wrong += differs(w, "lifted", got, want)
    got = w.arguments(seed)
    try:
        cuda.jit(function, debug=True, opt=False)[w.grid, w.block](*got)
        wrong += differs(w, "checked", got, want)
    except CudaCheckError as e:
        wrong.append(f"  checked: {e}")
    if w.needed:
        lines = source.splitlines()
        # The first line is that of `def`.
        del lines[w.rng.choice(w.needed) + 1]
        faulty, _ = compiled(w, "\n".join(lines) + "\n", cuda)
        try:
            cuda.jit(faulty, debug=True, opt=False)[w.grid, w.block](*w.arguments(seed))
            wrong.append("  nothing is found without a barrier")
        except CudaCheckError as e:
            if "kernel-race" not in e.ids:
                wrong.append(f"  without a barrier: {e}")
    return "\n".join(wrong) or "same"


def raises(w: Writer, function: Any, seed: int) -> str:
    """`same` where a kernel says that an index is out of range."""
    from lancehead import cuda

    for options in ({}, {"debug": True, "opt": False}):
        try:
            cuda.jit(function, **options)[w.grid, w.block](*w.arguments(seed))
        except IndexError:
            continue
        return f"  no IndexError with {options}"
    return "same"


if __name__ == "__main__":
    sys.exit(differential.main(__doc__, __file__, generate, run_one))
