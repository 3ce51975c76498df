"""The proleptic Gregorian calendar: days and months counted from 1970, and texts of points of time."""


def day_of(months):
    """The day on which a month begins; both are counted from January 1970."""
    year, month = 1970 + months // 12, months % 12
    # Years begin in March, so that the day of a leap year is the last of its year.
    y = year if month >= 2 else year - 1
    cycle = y // 400
    of_cycle = y - cycle * 400
    day = (153 * ((month + 10) % 12) + 2) // 5
    return cycle * 146097 + of_cycle * 365 + of_cycle // 4 - of_cycle // 100 + day - 719468


def month_of(days):
    """The month in which a day lies."""
    since = days + 719468
    cycle = since // 146097
    of_cycle = since - cycle * 146097
    y = (of_cycle - of_cycle // 1460 + of_cycle // 36524 - of_cycle // 146096) // 365
    of_year = of_cycle - (365 * y + y // 4 - y // 100)
    month = (5 * of_year + 2) // 153
    return (cycle * 400 + y - 1970) * 12 + month + 2


def digits(n, width):
    """A number with leading zeros, as `%0*d`, which counts the sign."""
    text = str(n if n >= 0 else -n)
    least = width if n >= 0 else width - 1
    while len(text) < least:
        text = "0" + text
    return text if n >= 0 else "-" + text


def day_text(day, unit):
    """The text of a day, or of its month or year."""
    months = month_of(day)
    out = digits(1970 + months // 12, 4)
    if unit == "Y":
        return out
    out += "-" + digits(months % 12 + 1, 2)
    return out if unit == "M" else out + "-" + digits(day - day_of(months) + 1, 2)


def hour_text(minutes, unit):
    """The text of an hour of a day, perhaps with minutes, by the minutes since its begin."""
    out = "T" + digits(minutes // 60, 2)
    return out if unit == "h" else out + ":" + digits(minutes % 60, 2)
