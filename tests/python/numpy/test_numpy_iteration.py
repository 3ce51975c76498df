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
    pairs = [
        (TABLE.T, TABLE.T),
        (TABLE.T, TABLE.reshape(3, 2)),
        (TABLE[::-1], TABLE[::-1]),
        (TABLE.copy("F"), TABLE[:1]),
    ]
    for x, y in pairs:
        assert njit(as_they_lie)(x, y.astype(float)) == as_they_lie(x, y.astype(float))
        # Strides of both matter, also where they differ.
        wide = np.broadcast_to(y, x.shape).astype(float)
        assert njit(as_they_lie)(wide, x) == as_they_lie(wide, x)
    listed = njit(lambda a, b: [(x.item(), y.item()) for x, y in np.nditer([a, b])])
    assert listed(TABLE, TABLE) == listed.py_func(TABLE, TABLE)


def facts(a, order):
    it = np.nditer(a, flags=["multi_index"], order="K")
    first = [(x.item(), it.multi_index, it.iterindex) for x in it]
    by_rows, by_columns = np.nditer(a, flags=["c_index"]), np.nditer(a, flags=("f_index", "refs_ok"))
    numbers = [by_rows.index for _ in by_rows], [by_columns.index for _ in by_columns]
    ended = it.finished, it.itersize, it.nop, it.has_index, it.has_multi_index, len(it)
    it.reset()
    again = []
    while not it.finished:
        again.append((it[0].item(), it.value.item(), it.multi_index))
        it.iternext()
    return first, numbers, ended, again, it.iternext()


def test_indices_and_the_state_of_an_iterator() -> None:
    compiled = njit(facts)
    for a in [x for x in ARRAYS if x.ndim]:
        assert compiled(a, "K") == facts(a, "K")


def filled(a, b):
    it = np.nditer((a, b, None), flags=["multi_index"])
    for x, y, z in it:
        z[...] = x * 10 + y
    other = np.nditer((a, None), op_dtypes=(None, np.complex128))
    for x, z in other:
        z[...] = x * 1j
    with np.nditer(a, flags=["multi_index"], op_flags=["readwrite"]) as it2:
        while not it2.finished:
            it2[0] = it2[0] + len(it2.multi_index)
            it2.iternext()
    return it.operands[2], it.operands[2].strides, other.operands[1], other.operands[1].strides, a


def test_arrays_that_are_made() -> None:
    compiled = njit(filled)
    for a in (TABLE, TABLE.copy("F"), TABLE[::-1], TABLE.T.copy().T[:, ::-1], TABLE.astype(complex)):
        for b in (np.arange(3), np.arange(6.0).reshape(2, 3).T.copy().T, np.array(2.5)):
            got, wanted = compiled(a.copy("K"), b), filled(a.copy("K"), b)
            for x, y in zip(got, wanted, strict=True):
                assert getattr(x, "dtype", 0) == getattr(y, "dtype", 0)
                np.testing.assert_array_equal(x, y)


def of_dtypes(a, buffered):
    wide = [x.item() for x in np.nditer(a, op_dtypes=[np.complex128], flags=[buffered])]
    return wide, [x.item() for x in np.nditer(a, op_dtypes=np.float32, flags=[buffered], casting="same_kind")]


def flagged(a, flags):
    return [x.item() for x in np.nditer(a, flags=flags)]


def after_the_end(a, which):
    it = np.nditer(a, flags=["multi_index"])
    if which == 0:
        return it.index
    for _ in it:
        pass
    return len(it.multi_index) if which == 1 else int(it.value)


def test_dtypes_flags_and_errors() -> None:
    compiled, converted, late = njit(flagged), njit(of_dtypes), njit(after_the_end)
    assert converted(TABLE.T, "buffered") == of_dtypes(TABLE.T, "buffered")
    for f, args in [
        (converted, (TABLE, "c_index")),
        (compiled, (TABLE, ["odd"])),
        (compiled, (TABLE[:0], ["c_index"])),
    ]:
        assert outcome(f, list(args)) == outcome(f.py_func, list(args))
    assert compiled(TABLE[:0], ["zerosize_ok"]) == []
    assert outcome(compiled, [TABLE, ["c_index", "f_index"]]) is ValueError
    for which in (0, 1, 2):
        assert outcome(late, [TABLE, which]) is outcome(after_the_end, [TABLE, which]) is ValueError
    with pytest.raises(NotImplementedError, match="at the call only"):
        compiled(TABLE, ["external_loop"])
    with pytest.raises(errors.TypingError, match="not converted"):
        njit(lambda a: list(np.nditer(a, op_flags=["readwrite"], op_dtypes=[np.float32], flags=["buffered"])))(TABLE)


def lines(a):
    by_rows, by_columns = [x.tolist() for x in np.nditer(a, ["external_loop"], order="C")], [[0]]
    for x in np.nditer(a, flags=["external_loop", "refs_ok"], order="F"):
        by_columns.append(x.tolist())
    it, steps = np.nditer(a, flags=["external_loop"]), [(0, 0, 0)]
    while not it.finished:
        steps.append((it.iterindex, it.value.size, it[0].shape[0]))
        it.iternext()
    return by_rows, by_columns, steps, [x.tolist() for x in np.nditer(a, flags=("external_loop",))]


def lines_of_several(a, b):
    it = np.nditer([a, b, None], flags=["external_loop"])
    for x, y, z in it:
        z[...] = x * 10 + y
    for x in np.nditer(a, flags=["external_loop"], op_flags=["readwrite"]):
        x[...] = x * 2 + len(x)
    return it.operands[2], a, [(x.tolist(), y.tolist()) for x, y in np.nditer((a, b), flags=["external_loop"])]


def test_an_external_loop_gives_lines() -> None:
    cube = np.arange(24).reshape(2, 3, 4)
    one, several = njit(lines), njit(lines_of_several)
    views = (
        cube,
        cube.T,
        cube[:, ::2],
        cube[::-1],
        cube[:, :, ::-1],
        cube[:, 1:2],
        cube.copy("F"),
        cube[:, :1, :1],
        cube[:1],
    )
    for a in (*views, np.arange(9)[::2], np.array(3), cube.transpose(1, 0, 2)):
        assert one(a) == lines(a), (a.shape, a.strides)
    for a, b in [(cube, cube), (cube, cube.copy("F")), (cube, np.arange(4)), (cube[:, :2], cube[:, 1:] * 1.5)]:
        for got, wanted in zip(several(a.copy("K"), b), lines_of_several(a.copy("K"), b), strict=True):
            np.testing.assert_array_equal(got, wanted)
    with pytest.raises(ValueError, match="EXTERNAL_LOOP cannot be used"):
        njit(lambda a: [x.sum() for x in np.nditer(a, flags=["external_loop", "multi_index"])])(cube)
    with pytest.raises(NotImplementedError, match="buffered"):
        njit(lambda a: [x.sum() for x in np.nditer(a, flags=["external_loop", "buffered"])])(cube)


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
