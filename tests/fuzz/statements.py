"""Statements of random programs with objects."""

from __future__ import annotations

from collections.abc import Callable

from kinds import (
    BOOL,
    COUNTED,
    DATA,
    FLOAT,
    INT,
    TEXT,
    Function,
    Kind,
    Writer,
    call_of,
    expr,
    index,
    is_ordered,
    leaf,
    part,
    some_kind,
)  # fmt: skip

CAUGHT = ("ValueError", "KeyError", "IndexError", "ZeroDivisionError", "LookupError", "RuntimeError", "Exception",
          "(KeyError, ValueError)", "UnicodeError", "ArithmeticError", "StopIteration")  # fmt: skip
#: Deepest block, and deepest loop.
DEEP, LOOPS = 4, 2


def block(w: Writer, statements: int) -> None:
    """Some statements at the present depth, at least one."""
    before = len(w.lines)
    for _ in range(statements):
        if w.budget <= 0:
            break
        w.budget -= 1
        w.rng.choice(STATEMENTS)(w)
    if len(w.lines) == before:
        w.write("pass")


def nested(w: Writer, statements: int, bound: dict[str, Kind] | None = None) -> None:
    """A block one deeper; its new variables and functions are unknown outside."""
    variables, functions = dict(w.variables), list(w.functions)
    for name, kind in (bound or {}).items():
        w.bind(name, kind)
    w.depth += 1
    block(w, statements)
    w.depth -= 1
    w.variables, w.functions = variables, functions


def declare(w: Writer) -> None:
    kind = some_kind(w)
    text, name = expr(w, kind), w.fresh()
    w.write(f"{name} = {text}")
    w.bind(name, kind)


def assign(w: Writer) -> None:
    names = [n for n in w.variables if "." not in n]
    if not names:
        return declare(w)
    name = w.rng.choice(names)
    w.write(f"{name} = {expr(w, w.variables[name])}")
    w.assigned.add(name)


def augment(w: Writer) -> None:
    rng = w.rng
    chosen = w.pick_of("int", "float", "str", "bytes", "list", "set", "dict", "deque", "Counter")
    if not chosen or "." in chosen[0]:
        return
    name, kind = chosen
    match kind.name:
        case "int":
            w.write(f"{name} {rng.choice(('+=', '-=', '^=', '|=', '*='))} {expr(w, INT)}")
            w.write(f"{name} %= {rng.choice((1009, 65537))}")
        case "float":
            w.write(f"{name} {rng.choice(('+=', '-='))} {expr(w, FLOAT)}")
        case "str" | "bytes":
            w.write(f"{name} += {expr(w, kind)}")
            w.write(f"{name} = {name}[:20]")
        case "list" | "deque":
            w.write(f"{name} += {expr(w, Kind('list', kind.of))}[:2]")
        case "set":
            w.write(f"{name} {rng.choice(('|=', '&=', '-=', '^='))} {expr(w, kind)}")
        case "dict":
            w.write(f"{name} |= {expr(w, kind)}")
        case _:
            w.write(f"{name} {rng.choice(('+=', '-=', '|=', '&='))} {expr(w, kind)}")
    w.assigned.add(name)


def change(w: Writer) -> None:
    """A method or an assignment that changes a container."""
    if chosen := w.pick_of(*COUNTED):
        name, kind = chosen
        CHANGES[kind.name](w, name, kind)


def change_list(w: Writer, name: str, kind: Kind) -> None:
    of, rng = kind.of[0], w.rng
    forms = [
        f"{name}.append({expr(w, of)})", f"{name}.append({expr(w, of)})", f"{name}.insert({index(w)}, {expr(w, of)})",
        f"{name}[{index(w)}] = {expr(w, of)}", f"{name}.extend({expr(w, kind)}[:2])", f"{name}.reverse()",
        f"del {name}[{index(w)}]", f"del {name}[{part(w)}]", f"{name}.remove({expr(w, of, 1)})",
        f"{name}[{rng.choice((':1', '1:2', '1:', ':0'))}] = {expr(w, kind)}[:3]", f"{name}.pop({index(w)})",
        f"{name}[::2] = {expr(w, kind)}[:2]", f"{name}.clear()",
    ]  # fmt: skip
    if is_ordered(of, w):
        forms += [f"{name}.sort()", f"{name}.sort(reverse=True)"]
    if of == INT:
        forms += [f"{name}.sort(key=lambda x: x % 5)", f"{name}[{index(w)}] += 1"]
    if of == TEXT:
        forms += [f"{name}.sort(key=len)"]
    w.write(rng.choice(forms))


