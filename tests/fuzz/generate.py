"""Random programs of the language, as Python source.

A program is a function `f` with its arguments. Every variable has a type for life, so that compiled code and CPython
mean the same program, and every integer has a bound, so that neither needs more than 64 bits. Exceptions are part of
the answer: indices may be out of range, divisors zero, variables unbound.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

#: Integers stay below this in size whenever they are stored.
BOUND = 1_000_003
EXCEPTIONS = ("ValueError", "KeyError", "IndexError", "ZeroDivisionError", "RuntimeError")
INTS = (0, 1, -1, 2, 3, 5, -7, 10, 63, 64, 100, -128, 255, 1000, 99991)
FLOATS = (0.0, -0.0, 1.0, 0.5, -2.5, 0.1, 3.75, 1e10, -1e-5, 1e300, 5e-324)


@dataclass
class Program:
    """Source of a function `f`, what it needs around it, and arguments for three calls."""

    source: str
    calls: list[str]


@dataclass
class Writer:
    """A function being written."""

    rng: random.Random
    variables: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    helpers: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    loops: int = 0
    guarded: int = 0
    budget: int = 30
    count: int = 0
    statements: tuple[Callable[[Writer], None], ...] = ()

    def write(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def pick(self, kind: str) -> str | None:
        names = self.variables[kind]
        return self.rng.choice(names) if names else None


KINDS = ("int", "float", "bool", "list", "floats", "pair", "array", "matrix")


def generate(seed: int, more: tuple[Callable[[Writer], None], ...] = ()) -> Program:
    """The program of a seed, always the same; `more` are further kinds of statements."""
    rng = random.Random(seed)
    writer = Writer(rng, statements=STATEMENTS + more)
    parameters = {f"p{i}": rng.choice(KINDS) for i in range(rng.randint(0, 4))}
    for name, kind in parameters.items():
        writer.variables[kind].append(name)
    if rng.random() < 0.5:
        write_helper(writer)
    for _ in range(rng.randint(1, 4)):
        declare(writer)
    write_block(writer, rng.randint(3, 9))
    writer.write(f"return {result(writer)}")
    header = f"def f({', '.join(parameters)}):"
    source = "\n".join([*writer.helpers.values(), "@njit", header, *writer.lines, ""])
    calls = [", ".join(argument(rng, kind) for kind in parameters.values()) for _ in range(3)]
    return Program(source, calls)


def argument(rng: random.Random, kind: str) -> str:
    """An argument of a kind, as source."""
    size = rng.choice((0, 1, 2, 2, 3, 5, 5))
    match kind:
        case "int":
            return str(rng.choice(INTS))
        case "float":
            return repr(rng.choice(FLOATS))
        case "bool":
            return str(rng.random() < 0.5)
        case "list":
            return repr([rng.choice(INTS) for _ in range(max(size, 1))])
        case "floats":
            return repr([rng.choice(FLOATS) for _ in range(max(size, 1))])
        case "pair":
            return f"({rng.choice(INTS)}, {rng.choice(FLOATS)!r})"
        case "array":
            step = rng.choice(("", "[::2]", "[::-1]"))
            return f"np.array([{', '.join(repr(rng.choice(FLOATS)) for _ in range(size))}], np.float64){step}"
        case _:
            turn = rng.choice(("", ".T", "[::-1]"))
            return f"np.arange({size * 3}).reshape({size}, 3){turn}"


def result(w: Writer) -> str:
    """A tuple of all that can be seen."""
    names = [name for kind in KINDS for name in w.variables[kind]]
    return "(" + "".join(f"{name}, " for name in names) + ")" if names else int_expr(w, 2)[0]


def write_helper(w: Writer) -> None:
    """A second function, to call: ints in, an int out."""
    inner = Writer(w.rng, helpers=w.helpers, budget=6, statements=w.statements)
    inner.variables["int"] = ["a", "b"]
    write_block(inner, w.rng.randint(1, 3))
    inner.write(f"return {stored_int(inner)}")
    decorator = ["@njit"] if w.rng.random() < 0.7 else []
    w.helpers["helper"] = "\n".join([*decorator, "def helper(a, b=3):", *inner.lines])


def stored_int(w: Writer, depth: int = 3) -> str:
    """An int expression small enough to be kept."""
    text, bound = int_expr(w, depth)
    return text if bound < BOUND else f"({text}) % {w.rng.choice((97, 65537, 999983))}"


def int_expr(w: Writer, depth: int) -> tuple[str, int]:
    """An int expression and a bound of its size."""
    rng = w.rng
    if depth == 0 or rng.random() < 0.2:
        return int_leaf(w)
    if rng.random() < 0.25:
        return int_call(w, depth)
    a, bound_a = int_expr(w, depth - 1)
    b, bound_b = int_expr(w, depth - 1)
    op = rng.choice(("+", "-", "*", "//", "%", "&", "|", "^", ">>", "<<", "ifelse", "min", "max"))
    if op in ("+", "-"):
        return f"({a} {op} {b})", bound_a + bound_b
    if op == "*":
        return (f"({a} * {b})", bound_a * bound_b) if bound_a * bound_b < 2**56 else (a, bound_a)
    if op == "//":
        return f"({a} // {divisor(w, b)})", bound_a + 1
    if op == "%":
        return f"({a} % {divisor(w, b)})", 2 * bound_b + 1
    if op in ("&", "|", "^"):
        return f"({a} {op} {b})", 2 * max(bound_a, bound_b, 1)
    if op == ">>":
        return f"({a} >> ({b} % 70))", bound_a + 1
    if op == "<<":
        return (f"({a} << ({b} % 8))", bound_a << 8) if bound_a < 2**48 else (a, bound_a)
    if op == "ifelse":
        return f"({a} if {bool_expr(w, depth - 1)} else {b})", max(bound_a, bound_b)
    return f"{op}({a}, {b})", max(bound_a, bound_b)


def divisor(w: Writer, text: str) -> str:
    """An int that is not often zero."""
    return text if w.rng.random() < 0.15 else f"({text} | 1)"


def int_leaf(w: Writer) -> tuple[str, int]:
    """A variable, a constant or something counted."""
    rng = w.rng
    choices = ["const"] + ["int"] * 4 + ["list", "pair", "len", "bool"]
    match rng.choice(choices):
        case "int" if name := w.pick("int"):
            return name, BOUND
        case "list" if name := w.pick("list"):
            return f"{name}[{index(w, name)}]", BOUND
        case "pair" if name := w.pick("pair"):
            return f"{name}[0]", BOUND
        case "len" if name := w.pick(rng.choice(("list", "floats", "array", "matrix", "pair"))):
            return f"len({name})", 1000
        case "bool" if name := w.pick("bool"):
            return f"int({name})", 1
    value = rng.choice(INTS)
    return (f"({value})" if value < 0 else str(value)), abs(value)


def int_call(w: Writer, depth: int) -> tuple[str, int]:
    """A call that gives an int."""
    rng = w.rng
    a, bound = int_expr(w, depth - 1)
    match rng.choice(("abs", "neg", "invert", "helper", "round", "divmod", "int", "sum", "matrix")):
        case "abs":
            return f"abs({a})", bound
        case "neg":
            return f"(-{a})", bound
        case "invert":
            return f"(~{a})", bound + 1
        case "helper" if "helper" in w.helpers:
            return (
                f"helper({stored_int(w, 1)})"
                if rng.random() < 0.3
                else f"helper({stored_int(w, 1)}, {stored_int(w, 1)})"
            ), BOUND
        case "divmod":
            b, _ = int_expr(w, depth - 1)
            return f"divmod({a}, {b})[0]", bound + 1
        case "int":
            return f"int({float_expr(w, 0)} > 0.5)", 1
        case "sum" if name := w.pick("list"):
            return f"sum({name})", BOUND * 2000
        case "matrix" if name := w.pick("matrix"):
            return f"int({name}[{index(w, name)}, {index(w, name)}])", BOUND
    return a, bound


def index(w: Writer, name: str) -> str:
    """An index that is often in range."""
    rng = w.rng
    if rng.random() < 0.7:
        return rng.choice(("0", "0", "0", "-1", "-1", "1", "-2"))
    return f"{int_leaf(w)[0]} % len({name})" if rng.random() < 0.9 else int_leaf(w)[0]


def float_expr(w: Writer, depth: int) -> str:
    """A float expression of operations that are exact to the bit."""
    rng = w.rng
    if depth == 0 or rng.random() < 0.2:
        return float_leaf(w)
    a, b = float_expr(w, depth - 1), float_expr(w, depth - 1)
    match rng.choice(("+", "-", "*", "/", "//", "%", "int", "abs", "sqrt", "neg", "ifelse", "div", "square", "sum")):
        case "int":
            return f"({a} + {int_expr(w, 1)[0]})"
        case "abs":
            return f"abs({a})"
        case "sqrt":
            return f"math.sqrt(abs({a}))"
        case "neg":
            return f"(-{a})"
        case "ifelse":
            return f"({a} if {bool_expr(w, depth - 1)} else {b})"
        case "div":
            return f"({int_leaf(w)[0]} / {divisor(w, int_leaf(w)[0])})"
        case "square":
            return f"({a} * {a})"
        case "sum" if name := w.pick("floats"):
            return f"({name}[{index(w, name)}] + {a})"
        case "sum":
            return a
        case "/" | "//" | "%" as op if rng.random() < 0.8:
            return f"({a} {op} ({b} * {b} + 0.25))"
        case op:
            return f"({a} {op} {b})"


def float_leaf(w: Writer) -> str:
    """A variable, an item or a constant."""
    rng = w.rng
    match rng.choice(("const", "float", "float", "floats", "pair", "array", "int")):
        case "float" if name := w.pick("float"):
            return name
        case "floats" if name := w.pick("floats"):
            return f"{name}[{index(w, name)}]"
        case "array" if name := w.pick("array"):
            # NumPy's own scalars divide by zero in silence.
            return f"float({name}[{index(w, name)}])"
        case "pair" if name := w.pick("pair"):
            return f"{name}[1]"
        case "int":
            return f"float({int_leaf(w)[0]})"
    value = rng.choice(FLOATS)
    return f"({value!r})" if str(value).startswith("-") else repr(value)


def bool_expr(w: Writer, depth: int) -> str:
    """A truth value."""
    rng = w.rng
    if depth <= 0:
        name = w.pick("bool")
        return name if name and rng.random() < 0.7 else rng.choice(("True", "False"))
    match rng.choice(("int", "int", "float", "chain", "and", "or", "not", "in", "list", "pair")):
        case "int":
            return (
                f"({int_expr(w, depth - 1)[0]} {rng.choice(('<', '<=', '==', '!=', '>', '>='))} "
                f"{int_expr(w, depth - 1)[0]})"
            )
        case "float":
            return (
                f"({float_expr(w, depth - 1)} {rng.choice(('<', '<=', '==', '!=', '>', '>='))} "
                f"{float_expr(w, depth - 1)})"
            )
        case "chain":
            return f"({int_leaf(w)[0]} < {int_leaf(w)[0]} <= {int_leaf(w)[0]})"
        case "and" | "or" as op:
            return f"({bool_expr(w, depth - 1)} {op} {bool_expr(w, depth - 1)})"
        case "not":
            return f"(not {bool_expr(w, depth - 1)})"
        case "list" if name := w.pick("list"):
            return f"({int_leaf(w)[0]} in {name})"
        case "pair" if name := w.pick("pair"):
            return f"({name} < ({int_leaf(w)[0]}, {float_leaf(w)}))"
    return f"({int_leaf(w)[0]} in (1, 2, {int_leaf(w)[0]}))"


def new_value(w: Writer, kind: str) -> str:
    """An expression of a kind."""
    rng = w.rng
    match kind:
        case "int":
            return stored_int(w)
        case "float":
            return float_expr(w, 3)
        case "bool":
            return bool_expr(w, 2)
        case "list":
            items = ", ".join(stored_int(w, 1) for _ in range(rng.randint(1, 3)))
            forms = [
                f"[{items}]",
                f"[i * {rng.randint(1, 9)} % 7 for i in range({rng.randint(1, 6)})]",
                f"[{stored_int(w, 1)}] * {rng.randint(1, 4)}",
            ]
            if name := w.pick("list"):
                forms += [
                    f"{name}[{rng.choice(('::-1', '1:', ':2', '::2'))}]",
                    f"[x + 1 for x in {name} if x < 900000]",
                    f"{name} + [1]",
                    f"sorted({name})",
                ]
            return rng.choice(forms)
        case "floats":
            return f"[{', '.join(float_expr(w, 1) for _ in range(rng.randint(1, 3)))}]"
        case "pair":
            return f"({stored_int(w, 1)}, {float_expr(w, 1)})"
        case "array":
            forms = [
                f"np.full({rng.randint(0, 4)}, {float_expr(w, 1)})",
                f"np.zeros({rng.randint(0, 3)})",
                f"np.arange({rng.randint(0, 5)}) * {float_leaf(w)}",
            ]
            if name := w.pick("array"):
                forms += [
                    f"{name}[::-1]",
                    f"({name} * 2.0 - {float_leaf(w)})",
                    f"np.where({name} > 0.0, {name}, 1.0)",
                    f"abs({name}) + {name}",
                    f"{name}[1:]",
                    f"{name}.copy()",
                ]
            return rng.choice(forms)
        case _:
            return f"np.arange({rng.randint(0, 3) * 3}).reshape(-1, 3)"


def declare(w: Writer) -> None:
    """A new variable."""
    kind = w.rng.choice(KINDS)
    text = new_value(w, kind)
    name = w.fresh()
    w.write(f"{name} = {text}")
    w.variables[kind].append(name)


def write_block(w: Writer, statements: int) -> None:
    """Some statements at the present depth, at least one."""
    before = len(w.lines)
    for _ in range(statements):
        if w.budget <= 0:
            break
        w.budget -= 1
        w.statements[w.rng.randrange(len(w.statements))](w)
    if len(w.lines) == before:
        w.write("pass")


def nested(w: Writer, statements: int) -> None:
    """A block one deeper; its new variables are unknown outside."""
    known = {kind: list(names) for kind, names in w.variables.items()}
    w.depth += 1
    write_block(w, statements)
    w.depth -= 1
    w.variables = known


def assign(w: Writer) -> None:
    kind = w.rng.choice(KINDS)
    if name := w.pick(kind):
        w.write(f"{name} = {new_value(w, kind)}")
    elif w.depth < 3:
        declare(w)


def augment(w: Writer) -> None:
    rng = w.rng
    if rng.random() < 0.4 and (name := w.pick("float")):
        w.write(f"{name} {rng.choice(('+=', '-=', '*='))} {float_expr(w, 2)}")
    elif name := w.pick("int"):
        w.write(f"{name} {rng.choice(('+=', '-=', '^=', '|='))} {stored_int(w, 2)}")
        w.write(f"{name} %= {rng.choice((1009, 65537))}")


def store(w: Writer) -> None:
    rng = w.rng
    match rng.choice(("list", "floats", "array", "matrix", "slice", "append", "pop")):
        case "list" if name := w.pick("list"):
            w.write(f"{name}[{index(w, name)}] = {stored_int(w, 2)}")
        case "floats" if name := w.pick("floats"):
            w.write(f"{name}[{index(w, name)}] = {float_expr(w, 2)}")
        case "array" if name := w.pick("array"):
            w.write(f"{name}[{index(w, name)}] {rng.choice(('=', '+='))} {float_expr(w, 2)}")
        case "matrix" if name := w.pick("matrix"):
            w.write(f"{name}[{index(w, name)}, {index(w, name)}] = {stored_int(w, 2)}")
        case "slice" if name := w.pick("array"):
            w.write(f"{name}[{rng.choice((':', '1:', '::2', ':-1'))}] {rng.choice(('=', '+=', '*='))} {float_leaf(w)}")
        case "append" if (name := w.pick("list")) and not w.loops:
            w.write(f"{name}.append({stored_int(w, 2)})")
        case "pop" if name := w.pick("list"):
            w.write(f"{name}.pop({rng.choice(('', '0', '-1', index(w, name)))})")


def if_statement(w: Writer) -> None:
    if w.depth > 4:
        return
    w.write(f"if {bool_expr(w, 2)}:")
    nested(w, w.rng.randint(1, 3))
    if w.rng.random() < 0.3:
        w.write(f"elif {bool_expr(w, 2)}:")
        nested(w, w.rng.randint(1, 2))
    if w.rng.random() < 0.5:
        w.write("else:")
        nested(w, w.rng.randint(1, 2))


def for_statement(w: Writer) -> None:
    if w.depth > 4 or w.loops >= 2:
        return
    rng, name = w.rng, w.fresh()
    kind, iterable = "int", f"range({rng.choice(('4', '0', '2, 9, 3', '5, 0, -2'))})"
    match rng.choice(("range", "range", "list", "array", "enumerate", "bound")):
        case "list" if source := w.pick("list"):
            iterable = f"{source}[:]"
        case "array" if source := w.pick("array"):
            kind, iterable = "float", source
        case "bound":
            iterable = f"range({stored_int(w, 1)} % 6)"
        case "enumerate" if source := w.pick("floats"):
            other = w.fresh()
            w.write(f"for {other}, {name} in enumerate({source}):")
            loop_body(w, [("int", other), ("float", name)])
            return
    w.write(f"for {name} in {iterable}:")
    loop_body(w, [(kind, name)], f"{name} = float({name})" if kind == "float" else "")


def loop_body(w: Writer, bound: list[tuple[str, str]], first: str = "") -> None:
    """The block of a loop, with its variables, and perhaps an `else`."""
    for kind, name in bound:
        w.variables[kind].append(name)
    if first:
        w.write("    " + first)
    w.loops += 1
    nested(w, w.rng.randint(1, 4))
    w.loops -= 1
    for kind, name in bound:
        # Unbound after a loop over nothing: sometimes worth looking at.
        if w.rng.random() < 0.8:
            w.variables[kind].remove(name)
    if w.rng.random() < 0.15:
        w.write("else:")
        nested(w, 1)


def while_statement(w: Writer) -> None:
    if w.depth > 4 or w.loops >= 2:
        return
    name = w.fresh()
    w.write(f"{name} = {w.rng.randint(0, 5)}")
    w.write(f"while {name} > 0 and {bool_expr(w, 1)}:")
    w.depth += 1
    w.write(f"{name} -= 1")
    w.depth -= 1
    w.loops += 1
    nested(w, w.rng.randint(1, 3))
    w.loops -= 1
    w.variables["int"].append(name)


def leave_loop(w: Writer) -> None:
    if w.loops:
        w.write(f"if {bool_expr(w, 1)}:")
        w.write(f"    {w.rng.choice(('break', 'continue'))}")


def raise_statement(w: Writer) -> None:
    chance = 0.6 if w.guarded else 0.15
    if w.rng.random() < chance:
        w.write(f"if {bool_expr(w, 2)}:")
        w.write(f"    raise {w.rng.choice(EXCEPTIONS)}('{w.rng.choice(('a', 'b'))}', {stored_int(w, 1)})")


def try_statement(w: Writer) -> None:
    if w.depth > 3:
        return
    rng = w.rng
    w.write("try:")
    w.guarded += 1
    nested(w, rng.randint(1, 4))
    w.guarded -= 1
    clauses = rng.sample(EXCEPTIONS, rng.randint(0, 2))
    has_finally = rng.random() < 0.3 or not clauses
    for name in clauses:
        w.write(f"except {name}:")
        nested(w, rng.randint(1, 2))
    if clauses and rng.random() < 0.3:
        w.write("else:")
        nested(w, 1)
    if has_finally and rng.random() < 0.5 or not clauses:
        w.write("finally:")
        loops, w.loops = w.loops, 0
        nested(w, rng.randint(1, 2))
        w.loops = loops


def unpack(w: Writer) -> None:
    if name := w.pick("pair"):
        a, b = w.fresh(), w.fresh()
        w.write(f"{a}, {b} = {name}")
        w.variables["int"].append(a)
        w.variables["float"].append(b)


def inner_function(w: Writer) -> None:
    """A lambda over values that are not assigned again, called at once."""
    name = w.fresh()
    captured = f"c{w.count}"
    w.write(f"{captured} = {stored_int(w, 1)}")
    body, bound = w.rng.choice(
        (
            (f"a + {captured}", 2),
            (f"a * 3 - b + {captured}", 8),
            (f"max(a, b, {captured})", 1),
            (f"{captured} if a > b else a", 1),
        )
    )
    w.write(f"{name}f = lambda a, b=2: {body}")
    w.write(
        f"{name} = {name}f({stored_int(w, 1)}) {w.rng.choice('+-')} {name}f({stored_int(w, 1)}, {stored_int(w, 1)})"
    )
    w.write(f"{name} %= {BOUND // (bound * 10)}")
    w.variables["int"].append(name)


def optional_value(w: Writer) -> None:
    """Something or None."""
    name, other = w.fresh(), w.fresh()
    w.write(f"{other} = None if {bool_expr(w, 2)} else {stored_int(w, 2)}")
    w.write(f"{name} = -1 if {other} is None else {other}")
    w.variables["int"].append(name)


def text_flag(w: Writer) -> None:
    """A string that decides."""
    name = w.fresh()
    flag = w.rng.choice(("full", "same"))
    w.write(f"{name}s = '{flag}' if {bool_expr(w, 1)} else 'valid'")
    condition = w.rng.choice(
        (
            f'{name}s == "full"',
            f'{name}s != "valid"',
            f'{name}s in ("same", "valid")',
            f'"a" in {name}s',
            f"len({name}s) > 4",
        )
    )
    w.write(f"{name} = {condition}")
    w.variables["bool"].append(name)


def typed_number(w: Writer) -> None:
    """Arithmetic of a narrow type, which wraps."""
    name = w.fresh()
    kind, modulus = w.rng.choice((("int8", 100), ("uint8", 200), ("int16", 30000), ("int32", 10**6), ("uint32", 10**6)))
    w.write(f"{name}t = np.{kind}(({stored_int(w, 1)}) % {modulus})")
    operation = w.rng.choice(
        (
            f"{name}t + {name}t",
            f"{name}t * {name}t",
            f"{name}t - np.{kind}(7)",
            f"{name}t // np.{kind}(3)",
            f"{name}t % np.{kind}(10)",
            f"{name}t + 1",
        )
    )
    w.write(f"{name} = int({operation}) % {BOUND}")
    w.variables["int"].append(name)


def complex_number(w: Writer) -> None:
    """Complex arithmetic, seen through its parts."""
    name = w.fresh()
    w.write(
        f"{name}z = complex({float_leaf(w)}, {float_leaf(w)}) {w.rng.choice('+-*')} "
        f"{w.rng.choice(('1j', '(2.5-1j)', '3'))}"
    )
    w.write(f"{name} = {name}z.real if {name}z == {name}z else {name}z.imag")
    w.variables["float"].append(name)


def reduction(w: Writer) -> None:
    """A reduction of few small numbers, exact in any order."""
    name = w.fresh()
    if matrix := w.pick("matrix"):
        form = w.rng.choice(
            (
                f"{matrix}.sum()",
                f"{matrix}[:, 0].sum()",
                f"{matrix}.T[1].sum()",
                f"(({matrix} > 2) & ({matrix} < 9)).sum()",
                f"{matrix}.max()",
                f"{matrix}.argmin()",
                f"{matrix}.sum(axis=0)[1]",
            )
        )
        w.write(f"{name} = int({form}) % {BOUND}")
        w.variables["int"].append(name)
    elif array := w.pick("array"):
        form = w.rng.choice(
            (f"{array}.min()", f"np.max({array})", f"np.sort({array})[0]", f"{array}[{array}.argmax()]")
        )
        # The zero that `min` and `max` choose is not defined: the sum has one sign.
        w.write(f"{name} = float({form}) + 0.0")
        w.variables["float"].append(name)


STATEMENTS = (
    assign,
    assign,
    assign,
    augment,
    augment,
    store,
    store,
    store,
    if_statement,
    if_statement,
    for_statement,
    for_statement,
    while_statement,
    leave_loop,
    raise_statement,
    try_statement,
    unpack,
    declare,
    inner_function,
    optional_value,
    text_flag,
    typed_number,
    complex_number,
    reduction,
)
