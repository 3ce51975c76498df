"""`itertools`: iterators as generators."""

from lancehead.lib import prim
from lancehead.lib.collections import deque
from lancehead.lib.conversions import index_of


def chain(*iterables):
    """The items of one iterable after those of another.

    >>> list(itertools.chain([1], (2, 3)))
    [1, 2, 3]
    """
    for iterable in iterables:
        for x in iterable:
            yield x


def flat(iterables):
    """The items of one iterable of an iterable after those of another: `chain.from_iterable`."""
    for iterable in iterables:
        for x in iterable:
            yield x


def repeat(object, times=None):
    """A value again and again, a number of times if it is given.

    >>> list(itertools.repeat(5, 2))
    [5, 5]
    """
    if times is None:
        while True:
            yield object
    else:
        for _ in range(index_of(times)):
            yield object


def count(start=0, step=1):
    """Numbers from one on, at a distance.

    >>> list(zip(itertools.count(10, 2), "ab"))
    [(10, 'a'), (12, 'b')]
    """
    while True:
        yield start
        start += step


def cycle(iterable, /):
    """The items again and again.

    >>> list(zip(itertools.cycle([1, 2]), range(3)))
    [(1, 0), (2, 1), (1, 2)]
    """
    items = []
    for x in iterable:
        items.append(x)
        yield x
    while len(items) > 0:
        for x in items:
            yield x


def takewhile(predicate, iterable, /):
    """The items before the first that is not wanted.

    >>> list(itertools.takewhile(lambda x: x < 3, [1, 5, 2]))
    [1]
    """
    for x in iterable:
        if not predicate(x):
            break
        yield x


def dropwhile(predicate, iterable, /):
    """The items from the first on that is wanted.

    >>> list(itertools.dropwhile(lambda x: x < 3, [1, 5, 2]))
    [5, 2]
    """
    dropping = True
    for x in iterable:
        dropping = dropping and predicate(x)
        if not dropping:
            yield x


def filterfalse(function, iterable, /):
    """The items that are not wanted; those that are false if the function is None.

    >>> list(itertools.filterfalse(lambda x: x < 3, [1, 5, 2]))
    [5]
    """
    for x in iterable:
        if function is None:
            if not x:
                yield x
        elif not function(x):
            yield x


def compress(data, selectors):
    """The items beside what is true.

    >>> list(itertools.compress("abc", [1, 0, 1]))
    ['a', 'c']
    """
    for x, wanted in zip(data, selectors):
        if wanted:
            yield x


def starmap(function, iterable, /):
    """Calls a function with each tuple of arguments, and yields each result.

    >>> list(itertools.starmap(pow, [(2, 3), (3, 2)]))
    [8, 9]
    """
    for args in iterable:
        yield function(*args)


def pairwise(iterable, /):
    """Each item with the next one.

    >>> list(itertools.pairwise([1, 2, 3]))
    [(1, 2), (2, 3)]
    """
    source = iter(iterable)
    for previous in source:
        for x in source:
            yield previous, x
            previous = x


def accumulate(iterable, func=None, *, initial=None):
    """Sums, or what a function makes of two, of all items up to each.

    >>> list(itertools.accumulate([1, 2, 3]))
    [1, 3, 6]
    """
    source = iter(iterable)
    if initial is None:
        for total in source:
            yield total
            for x in source:
                total = total + x if func is None else func(total, x)
                yield total
    else:
        total = initial
        yield total
        for x in source:
            total = total + x if func is None else func(total, x)
            yield total


def islice(iterable, first, *bounds):
    """Some of the items: the first ones, or those of a slice.

    >>> list(itertools.islice([1, 2, 3, 4], 1, None, 2))
    [2, 4]
    """
    start = 0
    stop = first
    step = 1
    if len(bounds) > 0:
        start = 0 if first is None else first
        stop = bounds[0]
    if len(bounds) > 1:
        step = 1 if bounds[1] is None else bounds[1]
    if start < 0 or step < 1 or (stop is not None and stop < 0):
        raise ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    if stop is not None and start == stop == 0:
        return
    at = 0
    following = start
    if prim.is_a(iterable, "builtins.list"):
        while following < len(iterable) and (stop is None or following < stop):
            yield iterable[following]
            following += step
        return
    for x in iterable:
        at += 1
        if at > following:
            yield x
            following += step
            if stop is not None and following > stop:
                following = stop
        # The rest before the end is taken when another item is asked for.
        if stop is not None and at >= stop and at >= following:
            return


def _twos(first, second):
    for x in first:
        for y in second:
            yield x, y


def _threes(first, second, third):
    for x in first:
        for y in second:
            for z in third:
                yield x, y, z


