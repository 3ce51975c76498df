"""Lines of numbers, or of tuples of numbers: such a line is a tuple of lines. A place is an integer, or one for each
axis."""

import numpy as np

from lancehead.lib import prim


def new_line(n, like):
    """A line of so many undefined elements, of the type of another one's."""
    if prim.is_tuple(like):
        if len(like) == 0:
            return ()
        return (new_line(n, like[0]),) + new_line(n, like[1:])
    return np.empty(n, like.dtype)


def get(line, at):
    """The element at a place, which is there: one number of a line is not checked."""
    if prim.is_tuple(line):
        if len(line) == 0:
            return ()
        return (get(line[0], at),) + get(line[1:], at)
    if prim.is_tuple(at):
        return line[at]
    return prim.item(line, at)


def element(line, at):
    """The element of a line of numbers at a place, which is there."""
    return prim.item(line, at)


def put(line, at, value):
    """Stores an element at a place, which is there: one number of a line is not checked."""
    if prim.is_tuple(line):
        if len(line) > 0:
            put(line[0], at, value[0])
            put(line[1:], at, value[1:])
    elif prim.is_tuple(at):
        line[at] = value
    else:
        prim.set_item(line, at, value)


def fill(line, value):
    """Stores an element at all places."""
    if prim.is_tuple(line):
        if len(line) > 0:
            fill(line[0], value[0])
            fill(line[1:], value[1:])
    else:
        line[:] = value


def extents(line):
    """The shape of a line; all parts of one have the same."""
    if prim.is_tuple(line):
        return extents(line[0])
    return line.shape


def flat(line):
    """The elements of an array in row-major order as a line."""
    if prim.is_tuple(line):
        if len(line) == 0:
            return ()
        return (flat(line[0]),) + flat(line[1:])
    return line.reshape(-1)
