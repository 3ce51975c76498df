"""Texts of points and spans of time that are known when a program runs: those of ISO 8601, as NumPy reads them."""

from lancehead.lib import prim
from lancehead.lib.dates import day_of

#: The count of ticks that means "not a time".
NAT = -9223372036854775808

_LONGEST = 18


def _refuse(s, at):
    raise ValueError('Error parsing datetime string "' + s + '" at position ' + str(at))


def _check_range(s, x, low, high, what):
    if x < low or x > high:
        raise ValueError(what + ' out of range in datetime string "' + s + '"')


def _digit(s, at):
    # The digit at a place, or -1.
    code = ord(s[at]) - 48 if at < len(s) else -1
    return code if 0 <= code <= 9 else -1


def _number(s, at, most):
    # The number of at most so many digits, and how many there are.
    x, n = 0, 0
    while n < most and _digit(s, at + n) >= 0:
        x = 10 * x + _digit(s, at + n)
        n += 1
    return x, n


def _two(s, at):
    x, n = _number(s, at, 2)
    if n < 2:
        _refuse(s, at)
    return x


def _pass(s, at, is_passed):
    # Text must follow a separator.
    if not is_passed:
        _refuse(s, at)
    if at + 1 == len(s):
        _refuse(s, at + 1)


def _is_none(s):
    return s == "" or s.lower() == "nat"


def _clock(s, at):
    # Minutes of a day, seconds, attoseconds, and where the text goes on: hours, perhaps minutes and what is less.
    hour = _two(s, at)
    _check_range(s, hour, 0, 23, "Hours")
    at += 2
    minute, second, part = 0, 0, 0
    if at == len(s) or s[at] != ":":
        return 60 * hour, 0, 0, at
    minute = _two(s, at + 1)
    _check_range(s, minute, 0, 59, "Minutes")
    at += 3
    if at < len(s) and s[at] == ":":
        second = _two(s, at + 1)
        _check_range(s, second, 0, 59, "Seconds")
        at += 3
        if at < len(s) and s[at] == ".":
            part, n = _number(s, at + 1, _LONGEST)
            at += 1 + n
            for _ in range(_LONGEST - n):
                part *= 10
            while _digit(s, at) >= 0:
                at += 1
    return 60 * hour + minute, second, part, at


def _zone(s, at):
    # Minutes of a time zone, and where the text goes on.
    if at >= len(s) or s[at] != "Z" and s[at] != "+" and s[at] != "-":
        return 0, at
    if s[at] == "Z":
        return 0, at + 1
    hour, end = _two(s, at + 1), at + 3
    _check_range(s, hour, 0, 23, "Timezone hours offset")
    minute = 0
    if end < len(s):
        end += 1 if s[end] == ":" else 0
        minute = _two(s, end)
        _check_range(s, minute, 0, 59, "Timezone minutes offset")
        end += 2
    minutes = 60 * hour + minute
    return -minutes if s[at] == "-" else minutes, end


def _end(s, at):
    while at < len(s) and s[at].isspace():
        at += 1
    if at < len(s):
        _refuse(s, at)


def _parsed(s):
    # Months since 1970, the day of the month, minutes of the day, seconds and attoseconds.
    at = 0
    while at < len(s) and s[at].isspace():
        at += 1
    sign = -1 if at < len(s) and s[at] == "-" else 1
    at += 1 if at < len(s) and (s[at] == "-" or s[at] == "+") else 0
    year, n = _number(s, at, _LONGEST)
    if n == 0:
        _refuse(s, at)
    at += n
    months = 12 * (sign * year - 1970)
    if at == len(s):
        return months, 1, 0, 0, 0
    _pass(s, at, s[at] == "-")
    month = _two(s, at + 1)
    _check_range(s, month, 1, 12, "Month")
    months += month - 1
    at += 3
    if at == len(s):
        return months, 1, 0, 0, 0
    _pass(s, at, s[at] == "-")
    day = _two(s, at + 1)
    _check_range(s, day, 1, day_of(months + 1) - day_of(months), "Day")
    at += 3
    if at == len(s):
        return months, day, 0, 0, 0
    _pass(s, at, s[at] == "T" or s[at] == " ")
    minutes, second, part, at = _clock(s, at + 1)
    zone, at = _zone(s, at)
    _end(s, at)
    return months, day, minutes - zone, second, part


def point_ticks(s, unit):
    """The ticks of the point of time that a text stands for, in a unit."""
    if _is_none(s):
        return NAT
    if s == "now" or s == "today":
        raise ValueError('"' + s + '" is no point of time in compiled code: pass the time in')
    months, day, minutes, second, part = _parsed(s)
    days = day_of(months) + day - 1
    return _ticks(months, days + minutes // 1440, minutes % 1440, second, part, unit) // prim.unit_count(unit)


def _ticks(months, days, minutes, second, part, unit):
    name = prim.unit(unit)
    if name == "Y":
        return months // 12
    if name == "M":
        return months
    if name == "W":
        return days // 7
    if name == "D":
        return days
    if name == "h":
        return days * 24 + minutes // 60
    if name == "m":
        return days * 1440 + minutes
    seconds = days * 86400 + minutes * 60 + second
    of_second, _ = prim.unit_factor(prim.span_in("s"), prim.span_in(name))
    return seconds * of_second + part // (1000000000000000000 // of_second)


def span_ticks(s):
    """The ticks of the span of time that a text stands for."""
    if _is_none(s):
        return NAT
    plain = s.strip()
    at = 1 if plain.startswith(("-", "+")) else 0
    x, n = _number(plain, at, _LONGEST)
    if n == 0 or at + n < len(plain):
        raise ValueError("Could not convert object to NumPy timedelta")
    return -x if plain.startswith("-") else x
