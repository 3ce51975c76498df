"""What iterations combine, in the forms that programs write: it runs in parallel, as in order, whatever the number of threads."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np
import pytest
from lancehead import errors, get_num_threads, njit, prange, set_num_threads

N = 3000
RANDOM = np.random.default_rng(5)
X = RANDOM.random(N) + 0.5
Z = X + 1j * X[::-1]
K = RANDOM.integers(0, 10, N)
COMBINED: list[Any] = []


def combines(what: str, *args: Any) -> Callable[[Any], Any]:
    def add(f: Any) -> Any:
        COMBINED.append(pytest.param(f, what, args, id=f.__name__))
        return f
    return add


@combines("2 variables", X)
def tuple_of_sums(x):
    t = (0.0, 0)
    for i in prange(x.size):
        t = (t[0] + x[i], t[1] + 1)
    return t


@combines("3 variables", X)
def tuple_of_kinds(x):
    t = (0.0, -np.inf, np.inf)
    for i in prange(x.size):
        t = (t[0] + x[i], max(t[1], x[i]), min(t[2], x[i]))
    return t[1], t


@combines("4 variables", X)
def nested_tuple(x):
    t = ((0.0, 1), 2j)
    for i in prange(x.size):
        t = ((t[0][0] + x[i], max(t[0][1], i)), t[1] + 1j)
    return t


@combines("2 variables", Z)
def complex_sum(z):
    s = 0j
    for i in prange(z.size):
        s += z[i] * 2
    return s * 2


@combines("1 variable", Z / abs(Z))
def complex_product(z):
    s = 2j
    for i in prange(z.size):
        s *= z[i]
    return s


@combines("3 variables", Z / abs(Z))
def complex_product_and_sum(z):
    p, s = 1 + 0j, 0j
    for i in prange(z.size):
        p = z[i] * p
        s += z[i] * z[i]
    return p, s


@combines("1 variable", X)
def float_and_int(x):
    least = np.inf
    for i in prange(x.size):
        least = min(least, (i - 50) ** 2)
    return least


@combines("1 variable", K.astype(np.int32))
def narrow_items(k):
    most = 0
    for i in prange(k.size):
        most = max(most, k[i])
    return most


@combines("4 variables", X)
def several(x):
    most, product, least, odd = -1, 1.0, np.inf, 0
    for i in prange(x.size):
        most = max(most, i ^ 5)
        product *= 1.0001
        least = min(least, i - 7)
        odd ^= i
    return most, product, least, odd


@combines("1 variable", X)
def greatest_by_condition(x):
    m = -np.inf
    for i in prange(x.size):
        if x[i] > m:
            m = x[i]
    return m


@combines("1 variable", np.where(X > 1.4, np.nan, X))
def least_of_some_nan(x):
    m = np.inf
    for i in prange(x.size):
        if m > x[i]:
            m = x[i]
    return m


@combines("2 variables", X)
def found(x):
    large = huge = False
    for i in prange(x.size):
        if x[i] > 1.45:
            large = True
        if x[i] > 100:
            huge = True
    return large, huge


@combines("1 array", Z, K)
def complex_elements(z, k):
    out = np.full(10, 1j)
    for i in prange(z.size):
        out[k[i]] += z[i]
    return out


@combines("1 array", Z.astype(np.complex64), K)
def complex_elements_in_two_dimensions(z, k):
    out = np.zeros((3, 10), np.complex64)
    for i in prange(z.size):
        out[i % 3, k[i]] -= z[i]
    return out


@combines("1 array", Z)
def complex_arrays(z):
    out = np.zeros((2, 3), np.complex128)
    for i in prange(z.size):
        out += z[i]
    return out


@combines("1 array", X, K)
def narrow_elements(x, k):
    out = np.ones(10, np.float32)
    for i in prange(x.size):
        out[k[i]] *= x[i] ** 0.01
    return out


@combines("1 array", X)
def part_of_an_array(x):
    out = np.ones(8)
    for i in prange(x.size):
        out[2:6] += x[i]
    return out


@combines("1 array", X)
def moving_part(x):
    out = np.zeros(12)
    for i in prange(x.size):
        out[i % 9:i % 9 + 3] += x[i]
    return out


@combines("1 array", X, K)
def greatest_elements(x, k):
    out = np.full(10, 0.7)
    for i in prange(x.size):
        if x[i] > out[k[i]]:
            out[k[i]] = x[i]
    return out


@combines("1 array", K, K[::-1].copy())
def least_elements(x, k):
    out = np.full((10, 2), 99)
    for i in prange(x.size):
        if out[k[i], i % 2] >= x[i] + i:
            out[k[i], i % 2] = x[i] + i
    return out


@pytest.mark.parametrize(("function", "what", "args"), COMBINED)
def test_combined(function: Any, what: str, args: Any, capsys: Any) -> None:
    compiled = njit(parallel=True)(function)
    expected = function(*args)
    most = get_num_threads()
    results = []
    for threads in range(1, most + 1):
        set_num_threads(threads)
        results.append(compiled(*args))
    set_num_threads(most)
    for got in results:
        flat = lambda r: [r] if not isinstance(r, tuple) else [y for x in r for y in flat(x)]  # noqa: E731
        assert all(np.array_equal(x, y) for x, y in zip(flat(got), flat(results[0]), strict=True))
        for x, y in zip(flat(got), flat(expected), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-3 if np.asarray(y).dtype in (np.float32, np.complex64) else 1e-11)
    compiled.parallel_diagnostics(level=1)
    assert f"runs in parallel; blocks of iterations combine {what}\n" in capsys.readouterr().out


def second_of_two(x):
    last = most = 0.0
    for i in prange(x.size):
        most = max(most, x[i])
        last = x[i] - last
    return last + most


def argument_of_the_greatest(x):
    m, at = -np.inf, -1
    for i in prange(x.size):
        if x[i] > m:
            m = x[i]
            at = i
    return m, at


def written_beside(x):
    out, m = np.zeros(10), np.zeros(10)
    for i in prange(x.size):
        if x[i] > m[i % 10]:
            m[i % 10] = x[i] + 1
    return out, m


def the_other_way(x):
    m = np.zeros(10)
    for i in prange(x.size):
        if x[i] > m[i % 10]:
            pass
        else:
            m[i % 10] = x[i]
    return m


@pytest.mark.parametrize(
    ("function", "line"),
    [(second_of_two, "last = x[i] - last"), (argument_of_the_greatest, ""), (written_beside, ""), (the_other_way, "")],
)
def test_what_needs_the_order_is_refused(function: Any, line: str) -> None:
    with pytest.raises(errors.UnsupportedError, match="parallel-race") as e:
        njit(parallel=True)(function)(X)
    assert line in str(e.value)


def test_nan_that_the_loop_begins_with_stays() -> None:
    assert math.isnan(njit(parallel=True)(begins_with_nan)(X))


def begins_with_nan(x):
    m = np.nan
    for i in prange(x.size):
        if x[i] > m:
            m = x[i]
    return m
