"""Business days: those of a week's mask that are no holidays."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.dates import month_of
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.folds import deliver
from lancehead.lib.numpy.layout import contiguous, new_array, with_shape

#: The count of days that means "not a time".
NAT = -9223372036854775808
DAYS = "MonTueWedThuFriSatSun"


def _days(dates):
    # Days as numbers since 1970.
    if prim.is_str(dates):
        return asarray(np.datetime64(dates, "D")).view(np.int64)
    x = asarray(dates)
    if not prim.is_point(prim.dtype_of(x)):
        prim.error("business days are of points of time: `datetime64[D]`")
    if prim.unit(prim.dtype_of(x)) != "D":
        prim.error('business days are of days: convert the points of time, `a.astype("M8[D]")`')
    return contiguous(x).view(np.int64)


def _numbers(x):
    if not (prim.is_int(prim.dtype_of(asarray(x))) or prim.is_bool(prim.dtype_of(asarray(x)))):
        prim.error("offsets are integers")
    return asarray(x, np.int64)


def _refuse(weekmask):
    raise ValueError('Invalid business day weekmask string "' + weekmask + '"')


def _mask_of_text(weekmask):
    mask = [False, False, False, False, False, False, False]
    if len(weekmask) == 7 and (weekmask[0] == "0" or weekmask[0] == "1"):
        for i in range(7):
            if weekmask[i] != "0" and weekmask[i] != "1":
                _refuse(weekmask)
            mask[i] = weekmask[i] == "1"
        return mask
    at = 0
    while at < len(weekmask):
        if weekmask[at].isspace():
            at += 1
            continue
        day = DAYS.find(weekmask[at : at + 3]) if at + 3 <= len(weekmask) else -1
        if day < 0 or day % 3 != 0:
            _refuse(weekmask)
        mask[day // 3] = True
        at += 3
    return mask


def _mask(weekmask):
    # Whether Monday to Sunday are business days.
    if prim.is_str(weekmask):
        mask = _mask_of_text(weekmask)
    else:
        x = asarray(weekmask)
        if x.ndim != 1:
            prim.error("a weekmask is a text or has one dimension")
        if x.size != 7:
            raise ValueError("A business day weekmask array must have length 7")
        mask = [bool(prim.item(x, i)) for i in range(7)]
    for i in range(7):
        if mask[i]:
            return mask
    raise ValueError("the business day weekmask must have at least one valid business day")


def _is_weekday(day, mask):
    return mask[(day + 3) % 7]


def _holidays(holidays, mask):
    # The holidays that would be business days, each once, in order.
    if holidays is None:
        return new_array((0,), np.int64)
    days = np.sort(_days(holidays).reshape((-1,)))
    out = new_array((days.size,), np.int64)
    n = 0
    for i in range(days.size):
        day = prim.item(days, i)
        if day != NAT and _is_weekday(day, mask) and (n == 0 or prim.item(out, n - 1) != day):
            prim.set_item(out, n, day)
            n += 1
    return out[:n]


def _before(holidays, day):
    # How many holidays there are before a day.
    return int(np.searchsorted(holidays, day))


def _is_business(day, mask, holidays):
    if day == NAT or not _is_weekday(day, mask):
        return False
    k = _before(holidays, day)
    return k == holidays.size or prim.item(holidays, k) != day


def _check_calendar(busdaycal):
    if busdaycal is not None:
        prim.error("calendars are given by `weekmask` and `holidays`")


def is_busday(dates, weekmask="1111100", holidays=None, busdaycal=None, out=None):
    """Whether days are business days.

    >>> np.is_busday(np.arange(np.datetime64("2011-07-01"), np.datetime64("2011-07-03")))
    array([ True, False])
    """
    _check_calendar(busdaycal)
    days, mask = _days(dates), _mask(weekmask)
    free = _holidays(holidays, mask)
    line, result = days.reshape((-1,)), new_array((days.size,), np.bool_)
    for i in range(line.size):
        prim.set_item(result, i, _is_business(prim.item(line, i), mask, free))
    return deliver(_shaped(result, days.shape), out)


def _shaped(line, shape):
    if len(shape) == 0:
        return line[0]
    return with_shape(line, shape)


def _next(day, mask, holidays, step):
    while not _is_business(day, mask, holidays):
        day += step
    return day


def _check_roll(roll):
    if not (
        roll == "raise" or roll == "nat" or roll == "forward" or roll == "following" or roll == "backward"
        or roll == "preceding" or roll == "modifiedfollowing" or roll == "modifiedpreceding"
    ):  # fmt: skip
        raise ValueError('Invalid business day roll parameter "' + roll + '"')


def _rolled(day, roll, mask, holidays):
    if day == NAT:
        if roll == "raise":
            raise ValueError("NaT input in busday_offset")
        return day
    if _is_business(day, mask, holidays):
        return day
    if roll == "raise":
        raise ValueError("Non-business day date in busday_offset")
    if roll == "nat":
        return NAT
    if roll == "forward" or roll == "following":
        return _next(day, mask, holidays, 1)
    if roll == "backward" or roll == "preceding":
        return _next(day, mask, holidays, -1)
    step = 1 if roll == "modifiedfollowing" else -1
    found = _next(day, mask, holidays, step)
    return found if month_of(found) == month_of(day) else _next(day, mask, holidays, -step)


def _moved(day, offset, mask, holidays):
    # Whole weeks at once, then as many days more as there were holidays on the way.
    if day == NAT or offset == NAT:
        return NAT
    of_week = 0
    for i in range(7):
        of_week += 1 if mask[i] else 0
    step = 1 if offset > 0 else -1
    left = offset if offset > 0 else -offset
    weeks = left // of_week
    left -= weeks * of_week
    crossed = _before(holidays, day + 1) if step > 0 else _before(holidays, day)
    day += step * weeks * 7
    now = _before(holidays, day + 1) if step > 0 else _before(holidays, day)
    left += now - crossed if step > 0 else crossed - now
    while left > 0:
        day += step
        if _is_business(day, mask, holidays):
            left -= 1
    return day


def busday_offset(dates, offsets, roll="raise", weekmask="1111100", holidays=None, busdaycal=None, out=None):
    """Days moved by so many business days, from a business day that `roll` chooses.

    >>> np.busday_offset(np.arange(np.datetime64("2011-10-01"), np.datetime64("2011-10-03")), 1, roll="forward")
    array(['2011-10-04', '2011-10-04'], dtype='datetime64[D]')
    """
    _check_calendar(busdaycal)
    days, steps, mask = _days(dates), _numbers(offsets), _mask(weekmask)
    free = _holidays(holidays, mask)
    _check_roll(roll)
    shape = np.broadcast_shapes(days.shape, steps.shape)
    first, second = np.broadcast_to(days, shape).ravel(), np.broadcast_to(steps, shape).ravel()
    result = new_array((first.size,), np.int64)
    for i in range(first.size):
        day = _rolled(prim.item(first, i), roll, mask, free)
        prim.set_item(result, i, _moved(day, prim.item(second, i), mask, free))
    return deliver(_shaped(result.view("M8[D]"), shape), out)


def _between(begin, end, mask, holidays):
    if begin == NAT or end == NAT:
        raise ValueError("Cannot compute a business day count with a NaT (not-a-time) date")
    if begin == end:
        return 0
    # Backwards the first day counts, and the last does not.
    low, high = (begin, end) if begin < end else (end + 1, begin + 1)
    of_week = 0
    for i in range(7):
        of_week += 1 if mask[i] else 0
    total = (high - low) // 7 * of_week
    for i in range((high - low) % 7):
        total += 1 if _is_weekday(low + i, mask) else 0
    total -= _before(holidays, high) - _before(holidays, low)
    return total if begin < end else -total


def busday_count(begindates, enddates, weekmask="1111100", holidays=(), busdaycal=None, out=None):
    """Number of business days from one day to before another.

    >>> np.busday_count(np.datetime64("2011-01-03"), np.datetime64("2011-01-10"))
    np.int64(5)
    """
    _check_calendar(busdaycal)
    starts, stops, mask = _days(begindates), _days(enddates), _mask(weekmask)
    free = _holidays(None if prim.is_tuple(holidays) else holidays, mask)
    shape = np.broadcast_shapes(starts.shape, stops.shape)
    first, second = np.broadcast_to(starts, shape).ravel(), np.broadcast_to(stops, shape).ravel()
    result = new_array((first.size,), np.int64)
    for i in range(first.size):
        prim.set_item(result, i, _between(prim.item(first, i), prim.item(second, i), mask, free))
    return deliver(_shaped(result, shape), out)
