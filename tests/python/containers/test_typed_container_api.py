"""Numba's typed containers beyond Python's own: constructors, refusals, frozen lists, types as attributes."""

import copy
import gc
import itertools
import operator
import pickle

import numpy as np
import pytest

import lancehead
from lancehead import errors, njit, types
from lancehead.experimental import jitclass
from lancehead.typed import Dict, List, Set


def test_room_for_items_is_reserved_in_advance():
    for n in (0, 1, 7):
        assert List.empty_list(types.int32, allocated=n)._allocated() == n
        assert List.empty_list(types.int32, n)._allocated() == n
        assert njit(lambda n: List.empty_list(types.int32, n)._allocated())(n) == n
    assert List()._allocated() == 0
    with pytest.raises(RuntimeError, match="allocated"):
        List.empty_list(types.int64, -1)
    with pytest.raises(RuntimeError, match="n_keys"):
        Dict.empty(types.int64, types.int64, -1)
    with pytest.raises(RuntimeError, match="n_keys"):
        njit(lambda n: Dict.empty(types.int64, types.int64, n))(-1)


def test_constructors_with_types():
    assert repr(List(lsttype=types.ListType(types.int64), allocated=4)) == "ListType[int64]([])"
    assert repr(Dict(dcttype=types.DictType(types.int64, types.float64))) == "DictType[int64,float64]<iv=None>({})"
    assert repr(Set(settype=types.SetType(types.int64))) == "SetType[int64]({})"
    with pytest.raises(TypeError, match="must be a ListType"):
        List(lsttype=types.int64)
    with pytest.raises(TypeError, match="takes no keyword arguments"):
        List(iterable=(1, 2))
    with pytest.raises(TypeError, match="expected at most 1 argument, got 2"):
        List((1,), (2,))
    with pytest.raises(TypeError, match="argument must be iterable"):
        List(23)
    with pytest.raises(errors.TypingError, match="at most 1 argument, got 2"):
        Dict(1, 2)
    with pytest.raises(errors.TypingError, match="not iterable"):
        Dict(3)
    with pytest.raises(ValueError, match="element #1 has length 3; 2 is required"):
        Dict(((1, "a"), (2, "b", 3)))
    assert Dict({1: 2}) == Dict([(1, 2)]) == Dict(iter([(1, 2)])) and Dict(a=1) == {"a": 1}


@pytest.mark.parametrize(
    "iterable", ["abc", range(3), (1, 2), np.arange(2.0), np.float64(3.5), np.array(7), {5: 6}, (x for x in (1, 2))]
)
def test_lists_of_any_iterable(iterable):
    items = [iterable.item()] if getattr(iterable, "ndim", 1) == 0 else None
    kept = list(iterable) if items is None else items
    assert list(List(iter(kept) if items is None else iterable)) == kept


def test_types_are_attributes():
    items, counts = List([1]), Dict({"a": 1.5})
    assert items._dtype == types.int64 and items._list_type is items._numba_type_ is types.ListType(types.int64)
    assert (counts._dict_type.key_type, counts._dict_type.value_type) == (types.unicode_type, types.float64)
    assert njit(lambda x: x._dtype)(List([np.float32(1)])) == np.float32
    with pytest.raises(RuntimeError, match="untyped list"):
        _ = List()._dtype
    with pytest.raises(TypeError, match="untyped"):
        _ = Dict()._numba_type_


def test_refusals_have_numbas_words():
    items = List([1, 2, 3])
    for act in (lambda: items.index(9), lambda: njit(lambda x: x.index(9))(items)):
        with pytest.raises(ValueError, match="^item not in list$"):
            act()
    for act in (lambda: items.pop(9), lambda: njit(lambda x: x.pop(9))(items)):
        with pytest.raises(IndexError, match="^list index out of range$"):
            act()
    with pytest.raises(ValueError, match="length mismatch for extended slice and sequence"):
        items[::2] = [1]
    with pytest.raises(KeyError, match="dictionary is empty"):
        Dict().popitem()
    with pytest.raises(TypeError, match="untyped dictionary"):
        Dict().setdefault(1)
    assert items.index(2) == items.index(2, 1) == 1 and items.count(3) == 1
    with pytest.raises(ValueError, match="23 is not in list"):
        njit(lambda x: x.index(23))([1, 2])


