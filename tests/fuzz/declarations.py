"""The declarations of a random program with objects, around its function: classes, exceptions, context managers,
functions, generators.
"""

from __future__ import annotations

from collections.abc import Callable

from kinds import (
    BOOL,
    DATA,
    FLOAT,
    INT,
    TEXT,
    Class,
    Function,
    Kind,
    Writer,
    expr,
    is_ordered,
    leaf,
    some_kind,
)

#: Text of the annotation of a field.
ANNOTATIONS = {"int": "int", "float": "float", "bool": "bool", "str": "str", "bytes": "bytes"}
ERRORS = ("Exception", "ValueError", "KeyError", "LookupError", "ArithmeticError", "RuntimeError")
Block = Callable[[Writer, int], None]


def annotation(kind: Kind) -> str:
    if kind.name == "object":
        return kind.label
    return ANNOTATIONS.get(kind.name) or f"{kind.name}[{', '.join(map(annotation, kind.of))}]"


def write_class(w: Writer) -> list[str]:
    """Source of a new class."""
    rng, name = w.rng, f"C{len(w.classes)}"
    style = rng.choice(("data", "data", "frozen", "order", "keyed", "named", "enum", "intenum", "jit", "jit", "slots"))
    if style in ("enum", "intenum"):
        c = Class(name, style, {})
        w.classes[name] = c
        values = rng.sample((1, 2, 3, 5, 8, -1), 3)
        base = "enum.Enum" if style == "enum" else "enum.IntEnum"
        lines = [f"class {name}({base}):", *(f"    {n} = {v}" for n, v in zip("ABC", values))]
        if style == "enum":
            c.properties["name"] = TEXT
            c.properties["value"] = INT
        return lines
    c = Class(name, style, fields_of(w, style))
    head = {
        "data": "@dataclass", "frozen": "@dataclass(frozen=True)", "order": "@dataclass(order=True)",
        "keyed": "@dataclass(eq=False)", "slots": "@dataclass(slots=True)", "jit": "@jitclass", "named": "",
    }[style]  # fmt: skip
    lines = [head] * bool(head) + [f"class {name}{'(NamedTuple)' * (style == 'named')}:"]
    lines += [f"    {field}: {annotation(k)}" for field, k in c.fields.items()]
    if style == "jit":
        lines += [f"    def __init__(self, {', '.join(c.fields)}):"]
        lines += [f"        self.{f} = {f}" for f in c.fields]
    lines += special_methods(w, c) + methods(w, c)
    w.classes[name] = c
    return lines


def fields_of(w: Writer, style: str) -> dict[str, Kind]:
    rng = w.rng
    kinds = [INT, TEXT] if style == "keyed" else [INT] + [some_kind(w, 1) for _ in range(rng.randint(0, 3))]
    if style == "frozen":
        kinds = [INT] + [rng.choice((INT, TEXT, BOOL, DATA)) for _ in range(rng.randint(0, 2))]
    if style == "order":
        kinds = [k for k in kinds if is_ordered(k, w)]
    if style == "jit":
        # Containers of a jitted class are typed ones, which are made by copying: there are tests of these.
        kinds = [k for k in kinds if k in (INT, FLOAT, BOOL, TEXT)]
    return {f"f{i}": k for i, k in enumerate(kinds)}


def special_methods(w: Writer, c: Class) -> list[str]:
    rng, lines = w.rng, []
    if c.style == "keyed":
        lines += [f"    def __eq__(self, other): return isinstance(other, {c.name}) and self.f0 % 5 == other.f0 % 5",
                  f"    def __hash__(self): return self.f0 % {rng.choice((5, 1))}"]  # fmt: skip
    if c.style not in ("named",) and rng.random() < 0.4:
        c.special.add("len")
        lines += ["    def __len__(self): return abs(self.f0) % 7"]
    if c.style not in ("named",) and rng.random() < 0.4:
        c.special.add("item")
        lines += ["    def __getitem__(self, i):", "        if not -3 <= i < 3:",
                  "            raise IndexError('a', i)", "        return self.f0 % 7 + i"]  # fmt: skip
    if rng.random() < 0.3:
        c.special.add("call")
        lines += ["    def __call__(self, k): return (self.f0 + k) % 997"]
    return lines


