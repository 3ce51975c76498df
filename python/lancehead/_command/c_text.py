"""Text in C for libraries made ahead of time: declarations, tables of types, and what linkers need."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

_SCALARS = {"Integer": "i", "Float": "f", "Complex": "c", "Boolean": "b", "NoneType": "n", "UnicodeType": "s"}
_TUPLES = ("Tuple", "UniTuple")


@dataclass
class Signature:
    """An exported function with one signature, and the symbols of its code, one for each level of processors."""

    name: str
    parameters: Sequence[str]
    args: Sequence[Any]
    result: Any
    nogil: bool
    #: Arguments whose memory it may write: a bit for each that has a form, the last one for all from there on.
    writes: int
    entries: list[str]

    def text(self) -> str:
        """The types as a person writes them."""
        return f"{self.name}({', '.join(t.name for t in self.args)}) -> {self.result.name}"

    def named(self) -> str:
        """As `text`, with the names of the parameters."""
        given = ", ".join(f"{name}: {t.name}" for name, t in zip(self.parameters, self.args, strict=True))
        return f"{self.name}({given}) -> {self.result.name}"


def unknown(t: Any) -> Any:
    """The type, or a part of it, that has no form in C; `None` if all have one."""
    if t.kind in _TUPLES:
        return next((u for u in map(unknown, t.types) if u is not None), None)
    if t.kind == "Optional":
        return unknown(t.type)
    if t.kind == "Array":
        return t if t.dtype.kind not in _SCALARS or unknown(t.dtype) is not None else None
    return None if t.kind in _SCALARS and t.name != "float16" else t


def _number(t: Any) -> int:
    return np.dtype("bool" if t.kind == "Boolean" else t.name).num


def _slots(t: Any) -> int:
    if t.kind in _TUPLES:
        return sum(map(_slots, t.types))
    if t.kind == "Array":
        return 2 + 2 * int(t.ndim)
    if t.kind == "Optional":
        return 1 + _slots(t.type)
    return {"NoneType": 0, "Complex": 2, "UnicodeType": 3}.get(t.kind, 1)


def _value(t: Any) -> str:
    """A type as an initialiser of `lh_type`."""
    parts = "0"
    if t.kind in _TUPLES or t.kind == "Optional":
        items = t.types if t.kind in _TUPLES else (t.type,)
        parts = f"(const lh_type[]){{{', '.join(map(_value, items)) or '{0}'}}}"
        kind, size, number, layout, readonly = "t" if t.kind in _TUPLES else "o", len(items), 0, "A", 0
    elif t.kind == "Array":
        kind, size, number, layout, readonly = "a", t.ndim, _number(t.dtype), t.layout, int(t.readonly)
    else:
        kind = _SCALARS[t.kind]
        kind = "u" if kind == "i" and not t.signed else kind
        numeric = t.kind in ("Integer", "Float", "Complex")
        size, number, layout, readonly = (t.bitwidth if numeric else 0), (_number(t) if numeric else 0), "A", 0
    return f"{{'{kind}', '{layout}', {readonly}, {number}, {size}, {_slots(t)}, {parts}}}"


@dataclass
class _Field:
    """A value in C: its type there, its name, and which parts of it are in which slots."""

    type: str
    name: str
    parts: list[tuple[str, int]] = field(default_factory=list)


def _fields(t: Any, name: str, at: int) -> list[_Field]:
    if t.kind in _TUPLES:
        found = []
        for i, part in enumerate(t.types):
            found += _fields(part, f"{name}_{i}", at)
            at += _slots(part)
        return found
    if t.kind == "Optional":
        return [_Field("bool", f"has_{name}", [("", at)]), *_fields(t.type, name, at + 1)]
    if t.kind == "NoneType":
        return []
    c, parts = _c_type(t), [("", at)]
    if t.kind == "Array":
        sides = [f".{what}[{i}]" for what in ("shape", "strides") for i in range(t.ndim)]
        parts = [(side, at + i) for i, side in enumerate([".owner", ".data", *sides])]
    elif t.kind == "UnicodeType":
        parts = [(side, at + i) for i, side in enumerate([".owner", ".data", ".length"])]
    elif t.kind == "Complex":
        parts = [(".re", at), (".im", at + 1)]
    return [_Field(c, name, parts)]


def _c_type(t: Any) -> str:
    if t.kind == "Integer":
        return f"{t.name}_t"
    if t.kind == "Array":
        return f"lancehead_{_element(t.dtype)}_{t.ndim}d"
    names = {"Boolean": "bool", "UnicodeType": "lancehead_text", "Complex": f"lancehead_{t.name}"}
    return names.get(t.kind) or {"float32": "float", "float64": "double"}[t.name]


def _element(t: Any) -> str:
    return "bool" if t.kind == "Boolean" else str(t.name)


def c_names(signatures: Sequence[Signature]) -> list[str]:
    """Names in C, after the library's: a function with several signatures has their types in its names."""
    often = [s.name for s in signatures]
    return [s.name if often.count(s.name) == 1 else "_".join([s.name, *map(_plain, s.args)]) for s in signatures]


