"""Operands at the ends of each type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

DTYPES = ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16")
ARRANGEMENTS = ("line", "reversed", "rows", "columns", "point")
INTEGERS = (300, -1, 0, 7, 2**40, -(2**40), 2**63 - 1, -(2**63))
FLOATS = (1.5, np.nan, np.inf, -np.inf, -0.0, 1e300, -2.5, 5e-324)


class Operands(NamedTuple):
    """An array from which other operands of a call are made."""

    a: np.ndarray

    def values(self, number: Any) -> dict[str, Any]:
        """An array, another one of its values, a sorted one, indices, a mask, a Python number, levels of quantiles."""
        a = self.a
        other = a[::-1] if a.ndim else a.copy()
        index = (np.arange(a.size) % max(len(a), 1) if a.ndim else np.array(0)).reshape(a.shape)
        mask = (np.arange(a.size) % 3 != 1).reshape(a.shape)
        return {"A": a, "B": other, "S": np.sort(a, axis=None), "I": index, "M": mask, "V": number,
                "Q": np.array([0.0, 0.5, 1.0])}  # fmt: skip


def numbers(dtype: str, kind: str) -> tuple[Any, ...]:
    """Python numbers, some of which the type does not hold."""
    if kind == "int":
        return INTEGERS
    return (*map(complex, FLOATS), 2j, complex(0.0, np.inf)) if dtype[0] == "c" else FLOATS


def lines(dtype: str) -> list[list[Any]]:
    """Values of lines of a type."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return [[True, False, True, True], [False, False, False], [], [True]]
    if kind in "iu":
        low, top = np.iinfo(dtype).min, np.iinfo(dtype).max
        return [
            [top, 3, 7, 0],
            [1, 2, 3, 4],
            [low, top, 0, 1],
            [top, top, top],
            [low, low],
            [top - 1, 1, top],
            [],
            [top],
            [0, 0, 1],
        ]
    info = np.finfo(dtype)
    tiny, top = float(info.smallest_subnormal), float(info.max)
    real = [[1.5, -2.25, 3.0, 0.5], [np.nan, 1.0, 2.0], [np.inf, -np.inf, 1.0], [1.0, np.inf, np.nan, -np.inf],
            [np.inf, np.inf], [-0.0, 0.0, 1.0], [-0.0, -0.0], [tiny, -tiny, 3 * tiny],
            [top, top, -top], [], [np.nan], [0.0]]  # fmt: skip
    if kind == "f":
        return real
    return [[1 + 2j, 2j, -1.5 - 0.5j, 0j], [complex(0, np.inf), 1 + 1j], [1 + 2j, complex(np.inf, 1)], [1j, 0j], [2j],
            [complex(np.nan, 1), 1 + 1j], [complex(1, np.nan), 2 + 0j], [complex(np.inf, np.nan)],
            [tiny * 1j, complex(tiny, -tiny)], [complex(-0.0, -0.0), complex(0.0, -0.0)], [],
            [complex(-np.inf, np.inf), 1 + 0j], [complex(-1.0, -0.0), complex(-1.0, 0.0)]]  # fmt: skip


def inputs(dtype: str, arrangement: str) -> Iterator[np.ndarray]:
    """Arrays of a type that lie in memory in one way."""
    kind = np.dtype(dtype).kind
    for line in lines(dtype):
        a = np.array(line, dtype)
        if arrangement == "line":
            yield a
        elif arrangement == "reversed":
            yield a[::-1].copy()[::-1]
        elif arrangement == "point":
            yield from (np.array(x, dtype) for x in line)
        else:
            table = np.resize(a, (2, 3)) if len(a) else a.reshape(0, 3)
            yield np.array(table, order="F" if arrangement == "columns" else "C")
    if arrangement == "line" and kind in "fc":
        # So many that the order of a sum tells.
        yield np.resize(np.array([0.1, 0.7, 3.3, 1000.1, 0.003]).astype(dtype), 3000)
    if arrangement in ("rows", "columns"):
        for shape in ((1, 4), (3, 0), (1, 1)):
            order = "F" if arrangement == "columns" else "C"
            yield np.array(
                np.resize(np.array(lines(dtype)[0], dtype), shape) if 0 not in shape else np.zeros(shape, dtype),
                order=order,
            )
