"""Lists, dictionaries and sets of one type that Python and compiled code share: no call copies them.

>>> from lancehead import njit
>>> numbers = List([1, 2])
>>> njit(lambda x: x.append(3))(numbers)
>>> numbers
ListType[int64]([1, 2, 3])
"""

from __future__ import annotations

import builtins
import functools
import itertools
import operator
from collections.abc import (
    Callable,
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    MutableMapping,
    MutableSequence,
    MutableSet,
    ValuesView,
)
from types import GenericAlias
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from lancehead import _core, config, errors, types
from lancehead.decorators import njit
from lancehead.lib.lancehead.typed import mutable, shared
from lancehead.options import public
from lancehead.typed_sets import Algebra

__all__ = ["Dict", "List", "Set"]
public(globals())

#: The number of items of a list that IPython shows.
_SHOWN = 1000

Made = TypeVar("Made", bound=_core.Container)


@functools.cache
def _compiled(function: Callable[..., Any]) -> Any:
    return njit(function)


def _part(own: Any, key: Any) -> Any:
    return shared(own[key])


def _put(own: Any, key: Any, value: Any) -> None:
    own[key] = value


def _put_item(own: Any, index: Any, value: Any) -> None:
    mutable(own)[index] = value


def _delete(own: Any, key: Any) -> None:
    del own[key]


def _has(own: Any, value: Any) -> Any:
    return value in own


def _append(own: Any, value: Any) -> None:
    own.append(value)


def _insert(own: Any, index: Any, value: Any) -> None:
    own.insert(index, value)


def _pop(own: Any, index: Any) -> Any:
    return shared(own.pop(index))


def _pop_any(own: Any) -> Any:
    return shared(own.pop())


def _extend(own: Any, items: Any) -> None:
    own.extend(items)


def _sort(own: Any, reverse: Any) -> None:
    own.sort(reverse=reverse)


def _sort_by(own: Any, key: Any, reverse: Any) -> None:
    own.sort(key=key, reverse=reverse)


def _reverse(own: Any) -> None:
    own.reverse()


def _clear(own: Any) -> None:
    own.clear()


def _copy(own: Any) -> Any:
    return shared(own.copy())


def _keys(own: Any) -> Any:
    # A list of its own for each key: `list(own)` would be one of parts.
    return [key for key in own]  # noqa: C416


def _values(own: Any) -> Any:
    return [shared(value) for value in own.values()]


def _entries(own: Any) -> Any:
    return [(key, shared(value)) for key, value in own.items()]


def _popitem(own: Any) -> Any:
    key, value = own.popitem()
    return shared(key), shared(value)


def _add(own: Any, value: Any) -> None:
    own.add(value)


def _discard(own: Any, value: Any) -> None:
    own.discard(value)


def _adopted(value: Any, type_: Callable[[], Any] | None = None) -> Any:
    """A value as an item of a type: Python's containers become typed ones, so that later changes of the item are seen,
    and those without a type get what `type_` gives."""
    kind = _SHARED.get(type(value))
    if kind is None and not isinstance(value, _core.Container):
        return value
    if kind is not None and type_ is not None and isinstance(wanted := type_(), kind._type_class):
        # Its own items are converted one by one, each to the type that is needed.
        made = _typed(kind, wanted)
        made.__init__(value)
        return made
    value = value if kind is None else kind(value)
    if type_ is not None and not value._typed:
        _decide(value, type_())
    return value


def _type_of(value: Any) -> Any:
    return _core.unliteral(_core.typeof(value))


def _typed(cls: type[Made], type_: Any) -> Any:
    if config.DISABLE_JIT:
        return cls.__new__(cls)
    made = cls.__new__(cls)
    _decide(made, type_)
    return made


def _decide(own: _core.Container, type_: Any) -> None:
    try:
        own._make(type_)
    except TypeError as why:
        raise errors.TypingError(str(why)) from None


def _rebuilt(cls: Any, type_: Any, items: Any) -> Any:
    made = _typed(cls, type_) if type_ is not None else cls.__new__(cls)
    cls.__init__(made, items)
    return made


# The classes derive from `Container` itself, which is how compiled code knows them.
if TYPE_CHECKING:
    _Base = _core.Container
else:
    _Base = object


