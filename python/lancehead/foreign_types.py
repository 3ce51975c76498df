"""Types that Numba has for what lancehead types in another way, or not at all.

Programs name them: in checks by `isinstance`, which are false for types of compiled code, as bases of classes, and as
instances, which compiled code does not take values of.
"""

from __future__ import annotations

import enum
from types import ModuleType
from typing import Any

from lancehead import _core
from lancehead.abstract_types import Callable, Dummy, IterableType, Opaque
from lancehead.type_kinds import KindOfType, Type


class Named(Type):
    """A type that is known by a text."""

    def __str__(self) -> str:
        return str(self.name)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.name == self.name

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.name))


class Phantom(Named):
    """Types without values."""


class LiteralOfObject(Named):
    """The literal type of an object that compiled code has no literals of."""

    def __init__(self, value: Any) -> None:
        super().__init__(f"Literal[{type(value).__name__}]({value})")
        self.literal_value = value


class Undefined(Named):
    """The type of a variable that has none yet."""

    def __init__(self) -> None:
        super().__init__("undefined")


class UndefVar(Named):
    """The type of a variable without a value."""

    def __init__(self) -> None:
        super().__init__("undef_var")


class Wrapped(Named):
    """A type made of another one, by a pattern of its class."""

    pattern = "{}"

    def __init__(self, dtype: Any, *more: Any) -> None:
        super().__init__(self.pattern.format(dtype, *more))
        self.dtype = self.type = dtype


def _wrapped(names: str, pattern: str, bases: tuple[type, ...] = (Wrapped,)) -> list[type]:
    return [type(name, bases, {"pattern": pattern, "__module__": "lancehead.types"}) for name in names.split()]


class IteratorType(IterableType):  # type: ignore[misc, valid-type]
    """Iterators."""


class SimpleIterableType(IterableType):  # type: ignore[misc, valid-type]
    """Iterables whose iterators all have one type."""


class SimpleIteratorType(IteratorType):
    """Iterators of items of one type."""

    def __init__(self, name: str, yield_type: Any = None) -> None:
        super().__init__(name)
        if yield_type is not None:
            self.yield_type = yield_type


class BaseFunction(Callable):  # type: ignore[misc, valid-type]
    """Functions of which the compiler knows the meaning."""


class Function(BaseFunction):
    """Functions with templates that say their types."""


class BoundFunction(Callable):  # type: ignore[misc, valid-type]
    """Methods of values."""


class ExternalFunction(Function):
    """Functions of C libraries."""


class ExternalFunctionPointer(BaseFunction):
    """Functions of C by their addresses."""

    def __init__(self, sig: Any, get_pointer: Any, cconv: Any = None) -> None:
        super().__init__(f"ExternalFunctionPointer({sig})")
        self.sig, self.get_pointer, self.cconv = sig, get_pointer, cconv


class NamedTupleClass(Callable):  # type: ignore[misc, valid-type]
    """Classes of named tuples."""


class RecursiveCall(Opaque):  # type: ignore[misc, valid-type]
    """A call of a function that is being typed."""


class ObjModeDispatcher(Callable):  # type: ignore[misc, valid-type]
    """Blocks of object mode."""


class ContextManager(Callable):  # type: ignore[misc, valid-type]
    """Context managers."""


class Generator(SimpleIteratorType):
    """Generators of compiled code."""

    kinds = ("Generator",)

    def __init__(
        self, gen_func: Any, yield_type: Any, arg_types: Any = (), state_types: Any = (), has_finalizer: bool = False
    ) -> None:
        super().__init__(f"{yield_type} generator(func={gen_func}, args={arg_types})", yield_type)
        self.gen_func, self.arg_types, self.state_types = gen_func, tuple(arg_types), tuple(state_types)
        self.has_finalizer = has_finalizer


class EnumClass(Named):
    """Classes of enumerations."""

    pattern = "Enum class<{1}>({0})"

    def __init__(self, cls: type[enum.Enum], dtype: Any) -> None:
        self.instance_class, self.dtype = cls, dtype
        super().__init__(self.pattern.format(cls.__name__, dtype))


class IntEnumClass(EnumClass):
    """Classes of enumerations of integers."""

    pattern = "IntEnum class<{1}>({0})"


class ExceptionClass(Named):
    """Classes of exceptions."""

    def __init__(self, exc_class: type[BaseException]) -> None:
        self.exc_class = exc_class
        super().__init__(exc_class.__name__)


class ExceptionInstance(ExceptionClass):
    """Exceptions."""


class Module(Named):
    """Modules."""

    def __init__(self, pymod: Any) -> None:
        self.pymod = pymod
        super().__init__(f"Module({pymod})")


