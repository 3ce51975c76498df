"""Further forms of statements for random programs: nested containers, strings, inner functions, generators, calls by
keyword."""

from __future__ import annotations

from generate import Program, Writer, bool_expr, divisor, float_expr, float_leaf, index, int_leaf, nested, stored_int
from generate import generate as plain

WORDS = ("", "a", "abc", "Hello World", "x,y,,z", "  pad ", "\u00e9\u03b1", "12", "-7", "aXbXc")


def generate(seed: int) -> Program:
    """The program of a seed, of all forms."""
    return plain(seed, FORMS)


def keep_int(w: Writer, text: str) -> None:
    """A new variable for an int expression."""
    name = w.fresh()
    w.write(f"{name} = ({text}) % {w.rng.choice((97, 65537, 999983))}")
    w.variables["int"].append(name)


def tuples(w: Writer) -> None:
    """Tuples of several types: index, slice, star, concatenation, comparison, iteration."""
    rng, t = w.rng, w.fresh() + "t"
    w.write(
        f"{t} = ({stored_int(w, 1)}, {float_expr(w, 1)}, {bool_expr(w, 1)}, ({int_leaf(w)[0]}, {stored_int(w, 1)}))"
    )
    a, b = w.fresh(), w.fresh()
    form = rng.choice(("star", "slice", "plus", "loop", "compare", "min", "swap", "nested"))
    match form:
        case "star":
            w.write(f"{a}, *{b}r, ({b}, {b}q) = {t}[0], {t}[0], 3, {t}[3]")
            w.write(f"{a} = ({a} + len({b}r) + {b}r[-1] + {b} - {b}q) % 1009")
        case "slice":
            w.write(f"{a} = len({t}[{rng.choice(('1:', ':-1', '::2', '::-1', '5:', '-3:-1'))}]) + {t}[::-1][0][1] % 7")
        case "plus":
            w.write(f"{a} = ({t}[3] + ({stored_int(w, 1)}, 4))[{rng.choice(('0', '-1', '2', '1'))}] % 97")
        case "loop":
            w.write(f"{a} = 0")
            w.write(f"for {b} in {t}[:3]:")
            w.write(f"    {a} += 1 if {b} else 2")
        case "compare":
            w.write(
                f"{a} = int({t}[3] < ({int_leaf(w)[0]}, {int_leaf(w)[0]})) + 2 * int({t}[3] == {t}[3]) + 4 * "
                f"int({t}[0] in {t}[3])"
            )
        case "min":
            w.write(f"{a} = (max({t}[3]) - min({t}[3]) + sum({t}[3])) % 1013")
        case "swap":
            w.write(f"{a}, {b} = {t}[3]")
            w.write(f"{a}, {b} = {b}, {a}")
            w.write(f"{a} = ({a} * 3 - {b}) % 4099")
        case _:
            w.write(f"{a} = {t}[3][{stored_int(w, 1)} % 2] % 1021")
    w.variables["int"].append(a)


def nested_lists(w: Writer) -> None:
    """A list of lists: identity of its items, changes through names."""
    rng, n = w.rng, w.fresh() + "n"
    w.write(f"{n} = [[{stored_int(w, 1)}, {int_leaf(w)[0]}], [{stored_int(w, 1)}]]")
    row = w.fresh() + "r"
    match rng.choice(("append", "share", "loop", "comprehension", "swap", "pop")):
        case "append":
            w.write(f"{n}.append([{stored_int(w, 1)}])")
            w.write(f"{n}[{rng.choice(('0', '-1', '1'))}].append({int_leaf(w)[0]})")
        case "share":
            w.write(f"{row} = {n}[0]")
            w.write(f"{row}[0] = {stored_int(w, 1)}")
            w.write(f"{n}.append({row})")
            w.write(f"{n}[-1][-1] += 1")
        case "loop":
            w.write(f"for {row} in {n}:")
            w.write(f"    {row}.append(len({row}))")
        case "comprehension":
            w.write(
                f"{n} = [[x + {rng.randint(0, 3)} for x in {row} if x != 1] for {row} in {n}] + [[{stored_int(w, 1)}]]"
            )
        case "swap":
            w.write(f"{n}[0], {n}[1] = {n}[1], {n}[0]")
        case _:
            w.write(f"{row} = {n}.pop()")
            w.write(f"{n}[0].extend({row})")
    keep_int(w, f"sum([sum({row}) * (i + 1) for i, {row} in enumerate({n})]) + len({n}[0])")


