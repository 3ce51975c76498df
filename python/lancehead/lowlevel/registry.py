"""Numba's decorators of code generators and typing functions, and how a call finds what they registered."""

from __future__ import annotations

import collections
import functools
import importlib
import inspect
import uuid
import weakref
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from lancehead import _core, errors, extending, pickling, types
from lancehead._core import Signature as Signature
from lancehead.lowlevel import irtypes as ir
from lancehead.lowlevel.context import CASTS, TypingContext, blamed, is_of, recording, signature
from lancehead.lowlevel.context import lower_constant as lower_constant

F = TypeVar("F", bound=Callable[..., Any])


def recorded(generator: Any, sig: Any, given: tuple[Any, ...], known: dict[int, int] | None = None) -> Any:
    """The function that a code generator makes for a signature; arguments have the types of the call. Those integers
    whose values are known are constants to the generator."""
    code = getattr(generator, "__code__", None) or generator.__call__.__code__
    wanted = list(sig.args)
    with recording(getattr(generator, "__name__", "recorded"), code, list(given)) as (context, builder):
        with blamed(generator if hasattr(generator, "__code__") else generator.__call__):
            r = builder.recorder
            args = [
                value if own == want else context.cast(builder, value, own, want)
                for value, own, want in zip(r.args, given, wanted, strict=True)
            ]
            for at, value in (known or {}).items():
                args[at].constant = value
            result = generator(context, builder, sig, tuple(args))
            if sig.return_type == types.none and result is not None and _is_number(result):
                raise errors.LoweringError("Non-void function returns a value, and its signature says none")
            if sig.return_type != types.none and result is None:
                text = f"no value is returned for {sig.return_type}: a non-void function returns None"
                raise errors.LoweringError(text)
            return r.finish(r.result(result, sig.return_type))


def _is_number(result: Any) -> bool:
    return not isinstance(getattr(result, "type", None), ir.PointerType)


# Intrinsics.


class _Intrinsic:
    """A function that compiled code makes by a code generator."""

    #: Those that were sent to other processes, or came from there, by their numbers.
    _memo: ClassVar[weakref.WeakValueDictionary[str, _Intrinsic]] = weakref.WeakValueDictionary()
    #: Keeps the last of them alive between tasks.
    _recent: ClassVar[collections.deque[_Intrinsic]] = collections.deque(maxlen=128)

    def __init__(self, name: str, defn: Any, prefer_literal: bool = False, **kwargs: Any) -> None:
        self._name, self._defn = name, defn
        self._options = {"prefer_literal": prefer_literal, **kwargs}
        self._number: str | None = None
        functools.update_wrapper(self, defn)
        extending.registering(self, False, prefer_literal, kwargs)(self._choose)

    def _choose(self, *args: Any, **named: Any) -> Any:
        with blamed(self._defn):
            bound = inspect.signature(self._defn).bind(TypingContext(), *args, **named)
            bound.apply_defaults()
            given = [_as_type(v) for v in list(bound.arguments.values())[1:]]
            if _takes_rest(self._defn):
                given = [*given[:-1], *given[-1]]
            found = self._defn(*bound.args, **bound.kwargs)
        if found is None:
            return None
        sig, generator = found
        names = _parameter_names(self._defn, len(given))
        made = _made(generator, sig, given)
        return _with_names(made, names, self._defn)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{self!r} cannot be called from pure Python")

    def __repr__(self) -> str:
        return f"<intrinsic {self._name}>"

    def __reduce__(self) -> Any:
        return pickling.reduce(self)

    def _by_value(self) -> Any:
        self._numbered(self._number or uuid.uuid4().hex)
        return _sent, (self._number, self._name, self._defn, self._options)

    def _numbered(self, number: str) -> None:
        self._number = number
        self._memo[number] = self
        self._recent.append(self)


