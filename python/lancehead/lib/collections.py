"""`collections`: double-ended queues, and the dictionaries that count, have defaults or an order that can be changed.

A queue keeps its items in a ring: item `i` is at place `(_first + i) & mask`. The buffer has a power of two of places,
of which those without an item own nothing.
"""

import sys

from lancehead.lib import prim
from lancehead.lib.conversions import index_of
from lancehead.lib.dicts import ENTRIES, INFERS, mapping
from lancehead.lib.lists import repeated
from lancehead.lib.tables import (
    FIELDS,
    added,
    copy_entries,
    find,
    look_up,
    mark_of,
    missing,
    new_entry,
    next_place,
    place_before,
    take,
)
from lancehead.lib.text import text_repr

_ORDERED_AS_PAIRS = sys.version_info < (3, 12)


def _index(i):
    if prim.is_slice(i):
        prim.error("an index of a deque is an integer, not a slice")
    return index_of(i)


def _clamped(i, n):
    if i < 0:
        i += n
    return 0 if i < 0 else n if i > n else i


class deque:
    """Methods and operators of `deque`."""

    __parameters__ = ("T",)
    __entries__ = "T"
    __fields__ = {"_first": "int", "_count": "int", "_changes": "int", "_limit": "int"}
    __infers__ = {
        "append": "T",
        "appendleft": "T",
        "extend": "*T",
        "extendleft": "*T",
        "insert": "_, T",
        "__iadd__": "*T -> Self",
        "__contains__": "?T -> bool",
        "__init__": "extend",
    }

    def __prepare__(self, count):
        self._limit = -1

    def __init__(self, maxlen=None):
        if not prim.is_none(maxlen):
            if maxlen is not None:
                n = index_of(maxlen)
                if n < 0:
                    raise ValueError("maxlen must be non-negative")
                self._limit = n

    @property
    def maxlen(self):
        """The greatest number of items, or None."""
        return None if self._limit < 0 else self._limit

    def __len__(self):
        return self._count

    def _place(self, i):
        return (self._first + i) & (prim.items_len(self) - 1)

    def _get(self, i):
        return prim.items_get(self, self._place(i))

    def _grow(self):
        # Doubles the ring; the free slots lie between tail and head.
        old = prim.items_len(self)
        size = 8 if old == 0 else 2 * old
        prim.items_reserve(self, size)
        tail = old - self._first
        if self._first > 0:
            prim.items_move(self, size - tail, self._first, tail)
        free = self._first if self._first > 0 else old
        for i in range(free, free + size - old):
            prim.items_put(self, i, prim.items_nothing(self))
        prim.items_set_len(self, size)
        if self._first > 0:
            self._first = size - tail

    def _take(self, i):
        # Takes an item out of its place, which owns nothing then.
        at = self._place(i)
        x = prim.items_take(self, at)
        prim.items_put(self, at, prim.items_nothing(self))
        return x

    def append(self, x, /):
        """Adds an item at the right end; of a full deque the leftmost one goes."""
        if self._limit == 0:
            return
        if self._count == self._limit:
            self.popleft()
        if self._count == prim.items_len(self):
            self._grow()
        prim.items_put(self, self._place(self._count), x)
        self._count += 1
        self._changes += 1

    def appendleft(self, x, /):
        """Adds an item at the left end; of a full deque the rightmost one goes."""
        if self._limit == 0:
            return
        if self._count == self._limit:
            self.pop()
        if self._count == prim.items_len(self):
            self._grow()
        at = self._place(-1)
        prim.items_put(self, at, x)
        self._first = at
        self._count += 1
        self._changes += 1

    def pop(self):
        """Removes and returns the rightmost item."""
        if self._count == 0:
            raise IndexError("pop from an empty deque")
        x = self._take(self._count - 1)
        self._count -= 1
        self._changes += 1
        return x

    def popleft(self):
        """Removes and returns the leftmost item."""
        if self._count == 0:
            raise IndexError("pop from an empty deque")
        x = self._take(0)
        self._first = self._place(1)
        self._count -= 1
        self._changes += 1
        return x

    def extend(self, iterable, /):
        """Adds items at the right end."""
        if prim.is_a(iterable, "collections.deque") and iterable is self:
            self.extend([x for x in self])
        else:
            for x in iterable:
                self.append(x)

    def extendleft(self, iterable, /):
        """Adds items at the left end, one after the other."""
        if prim.is_a(iterable, "collections.deque") and iterable is self:
            self.extendleft([x for x in self])
        else:
            for x in iterable:
                self.appendleft(x)

    def clear(self):
        """Removes all items."""
        while self._count > 0:
            self.pop()

    def rotate(self, n=1, /):
        """Moves items from the right end to the left one; with a negative number, from the left to the right."""
        n = index_of(n)
        if self._count < 2:
            return
        # An iteration ends by any turn, also by none.
        self._changes += 1
        n = n % self._count
        if n == 0:
            return
        if self._count == prim.items_len(self):
            self._first = self._place(-n)
        elif 2 * n <= self._count:
            for _ in range(n):
                x = self._take(self._count - 1)
                self._first = self._place(-1)
                prim.items_put(self, self._first, x)
        else:
            for _ in range(self._count - n):
                x = self._take(0)
                prim.items_put(self, self._place(self._count), x)
                self._first = self._place(1)

    def _open(self, i):
        # Makes room for an item at an index, by moving those after it.
        if self._count == prim.items_len(self):
            self._grow()
        for k in range(self._count, i, -1):
            prim.items_put(self, self._place(k), self._take(k - 1))
        self._count += 1
        self._changes += 1

    def _close(self, i):
        # Removes an item, and moves those after it.
        self._take(i)
        for k in range(i + 1, self._count):
            prim.items_put(self, self._place(k - 1), self._take(k))
        self._count -= 1
        self._changes += 1

    def insert(self, i, x, /):
        """Inserts an item before an index."""
        if self._count == self._limit:
            raise IndexError("deque already at its maximum size")
        at = _clamped(index_of(i), self._count)
        self._open(at)
        prim.items_put(self, self._place(at), x)

    def remove(self, value, /):
        """Removes the first item that equals a value."""
        for i in range(self._count):
            if self._get(i) == value:
                self._close(i)
                return
        raise ValueError("deque.remove(x): x not in deque")

    def index(self, x, start=0, stop=9223372036854775807, /):
        """Index of the first item that equals a value."""
        n = self._count
        for i in range(_clamped(index_of(start), n), _clamped(index_of(stop), n)):
            if self._get(i) == x:
                return i
        raise ValueError(text_repr(x) + " is not in deque")

    def count(self, x, /):
        """Number of items that equal a value."""
        found = 0
        for item in self:
            if item == x:
                found += 1
        return found

    def reverse(self):
        """Reverses the order of the items."""
        i, j = 0, self._count - 1
        while i < j:
            a, b = self._take(i), self._take(j)
            prim.items_put(self, self._place(i), b)
            prim.items_put(self, self._place(j), a)
            i += 1
            j -= 1

    def copy(self):
        """Another deque with the same items and the same limit."""
        out = prim.items_like(self, 0)
        out._limit = self._limit
        for x in self:
            out.append(x)
        return out

    def __copy__(self):
        return self.copy()

    def _checked(self, i):
        i = _index(i)
        if i < 0:
            i += self._count
        if i < 0 or i >= self._count:
            raise IndexError("deque index out of range")
        return i

    def __getitem__(self, i):
        return self._get(self._checked(i))

    def __setitem__(self, i, x):
        i = self._checked(i)
        own = prim.as_argument(self, "T", x)
        prim.items_take(self, self._place(i))
        prim.items_put(self, self._place(i), own)

    def __delitem__(self, i):
        self._close(self._checked(i))

    def __contains__(self, x):
        for item in self:
            if item == x:
                return True
        return False

    def __places__(self):
        return self._changes

    def __place__(self, at, changes):
        if self._changes != changes:
            raise RuntimeError("deque mutated during iteration")
        return at if at < self._count else -1

    def __end__(self):
        return self._count

    def __before__(self, at, changes):
        if self._changes != changes:
            raise RuntimeError("deque mutated during iteration")
        return at - 1

    def __item__(self, at):
        return self._get(at)

    def __add__(self, other):
        if not prim.is_a(other, "collections.deque"):
            return NotImplemented
        out = self.copy()
        out.extend(other)
        return out

    def __iadd__(self, other):
        self.extend(other)
        return self

    def __mul__(self, n):
        if not (prim.is_int(n) or prim.is_bool(n)):
            return NotImplemented
        times = self._times(n)
        out = prim.items_like(self, repeated(self._count, times))
        out._limit = self._limit
        for _ in range(times):
            for x in self:
                out.append(x)
        return out

    def _times(self, n):
        # Of a deque with a limit, only the last repetitions are kept.
        if self._count == 0:
            return 0
        return min(n, self._limit // self._count + 1) if self._limit >= 0 else n

    def __rmul__(self, n):
        return self.__mul__(n)

    def __imul__(self, n):
        if not (prim.is_int(n) or prim.is_bool(n)):
            return NotImplemented
        items = [x for x in self]
        times = self._times(n)
        prim.items_reserve(self, repeated(self._count, times))
        if n <= 0:
            self.clear()
        for _ in range(1, times):
            self.extend(items)
        return self

    def __eq__(self, other):
        if not prim.is_a(other, "collections.deque"):
            return NotImplemented
        if self._count != other._count:
            return False
        for i in range(self._count):
            if self[i] != other[i]:
                return False
        return True

    def __ne__(self, other):
        if not prim.is_a(other, "collections.deque"):
            return NotImplemented
        return not self == other

    def __lt__(self, other):
        if not prim.is_a(other, "collections.deque"):
            return NotImplemented
        return [x for x in self] < [x for x in other]

    def __gt__(self, other):
        if not prim.is_a(other, "collections.deque"):
            return NotImplemented
        return other < self

    def __le__(self, other):
        if not prim.is_a(other, "collections.deque"):
            return NotImplemented
        return not other < self

    def __ge__(self, other):
        if not prim.is_a(other, "collections.deque"):
            return NotImplemented
        return not self < other

    def __repr__(self):
        out = "deque(" + text_repr([x for x in self])
        return out + (")" if self._limit < 0 else ", maxlen=" + text_repr(self._limit) + ")")


class OrderedDict(mapping):
    """Methods and operators of `OrderedDict`."""

    __parameters__ = ("K", "V")
    __entries__ = ENTRIES
    __fields__ = FIELDS
    __infers__ = {**INFERS, "move_to_end": "?K"}

    @staticmethod
    def fromkeys(iterable, value=None):
        """A dictionary with keys of one value."""
        out = prim.empty("collections.OrderedDict")
        for key in iterable:
            out[key] = value
        return out

    def __place__(self, at, live):
        return next_place(self, at, live, "OrderedDict mutated during iteration")

    def __before__(self, at, live):
        return place_before(self, at, live, "OrderedDict mutated during iteration")

    def move_to_end(self, key, last=True):
        """Moves a key to the end, or to the start."""
        at = look_up(self, "K", key)
        if at < 0:
            missing(key)
        entry = take(self, at)
        if last:
            at = new_entry(self, entry[1])
            prim.items_put(self, at, entry)
            added(self, at)
            return
        others = self.copy()
        self.clear()
        self[entry[1]] = entry[2]
        self.update(others)

    def popitem(self, last=True):
        """Removes the last or the first key and returns it with its value."""
        if self._live == 0:
            raise KeyError("dictionary is empty")
        entry = take(self, prim.items_len(self) - 1 if last else self._first)
        return entry[1], entry[2]

    def pop(self, key, *default):
        """Removes a key and returns its value, or another if there is no such key."""
        if len(default) > 1:
            raise TypeError("pop expected at most 2 arguments, got " + str(1 + len(default)))
        at = look_up(self, "K", key)
        if at < 0:
            if len(default) == 0:
                missing(key)
            else:
                return default[0]
        return take(self, at)[2]

    def __eq__(self, other):
        if not prim.is_dict(other):
            return NotImplemented
        if len(self) != len(other):
            return False
        if prim.is_a(other, "collections.OrderedDict"):
            for a, b in zip(self, other):
                if a != b:
                    return False
        for key, value in self.items():
            at = look_up(other, "K", key)
            if at < 0:
                return False
            if prim.items_get(other, at)[2] != value:
                return False
        return True

    def __ror__(self, other):
        if not prim.is_dict(other):
            return NotImplemented
        out = prim.empty("collections.OrderedDict")
        out.update(other)
        out.update(self)
        return out

    def __repr__(self):
        if len(self) == 0:
            return "OrderedDict()"
        if _ORDERED_AS_PAIRS:
            return "OrderedDict(" + text_repr([pair for pair in self.items()]) + ")"
        return "OrderedDict(" + text_repr(dict(self)) + ")"


class defaultdict(mapping):
    """Methods and operators of `defaultdict`."""

    __parameters__ = ("K", "V", "F")
    __entries__ = ENTRIES
    __fields__ = {**FIELDS, "default_factory": "F"}
    __infers__ = {**INFERS, "__getitem__": "K -> V"}

    def __getitem__(self, key):
        at = find(self, key)
        if at < 0:
            return self.__missing__(key)
        return prim.items_get(self, at)[2]

    def __missing__(self, key):
        """Gives a key that is not there the value that the factory makes, and returns it."""
        if prim.is_none(self.default_factory):
            missing(key)
        else:
            value = self.default_factory()
            self[key] = value
        return prim.items_get(self, find(self, key))[2]

    def copy(self):
        """Another dictionary with the same items and the same factory."""
        out = prim.items_like(self, self._live)
        out.default_factory = self.default_factory
        copy_entries(out, self)
        return out

    def __copy__(self):
        return self.copy()

    def __repr__(self):
        if self.default_factory is None:
            factory = "None"
        else:
            factory = "<class '" + prim.factory_name(self.default_factory) + "'>"
        return "defaultdict(" + factory + ", " + text_repr(dict(self)) + ")"

    def __ror__(self, other):
        if not prim.is_dict(other):
            return NotImplemented
        out = self.copy()
        out.clear()
        out.update(other)
        out.update(self)
        return out


class Counter(mapping):
    """Methods and operators of `Counter`."""

    __parameters__ = ("K", "V")
    __entries__ = ENTRIES
    __fields__ = FIELDS
    __infers__ = {**INFERS, "update": "*K", "subtract": "*K", "__guess__": "_, int"}

    def __getitem__(self, key):
        at = look_up(self, "K", key)
        if at < 0:
            return prim.as_argument(self, "V", 0)
        return prim.items_get(self, at)[2]

    def __delitem__(self, key):
        at = look_up(self, "K", key)
        if at >= 0:
            take(self, at)

    def _add_to(self, key, n):
        at = find(self, key)
        if at < 0:
            at = new_entry(self, key)
            prim.items_put(self, at, (mark_of(key, at), key, n))
            added(self, at)
        else:
            old = prim.items_take(self, at)
            prim.items_put(self, at, (old[0], old[1], old[2] + n))

    def update(self, iterable=None, /, **kwds):
        """Counts items, or adds counts."""
        if not prim.is_none(iterable):
            if prim.is_dict(iterable):
                for key, n in iterable.items():
                    self._add_to(prim.as_argument(self, "K", key), prim.as_argument(self, "V", n))
            else:
                for key in iterable:
                    self._add_to(prim.as_argument(self, "K", key), prim.as_argument(self, "V", 1))
        for key, n in kwds.items():
            self._add_to(prim.as_argument(self, "K", key), prim.as_argument(self, "V", n))

    def subtract(self, iterable=None, /, **kwds):
        """Takes items or counts away; counts may become negative."""
        if not prim.is_none(iterable):
            if prim.is_dict(iterable):
                for key, n in iterable.items():
                    self._add_to(prim.as_argument(self, "K", key), prim.as_argument(self, "V", -n))
            else:
                for key in iterable:
                    self._add_to(prim.as_argument(self, "K", key), prim.as_argument(self, "V", -1))
        for key, n in kwds.items():
            self._add_to(prim.as_argument(self, "K", key), prim.as_argument(self, "V", -n))

    def most_common(self, n=None):
        """Pairs of a key and its count, the greatest first; only some of them if a number is given."""
        pairs = sorted([pair for pair in self.items()], key=lambda pair: pair[1], reverse=True)
        if n is None:
            return pairs
        return pairs[: n if n > 0 else 0]

    def elements(self):
        """Each key as often as its count says."""
        for key, n in self.items():
            for _ in range(n):
                yield key

    def total(self):
        """The sum of the counts."""
        out = prim.as_argument(self, "V", 0)
        for n in self.values():
            out += n
        return out

    def _keep_positive(self):
        gone = [key for key, n in self.items() if not n > 0]
        for key in gone:
            del self[key]
        return self

    def __add__(self, other):
        if not prim.is_a(other, "collections.Counter"):
            return NotImplemented
        out = self.copy()
        out.update(other)
        return out._keep_positive()

    def __sub__(self, other):
        if not prim.is_a(other, "collections.Counter"):
            return NotImplemented
        out = self.copy()
        out.subtract(other)
        return out._keep_positive()

    def __or__(self, other):
        if not prim.is_a(other, "collections.Counter"):
            return NotImplemented
        out = self.copy()
        for key, n in other.items():
            if n > out[key]:
                out[key] = n
        return out._keep_positive()

    def __and__(self, other):
        if not prim.is_a(other, "collections.Counter"):
            return NotImplemented
        out = self.copy()
        for key, n in self.items():
            if other[key] < n:
                out[key] = other[key]
        return out._keep_positive()

    def __pos__(self):
        return self.copy()._keep_positive()

    def __neg__(self):
        out = self.copy()
        out.clear()
        out.subtract(self)
        return out._keep_positive()

    def __iadd__(self, other):
        if not prim.is_a(other, "collections.Counter"):
            return NotImplemented
        self.update(other.copy())
        return self._keep_positive()

    def __isub__(self, other):
        if not prim.is_a(other, "collections.Counter"):
            return NotImplemented
        self.subtract(other.copy())
        return self._keep_positive()

    def __ior__(self, other):
        if not prim.is_a(other, "collections.Counter"):
            return NotImplemented
        for key, n in other.items():
            if n > self[key]:
                self[key] = n
        return self._keep_positive()

    def __iand__(self, other):
        if not prim.is_a(other, "collections.Counter"):
            return NotImplemented
        for key in [key for key in self]:
            if other[key] < self[key]:
                self[key] = other[key]
        return self._keep_positive()

    def _within(self, other):
        # Whether no count is greater than that of another counter.
        for key, n in self.items():
            if n > other[key]:
                return False
        for key, n in other.items():
            if self[key] > n:
                return False
        return True

    def __eq__(self, other):
        if not prim.is_a(other, "collections.Counter"):
            return NotImplemented
        return self._within(other) and other._within(self)

    def __ne__(self, other):
        if not prim.is_a(other, "collections.Counter"):
            return NotImplemented
        return not self == other

    def __le__(self, other):
        if not prim.is_a(other, "collections.Counter"):
            return NotImplemented
        return self._within(other)

    def __lt__(self, other):
        if not prim.is_a(other, "collections.Counter"):
            return NotImplemented
        return self._within(other) and not other._within(self)

    def __ge__(self, other):
        if not prim.is_a(other, "collections.Counter"):
            return NotImplemented
        return other._within(self)

    def __gt__(self, other):
        if not prim.is_a(other, "collections.Counter"):
            return NotImplemented
        return other._within(self) and not self._within(other)

    def __repr__(self):
        if len(self) == 0:
            return "Counter()"
        return "Counter({" + ", ".join([text_repr(k) + ": " + text_repr(n) for k, n in self.most_common()]) + "})"
