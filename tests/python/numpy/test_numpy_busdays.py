"""Business days, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import lancehead

rng = np.random.default_rng(3)
FREE = (np.datetime64("2011-01-01") + rng.integers(0, 900, 60)).astype("M8[D]")
DAYS = (np.datetime64("2010-12-01") + rng.integers(0, 1000, 300)).astype("M8[D]")
MASKS = ["1111100", "Mon Wed  Sun", "SatSun", "0000001"]
ROLLS = ["forward", "following", "backward", "preceding", "modifiedfollowing", "modifiedpreceding", "nat"]

is_busday = lancehead.njit(lambda d, m, h: np.is_busday(d, m, h))
offset = lancehead.njit(lambda d, n, r, m, h: np.busday_offset(d, n, r, m, h))
count = lancehead.njit(lambda a, b, m, h: np.busday_count(a, b, weekmask=m, holidays=h))


@pytest.mark.parametrize("mask", MASKS)
def test_days_of_a_calendar(mask):
    days = DAYS.copy()
    days[5] = "NaT"
    assert (is_busday(days, mask, FREE) == np.is_busday(days, mask, FREE)).all()
    other = DAYS[::-1] + 3
    assert (count(DAYS, other, mask, FREE) == np.busday_count(DAYS, other, mask, FREE)).all()
    steps = rng.integers(-40, 40, 300)
    for roll in ROLLS:
        got, want = offset(days, steps, roll, mask, FREE), np.busday_offset(days, steps, roll, mask, FREE)
        assert got.dtype == want.dtype and (got.view("i8") == want.view("i8")).all(), roll


def test_numbers_texts_and_shapes():
    day = np.datetime64("2011-03-05")
    assert lancehead.njit(lambda d: np.is_busday(d))(day) is False
    days = lancehead.njit(lambda d: np.busday_count(d, d + np.timedelta64(30, "D")))(day)
    assert days == np.busday_count(day, day + 30)
    assert lancehead.njit(lambda d: np.busday_offset(d, 3, roll="forward"))(day) == np.busday_offset(day, 3, "forward")
    assert lancehead.njit(lambda: np.is_busday("2011-03-04"))() is True
    table = DAYS[:12].reshape(3, 4)
    got = lancehead.njit(lambda d, n: np.busday_offset(d, n, "forward", [1, 0, 0, 0, 0, 0, 1]))(
        table, np.arange(3)[:, None]
    )
    assert (got == np.busday_offset(table, np.arange(3)[:, None], "forward", [1, 0, 0, 0, 0, 0, 1])).all()
    out = np.empty(300, bool)
    lancehead.njit(lambda d, out: np.is_busday(d, out=out))(DAYS, out)
    assert (out == np.is_busday(DAYS)).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda d: np.busday_offset(d, 1),
        lambda d: np.busday_offset(d, 1, roll="sideways"),
        lambda d: np.is_busday(d, weekmask="Mon Tux"),
        lambda d: np.is_busday(d, weekmask="0000000"),
        lambda d: np.is_busday(d, weekmask=np.ones(6, np.bool_)),
        lambda d: np.busday_count(d, np.datetime64("NaT", "D")),
    ],
)
def test_errors_are_numpys(call):
    with pytest.raises(ValueError) as wanted:
        call(DAYS)
    with pytest.raises(ValueError) as got:
        lancehead.njit(call)(DAYS)
    assert str(got.value)[:30] == str(wanted.value)[:30]


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "25s"])
def test_texts_and_units(unit):
    points = np.array([0, 1, 12345, "NaT"], f"M8[{unit}]").reshape(2, 2)[::-1]
    texts = lancehead.njit(lambda a: np.datetime_as_string(a))(points)
    assert texts.dtype == np.datetime_as_string(points).dtype and (texts == np.datetime_as_string(points)).all()
    zoned = lancehead.njit(lambda a: np.datetime_as_string(a, timezone="UTC"))(points)
    assert (zoned == np.datetime_as_string(points, timezone="UTC")).all()
    days = lancehead.njit(lambda a: np.datetime_as_string(a, "D"))(points)
    assert (days == np.datetime_as_string(points, "D", casting="unsafe")).all()
    assert lancehead.njit(lambda a: np.datetime_data(a.dtype))(points) == np.datetime_data(points.dtype)
    assert lancehead.njit(lambda a: np.datetime_as_string(a[0, 1]))(points) == "NaT"
