"""Hash tables: what dictionaries and sets have in common.

A table stores entries in the order in which their keys came, as CPython's dictionaries do: tuples of a mark, the key
and, in dictionaries, the value. The mark of an entry is its hash with the sign bit, or -1 if comparing keys costs less;
that of a removed entry, which owns nothing, is 0. `_live` entries exist, none of them before the entry `_first`.

`_index` finds entries by hash: it is an array of `_mask + 1` places, a power of two, in which a key is searched from
the place that its hash says (`_start`) to the next empty one. A place holds the number of an entry plus 1; 0 if it is
empty, -1 if its entry has been removed. At most two thirds of the places are not empty (`_filled`). The run-time
library makes it (`lh-runtime/src/tables.rs`).
"""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.text import text_repr

FIELDS = {
    "_memory": "mem",
    "_index": "ptr",
    "_mask": "int",
    "_shift": "int",
    "_filled": "int",
    "_live": "int",
    "_first": "int",
}


def _is_simple(key):
    # Comparing such keys costs less than comparing hashes.
    if prim.is_float(key):
        return prim.itemsize(prim.dtype_of(key)) > 2
    return prim.is_int(key) or prim.is_bool(key)


def key_hash(key):
    """A hash of a key for tables. Keys that are equal and of one type have the same.

    It is not that of `hash`, which is slower.
    """
    if prim.is_optional(key):
        return 0 if key is None else key_hash(key)
    if prim.is_none(key):
        return 0
    if prim.is_bool(key) or prim.is_int(key):
        return prim.cast(key, np.int64)
    if prim.is_float(key):
        return prim.cast(prim.bits_of_f64(prim.cast(key, np.float64) + 0.0), np.int64)
    if prim.is_complex(key):
        return _mixed(key_hash(float(key.real)), key_hash(float(key.imag)))
    if prim.is_str(key):
        return prim.cast(prim.lh_str_table_hash(key), np.int64)
    if prim.is_tuple(key) or prim.is_a(key, "tuples.tuple"):
        h = prim.cast(len(key), np.int64)
        for item in key:
            h = _mixed(h, key_hash(item))
        return h
    if prim.is_enum(key):
        return key_hash(prim.enum_word(key))
    if prim.is_span(key) and prim.unit(key) == "generic":
        prim.error("a span of time without a unit has no hash")
    if prim.is_time(key):
        return prim.cast(key._ticks, np.int64)
    if prim.is_a(key, "builtins.frozenset"):
        h = prim.cast(len(key), np.int64)
        for item in key:
            h = h ^ _mixed(1, key_hash(item))
        return h
    if prim.is_bytes(key) or prim.has_method(key, "__hash__"):
        return prim.cast(key.__hash__(), np.int64)
    prim.error("a key of a dictionary or an item of a set must be hashable: a number, a text, None, or a tuple of such")


def _same(a, b):
    # `None` is no operand of `==` where something else may be.
    if prim.is_optional(a):
        if a is None or b is None:
            return a is None and b is None
        return _same(a, b)
    if prim.is_tuple(a):
        for i, x in enumerate(a):
            if not _same(x, b[i]):
                return False
        return True
    return a == b


def _is_kept(own, key):
    # Whether a key as the table has them is equal to the key that it was converted from.
    if prim.is_optional(key) or prim.is_optional(own):
        if key is None or own is None:
            return key is None and own is None
        return _is_kept(own, key)
    if prim.is_tuple(key):
        for i, x in enumerate(key):
            if not _is_kept(own[i], x):
                return False
        return True
    if prim.is_int(own) and prim.is_int(key):
        return (own < 0) == (key < 0) and prim.cast(own, np.uint64) == prim.cast(key, np.uint64)
    if prim.is_float(own) and prim.is_int(key):
        # A float may be rounded up to the first number that an integer of 64 bits cannot hold.
        if prim.is_signed(key):
            return own < 9223372036854775808.0 and prim.cast(own, np.int64) == key
        return own < 18446744073709551616.0 and prim.cast(own, np.uint64) == key
    if prim.is_number(own):
        return prim.cast(own, np.complex128) == prim.cast(key, np.complex128)
    return True


def _mixed(h, more):
    # A multiplication moves each bit to higher ones, the shift brings these back.
    x = (prim.cast(h, np.uint64) ^ prim.cast(more, np.uint64)) * np.uint64(11400714819323198485)
    return prim.cast(x ^ (x >> np.uint64(32)), np.int64)


def _start(table, h):
    # The upper bits of the product with the golden ratio, which spreads keys evenly that follow each other.
    x = prim.cast(h, np.uint64) * np.uint64(11400714819323198485)
    return prim.cast(prim.shr(x, prim.cast(table._shift, np.uint64)), np.int64)