CHANGES = [
    lambda x: x.append(0), lambda x: x.pop(), lambda x: x.extend((0,)), lambda x: x.insert(0, 0),
    lambda x: x.clear(), lambda x: x.reverse(), lambda x: x.sort(),
]  # fmt: skip


def delete(x):
    del x[0]


def assign(x):
    x[0] = 5


def assign_slice(x):
    x[0:1] = [5, 6]


@pytest.mark.parametrize("change", [*CHANGES, delete, assign_slice])
def test_a_frozen_list_refuses_changes(change):
    for call in (change, njit(change)):
        items = List([2, 1])
        items._make_immutable()
        with pytest.raises(ValueError, match="^list is immutable$"):
            call(items)
        assert items == [2, 1] and not items._is_mutable() and items[1] == 1 and len(items) == 2
        assert items.copy()._is_mutable()
        items._make_mutable()
        call(items)


def test_python_cannot_assign_to_a_frozen_list():
    for items in (List([1]), List(["a"])):
        items._make_immutable()
        with pytest.raises(ValueError, match="list is immutable"):
            items[0] = items[0]


def test_compiled_code_freezes_lists():
    @njit
    def frozen():
        made = List()
        made.append(1)
        was = made._is_mutable()
        made._make_immutable()
        return made, was, made._is_mutable(), len(made), made[0]

    made, *facts = frozen()
    assert facts == [True, False, 1, 1] and not made._is_mutable()


def test_the_first_item_decides_the_kind_of_numbers():
    @njit
    def lists(x, y):
        made = List()
        made.append(x)
        made.append(y)
        return made

    @njit
    def dicts(x, y):
        made = Dict()
        made[0] = x
        made[1] = y
        return made

    assert lists(1.5, 2) == [1.5, 2.0] and dicts(1.5, 2) == {0: 1.5, 1: 2.0}
    for make in (lists, dicts, njit(lambda x, y: List((x, y)))):
        with pytest.raises(errors.TypingError, match="cannot hold `float`"):
            make(1, 2.5)
    assert njit(lambda: List(()))() == [] or True
    assert njit(lambda: List((1, 2)))() == [1, 2]


def test_slices_and_copies_in_compiled_code_are_typed():
    @njit
    def parts(items, counts):
        return items[1:], items.copy(), counts.copy()

    a, b, c = parts(List([1, 2, 3]), Dict({1: 2}))
    assert (type(a), type(b), type(c)) == (List, List, Dict) and (a, b, c) == ([2, 3], [1, 2, 3], {1: 2})
    assert type(parts([1, 2], Dict({1: 2}))[0]) is list


def test_nan_as_a_key_is_kept_but_never_found():
    counts = Dict()
    for _ in range(2):
        counts[float("nan")] = 1
    assert len(counts) == 2 and float("nan") not in counts and list(counts.values()) == [1, 1]
    assert repr(counts) == "DictType[float64,int64]<iv=None>({nan: 1, nan: 1})"
    assert len(list(counts.items())) == 2 and len(pickle.loads(pickle.dumps(counts))) == 2
    zeros = Dict()
    zeros[0.0] = 1
    zeros[-0.0] = 2
    assert dict(zeros) == {0.0: 2}


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.uint8, np.int32, np.uint64, bool])
def test_tables_grow_for_keys_of_any_width(dtype):
    @njit
    def count(keys):
        counts = Dict()
        for key in keys:
            counts[key] = counts.get(key, 0) + 1
        for key in keys[::3]:
            if key in counts:
                del counts[key]
        for key in keys:
            counts[key] = counts.get(key, 0) + 1
        return counts

    keys = np.arange(-700, 700).astype(dtype)
    assert dict(count(keys)) == dict(count.py_func(keys))


def test_many_keys_that_are_no_numbers():
    @njit
    def count(keys):
        counts = {}
        for key in keys:
            counts[key] = 1
        return len(counts)

    for dtype in (np.float16, np.float32, np.float64):
        assert count(np.full(20_000, np.nan, dtype)) == 20_000


