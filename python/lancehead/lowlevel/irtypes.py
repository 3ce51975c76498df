"""Types of LLVM: the names of `llvmlite.ir` that code generators use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


class Type:
    """The base of all types. Two are equal if their texts are."""

    is_pointer = False

    def as_pointer(self, addrspace: int = 0) -> PointerType:
        """The type of addresses of values of this type."""
        return PointerType(self, addrspace)

    def __call__(self, constant: Any) -> Constant:
        return Constant(self, constant)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Type) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return f"<{type(self)} {self}>"


class IntType(Type):
    """Integers without a sign.

    >>> print(IntType(8), IntType(64).as_pointer())
    i8 i64*
    """

    def __init__(self, bits: int) -> None:
        self.width = bits

    def __str__(self) -> str:
        return f"i{self.width}"


class _Named(Type):
    name = ""

    def __str__(self) -> str:
        return self.name


class HalfType(_Named):
    """`float16`."""

    name = "half"


class FloatType(_Named):
    """`float32`."""

    name = "float"


class DoubleType(_Named):
    """`float64`."""

    name = "double"


class VoidType(_Named):
    """No value."""

    name = "void"


class LabelType(_Named):
    """The type of blocks."""

    name = "label"


class MetaDataType(_Named):
    """The type of metadata."""

    name = "metadata"


class PointerType(Type):
    """Addresses."""

    is_pointer = True

    def __init__(self, pointee: Type | None = None, addrspace: int = 0) -> None:
        self.pointee = IntType(8) if pointee is None else pointee
        self.addrspace = addrspace

    def __str__(self) -> str:
        return f"{self.pointee}*"


class _Aggregate(Type):
    elements: tuple[Type, ...] = ()

    def __len__(self) -> int:
        return len(self.elements)


class ArrayType(_Aggregate):
    """So many values of one type."""

    def __init__(self, element: Type, count: int) -> None:
        self.element, self.count = element, count
        self.elements = (element,) * count

    def __str__(self) -> str:
        return f"[{self.count} x {self.element}]"


class VectorType(ArrayType):
    """The same in a register of the processor."""

    def __str__(self) -> str:
        return f"<{self.count} x {self.element}>"


class LiteralStructType(_Aggregate):
    """Values of several types."""

    def __init__(self, elements: Iterable[Type] = (), packed: bool = False) -> None:
        self.elements, self.packed = tuple(elements), packed

    def __str__(self) -> str:
        inside = "{" + ", ".join(map(str, self.elements)) + "}"
        return f"<{inside}>" if self.packed else inside


class IdentifiedStructType(LiteralStructType):
    """The same with a name."""

    def __init__(self, context: Any = None, name: str = "", packed: bool = False) -> None:
        super().__init__((), packed)
        self.name = name

    def set_body(self, *elements: Type) -> None:
        """Says what it consists of."""
        self.elements = elements


class FunctionType(Type):
    """Functions of C."""

    def __init__(self, return_type: Type, args: Sequence[Type], var_arg: bool = False) -> None:
        self.return_type, self.args, self.var_arg = return_type, tuple(args), var_arg

    def __str__(self) -> str:
        return f"{self.return_type} ({', '.join(map(str, self.args))})"


class _Undefined:
    """The value that nobody reads."""

    def __repr__(self) -> str:
        return "undef"


Undefined = _Undefined()


class Constant:
    """A constant: a number, `None` for zero, `Undefined`, or constants of the elements of an aggregate.

    >>> Constant(IntType(32), 7)
    i32 7
    """

    def __init__(self, type: Type, constant: Any) -> None:
        self.type, self.constant = type, constant

    @classmethod
    def literal_struct(cls, elements: Sequence[Constant]) -> Constant:
        """A struct of constants."""
        return cls(LiteralStructType([e.type for e in elements]), list(elements))

    @classmethod
    def literal_array(cls, elements: Sequence[Constant]) -> Constant:
        """An array of constants."""
        return cls(ArrayType(elements[0].type, len(elements)), list(elements))

    def __repr__(self) -> str:
        return f"{self.type} {self.constant}"


class Module:
    """Where functions of C are declared; it stands for none in particular."""

    def __init__(self, name: str = "", context: Any = None) -> None:
        self.name = name
        self.globals: dict[str, Any] = {}

    def add_metadata(self, operands: Any, self_ref: bool = False) -> Any:
        """A node of metadata, as those of scopes of aliases, which say what the compiler finds out by itself."""
        return operands


class Attributes(set[str]):
    """Attributes of functions and arguments. The compiler finds out by itself what they say."""


class Argument:
    """An argument of a function of C."""

    def __init__(self, parent: Any, typ: Type, name: str = "") -> None:
        self.parent, self.type, self.name = parent, typ, name
        self.attributes = Attributes()

    def add_attribute(self, attr: str) -> None:
        """Notes an attribute."""
        self.attributes.add(attr)


class Function:
    """A function of C, which is found by its name when it is called."""

    def __init__(self, module: Any, ftype: FunctionType, name: str) -> None:
        self.module, self.function_type, self.name = module, ftype, name
        self.type = ftype.as_pointer()
        self.attributes = Attributes()
        self.args = tuple(Argument(self, t, f"arg{i}") for i, t in enumerate(ftype.args))
        if isinstance(getattr(module, "globals", None), dict):
            module.globals[name] = self

    @property
    def ftype(self) -> FunctionType:
        """Its type."""
        return self.function_type


class Value:
    """The class of values, which annotations name."""


class IRBuilder:
    """The class of builders, which annotations name."""
