"""Members of enumerations outside of functions' arguments and results: elements of arrays, ufuncs, cached code."""

import enum
import functools
import heapq
import itertools
import random

import numpy as np

from lancehead import njit, vectorize


class Status(enum.IntEnum):
    OK = 200
    MISSING = 404
    BROKEN = 500


class Access(enum.IntFlag):
    READ = 4
    WRITE = 2


def checked(x):
    return Status.OK if x < Status.MISSING else Status.BROKEN


def test_ufuncs_store_members_as_integers():
    a = np.array([2, 404, 500])
    result = vectorize(nopython=True)(checked)(a)
    assert (result.dtype, result.tolist()) == (np.int64, [200, 500, 500])


def test_arrays_of_members_are_integers():
    @njit
    def f():
        return np.array([Status.OK, Status.BROKEN]), np.full(2, Status.MISSING)

    first, second = f()
    assert (first.tolist(), second.tolist()) == ([200, 500], [404, 404])


def test_results_are_members_of_the_same_class():
    @njit
    def f(a, b, k):
        return a | b, Access(k), [a, b], checked(k)

    joined, made, both, status = f(Access.READ, Access.WRITE, 2)
    assert joined is Access.READ | Access.WRITE
    assert made is Access.WRITE
    assert both[0] is Access.READ
    assert status is Status.OK


@njit
def once(x):
    yield x


def handed_on(few):
    heap = [Status.BROKEN]
    heapq.heappush(heap, Status.MISSING)
    return (
        next(once(Status.OK), Status.MISSING),
        next(iter(few), Status.OK),
        next(iter(few[:0]), Status.OK),
        list(itertools.repeat(Status.MISSING, 2)),
        list(itertools.chain(few, [Status.OK])),
        functools.reduce(lambda a, b: b, few, Status.MISSING),
        functools.reduce(lambda a, b: b, few[:0], Status.MISSING),
        heapq.heappop(heap),
        random.choice(few),
        ascii(Status.OK),
    )


def test_functions_that_hand_values_on_keep_members():
    few = [Status.BROKEN]
    assert repr(njit(handed_on)(few)) == repr(handed_on(few))
