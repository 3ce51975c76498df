"""Data models: of which values the values of a program's type consist."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from lancehead import _core, errors, foreign_types, types
from lancehead.lowlevel import irtypes as ir
from lancehead.lowlevel.values import LAYOUTS, lowered, plain, raised
from lancehead.options import public

__all__ = [
    "BooleanModel", "DataModel", "FloatModel", "IntegerModel", "OpaqueModel", "OwnerModel", "PointerModel",
    "PrimitiveModel", "StructModel", "TupleModel", "UniTupleModel", "default_manager", "lookup", "manager",
    "register_default", "register_model",
]  # fmt: skip
public(globals())

T = TypeVar("T", bound=type)


class DataModel:
    """The base of all models."""

    #: The type of LLVM, if a value is one number or address.
    word: Any = None
    #: Names and types of the members of a struct.
    members: list[tuple[str, Any]]

    def __init__(self, dmm: Any, fe_type: Any, *more: Any) -> None:
        self._dmm, self._fe_type, self.members = dmm, fe_type, []

    @property
    def fe_type(self) -> Any:
        """The type of Numba."""
        return self._fe_type

    def get_value_type(self) -> Any:
        """The type of LLVM."""
        return self.word or lowered(self._fe_type)

    get_data_type = get_argument_type = get_return_type = get_value_type

    def representation(self) -> Any:
        """The type of which values consist."""
        raise NotImplementedError


class StructModel(DataModel):
    """Values with members."""

    def __init__(self, dmm: Any, fe_type: Any, members: Any) -> None:
        super().__init__(dmm, fe_type)
        self.members = [(name, _member(of)) for name, of in members]

    @property
    def _fields(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.members)

    @property
    def field_count(self) -> int:
        """The number of members."""
        return len(self.members)

    def get_field_position(self, field: str) -> int:
        """The position of a member."""
        return self._fields.index(field)

    def get_type(self, pos: int | str) -> Any:
        """The type of a member."""
        return self.members[pos if isinstance(pos, int) else self.get_field_position(pos)][1]

    def representation(self) -> Any:
        return types.Tuple([of for _, of in self.members])


class _Word(DataModel):
    def representation(self) -> Any:
        return raised(self.word)


class PrimitiveModel(_Word):
    """Numbers: the third argument is the type of LLVM."""

    def __init__(self, dmm: Any, fe_type: Any, be_type: Any) -> None:
        super().__init__(dmm, fe_type)
        self.word = be_type


class IntegerModel(PrimitiveModel):
    """Integers of so many bits as the type says."""

    def __init__(self, dmm: Any, fe_type: Any, be_type: Any = None) -> None:
        super().__init__(dmm, fe_type, be_type or ir.IntType(getattr(fe_type, "bitwidth", 64)))


class BooleanModel(PrimitiveModel):
    """Truth values."""

    def __init__(self, dmm: Any, fe_type: Any, be_type: Any = None) -> None:
        super().__init__(dmm, fe_type, ir.IntType(1))


class FloatModel(PrimitiveModel):
    """Floats of 64 bits."""

    def __init__(self, dmm: Any, fe_type: Any, be_type: Any = None) -> None:
        super().__init__(dmm, fe_type, be_type or ir.DoubleType())


class OpaqueModel(_Word):
    """An address that compiled code does not look at."""

    word = ir.PointerType(ir.IntType(8))


class PointerModel(_Word):
    """Addresses of values of the type `dtype`."""

    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type)
        self.word = ir.PointerType(lowered(getattr(fe_type, "dtype", types.int8)))


class OwnerModel(DataModel):
    """Owners of memory, which are counted."""

    def representation(self) -> Any:
        return _core.owner_type()[0]


class UniTupleModel(StructModel):
    """So many values of one type."""

    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, [(f"f{i}", fe_type.dtype) for i in range(fe_type.count)])


class TupleModel(StructModel):
    """Values of several types."""

    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, [(f"f{i}", t) for i, t in enumerate(fe_type.types)])


class _Manager:
    """The models by the classes of types."""

    def __init__(self) -> None:
        self.registered: dict[type, Any] = {}
        self.made: dict[Any, DataModel] = {}

    def register(self, fetypecls: type, handler: Any) -> None:
        """Sets the model of a class of types."""
        self.registered[fetypecls] = handler

    def lookup(self, fetype: Any) -> Any:
        """The model of a type."""
        return lookup(fetype)

    __getitem__ = lookup


manager = _Manager()
default_manager = manager


def register_model(fetypecls: type) -> Callable[[T], T]:
    """Sets the model of a class of types.

    >>> from lancehead import types
    >>> class PointType(types.Type):
    ...     def __init__(self):
    ...         super().__init__(name="Point")
    >>> @register_model(PointType)
    ... class PointModel(StructModel):
    ...     def __init__(self, dmm, fe_type):
    ...         super().__init__(dmm, fe_type, [("x", types.float64), ("y", types.float64)])
    """

    def register(model: T) -> T:
        manager.register(fetypecls, model)
        return model

    return register


register_default = register_model


def _member(of: Any) -> Any:
    """The type that a member is held as."""
    if isinstance(of, types.PyObject):
        return types.voidptr
    return plain(of)


def lookup(type_: Any) -> DataModel:
    """The model of a type of a program.

    Raises:
        TypingError: none is registered for its class.
    """
    known = manager.made.get(type_)
    if known is None:
        found = next((manager.registered[c] for c in type(type_).__mro__ if c in manager.registered), None)
        if found is None:
            found = _default(type_)
        known = manager.made[type_] = found(manager, type_)
    return known


def _default(type_: Any) -> Any:
    if isinstance(type_, foreign_types.MemInfoPointer):
        return OwnerModel
    if isinstance(type_, foreign_types.EphemeralPointer):
        return PointerModel
    if isinstance(type_, (types.Opaque, types.Dummy)) or getattr(type(type_), "is_opaque", False):
        return OpaqueModel
    raise errors.TypingError(
        f"no data model is registered for {type_} ({type(type_).__name__}): register one with `register_model`"
    )


def define(type_: Any) -> None:
    """Tells the compiler of which values the values of a type consist."""
    _core.model_extension(type_, lookup(type_).representation())


LAYOUTS["model"] = lookup
