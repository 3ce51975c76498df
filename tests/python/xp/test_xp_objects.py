"""The objects of lazy arrays: views by every key, functions as objects, memory, and what calls read."""

from __future__ import annotations

import gc
import inspect
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

from lancehead import _core, njit, xp
from lancehead.xp import devices, regions
from lancehead.xp.graph import ARRAY, Node

KEYS = [
    3, -1, slice(1, 3), slice(None, None, -1), slice(8, 2, -2), (0,), (None, slice(2, 4)), (slice(None), None, 2), ...,
    (..., 1), True, (slice(None), True), np.int64(2),
]  # fmt: skip


@pytest.mark.parametrize("state", ["computed", "not computed", "asked", "large"])
@pytest.mark.parametrize("shape", [(12,), (4, 3, 5)])
def test_views_by_keys_are_those_of_numpy(shape: tuple[int, ...], state: str) -> None:
    if state == "large":
        shape = (shape[0] * 1000, *shape[1:])
    a = np.arange(np.prod(shape), dtype=float).reshape(shape)
    for key in KEYS:
        for second in (slice(None), slice(None, None, -1), 0):
            x: Any = xp.asarray(a.copy()) + 1.0 if state == "not computed" else xp.asarray(a.copy())
            b = a + 1.0 if state == "not computed" else a.copy()
            try:
                part = b[key]
            except IndexError:
                with pytest.raises(IndexError):
                    x[key].compute()
                continue
            view = x[key]
            if state == "asked":
                view.compute()
            if np.ndim(part):
                view, part = view[second], part[second]
            assert (view.shape, view.dtype, view.ndim, view.size) == (part.shape, part.dtype, part.ndim, part.size)
            np.testing.assert_array_equal(view.numpy(), part)
            assert view.compute() is view
            # Views alias: what is stored in one is seen by the other, also after the value was asked for.
            if np.ndim(part) and np.shares_memory(part, b):
                view[...] = -view
                part[...] = -part
                np.testing.assert_array_equal(x.numpy(), b)
                x += 1.0
                b += 1.0
                np.testing.assert_array_equal(view.numpy(), part)


def test_properties_of_views() -> None:
    x: Any = xp.asarray(np.arange(6.0).reshape(2, 3))
    t = x.T
    assert (t.shape, t.ndim, t.size, t.dtype) == ((3, 2), 2, 6, np.float64)
    t[0, 1] = 9.0
    np.testing.assert_array_equal(x.numpy(), [[0, 1, 2], [9, 4, 5]])
    with pytest.raises(ValueError, match="T is of arrays with two axes, not 1"):
        _ = x[0].T
    for text in ("shape", "dtype", "T", "ndim"):
        with pytest.raises(AttributeError):
            setattr(x, text, 1)
    with pytest.raises(TypeError):
        x.view()
    assert x.view(np.ndarray.swapaxes, 0, 1).shape == (3, 2)


def test_small_operations_behind_a_value_are_computed_one_by_one() -> None:
    a, k = np.linspace(0.5, 2.0, 6), np.arange(6)
    x, i = xp.asarray(a), xp.asarray(k)
    for _ in range(3):
        # Once the functions of all operations are there, no region of them is needed.
        for alone in (x + x, x * 2.0, xp.sqrt(x), x - x, i + i, i**i, xp.sum(x), xp.sort(x), i < i):
            alone.compute()
        held = x * 2.0 + x
        row = xp.sort(xp.sqrt(held))[::-1]
        found = row - xp.sum(held)
        np.testing.assert_allclose(found.numpy(), np.sort(np.sqrt(3 * a))[::-1] - np.sum(3 * a), 1e-15)
        np.testing.assert_allclose(held.numpy(), 3 * a, 1e-15)
        # A value of one is not that of the other after a store.
        held[1:3] = 0.0
        assert float(xp.sum(held)) == pytest.approx(np.sum(3 * a) - 3 * a[1] - 3 * a[2])
        assert ((i + i) < i).compute().numpy().dtype == np.bool_
        # Broadcasting, and more operations than are computed like this.
        grid = xp.expand_dims(x + x, axis=1) - x
        np.testing.assert_array_equal(grid.numpy(), (a + a)[:, None] - a)
        long, expected = x, a
        for _ in range(30):
            long, expected = long * 2.0 - long, expected * 2.0 - expected
        np.testing.assert_array_equal(long.numpy(), expected)
        wrong = (i + i) ** (i - i - i) + i
        for _ in range(2):
            with pytest.raises(ValueError, match="negative integer powers"):
                wrong.compute()


