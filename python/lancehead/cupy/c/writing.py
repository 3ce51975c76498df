"""The text of a function, in the compiler's language, from its tree in C."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lancehead.cupy.c.calls import called, complex_of, functions, of_group
from lancehead.cupy.c.carrays import Indexed, Indexer
from lancehead.cupy.c.parsing import Function, Node, TypeName, nodes
from lancehead.cupy.c.tokens import Failure, undefined
from lancehead.cupy.c.values import (
    BOOL,
    DOUBLE,
    FLOAT,
    GROUPS,
    INT,
    LONG,
    UINT,
    ULONG,
    WIDE,
    Group,
    Pointer,
    Value,
    common,
    constant,
    converted,
    exact,
    loaded,
    name_of,
    number,
    promoted,
    scalar,
    stored,
)  # fmt: skip

if TYPE_CHECKING:
    from lancehead.cupy.c.programs import Program

GEOMETRY = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_NAMED = {
    "true": constant(True, BOOL), "false": constant(False, BOOL), "INFINITY": constant(np.inf, FLOAT),
    "NAN": constant(np.nan, FLOAT), "HUGE_VAL": constant(np.inf, DOUBLE), "M_PI": constant(math.pi, DOUBLE),
    "M_PI_2": constant(math.pi / 2, DOUBLE), "M_PI_4": constant(math.pi / 4, DOUBLE), "M_E": constant(math.e, DOUBLE),
    "M_1_PI": constant(1 / math.pi, DOUBLE), "M_2_PI": constant(2 / math.pi, DOUBLE),
    "M_SQRT2": constant(math.sqrt(2), DOUBLE), "M_SQRT1_2": constant(math.sqrt(0.5), DOUBLE),
    "M_LN2": constant(math.log(2), DOUBLE), "M_LN10": constant(math.log(10), DOUBLE),
    "INT_MAX": constant(2**31 - 1, INT), "INT_MIN": constant(-(2**31), INT), "UINT_MAX": constant(2**32 - 1, UINT),
    "LONG_MAX": constant(2**63 - 1, LONG), "LLONG_MAX": constant(2**63 - 1, LONG),
    "FLT_MAX": constant(np.finfo(np.float32).max, FLOAT),
    "LONG_MIN": constant(-(2**63), LONG), "LLONG_MIN": constant(-(2**63), LONG),
    "ULLONG_MAX": constant(2**64 - 1, ULONG),
    "FLT_MIN": constant(np.finfo(np.float32).tiny, FLOAT), "FLT_EPSILON": constant(np.finfo(np.float32).eps, FLOAT),
    "DBL_MAX": constant(np.finfo(np.float64).max, DOUBLE), "DBL_MIN": constant(np.finfo(np.float64).tiny, DOUBLE),
    "DBL_EPSILON": constant(np.finfo(np.float64).eps, DOUBLE), "warpSize": constant(32, INT),
    "CUDART_INF": constant(np.inf, DOUBLE), "CUDART_INF_F": constant(np.inf, FLOAT),
    "CUDART_NAN": constant(np.nan, DOUBLE),
    "CUDART_PI": constant(math.pi, DOUBLE), "CUDART_PI_F": constant(math.pi, FLOAT),
}  # fmt: skip


@dataclass
class Loop:
    """A loop or switch around statements: lines that `continue` writes before, and whether it is a switch."""

    step: list[str]
    flag: str = ""
    is_switch: bool = False


class Writer:
    """Writes one function."""

    def __init__(self, program: Program, env: dict[str, Any], result: Any = None) -> None:
        self.program, self.env, self.result = program, env, result
        self.lines: list[str] = []
        self.depth = 1
        self.scopes: list[dict[str, Any]] = [{}]
        self.loops: list[Loop] = []
        self.count = 0
        self.boxed: set[str] = set()
        #: The types that pointers to void become, by their arrays.
        self.casts: dict[str, Any] = {}
        #: Variables that are in indices: the program's care is that they do not overflow.
        self.indices: set[str] = set()
        #: Names of arrays' extents and the like that the text asks for.
        self.needs: set[str] = set()

    # --- lines -------------------------------------------------------------------------------------------------------
    def add(self, line: str) -> None:
        """A line."""
        self.lines.append("    " * self.depth + line)

    def needed(self, name: str) -> str:
        """A name of the extents of an array or the like, which the text asks for now."""
        self.needs.add(name)
        return name

    def fresh(self, name: str) -> str:
        """A name that no other variable has."""
        self.count += 1
        return f"{name}_{self.count}"

    def bound(self, v: Value) -> Value:
        """A value in a variable, computed here."""
        name = self.fresh("t")
        self.add(f"{name} = {v.text}")
        return Value(name, v.type, is_loose=v.is_loose, is_small=v.is_small)

    def kept(self, name: str, v: Value) -> Value:
        """A value as one of a variable."""
        return v if name in self.indices else exact(v)

    def once(self, v: Value) -> Value:
        """A value whose text may be written several times."""
        return v if v.text.isidentifier() or v.number is not None else self.bound(v)

    def apart(self, write: Any) -> tuple[Any, list[str]]:
        """The result of a function, and the lines that it writes."""
        before, self.lines = self.lines, []
        try:
            found = write()
            return found, self.lines
        finally:
            self.lines = before

    # --- variables ---------------------------------------------------------------------------------------------------
    def find(self, name: str) -> Any:
        """A variable of a name; None if there is none."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return self.program.variable(self, name)

    def declare(self, name: str, d: Any, value: Value | None, line: int) -> None:
        """A variable of a type, zero without a value."""
        own = self.fresh(name)
        if isinstance(d, Pointer):
            if value is None:
                raise Failure(f"the pointer {name} is needed with the array that it points into", line)
            source = self.decayed(value)
            if source.type.of is None:
                raise Failure("pointers to void are not served", line)
            self.add(f"{own} = np.int64({source.text or 0})")
            of = source.type if d.of is None else d
            if d.of is not None and d.of != source.type.of:
                raise Failure(f"a pointer to {source.type.of} does not become one to {d.of}", line)
            self.scopes[-1][name] = Value(own, of, base=source.base, is_variable=True)
            return
        start = constant(0, d) if value is None else converted(value, d, line)
        if name in self.boxed:
            self.add(f"{own} = cuda.local.array(1, {name_of(d)})")
            self.add(f"{own}[0] = {stored(start)}")
            self.scopes[-1][name] = Value("", d, base=own, is_element=True)
            return
        start = self.kept(name, start)
        self.add(f"{own} = {start.text if d in WIDE or start.number is None else stored(start)}")
        self.scopes[-1][name] = Value(own, d, is_variable=True, base=f"={name}")

    def place(self, v: Value) -> str:
        """The index of an element or of what a pointer points at."""
        return v.text or "0"

    def loaded(self, v: Value) -> Value:
        """The value of an element; of anything else it itself."""
        if v.is_element and not v.extents:
            return loaded(f"{v.base}[{self.place(v)}]", v.type)
        return v

    def decayed(self, v: Value) -> Value:
        """An array as the pointer to its first element."""
        if v.extents:
            return Value(v.text, Pointer(v.type), base=v.base)
        return v

    def moved(self, p: Value, by: Value, line: int, sign: str = "+") -> Value:
        """A pointer some elements further."""
        if p.type.of is None:
            raise Failure("pointers to void are not served", line)
        if by.type is None or by.is_pointer or by.type.kind not in "biu":
            raise Failure("a pointer is moved by an integer", line)
        # Beyond 2**63 there is no memory.
        step = by.text if by.type in WIDE or by.type == LONG else f"np.int64({by.text})"
        if not p.text and sign == "+":
            return replace(p, text=step, is_variable=False)
        return replace(p, text=f"({p.text or 0} {sign} {step})", is_variable=False)

    # --- expressions -------------------------------------------------------------------------------------------------
    def value(self, node: Node) -> Value:
        """The value of an expression."""
        v = self.loaded(self.expression(node))
        if isinstance(v.type, Group):
            raise Failure("a group of threads has no value", node.line)
        return v

    def expression(self, node: Node) -> Value:
        """An expression: a value, an element, or a variable."""
        writer = getattr(self, f"_{node.kind}", None)
        if writer is None:
            raise Failure("expected an expression", node.line)
        found: Value = writer(*node.parts, node.line)
        return found

    def _number(self, text: str, line: int) -> Value:
        return number(text, line)

    def _text(self, text: str, line: int) -> Value:
        if text[0] == "'":
            plain = text[1:-1].encode().decode("unicode_escape")
            if len(plain) == 1:
                return constant(ord(plain), np.dtype(np.int8))
        raise Failure("texts are not served in kernels of C text", line)

    def _name(self, name: str, *more: Any) -> Value:
        line = more[-1]
        found = self.find(name)
        if found is None:
            found = _NAMED.get(name) or self.env.get(f"={name}")
        if isinstance(found, Value):
            return found
        if name in ("nullptr", "NULL"):
            return constant(0, LONG)
        variables = [own for scope in self.scopes for own in scope]
        raise undefined(name, line, (*variables, *_NAMED, *(known.lstrip("=") for known in self.env)))

    def _comma(self, a: Node, b: Node, line: int) -> Value:
        self.effect(a)
        return self.value(b)

    def effect(self, node: Node) -> None:
        """An expression for what it does."""
        if node.kind in ("after", "before"):
            op, target = node.parts
            one = Node("number", ("1",), node.line)
            self._assign(op[0] + "=", target, one, node.line)
            return
        v = self.expression(node)
        if v.text and not v.text.replace("_", "").isalnum() and "(" in v.text and v.type is None:
            self.add(v.text)

    def _choice(self, test: Node, a: Node, b: Node, line: int) -> Value:
        condition = converted(self.value(test), BOOL, line)
        one, lines = self.apart(lambda: self.value(a))
        other, more = self.apart(lambda: self.value(b))
        if one.is_pointer or other.is_pointer:
            one, other = self.decayed(one), self.decayed(other)
            if one.base != other.base:
                raise Failure("a choice between pointers into two arrays is not served", line)
            texts = [v.text or "np.int64(0)" for v in (one, other)]
            return Value(f"({texts[0]} if {condition.text} else {texts[1]})", one.type, base=one.base)
        d = one.type if one.type == other.type else common(one.type, other.type)
        one, other = exact(converted(one, d, line)), exact(converted(other, d, line))
        if not lines and not more:
            return Value(f"({one.text} if {condition.text} else {other.text})", d)
        name = self.fresh("t")
        self.add(f"if {condition.text}:")
        self.lines.extend("    " + text for text in [*lines, "    " * self.depth + f"{name} = {one.text}"])
        self.add("else:")
        self.lines.extend("    " + text for text in [*more, "    " * self.depth + f"{name} = {other.text}"])
        return Value(name, d)

    def _binary(self, op: str, a: Node, b: Node, line: int) -> Value:
        if op in ("&&", "||"):
            return self._shortcut(op, a, b, line)
        return self.operated(op, self.value(a), self.value(b), line)

    def _shortcut(self, op: str, a: Node, b: Node, line: int) -> Value:
        left = converted(self.value(a), BOOL, line)
        right, lines = self.apart(lambda: converted(self.value(b), BOOL, line))
        if not lines:
            return Value(f"({left.text} {'and' if op == '&&' else 'or'} {right.text})", BOOL)
        name = self.fresh("t")
        self.add(f"{name} = {left.text}")
        self.add(f"if {name if op == '&&' else 'not ' + name}:")
        self.lines.extend("    " + text for text in [*lines, "    " * self.depth + f"{name} = {right.text}"])
        return Value(name, BOOL)

    def operated(self, op: str, a: Value, b: Value, line: int) -> Value:
        """The result of an operator of two operands."""
        if a.is_pointer or b.is_pointer:
            return self._of_pointers(op, self.decayed(a), self.decayed(b), line)
        if a.type is None or b.type is None:
            raise Failure("an expression of type void has no value", line)
        if op in ("<<", ">>"):
            d = promoted(a.type)
            a = converted(a, d, line)
            return self._folded(op, exact(a) if op == ">>" else a, exact(converted(b, d, line)), d)
        d = common(a.type, b.type)
        if op in ("%", "&", "|", "^") and d.kind not in "iu":
            raise Failure(f"expression must have integral or unscoped enum type: {op} of {a.type} and {b.type}", line)
        a, b = converted(a, d, line), converted(b, d, line)
        if op in ("==", "!=", "<", ">", "<=", ">="):
            return Value(f"({exact(a).text} {op} {exact(b).text})", BOOL)
        if d.kind in "iu" and op in "/%":
            is_small = a.is_small and b.is_small
            a, b = exact(a), exact(b)
            name = "quotient" if op == "/" else "remainder"
            if b.number and (d.kind == "u" or is_small):
                return Value(f"({a.text} {'//' if op == '/' else '%'} {b.text})", d, is_small=is_small)
            return Value(f"{name}({a.text}, {b.text})", d)
        return self._folded(op, a, b, d)

    def _folded(self, op: str, a: Value, b: Value, d: np.dtype[Any]) -> Value:
        if a.number is not None and b.number is not None and op in ("+", "-", "*", "<<", ">>", "&", "|", "^"):
            x, y = a.number, b.number
            if d.kind in "iu" and not (op in ("<<", ">>") and not 0 <= y < 64):
                known = {"+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y, "<<": lambda: x << y,
                         ">>": lambda: x >> y, "&": lambda: x & y, "|": lambda: x | y, "^": lambda: x ^ y}  # fmt: skip
                return constant(known[op](), d)
        is_small = a.is_small and b.is_small and op in ("+", "*", "&", "|", "^")
        is_loose = a.is_loose or b.is_loose
        if d == INT:
            is_loose = is_loose or (op == "*" and not (a.is_small or b.is_small))
            # Bits that a shift moves beyond the type are gone.
            is_loose = is_loose or (op == "<<" and not (a.is_small and b.number is not None and b.number < 16))
            is_loose = is_loose or (op == "*" and (a.number is not None or b.number is not None) and not is_small)
        elif d == UINT:
            is_loose = is_loose or (op in ("+", "-", "*", "<<") and not is_small)
        return Value(f"({a.text} {op} {b.text})", d, is_loose=is_loose and d in WIDE, is_small=is_small)

    def _of_pointers(self, op: str, a: Value, b: Value, line: int) -> Value:
        if op == "+" and a.is_pointer != b.is_pointer:
            return self.moved(a, b, line) if a.is_pointer else self.moved(b, a, line)
        if op == "-" and a.is_pointer and not b.is_pointer:
            return self.moved(a, b, line, "-")
        if op in ("==", "!=") and a.is_pointer != b.is_pointer:
            return constant(op == "!=", BOOL)
        if a.is_pointer and b.is_pointer and a.base == b.base:
            texts = [v.text or "0" for v in (a, b)]
            if op == "-":
                return Value(f"({texts[0]} - {texts[1]})", LONG)
            if op in ("==", "!=", "<", ">", "<=", ">="):
                return Value(f"({texts[0]} {op} {texts[1]})", BOOL)
        raise Failure(f"the operator {op} is not served for these pointers", line)

    def _unary(self, op: str, operand: Node, line: int) -> Value:
        if op == "&":
            v = self.expression(operand)
            if not v.is_element:
                raise Failure("the address of this is not served", line)
            return Value(v.text, Pointer(v.type), base=v.base)
        v = self.value(operand)
        if op == "*":
            v = self.decayed(v)
            if not isinstance(v.type, Pointer) or v.type.of is None:
                raise Failure("operand of * must be a pointer", line)
            return Value(v.text, v.type.of, base=v.base, is_element=True)
        if op == "!":
            return Value(f"(not {converted(v, BOOL, line).text})", BOOL)
        if v.is_pointer or v.type is None:
            raise Failure(f"the operator {op} does not take this", line)
        v = converted(v, promoted(v.type), line)
        if op == "+":
            return v
        if op == "~" and v.type.kind not in "iu":
            raise Failure("expression must have integral type", line)
        if v.number is not None:
            return constant(-v.number if op == "-" else ~v.number, v.type)
        if op == "-" and v.type.kind == "u":
            return Value(f"({constant(0, v.type).text} - {v.text})", v.type, is_loose=v.type == UINT)
        return Value(f"({op}{v.text})", v.type, is_loose=v.is_loose or v.type == UINT)

    def _cast(self, to: TypeName, operand: Node, line: int) -> Value:
        d = scalar(to, self.env, line)
        v = self.value(operand)
        if d is None:
            return Value("0", None)
        if isinstance(d, Pointer):
            v = self.decayed(v)
            if isinstance(v.type, Pointer) and (d.of is None or (v.type.of is not None and d.of == v.type.of)):
                return v
            if isinstance(v.type, Pointer) and v.type.of is None and self.casts.setdefault(v.base, d.of) == d.of:
                return replace(v, type=d, is_variable=False)
            raise Failure("pointers are not converted to pointers to another type", line)
        return converted(
            v, d, line, is_explicit=d.kind != "c" and v.type is not None and not v.is_pointer and v.type.kind != "c"
        )

    def _complex(self, to: TypeName, a: Node, b: Node, line: int) -> Value:
        d = scalar(to, self.env, line)
        if not isinstance(d, np.dtype) or d.kind != "c":
            raise Failure(f"{to.name} is not made of two values", line)
        return complex_of(d, [self.value(a), self.value(b)], line)

    def _sizeof(self, of: Any, line: int) -> Value:
        d = scalar(of, self.env, line) if isinstance(of, TypeName) else self.apart(lambda: self.expression(of))[0]
        if isinstance(d, Value):
            return (
                constant(d.type.itemsize * math.prod(d.extents), ULONG)
                if not isinstance(d.type, Pointer)
                else constant(8, ULONG)
            )
        return constant(8 if isinstance(d, Pointer) else d.itemsize, ULONG)

    def _index(self, of: Node, at: Node, line: int) -> Value:
        base: Any = self.find(of.parts[0]) if of.kind == "name" else None
        if isinstance(base, Indexed):
            if at.kind == "list":
                return base.of_list(self, at.parts[0], line)
            return base.element(self, self.value(at), line)
        v = self.loaded(self.expression(of))
        place = self.value(at)
        if v.extents:
            rest = v.extents[1:]
            step = math.prod(rest)
            by = place if step == 1 else self.operated("*", place, constant(step, INT), line)
            moved = self.moved(self.decayed(v), by, line)
            return Value(moved.text, v.type, base=v.base, extents=rest, is_element=True)
        if not isinstance(v.type, Pointer):
            raise Failure("expression must have pointer-to-object type to be indexed", line)
        moved = self.moved(v, place, line)
        return Value(moved.text, v.type.of, base=v.base, is_element=True)

    def _list(self, items: list[Node], line: int) -> Value:
        raise Failure("lists in braces are not served here", line)

    def _member(self, of: Node, name: str, line: int) -> Value:
        if of.kind == "name" and of.parts[0] in GEOMETRY and name in "xyz" and self.find(of.parts[0]) is None:
            return Value(f"np.int64(cuda.{of.parts[0]}.{name})", UINT, is_small=True)
        base = self.find(of.parts[0]) if of.kind == "name" else None
        if isinstance(base, Indexed | Indexer):
            return base.member(name, line)
        v = self.value(of)
        if not v.is_pointer and v.type is not None and v.type.kind == "c" and name in ("x", "y", "re", "im"):
            part = "real" if name in ("x", "re") else "imag"
            return Value(f"{v.text}.{part}", np.dtype(f"f{v.type.itemsize // 2}"))
        raise Failure(f'there is no member "{name}"', line)

    def _call(self, of: Node, given: list[Node], line: int) -> Value:
        if of.kind == "member":
            return self._method(of, given, line)
        if of.kind != "name":
            raise Failure("expression preceding parentheses must be a function", line)
        name = of.parts[0]
        explicit = of.parts[1] if len(of.parts) > 1 else ()
        if name in self.program.unit.functions:
            return self.program.call(self, name, explicit, given, line)
        if name in ("this_grid", "this_thread_block") and not given:
            return Value("", GROUPS["grid_group" if name == "this_grid" else "thread_block"])
        if name == "sync" and len(given) == 1:
            return of_group(self.expression(given[0]), name, line)
        values = [self.value(g) for g in given]
        found = called(self, name, values, line)
        if found is None:
            raise undefined(name, line, (*self.program.unit.functions, *functions()))
        return found

    def _method(self, of: Node, given: list[Node], line: int) -> Value:
        owner, name = of.parts
        base = self.find(owner.parts[0]) if owner.kind == "name" else None
        if isinstance(base, Indexed | Indexer):
            return base.method(self, name, [self.value(g) for g in given], line)
        v = self.loaded(self.expression(owner))
        if isinstance(v.type, Group):
            return of_group(v, name, line)
        if not v.is_pointer and v.type is not None and v.type.kind == "c" and name in ("real", "imag"):
            if given:
                raise Failure(f"{name}() with an argument is not served", line)
            return Value(f"{v.text}.{name}", np.dtype(f"f{v.type.itemsize // 2}"))
        raise Failure(f'there is no member "{name}"', line)

    def _assign(self, op: str, left: Node, right: Node, line: int) -> Value:
        if op == "=":
            value = self.value(right)
            return self.stored(self.expression(left), value, line)
        target = self.expression(left)
        target = self._steady(target)
        old = self.loaded(target)
        return self.stored(target, self.operated(op[:-1], old, self.value(right), line), line)

    def _steady(self, target: Value) -> Value:
        # An element whose place is computed once.
        if target.is_element and target.text and not target.text.isidentifier() and not target.text.isdigit():
            return replace(target, text=self.bound(Value(target.text, LONG)).text)
        return target

    def stored(self, target: Value, value: Value, line: int) -> Value:
        """Assigns a value to a variable or an element, and gives it."""
        if target.is_element and not target.extents:
            new = converted(value, target.type, line)
            self.add(f"{target.base}[{self.place(target)}] = {stored(new)}")
            return self.loaded(target)
        if not target.is_variable:
            raise Failure("expression must be a modifiable lvalue", line)
        if isinstance(target.type, Pointer):
            source = self.decayed(value)
            if source.base != target.base:
                raise Failure("a pointer is not moved to another array", line)
            self.add(f"{target.text} = {source.text or 0}")
            return target
        new = self.kept(target.base[1:], converted(value, target.type, line))
        self.add(f"{target.text} = {new.text}")
        return Value(target.text, target.type)

    def _before(self, op: str, operand: Node, line: int) -> Value:
        return self._assign(op[0] + "=", operand, Node("number", ("1",), line), line)

    def _after(self, op: str, operand: Node, line: int) -> Value:
        target = self.expression(operand)
        target = self._steady(target)
        old = self.loaded(target)
        kept = self.fresh("t")
        self.add(f"{kept} = {old.text or 0}")
        was = replace(old, text=kept) if not old.is_pointer else old
        new = self.operated(op[0], was, constant(1, INT), line)
        self.stored(target, new, line)
        return replace(old, text=kept, is_variable=False, is_element=False, base=old.base if old.is_pointer else "")


