"""Extension of compiled code from Python: overloads, intrinsics, models and boxing of the program's types."""

from __future__ import annotations

import ctypes
import functools
import importlib
import inspect
import itertools
import pickle
import typing
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from lancehead import _core, errors, literal_arguments
from lancehead.decorators import is_jitted
from lancehead.literal_arguments import BoundLiteralArgs, SentryLiteralArgs, sentry_literal_args

F = TypeVar("F", bound=Callable[..., Any])

#: The prefix of attributes that stand for the choice of an overload.
PREFIX = _core.OVERLOAD_PREFIX
#: Stands for all names of attributes; what chooses gets the name, too.
ANY = _core.OVERLOAD_ANY
#: Targets of overloads for code on the processor and on CUDA devices, those that go first first.
TARGETS = {False: ("cpu", "generic"), True: ("cuda", "gpu", "generic")}


class Overload(NamedTuple):
    """A function that chooses what is compiled."""

    choose: Callable[..., Any]
    target: str
    strict: bool
    prefer_literal: bool
    #: The types that a method or attribute is for; `None` for a function.
    receiver: Any
    is_method: bool


#: Overloads of functions by the function, of methods and attributes by their name.
REGISTERED: dict[Any, list[Overload]] = {}
#: Overloads that are asked when no other one has anything.
FALLBACKS: dict[Any, list[Overload]] = {}
#: The chosen implementations, by the key in `REGISTERED` and the name of the choice.
CHOSEN: dict[tuple[Any, str], Any] = {}


def overload(
    function: Callable[..., Any], strict: bool = True, prefer_literal: bool = False, **options: Any
) -> Callable[[F], F]:
    """Says what compiled code runs where it calls `function`.

    The decorated function gets the types of the arguments (`lancehead.types`), by position and by name as they are in
    the call, and its own defaults for those that are not given. It returns a function with the same parameters, which
    is compiled in place of `function`, or `None` if it has none for these types: then the next overload is asked. It
    runs once for each combination of types. Values known while compiling have literal types if it finds nothing for the
    types without them, or before that with `prefer_literal`. `target` is `"cpu"`, `"cuda"` or `"generic"` (both). The
    compiler decides about inlining.

    >>> import numpy as np
    >>> from lancehead import njit, types
    >>> def length(x): ...
    >>> @overload(length)
    ... def _(x):
    ...     if isinstance(x, types.Array):
    ...         return lambda x: x.size
    ...     if isinstance(x, types.BaseTuple):
    ...         return lambda x: len(x)
    >>> njit(lambda a: length(a) + length((1, 2)))(np.ones(3))
    5

    Raises:
        TypingError: (in compiled code that calls `function`) no overload has anything for the types, or, if `strict`,
            it returns a function with other parameters.
    """
    return registering(function, strict, prefer_literal, options)


def overload_method(
    typ: Any, attr: str, strict: bool = True, prefer_literal: bool = False, **options: Any
) -> Callable[[F], F]:
    """Says what compiled code runs for a method of values of a type: a class of `lancehead.types` (`types.Array`) or
    one type. The receiver is the first argument; otherwise as `overload`.

    Methods that lancehead has itself are not replaced.

    >>> @overload_method(types.Array, "scaled")
    ... def _(array, by):
    ...     return lambda array, by: array * by
    >>> njit(lambda a: a.scaled(2))(np.ones(2))
    array([2., 2.])
    """
    return registering(attr, strict, prefer_literal, options, typ, True)


def overload_attribute(
    typ: Any, attr: str, strict: bool = True, prefer_literal: bool = False, **options: Any
) -> Callable[[F], F]:
    """As `overload_method`, for an attribute: the receiver is the only argument.

    >>> @overload_attribute(types.Array, "first")
    ... def _(array):
    ...     return lambda array: array[0]
    >>> njit(lambda a: a.first)(np.arange(3) + 5)
    5
    """
    return registering(attr, strict, prefer_literal, options, typ)


#: Functions that stand for methods of classes of types, by the class and the name.
CLASS_METHODS: dict[tuple[type, str], Any] = {}


