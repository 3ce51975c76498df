"""`bisect`: places in what is sorted."""

from lancehead.lib.conversions import index_of


def _end(a, lo, hi):
    if index_of(lo) < 0:
        raise ValueError("lo must be non-negative")
    return len(a) if hi is None else index_of(hi)


def bisect_left(a, x, lo=0, hi=None, *, key=None):
    """The first place where an item could be inserted.

    >>> bisect.bisect_left([1, 2, 2, 3], 2)
    1
    """
    low, high = index_of(lo), _end(a, lo, hi)
    while low < high:
        middle = (low + high) // 2
        item = a[middle] if key is None else key(a[middle])
        if item < x:
            low = middle + 1
        else:
            high = middle
    return low


def bisect_right(a, x, lo=0, hi=None, *, key=None):
    """The last place where an item could be inserted.

    >>> bisect.bisect_right([1, 2, 2, 3], 2)
    3
    """
    low, high = index_of(lo), _end(a, lo, hi)
    while low < high:
        middle = (low + high) // 2
        item = a[middle] if key is None else key(a[middle])
        if x < item:
            high = middle
        else:
            low = middle + 1
    return low


def insort_left(a, x, lo=0, hi=None, *, key=None):
    """Inserts an item, before those that are equal.

    >>> a = [1, 3]
    >>> bisect.insort_left(a, 2)
    >>> a
    [1, 2, 3]
    """
    if key is None:
        at = bisect_left(a, x, lo, hi)
    else:
        at = bisect_left(a, key(x), lo, hi, key=key)
    a.insert(at, x)


def insort_right(a, x, lo=0, hi=None, *, key=None):
    """Inserts an item, after those that are equal.

    >>> a = [1, 3]
    >>> bisect.insort_right(a, 2)
    >>> a
    [1, 2, 3]
    """
    if key is None:
        at = bisect_right(a, x, lo, hi)
    else:
        at = bisect_right(a, key(x), lo, hi, key=key)
    a.insert(at, x)


bisect = bisect_right
insort = insort_right
