"""Random programs of loops with several exits, stores in place and calls of the library: first and second derivatives
in both modes over each other, and differences. A program has a limited time.

python tests/fuzz/second_derivatives.py --count 1000 --seed 1
"""

from __future__ import annotations

import ast
import linecache
import math
import random
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy.linalg
import scipy.special

sys.path.insert(0, str(Path(__file__).parents[1] / "python" / "gradients"))
sys.path.insert(0, str(Path(__file__).parent))
import children
import gradient_cases
import gradient_programs
from lancehead import njit
from lancehead.gradients import grad, jvp, value_and_grad

LENGTH = 5
#: Seconds for a program: to compile its derivatives takes a few.
SECONDS = 60
STEPS = (1e-5, 1e-6, 1e-4)


def expressions():
    """The expressions whose first derivatives tests compare, with their group: most functions of the library."""
    for group in gradient_cases.GROUPS:
        for row in filter(None, map(str.strip, group.rows.splitlines())):
            for part in ast.parse(f"({row.lstrip('~ ')},)", mode="eval").body.elts:
                yield group, ast.unparse(part)


EXPRESSIONS = list(expressions())


def number_of(value, text):
    """An expression of a number for the value of an expression; empty if there are no floats in it."""
    if isinstance(value, (tuple, list)):
        return " + ".join(filter(None, (number_of(v, f"{text}[{i}]") for i, v in enumerate(value))))
    kind = np.asarray(value).dtype.kind
    if kind == "c":
        return f"np.sum(np.real({text}) ** 2) + np.sum(np.cos(np.imag({text})))"
    return f"np.sum(np.sin({text}) + 0.1 * {text} ** 2)" if kind == "f" else ""


class Program:
    """The lines of a function of an array and a number, and the names that they need."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.scope = {"np": np, "math": math, "scipy": scipy, "programs": gradient_programs}
        self.helpers, self.lines = [], ["def f(x, s):", "    u = x * s", "    v = np.cos(x)", "    t = 0.3 + s"]
        for _ in range(self.rng.randint(2, 4)):
            self.statement("    ", 0, ())
        self.lines.append("    return np.sum(u * v) * 0.3 + t * t + np.sum(x * x) * s")

    @property
    def text(self):
        return "\n".join([*self.helpers, *self.lines, ""])

    def constant(self, low=-0.9, high=0.9):
        return str(round(self.rng.uniform(low, high), 2))

    def place(self, counters):
        if counters and self.rng.random() < 0.7:
            return self.rng.choice(("{0} % 5", "4 - {0} % 5", "({0} + 2) % 5")).format(self.rng.choice(counters))
        return self.rng.choice(("0", "3", "-1"))

    def number(self, depth, counters):
        r = self.rng.random()
        if depth > 1 or r < 0.3:
            return self.rng.choice(("s", "t", self.constant(), f"{self.rng.choice('uvx')}[{self.place(counters)}]"))
        if r < 0.5:
            return f"np.{self.rng.choice(('sin', 'tanh', 'arctan'))}({self.number(depth + 1, counters)})"
        if r < 0.6:
            return self.rng.choice(("np.sum({0} * 0.2)", "np.max({0})", "np.mean({0} * {0})", "{0} @ v")).format(
                self.rng.choice("uvx")
            )
        return f"({self.number(depth + 1, counters)} {self.rng.choice('+-*')} {self.number(depth + 1, counters)})"

    def vector(self, counters):
        one, number = self.rng.choice("uvx"), self.number(1, counters)
        forms = (
            "{0} * {1}",
            "np.sin({0}) + {1}",
            "{0}[::-1] * v",
            "np.tanh({0} * v)",
            "np.cumsum({0}) * 0.3",
            "{0} / 2",
        )
        return self.rng.choice(forms).format(one, number)

    def statement(self, pad, depth, counters):
        r = self.rng.random()
        if depth < 2 and r < 0.4:
            self.loop(pad, depth, counters)
        elif r < 0.5:
            self.lines.append(f"{pad}t = 0.5 * {self.number(0, counters)}")
        elif r < 0.6:
            self.lines.append(f"{pad}{self.rng.choice('uv')} = 0.7 * ({self.vector(counters)})")
        elif r < 0.7 and depth < 2:
            self.call(pad)
        elif r < 0.8:
            self.lines.append(f"{pad}if {self.number(1, counters)} > {self.constant()}:")
            self.statement(pad + "    ", depth + 1, counters)
        else:
            self.store(pad, counters)

    def store(self, pad, counters):
        own, other, number = self.rng.choice("uvx"), self.rng.choice("uvx"), self.number(1, counters)
        forms = (
            "{own} *= {number}",
            "{own} *= s",
            "{own}[:] = t * {own}",
            "{own} += 0.3 * {other} * s",
            "{own}[{place}] += s * {other}[{place2}]",
            "{own}[{place}] *= {number}",
            "{own}[{place}] = 0.5 * {number}",
            "{own}[1:] = 0.5 * {own}[:-1] + {other}[1:] * s",
            "{own}[::2] *= t",
            "{own}[np.array([0, 2, 2])] += 0.3 * {other}[:3]",
            "{own}[{own} > 0.1] *= s",
        )
        places = {"place": self.place(counters), "place2": self.place(counters)}
        self.lines.append(pad + self.rng.choice(forms).format(own=own, other=other, number=number, **places))

    def call(self, pad):
        """A call of a function that the library has, for arguments that depend on a number of the program."""
        n = self.rng.randrange(len(EXPRESSIONS))
        group, text = EXPRESSIONS[n]
        names = group.names.replace(" ", "").split(",")
        own = {**self.scope, **dict(zip(names, group.args, strict=True))}
        with np.errstate(all="ignore"):
            found = number_of(eval(text, own), "found")
        if not found:
            return
        self.helpers += [f"@njit\ndef g{n}({group.names}):", f"    found = {text}", f"    return {found}"]
        rng = np.random.default_rng(n)
        given = []
        for name, a in zip(names, group.args, strict=True):
            self.scope[f"{name}{n}"] = a
            self.scope[f"d{name}{n}"] = rng.normal(size=a.shape) * 1e-2 if isinstance(a, np.ndarray) else 1e-2
            given.append(f"{name}{n} + t * d{name}{n}")
        self.lines.append(f"{pad}t = np.tanh(t + 0.1 * g{n}({', '.join(given)}))")

    def leave(self, pad, counters):
        how = self.rng.choice(("break", "break", "continue", f"return {self.number(0, counters)} * np.sum(u)"))
        self.lines += [f"{pad}if {self.number(1, counters)} > {self.constant()}:", f"{pad}    {how}"]

    def loop(self, pad, depth, counters):
        k, inner = f"k{len(self.lines)}", pad + "    "
        kind = self.rng.random()
        if kind < 0.6:
            self.lines.append(f"{pad}for {k} in range({self.rng.choice(('2', '3', 'x.shape[0] - 2'))}):")
        else:
            condition = self.rng.choice((f"{k} < 3", "True", f"{k} < 4 and t < 1.5"))
            self.lines += [f"{pad}{k} = 0", f"{pad}while {condition}:", f"{inner}{k} += 1"]
            self.lines += [f"{inner}if {k} > 3:", f"{inner}    break"] if condition == "True" else []
        for _ in range(self.rng.randint(1, 2)):
            self.statement(inner, depth + 1, (*counters, k))
        if self.rng.random() < 0.8:
            self.leave(inner, (*counters, k))
            self.statement(inner, depth + 1, (*counters, k))
            if self.rng.random() < 0.3:
                self.leave(inner, (*counters, k))
        if kind < 0.6 and self.rng.random() < 0.2:
            self.lines += [f"{pad}else:", f"{inner}t = t * s"]


def function(seed):
    """The function of a program, and its decorator: most have little of LLVM's optimisation, which takes longest."""
    program = Program(seed)
    name = f"<second derivatives {seed}>"
    linecache.cache[name] = (0, None, [line + "\n" for line in program.text.split("\n")], name)
    jit = njit(debug=True) if seed % 4 else njit
    scope = {**program.scope, "njit": jit}
    exec(compile(program.text, name, "exec"), scope)
    return jit(scope["f"]), jit


