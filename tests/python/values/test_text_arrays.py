"""Arrays of texts of fixed length: NumPy's dtypes `U` and `S`. NumPy is the oracle."""

import subprocess
import sys

import numpy as np
import pytest

import lancehead
from lancehead import cuda, errors, njit, typeof, types

U = np.array(["abc", "dé", "", "xxyyzz", "日本", "😀a"])
S = np.array([b"abc", b"d\0e", b"", b"xyz", b"\xff", b"ab "])
FIELDS = [("x", "i1"), ("n", "S5"), ("u", "U3"), ("y", "f8")]

READS = {
    "first": lambda a: a[0],
    "last": lambda a: a[-1],
    "all": lambda a: [x for x in a],
    "lengths": lambda a: [len(x) for x in a],
    "flat": lambda a: [x for x in a.flat],
    "equal": lambda a: [x == y for x in a for y in a],
    "order": lambda a: [x < y for x in a for y in a],
    "keys": lambda a: {x: i for i, x in enumerate(a)},
    "largest": lambda a: max(a),
    "sorted": lambda a: sorted(a),
    "list": lambda a: list(a),
    "part": lambda a: a[1:-1],
    "reversed": lambda a: a[::-1],
    "odd": lambda a: a[1::2],
    "mask": lambda a: a[np.array([True, False, True, True, False, True])],
    "take": lambda a: a[np.array([2, 0, -1])],
    "copy": lambda a: a.copy(),
    "copies": lambda a: np.copy(a),
    "both": lambda a: np.concatenate((a, a[:2])),
    "flip": lambda a: np.flip(a),
    "rows": lambda a: a.reshape(2, 3)[:, 1],
    "one_of_rows": lambda a: a.reshape(2, 3)[1, 2],
    "zeros": lambda a: np.zeros(3, a.dtype),
    "size": lambda a: (a.size, a.itemsize, a.shape, len(a)),
    "hash": lambda a: hash(a[0]) == hash(a.copy()[0]),
    "text": lambda a: str(a[0]) + f"{a[1]}",
}


def same(result, expected):
    if isinstance(expected, np.ndarray):
        return isinstance(result, np.ndarray) and result.dtype == expected.dtype and np.array_equal(result, expected)
    return result == expected


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("array", [U, S, U[::-1], S[::-1]], ids=["U", "S", "-U", "-S"])
def test_reading(name, array):
    f = READS[name]
    before = lancehead._core.live_allocations()
    assert same(njit(f)(array), f(array))
    assert lancehead._core.live_allocations() == before


def store_texts(a):
    a[0] = "longer than it is"
    a[1:3] = "é"
    a[-1] = str(12)
    a[np.array([3])] = "k"
    a[np.array([False, False, False, False, True, False])] = a[3]
    a.reshape(2, 3)[1, 0] = ""


def store_bytes(a):
    a[0] = b"longer than it is"
    a[1:3] = b"\xff"
    a[-1] = b""
    a[np.array([3])] = b"k"
    a[np.array([False, False, False, False, True, False])] = a[3]
    a.reshape(2, 3)[1, 0] = b"q\0"


@pytest.mark.parametrize(("f", "array"), [(store_texts, U), (store_bytes, S)])
def test_storing(f, array):
    a, b = array.copy(), array.copy()
    njit(f)(a)
    f(b)
    assert (a == b).all()


def test_storing_another_kind():
    def mixed(u, s):
        u[0] = b"bytes"
        s[0] = "text"
        u[1] = 12

    a, b = (U.copy(), S.copy()), (U.copy(), S.copy())
    njit(mixed)(*a)
    mixed(*b)
    assert (a[0] == b[0]).all() and (a[1] == b[1]).all()
    with pytest.raises(UnicodeError):
        njit(put)(S.copy(), "é")
    with pytest.raises(UnicodeError):
        njit(put)(U.copy(), b"\xff")


def put(a, x):
    a[0] = x


COMPARISONS = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
WORDS = np.array(["b", "a", "", "abc", "ab", "é", "b\0", "\ud800", "😀", "\uffff"])


