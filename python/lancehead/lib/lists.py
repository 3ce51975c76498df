"""Methods of `list`, over raw moves of items between the places of a list header's storage.

`prim.items_put` writes to a place that owns nothing, `prim.items_take` leaves a place that owns nothing; the number of
items is set last, so that an exception finds the list whole.
"""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import index_of
from lancehead.lib.text import text_repr


@prim.means("slice_bounds")
def slice_bounds(s, n):
    """First index, last index (exclusive) and step of a slice over `n` items."""
    if not prim.is_slice(s):
        prim.error("an integer or a slice is needed here")
    step = 1 if s.step is None else prim.cast(s.step, np.int64)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    low = 0 if step > 0 else -1
    high = n if step > 0 else n - 1
    start = (low if step > 0 else high) if s.start is None else clamped(prim.cast(s.start, np.int64), n, low, high)
    stop = (high if step > 0 else low) if s.stop is None else clamped(prim.cast(s.stop, np.int64), n, low, high)
    return start, stop, step


def clamped(i, n, low, high):
    """An index, perhaps from the end, between bounds. There are no branches, so that callers see extents."""
    return prim.minimum(prim.maximum(i + n * prim.cast(i < 0, np.int64), low), high)


def slice_length(start, stop, step):
    """Number of items between bounds.

    A negative step counts down.
    """
    if step > 0:
        return _steps(stop - start - 1, step) if start < stop else 0
    return _steps(start - stop - 1, -step) if stop < start else 0


