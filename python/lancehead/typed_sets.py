"""The set algebra of typed sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import MutableSet

    _Base = MutableSet[Any]
else:
    _Base = object


class Algebra(_Base):
    """Methods and operators of sets; `_of` makes a set of the same type."""

    __slots__ = ()

    if TYPE_CHECKING:

        def _of(self, items: Iterable[Any]) -> Self: ...
        def copy(self) -> Self: ...
        def update(self, *others: Iterable[Any]) -> None: ...

    def union(self, *others: Iterable[Any]) -> Self:
        """A set with the items of this one and of iterables."""
        made = self.copy()
        made.update(*others)
        return made

    def intersection(self, *others: Iterable[Any]) -> Self:
        """A set with the items that all iterables have, too."""
        tables = [_looked_up(other) for other in others]
        return self._of([item for item in self if all(item in table for table in tables)])

    def difference(self, *others: Iterable[Any]) -> Self:
        """A set with the items that none of the iterables has."""
        tables = [_looked_up(other) for other in others]
        return self._of([item for item in self if not any(item in table for table in tables)])

    def symmetric_difference(self, other: Iterable[Any]) -> Self:
        """A set with the items that only this one or only an iterable has."""
        table = _looked_up(other)
        made = self._of([item for item in self if item not in table])
        made.update([item for item in table if item not in self])
        return made

    def intersection_update(self, *others: Iterable[Any]) -> None:
        """Keeps the items that all iterables have, too."""
        self._become(self.intersection(*others))

    def difference_update(self, *others: Iterable[Any]) -> None:
        """Removes the items of iterables."""
        self._become(self.difference(*others))

    def symmetric_difference_update(self, other: Iterable[Any]) -> None:
        """Keeps the items that only this one or only an iterable has."""
        self._become(self.symmetric_difference(other))

    def _become(self, wanted: Any) -> None:
        for item in list(self):
            if item not in wanted:
                self.discard(item)
        self.update(wanted)

    def issubset(self, other: Iterable[Any]) -> bool:
        """Whether an iterable has all items."""
        table = _looked_up(other)
        return all(item in table for item in self)

    def issuperset(self, other: Iterable[Any]) -> bool:
        """Whether all items of an iterable are there."""
        return all(item in self for item in other)


def _operators(method: str, update: str) -> tuple[Callable[[Any, Any], Any], ...]:
    """The operators that two methods are: plain, reflected and in place."""

    def plain(self: Any, other: Any) -> Any:
        return getattr(self, method)(other) if isinstance(other, AbstractSet) else NotImplemented

    def reflected(self: Any, other: Any) -> Any:
        return getattr(self._of(other), method)(self) if isinstance(other, AbstractSet) else NotImplemented

    def in_place(self: Any, other: Any) -> Any:
        if not isinstance(other, AbstractSet):
            return NotImplemented
        getattr(self, update)(other)
        return self

    return plain, reflected, in_place


for _name, _method, _update in (
    ("or", "union", "update"),
    ("and", "intersection", "intersection_update"),
    ("sub", "difference", "difference_update"),
    ("xor", "symmetric_difference", "symmetric_difference_update"),
):
    for _prefix, _operator in zip(("", "r", "i"), _operators(_method, _update), strict=True):
        _operator.__name__ = f"__{_prefix}{_name}__"
        _operator.__qualname__ = f"Algebra.{_operator.__name__}"
        setattr(Algebra, _operator.__name__, _operator)


def _looked_up(other: Iterable[Any]) -> AbstractSet[Any]:
    """An iterable as something that answers quickly whether an item is there."""
    return other if isinstance(other, AbstractSet) else set(other)
