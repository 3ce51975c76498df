"""Points and spans of time: `numpy.datetime64` and `numpy.timedelta64`.

Both are counts of ticks, in 64 bits. The unit is a type argument, so that what is asked about units here is decided
while compiling. The least count is NaT, which is like NaN.
"""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.date_texts import point_ticks, span_ticks
from lancehead.lib.dates import day_of, day_text, digits, hour_text, month_of

#: The count of ticks that means "not a time".
NAT = -9223372036854775808


def _count_of(x):
    return prim.cast(x, int)


def scaled(ticks, source, target):
    """Ticks of a unit as ticks of another, rounded down; NaT stays."""
    factor = prim.unit_factor(source, target)
    if factor is None:
        prim.error("values in these units of time are not converted into each other in 64 bits")
    num, denom = factor
    if num == 1 and denom == 1:
        return ticks
    if denom == 1:
        return NAT if ticks == NAT else ticks * num
    return NAT if ticks == NAT else ticks * num // denom


def _months(ticks, source):
    # The month in which a point in years or months begins, counted from January 1970.
    return ticks * prim.unit_count(source) * (12 if prim.unit(source) == "Y" else 1)


def _moved(ticks, source, target):
    # Ticks of a point as ticks in another unit: by way of the calendar where years or months are concerned.
    if prim.span_of(source) == prim.span_of(target):
        return ticks
    if not prim.is_calendar(source) and not prim.is_calendar(target) or prim.unit(source) == "generic":
        return scaled(ticks, source, target)
    if ticks == NAT:
        return ticks
    # As in NumPy, multiples of units are made and undone last, which counts if 64 bits overflow.
    if not prim.is_calendar(source):
        months = month_of(scaled(ticks * prim.unit_count(source), prim.span_in(prim.unit(source)), prim.span_in("D")))
    else:
        months = _months(ticks, source)
        if not prim.is_calendar(target):
            whole = scaled(day_of(months), prim.span_in("D"), prim.span_in(prim.unit(target)))
            return whole // prim.unit_count(target)
    return months // 12 // prim.unit_count(target) if prim.unit(target) == "Y" else months // prim.unit_count(target)


def _in_unit(x, unit):
    return _moved(x._ticks, x, unit) if prim.is_point(x) else scaled(x._ticks, x, unit)


def _common(a, b):
    unit = prim.common_unit(a, b)
    if unit is None:
        prim.error("spans in years or months and spans in other units have no common unit")
    return unit


def _check_count(x):
    if not (prim.is_int(x) or prim.is_bool(x)):
        prim.error("a time takes spans of time and integers here")


def add(a, b):
    """The sum: a point and a span make a point, spans a span. Integers are spans in the other's unit."""
    if not prim.is_time(a):
        _check_count(a)
        return add(prim.time(a, prim.span_of(b)), b)
    if not prim.is_time(b):
        _check_count(b)
        return add(a, prim.time(b, prim.span_of(a)))
    if prim.is_point(a) and prim.is_point(b):
        prim.error("points of time are not added")
    unit = _common(a, b)
    x, y = _in_unit(a, unit), _in_unit(b, unit)
    ticks = NAT if x == NAT or y == NAT else x + y
    return prim.time(ticks, unit if prim.is_span(a) and prim.is_span(b) else prim.point_of(unit))


def sub(a, b):
    """The difference: of points it is a span."""
    if not prim.is_time(a):
        _check_count(a)
        return sub(prim.time(a, prim.span_of(b)), b)
    if not prim.is_time(b):
        _check_count(b)
        return sub(a, prim.time(b, prim.span_of(a)))
    if prim.is_span(a) and prim.is_point(b):
        prim.error("a point of time is not subtracted from a span")
    unit = _common(a, b)
    x, y = _in_unit(a, unit), _in_unit(b, unit)
    ticks = NAT if x == NAT or y == NAT else x - y
    return prim.time(ticks, prim.point_of(unit) if prim.is_point(a) and prim.is_span(b) else unit)