def _steps(distance, step):
    # Unsigned: from the least integer to the greatest it is further than there are integers.
    return prim.cast(prim.cast(distance, np.uint64) // prim.cast(step, np.uint64), np.int64) + 1


def _checked(i, n, message):
    if i < 0:
        i += n
    if i < 0 or i >= n:
        raise IndexError(message)
    return i


def _shared_as(out, own):
    # A list made from a typed list is a typed list, too.
    if prim.lh_items_is_shared(own):
        prim.items_share(out)
    return out


def not_enough(text, n):
    """Raises the error of an assignment to several variables."""
    raise ValueError(f"{text}, got {n})")


def repeated(size, n):
    """How many items so many are that are repeated; MemoryError where 64 bits cannot count them."""
    if size > 0 and n > 9223372036854775807 // size:
        raise MemoryError
    return size * n if n > 0 else 0


def _extend_from(self, other, n):
    # `n` items of a list, maybe of `self`.
    old = len(self)
    prim.items_reserve(self, old + n)
    for i in range(n):
        prim.items_put(self, old + i, prim.items_get(other, i))
    prim.items_set_len(self, old + n)


def _check_mutable(self):
    # A frozen list has room for nothing, not even for what it has.
    prim.items_reserve(self, 0)


def _drop(self, start, count):
    # Releases items and closes the gap.
    _check_mutable(self)
    n = len(self)
    for i in range(start, start + count):
        prim.items_take(self, i)
    prim.items_move(self, start, start + count, n - start - count)
    prim.items_set_len(self, n - count)


class list:
    """Methods and operators of `list`."""

    __parameters__ = ("T",)
    __items__ = "T"
    __infers__ = {
        "append": "T",
        "insert": "_, T",
        "extend": "*T",
        "__contains__": "?T -> bool",
        "index": "?T -> int",
        "count": "?T -> int",
        "remove": "?T",
        "__init__": "extend",
    }

    def __new__(iterable=None):
        """A list of the items.

        >>> list((1, 2))
        [1, 2]
        """
        if iterable is None:
            return []
        if prim.is_str(iterable):
            items = prim.items_new("builtins.list", iterable, 0)
            prim.lh_str_characters(iterable, items)
            return items
        return [x for x in iterable]

    def append(self, x, /):
        """Adds an item at the end."""
        n = len(self)
        prim.items_reserve(self, n + 1)
        prim.items_put(self, n, x)
        prim.items_set_len(self, n + 1)

    def extend(self, iterable, /):
        """Adds the items of an iterable at the end."""
        if prim.is_a(iterable, "builtins.list"):
            _extend_from(self, iterable, len(iterable))
        else:
            for x in iterable:
                self.append(x)

    def insert(self, i, x, /):
        """Inserts an item before an index."""
        n = len(self)
        i = clamped(index_of(i), n, 0, n)
        prim.items_reserve(self, n + 1)
        prim.items_move(self, i + 1, i, n - i)
        prim.items_put(self, i, x)
        prim.items_set_len(self, n + 1)

    def pop(self, index=-1, /):
        """Removes and returns an item."""
        _check_mutable(self)
        n = len(self)
        if n == 0:
            raise IndexError("pop from empty list")
        i = index_of(index)
        if i < 0:
            i += n
        if i < 0 or i >= n:
            if prim.lh_items_is_shared(self):
                raise IndexError("list index out of range")
            raise IndexError("pop index out of range")
        x = prim.items_take(self, i)
        prim.items_move(self, i, i + 1, n - i - 1)
        prim.items_set_len(self, n - 1)
        return x

    def remove(self, x, /):
        """Removes the first item that equals a value."""
        for i in range(len(self)):
            if prim.items_get(self, i) == x:
                _drop(self, i, 1)
                return
        raise ValueError("list.remove(x): x not in list")

    def index(self, x, start=0, stop=9223372036854775807, /):
        """Index of the first item that equals a value."""
        n = len(self)
        for i in range(clamped(index_of(start), n, 0, n), clamped(index_of(stop), n, 0, n)):
            if prim.items_get(self, i) == x:
                return i
        if prim.lh_items_is_shared(self):
            raise ValueError("item not in list")
        raise ValueError(text_repr(x) + " is not in list")

    def count(self, x, /):
        """Number of items that equal a value."""
        found = 0
        for item in self:
            if item == x:
                found += 1
        return found

    def reverse(self):
        """Reverses the order of the items."""
        _check_mutable(self)
        i, j = 0, len(self) - 1
        while i < j:
            x = prim.items_take(self, i)
            prim.items_put(self, i, prim.items_take(self, j))
            prim.items_put(self, j, x)
            i += 1
            j -= 1

    def sort(self, *, key=None, reverse=False):
        """Sorts the items; equal ones keep their order."""
        _check_mutable(self)
        sorted_list(self, key, reverse)

    def copy(self):
        """A new list of the same items."""
        n = len(self)
        out = prim.items_like(self, n)
        _extend_from(out, self, n)
        return _shared_as(out, self)

    def clear(self):
        """Removes all items."""
        _drop(self, 0, len(self))

    def getitem_unchecked(self, index):
        """An item of a typed list."""
        return self[index]

    def _allocated(self):
        """The number of items that there is room for, as `typed.List` tells it."""
        return prim.lh_items_allocated(self)

    def _is_mutable(self):
        """Whether a typed list may be changed."""
        return not prim.lh_items_is_frozen(self)

    def _make_mutable(self):
        """Allows changes of a typed list."""
        prim.lh_items_freeze(self, False)

    def _make_immutable(self):
        """Refuses changes of a typed list."""
        prim.lh_items_freeze(self, True)

    @property
    def _dtype(self):
        """The type of the items of a typed list."""
        return prim.dtype_of(self)

    def __contains__(self, x):
        """Whether an item equals a value."""
        for item in self:
            if item == x:
                return True
        return False

    def __add__(self, other):
        """The items of both."""
        if not prim.is_a(other, "builtins.list"):
            return NotImplemented
        out = prim.items_like(self, len(self) + len(other))
        _extend_from(out, self, len(self))
        _extend_from(out, other, len(other))
        return out

    def __iadd__(self, other):
        """Adds the items of an iterable at the end."""
        if prim.is_scalar(other) or prim.is_none(other):
            return NotImplemented
        self.extend(other)
        return self

    def __mul__(self, n):
        """The items several times."""
        if not (prim.is_int(n) or prim.is_bool(n)):
            return NotImplemented
        size = len(self)
        out = prim.items_like(self, repeated(size, n))
        if size > 0:
            for _ in range(n):
                _extend_from(out, self, size)
        return out

    def __rmul__(self, n):
        """The items several times."""
        return self.__mul__(n)

    def __imul__(self, n):
        """Repeats the items in place."""
        if not (prim.is_int(n) or prim.is_bool(n)):
            return NotImplemented
        size = len(self)
        prim.items_reserve(self, repeated(size, n))
        if n <= 0:
            self.clear()
        if size > 0:
            for _ in range(1, n):
                _extend_from(self, self, size)
        return self

    def __eq__(self, other):
        """Whether all items are equal."""
        if not prim.is_a(other, "builtins.list"):
            return NotImplemented
        if len(self) != len(other):
            return False
        for i in range(len(self)):
            if prim.items_get(self, i) != prim.items_get(other, i):
                return False
        return True

    def __ne__(self, other):
        """Whether any item differs."""
        if not prim.is_a(other, "builtins.list"):
            return NotImplemented
        return not self == other

    def __lt__(self, other):
        """Whether it comes before another list."""
        if not prim.is_a(other, "builtins.list"):
            return NotImplemented
        n = len(self) if len(self) < len(other) else len(other)
        for i in range(n):
            a = prim.items_get(self, i)
            b = prim.items_get(other, i)
            if a != b:
                return a < b
        return len(self) < len(other)

    def __gt__(self, other):
        """Whether it comes after another list."""
        if not prim.is_a(other, "builtins.list"):
            return NotImplemented
        return other < self

    def __le__(self, other):
        """Whether it does not come after another list."""
        if not prim.is_a(other, "builtins.list"):
            return NotImplemented
        return not other < self

    def __ge__(self, other):
        """Whether it does not come before another list."""
        if not prim.is_a(other, "builtins.list"):
            return NotImplemented
        return not self < other

    def __getitem__(self, s):
        """The items of a slice."""
        start, stop, step = slice_bounds(s, len(self))
        n = slice_length(start, stop, step)
        out = prim.items_like(self, n)
        for i in range(n):
            prim.items_put(out, i, prim.items_get(self, start + i * step))
        prim.items_set_len(out, n)
        return _shared_as(out, self)

    def __setitem__(self, s, items):
        """Replaces the items of a slice."""
        _check_mutable(self)
        new = [x for x in items]
        start, stop, step = slice_bounds(s, len(self))
        if step != 1:
            n = slice_length(start, stop, step)
            if n != len(new):
                if prim.lh_items_is_shared(self):
                    raise ValueError("length mismatch for extended slice and sequence")
                sizes = "attempt to assign sequence of size " + str(len(new)) + " to extended slice of size " + str(n)
                raise ValueError(sizes + ": cannot resize it")
            for i in range(n):
                self[start + i * step] = prim.items_get(new, i)
            return
        count = stop - start if stop > start else 0
        n = len(self)
        extra = len(new)
        prim.items_reserve(self, n - count + extra)
        for i in range(start, start + count):
            prim.items_take(self, i)
        prim.items_move(self, start + extra, start + count, n - start - count)
        for i in range(extra):
            prim.items_put(self, start + i, prim.items_get(new, i))
        prim.items_set_len(self, n - count + extra)

    def __delitem__(self, i):
        """Removes an item, or those of a slice."""
        if not prim.is_slice(i):
            _drop(self, _checked(index_of(i), len(self), "list assignment index out of range"), 1)
            return
        start, stop, step = slice_bounds(i, len(self))
        n = slice_length(start, stop, step)
        if step == 1:
            _drop(self, start, n)
            return
        for k in range(n):
            # From the end, so that the indices of those still to go stay.
            _drop(self, start + (n - 1 - k) * step if step > 0 else start + k * step, 1)


class mixed_list:
    """A list display of values of several types, which never changes. Indices into it are known while compiling."""

    __parameters__ = ("T",)
    __fields__ = {"_items": "T"}
    __by_value__ = True

    def __len__(self):
        return len(self._items)

    def __contains__(self, x):
        return self.count(x) > 0

    def count(self, x, /):
        """Number of items that equal a value."""
        found = 0
        for item in self._items:
            if prim.is_comparable(item, x) and item == x:
                found += 1
        return found

    def copy(self):
        """The same items: none of them can be replaced."""
        return self

    def __eq__(self, other):
        if not prim.is_a(other, "lists.mixed_list"):
            return NotImplemented
        return self._items == other._items

    def __ne__(self, other):
        if not prim.is_a(other, "lists.mixed_list"):
            return NotImplemented
        return self._items != other._items

    def __repr__(self):
        out = "["
        first = True
        for item in self._items:
            if not first:
                out = out + ", "
            first = False
            out = out + text_repr(item)
        return out + "]"


def sorted_list(items, key, reverse):
    """Sorts a list in place, stably: insertion into short runs, then merges."""
    reverse = index_of(reverse) != 0
    n = len(items)
    if key is None:
        if prim.is_str(prim.example(items)) and not prim.is_enum(prim.example(items)):
            prim.lh_str_sort(items, prim.cast(reverse, np.int64))
            return
        keys = items
    else:
        keys = [key(x) for x in items]
    for start in range(0, n, 16):
        _insertion_sort(items, keys, key is not None, start, start + 16 if start + 16 < n else n, reverse)
    if n <= 16:
        return
    spare = prim.items_like(items, n)
    spare_keys = spare if key is None else prim.items_like(keys, n)
    width = 16
    while width < n:
        for start in range(0, n - width, 2 * width):
            end = start + 2 * width if start + 2 * width < n else n
            middle = start + width
            if not _before(prim.items_get(keys, middle), prim.items_get(keys, middle - 1), reverse):
                continue
            _merge(items, keys, spare, spare_keys, key is not None, start, start + width, end, reverse)
        width *= 2


def _before(a, b, reverse):
    return b < a if reverse else a < b


def _insertion_sort(items, keys, keyed, start, end, reverse):
    for i in range(start + 1, end):
        k = prim.items_get(keys, i)
        j = i
        while j > start and _before(k, prim.items_get(keys, j - 1), reverse):
            j -= 1
        if j < i:
            _rotate(items, j, i)
            if keyed:
                _rotate(keys, j, i)


def _rotate(items, j, i):
    # Item `i` goes before item `j`.
    x = prim.items_take(items, i)
    prim.items_move(items, j + 1, j, i - j)
    prim.items_put(items, j, x)


def _merge(items, keys, spare, spare_keys, keyed, start, middle, end, reverse):
    # Runs that follow each other in order stay where they are.
    right_key = prim.items_get(keys, middle)
    if not _before(right_key, prim.items_get(keys, middle - 1), reverse):
        return
    # The left run moves to the spare list; what is left of it goes back without comparisons.
    left = middle - start
    _move_out(items, spare, start, left)
    if keyed:
        _move_out(keys, spare_keys, start, left)
    i, j, to = 0, middle, start
    left_key = prim.items_get(spare_keys, 0)
    while True:
        if _before(right_key, left_key, reverse):
            prim.items_put(items, to, prim.items_take(items, j))
            if keyed:
                prim.items_put(keys, to, prim.items_take(keys, j))
            j += 1
            to += 1
            if j == end:
                break
            right_key = prim.items_get(keys, j)
        else:
            prim.items_put(items, to, prim.items_take(spare, i))
            if keyed:
                prim.items_put(keys, to, prim.items_take(spare_keys, i))
            i += 1
            to += 1
            if i == left:
                return
            left_key = prim.items_get(spare_keys, i)
    while i < left:
        prim.items_put(items, to, prim.items_take(spare, i))
        if keyed:
            prim.items_put(keys, to, prim.items_take(spare_keys, i))
        i += 1
        to += 1


def _move_out(items, spare, start, n):
    for i in range(n):
        prim.items_put(spare, i, prim.items_take(items, start + i))
