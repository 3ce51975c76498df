"""Old-style formatting, `template % args`."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.coding import text_of_bytes
from lancehead.lib.text import class_name, text_ascii, text_format, text_of, text_repr


def _number_end(template, at):
    # Where a number, or the star in its place, ends.
    if at < len(template) and template[at] == "*":
        return at + 1
    while at < len(template) and prim.lh_str_in(template[at], "0123456789"):
        at += 1
    return at


def _conversion_parts(template, at):
    # Where the flags, the width, the precision and the letter of a conversion after a percent sign are.
    n = len(template)
    while at < n and prim.lh_str_in(template[at], "-+ 0#"):
        at += 1
    width = at
    at = _number_end(template, at)
    point = at
    if at < n and template[at] == ".":
        at = _number_end(template, at + 1)
    end = at
    if at < n and prim.lh_str_in(template[at], "hlL"):
        at += 1
    if at >= n:
        raise ValueError("incomplete format")
    return width, point, end, at


def _percent_integer(x, letter, flags, width, precision):
    # `%d`, `%x` and their like: a precision is the least number of digits.
    if prim.is_enum(x) and prim.is_int(x):
        return _percent_integer(prim.enum_word(x), letter, flags, width, precision)
    is_decimal = prim.lh_str_in(letter, "diu")
    sign = "+" if prim.lh_str_in("+", flags) else " " if prim.lh_str_in(" ", flags) else ""
    alternate = "#" if prim.lh_str_in("#", flags) and not is_decimal else ""
    kind = "d" if is_decimal else letter
    if prim.is_float(x):
        if not is_decimal:
            raise TypeError("%" + letter + " format: an integer is required, not float")
        # A float beyond 64 bits is whole.
        is_wide = abs(x) >= 9223372036854775808.0 and x - x == 0.0
        text = prim.lh_str_format_f64(x, sign + ".0f") if is_wide else prim.lh_str_format_i64(int(x), sign + kind)
    elif prim.is_int(x) or prim.is_bool(x):
        text = text_format(x, sign + alternate + kind)
    else:
        what = "a real number" if is_decimal else "an integer"
        raise TypeError("%" + letter + " format: " + what + " is required, not " + class_name(x))
    is_zero_filled = prim.lh_str_in("0", flags) and not prim.lh_str_in("-", flags)
    begin = 1 if prim.lh_str_in(text[0], "+- ") else 0
    if alternate != "":
        begin += 2
    head, digits = prim.lh_str_slice(text, 0, begin), prim.lh_str_slice(text, begin, len(text))
    if precision > len(digits):
        digits = prim.lh_str_repeat("0", precision - len(digits)) + digits
    if is_zero_filled and width > begin + len(digits):
        digits = prim.lh_str_repeat("0", width - begin - len(digits)) + digits
    return head + digits


def _percent_character(x):
    if prim.is_str(x):
        if len(x) != 1:
            raise TypeError("%c requires int or char")
        return x
    if prim.is_int(x) or prim.is_bool(x):
        if x < 0 or x > 1114111:
            raise OverflowError("%c arg not in range(0x110000)")
        return prim.lh_str_chr(prim.cast(x, np.int64))
    raise TypeError("%c requires int or char")


def _percent_float(x, letter, flags, width, precision):
    sign = "+" if prim.lh_str_in("+", flags) else " " if prim.lh_str_in(" ", flags) else ""
    alternate = "#" if prim.lh_str_in("#", flags) else ""
    digits = "." + prim.lh_str_from_i64(precision) if precision >= 0 else ""
    is_zero_filled = width > 0 and prim.lh_str_in("0", flags) and not prim.lh_str_in("-", flags)
    fill = "0" + prim.lh_str_from_i64(width) if is_zero_filled else ""
    if prim.is_int(x) or prim.is_bool(x) or prim.is_float(x):
        return prim.lh_str_format_f64(float(x), sign + alternate + fill + digits + letter)
    raise TypeError("must be real number, not " + class_name(x))


def _converted(x, flags, width, precision, letter, at):
    # A value by a conversion such as `%-5.2f`; no precision is -1.
    if letter == "s" or letter == "r" or letter == "a":
        text = text_repr(x) if letter == "r" else text_ascii(x) if letter == "a" else text_of(x)
        if precision >= 0:
            text = prim.lh_str_slice(text, 0, precision)
    elif letter == "c":
        text = _percent_character(x)
    elif prim.lh_str_in(letter, "diuxXo"):
        text = _percent_integer(x, letter, flags, width, precision)
    elif prim.lh_str_in(letter, "eEfFgG"):
        text = _percent_float(x, letter, flags, width, precision)
    else:
        raise ValueError(
            "unsupported format character '"
            + (letter if prim.lh_str_isascii(letter) and prim.lh_str_isprintable(letter) else "?")
            + "' (0x"
            + prim.lh_str_format_i64(prim.lh_str_ord(letter), "x")
            + ") at index "
            + prim.lh_str_from_i64(at)
        )
    missing = width - len(text)
    if missing <= 0:
        return text
    blanks = prim.lh_str_repeat(" ", missing)
    return text + blanks if prim.lh_str_in("-", flags) else blanks + text


# A width or precision that is among the values, and one that is lacking.
_STAR = -2
_NONE = -1


def _number_in(template, start, end):
    # The number between two places.
    if start >= end:
        return _NONE
    text = prim.lh_str_slice(template, start, end)
    return _STAR if text == "*" else prim.lh_str_to_i64(text, 10)


def _star(x):
    # A width or precision that is among the values.
    if prim.is_int(x) or prim.is_bool(x):
        return prim.cast(x, np.int64)
    raise TypeError("* wants int")


def _until_conversion(template, at, parts):
    # Adds literal text up to the next conversion, and answers where it begins (or the end) and whether there is one.
    while True:
        k = prim.lh_str_find(template, "%", at)
        if k < 0:
            parts.append(prim.lh_str_slice(template, at, len(template)))
            return len(template), False
        parts.append(prim.lh_str_slice(template, at, k))
        if k + 1 >= len(template) or template[k + 1] != "%":
            return k + 1, True
        parts.append("%")
        at = k + 2


def _conversion(template, at):
    # The flags, width, precision and letter of a conversion, and where the letter is.
    width_at, point, number_end, letter_at = _conversion_parts(template, at)
    flags = prim.lh_str_slice(template, at, width_at)
    width = _number_in(template, width_at, point)
    precision = _NONE
    if point < number_end:
        precision = 0 if point + 1 == number_end else _number_in(template, point + 1, number_end)
    return flags, width, precision, template[letter_at], letter_at


def percent(template, args):
    """`template % args` of a tuple."""
    return _percent(template, args, False)


def _percent(template, args, is_bytes):
    parts = [""]
    flags, width, precision, letter, letter_at = "", _NONE, _NONE, "", 0
    is_begun = False
    at, is_conversion = _until_conversion(template, 0, parts)
    for x in args:
        if not is_conversion:
            raise TypeError("not all arguments converted during string formatting")
        if not is_begun:
            if at < len(template) and template[at] == "(":
                raise TypeError("format requires a mapping")
            flags, width, precision, letter, letter_at = _conversion(template, at)
            is_begun = True
        if width == _STAR:
            width = _star(x)
            if width < 0:
                flags = flags + "-"
                width = -width
        elif precision == _STAR:
            precision = max(_star(x), 0)
        else:
            if is_bytes and prim.lh_str_in(letter, "sbrac"):
                parts.append(_converted(_of_bytes(x, letter), flags, width, precision, "s", letter_at))
            else:
                parts.append(_converted(x, flags, width, precision, letter, letter_at))
            at, is_conversion = _until_conversion(template, letter_at + 1, parts)
            is_begun = False
    if is_conversion:
        if not is_begun:
            _conversion(template, at)
        raise TypeError("not enough arguments for format string")
    return "".join(parts)


def _key(template, at):
    # The key of a conversion, and where what follows it begins.
    begin, depth = at + 1, 1
    while depth > 0:
        at += 1
        if at >= len(template):
            raise ValueError("incomplete format key")
        if template[at] == "(":
            depth += 1
        elif template[at] == ")":
            depth -= 1
    return prim.lh_str_slice(template, begin, at), at + 1


def _of_bytes(x, letter):
    # The text that stands for a value in bytes.
    if letter == "r" or letter == "a":
        return text_ascii(x)
    if letter == "c":
        if prim.is_bytes(x):
            if len(x) == 1:
                return text_of_bytes(prim.bytes_array(x))
        elif prim.is_int(x) or prim.is_bool(x):
            if x < 0 or x > 255:
                raise OverflowError("%c arg not in range(256)")
            return prim.lh_str_chr(prim.cast(x, np.int64))
        raise TypeError("%c requires an integer in range(256) or a single byte")
    if prim.is_bytes(x):
        return text_of_bytes(prim.bytes_array(x))
    kind = class_name(x)
    raise TypeError("%b requires a bytes-like object, or an object that implements __bytes__, not '" + kind + "'")


def percent_of_mapping(template, mapping):
    """`template % mapping` of a dictionary, which a conversion without a key shows as a whole."""
    parts = [""]
    is_whole = True
    at, is_conversion = _until_conversion(template, 0, parts)
    while is_conversion:
        has_key = at < len(template) and template[at] == "("
        key = ""
        if has_key:
            key, at = _key(template, at)
            if not prim.is_str(prim.items_nothing(mapping)[1]):
                raise KeyError(key)
        elif not is_whole:
            raise TypeError("not enough arguments for format string")
        is_whole = False
        flags, width, precision, letter, letter_at = _conversion(template, at)
        if width == _STAR or precision == _STAR:
            raise TypeError("* wants int")
        if not has_key:
            parts.append(_converted(mapping, flags, width, precision, letter, letter_at))
        elif prim.is_str(prim.items_nothing(mapping)[1]):
            parts.append(_converted(mapping[key], flags, width, precision, letter, letter_at))
        at, is_conversion = _until_conversion(template, letter_at + 1, parts)
    return "".join(parts)


def percent_of_bytes(template, args):
    """`template % args` of bytes, given as the text of characters with the same numbers."""
    return _percent(template, args, True)
