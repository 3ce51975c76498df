"""How types are written: as Numba writes them, where they are Numba's.

A list is one type here, however it came to be; it is written as that of a typed list, `ListType[int64]`. `Written`
types are the same types under another name that Numba has for them: that of a list of Python's is
`reflected list(int64)<iv=None>`. In programs that are served as Numba's, `repr` gives what Numba's does.
"""

from __future__ import annotations

import functools
import importlib
import linecache
from collections.abc import Callable
from typing import Any

import numpy

from lancehead import _core, config
from lancehead.options import NoMember

#: Whether types are written for a program that is served as Numba's.
served: bool = config.SEMANTICS == "numba"

_PLAIN, _REFLECTED, _TYPED = "plain", "reflected", "typed"


class Written(_core.Type):
    """A type under another name that Numba has for it."""

    _form: str

    def __new__(cls, of: _core.Type, form: str) -> Any:
        """One object for each type and form."""
        made = _WRITTEN.get((of, form))
        if made is None:
            made = super().__new__(cls, of)
            made._form = form
            made = _WRITTEN.setdefault((of, form), made)
        return made

    def __reduce__(self) -> Any:
        return Written, (plain(self), self._form)


_WRITTEN: dict[tuple[_core.Type, str], Any] = {}


def plain(type_: Any) -> Any:
    """The type itself, without another name.

    >>> from lancehead import types
    >>> plain(types.List(types.int64))
    ListType[int64]
    """
    return _core.unliteral(type_) if isinstance(type_, Written) else type_


def text(type_: Any, form: str | None = None) -> str:
    """A type as Numba's `str` has it; `form` says how lists in it are written that have no form of their own.

    >>> from lancehead import types
    >>> text(types.DictType(types.unicode_type, types.ListType(types.float64[:])))
    'DictType[unicode_type,ListType[array(float64, 1d, A)]]<iv=None>'
    """
    if not isinstance(type_, _core.Type):
        return str(type_)
    form = type_._form if isinstance(type_, Written) else form
    if form is not None and form.startswith("omitted"):
        return form
    writer = _TEXTS.get(getattr(type_, "kind", ""))
    found = writer(type_, form) if writer else None
    return str(type_.own_name) if found is None else found


def signature(given: Any) -> str:
    """A signature as it is shown: for programs that are served as Numba's, as there."""
    return f"{given.args} -> {given.return_type}" if served else str(given.own_name)


_KEPT: dict[int, Any] = {}


def keep(type_: Any) -> int:
    """A number for a type that only this process knows, such as that of a generator."""
    _KEPT[type_._code] = type_
    return int(type_._code)


def kept(number: int) -> Any:
    """The type that has a number in this process."""
    return _KEPT[number]


def in_numbas_words(kind: str, headline: str, file: str, line: int) -> str:
    """Numba's message for a kind of error, for programs that look for its words.

    >>> print(in_numbas_words("unknown-attribute", "`int32` has no attribute `a` in compiled code", "p.py", 3))
    <BLANKLINE>
    Unknown attribute 'a' of type int32
    During: typing of get attribute at p.py (3)
    """
    quoted = headline.split("`")[1::2]
    match kind, quoted:
        case "unknown-attribute", [of, name, *_]:
            said, doing = f"Unknown attribute {name!r} of type {of}", "typing of get attribute"
        case "unknown-name", [name, *_]:
            said, doing = f"Untyped global name {name!r}: Cannot determine Numba type", "typing of global"
        case (("no-matching-call" | "unsupported-call" | "unsupported-type" | "no-matching-op"), _):
            source = linecache.getline(file, line).strip()
            said = f"No match.\nDuring: resolving callee type: Function({', '.join(quoted)}) in: {source}"
            doing = "typing of call"
        case _:
            return ""
    return f"\n{said}\nDuring: {doing} at {file} ({line})"


def shown(type_: Any) -> str:
    """A type as `repr` has it: for programs that are served as Numba's, as there."""
    return as_code(type_) if served else text(type_)


