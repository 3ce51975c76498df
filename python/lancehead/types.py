"""Types of values in compiled code.

`float64[:, ::1]` is an array type and `float64(int64)` a signature. The classes here are constructors and answer
`isinstance`; every type is an instance of `Type`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any
from typing import NamedTuple as NamedTupleClass

import numpy

from lancehead import _core, errors, type_texts
from lancehead._core import (
    Signature,
    array_type,
    container_type,
    dtype_of_type,
    initial_type,
    keyed_type,
    literal_type,
    named_tuple_type,
    optional_type,
    parse_type,
    pointer_type,
    text_type,
    tuple_type,
    type_of_dtype,
    unliteral,
)
from lancehead._core import Type as CoreType
from lancehead._core import deferred_type as new_deferred_type
from lancehead.structs import StructRef as StructRef
from lancehead.type_kinds import KindOfType
from lancehead.type_kinds import Type as Type
from lancehead.type_texts import Written, of_value

if TYPE_CHECKING:
    from lancehead.abstract_types import *  # noqa: F403


def typeof(value: Any) -> Any:
    """The type of a value, as a call of a compiled function with it has.

    >>> typeof(1.5)
    float64

    Raises:
        NumbaValueError: compiled code does not take such values.
    """
    try:
        found = _core.typeof(value)
    except errors.NumbaValueError:
        other = importlib.import_module("lancehead.foreign_types").of_value(value) if type_texts.served else None
        if other is not None:
            return other
        found = _core.type_of_argument(value)
        # For Numba, objects have no type, but arrays of them do.
        if type_texts.served and isinstance(found, PyObject):
            raise
        return found
    return of_value(value, found)


int8 = i1 = char = parse_type("int8")
int16 = i2 = short = parse_type("int16")
int32 = i4 = intc = parse_type("int32")
int64 = i8 = intp = int_ = long_ = longlong = ssize_t = parse_type("int64")
uint8 = u1 = uchar = byte = parse_type("uint8")
uint16 = u2 = ushort = parse_type("uint16")
uint32 = u4 = uintc = parse_type("uint32")
uint64 = u8 = uintp = uint = ulong = ulonglong = size_t = parse_type("uint64")
float16 = f2 = parse_type("float16")
bfloat16 = parse_type("bfloat16")
float32 = f4 = parse_type("float32")
float64 = f8 = double = parse_type("float64")
complex64 = c8 = parse_type("complex64")
complex128 = c16 = parse_type("complex128")
boolean = bool_ = b1 = parse_type("boolean")
void = none = parse_type("none")
unicode_type = string = parse_type("unicode_type")
slice2_type, slice3_type = type_texts.SLICES
range_state64_type = typeof(range(0))
ellipsis = typeof(...)

signed_domain = frozenset([int8, int16, int32, int64])
unsigned_domain = frozenset([uint8, uint16, uint32, uint64])
integer_domain = signed_domain | unsigned_domain
real_domain = frozenset([float32, float64])
complex_domain = frozenset([complex64, complex128])
number_domain = real_domain | integer_domain | complex_domain


def _by_name(cls: type, name: str, *more: Any) -> Any:
    """The type with a name, which Numba's class of it makes."""
    return parse_type(name)


class Integer(metaclass=KindOfType):
    """Integers.

    >>> isinstance(int8, Integer)
    True
    """

    kinds: tuple[str, ...] = ("Integer", "IntegerLiteral")
    __new__ = _by_name  # type: ignore[assignment]


class Float(metaclass=KindOfType):
    """Floating-point numbers.

    >>> isinstance(float32, Float)
    True
    """

    kinds: tuple[str, ...] = ("Float",)
    __new__ = _by_name  # type: ignore[assignment]


class Complex(metaclass=KindOfType):
    """Complex numbers.

    >>> isinstance(complex64, Complex)
    True
    """

    kinds: tuple[str, ...] = ("Complex",)
    __new__ = _by_name  # type: ignore[assignment]


class Boolean(metaclass=KindOfType):
    """Truth values.

    >>> isinstance(boolean, Boolean)
    True
    """

    kinds: tuple[str, ...] = ("Boolean",)


