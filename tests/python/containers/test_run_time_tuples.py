"""Tuples whose length is known only at run time, `zip(*rows)` among them: what CPython gives."""

from __future__ import annotations

import gc
import itertools

import numpy as np
import pytest

from lancehead import _core, njit
from lancehead.errors import TypingError, UnsupportedError

INTS = [[1, 2, 3], [4, 5, 6]]
RAGGED = [[1, 2, 3], [4, 5], [6, 7, 8, 9]]
FLOATS = [[0.5, -1.0], [2.25, float("inf")], [0.0, 1e300]]
BOOLS = [[True, False], [False, False]]
TEXTS = [["a", "é"], ["", "long text of more than a few bytes"]]
NESTED = [[[1], [2, 3]], [[4], []]]
TUPLES = [(1, 2), (3, 4), (5, 6)]
GRID = np.arange(6.0).reshape(2, 3)
GRIDS = [INTS, RAGGED, FLOATS, BOOLS, TEXTS, NESTED, TUPLES, [[1]], ["abc", "dé"], [range(3), range(1, 9)]]
ARRAYS = [GRID, GRID.T, GRID.astype(np.int32)[:, ::2], [GRID[0], GRID[1]], np.arange(12).reshape(2, 2, 3), np.eye(3, 0)]


def plain(x):
    """A value with lists in place of arrays, and the classes of containers."""
    if isinstance(x, np.ndarray):
        return plain(x.tolist())
    if isinstance(x, (list, tuple)):
        return type(x).__name__, [plain(y) for y in x]
    return x.item() if isinstance(x, np.generic) else x


def agree(f, *args):
    """Runs a function compiled and in CPython: results, or classes and texts of what is raised, are the same."""

    def run(g):
        try:
            return plain(g(*args))
        except Exception as e:
            return type(e), str(e)

    ours, theirs = run(njit(f)), run(f)
    assert ours == theirs, (f.__name__, args)
    assert str(ours) == str(theirs), (f.__name__, args)


def columns(rows):
    return list(zip(*rows))


def rows_again(rows):
    return [list(column) for column in zip(*rows)]


def in_a_loop(rows):
    out = []
    for i, column in enumerate(zip(*rows)):
        out.append((i, len(column), column[0], column[-1], column[::-1]))
    return out


def mapped(rows):
    return list(map(list, zip(*rows))), list(map(len, zip(*rows)))


def in_an_expression(rows):
    return [column for column in zip(*rows) if len(column) > 1], tuple(zip(*rows))


def twice(rows):
    return list(zip(*list(zip(*rows))))


def one_after_the_other(rows):
    columns = zip(*rows)
    first = next(columns)
    return first, list(columns), list(columns)


def strict(rows):
    return list(zip(*rows, strict=True))


@pytest.mark.parametrize(
    "f", [columns, rows_again, in_a_loop, mapped, in_an_expression, twice, one_after_the_other, strict]
)
def test_columns_of_rows(f):
    for rows in GRIDS:
        agree(f, rows)


@pytest.mark.parametrize("f", [columns, rows_again, in_a_loop, mapped, strict])
def test_columns_of_arrays(f):
    for rows in ARRAYS:
        agree(f, rows)


def test_strict_columns():
    for rows in ([[1, 2], [3]], [[1], [2, 3]], [[1], [2], [3, 4]], [[1], [2], [3], []], [[], [1]], [["a"], ["b"]]):
        agree(strict, rows)


def sums(m):
    return list(map(sum, zip(*m))), [sum(c) / len(c) for c in zip(*m)], [max(c) - min(c) for c in zip(*m)]


def test_sums_of_columns():
    for rows in (INTS, FLOATS, TUPLES, GRID, [GRID[0], GRID[1]]):
        agree(sums, rows)


def test_no_rows():
    def empty(n):
        rows = [[i, i] for i in range(n)]
        return list(zip(*rows)), [list(c) for c in zip(*rows)]

    agree(empty, 0)
    agree(empty, 2)
    agree(columns, np.zeros((0, 3)))


def test_columns_are_taken_apart():
    def two(points):
        xs, ys = zip(*points)
        return xs, ys, len(xs), len(ys)

    def pairs(rows):
        out = []
        for a, b in zip(*rows):
            out.append(a)
            out.append(b)
        return out

    def some(rows):
        first, *others = zip(*rows)
        return first, others

    for points in (
        TUPLES,
        [(0.5, 1.5)],
        [[1, 2], [3, 4]],
        [("a", "b"), ("c", "d")],
        GRID,
        [(1, 2, 3)],
        [[1]],
        GRID[:0],
    ):
        agree(two, points)
    for rows in (INTS, FLOATS[:2], TEXTS, GRID, RAGGED, [[1, 2]], [(1, 2), (3, 4)]):
        agree(pairs, rows)
        agree(some, rows)
    agree(lambda n: two([(i, -i) for i in range(n)]), 0)


