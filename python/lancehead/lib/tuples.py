"""Tuples whose length is known only at run time: `tuple(xs)` of a list, the columns of `zip(*rows)`.

Those of known length are values of their own types, which the compiler takes apart; their methods are in `scalars.py`.
"""

from lancehead.lib import prim
from lancehead.lib.conversions import index_of
from lancehead.lib.hashing import hash_of_items
from lancehead.lib.lists import clamped, repeated, slice_bounds, slice_length
from lancehead.lib.text import class_name, text_of, text_repr


def _less(a, b):
    return a < b


def _greater(a, b):
    return a > b


def _at_most(a, b):
    return a <= b


def _at_least(a, b):
    return a >= b


def _compared(own, other, before):
    # By the first items that differ, else by the lengths. A tuple of known length may have items of several types.
    i = 0
    for b in other:
        if i == len(own):
            break
        a = prim.items_get(own, i)
        if a != b:
            return before(a, b)
        i += 1
    return before(len(own), len(other))


class tuple:
    """Methods and operators of such tuples."""

    __parameters__ = ("T",)
    __items__ = "T"

    def index(self, x, start=0, stop=9223372036854775807, /):
        """Index of the first item that equals a value."""
        n = len(self)
        for i in range(clamped(index_of(start), n, 0, n), clamped(index_of(stop), n, 0, n)):
            if prim.items_get(self, i) == x:
                return i
        raise ValueError("tuple.index(x): x not in tuple")

    def count(self, x, /):
        """Number of items that equal a value."""
        found = 0
        for item in self:
            if item == x:
                found += 1
        return found

    def __contains__(self, x):
        for item in self:
            if item == x:
                return True
        return False

    def __getitem__(self, s):
        start, stop, step = slice_bounds(s, len(self))
        n = slice_length(start, stop, step)
        out = prim.items_like(self, n)
        for i in range(n):
            prim.items_put(out, i, prim.items_get(self, start + i * step))
        prim.items_set_len(out, n)
        return out

    def __add__(self, other):
        if not (prim.is_tuple(other) or prim.is_a(other, "tuples.tuple")):
            return NotImplemented
        out = prim.items_like(self, len(self) + len(other))
        _put_all(out, self)
        _put_all(out, other)
        return out

    def __radd__(self, other):
        if not prim.is_tuple(other):
            return NotImplemented
        out = prim.items_like(self, len(self) + len(other))
        _put_all(out, other)
        _put_all(out, self)
        return out

    def __mul__(self, n):
        if not (prim.is_int(n) or prim.is_bool(n)):
            return NotImplemented
        size = repeated(len(self), n)
        out = prim.items_like(self, size)
        while len(out) < size:
            _put_all(out, self)
        return out

    def __rmul__(self, n):
        return self.__mul__(n)

    def __eq__(self, other):
        if not (prim.is_tuple(other) or prim.is_a(other, "tuples.tuple")):
            return NotImplemented
        if prim.is_a(other, "tuples.tuple"):
            if other is self:
                return True
        if len(self) != len(other):
            return False
        i = 0
        for b in other:
            if not prim.items_get(self, i) == b:
                return False
            i += 1
        return True

    def __ne__(self, other):
        if not (prim.is_tuple(other) or prim.is_a(other, "tuples.tuple")):
            return NotImplemented
        return not self == other

    def __lt__(self, other):
        if not (prim.is_tuple(other) or prim.is_a(other, "tuples.tuple")):
            return NotImplemented
        return _compared(self, other, _less)

    def __gt__(self, other):
        if not (prim.is_tuple(other) or prim.is_a(other, "tuples.tuple")):
            return NotImplemented
        return _compared(self, other, _greater)

    def __le__(self, other):
        if not (prim.is_tuple(other) or prim.is_a(other, "tuples.tuple")):
            return NotImplemented
        return _compared(self, other, _at_most)

    def __ge__(self, other):
        if not (prim.is_tuple(other) or prim.is_a(other, "tuples.tuple")):
            return NotImplemented
        return _compared(self, other, _at_least)

    def __hash__(self):
        return hash_of_items(self)

    def __repr__(self):
        items = ", ".join([text_repr(x) for x in self])
        return "(" + items + (",)" if len(self) == 1 else ")")


def _put_all(out, items):
    # Adds items, for which there is room.
    n = len(out)
    for x in items:
        prim.items_put(out, n, x)
        n += 1
    prim.items_set_len(out, n)


def copied(items):
    """A tuple of the items of a list."""
    n = len(items)
    out = prim.items_new("tuples.tuple", prim.items_nothing(items), n)
    for i in range(n):
        prim.items_put(out, i, prim.items_get(items, i))
    prim.items_set_len(out, n)
    return out