class Number(metaclass=KindOfType):
    """Numbers, without truth values.

    >>> isinstance(int8, Number)
    True
    """

    kinds: tuple[str, ...] = ("Integer", "Float", "Complex")


class NoneType(metaclass=KindOfType):
    """The type of `None`, of which there is one.

    >>> isinstance(none, NoneType), NoneType("none") is none
    (True, True)
    """

    kinds: tuple[str, ...] = ("NoneType",)

    def __new__(cls, name: str) -> Any:
        return none


class UnicodeType(metaclass=KindOfType):
    """Strings.

    >>> isinstance(unicode_type, UnicodeType)
    True
    """

    kinds: tuple[str, ...] = ("UnicodeType",)


class RangeType(metaclass=KindOfType):
    """Ranges.

    >>> isinstance(typeof(range(3)), RangeType)
    True
    """

    kinds: tuple[str, ...] = ("RangeType",)


class SliceType(metaclass=KindOfType):
    """Slices.

    >>> isinstance(typeof(slice(3)), SliceType)
    True
    """

    kinds: tuple[str, ...] = ("SliceType",)


class NumberClass(metaclass=KindOfType):
    """Scalar types as values.

    >>> isinstance(typeof(numpy.float32), NumberClass)
    True
    """

    kinds: tuple[str, ...] = ("NumberClass",)

    def __new__(cls, instance_type: CoreType) -> Any:
        """The type of the class of numbers of a type."""
        return typeof(as_dtype(instance_type).type)


DType = NumberClass


class Dispatcher(metaclass=KindOfType):
    """Functions as values.

    >>> from lancehead import njit
    >>> isinstance(typeof(njit(lambda x: x)), Dispatcher)
    True
    """

    kinds: tuple[str, ...] = ("Dispatcher",)


class FunctionType(metaclass=KindOfType):
    """Types of functions that are called with given types: `FunctionType(int64(int64))`.

    In signatures, `int64(int64)` means the same.

    >>> from lancehead import njit
    >>> @njit(int64(FunctionType(int64(int64)), int64))
    ... def twice(f, x):
    ...     return f(f(x))
    >>> twice(njit(int64(int64))(lambda x: x + 3), 1)
    7
    """

    kinds: tuple[str, ...] = ("FunctionType",)

    def __new__(cls, signature: Any) -> Any:
        """The type of functions that a signature describes, as a called type or a string."""
        return parse_type(f"FunctionType({signature})") if isinstance(signature, str) else signature.as_type()


class Array(metaclass=KindOfType):
    """Array types: `Array(float64, 2, "C")`.

    >>> Array(float64, 2, "C")
    array(float64, 2d, C)
    >>> isinstance(float64[:], Array)
    True
    """

    kinds: tuple[str, ...] = ("Array",)

    def __new__(
        cls,
        dtype: Any,
        ndim: int,
        layout: str,
        readonly: bool = False,
        name: str | None = None,
        aligned: bool = True,
    ) -> Any:
        """The type of arrays of this element type, rank and layout; dimensions of a `NestedArray` are added."""
        if isinstance(dtype, NestedArray):
            dtype, ndim = dtype.dtype, ndim + len(dtype.shape)
        return array_type(dtype, ndim, layout, readonly)


class BaseTuple(metaclass=KindOfType):
    """Tuples of any kind.

    >>> isinstance(UniTuple(int64, 2), BaseTuple)
    True
    """

    kinds: tuple[str, ...] = ("Tuple", "UniTuple", "NamedTuple")

    @staticmethod
    def from_types(types: Any, pyclass: type | None = None) -> CoreType:
        """The type of tuples with items of these types."""
        return tuple_type(types) if pyclass is None else named_tuple_type(types, pyclass)


class Tuple(BaseTuple):
    """Tuple types: `Tuple((int64, float64))`.

    >>> Tuple((int64, float64))
    Tuple(int64, float64)
    """

    kinds: tuple[str, ...] = ("Tuple", "UniTuple")

    def __new__(cls, types: Any) -> Any:
        """The type of tuples with items of these types."""
        return tuple_type(types)