def list_methods(w: Writer) -> None:
    """Methods of a list of ints, on a copy."""
    rng, name = w.rng, w.fresh() + "l"
    source = w.pick("list")
    w.write(f"{name} = {source}[:]" if source else f"{name} = [{stored_int(w, 1)}, 5, {int_leaf(w)[0]}]")
    for _ in range(rng.randint(1, 3)):
        w.write(name + rng.choice((
            f".insert({rng.choice(('0', '-1', '1', '99'))}, {stored_int(w, 1)})", f".extend([{stored_int(w, 1)}, 2])",
            ".extend(range(3))",
            ".reverse()", ".sort()", ".sort(reverse=True)", ".sort(key=lambda x: -x)", ".sort(key=lambda x: x % 7)",
            f".remove({int_leaf(w)[0]})",
            ".append(len(" + name + "))", "[1:2] = [7, 8, 9]", "[::2] = " + name + "[::2]", " += [1, 2]", " *= 2",
            f".pop({rng.choice(('', '0', '-1'))})",
        )))  # fmt: skip
    if rng.random() < 0.3:
        w.write(f"del {name}[{rng.choice(('0', '-1', ':1', '1:', '::2'))}]")
    keep_int(w, rng.choice((
        f"sum([x * i for i, x in enumerate({name})])", f"len({name}) + {name}.count(5)",
        f"{name}.index({int_leaf(w)[0]})", f"max({name}) - min({name})",
        f"sum({name}[::-2]) + len({name}[1:-1])", f"{name}[{stored_int(w, 1)} % 5]",
        f"sorted({name}, key=lambda x: x % 5)[0]",
    )))  # fmt: skip


def strings(w: Writer) -> None:
    """Strings: concatenation, slices, methods, comparison, iteration, text of numbers."""
    rng, s = w.rng, w.fresh() + "s"
    word, other = rng.choice(WORDS), rng.choice(WORDS)
    w.write(f"{s} = {word!r} if {bool_expr(w, 1)} else {other!r}")
    if rng.random() < 0.5:
        w.write(f"{s} = " + rng.choice((
            f"{s} + str({stored_int(w, 1)})", f"{s}[{rng.choice(('1:', ':-1', '::-1', '1:3', '::2', '-2:'))}]",
            f"{s} * {rng.randint(0, 3)}",
            f"{s}.upper()", f"{s}.strip()", f"{s}.replace('a', 'bb')", f"{s}.lower() + {other!r}",
            f"f'{{{int_leaf(w)[0]}}}-{{{s}}}'",
            f"'-'.join({s}.split('X'))", f"{s}.rjust(6, '*')", f"str({float_leaf(w)})",
            f"f'{{{int_leaf(w)[0]}:>5}}|{{{int_leaf(w)[0]}:x}}'", f"f'{{{rng.choice(('0.5', '2.25', '1e10'))}:.3f}}'",
        )))  # fmt: skip
    total = w.fresh()
    match rng.choice(("ord", "find", "compare", "count", "split", "hash", "index")):
        case "ord":
            w.write(f"{total} = 0")
            w.write(f"for c in {s}:")
            w.write(f"    {total} = ({total} * 31 + ord(c)) % 99991")
        case "find":
            w.write(f"{total} = {s}.find({rng.choice(('a', 'X', 'l', ''))!r}) + len({s})")
        case "compare":
            w.write(
                f"{total} = int({s} < {other!r}) + 2 * int({s} == {word!r}) + 4 * int({s} >= 'b') + 8 * int('a' in {s})"
            )
        case "count":
            w.write(
                f"{total} = {s}.count('a') + int({s}.startswith('a')) * 3 + int({s}.isdigit()) * 5 + "
                f"int({s}.endswith('c')) * 7"
            )
        case "split":
            w.write(f"{total} = len({s}.split(',')) + sum([len(x) for x in {s}.split()])")
        case "hash":
            w.write(f"{total} = int(hash({s}) == hash({word!r}))")
        case _:
            w.write(f"{total} = ord({s}[{rng.choice(('0', '-1', '2'))}])")
    w.variables["int"].append(total)


