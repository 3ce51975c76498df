"""A function of one operation."""

from lancehead import njit


@njit
def add(a, b):
    return a + b


def first():
    return add(1, 2)


def is_right(found):
    return found == 3