class UniTuple(BaseTuple):
    """Types of tuples with items of one type: `UniTuple(int64, 3)`.

    >>> UniTuple(int64, 3)
    UniTuple(int64 x 3)
    """

    kinds: tuple[str, ...] = ("UniTuple",)

    def __new__(cls, dtype: CoreType, count: int) -> Any:
        """The type of tuples with `count` items of this type."""
        return tuple_type([dtype] * count)


class NamedTuple(BaseTuple):
    """Types of namedtuples: `NamedTuple((int64, int64), Point)`.

    >>> from collections import namedtuple
    >>> isinstance(NamedTuple((int64, float64), namedtuple("Point", "x y")), NamedTuple)
    True
    """

    kinds: tuple[str, ...] = ("NamedTuple",)

    def __new__(cls, types: Any, class_: type) -> Any:
        """The type of instances of a namedtuple class."""
        return named_tuple_type(types, class_)


class NamedUniTuple(NamedTuple):
    """Types of namedtuples with fields of one type.

    >>> from collections import namedtuple
    >>> NamedUniTuple(int64, 2, namedtuple("Point", "x y")).count
    2
    """

    def __new__(cls, dtype: CoreType, count: int, class_: type) -> Any:
        """The type of instances of a namedtuple class."""
        return named_tuple_type([dtype] * count, class_)


class List(metaclass=KindOfType):
    """List types: `List(int64)`. A typed list and a list of Python's have the same; it is written as it was made.

    >>> isinstance(List(int64), List)
    True
    """

    kinds: tuple[str, ...] = ("List",)

    def __new__(cls, dtype: CoreType | tuple[CoreType, ...], reflected: bool = False, initial_value: Any = None) -> Any:
        """The type of lists of items of this type, or of tuples of these types; `initial_value` has the constants that
        a display made a list of."""
        made = container_type("builtins.list", [tuple_type(dtype) if isinstance(dtype, tuple) else dtype])
        if initial_value is not None:
            return initial_type(made, initial_value)
        return Written(made, "reflected" if reflected else "plain")


class ListType(List):
    """Types of typed lists, which are those of lists: `ListType(int64)`.

    >>> ListType(int64) == List(int64)
    True
    >>> print(ListType(int64))
    ListType[int64]
    """

    def __new__(cls, itemty: CoreType) -> Any:
        """The type of lists of items of this type."""
        return container_type("builtins.list", [itemty])


class DictType(metaclass=KindOfType):
    """Types of dictionaries: `DictType(unicode_type, int64)`.

    >>> isinstance(DictType(unicode_type, int64), DictType)
    True
    """

    kinds: tuple[str, ...] = ("DictType",)

    def __new__(cls, keyty: CoreType, valty: CoreType, initial_value: Any = None) -> Any:
        """The type of dictionaries with keys and values of these types; `initial_value` has the constants that a
        display made a dictionary of."""
        made = container_type("builtins.dict", [keyty, valty])
        return made if initial_value is None else initial_type(made, initial_value)


class LiteralList(metaclass=KindOfType):
    """Types of constant lists of values of several types.

    >>> LiteralList((int64, unicode_type)).types
    (int64, unicode_type)
    """

    kinds: tuple[str, ...] = ("LiteralList",)

    def __new__(cls, literal_value: Any) -> Any:
        """The type for the types of the items."""
        return container_type("lists.mixed_list", [tuple_type(literal_value)])


class LiteralStrKeyDict(metaclass=KindOfType):
    """Types of dictionaries with constant keys that are texts and values of several types.

    >>> LiteralStrKeyDict({"a": int64, "b": float64}).literal_value
    {Literal[str](a): int64, Literal[str](b): float64}
    """

    kinds: tuple[str, ...] = ("LiteralStrKeyDict",)

    def __new__(cls, literal_value: dict[Any, Any]) -> Any:
        """The type for types of the values by the keys."""
        return keyed_type(literal_value)


class SetType(metaclass=KindOfType):
    """Types of sets: `SetType(int64)`.

    >>> isinstance(SetType(int64), SetType)
    True
    """

    kinds: tuple[str, ...] = ("SetType",)

    def __new__(cls, dtype: CoreType, reflected: bool = False) -> Any:
        """The type of sets of items of this type."""
        return Written(container_type("builtins.set", [dtype]), "reflected" if reflected else "plain")


