"""Statements of C."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lancehead.cupy.c.parsing import Node
from lancehead.cupy.c.tokens import Failure
from lancehead.cupy.c.values import (
    BOOL,
    INT,
    LONG,
    UINT,
    Group,
    Pointer,
    Value,
    converted,
    exact,
    name_of,
    number,
    scalar,
    stored,
)  # fmt: skip
from lancehead.cupy.c.writing import GEOMETRY, Loop, Writer, changes


def _counted(first: Node | None, test: Node | None, step: Node | None, body: Node) -> Any:
    # The variable of a loop that counts up to a bound by a constant, and nothing else changes either.
    if first is None or test is None or step is None or first.kind != "declare" or len(first.parts[0]) != 1:
        return None
    declared = first.parts[0][0]
    name = declared[1]
    if declared[2] or not isinstance(declared[3], Node) or test.kind != "binary" or test.parts[0] not in ("<", "<="):
        return None
    is_one = step.kind in ("before", "after") and step.parts[0] == "++"
    is_more = step.kind == "assign" and step.parts[0] == "+=" and step.parts[2].kind == "number"
    if not (is_one or is_more) or step.parts[1].kind != "name" or step.parts[1].parts != (name,):
        return None
    by = 1 if is_one else number(step.parts[2].parts[0], step.line).number
    left, bound = test.parts[1:]
    changed = changes(body)
    if left.kind != "name" or left.parts != (name,) or name in changed or not _is_steady(bound, changed | {name}):
        return None
    return (declared, test.parts[0], bound, by) if isinstance(by, int) and by > 0 else None


def _is_steady(node: Node, changed: set[str]) -> bool:
    # Whether an expression has one value in a loop that changes some variables.
    if node.kind == "number":
        return True
    if node.kind == "name":
        return node.parts[0] not in changed and len(node.parts) == 1
    if node.kind == "member":
        return node.parts[0].kind == "name" and node.parts[0].parts[0] in GEOMETRY
    if node.kind == "binary" and node.parts[0] in ("+", "-", "*", "/"):
        return _is_steady(node.parts[1], changed) and _is_steady(node.parts[2], changed)
    return False


class Statements(Writer):
    """Writes a function's statements."""

    def statement(self, node: Node) -> None:
        """A statement."""
        writer = getattr(self, f"_write_{node.kind}")
        writer(*node.parts, node.line)

    def inside(self, node: Node | None, more: list[str] | None = None) -> None:
        """The lines of a statement, one level further in; at least one."""
        self.depth += 1
        at = len(self.lines)
        if node is not None:
            self.scopes.append({})
            self.statement(node)
            self.scopes.pop()
        self.lines.extend("    " * self.depth + text for text in more or ())
        if len(self.lines) == at:
            self.add("pass")
        self.depth -= 1

    def _write_block(self, statements: list[Node], line: int) -> None:
        self.scopes.append({})
        for s in statements:
            self.statement(s)
        self.scopes.pop()

    def _write_expression(self, node: Node, line: int) -> None:
        self.effect(node)

    def _write_if(self, test: Node, then: Node, other: Node | None, line: int) -> None:
        self.add(f"if {converted(self.value(test), BOOL, line).text}:")
        self.inside(then)
        if other is not None:
            self.add("else:")
            self.inside(other)

    def _relative(self, write: Any) -> list[str]:
        # Lines without the indentation of here.
        depth, self.depth = self.depth, 0
        try:
            _, lines = self.apart(write)
        finally:
            self.depth = depth
        return lines

    def _write_for(self, first: Node | None, test: Node | None, step: Node | None, body: Node, line: int) -> None:
        counted = _counted(first, test, step, body)
        if counted is not None and self._write_counted(counted, body):
            return
        self.scopes.append({})
        if first is not None:
            self.statement(first)
        steps = self._relative(lambda: self.effect(step)) if step is not None else []
        holder: list[Value] = []
        lines = (
            self._relative(lambda: holder.append(converted(self.value(test), BOOL, line))) if test is not None else []
        )
        if lines:
            self.add("while True:")
            self.lines.extend(
                "    " * (self.depth + 1) + text for text in [*lines, f"if not {holder[0].text}:", "    break"]
            )
        else:
            self.add(f"while {holder[0].text if holder else 'True'}:")
        self.loops.append(Loop(steps))
        self.inside(body, steps)
        self.loops.pop()
        self.scopes.pop()

    def _write_counted(self, counted: Any, body: Node) -> bool:
        # A loop whose rounds are known when it begins, as one over a range.
        declared, op, bound, by = counted
        of, name, _, value, line = declared
        d = scalar(of, self.env, line)
        if not isinstance(d, np.dtype) or d not in (INT, UINT, LONG) or name in self.boxed:
            return False
        end, lines = self.apart(lambda: self.value(bound))
        # The value of an element may change in the loop.
        lines = lines or (["["] if "[" in end.text else [])
        if lines or end.is_pointer or end.type not in (INT, UINT, LONG) or (d == UINT) != (end.type == UINT):
            if end.number is None or end.number < 0 or lines:
                return False
        start = exact(converted(self.value(value), d, line))
        own = self.fresh(name)
        last = exact(end).text + (" + 1" if op == "<=" else "")
        self.add(f"for {own} in range({start.text}, {last}, {by}):")
        self.scopes.append({name: Value(own, d, base=f"={name}", is_small=d == UINT)})
        self.loops.append(Loop([]))
        self.inside(body)
        self.loops.pop()
        self.scopes.pop()
        return True

    def _write_do(self, body: Node, test: Node, line: int) -> None:
        self.add("while True:")
        holder: list[Value] = []
        lines = self._relative(lambda: holder.append(converted(self.value(test), BOOL, line)))
        end = [*lines, f"if not {holder[0].text}:", "    break"]
        self.loops.append(Loop(end))
        self.inside(body, end)
        self.loops.pop()

    def _write_break(self, line: int) -> None:
        if not self.loops:
            raise Failure("a break statement may only be used within a loop or switch", line)
        self.add("break")

    def _write_continue(self, line: int) -> None:
        around = [loop for loop in self.loops if not loop.is_switch]
        if not around:
            raise Failure("a continue statement may only be used within a loop", line)
        if self.loops[-1].is_switch:
            for loop in reversed(self.loops):
                if not loop.is_switch:
                    break
                self.add(f"{loop.flag} = True")
            self.add("break")
            return
        self.lines.extend("    " * self.depth + text for text in around[-1].step)
        self.add("continue")

    def _write_return(self, value: Node | None, line: int) -> None:
        if value is None or self.result is None:
            if value is not None:
                self.effect(value)
            self.add("return")
            return
        v = self.value(value)
        if isinstance(self.result, Pointer):
            raise Failure("functions that return pointers are not served", line)
        self.add(f"return {exact(converted(v, self.result, line)).text}")

    def _write_switch(self, value: Node, cases: Any, line: int) -> None:
        # A loop of one round, in which a case that holds goes on to the next ones.
        chosen = self.once(exact(self.value(value)))
        matched, flag = self.fresh("matched"), self.fresh("again")
        labels = [label for group, _ in cases for label in group if label is not None]
        tests = [self.operated("==", chosen, self.value(label), line).text for label in labels]
        self.add(f"{matched} = False")
        self.add(f"{flag} = False")
        self.add("while True:")
        self.depth += 1
        self.loops.append(Loop([], flag, True))
        at = 0
        self.scopes.append({})
        for group, statements in cases:
            own = []
            for label in group:
                own.append(tests[at] if label is not None else f"not ({' or '.join(tests) or 'False'})")
                at += label is not None
            self.add(f"if {matched} or {' or '.join(own) or 'False'}:")
            self.depth += 1
            self.add(f"{matched} = True")
            for s in statements:
                self.statement(s)
            self.depth -= 1
        self.scopes.pop()
        self.add("break")
        self.loops.pop()
        self.depth -= 1
        if any(not loop.is_switch for loop in self.loops):
            self.add(f"if {flag}:")
            self.depth += 1
            self._write_continue(line)
            self.depth -= 1

    def _write_declare(self, variables: Any, qualifiers: frozenset[str], line: int) -> None:
        for of, name, extents, value, at in variables:
            is_auto = of.name == "auto"
            d = None if is_auto else scalar(of, self.env, at)
            if extents:
                self._array(name, d, extents, value, qualifiers, at)
                continue
            start = self.loaded(self.expression(value)) if isinstance(value, Node) else None
            if isinstance(d, Group) or (start is not None and isinstance(start.type, Group)):
                if start is None or (d is not None and d != start.type):
                    raise Failure(f"{name} is no such group of threads", at)
                self.scopes[-1][name] = start
                continue
            if isinstance(value, list):
                raise Failure(f"{name} is no array", at)
            if is_auto:
                if start is None:
                    raise Failure(f"{name} needs a value", at)
                d = self.decayed(start).type
            if d is None:
                raise Failure("incomplete type void is not allowed", at)
            if of.is_reference:
                self._reference(name, value, at)
            elif "__shared__" in qualifiers:
                self._array(name, d, [], value, qualifiers, at)
            else:
                self.declare(name, d, start, at)

    def _reference(self, name: str, value: Any, line: int) -> None:
        if value is None:
            raise Failure(f"the reference {name} needs a value", line)
        v = self.expression(value)
        if v.is_element and v.text and not v.text.isidentifier():
            v = Value(self.bound(Value(v.text, None)).text, v.type, base=v.base, is_element=True)
        self.scopes[-1][name] = v

    def _array(self, name: str, d: Any, extents: Any, value: Any, qualifiers: frozenset[str], line: int) -> None:
        if isinstance(d, Pointer) or d is None:
            raise Failure("arrays of pointers are not served", line)
        shape = []
        for k, e in enumerate(extents):
            if e is None:
                if isinstance(value, list):
                    shape.append(len(value))
                    continue
                shape.append(0)
                continue
            v = self.value(e)
            if v.number is None:
                raise Failure("expression must have a constant value", line)
            if not isinstance(v.number, int) or v.number <= 0 and k:
                raise Failure("the size of an array must be greater than zero", line)
            shape.append(v.number)
        own = self.fresh(name)
        count = math.prod(shape) if shape else 1
        where = "shared" if "__shared__" in qualifiers else "local"
        if where == "local" and not count:
            raise Failure("the size of an array must be greater than zero", line)
        self.add(f"{own} = cuda.{where}.array({count}, {name_of(d)})")
        self.scopes[-1][name] = Value("", d, base=own, extents=tuple(shape), is_element=True)
        if isinstance(value, list):
            self._filled(own, d, tuple(shape), value, 0, line)

    def _filled(self, own: str, d: Any, shape: tuple[int, ...], values: list[Any], at: int, line: int) -> None:
        step = math.prod(shape[1:])
        if len(values) > shape[0]:
            raise Failure("too many initializer values", line)
        for k, v in enumerate(values):
            if isinstance(v, list):
                self._filled(own, d, shape[1:], v, at + k * step, line)
            else:
                self.add(f"{own}[{at + k}] = {stored(converted(self.value(v), d, line))}")
        if len(shape) == 1:
            for k in range(len(values), shape[0]):
                self.add(f"{own}[{at + k}] = {name_of(d)}(0)")