def test_rows_of_several_types_are_taken_apart():
    def named(pairs):
        names, values = zip(*pairs)
        return names, values, ", ".join(names), sum(values)

    def of_a_dictionary(d):
        keys, values = zip(*sorted(d.items()))
        return keys, values

    def none(n):
        names, values = zip(*[(str(i), 0.5) for i in range(n)])
        return names, values

    agree(named, [("a", 1.5), ("b", 2.5)])
    agree(named, [("a", 1)])
    agree(of_a_dictionary, {"b": 1, "a": 2})
    agree(none, 2)
    agree(none, 0)
    with pytest.raises(UnsupportedError, match="take them apart at once"):
        njit(columns)([("a", 1.5)])


def test_other_iterables():
    def of_sets(n):
        return [len(c) for c in zip(*[{i, i + 1} for i in range(n)])]

    def of_a_generator(n):
        return list(zip(*([i, i + 1] for i in range(n))))

    def of_a_dictionary(d):
        return list(zip(*d.values())), list(zip(*d))

    def groups(xs):
        return list(zip(*[iter(xs)] * 2))

    def text(s):
        return list(zip(*s)), list(zip(*s.split()))

    def reversed_rows(grid):
        return [list(row) for row in zip(*grid[::-1])], [list(row) for row in zip(*reversed(grid))]

    agree(of_sets, 3)
    agree(of_a_generator, 3)
    agree(of_a_dictionary, {"ab": [1, 2], "cd": [3, 4]})
    agree(groups, [1, 2, 3, 4, 5])
    agree(text, "abc de")
    agree(reversed_rows, INTS)


def test_rows_that_change():
    def replaced(rows):
        columns = zip(*rows)
        rows[0] = [9, 9, 9]
        rows[1][1] = 7
        rows.append([1])
        return list(columns)

    def cut(rows):
        out = []
        for column in zip(*rows):
            out.append(column)
            rows[1].pop()
        return out

    agree(lambda n: replaced([[1, 2, 3], [4, 5, 6]]), 0)
    agree(lambda n: cut([[1, 2, 3], [4, 5, 6]]), 0)


def test_made_of_iterables():
    def of(x):
        t = tuple(x)
        return t, len(t), t == tuple(t), [y for y in t]

    def of_an_expression(x):
        return tuple(y + y for y in x), tuple([y for y in x]), tuple(y for y in x if y == y)

    def of_numbers(n):
        return tuple(range(n)), tuple(range(n, 0, -1)), tuple(i * 0.5 for i in range(n)), tuple(map(str, range(n)))

    def of_pairs(n):
        return tuple(enumerate(range(n))), tuple(zip(range(n), range(1, n)))

    def nothing():
        return tuple(), tuple([]), tuple(())  # noqa: C408, C409

    def spread(xs, ys):
        return (*xs, *ys), (*xs, xs[0]), (xs[-1], *ys)

    for x in (
        [1, 2],
        [0.5],
        ["a", "b"],
        [True],
        [[1], [2]],
        [(1, "a")],
        "aé",
        np.arange(3),
        np.eye(2),
        {3},
        {1: 2},
        GRID[0],
    ):
        agree(of, x)
    for x in ([1, 2], (1.5, 2.5), ["a"], np.arange(3), []):
        agree(of_an_expression, x)
    agree(of_numbers, 3)
    agree(of_numbers, 0)
    agree(of_pairs, 4)
    agree(nothing)
    agree(spread, [1, 2], [3])


def test_lengths_that_are_known_stay_known():
    @njit
    def f(t, n):
        shape = tuple([n, 2])  # noqa: C409
        return np.zeros(shape).shape, tuple(t)[1], tuple(map(str, t)), tuple(reversed(t)), (*t, n)

    assert f((1, "a"), 3) == ((3, 2), "a", ("1", "a"), ("a", 1), (1, "a", 3))


def test_items():
    def at(x, i):
        t = tuple(x)
        return t[i], t[-1], t[0]

    def slices(x, a, b, c):
        t = tuple(x)
        return t[a:b], t[a:], t[:b], t[::c], t[a:b:c], t[:]

    def look(x, y):
        t = tuple(x)
        return y in t, t.count(y), t.index(y), t.index(y, 1)

    for i in (0, 1, -1, -2, 2, -3, True):
        agree(at, [3, 4], i)
    agree(at, ["a", "b"], 1)
    for a, b, c in itertools.product((0, 1, -2, 9, -9), (0, 2, -1, 9), (1, -1, 2)):
        agree(slices, [1, 2, 3, 4], a, b, c)
    for y in (1, 2, 1.0, 7):
        agree(look, [1, 2, 1], y)
    agree(look, ["a", "b", "a"], "a")


