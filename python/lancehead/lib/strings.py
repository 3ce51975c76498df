"""Methods of `str`."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.coding import encoded
from lancehead.lib.conversions import check_flag, index_of, text_of_argument
from lancehead.lib.fields import filled
from lancehead.lib.percent import percent, percent_of_mapping
from lancehead.lib.text import text_of

#: The sides of a text, as `lh_str_strip` has them.
_LEFT, _RIGHT = 1, 2


def int_of_digits(s, base):
    """`int(s, base)`.

    >>> int("ff", 16)
    255
    >>> int("0b101", 0)
    5
    """
    b = index_of(base)
    if b != 0 and (b < 2 or b > 36):
        raise ValueError("int() base must be >= 2 and <= 36, or 0")
    return prim.lh_str_to_i64(s, b)


def _missing(width, text):
    # The difference is not taken of a width that it would wrap around.
    n = index_of(width)
    return n - len(text) if n > len(text) else 0


def _filling(fillchar):
    if len(text_of_argument(fillchar)) != 1:
        raise TypeError("The fill character must be exactly one character long")
    return fillchar


def _span(n, start, end):
    # Bounds of a part of `n` characters.
    low = 0 if start is None else index_of(start)
    high = n if end is None else index_of(end)
    low = max(low + n, 0) if low < 0 else low
    high = max(high + n, 0) if high < 0 else min(high, n)
    return low, high


def _stripped(s, chars, sides):
    if chars is None:
        return prim.lh_str_strip_space(s, sides)
    return prim.lh_str_strip(s, text_of_argument(chars), sides)


def _cut_before_space(s, n):
    # Where the last run of what is no white space before `n` begins and ends.
    while n > 0 and prim.lh_str_isspace(s[n - 1]):
        n -= 1
    begin = n
    while begin > 0 and not prim.lh_str_isspace(s[begin - 1]):
        begin -= 1
    return begin, n


def _is_translated(table, code):
    # Whether a table says something of a code point.
    if prim.is_a(table, "builtins.dict"):
        return code in table
    if not (prim.is_str(table) or prim.is_a(table, "builtins.list")):
        prim.error("`translate` takes a dictionary, a string or a list")
    return code < len(table)


def _translation(x):
    # The text that an entry of a table stands for.
    if x is None:
        return ""
    if prim.is_optional(x):
        return "" if x is None else _translation(x)
    if prim.is_str(x):
        return x
    if not prim.is_int(x):
        prim.error("a table for `translate` has integers, strings and None")
    if x < 0 or x > 1114111:
        raise ValueError("character mapping must be in range(0x110000)")
    return prim.lh_str_chr(prim.cast(x, np.int64))


def _maybe(code):
    return code if code >= 0 else None


def _table_of(x):
    # A table for `translate` whose keys are code points.
    if not prim.is_a(x, "builtins.dict"):
        prim.error("if you give only one argument to `maketrans`, it has to be a dictionary")
    if prim.is_str(prim.items_nothing(x)[1]):
        for key in x:
            if len(key) != 1:
                raise ValueError("string keys in translate table must be of length 1")
        return {ord(key): value for key, value in x.items()}
    return x.copy()


class str:
    """Methods of `str`."""

    def __new__(object="", encoding=None, errors=None):
        """Text of a value, or of bytes in an encoding.

        >>> str(12)
        '12'
        >>> str((1, 2.5))
        '(1, 2.5)'
        """
        if encoding is None and errors is None:
            return text_of(object)
        if not prim.is_bytes(object):
            prim.error("only bytes are decoded")
        return object.decode("utf-8" if encoding is None else encoding, "strict" if errors is None else errors)

    def __add__(self, other):
        """Concatenation."""
        return prim.lh_str_concat(self, other)

    def __mul__(self, n):
        """The text several times.

        >>> "ab" * 3
        'ababab'
        """
        return prim.lh_str_repeat(self, n)

    def __rmul__(self, n):
        """The text several times."""
        return self * n

    def __mod__(self, args):
        """Old-style formatting.

        >>> "%d-%.2f" % (3, 2.5)
        '3-2.50'
        """
        if prim.is_tuple(args):
            return percent(self, args)
        if prim.is_a(args, "builtins.dict"):
            return percent_of_mapping(self, args)
        if prim.is_a(args, "tuples.tuple"):
            prim.error("`%` takes a tuple whose length is known: write an f-string, or `(str(t),)` for its text")
        return percent(self, (args,))

    def __len__(self):
        """Number of code points."""
        return prim.lh_str_len(self)

    def __eq__(self, other):
        """Whether the texts are the same."""
        return prim.lh_str_eq(self, other)

    def __ne__(self, other):
        """Whether the texts differ."""
        return not prim.lh_str_eq(self, other)

    def __lt__(self, other):
        """Whether it comes first by code points."""
        return prim.lh_str_cmp(self, other) < 0

    def __le__(self, other):
        """Whether it does not come after by code points."""
        return prim.lh_str_cmp(self, other) <= 0

    def __gt__(self, other):
        """Whether it comes after by code points."""
        return prim.lh_str_cmp(self, other) > 0

    def __ge__(self, other):
        """Whether it does not come first by code points."""
        return prim.lh_str_cmp(self, other) >= 0

    def __contains__(self, part):
        """Whether the text has a part.

        >>> "bc" in "abcd"
        True
        """
        return prim.lh_str_in(part, self)

    def __getitem__(self, i):
        """A character, or those of a slice.

        >>> "abcd"[1:3]
        'bc'
        """
        if not prim.is_slice(i):
            return prim.lh_str_getitem(self, index_of(i))
        start, stop, step = i.indices(len(self))
        if step == 1:
            return prim.lh_str_slice(self, start, stop)
        return prim.lh_str_step(self, start, step, len(range(start, stop, step)))

    def startswith(self, part, start=0, end=None, /):
        """Whether the text begins with a part, or one of several.

        >>> "abc".startswith("ab")
        True
        """
        if prim.is_tuple(part) or prim.is_a(part, "tuples.tuple"):
            _span(len(self), start, end)
            for p in part:
                if self.startswith(p, start, end):
                    return True
            return False
        if not prim.is_str(part):
            prim.error("`startswith` takes a string or a tuple of strings")
        low, high = _span(len(self), start, end)
        return low + len(part) <= high and prim.lh_str_eq(prim.lh_str_slice(self, low, low + len(part)), part)

    def endswith(self, part, start=0, end=None, /):
        """Whether the text ends with a part, or one of several.

        >>> "abc".endswith("bc")
        True
        """
        if prim.is_tuple(part) or prim.is_a(part, "tuples.tuple"):
            _span(len(self), start, end)
            for p in part:
                if self.endswith(p, start, end):
                    return True
            return False
        if not prim.is_str(part):
            prim.error("`endswith` takes a string or a tuple of strings")
        low, high = _span(len(self), start, end)
        return low + len(part) <= high and prim.lh_str_eq(prim.lh_str_slice(self, high - len(part), high), part)

    def removeprefix(self, part, /):
        """The text without a beginning.

        >>> "abc".removeprefix("ab")
        'c'
        """
        text_of_argument(part)
        return prim.lh_str_slice(self, len(part), len(self)) if self.startswith(part) else self

    def removesuffix(self, part, /):
        """The text without an end.

        >>> "abc".removesuffix("bc")
        'a'
        """
        text_of_argument(part)
        return prim.lh_str_slice(self, 0, len(self) - len(part)) if self.endswith(part) else self

    def find(self, part, start=0, end=None, /):
        """Index of the first occurrence, or -1.

        >>> "abcbc".find("bc")
        1
        """
        text_of_argument(part)
        if end is None and start is not None:
            # The number of characters is not needed, and is found by counting all of them.
            at = index_of(start)
            if at >= 0:
                return prim.lh_str_find(self, part, at)
        low, high = _span(len(self), start, end)
        if low + len(part) > high:
            return -1
        i = prim.lh_str_find(self, part, low)
        return i if i >= 0 and i + len(part) <= high else -1

    def rfind(self, part, start=0, end=None, /):
        """Index of the last occurrence, or -1.

        >>> "abcbc".rfind("bc")
        3
        """
        text_of_argument(part)
        low, high = _span(len(self), start, end)
        if low + len(part) > high:
            return -1
        i = prim.lh_str_rfind(prim.lh_str_slice(self, low, high), part)
        return i + low if i >= 0 else -1

    def index(self, part, start=0, end=None, /):
        """Index of the first occurrence.

        >>> "abcbc".index("bc")
        1
        """
        i = self.find(part, start, end)
        if i < 0:
            raise ValueError("substring not found")
        return i

    def rindex(self, part, start=0, end=None, /):
        """Index of the last occurrence.

        >>> "abcbc".rindex("bc")
        3
        """
        i = self.rfind(part, start, end)
        if i < 0:
            raise ValueError("substring not found")
        return i

    def count(self, part, start=0, end=None, /):
        """Number of occurrences which do not overlap.

        >>> "aaaa".count("aa")
        2
        """
        text_of_argument(part)
        low, high = _span(len(self), start, end)
        if len(part) == 0:
            return high - low + 1 if low <= high else 0
        return prim.lh_str_count(prim.lh_str_slice(self, low, high), part) if low < high else 0

    def partition(self, sep, /):
        """The text before the first separator, the separator, and the rest.

        >>> "a-b-c".partition("-")
        ('a', '-', 'b-c')
        """
        if len(text_of_argument(sep)) == 0:
            raise ValueError("empty separator")
        i = self.find(sep)
        if i < 0:
            return self, "", ""
        return prim.lh_str_slice(self, 0, i), sep, prim.lh_str_slice(self, i + len(sep), len(self))

    def rpartition(self, sep, /):
        """The text before the last separator, the separator, and the rest.

        >>> "a-b-c".rpartition("-")
        ('a-b', '-', 'c')
        """
        if len(text_of_argument(sep)) == 0:
            raise ValueError("empty separator")
        i = self.rfind(sep)
        if i < 0:
            return "", "", self
        return prim.lh_str_slice(self, 0, i), sep, prim.lh_str_slice(self, i + len(sep), len(self))

    def replace(self, old, new, count=-1, /):
        """The text with occurrences replaced.

        >>> "a-b-c".replace("-", "+")
        'a+b+c'
        """
        return prim.lh_str_replace(self, text_of_argument(old), text_of_argument(new), index_of(count))

    def split(self, sep=None, maxsplit=-1):
        """Parts between separators; by default, between runs of white space.

        >>> "a,b".split(",")
        ['a', 'b']
        >>> " a  b ".split()
        ['a', 'b']
        """
        if sep is None:
            parts = prim.items_new("builtins.list", self, 4)
            prim.lh_str_split_space(self, index_of(maxsplit), parts)
            return parts
        if len(text_of_argument(sep)) == 0:
            raise ValueError("empty separator")
        parts = prim.items_new("builtins.list", self, 4)
        prim.lh_str_split(self, sep, index_of(maxsplit), parts)
        return parts

    def rsplit(self, sep=None, maxsplit=-1):
        """Parts between separators, cut from the right; by default, between runs of white space.

        >>> "a,b,c".rsplit(",", 1)
        ['a,b', 'c']
        """
        cuts = index_of(maxsplit)
        if cuts < 0 and (sep is None or len(text_of_argument(sep)) == 1):
            # Cuts are the same from either side.
            return self.split(sep)
        parts = prim.items_new("builtins.list", self, 4)
        end = len(self)
        if sep is None:
            begin, end = _cut_before_space(self, end)
            while end > 0 and cuts != 0:
                parts.append(prim.lh_str_slice(self, begin, end))
                cuts -= 1
                begin, end = _cut_before_space(self, begin)
            if end > 0:
                parts.append(prim.lh_str_slice(self, 0, end))
        else:
            if len(text_of_argument(sep)) == 0:
                raise ValueError("empty separator")
            rest = self
            while cuts != 0:
                at = prim.lh_str_rfind(rest, sep)
                if at < 0:
                    break
                parts.append(prim.lh_str_slice(rest, at + len(sep), end))
                rest = prim.lh_str_slice(rest, 0, at)
                end = at
                cuts -= 1
            parts.append(rest)
        parts.reverse()
        return parts

    def splitlines(self, keepends=False):
        """The lines, by default without what ends them.

        >>> "a\\nb\\r\\n".splitlines()
        ['a', 'b']
        """
        check_flag(keepends)
        parts = prim.items_new("builtins.list", self, 4)
        prim.lh_str_split_lines(self, prim.cast(bool(keepends), np.int64), parts)
        return parts

    def expandtabs(self, tabsize=8):
        """The text with blanks in place of tabulators.

        >>> "a\\tb".expandtabs(4)
        'a   b'
        """
        return prim.lh_str_expand_tabs(self, index_of(tabsize))

    def format(self, /, *args, **kwargs):
        """The text with its fields filled in.

        >>> "{}-{x:>3}".format(1, x="a")
        '1-  a'
        """
        names = prim.items_new("builtins.list", self, 4)
        for name in kwargs:
            names.append(name)
        return filled(self, args + (*kwargs.values(),), names)

    def format_map(self, mapping, /):
        """The text with its fields filled in from a dictionary.

        >>> "{a}-{b:>3}".format_map({"a": "x", "b": "y"})
        'x-  y'
        """
        if not prim.is_a(mapping, "builtins.dict"):
            prim.error("`format_map` takes a dictionary")
        return filled(self, mapping, None)

    def translate(self, table, /):
        """The text with characters replaced by those that a table has for their code points.

        >>> "abc".translate({97: 65, 98: None})
        'Ac'
        """
        parts = prim.items_new("builtins.list", self, 4)
        if prim.lh_str_isascii(self) and len(self) > 128:
            # Most texts have characters several times: each is looked up once.
            for code in range(128):
                c = prim.lh_str_chr(code)
                is_changed = _is_translated(table, code) and prim.lh_str_in(c, self)
                parts.append(_translation(table[code]) if is_changed else c)
            return prim.lh_str_mapped(self, parts)
        begin = 0
        for i, c in enumerate(self):
            code = prim.lh_str_ord(c)
            if _is_translated(table, code):
                parts.append(prim.lh_str_slice(self, begin, i))
                parts.append(_translation(table[code]))
                begin = i + 1
        parts.append(prim.lh_str_slice(self, begin, len(self)))
        return prim.lh_str_join("", parts)

    @staticmethod
    def maketrans(x, y=None, z=None, /):
        """A table for `translate`: of a dictionary, or of two texts whose characters correspond.

        >>> "abc".translate("".maketrans("ab", "xy", "c"))
        'xy'
        """
        if y is None:
            return _table_of(x)
        if len(text_of_argument(x)) != len(text_of_argument(y)):
            raise ValueError("the first two maketrans arguments must have equal length")
        if z is None:
            return {ord(a): ord(b) for a, b in zip(x, y)}
        table = {0: _maybe(0)}
        table.clear()
        for a, b in zip(x, y):
            table[ord(a)] = ord(b)
        for c in text_of_argument(z):
            table[ord(c)] = None
        return table

    def join(self, parts, /):
        """The parts with the text between.

        >>> ", ".join(["a", "b"])
        'a, b'
        """
        if not prim.is_a(parts, "builtins.list"):
            return self.join([part for part in parts])
        if prim.is_enum(prim.example(parts)):
            return self.join([prim.enum_word(part) for part in parts])
        if not prim.is_str(prim.example(parts)):
            prim.error("`join` takes strings")
        return prim.lh_str_join(self, parts)

    def encode(self, encoding="utf-8", errors="strict"):
        """The bytes of the text in an encoding: UTF-8, ASCII or Latin-1.

        >>> "ab".encode()
        b'ab'
        """
        return prim.bytes_of(encoded(self, encoding, errors))

    def upper(self):
        """The text in capitals.

        >>> "abc".upper()
        'ABC'
        """
        return prim.lh_str_upper(self)

    def lower(self):
        """The text in small letters.

        >>> "ABC".lower()
        'abc'
        """
        return prim.lh_str_lower(self)

    def casefold(self):
        """The text for comparison without regard to case.

        >>> "Straße".casefold()
        'strasse'
        """
        return prim.lh_str_casefold(self)

    def isascii(self):
        """Whether all characters are ASCII, also if there is none.

        >>> "ab".isascii()
        True
        """
        return prim.lh_str_isascii(self)

    def isdecimal(self):
        """Whether all characters are decimal digits, and there is one.

        >>> "12".isdecimal()
        True
        """
        return prim.lh_str_isdecimal(self)

    def isnumeric(self):
        """Whether all characters stand for numbers, and there is one.

        >>> "½".isnumeric()
        True
        """
        return prim.lh_str_isnumeric(self)

    def isprintable(self):
        """Whether `repr` shows all characters as they are.

        >>> "a b".isprintable()
        True
        """
        return prim.lh_str_isprintable(self)

    def isidentifier(self):
        """Whether the text is a name of Python's.

        >>> "a1".isidentifier()
        True
        """
        return prim.lh_str_isidentifier(self)

    def istitle(self):
        """Whether every word is capitalised, and there is one.

        >>> "Ab Cd".istitle()
        True
        """
        return prim.lh_str_istitle(self)

    def isspace(self):
        """Whether all characters are white space, and there is one.

        >>> " ".isspace()
        True
        """
        return prim.lh_str_isspace(self)

    def isdigit(self):
        """Whether all characters are digits, and there is one.

        >>> "12".isdigit()
        True
        """
        return prim.lh_str_isdigit(self)

    def isalpha(self):
        """Whether all characters are letters, and there is one.

        >>> "ab".isalpha()
        True
        """
        return prim.lh_str_isalpha(self)

    def isalnum(self):
        """Whether all characters are letters or digits, and there is one.

        >>> "a1".isalnum()
        True
        """
        return prim.lh_str_isalnum(self)

    def isupper(self):
        """Whether all characters are cased ones capitals, and there is one.

        >>> "AB".isupper()
        True
        """
        return prim.lh_str_isupper(self)

    def islower(self):
        """Whether all characters are cased ones small, and there is one.

        >>> "ab".islower()
        True
        """
        return prim.lh_str_islower(self)

    def lstrip(self, chars=None, /):
        """The text without white space (or given characters) at the beginning.

        >>> "  a ".lstrip()
        'a '
        """
        return _stripped(self, chars, _LEFT)

    def rstrip(self, chars=None, /):
        """The text without white space (or given characters) at the end.

        >>> "  a ".rstrip()
        '  a'
        """
        return _stripped(self, chars, _RIGHT)

    def strip(self, chars=None, /):
        """The text without white space (or given characters) at both ends.

        >>> "xax".strip("x")
        'a'
        """
        return _stripped(self, chars, _LEFT | _RIGHT)

    def capitalize(self):
        """The text with its first character a capital and the others small.

        >>> "aBC".capitalize()
        'Abc'
        """
        return prim.lh_str_capitalize(self)

    def title(self):
        """The text with every word capitalised.

        >>> "ab cd".title()
        'Ab Cd'
        """
        return prim.lh_str_title(self)

    def swapcase(self):
        """The text with capitals small and small letters capital.

        >>> "aB".swapcase()
        'Ab'
        """
        return prim.lh_str_swapcase(self)

    def zfill(self, width, /):
        """The text, filled with zeros after its sign.

        >>> "-5".zfill(4)
        '-005'
        """
        first = prim.lh_str_ord(self[0]) if len(self) > 0 else 0
        sign = 1 if first == 45 or first == 43 else 0
        return prim.lh_str_pad(self, sign, _missing(width, self), 0, "0")

    def center(self, width, fillchar=" ", /):
        """The text in the middle of a width.

        >>> "a".center(4)
        ' a  '
        """
        n = _missing(width, self)
        left = n // 2 + (n & index_of(width) & 1)
        return prim.lh_str_pad(self, 0, left, n - left, _filling(fillchar))

    def ljust(self, width, fillchar=" ", /):
        """The text, filled at the right.

        >>> "a".ljust(3)
        'a  '
        """
        return prim.lh_str_pad(self, 0, 0, _missing(width, self), _filling(fillchar))

    def rjust(self, width, fillchar=" ", /):
        """The text, filled at the left.

        >>> "a".rjust(3)
        '  a'
        """
        return prim.lh_str_pad(self, 0, _missing(width, self), 0, _filling(fillchar))
