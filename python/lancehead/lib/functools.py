"""`functools`: folding by a function."""

from lancehead.lib import prim
from lancehead.lib.tables import added, find, mark_of, new_entry, take

# The counters of `prim.lh_memo_count`.
_HIT = 0
_MISS = 1
_ADDED = 2


def partial(func, /, *args, **keywords):
    """The function with some arguments given.

    >>> functools.partial(pow, 2)(5)
    32
    """

    # The compiler calls the function itself.
    def call(*more, **others):
        return func(*args, *more, **{**keywords, **others})

    return call


def wraps(wrapped, assigned=(), updated=()):
    """A decorator that gives its function back: in compiled code functions have no names to take over.

    >>> functools.wraps(abs)(lambda x: x + 1)(2)
    3
    """

    # The compiler applies the decorator itself.
    def decorated(wrapper):
        return wrapper

    return decorated


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
    if prim.is_tuple(iterable):
        if len(iterable) == 0:
            raise TypeError("reduce() of empty iterable with no initial value")
        # The loop is unrolled, so that functions may be composed, each time to one of another type.
        folded = iterable[0]
        for x in iterable[1:]:
            folded = function(folded, x)
        return folded
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


class compared:
    """A value that a function of two compares with others."""

    __parameters__ = ("T", "F")
    __fields__ = {"obj": "T", "_compare": "F"}
    __by_value__ = True

    def __lt__(self, other):
        return self._compare(self.obj, other.obj) < 0

    def __gt__(self, other):
        return self._compare(self.obj, other.obj) > 0

    def __le__(self, other):
        return self._compare(self.obj, other.obj) <= 0

    def __ge__(self, other):
        return self._compare(self.obj, other.obj) >= 0

    def __eq__(self, other):
        return self._compare(self.obj, other.obj) == 0


def cmp_to_key(mycmp):
    """A key for `sorted` by a function that says which of two values is less.

    >>> sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a))
    [3, 2, 1]
    """

    def key(x):
        return prim.value("functools.compared", (x, mycmp), x, mycmp)

    return key


def kept(cache, identity, limit, key, function, /, *args, **keywords):
    """The result that `functools.cache` keeps for a key, or that of a call, which it keeps then."""

    # The compiler calls the function itself: `cache` is the decorated function, and `identity` tells types apart.
    def compute():
        return function(*args, **keywords)

    memo = prim.memo(cache)
    word = prim.memo_enter(memo, identity, compute)
    try:
        table = prim.memo_table(word, key, compute)
        at = find(table, key)
        if at >= 0:
            prim.lh_memo_count(memo, _HIT)
            if not prim.is_none(limit):
                at = _moved_to_end(table, at)
            return prim.items_get(table, at)[2]
        prim.lh_memo_count(memo, _MISS)
    finally:
        prim.lh_memo_leave(memo)
    value = compute()
    word = prim.memo_enter(memo, identity, compute)
    try:
        _keep(memo, prim.memo_table(word, key, compute), limit, key, value)
    finally:
        prim.lh_memo_leave(memo)
    return value


def _keep(memo, table, limit, key, value):
    # The call may have kept a result for the key itself, or another thread.
    if find(table, key) >= 0:
        return
    if prim.is_none(limit):
        prim.lh_memo_count(memo, _ADDED)
    elif len(table) < limit:
        prim.lh_memo_count(memo, _ADDED)
    else:
        take(table, table._first)
    at = new_entry(table, key)
    prim.items_put(table, at, (mark_of(key, at), key, value))
    added(table, at)


def _moved_to_end(table, at):
    # The first entry is the one that has not been asked for the longest time.
    if at == prim.items_len(table) - 1:
        return at
    entry = take(table, at)
    at = new_entry(table, entry[1])
    prim.items_put(table, at, entry)
    added(table, at)
    return at
