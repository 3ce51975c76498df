"""Caches of lazy arrays have limits, and a forgotten entry changes no result."""

import gc
import itertools
import threading
import weakref

import numpy as np
import pytest

from lancehead import caches, xp
from lancehead.caches import Cache
from lancehead.xp import functions, graph, regions

X = np.linspace(0.5, 2.0, 12)


@pytest.fixture(params=[2, 7, 64])
def limit(request: pytest.FixtureRequest):
    # All caches that there are hold few entries.
    known = [cache for cache in (known() for known in caches._ALL) if isinstance(cache, Cache)]
    limits = [cache.limit for cache in known]
    caches.clear()
    for cache in known:
        cache.limit = request.param
    yield request.param
    for cache, before in zip(known, limits, strict=True):
        cache.limit = before


def test_the_older_half_is_forgotten() -> None:
    cache: Cache[int, str] = Cache(4)
    for i in range(9):
        cache[i] = str(i)
        assert len(cache) <= 4 and cache[i] == str(i)
    assert cache == {6: "6", 7: "7", 8: "8"}
    cache[7] = "seven"
    assert cache.added(7, "other") == "seven" and cache.added(9, "nine") == "nine"
    assert cache.added(10, "ten") == "ten" and list(cache) == [8, 9, 10]


def test_values_end_after_the_lock() -> None:
    cache: Cache[int, object] = Cache(2)

    class Adds:
        def __del__(self) -> None:
            thread = threading.Thread(target=cache.__setitem__, args=(-1, None))
            thread.start()
            thread.join(10)
            assert not thread.is_alive()

    for i in range(5):
        cache[i] = Adds()
    cache.clear()


def test_caches_end() -> None:
    gc.collect()
    cache: Cache[int, int] = Cache(2)
    count, there = len(caches._ALL), weakref.ref(cache)
    del cache
    assert there() is None and len(caches._ALL) == count - 1


def test_threads_fill_a_cache() -> None:
    cache: Cache[int, int] = Cache(50)
    wrong = []

    def fill(start: int) -> None:
        for i in range(start, start + 3000):
            key = i % 400
            found = cache.get(key)
            if found is None:
                found = cache[key] = key * key
            if found != key * key:
                wrong.append(key)

    threads = [threading.Thread(target=fill, args=(97 * i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and len(cache) <= 50 + len(threads)


OPERATIONS = [
    lambda m, x, y: x + y, lambda m, x, y: x - y, lambda m, x, y: x * y, lambda m, x, y: m.maximum(x, y),
    lambda m, x, y: m.minimum(x, y), lambda m, x, y: x / y, lambda m, x, y: m.hypot(x, y), lambda m, x, y: m.cos(x),
    lambda m, x, y: m.abs(x - y), lambda m, x, y: x + 1.5,
]  # fmt: skip


def test_a_thousand_structures(limit: int) -> None:
    count = 1000 if limit == 7 else 100
    a, b = X, X[::-1].copy()
    for chain in itertools.islice(itertools.product(OPERATIONS, repeat=3), 0, 1000, 1000 // count):
        x, wanted = xp.asarray(a), a
        for f in chain:
            x, wanted = f(xp, x, xp.asarray(b)), f(np, wanted, b)
        np.testing.assert_allclose(x.numpy(), wanted, rtol=1e-12)
    assert len(regions._REGIONS) <= limit and len(regions._FUNCTIONS) <= limit


def _scaled(by: float):
    return lambda v: v * by


def test_functions_of_the_program(limit: int) -> None:
    # Identities of functions that ended are used again.
    x = xp.asarray(X)
    later = []
    for i in range(12):
        f, g = _scaled(float(i)), _scaled(float(-i))
        later.append((i, xp.map(g, xp.map(f, x))))
        np.testing.assert_allclose(xp.map(f, x).numpy(), X * i)
        assert xp.map(lambda v, i=i: v > i, x).dtype == xp.bool
        np.testing.assert_allclose(float(xp.reduce(lambda a, b, i=i: a + b + 0 * i, x)), X.sum())
        np.testing.assert_allclose(xp.scan(np.maximum, xp.map(g, x)).numpy(), np.maximum.accumulate(X * -i))
        np.testing.assert_allclose(float(xp.sum(xp.map(f, x))), (X * i).sum())
    for i, y in later:
        # Their operations are older than what the caches have.
        np.testing.assert_allclose(y.numpy(), X * i * -i)
    assert len(functions._COMPILED) <= limit and len(functions._RESULTS) <= limit and len(graph._NAMES) <= limit


def test_order_of_sums_does_not_depend_on_caches() -> None:
    x = xp.asarray(np.random.default_rng(1).random(10_001).astype(np.float32))
    f = _scaled(1.1)
    wanted = xp.reduce(np.add, xp.map(f, x)).numpy()
    y = xp.map(f, x)
    caches.clear()
    assert xp.sum(y).numpy() == wanted


def test_no_two_objects_have_a_name() -> None:
    found = {}
    for i in range(50):
        # Lists have no text of their own, so that content does not tell such functions apart.
        f = functions.compiled(_scaled(i))
        name = graph.name_of(f)
        caches.clear()
        assert graph.name_of(f) is name
        assert found.setdefault(str(name), f) is f
    del found, f, name
    caches.clear()


def test_records_and_numbers(limit: int) -> None:
    for i in range(20):
        dtype = np.dtype([(f"a{i}", np.float64), ("b", np.int64)])
        value = np.zeros(5, dtype)
        value["b"] = np.arange(5) + i
        x = xp.asarray(value)
        np.testing.assert_array_equal(xp.map(lambda r: r.b * 2, x).numpy(), value["b"] * 2)
        np.testing.assert_array_equal(xp.map(lambda r: r, x).numpy(), value)
        np.testing.assert_array_equal((x["b"] + i).numpy(), value["b"] + i)
        np.testing.assert_array_equal((xp.asarray(X) * (i + 0.25)).numpy(), X * (i + 0.25))


@pytest.mark.parametrize("kernels", [False, True])
def test_devices(limit: int, kernels: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from lancehead.xp import device_loops, devices

    monkeypatch.setattr(devices, "KERNELS", kernels)
    x = xp.asarray(X, device="cuda:0")
    for i in range(8):
        f = _scaled(float(i))
        np.testing.assert_allclose((xp.map(f, x) + xp.sort(-x)).numpy(), X * i + np.sort(-X))
        np.testing.assert_allclose(float(xp.reduce(lambda a, b, i=i: a + b + 0 * i, xp.map(f, x))), X.sum() * i)
        np.testing.assert_allclose(xp.searchsorted(x, x * i).numpy(), np.searchsorted(X, X * i))
    assert len(device_loops._COMPILED) <= limit


def test_a_traced_function(limit: int) -> None:
    f = xp.trace(lambda x, n: x * n + x)
    for i in range(30):
        np.testing.assert_allclose(f(xp.asarray(X[: i % 10 + 1]), i % 7).numpy(), X[: i % 10 + 1] * (i % 7 + 1))


def test_a_living_service_does_not_grow() -> None:
    x = xp.asarray(X)
    kept = []
    for i in range(3):
        f = _scaled(float(i))
        kept.append(weakref.ref(f))
        xp.map(f, x).numpy()
    del f
    caches.clear()
    gc.collect()
    assert sum(ref() is not None for ref in kept) == 0
