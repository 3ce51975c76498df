"""Decorators that run a test for several types or orders of memory."""

from __future__ import annotations

import functools
import inspect
import itertools
import unittest
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

FLOATS = (np.float64, np.float32, np.float16)
WIDE_FLOATS = FLOATS[:2]
COMPLEX = (np.complex64, np.complex128)
SIGNED = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
INTEGERS = SIGNED + UNSIGNED


def without(f: Callable[..., Any], impl: Callable[..., Any], names: Iterable[str]) -> Any:
    """A test in place of another one whose arguments of some names it gives."""
    f = functools.wraps(impl)(f)
    known = inspect.signature(impl)
    kept = [p for name, p in known.parameters.items() if name not in names]
    f.__signature__ = known.replace(parameters=kept)  # type: ignore[attr-defined]
    return f


def skips() -> tuple[Any, ...]:
    """Exceptions by which a test says that it is not for this case."""
    try:
        import pytest
    except ImportError:
        return (unittest.SkipTest,)
    return unittest.SkipTest, pytest.skip.Exception


def _for(cases: Sequence[dict[str, Any]], names: Iterable[str]) -> Any:
    names = tuple(names)

    def decorate(impl: Callable[..., Any]) -> Any:
        def test(*given: Any, **named: Any) -> None:
            ran = 0
            last: BaseException | None = None
            for case in cases:
                try:
                    impl(*given, **named, **case)
                    ran += 1
                except skips() as e:
                    last = e
                except Exception as e:
                    e.add_note(", ".join(f"{k} is {v}" for k, v in case.items()))
                    raise
            if not ran and last is not None:
                raise last

        return without(test, impl, names)

    return decorate


def _type(dtype: Any) -> Any:
    return dtype if dtype is None else np.dtype(dtype).type


def for_dtypes(dtypes: Iterable[Any], name: str = "dtype") -> Any:
    """For each of some types."""
    return _for([{name: _type(d)} for d in dtypes], [name])


def _all(no_float16: bool, no_bool: bool, no_complex: bool) -> tuple[Any, ...]:
    floats = WIDE_FLOATS if no_float16 else FLOATS
    return floats + INTEGERS + (() if no_bool else (np.bool_,)) + (() if no_complex else COMPLEX)


def for_all_dtypes(
    name: str = "dtype", no_float16: bool = False, no_bool: bool = False, no_complex: bool = False
) -> Any:
    """For all types of numbers."""
    return for_dtypes(_all(no_float16, no_bool, no_complex), name)


def for_float_dtypes(name: str = "dtype", no_float16: bool = False) -> Any:
    """For types of floats."""
    return for_dtypes(WIDE_FLOATS if no_float16 else FLOATS, name)


def for_signed_dtypes(name: str = "dtype") -> Any:
    """For types of signed integers."""
    return for_dtypes(SIGNED, name)


def for_unsigned_dtypes(name: str = "dtype") -> Any:
    """For types of unsigned integers."""
    return for_dtypes(UNSIGNED, name)


def for_int_dtypes(name: str = "dtype", no_bool: bool = False) -> Any:
    """For types of integers, and truth values."""
    return for_dtypes(INTEGERS if no_bool else (*INTEGERS, np.bool_), name)


def for_complex_dtypes(name: str = "dtype") -> Any:
    """For types of complex numbers."""
    return for_dtypes(COMPLEX, name)


def for_dtypes_combination(types: Sequence[Any], names: Sequence[str] = ("dtypes",), full: Any = None) -> Any:
    """For tuples of types: all with `full`, else each type at each place at least once."""
    types = list(types)
    if full:
        found = list(itertools.product(types, repeat=len(names)))
    else:
        n = len(types)
        found = [tuple(types[(i * (2 * k + 1) + k) % n] for k in range(len(names))) for i in range(n)]
    return _for([dict(zip(names, map(_type, case), strict=True)) for case in found], names)


def for_all_dtypes_combination(
    names: Sequence[str] = ("dtypes",), no_float16: bool = False, no_bool: bool = False, full: Any = None,
    no_complex: bool = False,
) -> Any:  # fmt: skip
    """For tuples of types of numbers."""
    return for_dtypes_combination(_all(no_float16, no_bool, no_complex), names, full)


def for_signed_dtypes_combination(names: Sequence[str] = ("dtype",), full: Any = None) -> Any:
    """For tuples of types of signed integers."""
    return for_dtypes_combination(SIGNED, names, full)


def for_unsigned_dtypes_combination(names: Sequence[str] = ("dtype",), full: Any = None) -> Any:
    """For tuples of types of unsigned integers."""
    return for_dtypes_combination(UNSIGNED, names, full)


def for_int_dtypes_combination(names: Sequence[str] = ("dtype",), no_bool: bool = False, full: Any = None) -> Any:
    """For tuples of types of integers, and truth values."""
    return for_dtypes_combination(INTEGERS if no_bool else (*INTEGERS, np.bool_), names, full)


def for_orders(orders: Iterable[Any], name: str = "order") -> Any:
    """For each of some orders of memory."""
    return _for([{name: o} for o in orders], [name])


def for_CF_orders(name: str = "order") -> Any:
    """For row-major and column-major order, in both spellings and none."""
    return for_orders([None, "C", "F", "c", "f"], name)


def for_contiguous_axes(name: str = "axis") -> Any:
    """For the axes that end an array of `self.shape` in the order `self.order`."""

    def decorate(impl: Callable[..., Any]) -> Any:
        def test(self: Any, *given: Any, **named: Any) -> None:
            n = len(self.shape)
            for i in range(n):
                axes = tuple(range(i + 1)) if self.order in ("f", "F") else tuple(range(n - i - 1, n))
                impl(self, *given, **named, **{name: axes if i else axes[0]})

        return without(test, impl, [name])

    return decorate