def change_dict(w: Writer, name: str, kind: Kind) -> None:
    (key, value), rng = kind.of, w.rng
    k, v = expr(w, key, 1), expr(w, value, 1)
    forms = [f"{name}[{k}] = {v}"] * 3 + [
        f"del {name}[{k}]", f"{name}.pop({k})", f"{name}.setdefault({k}, {v})", f"{name}.update({{{k}: {v}}})",
        f"{name}.pop({k}, {v})", f"{name}.popitem()", f"{name}.update(zip([{k}], [{v}]))", f"{name}.clear()",
    ]  # fmt: skip
    if value == INT:
        forms += [f"{name}[{k}] = ({name}.get({k}, 0) + 1) % 97"]
    if value.name == "list":
        forms += [f"{name}.setdefault({k}, []).append({expr(w, value.of[0], 1)})"] * 2
    w.write(rng.choice(forms))


def change_default(w: Writer, name: str, kind: Kind) -> None:
    key, value = kind.of
    k = expr(w, key, 1)
    if value.name in ("list", "set"):
        w.write(f"{name}[{k}].{'append' if value.name == 'list' else 'add'}({expr(w, value.of[0], 1)})")
    elif value == INT and w.rng.random() < 0.6:
        w.write(f"{name}[{k}] += 1")
    else:
        change_dict(w, name, kind)


def change_counter(w: Writer, name: str, kind: Kind) -> None:
    k = expr(w, kind.of[0], 1)
    w.write(w.rng.choice((
        f"{name}[{k}] += 1", f"{name}.update([{k}])", f"{name}.subtract([{k}])", f"del {name}[{k}]",
        f"{name}[{k}] = {leaf(w, INT)}", f"{name}.update({leaf(w, kind)})",
    )))  # fmt: skip


def change_set(w: Writer, name: str, kind: Kind) -> None:
    x = expr(w, kind.of[0], 1)
    w.write(w.rng.choice((
        f"{name}.add({x})", f"{name}.add({x})", f"{name}.discard({x})", f"{name}.remove({x})",
        f"{name}.update([{x}])", f"{name}.difference_update({leaf(w, kind)})", f"{name}.clear()",
        f"{name}.symmetric_difference_update({leaf(w, kind)})",
    )))  # fmt: skip


def change_deque(w: Writer, name: str, kind: Kind) -> None:
    x = expr(w, kind.of[0], 1)
    w.write(w.rng.choice((
        f"{name}.append({x})", f"{name}.appendleft({x})", f"{name}.rotate({leaf(w, INT)} % 5)", f"{name}.popleft()",
        f"{name}.extendleft([{x}, {leaf(w, kind.of[0])}])", f"{name}[{index(w)}] = {x}", f"{name}.remove({x})",
        f"{name}.insert(1, {x})", f"{name}.reverse()", f"del {name}[{index(w)}]",
    )))  # fmt: skip


CHANGES: dict[str, Callable[[Writer, str, Kind], None]] = {
    "list": change_list, "dict": change_dict, "defaultdict": change_default, "Counter": change_counter,
    "set": change_set, "deque": change_deque,
}  # fmt: skip


