"""Types of mutable structs, which `lancehead.experimental.structref` defines: `types.StructRef`.

Structs of one Python class and with the same names of fields are instances of one class of compiled code, whose type
arguments are the types of the fields. A struct that refers to its own type has a class by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lancehead import _core, errors

Fields = tuple[tuple[str, Any], ...]

#: The classes of compiled code, by the class of types and the names of fields.
_CLASSES: dict[tuple[type, tuple[str, ...]], type] = {}
#: Types that their own fields mention.
_RECURSIVE: dict[type, list[StructRef]] = {}
#: Types without fields, given to `preprocess_fields` until its result mentions them.
_BLANK: dict[type, StructRef] = {}
#: Classes of types and of compiled code.
_DECLARED: list[tuple[type, type]] = []
#: Classes of the objects of Python, by the class of types.
PROXIES: dict[type, type] = {}


class StructRef(_core.Type):
    """Types of mutable structs: `Point([("x", float64)])`, where `Point` derives from this class.

    >>> from lancehead import int64
    >>> class Point(StructRef):
    ...     pass
    >>> Point([("x", int64)]).field_dict
    {'x': int64}

    `typing.Any` stands for a type that `preprocess_fields` replaces.

    Raises:
        ValueError: a name is no string, or a type is none.
        TypingError: a field has no type after `preprocess_fields`.
    """

    _given: Fields
    #: The fields that `__init__` is called with, while that is found out.
    _passed: list[tuple[str, Any]] | None = None
    _fields: Fields
    #: The class of compiled code, if the type is one that its own fields may mention.
    _class: type

    def __new__(cls, fields: Iterable[tuple[str, Any]]) -> Any:
        """The type of structs with these fields: pairs of a name and a type."""
        given = _checked(_with_own(cls, fields))
        if cls.preprocess_fields is StructRef.preprocess_fields:
            return _open(cls, given, given)
        for known in _RECURSIVE.get(cls, ()):
            if _checked(known.preprocess_fields(given)) == known._fields:
                return known
        if cls not in _BLANK:
            _BLANK[cls] = _blank(cls)
        blank = _BLANK[cls]
        found = _checked(blank.preprocess_fields(given))
        if not any(isinstance(t, _core.Type) and t.mentions(blank) for _, t in found):
            return _open(cls, given, found)
        del _BLANK[cls]
        _core.set_struct_fields(blank._class, list(found))
        blank._given, blank._fields = given, found
        _RECURSIVE.setdefault(cls, []).append(blank)
        return blank

    def __init__(self, fields: Iterable[tuple[str, Any]]) -> None:
        if self._passed is not None:
            self._passed.extend(fields)

    def preprocess_fields(self, fields: Fields) -> Fields:
        """The fields of a type that is made with these; `self` is the type itself, which they may mention."""
        return fields

    @property
    def field_dict(self) -> dict[str, Any]:
        """Types of the fields, by their names."""
        return dict(self._fields)

    @property
    def name(self) -> str:
        """How the type is written; assignments to it have no effect."""
        return repr(self)

    @name.setter
    def name(self, name: str) -> None: ...

    def __reduce__(self) -> Any:
        return type(self), (self._given,)


def _with_own(cls: type, fields: Iterable[tuple[str, Any]]) -> Iterable[tuple[str, Any]]:
    """The fields that the `__init__` of a class passes on, which may have added some."""
    if cls.__init__ is StructRef.__init__:  # type: ignore[misc]
        return fields
    probe: Any = _core.Type.__new__(cls, _core.parse_type("none"))
    probe._passed = []
    probe.__init__(fields)
    passed: list[tuple[str, Any]] = probe._passed
    return passed


def _checked(fields: Iterable[tuple[str, Any]]) -> Fields:
    given = tuple((name, t) for name, t in fields)
    for name, t in given:
        if not isinstance(name, str):
            raise ValueError("expecting a str for field name")
        if not isinstance(t, _core.Type) and t is not Any:
            raise ValueError("expecting a Numba Type for field type")
    return given


def _declared(cls: type, open_fields: int) -> type:
    names = {"__slots__": (), "__module__": cls.__module__, "__qualname__": cls.__qualname__}
    made = type(cls.__name__, (), {**names, "__proxy__": _proxy_of(cls)})
    _core.declare_struct(made, open_fields)
    _DECLARED.append((cls, made))
    return made


def _proxy_of(cls: type) -> type:
    return next((PROXIES[base] for base in cls.__mro__ if base in PROXIES), object)


def set_proxy(cls: type, proxy: type) -> None:
    """Sets the class of the objects of Python for structs of a class of types."""
    PROXIES[cls] = proxy
    for own, class_ in _DECLARED:
        if issubclass(own, cls):
            class_.__proxy__ = _proxy_of(own)  # type: ignore[attr-defined]


def _typed(cls: type, class_: type, types: list[Any]) -> tuple[StructRef, bool]:
    """The type of structs of a class of compiled code, and whether it is new."""
    known = _core.struct_type(class_, types)
    if isinstance(known, StructRef):
        return known, False
    made: StructRef = _core.Type.__new__(cls, known)
    made.represent()
    return made, True


def _blank(cls: type) -> StructRef:
    class_ = _declared(cls, 0)
    made, _ = _typed(cls, class_, [])
    made._given = made._fields = ()
    made._class = class_
    return made


def _open(cls: type, given: Fields, fields: Fields) -> StructRef:
    for name, t in fields:
        if not isinstance(t, _core.Type):
            raise errors.TypingError(f"the field {name!r} of {cls.__name__} has no type")
    names = tuple(name for name, _ in fields)
    class_ = _CLASSES.get((cls, names))
    if class_ is None:
        class_ = _declared(cls, len(names))
        _core.set_struct_fields(class_, [(name, None) for name in names])
        class_ = _CLASSES.setdefault((cls, names), class_)
    made, is_new = _typed(cls, class_, [_core.unliteral(t) for _, t in fields])
    if is_new:
        made._given = made._fields = tuple((name, _core.unliteral(t)) for name, t in fields)
    return made


def class_of_objects(of: StructRef) -> type:
    """The class of the objects of Python that hold structs of a type.

    Raises:
        TypeError: none has been defined.
    """
    found = _proxy_of(type(of))
    if found is not object:
        return found
    name = type(of).__name__
    raise TypeError(f"cannot box {of}: call `structref.define_proxy` or `structref.define_boxing` for {name}")
