"""`dict` and its views, over the tables of `tables`."""

from lancehead.lib import prim
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
    next_of_dict,
    number_of,
    place_before,
    prepare,
    take,
)

_CHANGED = "dictionary changed size during iteration"


ENTRIES = "tuple(int64, K, V)"

#: Signatures by which calls of methods type the keys and values of a dictionary that is created empty.
INFERS = {
    "__contains__": "?K -> bool",
    "__getitem__": "?K -> V",
    "__setitem__": "K, V",
    "__delitem__": "?K",
    "get": "?K, ?V -> V",
    "pop": "?K, ?V -> V",
    "setdefault": "K, V -> V",
    "update": "Self",
    "__ior__": "Self -> Self",
    "__init__": "update",
}


class mapping:
    """The base of all classes of dictionaries."""

    def __prepare__(self, count):
        prepare(self, count)

    def __len__(self):
        return self._live

    def __contains__(self, key):
        return look_up(self, "K", key) >= 0

    def __getitem__(self, key):
        at = look_up(self, "K", key)
        if at < 0:
            missing(key)
        return prim.items_get(self, at)[2]

    def __setitem__(self, key, value):
        at = find(self, key)
        if at >= 0:
            old = prim.items_take(self, at)
            prim.items_put(self, at, (old[0], old[1], value))
            return
        at = new_entry(self, key)
        prim.items_put(self, at, (mark_of(key, at), key, value))
        added(self, at)

    def __delitem__(self, key):
        at = look_up(self, "K", key)
        if at < 0:
            missing(key)
        take(self, at)

    def get(self, key, default=None, /):
        """The value of a key, or another if there is none."""
        at = look_up(self, "K", key)
        if at < 0:
            return default
        return prim.items_get(self, at)[2]

    def setdefault(self, key, default=None, /):
        """The value of a key, which is given to it if there is none."""
        at = find(self, key)
        if at < 0:
            at = new_entry(self, key)
            prim.items_put(self, at, (mark_of(key, at), key, prim.as_argument(self, "V", default)))
            added(self, at)
        return prim.items_get(self, at)[2]

    def pop(self, key, /, *default):
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

    def popitem(self):
        """Removes the last key and returns it with its value."""
        if self._live == 0:
            raise KeyError("popitem(): dictionary is empty")
        entry = take(self, prim.items_len(self) - 1)
        return entry[1], entry[2]

    def update(self, other=(), /, **kwargs):
        """Adds the items of another dictionary or of an iterable of pairs."""
        if prim.is_dict(other) or prim.is_entries(other):
            for key, value in other.items():
                self[key] = value
        else:
            for key, value in other:
                self[key] = value
        for key, value in kwargs.items():
            self[key] = value

    def clear(self):
        """Removes all items."""
        clear(self)

    def copy(self):
        """Another dictionary with the same items."""
        out = prim.items_like(self, self._live)
        copy_entries(out, self)
        return out

    def keys(self):
        """A view of the keys."""
        return prim.value("dicts.dict_keys", (self,), self)

    def values(self):
        """A view of the values."""
        return prim.value("dicts.dict_values", (self,), self)

    def items(self):
        """A view of pairs of a key and its value."""
        return prim.value("dicts.dict_items", (self,), self)

    def __places__(self):
        return self._live

    def __place__(self, at, live):
        return next_of_dict(self, at, live, _CHANGED)

    def __end__(self):
        return prim.items_len(self)

    def __before__(self, at, live):
        return place_before(self, at, live, _CHANGED)

    def __item__(self, at):
        return prim.items_get(self, number_of(at))[1]

    def __or__(self, other):
        if not prim.is_dict(other):
            return NotImplemented
        if prim.is_a(self, "builtins.dict") and prim.has_method(other, "__ror__"):
            # The class that derives from `dict` decides.
            return NotImplemented
        out = self.copy()
        out.update(other)
        return out

    def __ior__(self, other):
        self.update(other)
        return self

    def __eq__(self, other):
        if not prim.is_dict(other):
            return NotImplemented
        if len(self) != len(other):
            return False
        for key, value in self.items():
            at = look_up(other, "K", key)
            if at < 0:
                return False
            if prim.items_get(other, at)[2] != value:
                return False
        return True

    def __ne__(self, other):
        if not prim.is_dict(other):
            return NotImplemented
        return not self == other


