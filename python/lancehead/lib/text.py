"""The text of values, and old-style formatting. What walks over code points is in the run-time library."""

import numpy as np

from lancehead.lib import prim


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
    if prim.is_range(x):
        step = ", " + text_repr(x.step) if x.step != 1 else ""
        return "range(" + text_repr(x.start) + ", " + text_repr(x.stop) + step + ")"
    if prim.is_slice(x):
        return "slice(" + text_repr(x.start) + ", " + text_repr(x.stop) + ", " + text_repr(x.step) + ")"
    prim.error("no text form is known for a value of this type")


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


def percent(template, args):
    """`template % args` of a tuple."""
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