def _sent(number: str, name: str, defn: Any, options: dict[str, Any]) -> _Intrinsic:
    """The intrinsic that was sent under a number, which may be known here."""
    found = _Intrinsic._memo.get(number)
    if found is None:
        found = _Intrinsic(name, defn, **options)
        found._numbered(number)
    return found


def _takes_rest(function: Any) -> bool:
    return any(p.kind is p.VAR_POSITIONAL for p in inspect.signature(function).parameters.values())


def _as_type(value: Any) -> Any:
    if isinstance(value, (_core.Type, tuple)):
        return value
    return types.Omitted(value) if value is not None else types.none


def _made(generator: Any, sig: Any, given: list[Any]) -> Any:
    """The recorded function; arguments of tuples for star parameters are passed one by one."""
    if sig.return_type is None:
        raise errors.TypingError("a signature without a result type")
    if len(sig.args) != len(given):
        given = list(sig.args)
    known = {i: t.literal_value for i, t in enumerate(given) if getattr(t, "kind", "") == "IntegerLiteral"}
    return recorded(generator, sig, tuple(_of_call(g, want) for g, want in zip(given, sig.args, strict=True)), known)


def _of_call(given: Any, want: Any) -> Any:
    return want if not isinstance(given, _core.Type) or isinstance(given, types.Omitted) else _plain(given, want)


def _plain(given: Any, want: Any) -> Any:
    # A literal's value is known from its type; at run time it is a number or a text.
    return want if given == want else _core.unliteral(given)


def _parameter_names(function: Any, count: int) -> list[str]:
    names = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    return (names[1:] + [f"rest{i}" for i in range(count)])[:count]


def _with_names(made: Any, names: list[str], about: Any) -> Any:
    """The function with the parameters that callers name and leave out."""
    defaults = [p.default for p in inspect.signature(about).parameters.values() if p.default is not p.empty]
    own = made.__defaults__ or ()  # The memory of variables in the caller's frame.
    names = [*names, *("frame" for _ in own)]
    if len(set(names)) == len(names) and made.__code__.co_argcount == len(names):
        renamed = (*names, *made.__code__.co_varnames[len(names) :])
        if len(set(renamed)) == len(renamed):
            made = type(made)(made.__code__.replace(co_varnames=renamed), made.__globals__)
    made.__defaults__ = (*defaults, *own) or None
    return made


def intrinsic(*args: Any, **kwargs: Any) -> Any:
    """Decorates a function that gives a signature and a code generator for types of arguments.

    The function takes a typing context and the types; the generator takes a context, a builder, the signature and the
    arguments' values, and returns the value of the result.

    >>> from lancehead import njit, types
    >>> @intrinsic
    ... def plus(typingctx, a, b):
    ...     def codegen(context, builder, sig, args):
    ...         return builder.add(args[0], args[1])
    ...     return types.int64(types.int64, types.int64), codegen
    >>> njit(lambda x: plus(x, 2))(40)
    42
    """

    def decorate(function: Any) -> Any:
        return functools.update_wrapper(_Intrinsic(function.__name__, function, **kwargs), function)

    if not kwargs and len(args) == 1:
        return decorate(args[0])
    return decorate


# Functions that are typed in one place and generated in another.

#: Typing functions by what is called: a function of the types that gives a signature, a type, or None.
_TYPERS: dict[Any, list[Callable[..., Any]]] = {}
#: Code generators by what is called, with the types that they are for.
_GENERATORS: dict[Any, list[tuple[tuple[Any, ...], Any]]] = {}
_CHOOSERS: set[Any] = set()


def _chosen_by(key: Any) -> None:
    """Lets compiled code ask for the code generators of a function."""
    if key in _CHOOSERS or isinstance(key, str):
        return
    _CHOOSERS.add(key)

    def choose(*args: Any, **named: Any) -> Any:
        if named:
            raise errors.TypingError(f"{key!r} takes no arguments by name")
        for typer in reversed(_TYPERS.get(key, [])):
            found = typer(*args)
            if found is None:
                continue
            sig = found if isinstance(found, types.Signature) else signature(found, *args)
            generator = generator_for(key, sig.args)
            if generator is None:
                asked = ", ".join(map(str, sig.args))
                raise errors.TypingError(f"no `lower_builtin` of {getattr(key, '__name__', key)} is for ({asked})")
            return _made(generator, sig, list(args))
        return None

    extending.registering(key, False, False, {})(choose)