def _plain(t: Any) -> str:
    if t.kind == "Array":
        return f"{_element(t.dtype)}_{t.ndim}d" + (f"_{t.layout}" if t.layout != "A" else "")
    if t.kind in _TUPLES:
        return "_".join(map(_plain, t.types))
    return _plain(t.type) if t.kind == "Optional" else _element(t)


def _declaration(library: str, name: str, s: Signature) -> str:
    params = [f for n, f in _numbered(s)]
    texts = [f"{f.type} {f.name}" for f in params]
    texts += [f"{f.type} *{f.name}" for f in _fields(s.result, "result", 0)]
    return f"int32_t {library}_{name}({', '.join(texts) or 'void'})"


def _numbered(s: Signature) -> list[tuple[int, _Field]]:
    found, at = [], 0
    for name, t in zip(s.parameters, s.args, strict=True):
        # A parameter may have a name that means something in C.
        found += [(at, f) for f in _fields(t, f"{name}_", at)]
        at += _slots(t)
    return found


def _structs(signatures: Sequence[Signature]) -> list[str]:
    """Declarations of the C types that signatures mention, each of them once even if several headers have it."""
    found: dict[str, str] = {}

    def add(t: Any) -> None:
        if t.kind in _TUPLES:
            for part in t.types:
                add(part)
        elif t.kind == "Optional":
            add(t.type)
        elif t.kind == "Array":
            add(t.dtype)
            length = max(t.ndim, 1)
            body = f"void *owner; {_c_type(t.dtype)} *data; int64_t shape[{length}], strides[{length}];"
            found.setdefault(_c_type(t), body)
        elif t.kind == "UnicodeType":
            found.setdefault("lancehead_text", "void *owner; const char *data; int64_t length;")
        elif t.kind == "Complex":
            part = {"complex64": "float", "complex128": "double"}[t.name]
            found.setdefault(_c_type(t), f"{part} re, im;")

    for s in signatures:
        for t in [*s.args, s.result]:
            add(t)
    return [
        f"#ifndef {n.upper()}\n#define {n.upper()}\ntypedef struct {{ {body} }} {n};\n#endif"
        for n, body in found.items()
    ]


