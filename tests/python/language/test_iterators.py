"""Iterators as values: they go on where they stopped, whoever has them. CPython and NumPy are the oracle."""

# ruff: noqa: C413, C417
from __future__ import annotations

import functools
import itertools
from collections import Counter, deque

import numpy as np
import pytest

import lancehead
from lancehead import njit, prange

#: Makers of iterators over a list, an array and a dictionary.
MAKERS = {
    "enumerate": lambda l, a, d: enumerate(l, 3),
    "enumerate of an array": lambda l, a, d: enumerate(a),
    "enumerate of a text": lambda l, a, d: enumerate("abcdef"),
    "enumerate of a map": lambda l, a, d: enumerate(map(lambda x: x * x, l)),
    "zip": lambda l, a, d: zip(l, a, "abcdef"),
    "zip of tuples": lambda l, a, d: zip((1, 2, 3, 4), (5.5, 6.5, 7.5)),
    "reversed list": lambda l, a, d: reversed(l),
    "reversed array": lambda l, a, d: reversed(a),
    "reversed range": lambda l, a, d: reversed(range(2, 30, 7)),
    "reversed dictionary": lambda l, a, d: reversed(d),
    "reversed items": lambda l, a, d: reversed(d.items()),
    "map": lambda l, a, d: map(lambda x: x * 2, l),
    "map of two": lambda l, a, d: map(lambda x, y: x * y, l, a),
    "filter": lambda l, a, d: filter(lambda x: x > 1, l),
    "filter of truth": lambda l, a, d: filter(None, a),
    "iter of a list": lambda l, a, d: iter(l),
    "iter of an array": lambda l, a, d: iter(a),
    "iter of a text": lambda l, a, d: iter("xyz\u00e9"),
    "iter of a tuple": lambda l, a, d: iter((4, 5, 6)),
    "iter of a range": lambda l, a, d: iter(range(5, 50, 11)),
    "iter of a dictionary": lambda l, a, d: iter(d),
    "iter of items": lambda l, a, d: iter(d.items()),
    "iter of values": lambda l, a, d: iter(d.values()),
    "iter of a set": lambda l, a, d: iter({7, 8, 9}),
    "ndindex": lambda l, a, d: np.ndindex(2, 3),
    "ndenumerate": lambda l, a, d: np.ndenumerate(a),
    "ndenumerate of rows": lambda l, a, d: np.ndenumerate(np.arange(6).reshape(2, 3).T),
    "flat": lambda l, a, d: np.arange(6.0).reshape(3, 2).T.flat,
    "generator": lambda l, a, d: (x + 1 for x in l),
    "chain": lambda l, a, d: itertools.chain(l, (7, 8)),
    "chain of a map": lambda l, a, d: itertools.chain(map(lambda x: x + 1, l), filter(lambda x: x > 2, l), d.values()),
    "filter of items": lambda l, a, d: filter(lambda kv: kv[0] > 1, enumerate(d.items(), 1)),
    "filter of a filter": lambda l, a, d: filter(lambda x: x < 9, filter(lambda x: x > 1, reversed(l))),
    "islice of items": lambda l, a, d: itertools.islice(d.items(), 0, 3, 2),
    "islice": lambda l, a, d: itertools.islice(l, 1, 4),
    "accumulate": lambda l, a, d: itertools.accumulate(l),
    "pairwise": lambda l, a, d: itertools.pairwise(l),
    "starmap": lambda l, a, d: itertools.starmap(lambda x, y: x - y, zip(l, a)),
    "zip_longest": lambda l, a, d: itertools.zip_longest(l, (1, 2), fillvalue=0),
    "product": lambda l, a, d: itertools.product(l, (1, 2)),
    "combinations": lambda l, a, d: itertools.combinations(l, 2),
    "cycle": lambda l, a, d: itertools.islice(itertools.cycle(l), 9),
}  # fmt: skip


def collected(it):
    out = list(it)
    return out, list(it)


def after_a_break(it):
    n = 0
    for _ in it:
        n += 1
        if n == 2:
            break
    return list(it), n


def by_next(it, default):
    first = next(it)
    return first, next(it, default), next(it, default), next(it, default), list(it), next(it, default)


def in_turns(it):
    return [(x, y) for x, y in zip(it, it)], list(it)


def two_loops(it):
    out = [next(it)]
    for outer in it:
        for inner in it:
            out.append(inner)
            break
        out.append(outer)
    return out


def two_names(it):
    other = it
    next(other)
    return iter(it) is it, other is it, list(it), list(other)