def overload_classmethod(
    typ: type, attr: str, strict: bool = True, prefer_literal: bool = False, **options: Any
) -> Callable[[F], F]:
    """As `overload_method`, for a method that compiled code calls on the class of types itself. The first argument
    stands for the class; a class that derives from it has the method, too.

    >>> class Tables(types.Type):
    ...     pass
    >>> @overload_classmethod(Tables, "squares")
    ... def _(cls, count):
    ...     return lambda cls, count: np.arange(count) ** 2
    >>> njit(lambda n: Tables.squares(n))(4)
    array([0, 1, 4, 9])
    """
    known = CLASS_METHODS.get((typ, attr))
    if known is None:

        def known(*args: Any, **named: Any) -> Any:
            raise NotImplementedError(f"{typ.__name__}.{attr} is a method of compiled code")

        known.__name__, known.__qualname__, known.__module__ = attr, f"{typ.__qualname__}.{attr}", typ.__module__
        CLASS_METHODS[typ, attr] = known

    def decorate(choose: F) -> F:
        reference = importlib.import_module("lancehead.foreign_types").TypeRef(typ)

        def chosen(*args: Any, **named: Any) -> Any:
            made = choose(reference, *args, **named)
            if made is None:
                return None
            if strict:
                check_parameters(choose, made)
            return _of_class(made, typ)

        registering(known, False, prefer_literal, options)(chosen)
        return choose

    return decorate


def _of_class(function: Any, class_: type) -> Any:
    """The function with a class as its first argument."""
    taken = list(inspect.signature(getattr(function, "py_func", function)).parameters.values())[1:]
    inside = {"function": function, "class_": class_} | {f"default_{p.name}": p.default for p in taken}
    shown = [("*" if p.kind is p.VAR_POSITIONAL else "") + p.name for p in taken]
    given = [s if p.default is p.empty else f"{s}=default_{p.name}" for s, p in zip(shown, taken, strict=True)]
    return eval(f"lambda {', '.join(given)}: function({', '.join(['class_', *shown])})", inside)


def class_method(class_: type, name: str) -> Any:
    """The function that stands for a method of a class of types in compiled code; None if there is none."""
    return next((found for base in class_.__mro__ if (found := CLASS_METHODS.get((base, name)))), None)


def registering(
    key: Any, strict: bool, prefer_literal: bool, options: Any, receiver: Any = None, is_method: bool = False
) -> Callable[[F], F]:
    """A decorator that registers an overload; a target that is none of those in `TARGETS` raises
    NonexistentTargetError."""
    target = options.get("target", "generic")
    if not any(target in known for known in TARGETS.values()):
        raise errors.NonexistentTargetError(f"No target is registered against '{target}'")

    def register(choose: F) -> F:
        REGISTERED.setdefault(key, []).append(Overload(choose, target, strict, prefer_literal, receiver, is_method))
        forget(None if key == ANY else key)
        _core.overloaded(key)
        return choose

    return register


def falling_back(key: Any, choose: Callable[..., Any]) -> None:
    """Registers an overload for both targets that is asked when no other one has anything."""
    FALLBACKS.setdefault(key, []).append(Overload(choose, "generic", False, False, None, False))
    forget(key)
    _core.overloaded(key)


def forget(key: Any) -> None:
    """Drops what was chosen for a function or name; for any name if it is None."""
    for old in [c for c in list(CHOSEN) if c[0] == key or (key is None and isinstance(c[0], str))]:
        CHOSEN.pop(old, None)


def construct(
    class_: type, init: Callable[..., Any], names: tuple[str, ...], type_of: Callable[[tuple[Any, ...]], Any]
) -> None:
    """Makes calls of a class in compiled code new instances of the type that `type_of` gives for the types of the
    arguments, in the order of `names`; `init` is called with the instance and the arguments."""

    def choose(*types: Any, **named: Any) -> Any:
        given = dict(zip(names, types, strict=False)) | named
        if len(types) + len(named) != len(names) or given.keys() != set(names):
            raise errors.TypingError(f"{class_.__name__}() takes ({', '.join(names)})")
        return init, type_of(tuple(given[name] for name in names))

    REGISTERED.pop(class_, None)
    registering(class_, False, False, {})(choose)