def assigned(tree: Any) -> set[str]:
    """Names of variables that a tree assigns to."""
    kinds = ("assign", "before", "after")
    return {n.parts[1].parts[0] for n in nodes(tree) if n.kind in kinds and n.parts[1].kind == "name"}


def addressed(tree: Any) -> set[str]:
    """Names of variables whose addresses a tree takes."""
    taken = (n.parts[1] for n in nodes(tree) if n.kind == "unary" and n.parts[0] == "&")
    return {of.parts[0] for of in taken if of.kind == "name"}


def changes(tree: Any) -> set[str]:
    """Names of variables that a tree assigns to, or whose addresses it takes or may take."""
    given = {a.parts[0] for n in nodes(tree) if n.kind == "call" for a in n.parts[1] if a.kind == "name"}
    return assigned(tree) | addressed(tree) | given


def leaves_loop(node: Any) -> bool:
    """Whether a tree leaves a loop around it, by `break` or `continue`."""
    if isinstance(node, Node):
        if node.kind in ("break", "continue"):
            return True
        if node.kind in ("for", "do"):
            return False
        node = node.parts
    return isinstance(node, list | tuple) and any(leaves_loop(part) for part in node)


def unused(body: Node) -> list[tuple[str, int]]:
    """Variables that a tree declares and names nowhere else, and their lines."""
    named = {n.parts[0] for n in nodes(body) if n.kind == "name"}
    declared = ((name, line) for n in nodes(body) if n.kind == "declare" for _, name, _, _, line in n.parts[0])
    return [(name, line) for name, line in declared if name not in named]


_HASHING = ("%", "/", "&", "|", "^", ">>", "<<")


def indexing(node: Any, found: set[str], inside: bool = False) -> set[str]:
    """Names of variables that are in indices of a tree, but not in what makes any number one."""
    if isinstance(node, Node):
        if node.kind == "index":
            indexing(node.parts[0], found, inside)
            indexing(node.parts[1], found, True)
            return found
        if inside and node.kind == "name":
            found.add(node.parts[0])
        if node.kind in ("call", "cast") or (node.kind == "binary" and node.parts[0] in _HASHING):
            inside = False
        node = node.parts
    if isinstance(node, (list, tuple)):
        for part in node:
            indexing(part, found, inside)
    return found


def references(function: Function) -> list[int]:
    """The parameters that are references."""
    return [k for k, p in enumerate(function.parameters) if p.type.is_reference and not p.type.is_const]


__all__ = [
    "GEOMETRY", "Loop", "Writer", "addressed", "assigned", "changes", "indexing", "leaves_loop", "references", "unused",
]  # fmt: skip