CONSUMERS = [collected, after_a_break, in_turns, two_loops, two_names]


def data():
    return [3, 0, 4, 1, 5], np.array([1.5, 0.0, 2.5, 3.5])[::-1], {2: 5, 1: 6, 9: 7}


def text(value):
    """A value without the difference of NumPy's and Python's numbers."""
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({', '.join(map(text, value))})"
    return repr(value.item() if isinstance(value, np.generic) else value)


@pytest.mark.parametrize("maker", MAKERS)
def test_iterators_go_on_where_they_stopped(maker):
    make = MAKERS[maker]

    def parts(l, a, d):
        return (
            collected(make(l, a, d)), after_a_break(make(l, a, d)), in_turns(make(l, a, d)), two_loops(make(l, a, d)),
            two_names(make(l, a, d)),
        )  # fmt: skip

    expected = text(parts(*data()))
    of = {f.__name__: njit(f) for f in CONSUMERS}
    made = njit(make)
    collected_, after_, turns_, loops_, names_ = (of[f.__name__] for f in CONSUMERS)

    @njit
    def compiled(l, a, d):
        return (
            collected_(made(l, a, d)), after_(made(l, a, d)), turns_(made(l, a, d)), loops_(made(l, a, d)),
            names_(made(l, a, d)),
        )  # fmt: skip

    before = lancehead._core.live_allocations()
    assert text(compiled(*data())) == expected
    assert lancehead._core.live_allocations() == before


def kept_enumerate(a):
    e = enumerate(a)
    total = 0
    while True:
        for i, x in e:
            total += i * int(x)
            if i % 3 == 2:
                break
        else:
            break
        total += 1000
    return total


def kept_zip_across_yields(a):
    def pairs(z):
        for x, y in z:
            yield x - y
            if x > 3:
                break

    z = zip(a, a[::-1])
    return list(pairs(z)), list(pairs(z)), next(z, (-1.0, -1.0))


def kept_in_a_closure(a):
    e = enumerate(a)

    def following():
        i, x = next(e, (-1, 0))
        return i * 10 + int(x)

    return following(), following(), next(e)[0], following()


def kept_in_a_tuple(a):
    both = (map(lambda x: x * x, a), reversed(a))
    next(both[0])
    m, r = both
    return next(m), list(both[1]), list(m), list(r)


def kept_in_a_list(a):
    its = [iter(a), iter(a[1:])]
    next(its[0])
    its.append(its[0])
    return [next(it) for it in its], len(list(its[2]))


def chosen(a):
    it = enumerate(a) if len(a) > 4 else enumerate(a[::-1])
    next(it)
    return [int(x) + i for i, x in it]


def flat_with_indices(a):
    f = a.flat
    next(f)
    n = len(f)
    return n, list(f), list(f)


def flat_is_made_anew(a):
    total = 0
    for x in a.flat:
        total += x
    for x in a.flat:
        total += 10 * x
    return total


def each_consumer(a):
    def m():
        it = map(lambda x: x * 3 - 4, a)
        next(it)
        return it

    x, *rest = m()
    return (
        sum(m()), max(m()), min(m()), sorted(m()), list(reversed(sorted(m()))), any(m()), all(m()),
        set(m()) == {2.0, 5.0, 8.0},
        [*m()], deque(m())[0], Counter(m())[2.0], functools.reduce(lambda x, y: x - y, m()), x, rest, 5.0 in m(),
        dict(enumerate(m()))[1], ",".join(map(str, m())), list(zip(m(), m())), np.fromiter(m(), np.float64).sum(),
    )  # fmt: skip


def partly_consumed(a):
    it = iter([1, 2, 3, 4, 5, 6, 7, 8])
    found = 2 in it
    some = any(x > 3 for x in it)
    few = list(itertools.islice(it, 2))
    until = list(itertools.takewhile(lambda x: x < 7, it))
    return found, some, few, until, list(it)


def zip_takes_from_the_first(a):
    it = iter([1, 2, 3, 4])
    z = zip(it, [9])
    return list(z), list(z), next(it)


def unpacked(a):
    x, y = enumerate(a[:2])
    it = iter(a)
    try:
        p, q = it
    except ValueError:
        p, q = -1.0, -1.0
    return x, y, p, q, len(list(it))


def too_few(a):
    x, y, z, u, v, w = map(lambda x: x, a)
    return x


def lazily(a):
    log = [0]

    def noted(x):
        log.append(x)
        return x

    m = map(noted, [1, 2, 3])
    f = filter(noted, [0, 5, 6])
    log.append(-1)
    next(m), next(f)
    for x in filter(noted, [0, 7]):
        log.append(x * 10)
    return log