def _marked(key, h):
    return np.int64(-1) if _is_simple(key) else h | np.int64(-9223372036854775808)


def _place_hash(key, mark, at):
    # The hash by which entry `at` is found. One that is never equal to another, NaN, is not found, and has a place of
    # its own, so that many are no burden.
    if not _is_simple(key):
        return mark
    if prim.is_float(key) and key != key:
        return prim.cast(at, np.int64)
    return key_hash(key)


def _at(index, i):
    return prim.cast(prim.load(prim.ptr_add(index, 4 * i), np.int32), np.int64)


def _set_at(index, i, x):
    prim.store(prim.ptr_add(index, 4 * i), prim.cast(x, np.int32))


def find(table, key):
    """The number of the entry with a key, or -1."""
    mark = _marked(key, key_hash(key))
    index = table._index
    i = _start(table, _place_hash(key, mark, 0))
    # The first place is looked at here: this is inlined, and the search is not.
    at = _at(index, i) - 1
    if at >= 0:
        if _has_key(table, at, mark, key):
            return at
    elif at == -1:
        return -1
    return _search(table, i, mark, key)


def look_up(table, parameter, key):
    """The number of the entry whose key is equal to a value of any type, or -1.

    `parameter` is the name of the type argument for keys.
    """
    like = prim.items_nothing(table)[1]
    if not prim.is_comparable(like, key):
        # Keys of an unhashable type are refused all the same.
        key_hash(key)
        return -1
    if prim.is_complex(key) and not prim.is_complex(like):
        return look_up(table, parameter, key.real) if key.imag == 0 else -1
    if prim.is_bool(like) and prim.is_int(key):
        return look_up(table, parameter, key != 0) if 0 <= key <= 1 else -1
    if prim.is_float(key) and (prim.is_int(like) or prim.is_bool(like)):
        if not (key >= -9223372036854775808.0 and key < 18446744073709551616.0 and key == prim.floor(key)):
            return -1
        if key < 9223372036854775808.0:
            return look_up(table, parameter, prim.cast(key, np.int64))
        return look_up(table, parameter, prim.cast(key, np.uint64))
    if prim.is_enum(like) and prim.is_str(key):
        # A member that is a text has the hash of the text, too.
        return find(table, key)
    if prim.is_enum(like) and prim.is_float(like) and not prim.is_enum(key):
        return find(table, prim.cast(key, np.float64))
    if prim.is_enum(like) and prim.is_int(like) and not prim.is_enum(key) and prim.is_number(key):
        # A member of an `IntEnum` is equal to its number, and has its hash.
        n = prim.cast(key, np.int64)
        return -1 if n < 0 and not prim.is_signed(key) else find(table, n)
    own = prim.as_argument(table, parameter, key)
    return find(table, own) if _is_kept(own, key) else -1


def _has_key(table, at, mark, key):
    entry = prim.items_get(table, at)
    if _is_simple(key):
        return entry[1] == key
    return _same(entry[1], key) if entry[0] == mark else False


def _search(table, i, mark, key):
    mask = table._mask
    index = table._index
    while True:
        # Without a poll a look-up writes nothing, so that LLVM merges the look-ups of one key, as in `d[k] += 1`.
        prim.abreast()
        i = (i + 1) & mask
        at = _at(index, i) - 1
        if at >= 0:
            if _has_key(table, at, mark, key):
                return at
        elif at == -1:
            return -1


def prepare(table, count):
    """Makes a new table ready for so many keys."""
    prim.lh_table_index(table, 3 * count, 0)


def _rebuild(table):
    # Closes the gaps between entries and indexes them anew, with room to grow.
    if prim.is_differentiated() and table._live != prim.items_len(table):
        # The derivative has to see how entries move.
        _close_gaps(table)
    prim.lh_table_index(table, 6 * (table._live + 1), _key_code(prim.items_nothing(table)[1]))


def _close_gaps(table):
    to = 0
    for at in range(prim.items_len(table)):
        if prim.items_get(table, at)[0] != 0:
            if to < at:
                entry = prim.items_take(table, at)
                prim.items_put(table, at, prim.items_nothing(table))
                prim.items_put(table, to, entry)
            to += 1
    prim.items_set_len(table, to)
    table._first = 0


