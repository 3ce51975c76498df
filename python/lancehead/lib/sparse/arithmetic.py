"""The arithmetic of loops over values: sums and products, which for truth values are `or` and `and`."""

import numpy as np

from lancehead.lib import prim


def plus(a, b):
    """The sum; of truth values whether one is true."""
    if prim.is_bool(a):
        return a | b
    return prim.cast(a + b, prim.dtype_of(a))


def minus(a, b):
    """The difference."""
    return prim.cast(a - b, prim.dtype_of(a))


def times(a, b):
    """The product; of truth values whether both are true."""
    if prim.is_bool(a):
        return a & b
    return prim.cast(a * b, prim.dtype_of(a))


def is_below(a, b):
    """Whether a number is less than another one; complex numbers are ordered by their real parts, then the others."""
    if prim.is_complex(a):
        return a.real < b.real or (a.real == b.real and a.imag < b.imag)
    return a < b


def greater(a, b):
    """The greater of two numbers, and NaN if one is."""
    if a != a:
        return a
    return a if a == b or is_below(b, a) else b


def less(a, b):
    """The less of two numbers, and NaN if one is."""
    if a != a:
        return a
    return a if a == b or is_below(a, b) else b


def add(semiring, a, b):
    """The sum in a semiring: two functions and what the sum of nothing is; None stands for that of numbers."""
    if prim.is_none(semiring):
        return plus(a, b)
    return prim.cast(semiring[0](a, b), prim.dtype_of(a))


def multiply(semiring, a, b, like):
    """The product in a semiring, as a number of the type of an array's elements. Numbers are of that type before."""
    if prim.is_none(semiring):
        return times(prim.cast(a, prim.dtype_of(like)), prim.cast(b, prim.dtype_of(like)))
    return prim.cast(semiring[1](a, b), prim.dtype_of(like))


def nothing(semiring, like):
    """The sum of nothing, as a number of the type of an array's elements."""
    if prim.is_none(semiring):
        return prim.cast(0, prim.dtype_of(like))
    return prim.cast(semiring[2], prim.dtype_of(like))


def ne(a, b):
    """Whether two numbers differ."""
    return a != b


def lt(a, b):
    """Whether a number is less than another one."""
    return is_below(a, b)


def gt(a, b):
    """Whether a number is greater than another one."""
    return is_below(b, a)


def mapped(f, data):
    """A function of each number of a line, as an array of the type of its results."""
    if data.shape[0] == 0:
        return np.empty(0, prim.dtype_of(prim.result_of(f, prim.item(data, 0))))
    first = np.array([f(prim.item(data, 0))])
    out = np.empty(data.shape[0], first.dtype)
    for k in range(data.shape[0]):
        prim.set_item(out, k, prim.cast(f(prim.item(data, k)), prim.dtype_of(out)))
    return out