def set_field(w: Writer) -> None:
    """A field assigned, or of a frozen class replaced."""
    objects = [(n, w.classes[k.label]) for n, k in w.variables.items() if k.name == "object"]
    objects = [(n, c) for n, c in objects if c.fields]
    if not objects:
        return
    name, c = w.rng.choice(objects)
    field = w.rng.choice(list(c.fields))
    value = expr(w, c.fields[field])
    if c.style in ("frozen", "named", "keyed"):
        if "." not in name:
            w.write(f"{name} = " + (f"{name}._replace" if c.style == "named" else f"replace({name}, ").rstrip(", ")
                    + ("(" if c.style == "named" else ", ") + f"{field}={value})")  # fmt: skip
            w.assigned.add(name)
    else:
        w.write(f"{name}.{field} = {value}")


def if_statement(w: Writer) -> None:
    if w.depth > DEEP:
        return
    w.write(f"if {expr(w, BOOL)}:")
    nested(w, w.rng.randint(1, 3))
    if w.rng.random() < 0.3:
        w.write(f"elif {expr(w, BOOL)}:")
        nested(w, w.rng.randint(1, 2))
    if w.rng.random() < 0.5:
        w.write("else:")
        nested(w, w.rng.randint(1, 2))


def for_statement(w: Writer) -> None:
    """A loop over anything; what grows while it is looked at ends the loop."""
    if w.depth > DEEP or w.loops >= LOOPS:
        return
    rng, x, y = w.rng, w.fresh(), w.fresh()
    forms: list[tuple[str, dict[str, Kind], str]] = [
        (f"{x} in range({rng.choice(('4', '0', '2, 9, 3', '5, 0, -2'))})", {x: INT}, ""),
        (f"{x} in {expr(w, TEXT)}", {x: TEXT}, ""), (f"{x} in {expr(w, DATA)}", {x: INT}, ""),
    ]  # fmt: skip
    for name, k in w.variables.items():
        guard = f"if len({name}) > 12: break"
        if k.name in ("list", "deque", "Counter", "dict", "defaultdict"):
            forms.append((f"{x} in {name}", {x: k.of[0]}, guard))
        if k.name == "list":
            forms += [(f"{y}, {x} in enumerate({name})", {y: INT, x: k.of[0]}, guard)]
            forms += [(f"{x} in {name}[:]", {x: k.of[0]}, ""), (f"{x} in reversed({name})", {x: k.of[0]}, "")]
        if k.name in ("dict", "defaultdict"):
            forms += [(f"{x}, {y} in {name}.items()", {x: k.of[0], y: k.of[1]}, guard),
                      (f"{x} in {name}.values()", {x: k.of[1]}, guard)]  # fmt: skip
        if k.name == "set" and is_ordered(k.of[0], w):
            forms += [(f"{x} in sorted({name})", {x: k.of[0]}, "")] * 2
    for g in w.generators:
        forms += [(f"{x} in {call_of(w, g)}", {x: g.result}, "")] * 2
    head, bound, guard = rng.choice(forms)
    w.write(f"for {head}:")
    if guard:
        w.write(f"    {guard}")
    w.loops += 1
    nested(w, rng.randint(1, 3), bound)
    w.loops -= 1
    if rng.random() < 0.15:
        w.write("else:")
        nested(w, 1)


def while_statement(w: Writer) -> None:
    if w.depth > DEEP or w.loops >= LOOPS:
        return
    n = w.fresh()
    w.write(f"{n} = {w.rng.randint(0, 4)}")
    w.write(f"while {n} > 0 and {expr(w, BOOL, 1)}:")
    w.write(f"    {n} -= 1")
    w.loops += 1
    nested(w, w.rng.randint(1, 3))
    w.loops -= 1


def leave_loop(w: Writer) -> None:
    if w.loops:
        w.write(f"if {expr(w, BOOL)}:")
        w.write(f"    {w.rng.choice(('break', 'continue'))}")


def raise_statement(w: Writer) -> None:
    rng = w.rng
    if rng.random() < (0.7 if w.guarded else 0.2):
        error = rng.choice(("ValueError", "KeyError", "IndexError", *w.errors, *w.errors))
        cause = rng.choice(("", "", "", " from None", " from KeyError('c')"))
        w.write(f"if {expr(w, BOOL)}:")
        w.write(f"    raise {error}({rng.choice((repr('a'), repr('b')))}, {expr(w, INT, 1)}){cause}")


