"""Warnings name the program's line, not one of lancehead's own files."""

import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from lancehead import entrypoints, guvectorize, njit, prange


def line():
    return sys._getframe(1).f_lineno


def unproven(out, at):
    for i in prange(len(at)):
        out[at[i]] = at[i] * out[0]


def called():
    function = njit(parallel=True)(unproven)
    return line(), function(np.zeros(3), np.array([0, 1, 1]))


def compiled():
    function = njit(parallel=True)(unproven)
    return line(), function.compile("void(f8[:], i8[:])")


def decorated():
    return line(), njit("void(f8[:], i8[:])", parallel=True)(unproven)


def no_output(a, b):
    b = a  # noqa: F841


def of_a_ufunc():
    return line(), guvectorize(["void(f8[:], f8[:])"], "(n)->(n)")(no_output)


def of_a_ufunc_that_is_called():
    function = guvectorize("(n)->(n)")(no_output)
    return line(), function(np.zeros(3), np.zeros(3))


def of_options():
    return line(), njit(forceobj=True)(lambda x: x)


@pytest.mark.parametrize("warns", [called, compiled, decorated, of_a_ufunc, of_a_ufunc_that_is_called, of_options])
def test_the_line_of_the_program_is_named(warns):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        wanted, _ = warns()
    assert [(w.filename, w.lineno) for w in told] == [(__file__, wanted)]


def test_an_extension_that_fails_is_told_of_where_code_is_compiled(monkeypatch):
    def fails():
        raise RuntimeError("not today")

    point = SimpleNamespace(name="init", value="somewhere:init", dist=None, load=lambda: fails)
    found = SimpleNamespace(select=lambda group, name: [point])
    monkeypatch.setattr(entrypoints.importlib.metadata, "entry_points", lambda: found)
    monkeypatch.setattr(entrypoints, "_initialised", False)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        wanted = line() + 1
        entrypoints.init_all()
    assert [(w.filename, w.lineno) for w in told] == [(__file__, wanted)]
