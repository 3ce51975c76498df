"""The two semantics: Numba's answers as Numba gave them, Python's as NumPy gives them."""

from __future__ import annotations

import functools
import json
import operator
import os
import warnings
from typing import Any

import numpy as np
import pytest

import numba_answers
from lancehead import errors, float32, njit, types
from lancehead._command import serve
from lancehead.experimental import jitclass

ANSWERS = json.loads(numba_answers.FILE.read_text())
#: Where Numba's answer is not defined, or an accident: conversions of floats that do not fit, powers that overflow on
#: their way through floats, the sign of unsigned numbers, truth values as numbers, the order of complex ones.
ODD = {
    "np.power(a, b)", "np.sign(a)", "round(a)", "int(a)", "math.floor(a)", "complex(a)", "float(a)", "abs(a)",
    "np.argmax(a)", "np.negative(a)", "+a",
}  # fmt: skip
#: The same for one pair of operands.
ODD_PAIRS = {("a ** b", "bool", "int32"), ("a ** b", "float32", "complex64")}


def found(case: tuple[str, str, str, str, str]) -> Any:
    """As `numba_answers` has recorded it."""
    kind, expression, first, second, form = case
    operands = numba_answers.operands_of(kind, first, second, form)
    compiled = njit(numba_answers.function_of(expression), semantics="numba")
    try:
        values = [compiled(*o) for o in operands]
    except (ZeroDivisionError, OverflowError, ValueError) as error:
        return type(error).__name__
    except errors.TypingError:
        return "refused"
    result = str(compiled.nopython_signatures[0].return_type)
    if "a" in form:
        return result.replace("array(", "").split(",")[0]
    return [result, [numba_answers.plain(v) for v in values]]


def number(value: Any) -> complex:
    return complex(*map(float.fromhex, value)) if isinstance(value, list) else float.fromhex(value)


def is_near(got: Any, want: Any) -> bool:
    """Whether two recorded results agree: those of functions of floats to a few digits."""
    if not isinstance(want, list) or not isinstance(got, list):
        return got == want
    if got[0] != want[0] or len(got[1]) != len(want[1]):
        return False
    close = 2e-6 if want[0] in ("float32", "complex64") else 1e-13
    for g, w in zip(got[1], want[1]):
        if not isinstance(w, (str, list)) or not isinstance(g, (str, list)):
            if g != w:
                return False
            continue
        x, y = number(g), number(w)
        if not (x == y or x != x and y != y or abs(x - y) <= close * abs(y)):
            return False
    return True


#: Every combination, which takes a quarter of an hour, not a part of them.
WHOLE = bool(os.environ.get("LANCEHEAD_TORTURE"))


def cases_of(expression: str) -> list[tuple[str, str, str, str, str]]:
    """The cases of an expression: of pairs of dtypes, those that begin with some."""
    firsts = {"ss": ("uint8", "float32"), "aa": ("int64",), "as": ("float32",), "sa": ("uint16",)}
    of_it = [case for case in numba_answers.all_cases() if case[1] == expression]
    even = [case for case in of_it if (case[1], case[2], case[3]) not in ODD_PAIRS]
    return [case for case in even if WHOLE or case[2] in firsts.get(case[4], (case[2],))]


@pytest.mark.parametrize("expression", sorted({case[1] for case in numba_answers.all_cases()} - ODD))
def test_numba_answers(expression: str) -> None:
    differ = []
    for case in cases_of(expression):
        _, _, first, second, form = case
        want = ANSWERS[expression][form][first][second]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got = found(case)
        if not is_near(got, want):
            differ.append((first, second, form, got, want))
    assert not differ, "\n".join(map(str, differ[:20]))


SIGNS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "&": operator.and_, "|": operator.or_, "^": operator.xor, "<": operator.lt, "<=": operator.le,
    "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
NUMBERS = (3, -1, 300, 70000, 2.5, 1j, True)


def operand(dtype: str) -> np.ndarray:
    if dtype == "bool":
        return np.array([True, False, True])
    return np.array([1, 3, np.iinfo(dtype).max] if dtype[0] in "iu" else [1.5, 2, 0.25], dtype)


def answer(function: Any, *args: Any) -> Any:
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*args)
    except (OverflowError, ZeroDivisionError, ValueError) as error:
        return type(error).__name__
    except (TypeError, errors.TypingError):
        return "refused"


def same(got: Any, want: Any) -> bool:
    if isinstance(want, str) or isinstance(got, str):
        return isinstance(got, str) and got == want
    if isinstance(want, np.ndarray) and (got.dtype != want.dtype or got.shape != want.shape):
        return False
    return np.allclose(got, want, rtol=1e-6, equal_nan=True)


