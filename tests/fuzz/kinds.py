"""Kinds of values of random programs with objects, and expressions of each kind.

A variable has one kind for life. Integers stay below `BOUND`, floats are small multiples of a quarter, and texts and
containers are cut where they would grow, so that CPython and compiled code mean the same program. Sets are looked at
only in ways that do not tell their order.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

#: Integers stay below this in size.
BOUND = 1_200_000
INTS = (0, 1, -1, 2, 3, 5, -7, 10, 64, 255, -128, 1000, 99991)
FLOATS = (0.0, -0.0, 1.0, 0.5, -2.5, 3.75, 100.0, -0.25)
TEXTS = ("", "a", "abc", "Hello World", "x,y,,z", "  pad ", "\u00e9\u03b1", "12", "-7", "aXbXc", "\u00df", "a\tb\nc",
         "\U0001f600z", "\u03a3\u03a3")  # fmt: skip
BYTES = (b"", b"a", b"abc", b"x,y", b"\xff\x00", b"\xc3\xa9", b" pad ", b"12")


@dataclass(frozen=True)
class Kind:
    """The kind of a value: its class, the kinds of its items, and the name of a class of the program."""

    name: str
    of: tuple[Kind, ...] = ()
    label: str = ""

    def __repr__(self) -> str:
        return self.label or self.name + (str(list(self.of)) if self.of else "")


INT, FLOAT, BOOL, TEXT, DATA = map(Kind, ("int", "float", "bool", "str", "bytes"))
SCALARS = (INT, FLOAT, BOOL, TEXT, DATA)
COUNTED = ("list", "dict", "set", "deque", "Counter", "defaultdict")


@dataclass
class Class:
    """A class of the program: its fields and methods, each of an int to a kind."""

    name: str
    style: str
    fields: dict[str, Kind]
    methods: dict[str, Kind] = field(default_factory=dict)
    properties: dict[str, Kind] = field(default_factory=dict)
    special: set[str] = field(default_factory=set)

    @property
    def kind(self) -> Kind:
        return Kind("object", label=self.name)

    @property
    def is_key(self) -> bool:
        return self.style in ("frozen", "named", "enum", "intenum", "keyed") and all(
            f.name in ("int", "str", "bool", "bytes") for f in self.fields.values()
        )


@dataclass
class Function:
    """A function of the program that may be called."""

    name: str
    parameters: tuple[Kind, ...]
    result: Kind


@dataclass
class Writer:
    """A function that is being written, with what is known where it is."""

    rng: random.Random
    classes: dict[str, Class] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    generators: list[Function] = field(default_factory=list)
    managers: list[str] = field(default_factory=list)
    variables: dict[str, Kind] = field(default_factory=dict)
    records: dict[str, Kind] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    assigned: set[str] = field(default_factory=set)
    depth: int = 1
    loops: int = 0
    guarded: int = 0
    handlers: int = 0
    inner: int = 0
    yields: Kind | None = None
    budget: int = 24
    names: list[int] = field(default_factory=lambda: [0])

    def write(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def fresh(self, prefix: str = "v") -> str:
        self.names[0] += 1
        return f"{prefix}{self.names[0]}"

    def pick(self, kind: Kind) -> str | None:
        found = [name for name, k in self.variables.items() if k == kind]
        return self.rng.choice(found) if found else None

    def pick_of(self, *names: str) -> tuple[str, Kind] | None:
        """A variable whose class is one of these."""
        found = [(name, k) for name, k in self.variables.items() if k.name in names]
        return self.rng.choice(found) if found else None

    def bind(self, name: str, kind: Kind) -> None:
        self.variables[name] = kind
        self.assigned.add(name)


def key_kind(w: Writer) -> Kind:
    """A kind of keys."""
    options = [INT, TEXT, INT, TEXT, DATA, BOOL, FLOAT, Kind("tuple", (INT, TEXT)), Kind("tuple", (INT, INT))]
    options += [c.kind for c in w.classes.values() if c.is_key]
    return w.rng.choice(options)


def some_kind(w: Writer, depth: int = 2) -> Kind:
    """A kind, with items of some depth."""
    rng = w.rng
    if depth == 0 or rng.random() < 0.4:
        classes = [c.kind for c in w.classes.values()]
        return rng.choice(classes) if classes and rng.random() < 0.35 else rng.choice(SCALARS[:4] + (INT, TEXT, DATA))
    match rng.choice(("list", "list", "dict", "dict", "set", "deque", "Counter", "defaultdict", "tuple")):
        case "dict":
            return Kind("dict", (key_kind(w), some_kind(w, depth - 1)))
        case "defaultdict":
            values = (INT, FLOAT, TEXT, Kind("list", (INT,)), Kind("list", (TEXT,)), Kind("set", (INT,)))
            return Kind("defaultdict", (key_kind(w), rng.choice(values)))
        case "set" | "Counter" as name:
            return Kind(name, (key_kind(w),))
        case "tuple":
            return Kind("tuple", tuple(some_kind(w, depth - 1) for _ in range(rng.randint(1, 3))))
        case name:
            return Kind(name, (some_kind(w, depth - 1),))


def is_ordered(kind: Kind, w: Writer) -> bool:
    """Whether `<` is defined, without a NaN."""
    if kind.name in ("tuple", "list"):
        return all(is_ordered(k, w) for k in kind.of)
    if kind.name == "object":
        return w.classes[kind.label].style in ("order", "intenum")
    return kind.name in ("int", "float", "bool", "str", "bytes")


def has_set(kind: Kind) -> bool:
    """Whether the text of a value would tell the order of a set."""
    return kind.name == "set" or kind.name == "object" or any(map(has_set, kind.of))


def literal(rng: random.Random, kind: Kind, classes: dict[str, Class], least: int = 0) -> str:
    """A value without variables, as source; containers have at least so many items."""

    def some(count: int | None = None) -> list[str]:
        size = rng.randint(least, 3) if count is None else count
        return [", ".join(literal(rng, k, classes, least) for k in kind.of[:1]) for _ in range(size)]

    match kind.name:
        case "int":
            return str(rng.choice(INTS))
        case "float":
            return repr(rng.choice(FLOATS))
        case "bool":
            return str(rng.random() < 0.5)
        case "str":
            return ascii(rng.choice(TEXTS))
        case "bytes":
            return repr(rng.choice(BYTES))
        case "tuple":
            return "(" + "".join(literal(rng, k, classes, least) + ", " for k in kind.of) + ")"
        case "list":
            return f"[{', '.join(some())}]"
        case "set":
            items = some()
            return f"{{{', '.join(items)}}}" if items else "set()"
        case "deque":
            return f"deque([{', '.join(some())}])"
        case "Counter":
            return f"Counter([{', '.join(some(3))}])"
        case "object":
            return instance(rng, classes[kind.label], lambda k: literal(rng, k, classes, least))
    items = [f"{literal(rng, kind.of[0], classes, 1)}: {literal(rng, kind.of[1], classes, least)}"
             for _ in range(rng.randint(max(least, kind.name == "defaultdict"), 3))]  # fmt: skip
    text = f"{{{', '.join(items)}}}"
    return text if kind.name == "dict" else f"defaultdict({factory(kind.of[1])}, {text})"


def factory(kind: Kind) -> str:
    return kind.name


def instance(rng: random.Random, c: Class, value: Callable[[Kind], str]) -> str:
    """A call of a class, or a member of an enumeration."""
    if c.style in ("enum", "intenum"):
        return f"{c.name}.{rng.choice(('A', 'B', 'C'))}"
    values = [value(k) for k in c.fields.values()]
    if c.style in ("data", "named") and rng.random() < 0.2:
        return f"{c.name}({', '.join(f'{n}={v}' for n, v in zip(c.fields, values))})"
    return f"{c.name}({', '.join(values)})"


def expr(w: Writer, kind: Kind, depth: int = 2) -> str:
    """An expression of a kind."""
    roll = w.rng.random()
    if depth <= 0 or roll < 0.2:
        return leaf(w, kind)
    if roll < 0.55:
        for _ in range(2):
            if text := w.rng.choice(ANYWHERE)(w, kind, depth):
                return text
    if kind.name in FORMS:
        return FORMS[kind.name](w, kind, depth)
    return instance(w.rng, w.classes[kind.label], lambda k: expr(w, k, depth - 1))


def leaf(w: Writer, kind: Kind) -> str:
    name = w.pick(kind)
    return name if name and w.rng.random() < 0.8 else literal(w.rng, kind, w.classes, 1)


def index(w: Writer) -> str:
    """An index that is mostly in range of a few items."""
    return w.rng.choice(("0", "0", "-1", "-1", "1", "2", f"{leaf(w, INT)} % 3", f"-({leaf(w, INT)} % 4)", "7"))


def part(w: Writer) -> str:
    """A slice."""
    return w.rng.choice(("1:", ":-1", "::-1", "::2", ":2", "-2:", "1:3", ":", "5:", "-1:0:-2", f":{leaf(w, INT)}"))


# Forms of any kind: items of containers, fields, calls.


def item(w: Writer, kind: Kind, depth: int) -> str | None:
    found = [(n, k) for n, k in w.variables.items() if k.name in ("list", "deque") and k.of[0] == kind]
    if not found:
        return None
    name, k = w.rng.choice(found)
    forms = [f"{name}[{index(w)}]", f"{name}[{index(w)}]", f"{name}.pop()"]
    if k.name == "deque":
        forms.append(f"{name}.popleft()")
    elif is_ordered(kind, w):
        forms += [f"max({name})", f"min({name}, default={leaf(w, kind)})", f"sorted({name})[{index(w)}]"]
    return w.rng.choice(forms)


def looked_up(w: Writer, kind: Kind, depth: int) -> str | None:
    found = [(n, k) for n, k in w.variables.items() if k.name in ("dict", "defaultdict") and k.of[1] == kind]
    if not found:
        return None
    name, k = w.rng.choice(found)
    key = expr(w, k.of[0], depth - 1)
    return w.rng.choice((
        f"{name}[{key}]", f"{name}.get({key}, {leaf(w, kind)})", f"{name}.pop({key}, {leaf(w, kind)})",
        f"{name}.setdefault({key}, {leaf(w, kind)})", f"{name}.pop({key})", f"{name}.popitem()[1]",
        f"list({name}.values())[{index(w)}]", f"next(iter({name}.values()))",
    ))  # fmt: skip


def member(w: Writer, kind: Kind, depth: int) -> str | None:
    """A field, property or method of an object, or an item of a tuple."""
    forms = []
    for name, k in w.variables.items():
        if k.name == "tuple":
            forms += [f"{name}[{i}]" for i, part in enumerate(k.of) if part == kind]
        elif k.name == "object":
            c = w.classes[k.label]
            forms += [f"{name}.{f}" for f, fk in (c.fields | c.properties).items() if fk == kind]
            forms += [f"{name}.{m}({leaf(w, INT)})" for m, mk in c.methods.items() if mk == kind]
    return w.rng.choice(forms) if forms else None


def call(w: Writer, kind: Kind, depth: int) -> str | None:
    found = [f for f in w.functions if f.result == kind]
    return call_of(w, w.rng.choice(found), depth - 1) if found else None


def call_of(w: Writer, function: Function, depth: int = 1) -> str:
    return f"{function.name}({', '.join(expr(w, k, depth) for k in function.parameters)})"


def conditional(w: Writer, kind: Kind, depth: int) -> str:
    return f"({expr(w, kind, depth - 1)} if {expr(w, BOOL, depth - 1)} else {expr(w, kind, depth - 1)})"


def produced(w: Writer, kind: Kind, depth: int) -> str | None:
    """An expression of an item that a generator yields, or None."""
    found = [g for g in w.generators if g.result == kind]
    if not found:
        return None
    made = call_of(w, w.rng.choice(found), depth - 1)
    forms = [f"next({made})", f"next({made}, {leaf(w, kind)})", f"list({made})[{index(w)}]"]
    if kind.name in ("int", "str", "float", "bytes"):
        forms.append(f"max({made}, default={leaf(w, kind)})")
    return w.rng.choice(forms)


ANYWHERE = (item, item, looked_up, looked_up, member, member, call, call, conditional, produced)


def int_form(w: Writer, kind: Kind, depth: int) -> str:
    rng = w.rng
    if rng.random() < 0.45:
        a, b = expr(w, INT, depth - 1), expr(w, INT, depth - 1)
        op = rng.choice(("+", "-", "*", "//", "%", "&", "|", "^", "max", "abs", "divmod"))
        match op:
            case "max":
                return f"{rng.choice(('max', 'min'))}({a}, {b})"
            case "abs":
                return f"abs({a})"
            case "divmod":
                return f"divmod({a}, {b})[{rng.randint(0, 1)}]"
            case "//" | "%":
                return f"({a} {op} {b})" if rng.random() < 0.3 else f"({a} {op} ({b} * {b} + 1))"
        return f"(({a} {op} {b}) % {rng.choice((97, 9973, 65537))})"
    s = expr(w, TEXT, depth - 1)
    forms = [
        f"len({s})", f"{s}.find({leaf(w, TEXT)})", f"{s}.count({leaf(w, TEXT)})", f"ord({s}[{index(w)}])",
        f"{s}.index({leaf(w, TEXT)})", f"int({expr(w, BOOL, depth - 1)})", f"{s}.rfind({leaf(w, TEXT)}, 1)",
        f"int(str({leaf(w, INT)}))", f"int({s}[:4], 36)", f"sum(map(ord, {s})) % 9973",
    ]  # fmt: skip
    d = expr(w, DATA, depth - 1)
    forms += [f"{d}[{index(w)}]", f"len({d})", f"{d}.count({leaf(w, DATA)})", f"{d}.find(97)",
              f"int.from_bytes({d}[:2], 'big')", f"sum({d})"]  # fmt: skip
    if chosen := w.pick_of(*COUNTED):
        name, k = chosen
        forms += [f"len({name})"] * 4
        if k.name in ("list", "deque"):
            forms += [f"{name}.count({leaf(w, k.of[0])})"] * 2
            forms += [f"{name}.index({leaf(w, k.of[0])})"] if k.name == "list" else []
        if k.name == "list" and k.of[0] == INT:
            forms += [f"(sum({name}) % 9973)", f"max({name}, key=lambda x: -x)", f"sum(x % 7 for x in {name})"] * 2
        if k.name == "dict" and k.of[1] == INT:
            forms += [f"(sum({name}.values()) % 9973)"] * 2
        if k.name == "Counter":
            forms += [f"{name}[{leaf(w, k.of[0])}]", f"({name}.total() % 9973)"] * 2
    for name, k in w.variables.items():
        if k.name == "object":
            c = w.classes[k.label]
            forms += [f"len({name})"] * ("len" in c.special) + [f"{name}({leaf(w, INT)})"] * ("call" in c.special)
            forms += [f"{name}[{index(w)}]"] * ("item" in c.special)
            forms += [f"{name}.value", f"len({name}.name)"] if c.style == "enum" else []
    return rng.choice(forms)


def float_form(w: Writer, kind: Kind, depth: int) -> str:
    a, b = expr(w, FLOAT, depth - 1), expr(w, FLOAT, depth - 1)
    return w.rng.choice((
        f"({a} + {b})", f"({a} - {b})", f"({a} * 0.5)", f"abs({a})", f"(-{a})", f"({a} + {expr(w, INT, depth - 1)})",
        f"max({a}, {b})", f"float({expr(w, INT, depth - 1)})", f"({expr(w, INT, depth - 1)} / 4)", f"({a} // 0.25)",
        f"round({a}, 1)", f"({a} % 3.0)", f"({a} / {b})" if w.rng.random() < 0.2 else f"({a} / 8.0)",
        f"float({expr(w, TEXT, 0)})" if w.rng.random() < 0.2 else "float('0.5')", f"float(str({a}))",
    ))  # fmt: skip


def comparison(w: Writer, depth: int) -> str:
    """Two values of any kind compared, or one looked for."""
    rng = w.rng
    kind = rng.choice([*w.variables.values(), INT, TEXT, FLOAT])
    a, b = expr(w, kind, depth - 1), expr(w, kind, 0)
    if kind.name == "object" and w.classes[kind.label].style == "jit":
        return f"({a}.{next(iter(w.classes[kind.label].fields))} == {leaf(w, INT)})"
    if kind.name == "set":
        return f"({a} {rng.choice(('<=', '<', '>=', '==', '!='))} {b})"
    return f"({a} {rng.choice(('<', '<=', '>', '==', '!=') if is_ordered(kind, w) else ('==', '!='))} {b})"


def bool_form(w: Writer, kind: Kind, depth: int) -> str:
    rng = w.rng
    s = expr(w, TEXT, depth - 1)
    forms = [
        f"({s} in {leaf(w, TEXT)})", f"{s}.startswith({leaf(w, TEXT)})", f"{s}.endswith(('a', {leaf(w, TEXT)}))",
        f"{s}.{rng.choice(('isdigit', 'isalpha', 'isupper', 'isspace', 'isidentifier', 'istitle', 'isprintable'))}()",
        f"(not {expr(w, BOOL, depth - 1)})", f"({expr(w, BOOL, depth - 1)} and {expr(w, BOOL, depth - 1)})",
        f"({expr(w, BOOL, depth - 1)} or {expr(w, BOOL, depth - 1)})", f"({leaf(w, DATA)} in {leaf(w, DATA)})",
        f"({leaf(w, INT)} < {expr(w, INT, depth - 1)} <= {leaf(w, INT)})",
    ]  # fmt: skip
    if chosen := w.pick_of(*COUNTED):
        name, k = chosen
        forms += [f"({leaf(w, k.of[0])} in {name})", f"({expr(w, k.of[0], depth - 1)} not in {name})"] * 2
        forms += [f"bool({name})", f"(not {name})"]
        if k.name == "set":
            forms += [f"{name}.isdisjoint({leaf(w, k)})", f"{name}.issuperset([{leaf(w, k.of[0])}])"]
        if k.name == "dict" and k.of[1] != FLOAT and not has_set(k.of[1]):
            forms += [f"({leaf(w, k.of[1])} in {name}.values())"]
        if k.name == "list" and k.of[0] == INT:
            forms += [f"any(x > 3 for x in {name})", f"all([x != 5 for x in {name}])"]
    return rng.choice(forms) if rng.random() < 0.6 else comparison(w, depth)


def text_form(w: Writer, kind: Kind, depth: int) -> str:
    rng = w.rng
    a, b, c, i = expr(w, TEXT, depth - 1), leaf(w, TEXT), leaf(w, TEXT), expr(w, INT, depth - 1)
    method = rng.choice((
        "upper", "lower", "title", "swapcase", "capitalize", "casefold", "strip", "lstrip", "rstrip", "expandtabs",
    ))  # fmt: skip
    number = rng.choice(("", "d", "x", "+", ",", "05", "b", ">8", "_", "#o"))
    forms = [
        f"({a} + {b})[:24]", f"{a}[{index(w)}]", f"{a}[{part(w)}]", f"{a}.{method}()", f"{a}.{method}()",
        f"{a}.replace({b}, {c})[:24]", f"{a}.replace('a', {b}, 1)[:24]", f"({a} * 2)[:24]", f"{a}.zfill(5)",
        f"{a}.center({rng.randint(0, 9)}, '*')", f"{a}.rjust(5)", f"{a}.split(',')[{index(w)}]",
f"f'{{{w.pick(INT) or 5}:{number}}}|{{{w.pick(TEXT) or 7}:>6}}|{{{w.pick(FLOAT) or 0.5}:.1f}}'",
        f"('%d-%s' % ({i}, {b}))", f"'{{:>5}}{{!r}}'.format({i}, {b})[:24]", f"str({i})", f"chr({i} % 300)",
        f"{a}.partition({rng.choice((repr('X'), repr(','), b))})[{rng.randint(0, 2)}]", f"{a}.removeprefix({b})",
        f"'-'.join({a}.split())[:24]", f"{a}.translate({{97: 'zz', 98: None}})[:24]", f"''.join(reversed({a}))",
        f"{a}.strip({b})", f"''.join([c for c in {a} if c != {rng.choice(('a', 'X'))!r}])", f"repr({a})[:24]",
        f"{a}.rsplit({b}, 1)[-1]", f"ascii({a})[:24]", f"format({expr(w, FLOAT, depth - 1)}, '.2f')",
        f"str({expr(w, FLOAT, depth - 1)})", f"''.join(sorted({a}))",
    ]  # fmt: skip
    d = expr(w, DATA, depth - 1)
    errors = rng.choice(("", ", 'replace'", ", 'ignore'", ", 'surrogateescape'", ", 'backslashreplace'"))
    forms += [f"{d}.hex()", f"{d}.decode('utf-8'{errors})", f"{d}.decode('latin-1')", f"repr({d})[:24]"]
    if names := [n for n, k in w.variables.items() if k.name != "str" and not has_set(k) and k.name in COUNTED]:
        forms += [f"str({rng.choice(names)})[:40]"] * 4
    if name := w.pick(Kind("list", (TEXT,))):
        forms += [f"{b}.join({name})[:24]"] * 3
    return rng.choice(forms)


def bytes_form(w: Writer, kind: Kind, depth: int) -> str:
    rng = w.rng
    a, b = expr(w, DATA, depth - 1), leaf(w, DATA)
    return rng.choice((
        f"({a} + {b})[:12]", f"{a}[{part(w)}]", f"{a}.{rng.choice(('upper', 'strip', 'lower', 'title'))}()",
        f"{a}.replace({b}, b'z')[:12]", f"bytes([{expr(w, INT, depth - 1)} % 256])", f"bytes([{leaf(w, INT)}])",
        f"bytes({rng.randint(0, 3)})", f"({a} * 2)[:12]", f"{a}.split(b',')[{index(w)}]", f"{b}.join([{a}, {b}])[:12]",
        f"{expr(w, TEXT, depth - 1)}.encode()[:12]", f"({leaf(w, INT)} % 65536).to_bytes(2, 'little')",
        f"bytes(reversed({a}))", f"bytes(bytearray({a}))", f"{a}.rjust(4, b'_')", f"bytes(x ^ 32 for x in {a})",
        f"{expr(w, TEXT, 0)}.encode('latin-1'{rng.choice(('', ', ' + repr('replace'), ', ' + repr('ignore')))})",
    ))  # fmt: skip


def tuple_form(w: Writer, kind: Kind, depth: int) -> str:
    return "(" + "".join(expr(w, k, depth - 1) + ", " for k in kind.of) + ")"


def list_form(w: Writer, kind: Kind, depth: int) -> str:
    """Displays, comprehensions, slices, and what functions make of other containers."""
    rng, of = w.rng, kind.of[0]
    items = ", ".join(expr(w, of, depth - 1) for _ in range(rng.randint(1, 3)))
    forms = [f"[{items}]"] * 2
    x = w.fresh("x")
    known = dict(w.variables)
    w.variables[x] = INT
    forms.append(f"[{expr(w, of, depth - 1)} for {x} in range({rng.randint(0, 4)})]")
    source = rng.choice([INT, TEXT, *(k.of[0] for k in known.values() if k.name == "list")])
    w.variables[x] = source
    made = expr(w, of, depth - 1)
    # Python leaves items out of the code whose condition is a constant.
    test = expr(w, BOOL, depth - 1)
    test = test if any(name in test for name in w.variables) else f"{x} != {literal(rng, source, w.classes)}"
    when = f" if {test}" if rng.random() < 0.4 else ""
    w.variables = known
    forms.append(f"[{made} for {x} in {leaf(w, Kind('list', (source,)))}{when}]")
    if name := w.pick(kind):
        forms += [f"{name}[{part(w)}]", f"{name}.copy()", f"list(reversed({name}))", f"({name} + [{items}])[:9]",
                  f"({name} * 2)[:6]", f"[*{name}, {leaf(w, of)}][:9]"] * 2  # fmt: skip
        if is_ordered(of, w):
            forms += [f"sorted({name})", f"sorted({name}, reverse=True)"]
    for name, k in w.variables.items():
        if k.name in ("dict", "Counter", "defaultdict") and k.of[0] == of:
            forms += [f"list({name})", f"[k for k in {name}]"]
        if k.name in ("dict", "defaultdict") and k.of[1] == of:
            forms += [f"list({name}.values())", f"[v for k, v in {name}.items()]"]
        if k.name == "dict" and of == Kind("tuple", k.of):
            forms += [f"list({name}.items())"] * 3
        if k.name == "deque" and k.of[0] == of:
            forms += [f"list({name})"] * 2
        if k.name == "set" and k.of[0] == of and is_ordered(of, w):
            forms += [f"sorted({name})"] * 3
    forms += [f"list({call_of(w, g, 0)})[:9]" for g in w.generators if g.result == of] * 2
    match of.name:
        case "str":
            s = expr(w, TEXT, depth - 1)
            forms += [f"{s}.split({rng.choice(('', repr(',')))})", f"list({s})",
                      f"{s}.splitlines()", f"list(map(str, {leaf(w, Kind('list', (INT,)))}))"]  # fmt: skip
        case "int":
            forms += [f"list(range({leaf(w, INT)} % 5))", f"list({expr(w, DATA, depth - 1)})",
                      f"list(map(lambda x: x % 5, {leaf(w, kind)}))",
                      f"list(filter(lambda x: x > 1, {leaf(w, kind)}))",
                      f"[ord(c) for c in {expr(w, TEXT, depth - 1)}]"]  # fmt: skip
        case "tuple" if len(of.of) == 2:
            a, b = (leaf(w, Kind("list", (k,))) for k in of.of)
            forms += [f"list(zip({a}, {b}))"] * 2 + ([f"list(enumerate({b}))"] * 2 if of.of[0] == INT else [])
    return rng.choice(forms)


def dict_form(w: Writer, kind: Kind, depth: int) -> str:
    rng, (key, value) = w.rng, kind.of
    pairs = [f"{expr(w, key, depth - 1)}: {expr(w, value, depth - 1)}" for _ in range(rng.randint(1, 3))]
    forms = [f"{{{', '.join(pairs)}}}"] * 3
    keys, values = leaf(w, Kind("list", (key,))), leaf(w, Kind("list", (value,)))
    forms += [f"{{k: {leaf(w, value)} for k in {keys}}}", f"dict(zip({keys}, {values}))",
              f"dict.fromkeys({keys}, {leaf(w, value)})", f"{{k: v for k, v in zip({keys}, {values})}}"]  # fmt: skip
    if name := w.pick(kind):
        forms += [f"{name}.copy()", f"({name} | {leaf(w, kind)})", f"dict({name})", f"{{**{name}, {pairs[0]}}}"] * 2
    return rng.choice(forms)


def set_form(w: Writer, kind: Kind, depth: int) -> str:
    rng, of = w.rng, kind.of[0]
    items = ", ".join(expr(w, of, depth - 1) for _ in range(rng.randint(1, 3)))
    forms = [f"{{{items}}}", f"set({leaf(w, Kind('list', (of,)))})", f"{{x for x in {leaf(w, Kind('list', (of,)))}}}"]
    if name := w.pick(kind):
        other = leaf(w, kind)
        forms += [f"({name} {rng.choice('|&^-')} {other})", f"{name}.copy()", f"{name}.union([{leaf(w, of)}])",
                  f"{name}.intersection({other})", f"{name}.difference([{leaf(w, of)}], {other})"] * 2  # fmt: skip
    for name, k in w.variables.items():
        if k.name == "dict" and k.of[0] == of:
            forms += [f"set({name})", f"({name}.keys() & {leaf(w, kind)})", f"({name}.keys() - {leaf(w, kind)})"]
    return rng.choice(forms)


def deque_form(w: Writer, kind: Kind, depth: int) -> str:
    source = expr(w, Kind("list", kind.of), depth - 1)
    forms = [f"deque({source})", f"deque({source}, 3)", f"deque({source}, maxlen=2)"]
    if name := w.pick(kind):
        forms += [f"{name}.copy()", f"deque({name}, 4)"]
    return w.rng.choice(forms)


def counter_form(w: Writer, kind: Kind, depth: int) -> str:
    forms = [f"Counter({expr(w, Kind('list', kind.of), depth - 1)})"]
    if kind.of[0] == TEXT:
        forms.append(f"Counter({expr(w, TEXT, depth - 1)})")
    if name := w.pick(kind):
        forms += [f"({name} {w.rng.choice('+-&|')} {leaf(w, kind)})", f"{name}.copy()"]
    return w.rng.choice(forms)


def default_form(w: Writer, kind: Kind, depth: int) -> str:
    key, value = kind.of
    if (name := w.pick(kind)) and w.rng.random() < 0.4:
        return f"{name}.copy()"
    return f"defaultdict({factory(value)}, {{{expr(w, key, depth - 1)}: {expr(w, value, depth - 1)}}})"


FORMS: dict[str, Callable[[Writer, Kind, int], str]] = {
    "int": int_form, "float": float_form, "bool": bool_form, "str": text_form, "bytes": bytes_form,
    "tuple": tuple_form, "list": list_form, "dict": dict_form, "set": set_form, "deque": deque_form,
    "Counter": counter_form, "defaultdict": default_form,
}  # fmt: skip
