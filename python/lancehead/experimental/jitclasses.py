"""`jitclass`: classes whose instances are objects of compiled code.

A class made by it derives from `_core.Instance`. Its methods are compiled functions, its fields descriptors that read
and write the compiled object, so that Python's own rules of calls and attributes do the rest.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lancehead import _core, config
from lancehead.annotations import hints_of, type_of_hint
from lancehead.decorators import njit
from lancehead.options import near_keywords

#: Attributes of a class that are not taken over: each class has its own.
_OWN = frozenset("__dict__ __weakref__ __annotations__ __annotate__ __annotate_func__ __annotations_cache__".split())

Spec = Mapping[str, Any] | Iterable[tuple[str, Any]]


class ClassType:
    """The type of a class: `instance_type` is that of its instances.

    >>> from lancehead import int64
    >>> @jitclass([("n", int64)])
    ... class Counter:
    ...     def __init__(self):
    ...         self.n = 0
    >>> typeof(Counter()) == Counter.class_type.instance_type
    True
    """

    def __init__(
        self, cls: type, instance_type: _core.Type, struct: dict[str, _core.Type], members: dict[str, Any]
    ) -> None:
        self.instance_type = instance_type
        self.struct = struct
        self.class_def = cls
        self.class_name = cls.__name__
        self.class_doc = cls.__doc__
        #: The compiled functions, by their names: of properties, those that `get` and `set`.
        self.jit_methods: dict[str, Any] = {name: m for name, m in members.items() if isinstance(m, _core.Dispatcher)}
        self.jit_static_methods: dict[str, Any] = {
            name: m.__func__ for name, m in members.items() if isinstance(m, staticmethod)
        }
        self.jit_props = {
            name: {"get": m.fget} | ({"set": m.fset} if m.fset else {})
            for name, m in members.items()
            if isinstance(m, property)
        }

    @property
    def methods(self) -> dict[str, Any]:
        """The Python functions of methods."""
        return {name: method.py_func for name, method in self.jit_methods.items()}

    @property
    def static_methods(self) -> dict[str, Any]:
        """The Python functions of static methods."""
        return {name: method.py_func for name, method in self.jit_static_methods.items()}

    def __repr__(self) -> str:
        return f"jitclass.{self.class_name}"


class JitClassType(type):
    """The class of classes made by `jitclass`."""

    class_type: ClassType
    #: The type of an instance.
    _numba_type_: property

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> JitClassType:
        if bases != (_core.Instance,):
            raise TypeError("cannot subclass from a jitclass")
        return super().__new__(cls, name, bases, body)

    def mro(cls) -> list[type]:
        """The class, the classes of the interpreter that it was made of, and those of its instances.

        Programs ask Numba's classes for the first by `mro()[1]`. Python itself looks attributes up by `__mro__`, in
        which those classes cannot be: their instances have a `__dict__`.
        """
        first, *rest = super().mro()
        known = vars(cls).get("class_type")
        return [first, *(inspect.getmro(known.class_def)[:-1] if known else ()), *rest]


def jitclass(cls_or_spec: Any = None, spec: Spec | None = None, *, semantics: str | None = None) -> Any:
    """Compiles a class: its fields have the types of `spec` and of annotations, its methods are compiled functions.

    `spec` is a mapping of names to types or a list of pairs. Instances are shared by Python and compiled code.
    `semantics` is that of the methods, as of `njit`.

    >>> from lancehead import float64
    >>> @jitclass({"x": float64})
    ... class Point:
    ...     def __init__(self, x):
    ...         self.x = x
    ...     def moved(self, by):
    ...         return Point(self.x + by)
    >>> Point(1.0).moved(0.5).x
    1.5
    """
    if cls_or_spec is not None and spec is None and not isinstance(cls_or_spec, type):
        cls_or_spec, spec = None, cls_or_spec

    def wrap(cls: type) -> type:
        return cls if config.DISABLE_JIT else _compiled(cls, spec, {"semantics": semantics} if semantics else {})

    return wrap if cls_or_spec is None else wrap(cls_or_spec)


def _compiled(cls: type, spec: Spec | None, options: dict[str, Any]) -> JitClassType:
    fields = _fields(cls, spec)
    body: dict[str, Any] = {}
    for base in reversed(inspect.getmro(cls)[:-1]):
        if isinstance(base, JitClassType):
            raise TypeError("cannot subclass from a jitclass")
        body.update((name, value) for name, value in vars(base).items() if name not in _OWN)
    kept = {name: value for name, value in body.items() if name not in fields or _is_code(value)}
    compiled = {name: _member(name, value, options) for name, value in kept.items()}
    if shadowed := compiled.keys() & fields.keys():
        raise NameError(f"name shadowing: {', '.join(sorted(shadowed))}")
    compiled |= {"__slots__": (), "__reduce__": _reduce}
    made = JitClassType(cls.__name__, (_core.Instance,), compiled)
    made.__qualname__ = cls.__qualname__
    instance_type = _core.declare_class(made, list(fields.items()), cls)
    made.class_type = ClassType(cls, instance_type, fields, compiled)
    made._numba_type_ = property(_core.typeof)
    return made


def _fields(cls: type, spec: Spec | None) -> dict[str, _core.Type]:
    given = dict(spec or {})
    for name, value in given.items():
        if not isinstance(name, str):
            raise TypeError(f"spec keys should be strings, got {name!r}")
        if not isinstance(value, _core.Type):
            raise TypeError(f"spec values should be Numba type instances, got {value!r}")
    for name, hint in hints_of(cls).items():
        if name not in given:
            given[name] = type_of_hint(hint, strict=True)
    prefix = "_" + cls.__name__.lstrip("_")
    is_private = {name: name.startswith("__") and not name.endswith("__") for name in given}
    return {prefix + name if is_private[name] else name: value for name, value in given.items()}


def _is_code(value: Any) -> bool:
    return inspect.isfunction(value) or isinstance(value, (property, staticmethod, classmethod, _core.Dispatcher))


def _member(name: str, value: Any, options: dict[str, Any]) -> Any:
    """A member of the class as one of compiled code."""
    if isinstance(value, classmethod):
        return classmethod(_function(value.__func__, options))
    if isinstance(value, staticmethod):
        return staticmethod(_function(value.__func__, options))
    if isinstance(value, property):
        if value.fdel is not None:
            raise TypeError(f"deleter is not supported: {name}")
        return property(_function(value.fget, options), _function(value.fset, options), doc=value.__doc__)
    return _function(value, options)


def _function(value: Any, options: dict[str, Any]) -> Any:
    return njit(value, **options) if inspect.isfunction(value) else value


def _reduce(self: Any) -> Callable[..., Any]:
    raise TypeError(f"cannot pickle '{type(self).__name__}' object: it is one of compiled code")


near_keywords(globals())
