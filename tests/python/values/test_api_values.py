"""Every kind of value goes into compiled code and comes out again."""

import collections
import enum
import gc
import sys
import typing

import numpy as np
import pytest

from lancehead import _core, errors, njit, prange


@njit
def same(x):
    return x


Point = collections.namedtuple("Point", "x y")


class Named(typing.NamedTuple):
    a: int
    b: float


SCALARS = [
    None, True, False, 0, -1, 2**30, -(2**30), 2**31, 2**60, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 0.0, -0.0, 1.5,
    float("inf"),
    1 + 2j, "", "text", "héllo ☃ 🎉",
]  # fmt: skip


@pytest.mark.parametrize("value", SCALARS, ids=repr)
def test_scalars_come_back(value):
    got = same(value)
    assert got == value and type(got) is type(value) and repr(got) == repr(value)


@pytest.mark.parametrize(
    "name", "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128 bool_".split()
)
def test_numpy_scalars_come_back_as_python_numbers(name):
    value = getattr(np, name)(1)
    assert same(value) == value.item()
    assert type(same(value)) is type(value.item())


@pytest.mark.parametrize("name", "int8 int16 int32 int64".split())
def test_negative_numpy_scalars(name):
    assert same(getattr(np, name)(-3)) == -3


@pytest.mark.parametrize(
    "value",
    [
        (),
        (1,),
        (1, 2.5, "a"),
        ((1, 2), (3.0, (None, True))),
        Point(1, 2.0),
        Named(3, 4.5),
        (Point(1, (2, 3)), 4),
        (range(3),),
    ],
    ids=repr,
)
def test_tuples_come_back(value):
    got = same(value)
    assert got == value and type(got) is type(value)


def test_strings_come_back_as_themselves():
    text = "a long text " * 10
    assert same(text) is text and same((text, [text]))[1][0] is text


def test_namedtuples_inside_keep_their_class():
    assert type(same((Point(1, 2), 3))[0]) is Point


@pytest.mark.parametrize("value", [range(0), range(5), range(2, 10, 3), range(10, 0, -1)], ids=repr)
def test_ranges_come_back(value):
    assert same(value) == value


@pytest.mark.parametrize("value", [slice(None), slice(1, 2), slice(None, None, -1), slice(3)], ids=repr)
def test_slices_come_back(value):
    assert same(value) == value


@pytest.mark.parametrize(
    "value",
    [
        [1],
        [1.5, 2.5],
        [True, False],
        ["a", "b", "c"],
        [(1, 2.0), (3, 4.0)],
        [[1, 2], [3]],
        [[[1.0]], [[2.0], [3.0, 4.0]]],
        [1j],
        [(), ()],
        [None],
    ],
    ids=repr,
)
def test_lists_come_back_as_themselves(value):
    expected = eval(repr(value))
    got = same(value)
    assert got is value and value == expected


def test_new_lists():
    @njit
    def twice(xs):
        return [x * 2 for x in xs], [[x] for x in xs]

    assert twice([1, 2, 3]) == ([2, 4, 6], [[1], [2], [3]])


def test_one_list_stays_one():
    @njit
    def append(a, b):
        a.append(1.0)
        return len(b)

    items = [5.0]
    assert append(items, items) == 2
    assert items == [5.0, 1.0]


def test_changes_of_lists_are_seen():
    @njit
    def change(xs, rows):
        xs[0] = 10
        xs.append(20)
        rows[0].append(7)
        rows.append([8])

    xs, rows = [1, 2], [[1], [2]]
    first = rows[0]
    change(xs, rows)
    assert xs == [10, 2, 20]
    assert rows == [[1, 7], [2], [8]] and rows[0] is first


def test_changes_before_an_exception_are_seen():
    @njit
    def change(xs):
        xs.append(1)
        raise ValueError("after")

    xs = [0]
    with pytest.raises(ValueError, match="after"):
        change(xs)
    assert xs == [0, 1]


def test_lists_of_arrays_share_memory():
    @njit
    def change(rows):
        rows[1][0] = 5.0
        rows.append(rows[0])

    rows = [np.zeros(2), np.ones(2)]
    first, second = rows
    change(rows)
    assert rows[0] is first and rows[1] is second and second[0] == 5.0 and len(rows) == 3
    assert np.shares_memory(rows[2], first)


@pytest.mark.parametrize("value", [np.float64, np.int8, np.complex64], ids=repr)
def test_dtypes_come_back(value):
    assert same(value) is value


ARRAYS = [
    np.arange(6.0), np.zeros((2, 3), order="F"), np.arange(24).reshape(2, 3, 4)[:, ::2, ::-1], np.array(3.5),
    np.zeros((0, 4)),
    np.array([True, False]), np.arange(5, dtype=np.uint8), np.arange(4, dtype=np.complex64), np.zeros((1, 1, 1, 1, 1)),
    np.broadcast_to(np.arange(3), (2, 3)),
]  # fmt: skip


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype}{a.shape}{a.strides}")
def test_arrays_come_back_as_themselves(array):
    assert same(array) is array
    assert same((array, 1))[0] is array


