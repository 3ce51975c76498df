"""Containers of `collections` and frozen sets as arguments, results and items, and what is left of them in memory."""

from collections import Counter, OrderedDict, defaultdict, deque

import pytest

from lancehead import _core, errors, njit

NAMES = {"k": ["a", "b"], "q": ["z"]}


@njit
def same(x):
    return x


@njit
def change_deque(d):
    d.append("x")
    d.rotate(1)
    d.insert(1, "y")
    del d[0]
    for _ in d:
        d.append("z")


@njit
def make(n):
    groups = defaultdict(list)
    for i in range(n):
        groups[i % 3].append(str(i))
    counts = Counter([str(i % 4) for i in range(n)])
    order = OrderedDict()
    for i in range(n):
        order[str(i)] = [str(i)]
    order.popitem(last=False)
    order.move_to_end("3")
    order.move_to_end("2", last=False)
    frozen = frozenset([str(i) for i in range(n)]) | {"z"}
    if n > 5:
        raise ValueError(str(len(groups) + len(counts) + len(order) + len(frozen)))
    return groups, counts, order, frozen


@njit
def of_global(key):
    return NAMES[key], NAMES[key][0]


VALUES = [
    deque([1, 2], 3),
    deque(),
    deque([["a"], ["b"]]),
    Counter("aab"),
    OrderedDict([("b", 1), ("a", 2)]),
    defaultdict(int, {1: 2}),
    defaultdict(None, {1: 2}),
    frozenset([1, 2]),
    frozenset(),
    [deque(["a"])],
    {b"a": 1},
    {frozenset(["a"]): 1, frozenset(["b", "c"]): 2},
    (Counter([0.5]), frozenset([(1, "x")])),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_an_argument_is_returned_as_the_same_object(value):
    got = same(value)
    assert got == value and type(got) is type(value)
    assert isinstance(value, tuple) or got is value


def test_results_are_of_the_classes_of_python():
    got, want = make(5), make.py_func(5)
    assert got == want and [type(x) for x in got] == [type(x) for x in want]
    assert got[0].default_factory is list


def test_an_empty_defaultdict_is_refused():
    with pytest.raises(errors.TypingError):
        same(defaultdict(int))


def test_a_key_that_is_bytes_or_a_frozen_set_is_found():
    @njit
    def look(d, k):
        return k in d, d.get(k, -1)

    for d, k in (({b"ab": 1}, b"ab"), ({frozenset([1, 2]): 1}, frozenset([2, 1])), ({b"ab": 1}, b"b")):
        assert look(d, k) == look.py_func(d, k)


def test_nothing_is_left():
    def once():
        for f, *args in (
            (change_deque, deque(["p", "q"], 7)),
            (make, 4),
            (make, 9),
            (of_global, "k"),
            (of_global, "?"),
        ):
            try:
                f(*args)
            except (ValueError, RuntimeError, KeyError):
                pass

    once()
    before = _core.live_allocations()
    for _ in range(20):
        once()
    assert _core.live_allocations() == before


def test_a_global_that_has_changed_is_read_anew_by_what_is_compiled_later():
    table = {1: 2.0}

    def f(k):
        return table[k]

    first = njit(f)
    assert first(1) == 2.0
    table[1] = 3.0
    assert first(1) == 2.0
    assert njit(lambda k: table[k])(1) == 3.0


@pytest.mark.parametrize("n", [0, 1, 2, -3])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_an_iteration_over_a_turned_deque_ends(n, length):
    @njit
    def f(d):
        for _ in d:
            d.rotate(n)
        return len(d)

    found = []
    for function in (f.py_func, f):
        try:
            found.append(function(deque(range(length))))
        except RuntimeError:
            found.append(None)
    assert found == [None if length > 1 else 1] * 2