class SliceLiteral(Named):
    """Slices that are known while compiling."""

    def __init__(self, value: slice) -> None:
        self.literal_value = value
        super().__init__(f"Literal[slice]({value})")


class NumPyRandomGeneratorType(metaclass=KindOfType):
    """Generators of random numbers of NumPy."""

    kinds = ("NumPyRandomGeneratorType", "NumPyRandomBitGeneratorType")

    def __new__(cls, *_: Any) -> Any:
        """The type."""
        return npy_rng


class NumPyRandomBitGeneratorType(metaclass=KindOfType):
    """The type of NumPy's bit generators, from which `Generator` objects take their bits."""

    kinds = ("NumPyRandomBitGeneratorType",)

    def __new__(cls, *_: Any) -> Any:
        """The type."""
        return npy_bitgen


class RawPointer(Opaque):  # type: ignore[misc, valid-type]
    """Addresses of what is not known."""


class StarArgTuple(Named):
    """Arguments of `*args`."""

    def __init__(self, types: Any) -> None:
        self.types = tuple(types)
        super().__init__(f"StarArgTuple({', '.join(map(str, self.types))})")

    def __repr__(self) -> str:
        return f"Tuple({self.types})"


class StarArgUniTuple(Named):
    """Arguments of `*args` of one type."""

    def __init__(self, dtype: Any, count: int) -> None:
        self.dtype, self.count = dtype, count
        super().__init__(f"StarArgUniTuple({dtype} x {count})")

    def __repr__(self) -> str:
        return f"UniTuple({self.dtype!r}, {self.count})"


class Pair(Named):
    """Pairs of values of two types."""

    def __init__(self, first_type: Any, second_type: Any) -> None:
        self.first_type, self.second_type = first_type, second_type
        super().__init__(f"pair<{first_type}, {second_type}>")


class DTypeSpec(Opaque):  # type: ignore[misc, valid-type]
    """Types that specify the element type of arrays: a class of numbers, or a dtype."""

    kinds = ("NumberClass",)


class WeakType(Type):
    """Types whose identity is that of an object."""


class Conversion(enum.IntEnum):
    """How a type converts to another."""

    exact, promote, safe, unsafe, nil = 1, 2, 3, 4, 99


[VarArg] = _wrapped("VarArg", "*{}")
[TypeRef] = _wrapped("TypeRef", "typeref[{}]")
[Poison] = _wrapped("Poison", "Poison<{}>")
[EphemeralPointer] = _wrapped("EphemeralPointer", "{}*")
[EphemeralArray] = _wrapped("EphemeralArray", "*{}[{}]")
[MemInfoPointer] = _wrapped("MemInfoPointer", "memory-managed *{}")
[ArrayCTypes] = _wrapped("ArrayCTypes", "ArrayCTypes(dtype={0.dtype}, ndim={0.ndim})")
[NumpyFlatType] = _wrapped("NumpyFlatType", "array.flat({})", (Wrapped, SimpleIteratorType))
[NumpyNdEnumerateType] = _wrapped("NumpyNdEnumerateType", "ndenumerate({})", (Wrapped, SimpleIteratorType))
[ListTypeIterableType] = _wrapped("ListTypeIterableType", "list[{}]", (Wrapped, SimpleIterableType))
[DictKeysIterableType] = _wrapped("DictKeysIterableType", "keys[{}]", (Wrapped, SimpleIterableType))
[DictItemsIterableType] = _wrapped("DictItemsIterableType", "items[{}]", (Wrapped, SimpleIterableType))
[DictValuesIterableType] = _wrapped("DictValuesIterableType", "values[{}]", (Wrapped, SimpleIterableType))
ArrayIterator, ListIter, SetIter, UniTupleIter, ListTypeIteratorType, SetIteratorType, DictIteratorType = _wrapped(
    "ArrayIterator ListIter SetIter UniTupleIter ListTypeIteratorType SetIteratorType DictIteratorType",
    "iter({})",
    (Wrapped, SimpleIteratorType),
)
[RangeIteratorType] = _wrapped("RangeIteratorType", "range_iter_{}", (Wrapped, SimpleIteratorType))
[EnumerateType] = _wrapped("EnumerateType", "enumerate(iter({}))", (Wrapped, SimpleIteratorType))
NumpyNdIterType, NumpyNdIndexType, UnicodeIteratorType, BaseContainerIterator = _wrapped(
    "NumpyNdIterType NumpyNdIndexType UnicodeIteratorType BaseContainerIterator",
    "iter({})",
    (Wrapped, SimpleIteratorType),
)
BaseContainerPayload, ListPayload, SetPayload, StructRefPayload, ClassDataType, SetEntry = _wrapped(
    "BaseContainerPayload ListPayload SetPayload StructRefPayload ClassDataType SetEntry", "payload({})"
)
CompileResultWAP, FunctionPrototype, MakeFunctionLiteral, UndefinedType = _wrapped(
    "CompileResultWAP FunctionPrototype MakeFunctionLiteral UndefinedType", "{}"
)
ArrayFlags, Object, PolynomialType, ClassType, BaseNamedTuple, SetIterableType = _wrapped(
    "ArrayFlags Object PolynomialType ClassType BaseNamedTuple SetIterableType", "{}"
)


