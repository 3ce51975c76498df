"""Derivatives of functions: `grad`, `jvp`, `vjp` and their kin, by the names of JAX."""

from __future__ import annotations

import copy
import functools
import inspect
import operator
import types
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, Literal, NamedTuple, ParamSpec, TypeVar, overload

from lancehead import _core, config
from lancehead.decorators import compiled
from lancehead.options import near_keywords, public, suggestion

if TYPE_CHECKING:
    from lancehead._core import Dispatcher
    from lancehead.typing_ import Argnums, Derivative, Stated

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

__all__ = [
    "checkpoint", "checkpoint_loop", "custom_jvp", "custom_vjp", "grad", "hessian", "hvp", "jacfwd", "jacobian",
    "jacrev", "jvp", "linearize", "stop_gradient", "value_and_grad", "vjp",
]  # fmt: skip
public(globals())

#: Parts of the help of all transformations that make a function: of the arguments, and of what is made.
_FUN = """

    Arguments:
        fun: a Python function, a compiled one, a method, or a derivative made before.
        argnums: with respect to which argument, counted from 0, from the end below 0, or by its name. A name may also
            be that of a variable that `fun` has captured."""
_SEVERAL = """ A tuple of those gives a tuple of derivatives."""
_HAS_AUX = """
        has_aux: whether `fun` gives a pair of the float and something else, which is given back as it is."""
_MADE = """

    It takes the arguments of `fun`, by position or by keyword, with its defaults; those that are not asked for are
    constants of any type. What is asked for is a float, an array of floats, or a structure of them. It can be called
    from Python and from compiled code, and is differentiated again like any other function.
    """

_COMPILED = "`{}` has a meaning in compiled code only"


def _resolving(make: F) -> F:
    """Lets a transformation take bound methods, and names of variables that a function has captured."""

    @functools.wraps(make)
    def transformed(fun: Callable[..., Any], argnums: Any = 0, *rest: Any, **others: Any) -> Any:
        try:
            _check_function(make.__name__, fun)
            return resolved(fun, argnums, *rest, **others)
        except (TypeError, ValueError) as error:
            # The program's line shall be near the end of the traceback. Nothing of the program has run here.
            raise error.with_traceback(None) from None

    def resolved(fun: Callable[..., Any], argnums: Any, *rest: Any, **others: Any) -> Any:
        if isinstance(fun, types.MethodType):
            own, held = fun.__func__, (fun.__self__,)
            made = make(_function(own), _shifted(argnums), *rest, **others)
            return lambda *args, **named: made(*held, *args, **named)
        inner = getattr(fun, "py_func", fun)
        free = getattr(getattr(inner, "__code__", None), "co_freevars", ())
        parameters = () if not free else inspect.signature(inner).parameters
        asked = argnums if isinstance(argnums, tuple) else (argnums,)
        names = [n for n in asked if isinstance(n, str) and n in free and n not in parameters]
        if not names:
            return make(fun, argnums, *rest, **others)
        if len(names) > 1 or asked[0] != names[0]:
            raise ValueError("argnums has at most one captured variable, and it comes first")
        cell, own = (inner.__closure__ or ())[free.index(names[0])], _function(fun)
        name = names[0]

        own = _positional(own)

        def opened(captured, *args):  # type: ignore[no-untyped-def]
            return with_captured(own, name, captured)(*args)

        numbers = (0, *(n if isinstance(n, str) else n + 1 for n in asked[1:])) if isinstance(argnums, tuple) else 0
        made = make(_alike(opened, fun, first=(name,)), numbers, *rest, **others)
        return lambda *args, **named: made(cell.cell_contents, *args, **named)

    if make.__doc__:
        text, examples, code = make.__doc__.rstrip().partition("\n\n    >>>")
        options = _SEVERAL + _HAS_AUX if "has_aux" in make.__annotations__ else ""
        transformed.__doc__ = text + _FUN + options + _MADE.rstrip() + examples + code + "\n    "
    return transformed  # type: ignore[return-value]


