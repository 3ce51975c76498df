"""Rows of `docs/differences.md` about random numbers, times, polynomials, histograms and matrices."""

import threading
import warnings

import numpy as np
import pytest

from difference_rows import row
from lancehead import errors, njit


@row("`Generator.spawn`")
def test_generators_that_compiled_code_has_made_are_spawned():
    def spawned(seed):
        return np.random.default_rng(seed).spawn(2)[1].random()

    assert njit(spawned)(3) == spawned(3)
    with pytest.raises(TypeError, match="made in Python can be spawned only there"):
        njit(lambda rng: rng.spawn(2)[0].random())(np.random.default_rng(3))


@row("streams")
def test_compiled_code_has_states_of_its_own():
    @njit
    def seeded(seed):
        np.random.seed(seed)
        return np.random.random()

    @njit
    def following():
        return np.random.random()

    def in_a_thread():
        seeded(3)
        drawn.append(following())

    drawn = []
    state = np.random.get_state()
    try:
        np.random.seed(3)
        assert seeded(3) == np.random.random()
        second = np.random.random()
        np.random.seed(77)
        assert following() == second
    finally:
        np.random.set_state(state)
    seeded(4)
    other = threading.Thread(target=in_a_thread)
    other.start()
    other.join()
    assert drawn == [second]
    assert following() == np.random.RandomState(4).random(2)[1]


@row("logarithms and powers in distributions")
def test_numbers_of_distributions_are_close():
    def drawn(rng):
        return rng.gumbel(0.0, 1.0, 50), rng.weibull(1.5, 50), rng.vonmises(0.0, 1.0, 50), rng.random()

    ours, numpys = njit(drawn)(np.random.default_rng(3)), drawn(np.random.default_rng(3))
    for got, wanted in zip(ours[:-1], numpys[:-1]):
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
    assert ours[-1] == numpys[-1]


@row("`np.datetime64` and `np.timedelta64` of a text or a unit")
def test_units_of_times_are_constants():
    for make, text in (
        (lambda _: np.datetime64("2020-01-01"), ""),
        (lambda text: np.datetime64(text, "s"), "2020-01-01"),
    ):
        assert njit(make)(text) == make(text) == np.datetime64("2020-01-01")
    for make, text in (
        (lambda unit: np.datetime64("2020-01-01", unit), "s"),
        (lambda unit: np.timedelta64(1, unit), "s"),
        (lambda text: np.datetime64(text), "2020-01-01"),
        (lambda _: np.datetime64("now"), ""),
        (lambda _: np.datetime64("today"), ""),
    ):
        make(text)
        with pytest.raises(errors.TypingError):
            njit(make)(text)
    for text in ("now", "today"):
        with pytest.raises(ValueError, match="pass the time in"):
            njit(lambda text: np.datetime64(text, "s"))(text)


