"""Methods of `str`, and the text of values. What walks over code points is in the run-time library."""

import numpy as np

from lancehead.lib import prim


def text_of(x):
    """`str(x)`."""
    if prim.is_str(x):
        return x
    if prim.is_exc(x):
        return prim.lh_exc_str(x)
    return text_repr(x)


def text_repr(x):
    """`repr(x)`; NumPy's scalars print as Python's numbers."""
    if x is None:
        return "None"
    if prim.is_str(x):
        return prim.lh_str_repr(x)
    if prim.is_bool(x):
        return "True" if x else "False"
    if prim.is_int(x):
        if prim.is_signed(x):
            return prim.lh_str_from_i64(prim.cast(x, np.int64))
        return prim.lh_str_from_u64(prim.cast(prim.cast(x, np.uint64), np.int64))
    if prim.is_float(x):
        return prim.lh_str_from_f32(x) if prim.itemsize(prim.dtype_of(x)) == 4 else prim.lh_str_from_f64(x)
    if prim.is_complex(x):
        return prim.lh_str_from_c64(x) if prim.itemsize(prim.dtype_of(x)) == 8 else prim.lh_str_from_c128(x)
    if prim.is_tuple(x):
        return _tuple_text(x)
    if prim.is_list(x):
        return _list_text(x)
    prim.error("no text form is known for a value of this type")


def _tuple_text(x):
    if len(x) == 1:
        return "(" + text_repr(x[0]) + ",)"
    out = "("
    first = True
    for item in x:
        if not first:
            out = out + ", "
        first = False
        out = out + text_repr(item)
    return out + ")"


def _list_text(x):
    out = "["
    for i in range(len(x)):
        if i > 0:
            out = out + ", "
        out = out + text_repr(x[i])
    return out + "]"


def text_format(x, spec):
    """`format(x, spec)`."""
    if len(spec) == 0:
        return text_of(x)
    if prim.is_str(x):
        return prim.lh_str_format_str(x, spec)
    if prim.is_float(x):
        return prim.lh_str_format_f64(x, spec)
    if prim.is_int(x) and not prim.is_signed(x):
        return prim.lh_str_format_u64(prim.cast(x, np.uint64), spec)
    if prim.is_int(x) or prim.is_bool(x):
        return prim.lh_str_format_i64(x, spec)
    prim.error("a value of this type takes no format")


def _conversion_end(template, at):
    # Index of the letter that ends the conversion which begins after a percent sign.
    n = len(template)
    while at < n and prim.lh_str_in(template[at], "-+ 0#.123456789"):
        at += 1
    if at >= n:
        raise ValueError("incomplete format")
    return at


def _converted(x, flags, letter):
    # A value by a conversion such as `%-5.2f`.
    left = prim.lh_str_in("-", flags)
    rest = prim.lh_str_replace(flags, "-", "", -1)
    if letter == "s" or letter == "r":
        text = text_repr(x) if letter == "r" else text_of(x)
        return prim.lh_str_format_str(text, ("<" if left else ">") + rest)
    spec = ("<" if left else "") + rest
    if letter == "d" or letter == "i" or letter == "u":
        if prim.is_float(x):
            return prim.lh_str_format_i64(int(x), spec + "d")
        return text_format(x, spec + "d")
    if prim.is_int(x) or prim.is_bool(x):
        if letter == "x" or letter == "X" or letter == "o" or letter == "c":
            return text_format(x, spec + letter)
        return prim.lh_str_format_f64(float(x), spec + letter)
    return text_format(x, spec + letter)


def _until_conversion(template, at):
    # Literal text up to the next conversion, and where it begins (or the end).
    out = ""
    while True:
        k = prim.lh_str_find(template, "%", at)
        if k < 0:
            return out + prim.lh_str_slice(template, at, len(template)), len(template)
        out = out + prim.lh_str_slice(template, at, k)
        if k + 1 < len(template) and template[k + 1] == "%":
            out = out + "%"
            at = k + 2
        else:
            return out, k + 1


def _percent(template, args):
    out, at = _until_conversion(template, 0)
    for x in args:
        if at >= len(template):
            raise TypeError("not all arguments converted during string formatting")
        end = _conversion_end(template, at)
        out = out + _converted(x, prim.lh_str_slice(template, at, end), template[end])
        text, at = _until_conversion(template, end + 1)
        out = out + text
    if at < len(template):
        raise TypeError("not enough arguments for format string")
    return out


