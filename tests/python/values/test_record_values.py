"""Records as wholes, against NumPy: tuples assigned to them, comparison, overlapping copies, names and items."""

import gc

import numpy as np
import pytest

from lancehead import errors, literal_unroll, njit, prange
from lancehead._core import live_allocations

PLAIN = np.dtype([("a", "f8"), ("b", "i4"), ("c", "c8"), ("d", "u1", (5,))], align=True)
PACKED = np.dtype([("x", "i1"), ("y", "f8"), ("z", "f4"), ("t", "?")])
NESTED = np.dtype([("p", PACKED), ("q", "u1", (2, 3)), ("n", "i8")])
WIDE = np.dtype([("v", "f8", (100,)), ("k", "i1")], align=True)


def sample(dtype, n=4):
    """Records of different values."""
    rng = np.random.default_rng(3)
    made = np.zeros(n, dtype)
    for name in dtype.names:
        if dtype[name].names:
            made[name] = sample(dtype[name], n)
        else:
            made[name] = rng.integers(0, 60, made[name].shape)
    return made


def from_tuples(a):
    a[0] = (1.5, 2, 3j, np.arange(5).astype(np.uint8))
    a[1:3] = (2, a[0].b, a[0].c, a[0].d)
    return a


def nested_tuples(a):
    a[1] = ((1, 2.5, 3, True), np.ones((2, 3), np.uint8), 77)
    a[0].p = (9, 8, 7, False)
    a[-1] = (a[1].p, a[0].q, a[1].n)
    return a


def swapped(a):
    a[0] = (a[0].y + 1, a[0].x, 3, a[1].t)
    return a


def overlapping(a):
    a[1:] = a[:-1]
    a[:2] = a[::-1][:2]
    a[::2] = a[1]
    return a


def rows(a):
    m = a.reshape((2, 2))
    m[1] = m[0]
    m[:, 1] = m[:, 0]
    m[:, :1] = m[0, 1]
    return a


def copies(a):
    b, r = a.copy(), a[1].copy()
    r.b = -1
    b[0].b = -2
    return a[1].b, r.b, a[0].b, b[0].b


def filled(a):
    a[1:].fill(a[0])
    return a


def by_all_names(a):
    total = 0.0
    for name in literal_unroll(("x", "y", "z")):
        total += a[1][name]
    return total + len(a.dtype.names) + len(a[0])


@pytest.mark.parametrize("f, dtype", [
    (from_tuples, PLAIN), (nested_tuples, NESTED), (swapped, PACKED), (overlapping, PLAIN), (overlapping, NESTED),
    (overlapping, WIDE), (copies, PLAIN), (filled, NESTED), (by_all_names, PACKED),
    (lambda a: a.dtype.names, NESTED), (lambda a: a[0].dtype.names, PACKED), (lambda a: a[1].item(), PACKED),
    (lambda a: a[1].p.item(), NESTED), (lambda a: a.tolist(), PACKED), (lambda a: a[:0].copy(), PACKED),
    (lambda a: a == a[::-1], PLAIN), (lambda a: a != a[2], PLAIN), (lambda a: a[1] == a, PACKED),
    (lambda a: a == a, NESTED), (lambda a: a == a, WIDE), (lambda a: a[0] == a[0].copy(), NESTED),
    (lambda a: a[0] != a[1], NESTED), (lambda a: a[:1] == a, PACKED), (lambda a: a[:0] == a[:0], PACKED),
])  # fmt: skip
@pytest.mark.parametrize("view", [lambda a: a, lambda a: a[::-1]])
def test_whole_records(f, dtype, view):
    ours, theirs = view(sample(dtype)), view(sample(dtype))
    got, wanted = njit(f)(ours), f(theirs.view(np.recarray))
    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(ours, theirs)


def test_rows_of_records():
    ours, theirs = sample(NESTED), sample(NESTED)
    np.testing.assert_array_equal(njit(rows)(ours), rows(theirs))
    for f in (lambda a: a.reshape((2, 2)) == a[:2], lambda a: a.reshape((2, 2)).T != a[:1]):
        np.testing.assert_array_equal(njit(f)(ours), f(theirs))