@functools.cache
def python_operator(sign: str) -> Any:
    sign = SIGNS[sign]
    return njit(lambda a, b: sign(a, b), error_model="numpy")


@pytest.mark.parametrize("sign", SIGNS)
def test_operators_as_numpy(sign: str) -> None:
    compiled, by = python_operator(sign), SIGNS[sign]
    differ = []
    for first in numba_answers.DTYPES if WHOLE else ("uint64", "float32"):
        a = operand(first)
        pairs = [(a, operand(second)) for second in numba_answers.DTYPES]
        pairs += [(a, operand(second)[1]) for second in numba_answers.DTYPES]
        pairs += [(a, k) for k in NUMBERS] + [(k, a) for k in NUMBERS]
        for x, y in pairs:
            got, want = answer(compiled, x, y), answer(by, x, y)
            if not same(got, want):
                differ.append((x, y, got, want))
    assert not differ, "\n".join(map(str, differ[:20]))


@pytest.mark.parametrize("sign", ["+", "*", "//", "&", "<", "=="])
def test_numbers_as_numpy(sign: str) -> None:
    compiled, by = python_operator(sign), SIGNS[sign]
    for first in numba_answers.DTYPES if WHOLE else ("bool", "uint8", "int64", "float32"):
        x = operand(first)[1]
        others = [operand(second)[1] for second in numba_answers.DTYPES] + list(NUMBERS)
        for y in others:
            if sign == "<" and (isinstance(x, np.complexfloating) or isinstance(y, (complex, np.complexfloating))):
                continue  # Complex numbers have an order only in arrays.
            got, want = answer(compiled, x, y), answer(by, x, y)
            assert same(got, want), (x, y, got, want)


@pytest.mark.parametrize("k", [300, -1, 256])
def test_python_integers_that_do_not_fit(k: int) -> None:
    a = np.array([200, 250, 100], np.uint8)

    @njit
    def total(a, k):
        s = 0
        for x in a:
            s += x * k
        return s

    assert total(a, 3) == 88 + 238 + 44
    with pytest.raises(OverflowError, match=f"Python integer {k} out of bounds for uint8"):
        total(a, k)
    with pytest.raises(OverflowError, match=f"Python integer {k} out of bounds for uint8"):
        njit(lambda a, k: a * k)(a, k)
    assert total(a[:0], k) == 0
    assert njit(lambda a, k: a < k)(a, k).tolist() == (a < k).tolist()


def test_what_was_done_before_a_check_raises_stays() -> None:
    @njit
    def scaled(a, out, k):
        for i in range(len(a)):
            out[i] = 7
            out[i] = a[i] * k

    out = np.zeros(3, np.uint8)
    with pytest.raises(OverflowError):
        scaled(out, out, 300)
    assert out.tolist() == [7, 0, 0]


def test_arguments_of_64_bits_are_numpys() -> None:
    f = njit(lambda a, n: a[0] + n)
    a = np.array([200], np.uint8)
    assert f(a, np.int64(1000)) == 1200
    with pytest.raises(OverflowError):
        f(a, 1000)
    ones = np.ones(2, np.float32)
    product = njit(lambda a, x: a * x)
    assert product(ones, np.float64(2)).dtype == np.float64
    assert product(ones, 2.0).dtype == np.float32
    assert njit("float64(float64)")(lambda x: x * 2)(np.float64(1.5)) == 3.0
    assert njit(lambda xs: sum(xs))([np.float64(1), 2.5]) == 3.5


def test_globals_are_frozen() -> None:
    names = {"T": 1}
    function = eval("lambda: T", names)
    python, numba = njit(function), njit(function, semantics="numba")
    assert (python(), numba()) == (1, 1)
    names["T"] = 2
    assert (python(), numba()) == (2, 1)
    assert njit(function, semantics="numba")() == 2
    numba.recompile()
    assert numba() == 2


def test_captured_variables_are_frozen() -> None:
    def made(x: int) -> Any:
        def change(y: int) -> None:
            nonlocal x
            x = y

        return njit(lambda y: x + y, semantics="numba"), change

    for x in (1, 2, 3):
        f, change = made(x)
        assert f(10) == 10 + x
        change(100)
        assert f(10) == 10 + x


def test_variables_that_are_not_assigned() -> None:
    def f(n, flag):
        if flag:
            i, x, a, t = 3, 2.5, np.zeros(n, np.int32), (1, 2.0)
        return i, x, a, t

    i, x, a, t = njit(f, semantics="numba")(2, False)
    assert (i, x, t) == (0, 0.0, (0, 0.0))
    assert a.shape == (0,) and a.dtype == np.int32
    assert njit(f, semantics="numba")(2, True)[0] == 3
    with pytest.raises(UnboundLocalError):
        njit(f)(2, False)

    def g(flag):
        if flag:
            s = "text"
        return s

    with pytest.raises(UnboundLocalError):
        njit(g, semantics="numba")(False)


