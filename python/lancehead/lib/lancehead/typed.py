"""The containers of `lancehead.typed` in compiled code: lists, dictionaries and sets that Python shares.

They are those of `lists`, `dicts` and `sets`; `prim.items_share` marks an object as one that Python sees as a typed
container instead of a copy.
"""

from lancehead.lib import prim
from lancehead.lib.tables import prepare


def shared(x):
    """The value; a container is shared with Python from now on."""
    if prim.is_a(x, "builtins.list") or prim.is_a(x, "builtins.dict") or prim.is_a(x, "builtins.set"):
        prim.items_share(x)
    return x


def mutable(x):
    """The list, if it may be changed."""
    prim.items_reserve(x, 0)
    return x


class List:
    """Typed lists."""

    def __new__(iterable=(), /):
        """A typed list of the items."""
        if prim.is_tuple(iterable) and len(iterable) > 0:
            # The first item decides.
            out = prim.items_like([iterable[0]], len(iterable))
            for x in iterable:
                out.append(x)
            return shared(out)
        return shared([x for x in iterable])

    @staticmethod
    def empty_list(item_type, allocated=0):
        """A typed list without items, with room for some."""
        if allocated < 0:
            raise RuntimeError("expecting *allocated* to be >= 0")
        return shared(prim.items_new("builtins.list", item_type, allocated))


class Dict:
    """Typed dictionaries."""

    def __new__(iterable=(), /):
        """A typed dictionary of the pairs, or with the items of another."""
        return shared(dict(iterable))

    @staticmethod
    def empty(key_type, value_type, n_keys=0):
        """A typed dictionary without items, with room for some."""
        if n_keys < 0:
            raise RuntimeError("expecting *n_keys* to be >= 0")
        out = prim.items_new("builtins.dict", key_type, value_type, n_keys)
        prepare(out, n_keys)
        return shared(out)


class Set:
    """Typed sets."""

    def __new__(iterable=(), /):
        """A typed set of the items."""
        return shared(set(iterable))

    @staticmethod
    def empty(item_type, n_items=0):
        """A typed set without items, with room for some."""
        if n_items < 0:
            raise RuntimeError("expecting *n_items* to be >= 0")
        out = prim.items_new("builtins.set", item_type, n_items)
        prepare(out, n_items)
        return shared(out)
