"""Records as wholes: assignment, comparison, methods."""

import numpy as np

from lancehead.lib import prim, records
from lancehead.lib.numpy.layout import ends
from lancehead.lib.numpy.manip import broadcast_shapes, broadcast_to


def assign(dst, x):
    """`dst[...] = x`, of arrays of records, of one record, of a tuple of its fields and of lists of these."""
    if prim.is_a(x, "builtins.list"):
        dst[...] = listed(x, dst.dtype)
    elif prim.is_array(x):
        records.assign(dst, apart(x, dst))
    else:
        records.assign(dst, x)


def listed(items, dtype):
    """An array of records of a list, or of lists of lists."""
    if prim.is_a(prim.example(items), "builtins.list"):
        rows = [listed(row, dtype) for row in items]
        if len(rows) == 0:
            raise ValueError("could not broadcast an empty list of lists into records")
        table = np.empty((len(rows), *rows[0].shape), dtype)
        for i in range(len(rows)):
            table[i] = rows[i]
        return table
    out = np.empty(len(items), dtype)
    for i in range(len(items)):
        out[i] = items[i]
    return out


def apart(x, target):
    """The array, or a copy if it may share memory with another one."""
    low, high = ends(x)
    first, last = ends(target)
    if high <= first or last <= low:
        return x
    return copied(x)


def copied(x):
    """A copy of an array of records."""
    out = np.empty(x.shape, x.dtype)
    records.assign(out, x)
    return out


def equal(a, b):
    """`a == b`, where one of them is an array."""
    return compared(a, b, True)


def unequal(a, b):
    """`a != b`, where one of them is an array."""
    return compared(a, b, False)


def compared(a, b, wanted):
    """Whether records are equal, or are not: those of two arrays, or those of one and a record."""
    if not prim.is_array(a):
        return compared(b, a, wanted)
    if prim.is_array(b):
        shape = broadcast_shapes(a.shape, b.shape)
        out = np.empty(shape, np.bool_)
        where = out.reshape(out.size)
        i = 0
        for x, y in zip(broadcast_to(a, shape).flat, broadcast_to(b, shape).flat):
            where[i] = (x == y) == wanted
            i += 1
        return out
    out = np.empty(a.shape, np.bool_)
    where = out.reshape(out.size)
    i = 0
    for x in a.flat:
        where[i] = (x == b) == wanted
        i += 1
    return out


def same_items(a, b):
    """Whether arrays in fields of two records are equal."""
    if a.shape != b.shape:
        return False
    for x, y in zip(a.flat, b.flat):
        if prim.is_array(x == y):
            prim.error("arrays of this kind in records are not compared")
        if x != y:
            return False
    return True


class ndarray:
    """Methods of arrays of records that differ from those of other arrays."""

    def copy(self):
        """A copy."""
        return copied(self)

    def fill(self, value, /):
        """Sets all elements."""
        if prim.is_array(value) and value.ndim > 0:
            prim.error("all elements are set to one record")
        assign(self, value)

    def tolist(self):
        """Nested lists of tuples of the fields."""
        if self.ndim == 1:
            return [x.item() for x in self]
        return [x.tolist() for x in self]


class record:
    """Methods of records."""

    def copy(self):
        """A copy."""
        out = np.empty(1, self.dtype)
        out[0] = self
        return out[0]

    def item(self):
        """The values of the fields as a tuple."""
        return prim.record_parts(self)

    tolist = item