@row("a text with a time zone that is known only at run time")
def test_time_zones_give_no_warning():
    def make(text):
        return np.datetime64(text, "s")

    text = "2020-01-01T00:00:00+01:00"
    with pytest.warns(UserWarning, match="timezone"):
        wanted = make(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert njit(make)(text) == wanted


@row("`int(x)` of a `timedelta64`", "`hash(x)`")
def test_numbers_and_hashes_of_times_are_ticks():
    x = np.timedelta64(5, "s")
    with pytest.raises(TypeError):
        int(x)
    assert njit(lambda x: (int(x), hash(x)))(x) == (5, 5)


@row("units that are so far apart that NumPy has no factor between them")
def test_units_that_are_far_apart():
    def total(a, b):
        return a + b

    hour = np.timedelta64(1, "h")
    for unit in ("fs", "as"):
        with pytest.raises(OverflowError):
            total(hour, np.timedelta64(1, unit))
    assert njit(total)(hour, np.timedelta64(1, "fs")) == np.timedelta64(3600 * 10**15 + 1, "fs")
    with pytest.raises(errors.TypingError, match="in 64 bits"):
        njit(total)(np.timedelta64(1, "D"), np.timedelta64(1, "as"))


@row("`np.timedelta64(1, ", "a point and a span of other units, or a span and a number")
def test_operations_of_times_that_numpy_refuses():
    year, second, point = np.timedelta64(1, "Y"), np.timedelta64(1, "s"), np.datetime64("2020-01-01")
    for function, x, y in (
        (lambda x, y: x == y, year, np.timedelta64(365, "D")),
        (lambda x, y: x < y, point, second),
        (lambda x, y: x % y, second, 3),
        (lambda x, y: x - y, second, point),
    ):
        with pytest.raises(TypeError):
            function(x, y)
        with pytest.raises(errors.TypingError):
            njit(function)(x, y)


@row("`x.item()`, `a.tolist()` of times")
def test_items_of_times_are_times():
    def items(a):
        return a.item(0), a.tolist()

    a = np.array([5], "m8[s]")
    x, (y,) = njit(items)(a)
    assert [type(item) for item in (x, y)] == [np.timedelta64] * 2
    assert x == y == a[0]
    assert not isinstance(items(a)[0], np.timedelta64)
    assert not isinstance(items(a)[1][0], np.timedelta64)


@row("arithmetic of unlike units beyond 64 bits")
def test_arithmetic_of_times_wraps_around():
    def total(x, y):
        return x + y

    x, y = np.timedelta64(2**62, "s"), np.timedelta64(1, "ns")
    assert njit(total)(x, y) == total(x, y) == y


@row("`np.poly` of complex zeros that come in conjugate pairs")
def test_polynomials_of_complex_zeros_are_complex():
    def poly(zeros):
        return np.poly(zeros)

    zeros = np.array([1j, -1j])
    assert poly(zeros).dtype == np.float64
    assert njit(poly)(zeros).tolist() == [1, 0, 1]
    assert njit(poly)(zeros).dtype == np.complex128
    assert poly(zeros[:0]) == 1.0
    assert njit(poly)(zeros[:0]).tolist() == [1]


@row("`np.polyder(p, 0)`, `np.polyint(p, 0)`")
def test_no_derivatives_have_the_type_of_derivatives():
    p = np.array([1, 2, 3], np.int8)
    for function, dtype in ((lambda p: np.polyder(p, 0), np.int64), (lambda p: np.polyint(p, 0), np.float64)):
        assert function(p).dtype == np.int8
        assert njit(function)(p).dtype == dtype
        assert njit(function)(p).tolist() == [1, 2, 3]


@row("fits that are poorly conditioned", "`full=True` of the families' fits")
def test_fits():
    def fit(x):
        return np.polyfit(x, x, 2)

    def full_fit(x):
        return np.polynomial.polynomial.polyfit(x, x, 2, full=True)

    x = np.array([0.0, 0.0, 1.0])
    with pytest.warns(np.exceptions.RankWarning):
        wanted = fit(x)
    assert type(full_fit(x)[1]) is list
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(njit(fit)(x), wanted, atol=1e-14)
        _, details = njit(full_fit)(x)
    assert type(details) is tuple
    assert details[1] == 2


@row("remainders of the families' divisions in `float32`")
def test_remainders_keep_their_type():
    def divide(a, b):
        return np.polynomial.legendre.legdiv(a, b)

    a, b = np.array([1, 2, 3], np.float32), np.array([1, 2], np.float32)
    assert [part.dtype for part in njit(divide)(a, b)] == [np.float32] * 2
    assert divide(a, b)[1].dtype == np.float64
    assert divide(b, a)[1].dtype == np.float32


@row("edges of `np.histogramdd`", "`np.histogram2d` with an array or list of integers")
def test_edges_of_histograms():
    def count(points):
        return np.histogramdd(points, bins=(2, 3))

    points = np.random.default_rng(0).random((10, 2))
    counts, edges = njit(count)(points)
    assert (type(count(points)[1]), type(edges)) == (list, tuple)
    assert (counts == count(points)[0]).all()

    def count_in_a_plane(points, bins):
        return np.histogram2d(points[:, 0], points[:, 1], bins=bins)

    compiled = njit(count_in_a_plane)
    assert compiled(points, np.array([2, 3]))[0].shape == (2, 3)
    assert compiled(points, [2, 3])[0].shape == (2, 3)
    bins = np.array([0, 1, 2])
    assert count_in_a_plane(points, bins)[1].dtype == np.int64
    assert compiled(points, bins)[1].dtype == np.float64
    assert compiled(points, bins)[1].tolist() == [0, 1, 2]


@row("`np.linalg.matrix_power` of integers with a negative exponent", "`np.cross` of vectors of two components each")
def test_functions_of_matrices_and_vectors():
    def inverse(m):
        return np.linalg.matrix_power(m, -1)

    m = np.array([[2, 0], [0, 4]])
    assert inverse(m).dtype == np.float64
    with pytest.raises(ValueError, match="convert the matrix"):
        njit(inverse)(m)
    with pytest.raises(ValueError, match="must be 3"):
        njit(lambda a: np.cross(a, a))(np.ones(2))
