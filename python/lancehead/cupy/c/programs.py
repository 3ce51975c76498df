"""Texts of CUDA C as modules of kernels: functions, instances of templates, variables outside of functions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from lancehead.cupy.c.parsing import Function, Node, Parser, TypeName, Unit, nodes
from lancehead.cupy.c.statements import Statements
from lancehead.cupy.c.tokens import CompileException, Failure, tokens
from lancehead.cupy.c.values import Pointer, Value, converted, exact, scalar
from lancehead.cupy.c.writing import Writer, addressed, assigned, indexing, references, unused

_numbered = itertools.count()

_HELPERS = """
@cuda.jit(device=True, inline=True)
def quotient(a, b):
    if b == 0:
        return ~(b * b)
    q = a // b
    if q < 0 and q * b != a:
        q += a == a
    return q

@cuda.jit(device=True, inline=True)
def remainder(a, b):
    return a - quotient(a, b) * b
"""


class Program:
    """The functions of a text, written when they are needed."""

    def __init__(self, unit: Unit, env: dict[str, Any]) -> None:
        self.unit = unit
        self.env: dict[str, Any] = {**unit.aliases, **env}
        self.written: dict[Any, tuple[str, Any, list[Any]]] = {}
        self.texts: list[str] = []
        #: Lines and what is to be said of them.
        self.warnings: list[tuple[int, str]] = []
        #: Arrays outside of functions that kernels get as further arguments: names, types, extents, values.
        self.arrays: dict[str, tuple[Any, tuple[int, ...], Any]] = {}
        self.constants: dict[str, Node] = {}
        self.lines: dict[str, int] = {}
        for declared in unit.variables:
            self._outer(declared)

    def _outer(self, declared: Node) -> None:
        variables, qualifiers = declared.parts
        for of, name, extents, value, line in variables:
            if name in self.constants or name in self.arrays:
                raise Failure(f'"{name}" has already been declared', line)
            d = scalar(of, self.env, line)
            if not extents and value is not None and not qualifiers & {"__device__", "__constant__"}:
                self.constants[name] = Node("cast", (of, value), line)
                continue
            w = Statements(self, self.env)
            shape = tuple(int(w.value(e).number) for e in extents if e is not None) or ((1,) if not extents else ())
            values = None
            if isinstance(value, list):
                values = [w.value(v).number for v in _flat(value)]
                shape = shape or (len(values),)
            elif value is not None:
                values = [w.value(value).number]
            if "__shared__" in qualifiers:
                raise Failure("shared arrays are declared in functions here", line)
            self.arrays[name] = (d, shape if extents else (), values)
            self.lines[name] = line

    def variable(self, w: Writer, name: str) -> Any:
        """A variable outside of functions; None if there is none."""
        if name in self.unit.enumerators:
            return w.value(self.unit.enumerators[name])
        if name in self.constants:
            node = self.constants[name]
            return w.value(node)
        if name in self.arrays:
            d, shape, _ = self.arrays[name]
            return Value("" if shape else "0", d, base=f"outer_{name}", extents=shape, is_element=True)
        return None

    # --- calls -------------------------------------------------------------------------------------------------------
    def call(self, w: Writer, name: str, explicit: Sequence[Any], given: list[Node], line: int) -> Value:
        """A call of a function of the text."""
        f = self.unit.functions[name]
        if f.is_kernel:
            raise Failure("kernels that start kernels are not served", line)
        if len(given) != len(f.parameters):
            few = "few" if len(given) < len(f.parameters) else "many"
            raise Failure(f"too {few} arguments in function call", line)
        by_reference = references(f)
        values = [w.expression(g) if k in by_reference else w.value(g) for k, g in enumerate(given)]
        env = self._bound(f, explicit, values, w.env, line)
        own, result, types = self.instance(f, env)
        texts: list[str] = []
        for k, (v, d) in enumerate(zip(values, types, strict=True)):
            if k in by_reference and not isinstance(d, Pointer):
                if not v.is_element:
                    raise Failure("a reference needs a variable in memory here", line)
                texts += [v.base, f"np.int64({v.text or 0})"]
            elif isinstance(d, Pointer):
                v = w.decayed(v)
                if not isinstance(v.type, Pointer) or v.type.of != d.of:
                    raise Failure(f"argument {k + 1} of {name} is a pointer to {d.of}", line)
                texts += [v.base, f"np.int64({v.text or 0})"]
            else:
                texts.append(exact(converted(v, d, line)).text)
        texts += [f"outer_{a}" for a in self.arrays]
        text = f"{own}({', '.join(texts)})"
        if result is None:
            w.add(text)
            return Value("0", None)
        return w.bound(Value(text, result))

    def _bound(
        self, f: Function, explicit: Sequence[Any], values: list[Value], env: dict[str, Any], line: int
    ) -> dict[str, Any]:
        found = dict(self.env)
        for (name, is_type), given in zip(f.template, explicit, strict=False):
            if is_type:
                found[name] = scalar(given, env, line) if isinstance(given, TypeName) else given
            else:
                n = given if not isinstance(given, Node) else Statements(self, env).value(given)
                found[f"={name}"] = n
        for p, v in zip(f.parameters, values, strict=True):
            if any(p.type.name == t and is_type for t, is_type in f.template) and p.type.name not in found:
                d = Writer(self, env).decayed(v).type
                found[p.type.name] = d.of if p.type.pointers and isinstance(d, Pointer) else d
        for name, is_type in f.template:
            if (name if is_type else f"={name}") not in found:
                raise Failure(f"the template argument {name} of {f.name} is not known", line)
        return found

    def instance(self, f: Function, env: dict[str, Any]) -> tuple[str, Any, list[Any]]:
        """The name of a function for types of its template, its result's type and those of its parameters."""
        bound = tuple((n, str(env.get(n)), getattr(env.get(f"={n}"), "number", None)) for n, _ in f.template)
        key = f.name, bound
        found = self.written.get(key)
        if found is None:
            if f.body is None:
                raise Failure(f'function "{f.name}" has no definition', f.line)
            types = [scalar(p.type, env, f.line) for p in f.parameters]
            result = scalar(f.result, env, f.line)
            own = f"c_{f.name}" + (f"_{len(self.written)}" if f.template else "")
            found = self.written[key] = own, result, types
            self.texts.append(self._written(f, own, env, types, result))
        return found

    def _written(self, f: Function, own: str, env: dict[str, Any], types: list[Any], result: Any) -> str:
        assert f.body is not None, "it has one"
        w = Statements(self, env, result)
        w.boxed = addressed(f.body) | self._passed(f.body)
        w.indices = indexing(f.body, set())
        names: list[str] = []
        by_reference = references(f)
        for k, (p, d) in enumerate(zip(f.parameters, types, strict=True)):
            name = w.fresh(p.name)
            names.append(name)
            if k in by_reference and not isinstance(d, Pointer):
                names.append(f"{name}_at")
                w.scopes[0][p.name] = Value(f"{name}_at", d, base=name, is_element=True)
            elif isinstance(d, Pointer):
                if f.is_kernel:
                    w.scopes[0][p.name] = self._moving(w, f.body, p.name, name, d)
                    continue
                names.append(f"{name}_at")
                w.scopes[0][p.name] = Value(f"{name}_at", d, base=name, is_variable=True)
            elif p.name in w.boxed:
                w.declare(p.name, d, Value(name, d), f.line)
            else:
                w.scopes[0][p.name] = Value(name, d, is_variable=True, base=f"={p.name}")
        names += [f"outer_{a}" for a in self.arrays]
        w.statement(f.body)
        self.warnings += [
            (line, f'variable "{name}" was declared but never referenced') for name, line in unused(f.body)
        ]
        if not w.lines:
            w.add("pass")
        for k, p in enumerate(f.parameters):
            # An array that a kernel reads as another type is given as that.
            held = w.scopes[0].get(p.name)
            if isinstance(held, Value) and held.base in w.casts:
                types[k] = Pointer(w.casts[held.base])
        head = "@cuda.jit(cache=True)" if f.is_kernel else "@cuda.jit(device=True)"
        return f"{head}\ndef {own}({', '.join(names)}):\n" + "\n".join(w.lines) + "\n"

    def _moving(self, w: Writer, body: Node, c_name: str, name: str, d: Pointer) -> Value:
        # A kernel's pointer; a place of its own if the kernel moves it.
        if c_name in assigned(body):
            w.add(f"{name}_at = np.int64(0)")
            return Value(f"{name}_at", d, base=name, is_variable=True)
        return Value("", d, base=name)

    def _passed(self, body: Node) -> set[str]:
        # Variables that are given to references.
        found: set[str] = set()
        for node in nodes(body):
            called = node.parts[0].parts[0] if node.kind == "call" and node.parts[0].kind == "name" else None
            if called in self.unit.functions:
                given = node.parts[1]
                places = (k for k in references(self.unit.functions[called]) if k < len(given))
                found |= {given[k].parts[0] for k in places if given[k].kind == "name"}
        return found

    def text(self) -> str:
        """The text of all functions that were needed."""
        return "\n".join([_HELPERS, *self.texts])


def _flat(values: list[Any]) -> list[Any]:
    return [w for v in values for w in (_flat(v) if isinstance(v, list) else [v])]


def read(source: str, macros: dict[str, str], types: Sequence[str] = (), spaces: Iterable[str] = ()) -> Parser:
    """A parser of a text, at its beginning."""
    return Parser(tokens(source, macros), types, spaces)


def module(text: str, **names: Any) -> dict[str, Any]:
    """The functions that a text in the compiler's language defines."""
    from lancehead import cuda

    found = {"np": np, "cuda": cuda, "math": math, **names}
    exec(compile(text, f"<lancehead.cupy kernel {next(_numbered)}>", "exec"), found)
    return found


def failed(e: Failure, source: str, name: str, options: Sequence[str] = ()) -> CompileException:
    """The exception for an error at a line."""
    return CompileException(e.message, source, name, options, e.line)


__all__ = ["Program", "failed", "module", "read"]