def methods(w: Writer, c: Class) -> list[str]:
    """A property and a method, which change the instance if they may."""
    rng, lines = w.rng, []
    own = {f"self.{f}": k for f, k in c.fields.items()}
    inner = Writer(rng, w.classes, names=w.names, variables={**own, "k": INT}, functions=w.functions)
    if rng.random() < 0.4:
        kind = rng.choice((INT, TEXT, FLOAT, BOOL))
        c.properties["prop"] = kind
        lines += ["    @property", "    def prop(self):", "        k = 3", f"        return {expr(inner, kind, 2)}"]
    if rng.random() < 0.8:
        kind = rng.choice((INT, TEXT, BOOL, Kind("list", (INT,)), Kind("tuple", (INT, TEXT))))
        lines += ["    def m(self, k):"]
        if c.style in ("data", "order", "slots", "jit"):
            field = rng.choice(list(c.fields))
            lines += [f"        self.{field} = {expr(inner, c.fields[field], 1)}"] * (rng.random() < 0.7)
        if rng.random() < 0.3:
            lines += ["        if k > 900:", "            raise ValueError('a', k)"]
        lines += [f"        return {expr(inner, kind, 2)}"]
        c.methods["m"] = kind
    return lines


def write_errors(w: Writer) -> list[str]:
    """Own classes of exceptions, one derived from another."""
    lines: list[str] = []
    for i in range(w.rng.randint(1, 3)):
        base = w.rng.choice((*ERRORS, *w.errors))
        lines += [f"class E{i}({base}):", "    pass"]
        w.errors.append(f"E{i}")
    return lines


def write_managers(w: Writer) -> list[str]:
    """Context managers, whose log is a list of integers: a class and a function of contextlib."""
    rng, lines = w.rng, []
    caught = rng.choice(("False", "True", "kind is not None and issubclass(kind, LookupError)",
                         "isinstance(value, ValueError)"))  # fmt: skip
    if rng.random() < 0.6:
        lines += ["@dataclass", "class Within:", "    log: list[int]", "    mark: int",
                  "    def __enter__(self):", "        self.log.append(self.mark)",
                  f"        {rng.choice(('return self.mark + 1', 'return len(self.log)'))}",
                  "    def __exit__(self, kind, value, traceback):",
                  "        self.log.append(-self.mark if kind is None else -self.mark - 100)",
                  f"        return {caught}"]  # fmt: skip
        w.managers.append("Within")
    if rng.random() < 0.5:
        lines += ["@contextmanager", "def within(log, mark):", "    log.append(mark)", "    try:",
                  "        yield mark + len(log)"]  # fmt: skip
        error = rng.choice(("KeyError", "ValueError", "ArithmeticError", "E0"))
        lines += rng.choice((
            [f"    except {error}:", "        log.append(77)"],
            [f"    except {error} as e:", "        raise RuntimeError('a', mark) from e"],
            [],
        ))  # fmt: skip
        lines += ["    finally:", "        log.append(-mark)"]
        w.managers.append("within")
    return lines


def parameters_of(w: Writer, most: int) -> dict[str, Kind]:
    return {f"p{i}": some_kind(w) for i in range(w.rng.randint(0, most))}


def inside(w: Writer, variables: dict[str, Kind], budget: int) -> Writer:
    """A writer of another function of the program."""
    return Writer(
        w.rng, w.classes, w.errors, list(w.functions), list(w.generators), list(w.managers),
        variables=variables, budget=budget, names=w.names,
    )  # fmt: skip


def write_function(w: Writer, block: Block) -> list[str]:
    parameters = parameters_of(w, 2)
    inner = inside(w, dict(parameters), 6)
    block(inner, w.rng.randint(1, 3))
    result = some_kind(w, 1)
    inner.write(f"return {expr(inner, result, 2)}")
    name = w.fresh("h")
    w.functions.append(Function(name, tuple(parameters.values()), result))
    decorator = ["@njit"] if w.rng.random() < 0.6 else []
    return [*decorator, f"def {name}({', '.join(parameters)}):", *inner.lines]


def write_generator(w: Writer, block: Block) -> list[str]:
    parameters = parameters_of(w, 2)
    kind = w.rng.choice((INT, TEXT, some_kind(w, 1)))
    inner = inside(w, dict(parameters), 6)
    inner.yields = kind
    block(inner, w.rng.randint(1, 3))
    inner.write(f"yield {expr(inner, kind, 2)}")
    others = [g for g in w.generators if g.result == kind]
    if others:
        other = w.rng.choice(others)
        inner.write(f"yield from {other.name}({', '.join(leaf(inner, k) for k in other.parameters)})")
    name = w.fresh("g")
    w.generators.append(Function(name, tuple(parameters.values()), kind))
    decorator = ["@njit"] if w.rng.random() < 0.5 else []
    return [*decorator, f"def {name}({', '.join(parameters)}):", *inner.lines]