def inner_functions(w: Writer) -> None:
    """A function inside with a closure, loops and early returns; perhaps recursive; called by position, keyword and
    star."""
    rng, f = w.rng, w.fresh() + "f"
    captured = w.fresh() + "c"
    w.write(f"{captured} = {stored_int(w, 1)}")
    shape = rng.choice(("loop", "recursive", "star", "keyword", "finally", "while"))
    body = {
        "loop": [f"def {f}(a, b=2):", "    for i in range(b % 7):", f"        if (a + i) % 5 == {rng.randint(0, 4)}:",
                 f"            return i + {captured}", "    return -1"],
        "recursive": [f"def {f}(a, b=2):", "    if a < 2 or b > 20:", f"        return b + {captured}",
                      f"    return {f}(a // 2, b + 1) + a % 3"],
        "star": [f"def {f}(a, *rest):", f"    total = a + {captured}", "    for x in rest:",
                 "        total = total * 2 + x", "    return total"],
        "keyword": [f"def {f}(a, b=2, *, c={rng.randint(1, 9)}, **more):",
                    f"    return a * c - b + {captured} + len(more)"],
        "finally": [
            f"def {f}(a, b=2):", f"    n = {captured}", "    for i in range(4):", "        try:",
            "            if (a + i) % 3 == 0:", "                return n + i", "            if i == b % 4:",
            "                continue", f"            n //= {divisor(w, '(b % 3)')}",
            "        except ZeroDivisionError:", "            n += 5", "        finally:", "            n += 1",
            "    return n",
        ],
        "while": [f"def {f}(a, b=2):", "    n = 0", "    while a > 0:", "        a -= b if b > 0 else 7",
                  "        n += 1", "        if n > 12:", "            break", "    else:", f"        n += {captured}",
                  "    return n"],
    }[shape]  # fmt: skip
    for line in body:
        w.write(line)
    x, y = f"{stored_int(w, 1)} % 1000", f"{stored_int(w, 1)} % 50"
    call = {
        "star": rng.choice((f"{f}({x})", f"{f}({x}, {y}, 3)", f"{f}(*({x}, {y}))", f"{f}({x}, *(1, 2), {y})")),
        "keyword": rng.choice(
            (f"{f}({x}, c={y})", f"{f}({x}, {y}, d=1, e=2.5)", f"{f}(b={x}, a={y})", f"{f}(**{{'a': {x}, 'c': {y}}})")
        ),
    }.get(shape, rng.choice((f"{f}({x}, {y})", f"{f}({x})", f"{f}(b={x}, a={y})", f"{f}(*({x}, {y}))")))
    keep_int(w, call)


def generators(w: Writer) -> None:
    """Generator functions and expressions, `iter` and `next`."""
    rng, g = w.rng, w.fresh() + "g"
    source = w.pick("list")
    match rng.choice(("function", "expression", "iter", "any", "zip")):
        case "function":
            w.write(f"def {g}(n):")
            w.write("    a, b = 0, 1")
            w.write("    for i in range(n):")
            w.write("        if i % 3 == 1:")
            w.write("            continue")
            w.write("        yield a + i")
            w.write("        a, b = b, (a + b) % 1000")
            keep_int(
                w,
                rng.choice(
                    (
                        f"sum({g}({stored_int(w, 1)} % 9))",
                        f"sum([x * 2 for x in {g}(6)])",
                        f"max({g}({rng.randint(1, 6)}))",
                    )
                ),
            )
        case "expression" if source:
            keep_int(w, f"sum(x * 2 for x in {source} if x % 2 == {rng.randint(0, 1)})")
        case "iter" if source:
            w.write(f"{g} = iter({source}[:])")
            keep_int(w, f"next({g}) + next({g}, 5) + sum([x % 11 for x in {g}])")
        case "any" if source:
            keep_int(w, f"int(any(x > 3 for x in {source})) + 2 * int(all([x != 5 for x in {source}]))")
        case _:
            keep_int(w, f"sum([a * b for a, b in zip(range({rng.randint(0, 5)}), reversed(range(4)))])")