Set = SetType


class Optional(metaclass=KindOfType):
    """A value or `None`: `Optional(float64)`.

    >>> Optional(float64)
    OptionalType(float64)
    """

    kinds: tuple[str, ...] = ("Optional",)

    def __new__(cls, type: CoreType) -> Any:
        """The type of values of this type, or `None`."""
        return optional_type(type)


optional = Optional


class NPDatetime(metaclass=KindOfType):
    """Points of time, `numpy.datetime64`, of a unit: `NPDatetime("D")`.

    >>> NPDatetime("D")
    datetime64[D]
    """

    kinds: tuple[str, ...] = ("NPDatetime",)

    def __new__(cls, unit: str = "") -> Any:
        """The type of points in a unit."""
        return parse_type(f"NPDatetime('{unit}')")


class NPTimedelta(metaclass=KindOfType):
    """Spans of time, `numpy.timedelta64`, of a unit: `NPTimedelta("10s")`.

    >>> NPTimedelta("10s")
    timedelta64[10s]
    """

    kinds: tuple[str, ...] = ("NPTimedelta",)

    def __new__(cls, unit: str = "") -> Any:
        """The type of spans in a unit."""
        return parse_type(f"NPTimedelta('{unit}')")


class ClassInstanceType(metaclass=KindOfType):
    """Instances of classes that a program defines.

    >>> from lancehead.experimental import jitclass
    >>> @jitclass([("n", int64)])
    ... class Counter:
    ...     def __init__(self):
    ...         self.n = 0
    >>> isinstance(typeof(Counter()), ClassInstanceType)
    True
    """

    kinds: tuple[str, ...] = ("ClassInstanceType",)


class Omitted(metaclass=KindOfType):
    """The type of a default value: that of the value; no type is an instance of it.

    >>> Omitted(1.5) == float64, str(Omitted(1.5))
    (True, 'omitted(default=1.5)')
    """

    def __new__(cls, value: object) -> Any:
        """The type of the value."""
        return Written(typeof(value), f"omitted(default={value!r})")


class Literal(metaclass=KindOfType):
    """Types of values that are known while compiling: `Literal(5)`.

    >>> Literal(5).literal_value
    5
    """

    kinds: tuple[str, ...] = ("IntegerLiteral", "StringLiteral", "BooleanLiteral", "LiteralStrKeyDict", "LiteralList")

    def __new__(cls, value: object) -> Any:
        """The literal type of an int, a bool or a string."""
        return literal_type(value)


def maybe_literal(value: object) -> CoreType | None:
    """The literal type of an int, a bool or a string; `None` of anything else.

    >>> maybe_literal(5), maybe_literal(5.0)
    (Literal[int](5), None)
    """
    try:
        found: CoreType = literal_type(value)
    except errors.LiteralTypingError:
        return None
    return found


class IntegerLiteral(Literal):
    """Types of integer literals.

    >>> isinstance(Literal(5), IntegerLiteral)
    True
    """

    kinds: tuple[str, ...] = ("IntegerLiteral",)


class StringLiteral(Literal):
    """Types of string literals.

    >>> isinstance(Literal("C"), StringLiteral)
    True
    """

    kinds: tuple[str, ...] = ("StringLiteral",)

    def __new__(cls, value: object) -> Any:
        """The literal type of a text; of any other object a type with the object as its `literal_value`."""
        if isinstance(value, str):
            return literal_type(value)
        return importlib.import_module("lancehead.foreign_types").LiteralOfObject(value)


class BooleanLiteral(Literal):
    """Types of `True` and `False`.

    >>> isinstance(Literal(True), BooleanLiteral)
    True
    """

    kinds: tuple[str, ...] = ("BooleanLiteral",)


voidptr = parse_type("voidptr")


class Record(metaclass=KindOfType):
    """Types of items of structured dtypes.

    >>> record = Record.make_c_struct([("x", int32), ("y", float64)])
    >>> record.offset("y"), record.typeof("x")
    (8, int32)
    """

    kinds: tuple[str, ...] = ("Record",)

    @staticmethod
    def make_c_struct(name_types: list[tuple[str, Any]]) -> CoreType:
        """The record that C lays out for fields with these names and types."""
        dtype = numpy.dtype([(name, *_field(type_)) for name, type_ in name_types], align=True)
        made: CoreType = from_dtype(dtype)
        return made


