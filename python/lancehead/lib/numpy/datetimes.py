"""The classes of points and spans of time. `times.py` has their arithmetic."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.times import (
    NAT,
    add,
    element,
    eq,
    floordiv,
    ge,
    gt,
    le,
    lt,
    mod,
    mul,
    ne,
    neg,
    sub,
    target,
    truediv,
    ufunc_absolute,
    ufunc_isnat,
)


def isnat(x):
    """Whether times are NaT.

    >>> np.isnat(np.arange(2).astype("m8[s]"))
    array([False, False])
    """
    if not prim.is_time(x):
        prim.error("`isnat` is defined for points and spans of time")
    return prim.map(ufunc_isnat, x)


class timedelta64:
    """A span of time."""

    __parameters__ = ("U",)
    __by_value__ = True
    __fields__ = {"_ticks": "int"}

    def __add__(self, other):
        return add(self, other)

    def __radd__(self, other):
        return add(other, self)

    def __sub__(self, other):
        return sub(self, other)

    def __rsub__(self, other):
        return sub(other, self)

    def __mul__(self, other):
        return mul(self, other)

    def __rmul__(self, other):
        return mul(self, other)

    def __truediv__(self, other):
        return truediv(self, other)

    def __floordiv__(self, other):
        return floordiv(self, other)

    def __mod__(self, other):
        return mod(self, other)

    def __neg__(self):
        return neg(self)

    def __pos__(self):
        return self

    def __abs__(self):
        return ufunc_absolute(self)

    def __eq__(self, other):
        return eq(self, other)

    def __ne__(self, other):
        return ne(self, other)

    def __lt__(self, other):
        return lt(self, other)

    def __le__(self, other):
        return le(self, other)

    def __gt__(self, other):
        return gt(self, other)

    def __ge__(self, other):
        return ge(self, other)

    def __bool__(self):
        return self._ticks != 0

    def __hash__(self):
        if prim.unit(self) == "generic" and self._ticks != NAT:
            raise ValueError("Can't hash generic timedelta64")
        return self._ticks

    def astype(self, dtype):
        """The span as another type."""
        return element(self, target(prim.dtype_of(self), prim.as_dtype(dtype)))

    def view(self, dtype):
        """The same bits as another type."""
        if dtype is None:
            prim.error("the type of a number's bits is given")
        return np.asarray(self).view(dtype)[()]


class datetime64:
    """A point of time."""

    __parameters__ = ("U",)
    __by_value__ = True
    __fields__ = {"_ticks": "int"}

    def __add__(self, other):
        return add(self, other)

    def __radd__(self, other):
        return add(other, self)

    def __sub__(self, other):
        return sub(self, other)

    def __rsub__(self, other):
        return sub(other, self)

    def __eq__(self, other):
        return eq(self, other)

    def __ne__(self, other):
        return ne(self, other)

    def __lt__(self, other):
        return lt(self, other)

    def __le__(self, other):
        return le(self, other)

    def __gt__(self, other):
        return gt(self, other)

    def __ge__(self, other):
        return ge(self, other)

    def __bool__(self):
        return self._ticks != 0

    def __hash__(self):
        return self._ticks

    def astype(self, dtype):
        """The point as another type."""
        return element(self, target(prim.dtype_of(self), prim.as_dtype(dtype)))

    def view(self, dtype):
        """The same bits as another type."""
        if dtype is None:
            prim.error("the type of a number's bits is given")
        return np.asarray(self).view(dtype)[()]
