"""Descriptions of dataclasses, of classes of `attrs` and of plain classes, for the compiler: it makes structs of them.

A field has the type that its annotation says; where that says none, the values of an instance decide.
"""

from __future__ import annotations

import dataclasses
import dis
import inspect
import sys
from types import SimpleNamespace
from typing import Any

from lancehead.annotations import hints_of, type_of_hint
from lancehead.wording import is_foreign


def described(cls: type) -> SimpleNamespace | None:
    """Describes a class to the compiler, as the `Description` of `classes.rs`; None if it cannot be a struct."""
    try:
        if dataclasses.is_dataclass(cls):
            return _dataclass(cls)
        return _attrs_class(cls) if hasattr(cls, "__attrs_attrs__") else _plain_class(cls)
    except (AttributeError, TypeError, ValueError):
        return None


def _type_of(hints: dict[str, Any], name: str) -> Any:
    try:
        return type_of_hint(hints.get(name, Any))
    except (TypeError, ValueError):
        return None


def _dataclass(cls: Any) -> SimpleNamespace:
    hints, fields, params = hints_of(cls), dataclasses.fields(cls), cls.__dataclass_params__
    defaults = inspect.signature(cls.__init__).parameters
    makes = []
    for field in fields:
        has_factory = field.default_factory is not dataclasses.MISSING
        default = None if field.default is dataclasses.MISSING else field.default
        if has_factory and field.init:
            default = defaults[field.name].default
        makes.append((field.name if field.init else None, default, field.default_factory if has_factory else None))
    names = {field.name for field in fields}
    is_generated = _file_of(cls.__init__) == "<string>"
    extra = [name for name in list(defaults)[1:] if name not in names] if is_generated else []
    shown = [field.name for field in fields if field.repr]
    has_repr = _file_of(getattr(cls.__repr__, "__wrapped__", None)) == "<string>"
    return SimpleNamespace(
        fields=[(field.name, _type_of(hints, field.name)) for field in fields],
        makes=makes,
        is_record=is_generated,
        extra=extra,
        frozen=(dataclasses.FrozenInstanceError, True) if params.frozen else None,
        shown=(cls.__qualname__, shown) if has_repr else None,
        order=None,
    )


def _attrs_class(cls: Any) -> SimpleNamespace | None:
    attr = sys.modules["attr"]
    hints, fields = hints_of(cls), cls.__attrs_attrs__
    makes = []
    for field in fields:
        if field.converter is not None or field.validator is not None:
            return None
        default, factory = field.default, None
        if isinstance(default, attr.Factory):
            if default.takes_self:
                return None
            default, factory = attr.NOTHING, default.factory
        elif default is attr.NOTHING or field.init:
            default = None
        makes.append((getattr(field, "alias", field.name.lstrip("_")) if field.init else None, default, factory))
    is_frozen = cls.__setattr__ is getattr(sys.modules.get("attr._make"), "_frozen_setattrs", None)
    has_repr = _file_of(cls.__repr__).startswith("<attrs generated")
    shown = [field.name for field in fields if field.repr]
    is_ordered = _file_of(cls.__lt__).endswith("_make.py")
    return SimpleNamespace(
        fields=[(field.name, _type_of(hints, field.name)) for field in fields],
        makes=makes,
        is_record=_file_of(cls.__init__).startswith("<attrs generated"),
        extra=[],
        frozen=(attr.exceptions.FrozenInstanceError, False) if is_frozen else None,
        shown=(cls.__qualname__.rsplit(">.", 1)[-1], shown) if has_repr else None,
        order=[field.name for field in fields if field.order] if is_ordered else None,
    )


#: Methods that change what an instance is.
_OWN_WAYS = (
    "__new__", "__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__del__", "__init_subclass__",
    "__class_getitem__", "__set_name__", "__reduce__", "__reduce_ex__", "__numba_type__", "_numba_type_",
)  # fmt: skip


