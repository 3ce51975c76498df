"""Containers that are filled only where control never comes for the types of a call: they stay empty."""

import numpy as np
import pytest

from lancehead import errors, njit
from lancehead.typed import List


def places(values):
    found = []
    for i in range(len(values)):
        if values.dtype.kind == "i":
            found.append(i)
    return values.sum(), found, len(found)


def counts(values):
    found, seen = {}, set()
    if values.dtype.kind == "i":
        for x in values:
            found[x] = found.get(x, 0) + 1
            seen.add(x)
    total = 0
    for key in found:
        total += found[key]
    return total, len(seen), found, seen


def of_none(x, more=None):
    out = []
    if more is not None:
        out.append(more)
    return x, out


@pytest.mark.parametrize("f", [places, counts])
@pytest.mark.parametrize("values", [np.arange(3), np.arange(3.0), np.zeros(0), np.ones(2, bool)], ids=str)
def test_as_python(f, values):
    assert njit(f)(values) == f(values)


def test_an_argument_that_is_none():
    compiled = njit(of_none)
    for args in ((1,), (1, "a"), (2, (1, 2.5))):
        assert compiled(*args) == of_none(*args)


def test_a_typed_list():
    @njit
    def f(values):
        found = List()
        if values.dtype.kind == "i":
            found.append(1.5)
        return found

    assert list(f(np.arange(2))) == [1.5] and list(f(np.zeros(2))) == []


def test_a_container_that_nothing_fills_is_still_refused():
    @njit
    def f(values):
        found = []
        if values.dtype.kind == "i":
            values.sort()
        return found

    with pytest.raises(errors.TypingError, match="cannot be found"):
        f(np.zeros(2))
