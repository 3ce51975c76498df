"""State machines: containers that compiled functions change, beside those that Python changes."""

from collections import Counter, OrderedDict, deque

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from lancehead import njit
from lancehead.errors import TypingError

INDEX = st.integers(-9, 9)
STEP = st.sampled_from([-3, -2, -1, 1, 2, 3])
ITEMS = {"int": st.integers(-3, 3), "str": st.sampled_from(["", "a", "b", "ab", "\u03b1"])}


def outcome(f, *args):
    """The result, or the class of the exception."""
    try:
        return f(*args)
    except (IndexError, KeyError, ValueError, RuntimeError) as e:
        return type(e)


@njit
def append(c, x):
    c.append(x)


@njit
def insert(c, i, x):
    c.insert(i, x)


@njit
def extend(c, xs):
    c.extend(xs)


@njit
def pop(c):
    return c.pop()


@njit
def pop_at(c, i):
    return c.pop(i)


@njit
def set_item(c, i, x):
    c[i] = x


@njit
def delete(c, i):
    del c[i]


@njit
def set_part(c, i, j, k, xs):
    c[i:j:k] = xs


@njit
def delete_part(c, i, j, k):
    del c[i:j:k]


@njit
def remove(c, x):
    c.remove(x)


@njit
def reverse(c):
    c.reverse()


@njit
def sort(c, down):
    c.sort(reverse=down)


@njit
def times(c, n):
    c *= n


@njit
def clear(c):
    c.clear()


@njit
def look_list(c, i, j, k, x):
    return c[i:j:k], x in c, c.count(x), len(c), [y for y in c], sorted(c), c == c[:j], c < c[i:], c + [x]


@njit
def index(c, x, i, j):
    return c.index(x, i, j)


class Machine(RuleBasedStateMachine):
    """Does the same to both containers and compares what comes out and what they are afterwards."""

    def both(self, f, *args):
        got, want = outcome(f, self.own, *args), outcome(f.py_func, self.oracle, *args)
        assert got == want

    def item(self, data):
        return data.draw(ITEMS[self.kind])

    def some(self, data):
        return data.draw(st.lists(ITEMS[self.kind], min_size=1, max_size=5))

    @invariant()
    def same(self):
        own, oracle = getattr(self, "own", None), getattr(self, "oracle", None)
        assert own == oracle and type(own) is type(oracle)
        assert own is None or isinstance(own, (set, frozenset)) or list(own) == list(oracle)


class Lists(Machine):
    @initialize(kind=st.sampled_from(sorted(ITEMS)), data=st.data())
    def start(self, kind, data):
        self.kind = kind
        content = self.some(data)
        self.own, self.oracle = list(content), list(content)

    @rule(data=st.data(), i=INDEX)
    def add(self, data, i):
        self.both(append, self.item(data))
        self.both(insert, i, self.item(data))
        self.both(extend, self.some(data))

    @rule(i=INDEX)
    def take(self, i):
        self.both(pop_at, i)
        self.both(delete, i)

    @rule(i=INDEX, j=INDEX, k=STEP, data=st.data())
    def parts(self, i, j, k, data):
        self.both(set_part, i, j, k, self.some(data))
        self.both(delete_part, i, j, k)

    @rule(i=INDEX, data=st.data())
    def item_at(self, i, data):
        self.both(set_item, i, self.item(data))
        self.both(remove, self.item(data))

    @rule(down=st.booleans(), n=st.integers(-1, 2))
    def whole(self, down, n):
        self.both(reverse)
        self.both(sort, down)
        if len(self.oracle) < 50:
            self.both(times, n)

    @rule(i=INDEX, j=INDEX, k=STEP, data=st.data())
    def query(self, i, j, k, data):
        self.both(look_list, i, j, k, self.item(data))
        self.both(index, self.item(data), i, j)


@njit
def appendleft(c, x):
    c.appendleft(x)


@njit
def extendleft(c, xs):
    c.extendleft(xs)


