"""Lists and dictionaries of functions as arguments, called by run-time index."""

from functools import partial

import numpy as np
import pytest

from lancehead import cfunc, errors, njit, types


@njit("f8(f8)")
def half(x):
    return x / 2


@njit("f8(f8)")
def more(x):
    return x + 1


@njit
def square(x):
    return x * x


@cfunc("f8(f8)")
def third(x):
    return x / 3


@cfunc("f8(f8)")
def less(x):
    return x - 1


class Address(types.WrapperAddressProtocol):
    """A function by its address."""

    def __init__(self, function):
        self.function = function

    def __wrapper_address__(self):
        return self.function.address

    def signature(self):
        return types.float64(types.float64)


@njit
def call(functions, i, x):
    return functions[i](x)


@njit
def compose(functions, x):
    for f in functions:
        x = f(x)
    return x


def plain(f):
    return getattr(f, "py_func", None) or getattr(getattr(f, "function", f), "__wrapped__", f)


SEVERAL = [[half, more], [more, half, more], [half, more, square], [third, less], [half, third, less], [half, half]]


@pytest.mark.parametrize("functions", SEVERAL, ids=str)
def test_lists(functions):
    expected = [plain(f)(9.0) for f in functions]
    assert [call(functions, i, 9.0) for i in range(len(functions))] == expected
    assert [call(functions, i - len(functions), 9.0) for i in range(len(functions))] == expected
    assert compose(functions, 9.0) == compose.py_func([plain(f) for f in functions], 9.0)
    with pytest.raises(IndexError):
        call(functions, len(functions), 9.0)


@pytest.mark.parametrize("functions", SEVERAL, ids=str)
def test_dictionaries(functions):
    numbered, named = dict(enumerate(functions)), {str(i): f for i, f in enumerate(functions)}
    for i, f in enumerate(functions):
        assert call(numbered, i, 9.0) == call(named, str(i), 9.0) == plain(f)(9.0)
    with pytest.raises(KeyError):
        call(numbered, -1, 9.0)


def test_tuples_of_addresses_and_of_partials():
    functions = (Address(third), Address(less))
    assert [call(functions, i, 9.0) for i in range(2)] == [3.0, 8.0]
    assert compose([Address(third), Address(less)], 9.0) == 2.0
    powers = [partial(pow, 2.0), partial(pow, 3.0), square]
    assert [call(powers, i, 2.0) for i in range(3)] == [4.0, 9.0, 4.0]


def test_the_order_needs_no_new_code():
    @njit
    def first(functions):
        return functions[0](3.0)

    assert [first([half, more]), first([more, half]), first([more, half, half, more])] == [1.5, 4.0, 4.0]
    assert len(first.signatures) == 1


def test_containers_are_changed_in_place():
    @njit
    def turn(functions, table):
        functions.append(functions[0])
        functions[0] = functions[1]
        table["last"] = table["first"]
        return functions

    functions, table = [half, more], {"first": half, "other": more}
    assert turn(functions, table) is functions
    assert functions == [more, more, half]
    assert table == {"first": half, "other": more, "last": half}


def test_functions_of_lists_are_guarded():
    def old(x):
        return x + 1

    def new(x):
        return x + 100

    functions = [njit(old), square]
    assert call(functions, 0, 1) == 2
    old.__code__ = new.__code__
    assert call(functions, 0, 1) == 101
    given = [partial(old, 5), partial(old, 6)]

    @njit
    def both(functions):
        return functions[0](), functions[1]()

    assert both(given) == (105, 106)


def test_what_has_no_common_type_is_refused():
    with pytest.raises(errors.TypingError, match="items of a list are"):
        call([half, 3.0], 0, 1.0)
    with pytest.raises(errors.TypingError, match="items of a list are"):
        call([half, np.ones(2)], 0, 1.0)
