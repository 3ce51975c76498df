"""`functools`: folding by a function."""

from lancehead.lib import prim


def partial(func, /, *args, **keywords):
    """The function with some arguments given.

    >>> functools.partial(pow, 2)(5)
    32
    """

    # The compiler calls the function itself.
    def call(*more, **others):
        return func(*args, *more, **{**keywords, **others})

    return call


def reduce(function, iterable, /, *initial):
    """The items joined by a function of two arguments, from the left.

    >>> functools.reduce(operator.add, [1, 2, 3])
    6
    >>> functools.reduce(operator.mul, (2, 3), 0.5)
    3.0
    """
    if len(initial) > 0:
        total = initial[0]
        for x in iterable:
            total = function(total, x)
        return total
    if prim.is_array(iterable):
        if iterable.size == 0:
            raise TypeError("reduce() of empty iterable with no initial value")
        first = iterable[0]
        for i in range(1, iterable.shape[0]):
            first = function(first, iterable[i])
        return first
    items = list(iterable)
    if len(items) == 0:
        raise TypeError("reduce() of empty iterable with no initial value")
    joined = items[0]
    for i in range(1, len(items)):
        joined = function(joined, items[i])
    return joined
