"""The text of values. Functions that walk over code points are in the run-time library."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.coding import bytes_repr, escaped
from lancehead.lib.times import repr_text as time_repr
from lancehead.lib.times import text as time_text


def text_of(x):
    """`str(x)`."""
    if prim.is_str(x):
        return x
    if prim.is_exc(x):
        return prim.lh_exc_str(x)
    if prim.is_optional(x):
        if x is None:
            return "None"
        return text_of(x)
    if prim.is_array(x) and not prim.is_dtype(x):
        return _array_text(x, False)
    if prim.is_enum(x):
        return str(x)
    if prim.is_user(x):
        return str(x)
    if prim.is_record(x) and not prim.is_dtype(x):
        return _record_text(x, False)
    if prim.is_time(x) and not prim.is_dtype(x):
        return time_text(x)
    if prim.is_extension(x):
        return prim.object_text(x, "TEXT")
    return text_repr(x)


def flags_name(word, names, values, more_names, more_values):
    """The name of joined flags, None of no flags: `R|X`, or `RW` where that is one of the others."""
    name = None
    if word != 0:
        out = ""
        rest = word
        for own, value in zip(names, values):
            if value != 0 and word & value == value:
                out += own if out == "" else "|" + own
                rest &= ~value
        if rest != 0:
            out += str(rest) if out == "" else "|" + str(rest)
        for own, value in zip(more_names, more_values):
            if word == value:
                out = own
        name = out
    return name


def flags_refused(title, word, allowed):
    """Why a number is none of flags."""
    n = max(word.bit_length(), allowed.bit_length())
    given, flags = _bits_text(word, n), _bits_text(allowed, n)
    return title + " invalid value " + str(word) + "\n    given " + given + "\n  allowed " + flags


def _bits_text(word, n):
    # The sign, and so many digits to the base two.
    digits = ""
    for i in range(n):
        digits = ("1" if word >> i & 1 else "0") + digits
    return ("0b1 " if word < 0 else "0b0 ") + digits


def flags_text(title, name, word):
    """`str` of flags that are no integers."""
    if name is None:
        return title + "(" + str(word) + ")"
    return title + "." + name


def flags_in(word, members, values):
    """The members that joined flags have."""
    return [member for member, value in zip(members, values) if value != 0 and word & value == value]


def name_hash(name):
    """The hash of a member by its name; no flags have none."""
    return 0 if name is None else hash(name)


def member_repr(x):
    """`repr` of a member of an enumeration."""
    name = x.name
    if name is None:
        return "<" + prim.class_name(x) + ": " + text_repr(x.value) + ">"
    return "<" + prim.class_name(x) + "." + name + ": " + text_repr(x.value) + ">"


def _array_text(x, repr):
    # The text of an array is NumPy's own.
    dtype = prim.dtype_of(x)
    dims = np.empty(2 * x.ndim, np.int64)
    for i in range(x.ndim):
        dims[i] = x.shape[i]
        dims[x.ndim + i] = x.strides[i]
    if not (prim.is_bool(dtype) or prim.is_int(dtype) or prim.is_float(dtype) or prim.is_complex(dtype)):
        # The interpreter knows dtypes of records, texts and times.
        return prim.lh_str_from_array(6, prim.type_number(x), x.ndim, prim.data(dims), prim.data(x), repr)
    if prim.is_int(dtype):
        letter = 1 if prim.is_signed(dtype) else 2
    else:
        letter = 0 if prim.is_bool(dtype) else 5 if dtype.kind == "V" else 3 if prim.is_float(dtype) else 4
    return prim.lh_str_from_array(letter, prim.itemsize(dtype), x.ndim, prim.data(dims), prim.data(x), repr)


def _record_text(x, repr):
    # The text of a record is NumPy's own.
    data = prim.record_data(x)
    return prim.lh_str_from_array(7, prim.type_number(x), 0, data, data, repr)


def _number_text(x):
    # The text of a number; NumPy's scalars print as Python's numbers.
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
    return prim.lh_str_from_c64(x) if prim.itemsize(prim.dtype_of(x)) == 8 else prim.lh_str_from_c128(x)


def text_repr(x):
    """`repr(x)`; NumPy's scalars print as Python's numbers."""
    if x is None:
        return "None"
    if prim.is_str(x):
        return prim.lh_str_repr(x)
    if prim.is_entries(x):
        return _entries_text(x)
    if prim.is_enum(x):
        return repr(x)
    if prim.is_dtype(x):
        return x.name
    if prim.is_array(x):
        return _array_text(x, True)
    if prim.is_bytes(x):
        return bytes_repr(x)
    if prim.is_exc(x):
        return prim.lh_exc_repr(x)
    if prim.is_number(x):
        return _number_text(x)
    if prim.is_tuple(x):
        return _tuple_text(x)
    if prim.is_a(x, "builtins.list"):
        return _list_text(x)
    if prim.is_a(x, "builtins.dict"):
        return _dict_text(x)
    if prim.is_a(x, "builtins.set"):
        return _set_text(x)
    if prim.is_a(x, "builtins.frozenset"):
        return "frozenset()" if len(x) == 0 else "frozenset(" + _set_text(x) + ")"
    if prim.has_method(x, "__repr__") and not prim.is_user(x):
        return x.__repr__()
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
    if prim.is_extension(x):
        return prim.object_text(x, "REPR")
    if prim.is_record(x) and not prim.is_dtype(x):
        return _record_text(x, True)
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
    return "[" + ", ".join([text_repr(item) for item in x]) + "]"


def _dict_text(x):
    return "{" + ", ".join([text_repr(key) + ": " + text_repr(value) for key, value in x.items()]) + "}"


def _set_text(x):
    if len(x) == 0:
        return "set()"
    return "{" + ", ".join([text_repr(item) for item in x]) + "}"


def _entries_text(x):
    text = ""
    for key, value in x.items():
        text += (", " if len(text) > 0 else "") + text_repr(key) + ": " + text_repr(value)
    return "{" + text + "}"


def text_ascii(x):
    """`ascii(x)`: the text of `repr` with escapes for what is not ASCII."""
    text = text_repr(x)
    if prim.lh_str_isascii(text):
        return text
    return "".join([c if prim.lh_str_ord(c) < 128 else escaped(prim.lh_str_ord(c)) for c in text])


def text_format(x, spec):
    """`format(x, spec)`."""
    if len(spec) == 0:
        return text_of(x)
    if prim.is_enum(x):
        return format(x, spec)
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


def class_name(x):
    """The name of a value's class, as messages have it."""
    if x is None:
        return "NoneType"
    if prim.is_str(x):
        return "str"
    if prim.is_bool(x):
        return "bool"
    if prim.is_int(x):
        return "int"
    if prim.is_complex(x):
        return "complex"
    if prim.is_float(x):
        return "float"
    if prim.is_tuple(x):
        return prim.class_name(x) if prim.class_name(x) != "" else "tuple"
    if prim.is_bytes(x):
        return "bytes" if prim.is_frozen(x) else "bytearray"
    if prim.is_array(x):
        return "numpy.ndarray"
    return prim.class_name(x) if prim.class_name(x) != "" else "object"


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