class _Shared(_Base):
    """The base of lists, dictionaries and sets."""

    __slots__ = ()
    #: The name of the type without those of its items.
    _kind: ClassVar[str]
    #: Python's own class, and that of types.
    _plain: ClassVar[type]
    _type_class: ClassVar[type]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls._plain(*args, **kwargs) if config.DISABLE_JIT else super().__new__(cls)

    @property
    def _numba_type_(self) -> Any:
        if not self._typed:
            raise TypeError(f"invalid operation on untyped {self._plain.__name__}")
        return self._type

    def clear(self) -> None:
        """Removes all items."""
        if self._typed:
            _compiled(_clear)(self)

    def copy(self) -> Self:
        """A container with the same items."""
        made: Self = _compiled(_copy)(self) if self._typed else type(self)()
        return made

    def __repr__(self) -> str:
        return f"{_shown(self._type, self._kind)}({self})"


class _Subscripted(GenericAlias):
    """A class of containers with types of items: an annotation, which makes an empty container when it is called."""

    def __call__(self, *args: Any) -> Any:
        origin: Any = self.__origin__
        return _annotated(origin, origin._type_class, self.__args__, *args)


class List(_Shared, _core.Container, MutableSequence[Any]):
    """A list of items of one type, which the first item decides.

    >>> words = List.empty_list(types.unicode_type)
    >>> words.append("a")
    >>> words[0]
    'a'

    Raises:
        IndexError: there is no item at an index.
        TypingError: an item is of another type.
    """

    __slots__ = ()
    _kind = "ListType"
    _plain = list
    _type_class = types.ListType

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if kwargs:
            type_, allocated = _of_keywords(args, kwargs, "List", "lsttype", types.ListType, "allocated")
            _decide(self, type_)
            self._reserve(allocated)
            return
        if len(args) > 1:
            raise TypeError(f"List() expected at most 1 argument, got {len(args)}")
        for iterable in args:
            if getattr(iterable, "ndim", None) == 0:
                self.append(iterable.item())
            elif not isinstance(iterable, Iterable) and not hasattr(iterable, "__getitem__"):
                raise TypeError(f"List() argument must be iterable, not {type(iterable).__name__!r}")
            else:
                self.extend(iterable)

    def __class_getitem__(cls, item: Any) -> Any:
        return _Subscripted(cls, (item,))

    @classmethod
    def empty_list(cls, item_type: Any, allocated: int = 0) -> List:
        """A list without items for items of a type, with room for some."""
        if allocated < 0:
            raise RuntimeError("expecting *allocated* to be >= 0")
        made = _typed(cls, types.ListType(item_type))
        if allocated:
            made._reserve(allocated)
        return made  # type: ignore[no-any-return]

    @property
    def _list_type(self) -> Any:
        return self._type

    @property
    def _dtype(self) -> Any:
        if not self._typed:
            raise RuntimeError("invalid operation on untyped list")
        return self._type.dtype

    def _make_mutable(self) -> None:
        self._freeze(False)

    def _make_immutable(self) -> None:
        self._freeze(True)

    def _get(self, index: Any) -> Any:
        if not self._typed:
            raise IndexError("list index out of range")
        return _compiled(_part)(self, index)

    def _set(self, index: Any, value: Any) -> None:
        if not self._typed:
            raise IndexError("list assignment index out of range")
        if isinstance(index, slice) and not isinstance(value, List):
            value = List(value) if len(value := list(value)) else List.empty_list(self._type.dtype)
        _compiled(_put_item)(self, index, _adopted(value, lambda: self._type.item_type))

    def _del(self, index: Any) -> None:
        if not self._typed:
            raise IndexError("list assignment index out of range")
        _compiled(_delete)(self, index)

    def __contains__(self, value: Any) -> bool:
        return any(item is value or item == value for item in self)

    def index(self, value: Any, start: Any = 0, stop: Any = None) -> int:
        """Index of the first item that equals a value."""
        try:
            return list(self).index(value, start or 0, len(self) if stop is None else stop)
        except ValueError:
            raise ValueError("item not in list") from None

    def count(self, value: Any) -> int:
        """Number of items that equal a value."""
        return list(self).count(value)

    def remove(self, value: Any) -> None:
        """Removes the first item that equals a value."""
        try:
            at = list(self).index(value)
        except ValueError:
            raise ValueError("list.remove(x): x not in list") from None
        del self[at]

    def append(self, item: Any) -> None:
        """Adds an item at the end."""
        if self._push(item):
            return
        if not self._typed:
            item = _adopted(item)
            _decide(self, types.ListType(_type_of(item)))
        _compiled(_append)(self, _adopted(item, lambda: self._type.item_type))

    def insert(self, i: Any, item: Any) -> None:
        """Inserts an item before an index."""
        if not self._typed:
            self.append(item)
        else:
            _compiled(_insert)(self, i, _adopted(item, lambda: self._type.item_type))

    def extend(self, iterable: Iterable[Any]) -> None:
        """Adds the items of an iterable at the end."""
        if isinstance(iterable, List) and iterable._typed:
            items: Any = iterable
        else:
            items = [_adopted(item) for item in iterable]
        if not len(items):
            return
        if len({type(item) for item in items}) > 1:
            # Each is converted by itself.
            for item in items:
                self.append(item)
            return
        if not self._typed and isinstance(items[0], _core.Dispatcher):
            # An item is one of these functions.
            _decide(self, _core.typeof(list(items)))
        if not self._typed:
            decided = (item for item in items if not isinstance(item, _core.Container) or item._typed)
            _decide(self, types.ListType(_type_of(next(decided, items[0]))))
        if isinstance(items[0], _core.Container):
            items = [_adopted(item, lambda: self._type.item_type) for item in items]
        _compiled(_extend)(self, items)

    def pop(self, i: Any = -1) -> Any:
        """Removes and returns an item."""
        if not self._typed:
            raise IndexError("pop from empty list")
        return _compiled(_pop)(self, i)

    def sort(self, key: Any = None, reverse: bool = False) -> None:
        """Sorts the items, in the order of what `key` gives for them."""
        if not self._typed:
            return
        if key is None:
            _compiled(_sort)(self, bool(reverse))
        else:
            _compiled(_sort_by)(self, key if isinstance(key, _core.Dispatcher) else njit(key), bool(reverse))

    def reverse(self) -> None:
        """Reverses the order of the items."""
        if self._typed:
            _compiled(_reverse)(self)

    def __add__(self, other: Any) -> List:
        if not isinstance(other, (List, list)):
            return NotImplemented
        made = self.copy()
        made.extend(other)
        return made

    def __radd__(self, other: Any) -> List:
        return List(other) + self if isinstance(other, list) else NotImplemented

    def __mul__(self, n: Any) -> List:
        made = self.copy()
        made *= n
        return made

    __rmul__ = __mul__

    def __imul__(self, n: Any) -> Self:
        times = operator.index(n)
        if times <= 0:
            self.clear()
        items = self.copy()
        for _ in range(1, times):
            self.extend(items)
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (List, list)):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: Any) -> bool:
        return list(self) < list(other) if isinstance(other, (List, list)) else NotImplemented

    def __le__(self, other: Any) -> bool:
        return list(self) <= list(other) if isinstance(other, (List, list)) else NotImplemented

    def __gt__(self, other: Any) -> bool:
        return list(self) > list(other) if isinstance(other, (List, list)) else NotImplemented

    def __ge__(self, other: Any) -> bool:
        return list(self) >= list(other) if isinstance(other, (List, list)) else NotImplemented

    def __str__(self) -> str:
        shown: Iterable[Any] = self
        # IPython shows every result: long lists in part.
        is_cut = hasattr(builtins, "get_ipython") and len(self) > _SHOWN
        if is_cut:
            shown = itertools.islice(self, _SHOWN)
        return f"[{', '.join(map(str, shown))}{', ...' if is_cut else ''}]"

    def __reduce__(self) -> Any:
        return _rebuilt, (type(self), self._type, list(self))