@njit
def popleft(c):
    return c.popleft()


@njit
def rotate(c, n):
    c.rotate(n)


@njit
def turned_while_iterated(c, x):
    for y in c:
        if y == x:
            c.rotate(1)


@njit
def look_deque(c, x):
    return x in c, c.count(x), len(c), [y for y in c], [y for y in reversed(c)], c == c.copy(), c.maxlen, c + c, c * 2


@njit
def item_of(c, i):
    return c[i]


class Deques(Machine):
    @initialize(kind=st.sampled_from(sorted(ITEMS)), data=st.data(), limit=st.sampled_from([None, 1, 3, 8, 20]))
    def start(self, kind, data, limit):
        self.kind = kind
        content = self.some(data)
        self.own, self.oracle = deque(content, limit), deque(content, limit)

    @rule(data=st.data())
    def add(self, data):
        self.both(append, self.item(data))
        self.both(appendleft, self.item(data))

    @rule(data=st.data())
    def add_several(self, data):
        self.both(extend, self.some(data))
        self.both(extendleft, self.some(data))

    @rule(data=st.data(), i=INDEX)
    def inside(self, data, i):
        self.both(insert, i, self.item(data))
        self.both(set_item, i, self.item(data))
        self.both(remove, self.item(data))
        self.both(delete, i)

    @rule(left=st.booleans())
    def take(self, left):
        self.both(popleft if left else pop)

    @rule(n=st.integers(-20, 20))
    def turn(self, n):
        self.both(rotate, n)
        self.both(reverse)

    @rule(n=st.integers(-1, 2))
    def whole(self, n):
        if len(self.oracle) < 50:
            self.both(times, n)

    @rule(i=INDEX, j=INDEX, data=st.data())
    def query(self, i, j, data):
        self.both(look_deque, self.item(data))
        self.both(index, self.item(data), i, j)
        self.both(item_of, i)
        self.both(turned_while_iterated, self.item(data))


@njit
def get(c, k):
    return c[k]


@njit
def put(c, k, v):
    c[k] = v


@njit
def setdefault(c, k, v):
    return c.setdefault(k, v)


@njit
def pop_key(c, k):
    return c.pop(k)


@njit
def pop_or(c, k, v):
    return c.pop(k, v)


@njit
def popitem(c):
    return c.popitem()


@njit
def update(c, other):
    c.update(other)


@njit
def join(c, other):
    c |= other


@njit
def look_dict(c, k, v, other):
    keys, items = [x for x in c], [x for x in c.items()]
    return k in c, c.get(k, v), len(c), keys, items, v in c.values(), c == other, c | other, c.keys() & other.keys()


@njit
def add_while_iterated(c, k, v):
    for x in c:
        c[k] = v
    return len(c)


@njit
def move(c, k, last):
    c.move_to_end(k, last)


@njit
def pop_end(c, last):
    return c.popitem(last)


@njit
def views_and_join(c, v, other):
    return v in c.values(), c | other


@njit
def join_and_views(c, v, other):
    return c | other, v in c.values()


def test_views_take_keys_of_an_empty_dictionary_to_be_integers():
    for made in (dict, OrderedDict):
        assert views_and_join(made(), 1, {2: 3}) == (False, {2: 3})
        assert join_and_views(made(), 1, {"a": 3}) == ({"a": 3}, False)
        with pytest.raises(TypingError, match="cannot hold `str`"):
            views_and_join(made(), 1, {"a": 3})


