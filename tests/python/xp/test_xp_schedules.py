"""Schedules of lazy arrays: what they are, what they refuse, what they do, and that results stay the same."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lancehead import xp
from lancehead.xp import device_loops, device_selections, devices, dtypes
from lancehead.xp.regions import groups, region_of

A = np.random.default_rng(0).normal(size=(13, 7))
X = xp.asarray(A)
THERE = xp.asarray(A, device="cuda:0")
NUMBERS = xp.asarray(np.arange(-40, 51).reshape(13, 7))


def texts(x: xp.ndarray) -> list[str]:
    """The texts of the regions that compute an array."""
    found, known = [], list[Any]()
    for some in groups([x.node()]):
        step = region_of(some, known)
        known += step.kept
        found.append(step.region.text)
    return found


def test_a_schedule_is_data() -> None:
    one = xp.Schedule(tile=[8, 4], unroll=2)
    assert one == xp.Schedule(tile=(8, 4), unroll=2) != xp.Schedule(tile=(8, 4))
    assert hash(one) == hash(xp.Schedule(tile=(8, 4), unroll=2))
    assert repr(one) == "Schedule(tile=(8, 4), unroll=2)" and eval(repr(one), {"Schedule": xp.Schedule}) == one
    assert pickle.loads(pickle.dumps(one)) == one and xp.Schedule(tile=3).tile == (3,)
    assert xp.Schedule(vectorize=1) == xp.Schedule(vectorize=False) != xp.Schedule(vectorize=True)
    vectors = xp.Schedule(vectorize=8, unroll=4)
    assert repr(vectors) == "Schedule(unroll=4, vectorize=8)" and pickle.loads(pickle.dumps(vectors)) == vectors
    y = X + 1.0
    assert y.schedule(one) is y and y.node().schedule == one
    assert y.schedule(one, unroll=4).node().schedule == xp.Schedule(tile=(8, 4), unroll=4)
    assert y.schedule().node().schedule is None


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: (X + 1.0).schedule(tile=(3,)), ValueError, "2 axes"),
    (lambda: (X + 1.0).schedule(tile=(3, 0)), ValueError, "positive"),
    (lambda: (X + 1.0).schedule(tile=(3, 1.5)), TypeError, "integers"),
    (lambda: (X + 1.0).schedule(tile="33"), TypeError, "tuple"),
    (lambda: (X + 1.0).schedule(chunks=-1), ValueError, "positive"),
    (lambda: (X + 1.0).schedule(chunks=True), TypeError, "integers"),
    (lambda: (X + 1.0).schedule(chunks=2, tile=(1, 1)), ValueError, "chunks"),
    (lambda: (X + 1.0).schedule(unroll=3), ValueError, "power of two"),
    (lambda: (X + 1.0).schedule(unroll=128), ValueError, "up to 64"),
    (lambda: (X + 1.0).schedule(unroll=True), TypeError, "integers"),
    (lambda: xp.sum(X).schedule(unroll=2), ValueError, "the result of sum"),
    (lambda: xp.sort(X).schedule(vectorize=2), ValueError, "the result of sort"),
    (lambda: (X + 1.0).schedule(fuse=3), TypeError, "fuse"),
    (lambda: (X + 1.0).schedule(fuse=True, chunks=3), ValueError, "region"),
    (lambda: (X + 1.0).schedule(recompute=True, fuse=False), ValueError, "not stored"),
    (lambda: (X + 1.0).schedule(vectorize=12), ValueError, "power of two"),
    (lambda: (X + 1.0).schedule(vectorize=128), ValueError, "up to 64"),
    (lambda: (X + 1.0).schedule(vectorize=0), ValueError, "positive"),
    (lambda: (X + 1.0).schedule(vectorize="4"), TypeError, "integers"),
    (lambda: (X + 1.0).schedule(vectorize=4, fuse=True), ValueError, "region"),
    (lambda: (X + 1.0).schedule(block=128), ValueError, "'cpu'"),
    (lambda: (X + 1.0).schedule(shared=True), ValueError, "'cpu'"),
    (lambda: (X + 1.0).schedule(place="nowhere:0"), ValueError, "nowhere:0"),
    (lambda: (X + 1.0).schedule(chunk=2), TypeError, "chunks"),
    (lambda: (X + 1.0).schedule({"chunks": 2}), TypeError, "Schedule"),
    (lambda: X.schedule(fuse=False), ValueError, "computed"),
    (lambda: (X + 1.0).schedule(block=1.5), TypeError, "integers"),
    (lambda: (X + 1.0).schedule(shared=4), TypeError, "shared"),
    (lambda: (X + 1.0).schedule(block=64, fuse=True), ValueError, "region"),
    (lambda: (THERE + 1.0).schedule(chunks=2), ValueError, "all at once"),
    (lambda: (THERE + 1.0).schedule(tile=(2, 2)), ValueError, "products"),
    (lambda: (THERE + 1.0).schedule(vectorize=2), ValueError, "vectorize"),
    (lambda: (THERE + 1.0).schedule(shared=True), ValueError, "gains nothing"),
    (lambda: (THERE + 1.0).schedule(block=96), ValueError, "power of two"),
    (lambda: (THERE + 1.0).schedule(block=2048), ValueError, "power of two"),
    (lambda: xp.sum(THERE).schedule(block=64), ValueError, "order"),
    (lambda: xp.sum(THERE).schedule(shared=False), ValueError, "gains nothing"),
    (lambda: xp.sort(THERE).schedule(unroll=2), ValueError, "functions of elements"),
    (lambda: xp.linalg.inv(THERE[:7]).schedule(block=64), ValueError, "no kernel"),
    (lambda: xp.unique_counts(THERE)[0].schedule(block=64), ValueError, "several results|computed"),
    (lambda: (THERE @ THERE.T).schedule(tile=(16, 8)), ValueError, "rows as columns"),
    (lambda: (THERE @ THERE.T).schedule(tile=(3, 3)), ValueError, "rows as columns"),
    (lambda: (THERE @ THERE.T).schedule(block=128), ValueError, "each element"),
    (lambda: (THERE @ THERE.T).schedule(block=64, tile=(16, 16)), ValueError, "each element"),
    (lambda: xp.linalg.inv(X[:7]).schedule(place="cuda:0"), ValueError, "another device"),
    (lambda: xp.reduce(lambda a, b: a + b, THERE, init=0.0).schedule(place="cpu"), ValueError, "another device"),
    (lambda: (X + 1.0).schedule(place="cuda:0", chunks=2), ValueError, "all at once"),
    (lambda: (THERE + 1.0).schedule(place="cpu", block=64), ValueError, "'cpu'"),
    (lambda: (X + 1.0)[0, 0].schedule(chunks=2), ValueError, "view"),
    (lambda: (xp.sum(X) + 1.0).schedule(chunks=2), ValueError, "without axes"),
    (lambda: xp.sort(X).schedule(chunks=2), ValueError, "sort"),
    (lambda: xp.sum(X, axis=1).schedule(tile=(2,)), ValueError, "sum"),
    (lambda: xp.sum(X).schedule(chunks=2), ValueError, "order"),
    (lambda: xp.mean(X, axis=(0, 1)).schedule(chunks=2), ValueError, "order"),
    (lambda: xp.max(X, axis=0).schedule(chunks=2), ValueError, "order"),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_the_impossible_is_refused(case: int) -> None:
    f, error, reason = REFUSED[case]
    with pytest.raises(error, match=reason):
        f()


def test_a_traced_function_is_one_region() -> None:
    with pytest.raises(TypeError, match="one region"):
        xp.trace(lambda x: (x + 1.0).schedule(fuse=False) * 2.0)(X)


def test_fuse_and_recompute_decide_what_is_stored() -> None:
    def made(**options: Any) -> tuple[Any, Any]:
        e = xp.exp(X).schedule(**options)
        return e, (e + 1.0) * xp.sum(e)

    plain = made()[1].numpy()
    np.testing.assert_allclose(plain, (np.exp(A) + 1.0) * np.sum(np.exp(A)), rtol=1e-14)
    for options, count, regions, is_stored in (
        ({}, 1, 1, False),
        ({"fuse": False}, 1, 2, True),
        ({"place": "cpu"}, 1, 2, True),
        ({"recompute": False}, 1, 1, True),
        ({"recompute": True}, 2, 1, False),
    ):
        e, y = made(**options)
        found = texts(y)
        assert (len(found), "".join(found).count("np.exp")) == (regions, count), options
        assert len(y.explain().regions) == regions
        np.testing.assert_array_equal(y.numpy(), plain)
        assert (e.node().value is not None) == is_stored, options
    # It is computed again for each operation that reads it, once for those of one that is computed again itself.
    e = xp.exp(X).schedule(recompute=True)
    f = (e * e).schedule(recompute=True)
    y = xp.sum(f) + f[0] * f[-1] + e[1]
    assert "".join(texts(y)).count("np.exp") == 2
    b = np.exp(A)
    np.testing.assert_allclose(y.numpy(), np.sum(b * b) + b[0] ** 2 * b[-1] ** 2 + b[1], rtol=1e-14)


def made_there(**options: Any) -> tuple[Any, Any]:
    e = xp.exp(THERE).schedule(**options)
    return e, (e + 1.0) * xp.sum(e)


@pytest.mark.usefixtures("by_kernels")
def test_fuse_and_recompute_on_devices() -> None:
    plain = made_there()[1].numpy()
    for options, count, kernels, is_stored in (
        ({}, 2, 2, False),
        ({"fuse": False}, 1, 3, True),
        ({"block": 64}, 1, 3, True),
        ({"unroll": 2}, 1, 3, True),
        ({"place": "cpu"}, 0, 2, True),
        ({"recompute": False}, 1, 3, True),
        ({"recompute": True}, 2, 2, False),
    ):
        e, y = made_there(**options)
        found = y.explain()
        assert (len(found.kernels), "".join(found.kernels).count("np.exp")) == (kernels, count), options
        assert [row.operation for row in found.rows].count("exp") == 1 + (options.get("recompute") is True)
        np.testing.assert_allclose(y.numpy(), plain, rtol=1e-15)
        assert (e.node().value is not None) == is_stored, options

    # An expensive operation that is read at several places is stored, unless it is to be computed again.
    def costly(**options: Any) -> Any:
        e = THERE
        for _ in range(9):
            e = xp.sin(e)
        e = e.schedule(**options)
        return xp.sort(e[::-1] + 1.0, axis=0) * e[:, :1]

    assert [len(costly(**options).explain().kernels) for options in ({}, {"recompute": True})] == [4, 3]
    np.testing.assert_array_equal(costly(recompute=True).numpy(), costly().numpy())
    # Operations with several results are there once.
    e = xp.exp(THERE).schedule(recompute=True)
    values, counts = xp.unique_counts(e)
    np.testing.assert_array_equal(values.numpy(), np.unique(e.numpy()))
    assert counts.numpy().sum() == A.size


@pytest.mark.usefixtures("by_kernels")
def test_launches_on_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    launches = list[tuple[int, int]]()
    origin = device_loops.launch

    def launch(*given: Any) -> None:
        launches.append(device_loops.SHAPE.get())
        origin(*given)

    for module in (device_loops, device_selections):
        monkeypatch.setattr(module, "launch", launch)

    def stored() -> Any:
        y = THERE * 2.0
        y[1:] = 3.0
        return y

    cases: list[Callable[[], Any]] = [
        lambda: xp.exp(THERE) + THERE[:1],
        lambda: xp.cumulative_sum(THERE, axis=1),
        lambda: xp.sort(THERE, axis=0),
        lambda: xp.argsort(THERE, axis=1),
        lambda: xp.merge(xp.sort(THERE[0]), xp.sort(THERE[1])),
        stored,
    ]
    compiled = -1
    for f in cases:
        plain = f().numpy()
        for block in (1, 64, 1024):
            y = f().schedule(block=block)
            assert f"{block} threads a block, by Schedule(block={block})" in str(y.explain())
            launches.clear()
            np.testing.assert_array_equal(y.numpy(), plain)
            assert launches[-1] == (block, 1)
        compiled = len(device_loops._COMPILED) if compiled < 0 else compiled
    assert compiled > 0
    before = len(device_loops._COMPILED)
    for each in (2, 8):
        y = cases[0]().schedule(block=32, unroll=each)
        assert f"32 threads a block, {each} elements a thread" in str(y.explain())
        launches.clear()
        np.testing.assert_array_equal(y.numpy(), cases[0]().numpy())
        assert launches[0] == (32, each)
    assert len(device_loops._COMPILED) == before


@pytest.mark.usefixtures("by_kernels")
def test_tiles_of_products() -> None:
    plain = (THERE @ THERE.T).numpy()
    for options, threads, is_shared in (
        ({"tile": (8, 8)}, 64, True),
        ({"block": 1024, "shared": True}, 1024, True),
        ({"tile": (2, 2), "block": 4}, 4, True),
        ({"shared": False}, 256, False),
        ({"shared": False, "tile": (4, 4)}, 16, False),
    ):
        y = (THERE @ THERE.T).schedule(**options)
        found = y.explain()
        assert f"{threads} threads a block" in str(found)
        assert ("shared.array" in "".join(found.kernels)) == is_shared
        np.testing.assert_array_equal(y.numpy(), plain)


@pytest.mark.usefixtures("by_kernels")
def test_places_are_devices() -> None:
    def f(x: Any) -> Any:
        return xp.sum(xp.exp(x) * x[:1] + xp.astype(xp.counting(7, device=x.device), xp.float64), axis=1)

    expected = f(X).numpy()
    y = f(X).schedule(place="cuda:0")
    found = y.explain()
    assert y.device == "cpu" and "def lines(" in "".join(found.kernels) and "place='cuda:0'" in str(found)
    assert found.rows[-1].operation == "transfer" and found.rows[0].operation == "transfer"
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-14)
    assert type(y.node().value) is np.ndarray
    y = f(THERE).schedule(place="cpu", fuse=False)
    assert y.device == "cuda:0" and not y.explain().kernels and y.explain().regions
    np.testing.assert_array_equal((y + 0.0).numpy(), expected)
    # Others before and after it stay where they are.
    z = (xp.sort(X, axis=0) @ X.T).schedule(place="cuda:0", tile=(8, 8)) + 1.0
    np.testing.assert_allclose(z.numpy(), np.sort(A, axis=0) @ A.T + 1.0, rtol=1e-13)
    for g in (
        lambda x: xp.sort(x, axis=1), lambda x: xp.std(x, axis=0), lambda x: xp.argmax(x, axis=1),
        lambda x: xp.cumulative_sum(x, axis=1), lambda x: xp.where(x > 0.0, x, xp.concat([x[1:], x[:1]])),
        lambda x: xp.argsort(x, axis=0), lambda x: xp.take(x, xp.asarray([2, 0]), axis=1),
        lambda x: xp.map(lambda a, b: a * b, x, 2.0) + xp.random.default_rng(1).random((13, 7)),
    ):  # fmt: skip
        np.testing.assert_allclose(g(X).schedule(place="cuda:0").numpy(), g(X).numpy(), rtol=1e-13)


@pytest.mark.parametrize("kernels", (False, True))
def test_tuning_on_devices(kernels: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "KERNELS", kernels)
    for f in (lambda: xp.exp(THERE) + 1.0, lambda: THERE @ THERE.T, lambda: xp.sum(THERE, axis=1)):
        y = f()
        found = y.autotune(budget=0.2)
        assert found == (y.node().schedule or xp.Schedule()) and found.chunks is None
        np.testing.assert_array_equal(y.numpy(), f().numpy())
    with pytest.raises(ValueError, match="another device"):
        (X + 1.0).schedule(place="cuda:0").autotune()


def test_pieces_of_elements() -> None:
    row, column = xp.asarray(A[:1]), xp.asarray(A[:, :1])

    def f(w: Any, x: Any, r: Any, c: Any) -> Any:
        e = w.exp(x)
        return e / w.sum(e, axis=1, keepdims=True) + r * w.sin(c) - w.where(x.T[:1, :1] > 0.0, x, -x)

    plain = f(xp, X, row, column).numpy()
    np.testing.assert_allclose(plain, f(np, A, A[:1], A[:, :1]), rtol=1e-14)
    for options in ({"chunks": n} for n in (1, 2, 5, 13, 40)):
        for unroll in (None, 2):
            y = f(xp, X, row, column).schedule(unroll=unroll, **options)
            (text,) = texts(y)
            assert ("loop_hint(2, 0)" in text) == (unroll == 2) and "for k0" in text and "for k1" not in text
            np.testing.assert_array_equal(y.numpy(), plain)
    for tile in ((1, 1), (4, 3), (13, 2), (50, 50), (2, 7)):
        y = f(xp, X, row, column).schedule(tile=tile, unroll=2 if tile[0] == 4 else None)
        assert "for k1" in texts(y)[0]
        assert "in pieces" in str(y.explain()) and f"tile={tile}" in str(y.explain())
        np.testing.assert_array_equal(y.numpy(), plain)


@pytest.mark.optimised
def test_forms_of_loops_over_elements() -> None:
    a = np.random.default_rng(1).normal(size=1003)
    x, made = xp.asarray(a), dict[Any, tuple[str, str]]()
    for options in (
        {"fuse": False}, {"unroll": 1, "vectorize": False}, {"unroll": 8, "vectorize": 1},
        {"unroll": 1, "vectorize": 4}, {"unroll": 1, "vectorize": 16}, {"vectorize": True}, {"unroll": 4, "chunks": 3},
        {"vectorize": 2, "tile": 100},
    ):  # fmt: skip
        # No other test has this expression, whose code would be that of a test with little optimisation.
        y = (abs(x * 3.0 + 1.0) + 2.5).schedule(**options)
        assert str(y.node().schedule) in str(y.explain())
        function = region_of([y.node()]).region.function
        np.testing.assert_array_equal(y.numpy(), abs(a * 3.0 + 1.0) + 2.5)
        (llvm,) = function.inspect_llvm().values()
        (code,) = function.inspect_asm().values()
        made[tuple(options.items())] = llvm, code
    plain, none, unrolled, four, sixteen, any_width, chunks, tile = made.values()
    widths = [set(re.findall(r"fmul <(\d+) x double>", llvm)) for llvm, _ in made.values()]
    assert widths[1:5] == [set(), set(), {"4"}, {"16"}] and widths[7] == {"2"}
    assert all(widths[k] for k in (0, 5, 6))
    assert 0 < none[0].count("fmul double") < 4 and unrolled[0].count("fmul double") >= 8
    assert chunks[0].count("x double>") > plain[0].count("x double>") and any_width[0]
    assert len({code for _, code in (plain, none, unrolled, four, sixteen, chunks, tile)}) == 7


def test_forms_of_loops_change_no_result() -> None:
    a = np.arange(-40, 51).reshape(13, 7)
    calls: list[Callable[[Any, Any], Any]] = [
        lambda w, x: x[:, ::-1] * x[:1] + x.T[:7, :1].T,
        lambda w, x: w.where(x > 3, x, -x) // 3,
        lambda w, x: w.sqrt(w.abs(x) + 0.5) * w.sum(w.exp(x * 0.01), axis=0),
        lambda w, x: w.sum(x * 0.1) + x,
    ]
    for f in calls:
        plain = f(xp, NUMBERS).numpy()
        np.testing.assert_allclose(plain, f(np, a), rtol=1e-14)
        for options in ({"unroll": 4}, {"vectorize": 8}, {"vectorize": False, "chunks": 3}):
            np.testing.assert_array_equal(f(xp, NUMBERS).schedule(**options).numpy(), plain)
    y = xp.map(lambda v: v * v if v > 3.0 else 1.0 / (v + 0.5), X)
    np.testing.assert_array_equal(xp.map(lambda v: v * v if v > 3.0 else 1.0 / (v + 0.5), X).schedule(
        unroll=2, vectorize=4
    ).numpy(), y.numpy())  # fmt: skip


def test_pieces_of_all_shapes() -> None:
    for shape in ((0,), (1,), (9,), (0, 3), (3, 0), (1, 4), (4, 1), (2, 3, 4), (3, 1, 2)):
        a = np.arange(np.prod(shape)).reshape(shape) * 0.5
        last = a[..., :1]
        # Operands in another order in memory, and without some of the axes.
        turned = np.arange(np.prod(shape)).reshape(shape[::-1]).astype(np.float32)
        for options in ({"chunks": 2}, {"tile": (2,) * len(shape)}, {"chunks": 3, "unroll": 2}):
            x, t = xp.asarray(a), xp.asarray(turned)
            y = ((x + xp.asarray(last)) * xp.permute_dims(t, tuple(range(t.ndim))[::-1]) - 1.0).schedule(**options)
            np.testing.assert_array_equal(y.numpy(), (a + last) * turned.T - 1.0)
        if a.ndim > 1:
            y = (xp.asarray(a[0]) * xp.asarray(a)).schedule(chunks=2) if shape[0] else None
            if y is not None:
                np.testing.assert_array_equal(y.numpy(), a[0] * a)


def test_pieces_of_reductions() -> None:
    for name in ("sum", "mean", "max", "std", "prod"):
        for axis in (1, -1):

            def f(x: Any) -> Any:
                return getattr(xp, name)(xp.exp(x) * 2.0 + row, axis=axis)

            row = xp.asarray(A[:1])
            plain = f(X).numpy()
            y = f(X).schedule(chunks=4)
            assert "np.exp" in texts(y)[0].split("for k0")[1]
            np.testing.assert_array_equal(y.numpy(), plain)
    three = np.arange(60.0).reshape(5, 3, 4)
    y = xp.sum(xp.sqrt(xp.asarray(three)), axis=(1, 2), keepdims=True).schedule(chunks=2)
    np.testing.assert_allclose(y.numpy(), np.sqrt(three).sum((1, 2), keepdims=True), rtol=1e-14)


def test_pieces_that_are_combined() -> None:
    for dtype in (*dtypes.INTEGRAL, dtypes.bool):
        a = np.arange(-12, 12).reshape(8, 3).astype(dtype)
        # Each type has some of them, and each of them some types.
        names = ("sum", "prod", "max", "min", "all", "any")
        for name in names if dtype == dtypes.int8 else names[len(dtype.name) % 3 :: 3]:
            if dtype == dtypes.bool and name in ("max", "min"):
                continue
            axis = None if name in ("prod", "max", "any") else 0
            plain = getattr(xp, name)(xp.asarray(a), axis=axis)
            oracle = getattr(np, name)(a, axis=axis)
            y = getattr(xp, name)(xp.asarray(a), axis=axis).schedule(chunks=3)
            assert "np.add(out" in texts(y)[0] or name != "sum"
            assert (y.dtype, y.shape) == (plain.dtype, plain.shape)
            np.testing.assert_array_equal(y.numpy(), oracle, f"{name} of {dtype}")
    y = xp.any(X > 1.0, axis=0, keepdims=True).schedule(chunks=5)
    np.testing.assert_array_equal(y.numpy(), (A > 1.0).any(0, keepdims=True))
    y = xp.sum(xp.asarray(np.empty((0, 3), np.int64)), axis=0).schedule(chunks=2)
    assert y.numpy().tolist() == [0, 0, 0]


def test_rounds_of_a_loop_are_compiled_once() -> None:
    def walk(w: Any, x: Any, v: Any, n: int) -> Any:
        for i in range(n):
            x, v = x + v * 0.5, v - w.abs(x) * 0.25 + w.max(v) * 0.125
            if i == 7:
                v[1:] = 3.0
        return x

    found = walk(xp, X, X * 1.0, 40)
    regions = found.explain().regions
    assert len(regions) > 5 and max(len(r.operations) for r in regions) < 80
    functions, known = set(), list[Any]()
    for some in groups([found.node()]):
        step = region_of(some, known)
        known += step.kept
        functions.add(id(step.region.function))
    assert len(functions) < len(regions) - 2
    np.testing.assert_array_equal(found.numpy(), walk(np, A, A * 1.0, 40))
    # Other graphs are not cut.
    y, rng = X, np.random.default_rng(0)
    for i in rng.integers(0, 4, 90).tolist():
        y = (xp.abs(y), y + X, xp.maximum(y, X), y * 0.5)[i]
    assert len(y.explain().regions) == 1


def test_sizes_of_pieces_are_no_further_compilation() -> None:
    functions = set()
    for chunks in (2, 3, 4):
        y = (xp.exp(X) + X).schedule(chunks=chunks)
        functions.add(id(region_of([y.node()]).region.function))
        y.compute()
    assert len(functions) == 1


def test_memory_that_does_not_suffice() -> None:
    x = xp.asarray(np.ones(10**7)) + 1.0
    y: Any = xp.asarray(np.arange(3.0)) * 2.0
    y[0] = 7.0
    large = x[:, None, None] * xp.asarray(np.ones((10**7, 1))) + y
    with pytest.raises(MemoryError, match=r"add of shape \(10000000, 10000000, 3\).*2,400,000,000,000,000 bytes"):
        large.compute()
    assert large.node().value is None and y.numpy().tolist() == [7.0, 2.0, 4.0]


def test_explanations_have_bytes_and_times() -> None:
    def made() -> Any:
        e = xp.sort(xp.asarray(np.arange(60000.0).reshape(100, 600)), axis=0).schedule(fuse=False)
        return xp.sum(xp.exp(-e) * e, axis=1)

    first, last = made().explain().regions
    assert (first.written, last.read, last.written) == (480000, 480000, 800)
    assert last.temporaries == 800 and first.predicted > last.predicted > 0.0 and last.operations[0] == "t1"
    for _ in range(2):
        made().compute()
    found = made().explain()
    assert all(r.measured for r in found.regions) and "predicted" in str(found) and "fuse=False" in str(found)
    # An operation that is computed again in a later region has a row in both.
    e = xp.exp(X)
    y = (e + xp.sort((e * 2.0).schedule(fuse=False), axis=0)).explain()
    assert [r.note for r in y.rows if r.name.startswith("t")] == [
        "joined with t1", "the result, by Schedule(fuse=False)", "joined with t4", "stored", "the result"
    ]  # fmt: skip
    assert len({r.name for r in y.rows}) == len(y.rows)
    (row,) = (r for r in xp.sort(xp.exp(X) + X).explain().rows if r.operation == "add")
    assert row.note.startswith("stored, as t2 reads")
    # Temporaries whose values are not needed any more share memory.
    x = xp.asarray(np.arange(1000.0))
    for _ in range(6):
        x = xp.sort(x) * 2.0
    assert x.explain().regions[0].temporaries <= 3 * 8000
