"""Arrays whose elements are not aligned: copied in, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lancehead import cuda, errors, njit, prange, typeof, vectorize


def unaligned(a: Any) -> Any:
    out = np.empty(a.nbytes + 1, np.uint8)[1:].view(a.dtype).reshape(a.shape)
    out[...] = a
    assert not out.flags.aligned
    return out


@njit
def sets(a):
    a[0] = 7
    return a.sum()


@pytest.mark.parametrize("dtype", [np.int16, np.uint32, np.int64, np.float32, np.float64, np.complex64, np.complex128])
def test_dtypes(dtype: Any) -> None:
    a = unaligned(np.arange(5).astype(dtype))
    assert sets(a) == 17
    assert a[0] == 7 and typeof(a) == typeof(a.copy())


def test_views_and_read_only_arrays() -> None:
    a = unaligned(np.arange(24.0).reshape(4, 6))
    part = a[::-2, ::-3]
    assert sets(part[1]) == 7 + 8 and a[1].tolist() == [6, 7, 8, 9, 10, 7]
    a.flags.writeable = False
    with pytest.raises(errors.TypingError, match="read-only|readonly"):
        sets(a[0])


def test_inside_tuples_and_lists_and_the_same_twice() -> None:
    @njit
    def f(t, items, same):
        t[0][1] = 3
        items[0][0] = 9
        return t[0].sum() + items[0].sum(), t[0] is same

    a, b = unaligned(np.arange(3.0)), unaligned(np.arange(4.0))
    assert f((a,), [b], a) == (5 + 15, True)
    assert a.tolist() == [0, 3, 2] and b.tolist() == [9, 1, 2, 3]


def test_changes_before_an_exception_are_seen() -> None:
    @njit
    def f(a):
        a[1] = -5
        raise ValueError("after")

    a = unaligned(np.arange(3.0))
    with pytest.raises(ValueError, match="after"):
        f(a)
    assert a.tolist() == [0, -5, 2]


def test_several_that_overlap() -> None:
    @njit
    def f(a, b):
        return a[0] + b[0]

    a = unaligned(np.arange(5.0))
    with pytest.raises(errors.TypingError, match="overlaps"):
        f(a, a[1:])
    a.flags.writeable = False
    assert f(a, a[1:]) == 1


def test_what_is_returned_is_aligned() -> None:
    got = njit(lambda a: a)(unaligned(np.arange(3.0)))
    assert got.flags.aligned and got.tolist() == [0, 1, 2]


def test_records() -> None:
    dtype = np.dtype([("x", "f8"), ("n", "i4")], align=True)
    a = unaligned(np.array([(1.5, 2), (2.5, 3)], dtype))

    @njit
    def f(a):
        a[0].n = 5
        return a[1].x

    assert f(a) == 2.5 and a["n"].tolist() == [5, 3]


def test_kernels_ufuncs_and_parallel_loops() -> None:
    @cuda.jit
    def add_one(a):
        a[cuda.grid(1)] += 1

    @njit(parallel=True)
    def double(a):
        for i in prange(a.size):
            a[i] *= 2

    a = unaligned(np.arange(5.0))
    add_one[1, 5](a)
    double(a)
    assert vectorize(lambda x: x * 3)(a).tolist() == [6, 12, 18, 24, 30]


def test_captured() -> None:
    packed = np.zeros(4, [("x", "i1"), ("y", "f8")])["y"]
    shifted = unaligned(np.arange(4.0))

    @njit
    def total():
        return packed.sum()

    @njit
    def item():
        return shifted[1]

    for f in (total, item):
        with pytest.raises(errors.NumbaError, match="ndarray that is not aligned"):
            f()