def test_clip_by_both_bounds_is_one_operation() -> None:
    a = np.asarray([-3.0, -0.0, 0.5, 2.0, np.nan, np.inf])
    for low, high in ((0.0, 1.0), (1.0, 0.0), (-np.inf, np.nan), (0, 1)):
        np.testing.assert_array_equal(xp.clip(xp.asarray(a), low, high).numpy(), np.clip(a, low, high))
    for dtype in ("int8", "uint8", "float32"):
        b = np.asarray([0, 3, 100], dtype)
        found = xp.clip(xp.asarray(b), xp.asarray([[1], [5]]), 50)
        assert found.dtype == b.dtype and found.shape == (2, 3)
        np.testing.assert_array_equal(found.numpy(), [[1, 3, 50], [5, 5, 50]])
    assert xp.clip(xp.asarray(np.asarray([200], np.uint8)), -5, 1000).numpy().tolist() == [200]
    with pytest.raises(TypeError, match="integers stay integers"):
        xp.clip(xp.asarray([1]), 0.5, 2)


def test_truth_of_arrays_is_that_of_numpy() -> None:
    for value in (7, 0, np.nan, -0.0, True, 1j):
        for shape in ((), (1,), (1, 1), (1, 1, 1)):
            a = np.full(shape, value)
            assert bool(xp.asarray(a)) == bool(a), (value, shape)
    for a in (np.ones(2), np.ones((2, 3)), np.zeros(0), np.ones((0, 2))):
        with pytest.raises(ValueError, match=r"ambiguous\. Use"):
            bool(xp.asarray(a))
    two: Any = xp.asarray([1, 2])
    with pytest.raises(ValueError, match="more than one element"):
        if two == 1:
            pass
    for to in (int, float, complex):
        with pytest.raises(TypeError):
            to(two)
    with pytest.raises(TypeError):
        [1, 2][two[:1]]


def test_functions_of_elements_are_objects_with_names() -> None:
    for f in (xp.exp, xp.add, xp.isnan, xp.maximum):
        assert pickle.loads(pickle.dumps(f)) is f
        assert f.__module__ == "lancehead.xp.elementwise" and f"numpy.{f.__name__}" in f.__doc__
        assert repr(f) == f"<function {f.__name__}>" and callable(f)
    assert [p.kind for p in inspect.signature(xp.add).parameters.values()] == [inspect.Parameter.POSITIONAL_ONLY] * 2
    assert list(inspect.signature(xp.exp).parameters) == ["x"]
    x = xp.asarray([1.0, 2.0])
    for wrong in (lambda: xp.exp(), lambda: xp.exp(x, x), lambda: xp.add(x), lambda: xp.add(x, x, x)):
        with pytest.raises(TypeError, match=r"takes \d positional argument"):
            wrong()
    with pytest.raises(TypeError, match="exp\\(\\) takes no keyword arguments"):
        xp.exp(x=x)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        _core.ElementwiseFunction()


def test_numbers_beside_arrays() -> None:
    x = xp.asarray(np.asarray([1, 2], np.int8))
    for _ in range(2):
        for f, expected in (
            (lambda: x + 1, [2, 3]),
            (lambda: 1 - x, [0, -1]),
            (lambda: x * 0.0, [0.0, 0.0]),
            (lambda: x * -0.0, [-0.0, -0.0]),
            (lambda: True + x, [2, 3]),
            (lambda: x < 1000, [True, True]),
            (lambda: 1000 <= x, [False, False]),
            (lambda: x == -129, [False, False]),
        ):
            value = f().numpy()
            np.testing.assert_array_equal(value, expected)
            np.testing.assert_array_equal(np.signbit(value.astype(float)), np.signbit(np.asarray(expected, float)))
        with pytest.raises(OverflowError):
            (x + 1000).compute()
    assert xp.asarray([1.0]).__radd__(None) is NotImplemented


def test_nodes_say_what_is_missing() -> None:
    with pytest.raises(TypeError):
        Node(ARRAY, ())  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Node(ARRAY, (), (), np.dtype(float), (), None, None, None)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Node(ARRAY, (), (), np.dtype(float), colour=1)  # type: ignore[call-arg]
    one, other = Node(ARRAY, (), (), np.dtype(float)), Node(ARRAY, (), (), np.dtype(float))
    assert one.serial < other.serial and one.value is None and one.dynamic == () and one.schedule is None
    with pytest.raises(AttributeError):
        one.colour = 1  # type: ignore[attr-defined]


def test_memory_of_graphs_is_given_back() -> None:
    x: Any = xp.asarray(np.ones(3))
    node = weakref.ref(x)
    y = x[1:]
    del x
    # The view holds the array in whose memory it lies.
    assert node() is not None
    del y
    assert node() is None
    # A long chain is freed without recursion, and so are views of views.
    z: Any = xp.asarray(np.ones(3))
    for _ in range(100_000):
        z = z + 1.0
    del z
    v: Any = xp.asarray(np.ones(3))
    for _ in range(20_000):
        v = (v + 1.0)[::-1]
    del v
    # Nodes of several results refer to each other.
    gc.collect()
    before = sum(isinstance(o, Node) for o in gc.get_objects())
    for _ in range(50):
        xp.map(_both, xp.asarray(np.ones(3)))
    gc.collect()
    assert sum(isinstance(o, Node) for o in gc.get_objects()) - before < 20


