"""Stencils, beside loops in Python."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lancehead as lh
from lancehead import places
from lancehead.errors import NumbaValueError


@lh.stencil
def five(a):
    return 0.2 * (a[0, 0] + a[0, -1] + a[0, 1] + a[-1, 0] + a[1, 0])


@lh.stencil
def skew(a, b, k):
    return a[2, 0] - b[0, -1] * k


@lh.njit
def call(s, *args):
    return s(*args)


def five_by_hand(a):
    out = np.zeros(a.shape)
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            out[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i - 1, j] + a[i + 1, j])
    return out


def skew_by_hand(a, b, k):
    out = np.zeros(a.shape)
    for i in range(a.shape[0] - 2):
        for j in range(1, a.shape[1]):
            out[i, j] = a[i + 2, j] - b[i, j - 1] * k
    return out


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 7), st.integers(0, 7), st.sampled_from([1, 2, -1]), st.booleans())
def test_any_shape_and_strides(n, m, step, transposed):
    a = np.random.default_rng(n * 8 + m).random((2 * n, 2 * m))[::step, ::2]
    a = a.T if transposed else a
    np.testing.assert_allclose(five(a), five_by_hand(a))
    np.testing.assert_allclose(call(five, a), five_by_hand(a))
    np.testing.assert_allclose(skew(a, a.copy(), 3), skew_by_hand(a, a, 3))


def test_three_dimensions():
    @lh.stencil
    def f(a):
        return a[0, 0, 1] + a[-1, 0, 0] * 2

    a = np.arange(60).reshape(3, 4, 5)
    want = np.zeros_like(a)
    want[1:, :, :-1] = a[1:, :, 1:] + a[:-1, :, :-1] * 2
    got = f(a)
    assert got.dtype == np.int64
    np.testing.assert_array_equal(got, want)


def test_border():
    @lh.stencil(cval=-1.0)
    def f(a):
        return a[-1] + 0.5 * a[2]

    np.testing.assert_array_equal(f(np.ones(5)), [-1, 1.5, 1.5, -1, -1])
    np.testing.assert_array_equal(f(np.ones(2)), [-1, -1])


def test_out():
    a = np.arange(5.0)

    def f(a):
        return a[-1] + a[1]

    out = np.full(5, 7.0)
    assert lh.stencil(f)(a, out=out) is not None
    np.testing.assert_array_equal(out, [7, 2, 4, 6, 7])
    lh.stencil(f, cval=1)(a, out=out)
    np.testing.assert_array_equal(out, [1, 2, 4, 6, 1])
    with pytest.raises(ValueError):
        lh.stencil(f)(a, out=np.empty(4))
    with pytest.raises(NumbaValueError):
        lh.stencil(f)(a, out=np.empty((5, 1)))


def test_neighborhood():
    @lh.stencil(neighborhood=((-3, 0),))
    def f(a):
        s = 0.0
        for i in range(-3, 1):
            s += a[i]
        return s / 4

    a = np.arange(9.0)
    want = np.zeros(9)
    want[3:] = np.convolve(a, np.ones(4) / 4, "valid")
    np.testing.assert_allclose(f(a), want)

    @lh.stencil(neighborhood=((-1, 1),))
    def part(a):
        return a[-1:2].sum()

    np.testing.assert_array_equal(part(a), [0, 3, 6, 9, 12, 15, 18, 21, 0])


def test_reading_outside_of_the_neighborhood():
    def f(a, n):
        return a[n]

    with pytest.raises(IndexError):
        lh.stencil(f, neighborhood=((-1, 1),))(np.arange(5.0), 2)
    with pytest.raises(NumbaValueError, match="outside"):
        lh.stencil(lambda a: a[-3], neighborhood=((-1, 1),))(np.arange(5.0))


SHIFT = 2


def test_constant_expressions():
    back = 1
    f = lh.stencil(lambda a: a[-back] + a[SHIFT + 1 - 2])
    np.testing.assert_array_equal(f(np.arange(5)), [0, 2, 4, 6, 0])


def test_index_offsets():
    f = lh.stencil(lambda a: a[0] + a[1], neighborhood=((-1, 0),), index_offsets=(-1,))
    np.testing.assert_array_equal(f(np.arange(5)), [0, 1, 3, 5, 7])


def test_standard_indexing():
    @lh.stencil(standard_indexing=("w",))
    def f(a, w):
        return a[-1] * w[0] + a[0] * w[1]

    np.testing.assert_array_equal(f(np.arange(4.0), np.array([10.0, 1.0])), [0, 1, 12, 23])
    np.testing.assert_array_equal(f(np.arange(4.0), [10.0, 1.0]), [0, 1, 12, 23])


def test_calls_of_compiled_functions():
    @lh.njit
    def square(x):
        return x * x

    f = lh.stencil(lambda a: square(a[-1]) + np.sqrt(a[0]))
    np.testing.assert_allclose(f(np.arange(4.0)), [0, 1, 1 + np.sqrt(2), 4 + np.sqrt(3)])


@pytest.mark.parametrize(
    "f, args",
    [
        (lambda a: a[0, 0], (np.ones(3),)),
        (lambda a: a[0.5], (np.ones(3),)),
        (lambda a, n: a[n], (np.ones(3), 1)),
        (lambda a: a, (np.ones(3),)),
        (lambda a: 1.0, (np.ones(3),)),
        (lambda n: n, (3,)),
    ],
)
def test_stencils_that_mean_nothing(f, args):
    with pytest.raises(NumbaValueError):
        lh.stencil(f)(*args)


def test_wrong_options():
    def f(a, b):
        return a[0] + b[0]

    for options in (
        {"standard_indexing": ("c",)},
        {"standard_indexing": ("a",)},
        {"nothing": 1},
        {"neighborhood": ((1, 0),)},
    ):
        with pytest.raises(NumbaValueError):
            lh.stencil(f, **options)
    with pytest.raises(NumbaValueError):
        lh.stencil("wrap")
    with pytest.raises(NumbaValueError):
        lh.stencil(f, neighborhood=((0, 0), (0, 0)))(np.ones(3), np.ones(3))
    with pytest.raises(NumbaValueError):
        lh.stencil(f, cval=1.5)(np.arange(3), np.arange(3))
    with pytest.raises(ValueError):
        lh.stencil(f)(np.ones(3), np.ones(2))
    with pytest.raises(NumbaValueError):
        lh.stencil(f)(np.ones(3), np.ones((3, 3)))


def test_pickling():
    s = pickle.loads(pickle.dumps(five))
    a = np.random.default_rng(0).random((5, 6))
    np.testing.assert_array_equal(s(a), five(a))


def test_parallel():
    @lh.njit(parallel=True)
    def run(a, b, out):
        return five(a), skew(a, b, 2), line(a[0]), five(a, out=out)

    line = lh.stencil(lambda a: a[-1] - a[1])
    a = np.random.default_rng(5).random((300, 70))
    out = np.zeros_like(a)
    first, second, third, _ = run(a, a + 1, out)
    np.testing.assert_array_equal(first, five(a))
    np.testing.assert_array_equal(second, skew(a, a + 1, 2))
    np.testing.assert_array_equal(third, line(a[0]))
    np.testing.assert_array_equal(out, five(a))


def test_outputs_that_cannot_be_taken():
    a = np.arange(6.0).reshape(2, 3)
    frozen = np.zeros((2, 3))
    frozen.flags.writeable = False
    with pytest.raises((ValueError, lh.errors.TypingError), match="writ|read-only"):
        five(a, out=frozen)
    with pytest.raises(ValueError, match="shape"):
        five(a, out=np.zeros((3, 2)))
    with pytest.raises(lh.errors.NumbaError):
        five(a, out=np.zeros(6))
    assert not frozen.any()


def test_made_in_compiled_code():
    a = np.arange(20.0).reshape(4, 5)

    @lh.njit
    def whole(a):
        return lh.stencil(neighbours)(a)

    @lh.njit
    def into(a):
        out = np.zeros(a.shape)
        lh.stencil(lambda x: x[0, 1] - x[0, -1])(a, out=out)
        return out

    @lh.njit
    def named(a):
        def line(x):
            return x[0, 0] + x[1, 0]

        made = lh.stencil(func_or_mode=line, neighborhood=((-1, 1), (0, 0)))
        return made(a)

    @lh.njit
    def captures(a, k):
        return lh.stencil(lambda x: x[0, 0] * k)(a)

    @lh.njit
    def with_cval(a):
        return lh.stencil(neighbours, cval=1.0)(a)

    @lh.njit
    def with_constants(a, out):
        back, scale = 2, 0.5
        return lh.stencil(lambda x, k, s: s * (x[1 - k] + x[k - 1]))(a, back, scale, out=out)

    @lh.njit
    def with_argument(a, k):
        return lh.stencil(lambda x, k: x[-k])(a, k)

    line = np.arange(6.0)
    np.testing.assert_array_equal(with_constants(line, np.zeros(6)), [0.0, 1.0, 2.0, 3.0, 4.0, 0.0])
    with pytest.raises(lh.errors.NumbaValueError, match="neighborhood"):
        with_argument(line, 1)
    np.testing.assert_array_equal(whole(a), lh.stencil(neighbours)(a))
    np.testing.assert_array_equal(into(a), lh.stencil(lambda x: x[0, 1] - x[0, -1])(a))
    np.testing.assert_array_equal(named(a)[1:-1], a[1:-1] + a[2:])
    for call, text in ((lambda: captures(a, 2.0), "captures no variables"), (lambda: with_cval(a), "cval")):
        with pytest.raises(lh.errors.NumbaError, match=text):
            call()


@pytest.mark.parametrize("parallel", [False, True])
def test_neighborhood_known_at_run_time(parallel):
    @lh.njit(parallel=parallel)
    def sums(a, w):
        def kernel(x, w):
            s = x[-w]
            for i in range(-w + 1, w + 1):
                s += x[i]
            return s

        return lh.stencil(kernel, neighborhood=((-w, w),))(a, w)

    @lh.njit(parallel=parallel)
    def steps(a, low, high, at):
        return lh.stencil(lambda x, at: x[1, 0] - x[at, 0], neighborhood=((low, high), (0, np.int8(0))))(a, at)

    @lh.njit
    def flat(a, w):
        return lh.stencil(lambda x, w: x[w], neighborhood=((-w, w), (0, 0)))(a, w)

    line = np.arange(12.0) ** 2
    for w in (0, 1, 3, 6, 20, 2**62):
        inside = range(w, 12 - w)
        np.testing.assert_array_equal(
            sums(line, w), [line[i - w : i + w + 1].sum() if i in inside else 0 for i in range(12)]
        )
    grid = line.reshape(6, 2)
    want = np.zeros((6, 2))
    want[2:-1] = grid[3:] - grid[:-3]
    np.testing.assert_array_equal(steps(grid, -2, 1, -2), want)
    assert (steps(grid, -(2**63), 2**63 - 1, -2) == 0).all()
    with pytest.raises(ValueError, match="outside of its neighborhood"):
        steps(grid, -2, 0, -2)
    with pytest.raises(IndexError, match="outside of the neighborhood"):
        steps(grid, -1, 1, -2)
    with pytest.raises(lh.errors.NumbaValueError, match="2 dimensional neighborhood"):
        flat(line, 1)


def neighbours(x):
    return x[-1, 0] + x[1, 0] + x[0, 1]


def test_a_stencil_needs_an_array() -> None:
    for kernel, args in ((lambda: 1, ()), (lambda a: a[0], (3,))):
        with pytest.raises(NumbaValueError, match="must be the primary input array"):
            lh.stencil(kernel)(*args)


def test_what_goes_wrong_is_shown_where_the_stencil_is() -> None:
    @lh.stencil
    def writes(a):
        a[0] = 3
        return a[1]

    with pytest.raises(NumbaValueError, match="Assignments to arrays passed to stencil kernels") as told:
        writes(np.ones(3))
    assert places.shown(__file__) in str(told.value)
    with pytest.raises(NumbaValueError, match="primary input array") as told:
        lh.stencil(neighbours)(3)
    assert f"{places.shown(__file__)}:{neighbours.__code__.co_firstlineno}" in str(told.value)
