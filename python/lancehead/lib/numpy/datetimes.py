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


class _Time:
    """The operators of points and spans."""

    __add__ = add
    __sub__ = sub
    __eq__ = eq
    __ne__ = ne
    __lt__ = lt
    __le__ = le
    __gt__ = gt
    __ge__ = ge

    def __radd__(self, other):
        return add(other, self)

    def __rsub__(self, other):
        return sub(other, self)

    def __bool__(self):
        return self._ticks != 0

    def astype(self, dtype):
        """The time as another type."""
        return element(self, target(prim.dtype_of(self), prim.as_dtype(dtype)))

    def view(self, dtype):
        """The same bits as another type."""
        if dtype is None:
            prim.error("the type of a number's bits is given")
        return np.asarray(self).view(dtype)[()]


class timedelta64(_Time):
    """A span of time."""

    __parameters__ = ("U",)
    __by_value__ = True
    __fields__ = {"_ticks": "int"}
    __mul__ = mul
    __rmul__ = mul
    __truediv__ = truediv
    __floordiv__ = floordiv
    __mod__ = mod
    __neg__ = neg
    __abs__ = ufunc_absolute

    def __pos__(self):
        return self

    def __hash__(self):
        if prim.unit(self) == "generic" and self._ticks != NAT:
            raise ValueError("Can't hash generic timedelta64")
        return self._ticks


class datetime64(_Time):
    """A point of time."""

    __parameters__ = ("U",)
    __by_value__ = True
    __fields__ = {"_ticks": "int"}

    def __hash__(self):
        return self._ticks