def generator_for(key: Any, args: Any) -> Any:
    """The code generator of a function for types."""
    for patterns, generator in reversed(_GENERATORS.get(key, [])):
        if _fits(patterns, tuple(args)):
            return generator
    return None


def _fits(patterns: tuple[Any, ...], args: tuple[Any, ...]) -> bool:
    if patterns and isinstance(patterns[-1], VarArg):
        fixed = len(patterns) - 1
        return len(args) >= fixed and _fits(patterns[:-1], args[:fixed]) and all(
            is_of(a, patterns[-1].dtype) for a in args[fixed:]
        )  # fmt: skip
    return len(patterns) == len(args) and all(map(is_of, args, patterns))


class VarArg:
    """Any number of arguments of a type, at the end of those of a code generator."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype


def type_callable(func: Any) -> Callable[[F], F]:
    """Decorates a function of a context that gives the typing function of calls of `func`."""

    def decorate(typing_func: F) -> F:
        _TYPERS.setdefault(func, []).append(lambda *args: typing_func(TypingContext())(*args))
        _chosen_by(func)
        return typing_func

    return decorate


def lower_builtin(func: Any, *argtys: Any, **kwargs: Any) -> Callable[[F], F]:
    """Decorates the code generator of calls of `func` with arguments of these types."""

    def decorate(generator: F) -> F:
        _GENERATORS.setdefault(func, []).append((argtys, generator))
        if func in _CHOOSERS:
            _core.overloaded(func)
            extending.forget(func)
        if func in ("getiter", "iternext", "print_item"):
            _changed()
        if func == "__array__":
            importlib.import_module("lancehead.lowlevel.array_likes").enable()
        return generator

    return decorate


lower = lower_builtin


def _changed() -> None:
    importlib.import_module("lancehead.lowlevel.implicit").changed()


def infer(template: Any) -> Any:
    """Decorates a template that types calls of what its `key` says: a function, or the name of something that compiled
    code does by itself, such as `"getiter"`."""
    key = getattr(template, "key", None)
    if key is not None:
        _TYPERS.setdefault(key, []).append(lambda *args: typed_by(template, args))
        _chosen_by(key)
    return template


def typed_by_name(name: str, *args: Any) -> Any:
    """The signature of something that compiled code does by itself; None if no template has any."""
    found = next((found for typer in reversed(_TYPERS.get(name, [])) if (found := typer(*args)) is not None), None)
    return found if found is None or isinstance(found, types.Signature) else signature(found, *args)


def infer_global(value: Any, typ: Any = None, **kwargs: Any) -> Any:
    """Decorates a template that types calls of a function, or sets the type of an object."""

    def decorate(template: Any) -> Any:
        _TYPERS.setdefault(value, []).append(lambda *args: typed_by(template, args))
        _chosen_by(value)
        return template

    if typ is None:
        return decorate
    template = getattr(typ, "typing_key", None) or getattr(typ, "template", None)
    if template is not None:
        decorate(template)
    elif isinstance(typ, types.Callable):
        # The callee is of a type whose class has overloads.
        def choose(*args: Any, **named: Any) -> Any:
            given = (*args, *named.values())
            return extending.chosen(type(typ), given, given, tuple(named), True, False)

        extending.registering(value, False, False, {})(choose)
    return typ


def typed_by(template: Any, args: tuple[Any, ...]) -> Any:
    """The signature that a template has for types of arguments; None if it has none."""
    cases = getattr(template, "cases", None)
    if cases:
        exact = [c for c in cases if tuple(c.args) == tuple(map(_core.unliteral, args))]
        context = TypingContext()
        close = exact or [
            c for c in cases if len(c.args) == len(args) and all(
                context.can_convert(_core.unliteral(a), w) is not None for a, w in zip(args, c.args, strict=True)
            )
        ]  # fmt: skip
        return close[0] if close else None
    found = template(TypingContext()).generic
    if issubclass(template, CallableTemplate):
        return found()(*args)
    return found(args, {})


class Template:
    """The base of templates of types of calls."""

    key: Any = None

    def __init__(self, context: Any) -> None:
        self.context = context


class ConcreteTemplate(Template):
    """A template with signatures, `cases`."""

    cases: list[Any] = []


class AbstractTemplate(Template):
    """A template with a method `generic`, which gives the signature for types."""

    def generic(self, args: Any, kws: Any) -> Any:
        """The signature, or None."""


class CallableTemplate(Template):
    """A template with a method `generic`, which gives a function of the types."""

    def generic(self) -> Any:
        """The function."""


class AttributeTemplate(Template):
    """A template of attributes: its methods `resolve_name` give the type of an attribute."""


def bound_function(template_key: Any) -> Callable[[Any], Any]:
    """Decorates a method `resolve_name` of a template of attributes that types a method."""

    def decorate(method: Any) -> Any:
        method.is_bound_function = True
        method.key = template_key
        return method

    return decorate


# Attributes.

#: Code generators of attributes: the type or class of types, the name, the generator.
_GETTERS: list[tuple[Any, str | None, Any]] = []


def lower_getattr(ty: Any, attr: str) -> Callable[[F], F]:
    """Decorates the code generator of an attribute: it takes context, builder, type and value."""

    def decorate(generator: F) -> F:
        _GETTERS.append((ty, attr, generator))
        return generator

    return decorate


def lower_getattr_generic(ty: Any) -> Callable[[F], F]:
    """Decorates the code generator of all attributes: it takes the name, too."""

    def decorate(generator: F) -> F:
        _GETTERS.append((ty, None, generator))
        return generator

    return decorate


def lower_setattr(ty: Any, attr: str) -> Callable[[F], F]:
    """Decorates the code generator of an assignment to an attribute, which values do not have: it is refused where
    compiled code assigns."""
    return lambda generator: generator


lower_setattr_generic = lower_setattr


def infer_getattr(template: Any) -> Any:
    """Decorates a template of attributes of a type or class of types, its `key`."""
    for name in [n.removeprefix("resolve_") for n in dir(template) if n.startswith("resolve_")]:
        resolve = getattr(template, f"resolve_{name}")
        if getattr(resolve, "is_bound_function", False):
            extending.overload_method(template.key, name, strict=False)(_method_chooser(template, resolve))
        else:
            extending.overload_attribute(template.key, name, strict=False)(
                functools.partial(_attribute, template, name)
            )
    if hasattr(template, "generic_resolve"):
        chooser = functools.partial(_attribute, template)
        extending.registering(extending.ANY, False, False, {}, template.key)(chooser)
    return template


def _attribute(template: Any, name: str, of: Any) -> Any:
    """The function that reads an attribute; None if the template or the code generators say nothing of it."""
    made = template(TypingContext())
    resolve = getattr(made, f"resolve_{name}", None)
    result = made.generic_resolve(of, name) if resolve is None else resolve(of)
    generator = next((g for t, n, g in reversed(_GETTERS) if n in (name, None) and is_of(of, t)), None)
    if result is None or generator is None:
        return None
    return _recorded_getter(generator, of, name, result)


def _recorded_getter(generator: Any, of: Any, name: str, result: Any) -> Any:
    takes_name = len(inspect.signature(generator).parameters) > 4
    with recording(name, generator.__code__, [of]) as (context, builder), blamed(generator):
        r = builder.recorder
        args = (context, builder, of, r.args[0], *((name,) if takes_name else ()))
        return r.finish(r.result(generator(*args), result))


def _method_chooser(template: Any, resolve: Any) -> Callable[..., Any]:
    def choose(of: Any, *args: Any) -> Any:
        sig = resolve(template(TypingContext()), of, args, {})
        if sig is None:
            return None
        generator = generator_for(resolve.key, (of, *sig.args))
        if generator is None:
            raise errors.TypingError(f"no `lower_builtin` of {resolve.key!r} is for {of}")
        return _made(generator, signature(sig.return_type, of, *sig.args), [of, *args])

    return choose


def make_attribute_wrapper(typeclass: Any, struct_attr: str, python_attr: str) -> None:
    """Makes a member of the model of a class of types an attribute in compiled code."""
    from lancehead.lowlevel import proxies

    def choose(of: Any) -> Any:
        with recording(python_attr, make_attribute_wrapper.__code__, [of]) as (_, builder):
            r = builder.recorder
            parts = proxies.parts_of(of, r.args[0].text)
            found = next((p for p in parts if p.name == struct_attr), None)
            if found is None:
                raise errors.TypingError(f"the model of {of} has no member {struct_attr!r}")
            return r.finish(found.text)

    extending.overload_attribute(typeclass, python_attr, strict=False)(choose)


# Constants and conversions.


def lower_cast(fromty: Any, toty: Any) -> Callable[[F], F]:
    """Decorates the code generator of conversions from one type to another. They run where `context.cast` asks for
    them, where a value meets the other type, and where it is an operand beside numbers and `can_convert_to` allows
    it."""

    def decorate(generator: F) -> F:
        CASTS.append((fromty, toty, generator))
        _changed()
        return generator

    return decorate


# The results of generators.


def impl_ret_borrowed(ctx: Any, builder: Any, retty: Any, ret: Any) -> Any:
    """A result that somebody else owns."""
    return ret


impl_ret_new_ref = impl_ret_untracked = impl_ret_borrowed


class Registry:
    """A registry of code generators, as Numba's modules have them."""

    def __init__(self, name: str = "unspecified") -> None:
        self.name = name
        self.lower, self.lower_cast, self.lower_constant = lower_builtin, lower_cast, lower_constant
        self.lower_getattr, self.lower_getattr_generic = lower_getattr, lower_getattr_generic
        self.lower_setattr, self.lower_setattr_generic = lower_setattr, lower_setattr_generic
        self.register, self.register_global, self.register_attr = infer, infer_global, infer_getattr


