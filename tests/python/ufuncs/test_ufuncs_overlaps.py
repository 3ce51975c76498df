"""Outputs of ufuncs that share memory with inputs, on one thread and in blocks on several: as if inputs were copied."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lancehead import guvectorize, njit, parallel_chunksize, vectorize, xp

TYPES = ("float64", "float32", "int64", "int16", "complex128")
TARGETS = ("cpu", "parallel")


def difference(x, y):
    return x - y


def reversed_twice(a, out):
    for i in range(a.shape[0]):
        out[i] = a[a.shape[0] - 1 - i] * 2


SUBTRACT = {target: vectorize([f"{t}({t}, {t})" for t in TYPES], target=target)(difference) for target in TARGETS}
REVERSE = {
    target: guvectorize([f"({t}[:], {t}[:])" for t in TYPES], "(n)->(n)", target=target)(reversed_twice)
    for target in TARGETS
}


@pytest.fixture(autouse=True)
def many_blocks():
    with parallel_chunksize(4):
        yield


@st.composite
def lines(draw, size=90):
    """A slice of a line of 300 numbers, in any direction."""
    step, first = draw(st.sampled_from([1, 1, 2, 3, -1, -2])), draw(st.integers(0, 8))
    part = slice(first, first + size * abs(step), abs(step))
    return lambda line: line[part][::-1] if step < 0 else line[part]


@st.composite
def tables(draw):
    """A part of a table of 24 rows and 25 columns, which may be on its side or upside down."""
    row, column, down, across = draw(st.tuples(*[st.integers(0, 3)] * 2, *[st.sampled_from([1, -1])] * 2))
    on_its_side = draw(st.booleans())

    def view(line):
        table = line.reshape(24, 25)
        part = table[row : row + 18, column : column + 18][::down, ::across]
        return part.T if on_its_side else part

    return view


@st.composite
def views(draw, number):
    """Views of one piece of memory; two of them may be the same."""
    kind = draw(st.sampled_from([lines(), tables()]))
    found = [draw(kind) for _ in range(number)]
    if draw(st.booleans()):
        found[-1] = found[0]
    return found


def memory(dtype):
    return (np.arange(600) * 37 % 101 - 50).astype(dtype)


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=60)
@given(views(3), st.sampled_from(TYPES), st.sampled_from([None, 2, 3]))
def test_calls(target, of, dtype, every):
    want, got = memory(dtype), memory(dtype)
    a, b, out = (view(want) for view in of)
    where = True if every is None else np.arange(out.size).reshape(out.shape) % every != 0
    # NumPy's own ufunc of the same operation.
    np.subtract(a, b, out=out, where=where)
    a, b, out = (view(got) for view in of)
    SUBTRACT[target](a, b, out=out, where=where)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shift", [-40, -3, -1, 0, 1, 3, 40])
@pytest.mark.parametrize("step", [1, 2, -1])
def test_outputs_before_and_behind_inputs(target, shift, step):
    a = np.arange(1000.0)[::step]
    lo, n = max(0, -shift), a.size - abs(shift)
    want = a[lo : lo + n] - a[lo : lo + n] ** 2
    SUBTRACT[target](a[lo : lo + n], a[lo : lo + n] ** 2, out=a[lo + shift : lo + shift + n])
    np.testing.assert_array_equal(a[lo + shift : lo + shift + n], want)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("axis", [0, 1])
def test_methods(target, dtype, axis):
    ufunc, table = SUBTRACT[target], memory(dtype).reshape(24, 25)
    # In the memory of the input, and in new memory.
    for out in (None, lambda t: t, lambda t: t[::-1, ::-1]):
        want, got = table.copy(), table.copy()
        results = [
            f.accumulate(t, axis=axis, out=None if out is None else out(t))
            for f, t in ((np.subtract, want), (ufunc, got))
        ]
        np.testing.assert_array_equal(*results)
        np.testing.assert_array_equal(got, want)
    for call in (
        lambda f, t: f.reduce(t, axis=axis),
        lambda f, t: f.reduce(t, axis=axis, out=t[3, :24] if axis == 1 else t[3]),
        lambda f, t: f.reduceat(t, [0, 5, 2, 20], axis=axis),
        lambda f, t: f.reduceat(t, [3, 9], axis=axis, out=t[:2] if axis == 0 else t[:, :2]),
        lambda f, t: f.at(t, ([1, 1, 2, 1], [0, 0, 3, 0]), t[5, :4]),
        lambda f, t: f.outer(t[0], t[1]),
    ):
        want, got = table.copy(), table.copy()
        np.testing.assert_array_equal(call(ufunc, got), call(np.subtract, want))
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("target", TARGETS)
def test_an_input_of_one_element_in_the_output(target):
    a = np.arange(100.0)
    SUBTRACT[target](a, a[50:51], out=a)
    np.testing.assert_array_equal(a, np.arange(100.0) - 50)
    b = np.ones(300)
    np.testing.assert_array_equal(SUBTRACT[target].accumulate(b), np.subtract.accumulate(b))


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=40)
@given(views(2), st.sampled_from(TYPES))
def test_rows(target, of, dtype):
    want, got = memory(dtype), memory(dtype)
    a, out = (view(want) for view in of)
    out[...] = a[..., ::-1].copy() * 2
    a, out = (view(got) for view in of)
    assert REVERSE[target](a, out=out) is out
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("target", TARGETS)
def test_an_input_that_is_written_to(target):
    @guvectorize(["(float64[:], float64[:])"], "(n),(n)", writable_args=("a",), target=target)
    def halve(a, b):
        for i in range(a.shape[0]):
            a[i] = b[i] / 2

    # As if the rows were copied before any is written.
    table = np.ones((60, 3))
    halve(table[1:], table[:-1])
    np.testing.assert_array_equal(table, np.where(np.arange(60) > 0, 0.5, 1.0)[:, None] * np.ones(3))


@njit(parallel=True)
def compiled(a, b, out):
    np.subtract(a, b, out)


@njit(parallel=True)
def called(a, b, out):
    SUBTRACT["parallel"](a, b, out)


@njit(parallel=True)
def stored(a, b, out):
    out[:] = a - b


@pytest.mark.parametrize("f", [compiled, called, stored])
@settings(max_examples=40)
@given(views(3), st.sampled_from(["float64", "int64"]))
def test_in_compiled_functions(f, of, dtype):
    # The ufunc of a program has a result of one type.
    assume(f is not called or dtype == "float64")
    want, got = memory(dtype), memory(dtype)
    a, b, out = (view(want) for view in of)
    out[...] = a - b
    f(*(view(got) for view in of))
    np.testing.assert_array_equal(got, want)


@settings(max_examples=40)
@given(views(3), st.sampled_from(["float64", "int64"]))
def test_lazy_arrays(of, dtype):
    want, got = memory(dtype), xp.asarray(memory(dtype), copy=True)
    a, b, out = (view(want) for view in of)
    out[...] = a - b
    a, b, out = (view(got) for view in of)
    out[...] = a - b
    np.testing.assert_array_equal(np.asarray(got), want)