class Dict(_Shared, _core.Container, MutableMapping[Any, Any]):
    """A dictionary with keys of one type and values of one type, which the first item decides.

    >>> counts = Dict.empty(types.unicode_type, types.int64)
    >>> counts["a"] = 1
    >>> counts
    DictType[unicode_type,int64]<iv=None>({a: 1})

    Raises:
        KeyError: there is no such key.
        TypingError: a key or a value is of another type.
    """

    __slots__ = ()
    _kind = "DictType"
    _plain = dict
    _type_class = types.DictType

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "dcttype" in kwargs:
            type_, _ = _of_keywords(args, kwargs, "Dict", "dcttype", types.DictType, "n_keys")
            _decide(self, type_)
            return
        if len(args) > 1:
            raise errors.TypingError(f"Dict expect at most 1 argument, got {len(args)}")
        for items in args:
            if not isinstance(items, Iterable):
                raise errors.TypingError(f"{type(items).__name__!r} object is not iterable")
            self.update(items)
        self.update(**kwargs)

    def __class_getitem__(cls, items: Any) -> Any:
        return _Subscripted(cls, items)

    @classmethod
    def empty(cls, key_type: Any, value_type: Any, n_keys: int = 0) -> Dict:
        """A dictionary without items for keys and values of two types."""
        if n_keys < 0:
            raise RuntimeError("expecting *n_keys* to be >= 0")
        return _typed(cls, types.DictType(key_type, value_type))  # type: ignore[no-any-return]

    @property
    def _dict_type(self) -> Any:
        return self._type

    def _get(self, key: Any) -> Any:
        if not self._typed:
            raise KeyError(key)
        return _compiled(_part)(self, key)

    def _set(self, key: Any, value: Any) -> None:
        if not self._typed:
            value = _adopted(value)
            _decide(self, types.DictType(_type_of(key), _type_of(value)))
        _compiled(_put)(self, key, _adopted(value, lambda: self._type.value_type))

    def _del(self, key: Any) -> None:
        if not self._typed:
            raise KeyError(key)
        _compiled(_delete)(self, key)

    def __contains__(self, key: Any) -> bool:
        return self._typed and _compiled(_has)(self, key)

    def __iter__(self) -> Iterator[Any]:
        return _iterated(self, "dictionary")

    def __reversed__(self) -> Iterator[Any]:
        return _iterated(self, "dictionary", _keys, backwards=True)

    def keys(self) -> KeysView[Any]:
        """A view of the keys."""
        return _Keys(self)

    def items(self) -> ItemsView[Any, Any]:
        """A view of pairs of a key and its value."""
        return _Items(self)

    def values(self) -> ValuesView[Any]:
        """A view of the values."""
        return _Values(self)

    def update(self, other: Any = (), /, **kwargs: Any) -> None:
        """Adds the items of another dictionary or of an iterable of pairs."""
        if isinstance(other, Mapping):
            pairs: Iterable[tuple[Any, Any]] = other.items()
        elif hasattr(other, "keys"):
            pairs = ((key, other[key]) for key in other.keys())
        else:
            pairs = _pairs(other)
        added = [*pairs, *kwargs.items()]
        if not self._typed and added and all(isinstance(value, _core.Dispatcher) for _, value in added):
            # A value is one of these functions.
            _decide(self, _core.typeof(dict(added)))
        for key, value in added:
            self[key] = value

    @classmethod
    def fromkeys(cls, iterable: Iterable[Any], value: Any = None) -> Dict:
        """A dictionary with keys of one value."""
        made = cls()
        for key in iterable:
            made[key] = value
        return made

    def __or__(self, other: Any) -> Dict:
        if not isinstance(other, (Dict, dict)):
            return NotImplemented
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: Any) -> Dict:
        return Dict(other) | self if isinstance(other, dict) else NotImplemented

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """The value of a key, which is given to it if there is none."""
        if not self._typed and default is None:
            raise TypeError("invalid operation on untyped dictionary")
        return super().setdefault(key, default)

    def popitem(self) -> tuple[Any, Any]:
        """Removes the last key and returns it with its value."""
        if not len(self):
            raise KeyError("dictionary is empty")
        key, value = _compiled(_popitem)(self)
        return key, value

    def __str__(self) -> str:
        return f"{{{', '.join(f'{key}: {value}' for key, value in self.items())}}}"

    def __reduce__(self) -> Any:
        return _rebuilt, (type(self), self._type, dict(self.items()))