def test_callees_have_the_semantics_of_their_decorator() -> None:
    inner = njit(lambda a: a[0] * 2)
    of_numba = njit(lambda a: a[0] * 2, semantics="numba")
    plain = lambda a: a[0] * 2
    a = np.array([200], np.uint8)
    both = njit(lambda a: (inner(a), of_numba(a), plain(a)))
    assert both(a) == (144, 400, 144)
    assert njit(lambda a: (inner(a), of_numba(a), plain(a)), semantics="numba")(a) == (144, 400, 400)
    xs = np.array([200, 100], np.uint8)
    twice = lambda x: x * 2
    assert njit(lambda a: list(map(twice, a)), semantics="numba")(xs) == [400, 200]
    assert njit(lambda a: list(map(twice, a)))(xs) == [144, 200]


#: By the type of the first value: those whose values Numba makes values of that type. For others the dictionary has
#: values of several types.
CONVERTED = {
    "bool": "bool", "int8": "bool int8", "uint8": "bool uint8", "int16": "bool int8 uint8 int16",
    "uint16": "bool uint8 uint16", "int32": "bool int8 uint8 int16 uint16 int32", "uint32": "bool uint8 uint16 uint32",
    "int64": "bool int8 uint8 int16 uint16 int32 uint32 int64", "uint64": "bool uint8 uint16 uint32 uint64",
    "float32": "bool int8 uint8 int16 float32",
    "float64": "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64",
    "complex64": "bool int8 uint8 int16 float32 complex64",
    "complex128": "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64 complex64 complex128",
}  # fmt: skip


@pytest.mark.parametrize("first", CONVERTED)
def test_values_of_a_dictionary_take_the_type_of_the_first(first: str) -> None:
    made = njit(lambda a, b: {"x": a, "y": b}, semantics="numba")
    a = np.dtype(first).type(3)
    for second in CONVERTED:
        b = np.dtype(second).type(1)
        if second in CONVERTED[first].split():
            assert dict(made(a, b)) == {"x": a, "y": 1}
            assert type(made(a, b)["y"]) is type(made(a, a)["y"])
        else:
            with pytest.raises(errors.TypingError):
                made(a, b)
    apart = njit(lambda a, b: {"x": a, "y": b}["y"])
    assert apart(2.5, 3) == 3 and type(apart(2.5, 3)) is int


def test_numbers_have_the_attributes_of_their_semantics() -> None:
    def shape(x: Any) -> Any:
        return x.shape

    assert njit(shape)(np.float64(1.5)) == njit(lambda a: shape(a[0]))(np.ones(2)) == ()
    for function, semantics in ((shape, "numba"), (lambda a: a[0].shape, "numba"), (shape, "python")):
        with pytest.raises(errors.TypingError, match="shape"):
            njit(function, semantics=semantics)(np.ones(2) if function is not shape else 1)
    assert njit(lambda x: x.real + x.imag, semantics="numba")(3) == 3


@pytest.mark.parametrize("start", [None, 1])
@pytest.mark.parametrize("stop", [None, 4])
@pytest.mark.parametrize("step", [None, 2, -1])
def test_parts_of_slices_are_numbers(start: int | None, stop: int | None, step: int | None) -> None:
    def parts(s):
        return s.start, s.stop, s.step

    def copied(s):
        return slice(s.start, s.stop, s.step)

    given = slice(start, stop, step)
    ends = (2**63 - 1, -(2**63), -1) if step == -1 else (0, 2**63 - 1, 1)
    numbers = tuple(end if part is None else part for part, end in zip((start, stop, step), ends, strict=True))
    assert njit(parts)(given) == (start, stop, step)
    assert njit(parts, semantics="numba")(given) == numbers
    assert not any(njit(lambda s: (s.start is None, s.stop is None, s.step is None), semantics="numba")(given))
    # An object has None again, since nothing else would be the same slice.
    outside = njit(copied, semantics="numba")(given)
    assert list(range(9))[outside] == list(range(9))[given]
    assert (outside.stop, outside.step) == (stop, step or 1)
    assert njit(lambda a, s: a[copied(s)].sum(), semantics="numba")(np.arange(9), given) == np.arange(9)[given].sum()


def test_objects_without_a_meaning() -> None:
    thing, inside = object(), (1, object())
    assert njit(lambda: thing)() is thing
    for function in (lambda: thing, lambda: inside, lambda: inside[1]):
        with pytest.raises(errors.TypingError, match="cannot be used in compiled code"):
            njit(function, semantics="numba")()


