"""Questions about types and kinds of values, most of which are answered while compiling."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.casting import check_rule
from lancehead.lib.numpy.creation import asarray


def isscalar(element):
    """Whether a value is a number, a truth value, a text or bytes.

    >>> np.isscalar(3.5)
    True
    >>> np.isscalar(np.array(3.5))
    False
    """
    if prim.is_enum(element):
        return prim.is_int(element) or prim.is_float(element)
    if prim.is_buffer(element):
        return prim.is_frozen(element) or not prim.is_bytes(element)
    if prim.is_array(element):
        return False
    return prim.is_scalar(element) or prim.is_str(element) or prim.is_record(element)


def issubdtype(arg1, arg2):
    """Whether a dtype is another one, or of a kind such as `np.integer`.

    >>> np.issubdtype(np.int32, np.integer)
    True
    """
    if prim.is_dtype(arg2) or prim.is_str(arg2):
        return prim.as_dtype(arg1) == prim.as_dtype(arg2)
    if prim.is_chars(prim.as_dtype(arg1)):
        is_own = arg2 is np.bytes_ if prim.is_char_bytes(prim.as_dtype(arg1)) else arg2 is np.str_
        return is_own or arg2 is np.character or arg2 is np.flexible or arg2 is np.generic
    return isinstance(prim.cast(0, prim.as_dtype(arg1)), arg2)


def promote_types(type1, type2):
    """The smallest dtype to which both are converted safely.

    >>> np.promote_types(np.int32, np.float32) == np.float64
    True
    """
    return prim.result_type(prim.as_dtype(type1), prim.as_dtype(type2))


def result_type(*arrays_and_dtypes):
    """The dtype of a result of arrays, numbers and dtypes.

    >>> np.result_type(3, np.ones(2, np.float32)) == np.float32
    True
    """
    if len(arrays_and_dtypes) == 0:
        raise ValueError("at least one array or dtype is required")
    dtype = _type_of(arrays_and_dtypes[0])
    for other in arrays_and_dtypes[1:]:
        dtype = prim.result_type(dtype, _type_of(other))
    return dtype


def _type_of(x):
    if isinstance(x, (list, tuple)):
        prim.error("a list is no dtype: make an array of it")
    if prim.is_scalar(x):
        return prim.result_type(x)
    if prim.is_tuple(x):
        prim.error("a tuple is no dtype here: give its items one by one")
    if prim.is_array(x) or prim.is_a(x, "builtins.list"):
        return prim.dtype_of(asarray(x))
    return prim.as_dtype(x)


def min_scalar_type(a, /):
    """The dtype of an array.

    >>> np.min_scalar_type(np.ones(2, np.float32)) == np.float32
    True
    """
    if prim.is_scalar(a) or asarray(a).ndim == 0:
        prim.error("the smallest type of a number depends on its value, and is not known while compiling")
    return prim.dtype_of(asarray(a))


def common_type(*arrays):
    """The dtype of floats or complex numbers that arrays have in common.

    >>> np.common_type(np.ones(2, np.float32), np.ones(2, np.int8)) == np.float64
    True
    """
    if len(arrays) == 0:
        return np.float16
    dtype = _inexact(arrays[0])
    for a in arrays[1:]:
        dtype = prim.result_type(dtype, _inexact(a))
    return dtype


def _inexact(a):
    if not prim.is_array(a):
        prim.error("`common_type` takes arrays")
    dtype = prim.dtype_of(a)
    if prim.is_int(dtype):
        return np.float64
    if not (prim.is_float(dtype) or prim.is_complex(dtype)):
        prim.error("can't get common type for non-numeric array")
    return dtype


def can_cast(from_, to, casting="safe"):
    """Whether a rule allows a conversion between dtypes.

    >>> np.can_cast(np.int32, np.int64)
    True
    >>> np.can_cast(np.float64, np.int64, "same_kind")
    False
    """
    if prim.is_scalar(from_) and prim.is_weak(from_):
        prim.error(
            "can_cast() does not support Python ints, floats, and complex because the result used to depend on "
            "the value."
        )
    check_rule(casting)
    source = _type_of(from_)
    target = prim.as_dtype(to)
    if prim.is_time(source) or prim.is_time(target) or prim.is_record(source) or prim.is_record(target):
        prim.error("this is asked of dtypes of numbers and truth values here")
    if casting == "unsafe":
        return True
    if casting == "no" or casting == "equiv":
        return source == target
    if casting == "safe":
        return prim.result_type(source, target) == target
    return prim.result_type(source, target) == target or _rank(source) <= _rank(target)


def _rank(dtype):
    # The order of kinds, in which conversions upwards and within a kind are allowed.
    if prim.is_bool(dtype):
        return 0
    if prim.is_int(dtype):
        return 2 if prim.is_signed(dtype) else 1
    return 3 if prim.is_float(dtype) else 4


def isdtype(dtype, kind):
    """Whether a dtype is another one, or of a kind of the array API; or of one of several.

    >>> np.isdtype(np.float32, "real floating")
    True
    """
    if not prim.is_dtype(dtype):
        prim.error("the first argument is a dtype")
    if prim.is_tuple(kind):
        found = False
        for k in kind:
            found = found or isdtype(dtype, k)
        return found
    own = prim.as_dtype(dtype)
    if not prim.is_str(kind):
        return own == prim.as_dtype(kind)
    integral = prim.is_int(own) and not prim.is_time(own)
    floating, complex_ = prim.is_float(own), prim.is_complex(own)
    if kind == "bool":
        return prim.is_bool(own)
    if kind == "signed integer":
        return integral and prim.is_signed(own)
    if kind == "unsigned integer":
        return integral and not prim.is_signed(own)
    if kind == "integral":
        return integral
    if kind == "real floating":
        return floating
    if kind == "complex floating":
        return complex_
    if kind == "numeric":
        return integral or floating or complex_
    raise ValueError("kind argument is a string, but '" + kind + "' is not a known kind name.")


def mintypecode(typechars, typeset="GDFgdf", default="d"):
    """The character of the smallest type to which types, given by their characters, are converted safely.

    >>> np.mintypecode("dF")
    'D'
    """
    best, singles, doubles = -1, False, False
    order = "GDFgdfQqLlIiHhBb?"
    for c in typechars:
        if c in typeset:
            singles, doubles = singles or c == "F", doubles or c == "d"
            at = order.index(c)
            best = at if best < 0 or at < best else best
    if best < 0:
        return default
    return "D" if singles and doubles else order[best]


def typename(char):
    """A description of a type, given by its character.

    >>> np.typename("d")
    'double precision'
    """
    codes = "?bBhHiIlLqQfdgFDGSUVO"
    names = [
        "bool", "signed char", "unsigned char", "short", "unsigned short", "integer", "unsigned integer",
        "long integer", "unsigned long integer", "long long integer", "unsigned long long integer",
        "single precision", "double precision", "long precision", "complex single precision",
        "complex double precision", "complex long double precision", "string", "unicode", "void", "object",
    ]  # fmt: skip
    if char == "S1":
        return "character"
    if len(char) != 1 or char not in codes:
        raise KeyError(char)
    return names[codes.index(char)]


def iscomplexobj(x):
    """Whether values are of a type of complex numbers, whatever their imaginary parts are.

    >>> np.iscomplexobj(np.array([1 + 0j]))
    True
    """
    if prim.is_none(x) or prim.is_str(x) or prim.is_bytes(x):
        return False
    if prim.is_optional(x):
        return False if x is None else iscomplexobj(x)
    return prim.is_complex(prim.dtype_of(x if prim.is_scalar(x) else asarray(x)))


def isrealobj(x):
    """Whether values are not of a type of complex numbers.

    >>> np.isrealobj(np.array([1 + 0j]))
    False
    """
    return not iscomplexobj(x)


def iterable(y):
    """Whether there are items of a value, one after the other.

    >>> np.iterable([1, 2])
    True
    >>> np.iterable(2)
    False
    """
    if prim.is_array(y):
        return y.ndim > 0
    if isinstance(y, slice) or prim.is_enum(y):
        return False
    return not (prim.is_scalar(y) or prim.is_none(y) or prim.is_dtype(y) or prim.is_func(y))


def isfortran(a):
    """Whether elements lie in column-major order and not in row-major order too.

    >>> np.isfortran(np.ones((2, 3)).T)
    True
    """
    return a.flags.fnc