def compared(a, b):
    return a == b, a != b, a < b, a <= b, a > b, a >= b


def test_comparisons():
    def both(x, y):
        return compared(tuple(x), tuple(y))

    def with_known(x, t):
        return compared(tuple(x), t), compared(t, tuple(x)), tuple(x) == [1], tuple(x) != None  # noqa: E711

    some = ([], [1], [1, 2], [1, 3], [0, 9, 9], [2])
    for x, y in itertools.product(some[1:], some[1:]):
        agree(both, x, y)
        agree(with_known, x, tuple(y))
    agree(both, ["a", "b"], ["a", "c"])
    agree(both, [float("nan")], [float("nan")])
    agree(both, [1, 2], [1.0, 2.5])
    agree(with_known, [1], ())
    agree(lambda x: (tuple(x) == (1, "a"), tuple(x) == ("a",)), [1, 2])


def test_joined_and_repeated():
    def f(x, y, n):
        s, t = tuple(x), tuple(y)
        u = s
        u += t
        return s + t, s * n, n * t, u, s + (x[0],), (x[0], x[0]) + s, s + (), () + t

    for n in (0, 1, 3, -1):
        agree(f, [1, 2], [3], n)
        agree(f, ["a"], ["b", "c"], n)


def test_texts():
    def f(x):
        t = tuple(x)
        return str(t), repr(t), f"{t}", str(t[:1]), str(t[:0]), str([t, t]), str((t, 1)), "-".join([str(y) for y in t])

    for x in ([1, 2], [0.5, -0.0], ["a'b", 'c"d'], [True], [[1], [2]], [(1, "a")], [1 + 2j]):
        agree(f, x)


def test_hashes():
    def f(x):
        t = tuple(x)
        return hash(t), hash(t[:0]), hash((t, 1)), len({t, t, t[:1]})

    for x in ([1, 2], [0.5, -1.0], [-1, -2], [True, False], [(1, 2), (3, 4)]):
        agree(f, x)
    compiled = njit(lambda x: hash(tuple(x)) == hash((x[0], x[1])))
    assert compiled(["a", "bc"])


def test_keys():
    def counted(rows):
        counts = {}
        for row in rows:
            counts[tuple(row)] = counts.get(tuple(row), 0) + 1
        return counts, sorted(counts), (1, 2) in counts, {tuple(row) for row in rows} == set(counts)

    agree(counted, [[1, 2], [3], [1, 2], [4, 5, 6]])
    agree(counted, [[1.5, 2.0], [1.5], [1.5, 2.0]])

    def looked_up(x, key):
        d = {tuple(x): 1}
        s = {tuple(x), tuple(x[:1])}
        return key in d, d.get(key, 0), key in s, (key[0],) in s, (1, 2, 3) in d, (1, "a") in d, () in d

    for key in ((1, 2), (1.0, 2), (1.5, 2.0), (True, 2), (2, 1), ("a", 2)):
        agree(looked_up, [1, 2], key)
        agree(looked_up, [1.0, 2.0], key)

    def of_texts(words):
        groups = {}
        for w in words:
            groups.setdefault(tuple(sorted(w)), []).append(w)
        return list(groups.values()), list(groups)

    agree(of_texts, ["abc", "cab", "x", "bca"])


def test_builtins():
    def of_numbers(x):
        t = tuple(x)
        return sum(t), min(t), max(t), sorted(t), any(t), all(t), list(reversed(t)), list(enumerate(t)), set(t), bool(t)

    def others(x):
        t = tuple(x)
        return isinstance(t, tuple), isinstance(t, list), isinstance(t, (int, tuple)), type(t) is tuple, len(list(t))

    def matched(x):
        match tuple(x):
            case (a,):
                return a
            case (a, b):
                return a + b
            case (a, *_, b):
                return a * b
        return -1

    for x in ([1, 2, 3], [0.5], [True, False], [3, 1, 2]):
        agree(of_numbers, x)
        agree(others, x)
        agree(matched, x)
    agree(lambda x: (", ".join(tuple(x)), "ab".startswith(tuple(x)), "ab".endswith(tuple(x))), ["a", "c"])


def test_many_arguments():
    def extremes(xs):
        return max(*xs), min(*xs), max(*xs, key=abs)

    for xs in ([3, -5, 2], [0.5, 1.5], [1]):
        agree(extremes, xs)
    agree(lambda n: max(*[i for i in range(n)]), 0)


