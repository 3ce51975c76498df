"""Every row of `docs/differences.md` has a test, here or in `test_differences_*.py`, or names one by a link.

Here are those about numbers and the types of scalars.
"""

import importlib
import math
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from difference_rows import PAGE, REGISTERED, row, rows
from lancehead import cuda, njit


def raised(function, *arguments):
    """The class and the text of the exception that a call raises."""
    with pytest.raises(Exception) as caught:
        function(*arguments)
    return caught.type, str(caught.value)


@njit
def power(x, n):
    return x**n


@row("size of `int`")
def test_integers_have_64_bits():
    def next_one(x):
        return x + 1

    assert next_one(2**63 - 1) == 2**63
    assert njit(next_one)(2**63 - 1) == -(2**63)
    with pytest.raises(OverflowError):
        njit(overflow="check")(next_one)(2**63 - 1)


@row("an argument of a type that a function refuses")
def test_arguments_of_any_type_that_has_the_operations():
    def taken(a, out):
        return np.take(a, 1, out=out)

    def item(xs):
        return xs.getitem_unchecked(0)

    assert raised(item, [1])[0] is AttributeError
    assert njit(item)([1]) == 1
    a = np.arange(3)
    assert raised(taken, a, np.zeros(()))[0] is TypeError


@row("a global or captured list changes")
def test_lists_from_outside_are_as_they_were():
    numbers = [1, 2]

    @njit
    def first():
        return numbers[0]

    @njit
    def given(xs):
        return xs[0]

    assert first() == given(numbers) == 1
    numbers[0] = 7
    assert given(numbers) == 7
    assert first() == 1


@row("a variable that is `int` on one path and `float` on another")
def test_a_variable_has_one_type():
    def either(condition):
        x = 1
        if condition:
            x = 2.5
        return x

    assert type(either(False)) is int
    assert type(njit(either)(False)) is float


@row("`int ** negative` with values known only at run time", "`negative ** fraction`")
def test_powers_have_one_type():
    assert 2**-1 == 0.5
    with pytest.raises(ValueError, match="negative integer powers"):
        np.int64(2) ** np.int64(-1)
    with pytest.raises(ValueError, match="negative integer powers"):
        power(2, -1)
    assert njit(lambda x: x**-1)(2) == 0.5
    assert isinstance((-8.0) ** 0.5, complex)
    assert math.isnan(power(-8.0, 0.5))


@row("`math.sqrt(-1.0)`, `math.log(0.0)`, `math.acos(2.0)`")
def test_functions_outside_of_their_domain():
    for name, x, answer in (("sqrt", -1.0, np.nan), ("log", 0.0, -np.inf), ("acos", 2.0, np.nan)):
        function = getattr(math, name)
        with pytest.raises(ValueError):
            function(x)
        np.testing.assert_equal(njit(lambda x: function(x))(x), answer)


@row("`math.exp(1000.0)`, overflow of float `**`")
def test_floats_overflow_to_infinity():
    with pytest.raises(OverflowError):
        math.exp(1000.0)
    with pytest.raises(OverflowError):
        1e200**2.0
    assert njit(lambda x: math.exp(x))(1000.0) == math.inf
    assert power(1e200, 2.0) == math.inf


@row("text of a ZeroDivisionError in CPython 3.14")
def test_texts_of_divisions_by_zero():
    def quotient(x):
        return 1 // x

    def remainder(x):
        return 1.0 % x

    for function, zero, text in (
        (quotient, 0, "integer division or modulo by zero"),
        (remainder, 0.0, "float modulo"),
    ):
        assert raised(njit(function), zero) == (ZeroDivisionError, text)
        text = text if sys.version_info < (3, 14) else "division by zero"
        assert raised(function, zero) == (ZeroDivisionError, text)


@row("text of the ValueError of `max` and `min` of nothing from CPython 3.12 on")
def test_texts_of_extremes_of_nothing():
    for function in (max, min):

        def extreme(a):
            return function([x for x in a if x > 5])

        text = "arg is an empty sequence"
        assert raised(njit(extreme), [1]) == (ValueError, f"{function.__name__}() {text}")
        text = text if sys.version_info < (3, 12) else "iterable argument is empty"
        assert raised(extreme, [1]) == (ValueError, f"{function.__name__}() {text}")


