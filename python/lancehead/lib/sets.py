"""`set` and `frozenset`, over the tables of `tables`. Items are kept in the order in which they came."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.hashing import hash
from lancehead.lib.tables import (
    FIELDS,
    added,
    clear,
    copy_entries,
    find,
    look_up,
    mark_of,
    missing,
    new_entry,
    next_place,
    prepare,
    take,
)

_ENTRIES = "tuple(int64, T)"


def _as_set(x):
    if prim.is_set(x):
        return x
    return {item for item in x}


class _any_set:
    """The base of sets and frozen sets."""

    def __prepare__(self, count):
        prepare(self, count)

    def __len__(self):
        return self._live

    def __contains__(self, x):
        return look_up(self, "T", x) >= 0

    def __places__(self):
        return self._live

    def __place__(self, at, live):
        return next_place(self, at, live, "Set changed size during iteration")

    def __item__(self, at):
        return prim.items_get(self, at)[1]

    def isdisjoint(self, other, /):
        """Whether no item of another is here."""
        for x in other:
            if x in self:
                return False
        return True

    def issubset(self, other, /):
        """Whether another has all items."""
        return self <= _as_set(other)

    def issuperset(self, other, /):
        """Whether all items of another are here."""
        for x in other:
            if x not in self:
                return False
        return True

    def __and__(self, other):
        if not prim.is_set(other):
            return NotImplemented
        return self.intersection(other)

    def __or__(self, other):
        if not prim.is_set(other):
            return NotImplemented
        return self.union(other)

    def __sub__(self, other):
        if not prim.is_set(other):
            return NotImplemented
        return self.difference(other)

    def __xor__(self, other):
        if not prim.is_set(other):
            return NotImplemented
        return self.symmetric_difference(other)

    def __le__(self, other):
        if not prim.is_set(other):
            return NotImplemented
        if len(self) > len(other):
            return False
        for x in self:
            if x not in other:
                return False
        return True

    def __lt__(self, other):
        if not prim.is_set(other):
            return NotImplemented
        return len(self) < len(other) and self <= other

    def __ge__(self, other):
        if not prim.is_set(other):
            return NotImplemented
        return other <= self

    def __gt__(self, other):
        if not prim.is_set(other):
            return NotImplemented
        return other < self

    def __eq__(self, other):
        if not prim.is_set(other):
            return NotImplemented
        return len(self) == len(other) and self <= other

    def __ne__(self, other):
        if not prim.is_set(other):
            return NotImplemented
        return not self == other


class set(_any_set):
    """Methods and operators of `set`."""

    __parameters__ = ("T",)
    __entries__ = _ENTRIES
    __fields__ = FIELDS
    __infers__ = {
        "__contains__": "?T -> bool",
        "add": "T",
        "remove": "?T",
        "discard": "?T",
        "update": "*T, *T, *T, *T",
        "symmetric_difference_update": "*T",
        "__ior__": "*T -> Self",
        "__ixor__": "*T -> Self",
        "__init__": "update",
    }

    def __new__(iterable=(), /):
        """A set of the items.

        >>> set([1, 2, 1])
        {1, 2}
        """
        if prim.is_str(iterable):
            if len(iterable) > 256 and prim.lh_str_isascii(iterable):
                # Most characters are there several times: each is looked for once.
                places = [prim.lh_str_find(iterable, prim.lh_str_chr(code), 0) for code in range(128)]
                places.sort()
                return {iterable[at] for at in places if at >= 0}
        return {x for x in iterable}

    def add(self, x, /):
        """Adds an item."""
        if find(self, x) < 0:
            at = new_entry(self, x)
            prim.items_put(self, at, (mark_of(x, at), x))
            added(self, at)

    def remove(self, x, /):
        """Removes an item, which must be there."""
        at = look_up(self, "T", x)
        if at < 0:
            missing(x)
        take(self, at)

    def discard(self, x, /):
        """Removes an item if it is there."""
        at = look_up(self, "T", x)
        if at >= 0:
            take(self, at)

    def pop(self):
        """Removes an item and returns it."""
        if self._live == 0:
            raise KeyError("pop from an empty set")
        return take(self, prim.items_len(self) - 1)[1]

    def clear(self):
        """Removes all items."""
        clear(self)

    def copy(self):
        """Another set of the same items."""
        out = prim.items_like(self, self._live)
        copy_entries(out, self)
        return out

    def update(self, *others):
        """Adds the items of others."""
        for other in others:
            if prim.is_a(other, "builtins.set") and other is self:
                continue
            for x in other:
                self.add(x)

    def union(self, *others):
        """The items of this one and of others."""
        out = {x for x in self}
        for other in others:
            for x in other:
                out.add(x)
        return out

    def intersection(self, *others):
        """The items that others have, too."""
        out = self.copy()
        for other in others:
            out.intersection_update(other)
        return out

    def intersection_update(self, *others):
        """Removes the items that others do not have."""
        for other in others:
            kept = _as_set(other)
            for at in range(prim.items_len(self)):
                if at < prim.items_len(self) and prim.items_get(self, at)[0] != 0:
                    if prim.items_get(self, at)[1] not in kept:
                        take(self, at)

    def difference(self, *others):
        """The items that others do not have."""
        out = self.copy()
        for other in others:
            out.difference_update(other)
        return out

    def difference_update(self, *others):
        """Removes the items of others."""
        for other in others:
            if prim.is_a(other, "builtins.set") and other is self:
                self.clear()
            else:
                for x in other:
                    self.discard(x)

    def symmetric_difference(self, other, /):
        """The items that only one of both has."""
        out = {x for x in self}
        out.symmetric_difference_update(other)
        return out

    def symmetric_difference_update(self, other, /):
        """Removes the items that another has, too, and adds those that only it has."""
        if not prim.is_set(other):
            self.symmetric_difference_update({x for x in other})
        elif prim.is_a(other, "builtins.set") and other is self:
            self.clear()
        else:
            for x in other:
                at = look_up(self, "T", x)
                if at >= 0:
                    take(self, at)
                else:
                    self.add(prim.as_argument(self, "T", x))

    def __iand__(self, other):
        if not prim.is_set(other):
            return NotImplemented
        self.intersection_update(other)
        return self

    def __ior__(self, other):
        if not prim.is_set(other):
            return NotImplemented
        self.update(other)
        return self

    def __isub__(self, other):
        if not prim.is_set(other):
            return NotImplemented
        self.difference_update(other)
        return self

    def __ixor__(self, other):
        if not prim.is_set(other):
            return NotImplemented
        self.symmetric_difference_update(other)
        return self


def _frozen(table):
    # A frozen set with the items of a set.
    out = prim.items_new("builtins.frozenset", prim.items_nothing(table)[1], table._live)
    copy_entries(out, table)
    return out


class frozenset(_any_set):
    """Methods and operators of `frozenset`."""

    __parameters__ = ("T",)
    __entries__ = _ENTRIES
    __fields__ = FIELDS
    __infers__ = {"__contains__": "?T -> bool", "__guess__": "int"}

    def __new__(iterable=(), /):
        """A set of the items that never changes.

        >>> frozenset([1, 2, 1])
        frozenset({1, 2})
        """
        if prim.is_a(iterable, "builtins.frozenset"):
            return iterable
        return _frozen(_as_set(iterable))

    def __hash__(self):
        # That of CPython, whatever the order.
        h = np.uint64(0)
        for x in self:
            one = prim.cast(hash(x), np.uint64)
            h ^= ((one ^ np.uint64(89869747)) ^ (one << np.uint64(16))) * np.uint64(3644798167)
        h ^= prim.cast(len(self) + 1, np.uint64) * np.uint64(1927868237)
        h ^= (h >> np.uint64(11)) ^ (h >> np.uint64(25))
        h = h * np.uint64(69069) + np.uint64(907133923)
        v = prim.cast(h, np.int64)
        return int(590923713 if v == -1 else v)

    def copy(self):
        """The same set."""
        return self

    def union(self, *others):
        """The items of this one and of others."""
        return _frozen({x for x in self}.union(*others))

    def intersection(self, *others):
        """The items that others have, too."""
        return _frozen({x for x in self}.intersection(*others))

    def difference(self, *others):
        """The items that others do not have."""
        return _frozen({x for x in self}.difference(*others))

    def symmetric_difference(self, other, /):
        """The items that only one of both has."""
        return _frozen({x for x in self}.symmetric_difference(other))
