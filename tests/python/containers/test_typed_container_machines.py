"""Typed containers against Python's own, step by step, changed by Python and by compiled code in turn."""

import gc

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import lancehead
from lancehead import njit
from lancehead.typed import Dict, List, Set

KEYS = st.one_of(st.integers(-3, 12), st.sampled_from([2**62, -(2**63)]))
PLACES = st.integers(-8, 8)
SLICES = st.builds(slice, st.none() | PLACES, st.none() | PLACES, st.none() | st.sampled_from([-2, -1, 1, 3]))


def outcome(act, *args):
    """The result, or the class of the exception."""
    try:
        return act(*args)
    except (LookupError, ValueError) as error:
        return type(error)


def put(own, key, value):
    own[key] = value


def remove_at(own, key):
    del own[key]


LISTS = {
    "append": lambda own, i, x: own.append(x),
    "insert": lambda own, i, x: own.insert(i, x),
    "pop": lambda own, i, x: own.pop(i),
    "remove": lambda own, i, x: own.remove(x),
    "put": put,
    "del": lambda own, i, x: remove_at(own, i),
    "extend": lambda own, i, x: own.extend([x, x + 1]),
    "reverse": lambda own, i, x: own.reverse(),
    "sort": lambda own, i, x: own.sort(),
    "count": lambda own, i, x: own.count(x),
    "index": lambda own, i, x: own.index(x),
    "in": lambda own, i, x: x in own,
    "get": lambda own, i, x: own[i],
}
TABLES = {
    "put": put,
    "del": lambda own, k, x: remove_at(own, k),
    "get": lambda own, k, x: own.get(k, x),
    "item": lambda own, k, x: own[k],
    "pop": lambda own, k, x: own.pop(k, x),
    "popitem": lambda own, k, x: own.popitem(),
    "setdefault": lambda own, k, x: own.setdefault(k, x),
    "in": lambda own, k, x: k in own,
}
SETS = {
    "add": lambda own, x: own.add(x),
    "discard": lambda own, x: own.discard(x),
    "remove": lambda own, x: own.remove(x),
    "in": lambda own, x: x in own,
}


def both_ways(methods):
    """Each as Python and as compiled code does it."""
    compiled = {name: njit(f) for name, f in methods.items()}
    return {**methods, **{name + ", compiled": f for name, f in compiled.items()}}


class Lists(RuleBasedStateMachine):
    """A list of integers."""

    methods = both_ways(LISTS)

    def __init__(self):
        super().__init__()
        self.own, self.python = List([0]), [0]

    @rule(name=st.sampled_from(sorted(methods)), i=PLACES, x=KEYS)
    def change(self, name, i, x):
        plain = LISTS[name.removesuffix(", compiled")]
        assert outcome(self.methods[name], self.own, i, x) == outcome(plain, self.python, i, x)

    @rule(s=SLICES, items=st.lists(KEYS, max_size=4))
    def slices(self, s, items):
        assert list(self.own[s]) == self.python[s]
        assert outcome(put, self.own, s, items) == outcome(put, self.python, s, items)
        if len(self.python) > 12:
            del self.own[s], self.python[s]

    @invariant()
    def same(self):
        assert self.own == self.python and len(self.own) == len(self.python)


class Tables(RuleBasedStateMachine):
    """A dictionary of integers."""

    methods = both_ways(TABLES)

    def __init__(self):
        super().__init__()
        self.own, self.python = Dict({0: 0}), {0: 0}

    @rule(name=st.sampled_from(sorted(methods)), key=KEYS, x=KEYS)
    def change(self, name, key, x):
        plain = TABLES[name.removesuffix(", compiled")]
        assert outcome(self.methods[name], self.own, key, x) == outcome(plain, self.python, key, x)

    @rule(items=st.dictionaries(st.integers(0, 200), KEYS))
    def update(self, items):
        self.own.update(items)
        self.python.update(items)

    @rule()
    def clear(self):
        self.own.clear()
        self.python.clear()

    @invariant()
    def same(self):
        assert list(self.own.items()) == list(self.python.items())


class Sets(RuleBasedStateMachine):
    """A set of texts."""

    methods = both_ways(SETS)

    def __init__(self):
        super().__init__()
        self.own, self.python = Set(["0"]), {"0"}

    @rule(name=st.sampled_from(sorted(methods)), x=KEYS.map(str))
    def change(self, name, x):
        plain = SETS[name.removesuffix(", compiled")]
        assert outcome(self.methods[name], self.own, x) == outcome(plain, self.python, x)

    @rule(items=st.lists(KEYS.map(str), max_size=30))
    def update(self, items):
        self.own.update(items)
        self.python.update(items)

    @invariant()
    def same(self):
        assert set(self.own) == self.python and len(self.own) == len(self.python)


SHORT = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestLists, TestTables, TestSets = Lists.TestCase, Tables.TestCase, Sets.TestCase
TestLists.settings = TestTables.settings = TestSets.settings = SHORT


def test_nothing_is_left():
    def all_of_it():
        own = List([List([str(i)]) for i in range(50)])
        counts = Dict({str(i): List([i]) for i in range(50)})
        for i in range(50):
            del counts[str(i)]
            own.pop(0)
        counts.clear()
        counts["x"] = List([1])

    all_of_it()
    gc.collect()
    before = lancehead._core.live_allocations()
    all_of_it()
    gc.collect()
    assert lancehead._core.live_allocations() == before
