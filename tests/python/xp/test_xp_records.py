"""Lazy arrays of records: parts, fields, stores, functions of the program, against NumPy, on the host and a device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lancehead import xp

POINT = np.dtype([("a", np.int8), ("b", np.float32)])
PACKED = np.dtype([("x", np.float64), ("i", np.int32), ("p", POINT), ("v", np.float64, (3,)), ("t", "U3")])
ALIGNED = np.dtype([("c", np.complex64), ("i", np.int16), ("p", POINT), ("x", np.float64)], align=True)
DEVICES = ("cpu", "cuda:0")


def values(shape: Any, dtype: np.dtype[Any] = PACKED) -> np.ndarray:
    """Records whose fields differ from element to element."""
    n = int(np.prod(shape))
    rng, a = np.random.default_rng(n), np.zeros(n, dtype)
    a["x"], a["i"] = rng.permutation(n) * 0.5, rng.integers(-50, 50, n)
    a["p"]["a"], a["p"]["b"] = np.arange(n) % 100, rng.normal(size=n)
    if dtype is PACKED:
        a["v"], a["t"] = rng.normal(size=(n, 3)), np.array(["", "ab", "äöü"])[np.arange(n) % 3]
    else:
        a["c"] = rng.normal(size=n) + 1j
    return a.reshape(shape)


def same(found: Any, expected: Any) -> None:
    """Whether an array has the values, the type and the shape of NumPy's."""
    got = found.numpy()
    assert (found.dtype, found.shape, got.dtype, got.shape) == (expected.dtype, expected.shape) * 2
    assert repr(got.tolist()) == repr(expected.tolist())


@pytest.mark.parametrize("device", DEVICES)
def test_parts_and_fields(device: str) -> None:
    for dtype in (PACKED, ALIGNED):
        a = values((4, 3), dtype)
        x = xp.asarray(a, device=device)
        same(x, a)
        for part in (np.s_[1:], np.s_[::-2, 1], np.s_[2, 0], np.s_[..., None], np.s_[:0], np.s_[-1]):
            same(x[part], a[part] if np.ndim(a[part]) else np.asarray(a[part]))
        for f in (
            lambda y: y["x"], lambda y: y["i"][1:, ::-1], lambda y: y[1:, 1]["x"], lambda y: y["p"]["b"].T,
            lambda y: y.T["p"][1], lambda y: y["p"], lambda y: y[:0]["x"],
        ):  # fmt: skip
            same(f(x), f(a))
        same(x["x"] * 2.0 + x["i"], a["x"] * 2.0 + a["i"])
        same(xp.sum(x["i"], axis=0), a["i"].sum(0, dtype=np.int64))
        same(x[["x", "p"]], a[["x", "p"]])
        same(x[xp.asarray([2, 0], device=device)]["x"], a[[2, 0]]["x"])
        same(x[x["x"] > 2.0], a[a["x"] > 2.0])
        same(xp.concat([x, x[1:]]), np.concatenate([a, a[1:]]))
        same(xp.take(x, xp.asarray([3, 1], device=device), axis=0)["i"], a[[3, 1]]["i"])
        same(xp.permute_dims(x, (1, 0)), a.T)
        same(xp.reshape(x, (6, 2))["p"]["a"], a.reshape(6, 2)["p"]["a"])
        same(xp.flip(x, axis=1), np.flip(a, 1))
        same(xp.roll(x, 2, axis=0), np.roll(a, 2, 0))
    a = values((2, 3))
    x = xp.asarray(a, device=device)
    same(x["v"], a["v"])
    same(x["v"][..., 1] + x["x"], a["v"][..., 1] + a["x"])
    same(x["t"], a["t"])
    for shape in ((), (0,), (0, 2), (1,)):
        a = values(shape)
        same(xp.asarray(a, device=device)["p"]["b"], np.asarray(a["p"]["b"]))


