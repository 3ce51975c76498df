"""Mutable structs: objects of compiled code with fields of any types, which Python shares.

A class of types derives from `types.StructRef` and is registered; a class of objects derives from `StructRefProxy`.
Fields are read and written in compiled code only; Python reads them through compiled functions.

>>> from lancehead import njit, types
>>> @register
... class PairType(types.StructRef):
...     pass
>>> class Pair(StructRefProxy):
...     @property
...     def first(self):
...         return first_of(self)
>>> define_proxy(Pair, PairType, ["first", "second"])
>>> @njit
... def first_of(pair):
...     return pair.first
>>> @njit
... def swap(pair):
...     pair.first, pair.second = pair.second, pair.first
>>> pair = Pair(1, 2)
>>> swap(pair)
>>> pair.first
2
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

from lancehead import _core, config, errors, structs
from lancehead.decorators import njit
from lancehead.extending import construct
from lancehead.options import public

__all__ = [
    "StructRefProxy",
    "define_attributes",
    "define_boxing",
    "define_constructor",
    "define_proxy",
    "new",
    "register",
]
public(globals())


class StructRefProxy(_core.Struct):
    """The base of classes whose objects hold a struct of compiled code.

    A class may define `__new__`, which calls that of this class, but no `__init__`. As long as an object lives, it is
    the only one for its struct, so that `is` and its own attributes hold.

    >>> class NamedType(structs.StructRef): ...
    >>> class Named(StructRefProxy):
    ...     def __new__(cls, first, second=0):
    ...         return StructRefProxy.__new__(cls, first, second)
    >>> define_proxy(Named, NamedType, ["first", "second"])
    >>> njit(lambda n: n.first + n.second)(Named(5))
    5
    """

    __slots__ = ()

    def __new__(cls, *args: Any) -> Any:
        """Constructs an instance by a compiled call of the class with these arguments."""
        if config.DISABLE_JIT:
            raise errors.NumbaNotImplementedError("structs are made by compiled code, which is disabled")
        class_: Any = cls
        return _constructor(class_)(*args)

    @property
    def _numba_type_(self) -> _core.Type:
        """The type of the struct."""
        return _core.type_of_struct(self)


@functools.cache
def _constructor(cls: Any) -> Any:
    @njit
    def constructor(*args: Any) -> Any:
        return cls(*args)

    return constructor


def register(struct_type: Any) -> Any:
    """Registers a class of types that derives from `types.StructRef`; returns it, as a decorator does.

    >>> @register
    ... class PointType(structs.StructRef): ...

    Raises:
        ValueError: it is `types.StructRef` itself, or does not derive from it.
    """
    return _is_own(struct_type)


def _is_own(struct_type: Any) -> Any:
    if not (isinstance(struct_type, type) and issubclass(struct_type, structs.StructRef)):
        raise ValueError(f"{struct_type} does not derive from types.StructRef")
    if struct_type is structs.StructRef:
        raise ValueError(f"cannot register {struct_type}")
    return struct_type


def define_attributes(struct_typeclass: Any) -> None:
    """Makes the fields attributes in compiled code, which they are already.

    >>> class PointType(structs.StructRef): ...
    >>> define_attributes(PointType)
    """
    _is_own(struct_typeclass)


def define_proxy(py_class: Any, struct_typeclass: Any, fields: Sequence[str]) -> None:
    """Makes calls of a class derived from `StructRefProxy` new structs with these fields, in Python and compiled code.

    The types of the arguments decide those of the fields.

    >>> class PointType(structs.StructRef): ...
    >>> class Point(StructRefProxy): ...
    >>> define_proxy(Point, PointType, ["x", "y"])
    >>> njit(lambda p: p.x + p.y)(Point(1, 2.5))
    3.5
    """
    define_constructor(py_class, struct_typeclass, fields)
    define_boxing(struct_typeclass, py_class)


def define_boxing(struct_type: Any, obj_class: Any) -> None:
    """Says which class derived from `StructRefProxy` the objects of Python have.

    >>> class PointType(structs.StructRef): ...
    >>> define_boxing(PointType, StructRefProxy)
    >>> point_type = PointType([("x", _core.parse_type("int64"))])
    >>> type(njit(lambda: new(point_type))()).__name__
    'StructRefProxy'

    Raises:
        ValueError: `struct_type` is `types.StructRef` itself.
        TypeError: the class does not derive from `StructRefProxy`.
    """
    if not (isinstance(obj_class, type) and issubclass(obj_class, StructRefProxy)):
        raise TypeError(f"{obj_class} does not derive from StructRefProxy")
    structs.set_proxy(_is_own(struct_type), obj_class)


def define_constructor(py_class: Any, struct_typeclass: Any, fields: Sequence[str]) -> None:
    """Makes calls of a class new structs with these fields, in compiled code only.

    >>> class PointType(structs.StructRef): ...
    >>> class Point: ...
    >>> define_constructor(Point, PointType, ["x", "y"])
    >>> njit(lambda x: Point(y=x, x=2).y)(7)
    7
    """
    _is_own(struct_typeclass)
    names = tuple(fields)
    init = vars(dataclasses.make_dataclass(py_class.__name__, names))["__init__"]
    construct(py_class, init, names, lambda types: struct_typeclass(list(zip(names, types, strict=True))))


def new(struct_type: Any) -> Any:
    """A struct whose fields are zeros, or nothing at all, until they are assigned; only in compiled code.

    >>> class PointType(structs.StructRef): ...
    >>> point_type = PointType([("x", _core.parse_type("float64"))])
    >>> @njit
    ... def f():
    ...     point = new(point_type)
    ...     point.x = 1
    ...     return point.x + 0.5
    >>> f()
    1.5
    """
    raise errors.NumbaNotImplementedError("`structref.new` has a meaning in compiled code only")
