"""Gathers what a code generator asks for, and makes a function of the library's dialect of it."""

from __future__ import annotations

import ast
import contextlib
import os
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from lancehead.lib import prim
from lancehead.lowlevel import irtypes as ir
from lancehead.lowlevel.values import INT1, INT64, LAYOUTS, Composed, Slot, Value, lowered, raised, size_of

_HERE = os.path.dirname(__file__)


class Line:
    """A statement: its text, and the line of the generator. `slot` is a variable that it reads or assigns."""

    def __init__(self, text: str, line: int, slot: Slot | None = None) -> None:
        self.text, self.line, self.slot = text, line, slot


class Count:
    """A reference that a generator takes or drops."""

    def __init__(self, value: Any, by: int, line: int) -> None:
        self.name, self.counted, self.by, self.line = value.text, value.counted, by, line
        self.text, self.slot = "", None


class Branch:
    """An `if`; `leaves` says that each of its ways goes to another block."""

    def __init__(self, condition: str, line: int, leaves: bool = False) -> None:
        self.condition, self.line, self.leaves = condition, line, leaves
        self.then: list[Any] = []
        self.otherwise: list[Any] = []


class Loop:
    """A `for` over a range."""

    def __init__(self, head: str, line: int) -> None:
        self.head, self.line = head, line
        self.body: list[Any] = []


class Block:
    """A block that a generator appends: statements, and whether it has ended."""

    def __init__(self, recorder: Recorder, number: int, name: str = "") -> None:
        self.recorder, self.number, self.name = recorder, number, name
        self.items: list[Any] = []
        self.is_terminated = False
        self.function = recorder


class Frame:
    """Memory that belongs to the function which calls a recorded one."""

    def __init__(self, size: int) -> None:
        self.size = size


