"""Rows of `docs/differences.md` about values: numbers, functions, members, arrays, texts and containers."""

import enum
import math
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple

import numpy as np
import pytest

from difference_rows import row
from lancehead import errors, njit, types


class Bytes(bytes, enum.Enum):
    A = b"a"


class Pair(tuple, enum.Enum):
    A = (1, 2)


class Text(enum.StrEnum):
    A = "a"


class Size(float, enum.Enum):
    HALF = 0.5


class Number(enum.IntEnum):
    THREE = 3


Point = namedtuple("Point", "x y")
Other = namedtuple("Other", "x y")


@njit
def add_one(x):
    return x + 1


@njit
def half(x):
    return x * 0.5


@njit
def shout(x):
    return "x"


@row("`min` and `max` of an array with zeros of both signs")
def test_extremes_of_zeros_are_zeros():
    # The sign is not defined.
    for a in (np.array([0.0, -0.0]), np.array([-0.0, 0.0])):
        assert njit(lambda a: (a.min(), np.max(a)))(a) == (0.0, 0.0)


@row("a stable sort of floats with zeros of both signs")
def test_sorts_of_zeros():
    a = np.array([0.0, -0.0, 0.0, -0.0])
    assert np.signbit(np.sort(a, kind="stable")).tolist() == [False, True, False, True]
    assert np.signbit(njit(lambda a: np.sort(a, kind="stable"))(a)).tolist() == [True, True, False, False]
    assert njit(lambda a: np.argsort(a, kind="stable"))(a).tolist() == [0, 1, 2, 3]


@row("functions chosen at run time")
def test_functions_that_are_chosen_have_results_of_one_type():
    def by_condition(condition, x):
        f = add_one if condition else half
        return f(x)

    def of_two_kinds(condition, x):
        f = add_one if condition else shout
        return f(x)

    assert type(by_condition(True, 1)) is int
    assert type(njit(by_condition)(True, 1)) is float
    assert of_two_kinds(False, 1) == "x"
    with pytest.raises(errors.TypingError, match="cannot-unify"):
        njit(of_two_kinds)(False, 1)


@row("a signature with a function type")
def test_signatures_with_function_types_take_any_function():
    def apply(function, x):
        return function(x)

    plain = types.int64(types.int64(types.int64), types.int64)
    named = types.int64(types.FunctionType(types.int64(types.int64)), types.int64)
    for signature in (plain, named):
        compiled = njit(signature)(apply)
        assert compiled(add_one, 2) == 3
        assert (half(5), compiled(half, 5)) == (2.5, 2)
        assert compiled(lambda x: 7, 2) == 7


def inner(log):
    try:
        yield 1
    finally:
        log.append(1)


compiled_inner = njit(inner)


def closing_order(inner):
    """A function that leaves a generator which loops over another one."""

    def outer(log):
        try:
            for x in inner(log):
                yield x + 1
        finally:
            log.append(2)

    return outer


@row("a generator is left while it loops over another one")
def test_generators_within_generators_are_closed_last():
    outer, compiled = closing_order(inner), njit(closing_order(compiled_inner))

    def leave(outer):
        def f(log):
            g = outer(log)
            next(g)
            g.close()
            return log

        return f

    assert leave(outer)([0]) == [0, 1, 2]
    assert njit(leave(compiled))([0]) == [0, 2, 1]


@row("members of an enumeration of another class than `int`, `str` and `float`")
def test_members_of_other_classes_are_plain_values():
    for text, value in (("Bytes.A", b"a"), ("Pair.A", (1, 2))):
        get = eval(f"lambda: {text}", globals())
        assert isinstance(get(), enum.Enum)
        assert njit(get)() == value
        assert type(njit(get)()) is type(value)


@row("a member of an enumeration of strings or floats meets", "a member of an `IntEnum` meets an integer")
def test_members_that_meet_other_values():
    for member, other in ((Text.A, "b"), (Size.HALF, 2.5), (Number.THREE, 7)):

        def either(condition, other):
            return member if condition else other

        assert either(True, other) is member
        assert type(njit(either)(True, other)) is type(other)
        assert njit(either)(True, other) == member


@row("a namedtuple meets a plain tuple or one of another class")
def test_namedtuples_that_meet_other_tuples():
    def either(condition):
        p = Point(1, 2)
        if condition:
            p = (3, 4)
        return p

    for f in (either, lambda _: [Point(1, 2), (3, 4)][0], lambda _: [Point(1, 2), Other(3, 4)][0]):
        assert type(f(False)) is Point
        assert type(njit(f)(False)) is tuple
        assert njit(f)(False) == (1, 2)
    assert type(njit(lambda: [Point(1, 2), Point(3, 4)][0])()) is Point


