"""Units of dates and spans, as `numba.np.npdatetime_helpers` answers questions about them; NumPy is the oracle."""

import itertools

import numpy as np
import pytest

from lancehead.lowlevel import dates

#: Of shorter units, NumPy's factors overflow.
UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms"]
PAIRS = list(itertools.product(UNITS, repeat=2))


@pytest.mark.parametrize("kind", ["m8", "M8"])
def test_the_unit_of_two(kind: str) -> None:
    for a, b in PAIRS:
        if kind == "m8":
            assert dates.can_cast_timedelta_units(a, b) == np.can_cast(f"m8[{a}]", f"m8[{b}]", "safe"), (a, b)
        else:
            promoted = np.promote_types(f"M8[{a}]", f"M8[{b}]")
            assert promoted == np.dtype(f"M8[{dates.get_best_unit(a, b)}]"), (a, b)
        assert dates.get_best_unit("", a) == dates.get_best_unit(a, "") == a


def test_how_many_are_in_one() -> None:
    for a, b in PAIRS:
        factor = dates.get_timedelta_conversion_factor(a, b)
        assert (factor is not None) == (np.can_cast(f"m8[{a}]", f"m8[{b}]", "safe")), (a, b)
        if factor is not None and factor < 10**15:
            assert np.timedelta64(1, a) == np.timedelta64(factor, b)
    assert dates.get_timedelta_conversion_factor("", "s") == 1


def test_dates_and_spans() -> None:
    assert dates.combine_datetime_timedelta_units("D", "M") is None
    with pytest.raises(RuntimeError, match="cannot combine"):
        dates.get_datetime_timedelta_conversion("D", "M")
    for a, b in PAIRS:
        unit = dates.combine_datetime_timedelta_units(a, b)
        if unit is None:
            continue
        made, date_factor, span_factor = dates.get_datetime_timedelta_conversion(a, b)
        assert made == unit == np.datetime_data((np.datetime64(1, a) + np.timedelta64(1, b)).dtype)[0]
        if max(date_factor, span_factor) < 10**6:
            start, exact = np.datetime64(0, unit), span_factor * 7
            assert start + exact // span_factor == np.datetime64(7, unit)
            if date_factor * 7 % span_factor == 0 and span_factor == 1:
                assert np.datetime64(7, a) == np.datetime64(7 * date_factor, unit)
    assert dates.same_kind("Y", "D") and not dates.same_kind("D", "h")
