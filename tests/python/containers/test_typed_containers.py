"""`lancehead.typed`: containers that Python and compiled code share. Python's own are the oracle."""

import collections
import collections.abc
import dataclasses
import gc
import pickle
import subprocess
import sys

import numpy as np
import pytest

import lancehead
from lancehead import errors, njit, typed, types
from lancehead.experimental import jitclass
from lancehead.typed import Dict, List, Set

FLOATS = types.float64[:]


@njit
def append(items, x):
    items.append(x)
    return items


def test_a_list_behaves_as_a_list():
    ours, python = List([3, 1, 2]), [3, 1, 2]
    for own in (ours, python):
        own.append(5)
        own.insert(0, 9)
        own.extend([7, 7])
        own.extend(np.arange(2))
        own[1] = -1
        own[-1] = 4
        del own[0]
        own.sort()
        own.reverse()
        own += [8]
        own[0:2] = [10, 11, 12]
        del own[1:3]
        assert own.pop() == 8 and own.pop(0) == 10
        own.remove(5)
        own.sort(key=lambda x: -x, reverse=True)
    assert list(ours) == python
    assert ours == python and python == ours and ours == List(python) and ours != List([1])
    assert (len(ours), ours[0], ours[-1], list(ours[1:]), list(ours[::-2])) == (
        len(python), python[0], python[-1], python[1:], python[::-2]
    )  # fmt: skip
    assert 2 in ours and 99 not in ours and ours.index(2) == python.index(2) and ours.count(7) == python.count(7)
    assert ours < [9, 9] and not ours < []
    assert isinstance(ours, collections.abc.MutableSequence)
    ours.clear()
    assert ours == [] and not ours and repr(ours) == "ListType[int64]([])"


@pytest.mark.parametrize("index", [5, -6, 10**30])
def test_an_index_beyond_the_end_raises(index):
    items = List([1, 2, 3, 4, 5])
    with pytest.raises(IndexError):
        items[index]


@pytest.mark.parametrize(
    "items",
    [[1, 2], [1.5], ["a", "ß"], [True], [1j], [(1, "a")], [np.float32(2)], [[1], []], [{1: 2}], [{1}], [np.arange(3)]],
    ids=repr,
)
def test_items_of_any_type(items):
    ours = List(items)
    assert len(ours) == len(items)
    for own, item in zip(ours, items, strict=True):
        if isinstance(item, (np.ndarray, set)):
            assert list(own) == list(item)
        else:
            assert own == item


Pair = collections.namedtuple("Pair", "x y")


@dataclasses.dataclass
class Point:
    x: int
    y: float


@pytest.mark.parametrize("item", [Pair(1, 2.5), Point(1, 2.5), (1, None), (Pair(1, "a"), [2])], ids=repr)
def test_items_of_types_that_have_no_tags(item):
    @njit
    def make(x):
        made = List()
        made.append(x)
        return made

    assert list(List([item])) == [item] and list(make(item)) == [item]
    assert njit(lambda items: len(items))(make(item)) == 1
    optional = Dict.empty(types.int64, types.optional(types.int64))
    optional[1], optional[2] = None, 3
    assert dict(optional) == {1: None, 2: 3}


class Derived(List):
    def second(self):
        return self[1]


def test_a_class_of_ones_own():
    items = Derived([1, 2])
    assert items.second() == 2 and append(items, 3) is items and items == [1, 2, 3]


def test_compiled_code_changes_the_very_list():
    items = List.empty_list(types.int64)
    assert append(items, 4) is items
    assert items == [4] and repr(items) == "ListType[int64]([4])" and str(items) == "[4]"


def test_the_text_is_numbas():
    lists, counts = List([List([1, 2])]), Dict({"a": 1.5})
    assert (str(lists), repr(lists)) == ("[[1, 2]]", "ListType[ListType[int64]]([[1, 2]])")
    assert (str(counts), repr(counts)) == ("{a: 1.5}", "DictType[unicode_type,float64]<iv=None>({a: 1.5})")
    assert repr(Dict({1: lists})) == "DictType[int64,ListType[ListType[int64]]]<iv=None>({1: [[1, 2]]})"
    assert str(List(("a", "b"))) == "[a, b]" and repr(Set([1])) == "SetType[int64]({1})"


