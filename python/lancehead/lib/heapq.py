"""`heapq`: lists as heaps, as CPython arranges them."""

from lancehead.lib import prim


def _check_list(heap):
    if not prim.is_a(heap, "builtins.list"):
        prim.error("a heap is a list")


def _sift_down(heap, start, pos):
    item = heap[pos]
    while pos > start:
        parent = (pos - 1) >> 1
        if not item < heap[parent]:
            break
        heap[pos] = heap[parent]
        pos = parent
    heap[pos] = item


def _sift_up(heap, pos):
    # The smaller child moves up until a leaf is free; then the item finds its place from there.
    end = len(heap)
    start = pos
    item = heap[pos]
    child = 2 * pos + 1
    while child < end:
        right = child + 1
        if right < end and not heap[child] < heap[right]:
            child = right
        heap[pos] = heap[child]
        pos = child
        child = 2 * pos + 1
    heap[pos] = item
    _sift_down(heap, start, pos)


def heappush(heap, item, /):
    """Adds an item."""
    _check_list(heap)
    heap.append(item)
    _sift_down(heap, 0, len(heap) - 1)


def heappop(heap, /):
    """Removes and returns the least item."""
    _check_list(heap)
    if len(heap) == 0:
        raise IndexError("index out of range")
    last = heap.pop()
    if len(heap) > 0:
        least = heap[0]
        heap[0] = last
        _sift_up(heap, 0)
        return least
    return last


def heapify(x, /):
    """Arranges a list as a heap."""
    _check_list(x)
    for i in range(len(x) // 2 - 1, -1, -1):
        _sift_up(x, i)


def heapreplace(heap, item, /):
    """Removes and returns the least item, then adds one."""
    _check_list(heap)
    if len(heap) == 0:
        raise IndexError("index out of range")
    least = heap[0]
    heap[0] = item
    _sift_up(heap, 0)
    return least


def heappushpop(heap, item, /):
    """Adds an item, then removes and returns the least."""
    _check_list(heap)
    if prim.is_bool(item) and prim.dtype_of(heap) != prim.dtype_of(item):
        # It is the result if it is the least item, and the result has one type.
        prim.error("the item of `heappushpop` is a bool, and the heap has none: the types must be the same")
    if len(heap) > 0 and heap[0] < item:
        least = heap[0]
        heap[0] = item
        _sift_up(heap, 0)
        return least
    return item


def nsmallest(n, iterable, key=None):
    """The least items, in order."""
    return sorted(iterable, key=key)[: n if n > 0 else 0]


def nlargest(n, iterable, key=None):
    """The greatest items, in order."""
    return sorted(iterable, key=key, reverse=True)[: n if n > 0 else 0]


def merge(*iterables, key=None, reverse=False):
    """The items of sorted iterables, in order.

    >>> list(heapq.merge([1, 4], [2, 3]))
    [1, 2, 3, 4]
    """
    # Equal items are in the order of the iterables, since sorting is stable.
    items = [x for iterable in iterables[:1] for x in iterable]
    for iterable in iterables[1:]:
        for x in iterable:
            items.append(x)
    for x in sorted(items, key=key, reverse=reverse):
        yield x
