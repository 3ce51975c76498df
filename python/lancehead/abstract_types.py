"""Classes of `lancehead.types` that several kinds of types share, such as `Buffer`, and that answer `isinstance`.

`lancehead.types` imports this file when one of the names is used first, as classes take time to make.
"""

from __future__ import annotations

import array
from typing import Any

import numpy as np

from lancehead._core import Type as CoreType
from lancehead._core import dtype_of_type, typeof
from lancehead.type_kinds import AnyType, Type, made_by_new


class CommonKinds(AnyType):
    """The class of the classes below. A class of a program that derives from one is asked for its own instances."""

    def __instancecheck__(cls, value: object) -> bool:
        kinds = vars(cls).get("kinds", ())
        return type.__instancecheck__(cls, value) or (isinstance(value, CoreType) and value.kind in kinds)


def _kinds(name: str, what: str, example: str, kinds: str, make: Any = None) -> CommonKinds:
    doc = f"{what}\n\n    >>> isinstance(typeof({example}), {name})\n    True\n    "
    known = {"__doc__": doc, "kinds": tuple(kinds.split()), "__module__": "lancehead.types"}
    return CommonKinds(name, (Type,), known if make is None else {**known, "__new__": make, "__init__": made_by_new})


def _over(make: Any) -> Any:
    """Constructs the type of objects that share the memory of an array: of items of a type, in one dimension."""

    def new(cls: type, dtype: CoreType, ndim: int = 1, layout: str = "C", readonly: bool = False, **more: Any) -> Any:
        return typeof(make(np.zeros(1, dtype_of_type(dtype)), readonly))

    return new


def _viewed(items: Any, readonly: bool) -> memoryview:
    return memoryview(items).toreadonly() if readonly else memoryview(items)


def _member(cls: Any, instance_class: Any, dtype: CoreType) -> Any:
    """The type of members of an enumeration; one that compiled code does not have if their values are of another
    type."""
    found: Any = typeof(next(iter(instance_class)))
    if found.kind in cls.kinds and found.dtype == dtype:
        return found
    made = Type.__new__(cls)
    made.instance_class, made.dtype = instance_class, dtype
    made.name = f"{cls.__name__.removesuffix('Member')}<{dtype}>({instance_class.__name__})"
    return made


def _init_buffer(
    self: Any, dtype: Any, ndim: int, layout: str, readonly: bool = False, name: str | None = None
) -> None:
    Type.__init__(self, name or f"{type(self).__name__}({dtype}, {ndim}d, {layout})")
    self.dtype, self.ndim, self.layout, self.readonly, self.mutable = dtype, ndim, layout, readonly, not readonly


def _init_iterable(self: Any, name: str, iterator_type: Any = None) -> None:
    Type.__init__(self, name)
    if iterator_type is not None:
        self.iterator_type = iterator_type


_TUPLES = "Tuple UniTuple NamedTuple"
_BUFFERS = "Array Bytes ByteArray MemoryView PyArray"

Buffer = _kinds("Buffer", "Arrays, and objects whose memory they share: bytes and the like.", 'b"a"', _BUFFERS)
ArrayCompatible = _kinds("ArrayCompatible", "Types of which NumPy's functions take values.", "numpy.zeros(2)", _BUFFERS)
Bytes = _kinds("Bytes", "Types of `bytes`.", 'b"a"', "Bytes", _over(lambda items, _: b""))
ByteArray = _kinds(
    "ByteArray", "Types of `bytearray`.", "bytearray(2)", "ByteArray", _over(lambda items, _: bytearray())
)
MemoryView = _kinds("MemoryView", "Types of `memoryview`.", 'memoryview(b"a")', "MemoryView", _over(_viewed))
PyArray = _kinds(
    "PyArray",
    "Types of `array.array`.",
    '__import__("array").array("i")',
    "PyArray",
    _over(lambda items, _: array.array(items.dtype.char)),
)
Sized = _kinds(
    "Sized", "Types of values that have a length.", "[1]", f"{_TUPLES} List SetType LiteralList LiteralStrKeyDict"
)
ConstSized = _kinds("ConstSized", "Types that say a length.", "(1, 2.5)", f"{_TUPLES} LiteralList LiteralStrKeyDict")
Container = _kinds("Container", "Lists, sets, and tuples of one type.", "{1}", "List SetType UniTuple")
Sequence = _kinds("Sequence", "Lists, and tuples of one type.", "[1]", "List UniTuple")
MutableSequence = _kinds("MutableSequence", "Lists.", "[1]", "List")
IterableType = _kinds(
    "IterableType",
    "Types of values that a loop takes items of one type from.",
    '"text"',
    f"{_BUFFERS} List SetType DictType UniTuple UnicodeType RangeType Generator",
)
BaseAnonymousTuple = _kinds("BaseAnonymousTuple", "Tuples whose items have no names.", "(1, 2.5)", "Tuple UniTuple")
Hashable = _kinds(
    "Hashable",
    "Types of keys: numbers, texts, tuples.",
    "1.5",
    f"{_TUPLES} Integer IntegerLiteral Float Complex Boolean BooleanLiteral UnicodeType StringLiteral LiteralList",
)
InitialValue = _kinds("InitialValue", "Types that know what a display gave a value at first.", "[1]", "List DictType")
Callable = _kinds("Callable", "Types of what is called.", "numpy.float32", "Dispatcher FunctionType NumberClass")
EnumMember = _kinds(
    "EnumMember", "Members of enumerations.", '__import__("signal").SIGINT', "EnumMember IntEnumMember", _member
)
IntEnumMember = _kinds(
    "IntEnumMember",
    "Members of enumerations that are integers.",
    '__import__("signal").SIGINT',
    "IntEnumMember",
    _member,
)
Opaque = _kinds(
    "Opaque", "Types with one value, or of objects known while compiling.", "None", "Opaque NoneType EllipsisType"
)
Dummy = _kinds("Dummy", "The same, and types as values.", "None", "Opaque NoneType EllipsisType NumberClass")
EllipsisType = _kinds("EllipsisType", "The type of `...`.", "...", "EllipsisType")

for _class, _init in ((Buffer, _init_buffer), (IterableType, _init_iterable)):
    setattr(_class, "__init__", _init)  # noqa: B010
