"""Iterators of `itertools` that outlive the loop which asks them first, in the place of those of the same names.

As CPython's, they ask their source again after its end, and go on with the next item after an exception.
"""

from lancehead.lib import prim
from lancehead.lib.itertools import _group, _step


def chain(*iterables):
    """The items of each iterable, one after the other."""
    for items in iterables:
        source = iter(items)
        is_left = True
        while is_left:
            prim.generator_mark()
            is_left = False
            for x in source:
                is_left = True
                yield x
                break
    while True:
        prim.generator_pause()


def flat(iterables):
    """The items of the iterables that an iterable gives."""
    for items in iterables:
        source = iter(items)
        is_left = True
        while is_left:
            prim.generator_mark()
            is_left = False
            for x in source:
                is_left = True
                yield x
                break
    while True:
        prim.generator_pause()


def cycle(iterable, /):
    """The items again and again."""
    items = []
    source = iter(iterable)
    is_left = True
    while is_left:
        prim.generator_mark()
        is_left = False
        for x in source:
            is_left = True
            items.append(x)
            yield x
            break
    while len(items) > 0:
        for x in items:
            yield x
    while True:
        prim.generator_pause()


def takewhile(predicate, iterable, /):
    """The items before the first that is not wanted."""
    source = iter(iterable)
    is_over = False
    while True:
        prim.generator_mark()
        if is_over:
            prim.generator_pause()
        else:
            for x in source:
                if predicate(x):
                    yield x
                else:
                    is_over = True
                break
            else:
                prim.generator_pause()


def dropwhile(predicate, iterable, /):
    """The items from the first on that is wanted."""
    source = iter(iterable)
    dropping = True
    while True:
        prim.generator_mark()
        for x in source:
            dropping = dropping and predicate(x)
            if not dropping:
                yield x
                break
        else:
            prim.generator_pause()


def filterfalse(function, iterable, /):
    """The items that are not wanted; those that are false if the function is None."""
    source = iter(iterable)
    while True:
        prim.generator_mark()
        for x in source:
            if function is None:
                if not x:
                    yield x
                    break
            elif not function(x):
                yield x
                break
        else:
            prim.generator_pause()


def compress(data, selectors):
    """The items beside what is true."""
    rows = zip(iter(data), iter(selectors))
    while True:
        prim.generator_mark()
        for x, wanted in rows:
            if wanted:
                yield x
                break
        else:
            prim.generator_pause()


def starmap(function, iterable, /):
    """Calls a function with each tuple of arguments, and yields each result."""
    source = iter(iterable)
    while True:
        prim.generator_mark()
        for args in source:
            yield function(*args)
            break
        else:
            prim.generator_pause()


def accumulate(iterable, func=None, *, initial=None):
    """Sums, or what a function makes of two, of all items up to each."""
    source = iter(iterable)
    if initial is None:
        while True:
            prim.generator_mark()
            for total in source:
                yield total
                while True:
                    prim.generator_mark()
                    for x in source:
                        total = total + x if func is None else func(total, x)
                        yield total
                        break
                    else:
                        prim.generator_pause()
            prim.generator_pause()
    else:
        total = initial
        yield total
        while True:
            prim.generator_mark()
            for x in source:
                total = total + x if func is None else func(total, x)
                yield total
                break
            else:
                prim.generator_pause()


def groupby(iterable, key=None):
    """Pairs of a key and an iterator over the items that follow each other with this key."""
    source = iter(iterable)
    while True:
        prim.generator_mark()
        for x in source:
            first = x if key is None else key(x)
            groups = prim.new("cells.grouping", x, first)
            groups.item = x
            groups.key = first
            own = first
            while True:
                prim.generator_mark()
                while groups.number > 0 and not groups.is_done and (groups.taken == 0 or groups.key == own):
                    _step(source, key, groups)
                if groups.is_done:
                    groups.is_done = False
                    prim.generator_pause()
                else:
                    own = groups.key
                    groups.number += 1
                    groups.taken = 0
                    yield own, _group(source, key, groups, groups.number, own)
        prim.generator_pause()