builtin_registry = Registry("builtin")


def fold_arguments(
    pysig: inspect.Signature,
    args: Any,
    kws: Any,
    normal_handler: Callable[[int, Any, Any], Any],
    default_handler: Callable[[int, Any, Any], Any],
    stararg_handler: Callable[[int, Any, Any], Any],
) -> tuple[Any, ...]:
    """The arguments of a call in the order of the parameters, each through one of the functions: those that are given,
    defaults, and the tuple for `*args`.

    >>> def f(x, y=2, *z): ...
    >>> show = lambda kind: lambda i, parameter, value: (kind, value)
    >>> fold_arguments(inspect.signature(f), (1,), {}, *map(show, ("given", "default", "rest")))
    (('given', 1), ('default', 2), ('rest', ()))
    """
    bound = pysig.bind(*args, **dict(kws))
    folded = []
    for i, (name, parameter) in enumerate(pysig.parameters.items()):
        if parameter.kind is parameter.VAR_POSITIONAL:
            folded.append(stararg_handler(i, parameter, bound.arguments.get(name, ())))
        elif name in bound.arguments:
            folded.append(normal_handler(i, parameter, bound.arguments[name]))
        else:
            folded.append(default_handler(i, parameter, parameter.default))
    return tuple(folded)


#: Names of Numba's module that this one stands for, which build on it.
_LOOPS = ("RefType", "call_len", "for_iter", "iternext_impl")


def __getattr__(name: str) -> Any:
    if name in _LOOPS:
        return getattr(importlib.import_module("lancehead.lowlevel.implicit"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