def _both(v: Any) -> Any:
    return v + 1.0, v * 2.0


def test_small_results_of_compiled_functions_alias_as_they_should() -> None:
    @njit
    def doubled(a: Any) -> Any:
        return a * 2

    @njit
    def twice(a: Any) -> Any:
        b = a * 2
        return b, b, b[1:]

    @njit
    def itself(a: Any) -> Any:
        return a

    for dtype in ("bool", "int8", "float16", "float32", "complex128"):
        for shape in ((3,), (2, 3), (0, 2), (), (40, 50)):
            a = np.ones(shape, dtype)
            if dtype == "float16" or shape == ():
                continue
            b = doubled(a)
            np.testing.assert_array_equal(b, a * 2)
            assert b.dtype == (a * 2).dtype and b.flags.writeable and b.flags.c_contiguous
            assert itself(a) is a
    one, other, part = twice(np.ones(4))
    one[2] = 7.0
    assert other[2] == part[1] == 7.0
    before = _core.live_allocations()
    for _ in range(100):
        doubled(np.ones(3))
    assert _core.live_allocations() - before < 5


def test_address_is_that_of_the_first_element() -> None:
    a = np.arange(10.0)
    for part in (a, a[3:], a[::-1], a.reshape(2, 5).T[1:]):
        assert _core.data_address(part) == part.__array_interface__["data"][0]
    with pytest.raises(TypeError):
        _core.data_address([1])


STEP, SIZES = 2.0, [1.0, 2.0]


def _step(v: Any) -> Any:
    return v + STEP


def _other_step(v: Any) -> Any:
    return v - STEP


CHOSEN = _step


class _Count:
    number = 0


def test_traced_functions_see_what_they_read(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, factor = _Count(), 3.0

    def f(v: Any) -> Any:
        calls.number += 1
        return CHOSEN(v) * factor + SIZES[0]

    def g(v: Any) -> Any:
        calls.number += 1
        return CHOSEN(v) * factor

    here = globals()
    for function, rest in ((f, 1.0), (g, 0.0)):
        traced, x = xp.trace(function), xp.asarray([1.0])

        def value(traced: Any = traced, x: Any = x) -> float:
            return float(traced(x)[0])

        calls.number = 0
        for _ in range(3):
            assert value() == 9.0 + rest
        assert calls.number == 1
        with monkeypatch.context() as patch:
            patch.setitem(here, "STEP", 5.0)
            assert value() == 18.0 + rest == value()
            patch.setitem(here, "CHOSEN", _other_step)
            assert value() == -12.0 + rest
        assert value() == 9.0 + rest
        factor = 2.0
        assert value() == 6.0 + rest
        factor = 3.0
    SIZES[0] = 4.0
    assert float(xp.trace(f)(xp.asarray([1.0]))[0]) == 13.0
    SIZES[0] = 1.0


def test_a_known_structure_is_computed_without_python(monkeypatch):
    def chain(x, factor):
        held = xp.exp(x * factor)
        y = held
        for _ in range(12):
            y = y * 1.5 - 0.25
        return held, y

    def expected(a, factor):
        held = y = np.exp(a * factor)
        for _ in range(12):
            y = y * 1.5 - 0.25
        return held, y

    # Where devices are in use, Python looks for transfers.
    in_use = devices.IN_USE.copy()
    devices.IN_USE.clear()
    x = xp.asarray(np.linspace(0.0, 1.0, 3000))
    chain(x, 2.0)[1].compute()
    other = xp.asarray(np.linspace(0.0, 2.0, 3000))
    for name in ("compute_here", "joined"):
        monkeypatch.setattr(regions, name, lambda *_, **__: pytest.fail("Python was asked"))
    held, y = chain(other, 2.0)
    np.testing.assert_allclose(y.numpy(), expected(np.linspace(0.0, 2.0, 3000), 2.0)[1], rtol=1e-13)
    # It would cost little again.
    assert held.node().value is None
    devices.IN_USE.update(in_use)


def test_costly_results_that_the_program_holds_are_kept_in_known_structures():
    for k in range(3):
        x = xp.asarray(np.linspace(0.0, k + 1.0, 3000).reshape(3, 1000))
        held = xp.sum(xp.exp(x), axis=0)
        y = held * 2.0 + held
        z = xp.sum(xp.exp(x * 3.0), axis=0) * 2.0
        np.testing.assert_allclose((y + z).numpy(), 3 * held.numpy() + z.numpy(), rtol=1e-13)
        assert held.node().value is not None
