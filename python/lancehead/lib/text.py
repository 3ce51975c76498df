"""The text of values, and old-style formatting. What walks over code points is in the run-time library."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.bytestrings import bytes_repr
from lancehead.lib.times import repr_text as time_repr
from lancehead.lib.times import text as time_text


def text_of(x):
    """`str(x)`."""
    if prim.is_str(x):
        return x
    if prim.is_exc(x):
        return prim.lh_exc_str(x)
    if prim.is_array(x) and not prim.is_dtype(x):
        return _array_text(x, False)
    if prim.is_enum(x):
        return str(x)
    if prim.is_user(x):
        return str(x)
    if prim.is_time(x) and not prim.is_dtype(x):
        return time_text(x)
    return text_repr(x)


def _array_text(x, repr):
    # The text of an array is NumPy's own.
    dtype = prim.dtype_of(x)
    if not (prim.is_bool(dtype) or prim.is_int(dtype) or prim.is_float(dtype) or prim.is_complex(dtype)):
        prim.error("no text form is known for arrays of this dtype")
    dims = np.empty(2 * x.ndim, np.int64)
    for i in range(x.ndim):
        dims[i] = x.shape[i]
        dims[x.ndim + i] = x.strides[i]
    if prim.is_int(dtype):
        letter = 1 if prim.is_signed(dtype) else 2
    else:
        letter = 0 if prim.is_bool(dtype) else 5 if dtype.kind == "V" else 3 if prim.is_float(dtype) else 4
    return prim.lh_str_from_array(letter, prim.itemsize(dtype), x.ndim, prim.data(dims), prim.data(x), repr)


def text_repr(x):
    """`repr(x)`; NumPy's scalars print as Python's numbers."""
    if x is None:
        return "None"
    if prim.is_str(x):
        return prim.lh_str_repr(x)
    if prim.is_enum(x):
        return "<" + prim.class_name(x) + "." + x.name + ": " + text_repr(x.value) + ">"
    if prim.is_dtype(x):
        return x.name
    if prim.is_array(x):
        return _array_text(x, True)
    if prim.is_bytes(x):
        return bytes_repr(x)
    if prim.is_exc(x):
        return prim.lh_exc_repr(x)
    if prim.is_bool(x):
        return "True" if x else "False"
    if prim.is_int(x):
        if prim.is_signed(x):
            return prim.lh_str_from_i64(prim.cast(x, np.int64))
        return prim.lh_str_from_u64(prim.cast(prim.cast(x, np.uint64), np.int64))
    if prim.is_float(x):
        if prim.dtype_of(x).kind == "V":
            return "%g" % prim.cast(x, np.float64)  # noqa: UP031 - as `ml_dtypes` writes a `bfloat16`
        if prim.itemsize(prim.dtype_of(x)) == 2:
            return _half_text(prim.cast(x, np.float64), x)
        return prim.lh_str_from_f32(x) if prim.itemsize(prim.dtype_of(x)) == 4 else prim.lh_str_from_f64(x)
    if prim.is_complex(x):
        return prim.lh_str_from_c64(x) if prim.itemsize(prim.dtype_of(x)) == 8 else prim.lh_str_from_c128(x)
    if prim.is_tuple(x):
        return _tuple_text(x)
    if prim.is_a(x, "builtins.list"):
        return _list_text(x)
    if prim.is_a(x, "builtins.dict"):
        return _dict_text(x)
    if prim.is_a(x, "builtins.set"):
        return _set_text(x)
    if prim.is_a(x, "dicts.dict_keys"):
        return "dict_keys(" + _list_text([item for item in x]) + ")"
    if prim.is_a(x, "dicts.dict_values"):
        return "dict_values(" + _list_text([item for item in x]) + ")"
    if prim.is_a(x, "dicts.dict_items"):
        return "dict_items(" + _list_text([item for item in x]) + ")"
    if prim.is_time(x):
        return time_repr(x)
    if prim.is_range(x):
        step = ", " + text_repr(x.step) if x.step != 1 else ""
        return "range(" + text_repr(x.start) + ", " + text_repr(x.stop) + step + ")"
    if prim.is_slice(x):
        return "slice(" + text_repr(x.start) + ", " + text_repr(x.stop) + ", " + text_repr(x.step) + ")"
    if prim.is_user(x):
        return repr(x)
    prim.error("no text form is known for a value of this type")


def fields_text(name, fields):
    """The text of an instance by the names and values of its fields."""
    out = name + "("
    first = True
    for field, value in fields:
        if not first:
            out = out + ", "
        first = False
        out = out + field + "=" + text_repr(value)
    return out + ")"


def _tuple_text(x):
    if prim.class_name(x) != "":
        out = prim.class_name(x) + "("
        for i, name in enumerate(x._fields):
            out = out + (", " if i > 0 else "") + name + "=" + text_repr(x[i])
        return out + ")"
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


def _dict_text(x):
    out = "{"
    for key, value in x.items():
        if len(out) > 1:
            out = out + ", "
        out = out + text_repr(key) + ": " + text_repr(value)
    return out + "}"


def _set_text(x):
    if len(x) == 0:
        return "set()"
    out = "{"
    for item in x:
        if len(out) > 1:
            out = out + ", "
        out = out + text_repr(item)
    return out + "}"


def text_ascii(x):
    """`ascii(x)`: the text of `repr` with escapes for what is not ASCII."""
    text = text_repr(x)
    if prim.lh_str_isascii(text):
        return text
    out = ""
    for c in text:
        code = prim.lh_str_ord(c)
        if code < 128:
            out = out + c
        elif code < 256:
            out = out + "\\x" + prim.lh_str_format_i64(code, "02x")
        elif code < 65536:
            out = out + "\\u" + prim.lh_str_format_i64(code, "04x")
        else:
            out = out + "\\U" + prim.lh_str_format_i64(code, "08x")
    return out


def text_format(x, spec):
    """`format(x, spec)`."""
    if len(spec) == 0:
        return text_of(x)
    if prim.is_str(x):
        return prim.lh_str_format_str(x, spec)
    if prim.is_time(x):
        return prim.lh_str_format_str(time_text(x), spec)
    if prim.is_float(x):
        return prim.lh_str_format_f64(x, spec)
    if prim.is_int(x) and not prim.is_signed(x):
        return prim.lh_str_format_u64(prim.cast(x, np.uint64), spec)
    if prim.is_int(x) or prim.is_bool(x):
        return prim.lh_str_format_i64(x, spec)
    if prim.is_complex(x):
        return prim.lh_str_format_c128(prim.cast(x, np.complex128), spec)
    prim.error("a value of this type takes no format")


def _literal_part(template, at):
    # Text up to the next field of a format string, where the field begins or the text ends, and whether there is one.
    n = len(template)
    out = ""
    begin = at
    while at < n:
        c = template[at]
        if c == "{" or c == "}":
            out = out + prim.lh_str_slice(template, begin, at)
            if at + 1 < n and template[at + 1] == c:
                out = out + c
                at += 2
                begin = at
                continue
            if c == "}":
                raise ValueError("Single '}' encountered in format string")
            if at + 1 == n:
                raise ValueError("Single '{' encountered in format string")
            return out, at + 1, True
        at += 1
    return out + prim.lh_str_slice(template, begin, n), n, False


def _field_parts(template, at):
    # Where a field's name ends, its conversion, where its specification begins and ends, and where the field ends.
    n = len(template)
    c = ""
    while at < n:
        c = template[at]
        if c == "{":
            raise ValueError("unexpected '{' in field name")
        if c == "}" or c == ":" or c == "!":
            break
        if c == "[":
            while at < n and template[at] != "]":
                at += 1
        at += 1
    if at >= n:
        raise ValueError("expected '}' before end of string")
    name_end = at
    conversion = ""
    if c == "}":
        return name_end, conversion, at, at, at + 1
    at += 1
    if c == "!":
        if at >= n:
            raise ValueError("end of string while looking for conversion specifier")
        conversion = template[at]
        at += 1
        if at < n:
            if template[at] == "}":
                return name_end, conversion, at, at, at + 1
            if template[at] != ":":
                raise ValueError("expected ':' after conversion specifier")
            at += 1
    spec = at
    depth = 1
    while at < n:
        if template[at] == "{":
            depth += 1
        elif template[at] == "}":
            depth -= 1
            if depth == 0:
                return name_end, conversion, spec, at, at + 1
        at += 1
    raise ValueError("unmatched '{' in format spec")


def _next_number(name, numbered):
    # Fields without names are numbered; -1 says that names with numbers were met.
    if name == "":
        if numbered < 0:
            raise ValueError("cannot switch from manual field specification to automatic field numbering")
        return numbered + 1
    if prim.lh_str_isdecimal(name):
        if numbered > 0:
            raise ValueError("cannot switch from automatic field numbering to manual field specification")
        return -1
    return numbered


def _field_index(name, numbered, values, names):
    # Which of the values a field is; `numbered` counts it already.
    by_position = len(values) - len(names)
    if name == "" or prim.lh_str_isdecimal(name):
        index = numbered - 1 if name == "" else prim.lh_str_to_i64(name, 10)
        if index >= by_position:
            number = prim.lh_str_from_i64(index)
            raise IndexError("Replacement index " + number + " out of range for positional args tuple")
    else:
        index = 0
        while index < len(names) and names[index] != name:
            index += 1
        if index == len(names):
            if prim.lh_str_in(".", name) or prim.lh_str_in("[", name):
                raise ValueError("attributes and items in format strings are not supported in compiled code")
            raise KeyError(name)
        index += by_position
    return index


def _check_conversion(conversion):
    if conversion != "" and conversion != "r" and conversion != "s" and conversion != "a":
        is_shown = prim.lh_str_isascii(conversion) and prim.lh_str_isprintable(conversion) and conversion != " "
        shown = conversion if is_shown else "\\x" + prim.lh_str_format_i64(prim.lh_str_ord(conversion), "x")
        raise ValueError("Unknown conversion specifier " + shown)


def _field_value(index, conversion, spec, values):
    text = ""
    at = 0
    for x in values:
        if at == index:
            text = _field_text(x, conversion, spec)
        at += 1
    return text


def _field_text(x, conversion, spec):
    if conversion == "r":
        return prim.lh_str_format_str(text_repr(x), spec)
    if conversion == "a":
        return prim.lh_str_format_str(text_ascii(x), spec)
    if conversion == "s":
        return prim.lh_str_format_str(text_of(x), spec)
    return text_format(x, spec)


def _filled_spec(template, numbered, values, names):
    # A specification with its fields filled in, which have none inside theirs.
    out, at, is_field = _literal_part(template, 0)
    while is_field:
        name_end, conversion, spec, spec_end, end = _field_parts(template, at)
        name = prim.lh_str_slice(template, at, name_end)
        numbered = _next_number(name, numbered)
        index = _field_index(name, numbered, values, names)
        _check_conversion(conversion)
        own = prim.lh_str_slice(template, spec, spec_end)
        if prim.lh_str_in("{", own):
            raise ValueError("Max string recursion exceeded")
        out = out + _field_value(index, conversion, own, values)
        text, at, is_field = _literal_part(template, end)
        out = out + text
    return out, numbered


def filled(template, values, names):
    """`template.format(...)` of values, of which the last have names."""
    numbered = 0
    out, at, is_field = _literal_part(template, 0)
    while is_field:
        name_end, conversion, spec_at, spec_end, end = _field_parts(template, at)
        name = prim.lh_str_slice(template, at, name_end)
        numbered = _next_number(name, numbered)
        index = _field_index(name, numbered, values, names)
        _check_conversion(conversion)
        spec = prim.lh_str_slice(template, spec_at, spec_end)
        if prim.lh_str_in("{", spec):
            spec, numbered = _filled_spec(spec, numbered, values, names)
        out = out + _field_value(index, conversion, spec, values)
        text, at, is_field = _literal_part(template, end)
        out = out + text
    return out


def _conversion_parts(template, at):
    # Where the flags, the width, the precision and the letter of a conversion after a percent sign are.
    n = len(template)
    while at < n and prim.lh_str_in(template[at], "-+ 0#"):
        at += 1
    width = at
    while at < n and prim.lh_str_in(template[at], "*0123456789"):
        at += 1
    point = at
    if at < n and template[at] == ".":
        at += 1
        while at < n and prim.lh_str_in(template[at], "*0123456789"):
            at += 1
    end = at
    if at < n and prim.lh_str_in(template[at], "hlL"):
        at += 1
    if at >= n:
        raise ValueError("incomplete format")
    return width, point, end, at


def _class_name(x):
    if x is None:
        return "NoneType"
    if prim.is_str(x):
        return "str"
    if prim.is_bool(x):
        return "bool"
    if prim.is_complex(x):
        return "complex"
    if prim.is_float(x):
        return "float"
    if prim.is_tuple(x):
        return "tuple"
    if prim.is_a(x, "builtins.list"):
        return "list"
    return "object"


def _is_real(x):
    return prim.is_int(x) or prim.is_bool(x) or prim.is_float(x)


def _percent_integer(x, letter, flags, width, precision):
    # `%d`, `%x` and their like: a precision is the least number of digits.
    is_decimal = prim.lh_str_in(letter, "diu")
    if not _is_real(x):
        what = "a real number" if is_decimal else "an integer"
        raise TypeError("%" + letter + " format: " + what + " is required, not " + _class_name(x))
    if prim.is_float(x) and not is_decimal:
        raise TypeError("%" + letter + " format: an integer is required, not float")
    kind = "d" if is_decimal else letter
    sign = "+" if prim.lh_str_in("+", flags) else " " if prim.lh_str_in(" ", flags) else ""
    alternate = "#" if prim.lh_str_in("#", flags) else ""
    if prim.is_float(x):
        # A float beyond 64 bits is whole.
        is_wide = abs(x) >= 9223372036854775808.0 and x - x == 0.0
        text = prim.lh_str_format_f64(x, sign + ".0f") if is_wide else prim.lh_str_format_i64(int(x), sign + kind)
    else:
        text = text_format(x, sign + alternate + kind)
    is_zero_filled = prim.lh_str_in("0", flags) and not prim.lh_str_in("-", flags)
    begin = 1 if prim.lh_str_in(text[0], "+- ") else 0
    if alternate != "" and not is_decimal:
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
    if not _is_real(x):
        raise TypeError("must be real number, not " + _class_name(x))
    sign = "+" if prim.lh_str_in("+", flags) else " " if prim.lh_str_in(" ", flags) else ""
    alternate = "#" if prim.lh_str_in("#", flags) else ""
    digits = "." + prim.lh_str_from_i64(precision) if precision >= 0 else ""
    is_zero_filled = width > 0 and prim.lh_str_in("0", flags) and not prim.lh_str_in("-", flags)
    fill = "0" + prim.lh_str_from_i64(width) if is_zero_filled else ""
    return prim.lh_str_format_f64(float(x), sign + alternate + fill + digits + letter)


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


def _number_in(template, start, end):
    # The number between two places, or -1 if there is none.
    if start >= end:
        return -1
    text = prim.lh_str_slice(template, start, end)
    if prim.lh_str_in("*", text):
        raise ValueError("`*` in `%` formats is not supported in compiled code")
    return prim.lh_str_to_i64(text, 10)


def _until_conversion(template, at):
    # Literal text up to the next conversion, and where it begins (or the end).
    out = ""
    while True:
        k = prim.lh_str_find(template, "%", at)
        if k < 0:
            return out + prim.lh_str_slice(template, at, len(template)), len(template), False
        out = out + prim.lh_str_slice(template, at, k)
        if k + 1 < len(template) and template[k + 1] == "%":
            out = out + "%"
            at = k + 2
        else:
            if k + 1 < len(template) and template[k + 1] == "(":
                raise TypeError("format requires a mapping")
            return out, k + 1, True


def percent(template, args):
    """`template % args` of a tuple."""
    out, at, is_conversion = _until_conversion(template, 0)
    for x in args:
        if not is_conversion:
            raise TypeError("not all arguments converted during string formatting")
        width_at, point, number_end, letter_at = _conversion_parts(template, at)
        width = _number_in(template, width_at, point)
        precision = max(_number_in(template, point + 1, number_end), 0) if point < number_end else -1
        flags = prim.lh_str_slice(template, at, width_at)
        out = out + _converted(x, flags, width, precision, template[letter_at], letter_at)
        text, at, is_conversion = _until_conversion(template, letter_at + 1)
        out = out + text
    if is_conversion:
        _conversion_parts(template, at)
        raise TypeError("not enough arguments for format string")
    return out


def _half_text(x, half):
    # The fewest digits that mean this `float16`: five always do.
    if x == x and abs(x) <= 65504.0 and x != 0.0:
        places = int(prim.floor(prim.log10(abs(x))))
        for digits in range(5):
            scale = 10.0 ** abs(digits - places)
            short = prim.rint(x * scale) / scale if digits > places else prim.rint(x / scale) * scale
            if prim.cast(short, np.float16) == half:
                return prim.lh_str_from_f64(short)
    return prim.lh_str_from_f64(x)
