"""Verdicts on loops whose iterations work on parts of arrays that follow each other, or that never meet."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lancehead import njit, parallel_chunksize, prange
from loop_corpus import is_refused

N = 103
RANDOM = np.random.default_rng(5)
RIGHT: list[Any] = []
WRONG: list[Any] = []


def right(*args: Any) -> Callable[[Any], Any]:
    return lambda f: RIGHT.append(pytest.param(f, args, id=f.__name__))


def wrong(*args: Any) -> Callable[[Any], Any]:
    return lambda f: WRONG.append(pytest.param(f, args, id=f.__name__))


def vector() -> Any:
    return RANDOM.random(N)


def square() -> Any:
    return RANDOM.random((9, 9))


@right(vector(), 7)
def quotients(a, parts):
    for t in prange(parts):
        for j in range(t * len(a) // parts, (t + 1) * len(a) // parts):
            a[j] = a[j] * 2 + t


@right(vector(), 7)
def quarters(a, k):
    for t in prange(4):
        for j in range(t * len(a) // 4, (t + 1) * len(a) // 4):
            a[j] = a[j] * k + t


@right(vector(), 7)
def quotients_twice(a, parts):
    b = np.empty_like(a)
    for t in prange(parts):
        low, high = t * len(a) // parts, (t + 1) * len(a) // parts
        for j in range(low, high):
            b[j] = 0
        for j in range(low, high):
            b[j] = b[j] * 2 + a[j]
    return b


@right(vector(), 15)
def limited(a, m):
    for t in prange((len(a) + m - 1) // m):
        start = t * m
        stop = min(start + m, len(a))
        for j in range(start, stop):
            a[j] = t + 1


@right(vector(), 15)
def limited_twice(a, m):
    for t in prange(9):
        for j in range(min(t * m, len(a)), min((t + 1) * m, len(a))):
            a[j] = t + 1


@right(vector(), 15)
def downwards(a, m):
    for t in prange(7):
        for j in range(min(t * m + m, len(a)) - 1, t * m - 1, -1):
            a[j] = t + 1


@right(vector(), 15)
def inner_parallel(a, m):
    for t in prange(6):
        for j in prange(t * m, (t + 1) * m):
            a[j] = t + 1


@right(vector(), 15)
def slices(a, m):
    b = np.zeros_like(a)
    for t in prange(7):
        b[t * m : (t + 1) * m] = a[t * m : (t + 1) * m] * 2
    return b


@right(vector(), 15)
def slices_of_parts(a, m):
    for t in prange(7):
        part = a[t * m : min(t * m + m, len(a))]
        for j in range(len(part)):
            part[j] = t - part[j]


@right(RANDOM.random((3, 40)), 6)
def slices_of_columns(a, m):
    for t in prange(7):
        a[:, t * m : (t + 1) * m] = a[:, t * m : (t + 1) * m] + t


@right(vector(), 20)
def far_away(a, m):
    for i in prange(m):
        a[i] = a[i + m] + 1


@right(vector(), 20)
def upper_part(a, m):
    for i in prange(m):
        for j in range(m, len(a)):
            if j == m + i:
                a[i] = a[j]


@right(square())
def mirrored(a):
    for i in prange(a.shape[0]):
        for j in range(i + 1, a.shape[0]):
            a[i, j] = i - j
            a[j, i] = j


@right(square())
def mirrored_with_diagonal(a):
    for i in prange(a.shape[0]):
        for j in range(i, a.shape[0]):
            a[i, j] = i + j
            a[j, i] = i + j


@right(square())
def lower_from_upper(a):
    for i in prange(a.shape[0]):
        for j in range(i):
            a[i, j] = a[j, i]


@right(square())
def upper_from_lower(a):
    for i in prange(a.shape[0]):
        for j in prange(i + 1, a.shape[0]):
            a[i, j] = a[j, i]


@right(vector(), 3)
def strided_view(a, m):
    b = a[::3]
    for i in prange(len(b)):
        b[i] = i
    c = a[1::m]
    for i in prange(len(c)):
        c[i] = -i


@right(RANDOM.random((6, 20)), 2)
def strided_columns(a, m):
    b = a[1:, ::m]
    for i in prange(b.shape[1]):
        for j in range(b.shape[0]):
            b[j, i] = b[j, i] + i


@right(vector(), 3)
def backwards(a, m):
    b = a[::-1]
    for i in prange(len(b)):
        b[i] = i


@right(vector(), 2)
def even_beside_odd(a, m):
    b, c = a[::2], a[1::2]
    for i in prange(len(c)):
        b[i] = c[i]


@wrong(vector(), 2)
def strided_beside_whole(a, m):
    b = a[::2]
    for i in prange(len(b)):
        b[i] = a[i]


@wrong(vector(), 2)
def two_steps_of_one_array(a, m):
    b, c = a[::2], a[::m]
    for i in prange(len(b)):
        b[i] = c[i + 1]


@wrong(vector(), 2)
def spread_over_itself(a, m):
    for i in prange(len(a)):
        a[0:5] = a[0:1]
        a[i] = a[4]


@wrong(vector(), 7)
def quotients_that_overlap(a, parts):
    for t in prange(parts):
        for j in range(t * len(a) // parts, (t + 1) * len(a) // parts + 1):
            a[j] = t


@wrong(vector(), 7)
def quotients_of_other_divisors(a, parts):
    for t in prange(parts):
        for j in range(t * len(a) // parts, (t + 1) * len(a) // (parts + 1)):
            a[j] = t


@wrong(vector(), 7)
def two_steps(a, parts):
    for t in prange(parts):
        for j in range(t * len(a) // parts, (t + 2) * len(a) // parts):
            a[j] = t


@wrong(vector(), 7)
def there_and_back(a, parts):
    for t in prange(parts):
        for j in range((t - 3) * (t - 3) * 5, (t - 2) * (t - 2) * 5):
            a[j] = t


@wrong(vector(), 15)
def unlimited(a, m):
    for t in prange(6):
        for j in range(t * m, max(t * m + m, 20)):
            a[j] = t + 1


@wrong(vector(), 15)
def begins_too_early(a, m):
    for t in prange(1, 6):
        for j in range(min(t * m, 30), t * m + m):
            a[j] = t + 1


@wrong(vector(), 15)
def neighbour_of_another_part(a, m):
    for t in prange(6):
        for j in range(t * m, (t + 1) * m):
            a[j] = a[j + 1]


@wrong(vector(), 15)
def index_behind_its_loop(a, m):
    for t in prange(6):
        j = t * m
        while j < t * m + m:
            a[j] = t
            j += 1
        a[j] = t


@wrong(vector(), 15)
def slices_that_overlap(a, m):
    for t in prange(6):
        a[t * m : (t + 1) * m + 1] = t


@wrong(vector(), 15)
def slices_read_elsewhere(a, m):
    for t in prange(6):
        a[t * m : (t + 1) * m] = a[(t + 1) * m : (t + 2) * m]


@wrong(vector(), 20)
def too_near(a, m):
    for i in prange(m + 1):
        a[i] = a[i + m] + 1


@wrong(square())
def mirrored_too_far(a):
    for i in prange(a.shape[0]):
        for j in range(i - 1, a.shape[0]):
            a[i, j] = i
            a[j, i] = j


@wrong(square())
def whole_mirror(a):
    for i in prange(a.shape[0]):
        for j in range(a.shape[0]):
            a[i, j] = a[j, i]


@wrong(square())
def beside_the_mirror(a):
    for i in prange(a.shape[0]):
        for j in range(i + 1, a.shape[0] - 1):
            a[i, j + 1] = a[j, i + 1]
            a[j, i] = 1


@wrong(np.zeros(256), 1000)
def indices_of_few_bits(a, n):
    for i in prange(n):
        a[np.uint8(i)] = i


@wrong(np.zeros(256), 500)
def sums_of_few_bits(a, n):
    for i in prange(n):
        a[np.uint8(i % 256) + np.uint8(3)] = i


@wrong(vector())
def an_array_out_of_a_list(a):
    arrays = [a, a[1:]]
    for i in prange(len(a) - 1):
        a[i] = arrays[0][i + 1] + 1


@wrong(vector())
def an_array_that_was_appended(a):
    arrays = [np.zeros(3)]
    arrays.append(a)
    for i in prange(len(a) - 1):
        a[i] = arrays[1][i + 1] + 1


@right(vector())
def other_arrays_out_of_a_list(a):
    arrays, b = [a, a[1:]], np.zeros(len(a))
    for i in prange(len(a) - 1):
        b[i] = arrays[0][i + 1] + 1
    return b


@wrong(vector())
def part_of_a_part_of_a_part(a):
    v = a[1:][1:][1:][1:][1:][1:][1:][1:][1:][1:][1:][1:][1:][1:][1:][1:][1:][1:][1:][1:][1:]
    for i in prange(len(v)):
        a[i] = v[i] + 1


@pytest.mark.parametrize(("function", "args"), RIGHT)
def test_right_loops_run(function: Any, args: Any) -> None:
    mine, theirs = copy.deepcopy(args), copy.deepcopy(args)
    expected, got = function(*theirs), njit(parallel=True)(function)(*mine)
    for x, y in zip((expected, *theirs), (got, *mine)):
        np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize(("function", "args"), WRONG)
def test_wrong_loops_do_not_run_in_parallel(function: Any, args: Any) -> None:
    assert not is_refused(function, *args)


@njit
def late(i):
    """0, after a while in the first iteration."""
    x = 0.0
    if i == 0:
        for j in range(2000000):
            x += np.sqrt(j)
    return float(x < 0)


def turned_round_in_place(a, n):
    s = 0.0
    for i in prange(len(a)):
        a[-1 - i] = a[i] + late(i)
        s += a[i]
    return a, s


def beyond_the_end(a, n):
    for i in prange(len(a) + n):
        a[i - n] = i + late(i)
    return a


def the_one_before_of_a_part(a, n):
    part, s = a[n:], 0.0
    for i in prange(len(part)):
        part[i - n] = a[i] + i + late(i)
        s += a[i]
    return a, s


def all_in_one_place(a, n):
    for i in prange(len(a)):
        a[i * (n - 7)] = a[i * (n - 7)] * 0.5 + i + late(i)
    return a


def slices_from_the_end(a, n):
    for i in prange(-3, 3 * n):
        a[i * 5 : i * 5 + 5] = i + late(i + 3)
    return a


def slices_to_the_end(a, n):
    for i in prange(n):
        a[i * (n - 12) : (i + 1) * (n - 12)] = i + late(i)
    return a


@njit
def put(a, i, x):
    a[i] = x


def in_a_callee(a, n):
    s = 0.0
    for i in prange(len(a)):
        put(a, -1 - i, a[i] + late(i))
        s += a[i]
    return a, s


def from_the_end_only(a, n):
    b, c = np.zeros(len(a)), np.zeros(len(a))
    for i in prange(len(a)):
        b[-1 - i] = a[i]
        c[i - n] = a[i]
    return b, c


@njit
def fill(r, x):
    for j in range(len(r)):
        r[j] = x


def blocks_from_before_0(a, n):
    m = len(a)
    for t in prange(-3, 4):
        x = t + late(t + 3)
        for k in range(t * m // 4, (t + 1) * m // 4):
            a[k] = x
    return a


def blocks_of_quotients(a, n):
    m = len(a)
    for t in prange(8):
        x = t + late(t)
        for k in range((t * m - 4 * m) // 4, ((t + 1) * m - 4 * m) // 4):
            a[k] = x
    return a


def blocks_less_all(a, n):
    m = len(a)
    for t in prange(8):
        x = t + late(t)
        for k in range(t * m // 4, (t + 1) * m // 4):
            a[k - m] = x
    return a


def slices_less_all(a, n):
    m = len(a)
    for t in prange(8):
        a[t * m // 4 - m : (t + 1) * m // 4 - m] = t + late(t)
    return a


def blocks_by_shifts(a, n):
    m = len(a) * 8
    for t in prange(-4, 4):
        x = t + late(t + 4)
        for k in range((t * m) >> 5, ((t + 1) * m) >> 5):
            a[k] = x
    return a


def blocks_read_and_written(a, n):
    m = len(a)
    for t in prange(8):
        lo = t * m // 4 - m
        hi = (t + 1) * m // 4 - m
        x = t + late(t)
        for k in range(lo, hi):
            a[k] = a[k] * 0.5 + x
    return a


def limited_blocks(a, n):
    m = len(a) // 4
    for t in prange(-3, 4):
        x = t + late(t + 3)
        for k in range(max(t * m, -3000), min(t * m + m, 3000)):
            a[k] = x
    return a


def blocks_backwards(a, n):
    m = len(a)
    for t in prange(8):
        x = t + late(t)
        for k in range((t + 1) * m // 4 - m - 1, t * m // 4 - m - 1, -1):
            a[k] = x
    return a


def views_of_blocks(a, n):
    b = np.zeros((100, 5))
    m = 100
    for t in prange(8):
        v = b[t * m // 4 - m : (t + 1) * m // 4 - m]
        for i in range(len(v)):
            v[i, 2] = t + late(t)
    return b


def view_in_a_callee(a, n):
    for i in prange(4, len(a) + 4):
        put(a[3:], i - n, i + late(i - 4))
    return a


def slices_that_end_early(a, n):
    for i in prange(40):
        a[i * 10 : min(i * 10 + 10, n - 10)] = i + late(i)
    return a


def slices_downwards(a, n):
    for i in prange(11):
        a[100 - 10 * i : 90 - 10 * i] = i + late(i)
    return a


def slices_in_a_callee(a, n):
    for i in prange(40):
        fill(a[i * 10 : min(i * 10 + 10, n - 10)], i + late(i))
    return a


def rows_that_close(a, n):
    b = np.ones((40, 30))
    for i in prange(40):
        for j in range(30):
            b[i, j] = b[i, j - 1] + b[i, j - 2] * 0.1
    return b


def a_part_at_the_end(a, n):
    b = a[-n * 10 :]
    for i in prange(70):
        b[i] = i
    return a


def loops_over_slices(a, n):
    for i in prange(40):
        v = a[i * 10 : min(i * 10 + 10, n - 10)]
        x = i + late(i)
        for j in range(len(v)):
            v[j] = x
    return a


@pytest.mark.parametrize(
    "function",
    [
        turned_round_in_place,
        beyond_the_end,
        the_one_before_of_a_part,
        all_in_one_place,
        slices_from_the_end,
        slices_to_the_end,
        in_a_callee,
        from_the_end_only,
        blocks_from_before_0,
        blocks_of_quotients,
        blocks_less_all,
        slices_less_all,
        blocks_by_shifts,
        blocks_read_and_written,
        limited_blocks,
        blocks_backwards,
        views_of_blocks,
        view_in_a_callee,
        slices_that_end_early,
        slices_downwards,
        slices_in_a_callee,
        rows_that_close,
        a_part_at_the_end,
        loops_over_slices,
    ],
)
def test_indices_that_may_count_from_the_end_or_stay(function: Any) -> None:
    a = np.random.default_rng(1).random(3000)
    expected = function(a.copy(), 7)
    jitted = njit(parallel=True)(function)
    for chunk in [1, 100]:
        with parallel_chunksize(chunk):
            got = jitted(a.copy(), 7)
        for x, y in zip(expected, got) if isinstance(expected, tuple) else [(expected, got)]:
            np.testing.assert_allclose(y, x, rtol=1e-12)


@pytest.mark.parametrize(
    "function", [rows_that_close, views_of_blocks, from_the_end_only, a_part_at_the_end, blocks_from_before_0]
)
def test_what_is_looked_at_is_told(function: Any, capsys: Any) -> None:
    jitted = njit(parallel=True)(function)
    jitted(np.ones(3000), 7)
    jitted.parallel_diagnostics()
    text = capsys.readouterr().out
    is_in_order = function is blocks_from_before_0
    line = function.__code__.co_firstlineno + 4 + is_in_order
    assert "runs in parallel" in text
    assert (f"in order if an index or slice at line {line}" in text) == is_in_order