def test_items_of_tuples_are_converted_as_fields_are():
    @njit
    def put(a, x):
        a[0] = (x, 2.9, 1, a[0].d)

    a, b = sample(PLAIN), sample(PLAIN)
    put(a, 3)
    b[0] = (3, 2.9, 1, b[0]["d"])
    assert a.tobytes() == b.tobytes()
    with pytest.raises(errors.TypingError, match="cannot be stored in the field `a`"):
        put(a, "text")


def test_what_does_not_fit():
    a = sample(PLAIN)
    for f in (lambda a: a == a[:3], lambda a: a[:2] != a[:3]):
        with pytest.raises(ValueError):
            njit(f)(a)
    with pytest.raises(errors.TypingError, match="has 4 fields, not 3"):

        @njit
        def put(a):
            a[0] = (1, 2, 3)

        put(a)
    with pytest.raises(errors.TypingError, match="different fields"):
        njit(lambda a, b: a[0] == b[0])(a, sample(PACKED))
    with pytest.raises(errors.TypingError, match="no native form"):
        njit(lambda a: a[0] == a[1])(np.zeros(2, [("x", "i4"), ("v", "V3")]))
    a.flags.writeable = False
    with pytest.raises(errors.TypingError, match="read-only"):

        @njit
        def change(a):
            a[0] = (1, 2, 3, a[0].d)

        change(a)


def test_a_nan_makes_records_unequal():
    a = np.array([(np.nan, 1), (2.0, np.nan), (1, 2)], [("a", "f8"), ("b", "f8", (1,))])
    np.testing.assert_array_equal(njit(lambda a: a == a)(a), a == a)
    assert njit(lambda a: (a[0] == a[0], a[2] == a[2], a[1] != a[1]))(a) == (False, True, True)


def test_records_of_equal_names_and_other_formats_are_compared():
    a, b = np.array([(1, 2)], [("x", "i4"), ("y", "f8")]), np.array([(1.0, 2.0)], [("x", "f4"), ("y", "f8")])
    np.testing.assert_array_equal(njit(lambda a, b: a == b)(a, b), a == b)


@njit(parallel=True)
def set_all(a):
    for i in prange(len(a)):
        a[i] = (i % 100, i, 0.5 * i, i % 3 == 0)


def test_tuples_in_parallel_loops_and_callees():
    a, b = (np.zeros(1000, PACKED) for _ in range(2))
    set_all(a)
    for i in range(1000):
        b[i] = (i % 100, i, 0.5 * i, i % 3 == 0)
    assert (a == b).all() and njit(lambda a, b: (a == b).all())(a, b)


def test_nothing_leaks():
    def work():
        for f, dtype in ((from_tuples, PLAIN), (overlapping, NESTED), (copies, PLAIN)):
            njit(f)(sample(dtype))
        njit(lambda a: (a == a, a[1].copy(), a.tolist()))(sample(NESTED))

    work()
    gc.collect()
    before = live_allocations()
    work()
    gc.collect()
    assert live_allocations() == before


#: Arrays whose texts are made by the same code, but for the number of their dtype.
ALIKE = [
    [
        np.array([(1, 2.5), (3, 4.5), (5, 0.1)], [("a", "i4"), ("b", "f8")]),
        np.array([(1, 2.5)], [("c", "i4"), ("d", "f8")]),
    ],
    [
        np.array([(1, [1, 2]), (3, [3, 4])], [("a", "i4"), ("b", "f8", (2,))]),
        np.array([(1, 2)], [("a", "i4"), ("b", "f8")]),
    ],
    [
        np.array(["2020-01-01", "2021-02-03"], "M8[D]"),
        np.array(["2020-01-01T01:02:03"], "M8[s]"),
        np.array([5], "m8[h]"),
    ],
    [np.array(["ab", "c", "def"]), np.array(["a", "b"])],
]


@pytest.mark.parametrize("arrays", ALIKE)
def test_texts_of_several_dtypes_in_one_function(arrays):
    expected = [(str(a), repr(a), str(a[::2])) for a in arrays]
    one = njit(lambda a: (str(a), repr(a), str(a[::2])))
    assert [one(a) for a in arrays] == expected
    assert [njit(lambda a: (str(a), repr(a), str(a[::2])))(a) for a in arrays[::-1]] == expected[::-1]
    first, second = arrays[:2]
    both = njit(lambda a, b: ((str(a), repr(a), str(a[::2])), (str(b), repr(b), str(b[::2]))))
    assert list(both(first, second)) == expected[:2]
