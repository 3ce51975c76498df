"""Random programs of loops, branches, stores and views: reverse mode against forward mode and against differences.

python tests/fuzz/gradients.py FIRST COUNT
"""

import linecache
import random
import sys

import numpy as np

from lancehead.gradients import jvp, value_and_grad

NAMES = ("s", "t", "x")


class Program:
    """The lines of a function of a float, an array and a number of iterations."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines = ["def f(x, a, n):", "    m = a.shape[0]", "    w = np.zeros(m + 2)", "    w[:m] = a"]
        self.lines += ["    s = x", "    t = 0.5"]
        for _ in range(3):
            self.block(1, 0, ())
        self.lines.append("    return s * t + np.sum(w * w) * 0.1")

    def number(self, low=-0.5, high=0.5):
        return str(round(self.rng.uniform(low, high), 2))

    def place(self, counters):
        if counters and self.rng.random() < 0.8:
            v = self.rng.choice(counters)
            return self.rng.choice((f"{v} % m", f"({v} + 1) % m", f"m - 1 - {v} % m"))
        return self.rng.choice(("0", "1", "-1"))

    def value(self, depth, counters):
        r = self.rng.random()
        if depth > 2 or r < 0.25:
            return self.rng.choice(NAMES)
        if r < 0.4:
            return f"{self.rng.choice('wa')}[{self.place(counters)}]"
        if r < 0.5:
            return self.number()
        if r < 0.8:
            return f"({self.value(depth + 1, counters)} {self.rng.choice('+-*')} {self.value(depth + 1, counters)})"
        return f"np.{self.rng.choice(('sin', 'cos', 'tanh'))}({self.value(depth + 1, counters)})"

    def block(self, indent, depth, counters):
        for _ in range(self.rng.randint(1, 3)):
            self.statement("    " * indent, indent, depth, counters)

    def statement(self, pad, indent, depth, counters):
        r = self.rng.random()
        if r < 0.3 or depth > 2 and r < 0.78:
            self.lines.append(f"{pad}{self.rng.choice('st')} = 0.5 * {self.value(0, counters)}")
        elif r < 0.45:
            self.branch(pad, indent, depth, counters)
        elif r < 0.7:
            self.loop(pad, indent, depth, counters)
        elif r < 0.78:
            self.while_loop(pad, indent, depth, counters)
        elif r < 0.88:
            how = self.rng.choice(("=", "+="))
            self.lines.append(f"{pad}w[{self.place(counters)}] {how} 0.3 * {self.value(0, counters)}")
        elif r < 0.93:
            view, factor = self.rng.choice(("1:", "::2", "1:-1")), self.rng.choice(("0.7", "np.tanh(s)", "t"))
            self.lines.append(f"{pad}w[{view}] *= {factor}")
        elif r < 0.97:
            self.lines.append(f"{pad}w[1:] = 0.5 * w[:-1] + 0.1 * {self.value(1, counters)}")
        else:
            self.lines.append(f"{pad}s = 0.3 * s + 0.1 * np.sum(w * w)")

    def branch(self, pad, indent, depth, counters):
        self.lines.append(f"{pad}if {self.value(1, counters)} > {self.number()}:")
        self.block(indent + 1, depth + 1, counters)
        if self.rng.random() < 0.5:
            self.lines.append(f"{pad}else:")
            self.block(indent + 1, depth + 1, counters)

    def loop(self, pad, indent, depth, counters):
        v = f"i{len(self.lines)}"
        self.lines.append(f"{pad}for {v} in range({self.rng.choice(('n', 'm', '2', 'n - 1', 'm - 2'))}):")
        self.block(indent + 1, depth + 1, (*counters, v))
        if self.rng.random() < 0.3:
            how = self.rng.choice(("break", "continue"))
            self.lines.append(f"{pad}    if s * s > {self.number(0.5, 4.0)}:")
            self.lines.append(f"{pad}        {how}")
            self.lines.append(f"{pad}    t = t * 0.9 + 0.01 * s")

    def while_loop(self, pad, indent, depth, counters):
        v = f"k{len(self.lines)}"
        self.lines += [f"{pad}{v} = 0", f"{pad}while {v} < 4 and s * s < 5.0:"]
        self.block(indent + 1, depth + 1, counters)
        self.lines.append(f"{pad}    {v} += 1")


def function(seed):
    lines = [line + "\n" for line in Program(seed).lines]
    name, scope = f"<gradients {seed}>", {"np": np}
    linecache.cache[name] = (0, None, lines, name)
    exec(compile("".join(lines), name, "exec"), scope)
    return scope["f"]


def fault(seed):
    """The numbers that differ, as a text; nothing if they agree."""
    f, rng = function(seed), np.random.default_rng(seed)
    x, a, n = rng.normal(), rng.normal(size=5), 3
    along, along_a = rng.normal(), rng.normal(size=5)
    expected = f(x, a.copy(), n)
    if not abs(expected) < 1e6:
        return None
    value, (of_x, of_a) = value_and_grad(f, (0, 1))(x, a.copy(), n)
    tangent = jvp(f, (x, a.copy(), n), (along, along_a, None))[1]
    reverse = of_x * along + np.sum(of_a * along_a)

    def difference(h):
        ends = [f(x + sign * h * along, a + sign * h * along_a, n) for sign in (1, -1)]
        return (ends[0] - ends[1]) / (2 * h)

    def agrees(y, z, tolerance):
        return abs(y - z) <= tolerance * (1 + abs(z))

    # A step may change the side of a branch: then another one does not.
    right = agrees(value, expected, 1e-9) and agrees(reverse, tangent, 1e-8)
    right &= any(agrees(difference(h), reverse, 3e-4) for h in (1e-6, 1e-7, 1e-5))
    return None if right else f"value {value} {expected}, reverse {reverse}, forward {tangent}, {difference(1e-6)}"


def run(first, count):
    found = {seed: fault(seed) for seed in range(first, first + count)}
    return {seed: text for seed, text in found.items() if text is not None}


if __name__ == "__main__":
    print(run(int(sys.argv[1]), int(sys.argv[2])))
