"""Arrays of every dtype, order and stride for property tests, and comparison with NumPy's answer."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
REAL = INTEGERS + FLOATS
NUMBERS = REAL + COMPLEX
ALL = ("bool", *NUMBERS)


def layouts(a: np.ndarray, layout: str) -> np.ndarray:
    """The same values in another place in memory."""
    match layout:
        case "C":
            return np.ascontiguousarray(a)
        case "F":
            return np.asfortranarray(a)
        case "reversed":
            return a[(slice(None, None, -1),) * a.ndim].copy()[(slice(None, None, -1),) * a.ndim]
        case "strided":
            wide = np.zeros([2 * n for n in a.shape], a.dtype)
            view = wide[(slice(None, None, 2),) * a.ndim]
            view[...] = a
            return view
    raise ValueError(layout)


def elements(dtype: str, plain: bool = False) -> st.SearchStrategy[Any]:
    """Values of a dtype; `plain` ones are small and finite."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return st.booleans()
    if kind in "iu":
        info = np.iinfo(dtype)
        low, high = (max(info.min, -9), min(info.max, 9)) if plain else (int(info.min), int(info.max))
        return st.integers(low, high)
    width = np.dtype(dtype).itemsize * (4 if kind == "c" else 8)
    floats = st.integers(-64, 64).map(lambda n: n / 8) if plain else st.floats(width=width)
    return floats if kind == "f" else st.builds(complex, floats, floats)


@st.composite
def arrays(
    draw: st.DrawFn, dtypes: tuple[str, ...] = ALL, dims: tuple[int, int] = (1, 2), plain: bool = False, least: int = 0
) -> np.ndarray:
    """An array of one of the dtypes, often empty, in any layout."""
    dtype = draw(st.sampled_from(dtypes))
    shape = draw(hnp.array_shapes(min_dims=dims[0], max_dims=dims[1], min_side=least, max_side=5))
    values = draw(hnp.arrays(dtype, shape, elements=elements(dtype, plain)))
    return layouts(values, draw(st.sampled_from(("C", "C", "F", "strided", "reversed"))))


@st.composite
def pairs(draw: st.DrawFn, dtypes: tuple[str, ...] = ALL, plain: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays whose shapes broadcast."""
    shapes = draw(
        hnp.mutually_broadcastable_shapes(num_shapes=2, min_dims=1, max_dims=2, min_side=0, max_side=4)
    ).input_shapes
    made = []
    for shape in shapes:
        dtype = draw(st.sampled_from(dtypes))
        values = draw(hnp.arrays(dtype, shape, elements=elements(dtype, plain)))
        made.append(layouts(values, draw(st.sampled_from(("C", "C", "F", "strided")))))
    return made[0], made[1]


def assert_same(got: Any, expected: Any, tolerance: float = 0.0) -> None:
    """Equal values, and for arrays equal shapes and dtypes; NaNs are equal."""
    if isinstance(expected, tuple):
        assert len(got) == len(expected)
        for a, b in zip(got, expected):
            assert_same(a, b, tolerance)
        return
    if isinstance(expected, np.ndarray):
        assert isinstance(got, np.ndarray), f"{got!r} is no array"
        assert got.dtype == expected.dtype
        assert got.shape == expected.shape
    if tolerance == 0.0:
        np.testing.assert_array_equal(got, expected)
    else:
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance, equal_nan=True)


def check(compiled: Any, *arguments: Any, tolerance: float = 0.0) -> None:
    """The compiled function and its Python original agree, in answers, changed arguments and classes of exceptions."""
    before = [copy.deepcopy(a) for a in arguments]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = copy.deepcopy(compiled.py_func(*arguments))
        except Exception as error:
            restore(arguments, before)
            assert_raises_same(error, compiled, arguments)
            return
    after = [copy.deepcopy(a) for a in arguments]
    restore(arguments, before)
    assert_same(compiled(*arguments), expected, tolerance)
    assert_same(arguments, tuple(after), tolerance)


def restore(arguments: tuple[Any, ...], before: list[Any]) -> None:
    """Gives arrays their old values, in place, so that they keep their layout."""
    for a, old in zip(arguments, before):
        if isinstance(a, np.ndarray):
            a[...] = old


def assert_raises_same(error: Exception, compiled: Any, arguments: tuple[Any, ...]) -> None:
    """The compiled function raises an exception of the same class."""
    try:
        got = compiled(*arguments)
    except type(error):
        return
    raise AssertionError(f"gave {got!r}, Python raised {error!r}")
