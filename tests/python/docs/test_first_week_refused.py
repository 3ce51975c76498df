"""Programs of a user's first week that lancehead refuses: each diagnostic has its id, the user's line and a way out.

A program that runs one day moves to `test_first_week`.
"""

from __future__ import annotations

import inspect
import re
from typing import Any, NamedTuple

import numpy as np
import pytest

import lancehead
from lancehead import errors, njit


class Account:
    def __init__(self, balance):
        self.balance = balance

    @njit
    def doubled(self):  # culprit
        return 2 * self.balance


class Ledger(Account):
    def __setattr__(self, name, value):
        super().__setattr__(name, value)


@njit
def row_20_object(account):  # culprit
    return account.balance


@njit
def row_20_constructor(balance):
    return Ledger(balance).balance  # culprit


MATRIX = np.eye(3)


class Case(NamedTuple):
    """A call that is refused: the ids that its diagnostic may have, and a pattern of its help that shows the way out.

    The lines of the function that the diagnostic may point to are marked as culprits.
    """

    function: Any
    arguments: tuple[Any, ...]
    id: str
    way_out: str


#: The way out of a refused container is another container, or NumPy.
#: The way out of a function of NumPy is another one, or to call it from Python.
ELSEWHERE = r"outside|np\.|numpy|`@`"

CASES = {
    "20_method": Case(Account.__dict__["doubled"], (Account(3.0),), "unsupported-type", r"@staticmethod|one by one"),
    "20_object": Case(row_20_object, (Account(3.0),), "unsupported-type", r"NamedTuple|namedtuple|one by one"),
    "20_constructor": Case(row_20_constructor, (3.0,), "unsupported-call", r"NamedTuple|namedtuple|outside|pass"),
}
#: An argument is at fault, so the culprit is named by its function and parameter rather than by a line.
OF_ARGUMENTS = {"20_method", "20_object"}


def message_of(case: Case) -> str:
    """The diagnostic of a case."""
    with pytest.raises(errors.NumbaError) as caught:
        case.function(*case.arguments)
    return str(caught.value)


@pytest.mark.parametrize("name", CASES)
def test_row_has_its_id(name):
    found = re.match(r"error\[([a-z-]+)\]: ", message_of(CASES[name]))
    assert found
    assert found[1] in CASES[name].id.split("|")


@pytest.mark.parametrize("name", CASES)
def test_row_shows_the_users_line(name):
    function = CASES[name].function.py_func
    lines, first = inspect.getsourcelines(function)
    numbers = "|".join(str(n) for n, line in enumerate(lines, first) if "# culprit" in line)
    message = message_of(CASES[name])
    if name in OF_ARGUMENTS:
        parameter = next(iter(inspect.signature(function).parameters))
        assert f"`{parameter}` of `{function.__name__}`" in message
    else:
        assert re.search(rf"--> \S*{re.escape(__file__.rsplit('/', 1)[1])}:({numbers}):", message), message
        assert "^" in message


@pytest.mark.parametrize("name", CASES)
def test_row_names_a_way_out(name):
    message = message_of(CASES[name])
    help_lines = "\n".join(re.findall(r"^\s*help: (.*(?:\n\s{4,}\S.*)*)", message, re.MULTILINE))
    assert help_lines, message
    assert re.search(CASES[name].way_out, help_lines), message
    assert "the manual lists" not in message


def test_row_20_class():
    """A decorated class: the message names classes, and says what to decorate instead."""
    with pytest.raises((TypeError, errors.NumbaError)) as caught:
        njit(Account)
    assert "class" in str(caught.value)
    assert re.search("static ?method", str(caught.value)), str(caught.value)


@pytest.mark.parametrize("name", ["jitclass", "generated_jit"])
def test_row_20_names_of_numba(name):
    """Names that Numba has and lancehead lacks are refused with what to write instead."""
    with pytest.raises(Exception, match=name) as caught:
        getattr(lancehead, name)()
    assert re.search("instead|not supported|use |pass", str(caught.value)), str(caught.value)
