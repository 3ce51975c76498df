"""`itertools` in compiled code. CPython is the oracle."""

import itertools

import numpy as np
import pytest

import lancehead
from lancehead import errors, njit

CASES = {
    "accumulate": lambda: list(itertools.accumulate([1, 2, 3])),
    "accumulate_by": lambda: list(itertools.accumulate([1, 5, 3], max)),
    "accumulate_from": lambda: list(itertools.accumulate([1, 2], initial=100)),
    "accumulate_nothing": lambda: list(itertools.accumulate([1][:0])),
    "chain": lambda: list(itertools.chain([1], (2, 3), range(2))),
    "chain_kinds": lambda: [x for x in itertools.chain([1.5], np.arange(3))],
    "chain_nothing": lambda: list(itertools.chain([1][:0], [2][:0])),
    "chain_texts": lambda: list(itertools.chain("ab", ["cd"])),
    "combinations": lambda: list(itertools.combinations([1, 2, 3, 4], 2)),
    "combinations_four": lambda: list(itertools.combinations(range(6), 4)),
    "combinations_none": lambda: list(itertools.combinations([1], 0)),
    "combinations_texts": lambda: [a + b for a, b in itertools.combinations(["x", "y", "z"], 2)],
    "combinations_too_many": lambda: list(itertools.combinations([1], 3)),
    "combinations_again": lambda: list(itertools.combinations_with_replacement("abc", 3)),
    "combinations_again_none": lambda: list(itertools.combinations_with_replacement([1][:0], 2)),
    "compress": lambda: list(itertools.compress("abc", [1, 0, 1])),
    "count": lambda: [x for x, _ in zip(itertools.count(10, 2), range(3))],
    "count_floats": lambda: [x for x, _ in zip(itertools.count(0.5), range(3))],
    "cycle": lambda: [x for x, _ in zip(itertools.cycle([1, 2]), range(5))],
    "cycle_nothing": lambda: [x for x in itertools.cycle([1][:0])],
    "dropwhile": lambda: list(itertools.dropwhile(lambda x: x < 3, [1, 5, 2])),
    "filterfalse": lambda: list(itertools.filterfalse(lambda x: x < 3, [1, 5, 2])),
    "filterfalse_none": lambda: list(itertools.filterfalse(None, [1, 0, 2])),
    "islice": lambda: list(itertools.islice([1, 2, 3, 4], 2)),
    "islice_from": lambda: list(itertools.islice(range(10), 2, 5)),
    "groupby": lambda: [(k, list(g)) for k, g in itertools.groupby("aabccc")],
    "groupby_key": lambda: [(k, sum(g)) for k, g in itertools.groupby([1, 3, 2, 4, 5], lambda x: x % 2)],
    "groupby_nothing": lambda: [(k, list(g)) for k, g in itertools.groupby([1][:0])],
    "groupby_kept": lambda: [list(g) for _, g in list(itertools.groupby([1, 1, 2, 3]))],
    "groupby_keys": lambda: [str(k) for k, _ in itertools.groupby([1.5, 1.5, float("nan"), float("nan")])],
    "islice_steps": lambda: list(itertools.islice(range(10), 1, None, 3)),
    "islice_endless": lambda: list(itertools.islice(itertools.count(), 3)),
    "islice_nothing": lambda: list(itertools.islice([1, 2], 0)),
    "pairwise": lambda: list(itertools.pairwise([1, 2, 3])),
    "permutations": lambda: list(itertools.permutations("abc", 2)),
    "permutations_all": lambda: list(itertools.permutations([1, 2, 3, 4], 4)),
    "permutations_one": lambda: list(itertools.permutations([1, 2, 3], 1)),
    "permutations_too_many": lambda: list(itertools.permutations([1], 2)),
    "product": lambda: list(itertools.product([1, 2], "ab")),
    "product_one": lambda: list(itertools.product([1, 2])),
    "product_three": lambda: list(itertools.product([1], [2], [3, 4])),
    "product_repeated": lambda: list(itertools.product("ab", repeat=4)),
    "product_nothing": lambda: list(itertools.product([1][:0], repeat=2)),
    "repeat": lambda: list(itertools.repeat(5, 2)),
    "repeat_endless": lambda: [x for x, _ in zip(itertools.repeat("a"), range(3))],
    "zip_longest": lambda: list(itertools.zip_longest([1, 2, 3], [4, 5], [6], fillvalue=0)),
    "zip_longest_one": lambda: list(itertools.zip_longest("abc")),
    "zip_longest_none": lambda: list(itertools.zip_longest([1, 2], [3.5])),
    "zip_longest_fill": lambda: list(itertools.zip_longest([1, 2], [3, 4, 5], fillvalue=-1)),
    "starmap": lambda: list(itertools.starmap(lambda a, b: a * b, [(2, 3), (3, 2)])),
    "takewhile": lambda: list(itertools.takewhile(lambda x: x < 3, [1, 2, 5, 1])),
}


@pytest.mark.parametrize("name", CASES)
def test_items(name):
    f = CASES[name]
    before = lancehead._core.live_allocations()
    assert njit(f)() == f()
    assert lancehead._core.live_allocations() == before


