"""Overloads see the items of displays of constants; `literally` works in the functions that they choose."""

import pickle

import pytest

from lancehead import literally, njit, typeof, types
from lancehead.extending import overload


def asked(choose):
    """A function with this overload, and the types that it was asked with."""
    seen = []

    def function(x):
        raise NotImplementedError

    @overload(function)
    def _(x):
        seen.append(x)
        return choose(x)

    return function, seen


def by_value(x):
    return (lambda x: literally(x)) if x.initial_value is None else (lambda x: len(x))


def test_a_dictionary_tells_its_constants_on_request():
    function, seen = asked(by_value)

    @njit
    def call():
        counts = {"a": 1, "b": 2}
        counts["c"] = 3
        return function(counts)

    assert call() == 3
    assert [t.initial_value for t in seen] == [None, {"a": 1, "b": 2}]
    assert all(isinstance(t, types.DictType) and not hasattr(t, "literal_value") for t in seen)
    assert (seen[1].key_type, seen[1].value_type) == (types.unicode_type, types.int64)


def test_a_list_tells_its_constants_on_request():
    function, seen = asked(by_value)

    @njit
    def call():
        items = [1, 2, 3]
        items.append(4)
        return function(items)

    assert call() == 4
    assert [t.initial_value for t in seen] == [None, [1, 2, 3]]
    assert all(isinstance(t, types.List) and t.dtype == types.int64 for t in seen)


def test_nothing_is_told_of_what_is_computed_or_of_two_origins():
    function, seen = asked(lambda x: lambda x: len(x))

    @njit
    def computed(n):
        return function([1, n])

    @njit
    def either(flag):
        if flag:
            x = {"a": 1}
        else:
            x = {"b": 2, "c": 3}
        return function(x)

    assert (computed(2), either(True), either(False)) == (2, 1, 2)
    assert {t.initial_value for t in seen} == {None}


def test_what_wants_a_constant_that_is_not_known_is_refused():
    function, _ = asked(by_value)

    with pytest.raises(Exception, match="literally"):
        njit(lambda n: function([1, n]))(2)


def test_an_overload_is_asked_again_with_the_literal_that_its_choice_wants():
    def choose(x):
        if not isinstance(x, types.Literal):
            return lambda x: literally(x)
        factor = 100 * x.literal_value
        return lambda x: factor

    function, _ = asked(choose)
    assert njit(lambda: function(5))() == 500
    assert njit(lambda n: function(n))(7) == 700
    outer = njit(lambda n: function(n) + 1)
    assert njit(lambda n: outer(n))(3) == 301


def test_literals_by_keyword():
    def signed(x, mode="same"):
        raise NotImplementedError

    @overload(signed)
    def _(x, mode="same"):
        if isinstance(mode, str):
            return lambda x, mode="same": x
        if not isinstance(mode, types.StringLiteral):
            return lambda x, mode="same": literally(mode)
        if mode.literal_value == "negative":
            return lambda x, mode="same": -x
        return lambda x, mode="same": 10 * x

    assert njit(lambda x: (signed(x), signed(x, mode="negative"), signed(x, "other")))(3) == (3, -3, 30)


def test_lists_of_several_types_have_literal_types():
    function, seen = asked(lambda x: lambda x: len(x))
    assert njit(lambda: function(["a", 1, 2.5]))() == 3
    seen = seen[-1]
    assert isinstance(seen, types.LiteralList) and isinstance(seen, types.Literal)
    assert not isinstance(seen, types.BaseTuple) and not isinstance(seen, types.List)
    assert seen.literal_value == [types.literal("a"), types.literal(1), types.float64]
    assert (len(seen), str(seen)) == (3, "LiteralList((Literal[str](a), Literal[int](1), float64))")


@pytest.mark.parametrize(
    "made",
    [
        types.DictType(types.unicode_type, types.int64, initial_value={"a": 1}),
        types.DictType(types.int64, types.boolean, {1: True}),
        types.List(types.int64, initial_value=[1, 2]),
        types.LiteralList((types.int64, types.unicode_type)),
    ],
)
def test_such_types_are_made_and_pickled(made):
    assert pickle.loads(pickle.dumps(made)) is made
    assert types.unliteral(made) == types.unliteral(types.unliteral(made))


def test_types_without_constants():
    assert typeof([1]).initial_value is None
    assert types.DictType(types.int64, types.int64).initial_value is None
    assert not hasattr(types.int64, "initial_value")
    assert str(types.List(types.int64, initial_value=[1, 2])).endswith("<iv=[1, 2]>")
    assert str(types.DictType(types.unicode_type, types.int64, {"a": 1})).endswith("<iv={'a': 1}>")
