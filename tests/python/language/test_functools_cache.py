"""Functions that `functools.cache` and `lru_cache` decorate, called by compiled code."""

from __future__ import annotations

import functools
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
import pytest

from lancehead import cuda, njit, prange
from lancehead._core import live_allocations
from lancehead.errors import NumbaError, ParallelRaceWarning


@cache
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@lru_cache(maxsize=None)  # noqa: UP033
def binomial(n, k):
    return 1 if k in (0, n) else binomial(n - 1, k - 1) + binomial(n - 1, k)


@lru_cache
def is_even(n):
    return True if n == 0 else is_odd(n - 1)


@lru_cache(maxsize=128, typed=True)
def is_odd(n):
    return False if n == 0 else is_even(n - 1)


@lru_cache(maxsize=300)
def distance(a, b):
    if not a or not b:
        return len(a) + len(b)
    if a[0] == b[0]:
        return distance(a[1:], b[1:])
    return 1 + min(distance(a[1:], b), distance(a, b[1:]), distance(a[1:], b[1:]))


@lru_cache(maxsize=5)
def short(n):
    return n if n < 2 else short(n - 1) + short(n - 2)


def recursive(k):
    @cache
    def f(n):
        return n if n < 2 else f(n - 1) + k * f(n - 2)

    return f


thrice = recursive(3)


@cache
def kept(x, y=2, *rest, z=3, **more):
    return x, y, rest, z, len(more)


@cache
def maybe(x):
    return None if x < 0 else x / 2


@cache
@njit
def compiled(x):
    return x * 3.5