class _Keys(KeysView[Any]):
    """The keys."""

    _mapping: Dict

    def __reversed__(self) -> Iterator[Any]:
        return reversed(self._mapping)


class _Items(ItemsView[Any, Any]):
    """Pairs of keys and values, without look-ups: NaN as a key is never found."""

    _mapping: Dict

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return _iterated(self._mapping, "dictionary", _entries)

    def __reversed__(self) -> Iterator[tuple[Any, Any]]:
        return _iterated(self._mapping, "dictionary", _entries, backwards=True)


class _Values(ValuesView[Any]):
    """The values, without look-ups of keys."""

    _mapping: Dict

    def __iter__(self) -> Iterator[Any]:
        return _iterated(self._mapping, "dictionary", _values)

    def __reversed__(self) -> Iterator[Any]:
        return _iterated(self._mapping, "dictionary", _values, backwards=True)

    def __contains__(self, value: object) -> bool:
        return any(own is value or own == value for own in self)


class Set(_Shared, Algebra, _core.Container, MutableSet[Any]):
    """A set of items of one type, which the first item decides.

    >>> seen = Set.empty(types.int64)
    >>> seen.add(3)
    >>> 3 in seen
    True

    Raises:
        TypingError: an item is of another type.
    """

    __slots__ = ()
    _kind = "SetType"
    _plain = set
    _type_class = types.SetType

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if kwargs:
            type_, _ = _of_keywords(args, kwargs, "Set", "settype", types.SetType, "n_items")
            _decide(self, type_)
            return
        if len(args) > 1:
            raise TypeError(f"Set() expected at most 1 argument, got {len(args)}")
        for iterable in args:
            self.update(iterable)

    def __class_getitem__(cls, item: Any) -> Any:
        return _Subscripted(cls, (item,))

    @classmethod
    def empty(cls, item_type: Any, n_items: int = 0) -> Set:
        """A set without items for items of a type."""
        if n_items < 0:
            raise RuntimeError("expecting *n_items* to be >= 0")
        return _typed(cls, types.SetType(item_type))  # type: ignore[no-any-return]

    @property
    def _set_type(self) -> Any:
        return self._type

    def _get(self, key: Any) -> Any:
        raise TypeError(f"{type(self).__name__!r} object is not subscriptable")

    def _set(self, key: Any, value: Any) -> None:
        raise TypeError(f"{type(self).__name__!r} object does not support item assignment")

    def _del(self, key: Any) -> None:
        raise TypeError(f"{type(self).__name__!r} object doesn't support item deletion")

    def __contains__(self, item: Any) -> bool:
        return self._typed and _compiled(_has)(self, item)

    def __iter__(self) -> Iterator[Any]:
        return _iterated(self, "Set")

    def add(self, value: Any) -> None:
        """Adds an item."""
        if not self._typed:
            _decide(self, types.SetType(_type_of(value)))
        _compiled(_add)(self, value)

    def discard(self, value: Any) -> None:
        """Removes an item if it is there."""
        if self._typed:
            _compiled(_discard)(self, value)

    def pop(self) -> Any:
        """Removes and returns an item."""
        if not len(self):
            raise KeyError("pop from an empty set")
        return _compiled(_pop_any)(self)

    def update(self, *others: Iterable[Any]) -> None:
        """Adds the items of iterables."""
        for other in others:
            for item in list(other):
                self.add(item)

    def _of(self, items: Iterable[Any]) -> Self:
        """A set of the same type with other items."""
        made: Self = _typed(type(self), self._type) if self._typed else type(self)()
        made.update(items)
        return made

    def __str__(self) -> str:
        return f"{{{', '.join(map(str, self))}}}"

    def __reduce__(self) -> Any:
        return _rebuilt, (type(self), self._type, list(self))