class dict(mapping):
    """Methods and operators of `dict`."""

    __parameters__ = ("K", "V")
    __entries__ = ENTRIES
    __fields__ = FIELDS
    __infers__ = INFERS

    def __new__(iterable=(), /, **kwargs):
        """A dictionary of the pairs, or with the items of another.

        >>> dict(a=1, b=2)
        {'a': 1, 'b': 2}
        """
        out = {}
        out.update(iterable)
        for key, value in kwargs.items():
            out[key] = value
        return out

    @staticmethod
    def fromkeys(iterable, value=None, /):
        """A dictionary with keys of one value.

        >>> dict.fromkeys((1, 2), 0)
        {1: 0, 2: 0}
        """
        out = {}
        for key in iterable:
            out[key] = value
        return out


def _within(a, b):
    # Whether all items of one view or set are in another.
    for x in a:
        if x not in b:
            return False
    return True


class _view:
    """The base of the views of a dictionary."""

    def __len__(self):
        return self._of._live

    def __places__(self):
        return self._of._live

    def __place__(self, at, live):
        return self._of.__place__(at, live)

    def __end__(self):
        return prim.items_len(self._of)

    def __before__(self, at, live):
        return self._of.__before__(at, live)


class _set_view(_view):
    """Operators of views that are like sets. The other operand of `& | - ^` may be any iterable, that of comparisons a
    set or such a view: what has `isdisjoint`."""

    def isdisjoint(self, other):
        """Whether nothing of another iterable is here."""
        for x in other:
            if x in self:
                return False
        return True

    def __and__(self, other):
        return {x for x in self}.intersection(other)

    def __rand__(self, other):
        return {x for x in other}.intersection(self)

    def __or__(self, other):
        return {x for x in self}.union(other)

    def __ror__(self, other):
        return {x for x in other}.union(self)

    def __sub__(self, other):
        return {x for x in self}.difference(other)

    def __rsub__(self, other):
        return {x for x in other}.difference(self)

    def __xor__(self, other):
        return {x for x in self}.symmetric_difference(other)

    def __rxor__(self, other):
        return {x for x in other}.symmetric_difference(self)

    def __eq__(self, other):
        if not prim.has_method(other, "isdisjoint"):
            return NotImplemented
        return len(self) == len(other) and _within(self, other)

    def __ne__(self, other):
        if not prim.has_method(other, "isdisjoint"):
            return NotImplemented
        return len(self) != len(other) or not _within(self, other)

    def __le__(self, other):
        if not prim.has_method(other, "isdisjoint"):
            return NotImplemented
        return len(self) <= len(other) and _within(self, other)

    def __lt__(self, other):
        if not prim.has_method(other, "isdisjoint"):
            return NotImplemented
        return len(self) < len(other) and _within(self, other)

    def __ge__(self, other):
        if not prim.has_method(other, "isdisjoint"):
            return NotImplemented
        return len(self) >= len(other) and _within(other, self)

    def __gt__(self, other):
        if not prim.has_method(other, "isdisjoint"):
            return NotImplemented
        return len(self) > len(other) and _within(other, self)


class dict_keys(_set_view):
    """The keys of a dictionary."""

    __parameters__ = ("D",)
    __fields__ = {"_of": "D"}
    __by_value__ = True

    def __contains__(self, key):
        return key in self._of

    def __item__(self, at):
        return prim.items_get(self._of, number_of(at))[1]


class dict_values(_view):
    """The values of a dictionary."""

    __parameters__ = ("D",)
    __fields__ = {"_of": "D"}
    __by_value__ = True

    def __contains__(self, value):
        for x in self:
            if x == value:
                return True
        return False

    def __item__(self, at):
        return prim.items_get(self._of, number_of(at))[2]


class dict_items(_set_view):
    """Pairs of the keys and values of a dictionary."""

    __parameters__ = ("D",)
    __fields__ = {"_of": "D"}
    __by_value__ = True

    def __contains__(self, pair):
        if not prim.is_tuple(pair):
            return False
        if len(pair) != 2:
            return False
        at = look_up(self._of, "K", pair[0])
        if at < 0:
            return False
        return prim.items_get(self._of, at)[2] == pair[1]

    def __item__(self, at):
        entry = prim.items_get(self._of, number_of(at))
        return entry[1], entry[2]