def _plain_class(cls: Any) -> SimpleNamespace | None:
    """A class of the program without bases of others. Its fields are the attributes that `__init__` assigns. Where that
    assigns each parameter to one, and constants, calls in compiled code make instances without it."""
    boxing = sys.modules.get("lancehead.lowlevel.boxing")
    bases = cls.__mro__[:-1]
    if any(name in vars(base) for base in bases for name in _OWN_WAYS) or not all(map(_is_programs, bases)):
        return None
    if boxing is not None and boxing.typeof_impl.knows(cls):
        return None
    init = cls.__init__
    if init is object.__init__:
        return _struct([], [], {}, True)
    if not inspect.isfunction(init):
        return None
    hints, parameters = hints_of(cls), list(inspect.signature(init).parameters.values())[1:]
    assigned, is_plain = _assigned(init)
    by_parameter = {value: name for name, (is_parameter, value) in assigned.items() if is_parameter}
    is_plain = is_plain and len(by_parameter) == sum(is_parameter for is_parameter, _ in assigned.values())
    is_plain = is_plain and all(p.kind == p.POSITIONAL_OR_KEYWORD and p.name in by_parameter for p in parameters)
    if not is_plain:
        inits = [vars(base)["__init__"] for base in reversed(bases) if "__init__" in vars(base)]
        names = list(dict.fromkeys(name for init in inits for name in _assigned(init)[0]))
        # Fields that may stay without a value have no types, so that compiled code makes no instances.
        if any(map(_branches, inits)) or any("__init__" not in init.__code__.co_names for init in inits[1:]):
            hints = {}
        return _struct(names, [(None, None, None)] * len(names), hints, False)
    fields: list[tuple[str, str | None, Any]]
    fields = [(by_parameter[p.name], p.name, None if p.default is p.empty else p.default) for p in parameters]
    fields += [(name, None, value) for name, (is_parameter, value) in assigned.items() if not is_parameter]
    makes = [(parameter, default, None) for _, parameter, default in fields]
    return _struct([name for name, _, _ in fields], makes, hints, True)


def _struct(names: list[str], makes: list[Any], hints: dict[str, Any], is_record: bool) -> SimpleNamespace:
    fields = [(name, _type_of(hints, name)) for name in names]
    return SimpleNamespace(
        fields=fields, makes=makes, is_record=is_record, extra=[], frozen=None, shown=None, order=None
    )


def _is_programs(cls: type) -> bool:
    """Whether a class is of Python and of the program: not of Python's library, nor of an installed package."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None) or ""
    return type(cls) is type and bool(cls.__flags__ & _HEAP_TYPE) and not is_foreign(file)


#: The flag of classes that a program defines by `class`, among those of extension modules.
_HEAP_TYPE = 1 << 9


def _branches(function: Any) -> bool:
    """Whether parts of a function may not run."""
    return any(step.opcode in _JUMPS for step in dis.get_instructions(function))


_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))


def _assigned(init: Any) -> tuple[dict[str, tuple[bool, Any]], bool]:
    """The attributes that an `__init__` assigns to its instance, with the parameter or the constant if that is all, and
    whether it does nothing else."""
    found: dict[str, tuple[bool, Any]] = {}
    own = init.__code__.co_varnames[0]
    parameters = init.__code__.co_varnames[1 : init.__code__.co_argcount + init.__code__.co_kwonlyargcount]
    is_plain, stack = True, []
    for step in dis.get_instructions(init):
        if step.opname.startswith("LOAD_FAST"):
            names = step.argval if isinstance(step.argval, tuple) else (step.argval,)
            stack += [(True, name) for name in names]
        elif step.opname in ("LOAD_CONST", "LOAD_SMALL_INT"):
            stack.append((False, step.argval))
        elif step.opname == "STORE_ATTR" and stack and stack[-1] == (True, own):
            is_known = len(stack) == 2 and (not stack[0][0] or stack[0][1] in parameters)
            is_plain = is_plain and is_known and step.argval not in found
            found[step.argval] = stack[0] if is_known else (False, None)
            stack = []
        elif step.opname not in _IDLE:
            is_plain, stack = False, []
    return found, is_plain


_IDLE = frozenset(("RESUME", "CACHE", "NOP", "EXTENDED_ARG", "RETURN_VALUE", "RETURN_CONST", "NOT_TAKEN"))


def _file_of(function: Any) -> str:
    """The file of a function's code."""
    code = getattr(inspect.unwrap(function) if callable(function) else function, "__code__", None)
    return getattr(code, "co_filename", "")
