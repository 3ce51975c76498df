"""`overflow="check"` against exact integers, at the ends of every type; the table of it in `docs/options.md`."""

from __future__ import annotations

import itertools
import operator
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lancehead import cuda, njit, prange, set_num_threads, vectorize

PAGE = Path(__file__).parents[3] / "docs/options.md"
HEADING = '## Operations that `overflow="check"` checks\n'
TYPES = (int, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
checked = njit(overflow="check")


def magnitude(a: int) -> int:
    return abs(a)


#: Expressions with what they are of exact integers.
UNARY: dict[str, Callable[[int], int]] = {
    "-a": operator.neg, "+a": operator.pos, "~a": operator.invert, "abs(a)": magnitude,
    "np.negative(a)": operator.neg, "np.abs(a)": magnitude, "np.absolute(a)": magnitude,
    "np.square(a)": lambda a: a * a, "a ** 2": lambda a: a**2, "a ** 3": lambda a: a**3, "a << 1": lambda a: a << 1,
}  # fmt: skip
BINARY: dict[str, Callable[[int, int], int]] = {
    "a + b": operator.add, "a - b": operator.sub, "a * b": operator.mul, "a // b": operator.floordiv,
    "a % b": operator.mod, "a ** b": operator.pow, "a << b": operator.lshift, "a >> b": operator.rshift,
    "a & b": operator.and_, "a | b": operator.or_, "a ^ b": operator.xor, "np.add(a, b)": operator.add,
    "np.subtract(a, b)": operator.sub, "np.multiply(a, b)": operator.mul, "np.floor_divide(a, b)": operator.floordiv,
    "np.left_shift(a, b)": operator.lshift, "np.power(a, b)": operator.pow,
}  # fmt: skip


def ends(t: Any) -> tuple[int, int]:
    info = np.iinfo(np.int64 if t is int else t)
    return int(info.min), int(info.max)


def values(t: Any) -> list[int]:
    """Numbers at the ends of a type, and around the root of the greatest."""
    least, greatest = ends(t)
    root = int(greatest**0.5)
    near = [least, least + 1, least // 2, -root - 1, -2, -1, 0, 1, 2, 3, root, root + 1, greatest // 2, greatest]
    return sorted({n for n in near if least <= n <= greatest})


def counts(t: Any, expression: str) -> list[int]:
    """Right operands: those of shifts and powers are small."""
    if "<<" in expression or ">>" in expression or "shift" in expression:
        return [n for n in (0, 1, 5, 7, 8, 31, 62, 63, 64, 100) if n <= ends(t)[1]]
    if "**" in expression or "power" in expression:
        return [0, 1, 2, 3, 5, 7, 8]
    divides = any(sign in expression for sign in ("//", "%", "divide"))
    return [n for n in values(t) if n != 0 or not divides]


def function(expression: str, names: str, of: Callable[..., Any] = checked) -> Callable[..., Any]:
    space: dict[str, Any] = {"np": np}
    exec(f"def f({names}):\n    return {expression}", space)
    return of(space["f"])


def expected(exact: int, t: Any, expression: str) -> int | None:
    """The result, or None if it does not fit."""
    least, greatest = ends(t)
    if expression == "~a" and least == 0:
        return exact & greatest
    return exact if least <= exact <= greatest else None


def outcome(f: Callable[..., Any], *arguments: Any) -> int | None:
    try:
        return int(f(*arguments))
    except OverflowError:
        return None


def cases(t: Any) -> Iterable[tuple[str, tuple[int, ...], int]]:
    for expression, exact in UNARY.items():
        yield from ((expression, (a,), exact(a)) for a in values(t))
    for expression, exact in BINARY.items():
        for a, b in itertools.product(values(t), counts(t, expression)):
            yield expression, (a, b), exact(a, b)


def names_of(expression: str) -> str:
    return "a, b" if expression in BINARY else "a"


@pytest.mark.parametrize("t", TYPES)
def test_numbers(t: Any) -> None:
    compiled = {e: function(e, names_of(e)) for e in (*UNARY, *BINARY)}
    for expression, operands, exact in cases(t):
        got = outcome(compiled[expression], *map(t, operands))
        assert got == expected(exact, t, expression), (expression, operands)


def element(compiled: Callable[..., Any], t: Any) -> Callable[..., Any]:
    return lambda *operands: compiled(*(np.full(3, n, t) for n in operands))[1]


@pytest.mark.parametrize("t", [np.int8, np.int64, np.uint16, np.uint64])
@pytest.mark.parametrize("parallel", [False, True])
def test_elements(t: Any, parallel: bool) -> None:
    of = njit(overflow="check", parallel=parallel)
    compiled = {e: function(e, names_of(e), of) for e in (*UNARY, *BINARY)}
    for expression, operands, exact in cases(t):
        got = outcome(element(compiled[expression], t), *operands)
        assert got == expected(exact, t, expression), (expression, operands)


@pytest.mark.parametrize("sign", ["+", "-", "*", "//", "<<", "**"])
@pytest.mark.parametrize("t", [int, np.int8, np.uint32, np.int64])
def test_in_place(t: Any, sign: str) -> None:
    space: dict[str, Any] = {}
    exec(
        f"def number(a, b):\n    a {sign}= b\n    return a\n"
        f"def item(x, y):\n    x[0] {sign}= y[0]\n    return x[0]\n"
        f"def whole(x, y):\n    x {sign}= y\n    return x[0]\n",
        space,
    )
    number, item, whole = (checked(space[name]) for name in ("number", "item", "whole"))
    expression = f"a {sign} b"
    for a, b in itertools.product(values(t), counts(t, expression)):
        want = expected(BINARY[expression](a, b), t, expression)
        assert outcome(number, t(a), t(b)) == want, (a, b)
        for f in (item, whole):
            x, y = (np.full(2, n, np.int64 if t is int else t) for n in (a, b))
            assert outcome(f, x, y) == want, (f, a, b)


def conversions() -> Iterable[tuple[Any, Any]]:
    return itertools.product(TYPES, TYPES[1:])


def test_conversions() -> None:
    for source, target in conversions():
        convert = checked(lambda a, target=target: target(a))
        astype = checked(lambda x, target=target: x.astype(target))
        dtype = np.int64 if source is int else source

        @checked
        def store(out, a):
            out[0] = a
            return out[0]

        @checked
        def store_all(out, x):
            out[:] = x
            return out[0]

        @checked
        def add_to(out, x):
            out += x
            return out[0]

        for a in values(source):
            want = expected(a, target, "")
            new = lambda target=target: np.zeros(2, target)
            x = np.full(2, a, dtype)
            assert outcome(convert, source(a)) == want, (source, target, a)
            assert outcome(lambda x, f=astype: f(x)[0], x) == want, (source, target, a)
            assert outcome(store, new(), source(a)) == want, (source, target, a)
            assert outcome(store_all, new(), x) == want, (source, target, a)
            if np.can_cast(dtype, target, "same_kind") and not np.issubdtype(
                np.result_type(dtype, target), np.floating
            ):
                assert outcome(add_to, new(), x) == want, (source, target, a)


def test_floats_as_integers() -> None:
    for target in TYPES:
        least, greatest = ends(target)
        convert = checked(lambda a, target=target: target(a))
        beyond = float(greatest) + 1 if greatest < 2**53 else float(greatest + 1)
        for x in (0.0, -0.5, 1.5, float(least), beyond, 1e30, -1e30, np.inf, -3.5):
            want = expected(int(x), target, "") if np.isfinite(x) else None
            assert outcome(convert, x) == want, (target, x)
        with pytest.raises(ValueError, match="NaN"):
            convert(np.nan)


def test_python_integers_fit_numpys_types_without_the_option() -> None:
    for target in TYPES[1:]:
        convert = njit(lambda a, target=target: target(a))
        for a in values(int):
            assert outcome(convert, a) == expected(a, target, ""), (target, a)
    with pytest.raises(OverflowError, match="300 out of bounds for int8"):
        njit(lambda: np.int8(300))()
    # Numbers of NumPy's own types wrap, as in NumPy.
    assert njit(lambda a: np.int8(a))(np.int64(300)) == 44


REDUCTIONS = {
    "sum(x)": sum, "np.sum(x)": sum, "x.sum()": sum, "np.cumsum(x)[-1]": sum,
    "x.prod()": lambda x: int(np.prod(x, dtype=object)),
    "np.dot(x, np.ones_like(x))": sum,
}  # fmt: skip


@pytest.mark.parametrize("expression", REDUCTIONS)
def test_reductions(expression: str) -> None:
    f = function(expression, "x")
    for items in (
        [2**62, 2**62 - 1],
        [2**62, 2**62],
        [-(2**62), -(2**62)],
        [-(2**62), -(2**62), -1],
        [3, 2**61],
        [5, 2**61],
    ):
        want = expected(REDUCTIONS[expression](items), np.int64, "")
        assert outcome(f, np.array(items)) == want, items


def test_sums_of_parallel_loops() -> None:
    @njit(parallel=True, overflow="check")
    def total(a):
        s = 0
        for i in prange(len(a)):
            s += a[i]
        return s

    @njit(parallel=True, overflow="check")
    def histogram(k, by):
        h = np.zeros(4, np.int64)
        for i in prange(len(k)):
            h[k[i]] += by
        return h

    @njit(parallel=True, overflow="check")
    def doubled(a):
        for i in prange(len(a)):
            a[i] = a[i] * 2
        return a

    set_num_threads(2)
    a = np.arange(10_000)
    assert total(a) == a.sum()
    assert outcome(total, np.full(1000, 2**60)) is None
    assert histogram(a % 4, 3).tolist() == [7500] * 4
    with pytest.raises(OverflowError):
        histogram(a % 4, 2**60)
    assert (doubled(a.copy()) == 2 * a).all()
    with pytest.raises(OverflowError):
        doubled(np.where(a == 9_999, 2**62, a))


def test_ufuncs() -> None:
    for target in ("cpu", "parallel"):
        add = vectorize(["int64(int64, int64)", "int8(int8, int8)"], overflow="check", target=target)(
            lambda a, b: a + b
        )
        for t in (np.int8, np.int64):
            least, greatest = ends(t)
            assert add(np.full(4, greatest - 1, t), t(1)).tolist() == [greatest] * 4
            for a, b in ((greatest, 1), (least, -1)):
                with pytest.raises(OverflowError):
                    add(np.full(5000, a, t), t(b))


@pytest.mark.parametrize("t", [np.int8, np.int64, np.uint32])
def test_kernels(t: Any) -> None:
    for expression in (*UNARY, *BINARY):
        space: dict[str, Any] = {"np": np}
        body = expression.replace("(a", "(x[0]") if "(a" in expression else expression
        exec(f"def k(out, x, y):\n    a, b = x[0], y[0]\n    out[0] = {expression}", space)
        assert body
        kernel = cuda.jit(overflow="check")(space["k"])

        def run(a: int, b: int = 0, kernel: Any = kernel) -> int:
            out = np.zeros(1, t)
            kernel[1, 1](out, np.full(1, a, t), np.full(1, b, t))
            return int(out[0])

        exact = UNARY.get(expression) or BINARY[expression]
        right = counts(t, expression) if expression in BINARY else [0]
        for a, b in itertools.product(values(t)[::2], right[::2]):
            of = (a, b) if expression in BINARY else (a,)
            assert outcome(run, a, b) == expected(exact(*of), t, expression), (expression, a, b)  # type: ignore[operator]


#: Operations with operands whose result does not fit.
SHOWN: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("a + b", (2**63 - 1, 1)), ("a - b", (-(2**63), 1)), ("a * b", (2**62, 2)), ("a // b", (-(2**63), -1)),
    ("a ** b", (10, 19)), ("a << b", (3, 62)), ("-a", (-(2**63),)), ("abs(a)", (-(2**63),)),
    ("np.square(a)", (2**40,)), ("np.power(a, b)", (10, 19)), ("np.int16(a)", (70000,)),
)  # fmt: skip
SHOWN_REDUCTIONS = ("sum(x)", "np.sum(x)", "np.prod(x)", "np.cumsum(x)", "np.dot(x, x)")


def mark(f: Callable[..., Any], *operands: Any) -> str:
    try:
        f(*operands)
    except OverflowError:
        return "raises"
    return "wraps"


def kernel_of(expression: str) -> Callable[..., Any]:
    space: dict[str, Any] = {"np": np}
    exec(f"def k(out, x, y):\n    a, b = x[0], y[0]\n    out[0] = {expression}", space)
    kernel = cuda.jit(overflow="check")(space["k"])
    return lambda a, b=0: kernel[1, 1](np.zeros(1, np.int64), np.array([a]), np.array([b]))


def table() -> str:
    lines = [
        "Whether an operation raises `OverflowError` if its exact result does not fit; a test writes this table.",
        "Results that fit are exact. Those of `a & b`, `a | b`, `a ^ b`, `~a`, `a >> b` and `a % b` always do.",
        "",
        "| operation | Python's `int` | NumPy's integers | elements of arrays | kernels |",
        "|---|---|---|---|---|",
    ]
    for expression, operands in SHOWN:
        f = function(expression, "a, b" if len(operands) == 2 else "a")
        cells = [mark(f, *operands), mark(f, *map(np.int64, operands)), mark(f, *(np.array([n]) for n in operands))]
        lines.append(f"| `{expression}` | {' | '.join(cells)} | {mark(kernel_of(expression), *operands)} |")
    lines += ["", "| operation | integers in an array |", "|---|---|"]
    x = np.array([2**62, 2**62])
    lines += [f"| `{e}` | {mark(function(e, 'x'), x)} |" for e in SHOWN_REDUCTIONS]
    stores = {
        "`out[0] = a`, `out[:] = x`, `out += x` with narrower `out`": "out[:] = x",
        "`x.astype(np.int16)`": "x.astype(np.int16)",
        "`for i in prange(n): s += x[i]`": "s += x[0]",
    }
    space: dict[str, Any] = {"np": np, "prange": prange}
    for label, statement in stores.items():
        loop = (
            "    s = 0\n    for i in prange(2):\n        s += x[i]\n    return s\n"
            if "prange" in label
            else f"    {statement}\n"
        )
        exec(f"def f(out, x):\n{loop}", space)
        f = njit(overflow="check", parallel="prange" in label)(space["f"])
        lines.append(f"| {label} | {mark(f, np.zeros(2, np.int16), x)} |")
    return "\n".join(lines) + "\n"


def test_the_table_of_the_page_is_what_happens() -> None:
    before, heading, rest = PAGE.read_text().partition(HEADING)
    want = f"\n{table()}"
    if os.environ.get("LANCEHEAD_BLESS"):
        PAGE.write_text(before.rstrip() + "\n\n" + HEADING + want)
    else:
        assert heading and rest == want, "run it with LANCEHEAD_BLESS=1"
    assert "wraps" not in want