def test_what_is_shown(capfd):
    def shown(xs):
        print(*xs)
        print(*xs, sep=", ", end="!\n")
        print(*tuple(xs), sep="")
        print(tuple(xs))

    for xs in ([1, 2], ["a", "b"], [0.5], [(1, 2)]):
        shown(xs)
        theirs = capfd.readouterr().out
        njit(shown)(xs)
        assert capfd.readouterr().out == theirs


def test_arrays_of_tuples():
    def made(rows):
        t = tuple(rows[0])
        return (
            np.array(list(zip(*rows))),
            np.array(t),
            np.asarray(t) + 1,
            np.sum(t),
            np.mean(t),
            np.max(t),
            np.ones(2) + t,
        )

    def stacked(rows):
        return [np.stack(c) for c in zip(*rows)], [np.array(c) for c in zip(*rows)]

    agree(made, [[1, 2], [3, 4]])
    agree(made, [[0.5, 2.5], [3.5, 4.5]])
    agree(stacked, [[GRID[0], GRID[1]], [GRID[1], GRID[0]]])


def test_paths_that_meet():
    def f(x, n):
        t = (1, 2)
        if n > 0:
            t = tuple(x)
        last = None if n > 1 else t
        return t, last, len(t)

    for n in (0, 1, 2):
        agree(f, [3, 4, 5], n)


def test_handed_on():
    @njit
    def total(t):
        return sum(t), t

    @njit
    def made(n):
        return tuple(range(n))

    def f(n):
        s, t = total(made(n))
        return s, t, [made(i) for i in range(n)], {"a": made(n)}, (made(n), 1)

    agree(f, 3)
    kept = njit(lambda n: [made(n)] * 2)(2)
    assert kept[0] is kept[1]
    # From Python a tuple has its own length.
    assert njit(lambda t: t[0] + t[1])(made(2)) == 1


def test_what_is_refused():
    def assigned(x):
        t = tuple(x)
        t[0] = 1
        return t

    def index(a, x):
        return a[tuple(x)]

    def stored(a, x):
        a[tuple(x)] = 1

    def percent(x):
        return "%s %s" % tuple(x)  # noqa: UP031

    def shape(x):
        return np.zeros(tuple(x))

    def several(x):
        return (*x, "a")

    def added(a, b):
        return a + b

    def called(x):
        return added(*x)

    for f, args, text in [
        (assigned, ([1],), "items of `tuple\\[int, ...\\]` cannot be assigned"),
        (index, (GRID, [1, 1]), "an array cannot be indexed with `tuple\\[int, ...\\]`"),
        (stored, (GRID, [1, 1]), "tuple"),
        (percent, ([1, 2],), "a tuple whose length is known"),
        (shape, ([1, 2],), "an integer or a tuple is needed"),
        (several, ([1],), "cannot hold"),
        (called, ([1, 2],), "whose length is not known while compiling"),
    ]:
        with pytest.raises((TypingError, UnsupportedError), match=text):
            njit(f)(*args)


def test_nothing_leaks():
    @njit
    def f(rows, n):
        t = tuple([str(x) for x in rows[0]])
        d = {t: t + t}
        out = [list(c) for c in zip(*rows)]
        a, b = zip(*[(str(i), [i]) for i in range(n)])
        for c in zip(*rows, strict=n > 3):
            out.append(list(c))
        return d[t], out, a, b, t[1:], t * 2, (*t, *a)

    def once():
        f([["a", "b"], ["c", "d"]], 2)
        with pytest.raises(ValueError, match="not enough values"):
            f([["a"], ["c", "d"]], 0)
        with pytest.raises(ValueError, match="longer"):
            f([["a"], ["c", "d"]], 5)

    once()
    gc.collect()
    before = _core.live_allocations()
    for _ in range(5):
        once()
    gc.collect()
    assert _core.live_allocations() == before


def beside(a, b, strict):
    return [(x, y) for x, y in zip(a, b, strict=strict)]


def three_beside(a, b, c):
    return list(zip(a, b, c, strict=True))


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("a", [[1, 2], (1, 2), np.arange(2), np.arange(3.0), "ab", "abc"])
@pytest.mark.parametrize("b", [[0.5, 1.5], [0.5], "xyz"])
def test_zip_of_named_parts_checks_their_lengths(a, b, strict):
    agree(beside, a, b, strict)


def test_zip_of_three_parts_says_which_one_ends_first():
    for given in (
        ([1], [2], [3]),
        ([1], [2], []),
        ([1], [], [3]),
        ([], [2], [3]),
        ([], [], [3]),
        ([1, 2], "ab", (1.5, 2.5)),
    ):
        given = tuple(x if len(x) else np.zeros(0) for x in given)
        agree(three_beside, *given)