class Recorder:
    """A function that is being recorded. It also stands for `builder.function` and `builder.module`."""

    def __init__(self, name: str, about: CodeType, parameters: list[Any]) -> None:
        self.name, self.file, self.first_line = name, about.co_filename, about.co_firstlineno
        self.globals: dict[str, Any] = {"prim": prim, "__name__": "lancehead.lowlevel.recorded"}
        self._names: dict[int, str] = {}
        self._kept: list[Any] = []
        self._count = 0
        self.blocks = [Block(self, 0, "entry")]
        self.items = self.blocks[0].items
        self.block = self.blocks[0]
        self.slots: list[Slot] = []
        #: Whether addresses of variables are given to the caller, so that they are in its frame.
        self.gives_addresses = False
        self.variables: dict[str, Any] = {}
        self.parameters = [f"a{i}" for i in range(len(parameters))]
        self.args = [self.argument(p, t) for p, t in zip(self.parameters, parameters, strict=True)]
        #: References that the generator counts, by value; whether it boxes or unboxes.
        self._uses: dict[tuple[str, int], int] = {}
        self.is_boxing = False
        #: The number of loops around the place where statements are added.
        self.loops = 0

    # The attributes of `builder.module` and `builder.function` that generators use.

    @property
    def attributes(self) -> ir.Attributes:
        """Says of the function what the compiler finds out by itself."""
        return ir.Attributes()

    @property
    def entry_basic_block(self) -> Block:
        """The first block."""
        return self.blocks[0]

    add_metadata = ir.Module.add_metadata

    @property
    def module(self) -> Recorder:
        """Itself: functions of C are known by their names everywhere."""
        return self

    def declare_intrinsic(self, intrinsic: str, tys: Any = (), fnty: Any = None) -> Any:
        """An intrinsic of LLVM, by its name without types and by these."""
        from lancehead.lowlevel import llvm_intrinsics

        return llvm_intrinsics.declared(intrinsic, tys, fnty)

    def append_basic_block(self, name: str = "") -> Block:
        """A new block."""
        self.blocks.append(Block(self, len(self.blocks), name))
        return self.blocks[-1]

    # Names.

    def fresh(self, prefix: str = "v") -> str:
        """A new name."""
        self._count += 1
        return f"{prefix}{self._count}"

    def constant(self, value: Any) -> str:
        """The name of a global variable that holds an object."""
        known = self._names.get(id(value))
        if known is None:
            known = self._names[id(value)] = self.fresh("k")
            self.globals[known] = value
        return known

    def keep(self, value: Any) -> None:
        """Keeps an object as long as the function."""
        self._kept.append(value)
        self.globals["__kept__"] = self._kept

    def line(self) -> int:
        """The line of the generator that runs now."""
        frame: Any = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == self.file:
                return int(frame.f_lineno)
            frame = frame.f_back
        return self.first_line

    # Statements.

    def do(self, text: str, slot: Slot | None = None) -> None:
        """Adds a statement."""
        self.items.append(Line(text, self.line(), slot))

    def let(self, text: str, type_: Any, owned: bool = False) -> Value:
        """Adds an assignment, and gives its variable."""
        name = self.fresh()
        self.do(f"{name} = {text}")
        made = Value(self, name, type_)
        made.is_owned = owned
        self.variables[name] = type_
        return made

    def number(self, value: Any, type_: Any) -> Value:
        """A constant number."""
        if type_ == INT1:
            return Value(self, str(bool(value)), type_, bool(value))
        if isinstance(type_, ir.IntType):
            bits = type_.width
            wrapped = (int(value) + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))
            held: Any = getattr(np, f"int{bits}")(wrapped)
        else:
            held = {"double": np.float64, "float": np.float32, "half": np.float16}[str(type_)](value)
        name = self.fresh("k")
        self.globals[name] = held
        return Value(self, name, type_, value)

    def zero(self, type_: Any) -> Value:
        """The value whose bits are zero."""
        if isinstance(type_, (ir.IntType, ir.DoubleType, ir.FloatType, ir.HalfType)):
            return self.number(0, type_)
        if isinstance(type_, ir.PointerType):
            return self.let("prim.lh_addr_ptr(0)", type_)
        if isinstance(type_, Composed):
            return self.let(f"prim.zero({self.constant(type_.of)})", type_)
        parts = [self.zero(e).text for e in type_.elements]
        return self.let(f"({''.join(p + ', ' for p in parts)})", type_)

    def value(self, given: Any) -> Value:
        """A value that a generator uses: a constant becomes one here."""
        if isinstance(given, Value):
            return given
        if isinstance(given, ir.Constant):
            return self._of_constant(given)
        if isinstance(given, ir.Function):
            return Value(self, given.name, given.type)
        raise TypeError(f"a value was expected, not {given!r}")

    def _of_constant(self, given: ir.Constant) -> Value:
        content = given.constant
        if content is None or content is ir.Undefined:
            return self.zero(given.type)
        if isinstance(content, (list, tuple)):
            parts = [self.value(c if isinstance(c, ir.Constant) else ir.Constant(t, c)).text for c, t in
                     zip(content, given.type.elements, strict=True)]  # type: ignore[attr-defined]  # fmt: skip
            return self.let(f"({''.join(p + ', ' for p in parts)})", given.type)
        if isinstance(given.type, ir.PointerType):
            return self.let(f"prim.lh_addr_ptr({int(content)})", given.type)
        return self.number(content, given.type)

    # References.

    def count(self, value: Any, by: int) -> None:
        """Notes that the generator takes or drops a reference. The function counts references by itself, too: its
        result and the values that it stores have references of their own, and its end drops the values that it made.
        """
        value = self.value(value)
        if value.of is None or self.is_boxing:
            return
        if value.is_owned:
            self._uses.setdefault((value.counted, -1), 1)
        self.items.append(Count(value, by, self.line()))

    def takes(self, value: Any) -> None:
        """Notes that memory or the result has a reference of its own to a value."""
        if value.of is not None:
            self._uses[value.counted, 1] = self._uses.get((value.counted, 1), 0) + 1

    def _settle(self, items: list[Any], taken: dict[tuple[str, int], int]) -> list[Any]:
        """Statements without the counts that the function makes by itself."""
        out = []
        for item in items:
            if isinstance(item, Branch):
                item.then, item.otherwise = self._settle(item.then, taken), self._settle(item.otherwise, taken)
            elif isinstance(item, Loop):
                item.body = self._settle(item.body, taken)
            elif isinstance(item, Count):
                if taken.get((item.counted, item.by), 0) > 0:
                    taken[item.counted, item.by] -= 1
                    continue
                item = Line(f"prim.count_{'up' if item.by > 0 else 'down'}({item.name})", item.line)
            out.append(item)
        return out

    # Types of Numba.

    def argument(self, text: str, of: Any) -> Value:
        """A value of a type of Numba as the generator holds it."""
        type_ = lowered(of)
        if isinstance(type_, Composed):
            return Value(self, text, type_)
        if getattr(of, "kind", "") in ("NoneType", "Opaque", "NumberClass", "Dispatcher"):
            return Value(self, "None", type_)
        if getattr(of, "kind", "") == "PyObject":
            return self.let(f"prim.record_data({text})", type_)
        if isinstance(type_, ir.PointerType):
            inner = f"prim.model_parts({text})" if of.kind == "Extension" else f"prim.address({text})"
            return self.let(inner, type_)
        if getattr(of, "kind", "") == "Extension":
            text = f"prim.model_parts({text})"
        return self.let(f"prim.as_type({text}, {self.constant(raised(type_))})", type_)

    def result(self, given: Any, of: Any) -> str:
        """The text of a value as one of a type of Numba."""
        value = self.value(given) if given is not None else None
        if value is not None:
            self.takes(value)
        kind = getattr(of, "kind", "")
        if kind in ("NoneType", "Opaque") or value is None:
            return "None"
        if value.of == of:
            return value.text
        if isinstance(value.type, ir.PointerType) and kind in ("CPointer", "RawPointer", "Integer"):
            self.escape(value)
            self.gives_addresses = True
        if kind == "Extension" and getattr(value.of, "kind", "") == "Extension":
            # Values of types with one model are the same to Numba.
            models = [LAYOUTS["model"](t).representation() for t in (value.of, of)]
            if models[0] != models[1]:
                raise TypeError(f"a value of {value.of} is none of {of}: their models differ")
            return f"prim.model_value({self.constant(of)}, prim.model_parts({value.text}))"
        if kind == "Extension" and value.of is None:
            return f"prim.model_value({self.constant(of)}, {value.text})"
        if kind == "PyObject":
            # As a result of Python's C API: a new reference.
            address = self.let(f"prim.lh_ptr_addr({self.escape(value).text})", INT64)
            return f"prim.call_python({self.constant(LAYOUTS['object']())}, ({address.text},))[0]"
        if kind == "Boolean" and value.type != INT1:
            return f"prim.ne({value.text}, {self.number(0, value.type).text})"
        if kind == "Integer" and isinstance(value.type, ir.PointerType):
            return f"prim.cast(prim.lh_ptr_addr({self.escape(value).text}), {self.constant(of)})"
        if kind in ("RawPointer", "CPointer") and isinstance(value.type, ir.IntType):
            return f"prim.as_type(prim.lh_addr_ptr({value.text}), {self.constant(of)})"
        if kind == "Integer" and value.type == INT1:
            return f"prim.cast({value.text}, {self.constant(of)})"
        return f"prim.as_type({value.text}, {self.constant(of)})"

    # Variables whose address a generator has.

    def slot(self, type_: Any) -> Slot:
        """A variable of the function."""
        made = Slot(self, self.fresh("s"), type_)
        self.slots.append(made)
        return made

    def escape(self, value: Value) -> Value:
        """The address of a variable, as a value."""
        if isinstance(value, Slot):
            value.is_memory = True
        return value

    # Control flow.

    @contextlib.contextmanager
    def inside(self, items: list[Any]) -> Iterator[None]:
        """Adds statements elsewhere."""
        before, self.items = self.items, items
        try:
            yield
        finally:
            self.items = before

    def go(self, block: Block) -> None:
        """Goes on in another block."""
        self.block, self.items = block, block.items

    def finish(self, result: str | None) -> FunctionType:
        """The function, which returns a value where recording ended."""
        for block in self.blocks:
            block.items[:] = self._settle(block.items, self._uses)
        self.do(f"return {result}")
        return _Maker(self).made()


