"""Conversions of bytes: encodings of text (UTF-8, ASCII, Latin-1) with error handlers, escapes, integers.

Bytes are arrays here.
"""

import numpy as np

from lancehead.lib import prim

_UTF8, _ASCII, _LATIN1 = 0, 1, 2


def escaped(code):
    """The escape sequence of a code point that is not ASCII."""
    if code < 256:
        return "\\x" + prim.lh_str_format_i64(code, "02x")
    if code < 65536:
        return "\\u" + prim.lh_str_format_i64(code, "04x")
    return "\\U" + prim.lh_str_format_i64(code, "08x")


def bytes_repr(x):
    """`repr(x)`."""
    a = prim.bytes_array(x)
    has_single, has_double = False, False
    for b in a:
        has_single = has_single or b == 39
        has_double = has_double or b == 34
    quote = '"' if has_single and not has_double else "'"
    parts = [quote]
    for b in a:
        i = int(b)
        if i == 92 or (i == 39 and quote == "'"):
            parts.append("\\" + prim.lh_str_chr(i))
        elif i == 9:
            parts.append("\\t")
        elif i == 10:
            parts.append("\\n")
        elif i == 13:
            parts.append("\\r")
        elif i < 32 or i > 126:
            parts.append("\\x" + hex_digit(i // 16) + hex_digit(i % 16))
        else:
            parts.append(prim.lh_str_chr(i))
    parts.append(quote)
    text = "b" + "".join(parts)
    return text if prim.is_frozen(x) else "bytearray(" + text + ")"


def hex_digit(i):
    """A digit to the base 16."""
    return prim.lh_str_chr(48 + i if i < 10 else 87 + i)


def text_of_bytes(a):
    """The text of the characters with the numbers in an array of bytes."""
    return _plain(a, _LATIN1)


def memory_of(s):
    """The numbers of a text's characters, all of which are below 256, in an array of bytes."""
    return _stored(s, _LATIN1)


def _plain(a, encoding):
    c = a if prim.layout(a) == "C" else a.copy()
    return prim.lh_str_from_bytes(prim.data(c), c.size, encoding)


def _stored(s, encoding):
    out = np.empty(prim.lh_str_encoded_size(s, encoding), np.uint8)
    prim.lh_str_encode(s, encoding, prim.data(out))
    return out


def _number(name):
    # Most ask for this one, by its name as it is.
    if name == "utf-8":
        return _UTF8
    n = name.lower().replace("_", "-")
    if n == "utf-8" or n == "utf8":
        return _UTF8
    if n == "ascii" or n == "us-ascii":
        return _ASCII
    if n == "latin-1" or n == "latin1" or n == "iso-8859-1" or n == "iso8859-1":
        return _LATIN1
    raise LookupError("only utf-8, ascii and latin-1 are known in compiled code, not " + name)


def encoded(s, encoding, errors):
    """The bytes of a text."""
    number = _number(encoding)
    last = 255 if number == _LATIN1 else 127
    if prim.lh_str_is_utf8(s) if number == _UTF8 else s.isascii():
        return _stored(s, number)
    parts = [np.empty(0, np.uint8)]
    begin = 0
    for i, c in enumerate(s):
        code = prim.lh_str_ord(c)
        if (55296 <= code <= 57343) if number == _UTF8 else code > last:
            parts.append(_stored(prim.lh_str_slice(s, begin, i), number))
            parts.append(_in_place(s, i, errors, number))
            begin = i + 1
    parts.append(_stored(prim.lh_str_slice(s, begin, len(s)), number))
    return _joined(parts)


def _joined(parts):
    # One array of the bytes of several.
    size = 0
    for part in parts:
        size += part.size
    out = np.empty(size, np.uint8)
    at = 0
    for part in parts:
        out[at : at + part.size] = part
        at += part.size
    return out


def _is_encoded(code, number):
    if number == _UTF8:
        return code < 55296 or code > 57343
    return code < (256 if number == _LATIN1 else 128)


def _in_place(s, at, errors, number):
    # The bytes that stand for a character which an encoding does not have.
    code = prim.lh_str_ord(s[at])
    if errors == "ignore":
        return np.empty(0, np.uint8)
    if errors == "replace":
        return _stored("?", _ASCII)
    if errors == "backslashreplace":
        return _stored(escaped(code), _ASCII)
    if errors == "xmlcharrefreplace":
        return _stored("&#" + str(code) + ";", _ASCII)
    if errors == "surrogatepass":
        if number == _UTF8:
            return _stored(s[at], _UTF8)
    elif errors == "surrogateescape":
        if 56448 <= code <= 56575:
            return np.full(1, code - 56320).astype(np.uint8)
    elif errors != "strict":
        raise LookupError("unknown error handler name in compiled code: " + errors)
    end = at + 1
    while end < len(s) and not _is_encoded(prim.lh_str_ord(s[end]), number):
        end += 1
    reason = "surrogates not allowed" if number == _UTF8 else "ordinal not in range(" + str(_limit(number)) + ")"
    raise UnicodeEncodeError(_name(number), s, at, end, reason)


def _limit(number):
    return 256 if number == _LATIN1 else 128


def _name(number):
    return "utf-8" if number == _UTF8 else "ascii" if number == _ASCII else "latin-1"


def decoded(a, encoding, errors):
    """The text of bytes."""
    number = _number(encoding)
    n = a.size
    at = _valid_end(a, 0, number)
    if at == n:
        return _plain(a, number)
    parts = [""]
    begin = 0
    while at < n:
        count = 1 if number == _ASCII else _bad_size(a, at)
        parts.append(_plain(a[begin:at], number))
        if errors == "surrogatepass" and number == _UTF8 and _is_surrogate(a, at):
            count = 3
            parts.append(prim.lh_str_chr((int(a[at]) & 15) << 12 | (int(a[at + 1]) & 63) << 6 | int(a[at + 2]) & 63))
        else:
            parts.append(_for_bytes(a, at, count, errors, number))
        begin = at + count
        at = _valid_end(a, begin, number)
    parts.append(_plain(a[begin:n], number))
    return "".join(parts)


def _valid_end(a, at, number):
    # Where what the encoding does not allow begins, from a place on.
    n = a.size
    if number == _LATIN1:
        return n
    if prim.layout(a) == "C":
        return prim.lh_str_valid_end(prim.data(a), n, at, number)
    while at < n:
        if a[at] < 128:
            at += 1
            continue
        if number == _ASCII:
            return at
        size = _sequence_size(a, at)
        if size < 0:
            return at
        at += size
    return n


def _followers(first):
    # The number of bytes that follow the first of a character, the least and the largest number of the second.
    if first < 194 or first > 244:
        return 0, 0, 0
    low = 160 if first == 224 else 144 if first == 240 else 128
    high = 159 if first == 237 else 143 if first == 244 else 191
    return 1 if first < 224 else 2 if first < 240 else 3, low, high


def _sequence_size(a, at):
    # The number of bytes of the character that begins here, or less than 0: minus those that could begin one.
    count, low, high = _followers(int(a[at]))
    if count == 0:
        return -1
    for k in range(1, count + 1):
        if at + k == a.size:
            return -k
        b = int(a[at + k])
        if b < (low if k == 1 else 128) or b > (high if k == 1 else 191):
            return -k
    return count + 1


def _bad_size(a, at):
    return -_sequence_size(a, at)


def _is_surrogate(a, at):
    # Whether three bytes are what a surrogate would be in UTF-8.
    if at + 2 >= a.size or a[at] != 237:
        return False
    return 160 <= a[at + 1] <= 191 and 128 <= a[at + 2] <= 191


def _for_bytes(a, at, count, errors, number):
    # The text that stands for bytes which are no character.
    if errors == "strict" or errors == "surrogatepass":
        name = "ascii" if number == _ASCII else "utf-8"
        raise UnicodeDecodeError(name, text_of_bytes(a), at, at + count, _reason(a, at, count, number))
    if errors == "ignore":
        return ""
    if errors == "replace":
        return "\ufffd"
    if errors == "backslashreplace":
        return "".join([escaped(int(b)) for b in a[at : at + count]])
    if errors == "surrogateescape":
        return "".join([prim.lh_str_chr(56320 + int(b)) for b in a[at : at + count]])
    raise LookupError("unknown error handler name in compiled code: " + errors)


def _reason(a, at, count, number):
    if number == _ASCII:
        return "ordinal not in range(128)"
    if _followers(int(a[at]))[0] == 0:
        return "invalid start byte"
    return "unexpected end of data" if at + count == a.size else "invalid continuation byte"


def _is_big(byteorder):
    if byteorder == "big":
        return True
    if byteorder == "little":
        return False
    raise ValueError("byteorder must be either 'little' or 'big'")


def bytes_of_integer(x, n, byteorder, signed):
    """The bytes of a number, in an array."""
    is_big = _is_big(byteorder)
    if n < 0:
        raise ValueError("length argument must be non-negative")
    is_negative = x < 0
    if is_negative and not signed:
        raise OverflowError("can't convert negative int to unsigned")
    rest = prim.cast(x, np.uint64)
    # The bits that differ from the sign need room beside the sign.
    bits = 8 * n - (1 if signed and n > 0 else 0)
    magnitude = ~rest if is_negative else rest
    if bits < 64 and magnitude >> np.uint64(bits) != 0:
        raise OverflowError("int too big to convert")
    out = np.full(n, 255 if is_negative else 0).astype(np.uint8)
    for i in range(min(n, 8)):
        out[n - 1 - i if is_big else i] = prim.cast(rest & np.uint64(255), np.uint8)
        rest >>= np.uint64(8)
    return out


def integer_of_bytes(items, byteorder, signed):
    """The number whose digits to the base 256 these are."""
    is_big = _is_big(byteorder)
    n = len(items)
    number = np.uint64(0)
    is_negative = False
    for i in range(n):
        x = int(items[i if is_big else n - 1 - i])
        if x < 0 or x > 255:
            raise ValueError("bytes must be in range(0, 256)")
        if i == 0:
            is_negative = bool(signed) and x > 127
        digit = prim.cast(x ^ 255 if is_negative else x, np.uint64)
        if number >> np.uint64(55):
            raise OverflowError("Python int too large to convert to C long")
        number = (number << np.uint64(8)) | digit
    word = prim.cast(number, np.int64)
    return prim.cast(~word if is_negative else word, int)