@row("`sum` of floats that do not come from an array, from CPython 3.12 on")
def test_sums_of_floats_add_one_after_the_other():
    def total(x):
        return sum([x] * 10)

    assert total(0.1) == (0.9999999999999999 if sys.version_info < (3, 12) else 1.0)
    assert njit(total)(0.1) == 0.9999999999999999
    assert njit(lambda a: sum(a))(np.full(10, 0.1)) == 0.9999999999999999
    assert njit(lambda x: math.fsum([x] * 10))(0.1) == 1.0


@row("division by zero of scalars that come from arrays")
def test_scalars_of_arrays_divide_as_pythons():
    def quotient(a):
        return a[0] / a[1]

    a = np.array([1.0, 0.0])
    with np.errstate(divide="ignore"):
        assert quotient(a) == math.inf
    with pytest.raises(ZeroDivisionError):
        njit(quotient)(a)
    assert njit(error_model="numpy")(quotient)(a) == math.inf
    assert list(njit(lambda a: 1 / a)(a)) == [1.0, math.inf]


@row("`float16`")
def test_functions_of_small_integers_give_float32():
    def root(a):
        return np.sqrt(a)

    compiled = njit(root)
    for dtype in (np.bool_, np.int8, np.uint8):
        assert root(np.ones(2, dtype)).dtype == np.float16
        assert compiled(np.ones(2, dtype)).dtype == np.float32
    assert compiled(np.ones(2, np.float16)).dtype == np.float16


@row("an `int` argument that does not fit the type that a signature gives its parameter")
def test_integers_that_do_not_fit_a_signature():
    @cuda.jit("void(int32, int64[::1])")
    def kernel(mask, out):
        out[0] = mask

    compiled = njit("int64(int32)")(lambda x: x)
    assert compiled(2**31 - 1) == 2**31 - 1
    with pytest.raises(OverflowError, match="out of bounds for int32"):
        compiled(0xFFFFFFFF)
    out = np.zeros(1, np.int64)
    kernel[1, 1](0xFFFFFFFF, out)
    assert out[0] == -1


@row("a Python number meets a typed operand")
def test_python_numbers_meet_typed_operands():
    def is_narrow(x):
        return np.full(1, x + 1.5).dtype == np.float32

    def meeting(a, condition):
        x = 1.5
        if condition:
            x = a[0]
        return np.full(1, x).dtype == np.float32

    assert is_narrow(np.float32(1))
    assert njit(is_narrow)(np.float32(1))
    assert meeting(np.ones(1, np.float32), True)
    assert not njit(meeting)(np.ones(1, np.float32), True)


@row("a 64-bit NumPy scalar (`np.int64`")
def test_wide_numbers_in_containers_are_pythons():
    def product(x, y):
        return np.full(1, x * y).dtype.name

    def product_of_items(items, y):
        return np.full(1, items[0] * y).dtype == np.float32

    x, y = np.float64(2), np.float32(1)
    assert not product_of_items([x], y)
    compiled = njit(product_of_items)
    assert compiled([x], y)
    assert compiled((x,), y)
    assert not compiled(np.ones(1), y)
    assert not njit(lambda x, y: np.full(1, x * y).dtype == np.float32)(x, y)


@row("a result is a scalar")
def test_results_are_pythons_numbers():
    def first(a):
        return a[0]

    for dtype, kind in ((np.float32, float), (np.int8, int), (np.complex64, complex), (np.bool_, bool)):
        a = np.ones(1, dtype)
        assert type(first(a)) is dtype
        assert type(njit(first)(a)) is kind


@row("`~` of a truth value")
def test_the_complement_of_a_truth_value_is_its_negation():
    def complement(x):
        return ~x

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        assert complement(True) == -2
    assert not complement(np.bool_(True))
    compiled = njit(complement)
    assert compiled(True) is compiled(np.bool_(True)) is False
    assert compiled(False) is True


def registered():
    """The beginnings of rows that have a test in one of these files."""
    for path in Path(__file__).parent.glob("test_differences_*.py"):
        importlib.import_module(path.stem)
    return list(REGISTERED)


def test_every_row_has_a_test():
    assert rows()
    for found in rows():
        for link in found.links:
            assert (PAGE.parent / link).exists(), f"{PAGE}:{found.line}: there is no {link}"
        beginnings = [text for text in registered() if found.case.startswith(text)]
        assert found.links or beginnings, f"{PAGE}:{found.line}: no test shows the row: {found.case}"


def test_every_test_is_of_one_row():
    cases = [found.case for found in rows()]
    for beginning in registered():
        fitting = [case for case in cases if case.startswith(beginning)]
        assert len(fitting) == 1, f"{beginning}: rows that begin so: {fitting}"
