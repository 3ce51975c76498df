"""Units of dates and spans, as Numba's `numba.np.npdatetime_helpers` answers questions about them."""

from __future__ import annotations

import math

import numpy as np

NAT = np.timedelta64("nat").astype(np.int64)

#: The units from the longest to the shortest; the last is that of spans without one.
DATETIME_UNITS = {
    "Y": 0, "M": 1, "W": 2, "D": 4, "h": 5, "m": 6, "s": 7, "ms": 8, "us": 9, "ns": 10, "ps": 11, "fs": 12, "as": 13,
    "": 14,
}  # fmt: skip
#: How many of the next unit are in one.
_NEXT = {"Y": 12, "W": 7, "D": 24, "h": 60, "m": 60, "s": 1000, "ms": 1000, "us": 1000, "ns": 1000, "ps": 1000,
         "fs": 1000}  # fmt: skip
_NAMES = list(DATETIME_UNITS)
#: Days of 400 years, after which the calendar repeats itself.
_DAYS, _YEARS = 97 + 400 * 365, 400


def same_kind(src: str, dest: str) -> bool:
    """Whether both units are dates, or both are times."""
    return (DATETIME_UNITS[src] < 5) == (DATETIME_UNITS[dest] < 5)


def can_cast_timedelta_units(src: str, dest: str) -> bool:
    """Whether spans of a unit are exact in another."""
    a, b = DATETIME_UNITS[src], DATETIME_UNITS[dest]
    return a in (b, 14) or (a < b < 14 and not a <= 1 < b)


def get_timedelta_conversion_factor(src_unit: str, dest_unit: str) -> int | None:
    """How many of a unit are in one of a longer unit; None if that depends on the date.

    >>> get_timedelta_conversion_factor("D", "s"), get_timedelta_conversion_factor("Y", "D")
    (86400, None)
    """
    if not src_unit:
        return 1
    between = _NAMES[_NAMES.index(src_unit) : _NAMES.index(dest_unit)]
    if _NAMES.index(src_unit) > _NAMES.index(dest_unit) or not all(unit in _NEXT for unit in between):
        return None
    return math.prod(_NEXT[unit] for unit in between)


def combine_datetime_timedelta_units(datetime_unit: str, timedelta_unit: str) -> str | None:
    """The unit of a date and a span that are added; None if there is none.

    >>> combine_datetime_timedelta_units("D", "h"), combine_datetime_timedelta_units("D", "M")
    ('h', None)
    """
    dates, spans = DATETIME_UNITS[datetime_unit], DATETIME_UNITS[timedelta_unit]
    if 14 in (dates, spans):
        return timedelta_unit if dates == 14 else datetime_unit
    if spans < 2 <= dates:
        return None
    return datetime_unit if dates > spans else timedelta_unit


def get_best_unit(unit_a: str, unit_b: str) -> str:
    """The shorter of two units."""
    a, b = DATETIME_UNITS[unit_a], DATETIME_UNITS[unit_b]
    return unit_b if a == 14 or a < b < 14 else unit_a


def get_datetime_timedelta_conversion(datetime_unit: str, timedelta_unit: str) -> tuple[str, int, int]:
    """The unit of a date and a span that are added, and the factors by which each is multiplied.

    Raises:
        RuntimeError: there is no such unit.
    """
    unit = combine_datetime_timedelta_units(datetime_unit, timedelta_unit)
    if unit is None:
        raise RuntimeError(f"cannot combine datetime64({datetime_unit!r}) and timedelta64({timedelta_unit!r})")
    dates, spans = DATETIME_UNITS[datetime_unit], DATETIME_UNITS[timedelta_unit]
    if 14 in (dates, spans):
        return datetime_unit, 1, 1
    date_factor = span_factor = 1
    if dates < 2 <= spans:
        date_factor, span_factor = _DAYS, _YEARS * (12 if dates else 1) * (7 if spans == 2 else 1)
        datetime_unit = "W" if spans == 2 else "D"
    longer = get_timedelta_conversion_factor(datetime_unit, unit)
    shorter = get_timedelta_conversion_factor(timedelta_unit, unit)
    assert longer is not None and shorter is not None
    return unit, date_factor * longer, span_factor * shorter
