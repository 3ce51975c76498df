"""Histograms and windows, against NumPy."""

from __future__ import annotations

import linecache
import warnings

import numpy as np
import pytest

import lancehead
from lib_cases import outcome, same

rng = np.random.default_rng(3)
WEIGHTS = rng.random(300)
CASES = """
np.histogram(a), np.histogram(a, 5, density=True), np.histogram(a, 7, weights=w), np.histogram(a, 3, weights=w * 1j)
np.histogram(a, 7, (-3, 5), weights=w, density=True), np.histogram(a, [-5, 0, 1, 3], weights=w), np.histogram(a[:0])
np.histogram(a, np.array([-5.0, 0, 1, 2, 3]), density=True), np.histogram_bin_edges(a, 4), np.histogram(a, [1])
np.histogram2d(a, b), np.histogram2d(a, b, 5, density=True), np.histogram2d(a, b, (5, [-3, 0, 2]), weights=w)
np.histogram2d(a, b, [3, 4]), np.histogram2d(a, b, [-3.0, 0, 4]), np.histogram2d(a, b, 4, ((-2, 2), (0, 3)))
np.histogram2d(a, b, 4, [[-2, 2], [0, 3]], weights=w, density=True)
""".split("\n")[1:-1]
ESTIMATORS = "auto fd doane scott stone rice sturges sqrt".split()


def function(text, parameters):
    file, source = f"<{text}>", f"def f({parameters}): return {text}"
    linecache.cache[file] = (len(source), None, [source], file)
    names = {"np": np}
    exec(compile(source, file, "exec"), names)
    return names["f"]


def flattened(x):
    return [z for y in x for z in flattened(y)] if isinstance(x, (tuple, list)) else [x]


def agree(text, parameters, *args, rtol=1e-10):
    f = function(text, parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want, got = outcome(f, *args), outcome(lancehead.njit(f), *args)
    for w, g in zip(flattened(want), flattened(got), strict=True):
        assert same(w, g, rtol), (text, w, g)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "?"])
def test_histograms(dtype):
    a, b = (rng.standard_normal(300) * 20).astype(dtype), (rng.standard_normal(300) * 9).astype(dtype)
    for text in CASES if dtype in ("f8", "i8") else CASES[::2]:
        agree(text, "a, b, w", a, b, WEIGHTS, rtol=1e-5 if dtype == "f4" else 1e-10)


@pytest.mark.parametrize("dtype", ["f8", "i8"])
def test_estimators(dtype):
    a = (rng.standard_normal(500) * 20).astype(dtype)
    edges = lancehead.njit(lambda a, name: np.histogram_bin_edges(a, name))
    for name in ESTIMATORS:
        for x in (a, a[:1], a[:0], a * 0, a[::-3]):
            assert same(np.histogram_bin_edges(x, name), edges(x, name)), name
    agree('np.histogram(a, "fd", (-5, 5))', "a", a)


def test_several_dimensions():
    points, line = rng.standard_normal((50, 3)), rng.standard_normal(100)
    agree("np.histogramdd(s, (2, 3, 4))", "s", points)
    agree("np.histogramdd(s, (2, 3, 4), ((-1, 1), (-2, 2), (0, 1)), density=True)", "s", points)
    agree("np.histogramdd((a, a * 2), 3, weights=a * a)", "a", line)
    agree("np.histogramdd(a, (5,))", "a", line)
    with pytest.raises(lancehead.errors.TypingError, match="give `bins` for each"):
        lancehead.njit(lambda s: np.histogramdd(s))(points)


BAD = [
    "np.histogram(a, 4, (3, 1))", "np.histogram(a, 0)", "np.histogram(a * np.nan)", "np.histogram(a, [3, 2, 1])",
    "np.histogram(a, 4, (0.0, np.inf))", "np.histogram(a, 4, weights=a[1:])", "np.histogram2d(a, a[1:])",
    'np.histogram(a, "x")', 'np.histogram(a, "fd", weights=a)', "np.histogram(a, 10**6, (1.0, 1.0 + 1e-13))",
    "np.histogram2d(a, a, (0, 2))", "np.histogram2d(a, a, (2, [2, 1]))", "np.histogramdd(a.reshape(50, 2), (1, 2, 3))",
]  # fmt: skip


@pytest.mark.parametrize("text", BAD)
def test_errors_are_numpys(text):
    a, f = rng.standard_normal(100), function(text, "a")
    with pytest.raises((ValueError, TypeError)) as wanted:
        f(a)
    with pytest.raises(type(wanted.value)) as got:
        lancehead.njit(f)(a)
    assert str(got.value)[:60] == str(wanted.value)[:60]


def test_windows():
    x = np.concatenate([rng.standard_normal(50) * 30, [0, 8, -8, np.inf, np.nan]])
    for values in (x, x[::-2], x.reshape(5, 11), np.arange(5), 2.5):
        agree("np.i0(x)", "x", values, rtol=1e-13)
    # NumPy's exponential of single precision loses digits, and is infinite where the function is not.
    agree("np.i0(x)", "x", (x / 3).astype("f4"), rtol=1e-4)
    kaiser = lancehead.njit(lambda m, beta: np.kaiser(m, beta))
    for m in (0, 1, 2, 5, 12, 5.5, -1):
        np.testing.assert_allclose(kaiser(m, 8.6), np.kaiser(m, 8.6), rtol=1e-12)
        np.testing.assert_allclose(kaiser(m, 0), np.kaiser(m, 0), rtol=1e-12)
