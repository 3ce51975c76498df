"""Cases of `python_sweep.py`: texts, bytes and formatting."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

#: A name, a function and its arguments.
Case = tuple[str, Callable[..., Any], tuple[Any, ...]]
RNG = random.Random(1)
WORD = "the quick Brown fox jumps over a lazy dog and RUNS away from 17 other small animals"
TEXT = " ".join(RNG.choice(WORD.split()) for _ in range(400))
LINES = "\n".join(TEXT[i : i + 40] for i in range(0, len(TEXT), 40))
TABS = TEXT.replace(" ", "\t")
LETTERS = TEXT.replace(" ", "").replace("17", "")
WORDS = TEXT.split()
FIELDS = ["  " + word + " \n" for word in WORDS]
NUMBERS = [str(RNG.randrange(-(10**6), 10**6)) for _ in range(1000)]
DECIMALS = [repr(RNG.random()) for _ in range(1000)]
ACCENTS = TEXT.replace("a", "é").replace("o", "ü")
GREEK = "".join(chr(0x3B1 + ord(c) % 24) if c.isalpha() else c for c in TEXT)
ROWS = [f"a={i};b={i * i}" for i in range(300)]
INTS = [RNG.randrange(-(10**9), 10**9) for _ in range(1000)]
SMALL = [i % 10 for i in INTS]
FLOATS = [RNG.gauss(0.0, 10.0) for _ in range(1000)]
BYTES = TEXT.encode()


def texts() -> Iterator[Case]:
    """Methods of one long text."""
    s = (TEXT,)
    yield "s.upper()", lambda s: s.upper(), s
    yield "s.lower()", lambda s: s.lower(), s
    yield "s.title()", lambda s: s.title(), s
    yield "s.swapcase()", lambda s: s.swapcase(), s
    yield "s.capitalize()", lambda s: s.capitalize(), s
    yield "s.casefold()", lambda s: s.casefold(), s
    yield "s.split()", lambda s: s.split(), s
    yield "s.split(sep)", lambda s: s.split(" "), s
    yield "s.rsplit()", lambda s: s.rsplit(), s
    yield "s.splitlines()", lambda s: s.splitlines(), (LINES,)
    yield "s.splitlines(True)", lambda s: s.splitlines(True), (LINES,)
    yield "s.expandtabs()", lambda s: s.expandtabs(), (TABS,)
    yield "s.replace(c, d)", lambda s: s.replace("o", "0"), s
    yield "s.replace(word)", lambda s: s.replace("fox", "cat"), s
    yield "s.replace(c, '')", lambda s: s.replace(" ", ""), s
    yield "s.translate", lambda s: s.translate({97: 65, 101: 69}), s
    yield "s.center", lambda s: s.center(4000), s
    yield "s.ljust", lambda s: s.ljust(4000), s
    yield "s.rjust", lambda s: s.rjust(4000, "."), s
    yield "s.zfill", lambda s: s.zfill(4000), s
    yield "s.strip()", lambda s: s.strip(), ("  " * 500 + TEXT + "  " * 500,)
    yield "s.strip(chars)", lambda s: s.strip("xyz"), ("xyz" * 500 + TEXT + "xyz" * 500,)
    yield "s.isalpha()", lambda s: s.isalpha(), (LETTERS,)
    yield "s.isalnum()", lambda s: s.isalnum(), (LETTERS,)
    yield "s.isprintable()", lambda s: s.isprintable(), s
    yield "s.isidentifier()", lambda s: s.isidentifier(), (LETTERS,)
    yield "s.isdigit()", lambda s: s.isdigit(), ("0123456789" * 100,)
    yield "s.isnumeric()", lambda s: s.isnumeric(), ("0123456789" * 100,)
    yield "s.isspace()", lambda s: s.isspace(), (" \t" * 500,)
    yield "s.islower()", lambda s: s.islower(), (TEXT.lower(),)
    yield "s.isupper()", lambda s: s.isupper(), (TEXT.upper(),)
    yield "s.istitle()", lambda s: s.istitle(), (TEXT.title(),)
    yield "s.isascii()", lambda s: s.isascii(), s
    yield "s.encode()", lambda s: s.encode(), s
    yield "s[::-1]", lambda s: s[::-1], s
    yield "s[::2]", lambda s: s[::2], s
    yield "s * 10", lambda s: s * 10, s
    yield "s + s", lambda s: s + s, s
    yield "repr(s)", lambda s: repr(s), s
    yield "hash(s)", lambda s: hash(s), s
    yield "len(s)", lambda s: len(s), s
    yield "s == s", lambda s, t: s == t, (TEXT, TEXT[:-1] + "g")
    yield "'part' in s", lambda s: "zebra" in s, s


def searches() -> Iterator[Case]:
    """Parts of one long text, and its ends."""
    s = (TEXT,)
    yield "s.find", lambda s: s.find("zebra"), s
    yield "s.rfind", lambda s: s.rfind("zebra"), s
    yield "s.count(c)", lambda s: s.count("o"), s
    yield "s.count(word)", lambda s: s.count("fox"), s
    yield "s.index", lambda s: s.index("17"), s
    yield "s.rindex", lambda s: s.rindex("17"), s
    yield "s.startswith", lambda s: s.startswith("zebra"), s
    yield "s.removeprefix", lambda s: s.removeprefix(s[:9]), s
    yield "s.removesuffix", lambda s: s.removesuffix(s[-9:]), s
    yield "s.rpartition", lambda s: s.rpartition("17"), s
    yield "s.rsplit(sep, 9)", lambda s: s.rsplit(" ", 9), s
    yield "s.lstrip(chars)", lambda s: s.lstrip("xyz"), ("xyz" * 500 + TEXT,)
    yield "s.rstrip()", lambda s: s.rstrip(), (TEXT + "  " * 500,)
    yield "s.isdecimal()", lambda s: s.isdecimal(), ("0123456789" * 100,)
    yield "s.join(s)", lambda s: ",".join(s), s
    yield "s.replace(c, word)", lambda s: s.replace("o", "[o]"), s
    yield "s.partition", lambda s: s.partition("17"), s


def wide_texts() -> Iterator[Case]:
    """Texts that are not ASCII."""
    for name, text in (("Latin", ACCENTS), ("Greek", GREEK)):
        s = (text,)
        yield f"{name}: upper", lambda s: s.upper(), s
        yield f"{name}: lower", lambda s: s.lower(), s
        yield f"{name}: title", lambda s: s.title(), s
        yield f"{name}: split", lambda s: s.split(), s
        yield f"{name}: replace", lambda s: s.replace("e", "é"), s
        yield f"{name}: s[::-1]", lambda s: s[::-1], s
        yield f"{name}: characters", characters, s
        yield f"{name}: len of slices", lambda s: sum([len(s[i : i + 7]) for i in range(0, len(s), 5)]), s
        yield f"{name}: encode", lambda s: s.encode(), s
        yield f"{name}: isalpha", lambda s: s.isalpha(), (text.replace(" ", "").replace("17", ""),)
        yield f"{name}: find", lambda s: s.find("zebra"), s
        yield f"{name}: ord", lambda s: sum([ord(c) for c in s]), s


def characters(s: str) -> int:
    """Vowels of a text."""
    n = 0
    for c in s:
        if c in "aeiou":
            n += 1
    return n


def indexed(s: str) -> int:
    """Blanks of a text, by index."""
    n = 0
    for i in range(len(s)):
        if s[i] == " ":
            n += 1
    return n


def grown(s: str) -> str:
    """A text made by its characters."""
    out = ""
    for c in s:
        out += c
    return out


def put_before(s: str) -> str:
    """A text turned round."""
    out = ""
    for c in s:
        out = c + out
    return out


def palindromes(words: list[str]) -> int:
    """Words that are the same backwards."""
    n = 0
    for w in words:
        if w == w[::-1]:
            n += 1
    return n


def caesar(s: str) -> str:
    """Letters moved by three."""
    out = ""
    for c in s:
        if c.islower():
            out += chr((ord(c) - 97 + 3) % 26 + 97)
        else:
            out += c
    return out


def frequencies(s: str) -> dict[str, int]:
    """How often every character is there."""
    found: dict[str, int] = {}
    for c in s:
        found[c] = found.get(c, 0) + 1
    return found


def short_texts() -> Iterator[Case]:
    """Characters, and methods of many short texts."""
    s, w = (TEXT,), (WORDS,)
    yield "for c in s", characters, s
    yield "s[i]", indexed, s
    yield "out += c", grown, s
    yield "out = c + out", put_before, (TEXT[:500],)
    yield "chr, ord", caesar, s
    yield "d[c] += 1", frequencies, s
    yield "list(s)", lambda s: list(s), s
    yield "set(s)", lambda s: set(s), s
    yield "sorted(s)", lambda s: sorted(s), s
    yield "''.join(sorted(s))", lambda s: "".join(sorted(s)), s
    yield "''.join(reversed(s))", lambda s: "".join(reversed(s)), s
    yield "max(s)", lambda s: max(s), s
    yield "enumerate(s)", lambda s: [i for i, c in enumerate(s) if c == "o"], s
    yield "c.isalpha()", lambda s: sum([c.isalpha() for c in s]), s
    yield "c.upper()", lambda s: "".join([c.upper() for c in s]), s
    yield "c.isdigit()", lambda s: "".join([c for c in s if not c.isdigit()]), s
    yield "ord(c)", lambda s: [ord(c) for c in s], s
    yield "chr(i)", lambda n: "".join([chr(32 + i % 90) for i in range(n)]), (1000,)
    yield "zip(s, t)", lambda s, t: sum([a == b for a, b in zip(s, t)]), (TEXT, TEXT[::-1])
    yield "palindromes", palindromes, w
    for method in ("upper", "lower", "title", "swapcase", "capitalize", "casefold", "isalpha", "isdigit", "islower"):
        method_of = operator_of(method)
        yield f"[w.{method}()]", method_of, w
    yield "[w.strip()]", lambda words: [w.strip() for w in words], (FIELDS,)
    yield "[w.lstrip(chars)]", lambda words: [w.lstrip(" t") for w in words], (FIELDS,)
    yield "[w.center(12)]", lambda words: [w.center(12) for w in words], w
    yield "[w.zfill(8)]", lambda words: [w.zfill(8) for w in words], (NUMBERS,)
    yield "[w.rjust(8, '.')]", lambda words: [w.rjust(8, ".") for w in words], w
    yield "[w.encode()]", lambda words: [w.encode() for w in words], w
    yield "[w.replace]", lambda words: [w.replace("o", "00") for w in words], w
    yield "[w.split(';')]", lambda rows: [len(r.split(";")) for r in rows], (ROWS,)
    yield "[w.partition]", lambda rows: [r.partition("=")[2] for r in rows], (ROWS,)
    yield "[w.rpartition]", lambda rows: [r.rpartition("=")[2] for r in rows], (ROWS,)
    yield "[w.rfind('o')]", lambda words: [w.rfind("o") for w in words], w
    yield "[w.removeprefix]", lambda words: [w.removeprefix("qu") for w in words], w
    yield "[w.ljust(12)]", lambda words: [w.ljust(12) for w in words], w
    yield "[w.expandtabs()]", lambda words: [w.expandtabs() for w in words], (FIELDS,)
    yield "[w[1:-1]]", lambda words: [w[1:-1] for w in words], w
    yield "[w[::-1]]", lambda words: [w[::-1] for w in words], w
    yield "[len(w)]", lambda words: [len(w) for w in words], w
    yield "[w + '!']", lambda words: [w + "!" for w in words], w
    yield "[w * 3]", lambda words: [w * 3 for w in words], w
    yield "[repr(w)]", lambda words: [repr(w) for w in words], w
    yield "[hash(w)]", lambda words: sum([hash(w) & 7 for w in words]), w
    yield "' '.join(words)", lambda words: " ".join(words), w
    yield "sorted(words)", lambda words: sorted(words), w
    yield "sorted(words, key=len)", lambda words: sorted(words, key=len), w
    yield "set(words)", lambda words: set(words), w
    yield "max(words)", lambda words: max(words), w
    yield "s.split() in a loop", lambda s: sum([len(w) for w in s.split()]), s
    yield "s.splitlines() in a loop", lambda s: sum([len(w) for w in s.splitlines()]), (LINES,)


def short_questions() -> Iterator[Case]:
    """Questions about many short texts."""
    w = (WORDS,)
    yield "[w.isalnum()]", lambda words: sum([w.isalnum() for w in words]), w
    yield "[w.isspace()]", lambda words: sum([w.isspace() for w in words]), w
    yield "[w.isnumeric()]", lambda words: sum([w.isnumeric() for w in words]), (NUMBERS,)
    yield "[w.istitle()]", lambda words: sum([w.istitle() for w in words]), w
    yield "[w.isidentifier()]", lambda words: sum([w.isidentifier() for w in words]), w
    yield "[w.startswith]", lambda words: [w.startswith("qu") for w in words], w
    yield "[w.endswith]", lambda words: [w.endswith(("s", "x")) for w in words], w
    yield "[w.find('o')]", lambda words: [w.find("o") for w in words], w
    yield "[w.count('o')]", lambda words: [w.count("o") for w in words], w


def operator_of(method: str) -> Callable[..., Any]:
    """A function that calls a method of every word."""
    return {
        "upper": lambda words: [w.upper() for w in words],
        "lower": lambda words: [w.lower() for w in words],
        "title": lambda words: [w.title() for w in words],
        "swapcase": lambda words: [w.swapcase() for w in words],
        "capitalize": lambda words: [w.capitalize() for w in words],
        "casefold": lambda words: [w.casefold() for w in words],
        "isalpha": lambda words: sum([w.isalpha() for w in words]),
        "isdigit": lambda words: sum([w.isdigit() for w in words]),
        "islower": lambda words: sum([w.islower() for w in words]),
    }[method]


def formatting() -> Iterator[Case]:
    """Numbers as texts, and texts as numbers."""
    i, f = (INTS,), (FLOATS,)
    yield "str(i)", lambda a: [str(x) for x in a], i
    yield "str(small)", lambda a: [str(x) for x in a], (SMALL,)
    yield "str(f)", lambda a: [str(x) for x in a], f
    yield "repr(f)", lambda a: [repr(x) for x in a], f
    yield "bin(i)", lambda a: [bin(x) for x in a], i
    yield "hex(i)", lambda a: [hex(x) for x in a], i
    yield "oct(i)", lambda a: [oct(x) for x in a], i
    yield "bin(i).count", lambda a: sum([bin(x).count("1") for x in a]), i
    yield "int(s)", lambda a: [int(x) for x in a], (NUMBERS,)
    yield "int(s, 16)", lambda a: [int(x, 16) for x in a], (NUMBERS,)
    yield "float(s)", lambda a: [float(x) for x in a], (DECIMALS,)
    yield "f'{i}'", lambda a: [f"{x}" for x in a], i
    yield "f'{i} {j}'", lambda a: [f"{x} and {x + 1}" for x in a], i
    yield "f'{i:5d}'", lambda a: [f"{x:5d}" for x in a], (SMALL,)
    yield "f'{i:x}'", lambda a: [f"{x:x}" for x in a], i
    yield "f'{i:,}'", lambda a: [f"{x:,}" for x in a], i
    yield "f'{f:.2f}'", lambda a: [f"{x:.2f}" for x in a], f
    yield "f'{f:10.3e}'", lambda a: [f"{x:10.3e}" for x in a], f
    yield "f'{f:g}'", lambda a: [f"{x:g}" for x in a], f
    yield "f'{s:>10}'", lambda a: [f"{x:>10}" for x in a], (WORDS,)
    yield "'%d' % i", lambda a: ["%d" % x for x in a], i  # noqa: UP031 - measures `%`
    yield "'%.3f' % f", lambda a: ["%.3f" % x for x in a], f  # noqa: UP031 - measures `%`
    yield "'%s=%d' % t", lambda a: ["%s=%d" % (w, len(w)) for w in a], (WORDS,)  # noqa: UP031 - measures `%`
    yield "format(i)", lambda a: ["{}".format(x) for x in a], i  # noqa: UP032 - measures `format`
    yield "format(f)", lambda a: ["{:.3f}, {:>8}".format(x, "ab") for x in a], f
    yield "repr(list)", lambda a: repr(a), i
    yield "str(dict)", lambda d: str(d), (dict(zip(WORDS, range(400))),)
    yield "chr(i)", lambda a: [chr(x + 97) for x in a], (SMALL,)
    yield "ord(c)", lambda a: [ord(x[0]) for x in a], (WORDS,)
    yield "','.join(map(str, a))", lambda a: ",".join(map(str, a)), i
    yield "','.join(str(x))", lambda a: ",".join([str(x) for x in a]), i
    yield "digits of i", lambda a: sum([sum([int(c) for c in str(abs(x))]) for x in a]), i
    yield "str(bool)", lambda a: [str(x > 0) for x in a], i
    yield "sum of split numbers", lambda s: sum([int(x) for x in s.split(",")]), (",".join(NUMBERS),)


def byte_texts() -> Iterator[Case]:
    """Methods of `bytes`."""
    b = (BYTES,)
    yield "b.upper()", lambda b: b.upper(), b
    yield "b.split()", lambda b: b.split(), b
    yield "b.replace", lambda b: b.replace(b"o", b"0"), b
    yield "b.find", lambda b: b.find(b"zebra"), b
    yield "b.count", lambda b: b.count(b"o"), b
    yield "b.decode()", lambda b: b.decode(), b
    yield "b.hex()", lambda b: b.hex(), b
    yield "b.strip()", lambda b: b.strip(), b
    yield "b.title()", lambda b: b.title(), b
    yield "b.isalpha()", lambda b: b.isalpha(), (LETTERS.encode(),)
    yield "b.startswith", lambda b: b.startswith(b"zebra"), b
    yield "b.rfind", lambda b: b.rfind(b"zebra"), b
    yield "b.partition", lambda b: b.partition(b"17"), b
    yield "b.lower()", lambda b: b.lower(), b
    yield "b.center", lambda b: b.center(4000), b
    yield "bytes.fromhex", lambda s: bytes.fromhex(s), (BYTES.hex(),)
    yield "b + b", lambda b: b + b, b
    yield "b[::-1]", lambda b: b[::-1], b
    yield "sum(b)", lambda b: sum(b), b
    yield "list(b)", lambda b: list(b), b
    yield "for x in b", lambda b: sum([x for x in b if x != 32]), b
    yield "bytes(list)", lambda a: bytes(a), (SMALL,)
    yield "bytearray", lambda b: bytearray(b), b
    yield "b.splitlines()", lambda b: b.splitlines(), (LINES.encode(),)
    yield "b.join", lambda a: b",".join(a), ([w.encode() for w in WORDS],)
    yield "b == c", lambda a, b: a == b, (BYTES, BYTES[:-1] + b"g")


GROUPS: dict[str, Callable[[], Iterator[Case]]] = {
    "texts": texts, "searches": searches, "wide texts": wide_texts, "short texts": short_texts,
    "short questions": short_questions, "formatting": formatting, "bytes": byte_texts,
}  # fmt: skip