def _field(type_: Any) -> tuple[Any, ...]:
    return (as_dtype(type_.dtype), type_.shape) if isinstance(type_, NestedArray) else (as_dtype(type_),)


def nested(record: Any, name: str, type_: Any) -> Any:
    """The type of a field of a record: of an array of a fixed shape, where the field is one."""
    sub = record.dtype.fields[name][0].subdtype
    return type_ if sub is None else NestedArray(from_dtype(sub[0]), sub[1])


class NestedArray(NamedTupleClass):
    """An array of a fixed shape in a record, for `Record.make_c_struct`.

    >>> NestedArray(float64, (2, 3)).shape
    (2, 3)
    """

    dtype: CoreType
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"nestedarray({self.dtype}, {self.shape})"

    def __repr__(self) -> str:
        return f"NestedArray({self.dtype}, {self.shape})"


class CharSeq(metaclass=KindOfType):
    """Types of texts of bytes in arrays: NumPy's dtype `S`.

    >>> CharSeq(5)
    [char x 5]
    """

    kinds: tuple[str, ...] = ("CharSeq",)

    def __new__(cls, count: int) -> Any:
        """The type of texts of so many bytes."""
        return text_type(count, False)


class UnicodeCharSeq(metaclass=KindOfType):
    """Types of texts of code points in arrays: NumPy's dtype `U`.

    >>> UnicodeCharSeq(5)
    [unichr x 5]
    """

    kinds: tuple[str, ...] = ("UnicodeCharSeq",)

    def __new__(cls, count: int) -> Any:
        """The type of texts of so many code points."""
        return text_type(count, True)


class CPointer(metaclass=KindOfType):
    """Addresses of values of a type, as parameters of C functions; compiled code gives arrays for them.

    >>> CPointer(float64)
    float64*
    >>> isinstance(CPointer(float64), CPointer)
    True
    """

    kinds: tuple[str, ...] = ("CPointer",)

    def __new__(cls, dtype: CoreType) -> Any:
        """The type of addresses of values of a type."""
        return pointer_type(dtype)


def deferred_type() -> CoreType:
    """A type that its `define` says later, for fields of a class that refer to the class.

    >>> node_type = deferred_type()
    >>> node_type.define(int64)
    """
    return new_deferred_type()


literal = literal_type


class WrapperAddressProtocol:
    """The base of classes whose instances are C functions that compiled code calls by their address.

    >>> import ctypes, ctypes.util
    >>> from lancehead import njit
    >>> libm = ctypes.CDLL(ctypes.util.find_library("m"))
    >>> class Cosine(WrapperAddressProtocol):
    ...     def __wrapper_address__(self):
    ...         return ctypes.cast(libm.cos, ctypes.c_void_p).value
    ...     def signature(self):
    ...         return float64(float64)
    >>> njit(lambda f, x: f(x))(Cosine(), 0.0)
    1.0
    """

    def __wrapper_address__(self) -> int:
        """The address of the C function."""
        raise NotImplementedError(f"{type(self).__name__} has no `__wrapper_address__`")

    def signature(self) -> Any:
        """Types of parameters and of the result, as `float64(float64)`."""
        raise NotImplementedError(f"{type(self).__name__} has no `signature`")


class PyObject(metaclass=KindOfType):
    """The type of objects whose classes have no type of their own. Compiled code passes them on, returns them, holds
    them in tuples and compares them by `is`; overloads may give them more.

    >>> pyobject
    pyobject
    >>> isinstance(pyobject, PyObject)
    True
    >>> pyobject[:]
    array(pyobject, 1d, A)
    """

    kinds: tuple[str, ...] = ("PyObject",)

    def __new__(cls, name: str = "pyobject") -> Any:
        """The type: there is one."""
        return _core.pyobject_type()


#: Any object.
pyobject = _core.pyobject_type()