def loops(w: Writer) -> None:
    """Loops in loops, left from inside, with `else` and several variables."""
    if w.depth > 3 or w.loops >= 1:
        return
    rng, i, j, n = w.rng, w.fresh(), w.fresh(), w.fresh()
    w.write(f"{n} = 0")
    w.write(f"for {i} in range({rng.choice(('3', '5, 0, -2', '0', '4'))}):")
    w.write(f"    {j} = {rng.randint(0, 4)}")
    w.write(f"    while {j} < {rng.randint(3, 6)}:")
    w.write(f"        {j} += {rng.randint(1, 2)}")
    w.write(f"        if ({i} * {j} + {n}) % {rng.randint(2, 6)} == 0:")
    w.write(f"            {rng.choice(('break', 'continue', 'break'))}")
    w.write(f"        {n} += {j}")
    w.write("    else:")
    w.write(f"        {n} += 100")
    w.write(f"        {rng.choice(('continue', 'pass', 'break'))}")
    w.write(f"    {n} -= {i}")
    if rng.random() < 0.5:
        w.write("else:")
        w.write(f"    {n} = -{n}")
    w.variables["int"].append(n)


def handlers(w: Writer) -> None:
    """Handlers in loops with `finally`, `as`, raising anew."""
    if w.depth > 3 or w.loops >= 2:
        return
    rng, n, i = w.rng, w.fresh(), w.fresh()
    w.write(f"{n} = {stored_int(w, 1)}")
    w.write(f"for {i} in range(3):")
    w.write("    try:")
    w.loops += 1
    w.depth += 1
    nested(w, rng.randint(1, 2))
    w.depth -= 1
    w.write(f"        if {i} == {rng.randint(0, 3)}:")
    w.write(
        f"            {rng.choice(('continue', 'break', 'raise KeyError(1)', f'raise IndexError({n})', f'{n} //= 0'))}"
    )
    w.write(f"        {n} += 1")
    w.write(
        "    except "
        f"{rng.choice(('KeyError', 'LookupError', 'ArithmeticError', '(KeyError, ZeroDivisionError)', 'Exception'))}:"
    )
    w.write(f"        {n} += 10")
    w.write(
        "        "
        f"{rng.choice(('pass', 'continue', 'break', 'raise', 'raise ValueError(2)')) if rng.random() < 0.6 else 'pass'}"
    )
    if rng.random() < 0.4:
        w.write("    else:")
        w.write(f"        {n} *= 2")
    if rng.random() < 0.6:
        w.write("    finally:")
        w.write(f"        {n} += 100")
    w.loops -= 1
    w.variables["int"].append(n)


def walrus(w: Writer) -> None:
    name = w.fresh()
    w.write(f"if ({name} := {stored_int(w, 2)}) > {int_leaf(w)[0]} and ({name}b := {name} % 7) >= 0:")
    w.write(f"    {name} += {name}b")
    w.variables["int"].append(name)
    if w.rng.random() < 0.4:
        last = w.fresh()
        w.write(f"{last} = -1")
        keep_int(w, f"len([{last} for x in range({w.rng.randint(0, 5)}) if ({last} := x * 2) > 1]) + {last}")