def _iterated(own: Any, what: str, parts: Callable[..., Any] = _keys, *, backwards: bool = False) -> Iterator[Any]:
    if not own._typed:
        return
    count = len(own)
    items = _compiled(parts)(own)
    for key in reversed(items) if backwards else items:
        if len(own) != count:
            raise RuntimeError(f"{what} changed size during iteration")
        yield key


def _pairs(items: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    for at, item in enumerate(items):
        if not isinstance(item, Iterable):
            raise TypeError(f"cannot convert dictionary update sequence element #{at} to a sequence")
        if len(pair := tuple(item)) != 2:
            raise ValueError(f"dictionary update sequence element #{at} has length {len(pair)}; 2 is required")
        yield pair


def _of_keywords(args: Any, kwargs: Any, name: str, of: str, kind: Any, room: str) -> tuple[Any, int]:
    """The type and the room for items from the keywords of Numba's constructors."""
    if args or of not in kwargs or not kwargs.keys() <= {of, room}:
        raise TypeError(f"{name}() takes no keyword arguments")
    if not isinstance(kwargs[of], kind):
        raise TypeError(f"*{of}* must be a {kind.__name__}")
    return kwargs[of], kwargs.get(room, 0)


def _annotated(cls: Any, kind: Any, items: Any, /, *args: Any) -> Any:
    from lancehead.annotations import type_of_hint

    parts = [type_of_hint(item) for item in items]
    if None in parts:
        raise errors.TypingError(f"{items!r} are not types of items")
    made = _typed(cls, kind(*parts))
    made.__init__(*args)
    return made


def _shown(type_: Any, undecided: str) -> str:
    """A type as Numba writes it."""
    if type_ is None:
        return f"{undecided}[Undefined]"
    for kind in ("ListType", "DictType", "SetType"):
        if isinstance(type_, getattr(types, kind)):
            parts = ",".join(_shown(part, "") for part in type_.arguments)
            return f"{kind}[{parts}]" + ("<iv=None>" if kind == "DictType" else "")
    return str(type_)


#: The typed container for each of Python's.
_SHARED: dict[type, Any] = {list: List, dict: Dict, set: Set}