class _Maker:
    """Makes the function of a recorder's statements."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.has_blocks = len(recorder.blocks) > 1
        #: Bytes of variables in the frame of the caller.
        self.frame = 0

    def made(self) -> FunctionType:
        r = self.recorder
        body = self._prologue()
        if self.has_blocks:
            body.append(self._dispatch())
        else:
            body.extend(self._statements(r.blocks[0].items))
        parameters = [*r.parameters, "frame"] if self.frame else r.parameters
        arguments = ast.arguments(
            posonlyargs=[], args=[ast.arg(p) for p in parameters], kwonlyargs=[], kw_defaults=[], defaults=[]
        )
        name = r.name if r.name.isidentifier() else "recorded"
        tree = ast.Module([ast.FunctionDef(name, arguments, body or [ast.Pass()], [])], [])
        for node in ast.walk(tree):
            if "lineno" in node._attributes and not hasattr(node, "lineno"):
                node.lineno = node.end_lineno = r.first_line  # type: ignore[attr-defined]
                node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]
        if hasattr(tree.body[0], "type_params"):
            tree.body[0].type_params = []
        module = compile(ast.fix_missing_locations(tree), r.file, "exec")
        code = next(c for c in module.co_consts if isinstance(c, CodeType))
        return FunctionType(code, r.globals, argdefs=(Frame(self.frame),) if self.frame else None)

    def _parsed(self, text: str, line: int) -> list[ast.stmt]:
        found = ast.parse(text).body
        for node in found:
            for inner in ast.walk(node):
                if "lineno" in inner._attributes:
                    inner.lineno = inner.end_lineno = line  # type: ignore[attr-defined]
                    inner.col_offset = inner.end_col_offset = 0  # type: ignore[attr-defined]
        return found

    def _prologue(self) -> list[ast.stmt]:
        r, lines = self.recorder, []
        for slot in r.slots:
            of = slot.type.pointee
            if slot.is_memory and r.gives_addresses:
                lines.append(f"{slot.text} = prim.ptr_add(frame, {self.frame})")
                self.frame += -(-max(1, size_of(of)[0]) // 16) * 16
            elif slot.is_memory:
                zeros = r.constant(np.zeros)
                lines.append(f"{slot.text}_m = {zeros}({max(1, size_of(of)[0])}, {r.constant(np.uint8)})")
                lines.append(f"{slot.text} = prim.data({slot.text}_m)")
            else:
                lines.append(f"{slot.text} = {self._zero(of)}")
        if self.has_blocks:
            # Blocks are cases of a loop: what one assigns and another reads has a value from the start.
            lines += [f"{name} = {self._zero(of)}" for name, of in r.variables.items()]
            lines.append("next_block = 0")
        return [s for line in lines for s in self._parsed(line, r.first_line)]

    def _zero(self, type_: Any) -> str:
        if isinstance(type_, ir.VoidType):
            return "None"
        return f"prim.zero({self.recorder.constant(raised(type_))})"

    def _statements(self, items: list[Any]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for item in items:
            if isinstance(item, Line):
                text = item.text
                if item.slot is not None:
                    text = self._access(item)
                out.extend(self._parsed(text, item.line))
            elif isinstance(item, Branch):
                node: Any = self._parsed(f"if {item.condition}: pass", item.line)[0]
                node.body = self._statements(item.then) or [ast.Pass()]
                node.orelse = self._statements(item.otherwise)
                out.append(node)
            else:
                node = self._parsed(f"{item.head}: pass", item.line)[0]
                node.body = self._statements(item.body) or [ast.Pass()]
                out.append(node)
        return out

    def _access(self, item: Line) -> str:
        """A load, `v = <slot>`, or a store, `<slot> = v`."""
        slot = item.slot
        assert slot is not None
        target, _, source = item.text.partition(" = ")
        if not slot.is_memory:
            return item.text
        if source == slot.text:
            return f"{target} = prim.load({slot.text}, {self.recorder.constant(raised(slot.type.pointee))})"
        return f"prim.store({slot.text}, {source})"

    def _dispatch(self) -> ast.stmt:
        """A loop whose cases are the blocks."""
        loop: Any = self._parsed("while True: pass", self.recorder.first_line)[0]
        loop.body = []
        chain: list[ast.stmt] = loop.body
        for block in self.recorder.blocks:
            case: Any = self._parsed(f"if next_block == {block.number}: pass", self.recorder.first_line)[0]
            case.body = self._statements(block.items) or [ast.Pass()]
            chain.append(case)
            chain = case.orelse
        return loop  # type: ignore[no-any-return]


def int64(recorder: Recorder, value: int) -> Value:
    """A constant of 64 bits."""
    return recorder.number(value, INT64)