@pytest.mark.parametrize("op", COMPARISONS)
def test_comparing(op):
    f = COMPARISONS[op]
    compiled = njit(f)
    short = WORDS.astype("U1")
    ascii_words = np.array([b"b", b"a", b"", b"abc", b"\xff", b"a\0b"])
    cases = [
        (WORDS, WORDS[::-1]),
        (WORDS, short),
        (WORDS.reshape(2, 5), WORDS[::2]),
        (WORDS.reshape(10, 1), short),
        (WORDS[:0], WORDS[:1]),
        (ascii_words, ascii_words[::-1].copy()),
        (ascii_words.astype("S9"), ascii_words),
    ]
    cases += [(WORDS, x) for x in ("abc", "", "abcd", "b\0", "\ud800")]
    cases += [(x, WORDS[::-1]) for x in ("abc", "é", "zzzzz")]
    cases += [(ascii_words, x) for x in (b"abc", b"", b"abcdefgh", b"a\0")] + [(b"\xff", ascii_words)]
    before = lancehead._core.live_allocations()
    for a, b in cases:
        result, expected = compiled(a, b), f(a, b)
        assert result.dtype == np.bool_ and result.shape == expected.shape, (a, b)
        assert (result == expected).all(), (a, b)
        del result
    assert lancehead._core.live_allocations() == before


ORDERS = {
    "sort": lambda a: np.sort(a),
    "argsort": lambda a: np.argsort(a, kind="stable"),
    "unique": lambda a: np.unique(a),
    "counts": lambda a: np.unique(a, return_counts=True),
    "all": lambda a: np.unique(a, return_index=True, return_inverse=True),
    "places": lambda a: np.searchsorted(np.sort(a), a, side="right"),
    "place": lambda a: np.searchsorted(np.sort(a), a[0]),
    "isin": lambda a: np.isin(a, a[1:3]),
    "rows": lambda a: np.sort(a[:4].reshape(2, 2), axis=0),
    "mask": lambda a: a[a == a[1]],
    "count": lambda a: (np.sum(a > a[1]), np.any(a != a[0]), np.count_nonzero(a == a[2])),
    "where": lambda a: np.where(a == a[1])[0],
    "tolist": lambda a: a.tolist(),
    "ranks": lambda a: np.partition(a, 2)[2],
}


@pytest.mark.parametrize("name", ORDERS)
def test_ordering(name):
    f = ORDERS[name]
    rng = np.random.default_rng(0)
    texts = np.concatenate([WORDS, WORDS[::-1], rng.integers(0, 30, 80).astype("U4")])
    for a in (texts, texts[::-2], np.array([b"b", b"", b"a", b"\xff", b"a", b"ab"]), WORDS[:4]):
        before = lancehead._core.live_allocations()
        result, expected = njit(f)(a), f(a)
        if isinstance(expected, tuple):
            assert all(np.array_equal(x, y) for x, y in zip(result, expected, strict=True))
        else:
            assert same(result, expected) or result == expected
        del result
        assert lancehead._core.live_allocations() == before


MADE = {
    "list": lambda s: np.array(["a", s, "abcd"], dtype="U3"),
    "tuple": lambda s: np.array(("a", s), "U5"),
    "items": lambda s: np.array([c for c in s if c != "b"], dtype="U1"),
    "bytes": lambda s: np.array([b"a", b"abcd"], dtype="S3"),
    "ascii": lambda s: np.array(["a", "abcd"], dtype="S3"),
    "full": lambda s: np.full(3, s, "U2"),
    "rows": lambda s: np.full((2, 2), b"ab", "S2"),
    "like": lambda s: np.full_like(np.zeros(2, "U4"), s),
}


@pytest.mark.parametrize("name", MADE)
def test_making(name):
    f = MADE[name]
    before = lancehead._core.live_allocations()
    for text in ("éb", "", "日本語b"):
        assert same(njit(f)(text), f(text))
    assert lancehead._core.live_allocations() == before


def test_filling():
    for array, value in [(U, "日本語x"), (S, b"abcd"), (U.reshape(2, 3), "")]:
        a, b = array.copy(), array.copy()
        njit(lambda a, x: a.fill(x))(a, value)
        b.fill(value)
        assert same(a, b)