def arrays(w: Writer) -> None:
    """Slices with negative steps, views, index arrays and masks of a matrix of ints."""
    rng, m = w.rng, w.fresh() + "m"
    source = w.pick("matrix")
    w.write(
        f"{m} = {source}.copy()"
        if source and rng.random() < 0.5
        else f"{m} = np.arange({rng.choice(('6', '12', '9'))}).reshape(-1, 3)"
    )
    for _ in range(rng.randint(1, 2)):
        w.write(rng.choice((
            f"{m}[::-1] = {m}", f"{m}[:, ::-1] += {m}", f"{m}[{index(w, m)}, ::2] = {int_leaf(w)[0]}",
            f"{m}[:, 1] *= 2", f"{m}[{m} > 3] = {int_leaf(w)[0]}",
            f"{m}[:, [0, 2]] = {m}[:, [2, 0]]", f"{m}[1:] -= {m}[:-1]", f"{m}[np.array([0, -1])] += 1",
            f"{m} = {m}[::{rng.choice((1, -1, 2, -2))}, ::-1]",
            f"{m} = {m}.T.copy().T", f"{m} = np.where({m} % 2 == 0, {m}, -{m})", f"{m}.T[0] += np.arange({m}.shape[0])",
        )))  # fmt: skip
    keep_int(w, "int(" + rng.choice((
        f"({m} * np.arange(3)).sum()", f"{m}[::-1, ::2].sum()", f"{m}[{m} > 2].size", f"{m}[:, np.array([1, 1])].sum()",
        f"{m}[-1, -1] if {m}.size else 0",
        f"{m}.ravel()[::-3].sum()", f"np.sort({m}, axis=0)[:1].sum()", f"({m}[1:] != {m}[:-1]).sum()",
        f"len({m}[:, 0]) + {m}.ndim", f"{m}.reshape(3, -1)[1].sum()",
        f"({m}.cumsum()[-1:]).sum()", f"({m}.T @ np.ones({m}.shape[0], np.int64)).sum()",
    )) + ")")  # fmt: skip


def scalars(w: Writer) -> None:
    """Typed scalars of two types, and what they promote to."""
    rng, t = w.rng, w.fresh() + "t"
    a, b = (
        rng.choice(("int8", "uint8", "int16", "int32", "uint32", "float32")),
        rng.choice(("int8", "uint8", "int16", "uint16", "int32", "int64", "float32", "float64")),
    )
    w.write(f"{t} = np.{a}(({stored_int(w, 1)}) % 11)")
    w.write(f"{t}u = np.{b}(({stored_int(w, 1)}) % 9)")
    op = rng.choice(
        ("+", "*", "-", "//", "%", "&") if "float" not in a + b and a[0] != "u" and b[0] != "u" else ("+", "*")
    )
    guard = " + np." + b + "(1)" if op in ("//", "%") else ""
    w.write(f"{t}v = {t} {op} ({t}u{guard})")
    keep_int(w, f"int({t}v) + {t}v.itemsize * 1000 + int({t} < {t}u) * 10000")


def extremes(w: Writer) -> None:
    """`min`, `max`, `sorted`, `divmod`, `pow`, `round` and `hash` in their forms."""
    rng = w.rng
    a, b = stored_int(w, 1), stored_int(w, 1)
    keep_int(w, rng.choice((
        f"max({a}, {b}, key=lambda x: x % 13)", f"min(({a}, {b}, 3))", f"pow({a}, 3, 97)",
        f"divmod({a}, {divisor(w, b)})[1]", f"round({a}, -2)",
        f"hash(({a}, {b})) == hash(({a}, {b}))", f"hash({a}) + hash({float_leaf(w)}) % 7",
        f"int(str({a})) + len(str({b}))", f"abs({a}) ** 2", f"({a}).bit_length()",
        f"sum(divmod({a}, 7)) + sum(range({a} % 5, {b} % 20))",
        f"len(range({a} % 30, {b} % 30, {rng.choice((1, 3, -2))}))", f"int({a} in range(0, {b} % 1000 + 1, 3))",
    )))  # fmt: skip


FORMS = (
    tuples, nested_lists, list_methods, strings, inner_functions, generators, loops, handlers, walrus, arrays, scalars,
    extremes, tuples, nested_lists, list_methods, strings, inner_functions, generators,
)  # fmt: skip
