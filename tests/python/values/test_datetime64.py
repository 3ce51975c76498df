"""Points and spans of time: `datetime64` and `timedelta64` in compiled code, with NumPy as the oracle."""

import operator
import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import lancehead
from lancehead import errors, guvectorize, njit, prange, typeof, types, vectorize

UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "10s", "3M", "7D", "25ms"]
COUNTS = [0, 1, -1, 7, -7, 1000, -1234567, 86399, "NaT"]
OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]

add = njit(lambda x, y: x + y)
sub = njit(lambda x, y: x - y)
mul = njit(lambda x, y: x * y)
truediv = njit(lambda x, y: x / y)
floordiv = njit(lambda x, y: x // y)
mod = njit(lambda x, y: x % y)
eq = njit(lambda x, y: x == y)
ne = njit(lambda x, y: x != y)
lt = njit(lambda x, y: x < y)
le = njit(lambda x, y: x <= y)
gt = njit(lambda x, y: x > y)
ge = njit(lambda x, y: x >= y)
COMPILED = {
    **dict(zip(OPERATORS, [add, sub, mul, truediv, floordiv, mod], strict=True)),
    **dict(zip(COMPARISONS, [eq, ne, lt, le, gt, ge], strict=True)),
}


def spans(unit, counts=COUNTS):
    return np.array(counts, f"m8[{unit}]")


def points(unit, counts=COUNTS):
    return np.array([c if c == "NaT" else np.datetime64(c, unit) for c in counts], f"M8[{unit}]")


def alike(got, want):
    """The same values, types and units. Of numbers the value counts: compiled code returns Python's."""
    if isinstance(want, tuple):
        assert isinstance(got, tuple) and len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            alike(g, w)
    elif isinstance(want, np.ndarray):
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_array_equal(got, want)
    elif isinstance(want, (np.datetime64, np.timedelta64)):
        assert type(got) is type(want) and got.dtype == want.dtype
        assert got.view("i8") == want.view("i8")
    else:
        np.testing.assert_equal(got, want)


def check(op, x, y):
    """Compares an operator with NumPy, which may refuse it; then compiled code has to refuse it, too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            want = op(x, y)
        except TypeError:
            with pytest.raises(errors.TypingError):
                COMPILED[op](x, y)
            return
    alike(COMPILED[op](x, y), want)


@pytest.mark.parametrize("unit", UNITS)
def test_arguments_and_results(unit):
    same = njit(lambda x: x)
    for value in [*spans(unit), *points(unit)]:
        alike(same(value), value)
    for array in [spans(unit), points(unit), spans(unit)[::-2], points(unit).reshape(3, 3).T]:
        assert same(array) is array
        alike(njit(lambda a: a.copy())(array), array)


def test_values_without_a_unit():
    same = njit(lambda x: x)
    for value in [np.timedelta64(5), np.timedelta64("NaT"), np.datetime64("NaT"), np.arange(3).astype("m8")]:
        alike(same(value), value)
    alike(add(np.timedelta64(5), np.timedelta64(2, "ms")), np.timedelta64(7, "ms"))


@pytest.mark.parametrize("unit", ["Y", "M", "D", "ns", "as", "10s"])
@pytest.mark.parametrize("op", OPERATORS + COMPARISONS)
def test_operators_of_one_unit(op, unit):
    for x, y in [(spans(unit), spans(unit)), (points(unit), points(unit)), (points(unit), spans(unit))]:
        for a, b in [(x, y), (y, x)]:
            check(op, a[:, None], b[None, :])
            check(op, a[1], b[3])
            check(op, a[1], b[-1])
            check(op, a[0], b)


MIXED = [("D", "h"), ("s", "ms"), ("W", "D"), ("10s", "15s"), ("Y", "M"), ("3M", "Y"), ("25ms", "us"), ("h", "7D")]


@pytest.mark.parametrize("units", [*MIXED, *[(b, a) for a, b in MIXED]])
@pytest.mark.parametrize("op", OPERATORS + COMPARISONS)
def test_operators_of_two_units(op, units):
    x, y = units
    for a, b in [(spans(x), spans(y)), (points(x), points(y)), (points(x), spans(y))]:
        check(op, a, b)
        check(op, a[3], b[4])


CALENDAR = [("Y", "D"), ("M", "D"), ("Y", "h"), ("3M", "W"), ("Y", "7D"), ("M", "s")]


@pytest.mark.parametrize("units", [*CALENDAR, *[(b, a) for a, b in CALENDAR]])
def test_points_in_years_and_months_meet_days(units):
    x, y = units
    counts = [0, 1, -1, 30, 31, 59, 400, -800, 1199, "NaT"]
    a, b = points(x, counts), points(y, counts)
    for op in [operator.sub, *COMPARISONS]:
        check(op, a, b)
        check(op, a[4], b[3])
    for op in [operator.add, operator.sub]:
        check(op, a, spans(y, counts))
    check(operator.add, spans(x), spans(y))


@pytest.mark.parametrize("unit", ["Y", "D", "s", "10s", "ns"])
@pytest.mark.parametrize("op", OPERATORS + COMPARISONS)
def test_operators_with_numbers(op, unit):
    x = spans(unit)
    for number in [3, -2, 0, 2.5, -0.25, np.nan, np.inf, np.int32(7), np.float32(1.5), np.uint8(3)]:
        if isinstance(number, (float, np.floating)) and op not in (operator.mul, operator.truediv, operator.floordiv):
            continue
        check(op, x, number)
        check(op, x[3], number)
    check(operator.mul, 3, x)
    check(operator.mul, x, np.arange(9))
    check(operator.mul, x, np.arange(9) / 4)
    check(operator.add, points(unit), 5)
    check(operator.sub, points(unit)[3], 5)


def test_overflow_wraps_as_in_numpy():
    big = np.array([2**62, -(2**62), 2**63 - 1], "m8[s]")
    for op, other in [(operator.add, big), (operator.sub, big[::-1]), (operator.mul, 4)]:
        check(op, big, other)
        check(op, big[0], other if op is operator.mul else other[0])
    check(operator.add, big, np.timedelta64(1, "ms"))
    check(operator.eq, big, np.timedelta64(0, "ms"))
    far = points("2Y", [1484916410, -1484916410, 239608917, 0, 7, "NaT"])
    near = points("25ms", [2, -2, 0, 10**12, -(10**15), 5])
    for op in [operator.sub, *COMPARISONS]:
        check(op, far, near)
        check(op, near, far)
    check(operator.add, points("Y", [47, 10**9]), spans("25ms", [-32, 10**15]))


UNARY = [
    lambda x: -x,
    lambda x: +x,
    lambda x: abs(x),
    lambda x: np.abs(x),
    lambda x: np.sign(x),
    lambda x: np.negative(x),
    lambda x: np.isnat(x),
    lambda x: np.isfinite(x),
]


@pytest.mark.parametrize("unit", UNITS)
def test_unary(unit):
    x = spans(unit)
    for f in UNARY:
        compiled = njit(f)
        alike(compiled(x), f(x))
        for v in (x[3], x[4], x[-1]):
            alike(compiled(v), f(v))
    alike(njit(lambda v: np.isnat(v))(points(unit)), np.isnat(points(unit)))


@pytest.mark.parametrize("source", UNITS)
@pytest.mark.parametrize("target", ["Y", "M", "W", "D", "h", "s", "ms", "25ms", "3M"])
def test_astype(source, target):
    x, y = spans(source), points(source)
    dtypes = np.dtype(f"m8[{target}]"), np.dtype(f"M8[{target}]")
    for array, dtype in [(x, dtypes[0]), (y, dtypes[1])]:
        try:
            want = array.astype(dtype)
        except OverflowError:
            # NumPy has no factor between units that are far apart.
            continue
        compiled = njit(lambda a, d=dtype: a.astype(d))
        alike(compiled(array), want)
        alike(compiled(array[4]), array[4].astype(dtype))


def test_astype_of_numbers():
    x = spans("s")
    alike(njit(lambda a: a.astype(np.int64))(x), x.astype(np.int64))
    alike(njit(lambda a: a.astype(np.float64))(x), x.astype(np.float64))
    alike(njit(lambda a: a.astype(np.bool_))(x), x.astype(np.bool_))
    alike(njit(lambda a: a.view(np.int64))(x), x.view(np.int64))
    alike(njit(lambda a: a.view("M8[D]"))(np.arange(3)), np.arange(3).view("M8[D]"))
    alike(njit(lambda a: a.astype("m8[s]"))(np.arange(3)), np.arange(3).astype("m8[s]"))
    alike(njit(lambda a: a.astype("m8[s]"))(np.array([1.7, np.nan])), np.array([1.7, np.nan]).astype("m8[s]"))
    alike(njit(lambda a: a.astype("m8"))(x), x.astype("m8"))


MADE = [
    lambda: np.datetime64("2001-02-03"),
    lambda: np.datetime64("2001-02-03T04:05", "s"),
    lambda: np.datetime64("NaT"),
    lambda: np.timedelta64(5, "s"),
    lambda: np.timedelta64(5, "10s"),
    lambda: np.timedelta64(5),
    lambda: np.timedelta64(5, ("s", 10)),
    lambda: np.zeros(3, np.timedelta64),
    lambda: np.timedelta64("NaT", "D"),
    lambda: np.datetime64(17, "D"),
    lambda: np.timedelta64(np.timedelta64(5500, "ms"), "s"),
    lambda: np.datetime64(np.datetime64("2001-02-03"), "M"),
    lambda: np.zeros(3, "m8[s]"),
    lambda: np.ones(3, "timedelta64[D]"),
    lambda: np.full(3, np.datetime64("2001-02-03")),
    lambda: np.full(2, np.timedelta64(1, "s"), "m8[ms]"),
    lambda: np.zeros((2, 2), np.dtype("M8[D]")),
    lambda: np.arange(np.timedelta64(5, "s"), np.timedelta64(9, "s")),
    lambda: np.arange(np.datetime64("2000-01"), np.datetime64("2000-09"), 2),
    lambda: np.arange(np.datetime64("2000-01-01"), np.datetime64("2000-01-03"), np.timedelta64(12, "h")),
    lambda: np.arange(0, 10, 3, dtype="m8[s]"),
    lambda: np.array([np.timedelta64(1, "s"), np.timedelta64(2, "s")]),
]


@pytest.mark.parametrize("make", MADE)
def test_made_in_compiled_code(make):
    alike(njit(make)(), make())


def test_made_of_arguments():
    alike(njit(lambda n: np.timedelta64(n, "ms"))(7), np.timedelta64(7, "ms"))
    alike(njit(lambda n: np.datetime64(n, "D"))(7), np.datetime64(7, "D"))
    with pytest.raises(errors.TypingError, match="unit of a time must be known"):
        njit(lambda n, u: np.timedelta64(n, u))(7, "ms")
    with pytest.raises(errors.TypingError, match="no unit of time"):
        njit(lambda n: np.timedelta64(n, "lightyears"))(7)
    with pytest.raises(errors.TypingError, match="does not understand"):
        njit(lambda: np.datetime64("yesterday"))()


START = np.datetime64("2000-01-01")


def test_constants_of_the_program():
    alike(njit(lambda x: x - START)(np.datetime64("2001-01-01")), np.timedelta64(366, "D"))


def test_in_containers():
    x, y = np.timedelta64(5, "s"), np.datetime64("2001-02-03")
    assert njit(lambda a, b: (a, (b, 1)))(x, y) == (x, (y, 1))
    assert njit(lambda t: t[0] + t[1])((x, x)) == x + x
    assert njit(lambda a: [a, a + a])(x) == [x, x + x]
    assert njit(lambda a: a[1])([y, y + 1]) == y + 1
    assert njit(lambda a, b: {a: 1, b: 2}[b])(x, x + x) == 2
    assert njit(lambda d, k: d[k])({y: 7, y + 1: 8}, y + 1) == 8
    assert njit(lambda a: {a: 1.5})(y) == {y: 1.5}
    assert njit(lambda s, k: k in s)({x, x + x}, x)

    @njit
    def counted(days):
        found = {}
        for day in days:
            month = day.astype("M8[M]")
            found[month] = found.get(month, 0) + 1
        return found

    days = np.arange("2000-01-15", "2000-03-04", dtype="M8[D]")
    assert counted(days) == counted.py_func(days)


def test_optional_and_branches():
    @njit
    def later(a, b, use):
        if use:
            return a
        return b if a != b else None

    x, y = points("D", [3, 4])
    assert later(x, y, True) == x and later(x, y, False) == y and later(x, x, False) is None


@pytest.mark.parametrize("align", [True, False])
def test_fields_of_records(align):
    dtype = np.dtype([("n", "i1"), ("at", "M8[D]"), ("took", "m8[ms]")], align=align)
    records = np.zeros(3, dtype)
    records["at"] = np.arange("2000-01-01", "2000-01-04", dtype="M8[D]")
    records["took"] = [1, 2, 3]

    @njit
    def moved(a):
        for i in range(len(a)):
            a[i].at = a[i].at + np.timedelta64(1, "W")
            a[i].took *= 2
        return a[1].at, a[2].took

    at, took = moved(records)
    alike(at, np.datetime64("2000-01-09"))
    alike(took, np.timedelta64(6, "ms"))
    assert records["at"][2] == np.datetime64("2000-01-10")


FUNCTIONS = [
    lambda a: np.sort(a),
    lambda a: np.argsort(a, kind="stable"),
    lambda a: np.unique(a),
    lambda a: np.diff(a),
    lambda a: (a.min(), a.max()),
    lambda a: (np.min(a), np.max(a)),
    lambda a: (a.argmin(), a.argmax()),
    lambda a: np.where(np.isnat(a), a[0], a),
    lambda a: np.concatenate((a, a[:2])),
    lambda a: a[a != a],
    lambda a: a[::-1].copy(),
    lambda a: a.reshape(3, 3)[1],
    lambda a: np.searchsorted(np.sort(a), a[:4]),
    lambda a: np.minimum(a, a[1]),
    lambda a: np.maximum(a, a[1]),
    lambda a: np.fmin(a, a[1]),
    lambda a: np.fmax(a, a[1]),
    lambda a: np.repeat(a, 2),
    lambda a: a.min() == a.max(),
]


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("unit", ["D", "ms", "10s"])
def test_functions_of_arrays(f, unit):
    compiled = njit(f)
    for array in [spans(unit), points(unit), spans(unit, COUNTS[:-1] + [5]), points(unit, COUNTS[:-1] + [5])]:
        alike(compiled(array), f(array))


@pytest.mark.parametrize("f", [lambda a: a.sum(), lambda a: np.cumsum(a), lambda a: a.mean(), lambda a: np.median(a)])
def test_functions_of_spans(f):
    for array in [spans("s"), spans("25ms", COUNTS[:-1])]:
        alike(njit(f)(array), f(array))


def test_stores_convert():
    @njit
    def filled(a, x):
        a[0] = x
        a[1:3] = x
        a[3:] = a[:1]
        return a

    for target, value in [("ms", np.timedelta64(5, "s")), ("m", np.timedelta64(125, "s")), ("D", 4)]:
        alike(filled(spans(target), value), filled.py_func(spans(target), value))
    alike(filled(points("D"), np.datetime64("2001-02")), filled.py_func(points("D"), np.datetime64("2001-02")))
    with pytest.raises(errors.TypingError):
        filled(np.zeros(5), np.timedelta64(5, "s"))


def test_in_place_operators():
    @njit
    def moved(a, b):
        a += b
        a -= np.timedelta64(1, "s")
        return a

    alike(moved(points("s"), spans("m")), moved.py_func(points("s"), spans("m")))
    alike(moved(spans("ms"), spans("s")), moved.py_func(spans("ms"), spans("s")))


def test_numbers_and_truth():
    x = np.timedelta64(5, "ns")
    assert njit(lambda a: int(a))(x) == 5 and njit(lambda a: float(a))(x) == 5.0
    truth = njit(lambda a: 1 if a else 0)
    assert [truth(v) for v in spans("s")] == [int(bool(v)) for v in spans("s")]
    assert njit(lambda a, b: max(a, b))(x, x + x) == x + x
    assert njit(lambda a, b: hash(a) == hash(b))(x, np.timedelta64(5, "ns"))
    with pytest.raises(ValueError, match="Can't hash generic timedelta64"):
        njit(lambda a: hash(a))(np.timedelta64(5))
    with pytest.raises(errors.TypingError, match="has no hash"):
        njit(lambda a: {a})(np.timedelta64(5))


@pytest.mark.parametrize("unit", [*UNITS, "5Y", "2W", "10h"])
def test_texts(unit):
    text, shown = njit(lambda a: str(a)), njit(lambda a: repr(a))
    for value in [*spans(unit), *points(unit)]:
        assert text(value) == str(value) and shown(value) == repr(value)


@pytest.mark.parametrize("years", [-10000, -1, 0, 1, 1969, 1970, 2000, 2100, 9999, 10000])
def test_texts_of_far_years(years):
    for value in [np.datetime64(years - 1970, "Y"), np.datetime64(years - 1970, "Y").astype("M8[D]")]:
        assert njit(lambda a: str(a))(value) == str(value)


def test_print(capfd):
    assert njit(lambda a: "%s after %r" % (a, a))(np.timedelta64(5, "s")) == "5 seconds after np.timedelta64(5,'s')"  # noqa: UP031
    assert njit(lambda a: "%s" % a)(np.timedelta64(5, "s")) == "5 seconds"  # noqa: UP031
    assert njit(lambda a: f"{a:>12}|{a!r}")(np.timedelta64(5, "s")) == "   5 seconds|np.timedelta64(5,'s')"
    njit(lambda a, b: print(a, b, (a,)))(np.timedelta64(5, "s"), np.datetime64("2001-02-03"))
    print(*(want := (np.timedelta64(5, "s"), np.datetime64("2001-02-03"))), want[:1])
    got, expected = capfd.readouterr().out.splitlines()
    assert got == expected


def test_isinstance():
    @njit
    def kind(x):
        if isinstance(x, np.datetime64):
            return "point"
        return "span" if isinstance(x, np.timedelta64) else "other"

    assert [kind(v) for v in (np.datetime64("NaT"), np.timedelta64(1, "s"), 1)] == ["point", "span", "other"]
    of_numpy = njit(lambda x: (isinstance(x, np.generic), isinstance(x, np.integer), isinstance(x, np.floating)))
    for value in [np.datetime64("NaT"), np.timedelta64(1, "s")]:
        assert of_numpy(value) == of_numpy.py_func(value)


def test_types():
    assert str(typeof(np.datetime64("2000-01-01"))) == "datetime64[D]"
    assert str(typeof(np.timedelta64(1))) == "timedelta64[]"
    assert typeof(np.zeros(2, "M8[D]")) == types.Array(types.NPDatetime("D"), 1, "C") == types.NPDatetime("D")[::1]
    assert types.NPDatetime("D").unit == "D" and types.NPTimedelta().unit == ""
    assert all(pickle.loads(pickle.dumps(t)) is t for t in [types.NPDatetime("D"), typeof(np.zeros(2, "m8[10s]"))])
    assert typeof(np.timedelta64(1, "10s")) == types.NPTimedelta("10s")
    assert isinstance(types.NPDatetime("D"), types.NPDatetime)
    assert not isinstance(types.NPDatetime("D"), types.NPTimedelta)

    f = njit(types.NPTimedelta("s")(types.NPDatetime("s"), types.NPDatetime("s")))(lambda x, y: x - y)
    alike(f(np.datetime64(7, "s"), np.datetime64(5, "s")), np.timedelta64(2, "s"))


def test_loops_and_threads():
    @njit(parallel=True)
    def total(a, b):
        out = np.empty(len(a), "m8[s]")
        for i in prange(len(a)):
            out[i] = a[i] - b[i]
        return out

    a, b = np.arange(10000).astype("M8[s]"), np.arange(10000)[::-1].copy().astype("M8[m]")
    alike(total(a, b), total.py_func(a, b).astype("m8[s]"))


def test_masks():
    @njit
    def cleared(a, x):
        a[np.isnat(a)] = x
        a[a > x] = a[:1]
        return a

    alike(cleared(spans("s"), np.timedelta64(9, "s")), cleared.py_func(spans("s"), np.timedelta64(9, "s")))


def test_quotients_and_remainders_of_arrays():
    f = njit(lambda a, b: np.divmod(a, b))
    (quotient, rest), (want, remains) = f(spans("s"), spans("ms")), np.divmod(spans("s"), spans("ms"))
    alike(quotient, want.astype(np.int64))
    alike(rest, remains)


def test_outputs():
    out = np.zeros(9, "m8[us]")
    f = njit(lambda a, out: np.add(a, a, out))
    alike(f(spans("ms"), out), np.add(spans("ms"), spans("ms"), np.zeros(9, "m8[us]")))


def test_nat_takes_the_unit_that_it_meets():
    @njit
    def first(a, x):
        found = np.datetime64("NaT")
        for v in a:
            if v > x:
                found = v
                break
        return found

    days = points("D", [1, 5, 9])
    alike(first(days, days[0]), days[1])
    alike(first(days, days[2]), np.datetime64("NaT", "D"))


def test_ufuncs_of_the_program():
    @vectorize
    def earlier(x, y):
        return x if x < y else y

    for a in [spans("s"), points("D"), points("10s")]:
        alike(earlier(a[:, None], a), np.where(a[:, None] < a, a[:, None], a))
        alike(earlier(a[3], a[4]), min(a[3], a[4]))
    alike(njit(lambda a, b: earlier(a, b))(spans("ms"), spans("ms")[3]), earlier(spans("ms"), spans("ms")[3]))
    out = np.zeros(9, "m8[ms]")
    assert earlier(spans("s"), spans("s"), out=out) is out
    alike(out[3], np.timedelta64(7000, "ms"))
    alike(earlier(np.arange(3), 1), np.array([0, 1, 1]))

    span = types.NPTimedelta("s")
    scaled = vectorize([span(span, types.int64)])(lambda x, n: x * n)
    alike(scaled(spans("s"), 3), spans("s") * 3)
    with pytest.raises(TypeError, match="no argument 'where'"):
        scaled(spans("s"), 3, where=True)


def test_generalised_ufuncs_refuse_times():
    def doubled(a, out):
        for i in range(len(a)):
            out[i] = a[i] + a[i]

    with pytest.raises(errors.TypingError, match="pass the counts"):
        guvectorize([types.void(types.NPTimedelta("s")[:], types.NPTimedelta("s")[:])], "(n)->(n)")(doubled)
    with pytest.raises(errors.TypingError, match="pass the counts"):
        guvectorize("(n)->(n)")(doubled)(spans("s"), spans("s"))


def test_cached_across_processes(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\n"
        "from lancehead import njit\n"
        "START = np.datetime64('2000-01-01')\n"
        "@njit(cache=True)\n"
        "def f(a, step):\n"
        "    return a - START + step\n"
        "print(f(np.arange(3).astype('M8[D]'), np.timedelta64(1, 'h')), sum(f.stats.cache_hits.values()))\n"
    )
    env = {**os.environ, "LANCEHEAD_CACHE_DIR": str(tmp_path / "cache")}
    runs = [
        subprocess.run([sys.executable, program], env=env, capture_output=True, text=True, check=True) for _ in range(2)
    ]
    want = str(np.arange(3).astype("M8[D]") - np.datetime64("2000-01-01") + np.timedelta64(1, "h"))
    assert [run.stdout.strip() for run in runs] == [f"{want} 0", f"{want} 1"]


NUMBERS = [
    lambda a: np.sin(a),
    lambda a: np.sqrt(a),
    lambda a: np.interp(a, a, a),
    lambda a: a**2,
    lambda a: ~a,
    lambda a: a * a,
    lambda a: np.prod(a),
    lambda a: np.zeros(3).fill(a[0]),
]


@pytest.mark.parametrize("f", NUMBERS)
def test_what_is_for_numbers_is_refused(f):
    with pytest.raises(errors.TypingError):
        njit(f)(spans("s"))


def test_stores_that_are_refused():
    @njit
    def store(a, x):
        a[0] = x

    for array, value in [(np.zeros(2), np.timedelta64(1, "s")), (spans("s"), 1.5), (points("s"), "2000-01-01")]:
        with pytest.raises(errors.TypingError):
            store(array, value)


def test_refused():
    with pytest.raises(errors.TypingError, match="points of time are not added"):
        add(np.datetime64("2000"), np.datetime64("2000"))
    with pytest.raises(errors.TypingError, match="no common unit"):
        add(np.timedelta64(1, "Y"), np.timedelta64(1, "D"))
    with pytest.raises(errors.TypingError):
        lt(np.datetime64("2000"), np.timedelta64(1, "Y"))


def test_bins_and_means_that_numpy_refuses():
    a = np.array([1, 3, 5], "m8[s]")
    with pytest.raises(TypeError):
        np.digitize(a, a)
    with pytest.raises(ValueError):
        np.average(a)
    assert njit(lambda a: np.digitize(a, a))(a).tolist() == [1, 2, 3]
    assert njit(lambda a: np.average(a))(a) == np.timedelta64(3, "s")


TIME_TEXTS = [
    "2020", "2020-02", "2020-02-29", "2019-02-29", "1969-12-31T23:59:59.999", "600", "600-12", "-0005-03-01", "+2020",
    "10000-01-01", "2020-01-01T12", "2020-01-01 12:30", "2020-01-01T12:30:15", "2020-01-01T12:30:15.123456789123456789",
    "2020-01-01T12:30:15.1", "2020-01-01T12:30:15.", "2020-13", "2020-1", "2020-", "2020-01-", "2020-01-0",
    "2020-01-32", "2020x", "x", "", "NaT", "nat", "2020-01-01T25", "2020-01-01T12:60",
    "2020-01-01T12:30:61", "2020-01-01T", "2020-01-01T1", "2020-01-01T12:", "2020-01-01T12:3", "2020-01-01T12:30:",
    "2020-01-01T12Z", "2020-01-01T12:30+01:00", "2020-01-01T12:30-0130", " 2020-01-01",
    "2020-01-01 ", "2020-01-01T12:30 ", "1.5", "2020-01-01x", "20200101", "2020-01-01T1230",
]  # fmt: skip


def text_answer(f, text):
    try:
        return repr(f(text))
    except ValueError as error:
        return str(error)


@pytest.mark.filterwarnings("ignore:no explicit representation of timezones")
@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "as", "3D", "10ms", "7W"])
def test_points_of_texts(unit):
    def f(text):
        return np.datetime64(text, unit)

    compiled = njit(f)
    before = lancehead._core.live_allocations()
    for text in TIME_TEXTS:
        assert text_answer(compiled, text) == text_answer(f, text), text
    assert lancehead._core.live_allocations() == before


@pytest.mark.parametrize("text", ["5", "-7", "+3", "NaT", "", "x", "5x", "1.5", " 5"])
def test_spans_of_texts(text):
    def f(text):
        return np.timedelta64(text, "s")

    assert text_answer(njit(f), text) == text_answer(f, text)


def test_ranges_of_texts():
    def f(first, last):
        return np.arange(first, last, dtype="M8[D]"), np.datetime64(), np.datetime64(None, "s")

    result, expected = njit(f)("2019-12-30", "2020-01-02"), f("2019-12-30", "2020-01-02")
    assert result[0].dtype == expected[0].dtype and (result[0] == expected[0]).all()
    assert repr(result[1:]) == repr(expected[1:])


def test_texts_of_times_that_are_refused():
    with pytest.raises(errors.TypingError, match="needs a unit"):
        njit(lambda s: np.datetime64(s))("2020")
    with pytest.raises(errors.TypingError, match="depends on when"):
        njit(lambda: np.datetime64("now"))()
    with pytest.raises(ValueError, match="now"):
        njit(lambda s: np.datetime64(s, "D"))("now")
    with pytest.raises(ValueError, match="Month out of range"):
        njit(lambda: np.datetime64("2020-13-01", "D"))()