def test_sorting_in_place():
    a, b = U.copy(), U.copy()
    njit(lambda x: x.sort())(a)
    b.sort()
    assert (a == b).all()


def fields(r):
    r[0].n = b"more than five"
    r[1]["u"] = "ééééé"
    r.u[2] = "k"
    r[2].x = len(r[0].n)
    r[3] = r[0]
    return r[1].u, r["n"][0], [x for x in r.u]


def test_fields_of_records():
    a, b = np.zeros(4, FIELDS).view(np.recarray), np.zeros(4, FIELDS).view(np.recarray)
    assert njit(fields)(a) == fields(b)
    assert (a == b).all()


@pytest.mark.parametrize("dtype", ["U4", "<U4", "S4", "|S4"])
def test_made_in_compiled_code(dtype):
    def make(n):
        a = np.zeros((n, 2), dtype)
        b = np.empty(n, np.dtype(dtype))
        b[:] = "ab"
        a[1, 1] = "abcdef"
        return a, b

    for result, expected in zip(njit(make)(3), make(3), strict=True):
        assert same(result, expected)


def test_scalars_of_numpy():
    assert njit(lambda s: s + "x")(U[0]) == "abcx" and njit(lambda a: a[()])(np.array("abc")) == "abc"


def test_types():
    assert str(typeof(U)) == "array([unichr x 6], 1d, C)" and str(typeof(S)) == "array([char x 3], 1d, C)"
    assert typeof(U).dtype == types.UnicodeCharSeq(6) and typeof(S).dtype == types.CharSeq(3)
    assert types.as_dtype(types.UnicodeCharSeq(6)) == "U6" and types.from_dtype(np.dtype("S7")) == types.CharSeq(7)

    @njit(types.unicode_type(types.UnicodeCharSeq(6)[::1]))
    def first(a):
        return a[0]

    assert first(U) == "abc"


def test_empty_arrays():
    empty = np.zeros(0, "U3")
    assert njit(lambda a: [x for x in a])(empty) == [] and same(njit(lambda a: a[::-1])(empty), empty)


def test_what_is_refused():
    with pytest.raises(errors.TypingError, match=">U6"):
        njit(lambda a: a[0])(U.astype(">U6"))
    with pytest.raises(errors.TypingError, match="cannot be stored where `S3` is"):
        njit(put)(S.copy(), 1.5)
    for f in (lambda a: a == b"abc", lambda a: a < 1, lambda a: a == np.zeros(6, "S3")):
        with pytest.raises(errors.TypingError, match="not supported between"):
            njit(f)(U)
    with pytest.raises(errors.TypingError, match='dtype="U5"'):
        njit(lambda s: np.array([s, s]))("a")
    with pytest.raises(errors.TypingError, match="of dtype `U` or `S` only"):
        njit(lambda s: np.full(2, s, np.int64))("1")
    with pytest.raises(IndexError):
        njit(lambda a: a[7])(U)
    far = np.array([0x110000], np.uint32).view("U1")
    with pytest.raises(ValueError, match="no code point"):
        njit(lambda a: a[0])(far)
    surrogate = np.array([0xD800], np.uint32).view("U1")
    assert njit(lambda a: a[0])(surrogate) == "\ud800"


def test_the_cpu_device():
    @cuda.jit
    def count(a, out):
        i = cuda.grid(1)
        if i < a.size and a[i] == "abc":
            cuda.atomic.add(out, 0, 1)

    out = np.zeros(1, np.int64)
    count[1, 32](U, out)
    assert out[0] == 1


def test_in_the_cache(tmp_path):
    program = (
        "import numpy as np\nfrom lancehead import njit\n@njit(cache=True)\ndef f(a):\n    b = np.zeros(2, 'S4')\n"
        "    b[0] = a[0]\n    return b\n"
        "print(f(np.array(['abcdef'])), sum(f.stats.cache_hits.values()))\n"
    )
    (tmp_path / "program.py").write_text(program)
    for hits in (0, 1):
        done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.stdout == f"[b'abcd' b''] {hits}\n", done.stderr