def try_statement(w: Writer) -> None:
    if w.depth > DEEP - 1:
        return
    rng = w.rng
    start = len(w.lines)
    w.write("try:")
    w.guarded += 1
    nested(w, rng.randint(1, 4))
    w.guarded -= 1
    # The arguments of an exception have the types of what is raised.
    raised = {error for error in w.errors if any(f"raise {error}(" in line for line in w.lines[start:])}
    clauses = [rng.choice((*CAUGHT, *w.errors, *w.errors)) for _ in range(rng.choice((1, 1, 1, 2, 0)))]
    for error in clauses:
        e = w.fresh("e")
        w.write(f"except {error} as {e}:" if rng.random() < 0.6 else f"except {error}:")
        has_name = w.lines[-1].endswith(f"{e}:")
        w.handlers += 1
        w.depth += 1
        if has_name and error in raised and rng.random() < 0.6:
            seen = w.fresh()
            w.write(f"{seen} = {rng.choice((f'{e}.args[1] % 97', f'len({e}.args)', f'len(str({e}))'))}")
            w.bind(seen, INT)
        w.depth -= 1
        nested(w, rng.randint(1, 2))
        if rng.random() < 0.3:
            again = ["raise", "raise RuntimeError('b', 3)"]
            again += [f"raise {rng.choice(w.errors)}('b', 4) from {e}", f"raise {e}"] if has_name and w.errors else []
            w.write(f"    {rng.choice(again)}")
        w.handlers -= 1
    if clauses and rng.random() < 0.3:
        w.write("else:")
        nested(w, 1)
    if not clauses or rng.random() < 0.3:
        w.write("finally:")
        loops, w.loops = w.loops, LOOPS if w.loops else 0
        nested(w, rng.randint(1, 2))
        w.loops = loops


def with_statement(w: Writer) -> None:
    if w.depth > DEEP - 1:
        return
    rng, x = w.rng, w.fresh()
    log = w.pick(Kind("list", (INT,)))
    forms = [(f"suppress({rng.choice(('KeyError', 'ValueError', 'LookupError, ArithmeticError', 'Exception'))})", None),
             (f"nullcontext({expr(w, INT)}) as {x}", INT)]  # fmt: skip
    if log and w.managers:
        forms += [(f"{rng.choice(w.managers)}({log}, {rng.randint(1, 9)}) as {x}", INT)] * 3
    text, kind = rng.choice(forms)
    w.write(f"with {text}:")
    w.guarded += 1
    nested(w, rng.randint(1, 3), {x: kind} if kind else {})
    w.guarded -= 1


def unpack(w: Writer) -> None:
    rng = w.rng
    if chosen := w.pick_of("tuple"):
        name, kind = chosen
        names = [w.fresh() for _ in kind.of]
        w.write(f"{', '.join(names)}, = {name}")
        for n, k in zip(names, kind.of):
            w.bind(n, k)
    elif chosen := w.pick_of("list"):
        name, kind = chosen
        a, b = w.fresh(), w.fresh()
        w.write(rng.choice((f"{a}, *{b} = {name}", f"*{b}, {a} = {name}")))
        w.bind(a, kind.of[0])
        w.bind(b, kind)


def inner_function(w: Writer) -> None:
    """A function inside that may assign the variables around it."""
    if w.inner or w.depth > 2 or w.yields:
        return
    rng, name = w.rng, w.fresh("inner")
    parameters = {w.fresh("a"): some_kind(w, 1) for _ in range(rng.randint(0, 2))}
    result = some_kind(w, 1)
    outer = {n: k for n, k in w.variables.items() if "." not in n}
    inside = Writer(rng, w.classes, w.errors, list(w.functions), list(w.generators), list(w.managers),
                    variables={**outer, **parameters}, depth=w.depth + 1, inner=1, budget=4, names=w.names)  # fmt: skip
    block(inside, rng.randint(1, 3))
    inside.write(f"return {expr(inside, result)}")
    w.write(f"def {name}({', '.join(parameters)}):")
    if shared := sorted(inside.assigned & set(outer)):
        w.write(f"    nonlocal {', '.join(shared)}")
    w.lines += inside.lines
    w.functions.append(Function(name, tuple(parameters.values()), result))


