"""`bytes` and `bytearray` in compiled code. CPython is the oracle."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import lancehead
from lancehead import errors, njit

VALUES = [
    b"",
    b"abc",
    b"aBc dE\t fG",
    b"  x,y,,z \n",
    b"\x00\xff\x80a'\"",
    b"a-b-c-",
    b"12",
    b"line\r\nnext\rlast\n",
    b"AB",
]

UNARY = {
    "upper": lambda b: b.upper(),
    "lower": lambda b: b.lower(),
    "title": lambda b: b.title(),
    "swapcase": lambda b: b.swapcase(),
    "capitalize": lambda b: b.capitalize(),
    "isalpha": lambda b: b.isalpha(),
    "isdigit": lambda b: b.isdigit(),
    "isalnum": lambda b: b.isalnum(),
    "isspace": lambda b: b.isspace(),
    "isascii": lambda b: b.isascii(),
    "isupper": lambda b: b.isupper(),
    "islower": lambda b: b.islower(),
    "istitle": lambda b: b.istitle(),
    "hex": lambda b: b.hex(),
    "repr": lambda b: repr(b),
    "str": lambda b: str(b),
    "format": lambda b: f"{b}",
    "latin": lambda b: b.decode("latin-1"),
    "strip": lambda b: b.strip(),
    "lstrip": lambda b: b.lstrip(b" a"),
    "rstrip": lambda b: b.rstrip(b"-\n"),
    "split": lambda b: b.split(),
    "split_once": lambda b: b.split(None, 1),
    "split_at": lambda b: b.split(b","),
    "rsplit": lambda b: b.rsplit(),
    "rsplit_once": lambda b: b.rsplit(None, 1),
    "rsplit_at": lambda b: b.rsplit(b"-", 1),
    "lines": lambda b: b.splitlines(),
    "ends": lambda b: b.splitlines(True),
    "partition": lambda b: b.partition(b"-"),
    "rpartition": lambda b: b.rpartition(b"-"),
    "find": lambda b: (b.find(b"c"), b.find(99), b.rfind(b"-"), b.find(b"", 2), b.find(b"c", -2)),
    "count": lambda b: (b.count(b"-"), b.count(b""), b.count(97)),
    "starts": lambda b: (b.startswith(b"a"), b.endswith((b"c", b"-")), b.startswith(b"B", 1)),
    "replace": lambda b: (b.replace(b"-", b"++"), b.replace(b"", b"."), b.replace(b"-", b"", 1)),
    "prefix": lambda b: (b.removeprefix(b"a"), b.removesuffix(b"-")),
    "pad": lambda b: (b.center(12), b.ljust(12, b"."), b.rjust(12), b.zfill(5), b.expandtabs(4)),
    "times": lambda b: (b * 3, 2 * b, b * 0, b * -1),
    "hash": lambda b: hash(b) == hash(bytes(b)),
    "join": lambda b: b.join([b"x", b"y", b""]),
    "made": lambda b: (bytes(b), bytes(3), bytes([1, 2, 255]), bytes(range(4))),
    "array": lambda b: bytearray(b),
    "key": lambda b: {b: 1, b"abc": 2},
    "in_set": lambda b: b in {b"abc", b"AB"},
    "order": lambda b: sorted([b, b"abc", b"a"]),
}


@pytest.mark.parametrize("name", UNARY)
def test_methods(name):
    f = UNARY[name]
    compiled = njit(f)
    before = lancehead._core.live_allocations()
    for value in VALUES:
        result, expected = compiled(value), f(value)
        assert result == expected and type(result) is type(expected), (value, result, expected)
    result = expected = None
    assert lancehead._core.live_allocations() == before


@pytest.mark.parametrize("name", sorted(UNARY.keys() - {"hash", "key", "in_set", "order"}))
def test_methods_of_bytearrays(name):
    f = UNARY[name]
    for value in VALUES:
        result, expected = njit(f)(bytearray(value)), f(bytearray(value))
        assert result == expected and type(result) is type(expected), (value, result, expected)


def test_hashes_are_cpythons():
    for value in VALUES:
        assert njit(lambda b: hash(b))(value) == hash(value)


@pytest.mark.parametrize("text", ["", "abc", "é", "日本語", "a😀"])
@pytest.mark.parametrize("encoding", ["utf-8", "UTF8", "ascii", "latin-1", "Latin_1"])
def test_encodings(text, encoding):
    encode, decode = njit(lambda s, e: s.encode(e)), njit(lambda b, e: b.decode(e))
    try:
        expected = text.encode(encoding)
    except UnicodeEncodeError:
        with pytest.raises(UnicodeError, match="can't encode"):
            encode(text, encoding)
        return
    assert encode(text, encoding) == expected and decode(expected, encoding) == text
    assert njit(lambda s, e: (bytes(s, e), bytearray(s, e)))(text, encoding) == (expected, bytearray(expected))


def raised(f, *args):
    with pytest.raises(Exception) as caught:
        f(*args)
    return caught.value


@pytest.mark.parametrize(
    ("f", "value"),
    [
        (lambda b: b.decode(), b"a\xff"),
        (lambda b: b.decode("ascii"), b"\x80"),
        (lambda b: b.index(b"q"), b"abc"),
        (lambda b: b.rindex(b"q"), b"abc"),
        (lambda b: b.split(b""), b"abc"),
        (lambda b: bytes([300]), b""),
        (lambda b: bytes([-1]), b""),
        (lambda b: bytes(-1), b""),
        (lambda b: b.find(256), b"abc"),
        (lambda b: 256 in b, b"abc"),
        (lambda b: b.center(9, b"ab"), b"abc"),
        (lambda b: b.ljust(1, b""), b"abc"),
        (lambda b: -1 in bytearray(b), b"abc"),
        (lambda b: bytes.fromhex("6 1"), b""),
        (lambda b: bytes.fromhex("6"), b""),
        (lambda b: bytes.fromhex("zz"), b""),
        (lambda b: b.decode("klingon"), b"a"),
    ],
)
def test_bad_input(f, value):
    before = lancehead._core.live_allocations()
    own, oracle = raised(njit(f), value), raised(f, value)
    assert isinstance(oracle, type(own)) and not isinstance(own, errors.NumbaError)
    del own, oracle
    assert lancehead._core.live_allocations() == before


def test_fromhex():
    assert njit(lambda: bytes.fromhex("00 fF\t6162"))() == b"\x00\xffab"
    assert njit(lambda s: bytes.fromhex(s).hex())("c0ffee") == "c0ffee"


BROKEN = [
    b"a\xff",
    b"\xe2\x82",
    b"\xe2\x82a",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98",
    b"\xf4\x90\x80\x80",
    b"\x80\x80x\xc3\xa9",
    b"\xf0\x9f\x98\x80",
    b"\xe0\x80\x80",
    b"",
    b"abc",
]


def outcome(f, *args):
    try:
        return f(*args)
    except Exception as e:
        return type(e), e.args, str(e)


@njit
def decode(b, encoding, how):
    return b.decode(encoding, how)


@njit
def encode(s, encoding, how):
    return s.encode(encoding, how), bytearray(s, encoding, how)


@njit
def reason(b):
    try:
        return b.decode()
    except UnicodeDecodeError as e:
        return str(e)


@pytest.mark.parametrize("how", ["strict", "ignore", "replace", "backslashreplace"])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_bytes_that_are_no_text(encoding, how):
    before = lancehead._core.live_allocations()
    for b in BROKEN:
        assert outcome(decode, b, encoding, how) == outcome(decode.py_func, b, encoding, how)
        assert reason(b) == reason.py_func(b)
    assert lancehead._core.live_allocations() == before


@given(
    st.lists(st.sampled_from([*range(0x7F, 0x91), *range(0x9F, 0xA1), 0xBF, *range(0xC0, 0xC3), *range(0xDF, 0x100)]))
)
@settings(max_examples=300, deadline=None)
def test_any_bytes(numbers):
    b = bytes(numbers)
    for how in ("strict", "replace", "backslashreplace"):
        assert outcome(decode, b, "utf-8", how) == outcome(decode.py_func, b, "utf-8", how)


@pytest.mark.parametrize("how", ["strict", "ignore", "replace", "backslashreplace", "xmlcharrefreplace"])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_text_that_has_no_form(encoding, how):
    before = lancehead._core.live_allocations()
    for s in ("", "abc", "é", "aéé€b", "😀x😀"):
        assert outcome(encode, s, encoding, how) == outcome(encode.py_func, s, encoding, how)
    assert lancehead._core.live_allocations() == before


@njit
def hexed(b, sep, n):
    return b.hex(sep, n)


@given(st.binary(max_size=9), st.sampled_from([":", "", "ab", "é", "-"]), st.integers(-4, 4))
@settings(max_examples=200, deadline=None)
def test_hex(b, sep, n):
    assert outcome(hexed, b, sep, n) == outcome(hexed.py_func, b, sep, n)


@njit
def as_bytes(x, n, order, signed):
    return x.to_bytes(n, order, signed=signed)


@njit
def as_number(b, order, signed):
    return int.from_bytes(b, order, signed=signed)


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-1, 9), st.sampled_from(["big", "little", "x"]), st.booleans())
@settings(max_examples=300, deadline=None)
def test_integers_as_bytes(x, n, order, signed):
    for own in (x, x >> 40, x >> 55):
        assert outcome(as_bytes, own, n, order, signed) == outcome(as_bytes.py_func, own, n, order, signed)


@given(st.binary(max_size=10), st.sampled_from(["big", "little", "x"]), st.booleans())
@settings(max_examples=300, deadline=None)
def test_bytes_as_integers(b, order, signed):
    expected = outcome(as_number.py_func, b, order, signed)
    if isinstance(expected, int) and not -(2**63) <= expected < 2**63:
        assert outcome(as_number, b, order, signed)[0] is OverflowError
    else:
        assert outcome(as_number, b, order, signed) == expected


def test_numbers_are_no_memory():
    for x in (3, True, 2.5, 1j, np.float32(2)):
        with pytest.raises(errors.TypingError, match="`frombuffer` takes memory"):
            njit(lambda b: np.frombuffer(b, np.int8))(x)


def test_what_is_refused():
    with pytest.raises(LookupError, match="namereplace"):
        njit(lambda s: s.encode("ascii", "namereplace"))("é")
    with pytest.raises(errors.TypingError, match="not supported between"):
        njit(lambda b: "a" in b)(b"a")
    with pytest.raises(errors.TypingError, match="has no hash"):
        njit(lambda b: hash(b))(bytearray(b"a"))
    for f in (
        lambda b: b.find("a"),
        lambda b: b.translate(3),
        lambda b: b.translate(None, "a"),
        lambda b: bytes.maketrans(b, [1]),
    ):
        with pytest.raises(errors.TypingError, match="bytes are needed here"):
            njit(f)(b"a")


def test_items_of_numpy_are_bytes():
    item = np.array([b"ab"])[0]
    assert njit(lambda b: b + b"c")(item) == b"abc"


@njit
def set_item(b, i, x):
    b[i] = x


@njit
def set_part(b, i, j, k, x):
    b[i:j:k] = x


@njit
def swap_parts(b, i):
    view = memoryview(b)
    head = bytes(view[:i])
    b[: len(b) - i] = b[i:]
    b[len(b) - i :] = head


@njit
def look(b, i, j, x):
    return b[i:j], b.find(x), b.count(x), x in b, b.copy(), len(b), [y for y in b], b == bytes(b)


@njit
def turn(b):
    b.reverse()


@njit
def add(b, x):
    b.append(x)


@njit
def add_all(b, xs):
    b.extend(xs)
    b += xs


@njit
def repeat(b, n):
    b *= n


@njit
def put_in(b, i, x):
    b.insert(i, x)


@njit
def take_out(b, i):
    return b.pop(i)


@njit
def take_first(b, x):
    b.remove(x)


@njit
def delete(b, i, j, k):
    del b[i:j:k]


@njit
def replace(b, i, j, x):
    b[i:j] = x


class Bytearrays(RuleBasedStateMachine):
    """A `bytearray` that compiled functions change beside one that Python changes."""

    @initialize(content=st.binary(max_size=12))
    def start(self, content):
        self.own, self.oracle = bytearray(content), bytearray(content)

    def both(self, f, *args):
        assert outcome(f, self.own, *args) == outcome(f.py_func, self.oracle, *args)

    @rule(i=st.integers(0, 11), x=st.integers(-1, 256))
    def item(self, i, x):
        if self.oracle:
            self.both(set_item, i % len(self.oracle) - len(self.oracle) * (x % 2), x)

    @rule(i=st.integers(-13, 13), j=st.integers(-13, 13), k=st.sampled_from([-2, -1, 1, 2, 3]), data=st.data())
    def part(self, i, j, k, data):
        n = len(self.oracle[i:j:k])
        self.both(set_part, i, j, k, data.draw(st.binary(min_size=n, max_size=n)))
        if k != 1:
            self.both(set_part, i, j, k, b"x" * (n + 1))

    @rule(i=st.integers(0, 12))
    def rotate(self, i):
        self.both(swap_parts, min(i, len(self.oracle)))

    @rule()
    def reverse(self):
        self.both(turn)

    @rule(x=st.integers(-1, 256), i=st.integers(-13, 13))
    def one(self, x, i):
        self.both(add, x)
        self.both(put_in, i, x)
        self.both(take_first, x)

    @rule(xs=st.binary(max_size=5), n=st.integers(-1, 2))
    def several(self, xs, n):
        self.both(add_all, xs)
        if len(self.oracle) < 100:
            self.both(repeat, n)

    @rule(i=st.integers(-13, 13))
    def pop(self, i):
        self.both(take_out, i)

    @rule(i=st.integers(-13, 13), j=st.integers(-13, 13), k=st.sampled_from([-2, -1, 1, 2, 3]))
    def remove(self, i, j, k):
        self.both(delete, i, j, k)

    @rule(i=st.integers(-13, 13), j=st.integers(-13, 13), x=st.binary(max_size=6))
    def splice(self, i, j, x):
        self.both(replace, i, j, x)

    @rule(i=st.integers(-13, 13), j=st.integers(-13, 13), x=st.integers(-1, 256))
    def query(self, i, j, x):
        self.both(look, i, j, x)

    @invariant()
    def same(self):
        assert getattr(self, "own", None) == getattr(self, "oracle", None)


TestBytearrays = Bytearrays.TestCase
TestBytearrays.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)


BINARY = {
    "find": lambda b, p, n: b.find(p, n),
    "find of a number": lambda b, p, n: b.find(n + 194),
    "rfind": lambda b, p, n: b.rfind(p, n),
    "index": lambda b, p, n: b.index(p),
    "rindex": lambda b, p, n: b.rindex(p),
    "count": lambda b, p, n: b.count(p, n),
    "startswith": lambda b, p, n: b.startswith(p, n),
    "endswith": lambda b, p, n: b.endswith(p, 0, n),
    "replace": lambda b, p, n: b.replace(p, b"\xff-", n),
    "split": lambda b, p, n: b.split(p, n),
    "rsplit": lambda b, p, n: b.rsplit(p, n),
    "partition": lambda b, p, n: b.partition(p),
    "rpartition": lambda b, p, n: b.rpartition(p),
    "strip": lambda b, p, n: b.strip(p),
    "lstrip": lambda b, p, n: b.lstrip(p),
    "rstrip": lambda b, p, n: b.rstrip(),
    "removeprefix": lambda b, p, n: b.removeprefix(p),
    "removesuffix": lambda b, p, n: b.removesuffix(p),
    "center": lambda b, p, n: b.center(n * 5, b"\xc3"),
    "ljust": lambda b, p, n: b.ljust(n * 5, b"\x80"),
    "rjust": lambda b, p, n: b.rjust(n * 5),
    "zfill": lambda b, p, n: b.zfill(n * 5),
    "times": lambda b, p, n: b * n,
    "decode": lambda b, p, n: b.decode("latin-1"),
    "hash": lambda b, p, n: hash(bytes(b)),
}


@pytest.mark.parametrize("name", BINARY, ids=str)
def test_methods_of_bytes_beyond_ascii(name):
    method, draw = BINARY[name], random.Random(name)
    compiled = njit(method)
    alphabets = b"ab -+\t", bytes([0xC3, 0xA9, 0x2D, 0xAD, 0x80, 0x20, 0xFF, 0xED, 0xA0])
    for _ in range(100):
        letters = draw.choice(alphabets)
        b, part = (bytes(draw.choices(letters, k=draw.randrange(most))) for most in (14, 3))
        for made in (bytes, bytearray):
            outcomes, n = [], draw.choice([-1, 0, 1, 2, 3])
            for f in (method, compiled):
                try:
                    answer = f(made(b), part, n)
                    outcomes.append((answer, type(answer), repr(answer)))
                except ValueError:
                    outcomes.append("ValueError")
            assert outcomes[0] == outcomes[1], (b, part, n)
