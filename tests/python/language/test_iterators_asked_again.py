"""Iterators of `itertools` are asked again after their end, and go on after an exception, as CPython's."""

from __future__ import annotations

import itertools

import pytest

from lancehead import njit

#: Iterators over the numbers of a dictionary, which end before it does.
SHORT = "zip(d, range(3))"
ITERATORS = {
    "starmap": f"itertools.starmap(lambda a, b: a + b, {SHORT})",
    "takewhile": f"itertools.takewhile(lambda r: r[0] < 90, {SHORT})",
    "takewhile that is over": f"itertools.takewhile(lambda r: r[0] < 4, {SHORT})",
    "dropwhile": f"itertools.dropwhile(lambda r: r[0] < 3, {SHORT})",
    "filterfalse": f"itertools.filterfalse(lambda r: r[0] == 4, {SHORT})",
    "filterfalse of none": "itertools.filterfalse(None, map(lambda a, b: a - 4, d, range(3)))",
    "compress": "itertools.compress(d, [1, 0, 1])",
    "accumulate": "itertools.accumulate(map(lambda a, b: a, d, range(3)))",
    "accumulate from": "itertools.accumulate(map(lambda a, b: a, d, range(3)), initial=5)",
    "accumulate of none": "itertools.accumulate(map(lambda a, b: a, d, range(0)))",
    "chain": f"itertools.chain({SHORT}, {SHORT})",
    "chain.from_iterable": "itertools.chain.from_iterable([[(1, 2)], [(3, 4)]])",
    "islice": f"itertools.islice({SHORT}, 1, 9)",
    "pairwise": f"itertools.pairwise({SHORT})",
    "zip_longest": f"itertools.zip_longest({SHORT}, [(7, 7)], fillvalue=(0, 0))",
    "tee": f"itertools.tee({SHORT})[0]",
    "groupby": f"itertools.groupby({SHORT}, lambda r: r[0] // 3)",
    "several": f"enumerate(itertools.starmap(lambda a, b: a * b, filter(lambda r: r[0] != 4, {SHORT})))",
}
#: Ways to an iterator's end.
ENDS = {
    "loop": "for _ in it: n += 1",
    "list": "n += len(list(it))",
    "next": "while next(it, None) is not None: n += 1",
    "another": "n += len([0 for _ in zip(it, range(9))])",
}


def outcome(f, *args):
    try:
        return f(*args)
    except (RuntimeError, StopIteration, ValueError) as e:
        return type(e)


def function(text: str):
    names: dict = {"itertools": itertools}
    exec(text, names)
    return names["f"]


@pytest.mark.parametrize("end", ENDS, ids=str)
@pytest.mark.parametrize("name", ITERATORS, ids=str)
def test_after_the_end(name, end):
    f = function(f"""
def f(d, more):
    it = {ITERATORS[name]}
    n = 0
    {ENDS[end]}
    n *= 100
    for k in range(more):
        d[70 + k] = 1
    for _ in it:
        n += 1
    return n
""")
    for more in (0, 2):
        got, want = (outcome(g, {2: 1, 4: 3, 0: 5, 8: 7}, more) for g in (njit(f), f))
        assert got == want


RAISING = {
    "starmap": "itertools.starmap(lambda a, b: raising(a) + b, zip(l, l))",
    "takewhile": "itertools.takewhile(lambda a: raising(a) < 5, l)",
    "dropwhile": "itertools.dropwhile(lambda a: raising(a) < 2, l)",
    "filterfalse": "itertools.filterfalse(lambda a: raising(a) == 4, l)",
    "compress": "itertools.compress(map(raising, l), [1, 0, 1, 1, 1, 0, 1])",
    "accumulate": "itertools.accumulate(l, lambda a, b: a + raising(b))",
    "accumulate of a map": "itertools.accumulate(map(raising, l))",
    "accumulate from": "itertools.accumulate(map(raising, l), initial=10)",
    "chain": "itertools.chain(map(raising, l), l, map(raising, l))",
    "chain.from_iterable": "itertools.chain.from_iterable([[1], [2, 3]])",
    "cycle": "itertools.cycle(map(raising, l))",
    "islice": "itertools.islice(map(raising, l), 1, 6)",
    "pairwise": "itertools.pairwise(map(raising, l))",
    "zip_longest": "itertools.zip_longest(map(raising, l), [7], fillvalue=0)",
    "tee": "itertools.tee(map(raising, l))[1]",
    "groups": "(key for key, _ in itertools.groupby(l, raising))",
    "groups of a map": "map(lambda r: r[0], itertools.groupby(map(raising, l), lambda x: x // 2))",
    "items of groups": "map(lambda r: list(r[1]), itertools.groupby(l, lambda x: raising(x) // 2))",
    "several": "enumerate(itertools.starmap(lambda a, b: a * raising(b), zip(l, itertools.chain(map(raising, l)))))",
}


@pytest.mark.parametrize("name", RAISING, ids=str)
def test_after_an_exception(name):
    text = f"""
def f(l):
    it = {RAISING[name]}
    log = []
    for _ in range(12):
        try:
            log.append(str(next(it)))
        except StopIteration:
            log.append("end")
        except ValueError:
            log.append("error")
    return log
"""

    def raising(x):
        if x == 3 or x == 6:
            raise ValueError("three or six")
        return x

    plain, compiled = function(text), function(text)
    plain.__globals__["raising"] = raising
    compiled.__globals__["raising"] = njit(raising)
    for numbers in ([1, 2, 3, 4, 5, 6, 7], [3, 3, 1], [1, 2, 6]):
        assert njit(compiled)(numbers) == plain(numbers)


def test_an_iterator_for_one_loop_is_no_object():
    @njit
    def f(n):
        s = 0
        for x in itertools.filterfalse(lambda a: a % 3, itertools.accumulate(range(n))):
            s += x
        return s

    assert f(100) == sum(x for x in itertools.accumulate(range(100)) if x % 3 == 0)
    assert "kept_itertools" not in str(f.inspect_ir())
