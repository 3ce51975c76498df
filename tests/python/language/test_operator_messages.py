"""Operators and functions that a type does not have are refused in words that are true; operations on None raise
Python's own."""

from __future__ import annotations

import re

import numpy as np
import pytest

from lancehead import errors, njit


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