def _is_odd(x):
    # NaN, infinities, and what 64 bits do not hold.
    return not (x > -9.3e18 and x < 9.3e18)


def _of_float(x):
    return NAT if _is_odd(x) else prim.cast(x, int)


def mul(a, b):
    """A span a number of times."""
    if not prim.is_time(a):
        return mul(b, a)
    if not prim.is_span(a) or prim.is_time(b) or prim.is_complex(b):
        prim.error("spans of time are multiplied with real numbers only")
    x = a._ticks
    if prim.is_float(b):
        return prim.time(NAT if x == NAT else _of_float(float(x) * float(b)), a)
    return prim.time(NAT if x == NAT else x * _count_of(b), a)


def _check_divided(a, b):
    if not prim.is_span(a) or prim.is_point(b) or prim.is_complex(b):
        prim.error("only spans of time are divided, by spans and real numbers")


def truediv(a, b):
    """The ratio of spans, or a part of a span, rounded towards zero."""
    _check_divided(a, b)
    if prim.is_span(b):
        unit = _common(a, b)
        x, y = _in_unit(a, unit), _in_unit(b, unit)
        return np.nan if x == NAT or y == NAT else prim.fdiv(float(x), float(y))
    if prim.is_bool(b):
        prim.error("a span of time is not divided by a truth value")
    return _part(a, b)


def _part(a, b):
    x = a._ticks
    if prim.is_float(b):
        return prim.time(NAT if x == NAT else _of_float(prim.fdiv(float(x), float(b))), a)
    n = _count_of(b)
    if x == NAT or n == 0:
        return prim.time(NAT, a)
    return prim.time(-x if n == -1 else prim.sdiv(x, n), a)


