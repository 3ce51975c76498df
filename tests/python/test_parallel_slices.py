"""Verdicts on loops whose iterations work on parts of arrays that follow each other, or that never meet."""

from __future__ import annotations

import copy
from typing import Any, Callable

import numpy as np
import pytest
from lancehead import errors, njit, prange

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
        b[t * m:(t + 1) * m] = a[t * m:(t + 1) * m] * 2
    return b


@right(vector(), 15)
def slices_of_parts(a, m):
    for t in prange(7):
        part = a[t * m:min(t * m + m, len(a))]
        for j in range(len(part)):
            part[j] = t - part[j]


@right(RANDOM.random((3, 40)), 6)
def slices_of_columns(a, m):
    for t in prange(7):
        a[:, t * m:(t + 1) * m] = a[:, t * m:(t + 1) * m] + t


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
        a[t * m:(t + 1) * m + 1] = t


@wrong(vector(), 15)
def slices_read_elsewhere(a, m):
    for t in prange(6):
        a[t * m:(t + 1) * m] = a[(t + 1) * m:(t + 2) * m]


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


@pytest.mark.parametrize(("function", "args"), RIGHT)
def test_right_loops_run(function: Any, args: Any) -> None:
    mine, theirs = copy.deepcopy(args), copy.deepcopy(args)
    expected, got = function(*theirs), njit(parallel=True)(function)(*mine)
    for x, y in zip((expected, *theirs), (got, *mine)):
        np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize(("function", "args"), WRONG)
def test_wrong_loops_are_refused(function: Any, args: Any) -> None:
    with pytest.raises(errors.ParallelRaceError):
        njit(parallel=True)(function)(*copy.deepcopy(args))
