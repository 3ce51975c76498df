"""What typed sets have of the algebra of Python's sets."""

from __future__ import annotations

from collections.abc import Iterable
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

    def __or__(self, other: Any) -> Self:
        return self.union(other) if isinstance(other, AbstractSet) else NotImplemented

    def __ror__(self, other: Any) -> Self:
        return self._of(other).union(self) if isinstance(other, AbstractSet) else NotImplemented

    def __ior__(self, other: Any) -> Self:
        if not isinstance(other, AbstractSet):
            return NotImplemented
        self.update(other)
        return self

    def __and__(self, other: Any) -> Self:
        return self.intersection(other) if isinstance(other, AbstractSet) else NotImplemented

    __rand__ = __and__

    def __iand__(self, other: Any) -> Self:
        if not isinstance(other, AbstractSet):
            return NotImplemented
        self.intersection_update(other)
        return self

    def __sub__(self, other: Any) -> Self:
        return self.difference(other) if isinstance(other, AbstractSet) else NotImplemented

    def __rsub__(self, other: Any) -> Self:
        return self._of(other).difference(self) if isinstance(other, AbstractSet) else NotImplemented

    def __isub__(self, other: Any) -> Self:
        if not isinstance(other, AbstractSet):
            return NotImplemented
        self.difference_update(other)
        return self

    def __xor__(self, other: Any) -> Self:
        return self.symmetric_difference(other) if isinstance(other, AbstractSet) else NotImplemented

    __rxor__ = __xor__

    def __ixor__(self, other: Any) -> Self:
        if not isinstance(other, AbstractSet):
            return NotImplemented
        self.symmetric_difference_update(other)
        return self


def _looked_up(other: Iterable[Any]) -> AbstractSet[Any]:
    """An iterable as something that answers quickly whether an item is there."""
    return other if isinstance(other, AbstractSet) else set(other)
