"""Common to the programs beside this file: derivatives by differences, and how far two answers are apart."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def differences(f: Callable[[np.ndarray], object], x: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Central differences of `f`, which gives a number or an array, with respect to each element of a vector: an array
    of the shape of the result, with a last axis for the elements."""
    columns = []
    for i in range(x.size):
        ends = []
        for sign in (1.0, -1.0):
            moved = x.copy()
            moved[i] += sign * step
            ends.append(np.array(f(moved)))
        columns.append((ends[0] - ends[1]) / (2.0 * step))
    return np.stack(columns, axis=-1)


def agree(other: str, found: object, expected: object, tolerance: float) -> None:
    """Prints how far a derivative is from that by another method, relative to the largest element of that one.

    AssertionError if it is farther than `tolerance`, or of another shape.
    """
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    off = np.abs(found - expected).max() / np.abs(expected).max()
    assert off <= tolerance, f"{other}: {off:.1e} away, allowed is {tolerance:.0e}"
    print(f"derivative: {off:.0e} from {other}")
