"""Classes of compiled code that are written as one of lancehead's would be: this folder is a part of the library."""

import numpy as np

from lancehead.lib import prim


class ring:
    """The newest numbers of a stream: a buffer that starts over at its end."""

    __parameters__ = ("T",)
    __fields__ = {"_items": "array(T, 1, C)", "_first": "int", "_count": "int"}

    def __new__(size, dtype):
        """An empty one with room for some numbers."""
        if size < 1:
            raise ValueError("a ring has room for one number at least")
        self = prim.new("toys.ring", dtype)
        self._items = np.empty(size, dtype)
        return self

    def _place(self, i):
        n = self._count
        if i < 0:
            i += n
        if i < 0 or i >= n:
            raise IndexError("ring index out of range")
        return (self._first + i) % len(self._items)

    def push(self, x):
        """Adds a number, in place of the oldest if it is full."""
        size = len(self._items)
        self._items[(self._first + self._count) % size] = x
        if self._count < size:
            self._count += 1
        else:
            self._first = (self._first + 1) % size

    def __len__(self):
        return self._count

    def __getitem__(self, i):
        return self._items[self._place(i)]

    def __setitem__(self, i, x):
        self._items[self._place(i)] = x

    def __contains__(self, x):
        for item in self:
            if item == x:
                return True
        return False

    def __eq__(self, other):
        if not prim.is_a(other, "toys.ring"):
            return NotImplemented
        if len(self) != len(other):
            return False
        for i in range(len(self)):
            if self[i] != other[i]:
                return False
        return True

    def __iadd__(self, numbers):
        for x in numbers:
            self.push(x)
        return self


class cell:
    """One value of any type."""

    __parameters__ = ("T",)
    __fields__ = {"value": "T"}

    def __new__(value):
        """A cell with a value."""
        self = prim.new("toys.cell", value)
        self.value = value
        return self

    def swap(self, value):
        """Puts another value in place of the one that it gives."""
        old = self.value
        self.value = value
        return old

    def __add__(self, other):
        return cell(self.value + other.value)

    def __radd__(self, other):
        return cell(other + self.value)

    def __lt__(self, other):
        return self.value < other.value

    def __neg__(self):
        return cell(-self.value)

    def __call__(self, factor):
        return self.value * factor


class pair:
    """Two values that stay together: a value itself."""

    __parameters__ = ("T", "U")
    __fields__ = {"first": "T", "second": "U"}
    __by_value__ = True

    def __new__(first, second):
        """The two."""
        return prim.value("toys.pair", (first, second), first, second)

    def swapped(self):
        """The same in the other order."""
        return pair(self.second, self.first)

    def __hash__(self):
        return hash((self.first, self.second))

    def __eq__(self, other):
        return self.first == other.first and self.second == other.second


class chain:
    """A value and the chain after it."""

    __parameters__ = ("T",)
    __fields__ = {"item": "T", "after": "optional(Self)"}

    def __new__(item):
        """A chain of one value."""
        self = prim.new("toys.chain", item)
        self.item = item
        return self

    def before(self, item):
        """A chain of a value, and this one."""
        longer = chain(item)
        longer.after = self
        return longer

    def __bool__(self):
        return self.after is not None
