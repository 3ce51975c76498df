"""Instances of subclasses of `ndarray` are their memory, whatever the class makes of it; new arrays are plain ones."""

from __future__ import annotations

import tempfile

import numpy as np
import numpy.ma as ma
import pytest

from lancehead import errors, njit, vectorize


class Plain(np.ndarray):
    pass


class Other(np.ndarray):
    """A class whose operations mean something else."""

    def __mul__(self, other):
        return "a product"

    def __getitem__(self, index):
        return "an item"

    def __array_finalize__(self, parent):
        self.label = "set"

    def __array_ufunc__(self, *args, **kwargs):
        return NotImplemented


def memmap():
    a = np.memmap(tempfile.TemporaryFile(), np.float64, shape=(2, 2))
    a[:] = [[1, 2], [3, 4]]
    return a


def matrices():
    square = np.array([[1.0, 2.0], [3.0, 4.0]])
    return [
        np.matrix(square),
        square.view(Plain),
        square.view(Other),
        square.view(np.recarray),
        memmap(),
        memmap()[::-1].view(Plain),
    ]


@njit
def products(a):
    return a * a, a @ a, a[0], a[0, 1], a.T, a.sum(), a[:]


@pytest.mark.parametrize("case", range(len(matrices())))
def test_operations_are_those_of_arrays(case):
    m = matrices()[case]
    plain = np.ndarray.view(m, np.ndarray)
    for want, got in zip(products.py_func(plain)[:-1], products(m)[:-1]):
        assert type(got) is (np.ndarray if isinstance(want, np.ndarray) else float)
        np.testing.assert_array_equal(got, want)
    assert np.shares_memory(np.ndarray.view(products(m)[-1], np.ndarray), plain)


def test_they_are_written_to():
    @njit
    def fill(a, x):
        a[:] = x
        return a

    for m in matrices():
        made = fill(m, 7.0)
        # A result that is an argument is that object.
        assert made is m and (np.ndarray.view(m, np.ndarray) == 7).all()


def test_one_specialisation_for_all():
    @njit
    def f(a):
        return a.size

    square = np.ones((2, 2))
    assert [f(a) for a in (square, np.matrix(square), square.view(Plain), square.view(Other))] == [4] * 4
    assert len(f.signatures) == 1


def test_inside_of_tuples_and_lists_and_as_globals():
    matrix, other = np.matrix([[1.0, 2.0], [3.0, 4.0]]), np.arange(4.0).view(Other)

    @njit
    def f(pair, items):
        return pair[0] * pair[1] + items[1] * items[1] + matrix * matrix, other * 2

    got = f((matrix, matrix), [matrix, matrix])
    assert [type(g) for g in got] == [np.ndarray] * 2
    np.testing.assert_array_equal(got[0], 3 * np.asarray(matrix) ** 2)
    np.testing.assert_array_equal(got[1], np.arange(4.0) * 2)


def test_a_record_array_has_its_fields():
    @njit
    def f(r):
        r.a[1] = 5
        return r.a.sum(), r["b"] * 2, r[1].b

    r = np.rec.array([(1, 2.0), (3, 4.0)], dtype=[("a", "i8"), ("b", "f8")])
    total, doubled, b = f(r)
    assert (total, list(doubled), b, r.a[1]) == (6, [4.0, 8.0], 4.0, 5)


@pytest.mark.parametrize(
    "make",
    [lambda: ma.array([1.0, 2.0], mask=[False, True]), lambda: ma.zeros(2).view(type("Mine", (ma.MaskedArray,), {}))],
)
def test_masked_arrays_are_refused(make):
    @njit
    def f(a):
        return a.sum()

    masked = make()
    with pytest.raises(errors.TypingError, match="compiled code cannot take"):
        f(masked)
    with pytest.raises(errors.TypingError):
        njit(lambda: masked.sum())()
    with pytest.raises(errors.TypingError):
        f((masked, masked))


def test_the_way_out_of_a_masked_array_is_said():
    with pytest.raises(errors.TypingError, match=r"`a.filled\(\)`"):
        njit(lambda a: a + 1)(ma.zeros(2))
    assert njit(lambda a, m: a[~m].sum())(ma.array([1.0, 2.0]).data, np.array([False, True])) == 1.0


def test_ufuncs_of_users_take_what_is_no_array_of_its_own():
    @vectorize
    def twice(x):
        return 2 * x

    np.testing.assert_array_equal(twice(np.arange(3.0).view(Plain)), [0, 2, 4])
