"""Methods that subclasses of `int`, `float`, `str` and named tuples have in the place of their bases' are called, or
the instance is refused: they are never ignored."""

import enum
import subprocess
import sys
from collections import namedtuple

import numpy as np
import pytest

from lancehead import errors, njit, typeof


class Sum(int):
    def __add__(self, other):
        return 100


class Product(float):
    def __mul__(self, other):
        return 5.0

    def is_integer(self):
        return True


class Text(str):
    def upper(self):
        return "x"

    def __len__(self):
        return 42


class Inherits(Sum):
    pass


class More(int):
    """It adds to `int` and replaces nothing."""

    def __new__(cls, value=0):
        return super().__new__(cls, value)

    def double(self):
        return 2 * self


class Colour(enum.IntEnum):
    RED = 3

    def __str__(self):
        return "red"


class Pair(namedtuple("Pair", "x y")):
    def __len__(self):
        return 9

    def __getitem__(self, index):
        return 77

    def total(self):
        return self.x + self.y


@pytest.mark.parametrize(
    ("f", "argument"),
    [
        (lambda a: a + 1, Sum(1)),
        (lambda a: a + 1, Inherits(1)),
        (lambda a: a * 2.0, Product(1)),
        (lambda a: a.is_integer(), Product(1.5)),
        (lambda a: a.upper(), Text("a")),
        (lambda a: len(a), Text("a")),
        (lambda a: a[0] + 1, (Sum(1),)),
        (lambda a: a[0] + 1, [Sum(1)]),
    ],
)
def test_refused(f, argument):
    with pytest.raises(errors.NumbaError):
        njit(f)(argument)


def test_refused_as_globals():
    one, two, three = Sum(1), Product(1), Text("a")
    for f in (lambda: one + 1, lambda: two * 2, lambda: len(three)):
        with pytest.raises(errors.NumbaError):
            njit(f)()
    assert str(typeof(Sum(1))) == "pyobject"


@pytest.mark.parametrize("f", [lambda p: len(p), lambda p: p[0], lambda p: p.total(), lambda p: p.x])
def test_named_tuples(f):
    assert njit(f)(Pair(1, 2)) == f(Pair(1, 2))


def test_what_is_as_its_base():
    assert njit(lambda a: a + 1)(More(2)) == 3
    assert njit(lambda a: a == Colour.RED)(Colour.RED)
    assert njit(lambda a: a + 1)(True) == 2
    for value in (np.float64(2.5), np.str_("ab"), np.int64(3)):
        assert njit(lambda a: a * 2)(value) == value.item() * 2


SECOND = """
import _xxsubinterpreters as interpreters
from lancehead import njit
f = njit(lambda x: x + 1)
f(1)
other = interpreters.create()
for module in ("lancehead", "lancehead._core", "lancehead"):
    try:
        interpreters.run_string(other, f"import {module}")
    except interpreters.RunFailedError as error:
        assert "ImportError" in str(error), error
    else:
        raise AssertionError("the import did not fail")
    assert f(1.5) == 2.5 and njit(lambda x: x * 2)(3) == 6
interpreters.destroy(other)
"""


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="the module of interpreters has another name")
def test_an_import_by_another_interpreter_leaves_this_one_whole():
    done = subprocess.run([sys.executable, "-c", SECOND], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