@row("`np.searchsorted` in an array that is not sorted")
def test_places_in_arrays_that_are_not_sorted():
    search = njit(lambda a, v: np.searchsorted(a, v))
    draw = np.random.default_rng(0)
    differ = 0
    for _ in range(20):
        a, v = draw.integers(0, 20, 20), draw.integers(0, 20, 7)
        places = search(a, v)
        assert ((places >= 0) & (places <= 20)).all()
        differ += (places != np.searchsorted(a, v)).any()
        assert (search(np.sort(a), v) == np.searchsorted(np.sort(a), v)).all()
    assert differ


@row("`np.reciprocal` of an integer 0")
def test_the_reciprocal_of_zero():
    assert njit(lambda a: np.reciprocal(a))(np.array([0, 1, 2])).tolist() == [0, 1, 0]
    with pytest.warns(RuntimeWarning):
        np.reciprocal(np.array([0]))


@row("`a == None` of an array", "`is`")
def test_identity():
    def is_none(a):
        return a == None  # noqa: E711

    def identities(a, truth):
        items = [1]
        same, others = items, [1]
        return a is a[:], a is a[1:], items is same, items is others, a is None, truth is True

    a = np.arange(3)
    assert is_none(a).tolist() == [False] * 3
    assert njit(is_none)(a) is False
    assert identities(a, True) == (False, False, True, False, False, True)
    assert njit(identities)(a, True) == (True, False, True, False, False, True)


@row("`v[mask] = values` where the mask shares memory with `v`")
def test_masks_and_values_that_share_memory():
    def store_by_mask(v):
        v[v[::-1]] = False
        return v

    def store_flat(a):
        a.flat[...] = a[::-1]
        return a

    v = np.array([True, False, True, True])
    assert njit(store_by_mask)(v).tolist() == [False, False, True, False]
    assert store_flat(np.arange(5)).tolist() == [4, 3, 2, 3, 4]
    assert njit(store_flat)(np.arange(5)).tolist() == [4, 3, 2, 1, 0]


@row("`np.linalg.svd`, `qr`, `eigh`, `eig`")
def test_decompositions_have_numpys_vectors_up_to_signs():
    m = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 1.0]])
    values, vectors = njit(lambda m: np.linalg.eigh(m))(m)
    np.testing.assert_allclose(vectors * values @ vectors.T, m, atol=1e-14)
    np.testing.assert_allclose(np.abs(vectors), np.abs(np.linalg.eigh(m)[1]), rtol=1e-10)
    u, s, vt = njit(lambda m: np.linalg.svd(m))(m)
    np.testing.assert_allclose(u * s @ vt, m, atol=1e-14)
    np.testing.assert_allclose(np.abs(u), np.abs(np.linalg.svd(m)[0]), rtol=1e-10)


@row("`np.linalg.eig`, `eigvals` of a real matrix with complex eigenvalues")
def test_complex_eigenvalues_of_real_matrices():
    @njit
    def eigenvalues(m):
        return np.linalg.eigvals(m)

    m = np.array([[0.0, -1.0], [1.0, 0.0]])
    assert np.linalg.eigvals(m).dtype == np.complex128
    with pytest.raises(ValueError, match="domain change"):
        eigenvalues(m)
    with pytest.raises(ValueError, match="domain change"):
        njit(lambda m: np.linalg.eig(m)[0])(m)
    np.testing.assert_allclose(np.sort(eigenvalues(m.astype(np.complex128)).imag), [-1, 1])


@row("`np.unstack`", "`np.unique_values`")
def test_results_of_the_array_api():
    parts = njit(lambda a: np.unstack(a))(np.eye(2))
    assert type(parts) is list
    assert [part.tolist() for part in parts] == np.eye(2).tolist()
    assert njit(lambda a: np.unique_values(a))(np.array([3, 1, 3, 2])).tolist() == [1, 2, 3]


@row("`np.real_if_close`, `np.min_scalar_type` of a number")
def test_types_that_depend_on_values():
    @njit
    def real(a):
        return np.real_if_close(a)

    @njit
    def smallest(a):
        return np.min_scalar_type(a)

    assert np.real_if_close(np.array([1 + 0j])).dtype == np.float64
    assert np.min_scalar_type(300) == np.uint16
    assert real(np.array([1.5])).tolist() == [1.5]
    assert smallest(np.zeros(2, np.int8)) == np.int8
    for function, value in ((real, np.array([1 + 0j])), (real, 1j), (smallest, 300)):
        with pytest.raises(errors.ArgumentError, match="value"):
            function(value)


