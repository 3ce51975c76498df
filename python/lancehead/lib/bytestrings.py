"""Methods of `bytes`. Those that do not depend on letters call `str`'s, on characters with the same numbers."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.coding import bytes_repr, decoded, encoded, memory_of, text_of_bytes
from lancehead.lib.conversions import check_flag, index_of, text_of_argument
from lancehead.lib.percent import percent_of_bytes

_SPACE = (9, 10, 11, 12, 13, 32)


def _part(x):
    # The characters of a part that is looked for, which may be a single byte.
    if prim.is_int(x):
        if x < 0 or x > 255:
            raise ValueError("byte must be in range(0, 256)")
        one = np.empty(1, np.uint8)
        one[0] = x
        return prim.lh_str_over_bytes(prim.owner(one), prim.data(one), 1)
    return _characters(x)


def _characters(x):
    # The bytes as characters of one byte each, for functions that find all of them by their index.
    a = _memory(x)
    c = a if prim.is_frozen(x) and prim.layout(a) == "C" else a.copy()
    return prim.lh_str_over_bytes(prim.owner(c), prim.data(c), c.size)


def _text(x):
    # The text of the characters with these numbers.
    return text_of_bytes(_memory(x))


def _memory(x):
    # The array of bytes that are an argument.
    if not prim.is_bytes(x):
        prim.error(x, "bytes are needed here")
    return prim.bytes_array(x)


def _filling(x, method):
    if len(_memory(x)) != 1:
        kind = "bytes" if prim.is_frozen(x) else "bytearray"
        raise TypeError(method + "() argument 2 must be a byte string of length 1, not " + kind)
    return _characters(x)


def _like(self, s):
    # The bytes of a text, of the same class.
    return _as(self, memory_of(s))


def _as(self, a):
    return prim.bytes_of(a) if prim.is_frozen(self) else prim.bytearray_of(a)


def _between(self, begin, end):
    # Some of the bytes, of the same class. Those that do not change share their memory.
    a = prim.bytes_array(self)[begin:end]
    return prim.bytes_of(a) if prim.is_frozen(self) else prim.bytearray_of(a.copy())


def _separator(x):
    if len(_memory(x)) == 0:
        raise ValueError("empty separator")
    return _characters(x)


def _cut(self, sep, at):
    # The parts around a separator at a place; there is none at the end.
    n, size = len(self), len(_memory(sep))
    is_found = at + size <= n
    middle = _between(self, at, at + size if is_found else at)
    return _between(self, 0, at), middle, _between(self, at + size if is_found else n, n)


def _value_of_digit(c):
    if 48 <= c <= 57:
        return c - 48
    if 97 <= c <= 102:
        return c - 87
    if 65 <= c <= 70:
        return c - 55
    return -1


def _is_letter(b):
    return (b >= 65 and b <= 90) or (b >= 97 and b <= 122)


def _is_upper(b):
    return b >= 65 and b <= 90


def _is_lower(b):
    return b >= 97 and b <= 122


def _is_digit(b):
    return b >= 48 and b <= 57


def _is_space(b):
    return b == 32 or (b >= 9 and b <= 13)


def _all(self, test):
    a = prim.bytes_array(self)
    for b in a:
        if not test(b):
            return False
    return a.size > 0


def _cased(self, test, other):
    # Whether there are letters of one case, and none of the other.
    found = False
    for b in prim.bytes_array(self):
        if other(b):
            return False
        found = found or test(b)
    return found


def _mapped(self, change):
    a = prim.bytes_array(self)
    out = np.empty(a.size, np.uint8)
    before = False
    for i in range(a.size):
        b = a[i]
        out[i] = change(b, i, before)
        before = _is_letter(b)
    return _as(self, out)


def _upper(b, i, before):
    return b - 32 if _is_lower(b) else b


def _lower(b, i, before):
    return b + 32 if _is_upper(b) else b


def _swapped(b, i, before):
    return _upper(b, i, before) if _is_lower(b) else _lower(b, i, before)


def _titled(b, i, before):
    return _lower(b, i, before) if before else _upper(b, i, before)


def _capital(b, i, before):
    return _upper(b, i, before) if i == 0 else _lower(b, i, before)


def _made(source, message="bytes must be in range(0, 256)"):
    # A new array of the bytes that `bytes(source)` consists of.
    if prim.is_bytes(source):
        return prim.bytes_array(source).copy()
    if prim.is_str(source):
        raise TypeError("string argument without an encoding")
    if prim.is_int(source):
        if source < 0:
            raise ValueError("negative count")
        return np.zeros(source, np.uint8)
    if prim.is_array(source) and source.ndim == 0 and prim.is_int(prim.dtype_of(source)):
        return _made(source.item())
    if prim.is_array(source):
        return np.frombuffer(source.copy(), np.uint8)
    values = [index_of(x) for x in source]
    out = np.empty(len(values), np.uint8)
    for i, x in enumerate(values):
        if x < 0 or x > 255:
            raise ValueError(message)
        out[i] = x
    return out


def _codes(s):
    # The numbers of characters, those from 255 on as 255.
    if s.isascii():
        return memory_of(s)
    codes = np.empty(len(s), np.uint8)
    for i, c in enumerate(s):
        codes[i] = min(ord(c), 255)
    return codes


def _of_digits(string):
    # The bytes with these digits to the base 16.
    codes = _codes(text_of_argument(string))
    out = np.empty(codes.size // 2, np.uint8)
    n, high = 0, -1
    for i in range(codes.size):
        c = int(codes[i])
        if _is_space(c) and high < 0:
            continue
        d = _value_of_digit(c)
        if d < 0:
            raise ValueError("non-hexadecimal number found in fromhex() arg at position " + str(i))
        if high < 0:
            high = d
        else:
            out[n] = 16 * high + d
            n += 1
            high = -1
    if high >= 0:
        raise ValueError("non-hexadecimal number found in fromhex() arg at position " + str(len(string)))
    return out[:n].copy()


def _hex(a, sep, group):
    digits = _hex_digits(a)
    if sep is ...:
        return digits
    if sep is None:
        raise TypeError("object of type 'NoneType' has no len()")
    between = sep if prim.is_str(sep) else _text(sep)
    if len(between) != 1:
        raise ValueError("sep must be length 1.")
    if not between.isascii():
        raise ValueError("sep must be ASCII.")
    if group == 0 or a.size == 0:
        return digits
    size = 2 * abs(group)
    # Groups are counted from the right, unless the number says otherwise.
    first = size if group < 0 else (len(digits) - 1) % size + 1
    parts = [prim.lh_str_slice(digits, 0, first)]
    for i in range(first, len(digits), size):
        parts.append(prim.lh_str_slice(digits, i, i + size))
    return between.join(parts)


def _hex_digits(a):
    out = np.empty(2 * a.size, np.uint8)
    for i in range(a.size):
        out[2 * i] = _digit_of(a[i] >> 4)
        out[2 * i + 1] = _digit_of(a[i] & 15)
    return text_of_bytes(out)


def _digit_of(i):
    return i + 48 if i < 10 else i + 87


def _put(out, at, a):
    for i in range(a.size):
        out[at + i] = a[i]
    return at + a.size


def has_byte(a, x):
    """Whether a number is among those of bytes."""
    if x < 0 or x > 255:
        raise ValueError("byte must be in range(0, 256)")
    for b in a:
        if b == x:
            return True
    return False


def _parts(self, texts, gap):
    # The parts that texts are, between which there is a separator of so many bytes.
    parts = [_between(self, 0, 0) for _ in range(0)]
    at = 0
    for s in texts:
        parts.append(_between(self, at, at + len(s)))
        at += len(s) + gap
    return parts


class bytes:
    """Methods of `bytes`."""

    def __new__(source=0, encoding=None, errors="strict"):
        """Bytes of a number of zeros, of numbers, of memory, or of a text in an encoding.

        >>> bytes([97, 98])
        b'ab'
        """
        if encoding is not None:
            return prim.bytes_of(encoded(source, encoding, errors))
        return prim.bytes_of(_made(source))

    def __len__(self):
        """Number of bytes."""
        return prim.bytes_array(self).size

    def __hash__(self):
        """The hash of the bytes."""
        if not prim.is_frozen(self):
            prim.error(self, "a `bytearray` has no hash")
        return prim.lh_str_hash(_characters(self))

    def __mul__(self, n):
        """The bytes several times.

        >>> b"ab" * 2
        b'abab'
        """
        return _like(self, prim.lh_str_repeat(_characters(self), index_of(n)))

    def __rmul__(self, n):
        """The bytes several times."""
        return self * n

    def __str__(self):
        """The text of a display of the bytes."""
        return bytes_repr(self)

    def __repr__(self):
        """The text of a display of the bytes."""
        return bytes_repr(self)

    def decode(self, encoding="utf-8", errors="strict"):
        """The text in an encoding: UTF-8, ASCII or Latin-1.

        >>> b"ab".decode()
        'ab'
        """
        return decoded(prim.bytes_array(self), encoding, errors)

    def hex(self, sep=..., bytes_per_sep=1):
        """The digits of the bytes to the base 16, in groups if there is a separator.

        >>> b"abc".hex()
        '616263'
        >>> b"abc".hex("-", 2)
        '61-6263'
        """
        return _hex(prim.bytes_array(self), sep, index_of(bytes_per_sep))

    @staticmethod
    def fromhex(string, /):
        """The bytes with these digits to the base 16.

        >>> bytes.fromhex("61 62")
        b'ab'
        """
        return prim.bytes_of(_of_digits(string))

    def __mod__(self, args):
        """Old-style formatting.

        >>> b"%d-%s" % (3, b"ab")
        b'3-ab'
        """
        if prim.is_a(args, "builtins.dict"):
            prim.error("`%` of bytes and a dictionary is not supported")
        if prim.is_a(args, "tuples.tuple"):
            prim.error("`%` of bytes takes a tuple whose length is known")
        return _like(self, percent_of_bytes(_text(self), args if prim.is_tuple(args) else (args,)))

    def translate(self, table, /, delete=b""):
        """The bytes that a table of 256 has for them, without some.

        >>> b"abc".translate(bytes.maketrans(b"ab", b"xy"), b"c")
        b'xy'
        """
        removed = np.zeros(256, np.bool_)
        for x in _memory(delete):
            removed[x] = True
        if table is not None and _memory(table).size != 256:
            raise ValueError("translation table must be 256 characters long")
        a = prim.bytes_array(self)
        out = np.empty(a.size, np.uint8)
        n = 0
        for x in a:
            if not removed[x]:
                out[n] = x if table is None else _memory(table)[x]
                n += 1
        return _as(self, out[:n].copy())

    @staticmethod
    def maketrans(frm, to, /):
        """A table for `translate`, for bytes that correspond.

        >>> b"abc".translate(b"".maketrans(b"a", b"x"))
        b'xbc'
        """
        if _memory(frm).size != _memory(to).size:
            raise ValueError("maketrans arguments must have same length")
        table = np.arange(256).astype(np.uint8)
        for x, y in zip(_memory(frm), _memory(to)):
            table[x] = y
        return prim.bytes_of(table)

    def find(self, sub, start=0, end=None, /):
        """Index of the first occurrence, or -1.

        >>> b"abc".find(b"c")
        2
        """
        return _characters(self).find(_part(sub), start, end)

    def rfind(self, sub, start=0, end=None, /):
        """Index of the last occurrence, or -1.

        >>> b"abab".rfind(b"a")
        2
        """
        return _characters(self).rfind(_part(sub), start, end)

    def index(self, sub, start=0, end=None, /):
        """Index of the first occurrence.

        >>> b"abc".index(99)
        2
        """
        i = _characters(self).find(_part(sub), start, end)
        if i < 0:
            raise ValueError("subsection not found")
        return i

    def rindex(self, sub, start=0, end=None, /):
        """Index of the last occurrence.

        >>> b"abab".rindex(b"b")
        3
        """
        i = _characters(self).rfind(_part(sub), start, end)
        if i < 0:
            raise ValueError("subsection not found")
        return i

    def count(self, sub, start=0, end=None, /):
        """Number of occurrences that do not overlap.

        >>> b"abab".count(b"ab")
        2
        """
        return _characters(self).count(_part(sub), start, end)

    def startswith(self, prefix, start=0, end=None, /):
        """Whether the bytes begin with others, or some of several.

        >>> b"abc".startswith(b"ab")
        True
        """
        if prim.is_tuple(prefix):
            index_of(start)
            for p in prefix:
                if self.startswith(p, start, end):
                    return True
            return False
        return _characters(self).startswith(_characters(prefix), start, end)

    def endswith(self, suffix, start=0, end=None, /):
        """Whether the bytes end with others, or some of several.

        >>> b"abc".endswith(b"bc")
        True
        """
        if prim.is_tuple(suffix):
            index_of(start)
            for p in suffix:
                if self.endswith(p, start, end):
                    return True
            return False
        return _characters(self).endswith(_characters(suffix), start, end)

    def replace(self, old, new, count=-1, /):
        """The bytes with occurrences replaced.

        >>> b"a-b".replace(b"-", b"+")
        b'a+b'
        """
        if len(_memory(old)) == 0:
            return _like(self, _text(self).replace("", _text(new), count))
        return _like(self, _characters(self).replace(_characters(old), _characters(new), count))

    def split(self, sep=None, maxsplit=-1):
        """Parts between separators; by default, between runs of white space.

        >>> b"a,b".split(b",")
        [b'a', b'b']
        """
        if sep is None:
            return _split_space(self, index_of(maxsplit))
        return _parts(self, _characters(self).split(_characters(sep), maxsplit), len(_memory(sep)))

    def rsplit(self, sep=None, maxsplit=-1):
        """Parts between separators, cut from the right; by default, between runs of white space.

        >>> b"a,b,c".rsplit(b",", 1)
        [b'a,b', b'c']
        """
        if sep is None:
            return _rsplit_space(self, index_of(maxsplit))
        return _parts(self, _characters(self).rsplit(_characters(sep), maxsplit), len(_memory(sep)))

    def splitlines(self, keepends=False):
        """The lines, by default without what ends them.

        >>> b"a\\nb".splitlines()
        [b'a', b'b']
        """
        check_flag(keepends)
        a = prim.bytes_array(self)
        parts = [_between(self, 0, 0) for _ in range(0)]
        at, n = 0, a.size
        while at < n:
            end = at
            while end < n and a[end] != 10 and a[end] != 13:
                end += 1
            following = end + 2 if end + 1 < n and a[end] == 13 and a[end + 1] == 10 else min(end + 1, n)
            parts.append(_between(self, at, following if keepends else end))
            at = following
        return parts

    def partition(self, sep, /):
        """The bytes before the first separator, the separator, and the rest.

        >>> b"a-b".partition(b"-")
        (b'a', b'-', b'b')
        """
        at = _characters(self).find(_separator(sep))
        return _cut(self, sep, at if at >= 0 else len(self))

    def rpartition(self, sep, /):
        """The bytes before the last separator, the separator, and the rest.

        >>> b"a-b-c".rpartition(b"-")
        (b'a-b', b'-', b'c')
        """
        at = _characters(self).rfind(_separator(sep))
        if at < 0:
            return _between(self, 0, 0), _between(self, 0, 0), _between(self, 0, len(self))
        return _cut(self, sep, at)

    def strip(self, chars=None, /):
        """The bytes without some at both ends.

        >>> b" a ".strip()
        b'a'
        """
        return _stripped(self, chars, True, True)

    def lstrip(self, chars=None, /):
        """The bytes without some at the beginning.

        >>> b" a ".lstrip()
        b'a '
        """
        return _stripped(self, chars, True, False)

    def rstrip(self, chars=None, /):
        """The bytes without some at the end.

        >>> b" a ".rstrip()
        b' a'
        """
        return _stripped(self, chars, False, True)

    def removeprefix(self, prefix, /):
        """The bytes without a beginning.

        >>> b"abc".removeprefix(b"a")
        b'bc'
        """
        return _between(self, len(_memory(prefix)) if self.startswith(prefix) else 0, len(self))

    def removesuffix(self, suffix, /):
        """The bytes without an end.

        >>> b"abc".removesuffix(b"c")
        b'ab'
        """
        return _between(self, 0, len(self) - (len(_memory(suffix)) if self.endswith(suffix) else 0))

    def join(self, iterable, /):
        """The parts with these bytes between them.

        >>> b",".join([b"a", b"b"])
        b'a,b'
        """
        parts = [_memory(part) for part in iterable]
        between = prim.bytes_array(self)
        size = between.size * max(len(parts) - 1, 0)
        for part in parts:
            size += part.size
        out = np.empty(size, np.uint8)
        at = 0
        for i, part in enumerate(parts):
            if i > 0:
                at = _put(out, at, between)
            at = _put(out, at, part)
        return _as(self, out)

    def center(self, width, fillchar=b" ", /):
        """The bytes in the middle of so many.

        >>> b"a".center(3)
        b' a '
        """
        return _like(self, _characters(self).center(width, _filling(fillchar, "center")))

    def ljust(self, width, fillchar=b" ", /):
        """The bytes at the beginning of so many.

        >>> b"a".ljust(3)
        b'a  '
        """
        return _like(self, _characters(self).ljust(width, _filling(fillchar, "ljust")))

    def rjust(self, width, fillchar=b" ", /):
        """The bytes at the end of so many.

        >>> b"a".rjust(3)
        b'  a'
        """
        return _like(self, _characters(self).rjust(width, _filling(fillchar, "rjust")))

    def zfill(self, width, /):
        """The bytes with zeros before them, after the sign.

        >>> b"-5".zfill(4)
        b'-005'
        """
        a = prim.bytes_array(self)
        sign = 1 if a.size > 0 and (a[0] == 43 or a[0] == 45) else 0
        n = index_of(width)
        return _like(self, prim.lh_str_pad(_characters(self), sign, n - a.size if n > a.size else 0, 0, "0"))

    def expandtabs(self, tabsize=8):
        """The bytes with blanks in place of tabulators.

        >>> b"a\\tb".expandtabs(4)
        b'a   b'
        """
        return _like(self, _text(self).expandtabs(tabsize))

    def upper(self):
        """The bytes with ASCII letters in capitals.

        >>> b"ab".upper()
        b'AB'
        """
        return _mapped(self, _upper)

    def lower(self):
        """The bytes with small ASCII letters.

        >>> b"AB".lower()
        b'ab'
        """
        return _mapped(self, _lower)

    def swapcase(self):
        """The bytes with ASCII letters of the other case.

        >>> b"aB".swapcase()
        b'Ab'
        """
        return _mapped(self, _swapped)

    def title(self):
        """The bytes with a capital at the beginning of each word of ASCII letters.

        >>> b"ab cd".title()
        b'Ab Cd'
        """
        return _mapped(self, _titled)

    def capitalize(self):
        """The bytes with a capital first, and small ASCII letters after it.

        >>> b"aB".capitalize()
        b'Ab'
        """
        return _mapped(self, _capital)

    def isalpha(self):
        """Whether there are bytes, all of which are ASCII letters."""
        return _all(self, _is_letter)

    def isdigit(self):
        """Whether there are bytes, all of which are digits."""
        return _all(self, _is_digit)

    def isalnum(self):
        """Whether there are bytes, all of which are ASCII letters or digits."""
        return _all(self, lambda b: _is_letter(b) or _is_digit(b))

    def isspace(self):
        """Whether there are bytes, all of which are ASCII white space."""
        return _all(self, _is_space)

    def isascii(self):
        """Whether all bytes are below 128."""
        for b in prim.bytes_array(self):
            if b > 127:
                return False
        return True

    def isupper(self):
        """Whether there are ASCII capitals and no small letters."""
        return _cased(self, _is_upper, _is_lower)

    def islower(self):
        """Whether there are small ASCII letters and no capitals."""
        return _cased(self, _is_lower, _is_upper)

    def istitle(self):
        """Whether each word of ASCII letters begins with the only capital in it."""
        found, before = False, False
        for b in prim.bytes_array(self):
            if _is_upper(b) == before and _is_letter(b):
                return False
            before = _is_letter(b)
            found = found or before
        return found


def _stripped(self, chars, left, right):
    a = prim.bytes_array(self)
    is_out = np.zeros(256, np.bool_)
    for c in _SPACE if chars is None else _memory(chars):
        is_out[c] = True
    begin, end = 0, a.size
    while left and begin < end and is_out[a[begin]]:
        begin += 1
    while right and begin < end and is_out[a[end - 1]]:
        end -= 1
    return _between(self, begin, end)


def _split_space(self, cuts):
    a = prim.bytes_array(self)
    n = a.size
    parts = [_between(self, 0, 0) for _ in range(0)]
    at = 0
    while True:
        while at < n and _is_space(a[at]):
            at += 1
        if at == n:
            return parts
        if cuts == 0:
            parts.append(_between(self, at, n))
            return parts
        end = at
        while end < n and not _is_space(a[end]):
            end += 1
        parts.append(_between(self, at, end))
        at = end
        cuts -= 1


def _rsplit_space(self, cuts):
    a = prim.bytes_array(self)
    n = a.size
    parts = [_between(self, 0, 0) for _ in range(0)]
    while True:
        while n > 0 and _is_space(a[n - 1]):
            n -= 1
        if n == 0:
            break
        begin = n
        while begin > 0 and (cuts == 0 or not _is_space(a[begin - 1])):
            begin -= 1
        while cuts == 0 and _is_space(a[begin]):
            begin += 1
        parts.append(_between(self, begin, n))
        if cuts == 0:
            break
        n = begin
        cuts -= 1
    parts.reverse()
    return parts
