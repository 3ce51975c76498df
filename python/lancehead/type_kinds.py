"""Classes of `lancehead.types` that only answer `isinstance`, such as `Type`: what types of several kinds share."""

from __future__ import annotations

import array
from typing import TYPE_CHECKING, Any

import numpy as np

from lancehead import _core
from lancehead._core import Type as CoreType
from lancehead._core import dtype_of_type, typeof


class KindOfType(type):
    """Makes a class answer `isinstance` by the kind of a type."""

    kinds: tuple[str, ...] = ()

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, CoreType) and value.kind in cls.kinds


class AnyType(type):
    """The class of `Type`, of which all types are instances. Types of a program are equal if their keys are: there is
    one object of each."""

    def __instancecheck__(cls, value: object) -> bool:
        return type.__instancecheck__(cls, value) or (cls is Type and isinstance(value, CoreType))

    @property
    def __signature__(cls) -> Any:
        """The parameters of the constructor."""
        import inspect

        init: Any = getattr(cls, "__init__")  # noqa: B009 - mypy takes the attribute for an instance's
        parameters = list(inspect.signature(cls.__new__ if init is _made else init).parameters.values())
        return inspect.Signature(parameters[1:])

    def __call__(cls, *args: Any, **named: Any) -> Any:
        made = super().__call__(*args, **named)
        if not isinstance(made, Type) or type(made) is not cls:
            return made
        try:
            key = cls, made.key
            known = _INTERNED.setdefault(key, made)
        except (TypeError, AttributeError):
            known = made
        if known is made:
            _announce(made)
        return known


def _announce(made: Any) -> None:
    _core.name_extension(made, str(made.name))
    made.represent()


#: Types of programs by their classes and keys.
_INTERNED: dict[Any, Any] = {}


class _Unset:
    """An attribute that compiled code's own types have, and types of programs only if they set it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Any:
        raise AttributeError(f"{owner.__name__!r} object has no attribute {self.name!r}", name=self.name)


class Type(CoreType, metaclass=AnyType):
    """What all types are instances of. Types of a program derive from it; `lancehead.extending.register_model` says
    what their values are.

    >>> from lancehead import float64
    >>> isinstance(float64, Type)
    True
    """

    if TYPE_CHECKING:
        name: Any
        dtype: Any
        type: Any
        types: Any
        count: Any
        instance_class: Any
        literal_value: Any

    mutable = False
    reflected = False

    def __new__(cls, *args: Any, **named: Any) -> Any:
        """A type of the program's own."""
        return CoreType.__new__(cls, _core.extension_type())

    def __init__(self, name: str = "") -> None:
        self.name = name

    @property
    def key(self) -> Any:
        """What tells types of one class apart."""
        return self.name

    @property
    def mangling_args(self) -> tuple[Any, tuple[Any, ...]]:
        """The name in symbols."""
        return self.name, ()

    def __repr__(self) -> str:
        return str(self.name)

    def __str__(self) -> str:
        return str(self.name)

    def __bool__(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name)

    def __reduce__(self) -> Any:
        return _rebuilt, (type(self), dict(vars(self)))

    def unify(self, typingctx: Any, other: Any) -> Any:
        """The type that values of this and another type have in common; none but their own."""

    def can_convert_to(self, typingctx: Any, other: Any) -> Any:
        """Whether values can become ones of another type; they cannot."""

    can_convert_from = can_convert_to

    def augment(self, other: Any) -> Any:
        """A type that takes both; there is none."""

    def cast_python_value(self, args: Any) -> Any:
        """The object that a call of the type with an object gives."""
        raise NotImplementedError

    @property
    def is_internal(self) -> bool:
        """Whether values cannot be returned to Python."""
        return False


for _name, _found in vars(CoreType).items():
    if type(_found).__name__ == "getset_descriptor" and _name not in (
        "kind",
        "key",
        "name",
        "mutable",
        "own_name",
        "_code",
        "dispatcher",
    ):
        setattr(Type, _name, _Unset(_name))
Type.name = _Unset("name")


def _rebuilt(cls: type, content: dict[str, Any]) -> Any:
    made: Any = CoreType.__new__(cls, _core.extension_type())
    vars(made).update(content)
    known = _INTERNED.setdefault((cls, made.key), made)
    if known is made:
        _announce(made)
    return known


Type.__module__ = "lancehead.types"


class CommonKinds(AnyType):
    """The class of the classes below. A class of a program that derives from one is asked for its own instances."""

    def __instancecheck__(cls, value: object) -> bool:
        kinds = vars(cls).get("kinds", ())
        return type.__instancecheck__(cls, value) or (isinstance(value, CoreType) and value.kind in kinds)


def _kinds(name: str, what: str, example: str, kinds: str, make: Any = None) -> CommonKinds:
    doc = f"{what}\n\n    >>> isinstance(typeof({example}), {name})\n    True\n    "
    known = {"__doc__": doc, "kinds": tuple(kinds.split()), "__module__": "lancehead.types"}
    return CommonKinds(name, (Type,), known if make is None else {**known, "__new__": make, "__init__": _made})


def _made(self: Any, *args: Any, **more: Any) -> None:
    """Leaves what `__new__` has made as it is."""


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

__all__ = [
    "ArrayCompatible", "BaseAnonymousTuple", "Buffer", "ByteArray", "Bytes", "Callable", "ConstSized", "Container",
    "Dummy", "EllipsisType", "EnumMember", "Hashable", "InitialValue", "IntEnumMember", "IterableType",
    "MemoryView", "MutableSequence", "Opaque", "PyArray", "Sequence", "Sized",
]  # fmt: skip
