"""Runs random kernels over blocks, grids and arrays of several axes, and compares as `kernels.py` does.

    python tests/fuzz/grids.py --count 1000 --seed 1

Elements are written only by the thread whose they are: by guards, by returns or by loops that go on by the grid's
extent, in any order of axes. Products are of small integers and sums are in an order that rounding tells, so that all
that is computed is computed alike everywhere.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import differential
import kernels
from generate import Program
from kernels import MASK, Writer

BLOCKS: tuple[Any, ...] = (
    (8, 4), (16, 6), (5, 7), (1, 16), (32, 2), (4, 4), (32, 1), (3, 11), (16, 8), (4, 4, 4), (8, 2, 3), (2, 5, 3),
    (1, 1, 9), (16, 2, 2), (3, 1, 8), (64,), (33,),
)  # fmt: skip
GRIDS: dict[int, tuple[Any, ...]] = {
    1: ((1,), (3,)),
    2: ((1, 1), (2, 1), (1, 3), (2, 2), (3, 2)),
    3: ((1, 1, 1), (2, 1, 2), (1, 2, 1), (1, 1, 3), (2, 2, 1)),
}
AXES = "xyz"
#: An axis of arrays: the section and the place of the index that is its owner's, or a length of its own.
Key = tuple[int, int]
OTHER = (9, 0)


class GridWriter(Writer):
    """A kernel over several axes being written."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        r = self.rng
        self.block = r.choice(BLOCKS)
        self.grid = r.choice(GRIDS[len(self.block)])
        self.threads, self.blocks = int(np.prod(self.block)), int(np.prod(self.grid))
        self.whole, self.cooperative = self.threads % 32 == 0, False
        self.alone, self.left = r.random() < 0.6, 22
        self.only_strides = self.alone and r.random() < 0.4
        #: Without what keeps threads from being turned inside out: atomics, calls and arrays of their own.
        self.plain = r.random() < 0.6
        if self.plain:
            self.left = r.randrange(3, 12)
        #: Whether some indices are out of range.
        self.faulty = r.random() < 0.08
        self.real = r.choice(("np.float64", "np.float32"))
        #: Indices in scope that are below the extent of a key, and those that have neighbours on both sides.
        self.bounded: dict[str, Key] = {}
        self.interior: set[str] = set()
        self.owned = ""
        self.sections = [self.atoms() for _ in range(r.choice((1, 1, 2)))]
        #: Axes of which nobody's is the first element.
        self.shifted = {(s, k) for s in range(2) for k in range(3) if r.random() < 0.3}
        self.extents: dict[Key, int] = {OTHER: r.randrange(1, 12)}
        for s, atoms in enumerate(self.sections):
            for k, (_, _, count) in enumerate(atoms):
                self.extents[s, k] = r.choice(
                    (count, max(1, count - r.randrange(4)), max(1, count // 2), count + 3, 1, min(2 * count + 1, 70))
                )
        self.empty = r.random() < 0.04
        if self.empty:
            self.extents[r.choice([k for k in self.extents if k != OTHER])] = 0
        self.arrays = {f"out{s}": [(s, k) for k in range(len(atoms))] for s, atoms in enumerate(self.sections)}
        for name in ("a", "b", "c"):
            first = self.arrays["out0"]
            keys = first if self.empty or r.random() < 0.5 else r.choices([*first, *self.extents], k=r.randrange(1, 4))
            self.arrays[name] = r.sample(keys, len(keys)) if r.random() < 0.3 else list(keys)
        self.arrays["line"] = [OTHER]
        self.layouts = {name: r.choice("CCCFA") for name in self.arrays}
        self.order = r.sample(range(len(self.block)), len(self.block))
        #: Elements are sums of products, and nothing else is done.
        self.product = self.plain and not self.empty and not self.faulty and r.random() < 0.5
        if self.product:
            self.left, mine = 0, self.arrays["out0"]
            for name in ("a", "c"):
                keys = [*r.sample(mine, r.randrange(min(len(mine), 2) + 1)), OTHER]
                self.arrays[name] = r.sample(keys, len(keys))

    def atoms(self) -> list[tuple[str, str, int]]:
        """Indices that no two threads have in common: where each begins, by what it goes on and how many there are."""
        r, rank = self.rng, len(self.block)
        found: list[tuple[str, str, int]] = []
        for d in range(rank):
            x, block, grid = AXES[d], self.block[d], self.grid[d]
            if r.random() < 0.25:
                found += [
                    (f"cuda.blockIdx.{x}", f"cuda.gridDim.{x}", grid),
                    (f"cuda.threadIdx.{x}", f"cuda.blockDim.{x}", block),
                ]
            elif grid == 1 and r.random() < 0.5:
                found.append((f"t{x}", f"cuda.blockDim.{x}", block))
            elif r.random() < 0.3:
                found.append(
                    (
                        f"(cuda.blockIdx.{x} * cuda.blockDim.{x} + cuda.threadIdx.{x})",
                        f"(cuda.gridDim.{x} * cuda.blockDim.{x})",
                        block * grid,
                    )
                )
            else:
                found.append((f"g{x}", f"size{x}", block * grid))
        r.shuffle(found)
        while len(found) > 3 or len(found) > 1 and r.random() < 0.15:
            (p, _, m), (q, _, n) = found.pop(), found.pop()
            found.insert(r.randrange(len(found) + 1), (f"({p} * {n} + {q})", str(m * n), m * n))
        return found

    def names(self) -> list[str]:
        some = [*self.bounded, *(f"t{x}" for x in AXES[: len(self.block)])]
        return [*some, "n", "v0"] if self.plain else [*super().names(), *some, "i"]

    def value(self, depth: int = 0) -> str:
        if not self.plain:
            return super().value(depth)
        x = self.rng.choice(self.names())
        return self.rng.choice(
            (x, x, x, f"({x} + {self.rng.randrange(1, 9)})", f"({x} & 7)", f"({x} + {self.rng.choice(self.names())})")
        )

    def bound(self, key: Key) -> str:
        """The extent of a key, of any array that has it."""
        return self.rng.choice(
            [f"{name}.shape[{d}]" for name, keys in self.arrays.items() for d, k in enumerate(keys) if k == key]
        )

    def index(self, name: str, d: int) -> str:
        """An index of an array that it has."""
        r, key = self.rng, self.arrays[name][d]
        direct = [x for x, k in self.bounded.items() if k == key]
        if direct and (self.product or r.random() < 0.85):
            x = r.choice(direct)
            if self.product:
                return x
            if self.faulty and r.random() < 0.2:
                return f"{x} + {r.randrange(1, 4)}"
            near = (
                [f"{x} - 1", f"{x} + 1"]
                if x in self.interior
                else [f"max({x} - 1, 0)", f"min({x} + 1, {self.bound(key)} - 1)", f"-1 - {x}"]
            )
            return x if r.random() < 0.6 else r.choice(near)
        return f"({self.value(1)}) % {self.bound(key)}"

    def element(self, name: str) -> str:
        return f"{name}[{', '.join(self.index(name, d) for d in range(len(self.arrays[name])))}]"

    def readable(self) -> bool:
        return not self.empty or self.owned.startswith("out0")

    def exact(self) -> str:
        """A small integer of the type of what is real."""
        r = self.rng
        if not self.readable() or r.random() < 0.2:
            return r.choice((f"{self.real}({self.value(1)} & 0x3F)", f"{self.real}(0.5)"))
        return self.element(r.choice(("a", "a", "c", "line")))

    def term(self) -> str:
        r = self.rng
        return r.choice([
            self.exact(), self.exact(), f"{self.exact()} * {self.exact()}", f"({self.exact()} - {self.exact()})",
            f"min({self.exact()}, {self.exact()})",
            f"({self.exact()} if {self.condition(1)} else {self.exact()})", f"p{r.randrange(2)} * {self.real}(0.5)",
        ])  # fmt: skip

    def statement(self, uniform: bool, inside: str = "") -> None:
        self.left -= 1
        if self.left < 0:
            return
        r = self.rng
        kinds: list[Any] = [self.assign, self.reals, self.reals, self.ints]
        if not self.plain:
            kinds += [self.atomic, self.few, self.own]
        if self.owned:
            kinds += [self.store] * 5
        if self.depth < 6:
            kinds += [lambda: self.branch(uniform, inside), lambda: self.loop(uniform), self.sum, self.sum, self.sum]
        if inside and (inside == "divergent" or uniform):
            kinds.append(lambda: self.leave(uniform, inside))
        if self.owned and self.alone:
            kinds.append(self.end)
        if uniform and not self.alone:
            kinds += [self.tile, self.tile, self.tile, self.exchange]
            kinds += [] if self.plain else [self.count, self.vote, self.shuffle, self.meet, self.steps]
            kinds += [self.within_warp] * (self.whole and not self.plain)
        if uniform and not self.owned and self.depth < 3:
            kinds += [self.section] * 5
        r.choice(kinds)()

    def reals(self) -> None:
        k = self.rng.randrange(2)
        self.write(
            f"p{k} = "
            f"{self.rng.choice((f'p{k} * {self.real}(0.5) + {self.term()}', self.term(), f'max(p{k}, {self.term()})'))}"
        )

    def ints(self) -> None:
        if self.readable():
            self.write(f"{self.variable()} = int({self.element('b')})")

    def store(self) -> None:
        """To the thread's own element."""
        self.write(f"{self.owned} {self.rng.choice(('=', '+=', '='))} {self.rng.choice((self.term(), 'p0', 'p1'))}")

    def end(self) -> None:
        self.write(f"if {self.condition()}:")
        self.write("    return")

    def sum(self) -> None:
        """A loop in which each round waits for the one before."""
        r, j, acc = self.rng, f"j{self.loops}", f"p{self.rng.randrange(2)}"
        if r.random() < 0.6:
            self.write(f"{acc} = {self.real}({r.randrange(3)})")
        key = r.choice([k for k in self.extents if self.readable() or k == OTHER])
        least = r.choice((0, 0, 0, 1))
        outer = [x for x, k in self.bounded.items() if k == key]
        limit = r.choice(
            [self.bound(key), self.bound(key), self.bound(key), f"min({self.value(1)} & 7, {self.bound(key)})", *outer]
        )
        if r.random() < 0.75:
            self.write(f"for {j} in range({r.choice((least, least, *outer))}, {limit}{r.choice(('', '', ', 2'))}):")
            after = None
        else:
            self.write(f"{j} = {least}")
            self.write(f"while {j} < {limit}{r.choice(('', f' and {acc} < {self.real}(900)'))}:")
            after = f"    {j} += 1"
        self.loops += 1
        self.bounded[j] = key
        self.depth += 1
        self.round(acc, after is None)
        self.depth -= 1
        del self.bounded[j]
        self.loops -= 1
        if after:
            self.write(after)
        if self.owned and r.random() < 0.6:
            self.write(f"{self.owned} = {acc}")

    def sum_of_products(self) -> None:
        """To the thread's own element, without an index that is not an axis' own."""
        a_sum = self.rng.choice(
            ("p0 += {} * {}", "p0 += {} - {}", f"p0 = p0 * {self.real}(0.5) + {{}} * {{}}", "p0 = max(p0, {} * {})")
        )
        self.write(f"p0 = {self.real}(0)")
        self.write(f"for j0 in range({self.bound(OTHER)}):")
        self.bounded["j0"] = OTHER
        self.write("    " + a_sum.format(self.element("a"), self.element(self.rng.choice(("c", "c", "line")))))
        del self.bounded["j0"]
        self.write(f"{self.owned} {self.rng.choice(('=', '+='))} p0")
        self.owned = ""

    def round(self, acc: str, leaves: bool) -> None:
        """Writes the body of such a loop."""
        r = self.rng
        if r.random() < 0.2:
            self.statement(False, "divergent" if leaves else "")
        if leaves and r.random() < 0.2:
            self.leave(False, "divergent")
        how = r.randrange(6)
        if how == 0 and self.owned:
            self.write(f"{self.owned} += {self.term()}")
        elif how == 1:
            self.write(f"if {self.exact()} > {acc}:")
            self.write(f"    {acc} = {self.exact()}")
            self.write(f"    {self.variable()} = j{self.loops - 1}")
        elif how == 2:
            self.write(f"{acc} = max({acc}, {self.term()})")
        elif how == 3:
            self.write(f"{acc} = {acc} * {self.real}(0.5) + {self.exact()}")
        else:
            self.write(f"{acc} += {r.choice((self.term(), f'{self.exact()} * {self.exact()}'))}")
        if r.random() < 0.15 and self.depth < 6:
            self.sum()

    def tile(self) -> None:
        """Shared memory of several axes, between barriers."""
        r = self.rng
        place = [f"t{AXES[k]}" for k in self.order]
        sizes = [self.block[k] for k in self.order]
        kind = r.randrange(2)
        self.write("cuda.syncthreads()")
        self.write(f"{('st', 'sr')[kind]}[{', '.join(place)}] = {self.term() if kind else f'{self.value()} & {MASK}'}")
        self.write("cuda.syncthreads()")
        d = r.randrange(len(sizes))
        read = [f"({p} + {r.randrange(n)}) % {n}" if r.random() < 0.5 else p for p, n in zip(place, sizes, strict=True)]
        if r.random() < 0.5:
            j = f"j{self.loops}"
            self.write(f"for {j} in range({sizes[d]}):")
            read[d] = j
            self.write(
                f"    p0 = p0 * {self.real}(0.5) + sr[{', '.join(read)}]"
                if kind
                else f"    v0 = int(v0 * 3 + st[{', '.join(read)}]) & {MASK}"
            )
        else:
            self.write(f"p1 = sr[{', '.join(read)}]" if kind else f"v1 = int(st[{', '.join(read)}])")

    def section(self) -> None:
        """Goes over the elements of an array: by guards and loops, which are one within the other in any order."""
        r, s = self.rng, self.rng.randrange(len(self.sections))
        atoms = self.sections[s]
        before = self.bounded, self.interior, self.owned, self.depth
        self.bounded, self.interior = dict(self.bounded), set(self.interior)
        owned = f"out{s}[{', '.join(f'x{k}' for k in range(len(atoms)))}]"
        order = r.sample(range(len(atoms)), len(atoms))
        self.level(s, order, owned)
        self.bounded, self.interior, self.owned, self.depth = before

    def level(self, s: int, order: list[int], owned: str) -> None:
        """The index of one axis, and of those within."""
        r = self.rng
        if not order:
            self.owned = owned
            if self.product and s == 0:
                return self.sum_of_products()
            for _ in range(r.randrange(1, 4)):
                self.statement(False)
            self.store()
            self.owned = ""
            return
        k, rest = order[0], order[1:]
        start, step, _ = self.sections[s][k]
        x, shift = f"x{k}", (s, k) in self.shifted
        how = r.choice(("guard", "guard", "guard", "for", "for", "while", "return"))
        if how == "return" and not (self.alone and self.depth == 1):
            how = "guard"
        inner = (shift or how in ("guard", "return")) and r.random() < 0.4
        bound = self.bound((s, k)) + (" - 1" if inner else "")
        after, depth, first = None, self.depth, start + " + 1" * shift
        if how == "for":
            self.write(f"for {x} in range({first}, {bound}, {step}):")
        elif how == "while":
            self.write(f"{x} = {first}")
            self.write(f"while {x} < {bound}:")
            after = f"{x} += {step}"
        else:
            self.write(f"{x} = {first}")
            low = f"{x} < 1 or " if inner else ""
            self.write(
                f"if {low}{x} >= {bound}:"
                if how == "return"
                else f"if {r.choice(('1 <= ', f'{x} > 0 and ')) if inner else ''}{x} < {bound}:"
            )
            if how == "return":
                self.write("    return")
        self.depth += how != "return"
        self.bounded[x] = (s, k)
        if inner:
            self.interior.add(x)
        inside = "divergent" if how == "for" else ""
        if rest and how != "guard" and r.random() < 0.4:
            self.statement(False, inside)
        self.level(s, rest, owned)
        if rest and r.random() < 0.2:
            self.statement(False, inside)
        if after:
            self.write(after)
        self.depth = depth
        if how != "return":
            del self.bounded[x]

    def source(self) -> str:
        """The whole kernel."""
        r, rank = self.rng, len(self.block)
        self.write("t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)")
        self.write("place = cuda.blockIdx.x + cuda.gridDim.x * (cuda.blockIdx.y + cuda.gridDim.y * cuda.blockIdx.z)")
        self.write(f"lane, i = t % 32, place * {self.threads} + t")
        for prefix, value in (("t", "cuda.threadIdx.{}"), ("g", "cuda.grid({})"), ("size", "cuda.gridsize({})")):
            axes = AXES[:rank]
            right = ", ".join(value.format(x) for x in axes) if prefix == "t" else value.format(rank)
            self.write(f"{', '.join(prefix + x for x in axes)} = {right}")
        if not self.alone:
            sizes = tuple(self.block[k] for k in self.order)
            self.write(f"s = cuda.shared.array({self.threads}, np.int64)")
            self.write(f"st = cuda.shared.array({sizes}, np.int64)")
            self.write(f"sr = cuda.shared.array({sizes}, {self.real})")
        if not self.plain:
            self.write("own = cuda.local.array(4, np.int64)")
            self.write("for j0 in range(4):")
            self.write("    own[j0] = t + j0")
        self.write("v0, v1, v2, v3 = i * 3, t, n, i * 7")
        self.write(f"p0, p1 = {self.real}(t), {self.real}(1)")
        self.write("f, h, w = np.float64(v0 * 0.5), np.float32(t), np.int32(t)")
        for _ in range(r.randrange(3)):
            self.statement(True)
        self.left = max(self.left, 0 if self.product else 4 if self.plain else 12)
        self.section()
        for _ in range(r.randrange(3)):
            self.statement(True)
        if not self.plain or r.random() < 0.3:
            self.write(f"per[i] = (v0 + 3 * v1 + 5 * v2 + 7 * v3{'' if self.plain else ' + own[n & 3]'}) & {MASK}")
            self.write("floats[i] = p0 + p1 + f + h")
        return "\n".join([f"def k({', '.join(self.parameters())}):", *self.lines, ""])

    def parameters(self) -> list[str]:
        return [*self.arrays, "sums", "narrow", "per", "floats", "n"]

    def type_of(self, name: str) -> str:
        return "int32" if name == "b" else self.real[3:]

    @property
    def signature(self) -> str:
        """Types of the arguments."""
        types = []
        for name, keys in self.arrays.items():
            axes = [":"] * len(keys)
            if self.layouts[name] != "A":
                axes[-1 if self.layouts[name] == "C" else 0] = "::1"
            types.append(f"{self.type_of(name)}[{', '.join(axes)}]")
        return f"void({', '.join(types)}, int64[::1], int32[::1], int64[::1], float64[::1], int64)"

    def arguments(self, seed: int) -> tuple[Any, ...]:
        """New arguments, the same for a seed."""
        rng, total = np.random.default_rng(seed), self.threads * self.blocks
        args: list[Any] = []
        for name, keys in self.arrays.items():
            shape = tuple(self.extents[k] for k in keys)
            values = rng.integers(-9 if name != "b" else 0, 40, shape).astype(self.type_of(name))
            match self.layouts[name]:
                case "F":
                    values = np.asfortranarray(values)
                case "A":
                    wide = np.full(tuple(2 * n + 1 for n in shape), 99, values.dtype)
                    view = wide[
                        tuple(slice(None, None, -2) if rng.random() < 0.3 else slice(1, None, 2) for _ in shape)
                    ]
                    view = view[tuple(slice(n) for n in shape)]
                    view[...] = values
                    values = view
            args.append(values)
        bins = rng.integers(0, 100, 48)
        return *args, bins, bins.astype(np.int32), np.zeros(total, np.int64), np.zeros(total), 5


def generate(seed: int) -> Program:
    """The kernel of a seed."""
    w = GridWriter(seed)
    source = w.source()
    return Program(source, [f"# grid {w.grid}, block {w.block}, {w.signature}", f"# {w.arrays}, {w.extents}"])


def run_one(seed: int, module: Any) -> str:
    """`same`, or what differs."""
    return kernels.compare(GridWriter(seed), seed)


if __name__ == "__main__":
    sys.exit(differential.main(__doc__, __file__, generate, run_one))