def product(*iterables, repeat=1):
    """All tuples of an item of each iterable. The number of repetitions must be known while compiling.

    >>> list(itertools.product([1, 2], "ab"))
    [(1, 'a'), (1, 'b'), (2, 'a'), (2, 'b')]
    >>> list(itertools.product([1, 2], repeat=2))
    [(1, 1), (1, 2), (2, 1), (2, 2)]
    """
    if repeat < 0:
        raise ValueError("repeat argument cannot be negative")
    times = prim.tuple_fill(repeat, 0)
    if len(iterables) == 1:
        return _power([x for x in iterables[0]], times)
    if len(times) == 1 and len(iterables) == 2:
        return _twos(iterables[0], [y for y in iterables[1]])
    if len(times) == 1 and len(iterables) == 3:
        return _threes(iterables[0], [y for y in iterables[1]], [z for z in iterables[2]])
    return _product(_again(_lists(iterables), times))


def _again(lists, times):
    if len(times) == 0:
        return ()
    return lists + _again(lists, times[1:])


def _product(lists):
    sizes = [len(items) for items in lists]
    at = [0 for _ in sizes]
    more = _all_positive(sizes)
    while more:
        yield _items_at(lists, at)
        i = len(at) - 1
        while i >= 0 and at[i] == sizes[i] - 1:
            at[i] = 0
            i -= 1
        more = i >= 0
        if more:
            at[i] += 1


def _all_positive(sizes):
    for n in sizes:
        if n == 0:
            return False
    return True


def _items_at(lists, at):
    # The items at the last places, as a tuple.
    if len(lists) == 0:
        return ()
    return (lists[0][at[len(at) - len(lists)]], *_items_at(lists[1:], at))


def _chosen(items, at, like):
    # The items at the first places, as a tuple as long as another.
    return _chosen_from(items, at, like, 0)


def _chosen_from(items, at, like, first):
    if len(like) == 0:
        return ()
    return (items[at[first]], *_chosen_from(items, at, like[1:], first + 1))


def _power(items, like):
    if len(like) == 0:
        return _nothing()
    return _powers(items, len(items), len(like), like[1:])


def _nothing():
    yield ()


# The last place is the inner loop of these, so that the others are read once for all that it goes through.


def _powers(items, n, r, others):
    at = [0 for _ in range(r)]
    more = n > 0
    while more:
        first = _chosen(items, at, others)
        for last in range(n):
            yield (*first, items[last])
        i = r - 2
        while i >= 0 and at[i] == n - 1:
            at[i] = 0
            i -= 1
        more = i >= 0
        if more:
            at[i] += 1


def combinations(iterable, r):
    """All tuples of so many items, in their order. The number must be known while compiling.

    >>> list(itertools.combinations([1, 2, 3], 2))
    [(1, 2), (1, 3), (2, 3)]
    """
    if r < 0:
        raise ValueError("r must be non-negative")
    items, like = [x for x in iterable], prim.tuple_fill(r, 0)
    if len(like) == 0:
        return _nothing()
    return _combinations(items, len(items), len(like), like[1:])


def _combinations(items, n, r, others):
    at = [i for i in range(r)]
    more = r <= n
    while more:
        first = _chosen(items, at, others)
        for last in range(at[r - 1], n):
            yield (*first, items[last])
        i = r - 2
        while i >= 0 and at[i] == i + n - r:
            i -= 1
        more = i >= 0
        if more:
            at[i] += 1
            for k in range(i + 1, r):
                at[k] = at[k - 1] + 1


def combinations_with_replacement(iterable, r):
    """All tuples of so many items, in their order, which may be taken again. The number must be known while compiling.

    >>> list(itertools.combinations_with_replacement([1, 2], 2))
    [(1, 1), (1, 2), (2, 2)]
    """
    if r < 0:
        raise ValueError("r must be non-negative")
    items, like = [x for x in iterable], prim.tuple_fill(r, 0)
    if len(like) == 0:
        return _nothing()
    return _multisets(items, len(items), len(like), like[1:])


def _multisets(items, n, r, others):
    at = [0 for _ in range(r)]
    more = n > 0
    while more:
        first = _chosen(items, at, others)
        for last in range(at[r - 1], n):
            yield (*first, items[last])
        i = r - 2
        while i >= 0 and at[i] == n - 1:
            i -= 1
        more = i >= 0
        if more:
            following = at[i] + 1
            for k in range(i, r):
                at[k] = following


def permutations(iterable, r=None):
    """All tuples of so many items, in each order. The number must be known while compiling, as that of a tuple is.

    >>> list(itertools.permutations([1, 2, 3], 2))
    [(1, 2), (1, 3), (2, 1), (2, 3), (3, 1), (3, 2)]
    """
    if prim.is_none(r):
        if not prim.is_tuple(iterable):
            prim.error("the number of items must be known while compiling: give it as `permutations(x, 3)`")
        return permutations(iterable, len(iterable))
    if r < 0:
        raise ValueError("r must be non-negative")
    items, like = [x for x in iterable], prim.tuple_fill(r, 0)
    if len(like) == 0:
        return _nothing()
    return _permutations(items, len(items), len(like), like[1:])


