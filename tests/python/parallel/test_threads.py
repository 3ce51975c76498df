"""Threads that use the same functions at once: first calls, new types, changed globals, exceptions, lists, generators.

On CPython without the GIL, no lock of Python's protects shared objects; with the GIL, the switch interval is made
short. Run as a program, `python tests/python/parallel/test_threads.py SECONDS THREADS`, for longer.
"""

import random
import sys
import threading
import time

import numpy as np
import pytest

import lancehead as lh

ADDED = 3
DTYPES = [
    np.int16,
    np.int32,
    np.int64,
    np.uint16,
    np.uint32,
    np.uint64,
    np.float32,
    np.float64,
    np.complex64,
    np.complex128,
]
SOURCE = """
@lh.njit
def plus(x):
    return x + C

@lh.njit
def total(a):
    s = a[0] * 0
    for i in range(len(a)):
        s += plus(a[i])
    return s
"""


@lh.njit
def extend(items, n):
    for i in range(n):
        items.append(i)
    return len(items)


@lh.njit
def element(a, i):
    return a[i]


@lh.njit(parallel=True)
def parallel_sum(a):
    s = 0.0
    for i in lh.prange(len(a)):
        s += a[i]
    return s


@lh.njit
def changing():
    return ADDED


@lh.njit
def doubled(n):
    for i in range(n):
        yield i * 2


@lh.njit
def count(*args, last=1):
    return len(args) + last


class Shared:
    """The shared state of the threads of one run."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds
        self.lock = threading.Lock()
        self.number, self.total = 0, None
        self.errors = []
        self.product = lh.vectorize(lambda x, y: x * y + 1)
        self.renew()

    def renew(self):
        """Makes the pair of functions anew, with another number in them."""
        self.number += 1
        space = {"lh": lh, "C": self.number}
        exec(SOURCE, space)
        self.total = space["total"]


def first_calls(shared, chance):
    with shared.lock:
        if chance.random() < 0.2:
            shared.renew()
        number, total = shared.number, shared.total
    dtype = chance.choice(DTYPES)
    assert total(np.arange(6).astype(dtype)) == 15 + 6 * number, (number, dtype)


def lists(shared, chance):
    items, nested = [1, 2, 3], [[1], [2, 3]]
    assert extend(items, 50) == 53 and items[-1] == 49
    assert element(nested, 1) == [2, 3]


def exceptions(shared, chance):
    with pytest.raises(IndexError):
        element(np.zeros(3), 3 + chance.randrange(9))


def growing(shared, chance):
    a, b = (np.arange(5).astype(chance.choice(DTYPES)) for _ in range(2))
    assert np.array_equal(shared.product(a, b), np.arange(5.0) ** 2 + 1), (a.dtype, b.dtype)


def parallel(shared, chance):
    n = chance.choice([0, 10, 100_000])
    assert parallel_sum(np.ones(n)) == n


def changed_globals(shared, chance):
    if chance.random() < 0.02:
        globals()["ADDED"] = chance.choice([3, 4, 5])
    assert changing() in (3, 4, 5)


def generators(shared, chance):
    assert list(doubled(10)) == list(range(0, 20, 2))


def binding(shared, chance):
    assert count(1, 2.0, last=5) == 7 and count(*range(chance.randrange(6))) >= 1


JOBS = [first_calls, lists, exceptions, growing, parallel, changed_globals, generators, binding]


def run(seconds, threads):
    """Lets threads do jobs by chance; the errors that they ended with, and how many jobs were done."""
    shared, done = Shared(seconds), [0] * threads

    def work(number):
        chance = random.Random(number)
        try:
            while time.monotonic() < shared.end and not shared.errors:
                chance.choice(JOBS)(shared, chance)
                done[number] += 1
        except BaseException as e:
            shared.errors.append(e)

    all_threads = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
    for t in all_threads:
        t.start()
    for t in all_threads:
        t.join()
    return shared.errors, sum(done)


def test_threads_at_once():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        errors, done = run(4, 8)
    finally:
        sys.setswitchinterval(interval)
    assert not errors, errors
    assert done > 50


def test_a_generator_runs_in_one_thread_at_a_time():
    """As a generator of CPython's: the others get ValueError, and no item comes twice or is lost."""

    @lh.njit
    def slow(n):
        for i in range(n):
            s = 0.0
            for k in range(200):
                s += k * 0.5
            yield i if s > 0 else -1

    items, mine = slow(3000), [[], []]

    def take(got):
        while True:
            try:
                got.append(next(items))
            except StopIteration:
                return
            except ValueError:
                continue

    threads = [threading.Thread(target=take, args=(got,)) for got in mine]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(mine[0] + mine[1]) == list(range(3000))


def test_arguments_are_given_up_at_once():
    a, xs = np.ones(3), [np.ones(2)]
    count(a, a), element(xs, 0)
    before = sys.getrefcount(a), sys.getrefcount(xs)
    for _ in range(20):
        count(a, a), element(xs, 0)
    assert (sys.getrefcount(a), sys.getrefcount(xs)) == before


if __name__ == "__main__":
    errors, done = run(float(sys.argv[1]), int(sys.argv[2]))
    for error in errors:
        raise error
    print(f"{done} jobs")