def test_keys_of_other_types_are_looked_up_by_value():
    @njit
    def look(d):
        return 1j in d, (1 + 0j) in d, 1.0 in d, 1.5 in d, True in d, "a" in d, d.get(2.0, 0)

    for counts in (Dict({1: 5, 2: 6}), {1: 5, 2: 6}):
        assert look(counts) == look.py_func({1: 5, 2: 6}) == (False, True, True, False, True, False, 6)


def test_copies():
    outer = List([[1], [2]])
    shallow, deep = copy.copy(outer), copy.deepcopy(outer)
    shallow[0].append(9)
    deep[1].append(7)
    assert outer == [[1, 9], [2]] and shallow[0] is outer[0] and deep == [[1], [2, 7]] and type(deep[0]) is List


def test_plain_containers_become_what_the_type_says():
    inner = types.DictType(types.unicode_type, types.float64[:])
    outer = Dict.empty(types.int64, inner)
    outer[1] = {"x": np.zeros(2)}
    outer[1]["y"] = np.ones(1)
    assert list(outer[1]) == ["x", "y"] and outer[1]._type is inner
    floats = List.empty_list(types.ListType(types.float64))
    floats.append([1, 2])
    floats[0] = [3]
    floats.insert(0, [])
    assert floats == [[], [3.0]]


def test_instances_as_items():
    @jitclass([("x", types.int64)])
    class Cell:
        def __init__(self, x):
            self.x = x

    cells = List([Cell(1)])
    cells.append(Cell(2))
    cells[0].x = 10
    assert njit(lambda x: x[0].x + x[1].x)(cells) == 12
    named = Dict.empty(types.int64, Cell.class_type.instance_type)
    named[1] = Cell(5)
    named[1].x += 1
    assert named[1].x == 6


def test_iteration_sees_what_is_appended():
    items, seen = List([1, 2]), []
    for x in items:
        seen.append(x)
        if len(items) < 5:
            items.append(x + 10)
    assert seen == [1, 2, 11, 12, 21]
    it = iter(items)
    assert list(it) == seen
    items.append(0)
    assert list(it) == [] and iter(it) is it


def test_numbers_that_do_not_fit_raise():
    items = List([1])
    for act in (lambda: items.append(2**70), lambda: items.__setitem__(0, 2**70)):
        with pytest.raises(OverflowError):
            act()
    assert items == [1]
    with pytest.raises(IndexError):
        items[5] = 1


def test_integers_wrap_as_in_numba():
    small = List.empty_list(types.int8)
    small.append(300)
    assert small == [44] and njit(lambda x: (x.append(300), x[1])[1])(small) == 44


def test_keys_that_only_differ_by_value_share_code():
    @njit
    def fill():
        d = {}
        d["a"], d["b"], d["c"] = True, False, True
        return d["a"], d.get("b", True), "c" in d

    assert fill() == (True, False, True)
    made = str(fill.explain()).split(" functions")[0].rsplit(" ", 1)[1]
    assert int(made) < 40


def test_a_pop_empties_a_set():
    items = Set(range(100))
    assert sorted(items.pop() for _ in range(100)) == list(range(100))
    with pytest.raises(KeyError):
        items.pop()
    for act in (lambda: items.__setitem__(0, 1), lambda: items.__delitem__(0), lambda: items[0]):
        with pytest.raises(TypeError):
            act()


def test_functions_as_items():
    @njit
    def more(x):
        return x + 1

    @njit
    def twice(x):
        return x * 2

    @njit
    def applied(functions, x):
        for f in functions:
            x = f(x)
        return x

    functions = List([more, twice])
    functions.append(more)
    assert applied(functions, 3) == 9 and functions[0] is more
    named = Dict({"more": more, "twice": twice})
    assert njit(lambda d, key, x: d[key](x))(named, "twice", 0.5) == 1.0 and named["more"] is more
    with pytest.raises(errors.TypingError, match="cannot hold"):
        functions.append(applied)


def test_a_captured_container_is_refused_by_name():
    items = List([1, 2])
    for function in (lambda: len(items), lambda: items[0], lambda: items.pop()):
        with pytest.raises(errors.TypingError, match=r"`List` cannot be used in compiled code[\s\S]*as an argument"):
            njit(function)()