def inner_generator(w: Writer) -> None:
    if w.inner or w.depth > 2 or w.yields:
        return
    name, kind = w.fresh("made"), some_kind(w, 1)
    outer = {n: k for n, k in w.variables.items() if "." not in n}
    w.write(f"def {name}(n):")
    inside = Writer(w.rng, w.classes, functions=list(w.functions), variables={**outer, "n": INT}, names=w.names)
    w.write("    for i in range(n % 4):")
    w.write(f"        yield {expr(inside, kind)}")
    w.generators.append(Function(name, (INT,), kind))


def stepped(w: Writer) -> None:
    """A generator in steps."""
    if not w.generators:
        return
    g, x = w.rng.choice(w.generators), w.fresh()
    w.write(f"{x}g = {call_of(w, g)}")
    w.write(f"{x} = next({x}g)")
    w.bind(x, g.result)
    if w.rng.random() < 0.5:
        rest = w.fresh()
        w.write(f"{rest} = len([1 for _ in {x}g])")
        w.bind(rest, INT)


def match_statement(w: Writer) -> None:
    if w.depth > DEEP - 1:
        return
    rng = w.rng
    objects = [(n, w.classes[k.label]) for n, k in w.variables.items() if k.name == "object"]
    subject: str | None
    cases: list[tuple[str, dict[str, Kind]]]
    x, y = w.fresh(), w.fresh()
    chosen = w.pick_of("list", "dict", "tuple", "str", "int")
    if objects and rng.random() < 0.5:
        subject, c = rng.choice(objects)
        if c.style in ("enum", "intenum"):
            cases = [(f"{c.name}.A | {c.name}.B", {}), (f"{c.name}.C", {})]
        else:
            first, kind = next(iter(c.fields.items()))
            cases = [(f"{c.name}({first}=1)", {}), (f"{c.name}({first}={x})", {x: kind})]
    elif chosen:
        subject, kind = chosen
        match kind.name:
            case "list":
                cases = [("[]", {}), (f"[{x}]", {x: kind.of[0]}), (f"[{x}, *{y}]", {x: kind.of[0], y: kind})]
            case "dict" if kind.of[0] in (INT, TEXT):
                key = rng.choice(("1", "5") if kind.of[0] == INT else ("'a'", "'abc'"))
                cases = [(f"{{{key}: {x}, **{y}}}", {x: kind.of[1], y: kind}), ("{}", {})]
            case "tuple":
                names = [w.fresh() for _ in kind.of]
                cases = [(f"({', '.join(names)},)", dict(zip(names, kind.of)))]
            case "str":
                cases = [("'a' | 'abc'", {}), (f"str({x})", {x: TEXT})]
            case "int":
                cases = [("1 | 2 | 3", {}), ("0", {}), (f"int({x})", {x: INT})]
            case _:
                return
    else:
        return
    w.write(f"match {subject}:")
    w.depth += 1
    for pattern, bound in cases:
        known = dict(w.variables)
        w.variables |= bound
        when = f" if {expr(w, BOOL, 1)}" if rng.random() < 0.3 else ""
        w.variables = known
        w.write(f"case {pattern}{when}:")
        nested(w, rng.randint(1, 2), bound)
    if rng.random() < 0.5:
        w.write("case _:")
        nested(w, 1)
    w.depth -= 1


def evaluate(w: Writer) -> None:
    """A call for its effect."""
    forms = [call_of(w, f) for f in w.functions]
    for name, k in w.variables.items():
        if k.name == "object":
            forms += [f"{name}.{m}({expr(w, INT, 1)})" for m in w.classes[k.label].methods]
    if forms:
        w.write(w.rng.choice(forms))


def yield_statement(w: Writer) -> None:
    # Nobody closes a generator that is suspended inside of `try`.
    if w.yields and not w.guarded and not w.handlers and not w.inner:
        w.write(f"yield {expr(w, w.yields)}")