def test_methods_have_the_semantics_of_their_class() -> None:
    def two(self: Any, a: Any) -> Any:
        return a[0] * 2

    fields = [("x", types.float64)]
    body = {"__init__": lambda self: None, "twice": two, "double": property(lambda self: {"x": self.x, "n": 3})}
    a = np.array([200], np.uint8)
    assert jitclass(fields)(type("Own", (), body))().twice(a) == 144
    served = serve.NumbaModule("numba.experimental").jitclass
    for made in (jitclass(fields, semantics="numba"), served(fields)):
        of_numba = made(type("Counts", (), body))()
        assert of_numba.twice(a) == njit(lambda c, a: c.twice(a))(of_numba, a) == 400
        assert dict(of_numba.double) == {"x": 0.0, "n": 3.0}


def test_served_decorators_have_numbas() -> None:
    of_numba = serve.NumbaModule("numba")
    a = np.array([200], np.uint8)
    assert of_numba.njit(lambda a: a[0] * 2)(a) == 400
    assert of_numba.jit(nopython=True)(lambda a: a[0] * 2)(a) == 400
    assert of_numba.vectorize(lambda x: x * 2)(a).dtype == np.int64
    assert njit(lambda a: a[0] * 2)(a) == 144
    inner = of_numba.njit(lambda x: x)
    with pytest.raises(TypeError, match="already jitted"):
        of_numba.njit(inner)


def test_methods_of_served_classes_have_numbas() -> None:
    class Third:
        def __init__(self, x: Any) -> None:
            self.x = x

        @property
        def part(self) -> Any:
            return self.x / 3

        @staticmethod
        def of(x: Any) -> Any:
            return x / 3

        def again(self) -> Any:
            return self.x / 3

    x = np.float32(1)
    for decorator, want in (
        (serve.NumbaModule("numba.experimental").jitclass, 1 / 3),
        (jitclass, float(x / 3)),
        (functools.partial(jitclass, semantics="numba"), 1 / 3),
    ):
        third = decorator([("x", float32)])(Third)
        called = njit(lambda t: (t.part, t.again()))
        assert (third(x).part, third(x).again(), third.of(x), *called(third(x))) == (want,) * 5


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int32", "uint8"])
def test_counts_of_shifts_are_taken_modulo_64(dtype: str) -> None:
    """Numba leaves a count out of range to the processor, which looks at its lower bits; nothing raises."""
    left = njit(lambda x, n: x << n, semantics="numba")
    right = njit(lambda x, n: x >> n, semantics="numba")
    x = getattr(np, dtype)(100)
    for n in (-65, -1, 0, 3, 31, 32, 63, 64, 65, 200):
        assert left(x, n) % 2**64 == (int(x) << (n % 64)) % 2**64, (dtype, n)
        assert right(x, n) == int(x) >> (n % 64), (dtype, n)
    assert njit(lambda x: (x << -1, x >> 64), semantics="numba")(5) == (-(2**63), 5)
    with pytest.raises(ValueError, match="negative shift count"):
        njit(lambda x, n: x << n)(1, -1)


def test_callees_take_error_model_and_fastmath_of_their_callers() -> None:
    """Where their own decorators say nothing, or where Numba inlines them."""
    options = {"semantics": "numba"}

    def quotient(x: float, y: float) -> float:
        return x / y

    def caller(callee: Any, **more: Any) -> Any:
        return njit(lambda x, y: callee(x, y), **options, **more)

    plain, inlined = njit(quotient, **options), njit(quotient, inline="always", error_model="python", **options)
    numpys = njit(quotient, error_model="numpy", **options)
    pythons = njit(quotient, error_model="python", **options)
    signed = njit("float64(float64, float64)", **options)(quotient)
    for callee in (plain, inlined, numpys, quotient):
        assert caller(callee, error_model="numpy")(1.0, 0.0) == np.inf
    for callee in (pythons, signed, njit(quotient)):
        with pytest.raises(ZeroDivisionError):
            caller(callee, error_model="numpy")(1.0, 0.0)
    for callee in (plain, inlined, pythons):
        with pytest.raises(ZeroDivisionError):
            caller(callee)(1.0, 0.0)
        with pytest.raises(ZeroDivisionError):
            callee(1.0, 0.0)
    assert caller(numpys)(1.0, 0.0) == np.inf
    for callee in (plain, inlined):
        compiled = caller(callee, fastmath=True)
        compiled(1.0, 2.0)
        assert "fdiv fast" in next(iter(compiled.inspect_llvm().values()))