def moved(items):
    """A tuple of the items of a list that nothing else has."""
    n = len(items)
    out = prim.items_new("tuples.tuple", prim.items_nothing(items), n)
    for i in range(n):
        prim.items_put(out, i, prim.items_take(items, i))
    prim.items_set_len(items, 0)
    prim.items_set_len(out, n)
    return out


def columns(rows, strict):
    """`zip(*rows)`: a tuple of the items that all rows have at a place, for each place."""
    if prim.is_array(rows):
        return _columns(rows, strict)
    row = prim.example(rows)
    if prim.is_array(row) or prim.is_tuple(row) or prim.is_a(row, "builtins.list", "tuples.tuple"):
        # The program may change the list of rows meanwhile.
        return _columns([row for row in rows], strict)
    return _columns([[x for x in row] for row in rows], strict)


def _columns(rows, strict):
    n = len(rows)
    at = 0
    while n > 0:
        out = prim.items_new("tuples.tuple", prim.example(prim.example(rows)), n)
        i = 0
        while i < n and at < len(rows[i]):
            prim.items_put(out, i, _item(rows[i], at))
            i += 1
        prim.items_set_len(out, i)
        if i < n:
            if strict:
                _check_end(i)
                for k in range(n):
                    if at < len(rows[k]):
                        _longer(k)
            return
        yield out
        at += 1


def _item(row, at):
    if prim.is_a(row, "builtins.list", "tuples.tuple"):
        return prim.items_get(row, at)
    return row[at]


def columns_of_iterators(rows, strict):
    """The same for iterators, some of which may be the same."""
    return _columns_of_iterators([row for row in rows], strict)


def _columns_of_iterators(rows, strict):
    n = len(rows)
    while n > 0:
        line = []
        for row in rows:
            for x in row:
                line.append(x)
                break
            else:
                break
        i = len(line)
        if i < n:
            if strict:
                _check_end(i)
                for k in range(1, n):
                    for _ in rows[k]:
                        _longer(k)
            return
        yield moved(line)


def side_by_side(strict, *parts):
    """`zip(*parts, strict=strict)`

    >>> list(zip([1, 2], "ab", strict=True))
    [(1, 'a'), (2, 'b')]
    """
    if strict:
        sources = _iterators(parts)
        for x in sources[0]:
            yield (x,) + _beside(sources[1:], 1)
        _check_ends(sources[1:], 1)
    else:
        for row in zip(*parts):
            yield row


def _iterators(parts):
    if len(parts) == 0:
        return ()
    return (iter(parts[0]),) + _iterators(parts[1:])


def _beside(sources, at):
    if len(sources) == 0:
        return ()
    return (_item_of(sources[0], at),) + _beside(sources[1:], at + 1)


def _item_of(source, at):
    for x in source:
        return x
    raise ValueError(_shorter(at))


def _check_ends(sources, at):
    if len(sources) > 0:
        for _ in sources[0]:
            _longer(at)
        _check_ends(sources[1:], at + 1)


def _check_end(i):
    # Of `strict=True`: the first of the rows ends first.
    if i > 0:
        raise ValueError(_shorter(i))


def _shorter(i):
    return "zip() argument " + str(i + 1) + " is shorter than argument" + _those_before(i)


def _longer(i):
    raise ValueError("zip() argument " + str(i + 1) + " is longer than argument" + _those_before(i))


def _those_before(i):
    return " 1" if i == 1 else "s 1-" + str(i)


def parted(rows, wanted):
    """The columns of rows that are tuples of one known length, of which so many are assigned to variables."""
    n = len(rows)
    if n == 0 and wanted > 0:
        raise ValueError("not enough values to unpack (expected " + str(wanted) + ", got 0)")
    out = ()
    for j, x in enumerate(prim.example(rows)):
        column = prim.items_new("tuples.tuple", x, n)
        for i in range(n):
            prim.items_put(column, i, prim.items_get(rows, i)[j])
        prim.items_set_len(column, n)
        out = out + (column,)
    return out


def spread_text(values, sep):
    """The text that `print(*values, sep=sep)` shows."""
    return sep.join([text_of(x) for x in values])


def least(values, key):
    """`min(*values, key=key)`"""
    _check_several(values, "min")
    return min(values, key=key)


def greatest(values, key):
    """`max(*values, key=key)`"""
    _check_several(values, "max")
    return max(values, key=key)


def _check_several(values, name):
    # A single argument would be what has the items.
    if not prim.is_number(prim.example(values)):
        prim.error("the arguments are numbers where their number is not known: leave out the `*`")
    if len(values) == 0:
        raise TypeError(name + " expected at least 1 argument, got 0")
    if len(values) == 1:
        raise TypeError("'" + class_name(values[0]) + "' object is not iterable")
