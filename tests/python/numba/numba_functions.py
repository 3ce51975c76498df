"""Numba's answers to functions of NumPy: `python numba_functions.py` records them with an installed Numba."""

from __future__ import annotations

import json
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

RECORDED = pathlib.Path(__file__).with_name("numba_functions.json")

LINE = np.arange(6.0)
WHOLE = np.arange(6)
MATRIX = np.arange(6.0).reshape(2, 3)
CUBE = np.arange(24.0).reshape(2, 3, 4)
COMPLEX = np.array([1 + 2j, 3 - 1j])
SINGLE = np.arange(3, dtype=np.float32)
POINT = np.array(1.0)
NONE = np.zeros(0)
FLAGS = np.array([True, False, True])
NAMES = {"np": np, "nan": np.nan, "inf": np.inf} | {
    name: value for name, value in globals().items() if name.isupper() and isinstance(value, np.ndarray)
}

# fmt: off
#: Calls with the arguments that they are given in turn.
CALLS = {
    "np.partition(a, b)": [
        "4, 0", "POINT, 0", "LINE, 10", "LINE, -6", "LINE, 1.5", "LINE, (1, 2)", "LINE, WHOLE.reshape(2, 3)",
        "NONE, 0", "LINE, True",
    ],
    "np.argpartition(a, b)": ["'a', 0", "LINE, (3, 30)", "LINE, POINT", "NONE, 0"],
    "np.searchsorted(a, b, 'left')": ["np.array([4, 1, 7, 2, 9, 3]), np.array([5, 2, 8, 1, 1, 3])", "LINE, 2.5"],
    "np.searchsorted(a, b, 'right')": ["np.array([4, 1, nan, 2, nan, 3]), np.array([5, nan, 8, 1, 1, 3])", "[1, 2], 2"],
    "np.searchsorted(a, b, 'nonsense')": ["LINE, 2.5"],
    "np.trim_zeros(a, b)": ["MATRIX, 'f'", "[0, 1], 'f'", "LINE, 1", "np.array(['', 'a', '']), 'fb'"],
    "np.flip(a)": ["4", "(1, 2)"],
    "np.flipud(a)": ["POINT"],
    "np.fliplr(a)": ["LINE"],
    "np.rot90(a, b)": ["MATRIX, 1.5", "MATRIX, 'abc'", "[1, 2], 1", "LINE, 1"],
    "np.swapaxes(a, b, c)": ["MATRIX, 2, 0", "MATRIX, 0, -3", "MATRIX, 1.5, 0", "(1, 2), 0, 0"],
    "np.moveaxis(a, b, c)": [
        "CUBE, 3, 0", "CUBE, 0, -4", "CUBE, (0, 1), (1,)", "CUBE, (0, 0), (1, 2)", "CUBE, (0, 1), (2, 2)",
        "CUBE, (0, 1), (1, 3)", "CUBE, 1.5, 0", "CUBE, 0, None", "4, 0, 0", "CUBE, (0, 1), (1, 2)",
    ],
    "np.take_along_axis(a, b, -3)": ["MATRIX, np.array([[0]])"],
    "np.take_along_axis(a, b, 1)": [
        "MATRIX, np.zeros((3, 3), np.int64)", "MATRIX, np.array([1])", "MATRIX, np.array([[1.0]])",
        "MATRIX, np.array([[1], [0]])", "(1, 2), np.array([1])",
    ],
    "np.split(a, b, c)": ["MATRIX, 2, 2", "MATRIX, (1,), 2", "LINE, (1,), -3", "LINE, 4, 0", "LINE, 1.5, 0"],
    "np.array_split(a, b, c)": ["MATRIX, 2, -3", "MATRIX, [1], 2", "4, 2, 0"],
    "np.vsplit(a, b)": ["LINE, 2", "POINT, 2", "[1, 2], 2", "MATRIX, 'a'"],
    "np.hsplit(a, b)": ["POINT, 2", "MATRIX, 2.5"],
    "np.dsplit(a, b)": ["MATRIX, 2", "CUBE, (1,)"],
    "np.delete(a, b)": ["LINE, 6", "LINE, -7", "LINE, 1.5", "2, 3", "LINE, FLAGS", "LINE, slice(1, 3)"],
    "np.insert(a, b, c)": [
        "LINE, 7, 9", "LINE, [1, 20], 9", "LINE, [1, 2], [7, 8, 9]", "LINE, 1.5, 9", "LINE, 1, 'a'", "2, 3, 9",
        "MATRIX, [1, 4], (8, 9)",
    ],
    "np.repeat(a, b)": ["LINE, -1", "LINE, 1.5", "LINE, WHOLE[:5]", "LINE, WHOLE - 1", "LINE, 'a'", "4, 2"],
    "np.roll(a, b)": ["LINE, 1.5", "LINE, 'a'", "LINE, True"],
    "np.resize(a, b)": ["LINE, -1", "LINE, (2, -1)", "LINE, 1.5", "'a', 3", "LINE, (3, 4)"],
    "np.expand_dims(a, b)": ["LINE, 1.5"],
    "np.broadcast_to(a, b)": [
        "MATRIX, (3,)", "MATRIX, (-1, 3)", "LINE, (2, 5)", "LINE, 1.5", "LINE, 'a'", "None, (2,)",
    ],
    "np.broadcast_shapes(a, b)": ["(1, 2), (3, 2)", "(1, 2), (3, 3)", "(-1,), (2,)", "1.5, 2", "(), (2,)"],
    "np.transpose(a, b)": ["MATRIX, (0, 0)"],
    "np.reshape(a, b)": ["LINE, (2, -1)"],
    "np.take(a, b)": ["LINE, 1.5", "LINE, [1, 2]"],
    "np.append(a, b, c)": ["MATRIX, MATRIX, 1.5"],
    "np.concatenate(a, 1)": ["(MATRIX, MATRIX)"],
    "np.concatenate(a)": ["(np.asfortranarray(MATRIX), np.asfortranarray(MATRIX))"],
    "np.column_stack(a)": ["(np.asfortranarray(MATRIX), np.asfortranarray(MATRIX))"],
    "np.linspace(a, b, c)": ["1, 3, 5.0", "1, 'a', 5", "np.complex64(1j), 4, 3", "SINGLE[1], SINGLE[2], 3"],
    "np.logspace(a, b, c)": ["1, 3, None"],
    "np.geomspace(a, b, c)": ["0, 3, 4", "1, 3, 5.0", "1j, 1000j, 4", "-2, -2048, 11"],
    "np.tri(a, b, c)": ["3, 4, 1.0", "3, None, 0"],
    "np.tril(a, b)": ["MATRIX, 1.5", "MATRIX, 1"],
    "np.tril_indices(a, b, c)": ["3.0, 1, 4", "3, 1, 4.0", "3, 'a', None"],
    "np.triu_indices_from(a, b)": ["MATRIX, 1.5", "LINE, 0"],
    "np.vander(a, b)": ["LINE, 1.5", "LINE, -1", "MATRIX, 3", "(1, 2, 3), None"],
    "np.diagflat(a, b)": ["LINE, 1.5", "'a', 0"],
    "np.diag(a)": ["CUBE", "4"],
    "np.indices(a)": ["3", "(2, 2)"],
    "np.kaiser(a, b)": ["5.0, 2.0", "5, 'a'", "5, 2"],
    "np.hamming(a)": ["5.0"],
    "np.allclose(a, b)": ["WHOLE[:3], WHOLE[:2]", "1, 'a'", "LINE, LINE"],
    "np.isclose(a, b, c)": ["1.0, 1.0, 1", "1.0, 1.0, 1e-5"],
    "np.array_equal(a, b)": ["1, 'a'", "LINE, WHOLE"],
    "np.count_nonzero(a)": ["'a'", "None"],
    "np.all(a)": ["[1, 2]", "LINE"],
    "np.clip(a, b, c)": ["WHOLE, 1.5, 2.5", "LINE, None, None", "LINE, 'a', 3", "WHOLE, np.arange(4), 3"],
    "np.round(a, b, c)": ["LINE, 1, np.zeros(5)", "LINE, 1, 4.0", "True, 1, None"],
    "np.nan_to_num(a, b)": ["'a', True", "FLAGS, True", "np.array([nan, inf]), False", "nan, False", "2, False"],
    "np.angle(a)": ["1j"],
    "np.where(a, b, c)": ["FLAGS, None, 1", "'a', 1, 2", "FLAGS, 1, 2.0"],
    "np.extract(a, b)": ["np.array([True, False, True]), np.arange(2.0)", "FLAGS, NONE", "FLAGS, SINGLE"],
    "np.select(a, b)": [
        "FLAGS, SINGLE", "[FLAGS], [1]", "[SINGLE], [SINGLE]", "[FLAGS], [SINGLE, SINGLE]", "[FLAGS], [SINGLE]",
    ],
    "np.asarray_chkfinite(a)": ["2.5", "np.array([nan])", "(1, 2)"],
    "np.fill_diagonal(a, b)": [
        "LINE, 2.0", "np.zeros((3, 3, 2)), 2.0", "np.zeros((3, 3), np.int8), 200",
        "np.zeros((3, 3), np.float32), 1e300", "np.zeros((3, 3)), 1.5",
    ],
    "np.unwrap(a, b, c, d)": [
        "LINE * 3, None, 0, 4.0", "LINE * 3, 'a', -1, 4.0", "LINE * 3, None, 'a', 4.0", "LINE * 3, None, -1, 4.0",
    ],
    "np.average(a, b, c)": [
        "LINE, None, np.zeros(6)", "MATRIX, 0, None", "MATRIX, None, np.zeros((3, 2))", "LINE, None, WHOLE",
    ],
    "np.bincount(a, b, c)": [
        "np.array([1, -2]), None, 0", "np.array([1, 2]), LINE, 0", "np.array([1, 2]), None, -1",
        "MATRIX.astype(np.int64), None, 0", "4, None, 0", "np.array([1, 2]), None, 1.5",
    ],
    "np.correlate(a, b)": ["NONE, LINE", "LINE, NONE", "MATRIX, LINE", "LINE, SINGLE"],
    "np.convolve(a, b, 'bad')": ["LINE, LINE"],
    "np.cov(a, b)": [
        "MATRIX, np.zeros((2, 2))", "CUBE, None", "LINE.reshape(1, 6), None", "((1.1, 2.2, 1.5),), None",
        "LINE, None",
    ],
    "np.cov(a, None, True, False, b)": ["MATRIX, nan", "MATRIX, 1.5", "MATRIX, 'a'", "MATRIX, 1.0"],
    "np.corrcoef(a)": ["CUBE"],
    "np.diff(a, b)": ["LINE, -1", "POINT, 1", "LINE, 1.5", "4, 1", "LINE, 10"],
    "np.ediff1d(a, b, c)": ["WHOLE, 1.5, None", "WHOLE, None, 1.5", "LINE, 'a', None", "LINE, 1.0, 2.0"],
    "np.interp(a, b, c)": ["LINE, MATRIX, LINE", "LINE, LINE, SINGLE", "LINE, NONE, NONE", "2.5, LINE, LINE"],
    "np.cross(a, b)": ["LINE[:4], LINE[:4]", "LINE[:2], LINE[:2]", "1, 2", "LINE[:3], LINE[:2]"],
    "np.percentile(a, b)": ["WHOLE, 100", "LINE, 101", "COMPLEX, 50"],
    "np.nanquantile(a, b)": ["LINE, -1", "WHOLE, 1"],
    "np.histogram(a, b)": ["LINE, 2.5", "LINE, 3"],
    "np.roots(a)": ["MATRIX", "np.array([1.0, -3.0, 2.0])"],
    "np.intersect1d(a, b, assume_unique=c)": ["np.array([3, 1, 2, 1]), np.array([2, 5, 2]), True"],
    "np.setxor1d(a, b)": ["np.array([nan, 1, nan]), np.array([nan, 2])"],
    "np.isin(a, b, invert=c)": ["WHOLE, WHOLE, 'a'", "WHOLE, WHOLE, True"],
    "np.union1d(a, b)": ["'a', WHOLE"],
    "np.iscomplexobj(a)": ["'abc'", "None", "COMPLEX"],
    "np.nonzero(a)": ["np.array(['a', '', 'bc'])"],
    "np.sinc(a)": ["COMPLEX"],
    "np.log10(a)": ["np.array([1000 + 0j, 7 + 0j])"],
    "np.polynomial.polyutils.trimseq(a)": ["(1, 2)", "MATRIX", "np.array([1, 0, 0])"],
    "np.polynomial.polyutils.as_series(a, b)": ["CUBE, True", "(SINGLE, (1, 2, 0)), True"],
    "np.polynomial.polynomial.polyadd(a, b)": ["'a', 1", "SINGLE, [1, 2]", "SINGLE, COMPLEX.astype(np.complex64)"],
    "np.polynomial.polynomial.polymul(a, b)": ["SINGLE, SINGLE", "WHOLE, WHOLE"],
    "np.polynomial.polynomial.polydiv(a, b)": ["SINGLE, SINGLE"],
    "np.polynomial.polynomial.polyval(a, b)": ["1, 'a'", "SINGLE, SINGLE", "2, SINGLE"],
    "np.polynomial.polynomial.polyint(a, b)": ["LINE, 2.0", "np.array([0, 0, 1.0]), 4", "SINGLE, 1"],
    "np.broadcast_arrays(a, b)": ["1, 2", "LINE, WHOLE"],
    "np.lib.stride_tricks.sliding_window_view(a, b)": ["LINE, -1", "LINE, 1.5", "LINE, 2"],
}
# fmt: on


def shown(x: Any) -> Any:
    """A result as JSON has it: types, shapes, memory order and numbers."""
    if isinstance(x, np.ndarray):
        order = ("C" if x.flags.c_contiguous else "") + ("F" if x.flags.f_contiguous else "")
        items = [repr(v) for v in x.ravel().tolist()]
        return [str(x.dtype), list(x.shape), order, items]
    if isinstance(x, tuple | list):
        return [shown(v) for v in x]
    return [type(x).__name__, repr(x)]


def outcome(text: str, given: str, njit: Callable[..., Any], error: type[Exception]) -> Any:
    """The result of a call with arguments, or the error: a refusal without its text."""
    args = eval(f"({given},)", dict(NAMES))
    f = njit(eval(f"lambda {', '.join('abcde'[: len(args)])}: {text}", dict(NAMES)))
    try:
        result = f(*args)
        return shown(args[0] if result is None else result)
    except error:
        return "refused"
    except Exception as e:
        return f"{type(e).__name__}: {e}"


def main() -> None:
    import numba

    recorded = {
        text: {given: outcome(text, given, numba.njit, numba.errors.NumbaError) for given in arguments}
        for text, arguments in CALLS.items()
    }
    RECORDED.write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