def find(
    key: Any, plain: tuple[Any, ...], literal: tuple[Any, ...], names: tuple[str, ...], is_call: bool, on_device: bool
) -> tuple[str, Any]:
    """Finds the overload for a call with arguments of these types, the last of them by name, or for an attribute. The
    first result is a function, `True` if a method has the name, `None` if no overload applies, or an initialiser and a
    type if an instance is made; the second is a name for the choice. TypingError says that there are overloads of the
    function or method, none of which fits.
    """
    own = key if isinstance(key, str) else None
    call = (plain, literal, names, is_call, on_device)
    try:
        name = PREFIX + pickle.dumps((own, *call)).hex()
    except Exception:  # Types of functions and the like are those of this process.
        name = f"{PREFIX}? {own} {call}"
    try:
        return name, CHOSEN[key, name]
    except KeyError:
        return name, CHOSEN.setdefault((key, name), chosen(key, *call))


def named(key: Any, name: str) -> Any:
    """The function that a name of a choice stands for, in this process or in another one."""
    if name.startswith(PREFIX + "?"):
        return CHOSEN.get((key, name))
    own, *call = pickle.loads(bytes.fromhex(name.removeprefix(PREFIX)))
    try:
        found = find(own or key, *call)[1]
    except errors.TypingError:
        return None
    return found if callable(found) or isinstance(found, tuple) else None


def chosen(
    key: Any, plain: tuple[Any, ...], literal: tuple[Any, ...], names: tuple[str, ...], is_call: bool, on_device: bool
) -> Any:
    """The result of the first overload that accepts the types; overloads for this target are asked first."""
    targets = TARGETS[on_device]
    known = [*REGISTERED.get(key, ()), *FALLBACKS.get(key, ())]
    if isinstance(key, str) and not is_call:
        known += [o._replace(choose=functools.partial(o.choose, key)) for o in REGISTERED.get(ANY, ())]
    registered = sorted((o for o in known if o.target in targets), key=lambda o: targets.index(o.target))
    fitting = [o for o in registered if o.receiver is None or is_of(plain[0], o.receiver)]
    why, forced = [], None
    for o in fitting:
        if o.is_method and not is_call:  # Overloads registered first have priority, as in Numba.
            return True
        if is_call and o.receiver is not None and not o.is_method:
            continue
        for types in dict.fromkeys((literal, plain) if o.prefer_literal else (plain, literal)):
            at = len(types) - len(names)
            try:
                made = o.choose(*types[:at], **dict(zip(names, types[at:], strict=True)))
            except errors.LoweringError:
                raise
            except errors.ForceLiteralArg as error:
                why.append(f"{type(error).__name__}: {error}")
                forced = forced or literal_arguments.asking(key, o.choose, error.requested_args, types)
                continue
            except (errors.NumbaError, TypeError) as error:
                why.append(f"{type(error).__name__}: {error}")
                continue
            if made is not None:
                if o.strict:
                    check_parameters(o.choose, made)
                return made
    if forced is not None:
        return forced
    if not is_call:
        return None
    given = ", ".join(
        [
            *map(str, plain[: len(plain) - len(names)]),
            *(f"{n}={t}" for n, t in zip(names, plain[len(plain) - len(names) :], strict=True)),
        ]
    )
    text = f"no overload of `{getattr(key, '__name__', key)}` is for ({given})"
    raise _refusal(text, why)


def _refusal(text: str, why: list[str]) -> errors.TypingError:
    """The error with its reasons. A variable of the function that raises it would be a cycle."""
    made = errors.TypingError(text)
    made.reasons = list(dict.fromkeys(why))
    return made


def is_of(ty: Any, receiver: Any) -> bool:
    """Whether a type is one, or one of a class."""
    return isinstance(ty, receiver) if isinstance(receiver, type) else ty == receiver