def test_operators_make_typed_containers():
    items = List([1, 2])
    for made, expected in (
        (items + [3], [1, 2, 3]), ([3] + items, [3, 1, 2]), (items * 2, [1, 2, 1, 2]), (0 * items, []),
        (items + List(), [1, 2]), (List() + items, [1, 2]),
    ):  # fmt: skip
        assert type(made) is List and made == expected
    items *= 2
    items += (5,)
    assert items == [1, 2, 1, 2, 5]
    items *= 0
    assert items == [] and items._typed
    counts = Dict({1: 2})
    both = counts | {3: 4}
    both |= [(5, 6)]
    assert type(both) is Dict and both == {1: 2, 3: 4, 5: 6} and {0: 0} | counts == {0: 0, 1: 2} and len(counts) == 1
    assert Dict.fromkeys("ab", 0) == {"a": 0, "b": 0}
    with pytest.raises(TypeError):
        items + (1,)
    with pytest.raises(TypeError):
        counts | [(1, 2)]
    with pytest.raises(TypeError):
        items * 1.5


def test_ipython_shows_long_lists_in_part(monkeypatch):
    items = List(range(1005))
    assert str(items) == str(list(range(1005)))
    monkeypatch.setattr("builtins.get_ipython", lambda: None, raising=False)
    assert str(items).endswith("998, 999, ...]") and str(List([1])) == "[1]"


def test_no_refusal_leaks():
    def refuse():
        items, counts = List([["a"], ["b"]]), Dict({"x": List(["y"])})
        items._make_immutable()
        for act in (
            lambda: items.append(["c"]), lambda: items.pop(), lambda: njit(lambda x: x.pop(7))(items),
            lambda: njit(lambda x: x.extend(x))(items), lambda: counts["z"], lambda: counts.pop("z"),
            lambda: njit(lambda x: x["q"])(counts), lambda: Dict([("a", ["b"]), ("c",)]), lambda: List([["a"], 1]),
        ):  # fmt: skip
            with pytest.raises((ValueError, LookupError, errors.TypingError)):
                act()

    refuse()
    gc.collect()
    before = lancehead._core.live_allocations()
    for _ in range(3):
        refuse()
    gc.collect()
    assert lancehead._core.live_allocations() == before


SETS: list[set[int]] = [set(), {1}, {1, 2, 3}, {2, 3, 4}]
OPERATORS = [
    operator.or_, operator.and_, operator.sub, operator.xor, operator.ior, operator.iand, operator.isub, operator.ixor,
    operator.le, operator.lt, operator.ge, operator.gt, operator.eq,
]  # fmt: skip
METHODS = (
    "union intersection difference symmetric_difference issubset issuperset isdisjoint update intersection_update "
    "difference_update symmetric_difference_update"
).split()


def plain(x):
    return {Set: set, Dict: dict, List: list}.get(type(x), lambda x: x)(x)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kind", [set, frozenset, list, Set, dict.fromkeys])
def test_methods_of_sets(name, kind):
    for a, b in itertools.product(SETS[1:], SETS):
        own, oracle = Set(a), set(a)
        assert plain(getattr(own, name)(kind(b))) == getattr(oracle, name)(b)
        assert set(own) == oracle


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("kinds", [(Set, Set), (Set, set), (set, Set)])
def test_operators_of_sets(op, kinds):
    for a, b in itertools.product(SETS[1:], SETS):
        assert plain(op(kinds[0](a), kinds[1](b))) == op(set(a), set(b))


def test_sets_keep_their_type():
    empty = Set([1]) & {2}
    assert empty._numba_type_ == types.SetType(types.int64) and len(empty) == 0
    assert Set([1]).union([2], [3]) == {1, 2, 3} and Set([1]).intersection() == {1}
    with pytest.raises(TypeError):
        Set([1]) | [2]
    own = Set([1, 2])
    own.difference_update(own)
    assert len(own) == 0


def test_dictionaries_backwards():
    own, oracle = Dict({2: 1.5, 1: 2.5}), {2: 1.5, 1: 2.5}
    assert list(reversed(own)) == list(reversed(oracle)) == list(reversed(own.keys()))
    assert list(reversed(own.items())) == list(reversed(oracle.items()))
    assert list(reversed(own.values())) == list(reversed(oracle.values()))
    assert own.keys() & {1, 5} == {1} and own.items() - {(1, 2.5)} == {(2, 1.5)}