def _spaces(n):
    return " " * n if n > 0 else ""


class str:
    """Methods of `str`."""

    def __new__(x=""):
        """Text of a value.

        >>> str(12)
        '12'
        >>> str((1, 2.5))
        '(1, 2.5)'
        """
        return text_of(x)

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
            return _percent(self, args)
        return _percent(self, (args,))

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
            return prim.lh_str_getitem(self, prim.cast(i, np.int64))
        start, stop, step = i.indices(len(self))
        if step == 1:
            return prim.lh_str_slice(self, start, stop)
        out = ""
        for k in range(start, stop, step):
            out = prim.lh_str_concat(out, prim.lh_str_getitem(self, k))
        return out

    def startswith(self, part):
        """Whether the text begins with a part.

        >>> "abc".startswith("ab")
        True
        """
        return prim.lh_str_eq(prim.lh_str_slice(self, 0, len(part)), part)

    def endswith(self, part):
        """Whether the text ends with a part.

        >>> "abc".endswith("bc")
        True
        """
        n, k = len(self), len(part)
        if k > n:
            return False
        return prim.lh_str_eq(prim.lh_str_slice(self, n - k, n), part)

    def removeprefix(self, part):
        """The text without a beginning.

        >>> "abc".removeprefix("ab")
        'c'
        """
        return prim.lh_str_slice(self, len(part), len(self)) if self.startswith(part) else self

    def removesuffix(self, part):
        """The text without an end.

        >>> "abc".removesuffix("bc")
        'a'
        """
        return prim.lh_str_slice(self, 0, len(self) - len(part)) if self.endswith(part) else self

    def find(self, part, start=0):
        """Index of the first occurrence, or -1.

        >>> "abcbc".find("bc")
        1
        """
        return prim.lh_str_find(self, part, prim.cast(start, np.int64))

    def rfind(self, part):
        """Index of the last occurrence, or -1.

        >>> "abcbc".rfind("bc")
        3
        """
        return prim.lh_str_rfind(self, part)

    def index(self, part):
        """Index of the first occurrence.

        >>> "abcbc".index("bc")
        1
        """
        i = self.find(part)
        if i < 0:
            raise ValueError("substring not found")
        return i

    def count(self, part):
        """Number of occurrences which do not overlap.

        >>> "aaaa".count("aa")
        2
        """
        if len(part) == 0:
            return len(self) + 1
        found = 0
        at = self.find(part)
        while at >= 0:
            found += 1
            at = self.find(part, at + len(part))
        return found

    def replace(self, old, new):
        """The text with every occurrence replaced.

        >>> "a-b-c".replace("-", "+")
        'a+b+c'
        """
        return prim.lh_str_replace(self, old, new, -1)

    def split(self, sep=None):
        """Parts between separators; by default, between runs of white space.

        >>> "a,b".split(",")
        ['a', 'b']
        >>> " a  b ".split()
        ['a', 'b']
        """
        if sep is None:
            return prim.lh_str_split_space(self, -1)
        if len(sep) == 0:
            raise ValueError("empty separator")
        return prim.lh_str_split(self, sep, -1)

    def join(self, parts):
        """The parts with the text between.

        >>> ", ".join(["a", "b"])
        'a, b'
        """
        if prim.is_list(parts):
            return prim.lh_str_join(self, parts)
        out = ""
        first = True
        for part in parts:
            if not first:
                out = prim.lh_str_concat(out, self)
            first = False
            out = prim.lh_str_concat(out, part)
        return out

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

    def lstrip(self):
        """The text without white space at the beginning.

        >>> "  a ".lstrip()
        'a '
        """
        i, n = 0, len(self)
        while i < n and self[i].isspace():
            i += 1
        return prim.lh_str_slice(self, i, n)

    def rstrip(self):
        """The text without white space at the end.

        >>> "  a ".rstrip()
        '  a'
        """
        n = len(self)
        while n > 0 and self[n - 1].isspace():
            n -= 1
        return prim.lh_str_slice(self, 0, n)

    def strip(self):
        """The text without white space at both ends.

        >>> "  a ".strip()
        'a'
        """
        return self.lstrip().rstrip()

    def ljust(self, width):
        """The text, filled with spaces at the right.

        >>> "a".ljust(3)
        'a  '
        """
        return self + _spaces(width - len(self))

    def rjust(self, width):
        """The text, filled with spaces at the left.

        >>> "a".rjust(3)
        '  a'
        """
        return _spaces(width - len(self)) + self