def check_parameters(choose: Callable[..., Any], made: Any) -> None:
    """Refuses a function that does not take what its overload was asked with, or takes `**kwargs`, by a TypingError."""
    asked, taken = (list(inspect.signature(getattr(f, "py_func", f)).parameters.values()) for f in (choose, made))
    for p in asked + taken:
        if p.kind is p.VAR_KEYWORD or p.kind is p.VAR_POSITIONAL and all(t.kind is not p.kind for t in taken):
            example = "**kwargs" if p.kind is p.VAR_KEYWORD else "*args"
            raise errors.TypingError(
                f"use of {p.kind.name} (e.g. {example}) {'' if p.kind is p.VAR_KEYWORD else 'argument kind '}"
                f"is unsupported here (offending argument name is '{p}')"
            )
    parts: dict[str, Callable[[inspect.Parameter], list[Any]]] = {
        "argument names": lambda p: [p.name] * (p.default is p.empty),
        "keyword argument names": lambda p: [p.name] * (p.default is not p.empty),
        "keyword argument default values": lambda p: [p.default] * (p.default is not p.empty),
    }
    for what, part in parts.items():
        left, right = (list(itertools.chain.from_iterable(map(part, of))) for of in (asked, taken))
        if left != right:
            first, other = next((a, b) for a, b in itertools.zip_longest(left, right) if [a] != [b])
            raise errors.TypingError(
                f"Typing and implementation arguments differ in {what}: {asked} and {taken}. "
                f"First difference: {first!r} and {other!r}"
            )


@typing.overload
def register_jitable(function: F, /) -> F: ...
@typing.overload
def register_jitable(**options: Any) -> Callable[[F], F]: ...
def register_jitable(function: Any = None, /, **options: Any) -> Any:
    """Marks a function as one to be compiled into its callers, which every Python function is.

    >>> @register_jitable
    ... def twice(x):
    ...     return 2 * x
    >>> njit(lambda x: twice(x) + 1)(3)
    7
    """
    return function if callable(function) else lambda function: function


def get_cython_function_address(module: str, name: str) -> int:
    """The address of a C function that a module made by Cython exports, for `ctypes`.

    >>> import ctypes, pytest
    >>> _ = pytest.importorskip("scipy")
    >>> address = get_cython_function_address("scipy.special.cython_special", "j0")
    >>> j0 = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)
    >>> njit(lambda x: j0(x))(0.0)
    1.0

    Raises:
        ValueError: the module exports no such function.
    """
    exported = importlib.import_module(module).__pyx_capi__
    if name not in exported:
        raise ValueError(f"No function '{name}' found in __pyx_capi__ of '{module}'")
    name_of, address_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    address_of.restype, address_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = exported[name]
    found: int = address_of(capsule, name_of(capsule))
    return found


__all__ = [
    "BoundLiteralArgs",
    "SentryLiteralArgs",
    "get_cython_function_address",
    "is_jitted",
    "overload",
    "overload_attribute",
    "overload_classmethod",
    "overload_method",
    "register_jitable",
    "sentry_literal_args",
]


#: The low-level part, which few programs use and which is imported when they do: the names of each module.
_LOW = "lancehead.lowlevel"
_LOW_LEVEL = {
    name: module
    for module, names in {
        "boxing": "as_numba_type box reflect typeof_impl unbox",
        "models": "register_model",
        "pyapi": "NativeValue",
        "registry": "_Intrinsic infer infer_getattr infer_global intrinsic lower_builtin lower_cast lower_constant "
        "lower_getattr lower_getattr_generic lower_setattr lower_setattr_generic make_attribute_wrapper type_callable",
    }.items()
    for name in names.split()
}


def __dir__() -> list[str]:
    return [*__all__, *_LOW_LEVEL, "models"]


def __getattr__(name: str) -> Any:
    if name == "models":
        return importlib.import_module(f"{_LOW}.models")
    if name in _LOW_LEVEL:
        return getattr(importlib.import_module(f"{_LOW}.{_LOW_LEVEL[name]}"), name)
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    raise importlib.import_module("lancehead._absent").missing(__name__, name)
