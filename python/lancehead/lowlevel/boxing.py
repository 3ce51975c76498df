"""Objects of a program's types: which they are, and how they are brought into compiled code and out of it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from lancehead import _core, errors, types
from lancehead.lowlevel import irtypes as ir
from lancehead.lowlevel.context import TargetContext, blamed, lower_constant, recording
from lancehead.lowlevel.pyapi import NativeValue, PythonAPI
from lancehead.lowlevel.values import INT1
from lancehead.objectmode import Site

F = TypeVar("F", bound=Callable[..., Any])


class Purpose:
    """Why a type is asked for."""

    argument = 1
    constant = 2


class _TypeofContext(NamedTuple):
    purpose: int = Purpose.argument


class _TypeofImpl:
    """Functions that give the types of objects, by class."""

    def __init__(self) -> None:
        self._generic = functools.singledispatch(lambda value, context: None)
        self._count = 0

    def register(self, cls: type, func: Callable[..., Any] | None = None) -> Any:
        """Sets the function for objects of a class: it takes the object and a context, and returns a type."""
        if func is None:
            return lambda func: self.register(cls, func)
        _core.extensions_known()
        self._count += 1
        self._generic.register(cls, func)
        return func

    def __call__(self, value: Any, context: Any = None) -> Any:
        """The type of an object."""
        found = self._generic.dispatch(type(value))(value, context or _TypeofContext())
        return types.typeof(value) if found is None else found

    def knows(self, cls: type) -> bool:
        """Whether a function is registered for objects of a class."""
        return self._generic.dispatch(cls) is not self._generic.dispatch(object)

    def own(self, value: Any) -> Any:
        """The same, or None if nothing is registered."""
        return self._generic.dispatch(type(value))(value, _TypeofContext())


typeof_impl = _TypeofImpl()


def typeof(value: Any, purpose: int = Purpose.argument) -> Any:
    """The type of an object, as an argument or as a constant."""
    return typeof_impl(value, _TypeofContext(purpose))


def registered(value: Any) -> Any:
    """The type that a program has registered for an object; None if it has none."""
    found = typeof_impl.own(value)
    return found if isinstance(found, _core.Type) else None


class _AsNumbaType:
    """Types of values by the annotations of Python."""

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}
        self._functions: list[Callable[[Any], Any]] = []

    def register(self, func_or_py_type: Any, numba_type: Any = None) -> Any:
        """Sets the type for a class, or adds a function that gives the types for annotations, or None."""
        if numba_type is None and not isinstance(func_or_py_type, type):
            self._functions.append(func_or_py_type)
        else:
            self._known[func_or_py_type] = numba_type
        return func_or_py_type

    def __call__(self, py_type: Any) -> Any:
        """The type for an annotation.

        Raises:
            TypingError: nobody knows it.
        """
        if py_type in self._known:
            return self._known[py_type]
        for function in self._functions:
            if (found := function(py_type)) is not None:
                return found
        from lancehead.annotations import type_of_hint

        return type_of_hint(py_type)


as_numba_type = _AsNumbaType()


class _Registry:
    """Functions by the classes of types."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.functions: dict[type, Any] = {}

    def __call__(self, typeclass: type) -> Callable[[F], F]:
        def register(function: F) -> F:
            self.functions[typeclass] = function
            unboxer.cache_clear()
            boxer.cache_clear()
            _core.extensions_known()
            return function

        return register

    register = __call__

    def lookup(self, typeclass: type, default: Any = None) -> Any:
        """The function for a class of types."""
        return next((self.functions[c] for c in typeclass.__mro__ if c in self.functions), default)

    def of(self, type_: Any) -> Any:
        """The function for a type.

        Raises:
            TypingError: there is none.
        """
        found = self.lookup(type(type_))
        if found is None:
            name = type(type_).__name__
            raise errors.TypingError(f"cannot {self.what} {type_}: no function is registered by `@{self.what}({name})`")
        return found


box = _Registry("box")
unbox = _Registry("unbox")
reflect = _Registry("reflect")


class Exchange:
    """The last argument of functions that box and unbox: access to the context, the builder and the C API."""

    def __init__(self, context: TargetContext, builder: Any) -> None:
        self.context, self.builder = context, builder
        self.pyapi = PythonAPI(context, builder)
        self.env_manager = None

    def box(self, typ: Any, val: Any) -> Any:
        """A new reference to the object for a value."""
        return self.pyapi.from_native_value(typ, val)

    def unbox(self, typ: Any, obj: Any) -> NativeValue:
        """The value of an object."""
        return self.pyapi.to_native_value(typ, obj)

    def reflect(self, typ: Any, val: Any) -> None:
        """Says nothing: what calls change in containers is written back anyway."""


def __getattr__(name: str) -> Any:
    # Numba has functions of its own for each of its classes of types.
    if name.startswith("box_"):
        return lambda typ, val, c: c.box(typ, val)
    if name.startswith("unbox_"):
        return lambda typ, obj, c: c.unbox(typ, obj)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)


@functools.cache
def unboxer(type_: Any) -> Any:
    """The function that takes the value of an address of an object, and says whether it has failed."""
    function = unbox.of(type_)
    with recording("unbox", function.__code__, [types.voidptr]) as (context, builder), blamed(function):
        r = builder.recorder
        r.is_boxing = True
        native = function(type_, r.args[0], Exchange(context, builder))
        if not isinstance(native, NativeValue):
            raise TypeError(f"`{function.__name__}` must return a NativeValue, not {type(native).__name__}")
        failed = r.value(native.is_error if native.is_error is not None else ir.Constant(INT1, 0))
        if failed.type != INT1:
            failed = builder.icmp_signed("!=", failed, ir.Constant(failed.type, 0))
        made = r.finish(f"({r.result(native.value, type_)}, {failed.text})")
    return _compiled(made)


@functools.cache
def boxer(type_: Any) -> Any:
    """The function that gives the address of a new object for a value."""
    function = box.of(type_)
    with recording("box", function.__code__, [type_]) as (context, builder), blamed(function):
        r = builder.recorder
        r.is_boxing = True
        made = r.finish(r.value(function(type_, r.args[0], Exchange(context, builder))).text)
    return _compiled(made)


def _compiled(function: Any) -> Any:
    from lancehead.decorators import njit

    return njit(function)


#: The texts of objects, for compiled code.
TEXT = Site(lambda value: (str(value),), types.Tuple((types.unicode_type,)))
REPR = Site(lambda value: (repr(value),), types.Tuple((types.unicode_type,)))

#: Functions that make constants, by the identity of the object, which they keep.
_CONSTANTS: dict[int, Any] = {}


def constant(type_: Any, value: Any) -> Any:
    """The function that makes the value of an object which compiled code reads as a constant."""
    known = _CONSTANTS.get(id(value))
    if known is not None:
        return known
    generator = lower_constant.of(type_)
    if generator is None and isinstance(type_, (types.Opaque, types.Dummy)):

        def generator(context: Any, builder: Any, ty: Any, pyval: Any) -> Any:
            return context.get_dummy_value()

    if generator is None:
        raise errors.TypingError(f"no constants of {type_}: register `@lower_constant({type(type_).__name__})`")
    with recording("constant", generator.__code__, []) as (context, builder), blamed(generator):
        r = builder.recorder
        r.keep(value)
        made = r.finish(r.result(generator(context, builder, type_, value), type_))
    return _CONSTANTS.setdefault(id(value), made)
