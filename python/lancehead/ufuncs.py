"""`vectorize` and `guvectorize`: functions of numbers, and of small arrays, made into `numpy.ufunc` objects."""

from __future__ import annotations

import copyreg
import importlib
import sys
from types import FunctionType
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from lancehead import _core, config, errors
from lancehead import options as table
from lancehead.decorated import function_of, is_own
from lancehead.options import public

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, Unpack

    from lancehead.cuda.ufuncs import DeviceUFunc
    from lancehead.typing_ import (
        AnyFunction,
        CompilerOptions,
        MakesDeviceUFunc,
        MakesDUFunc,
        MakesUfunc,
        Signatures,
        VectorizeOptions,
    )

    Processor = Literal["cpu", "parallel"]

_TARGETS = ("cpu", "parallel")
#: Targets of devices; NumbaPro's name is another for Numba's.
_DEVICES = ("cuda", "gpu")


@overload
def vectorize(
    ftylist_or_function: AnyFunction,
    target: Processor = "cpu",
    identity: Any = None,
    **options: Unpack[VectorizeOptions],
) -> _core.DUFunc: ...
@overload
def vectorize(
    *, target: Processor = "cpu", identity: Any = None, **options: Unpack[VectorizeOptions]
) -> MakesDUFunc: ...
@overload
def vectorize(
    ftylist_or_function: Signatures,
    target: Processor = "cpu",
    identity: Any = None,
    **options: Unpack[VectorizeOptions],
) -> MakesUfunc: ...
@overload
def vectorize(
    ftylist_or_function: AnyFunction, target: Literal["cuda", "gpu"], identity: Any = None, **options: Any
) -> DeviceUFunc: ...
@overload
def vectorize(
    ftylist_or_function: Signatures = (), *, target: Literal["cuda", "gpu"], identity: Any = None, **options: Any
) -> MakesDeviceUFunc: ...
def vectorize(ftylist_or_function: Any = (), target: str = "cpu", identity: Any = None, **options: Any) -> Any:
    """A ufunc from a function of numbers: at once for signatures that are given, else for the types of its arguments.

    >>> @vectorize(["float64(float64, float64)"])
    ... def smaller(x, y):
    ...     return x if x < y else y
    >>> smaller([1, 5, 3], 4)
    array([1., 4., 3.])
    """
    if target in _DEVICES:
        return _of_device().vectorize(ftylist_or_function, **options)
    _check("vectorize", target, options)
    given = ftylist_or_function
    if isinstance(given, (FunctionType, _core.Dispatcher)):
        return _made(given, [], target, options, None, identity, ())
    signatures = _listed(given)
    return lambda function: _made(function, signatures, target, options, None, identity, ())


@overload
def guvectorize(
    layout: str, /, *, target: Processor = "cpu", identity: Any = None, writable_args: Sequence[str | int] = (),
    **options: Unpack[CompilerOptions],
) -> MakesDUFunc: ...  # fmt: skip
@overload
def guvectorize(
    ftylist: Signatures, layout: str, /, *, target: Processor = "cpu", identity: Any = None,
    writable_args: Sequence[str | int] = (),
    **options: Unpack[CompilerOptions],
) -> MakesUfunc: ...  # fmt: skip
@overload
def guvectorize(
    ftylist: Signatures, layout: str = ..., /, *, target: Literal["cuda", "gpu"], **options: Any
) -> MakesDeviceUFunc: ...
def guvectorize(*args: Any, target: str = "cpu", identity: Any = None, writable_args: Any = (), **options: Any) -> Any:
    """A generalised ufunc from a function of arrays that stores into its last arguments, by the layout of their
    dimensions.

    >>> @guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")
    ... def shifted(x, y, out):
    ...     for i in range(x.shape[0]):
    ...         out[i] = x[i] + y
    >>> shifted([[1.0, 2.0], [3.0, 4.0]], [10, 20])
    array([[11., 12.],
           [23., 24.]])
    """
    if target in _DEVICES and writable_args:
        raise TypeError("writable_args are not supported for target='cuda'")
    if target in _DEVICES:
        return _of_device().guvectorize(*args, **options)
    _check("guvectorize", target, options)
    if len(args) == 1:
        signatures, layout = [], args[0]
    elif len(args) == 2:
        signatures, layout = _listed(args[0]), args[1]
    else:
        raise TypeError("guvectorize() takes one or two positional arguments: signatures, if any, and the layout")
    if not isinstance(layout, str):
        raise TypeError(f"the layout of a generalised ufunc is a string, not {type(layout)}")
    return lambda function: _made(function, signatures, target, options, layout, identity, writable_args)


