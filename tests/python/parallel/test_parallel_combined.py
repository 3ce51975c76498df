"""Reductions in the forms that programs write them: they run in parallel, with the results of the serial loop for any
number of threads.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lancehead import errors, get_num_threads, njit, prange, set_num_threads
from loop_corpus import runs_in_order

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
        out[i % 9 : i % 9 + 3] += x[i]
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


T = np.round(X, 1)
WITH_NAN = np.where(X > 1.4, np.nan, T)
A = RANDOM.random((N, 5))


@combines("4 variables", X)
def ufuncs(x):
    most, least, total, rest = -np.inf, np.inf, 0.0, 1.0
    for i in prange(x.size):
        most = np.maximum(most, x[i])
        least = np.fmin(x[i], least)
        total = np.add(total, x[i])
        rest = np.subtract(rest, x[i])
    return most, least, total, rest


@combines("3 variables", np.where(X > 1.4, np.nan, X))
def ufuncs_of_nan(x):
    most, known, none = -np.inf, -np.inf, np.nan
    for i in prange(x.size):
        most = np.maximum(most, x[i])
        known = np.fmax(known, x[i])
        none = np.fmin(none, x[i])
    return most, known, none


@combines("4 variables", X)
def ufuncs_of_truth(x):
    any_large, all_small, any_huge, bits = False, True, False, 0
    for i in prange(x.size):
        any_large = np.logical_or(any_large, x[i] > 1.4)
        all_small = np.logical_and(all_small, x[i] < 9)
        any_huge = np.logical_or(x[i] > 9, any_huge)
        bits = np.bitwise_or(bits, i)
    return any_large, all_small, any_huge, bits


@combines("5 variables", X)
def truth(x):
    small = positive = odd = True
    large = huge = False
    for i in prange(x.size):
        small = small and x[i] < 1.4
        positive = x[i] > 0 and positive
        odd = odd and x[i] > 0.4 and x[i] != 1
        large = large or x[i] > 1.49
        huge = huge or (x[i] > 1.45 and x[i] < 0.1)
    return small, positive, odd, large, huge


@combines("4 variables", X)
def truth_that_is_set(x):
    ok = fine = True
    found, count = False, 0
    for i in prange(x.size):
        if not x[i] > 0.6:
            ok = False
        if x[i] > 9:
            fine = False
        if x[i] > 1.4:
            found = True
            count += 1
    return ok, fine, found, count


@combines("6 variables", T)
def first_of_the_least_and_of_the_greatest(x):
    least, at, beside = np.inf, -1, 0.0
    most, where, other = -np.inf, -1, 0
    for i in prange(x.size):
        if x[i] < least:
            least = x[i]
            at = i
            beside = x[i] * 2 + i
        if most < x[i]:
            most, where, other = x[i], i, x.size - i
    return least, at, beside, most, where, other


@combines("4 variables", T)
def last_of_the_least_and_of_the_greatest(x):
    least, at = 0.5, -1
    most, where = -np.inf, -1
    for i in prange(x.size):
        if x[i] <= least:
            least, at = x[i], i
        if x[i] >= most:
            most, where = x[i], i
    return least, at, most, where


@combines("4 variables", WITH_NAN)
def least_of_those_with_nan(x):
    least, at = x[0], 0
    none, nowhere = np.nan, -1
    for i in prange(1, x.size):
        if least > x[i]:
            least, at = x[i], i
        if x[i] <= none:
            none, nowhere = x[i], i
    return least, at, none, nowhere


@combines("3 variables", A)
def least_in_two_dimensions(a):
    least, row, column = 9.0, -1, -1
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            if i % 3 and a[i, j] < least:
                least = a[i, j]
                row, column = i, j
    return least, row, column


@combines("2 variables", T)
def least_as_a_tuple(x):
    best = (np.inf, -1)
    for i in prange(x.size):
        if x[i] < best[0]:
            best = (x[i], i)
    return best


@combines("4 variables", X)
def last_that_is_found(x):
    last, value, flag, never = -1, 0.5, 0, 7
    for i in prange(x.size):
        if x[i] > 1.2:
            last = i
            value = x[i] * 3
        if not x[i] > 0.7:
            flag = 1
        if x[i] > 9:
            never = i
    return last, value, flag, never


@combines("1 array", X, K)
def truth_of_elements(x, k):
    out = np.zeros(12, np.bool_)
    for i in prange(x.size):
        out[k[i]] |= x[i] > 1.48
    return out


@combines("4 arrays", Z / abs(Z), K)
def complex_products(z, k):
    single, every = np.full(10, 1j), np.full(3, 2 + 0j)
    narrow, real = np.ones(10, np.complex64), np.ones(10, np.complex128)
    for i in prange(z.size):
        single[k[i]] *= z[i]
        every *= z[i]
        narrow[k[i]] *= z[i]
        real[k[i]] = abs(z[i]) * real[k[i]]
    return single, every, narrow, real


@combines("4 arrays", A)
def arrays_made_anew(a):
    most, total, some, never = np.full(5, -np.inf), np.zeros(5), np.ones((2, 5)), np.ones(5)
    for i in prange(a.shape[0]):
        most = np.maximum(most, a[i])
        if i % 7 == 0:
            never = never * 2
        for j in range(3):
            total = np.add(a[i] * j, total)
        if i % 3 == 0:
            some = some * (a[i] + 0.5) ** 0.01
            never = never * 0.5
    return most, total, some, never


@combines("6 arrays", A)
def arrays_of_kinds(a):
    low, high, bits = np.full(5, 9, np.int8), np.zeros(5, np.uint16), np.full(5, 2, np.int64)
    truth, first, half = np.zeros(5, np.bool_), np.full(5, 1 + 2j), np.ones(5, np.float16)
    for i in prange(a.shape[0]):
        low = np.minimum(low, (a[i] * 100).astype(np.int8))
        high = np.fmax((a[i] * 100).astype(np.uint16), high)
        bits = bits ^ (a[i] * 100).astype(np.int64)
        truth = np.logical_or(truth, a[i] > 0.99)
        first = np.maximum(first, a[i] + 2j)
        half = np.maximum(half, a[i].astype(np.float16))
    return low, high, bits, truth, first, half


@combines("1 variable and 1 array", A)
def tuple_with_an_array(a):
    t = (np.zeros(5), 0)
    for i in prange(a.shape[0]):
        t = (t[0] + a[i], t[1] + 1)
    return t[1], t[0]


@combines("2 arrays", np.where(A[:, :3] > 0.9995, np.nan, A[:, :3]))
def arrays_with_nan(a):
    most, some = np.zeros(3), np.zeros(3)
    for i in prange(a.shape[0]):
        most = np.maximum(most, a[i])
        some = np.fmax(some, a[i])
    return most, some


@combines("1 array", K)
def sums_of_many_elements_from_before(k):
    h = np.zeros(90000, np.int64)
    for i in prange(k.size):
        t = h[k[i]]
        for j in range(3):
            h[k[i]] = t + j
        h[k[i]] += 2
    return h


@combines("4 arrays", A)
def whole_by_what_is_computed_first(a):
    least, total, bits, part = np.full(5, np.inf), np.zeros(5, np.float16), np.zeros(5, np.bool_), np.zeros(7)
    for i in prange(a.shape[0]):
        least[:] = np.minimum(least, a[i])
        total += i % 500 == 0
        bits[:] = bits ^ (a[i] > 0.5)
        part[1:6] = part[1:6] + a[i]
    return least, total, bits, part


@combines("2 arrays", A)
def temporaries(a):
    t, u, out = np.empty(5), np.full((2, 6), 3.0), np.empty(a.shape[0])
    for i in prange(a.shape[0]):
        for j in range(5):
            t[j] = a[i, j] * 2
        u[0, :5] = t
        u[1, :5] = 0
        for j in range(4, -1, -1):
            u[1, j] += t[4 - j]
        out[i] = t.sum() + u.max()
    return out, t, u


@combines("2 arrays", A)
def temporaries_of_products(a):
    t, s, out = np.zeros(a.shape[1]), np.zeros(3), np.empty(a.shape[0])
    for i in prange(a.shape[0]):
        t.fill(0)
        for j in range(a.shape[1]):
            s[0] = a[i, j]
            for k in range(a.shape[1]):
                t[k] += s[0] * a[k, j]
        out[i] = t[-1]
    return out, t


@combines("3 arrays", A, K)
def temporaries_as_far_as_iterations_say(a, k):
    t, u, v = np.empty(12), np.empty((12, 12), np.complex64), np.empty(12, np.int8)
    out = np.zeros(a.shape[0])
    for i in prange(a.shape[0]):
        m = k[i]
        for j in range(m):
            t[j] = a[i, j % 5]
        v[:m] = 0
        for j in range(1, m):
            for l in range(m - 1):
                u[j, l] = t[l] - t[j]
            v[j] += 1
        for j in range(1, m):
            for l in range(j):
                out[i] += u[j, l].real * v[l]
        if m > 3:
            out[i] += t[: m - 1].sum()
    return out


@combines("1 variable and 2 arrays", A)
def temporaries_beside_sums(a):
    s, h, t = 0.0, np.zeros(5), np.zeros((1, 5))
    for i in prange(a.shape[0]):
        t[:] = a[i]
        t += 1
        h += t[0]
        s += t.max()
    return s, h, t


@pytest.mark.parametrize(("function", "what", "args"), COMBINED)
def test_combined(function: Any, what: str, args: Any, capsys: Any) -> None:
    compiled = njit(parallel=True)(function)
    expected = function(*args)
    most = get_num_threads()
    results = []
    for threads in [n for n in (1, 2, 3, 4, 8) if n <= most]:
        set_num_threads(threads)
        results.append(compiled(*args))
    set_num_threads(most)
    for got in results:
        flat = lambda r: [r] if not isinstance(r, tuple) else [y for x in r for y in flat(x)]
        assert all(np.array_equal(x, y, equal_nan=True) for x, y in zip(flat(got), flat(results[0]), strict=True))
        for x, y in zip(flat(got), flat(expected), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-3 if np.asarray(y).dtype in (np.float32, np.complex64) else 1e-11)
    compiled.parallel_diagnostics(level=1)
    assert f"runs in parallel; blocks of iterations combine {what}\n" in capsys.readouterr().out


def test_the_same_with_more_threads() -> None:
    if get_num_threads() < 8:
        command = [sys.executable, "-m", "pytest", "-q", "-k", "test_combined", __file__]
        subprocess.run(command, env=os.environ | {"LANCEHEAD_NUM_THREADS": "8"}, check=True)


def growing(s, a):
    for i in prange(a.shape[0]):
        s = s + a[i]
    return s


def test_arrays_that_are_combined_keep_their_shape() -> None:
    with pytest.raises(ValueError, match="broadcast"):
        njit(parallel=True)(growing)(np.zeros(1), np.ones((4, 3)))
    start = np.zeros(3)
    assert njit(parallel=True)(growing)(start, np.ones((4, 3))).tolist() == [4, 4, 4] and not start.any()


def second_of_two(x):
    last = most = 0.0
    for i in prange(x.size):
        most = max(most, x[i])
        last = x[i] - last
    return last + most


def what_was_the_best(x):
    most = second = 0.0
    for i in prange(x.size):
        if x[i] > most:
            second = most
            most = x[i]
    return most, second


def argument_by_itself(x):
    at = 0
    for i in prange(x.size):
        if x[i] > x[at]:
            at = i
    return at


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
    [
        (second_of_two, "gives `last` a value"),
    ],
)
def test_what_needs_the_order_is_refused(function: Any, line: str) -> None:
    with pytest.raises(errors.UnsupportedError, match="parallel-race") as e:
        njit(parallel=True)(function)(X)
    assert line in str(e.value)


@pytest.mark.parametrize(
    ("function", "line"),
    [
        (what_was_the_best, "gives `most` a value"),
        (argument_by_itself, "gives `at` a value"),
        (written_beside, "of `m`"),
        (the_other_way, "of `m`"),
    ],
)
def test_what_may_need_the_order_runs_in_order(function: Any, line: str) -> None:
    told = runs_in_order(function, X)
    assert len(told) == 1 and line in told[0]


def test_nan_that_the_loop_begins_with_stays() -> None:
    assert math.isnan(njit(parallel=True)(begins_with_nan)(X))


def begins_with_nan(x):
    m = np.nan
    for i in prange(x.size):
        if x[i] > m:
            m = x[i]
    return m


@pytest.mark.parametrize("race", [False, True])
@pytest.mark.parametrize("n", [0, 1, 2, 100])
def test_copies_of_few_iterations(race: bool, n: int) -> None:
    x, expected = np.arange(n) + 1.0, np.arange(n) + 1.0
    results = njit(parallel={"race": race})(left_by_few)(x), left_by_few(expected)
    np.testing.assert_array_equal(x, expected)
    for got, want in zip(*results, strict=True):
        np.testing.assert_array_equal(got, want)


def variable_first(x, m, g):
    low, high, last, top = m, g, m, g
    for i in prange(x.size):
        low, high = min(low, x[i]), max(high, x[i])
        last = x[i] if x[i] <= last else last
        if top <= x[i]:
            top = x[i]
    return low, high, last, top


def least_second(x, m, g):
    for i in prange(x.size):
        m = min(x[i], m)
    return m, g


def greatest_second(x, m, g):
    for i in prange(x.size):
        g = g if g > x[i] else x[i]
    return m, g


def kept_by_a_condition(x, m, g):
    for i in prange(x.size):
        if not (m <= x[i]):
            m = x[i]
    return m, g


def elements_second(x, m, g):
    h, k = np.full(3, m), np.arange(x.size) % 3
    for i in prange(x.size):
        h[k[i]] = min(x[i], h[k[i]])
    return h[0], h[1] + h[2]


def numbers(dtype: Any, n: int) -> list[Any]:
    x = np.round(RANDOM.random(n) * 9).astype(dtype)
    if dtype is int:
        return [x]
    out = [x, np.where(x < 4, 0.0, -0.0).astype(dtype)]
    for where in (slice(1), slice(n // 2, n // 2 + 1), slice(n - 1, n), slice(n), slice(n // 3, n // 2)):
        out.append(x.copy())
        out[-1][where] = np.nan
    return out


@pytest.mark.parametrize("dtype", [np.float64, np.float32, int])
@pytest.mark.parametrize("n", [1, 7, 30000])
def test_variable_first_is_exact_with_nan_and_zeros(dtype: Any, n: int) -> None:
    compiled = njit(parallel=True)(variable_first)
    for x in numbers(dtype, n):
        for m, g in ((dtype(5), dtype(2)), (x[0], x[-1])):
            got, want = compiled(x, m, g), variable_first(x, m, g)
            np.testing.assert_array_equal(got, want)
            for a, b in zip(got, want, strict=True):
                assert np.isnan(a) or np.signbit(a) == np.signbit(b)


@pytest.mark.parametrize("function", [least_second, greatest_second, kept_by_a_condition, elements_second])
def test_variable_second_needs_the_order_where_there_may_be_nan(function: Any) -> None:
    x = numbers(float, 3000)[0]
    told = runs_in_order(function, x, 5.0, 2.0)
    # Whether indices of an array repeat is only tested for loops that are worth it.
    assert len(told) == (function is not elements_second)
    assert all("write the variable first" in text for text in told)
    assert njit(parallel=True, fastmath={"nnan", "nsz"})(function)(x, 5.0, 2.0) == function(x, 5.0, 2.0)
    whole = numbers(int, 3000)[0]
    assert njit(parallel=True)(function)(whole, 5, 2) == function(whole, 5, 2)


def left_by_few(x):
    s, at, m, total, t, v = np.zeros(2), -1, 1.0, 0.0, np.full(3, 7.0), np.ones(2)
    for i in prange(x.size):
        t[0] = x[i]
        t[1] = 1
        v = np.maximum(v, x[i])
        x[i] = t[0] + t[2]
        s += 1
        m = np.maximum(m, x[i])
        total += x[i]
        if x[i] >= 1:
            at = i
    return s, at, m, total, t, v


def test_an_array_that_is_combined_does_not_grow():
    @njit(parallel=True)
    def f(a):
        v = np.zeros(1)
        for i in prange(a.shape[0]):
            v = v + a[i]
        return v

    np.testing.assert_allclose(f(np.ones((5, 1))), [5.0])
    with pytest.raises(ValueError, match="broadcast"):
        f(np.ones((5, 6)))