def test_sizes_of_tuples_are_constants():
    @njit
    def pairs(items, r):
        return [a for a in itertools.combinations(items, r)]

    assert pairs([1, 2, 3], 2) == [(1, 2), (1, 3), (2, 3)]
    with pytest.raises(errors.TypingError, match="must be known while compiling"):
        njit(lambda n: [p for p in itertools.permutations(range(n))])(3)


def test_products_of_any_number():
    assert njit(lambda: list(itertools.product([1], [2.5], ["a", "b"], [4])))() == [(1, 2.5, "a", 4), (1, 2.5, "b", 4)]
    again = njit(lambda: list(itertools.product(range(2), "xy", repeat=2)))
    assert again() == list(itertools.product(range(2), "xy", repeat=2))


def test_bounds_of_slices():
    with pytest.raises(ValueError, match="Indices for islice"):
        njit(lambda n: list(itertools.islice([1, 2], n)))(-1)


def test_an_exception_in_the_middle_leaks_nothing():
    @njit
    def broken(items):
        for a, b in itertools.combinations(items, 2):
            if a + b == "xz":
                raise ValueError(a)

    items = ["x", "y", "z"]
    before = lancehead._core.live_allocations()
    with pytest.raises(ValueError, match="x"):
        broken(items)
    assert lancehead._core.live_allocations() == before


def test_permutations_are_in_pythons_order():
    @njit
    def f(a):
        none, one = list(itertools.permutations(a, 0)), list(itertools.permutations(a, 1))
        return none, one, list(itertools.permutations(a, 3)), list(itertools.permutations(a, 4))

    @njit
    def g(a):
        return list(itertools.permutations(a))

    for n in range(1, 7):
        a = [x * x % 5 for x in range(n)]
        assert f(a) == f.py_func(a)
        assert g(tuple(a)) == g.py_func(tuple(a))


def test_slices_of_a_list_see_what_is_appended():
    @njit
    def f(a, start, stop, step):
        taken = []
        for x in itertools.islice(a, start, stop, step):
            taken.append(x)
            if len(a) < 9:
                a.append(x + 1)
        return taken, list(itertools.islice(a, 3)), list(itertools.islice(a, 2, None))

    for bounds in ((0, 3, 1), (1, 20, 2), (4, 4, 1), (7, 9, 3), (30, 40, 1)):
        assert f([1, 2, 3], *bounds) == f.py_func([1, 2, 3], *bounds)


def test_groups_that_are_kept():
    @njit
    def f(a):
        pairs = [(k, len(list(g))) for k, g in itertools.groupby(a, lambda x: x // 3)]
        return pairs, [list(g) for g in [g for k, g in itertools.groupby(a)]], [k for k, g in itertools.groupby(a)]

    for a in ([1], [1, 1], [1, 2, 2, 9, 8, 3, 3, 3], [5, 5, 1, 5]):
        assert f(a) == f.py_func(a)


def test_endless_items_are_taken_one_by_one():
    @njit
    def f(n):
        sums = list(itertools.islice(itertools.accumulate(itertools.count(1)), n))
        products = list(itertools.islice(itertools.accumulate(itertools.count(1), lambda x, y: x * y), n))
        more = list(itertools.islice(itertools.accumulate(itertools.cycle([1, 2]), initial=10), n))
        return sums, products, more, list(itertools.islice(itertools.pairwise(itertools.count(1)), n))

    assert f(6) == f.py_func(6)


def test_pairs_and_sums_of_objects():
    @njit
    def f(words, rows):
        joined, pairs = list(itertools.accumulate(words)), [x + y for x, y in itertools.pairwise(words)]
        return joined, pairs, list(itertools.accumulate(rows)), [len(x) - len(y) for x, y in itertools.pairwise(rows)]

    for n in range(1, 4):
        words, rows = ["a", "bé", "😀"][:n], [[1], [2, 3], [4]][:n]
        assert f(words, rows) == f.py_func(words, rows)


def test_combinations_of_all_sizes():
    @njit
    def f(a):
        two, four = list(itertools.combinations(a, 2)), list(itertools.combinations(a, 4))
        chosen = list(itertools.combinations(a, 1)), two, four
        again = [len(list(itertools.combinations_with_replacement(a, 3))), len(list(itertools.product(a, repeat=3)))]
        return chosen, again, list(itertools.combinations_with_replacement(a, 2)), list(itertools.product(a, repeat=2))

    for n in range(1, 6):
        a = [x * x % 5 for x in range(n)]
        assert f(a) == f.py_func(a)


def test_wrong_arguments_are_found_with_the_first_item():
    @njit
    def f(l, n):
        it = itertools.islice(l, n)
        return list(it) if n < 1 else [n]

    assert f([1, 2], 1) == [1]
    with pytest.raises(ValueError, match="Indices for islice"):
        f([1, 2], -1)


def test_iterators_that_have_ended_do_not_begin_again():
    @njit
    def f(l, short):
        it = itertools.starmap(lambda x, y: x + y, zip(iter(l), short))
        first = [next(it, -1), next(it, -1)]
        short.append(1)
        return first, next(it, -1)

    @njit
    def g(l, short):
        it = itertools.starmap(lambda x, y: x + y, zip(iter(l), (x for x in short)))
        return [next(it, -1), next(it, -1), next(it, -1)]

    assert f([4, 5, 6], [1]) == ([5, -1], -1)
    assert g([4, 5, 6], [1]) == g.py_func([4, 5, 6], [1]) == [5, -1, -1]
