"""Dictionaries of what can be found again, which forget entries when they are full."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Protocol, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class _Clears(Protocol):
    def clear(self) -> None: ...


#: All caches that there are.
_ALL: list[Callable[[], _Clears | None]] = []


class Cache(dict[K, V]):
    """A dictionary of at most so many entries: one that is full forgets the older half before it takes another one.

    Entries are looked up as in any dictionary, by any number of threads; `update` would go past the limit. An entry may
    be gone right after another look at it. A key that has the identity of an object is of an entry that has the object.
    Where nanoseconds count, `cache.get` has a name of its own: the interpreter knows short ways for calls of that.

    >>> squares = Cache(4)
    >>> for x in range(6):
    ...     squares[x] = x * x
    >>> squares
    {2: 4, 3: 9, 4: 16, 5: 25}
    """

    __slots__ = ("__weakref__", "_lock", "limit")

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit
        self._lock = threading.RLock()
        _ALL.append(weakref.ref(self, _ALL.remove))

    def __setitem__(self, key: K, value: V) -> None:
        if len(self) >= self.limit and key not in self:
            self._forget()
        super().__setitem__(key, value)

    def added(self, key: K, value: V) -> V:
        """The entry of a key, which becomes the value if there is none."""
        if len(self) >= self.limit and key not in self:
            self._forget()
        return self.setdefault(key, value)

    def _forget(self) -> list[V | None]:
        # The values end after the lock: that may run any code.
        with self._lock:
            count = len(self) - self.limit // 2
            return [self.pop(key, None) for key in list(self)[:count]] if len(self) >= self.limit else []


def clear() -> None:
    """Empties all caches."""
    for known in list(_ALL):
        cache = known()
        if cache is not None:
            cache.clear()


__all__ = ["Cache", "clear"]
