"""Records: structured dtypes as elements and arguments, against NumPy."""

import numpy as np
import pytest

from lancehead import errors, from_dtype, literal_unroll, njit, typeof, types

ALIGNED = np.dtype([("a", "f8"), ("b", "i4"), ("c", "c8"), ("d", "u1", (5,))], align=True)
PACKED = np.dtype([("x", "i1"), ("y", "f8"), ("z", "f4"), ("h", "f2"), ("w", "c16"), ("t", "?")])
NESTED = np.dtype([("p", PACKED), ("q", "u1", (2, 3)), ("s", "S4")])


def sample(dtype, n=4):
    rng = np.random.default_rng(3)
    made = np.zeros(n, dtype)
    made.view(np.uint8).reshape(n, -1)[:] = rng.integers(1, 60, (n, dtype.itemsize))
    if "t" in (dtype.names or ()):
        made["t"] = [True, False] * (n // 2)
    return made


@njit
def fields(a, i):
    r = a[i]
    return r.a, r["b"], a.c[i], a[i].d.sum(), a["d"].shape, r[0]


def test_fields_by_attribute_and_name():
    a = sample(ALIGNED)
    for i in (0, 2, -1):
        assert fields(a, i) == fields.py_func(a.view(np.recarray), i)


@njit
def store(a, i, x):
    a[i].a = x
    a[i]["b"] = 3
    r = a[i]
    r.c = 5j
    r.d[:] = 9
    a["a"][0] = -1
    return r


def test_what_is_stored_is_in_the_array():
    a, b = sample(ALIGNED), sample(ALIGNED)
    r = store(a, 1, 7.5)
    b[1]["a"], b[1]["b"], b[1]["c"], b["a"][0] = 7.5, 3, 5j, -1
    b[1]["d"][:] = 9
    assert (a == b).all() and r == a[1] and isinstance(r, np.void)
    r["a"] = 99
    assert a[1]["a"] == 99


@njit
def packed(a):
    total = 0.0
    for r in a:
        total += r.x + r.y * 2 + r.z + r.h + r.w.imag + r.t
        r.x, r.y, r.z, r.h, r.w, r.t = 1, 2.5, 1.5, 0.25, 1 - 2j, True
    return total


def test_fields_at_any_address():
    a = sample(PACKED)
    expected = sum(float(r["x"]) + float(r["y"]) * 2 + float(r["z"]) + float(r["h"]) + r["w"].imag + r["t"] for r in a)
    assert packed(a) == pytest.approx(expected)
    assert a.tolist() == [(1, 2.5, 1.5, 0.25, 1 - 2j, True)] * 4


@njit
def nested(a):
    a[0].p.y = 3
    a[0]["p"]["x"] = 4
    a[0].q[1, 2] = 8
    a[1] = a[0]
    a[2:] = a[1]
    return a[1].p.y, a.q.shape, a["p"]["x"].sum(), a[1].q[1, 2]


def test_records_in_records():
    a = sample(NESTED)
    assert nested(a) == (3.0, (4, 2, 3), 16, 8)
    assert len({bytes(r) for r in a}) == 1


@njit
def double(r):
    r.a = r.a * 2
    return r


def test_a_record_as_argument_is_the_arrays():
    a = sample(ALIGNED)
    before = a[2]["a"]
    r = a[2]
    assert double(r) is r and a[2]["a"] == 2 * before
    assert double(a.view(np.recarray)[1])["a"] == a[1]["a"]


@njit
def by_names(r):
    total = 0.0
    for name in literal_unroll(("a", "b")):
        total += r[name]
    return total


def test_names_in_a_loop():
    a = sample(ALIGNED)
    assert by_names(a[0]) == float(a[0]["a"]) + a[0]["b"]


@njit
def made(n, x):
    a = np.zeros(n, ALIGNED)
    a[0].a = x
    a[1:] = a[: n - 1]
    return a


def test_arrays_of_records_made_in_compiled_code():
    a = made(3, 2.0)
    assert a.dtype == ALIGNED and a["a"].tolist() == [2.0, 2.0, 0.0] and not a["b"].any()


def test_types():
    t = from_dtype(ALIGNED)
    assert t.size == ALIGNED.itemsize and t.aligned and t.fields == ["a", "b", "c", "d"]
    made = njit([types.float64(t[:])])(lambda a: a[0].a + a.a[1])
    a = sample(ALIGNED)
    assert made(a) == a[0]["a"] + a[1]["a"]
    with pytest.raises(errors.NumbaNotImplementedError):
        from_dtype(np.dtype([("a", "O")]))


@pytest.mark.parametrize("bad, text", [
    (lambda a: a < a, "no-matching-op"),
    (lambda a: a[0] < a[1], "no-matching-op"),
    (lambda a: a[0] == 1, "no-matching-op"),
    (lambda a: a + a, "no-matching-op"),
    (lambda a: a[["a", "b"]], "cannot be indexed with several names"),
    (lambda a: a[0].nope, "has no attribute `nope`"),
    (lambda a: a["nope"], "has no field `nope`"),
    (lambda a: np.sort(a), "`numpy.sort` does not take"),
    (lambda a: np.where(a.a > 1, a, a), "`numpy.where` does not take"),
    (lambda a: a.mean(), "an array of records has neither"),
])  # fmt: skip
def test_what_records_are_not_for(bad, text):
    with pytest.raises(errors.TypingError, match=text):
        njit(bad)(sample(ALIGNED))


def test_a_field_without_native_form():
    a = np.zeros(2, [("s", "V3"), ("x", "i4")])
    assert njit(lambda a: a[1].x)(a) == 0
    with pytest.raises(errors.TypingError, match=r"dtype `\|V3`, which has no native form"):
        njit(lambda a: a[1].s)(a)


def change_packed(a):
    a.c[::2] = a.c[1::2] + 1
    a["v"][:, 1] = a.x
    a[3].v[:] = np.sort(a[2].v)[::-1]
    a.x[a.y > 2] = a.x.sum()
    return a.c.sum(), a.x.mean(), np.dot(a[1].v, a[2].v), a.v.sum(), a.v


def test_arrays_of_fields_that_are_not_aligned():
    dtype = np.dtype([("y", "i1"), ("c", "c16"), ("x", "f8"), ("v", "f4", (3,))])
    a = np.zeros(6, dtype).view(np.recarray)
    a.y, a.c, a.x, a.v = range(6), np.arange(6) * 1j, np.arange(6) / 2, np.arange(18).reshape(6, 3)
    b = a.copy()
    result, expected = njit(change_packed)(a), change_packed(b)
    assert (a == b).all() and np.allclose(result[:4], expected[:4]) and np.array_equal(result[4], expected[4])
    assert np.shares_memory(result[4], a)


WHOLE = {
    "append": lambda a: np.append(a, a[:2]),
    "array": lambda a: np.array(a),
    "broadcast": lambda a: np.broadcast_to(a, (2, 4)),
    "concatenate": lambda a: np.concatenate((a, a[::-1])),
    "copy": lambda a: a.copy(),
    "delete": lambda a: np.delete(a, 1),
    "fancy": lambda a: a[np.array([3, 0])],
    "flatten": lambda a: a.reshape(2, 2).flatten(),
    "flip": lambda a: np.flip(a),
    "mask": lambda a: a[a["x"] > 1],
    "repeat": lambda a: np.repeat(a, 2),
    "roll": lambda a: np.roll(a, 1),
    "stack": lambda a: np.stack((a, a)),
    "take": lambda a: a.take(np.array([1, 3])),
    "transposed": lambda a: a.reshape(2, 2).T.copy(),
    "zeros": lambda a: np.zeros(3, a.dtype),
    "zeros_like": lambda a: np.zeros_like(a),
}


@pytest.mark.parametrize("name", WHOLE)
def test_functions_of_whole_records(name):
    a = np.zeros(4, [("x", "i4"), ("v", "f4", (3,)), ("s", "U2")])
    a["x"], a["v"], a["s"] = range(4), np.arange(12).reshape(4, 3), list("abcd")
    result, expected = njit(WHOLE[name])(a), WHOLE[name](a)
    assert result.dtype == expected.dtype and np.array_equal(result, expected)


def test_storing_records_by_masks_and_places():
    def store(a):
        a[a["x"] > 1] = a[0]
        a[np.array([1])] = a[3]
        a[2]["x"] = 99

    a, b = sample(PACKED), sample(PACKED)
    njit(store)(a)
    store(b)
    assert (a == b).all()


def test_types_of_records():
    record = types.from_dtype(np.dtype([(("title", "x"), "i4"), ("s", "S5"), ("v", "f4", (3,))]))
    assert record.fields == ["x", "s", "v", "title"] and len(record) == 3
    assert record.typeof("s") == types.CharSeq(5) and record.offset("title") == 0
    assert record.is_title("title") and not record.is_title("x")
    assert types.as_dtype(record) == record.dtype == np.dtype([(("title", "x"), "i4"), ("s", "S5"), ("v", "f4", (3,))])
    nested = types.NestedArray(types.float64, (2,))
    made = types.Record.make_c_struct([("a", types.int8), ("b", nested), ("c", record)])
    assert (made.offset("b"), made.offset("c"), made.aligned) == (8, 24, True)


def test_titles_are_names():
    a = np.zeros(2, [(("title", "x"), "i4")])

    @njit
    def store(a):
        a[0]["title"] = 3
        a[0]["x"] += 1
        return a["title"][0]

    assert store(a) == 4


def test_records_that_begin_with_others():
    short, long = np.ones(1, [("a", "f8")])[0], np.full(1, 2, [("a", "f8"), ("b", "f8")])[0]
    get = njit(types.float64(typeof(short)))(lambda r: r["a"])
    assert get(short) == 1 and get(long) == 2
    with pytest.raises(TypeError, match="No matching definition"):
        njit(types.float64(typeof(long)))(lambda r: r["b"])(short)


def test_records_of_other_fields_are_not_assigned():
    with pytest.raises(errors.TypingError, match="cannot be stored"):

        @njit
        def put(a, b):
            a[0] = b[0]

        put(sample(ALIGNED), sample(PACKED))


def test_records_are_of_the_class_that_their_array_gives():
    plain = np.zeros(2, [("kind", "i4"), ("size", "f8")])
    first = njit(lambda a: a[1])
    for array in (plain, plain.view(np.recarray), plain):
        record = first(array)
        assert type(record) is type(array[1]) and record.dtype == array.dtype
        record["kind"] = 3
        assert array["kind"][1] == 3
        array["kind"] = 0


TIMES = np.dtype([("d", "M8[D]"), ("s", "m8[s]"), ("z", "c16")])


@njit
def texts(a):
    out = str(a[0]) + repr(a[1]) + f"{a[0]}|{a[1]!r}" + "{} %s".format(a[0]) % (a[1],)  # noqa: UP032 - the method is tested
    for r in a:
        out += str(r)
    return out


@pytest.mark.parametrize("dtype", [ALIGNED, PACKED, NESTED, TIMES, np.dtype([("n", "U3"), ("s", "S2")])])
def test_texts_of_records(dtype, capsys):
    a = sample(dtype, 2) if dtype.names != ("n", "s") else np.array([("ab", b"c"), ("", b"")], dtype)
    assert texts(a) == texts.py_func(a)
    show = njit(lambda a: print(a[0], a[1], sep="|"))
    show(a)
    own = capsys.readouterr().out
    show.py_func(a)
    assert own == capsys.readouterr().out


PAIR = np.dtype([("a", "i4"), ("b", "f8")])


def test_arrays_of_records_are_made_of_tuples():
    made = (
        njit(lambda: np.array([(1, 2.0), (3, 4.0)], dtype=PAIR)),
        njit(lambda: np.asarray([(1, 2.0)], PAIR)),
        njit(lambda: np.array((1, 2.0), dtype=PAIR)),
        njit(lambda: np.array([[(1, 2.0), (3, 4.0)]], dtype=PAIR)),
        njit(lambda: np.array([(1, "abcde")], dtype=np.dtype([("n", "i8"), ("t", "U3")]))),
    )
    for f in made:
        own, oracle = f(), f.py_func()
        assert own.dtype == oracle.dtype and own.shape == oracle.shape and (own == oracle).all()
    several = njit(lambda n: np.array([(i, i * 0.5) for i in range(n)], dtype=PAIR))
    for n in (0, 3):
        assert (several(n) == several.py_func(n)).all()


def test_dtypes_are_described_by_dictionaries():
    made = (
        njit(lambda: np.zeros(3, np.dtype({"names": ["a", "b"], "formats": ["i4", "f8"], "offsets": [0, 8]}))),
        njit(lambda: np.zeros(2, np.dtype({"names": ["a", "b"], "formats": [np.int32, np.float64]}))),
        njit(lambda: np.zeros(2, dtype={"names": ("a", "b"), "formats": ("i4", "U3"), "itemsize": 32})),
        njit(lambda: np.zeros(2, {"a": ("i4", 0), "b": ("f8", 8)})),
        njit(lambda: np.zeros(2, {"names": ["a", "b", "c"], "formats": ["u1", "i2", ("f4", (2,))]})),
    )
    for f in made:
        own, oracle = f(), f.py_func()
        assert own.dtype == oracle.dtype and (own == oracle).all()
