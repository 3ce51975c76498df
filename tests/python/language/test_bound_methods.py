"""Methods of objects in C that the program holds in a name: the object's own, never a function of the same name."""

from __future__ import annotations

import functools
import random
import sys

import numpy as np
import pytest

from lancehead import njit
from lancehead.errors import NumbaError

X = np.array([1.0, 2.0, 4.0])
TABLE = np.array([[3.0, 1.0], [2.0, 5.0]])
UFUNCS = (np.subtract, np.add, np.maximum, np.equal, np.hypot, np.multiply)


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda u: u.__name__)
def test_methods_of_ufuncs(ufunc):
    outer, reduce, accumulate = ufunc.outer, ufunc.reduce, ufunc.accumulate
    np.testing.assert_array_equal(njit(lambda x: outer(x, x))(X), outer(X, X))
    partial = functools.partial(outer, X)
    np.testing.assert_array_equal(njit(lambda x: partial(x))(X), outer(X, X))
    if ufunc is not np.equal:
        assert njit(lambda x: reduce(x))(X) == reduce(X)
        np.testing.assert_array_equal(njit(lambda x: accumulate(x))(X), accumulate(X))


@pytest.mark.parametrize("name", "mean sum max std var cumsum argmax argsort prod any all min item take".split())
def test_methods_of_arrays(name):
    method = getattr(TABLE, name)
    np.testing.assert_allclose(njit(lambda i: method(i))(0), method(0), rtol=1e-15)


def test_methods_of_texts():
    count, upper, joined = "a-b-c".count, "abc".upper, "-".join
    assert njit(lambda: (count("-"), upper(), joined(["x", "y"])))() == (2, "ABC", "x-y")


def test_methods_in_tuples_and_of_constant_containers():
    methods = (X.sum, X.max)
    found = {1: 2.5}.get
    assert njit(lambda: methods[0]() + methods[1]())() == 11.0
    assert njit(lambda k: found(k, 0.0))(1) == 2.5
    index = [3, 1, 2].index
    assert njit(lambda: index(1))() == 1


@pytest.mark.parametrize(
    "method", [sys.stdout.write, random.Random(5).random, np.random.RandomState(3).normal, iter([1]).__next__]
)
def test_methods_of_other_objects_are_refused_by_their_own_names(method):
    with pytest.raises(NumbaError) as caught:
        njit(lambda: method())()
    assert "`numpy." not in str(caught.value) and method.__name__ in str(caught.value)