def optional_value(w: Writer) -> None:
    """Something or None."""
    kind, maybe, name = some_kind(w, 1), w.fresh("o"), w.fresh()
    w.write(f"{maybe} = {expr(w, kind, 1)} if {expr(w, BOOL)} else None")
    w.write(f"{name} = {expr(w, kind, 1)} if {maybe} is None else {maybe}")
    w.bind(name, kind)


def grown(w: Writer) -> None:
    """A container that is empty first."""
    rng, name, x = w.rng, w.fresh(), w.fresh("x")
    kind = some_kind(w, 1)
    key = rng.choice((INT, TEXT))
    known = dict(w.variables)
    w.variables[x] = INT
    value, k = expr(w, kind), expr(w, key, 1)
    w.variables = known
    made, line, full = rng.choice((
        ("[]", f"{name}.append({value})", Kind("list", (kind,))),
        ("{}", f"{name}[{k}] = {value}", Kind("dict", (key, kind))),
        ("set()", f"{name}.add({k})", Kind("set", (key,))),
        ("deque()", f"{name}.append({value})", Kind("deque", (kind,))),
        ("Counter()", f"{name}[{k}] += 1", Kind("Counter", (key,))),
        ("defaultdict(int)", f"{name}[{k}] += {x}", Kind("defaultdict", (key, INT))),
        ("defaultdict(list)", f"{name}[{k}].append({x})", Kind("defaultdict", (key, Kind("list", (INT,))))),
    ))  # fmt: skip
    w.write(f"{name} = {made}")
    w.write(f"for {x} in range({rng.choice(('3', '0', '5'))}):")
    w.write(f"    {line}")
    w.bind(name, full)


def records(w: Writer) -> None:
    """Reads and writes of an array of records."""
    rng = w.rng
    if not w.records or w.inner:
        return
    name = rng.choice(list(w.records))
    i = index(w)
    x = w.fresh()
    match rng.choice(("read", "write", "row", "column", "nested", "loop", "sum", "text", "swap")):
        case "read":
            w.write(f"{x} = int({name}[{i}]['a']) % 9973")
            w.bind(x, INT)
        case "write":
            w.write(f"{name}[{i}]['{rng.choice('ab')}'] = {expr(w, INT)}")
        case "row":
            w.write(f"{x} = float({name}[{i}].b)")
            w.bind(x, FLOAT)
        case "column":
            w.write(f"{name}['b'][{i}] = {expr(w, FLOAT)}")
        case "nested":
            w.write(f"{name}[{i}]['n']['x'] = {expr(w, INT)}")
            w.write(f"{x} = int({name}['n']['x'].sum()) % 9973")
            w.bind(x, INT)
        case "loop":
            w.write(f"{x} = 0")
            w.write(f"for {x}r in {name}:")
            w.write(f"    {x} = ({x} * 3 + int({x}r.a)) % 9973")
            w.bind(x, INT)
        case "sum":
            w.write(f"{x} = int(({name}['a'] % 100).sum()) % 9973")
            w.bind(x, INT)
        case "text":
            w.write(f"{name}[{i}]['s'] = {expr(w, TEXT)}[:4].strip('\\0')" if rng.random() < 0.5 else
                    f"{name}['s'][{i}] = {leaf(w, TEXT)}")  # fmt: skip
            w.write(f"{x} = str({name}[{i}]['s'])")
            w.bind(x, TEXT)
        case _:
            w.write(f"{name}[0] = {name}[{i}]")


STATEMENTS: tuple[Callable[[Writer], None], ...] = (
    declare, declare, assign, assign, augment, augment, change, change, change, change, set_field, if_statement,
    if_statement, for_statement, for_statement, for_statement, while_statement, leave_loop, raise_statement,
    raise_statement, try_statement, try_statement, with_statement, unpack, inner_function, inner_generator, stepped,
    match_statement, match_statement, evaluate, yield_statement, optional_value, grown, records,
)  # fmt: skip