def as_code(type_: Any) -> str:
    """A type as Numba's `repr` has it.

    >>> from lancehead import types
    >>> as_code(types.float64[:, ::1])
    "Array(float64, 2, 'C', False, aligned=True)"
    """
    if not isinstance(type_, _core.Type):
        return repr(type_)
    writer = _CODES.get(getattr(type_, "kind", ""))
    found = writer(type_, type_._form if isinstance(type_, Written) else None) if writer else None
    return text(type_) if found is None else found


def of_value(value: Any, found: Any) -> Any:
    """The type of a value under the name that Numba has for the type of such a value."""
    if isinstance(value, (list, set)):
        return Written(found, _REFLECTED)
    if not served:
        return found
    if found.kind == "SliceType":
        return SLICES[value.step is not None and value.step != 1]
    return (found.kind == "Opaque" and importlib.import_module("lancehead.foreign_types").of_value(value)) or found


#: The types of slices without a step and with one, as they are in Numba.
SLICES = (_core.typeof(slice(0, 1)), _core.typeof(slice(0, 1, 2)))


_UNITS = ("Y", "M", "W", "B", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "")


def attribute(type_: Any, name: str) -> Any:
    """An attribute that only Numba's types have.

    Raises:
        AttributeError: there is none of the name.
    """
    if name in ("_form", "mangling_args", "__class__"):
        raise AttributeError(name)
    if name == "unit_code" and type_.kind in ("NPDatetime", "NPTimedelta"):
        return _UNITS.index(type_.unit)
    if name in ("has_step", "members") and type_.kind == "SliceType":
        has_step = _slice(type_, None) == str(SLICES[1])
        return has_step if name == "has_step" else 2 + has_step
    if name in ("is_internal", "reflected"):
        return name == "reflected" and isinstance(type_, Written) and type_._form == _REFLECTED
    if name == "cast_python_value":
        return type_
    if name == "instance_type" and type_.kind == "NumberClass":
        return type_.dtype
    raise NoMember(f"the type {type_}, a 'Type' object", name, functools.partial(dir, type_))


def time(type_: Any, value: Any) -> Any:
    """A point or span of time of a type."""
    make = numpy.timedelta64 if type_.kind == "NPTimedelta" else numpy.datetime64
    return make(value, type_.unit) if type_.unit else make(value)


def is_aligned(type_: Any) -> bool:
    """Whether Numba says of an array that its items are aligned: those of unaligned records are not."""
    of = type_.dtype
    return of.kind != "Record" or bool(of.aligned)


def _list(type_: Any, form: str | None) -> str | None:
    known = type_.initial_value
    if form in (None, _TYPED) and known is None:
        return f"ListType[{text(type_.dtype, _TYPED)}]"
    return f"{_reflected(form)}list({text(type_.dtype, form)})<iv={known}>"


def _reflected(form: str | None) -> str:
    return "reflected " if form == _REFLECTED else ""


def _set(type_: Any, form: str | None) -> str:
    return f"{_reflected(form)}set({text(type_.arguments[0], form)})"


def _dict(type_: Any, form: str | None) -> str:
    key, value = (text(t, _TYPED) for t in (type_.key_type, type_.value_type))
    return f"DictType[{key},{value}]<iv={type_.initial_value}>"


def _array(type_: Any, form: str | None) -> str:
    parts = ("" if type_.mutable else "readonly ", "" if is_aligned(type_) else "unaligned ")
    return f"{''.join(parts)}array({text(type_.dtype)}, {type_.ndim}d, {type_.layout})"


def _tuple(type_: Any, form: str | None) -> str | None:
    items = [text(t, form) for t in type_.types]
    if not items:
        return "Tuple()"
    if len(set(type_.types)) == 1:
        return f"UniTuple({items[0]} x {len(items)})"
    return f"Tuple({', '.join(items)})"


def _named_tuple(type_: Any, form: str | None) -> str:
    name, items = type_.instance_class.__name__, [text(t, form) for t in type_.types]
    if items and len(set(type_.types)) == 1:
        return f"{name}({items[0]} x {len(items)})"
    return f"{name}({', '.join(items)})"


def _entries(type_: Any, form: str | None) -> str:
    return f"LiteralStrKey[Dict]({{{', '.join(f'{k}: {text(v)}' for k, v in type_.literal_value.items())}}})"