def _key_code(key):
    # Tells `lh_table_index` how to hash a key: 0 if the entry's mark is its hash, otherwise the size of the key, plus
    # 16 for signed integers and 32 for floats.
    if prim.is_enum(key) and prim.is_int(key):
        return _key_code(key.value)
    if prim.is_float(key):
        size = prim.itemsize(prim.dtype_of(key))
        return size + 32 if size > 2 else 0
    if prim.is_bool(key):
        return 1
    if prim.is_int(key):
        size = prim.itemsize(prim.dtype_of(key))
        return size + 16 if prim.is_signed(key) else size
    return 0


def new_entry(table, key):
    """Makes room for an entry with a key that is not there, and returns its number.

    The caller puts it there and calls `added`.
    """
    # Gaps count, too: keys that are taken and added again, which often find their old place in the index, leave some.
    if 3 * (prim.maximum(table._filled, prim.items_len(table)) + 1) > 2 * (table._mask + 1):
        _rebuild(table)
    at = prim.items_len(table)
    prim.items_reserve(table, at + 1)
    index = table._index
    mask = table._mask
    i = _start(table, _place_hash(key, mark_of(key, at), at))
    while _at(index, i) > 0:
        i = (i + 1) & mask
    if _at(index, i) == 0:
        table._filled += 1
    _set_at(index, i, at + 1)
    return at


def mark_of(key, at):
    """The mark of a new entry."""
    if prim.is_float(key) and not _is_simple(key):
        return _marked(key, key_hash(key) if key == key else prim.cast(at, np.int64))
    return _marked(key, key_hash(key))


def added(table, at):
    """Counts an entry that `new_entry` made room for."""
    prim.items_set_len(table, at + 1)
    table._live += 1


def take(table, at):
    """Removes an entry and returns it."""
    index = table._index
    mask = table._mask
    entry = prim.items_get(table, at)
    i = _start(table, _place_hash(entry[1], entry[0], at))
    while _at(index, i) != at + 1:
        i = (i + 1) & mask
    _set_at(index, i, -1)
    taken = prim.items_take(table, at)
    prim.items_put(table, at, prim.items_nothing(table))
    table._live -= 1
    n = prim.items_len(table)
    if at == n - 1:
        # Removed entries at the end are given back, so that the last one is found at once.
        while n > 0 and prim.items_get(table, n - 1)[0] == 0:
            n -= 1
        prim.items_set_len(table, n)
        if table._first > n:
            table._first = n
    elif at == table._first:
        # And those at the start are passed over once, so that a table can be emptied from there.
        while prim.items_get(table, at)[0] == 0:
            at += 1
        table._first = at
    return taken


def clear(table):
    """Removes all entries."""
    prim.lh_table_index(table, 0, -1)
    n = prim.items_len(table)
    table._live = 0
    for i in range(n):
        prim.items_take(table, i)
    prim.items_set_len(table, 0)


def copy_entries(out, table):
    """Copies the entries of a table into an empty one of the same type."""
    n = prim.items_len(table)
    prim.items_reserve(out, n)
    to = 0
    for at in range(n):
        entry = prim.items_get(table, at)
        if entry[0] != 0:
            prim.items_put(out, to, entry)
            to += 1
            prim.items_set_len(out, to)
    out._live = to
    _rebuild(out)
    # A copy of a typed dictionary or set is one, too.
    if prim.lh_items_is_shared(table):
        prim.items_share(out)


def next_place(table, at, live, message):
    """The number of the first entry from a number on, or -1 if there is none; raises if the size has changed."""
    if table._live != live:
        raise RuntimeError(message)
    n = prim.items_len(table)
    if at < table._first:
        at = table._first
    while at < n:
        if prim.items_get(table, at)[0] != 0:
            return at
        at += 1
    return -1


#: In the place of an iteration, the bits of an entry's number; above them is how many entries came before.
_NUMBER = 0xFFFFFFFF


def next_of_dict(table, place, live, message):
    """The same of a dictionary, whose places have the number of entries so far: raises if there are more than `live`,
    since keys were replaced.
    """
    at = next_place(table, place & _NUMBER, live, message)
    if at < 0:
        return at
    count = place >> 32
    if count == live:
        raise RuntimeError("dictionary keys changed during iteration")
    return at | (count + 1) << 32


def number_of(place):
    """The number of the entry at a place of an iteration."""
    return place & _NUMBER


def place_before(table, at, live, message):
    """The number of the last entry before a number, or -1 if there is none; raises if the size has changed."""
    if table._live != live:
        raise RuntimeError(message)
    at -= 1
    while at >= table._first:
        if prim.items_get(table, at)[0] != 0:
            return at
        at -= 1
    return -1


def missing(key):
    """Raises `KeyError` of a key."""
    if prim.is_carried(key):
        raise KeyError(key)
    raise KeyError(text_repr(key))