@pytest.mark.parametrize("device", DEVICES)
def test_stores(device: str) -> None:
    for dtype in (PACKED, ALIGNED):
        a = values((4, 3), dtype)
        x, before = xp.asarray(a.copy(), device=device), a.copy()
        old, row, field = xp.asarray(a.copy(), device=device), x[1], x["p"]
        for y in (x, a):
            y["x"] = 1.5
            y["i"][1:] = y["i"][:1] + y["i"][1:]
            y[2]["p"]["b"] = -2.0
            y[:, 0] = y[:, 2]
            y["x"][::2, ::-1] += 3.0
            y[["i", "x"]][3] = y[["i", "x"]][0]
        a_row, a_field = a[1], a["p"]
        for y, r, f in ((x, row, field), (a, a_row, a_field)):
            r["x"][1] = 9.0
            f["a"] = 4
            r["i"] += 1
            y[0] = y[3, 1]
        same(x, a)
        same(row, a_row)
        same(field, a_field)
        same(old, before)
    a = values((3, 2))
    x = xp.asarray(a.copy(), device=device)
    for y in (x, a):
        y["v"][..., 1] = y["x"]
        y["v"][1] = 2.5
        y["t"] = "xy"
        y[0, 1] = (1.0, 2, (3, 4.0), [5.0, 6.0, 7.0], "é")
    x[2] = a[0, 1]
    a[2] = a[0, 1]
    same(x, a)
    where, mask = a["x"] > 0.5, np.asarray([True, False, True])
    x[xp.asarray(where, device=device)] = a[1, 1]
    a[where] = a[1, 1]
    x[mask] = x[:1]
    a[mask] = a[:1]
    same(x, a)
    y, b = xp.asarray(a[0, 0], device=device), np.array(a[0, 0])
    y["x"], b["x"] = 8.0, 8.0
    same(y, b)


@pytest.mark.parametrize("device", DEVICES)
def test_functions_of_records(device: str) -> None:
    for n in (1, 40, 9000):
        a = values(n)
        x = xp.asarray(a, device=device)
        same(xp.map(lambda r: r.x + r.p.a, x), a["x"] + a["p"]["a"])
        same(xp.map(lambda r, k: r["i"] * k + r["v"][1], x, x["i"]), a["i"] * a["i"] + a["v"][:, 1])
        same(xp.map(lambda r, s: r if r.x < s.x else s, x, xp.flip(x)), np.where(a["x"] < a["x"][::-1], a, a[::-1]))
        same(xp.transform_reduce(lambda r: r.i, lambda p, q: p + q, 0, x), np.asarray(a["i"].sum(dtype=np.int32)))
        largest = xp.reduce(lambda p, q: p if p.x > q.x else q, x)
        same(largest, a[np.argmax(a["x"])][...])
        running = xp.scan(lambda p, q: p if p.x > q.x else q, x)
        places = np.maximum.accumulate(a["x"])
        same(running["x"], places)
        same(running, a[np.argsort(a["x"])[np.searchsorted(np.sort(a["x"]), places)]])
        keys = np.random.default_rng(1).permutation(n)
        k, y = xp.sort_by_key(xp.asarray(keys, device=device), x)
        same(y, a[np.argsort(keys)])
        same(k, np.sort(keys))
    a = values((5, 4), ALIGNED)
    x = xp.asarray(a, device=device)
    same(xp.map(lambda r: r.c.real + r.x, x[::-1, 1:]), a[::-1, 1:]["c"].real + a[::-1, 1:]["x"])
    same(xp.map(lambda r, k: r.x * k, x, 2.0), a["x"] * 2.0)
    for axis in (0, 1):
        found = xp.reduce(lambda p, q: p if p.x > q.x else q, x, axis=axis)
        same(found, np.take_along_axis(a, np.expand_dims(a["x"].argmax(axis), axis), axis).squeeze(axis))
    least = xp.reduce(lambda p, q: p if p.x < q.x else q, x[0], init=a[3, 3])
    row = np.append(a[3, 3], a[0])
    same(least, row[row["x"].argmin()][...])
    same(xp.map(lambda r: r.x, x[:0]), a[:0]["x"])
    parts = xp.map(lambda r: (r.x, r.i), x)
    same(parts[0], a["x"])
    same(parts[1], a["i"])


def test_what_is_refused() -> None:
    x = xp.asarray(values((3, 2)))
    with pytest.raises((ValueError, KeyError), match="no field"):
        x["nothing"]
    with pytest.raises(IndexError, match="have no fields"):
        x["x"]["y"]
    with pytest.raises(TypeError, match="do not go"):
        x[0] = xp.asarray(values(2, ALIGNED))
    with pytest.raises(TypeError, match="do not go"):
        x["i"] = xp.asarray(1.5)
    with pytest.raises(ValueError, match="shape"):
        x["x"] = xp.ones(5)
    with pytest.raises(TypeError, match="add"):
        x + x
    with pytest.raises(TypeError, match="gives one of them"):
        xp.reduce(lambda p, q: p.x + q.x, x[:, 0])
    with pytest.raises(TypeError, match="of one type"):
        xp.reduce(lambda p, q: p, x[:, 0], init=values((), ALIGNED)[()])
    with pytest.raises(TypeError, match="records are not made"):
        xp.astype(x, ALIGNED)
    with pytest.raises(ValueError, match="pieces are of functions of elements"):
        xp.map(lambda r: r.x, x).schedule(chunks=2)