for _decorator in (vectorize, guvectorize):
    table.describe(_decorator.__name__, _decorator)


def _of_device() -> Any:
    # Loaded when it is asked for: most programs have nothing to do with devices.
    return importlib.import_module("lancehead.cuda.ufuncs")


def _listed(signatures: Any) -> list[Any]:
    if isinstance(signatures, (str, _core.Signature)):
        return [signatures]
    return list(signatures)


def _check(decorator: str, target: str, options: dict[str, Any]) -> None:
    if target not in _TARGETS:
        raise ValueError(
            f"Unsupported target: {target!r}, not cpu, parallel or "
            f"cuda{table.suggestion(str(target), (*_TARGETS, 'cuda'))}"
        )
    for name in options:
        if name not in table.of(decorator):
            # A `KeyError` as Numba's, which shows its message with escapes.
            raise KeyError(f"Unrecognized options. {' '.join(table.unexpected(decorator, name).split())}")
    table.check(decorator, options)


def _made(
    function: Any,
    signatures: list[Any],
    target: str,
    options: dict[str, Any],
    layout: Any,
    identity: Any,
    writable: Any,
) -> Any:
    function = function_of(function, "vectorize" if layout is None else "guvectorize")
    if config.DISABLE_JIT and not is_own(function):
        if layout is None and not signatures:
            return np.vectorize(function)
        return _interpreted(function, layout, signatures, identity)
    options = config.with_settings(function, {"error_model": "numpy", **options})
    dispatcher = _core.dispatcher(function, options, [], False)
    places = _places(function, writable)
    try:
        return _rebuilt(dispatcher, layout, identity, target == "parallel", places, signatures, not signatures)
    except errors.NumbaError:
        if not options.get("forceobj") or not signatures:
            raise
        return _interpreted(function, layout, signatures, identity)


def _interpreted(function: Any, layout: Any, signatures: list[Any], identity: Any) -> Any:
    # Loaded for those who ask for it.
    return importlib.import_module("lancehead.interpreted_ufuncs").InterpretedUFunc(
        function, layout, signatures, identity
    )


def _places(function: FunctionType, writable: Any) -> list[int]:
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    for w in writable:
        if isinstance(w, str) and w not in names:
            raise RuntimeError(f"writable_args names {w!r}, which is not a parameter of the function")
    places = [names.index(w) if isinstance(w, str) else int(w) for w in writable]
    if min(places, default=0) < 0:
        raise ValueError("writable_args names inputs, or gives their positions")
    return places


def _rebuilt(
    dispatcher: Any, layout: Any, identity: Any, parallel: bool, writable: list[int], signatures: list[Any], grows: bool
) -> Any:
    copyreg.pickle(np.ufunc, _reduced)
    # Its code is part of loops only, which have the entries in the cache.
    dispatcher.disable_compile()
    made = _core.dufunc(dispatcher, layout, identity, parallel, writable)
    for signature in signatures:
        made.add(signature)
    if grows or made._of_times:
        function = dispatcher.py_func
        made.__module__, made.__qualname__, made.__wrapped__ = function.__module__, function.__qualname__, function
        return made
    made.disable_compile()
    return made.ufunc


def _on_times(ufunc: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """A call of a ufunc with times. NumPy's ufuncs know no units, so that compiled code calls it."""
    outs = dict(kwargs or {})
    out = outs.pop("out", None)
    if outs:
        raise TypeError(f"{ufunc.__name__}() of times has no argument {min(outs)!r}")
    given = () if out is None else out if isinstance(out, tuple) else (out,)
    if ufunc not in _ELEMENTWISE:
        _ELEMENTWISE[ufunc] = _core.dispatcher(lambda *operands: ufunc(*operands), {"error_model": "numpy"}, [], False)
    return _ELEMENTWISE[ufunc](*args, *given)


#: Compiled functions that call ufuncs; they are kept as long as the process.
_ELEMENTWISE: dict[Any, Any] = {}


def _reduced(ufunc: np.ufunc) -> Any:
    """NumPy pickles ufuncs by name; one that the name does not lead back to is made anew."""
    parts = _core.ufunc_parts(ufunc)
    if parts is None or _named(ufunc) is ufunc:
        return ufunc.__name__
    return _rebuilt, parts


def _named(ufunc: np.ufunc) -> Any:
    module = sys.modules.get(getattr(ufunc, "__module__", None) or "")
    return getattr(module, ufunc.__name__, None)


__all__ = ["guvectorize", "vectorize"]
public(globals())
