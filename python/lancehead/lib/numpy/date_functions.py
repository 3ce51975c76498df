"""Texts and units of points of time."""

from lancehead.lib import prim
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import flat, new_array


def datetime_data(dtype, /):
    """The unit of a dtype of times, and how many of it a tick is.

    >>> np.datetime_data(np.dtype("m8[25s]"))
    ('s', 25)
    """
    t = prim.as_dtype(dtype)
    if not prim.is_time(t):
        prim.error("a dtype of points or spans of time is needed")
    return prim.unit(t), prim.unit_count(t)


def _room(unit):
    # Texts that are long enough, as NumPy has them.
    if unit == "Y":
        return prim.as_dtype("U22")
    if unit == "M":
        return prim.as_dtype("U25")
    if unit == "W" or unit == "D":
        return prim.as_dtype("U28")
    if unit == "h":
        return prim.as_dtype("U32")
    if unit == "m":
        return prim.as_dtype("U35")
    if unit == "s":
        return prim.as_dtype("U38")
    if unit == "ms":
        return prim.as_dtype("U42")
    if unit == "us":
        return prim.as_dtype("U45")
    if unit == "ns":
        return prim.as_dtype("U48")
    if unit == "ps":
        return prim.as_dtype("U51")
    if unit == "fs":
        return prim.as_dtype("U54")
    return prim.as_dtype("U57")


def _text(x, timezone):
    out = str(x)
    return out + "Z" if timezone == "UTC" and "T" in out and out != "NaT" else out


def _converted(x, unit, timezone):
    return datetime_as_string(x.astype(prim.point_of(prim.span_in(unit))), None, timezone)


def datetime_as_string(arr, unit=None, timezone="naive", casting="same_kind"):
    """Texts of points of time by ISO 8601, in their unit or another one.

    >>> np.datetime_as_string(np.datetime64("2011-03-05T12", "s"), timezone="UTC")
    np.str_('2011-03-05T12:00:00Z')
    """
    x = asarray(arr)
    if not prim.is_point(prim.dtype_of(x)):
        prim.error("input must have type NumPy datetime")
    if timezone != "naive" and timezone != "UTC":
        raise ValueError('Unsupported timezone input string "' + timezone + '"')
    if unit is not None:
        if casting != "same_kind" and casting != "unsafe":
            prim.error("`casting` is 'same_kind' or 'unsafe' here")
        if unit != prim.unit(prim.dtype_of(x)):
            return _converted(x, unit, timezone)
    if x.ndim == 0:
        return _text(x[()], timezone)
    out = new_array(x.shape, _room(prim.unit(prim.dtype_of(x))))
    v, w = flat(x), flat(out)
    for i in range(v.size):
        w[i] = _text(v[i], timezone)
    return out
