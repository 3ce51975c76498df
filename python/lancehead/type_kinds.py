"""`lancehead.types.Type`, the base class of all types, and metaclasses of classes that answer `isinstance` by kinds."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from lancehead import _core
from lancehead._core import Type as CoreType
from lancehead.options import NoMember


class KindOfType(type):
    """Makes a class answer `isinstance` by the kind of a type."""

    kinds: tuple[str, ...] = ()

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, CoreType) and value.kind in cls.kinds


def made_by_new(self: Any, *args: Any, **more: Any) -> None:
    """Leaves what `__new__` has made as it is."""


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
        parameters = list(inspect.signature(cls.__new__ if init is made_by_new else init).parameters.values())
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


class ValueSignature(NamedTuple):
    """The result of a call of a type with values of code generators, which read its result type."""

    return_type: Any
    args: tuple[Any, ...]


class Type(CoreType, metaclass=AnyType):
    """The base of all types. Programs derive their types from it; `lancehead.extending.register_model` defines the
    layout of their values.

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
        """A key that tells apart types of one class."""
        return self.name

    @property
    def mangling_args(self) -> tuple[Any, tuple[Any, ...]]:
        """The name in symbols."""
        return self.name, ()

    def __call__(self, *args: Any) -> Any:
        """The signature of functions that give such values."""
        if len(args) > 1 and not any(isinstance(a, (CoreType, str)) for a in args):
            return ValueSignature(self, args)
        return super().__call__(*args)

    def __repr__(self) -> str:
        return str(self.name)

    def __str__(self) -> str:
        return str(self.name)

    def __bool__(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        raise NoMember(f"{type(self).__name__!r} object", name, partial(dir, self))

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