def test_programs_for_numba_import_them(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(
        "import numba\nfrom numba.typed import Dict, List\nfrom numba.typed.typedlist import List as Same\n"
        "assert Same is List is numba.typed.List\ndef f(x: List[object]): return x\n"
        "@numba.njit\ndef g(): return numba.typed.List.empty_list(numba.types.int64)\nprint(repr(g()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "lancehead", "run", script], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "ListType[int64]([])\n", done.stderr


def test_compiled_code_makes_containers():
    @njit
    def make(n):
        a, b, c = List(), typed.Dict(), Set()
        for i in range(n):
            a.append(i / 2)
            b[i] = str(i)
            c.add(i % 2)
        return a, b, c, List(range(n)), Dict({1: 2}), Set([1, 1])

    made = make(3)
    assert [repr(x) for x in made] == [
        "ListType[float64]([0.0, 0.5, 1.0])",
        "DictType[int64,unicode_type]<iv=None>({0: 0, 1: 1, 2: 2})",
        "SetType[int64]({0, 1})",
        "ListType[int64]([0, 1, 2])",
        "DictType[int64,int64]<iv=None>({1: 2})",
        "SetType[int64]({1})",
    ]

    @njit
    def make_empty():
        d = Dict.empty(key_type=types.unicode_type, value_type=FLOATS)
        d["a"] = np.ones(2)
        return d, List.empty_list(types.float32), Set.empty(types.int64), List.empty_list(types.int8, 10)

    d, floats, integers, bytes_ = make_empty()
    assert list(d) == ["a"] and d["a"].tolist() == [1.0, 1.0]
    assert repr(floats) == "ListType[float32]([])" and len(integers) == 0 and repr(bytes_) == "ListType[int8]([])"


def test_a_dictionary_behaves_as_a_dictionary():
    ours, python = Dict.empty(types.unicode_type, types.int64), {}
    for own in (ours, python):
        own["a"] = 1
        own.update({"b": 2, "c": 3})
        own["a"] += 5
        own.setdefault("d", 7)
        own.setdefault("d", 8)
        assert own.pop("b") == 2 and own.pop("zz", 3) == 3 and own.get("q") is None
        assert own.popitem() == ("d", 7)
    assert ours == python and dict(ours) == python and list(ours.items()) == list(python.items())
    assert ("a" in ours, "z" in ours, len(ours)) == (True, False, 2)
    assert repr(ours) == "DictType[unicode_type,int64]<iv=None>({a: 6, c: 3})"
    with pytest.raises(KeyError, match="zz"):
        ours["zz"]
    with pytest.raises(KeyError, match="zz"):
        del ours["zz"]
    with pytest.raises(RuntimeError, match="changed size during iteration"):
        for key in ours:
            ours[key + "x"] = 1
    with pytest.raises(KeyError):
        Dict().popitem()


def test_a_set_behaves_as_a_set():
    ours, python = Set([1, 2, 2]), {1, 2}
    for own in (ours, python):
        own.add(5)
        own.discard(2)
        own.discard(77)
        own.update([8, 9], [10])
        own.remove(8)
    assert set(ours) == python and ours == python and len(ours) == len(python)
    assert 5 in ours and 2 not in ours and set(ours & {5, 9}) == {5, 9} and ours <= set(range(20))
    with pytest.raises(KeyError):
        ours.remove(8)


def test_items_that_are_containers_are_shared():
    outer = List([[1, 2], [3]])
    assert outer[0] is outer[0] and type(outer[0]) is List
    outer[0].append(9)
    assert njit(lambda x: x[0][2])(outer) == 9
    assert njit(lambda x: x[1])(outer) is outer[1]

    @njit
    def nested():
        made = List()
        made.append([1, 2])
        return made

    made = nested()
    made[0].append(3)
    assert made == [[1, 2, 3]]
    groups = Dict()
    groups["a"] = [1.5]
    groups["a"].append(2.5)
    assert groups["a"] == [1.5, 2.5]
    assert njit(lambda d: d["a"][1])(groups) == 2.5


def test_a_container_survives_the_one_that_holds_it():
    outer = List([[1, 2]])
    inner = outer[0]
    del outer
    gc.collect()
    inner.append(3)
    assert inner == [1, 2, 3]


def test_nothing_leaks():
    def round_trip():
        outer = List([["a"], ["b", "c"]])
        counts = Dict({"x": List([1.5])})
        append(outer, outer[0])
        with pytest.raises(IndexError):
            njit(lambda x: x[10])(outer)
        return len(outer) + len(counts) + len(Set(["q"]))

    round_trip()
    gc.collect()
    before = lancehead._core.live_allocations()
    round_trip()
    gc.collect()
    assert lancehead._core.live_allocations() == before


def test_a_container_without_a_type_is_refused():
    for container in (List(), Dict(), Set()):
        assert not container._typed and len(container) == 0 and list(container) == []
        with pytest.raises(errors.TypingError, match="put an item in first"):
            njit(lambda x: len(x))(container)
    assert repr(List()) == "ListType[Undefined]([])" and List() == []
    with pytest.raises(IndexError):
        List()[0]
    with pytest.raises(KeyError):
        Dict()[0]


def test_an_item_of_another_type_is_refused():
    with pytest.raises(errors.TypingError, match="cannot hold `str`"):
        List([1]).append("a")
    with pytest.raises(errors.TypingError, match="cannot hold `str`"):
        Dict({1: 2})["a"] = 3
    with pytest.raises(errors.TypingError, match="cannot hold `str`"):
        List([1, "a"])
    with pytest.raises(errors.TypingError):
        List([1, 2.5])
    assert List([2.5, 1, np.float32(0.5)]) == [2.5, 1.0, 0.5]
    with pytest.raises(errors.TypingError):
        Dict.empty(types.ListType(types.int64), types.int64)


def test_type_expressions():
    item = types.ListType(types.int64)
    assert types.DictType(types.unicode_type, item).value_type is item
    assert isinstance(item, types.ListType) and item.item_type == types.int64
    assert isinstance(types.typeof(Dict({1: 2.5})), types.DictType)
    assert not isinstance(types.int64, (types.DictType, types.SetType))
    for type_ in (item, types.DictType(types.int64, types.float64), types.SetType(types.unicode_type)):
        assert pickle.loads(pickle.dumps(type_)) is type_
    assert njit("int64(ListType(int64))")(lambda x: x[0])(List([5])) == 5
    signature = types.float64(types.DictType(types.int64, types.float64), types.int64)
    assert njit(signature)(lambda d, k: d[k])(Dict({1: 2.5}), 1) == 2.5
    assert repr(Dict[int, float]()) == "DictType[int64,float64]<iv=None>({})"
    assert repr(List[str](["a"])) == "ListType[unicode_type]([a])"
    assert repr(Set[int]()) == "SetType[int64]({})"


@pytest.mark.parametrize(
    "make, items", [(List, [1, 2]), (List, [["a"], []]), (Dict, {"a": 1.5}), (Set, [3]), (List, []), (Dict, {})]
)
def test_pickling(make, items):
    made = make(items)
    again = pickle.loads(pickle.dumps(made))
    assert again == made and type(again) is type(made) and again._type is made._type


def test_fields_of_jitted_classes_are_shared():
    @jitclass([("items", types.ListType(types.int64)), ("names", types.DictType(types.int64, types.unicode_type))])
    class Owner:
        def __init__(self):
            self.items = List.empty_list(types.int64)
            self.names = Dict.empty(types.int64, types.unicode_type)

        def add(self, x):
            self.items.append(x)
            self.names[x] = str(x)

    owner = Owner()
    owner.add(3)
    owner.items.append(5)
    owner.names[5] = "five"
    assert owner.items == [3, 5] and dict(owner.names) == {3: "3", 5: "five"}
    assert njit(lambda o: len(o.items) + len(o.names))(owner) == 4


def test_a_typed_list_in_a_list_and_a_tuple():
    inner = List([1])
    outer, pair = [inner], (inner, 2)

    @njit
    def change(outer, pair):
        outer[0].append(7)
        pair[0].append(8)

    change(outer, pair)
    assert inner == [1, 7, 8] and outer[0] is inner


def test_loops_over_a_typed_list_in_parallel():
    @njit(parallel=True)
    def doubled(items):
        out = np.empty(len(items))
        for i in lancehead.prange(len(items)):
            out[i] = 2 * items[i]
        return out

    assert doubled(List(range(1000))).tolist() == [2.0 * i for i in range(1000)]