def test_arrays_in_several_places():
    a = np.arange(3.0)
    got = same((a, a, [a]))
    assert got[0] is a and got[1] is a and got[2][0] is a


def test_views_keep_their_base():
    @njit
    def tail(a):
        return a[1:]

    a = np.arange(4.0)
    view = tail(a)
    assert view.base is a and view.tolist() == [1.0, 2.0, 3.0]
    view[0] = 9.0
    assert a[1] == 9.0


def test_new_arrays_own_their_memory():
    @njit
    def make(n):
        return np.zeros((n, 2)), np.ones(n)

    a, b = make(3)
    assert a.shape == (3, 2) and b.tolist() == [1.0, 1.0, 1.0] and a.flags.writeable and a.flags.c_contiguous


def test_read_only_arrays_stay_so():
    a = np.arange(3.0)
    a.flags.writeable = False

    @njit
    def tail(a):
        return a[1:]

    assert not tail(a).flags.writeable

    @njit
    def store(a):
        a[0] = 1.0

    with pytest.raises(errors.TypingError):
        store(a)


def test_memmap_is_an_array(tmp_path):
    mapped = np.memmap(tmp_path / "file", dtype=np.float64, mode="w+", shape=(3,))
    assert same(mapped) is mapped


@pytest.mark.parametrize(
    "value",
    [
        {1: 2, "a": 3}, {1, "a"}, frozenset({1, "a"}), [1, "a"],
        np.array(["a"]).astype(">U1"), np.arange(3.0).astype(">f8"), np.zeros(2, dtype=">M8[s]"),
    ],
    ids=lambda v: type(v).__name__,
)  # fmt: skip
def test_other_values_are_refused_with_a_diagnostic(value):
    with pytest.raises(errors.TypingError) as caught:
        same(value)
    text = str(caught.value)
    assert "`x` of `same`" in text and text.startswith("error[") and "help:" in text


@pytest.mark.parametrize(
    "value",
    [object(), np.array([object()]), np.longdouble(1), np.ma.array([1.0]), iter([])],
    ids=lambda v: type(v).__name__,
)
def test_objects_without_a_type_are_only_passed_on(value):
    assert same(value) is value

    @njit
    def use(x):
        return x + 1

    with pytest.raises(errors.TypingError) as caught:
        use(value)
    text = str(caught.value)
    assert "`x` of `use`" in text and text.startswith("error[") and "help:" in text


def test_ints_beyond_64_bits_overflow():
    for value in (2**64, -(2**63) - 1, 2**200):
        with pytest.raises(OverflowError):
            same(value)
    with pytest.raises(OverflowError):
        same([2**64])


def test_lists_that_contain_themselves_are_refused():
    items = [1]
    items[0] = items
    with pytest.raises(errors.UnsupportedError):
        same(items)


def test_no_reference_leaks():
    import sys

    @njit
    def views(a, xs):
        return a[1:], xs[0], [xs[0], a]

    a, xs = np.arange(4.0), [np.ones(2), np.ones(3)]
    views(a, xs)
    gc.collect()
    before = (sys.getrefcount(a), sys.getrefcount(xs), sys.getrefcount(xs[0]), _core.live_allocations())
    for _ in range(50):
        views(a, xs)
    gc.collect()
    assert (sys.getrefcount(a), sys.getrefcount(xs), sys.getrefcount(xs[0]), _core.live_allocations()) == before


def test_results_outlive_the_arguments():
    @njit
    def tail(a):
        return a[1:]

    view = tail(np.arange(1000.0))
    gc.collect()
    np.ones(1000)
    assert view[0] == 1.0 and view[-1] == 999.0


def test_classes_that_do_not_tell_their_module():
    class Odd(enum.Enum):
        A = 3

    # As the functions of NumPy 2.5 in CPython 3.13, `numpy.random.seed` among them.
    Odd.__module__ = 5
    value = Odd.A
    assert njit(lambda: value.value + 1)() == 4


def test_the_text_of_arrays_is_what_numpy_prints_now():
    @njit(nogil=True)
    def text(a):
        try:
            return f"{a}"
        except ZeroDivisionError:
            return "failed"

    with np.printoptions(precision=3, suppress=True):
        assert text(np.array([1 / 3, 2e-9])) == "[0.333 0.   ]"
    with np.printoptions(formatter={"float": lambda x: 1 / 0}):
        assert text(np.ones(1)) == "failed"


def test_threads_of_a_parallel_loop_print_arrays(capfd):
    @njit(parallel=True)
    def show(n):
        for i in prange(n):
            print(np.full(2, i))

    show(8)
    assert sorted(capfd.readouterr().out.split("\n")) == sorted([str(np.full(2, i)) for i in range(8)] + [""])


@pytest.mark.parametrize("make", [lambda: bytearray(16), lambda: bytes(range(16)), lambda: memoryview(bytearray(16))])
def test_calls_keep_no_references_to_buffers(make):
    @njit
    def length(b):
        return len(b)

    @njit
    def same(b):
        return b

    buffer = make()
    before = sys.getrefcount(buffer)
    for _ in range(5):
        length(buffer), same(buffer)
    assert sys.getrefcount(buffer) == before
