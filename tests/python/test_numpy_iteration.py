"""`np.nditer` against NumPy: the order of memory, stores, several arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lancehead import errors, njit
from numpy_agreement import outcome

TABLE = np.arange(6).reshape(2, 3)
ARRAYS = [TABLE, TABLE.T, TABLE[:, ::2], TABLE[::-1], TABLE[::-1, ::-2].T, np.array(5), np.arange(24).reshape(2, 3, 4)]
ARRAYS += [ARRAYS[-1].transpose(1, 0, 2), TABLE.astype("f4"), TABLE.astype(complex)]


def elements(a):
    out = []
    for x in np.nditer(a):
        out.append(x.item())
    return out


def total(a):
    t = 0.0
    for x in np.nditer(a.real, order="F"):
        t = t * 0.5 + x
    return t


def doubled(a):
    for x in np.nditer(a, op_flags=["readwrite"]):
        x[...] = 2 * x
    return a


@pytest.mark.parametrize("f", [elements, total, doubled])
def test_one_array(f: Any) -> None:
    compiled = njit(f)
    for a in ARRAYS:
        np.testing.assert_array_equal(compiled(a.copy("K")), f(a.copy("K")))
    with pytest.raises(ValueError, match="zero-sized"):
        compiled(TABLE[:0])


def test_several_arrays() -> None:
    def in_order(a, b, c):
        out = []
        for x, y, z in np.nditer((a, b, c), order="C"):
            out.append(x.item() * 100 + y.item() * 10 + z.item())
        return out

    def as_they_lie(a, b):
        out = []
        for x, y in np.nditer((a, b)):
            out.append(x.item() * 10 + y.item())
        return out

    for a in (TABLE, TABLE.copy("F"), TABLE[::-1]):
        assert njit(in_order)(a, np.arange(3.0), 1) == in_order(a, np.arange(3.0), 1)
    assert njit(as_they_lie)(TABLE, np.arange(3.0)) == as_they_lie(TABLE, np.arange(3.0))
    with pytest.raises(errors.TypingError, match='order="C"'):
        njit(as_they_lie)(TABLE.T, TABLE.T)
    with pytest.raises(errors.TypingError, match="flags"):
        njit(lambda a: [x.item() for x in np.nditer(a, flags=["multi_index"])])(TABLE)


def test_broadcast() -> None:
    def facts(a, b):
        both = np.broadcast(a, b)
        return both.shape, both.size, both.nd, both.ndim, both.numiter, both.index, [x * 2 + y for x, y in both]

    def begun_anew(a, b, stop):
        both, out = np.broadcast(a, b), []
        for x, y in both:
            out.append((both.index, x, y))
            if both.index == stop:
                break
        for x, y in both:
            out.append((both.index, x, y))
        both.reset()
        for x, _ in both:
            out.append((both.index, x, 0))
        return out

    compiled, again = njit(facts), njit(begun_anew)
    for a in (TABLE, TABLE.copy("F"), TABLE[::-1], TABLE[:, 1], TABLE[:0], 2.5, [1, 2, 3]):
        for b in (np.arange(3.0), np.ones((4, 1, 1), np.float32), 1):
            assert repr(outcome(compiled, [a, b])) == repr(plain_numbers(outcome(facts, [a, b])))
    for stop in (1, 3, 6):
        assert again(TABLE, np.arange(3), stop) == begun_anew(TABLE, np.arange(3), stop)
    assert njit(lambda: np.broadcast().shape)() == ()
    assert njit(lambda a: np.broadcast(a, a, a, a[:, :1], 1).shape)(TABLE) == (2, 3)
    with pytest.raises(ValueError, match="cannot be broadcast to a single shape"):
        compiled(TABLE, np.ones(2))


def plain_numbers(x: Any) -> Any:
    """Without NumPy's scalars."""
    if isinstance(x, (tuple, list)):
        return type(x)(plain_numbers(i) for i in x)
    return x.item() if isinstance(x, np.generic) else x