def agrees(a, b, tolerance, size=0.0):
    return abs(a - b) <= tolerance * (1.0 + abs(b) + size)


def slopes(f, jit, x, s, along, along_s):
    """The value and all derivatives along a direction: the first by both modes, the second by all four of them."""
    slope = grad(f, (0, 1))
    value, (of_x, of_s) = value_and_grad(f, (0, 1))(x.copy(), s)

    @jit
    def reverse(x, s):
        of_x, of_s = slope(x, s)
        return np.sum(of_x * along) + of_s * along_s

    @jit
    def forward(x, s):
        return jvp(f, (x, s), (along, along_s))[1]

    def back(of):
        of_x, of_s = grad(of, (0, 1))(x.copy(), s)
        return np.sum(of_x * along) + of_s * along_s

    def on(of):
        return jvp(of, (x.copy(), s), (along.copy(), along_s))[1]

    first = {"reverse": np.sum(of_x * along) + of_s * along_s, "forward": on(f)}
    second = {"reverse over reverse": back(reverse), "reverse over forward": back(forward)}
    return value, first, {**second, "forward over reverse": on(reverse), "forward over forward": on(forward)}, reverse


def fault(seed):
    """The numbers that differ, as a text; nothing if they agree."""
    warnings.simplefilter("ignore")
    f, jit = function(seed)
    rng = np.random.default_rng(seed)
    x, s = rng.normal(size=LENGTH) * 0.7, float(rng.uniform(0.4, 1.1))
    along, along_s = rng.normal(size=LENGTH), float(rng.normal())
    with np.errstate(all="ignore"):
        expected = f.py_func(x.copy(), s)
    if not abs(expected) < 1e4:
        return ""
    value, first, second, reverse = slopes(f, jit, x, s, along, along_s)

    def difference(of, h):
        with np.errstate(all="ignore"):
            ends = [of(x + sign * h * along, s + sign * h * along_s) for sign in (1, -1)]
        return (ends[0] - ends[1]) / (2 * h)

    right = agrees(value, expected, 1e-9) and agrees(first["forward"], first["reverse"], 1e-8)
    one = first["reverse"]
    # A step may change the side of a branch: then another one does not.
    right &= any(agrees(difference(f.py_func, h), one, 1e-3) for h in STEPS)
    two, size = second["forward over reverse"], abs(one)
    right &= all(agrees(d, two, 1e-6, size) for d in second.values())
    right &= any(agrees(difference(reverse, h), two, 1e-3, size) for h in STEPS)
    if right:
        return ""
    numbers = [
        f"value {value} {expected}",
        f"{first} {difference(f.py_func, 1e-6)}",
        f"{second} {difference(reverse, 1e-5)}",
    ]
    return "; ".join(numbers)


def judge(seed):
    try:
        return fault(seed)
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:300]}"


def run(first, count):
    """The faults of some programs, those that do not end in their time among them."""
    return children.run(__file__, first, count, 20)


if __name__ == "__main__":
    sys.exit(children.main(__file__, __doc__, judge, lambda seed: f"\n{Program(seed).text}", 100, SECONDS))