def header(library: str, signatures: Sequence[Signature]) -> str:
    """The header of a shared library."""
    guard = f"{library.upper()}_H"
    lines = [f"/* {library}: functions compiled by lancehead. */", f"#ifndef {guard}", f"#define {guard}"]
    lines += ["#include <stdbool.h>", "#include <stdint.h>", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    lines += [
        "/* Functions give 0, or another number if they have raised an exception; results are stored where pointers",
        " * say. Arrays have strides in bytes. The caller of a function owns arrays and texts that it gives, until it",
        " * releases their owner; those that are passed to it need none (a null pointer), and must outlive what is",
        " * made of them. */",
    ]
    lines += _structs(signatures)
    for name, s in zip(c_names(signatures), signatures, strict=True):
        lines += ["", f"/* {s.text()} */", _declaration(library, name, s) + ";"]
    lines += [
        "",
        "/* The exception that a function has raised last in this thread: its class and message. */",
        f"const char *{library}_error(void);",
        "/* Gives memory back. */",
        f"void {library}_release(void *owner);",
        "",
    ]
    lines += ["#ifdef __cplusplus", "}", "#endif", "#endif", ""]
    return "\n".join(lines)


def source(library: str, signatures: Sequence[Signature], levels: Sequence[str], identity: str, is_module: bool) -> str:
    """The C text of an extension module or of a shared library."""
    lines = []
    if is_module:
        lines += ["#define PY_SSIZE_T_CLEAN", "#include <Python.h>"]
        lines += [
            "#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION",
            "#include <numpy/arrayobject.h>",
            "#include <numpy/arrayscalars.h>",
        ]
    lines += [f'#define LH_NAME "{library}"', f'#define LH_IDENTITY "{identity}"']
    lines += [f"#define LH_LEVELS {len(levels)}", f"#define LH_EXPORTS {len(signatures)}"]
    lines += ['#include "ahead.c"']
    lines += [f"extern int32_t {e}(const uint64_t *, uint64_t *);" for s in signatures for e in s.entries]
    lines += [f"static const char *const lh_levels[LH_LEVELS] = {{{', '.join(map(json.dumps, levels))}}};"]
    lines += ["static const lh_export lh_exports[LH_EXPORTS] = {", *map(_export, signatures), "};"]
    if is_module:
        lines += ["static const lh_told lh_tells[LH_EXPORTS] = {", *map(_told, _overloads(signatures)), "};"]
        return "\n".join(
            [*lines, f"PyMODINIT_FUNC PyInit_{library}(void) {{ return PyModuleDef_Init(&lh_module); }}", ""]
        )
    lines += ["#include <stdbool.h>", *_structs(signatures)]
    for i, (name, s) in enumerate(zip(c_names(signatures), signatures, strict=True)):
        lines += _body(library, name, s, i)
    lines += [f"const char *{library}_error(void) {{ return lh_error_text; }}"]
    lines += [f"void {library}_release(void *owner) {{ lh_aot_release(owner); }}", ""]
    return "\n".join(lines)


def _overloads(signatures: Sequence[Signature]) -> list[list[Signature]]:
    """For each signature, all of the same name: what a call chooses from."""
    return [[other for other in signatures if other.name == s.name] for s in signatures]


def _told(overloads: Sequence[Signature]) -> str:
    """The docstring of a function with several signatures, and the text of a `TypeError`, as an initialiser of
    `lh_told`."""
    first = overloads[0]
    doc = "\n".join(s.named() for s in overloads)
    if all(tuple(s.parameters) == tuple(first.parameters) for s in overloads):
        # In this form Python reads a signature from the docstring, which `help` shows.
        doc = f"{first.name}({', '.join(first.parameters)})\n--\n\n{doc}"
    return f"    {{{json.dumps(doc)}, {json.dumps(' or '.join(s.text() for s in overloads))}}},"


def _export(s: Signature) -> str:
    names = ", ".join([*map(json.dumps, s.parameters), "0"])
    types = ", ".join(map(_value, s.args)) or "{0}"
    slots = sum(map(_slots, s.args))
    facts = (
        f"&lh_this, {json.dumps(s.name)}, {json.dumps(s.text())}, {len(s.args)}, {slots}, {int(s.nogil)}, {s.writes}u"
    )
    tables = f"(const char *const[]){{{names}}}, (const lh_type[]){{{types}}}, (const lh_type[]){{{_value(s.result)}}}"
    return f"    {{{facts}, {tables}, (const lh_entry[]){{{', '.join(s.entries)}}}}},"


def _body(library: str, name: str, s: Signature, number: int) -> list[str]:
    lines = [_declaration(library, name, s) + " {"]
    lines += [f"    uint64_t in[{sum(map(_slots, s.args)) + 1}] = {{0}}, out[{_slots(s.result) + 1}] = {{0}};"]
    lines += [f"    LH_PUT(in, {at}, {f.name}{part});" for _, f in _numbered(s) for part, at in f.parts]
    lines += [f"    int32_t status = lh_call(&lh_exports[{number}], in, out);", "    if (status) return status;"]
    for f in _fields(s.result, "result", 0):
        lines += [f"    LH_GET((*{f.name}){part}, out, {at});" for part, at in f.parts]
        lines += [f"    {f.name}->length &= ~(int64_t)LH_ASCII;" for part, _ in f.parts if part == ".length"]
    return [*lines, "    return 0;", "}"]


class Outside:
    """The data outside of the code that compiled code refers to: elements of captured arrays, names of source files."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.arrays: dict[int, tuple[Any, list[str]]] = {}
        self.files: list[tuple[str, str]] = []

    def add(self, arrays: dict[str, Any], files: dict[str, str]) -> None:
        """Takes note of symbols and what they mean."""
        for symbol, array in arrays.items():
            self.arrays.setdefault(id(array), (array, []))[1].append(symbol)
        # Where the sources lie is nobody's business, and differs between computers.
        self.files += [(symbol, Path(file).name) for symbol, file in files.items()]

    def text(self) -> str:
        """Assembly that defines the symbols."""
        lines = [".section .rodata"]
        for symbol, name in self.files:
            lines += [f".globl {symbol}", f"{symbol}: .asciz {json.dumps(name, ensure_ascii=False)}"]
        lines.append(".data")
        for i, (array, symbols) in enumerate(self.arrays.values()):
            data, offset = memory_of(array)
            file = self.directory / f"array{i}"
            file.write_bytes(data)
            lines += [".balign 64", f".Larray{i}: .incbin {json.dumps(str(file))}", ".byte 0"]
            for symbol in symbols:
                lines += [f".globl {symbol}", f".set {symbol}, .Larray{i} + {offset}"]
        return "\n".join([*lines, '.section .note.GNU-stack,"",@progbits', ""])


def memory_of(array: Any) -> tuple[bytes, int]:
    """The memory that an array's elements lie in, and where in it the first one is."""
    low, high = np.lib.array_utils.byte_bounds(array) if array.size else (array.ctypes.data, array.ctypes.data)
    return ctypes.string_at(low, high - low), array.ctypes.data - low