def after_an_exception(a):
    m = map(lambda x: 6 // x, [1, 0, 2])
    out = [next(m)]
    try:
        for x in m:
            out.append(x)
    except ZeroDivisionError:
        out.append(-1)
    f = filter(lambda x: 6 // x > 1, [0, 1])
    try:
        next(f)
    except ZeroDivisionError:
        out.append(-2)
    return out, list(m), list(f)


def short_circuit(a):
    return any(map(lambda x: 1 // x > 0, [1, 0])), all(map(lambda x: 1 // x > 1, [1, 0]))


def tuples_of_several_types(a):
    out = 0.0
    z = zip((1, 2.5, True), ("a", "b"))
    for x, y in z:
        out += x * len(y)
    for i, v in enumerate((1, 2.5, 3)):
        out += i * v
    for v in reversed((1, 2.5)):
        out = out * 2 + v
    return out


def stops(a):
    e = enumerate(a[:1])
    next(e)
    return next(e)


def generator_expression_sees_what_is_added(a):
    items = [1, 2]
    g = (x for x in items)
    items.append(3)
    return list(g)


def endless(a):
    m = map(lambda x: x * x, itertools.count(1))
    e = enumerate(m, 7)
    z = zip(m, [0, 0])
    return next(m), next(e), list(z), next(m)


def method(a):
    e = enumerate(a)
    e.__next__()
    return e.__next__(), e.__iter__() is e


def nothing(a):
    return next(enumerate(a[:0]), (-1, 0.0)), list(map(lambda x: x, a[:0])), next(iter(""), "none")


PROGRAMS = [
    kept_enumerate, kept_zip_across_yields, kept_in_a_closure, kept_in_a_tuple, kept_in_a_list, chosen,
    flat_with_indices, flat_is_made_anew, each_consumer, partly_consumed, zip_takes_from_the_first, unpacked, too_few,
    lazily, after_an_exception, short_circuit, tuples_of_several_types, stops,
    generator_expression_sees_what_is_added, endless, method, nothing,
]  # fmt: skip


def outcome(f, *args):
    try:
        return text(f(*args))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("parallel", [False, True])
def test_programs_that_keep_iterators(program, parallel):
    compiled = njit(parallel=parallel)(program)
    for a in (np.arange(5.0)[::-1], np.arange(8.0)[::2]):
        assert outcome(compiled, a) == outcome(program, a)


def test_an_iterator_goes_to_python():
    made = njit(lambda a: zip(a, enumerate(a)))(np.arange(3))
    assert next(made) == (0, (0, 0))
    assert list(made) == [(1, (1, 1)), (2, (2, 2))]


def test_parallel_ranges_begin_anew():
    @njit(parallel=True)
    def f(out):
        r = prange(out.shape[0])
        for i in r:
            out[i] += 1
        for i in r:
            out[i] += 10
        return out

    assert f(np.zeros(5)).tolist() == [11.0] * 5


def changed_list(l, how):
    out = [0]
    for i, x in enumerate(l):
        out.append(x)
        if how == 0 and i < 9:
            l.append(x + 1)
        elif how == 1:
            l.pop()
        elif how == 2:
            l.insert(0, 7)
        elif how == 3:
            del l[: i + 1]
        elif how == 4:
            l.clear()
        elif how == 5 and i < 4:
            l[1:2] = [8, 9, 10]
        if i > 12:
            break
    return out


def changed_reversed(l, how):
    out = [0]
    for x in reversed(l):
        out.append(x)
        if how == 0:
            l.append(x)
        elif how == 1:
            l.pop()
        elif how == 2:
            del l[1:]
        else:
            l.clear()
    r = reversed(l)
    l.append(5)
    return out, list(r)


def changed_while_kept(l, how):
    it, back = iter(l), reversed(l)
    out = [next(it), next(back)]
    if how == 0:
        l.append(4)
    elif how == 1:
        del l[2:]
    else:
        l.clear()
    out.extend(it)
    out.extend(back)
    l.append(6)
    out.extend(it)
    out.extend(back)
    return out


@pytest.mark.parametrize("program", [changed_list, changed_reversed, changed_while_kept])
@pytest.mark.parametrize("how", range(6))
def test_lists_that_change(program, how):
    own, theirs = [1, 2, 3, 4], [1, 2, 3, 4]
    assert outcome(njit(program), own, how) == outcome(program, theirs, how)
    assert own == theirs


def test_rows_and_bytes_that_change():
    def rows(l):
        n = 0
        for row in l:
            for x in row:
                n += x
                if len(row) < 6:
                    row.append(x)
            if len(l) < 4:
                l.append(row)
        return n

    def data(n):
        b = bytearray(b"abcdef")
        for x in reversed(b):
            n += x
            b.pop()
            b.pop()
        for x in b:
            n += x
            if len(b) < 5:
                b.append(x)
        return n

    assert njit(rows)([[1, 2], [3]]) == rows([[1, 2], [3]])
    assert njit(data)(0) == data(0)


DICTIONARIES = {
    "keys": lambda d: [d.pop(k) for k in d],
    "items": lambda d: [d.setdefault(k + 20, v) for k, v in d.items()],
    "values": lambda d: [d.pop(1) for _ in d.values()],
    "enumerate": lambda d: [d.setdefault(k + 20, i) for i, k in enumerate(d)],
    "zip": lambda d: [d.setdefault(k + 20, v) for k, v in zip(d, d.values())],
    "reversed": lambda d: [d.pop(k) for k in reversed(d)],
    "reversed items": lambda d: [d.pop(k) for k, v in reversed(d.items())],
    "generator": lambda d: sum(d.pop(k) for k in d),
    "map": lambda d: list(map(lambda k: d.pop(k), d)),
    "list": lambda d: [d.pop(k) for k in list(d)],
    "same size": lambda d: [d.update({k: 5}) for k in d],
}


@pytest.mark.parametrize("name", DICTIONARIES)
def test_dictionaries_that_change(name):
    f = DICTIONARIES[name]
    own, theirs = {1: 2, 3: 4, 5: 6}, {1: 2, 3: 4, 5: 6}
    assert outcome(njit(f), own) == outcome(f, theirs)
    assert own == theirs


def test_a_kept_iterator_sees_that_its_dictionary_has_changed():
    def f(d, s):
        it, back, of_set, q = iter(d), reversed(d), iter(s), deque([1, 2])
        of_deque = reversed(q)
        d[9] = 9
        s.add(99)
        q.append(3)
        n = 0
        for case in range(4):
            try:
                if case == 0:
                    next(it)
                elif case == 1:
                    next(back)
                elif case == 2:
                    next(of_set)
                else:
                    next(of_deque)
            except RuntimeError:
                n += 1
        return n

    assert njit(f)({1: 2}, {5}) == f({1: 2}, {5}) == 4


def squares_of_enumerate(a, b):
    s = 0.0
    for i, x in enumerate(a):
        s += i * x
    return s


def squares_of_reversed(a, b):
    s = 0.0
    for x in reversed(a):
        s += x * x
    return s


def squares_of_map(a, b):
    s = 0.0
    for x in map(lambda x: x * x, a):
        s += x
    return s


def squares_of_flat(a, b):
    s = 0.0
    for x in a.flat:
        s += x * x
    return s


LOOPS = [squares_of_enumerate, squares_of_reversed, squares_of_map, squares_of_flat]


@pytest.mark.optimised
@pytest.mark.parametrize("loop", LOOPS, ids=lambda f: f.__name__)
def test_a_loop_that_alone_has_the_iterator_is_vector_code(loop):
    f = njit(fastmath=True)(loop)
    a = np.arange(100.0)
    assert f(a, a + 1) == loop(a, a + 1)
    assert "vectorised" in str(f.explain()).replace("not vectorised", "")


def test_map_within_zip_is_not_asked_beyond_the_end():
    @njit
    def f(a, b):
        return [(x, y) for x, y in zip(map(lambda x: 9 // x, a), b)]

    assert f([1, 3, 0], [1, 2]) == [(9, 1), (3, 2)]
    with pytest.raises(ZeroDivisionError):
        f.py_func([1, 3, 0], [1, 2])


@pytest.mark.parametrize("take", ["next", "a loop", "islice"])
def test_iterators_raise_each_time_after_a_change(take):
    @njit
    def f(d, way):
        log, it = [0], iter(d.items())
        next(it)
        d[35] = 1
        for _ in range(4):
            try:
                if way == "next":
                    log.append(next(it, (7, 7))[0])
                elif way == "a loop":
                    for k, _ in it:
                        log.append(k)
                else:
                    for k, _ in itertools.islice(it, 3):
                        log.append(k)
            except RuntimeError:
                log.append(-12)
        return log

    assert f({1: 2, 3: 4}, take) == f.py_func({1: 2, 3: 4}, take) == [0, -12, -12, -12, -12]
