"""Values that code generators hold, and types of Numba as types of LLVM."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lancehead import _core, types
from lancehead.lowlevel import irtypes as ir

INT1, INT8, INT32, INT64 = (ir.IntType(bits) for bits in (1, 8, 32, 64))
VOIDPTR = ir.PointerType(INT8)
_SIGNED = {8: types.int8, 16: types.int16, 32: types.int32, 64: types.int64}
_UNSIGNED = {8: types.uint8, 16: types.uint16, 32: types.uint32, 64: types.uint64}

#: The functions that give the model of a type and the parts of its values, which the modules of these set.
LAYOUTS: dict[str, Callable[..., Any]] = {}


class Composed(ir.LiteralStructType):
    """The type of values that compiled code holds as ones of a type of Numba: arrays, tuples, texts, structs."""

    def __init__(self, of: Any) -> None:
        super().__init__()
        self.of = of

    @property
    def elements(self) -> tuple[ir.Type, ...]:
        """Types of the parts of tuples, complex numbers and structs, which lie in memory one after the other."""
        if self.of.kind not in ("Tuple", "UniTuple", "NamedTuple", "Complex", "Extension"):
            return ()
        return tuple(lowered(part.of) for part in LAYOUTS["parts"](self.of, ""))

    @elements.setter
    def elements(self, elements: Any) -> None: ...

    @property
    def element(self) -> ir.Type:
        """The type of all parts.

        Raises:
            AttributeError: parts are of several types.
        """
        if self.of.kind not in ("UniTuple", "Complex"):
            raise AttributeError(f"{self.of} has parts of several types")
        return self.elements[0]

    @property
    def pointee(self) -> ir.Type:
        """The type of what an owner of memory refers to, which is an address to Numba.

        Raises:
            AttributeError: it is no owner.
        """
        if self.of != _core.owner_type()[0]:
            raise AttributeError(f"{self.of} is no address")
        return INT8

    def __str__(self) -> str:
        if self.of.kind == "Array":
            # LLVM's type of arrays says nothing of their order.
            return f"{{array {self.of.dtype} {self.of.ndim}}}"
        return "{" + str(self.of) + "}"


class Value(ir.Value):
    """A value: the text by which the function names it, its type, and its type of Numba if it is composed."""

    def __init__(self, recorder: Any, text: str, type: Any, constant: Any = None) -> None:
        self.recorder, self.text, self.type = recorder, text, type
        #: The number, of a constant.
        self.constant = constant
        #: Whether the function owns a reference that its end drops.
        self.is_owned = False
        #: The value whose references are counted: an array that is made of parts of another one shares its memory.
        self.counted = text
        #: Whether it is known to be the address of something.
        self.is_object = False
        self.name = text

    def sharing(self, other: Value) -> Value:
        """The same, which holds the references of another value."""
        self.counted, self.is_owned = other.counted, other.is_owned
        return self

    @property
    def of(self) -> Any:
        """Its type of Numba, if it is composed."""
        return getattr(self.type, "of", None)

    @property
    def function(self) -> Any:
        """The function that it is a value of."""
        return self.recorder

    @property
    def attributes(self) -> ir.Attributes:
        """Says of an argument what the compiler finds out by itself."""
        return ir.Attributes()

    def add_attribute(self, attr: str) -> None:
        """The same."""

    def set_metadata(self, name: str, node: Any) -> None:
        """The same of an instruction."""

    def __repr__(self) -> str:
        return f"<{self.type} {self.text}>"


class Slot(Value):
    """The address of a variable of the function. It is memory if anything but loads and stores uses the address."""

    def __init__(self, recorder: Any, text: str, type: Any) -> None:
        super().__init__(recorder, text, ir.PointerType(type))
        self.is_memory = False
        #: The value by its parts of which this variable holds one.
        self.proxy: Any = None


def plain(of: Any) -> Any:
    """A type without the values that literal types in it know.

    >>> plain(types.Tuple((types.Literal(3), types.Literal("a"))))
    Tuple(int64, unicode_type)
    """
    if getattr(of, "kind", "") in ("Tuple", "UniTuple") and any(plain(t) != t for t in of.types):
        return types.Tuple(tuple(map(plain, of.types)))
    return _core.unliteral(of) if isinstance(of, _core.Type) else of


def lowered(type_: Any) -> ir.Type:
    """The type of LLVM for a type of Numba."""
    kind = getattr(type_, "kind", "")
    if kind in ("IntegerLiteral", "BooleanLiteral"):
        return lowered(_core.unliteral(type_))
    if kind == "Integer":
        return ir.IntType(type_.bitwidth)
    if kind == "Boolean":
        return INT1
    if kind == "Float":
        return {16: ir.HalfType, 32: ir.FloatType, 64: ir.DoubleType}[type_.bitwidth]()
    if kind == "CPointer":
        return ir.PointerType(lowered(type_.dtype))
    if kind in ("RawPointer", "PyObject", "NoneType", "Opaque", "NumberClass", "Dispatcher"):
        return VOIDPTR
    if kind == "Extension":
        found = LAYOUTS["model"](type_)
        if found.word is not None:
            word: ir.Type = found.word
            return word
    if isinstance(type_, ir.Type):
        return type_
    return Composed(type_)


def raised(type_: ir.Type, signed: bool = True) -> Any:
    """The type of Numba whose values a value of a type of LLVM is held as."""
    if isinstance(type_, _core.Type):
        return type_
    if isinstance(type_, ir.IntType):
        if type_.width == 1:
            return types.boolean
        if type_.width not in _SIGNED:
            raise NotImplementedError(f"integers of {type_.width} bits")
        return (_SIGNED if signed else _UNSIGNED)[type_.width]
    if isinstance(type_, ir.DoubleType):
        return types.float64
    if isinstance(type_, ir.FloatType):
        return types.float32
    if isinstance(type_, ir.HalfType):
        return types.float16
    if isinstance(type_, (ir.PointerType, ir.FunctionType)):
        return types.voidptr
    if isinstance(type_, Composed):
        return type_.of
    if isinstance(type_, (ir.LiteralStructType, ir.ArrayType)):
        return types.Tuple([raised(e) for e in type_.elements])
    if isinstance(type_, ir.VoidType):
        return types.none
    raise NotImplementedError(f"values of type {type_}")


def size_of(type_: ir.Type) -> tuple[int, int]:
    """Size and alignment in memory, in bytes."""
    if isinstance(type_, ir.IntType):
        size = max(1, type_.width // 8)
        return size, size
    if isinstance(type_, (ir.DoubleType, ir.PointerType)):
        return 8, 8
    if isinstance(type_, ir.FloatType):
        return 4, 4
    if isinstance(type_, ir.HalfType):
        return 2, 2
    if isinstance(type_, Composed):
        return _size_of_composed(type_.of)
    size, align = 0, 1
    for e in getattr(type_, "elements", ()):
        own, its = size_of(e)
        size, align = -(-size // its) * its + own, max(align, its)
    return -(-size // align) * align, align


def _size_of_composed(of: Any) -> tuple[int, int]:
    size, align = _core.size_of_type(of)
    return size, align


def offset_of(type_: ir.Type, at: int) -> int:
    """Where an element of an aggregate begins, in bytes."""
    size = 0
    for i, e in enumerate(type_.elements):  # type: ignore[attr-defined]
        own, its = size_of(e)
        size = -(-size // its) * its
        if i == at:
            return size
        size += own
    raise IndexError(f"{type_} has no element {at}")
