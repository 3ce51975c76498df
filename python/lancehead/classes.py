"""Descriptions of dataclasses and of classes of `attrs`, for the compiler: it makes structs of them.

A field has the type that its annotation says; where that says none, the values of an instance decide.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from types import SimpleNamespace
from typing import Any

from lancehead.annotations import hints_of, type_of_hint


def described(cls: type) -> SimpleNamespace | None:
    """Describes a dataclass or attrs class to the compiler, as the `Description` of `classes.rs`; None if it cannot be
    a struct.
    """
    try:
        return _dataclass(cls) if dataclasses.is_dataclass(cls) else _attrs_class(cls)
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


def _file_of(function: Any) -> str:
    """The file of a function's code."""
    code = getattr(inspect.unwrap(function) if callable(function) else function, "__code__", None)
    return getattr(code, "co_filename", "")