__all__ = [
    "Array", "BaseTuple", "Boolean", "BooleanLiteral", "CPointer", "CharSeq", "Complex", "DictType", "Dispatcher",
    "Float", "FunctionType", "Integer", "IntegerLiteral", "List", "ListType", "Literal",
    "LiteralList", "LiteralStrKeyDict", "NPDatetime", "NPTimedelta",
    "NamedTuple", "NamedUniTuple", "NestedArray", "NoneType", "Number", "NumberClass", "Omitted", "Optional",
    "PyObject", "RangeType", "Record", "Set", "SetType", "Signature", "SliceType", "StringLiteral", "Tuple", "Type",
    "UniTuple", "UnicodeCharSeq", "UnicodeType", "WrapperAddressProtocol", "b1", "bfloat16", "bool_", "boolean", "byte",
    "c16", "c8", "char", "complex128", "complex64", "double", "f2", "f4", "f8", "float16", "float32", "float64", "i1",
    "i2", "i4", "i8", "int16", "int32", "int64", "int8", "int_", "intc", "intp", "literal", "long_", "longlong",
    "maybe_literal", "none", "optional", "pyobject", "short", "size_t", "ssize_t", "string", "u1", "u2", "u4", "u8",
    "uchar", "uint", "uint16", "uint32", "uint64", "uint8", "uintc", "uintp", "ulong", "ulonglong", "unicode_type",
    "unliteral", "ushort", "void", "voidptr",
]  # fmt: skip
#: Names of `lancehead.abstract_types`, which is imported for them: classes take time to make.
_ABSTRACT = (
    "ArrayCompatible", "BaseAnonymousTuple", "Buffer", "ByteArray", "Bytes", "Callable", "ConstSized", "Container",
    "Dummy", "EllipsisType", "EnumMember", "Hashable", "InitialValue", "IntEnumMember", "IterableType",
    "MemoryView", "MutableSequence", "Opaque", "PyArray", "Sequence", "Sized",
)  # fmt: skip
__all__ += list(_ABSTRACT)


def __dir__() -> list[str]:
    domains = [name for name in globals() if name.endswith("_domain")]
    return [*__all__, *domains, "bool", "deferred_type", "ellipsis", "from_dtype", "typeof"]


def from_dtype(dtype: Any) -> Any:
    """The type of elements of a NumPy dtype.

    >>> import numpy as np
    >>> from_dtype(np.dtype("f4"))
    float32
    >>> from_dtype(np.dtype(("f4", (2,))))
    NestedArray(float32, (2,))

    Raises:
        NumbaNotImplementedError: the dtype is none of `bool`, the integers, `float16`, `float32`, `float64`,
            `complex64`, `complex128` and records of them, or not in the byte order of the machine.
    """
    given = numpy.dtype(dtype)
    if given.subdtype is not None:
        return NestedArray(from_dtype(given.subdtype[0]), given.shape)
    found = type_of_dtype(given)
    if found is None:
        raise errors.NumbaNotImplementedError(f"{dtype!r} has no native form")
    return found


def as_dtype(type_: CoreType) -> numpy.dtype[Any]:
    """The NumPy dtype of elements of a type.

    >>> as_dtype(float32)
    dtype('float32')

    Raises:
        NumbaNotImplementedError: no array has such elements.
    """
    abstract = importlib.import_module("lancehead.abstract_types")
    if isinstance(type_, (abstract.EnumMember, abstract.IntEnumMember)):
        type_ = type_.dtype
    found: numpy.dtype[Any] | None = dtype_of_type(type_)
    if found is None:
        raise errors.NumbaNotImplementedError(f"{type_!r} cannot be represented as a NumPy dtype")
    return found


def __getattr__(name: str) -> Any:
    if name == "bool":  # NumPy's name, which would hide Python's own here.
        return boolean
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    if name == "ExternalFunction":
        return importlib.import_module(f"{__package__}.lowlevel.external").ExternalFunction
    if name in _ABSTRACT:
        globals()[name] = getattr(importlib.import_module("lancehead.abstract_types"), name)
        return globals()[name]
    others = importlib.import_module("lancehead.foreign_types")
    if name in others.__all__:
        return getattr(others, name)
    raise importlib.import_module("lancehead._absent").missing(__name__, name)
