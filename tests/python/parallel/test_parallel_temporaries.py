"""Verdicts on temporary arrays of parallel loops: what iterations do not fill themselves is not theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lancehead import njit, prange
from loop_corpus import Corpus, is_refused

CORPUS = Corpus()
#: Those whose iterations write the same elements for certain.
PROVEN = {
    "temporary_of_which_the_rest_is_read",
    "temporary_filled_while_it_is_read",
    "temporary_filled_along_a_diagonal",
}
wrong, vector, matrix, bins = CORPUS.wrong, CORPUS.vector, CORPUS.matrix, CORPUS.bins


@wrong(vector())
def temporary_of_which_the_rest_is_read(a):
    t = np.zeros(2)
    b = np.empty(len(a))
    for i in prange(len(a)):
        b[i] = t[1]
        t[1] = a[i]
    return b


@wrong(vector())
def temporary_that_some_iterations_fill(a):
    t = np.zeros(2)
    b = np.empty(len(a))
    for i in prange(len(a)):
        if a[i] > 0.5:
            t[:] = a[i]
        b[i] = t.sum()
    return b


@wrong(vector())
def temporary_filled_while_it_is_read(a):
    t = np.zeros(5)
    b = np.empty(len(a))
    for i in prange(len(a)):
        s = 0.0
        for j in range(5):
            t[j] = a[i] + j
            s += t[4]
        b[i] = s
    return b


@wrong(bins())
def temporary_filled_as_far_as_iterations_say(k):
    t = np.zeros(10)
    b = np.empty(len(k))
    for i in prange(len(k)):
        for j in range(k[i]):
            t[j] = i
        b[i] = t.sum()
    return b


@wrong(bins())
def temporary_used_after_it_was_filled_so_far(k):
    t = np.zeros(10)
    b = np.empty(len(k))
    for i in prange(len(k)):
        t[: k[i]] = i
        b[i] = t[: k[i]].sum()
    return b, t


@wrong(matrix())
def temporary_left_early(a):
    t = np.zeros(a.shape[1])
    b = np.empty(len(a))
    for i in prange(len(a)):
        for j in range(a.shape[1]):
            if a[i, j] > 0.9:
                break
            t[j] = a[i, j]
        b[i] = t.sum()
    return b


@wrong(matrix())
def temporary_of_which_every_other_is_filled(a):
    t = np.zeros(a.shape[1])
    b = np.empty(len(a))
    for i in prange(len(a)):
        for j in range(0, a.shape[1], 2):
            t[j] = a[i, j]
        b[i] = t.sum()
        t[1] += 1
    return b


@wrong(matrix())
def temporary_filled_along_a_diagonal(a):
    t = np.zeros((a.shape[1], a.shape[1]))
    b = np.empty(len(a))
    for i in prange(len(a)):
        for j in range(a.shape[1]):
            t[j, j] = a[i, j]
        b[i] = t.sum()
        t[0, 1] += 1
    return b


@wrong(vector())
def temporary_filled_unless_it_fails(a):
    t = np.zeros(3)
    b = np.empty(len(a))
    for i in prange(len(a)):
        try:
            for j in range(3):
                t[j] = checked(a[i] + j)
        except ValueError:
            pass
        b[i] = t.sum()
    return b


@njit
def checked(x):
    if x > 1.9:
        raise ValueError
    return x


@njit
def set_if_great(t, x):
    if x > 0.5:
        t[0] = x


@wrong(vector())
def temporary_that_a_callee_may_fill(a):
    t = np.zeros(1)
    b = np.empty(len(a))
    for i in prange(len(a)):
        set_if_great(t, a[i])
        b[i] = t[0]
    return b


@wrong(bins())
def temporary_at_what_a_loop_leaves(k):
    t, b = np.zeros((9, 99)), np.zeros(len(k))
    for i in prange(len(k)):
        q = k[i]
        for j in range(9):
            t[j, q] = i
            q = q + 1
        for j in range(9):
            b[i] += t[j, q]
    return b


@wrong(vector())
def temporary_by_two_names(a):
    t = np.zeros(3)
    b, u = np.empty(len(a)), t[1:]
    for i in prange(len(a)):
        t[:] = a[i]
        b[i] = u.sum()
        u[0] = 7
    return b


@pytest.mark.parametrize(("function", "args"), CORPUS.wrong_loops)
def test_loops_whose_iterations_share_temporaries_do_not_run_in_parallel(function: Any, args: Any) -> None:
    assert is_refused(function, *args) == (function.__name__ in PROVEN)
