"""Verdicts on parallel loops: right ones run and agree with CPython, wrong ones are refused or run in order."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from lancehead import njit, pndindex, prange
from loop_corpus import Corpus, N, is_refused

CORPUS = Corpus()
#: Those whose iterations depend on each other for certain; of the others nobody can tell, or only their values.
PROVEN = {
    "previous",
    "next_one",
    "recurrence",
    "array_used_beside_its_sum",
    "appended",
    "sum_that_is_read",
    "fields_of_the_next_record",
    "records_by_another_place",
    "parts_of_the_next_complex_number",
}
RANDOM, RIGHT, WRONG = CORPUS.random, CORPUS.right_loops, CORPUS.wrong_loops
right, wrong, vector, matrix, bins = CORPUS.right, CORPUS.wrong, CORPUS.vector, CORPUS.matrix, CORPUS.bins


@right(vector())
def elementwise(a):
    b = np.empty(len(a))
    for i in prange(len(a)):
        b[i] = a[i] + 1
    return b


@right(vector())
def in_place(a):
    for i in prange(len(a)):
        a[i] = a[i] * a[i]
    return a


@right(vector())
def offset_write(a):
    b = np.zeros(len(a) + 3)
    for i in prange(len(a)):
        b[i + 3] = a[i]
    return b


@right(vector())
def reversed_write(a):
    b = np.empty(len(a))
    for i in prange(len(a)):
        b[len(a) - 1 - i] = a[i]
    return b


@right(vector())
def even_and_odd(a):
    b = np.empty(2 * len(a))
    for i in prange(len(a)):
        b[2 * i] = a[i]
        b[2 * i + 1] = -a[i]
    return b


@right(vector())
def stepped(a):
    for i in prange(0, len(a), 2):
        a[i] = 0
    return a


@right(vector())
def downwards(a):
    b = np.zeros(len(a))
    for i in prange(len(a) - 1, -1, -1):
        b[i] = a[i] * i
    return b


@right(vector())
def stencil_into_other(a):
    b = np.zeros(len(a))
    for i in prange(1, len(a) - 1):
        b[i] = a[i - 1] + a[i] + a[i + 1]
    return b


@right(matrix())
def nested_rows(a):
    b = np.empty(a.shape)
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] * 2
    return b


@right(matrix())
def columns(a):
    b = np.empty(a.shape)
    for j in prange(a.shape[1]):
        for i in range(a.shape[0]):
            b[i, j] = a[i, j] + j
    return b


@right(matrix())
def flattened(a):
    b = np.empty(a.size)
    w = a.shape[1]
    for i in prange(a.shape[0]):
        for j in range(w):
            b[i * w + j] = a[i, j]
    return b


@right(vector())
def constant_blocks(a):
    b = np.zeros(4 * len(a))
    for i in prange(len(a)):
        for j in range(4):
            b[4 * i + j] = a[i] + j
    return b


@right(matrix())
def transposed(a):
    b = np.empty((a.shape[1], a.shape[0]))
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            b[j, i] = a[i, j]
    return b


@right(matrix())
def row_slices(a):
    for i in prange(a.shape[0]):
        a[i, :] = a[i, :] + i
    return a


@right(matrix())
def row_views(a):
    for i in prange(a.shape[0]):
        row = a[i]
        for j in range(len(row)):
            row[j] += 1.0
    return a


@right(matrix())
def row_sums(a):
    s = np.empty(a.shape[0])
    for i in prange(a.shape[0]):
        s[i] = a[i].sum()
    return s


@right(matrix(20, 30), matrix(30, 25))
def product(a, b):
    c = np.zeros((20, 25))
    for i in prange(20):
        for j in range(25):
            for k in range(30):
                c[i, j] += a[i, k] * b[k, j]
    return c


@right(matrix())
def over_indices(a):
    b = np.empty(a.shape)
    for i, j in pndindex(a.shape):
        b[i, j] = a[i, j] + i - j
    return b


@right(bins())
def histogram(k):
    h = np.zeros(10, np.int64)
    for i in prange(len(k)):
        h[k[i]] += 1
    return h


@right(bins(), vector())
def weighted_histogram(k, w):
    h = np.zeros(10)
    for i in prange(len(k)):
        h[k[i]] += w[i]
    return h


@right(bins(), vector())
def greatest_of_bins(k, w):
    h = np.zeros(10)
    for i in prange(len(k)):
        h[k[i]] = max(h[k[i]], w[i])
    return h


@right(bins())
def bits_of_bins(k):
    h = np.zeros(10, np.int64)
    for i in prange(len(k)):
        h[k[i]] |= 1 << (i % 5)
    return h


@right(matrix())
def array_sum(a):
    s = np.zeros(a.shape[1])
    for i in prange(a.shape[0]):
        s += a[i]
    return s


@right(vector())
def scalar_sum(a):
    s = 0.0
    for i in prange(len(a)):
        s += a[i]
    return s


@right(vector())
def conditional_sum(a):
    s = 1.5
    for i in prange(len(a)):
        if a[i] > 0.5:
            s -= a[i]
    return s


@right(vector())
def scalar_product(a):
    p = 1.0
    for i in prange(len(a)):
        p *= 1.0 + a[i] / 100
    return p


@right(vector())
def extremes(a):
    low, high = a[0], a[0]
    for i in prange(len(a)):
        low = min(low, a[i])
        high = max(high, a[i])
    return low, high


@right(bins())
def bitwise(k):
    x, y, z = 0, 15, 0
    for i in prange(len(k)):
        x ^= k[i] * i
        y &= k[i] | 8
        z |= k[i]
    return x, y, z


@right(vector())
def complex_sum(a):
    s = 0j
    for i in prange(len(a)):
        s += a[i] * (1 + 2j)
    return s


@right(vector())
def tuple_sum(a):
    t = (0.0, 0)
    for i in prange(len(a)):
        t = (t[0] + a[i], t[1] + 1)
    return t


@right(vector())
def sum_in_inner_loop(a):
    s = 0.0
    for i in prange(len(a)):
        for j in range(i % 7):
            s += a[j]
    return s


@right(vector())
def last_value(a):
    k = -1
    x = 0.0
    for i in prange(len(a)):
        k = i
        x = a[i]
    return k, x


@right(vector())
def private_array(a):
    b = np.empty(len(a))
    for i in prange(len(a)):
        t = np.zeros(4)
        t[0] = a[i]
        t[1:] = 2.0
        b[i] = t.sum()
    return b


def store_at(i, a, b):
    b[i] = a[i] * 2


store_at_jitted = njit(store_at)


@right(vector())
def store_in_callee(a):
    b = np.empty(len(a))
    for i in prange(len(a)):
        store_at_jitted(i, a, b)
    return b


@right(vector())
def two_loops(a):
    b = np.empty(len(a))
    for i in prange(len(a)):
        b[i] = a[i] * 2
    s = 0.0
    for i in prange(len(a)):
        s += b[i]
    return s


@wrong(vector())
def previous(a):
    for i in prange(1, len(a)):
        a[i] = a[i - 1] + 1


@wrong(vector())
def next_one(a):
    for i in prange(len(a) - 1):
        a[i] = a[i + 1]


@wrong(vector())
def one_element(a):
    for i in prange(len(a)):
        a[0] = a[i]


@wrong(RANDOM.permutation(N), vector())
def scattered(p, a):
    b = np.zeros(len(a))
    for i in prange(len(a)):
        b[p[i]] = a[i]


@wrong(vector())
def recurrence(a):
    x = 0.0
    for i in prange(len(a)):
        x = x * 0.5 + a[i]
    return x


@right(vector())
def shared_temporary(a):
    t = np.empty(2)
    b = np.empty(len(a))
    for i in prange(len(a)):
        t[0] = a[i]
        b[i] = t[0]
    return b


@wrong(bins(), bins() % 3)
def updated_by_two_names(k, at):
    h = np.zeros(10)
    part = h[2:5]
    for i in prange(len(k)):
        h[k[i]] += 1
        part[at[i]] += 1
    return h


@right(bins(), 7)
def marked(k, code):
    seen, codes, missing = np.zeros(12, np.bool_), np.zeros(12, np.int8), np.zeros((12, 2))
    for i in prange(len(k)):
        if k[i] > 3:
            seen[k[i]] = True
        else:
            seen[k[i] + 1] = True
        codes[k[i]] = code
        missing[k[i], 1] = np.nan
    return seen, codes, missing


@right(2 + 1j, bins())
def marked_by_complex_numbers(z, k):
    b = np.zeros(12, np.complex128)
    for i in prange(len(k)):
        b[k[i]] = z
    return b


@right(300)
def sieve(n):
    prime = np.ones(n, np.bool_)
    for i in prange(2, n):
        for j in range(i * i, n, i):
            prime[j] = False
    return prime


@wrong(bins())
def marked_differently(k):
    b = np.zeros(12)
    for i in prange(len(k)):
        if i % 2:
            b[k[i]] = 0.0
        else:
            b[k[i]] = -0.0
    return b


@wrong(bins(), 1, 2)
def marked_by_two_variables(k, x, y):
    b = np.zeros(12)
    for i in prange(len(k)):
        b[k[i]] = x
        b[k[-1 - i]] = y
    return b


@wrong(bins())
def marked_by_the_outer_index(k):
    b = np.zeros(12)
    for i in prange(4):
        for j in prange(len(k)):
            b[k[j]] = i
    return b


@wrong(bins())
def marked_and_read(k):
    seen, n = np.zeros(12, np.bool_), 0
    for i in prange(len(k)):
        if not seen[k[i]]:
            n += 1
        seen[k[i]] = True
    return n


@wrong(bins())
def marked_and_written(k):
    b = np.zeros(N)
    for i in prange(N):
        b[i] = i
        b[k[i]] = 1
    return b


@wrong(vector())
def counted_while_better(a):
    best, count = -1.0, 0
    for i in prange(len(a)):
        if a[i] > best:
            best = a[i]
            count += 1
    return best, count


@wrong(vector())
def written_while_better(a):
    best = -1.0
    b = np.zeros(len(a))
    for i in prange(len(a)):
        if a[i] > best:
            best = a[i]
            b[i] = 1
    return best, b


@wrong(vector())
def set_to_something_else(a):
    best, at = -1.0, -1
    for i in prange(len(a)):
        if a[i] > best:
            best = a[i] / 2
            at = i
    return best, at


@wrong(vector())
def counted_until_found(a):
    ok, count = True, 0
    for i in prange(len(a)):
        ok = ok and a[i] < 0.9
        if ok:
            count += 1
    return ok, count


@wrong(matrix())
def array_used_beside_its_sum(a):
    s, b = np.zeros(a.shape[1]), np.empty(len(a))
    for i in prange(len(a)):
        b[i] = s[0]
        s = s + a[i]
    return s, b


@wrong(bins())
def new_element_used_again(k):
    h, b = np.zeros(10), np.empty(len(k))
    for i in prange(len(k)):
        t = h[k[i]] + 1
        h[k[i]] = t
        b[i] = t
    return h, b


@wrong(bins(), vector())
def part_of_an_element_used_again(k, a):
    h, b = np.zeros(10, np.complex128), np.empty(len(k))
    for i in prange(len(k)):
        t = h[k[i]]
        h[k[i]] = t + a[i]
        b[i] = t.real
    return h, b


@wrong(bins())
def branch_on_a_new_element(k):
    h, b = np.zeros(10), np.zeros(len(k))
    for i in prange(len(k)):
        t = h[k[i]] + 1
        h[k[i]] = t
        if t > 5:
            b[i] = 1
    return h, b


@wrong(bins(), vector())
def more_than_the_best_of_elements(k, a):
    h, b = np.zeros(10), np.zeros(len(k))
    for i in prange(len(k)):
        x = a[i]
        if x > h[k[i]]:
            h[k[i]] = x
            b[i] = 1
    return h, b


@wrong(bins(), vector())
def an_element_turned_round(k, a):
    h = np.ones(10, np.complex128)
    for i in prange(len(k)):
        t = h[k[i]]
        h[k[i]] = complex(t.imag, t.real) * a[i]
    return h


@wrong(bins() * 40)
def greatest_of_fewer_bits(k):
    h = np.zeros(10, np.int8)
    for i in prange(len(k)):
        h[k[i] % 10] = max(h[k[i] % 10], k[i])
    return h


@right(bins(), vector())
def best_of_elements(k, a):
    h = np.zeros(10)
    for i in prange(len(k)):
        x = a[i]
        if x > h[k[i]]:
            h[k[i]] = x
    return h


@right(bins())
def looks_for_nothing(k):
    n = 0
    for i in prange(len(k)):
        if k[i] > 3:
            n += 1
        if n:
            part = k[:n]  # noqa: F841
        half = n // 2  # noqa: F841
    return n


@wrong(vector())
def appended(a):
    found = [0.0]
    for i in prange(len(a)):
        found.append(a[i])


@wrong(vector())
def overlapping_blocks(a):
    b = np.zeros(4 * len(a) + 4)
    for i in prange(len(a)):
        for j in range(5):
            b[4 * i + j] = a[i]


@wrong(matrix())
def same_row(a):
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            a[0, j] = a[i, j]


@wrong(vector())
def modulo(a):
    for i in prange(len(a)):
        a[i % 7] = i


@wrong(vector())
def store_in_callee_at_one_place(a):
    for i in prange(len(a)):
        store_at_jitted(0, a, a)


@wrong(bins())
def two_operations(k):
    h = np.ones(10, np.int64)
    for i in prange(len(k)):
        h[k[i]] += 1
        h[k[i]] *= 2


@wrong(bins())
def sum_that_is_read(k):
    s = 0
    b = np.empty(len(k))
    for i in prange(len(k)):
        s += k[i]
        b[i] = s
    return b


@right(vector())
def a_slice_from_a_constant(a):
    later = a[2:]
    for i in prange(len(a) - 2):
        later[i] = a[i + 2] * 2
    return a


def records(*shape: int) -> Any:
    made = np.zeros(shape or N, [("x", "f8"), ("pair", [("y", "f8"), ("z", "f8")])])
    made["x"] = RANDOM.random(made.shape)
    return made


@right(records())
def fields_of_records(r):
    for i in prange(len(r)):
        r[i]["pair"]["y"] = r[i]["x"] * 2
        r[i]["x"] = r[i]["pair"]["y"] + 1
    return r["x"], r["pair"]["y"], r["pair"]["z"]


@right(records(), records())
def whole_records(r, s):
    for i in prange(len(r)):
        r[i] = s[i]
    return r["x"], r["pair"]["y"], r["pair"]["z"]


@right(records(10, 20)[::-1, ::3])
def records_of_a_strided_array(r):
    for i in prange(r.shape[0]):
        for j in range(r.shape[1]):
            r[i, j]["pair"]["z"] = r[i, j]["x"] + i
    return r["x"], r["pair"]["y"], r["pair"]["z"]


@right(records())
def parts_of_arrays_of_records(r):
    later, x = r[1:][1:], r["pair"]["y"][2:]
    for i in prange(len(later)):
        later[i]["x"] = r[i + 2]["x"] * 2
        x[i] = later[i]["pair"]["z"]
    return r["x"], r["pair"]["y"], r["pair"]["z"]


@right(vector() + 1j)
def parts_of_complex_numbers(c):
    for i in prange(len(c)):
        c.real[i] = c.imag[i] * 2
    return c


@right(np.array(3.0))
def the_index_of_a_number(a):
    out, s = np.zeros_like(a), 0.0
    for i in pndindex(a.shape):
        out[i] = a[i] * 2
        s += a[i]
    return out, s


@wrong(records())
def fields_of_the_next_record(r):
    for i in prange(len(r) - 1):
        r[i]["x"] = r[i + 1]["x"]
    return r["x"], r["pair"]["y"], r["pair"]["z"]


@wrong(records())
def a_record_for_two(r):
    for i in prange(len(r)):
        r[i // 2]["pair"]["y"] = i
    return r["x"], r["pair"]["y"], r["pair"]["z"]


@wrong(records())
def records_by_another_place(r):
    later = r[1:][1:]
    for i in prange(len(later)):
        later[i]["x"] = r[i]["x"]
    return r["x"], r["pair"]["y"], r["pair"]["z"]


@wrong(vector() + 1j)
def parts_of_the_next_complex_number(c):
    for i in prange(len(c) - 1):
        c.real[i] = c.real[i + 1]
    return c


@pytest.mark.parametrize(("function", "args"), RIGHT)
def test_right_loops_run(function: Any, args: Any) -> None:
    expected = function(*copy.deepcopy(args))
    got = njit(parallel=True)(function)(*copy.deepcopy(args))
    for x, y in zip(expected, got) if isinstance(expected, tuple) else [(expected, got)]:
        np.testing.assert_allclose(y, x, rtol=1e-12)


@pytest.mark.parametrize(("function", "args"), WRONG)
def test_wrong_loops_do_not_run_in_parallel(function: Any, args: Any) -> None:
    assert is_refused(function, *args) == (function.__name__ in PROVEN)


def test_unsafe_overrides() -> None:
    p, a = RANDOM.permutation(N), vector()
    got = np.zeros(N)

    def scatter(p, a, b):
        for i in prange(len(a)):
            b[p[i]] = a[i]

    njit(parallel={"unsafe": True})(scatter)(p, a, got)
    assert np.array_equal(got[p], a)