def _slice(type_: Any, form: str | None) -> str:
    return "slice<a:b>" if type_.own_name.endswith(", none>") else "slice<a:b:c>"


def _buffer(type_: Any, name: str) -> str:
    inner = type_.own_name.partition("(")[2].removesuffix(")")
    readonly = "readonly " if inner.startswith("readonly ") else ""
    return f"{readonly}{name}({inner.removeprefix('readonly ').removeprefix('array(')}"


def _enum(type_: Any, name: str) -> str:
    return f"{name}<{type_.dtype}>({type_.own_name.partition('<')[2].removesuffix('>')})"


def _record(type_: Any, form: str | None) -> str:
    fields = [f"{name}[type={text(t)};offset={type_.offset(name)}]" for name, t in _members(type_)]
    return f"Record({','.join(fields)};{type_.size};{type_.aligned})"


def _members(type_: Any) -> list[tuple[str, Any]]:
    """Fields of a record with their types; those of arrays with a fixed shape are nested arrays."""
    nested = importlib.import_module("lancehead.types").nested
    return [(name, nested(type_, name, t)) for name, t in type_.members]


def _record_code(type_: Any, form: str | None) -> str:
    fields = [
        f"('{name}', {{'type': {as_code(t)}, 'offset': {type_.offset(name)}, 'alignment': None, 'title': None, }})"
        for name, t in _members(type_)
    ]
    return f"Record([{', '.join(fields)}], {type_.size}, {type_.aligned})"


def _array_code(type_: Any, form: str | None) -> str:
    return (
        f"Array({as_code(type_.dtype)}, {type_.ndim}, {type_.layout!r}, {not type_.mutable}, "
        f"aligned={is_aligned(type_)})"
    )


def _tuple_code(type_: Any, form: str | None) -> str:
    items = [as_code(t) for t in type_.types]
    if items and len(set(type_.types)) == 1:
        return f"UniTuple({items[0]}, {len(items)})"
    return f"Tuple(({', '.join(items)}))"


def _list_code(type_: Any, form: str | None) -> str | None:
    if form in (None, _TYPED):
        return f"ListType({as_code(type_.dtype)})"
    return f"List({text(type_.dtype, form)}, {form == _REFLECTED})"


_TEXTS: dict[str, Callable[[Any, str | None], str | None]] = {
    "List": _list,
    "SetType": _set,
    "DictType": _dict,
    "Array": _array,
    "Tuple": _tuple,
    "UniTuple": _tuple,
    "NamedTuple": _named_tuple,
    "LiteralStrKeyDict": _entries,
    "SliceType": _slice,
    "Record": _record,
    "EllipsisType": lambda type_, form: "...",
    "RawPointer": lambda type_, form: "void*",
    "NPDatetime": lambda type_, form: f"datetime64[{type_.unit}]",
    "NPTimedelta": lambda type_, form: f"timedelta64[{type_.unit}]",
    "CPointer": lambda type_, form: f"{text(type_.dtype)}*",
    "Optional": lambda type_, form: f"OptionalType({text(type_.type, form)})",
    "Bytes": lambda type_, form: "readonly bytes(uint8, 1d, C)",
    "MemoryView": lambda type_, form: _buffer(type_, "memoryview"),
    "PyArray": lambda type_, form: _buffer(type_, "pyarray"),
    "EnumMember": lambda type_, form: _enum(type_, "Enum"),
    "IntEnumMember": lambda type_, form: _enum(type_, "IntEnum"),
    "NumberClass": lambda type_, form: f"class({text(type_.dtype)})",
}

_CODES: dict[str, Callable[[Any, str | None], str | None]] = {
    "List": _list_code,
    "SetType": lambda type_, form: f"Set({text(type_.arguments[0], form)}, {form == _REFLECTED})",
    "DictType": lambda type_, form: f"DictType({text(type_.key_type, _TYPED)}, {text(type_.value_type, _TYPED)})",
    "Array": _array_code,
    "Tuple": _tuple_code,
    "UniTuple": _tuple_code,
    "Record": _record_code,
    "UnicodeCharSeq": lambda type_, form: f"UnicodeCharSeq({type_.length})",
}

__all__ = ["Written", "as_code", "of_value", "plain", "served", "shown", "text"]