def _check_function(name: str, fun: Any) -> None:
    """Refuses what is no function where a transformation of the name takes one."""
    if not callable(fun) or isinstance(fun, type):
        what = f"the class `{fun.__name__}`" if isinstance(fun, type) else f"`{type(fun).__name__}`"
        raise TypeError(f"`{name}` takes a function, not {what}")


def _unbound(name: str, fun: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A function, and what it holds: a method's instance, which is its first argument."""
    _check_function(name, fun)
    return (fun.__func__, (fun.__self__,)) if isinstance(fun, types.MethodType) else (fun, ())


def _shifted(argnums: Any) -> Any:
    """Positions behind that of the instance, of a function that is a method; those from the end stay."""
    if isinstance(argnums, (tuple, list)):
        return tuple(map(_shifted, argnums))
    return argnums + 1 if hasattr(argnums, "__index__") and argnums >= 0 else argnums


def derivatives_of(f: Callable[..., Any], asked: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
    """In compiled code: the result of `f(*args)` and the derivatives with respect to the arguments asked for."""
    raise TypeError(_COMPILED.format("derivatives_of"))


def by_tangent(tangent: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """In compiled code: the result by a function that states a tangent, and copies of the arguments."""
    raise TypeError(_COMPILED.format("by_tangent"))


def against_tangent(tangent: Callable[..., Any], args: tuple[Any, ...], adjoint: Any) -> Any:
    """In compiled code: the adjoints of arguments by a function that states a tangent."""
    raise TypeError(_COMPILED.format("against_tangent"))


def derivatives_with(f: Callable[..., Any], asked: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
    """In compiled code: as `derivatives_of`, for a function that gives a number and something else."""
    raise TypeError(_COMPILED.format("derivatives_with"))


def pulled(f: Callable[..., Any], adjoint: Any, asked: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
    """In compiled code: the products of an adjoint of the result with the derivatives."""
    raise TypeError(_COMPILED.format("pulled"))


def pushed(f: Callable[..., Any], args: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    """In compiled code: the result of `f(*args)` and its tangent."""
    raise TypeError(_COMPILED.format("pushed"))


def product_with_hessian(f: Callable[..., Any], asked: tuple[Any, ...], args: tuple[Any, ...], tangent: Any) -> Any:
    """In compiled code: the product of the matrix of second derivatives with a tangent."""
    raise TypeError(_COMPILED.format("product_with_hessian"))


def forward_jacobian(f: Callable[..., Any], asked: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
    """In compiled code: the matrix of derivatives, by columns."""
    raise TypeError(_COMPILED.format("forward_jacobian"))


def reverse_jacobian(f: Callable[..., Any], asked: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
    """In compiled code: the matrix of derivatives, by rows."""
    raise TypeError(_COMPILED.format("reverse_jacobian"))


def kernel_adjoint(kernel: Callable[..., Any], given: tuple[Any, ...]) -> None:
    """In kernels: runs a kernel and its adjoint for its arguments and what holds the adjoint of each."""
    raise TypeError(_COMPILED.format("kernel_adjoint"))


def with_captured(f: Callable[..., Any], name: str, value: Any) -> Callable[..., Any]:
    """In compiled code: the function with another value of a variable that it has captured."""
    raise TypeError(_COMPILED.format("with_captured"))


def recomputed(f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The result of `f(*args)`, which runs again where it is differentiated."""
    return f(*args)


def checkpoint_loop(step: Callable[..., T], state: T, steps: int, slots: int = 0, args: tuple[Any, ...] = ()) -> T:
    """The state after `steps` calls of `state = step(i, state, *args)`, for long loops over time.

    Where it is differentiated, `slots` states are kept, by default about the square root of `steps`, and steps run
    again from these, in the order in which the fewest are repeated: with `s` slots, `C(s + r, s)` steps run at most
    `r + 1` times. The memory of the derivative is that of the slots and of one step. A state is a number, an array or
    a structure of them; derivatives are with respect to the state and `args`, the rest that `step` uses is constant.
    The schedule is that of A. Griewank and A. Walther (Algorithm 799: revolve, 2000).

    >>> grad(njit(lambda x: checkpoint_loop(lambda i, y: y * y, x, 3)))(1.0)
    8.0
    """
    for i in range(steps):
        state = step(i, state, *args)
    return state


def stop_gradient(x: T) -> T:
    """The value, which counts as a constant where it is differentiated.

    >>> grad(njit(lambda x: x * stop_gradient(x)))(3.0)
    3.0
    """
    return x


@overload
def value_and_grad(  # type: ignore[overload-overlap]
    fun: Callable[Concatenate[T, P], tuple[R, S]], argnums: Literal[0] = 0, *, has_aux: Literal[True]
) -> Derivative[T, P, tuple[tuple[R, S], T]]: ...
@overload
def value_and_grad(  # type: ignore[overload-overlap]
    fun: Callable[Concatenate[T, P], R], argnums: Literal[0] = 0, has_aux: Literal[False] = False
) -> Derivative[T, P, tuple[R, T]]: ...
@overload
def value_and_grad(fun: Callable[P, R], argnums: Argnums, has_aux: bool = False) -> Callable[P, tuple[R, Any]]: ...
@_resolving
def value_and_grad(fun: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Any:
    """A function that gives the result of `fun`, one float, and its derivative, by reverse mode.

    A derivative has the type, shape and memory order of its argument; arrays that are no contiguous memory are copied
    before. With `has_aux` the first result is the pair. Raises `TypingError` for what has no derivative.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    asked, is_one = _asked(fun, argnums)
    own = _positional(fun)
    if has_aux and is_one:

        def derivative(*args):  # type: ignore[no-untyped-def]
            value, found = derivatives_with(own, asked, args)
            return value, found[0]

    elif has_aux:

        def derivative(*args):  # type: ignore[no-untyped-def]
            return derivatives_with(own, asked, args)

    elif is_one:

        def derivative(*args):  # type: ignore[no-untyped-def]
            value, found = derivatives_of(own, asked, args)
            return value, found[0]

    else:

        def derivative(*args):  # type: ignore[no-untyped-def]
            return derivatives_of(own, asked, args)

    return _alike(derivative, fun)


@overload
def grad(
    fun: Callable[Concatenate[T, P], tuple[Any, S]], argnums: Literal[0] = 0, *, has_aux: Literal[True]
) -> Derivative[T, P, tuple[T, S]]: ...
@overload
def grad(  # type: ignore[overload-overlap]
    fun: Callable[Concatenate[T, P], Any], argnums: Literal[0] = 0, has_aux: Literal[False] = False
) -> Derivative[T, P, T]: ...
@overload
def grad(fun: Callable[P, Any], argnums: Argnums, has_aux: bool = False) -> Callable[P, Any]: ...
@_resolving
def grad(fun: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Any:
    """The derivative of a function whose result is one float, by reverse mode.

    It has the type, shape and memory order of its argument. With `has_aux` the result is a pair of it and of what `fun`
    gives beside the float.

    >>> grad(lambda x: x * x)(3.0)
    6.0
    """
    both = _positional(value_and_grad(fun, argnums, has_aux))
    if has_aux:

        def derivative(*args):  # type: ignore[no-untyped-def]
            value, found = both(*args)
            return found, value[1]

    else:

        def derivative(*args):  # type: ignore[no-untyped-def]
            return both(*args)[1]

    return _alike(derivative, fun)


def vjp(fun: Callable[..., R], *primals: Any) -> tuple[R, Callable[[R], tuple[Any, ...]]]:
    """The result of `fun(*primals)`, and a function that gives for an adjoint of the result the tuple of those of the
    arguments, by reverse mode.

    An adjoint has the type and shape of the result. Derivatives are with respect to all arguments, which are floats,
    arrays of floats or structures of them; others are captured by `fun`, as in `vjp(lambda x: f(x, n=3), x)`. Each call
    of the function runs `fun` again, for the arguments as they were: it has copies of them.

    >>> y, pull = vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> y, pull(1.0)
    (6.0, (3.0, 2.0))
    """
    own, held = _unbound("vjp", fun)
    asked = (None,) * len(held) + (0,) * len(primals)

    def derivative(adjoint, *args):  # type: ignore[no-untyped-def]
        return pulled(own, adjoint, asked, args)

    # The function, or the program later, may change arrays in place.
    compiled, kept = _compiled(derivative, own), copy.deepcopy((*held, *primals))

    def pull(adjoint: R) -> tuple[Any, ...]:
        return compiled(adjoint, *copy.deepcopy(kept))  # type: ignore[no-any-return]

    return _function(own)(*held, *primals), pull


def jvp(fun: Callable[..., R], primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[R, R]:
    """The result of `fun(*primals)` and its tangent for tangents of the arguments, by forward mode.

    `primals` and `tangents` are tuples, also of one each. A tangent has the type and shape of its argument; `None` is
    that of a constant, which may be of any type. Arguments by keyword are captured by `fun`, as in
    `jvp(lambda x: f(x, n=3), (x,), (v,))`.

    >>> jvp(lambda x: x * x, (3.0,), (1.0,))
    (9.0, 6.0)
    """
    own, held = _unbound("jvp", fun)
    if not all(isinstance(given, (tuple, list)) for given in (primals, tangents)):
        raise TypeError("arguments and tangents are tuples, also of one each: write `jvp(f, (x,), (v,))`")
    if len(primals) != len(tangents):
        raise TypeError(f"arguments: {len(primals)}, but tangents: {len(tangents)}; `None` is that of a constant")

    def derivative(args, along):  # type: ignore[no-untyped-def]
        return pushed(own, args, along)

    found: tuple[R, R] = _compiled(derivative, own)((*held, *primals), (*(None for _ in held), *tangents))
    return found


def linearize(fun: Callable[..., R], *primals: Any) -> tuple[R, Callable[..., R]]:
    """The result of `fun(*primals)`, and the function that gives its tangent for those of the arguments, as `jvp` does.
    Each call of it runs `fun` again, for the arguments as they were: it has copies of them.

    >>> y, push = linearize(lambda x, y: x * y, 2.0, 3.0)
    >>> y, push(1.0, 0.0)
    (6.0, 3.0)
    """
    own, held = _unbound("linearize", fun)
    kept = copy.deepcopy(primals)

    def push(*tangents: Any) -> R:
        return jvp(fun, copy.deepcopy(kept), copy.deepcopy(tangents))[1]

    return _function(own)(*held, *primals), push


@_resolving
def jacfwd(fun: Callable[P, Any], argnums: int | str = 0) -> Callable[P, Any]:
    """The matrix of derivatives with respect to one argument, by columns in forward mode.

    It has the shape of the result, then that of the argument. It suits results with more elements than the argument.

    >>> jacfwd(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    asked = _one_asked(fun, argnums)
    own = _positional(fun)

    def derivative(*args):  # type: ignore[no-untyped-def]
        return forward_jacobian(own, asked, args)

    return _alike(derivative, fun)  # type: ignore[no-any-return]


@_resolving
def jacrev(fun: Callable[P, Any], argnums: int | str = 0) -> Callable[P, Any]:
    """The matrix of derivatives with respect to one argument, by rows in reverse mode.

    It has the shape of the result, then that of the argument. It suits arguments with more elements than the result.

    >>> jacrev(lambda x: np.array([x.sum(), x[0] * x[1]]))(np.array([1.0, 2.0]))
    array([[1., 1.],
           [2., 1.]])
    """
    asked = _one_asked(fun, argnums)
    own = _positional(fun)

    def derivative(*args):  # type: ignore[no-untyped-def]
        return reverse_jacobian(own, asked, args)

    return _alike(derivative, fun)  # type: ignore[no-any-return]


jacobian = jacrev


@_resolving
def hessian(fun: Callable[P, Any], argnums: int | str = 0) -> Callable[P, Any]:
    """The matrix of second derivatives with respect to one argument of a function whose result is one float.

    It has the shape of the argument twice.

    >>> hessian(lambda x: x[0] * x[1])(np.array([1.0, 2.0]))
    array([[0., 1.],
           [1., 0.]])
    """
    _one_asked(fun, argnums)
    return jacfwd(grad(fun, argnums), argnums)


@_resolving
def hvp(fun: Callable[Concatenate[T, ...], Any], argnums: int | str = 0) -> Callable[..., T]:
    """The product of the matrix of second derivatives with a tangent, by forward mode over reverse mode: the matrix is
    not made.

    The tangent is the last argument by position, and has the shape of the one that `argnums` asks for.

    >>> hvp(lambda x: x * x * x)(2.0, 1.0)
    12.0
    """
    asked = _one_asked(fun, argnums)
    parameters = _parameters(fun)
    if parameters is None or parameters.defaults or parameters.rest is not None:

        def product(*args):  # type: ignore[no-untyped-def]
            return product_with_hessian(fun, asked, args[:-1], args[-1])

        return _compiled(product, fun)  # type: ignore[no-any-return]
    own, count = _positional(fun), len(parameters.names) - parameters.keyword_only

    def derivative(*args):  # type: ignore[no-untyped-def]
        return product_with_hessian(own, asked, args[:count] + args[count + 1 :], args[count])

    return _alike(derivative, fun, last=("tangent",))  # type: ignore[no-any-return]


def checkpoint(fun: Callable[P, R]) -> Dispatcher[P, R]:
    """A function that gives what `fun` gives; where it is differentiated, it keeps copies of its arguments only, and
    runs again for the derivative: less memory for the time of another run."""
    _check_function("checkpoint", fun)
    own = _positional(fun)

    def again(*args):  # type: ignore[no-untyped-def]
        return recomputed(own, args)

    return _alike(again, fun)  # type: ignore[no-any-return]


def custom_vjp(fun: Callable[P, R]) -> Stated[P, R]:
    """A function whose derivative in reverse mode the program states, by `f.defvjp(forward, backward)`.

    `forward(*args)` gives the result and what `backward` needs; `backward(saved, adjoint)` gives a tuple of the
    adjoints of all arguments, `None` where there is none. If the program changes an argument later, `forward` must save
    a copy of it.
    """
    return _stated(fun, "defvjp", ("__forward__", "__backward__"))  # type: ignore[no-any-return]


def custom_jvp(fun: Callable[P, R]) -> Stated[P, R]:
    """A function whose derivative the program states, by `f.defjvp(tangent)`: `tangent(args, tangents)` gives the
    result and its tangent, which is linear in those of the arguments, so that reverse mode has it as well."""
    return _stated(fun, "defjvp", ("__tangent__",))  # type: ignore[no-any-return]


def _stated(fun: Callable[..., Any], name: str, attributes: tuple[str, ...]) -> Any:
    _check_function(name.replace("def", "custom_"), fun)
    own = fun if hasattr(fun, "py_func") else compiled(fun)

    def derivative_not_stated(*args):  # type: ignore[no-untyped-def]
        raise TypeError("the derivative of this function is not stated yet")

    # Compiled code does not look at them again: they are stated once, and nothing compiles before.
    for attribute in attributes:
        setattr(own.py_func, attribute, derivative_not_stated)

    def define(*functions: Callable[..., Any]) -> Any:
        if len(functions) != len(attributes):
            raise TypeError(f"`{name}` takes {len(attributes)} function{'s'[: len(attributes) - 1]}")
        for function in functions:
            _check_function(name, function)
        if getattr(own.py_func, attributes[0]) is not derivative_not_stated:
            raise TypeError("the derivative of this function is stated already")
        for attribute, function in zip(attributes, functions, strict=True):
            setattr(own.py_func, attribute, function)
        if name == "defjvp":
            own.py_func.__forward__, own.py_func.__backward__ = _transposed(own, functions[0])
        return own

    setattr(own, name, define)
    return own


def _transposed(fun: Any, tangent: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The pair that states the derivative of reverse mode for a function that states a tangent."""
    own = _function(tangent)

    def forward(*args):  # type: ignore[no-untyped-def]
        return by_tangent(own, args)

    def backward(saved, adjoint):  # type: ignore[no-untyped-def]
        return against_tangent(own, saved, adjoint)

    return _alike(forward, fun).py_func, backward


def _asked(fun: Callable[..., Any], argnums: Any) -> tuple[tuple[Any, ...], bool]:
    """A tuple with `None` for each argument that is not asked for, and whether one is asked for by itself."""
    is_one = not isinstance(argnums, (tuple, list))
    numbers = [_number(fun, n) for n in ((argnums,) if is_one else argnums)]
    if not numbers or min(numbers) < 0 or len(set(numbers)) < len(numbers):
        raise ValueError(f"argnums are positions or names of arguments, each once, not {argnums!r}")
    if sorted(numbers) != numbers:
        ordered = tuple(n for _, n in sorted(zip(numbers, argnums, strict=True)))
        raise ValueError(f"argnums are in the order of the arguments: write argnums={ordered!r}")
    return tuple(0 if i in numbers else None for i in range(max(numbers) + 1)), is_one


def _one_asked(fun: Callable[..., Any], argnums: Any) -> tuple[Any, ...]:
    asked, is_one = _asked(fun, argnums)
    if not is_one:
        raise TypeError(f"argnums is one position or name here, not {argnums!r}: ask for one argument after the other")
    return asked


class _Parameters(NamedTuple):
    """The parameters of a function in the order of its variables: by position, by keyword only, the rest. No more of
    them than the templates have."""

    names: tuple[str, ...]
    positional_only: int
    keyword_only: int
    rest: str | None
    defaults: tuple[Any, ...]
    keyword_defaults: dict[str, Any] | None


def _parameters(fun: Callable[..., Any]) -> _Parameters | None:
    """The parameters of a function, if they are not many, and if they have names."""
    try:
        found = inspect.signature(getattr(fun, "py_func", fun)).parameters.values()
    except (TypeError, ValueError):
        return None
    kinds: dict[Any, list[inspect.Parameter]] = {kind: [p for p in found if p.kind == kind] for kind in _KINDS}
    only, others, rest, keywords, anything = kinds.values()
    # Of other callables, those by keyword cannot be passed by position.
    if anything or (keywords and not isinstance(getattr(fun, "py_func", fun), types.FunctionType)):
        return None
    defaults = tuple(p.default for p in (*only, *others) if p.default is not p.empty)
    by_keyword = {p.name: p.default for p in keywords if p.default is not p.empty}
    names = tuple(p.name for p in (*only, *others, *keywords))
    if len(names) + 1 >= len(_WITH_REST if rest else _PLAIN):
        return None
    return _Parameters(names, len(only), len(keywords), rest[0].name if rest else None, defaults, by_keyword or None)


_KINDS = (
    inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD,
)  # fmt: skip


def _number(fun: Callable[..., Any], n: Any) -> int:
    """The position of an argument among all of them, where those by keyword only come before the rest."""
    parameters, name = _parameters(fun), getattr(fun, "__name__", "the function")
    if isinstance(n, str):
        names = list(parameters.names if parameters else inspect.signature(getattr(fun, "py_func", fun)).parameters)
        if n not in names:
            raise ValueError(f"there is no argument `{n}` of `{name}`{suggestion(n, names)}")
        return names.index(n)
    try:
        at = operator.index(n)
    except TypeError:
        raise TypeError(f"argnums are positions or names of arguments, not {n!r}") from None
    most = at + 1 if parameters is None else len(parameters.names) - parameters.keyword_only
    if parameters is None or 0 <= at < most:
        return at
    if parameters.rest is not None:
        return at + parameters.keyword_only if at >= 0 else at
    if -most <= at < 0:
        return at + most
    if 0 <= at < len(parameters.names):
        by_name = parameters.names[at]
        raise ValueError(f"argument {at} of `{name}` is given by keyword only: ask for it by argnums={by_name!r}")
    if not parameters.names:
        raise ValueError(f"`{name}` has no arguments, and so no derivative with respect to one")
    has = (
        f"the arguments {', '.join(f'`{n}`' for n in parameters.names)}"
        if most > 1
        else f"one, `{parameters.names[0]}`"
    )
    raise ValueError(f"argnums asks for argument {at}, counted from 0, but `{name}` has {has}")


def _positional(fun: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which takes by position what it takes by keyword only, behind its other parameters."""
    inner: Any = getattr(fun, "py_func", fun)
    code: Any = getattr(inner, "__code__", None)
    if not isinstance(inner, types.FunctionType) or not code.co_kwonlyargcount or _parameters(fun) is None:
        return fun
    count = code.co_argcount + code.co_kwonlyargcount
    code = code.replace(co_argcount=count, co_kwonlyargcount=0)
    own = types.FunctionType(code, inner.__globals__, inner.__name__, None, inner.__closure__)
    own.__qualname__, own.__module__, own.__doc__ = inner.__qualname__, inner.__module__, inner.__doc__
    # Rules that the program states are attributes.
    own.__dict__.update(inner.__dict__)
    if isinstance(fun, _core.Dispatcher):
        return _core.dispatcher(own, fun.targetoptions, [], False)
    return own


def _function(fun: Callable[..., Any]) -> Any:
    return fun if hasattr(fun, "py_func") else _compiled_once(fun, fun)


#: Functions of so many arguments that call one of any number: keywords and ufuncs need names and a number.
_PLAIN: tuple[Callable[[Any], Any], ...] = (
    lambda f: lambda: f(),
    lambda f: lambda a: f(a),
    lambda f: lambda a, b: f(a, b),
    lambda f: lambda a, b, c: f(a, b, c),
    lambda f: lambda a, b, c, d: f(a, b, c, d),
    lambda f: lambda a, b, c, d, e: f(a, b, c, d, e),
    lambda f: lambda a, b, c, d, e, g: f(a, b, c, d, e, g),
    lambda f: lambda a, b, c, d, e, g, h: f(a, b, c, d, e, g, h),
    lambda f: lambda a, b, c, d, e, g, h, i: f(a, b, c, d, e, g, h, i),
    lambda f: lambda a, b, c, d, e, g, h, i, j: f(a, b, c, d, e, g, h, i, j),
    lambda f: lambda a, b, c, d, e, g, h, i, j, k: f(a, b, c, d, e, g, h, i, j, k),
    lambda f: lambda a, b, c, d, e, g, h, i, j, k, m: f(a, b, c, d, e, g, h, i, j, k, m),
    lambda f: lambda a, b, c, d, e, g, h, i, j, k, m, n: f(a, b, c, d, e, g, h, i, j, k, m, n),
    lambda f: lambda a, b, c, d, e, g, h, i, j, k, m, n, o: f(a, b, c, d, e, g, h, i, j, k, m, n, o),
    lambda f: lambda a, b, c, d, e, g, h, i, j, k, m, n, o, p: f(a, b, c, d, e, g, h, i, j, k, m, n, o, p),
    lambda f: lambda a, b, c, d, e, g, h, i, j, k, m, n, o, p, q: f(a, b, c, d, e, g, h, i, j, k, m, n, o, p, q),
    lambda f: lambda a, b, c, d, e, g, h, i, j, k, m, n, o, p, q, r: f(a, b, c, d, e, g, h, i, j, k, m, n, o, p, q, r),
)
#: As `_PLAIN`, with the rest of the arguments.
_WITH_REST: tuple[Callable[[Any], Any], ...] = (
    lambda f: lambda *s: f(*s),
    lambda f: lambda a, *s: f(a, *s),
    lambda f: lambda a, b, *s: f(a, b, *s),
    lambda f: lambda a, b, c, *s: f(a, b, c, *s),
    lambda f: lambda a, b, c, d, *s: f(a, b, c, d, *s),
    lambda f: lambda a, b, c, d, e, *s: f(a, b, c, d, e, *s),
    lambda f: lambda a, b, c, d, e, g, *s: f(a, b, c, d, e, g, *s),
    lambda f: lambda a, b, c, d, e, g, h, *s: f(a, b, c, d, e, g, h, *s),
    lambda f: lambda a, b, c, d, e, g, h, i, *s: f(a, b, c, d, e, g, h, i, *s),
)


def _alike(derivative: Any, fun: Any, *, first: tuple[str, ...] = (), last: tuple[str, ...] = ()) -> Any:
    """The compiled function with the parameters of another one and some more, if they are not many: `first` before all
    of them, `last` behind those by position."""
    own, parameters = _compiled(derivative, fun), _parameters(fun)
    if parameters is None:
        return own
    count = len(parameters.names) - parameters.keyword_only
    names = (*first, *parameters.names[:count], *last, *parameters.names[count:])
    every = names if parameters.rest is None else (*names, parameters.rest)
    made = (_PLAIN if parameters.rest is None else _WITH_REST)[len(names)](own)
    free = "f"
    while free in every:
        free += "_"
    made.__code__ = made.__code__.replace(
        co_varnames=every,
        co_freevars=(free,),
        co_argcount=len(names) - parameters.keyword_only,
        co_kwonlyargcount=parameters.keyword_only,
        co_posonlyargcount=parameters.positional_only and len(first) + parameters.positional_only,
    )
    made.__defaults__, made.__kwdefaults__ = parameters.defaults or None, parameters.keyword_defaults
    return _compiled(made, fun)


#: So many functions are kept, those used last: what they hold lives as long.
_KEPT = 128
_made: OrderedDict[Any, Any] = OrderedDict()


def _compiled(derivative: Any, fun: Any) -> Any:
    derivative.__name__ = getattr(fun, "__name__", "derivative")
    derivative.__qualname__ = getattr(fun, "__qualname__", derivative.__name__)
    derivative.__doc__ = fun.__doc__
    own = getattr(getattr(fun, "py_func", fun), "__code__", None)
    if own is not None:
        derivative.__code__ = _placed(derivative.__code__, own)
    keyword_defaults = tuple((derivative.__kwdefaults__ or {}).items())
    # Its closure has the function and the request.
    request = (cell.cell_contents for cell in derivative.__closure__)
    return _compiled_once(derivative, (derivative.__code__, derivative.__defaults__, keyword_defaults, *request))


def _placed(code: types.CodeType, own: types.CodeType) -> types.CodeType:
    """The code, all of it in the line where a function of the program begins, so that messages name that place."""
    units = len(code.co_code) // 2
    # Entries of the table of positions (CPython's `locations.md`): up to 8 units in the same line, without columns.
    table = bytes(byte for at in range(0, units, 8) for byte in (0xE8 | min(8, units - at) - 1, 0))
    code = code.replace(co_filename=own.co_filename, co_firstlineno=own.co_firstlineno, co_linetable=table)
    return code.replace(co_name=own.co_name, co_qualname=own.co_qualname)


def _compiled_once(function: Any, made_of: Any) -> Any:
    """The compiled function, the same each time for what it was made of: `grad(f)` in a loop is compiled once. It sees
    itself what changes of the variables that it reads."""
    key = (made_of, config.DISABLE_JIT, *config.with_settings(function, {}).items())
    try:
        found = _made.pop(key, None)
    except TypeError:  # Something has no hash.
        return compiled(function)
    found = _made[key] = found or compiled(function)
    while len(_made) > _KEPT:
        _made.popitem(last=False)
    return found


near_keywords(globals())
