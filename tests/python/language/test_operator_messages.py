"""Operators and functions that a type does not have are refused in words that are true; operations on None raise
Python's own."""

from __future__ import annotations

import datetime
import decimal
import pathlib
import re

import numpy as np
import pytest

from lancehead import cuda, errors, njit, xp


def said(function, *arguments):
    """The message by which a call is refused."""
    with pytest.raises(errors.TypingError) as caught:
        function(*arguments)
    return str(caught.value)


def test_f31_unary_operators_have_their_signs():
    message = said(njit(lambda a: -a), np.array([True]))
    assert "unary `-` is not supported for `array(bool" in message and "~a" in message
    assert "unary `~` is not supported for `array(float64" in said(njit(lambda a: ~a), np.ones(2))


@pytest.mark.parametrize("function", [np.hypot, np.arctan2])
def test_f31_functions_of_real_numbers_say_so(function):
    message = said(njit(lambda z: function(z, z)), np.array([1j]))
    assert f"`numpy.{function.__name__}` is not defined for `array(complex128, 1d, C)`" in message
    assert "not supported in compiled code" not in message


def test_f31_the_same_for_one_operand():
    assert "is not defined for `complex`" in said(njit(lambda z: np.cbrt(z)), 1j)


@pytest.mark.parametrize("left, right", [([1.5], [2.5]), ((1, 2.5), [1.5]), ([1.5], 2.5), ("a", "b")])
def test_sequences_are_not_multiplied_with_each_other(left, right):
    for a, b in ((left, right), (right, left)):
        message = said(njit(lambda x, y: x * y), a, b)
        assert "calls itself" not in message and ("is not supported between" in message or "integer" in message)


def none_or_one(flag):
    return None if flag else 1


OPERATIONS = [
    lambda x: x + 1, lambda x: 1.5 - x, lambda x: x * 3, lambda x: x < 2, lambda x: 2 >= x, lambda x: x // 2,
]  # fmt: skip


@pytest.mark.parametrize("operation", OPERATIONS)
def test_f33_operations_on_none_have_pythons_words(operation):
    operation = njit(operation)

    @njit
    def use(flag):
        return operation(none_or_one(flag))

    with pytest.raises(TypeError) as wanted:
        operation.py_func(None)
    with pytest.raises(TypeError, match=re.escape(str(wanted.value))):
        use(True)
    assert use(False) == operation.py_func(1)


def test_objects_of_the_program_are_named():
    number, lazy = decimal.Decimal("1.5"), xp.ones(3)
    uses = [
        lambda x: number + x,
        lambda x: number * 2,
        lambda x: x < number,
        lambda x: -number,
        lambda x: abs(number),
        lambda x: max(x, number),
    ]
    for use in uses:
        assert "`decimal.Decimal` cannot be used in compiled code" in said(njit(use), 1.0)
    for use in (lambda x: lazy + x, lambda x: x @ lazy, lambda x: np.sin(lazy)):
        message = said(njit(use), np.ones(3))
        assert "`ndarray` cannot be used in compiled code" in message and "pass it as an argument" in message


def test_lists_are_not_multiplied_with_lists():
    message = said(njit(lambda v: v * v), [1.0])
    assert "`*` is not supported between `list[float]` and `list[float]`" in message and "np.array(x)" in message


def test_functions_of_arrays_have_the_names_of_numpy():
    for function in (xp.sin, xp.where):
        message = said(njit(lambda x: function(x)), 1.0)
        assert f"use `np.{function.__name__}`" in message


@pytest.mark.parametrize("value", [np.ones(3), [1, 2], (1, 2), {1: 2}], ids=repr)
def test_a_range_of_what_has_a_length(value):
    assert "`range(len(x))`" in said(njit(lambda v: [i for i in range(v)]), value)


def test_kernels_are_not_started_in_compiled_code():
    kernel = cuda.jit(lambda a: None)
    assert "kernels are started outside of compiled code" in said(njit(lambda a: kernel[1, 2](a)), np.ones(2))


class Plain:
    def __init__(self):
        self.x = 1


@pytest.mark.parametrize("value", [[Plain()], {"a": Plain()}, [[Plain()]], {"a": [Plain()]}, (1, [Plain()])], ids=repr)
def test_the_item_that_has_no_type_is_named(value):
    message = said(njit(lambda v: len(v)), value)
    assert "holds a `Plain`" in message and "decorate the class `Plain`" in message


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        (pathlib.Path("a"), "`str(v)`"),
        (re.compile("a"), "match outside"),
        (map(str, [1]), "`list(v)`"),
        ({1: 2}.keys(), "`list(v)`"),
        (datetime.timedelta(1), "`v.total_seconds()`"),
        (datetime.date(2020, 1, 1), "`v.toordinal()`"),
    ],
    ids=lambda x: type(x).__name__,
)
def test_objects_of_python_say_what_to_pass(value, advice):
    assert advice in said(njit(lambda v: len(v)), value)