PROGRAMS = [
    lambda: [fib(n) for n in (90, 3, 90)], lambda: binomial(60, 30), lambda: (is_even(101), is_odd(101)),
    lambda: distance("the kitten", "that sitting"), lambda: short(40), lambda: thrice(40),
    lambda: (maybe(-1), maybe(3), maybe(3.0), maybe(True)), lambda: (compiled(2), compiled(2)),
    lambda: (kept(1), kept(1, 2), kept(y=2, x=1), kept(1, 2, 3), kept(1, z=4), kept(1, a=1), kept(1, b=1)),
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_in_python(program):
    start = time.perf_counter()
    assert repr(njit(program)()) == repr(program())
    assert time.perf_counter() - start < 20


RESULTS = [3, 2.5, True, "ab", (1, "x"), 1j, b"ab", np.float32(0.5), np.int8(3), None, ((1, 2), ("a", 2.0))]


@pytest.mark.parametrize("x", RESULTS, ids=repr)
def test_arguments_and_results_of_each_type(x):
    count = np.zeros(1, np.int64)

    @cache
    def pair(x):
        return x, (x, 1)

    def f(x):
        return pair(x), pair(x), pair(x)[1]

    assert njit(f)(x) == f(x)
    assert pair.cache_info()[:2] == (2 + 2, 1 + 1)
    assert count[0] == 0


def test_results_stay_between_calls_and_are_shared_by_functions(capfd):
    @cache
    def told(n):
        print("computes", n)
        return n * 10

    @njit
    def one(n):
        return told(n)

    @njit
    def other(n):
        return told(n) + told(n + 1)

    assert (one(1), one(1), other(1), other(1), one(2)) == (10, 10, 30, 30, 20)
    assert capfd.readouterr().out.split("\n") == ["computes 1", "computes 2", ""]
    assert told.cache_info()[:2] == (5, 2) and told.cache_info().currsize == 2
    told.cache_clear()
    assert told.cache_info() == (0, 0, None, 0)
    assert one(1) == 10 and capfd.readouterr().out == "computes 1\n"


def test_the_least_recently_used_results_go(capfd):
    @lru_cache(maxsize=3)
    def told(n):
        print(n, end=" ")
        return n

    def f():
        for i in (1, 2, 3, 1, 4, 2, 1, 1, 5, 3, 2, 5, 1):
            told(i)

    njit(f)()
    compiled_order = capfd.readouterr().out
    assert told.cache_info().currsize == 3
    told.cache_clear()
    f()
    assert compiled_order == capfd.readouterr().out


def test_no_room_keeps_nothing(capfd):
    @lru_cache(maxsize=0)
    def told(n):
        print(n, end=" ")
        return n

    assert njit(lambda: told(1) + told(1))() == 2
    assert capfd.readouterr().out == "1 1 "


def test_exceptions_are_not_kept(capfd):
    @cache
    def picky(n):
        print("asked", end=" ")
        if n > 2:
            raise ValueError("too many", n)
        return n

    @cache
    def never(n):
        raise KeyError(n)

    @njit
    def f(n):
        got = 0
        for _ in range(3):
            try:
                got += picky(n)
            except ValueError:
                got += 100
        return got

    assert (f(1), f(3)) == (3, 300)
    assert capfd.readouterr().out == "asked " * 4
    with pytest.raises(KeyError, match="7"):
        njit(lambda n: never(n))(7)


def test_objects_are_the_same_each_time():
    @cache
    def zeros(n):
        return np.zeros(n)

    @cache
    def items(n):
        return [0] * n

    @njit
    def f(n):
        a, b, before = zeros(n), zeros(n), zeros(n)[0]
        a[0] += 5
        c, d = items(n), items(n)
        c[0] += 2
        return before, b[0], d[0], c is d

    assert [f(3), f(3), f(2)] == [(0, 5, 2, True), (5, 10, 4, True), (0, 5, 2, True)]


def test_an_argument_and_a_value():
    @njit
    def apply(f, x):
        return f(x), list(map(f, [x, x + 1])), sorted([3, 1, 2], key=f), functools.partial(f, x)()

    assert apply(fib, 10) == (55, [55, 89], [1, 2, 3], 55)


def test_a_compiled_function_of_one():
    @njit
    @cache
    def f(n, k=1):
        return n if n < 2 else f(n - 1, k) + k * f(n - 2, k)

    assert (f(80), f(40, k=2), f(n=3)) == (fib(80), recursive(2)(40), 2)
    assert njit(lambda n: f(n))(60) == fib(60)
    assert f.__name__ == "f"


@pytest.mark.parametrize("f, text", [
    (lambda: fib([1]), "unhashable type: `list\\[int\\]`"), (lambda: fib(np.zeros(3)), "unhashable type: `array"),
    (lambda: fib({1: 2}), "unhashable type: `dict"), (lambda: fib((1, [2])), "unhashable type"),
    (lambda: fib.cache_info(), "no attribute `cache_info`"), (lambda: fib.cache_clear(), "outside of the function"),
])  # fmt: skip
def test_refused(f, text):
    with pytest.raises(NumbaError, match=text):
        njit(f)()


def test_what_has_no_form_in_a_cache_is_refused():
    @cache
    def items(n):
        yield n

    @dataclass
    class Point:
        x: int

        @cache  # noqa: B019
        def method(self):
            return self.x

        @staticmethod
        @cache
        def static(n):
            return n + 1

    @cache
    def of_point(p):
        return p.x

    def inner(n):
        @cache
        def f(k):
            return k if k < 2 else f(k - 1) + f(k - 2)

        return f(n)

    with pytest.raises(NumbaError, match="cannot keep results of type `generator of int`"):
        njit(lambda: sum(items(3)))()
    with pytest.raises(NumbaError, match="unhashable type: `Point`"):
        njit(lambda p: of_point(p))(Point(3))
    with pytest.raises(NumbaError, match="by its object"):
        njit(lambda p: p.method())(Point(3))
    with pytest.raises(NumbaError, match="decorates functions outside of compiled code"):
        njit(inner)(3)
    assert njit(lambda p: p.static(3))(Point(3)) == 4
    assert njit(lambda n: fib.__wrapped__(n))(10) == 55


def test_a_fault_inside_is_shown_where_it_is():
    @cache
    def faulty(n):
        return n.missing

    with pytest.raises(NumbaError) as raised:
        njit(lambda n: faulty(n) + 1)(3)
    assert "return n.missing" in str(raised.value) and "called from here" in str(raised.value)


def test_threads_agree():
    @lru_cache(maxsize=100)
    def doubled(s):
        return s + s

    @cache
    def square(n):
        return n * n

    @njit(nogil=True)
    def work(k):
        total = 0
        for i in range(20_000):
            total += len(doubled(str((i + k) % 150))) + square(i % 700)
        return total

    expected, got = work(0), []
    threads = [threading.Thread(target=lambda: got.append(work(0))) for _ in range(4)]
    for t in threads:
        t.start()
    for _ in range(50):
        doubled.cache_clear()
    for t in threads:
        t.join()
    assert got == [expected] * 4
    assert doubled.cache_info().currsize <= 100


def test_parallel_loops():
    @cache
    def square(n):
        return n * n

    @cache
    def zeros(n):
        return np.zeros(n)

    @njit(parallel=True)
    def f(n):
        out = np.zeros(n, np.int64)
        for i in prange(n):
            out[i] = square(i % 50) + fib(i % 80)
        return out

    @njit(parallel=True)
    def g(n):
        for i in prange(n):
            zeros(3)[0] += i

    assert f(1000).tolist() == [square(i % 50) + fib(i % 80) for i in range(1000)]
    with pytest.warns(ParallelRaceWarning, match="not known where it belongs"):
        g(10)


def test_kernels_call_the_function():
    @cache
    def square(n):
        return n * n

    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = square(i)

    a = np.zeros(5, np.int64)
    kernel[1, 8](a)
    assert a.tolist() == [0, 1, 4, 9, 16]
    assert square.cache_info().currsize == 0


def test_nothing_leaks():
    @lru_cache(maxsize=4)
    def text(n):
        if n % 7 == 6:
            raise ValueError("no" * n)
        return str(n) * 3, [n]

    @njit
    def f(n):
        total = 0
        for i in range(n):
            try:
                total += len(text(i)[0])
            except ValueError as e:
                total += len(str(e))
        return total

    f(50)
    text.cache_clear()
    before = live_allocations()
    for _ in range(5):
        f(300)
        text.cache_clear()
    assert live_allocations() == before


FILE = """
from functools import cache
from lancehead import njit

@cache
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

@njit(cache=True)
def f(n):
    return fib(n)

print(f(80), sum(f.stats.cache_hits.values()), fib.cache_info().currsize)
"""


def test_code_from_files_keeps_results(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(FILE)

    def run():
        return subprocess.run([sys.executable, program], capture_output=True, text=True, check=True).stdout.split()

    assert [run(), run()] == [["23416728348467685", "0", "81"], ["23416728348467685", "1", "81"]]
    program.write_text(FILE.replace("n if n < 2", "2 * n if n < 2"))
    assert run() == ["46833456696935370", "0", "81"]


def test_a_build_ahead_of_time_refuses_them(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(FILE.replace("@njit(cache=True)", '@njit("int64(int64)")').split("\nprint")[0])
    command = [sys.executable, "-m", "lancehead", "build", program, "-o", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0 and "whose results `functools` keeps" in done.stderr + done.stdout