def _permutations(items, n, r, others):
    # The places of the items, of which the first ones are chosen. Place `i` goes through those behind it by exchanges,
    # of which `left[i]` are still to come, and a rotation brings all back.
    at = [i for i in range(n)]
    left = [n - i for i in range(r)]
    more = r <= n
    while more:
        first = _chosen(items, at, others)
        for last in range(r - 1, n):
            yield (*first, items[at[last]])
        i = r - 2
        while i >= 0 and left[i] == 1:
            moved = at[i]
            for k in range(i + 1, n):
                at[k - 1] = at[k]
            at[n - 1] = moved
            left[i] = n - i
            i -= 1
        more = i >= 0
        if more:
            left[i] -= 1
            k = n - left[i]
            at[i], at[k] = at[k], at[i]


def groupby(iterable, key=None):
    """Pairs of a key and an iterator over the items that follow each other with this key.

    As in Python, an iterator is at its end when the next pair has been taken.

    >>> [(k, list(group)) for k, group in itertools.groupby([1, 3, 2, 5], lambda x: x % 2)]
    [(1, [1, 3]), (0, [2]), (1, [5])]
    """
    source = _indexed(iterable)
    for x in source:
        first = x if key is None else key(x)
        groups = prim.new("cells.grouping", x, first)
        groups.item = x
        groups.key = first
        groups.at = 1
        while not groups.is_done:
            own = groups.key
            groups.number += 1
            groups.taken = 0
            yield own, _group(source, key, groups, groups.number, own)
            while not groups.is_done and (groups.taken == 0 or groups.key == own):
                _step(source, key, groups)
        return


def tee(iterable, n=2, /):
    """Several iterators over the same items; their number must be known while compiling.

    >>> a, b = itertools.tee(x * x for x in [1, 2, 3])
    >>> list(a), list(b)
    ([1, 4, 9], [1, 4, 9])
    """
    if n < 0:
        raise ValueError("n must be >= 0")
    times = prim.tuple_fill(n, 0)
    source = iter(iterable)
    waiting = deque()
    places = [0 for _ in times]
    if len(places) > len(times):
        # This never happens, but says what waits.
        for x in source:
            waiting.append(x)
    return _branches(source, waiting, places, [0], times)


def _branches(source, waiting, places, first, times):
    if len(times) == 0:
        return ()
    at = len(places) - len(times)
    return (_branch(source, waiting, places, first, at), *_branches(source, waiting, places, first, times[1:]))


def _branch(source, waiting, places, first, own):
    # Items wait until the last iterator has given them. The source is asked again after its end.
    while True:
        prim.generator_mark()
        i = places[own] - first[0]
        if i == len(waiting):
            for x in source:
                waiting.append(x)
                break
        if i == len(waiting):
            prim.generator_pause()
        else:
            x = waiting[i]
            places[own] += 1
            if i == 0:
                while first[0] < min(places):
                    waiting.popleft()
                    first[0] += 1
            yield x


def _indexed(iterable):
    # A list whose items are found by their places, which takes less time than an iterator that is kept.
    if prim.is_a(iterable, "builtins.list"):
        return iterable
    if prim.is_str(iterable):
        return [c for c in iterable]
    return iter(iterable)


def _step(source, key, groups):
    # Takes the next item.
    groups.taken += 1
    if prim.is_a(source, "builtins.list"):
        if groups.at < len(source):
            groups.at += 1
            _take(source[groups.at - 1], key, groups)
        else:
            groups.is_done = True
    else:
        for x in source:
            _take(x, key, groups)
            break
        else:
            groups.is_done = True


def _take(x, key, groups):
    groups.key = x if key is None else key(x)
    groups.item = x
    groups.is_given = False


def _group(source, key, groups, own, mine):
    while groups.number == own:
        if groups.is_given:
            _step(source, key, groups)
        if groups.is_done or (groups.taken > 0 and groups.key != mine):
            break
        groups.is_given = True
        yield groups.item


def zip_longest(*iterables, fillvalue=None):
    """Tuples of an item of each iterable, as many as the longest has; a value stands for those that are missing.

    >>> list(itertools.zip_longest([1, 2], [3], fillvalue=0))
    [(1, 3), (2, 0)]
    """
    sources = _sources(iterables)
    is_left = [True for _ in sources]
    while True:
        row = _row(sources, 0, is_left, fillvalue)
        if not any(is_left):
            return
        yield row


def _lists(iterables):
    if len(iterables) == 0:
        return ()
    return ([x for x in iterables[0]],) + _lists(iterables[1:])


def _sources(iterables):
    if len(iterables) == 0:
        return ()
    return (iter(iterables[0]),) + _sources(iterables[1:])


def _row(sources, at, is_left, fillvalue):
    if len(sources) == 0:
        return ()
    return (_item(sources[0], at, is_left, fillvalue),) + _row(sources[1:], at + 1, is_left, fillvalue)


def _item(source, at, is_left, fillvalue):
    if is_left[at]:
        for x in source:
            return x
        is_left[at] = False
    return fillvalue
