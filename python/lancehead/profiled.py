"""Python functions through which compiled ones are called with `LANCEHEAD_PROFILE=1`, for profilers of Python."""

from __future__ import annotations

import functools
from types import CodeType, FunctionType
from typing import Any


def named(dispatcher: Any) -> FunctionType:
    """A function that calls a compiled one, with the name, the file and the line of that; it is kept with it."""
    code, call = dispatcher.py_func.__code__, _caller(dispatcher)
    function = FunctionType(_as(code), dispatcher.py_func.__globals__, code.co_name, None, call.__closure__)
    dispatcher._named = function
    return function


def _caller(dispatcher: Any) -> Any:
    return lambda *args, **kwargs: dispatcher(*args, **kwargs)


@functools.cache
def _as(code: CodeType) -> CodeType:
    """The code of a caller under another one's name. Closures of one code share it, since profilers count by it."""
    return _caller(None).__code__.replace(  # type: ignore[no-any-return]
        co_name=code.co_name,
        co_qualname=code.co_qualname,
        co_filename=code.co_filename,
        co_firstlineno=code.co_firstlineno,
    )
