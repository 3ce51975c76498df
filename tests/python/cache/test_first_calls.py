"""First calls: a function is compiled once, others go on meanwhile, and it does not take long."""

import threading
import time

import numpy as np
import pytest

from lancehead import njit


def in_threads(work, n):
    """Runs `work(i)` in `n` threads that begin at once; the results in order."""
    start, results = threading.Barrier(n), [None] * n

    def body(i):
        start.wait()
        try:
            results[i] = work(i)
        except Exception as error:
            results[i] = error

    threads = [threading.Thread(target=body, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
        assert not t.is_alive()
    return results


def branches(n, start=0):
    """A function that takes a while to compile."""
    lines = [f"    if x > {i}:\n        y += x * {i} - y // {i + 1}" for i in range(n)]
    names = {}
    exec(f"def f(x):\n    y = {start}\n" + "\n".join(lines) + "\n    return y", names)
    return names["f"]


def test_one_function_is_compiled_once():
    f = njit(branches(30))
    assert in_threads(lambda _: f(5), 4) == [f.py_func(5)] * 4
    assert len(f.signatures) == 1
    assert sum(f.stats.cache_misses.values()) == 1


def test_different_types_and_functions_at_the_same_time():
    f, g = njit(branches(20)), njit(branches(21))
    calls = [lambda: f(5), lambda: f(5.0), lambda: g(5), lambda: g(5.0)]
    assert in_threads(lambda i: calls[i](), 4) == [f.py_func(5), f.py_func(5.0), g.py_func(5), g.py_func(5.0)]
    assert (len(f.signatures), len(g.signatures)) == (2, 2)


def test_a_small_function_does_not_wait_for_a_large_one():
    large, small = njit(branches(300)), njit(branches(1))
    thread = threading.Thread(target=large, args=(3,))
    thread.start()
    try:
        assert small(3) == small.py_func(3)
        # Machine code of both was made at the same time.
        assert thread.is_alive() and not large.signatures
    finally:
        thread.join()
    assert large(3) == large.py_func(3)


def test_every_thread_gets_the_error():
    @njit
    def f(x):
        return x.no_such_attribute

    errors = in_threads(lambda _: f(1), 3)
    assert [type(e).__name__ for e in errors] == ["TypingError"] * 3


def test_python_runs_while_machine_code_is_made():
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        # No run before has left its machine code in the store.
        f = njit(branches(150, time.time_ns()))
        begin = time.perf_counter()
        f(3)
        end = time.perf_counter()
    finally:
        done.set()
        thread.join()
    inside = [t for t in ticks if begin < t < end]
    assert len(inside) >= 3


@pytest.mark.parametrize("args", [(), (1,)])
def test_functions_without_parameters_keep_their_rules(args):
    @njit
    def f():
        return 7

    assert f() == 7
    assert f() == 7
    if args:
        with pytest.raises(TypeError):
            f(*args)
    assert f() == 7


def test_functions_without_parameters_are_never_stale():
    names = {"k": 1}
    exec("def f():\n    return k", names)
    f = njit(names["f"])
    assert (f(), f()) == (1, 1)
    names["k"] = 2.5
    assert (f(), f()) == (2.5, 2.5)
    exec("def g():\n    return 'text'", names)
    f.py_func.__code__ = names["g"].__code__
    assert (f(), f()) == ("text", "text")


def test_a_sum_of_what_is_added_to_itself_many_times_is_compiled_at_once():
    doubled = "".join("            x = x + x\n" for _ in range(40))
    source = f"""def f(a, m):
    s = 0.0
    for _ in range(m):
        for j in range(a.shape[0]):
            x = a[j] * 2.0 ** -40
{doubled}            s = x + s
    return s
"""
    namespace = {}
    exec(source, namespace)
    start = time.process_time()
    assert njit(fastmath=True)(namespace["f"])(np.ones(10), 3) == 30.0
    # A walk over all ways from the sum to its terms would take 2**40 steps.
    assert time.process_time() - start < 5.0


def filled():
    return np.full((100, 100), 2.5)


def checked(a, n):
    s = 0.0
    for i in range(1000):
        s += a[i * n]
    return s


@pytest.mark.parametrize("function, args", [(filled, ()), (checked, (np.arange(2000.0), 2))])
def test_constant_extents_are_no_reason_for_long_code(function, args):
    f = njit(function)
    np.testing.assert_array_equal(f(*args), function(*args))
    (code,) = f.inspect_asm().values()
    assert code.count("\n") < 1000