class Dicts(Machine):
    made = dict

    @initialize(kind=st.sampled_from(sorted(ITEMS)), data=st.data())
    def start(self, kind, data):
        self.kind = kind
        content = {k: i for i, k in enumerate(self.some(data))}
        self.own, self.oracle = self.made(content), self.made(content)

    @rule(data=st.data(), v=st.integers(0, 3))
    def add(self, data, v):
        self.both(put, self.item(data), v)
        self.both(setdefault, self.item(data), v)

    @rule(data=st.data(), v=st.integers(0, 3))
    def add_others(self, data, v):
        self.both(update, dict.fromkeys(self.some(data), v))
        self.both(join, dict.fromkeys(self.some(data), v))

    @rule(data=st.data(), v=st.integers(0, 3))
    def take(self, data, v):
        self.both(delete, self.item(data))
        self.both(pop_key, self.item(data))
        self.both(pop_or, self.item(data), v)

    @rule()
    def take_last(self):
        self.both(popitem)

    @rule(data=st.data(), v=st.integers(0, 3))
    def query(self, data, v):
        self.both(get, self.item(data))
        # The views of an empty dictionary take its keys to be integers, whatever is joined to it afterwards.
        if self.own or self.kind == "int":
            self.both(look_dict, self.item(data), v, dict.fromkeys(self.some(data), v))
        if self.made is dict:
            self.both(add_while_iterated, self.item(data), v)


class OrderedDicts(Dicts):
    made = OrderedDict

    @rule(data=st.data(), last=st.booleans())
    def move(self, data, last):
        self.both(move, self.item(data), last)
        self.both(pop_end, last)


@njit
def count(c, xs):
    c.update(xs)


@njit
def uncount(c, xs):
    c.subtract(xs)


@njit
def look_counter(c, k, other):
    return c[k], c.most_common(), c.total(), sorted(c.elements()), c + other, c - other, c & other, c | other


@njit
def compare_counters(c, other):
    return +c, -c, c == other, c <= other, c < other, c >= other, c > other


class Counters(Machine):
    @initialize(kind=st.sampled_from(sorted(ITEMS)), data=st.data())
    def start(self, kind, data):
        self.kind = kind
        content = self.some(data)
        self.own, self.oracle = Counter(content), Counter(content)

    @rule(data=st.data())
    def change(self, data):
        self.both(count, self.some(data))
        self.both(uncount, self.some(data))
        self.both(delete, self.item(data))

    @rule(data=st.data(), v=st.integers(-2, 3))
    def query(self, data, v):
        self.both(put, self.item(data), v)
        other = Counter(self.some(data))
        self.both(look_counter, self.item(data), other)
        self.both(compare_counters, other)


@njit
def add(c, x):
    c.add(x)


@njit
def discard(c, x):
    c.discard(x)


@njit
def unite(c, other):
    c |= other


@njit
def meet(c, other):
    c &= other


@njit
def leave(c, other):
    c -= other


@njit
def differ(c, other):
    c ^= other


@njit
def look_set(c, x, other):
    parts = c | other, c & other, c - other, c ^ other
    return x in c, len(c), sorted(c), parts, c <= other, c < other, c == other, c.isdisjoint(other), frozenset(c)


@njit
def look_frozen(c, x, other):
    f = frozenset(c)
    return f | other, f & other, f - other, f ^ other, f == c, f <= other, hash(f) == hash(frozenset(sorted(c))), x in f


class Sets(Machine):
    @initialize(kind=st.sampled_from(sorted(ITEMS)), data=st.data())
    def start(self, kind, data):
        self.kind = kind
        content = self.some(data)
        self.own, self.oracle = set(content), set(content)

    @rule(data=st.data())
    def change(self, data):
        self.both(add, self.item(data))
        self.both(discard, self.item(data))
        self.both(remove, self.item(data))

    @rule(data=st.data(), f=st.sampled_from([unite, meet, leave, differ]))
    def combine(self, data, f):
        self.both(f, set(self.some(data)))

    @rule(data=st.data())
    def query(self, data):
        self.both(look_set, self.item(data), set(self.some(data)))
        x, other = self.item(data), set(self.some(data))
        # A frozen copy of an empty set takes its items to be integers, whatever is joined to it afterwards.
        if self.own or self.kind == "int":
            self.both(look_frozen, x, other)


for machine in (Lists, Deques, Dicts, OrderedDicts, Counters, Sets):
    case = machine.TestCase
    case.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
    globals()[f"Test{machine.__name__}"] = case
del case, machine
