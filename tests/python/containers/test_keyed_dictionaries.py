"""Dictionaries with constant keys and values of several types: their types, as overloads see them."""

import pickle

import pytest

from lancehead import errors, njit, typeof, types
from lancehead.extending import overload


def described(x):
    raise NotImplementedError


def test_overloads_see_keys_and_values():
    asked = []

    @overload(described)
    def choose(x):
        asked.append(x)
        if not isinstance(x, types.LiteralStrKeyDict):
            return None
        return lambda x: (x["a"], x["c"], len(x))

    outer = 5

    @njit
    def call():
        return described({"a": 1, "b": 2j, "c": "d", "e": outer})

    assert call() == (1, "d", 4)
    seen = asked[-1]
    assert seen.literal_value == {
        types.literal("a"): types.literal(1),
        types.literal("b"): typeof(2j),
        types.literal("c"): types.literal("d"),
        types.literal("e"): types.literal(5),
    }
    assert not isinstance(seen, types.BaseTuple) and not isinstance(seen, types.DictType)
    assert not hasattr(seen, "initial_value")


def test_the_type_is_made_and_pickled():
    made = types.LiteralStrKeyDict({"a": types.int64, types.literal("b"): types.unicode_type})
    assert made.literal_value == {types.literal("a"): types.int64, types.literal("b"): types.unicode_type}
    assert pickle.loads(pickle.dumps(made)) is made and isinstance(made, types.LiteralStrKeyDict)


def test_it_cannot_be_returned():
    @njit
    def same(d):
        return d

    with pytest.raises(errors.TypingError, match="values of several types"):
        njit(lambda: same({"a": 1, "b": 2.5})["a"])()