def floordiv(a, b):
    """How often a span goes into another, or a part of a span, which NumPy rounds towards zero."""
    _check_divided(a, b)
    if not prim.is_span(b):
        return truediv(a, b)
    unit = _common(a, b)
    x, y = _in_unit(a, unit), _in_unit(b, unit)
    return 0 if x == NAT or y == NAT or y == 0 else (-x if y == -1 else x // y)


def mod(a, b):
    """The remainder of the division of two spans, with the sign of the divisor."""
    if not prim.is_span(a) or not prim.is_span(b):
        prim.error("the remainder of a span of time is by a span")
    unit = _common(a, b)
    x, y = _in_unit(a, unit), _in_unit(b, unit)
    return prim.time(NAT if x == NAT or y == NAT or y == 0 else (0 if y == -1 else x % y), unit)


def _as_time(x, other):
    return x if prim.is_time(x) else prim.time(x, other)


def _compared(a, b):
    if not prim.is_like(a, b):
        prim.error("points and spans of time are compared with their like")
    s, t = _as_time(a, b), _as_time(b, a)
    unit = _common(s, t)
    return _in_unit(s, unit), _in_unit(t, unit)


def eq(a, b):
    """Whether both are the same, and not NaT."""
    if not prim.is_like(a, b):
        return False
    x, y = _compared(a, b)
    return (x == y) & (x != NAT)


def ne(a, b):
    """Whether they differ, or one is NaT."""
    if not prim.is_like(a, b):
        return True
    x, y = _compared(a, b)
    return (x != y) | (x == NAT)


def lt(a, b):
    """Whether the first is before the second, or shorter."""
    x, y = _compared(a, b)
    return (x < y) & (x != NAT)


def le(a, b):
    """Whether the first is not after the second, or not longer."""
    x, y = _compared(a, b)
    return (x <= y) & (x != NAT)


def gt(a, b):
    """Whether the first is after the second, or longer."""
    x, y = _compared(a, b)
    return (x > y) & (y != NAT)


def ge(a, b):
    """Whether the first is not before the second, or not shorter."""
    x, y = _compared(a, b)
    return (x >= y) & (y != NAT)


def _check_span(x):
    if not prim.is_span(x):
        prim.error("this is defined for spans of time, not for points")


def neg(x):
    """The span backwards."""
    _check_span(x)
    return prim.time(-x._ticks, x)


def pos(x):
    """The span itself."""
    _check_span(x)
    return x


def ufunc_negative(x):
    """The span backwards."""
    return neg(x)


def ufunc_positive(x):
    """The span itself."""
    return pos(x)


def ufunc_absolute(x):
    """The span without its sign."""
    _check_span(x)
    return prim.time(-x._ticks if x._ticks < 0 else x._ticks, x)


ufunc_abs = ufunc_absolute


def ufunc_sign(x):
    """The sign of a span as a span of -1, 0 or 1 ticks: as in NumPy, that of NaT is -1."""
    _check_span(x)
    t = x._ticks
    return prim.time((t > 0) - (t < 0), x)


def ufunc_isnat(x):
    """Whether a time is NaT."""
    return x._ticks == NAT


ufunc_isnan = ufunc_isnat


def ufunc_isfinite(x):
    """Whether a time is not NaT."""
    return x._ticks != NAT


def ufunc_isinf(x):
    """No time is infinite."""
    return False


def smaller(a, b):
    """The lesser of two; NaT wins."""
    unit = _common(a, b)
    x, y = _in_unit(a, unit), _in_unit(b, unit)
    # NaT is the least count.
    return prim.time(y if y < x else x, prim.point_of(unit) if prim.is_point(a) else unit)


def larger(a, b):
    """The greater of two; NaT wins."""
    unit = _common(a, b)
    x, y = _in_unit(a, unit), _in_unit(b, unit)
    most = y if y > x else x
    return prim.time(NAT if x == NAT or y == NAT else most, prim.point_of(unit) if prim.is_point(a) else unit)


def _check_like(a, b):
    if not prim.is_like(a, b):
        prim.error("points and spans of time are compared with their like")


def ufunc_minimum(a, b):
    """The lesser of two; NaT wins."""
    _check_like(a, b)
    return smaller(_as_time(a, b), _as_time(b, a))


def ufunc_maximum(a, b):
    """The greater of two; NaT wins."""
    _check_like(a, b)
    return larger(_as_time(a, b), _as_time(b, a))


def ufunc_fmin(a, b):
    """The lesser of two; NaT loses."""
    _check_like(a, b)
    s, t = _as_time(a, b), _as_time(b, a)
    least = smaller(s, t)
    return like(t, least) if s._ticks == NAT else like(s, least) if t._ticks == NAT else least


def ufunc_fmax(a, b):
    """The greater of two; NaT loses."""
    _check_like(a, b)
    s, t = _as_time(a, b), _as_time(b, a)
    most = larger(s, t)
    return like(t, most) if s._ticks == NAT else like(s, most) if t._ticks == NAT else most


def ufunc_divmod(a, b):
    """Quotient and remainder of spans."""
    return floordiv(a, b), mod(a, b)


def element(x, dtype):
    """A value as one of a dtype, of which at least one is of times."""
    if not prim.is_time(dtype):
        if prim.is_bool(dtype):
            return x._ticks != 0
        return prim.cast(x._ticks, dtype)
    if prim.is_time(x):
        if prim.is_span(x) != prim.is_span(dtype):
            # The count stays what it is.
            return prim.time(scaled(x._ticks, x, dtype), dtype)
        return prim.time(_in_unit(x, _unit_for(x, dtype)), dtype)
    if prim.is_complex(x):
        return element(x.real, dtype)
    if prim.is_float(x):
        return prim.time(_of_float(x), dtype)
    if prim.is_str(x) and prim.unit(dtype) != "generic":
        return prim.time(point_ticks(x, dtype) if prim.is_point(dtype) else span_ticks(x), dtype)
    if not prim.is_number(x):
        prim.error("this is no element of an array of times")
    return prim.time(x, dtype)


def _unit_for(x, dtype):
    # A dtype without a unit stands for any unit: a value with a unit keeps it.
    return x if prim.unit(dtype) == "generic" else dtype


def target(source, dtype):
    """The dtype of `astype`: a time that is converted to one without a unit keeps its own."""
    if prim.is_time(source) and prim.is_time(dtype):
        if prim.unit(dtype) == "generic":
            return prim.span_of(source) if prim.is_span(dtype) else prim.point_of(source)
    return dtype


def like(x, other):
    """A value as one of the type of another."""
    return element(x, prim.dtype_of(other))


def _same(x):
    return x


def _check_whole(x):
    if prim.is_float(prim.dtype_of(x)) or prim.is_complex(prim.dtype_of(x)):
        prim.error("numbers with a fraction are not stored in an array of times")


def stored(x, dtype):
    """`a[i] = x`, of an array of times or of times."""
    if not prim.is_time(dtype):
        prim.error("times are not stored in an array of numbers: use `astype` or `view`")
    if not prim.is_scalar(x):
        prim.error("a value of this type is not stored in an array of times")
    _check_whole(x)
    return element(x, dtype)


def assign(dst, x):
    """`dst[...] = x`, of arrays of times or from such."""
    if prim.is_time(x) and not prim.is_time(dst):
        prim.error("times are not stored in an array of numbers: use `astype` or `view`")
    _check_whole(x)
    prim.map_into(dst, _same, x)


def called(x, dtype):
    """`int(x)` and the like, of a time or to one."""
    if prim.is_array(x):
        return x.astype(dtype)
    return element(x, dtype)


def _unit_of_argument(unit, default):
    if unit is None:
        return default
    return prim.span_in(unit)


def make_span(value=0, unit=None):
    """`np.timedelta64(value, unit)`."""
    if prim.is_span(value):
        return element(value, _unit_of_argument(unit, prim.dtype_of(value)))
    if prim.is_str(value):
        return prim.time(span_ticks(value), _unit_of_argument(unit, prim.span_in("generic")))
    if not (prim.is_int(value) or prim.is_bool(value)):
        prim.error("a span of time is made of an integer, a span, or a text")
    return prim.time(value, _unit_of_argument(unit, prim.span_in("generic")))


def make_point(value=None, unit=None):
    """`np.datetime64(value, unit)`."""
    if prim.is_none(value):
        return prim.time(NAT, prim.point_of(_unit_of_argument(unit, prim.span_in("generic"))))
    if prim.is_point(value):
        return element(value, prim.point_of(_unit_of_argument(unit, prim.span_of(value))))
    if prim.is_str(value):
        if unit is None:
            prim.error("a point of time that is made of a text known only at run time needs a unit")
        point = prim.point_of(_unit_of_argument(unit, None))
        return prim.time(point_ticks(value, point), point)
    if not (prim.is_int(value) or prim.is_bool(value)):
        prim.error("a point of time is made of an integer, a point, or a text")
    if unit is None:
        prim.error("a point of time that is made of an integer needs a unit")
    return prim.time(value, prim.point_of(_unit_of_argument(unit, None)))


def _range_dtype(start, stop, step):
    # The type of a range: of points if it starts with one.
    unit = _range_unit(start, stop, step)
    return prim.point_of(unit) if prim.is_point(start) else prim.span_of(unit)


def _range_unit(start, stop, step):
    if not prim.is_time(start):
        return _common(stop, step) if prim.is_time(stop) and prim.is_time(step) else _any_time(stop, step)
    if not prim.is_time(stop):
        return _common(start, step) if prim.is_time(step) else start
    if prim.is_time(step):
        return _common(_common(start, stop), step)
    return _common(start, stop)


def _any_time(a, b):
    return a if prim.is_time(a) else b


def _range_end(start, stop, dtype):
    # An end that is no point is counted from the begin.
    if prim.is_point(dtype) and not prim.is_point(stop) and not prim.is_str(stop):
        return element(start, dtype)._ticks + element(stop, prim.span_of(dtype))._ticks
    return element(stop, dtype)._ticks


def arange(start, stop, step, dtype):
    """`np.arange` of times."""
    if stop is None:
        return arange(prim.time(0, start) if prim.is_time(start) else 0, start, step, dtype)
    if step is None:
        return arange(start, stop, 1, dtype)
    dt = _range_dtype(start, stop, step) if dtype is None else prim.as_dtype(dtype)
    first, last = element(start, dt)._ticks, _range_end(start, stop, dt)
    delta = element(step, prim.span_of(dt))._ticks
    if first == NAT or last == NAT or delta == NAT:
        raise ValueError("arange: cannot use NaT (not-a-time) datetime values")
    if delta == 0:
        raise ValueError("arange: step cannot be zero")
    n = 0
    if delta > 0 and last > first:
        n = (last - first - 1) // delta + 1
    if delta < 0 and last < first:
        n = (first - last - 1) // -delta + 1
    out = np.empty(n, dt)
    for i in range(n):
        prim.set_item(out, i, prim.time(first + i * delta, dt))
    return out


def to_key(x):
    """A count that orders as sorting does: NaT last."""
    return prim.cast(x._ticks, np.int64) - np.int64(1)


def of_key(key, other):
    """The time with a key."""
    return prim.time(key + np.int64(1), other)


def _unit_name(x):
    unit = prim.unit(x)
    if unit == "Y":
        return "years"
    if unit == "M":
        return "months"
    if unit == "W":
        return "weeks"
    if unit == "D":
        return "days"
    if unit == "h":
        return "hours"
    if unit == "m":
        return "minutes"
    if unit == "generic":
        return "generic units"
    return _prefix(unit) + "seconds"


def _prefix(unit):
    if unit == "s":
        return ""
    if unit == "ms":
        return "milli"
    if unit == "us":
        return "micro"
    if unit == "ns":
        return "nano"
    if unit == "ps":
        return "pico"
    return "femto" if unit == "fs" else "atto"


def _point_text(x):
    unit = prim.unit(x)
    if unit == "Y" or unit == "M":
        return day_text(day_of(_months(x._ticks, x)), unit)
    if unit == "W" or unit == "D" or unit == "generic":
        return day_text(scaled(x._ticks, x, prim.span_in("D")), "D")
    ticks = x._ticks * prim.unit_count(x)
    if unit == "h":
        return day_text(ticks // 24, "D") + hour_text(ticks % 24 * 60, unit)
    if unit == "m":
        return day_text(ticks // 1440, "D") + hour_text(ticks % 1440, unit)
    of_second, _ = prim.unit_factor(prim.span_in("s"), prim.span_in(unit))
    seconds = ticks // of_second
    out = day_text(seconds // 86400, "D") + hour_text(seconds % 86400 // 60, "m") + ":" + digits(seconds % 60, 2)
    return out if unit == "s" else out + "." + digits(ticks % of_second, len(str(of_second)) - 1)


def text(x):
    """`str` of a time."""
    if x._ticks == NAT:
        return "NaT"
    if prim.is_point(x):
        return _point_text(x)
    return str(x._ticks * prim.unit_count(x)) + " " + _unit_name(x)


def _unit_text(x):
    count = prim.unit_count(x)
    return ",'" + (str(count) if count != 1 else "") + prim.unit(x) + "'"


def repr_text(x):
    """`repr` of a time."""
    is_bare = prim.unit(x) == "generic"
    if prim.is_point(x):
        is_bare = is_bare or prim.unit_count(x) == 1 and prim.unit(x) != "h" and x._ticks != NAT
        return "np.datetime64('" + text(x) + "'" + ("" if is_bare else _unit_text(x)) + ")"
    ticks = "'NaT'" if x._ticks == NAT else str(x._ticks)
    return "np.timedelta64(" + ticks + ("" if is_bare else _unit_text(x)) + ")"