@row("`np.require(a, dtype, [")
def test_one_requirement_at_a_time():
    a = np.eye(2).T
    assert np.require(a, np.float64, ["C", "W"]).flags.c_contiguous
    assert njit(lambda a: np.require(a, np.float64, "C"))(a).flags.c_contiguous
    with pytest.raises(errors.ArgumentError, match="one requirement at a time"):
        njit(lambda a: np.require(a, np.float64, ["C", "W"]))(a)


@row("`a.getfield(dtype, offset)` with an offset")
def test_fields_begin_at_multiples_of_their_size():
    def field(a, offset):
        return a.getfield(np.int32, offset)

    a = np.array([2**16, 2**32])
    assert field(a, 2).tolist() == [1, 65536]
    assert njit(field)(a, 4).tolist() == [0, 1]
    with pytest.raises(ValueError, match="multiple of its size"):
        njit(field)(a, 2)


@row("dtypes as texts in `np.result_type(")
def test_dtypes_as_texts():
    a = np.zeros(2, np.int8)
    assert np.result_type("f4", a) == np.float32
    assert njit(lambda a: np.result_type(np.float32, a))(a) == np.float32
    with pytest.raises(errors.TypingError, match="not a dtype known while compiling"):
        njit(lambda a: np.result_type("f4", a))(a)


@row("`np.diff(a, n=0, prepend=x)`")
def test_no_differences_have_the_common_type():
    def no_differences(a):
        return np.diff(a, n=0, prepend=0.5)

    assert no_differences(np.arange(3)).dtype == np.int64
    assert njit(no_differences)(np.arange(3)).dtype == np.float64


@row("the hash of a NaN")
def test_the_hash_of_a_nan():
    assert njit(lambda x: hash(x))(math.nan) == 0


@row("a text with a lone surrogate that a function spells itself")
def test_lone_surrogates():
    with pytest.raises(errors.TypingError, match="lone surrogates"):
        njit(lambda: "\ud800")()
    assert njit(lambda n: chr(n))(0xD800) == "\ud800"
    assert njit(lambda text: text + "a")("\ud800") == "\ud800a"


@row("keys of several types in a dictionary, items of several in a set")
def test_keys_have_one_type():
    items = njit(lambda: {1: 2, 0.5: 3})()
    assert items == {1.0: 2, 0.5: 3}
    assert [type(key) for key in items] == [float, float]
    assert {type(item) for item in njit(lambda: {1, 0.5})()} == {float}
    for f in (lambda: {1: 2, "a": 3}, lambda: {1, "a"}):
        assert len(f()) == 2
        with pytest.raises(errors.TypingError, match="cannot hold both `int` and `str`"):
            njit(f)()


@row("`d.get(key, default)`, with a default of another type")
def test_defaults_of_another_type():
    def get(d):
        return d.get(1, 0.5)

    assert type(get({1: 2})) is int
    assert type(njit(get)({1: 2})) is float


@row("the order of the items of a set")
def test_the_order_of_sets():
    def in_order(items):
        found = set()
        for item in items:
            found.add(item)
        return list(found)

    items = [30, 1, 17, 8, 2, 100]
    assert in_order(items) != items
    assert njit(in_order)(items) == items


@row("values of a `Counter`, a `deque` or a `defaultdict`")
def test_values_of_collections_have_one_type():
    def counted(x):
        counter = Counter([1])
        counter[2] = x
        return list(counter.values())

    def queued(x):
        items = deque([1])
        items.append(x)
        return list(items)

    def defaulted(x):
        d = defaultdict(int)
        d[1], d[2] = 1, x
        return list(d.values())

    for f in (counted, queued, defaulted):
        assert [type(value) for value in f(0.5)] == [int, float]
        assert [type(value) for value in njit(f)(0.5)] == [float, float]
        with pytest.raises(errors.TypingError, match="cannot-unify"):
            njit(f)("a")
    assert type(njit(lambda: Counter([1, 1])[1])()) is int


@row("an `OrderedDict` that grows while its last item is looked at")
def test_an_ordered_dictionary_that_grows():
    def grow():
        d = OrderedDict()
        d[0] = 0
        for key in d:
            d[key + 1] = 0
        return len(d)

    assert grow() == 2
    with pytest.raises(RuntimeError, match="mutated during iteration"):
        njit(grow)()


@row("the factory `np.int64` of a `defaultdict` that is returned", "an empty `defaultdict` is an argument")
def test_factories():
    def made():
        d = defaultdict(np.int64)
        d[1] += 1
        return d

    assert made().default_factory is np.int64
    assert njit(made)().default_factory is int
    size = njit(lambda d: len(d))
    assert size(defaultdict(int, {1: 2})) == 1
    with pytest.raises(errors.ArgumentError, match="empty"):
        size(defaultdict(int))