class ZipType(SimpleIteratorType):
    """Iterators of `zip`."""

    def __init__(self, iterable_types: Any) -> None:
        super().__init__(f"zip({', '.join(f'iter({t})' for t in iterable_types)})")


class UnionType(Named):
    """Values of one of several types."""

    def __init__(self, types: Any) -> None:
        self.types = tuple(sorted(set(types), key=str))
        super().__init__(f"Union[{','.join(map(str, self.types))}]")


class UndefinedFunctionType(Named):
    """Functions of which only the number of arguments is known."""

    def __init__(self, nargs: int, dispatchers: Any) -> None:
        self.nargs, self.dispatchers = nargs, dispatchers
        super().__init__(f"UndefinedFunctionType[undefined({', '.join(['undefined'] * nargs)}){len(dispatchers) + 1}]")


Iterable = IterableType
undefined, unknown = Undefined(), Dummy("unknown")
code_type, pyfunc_type, ffi, ffi_forced_object = map(Opaque, ("code", "pyfunc", "ffi", "ffi_forced_object"))
phantom = Phantom("phantom")
npy_rng: Any = _core.parse_type("npy_rng")
npy_bitgen: Any = _core.parse_type("npy_bitgen")
range_iter32_type, range_iter64_type, unsigned_range_iter64_type = (
    RangeIteratorType(_core.parse_type(name)) for name in ("int32", "int64", "uint64")
)
range_state32_type, unsigned_range_state64_type = map(Opaque, ("range_state_int32", "range_state_uint64"))


def of_value(value: Any) -> Any:
    """The type that Numba has for an object that compiled code does not take; `None` if it has none."""
    if isinstance(value, ModuleType):
        return Module(value)
    if isinstance(value, enum.EnumMeta):
        member: Any = _core.typeof(next(iter(value)))
        return (IntEnumClass if member.kind == "IntEnumMember" else EnumClass)(value, member.dtype)  # type: ignore[arg-type]
    if isinstance(value, type) and issubclass(value, BaseException):
        return ExceptionClass(value)
    return None


__all__ = [
    "ArrayCTypes", "ArrayFlags", "ArrayIterator", "BaseContainerIterator", "BaseContainerPayload", "BaseFunction",
    "BaseNamedTuple", "BoundFunction", "ClassDataType", "ClassType", "CompileResultWAP", "ContextManager",
    "Conversion", "DTypeSpec", "DictItemsIterableType", "DictIteratorType", "DictKeysIterableType",
    "DictValuesIterableType", "EnumClass", "EnumerateType", "EphemeralArray", "EphemeralPointer", "ExceptionClass",
    "ExceptionInstance", "ExternalFunction", "ExternalFunctionPointer", "Function", "FunctionPrototype", "Generator",
    "IntEnumClass", "Iterable", "IteratorType", "ListIter", "ListPayload", "ListTypeIterableType",
    "ListTypeIteratorType", "MakeFunctionLiteral", "MemInfoPointer", "Module", "NamedTupleClass",
    "NumPyRandomBitGeneratorType", "NumPyRandomGeneratorType", "NumpyFlatType", "NumpyNdEnumerateType",
    "NumpyNdIndexType", "NumpyNdIterType", "ObjModeDispatcher", "Object", "Pair", "Phantom", "Poison",
    "PolynomialType", "RangeIteratorType", "RawPointer", "RecursiveCall", "SetEntry", "SetIter", "SetIterableType",
    "SetIteratorType", "SetPayload", "SimpleIterableType", "SimpleIteratorType", "SliceLiteral", "StarArgTuple",
    "StarArgUniTuple", "StructRefPayload", "TypeRef", "UndefVar", "Undefined", "UndefinedFunctionType",
    "UndefinedType", "UniTupleIter", "UnicodeIteratorType", "UnionType", "VarArg", "WeakType", "ZipType", "code_type",
    "ffi", "ffi_forced_object", "npy_bitgen", "npy_rng", "phantom", "pyfunc_type", "range_iter32_type",
    "range_iter64_type", "range_state32_type", "undefined", "unknown", "unsigned_range_iter64_type",
    "unsigned_range_state64_type",
]  # fmt: skip
