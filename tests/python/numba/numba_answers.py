"""Numba's answers for every operator, pair of dtypes and form of operands, recorded in `numba_answers.json`.

    python tests/python/numba/numba_answers.py        in an environment with numba==0.68.1: records them anew

`test_semantics.py` compares those of `semantics="numba"` with them.
"""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_suffix(".json")
DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128".split()
#: Operators that take any values, and those whose right operand is small and not negative.
ANY = ("+", "-", "*", "==", "!=", "<", "<=", ">", ">=")
BITS = ("&", "|", "^")
DIVISIONS = ("/", "//", "%")
SMALL = ("**", "<<", ">>")
UNARY = ("-a", "+a", "~a", "abs(a)", "int(a)", "float(a)", "complex(a)", "bool(a)", "round(a)")
MATH = ("math.sqrt(a)", "math.floor(a)", "math.exp(a)", "math.fabs(a)")
TWO = (
    "max(a, b)", "min(a, b)", "np.add(a, b)", "np.multiply(a, b)", "np.power(a, b)", "np.true_divide(a, b)",
    "np.less(a, b)", "np.maximum(a, b)", "np.bitwise_and(a, b)", "np.arctan2(a, b)", "np.hypot(a, b)",
    "np.left_shift(a, b)", "np.floor_divide(a, b)", "np.remainder(a, b)", "np.subtract(a, b)", "np.equal(a, b)",
)  # fmt: skip
UFUNCS = (
    "sqrt sin exp log1p floor rint sign square absolute negative reciprocal isnan logical_not deg2rad conjugate"
).split()
REDUCTIONS = "sum prod mean std var min max argmax cumsum cumprod any all".split()


def values(dtype: str) -> np.ndarray:
    """The operands of a dtype: small numbers, and the least and the greatest."""
    if dtype == "bool":
        return np.array([True, False])
    if dtype[0] in "iu":
        limits = np.iinfo(dtype)
        some = [5, 3, limits.max, limits.max - 2] + ([-7, limits.min] if dtype[0] == "i" else [])
        return np.array(some, dtype)
    if dtype[0] == "f":
        return np.array([2.5, 0.1, -3.75, 1e30], dtype)
    return np.array([1.5 - 2j, 0.1 + 3j], dtype)


def small(dtype: str) -> np.ndarray:
    """Operands that exponents and divisors may be."""
    return np.array([True] if dtype == "bool" else [3, 2], dtype)


def plain(value: object) -> object:
    """A value of a result in JSON."""
    if isinstance(value, np.ndarray):
        return [plain(v) for v in value.ravel().tolist()]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (float, np.floating)):
        return float(value).hex()
    if isinstance(value, (complex, np.complexfloating)):
        return [float(value.real).hex(), float(value.imag).hex()]
    return int(value)  # type: ignore[call-overload]


def program(expression: str) -> str:
    """A function of the operands that has the expression as its result."""
    parameters = "a, b" if "b)" in expression or " b" in expression or " " in expression else "a"
    return f"lambda {parameters}: {expression}"


def expressions() -> dict[str, tuple[str, ...]]:
    """Expressions by the kind of their operands."""
    binary = lambda signs: tuple(f"a {sign} b" for sign in signs)
    return {
        "any": binary(ANY + BITS) + ("max(a, b)", "min(a, b)", "np.add(a, b)", "np.subtract(a, b)",
                                     "np.multiply(a, b)", "np.less(a, b)", "np.equal(a, b)", "np.maximum(a, b)",
                                     "np.bitwise_and(a, b)", "np.arctan2(a, b)", "np.hypot(a, b)"),
        "small": binary(DIVISIONS + SMALL) + ("np.power(a, b)", "np.true_divide(a, b)", "np.left_shift(a, b)",
                                              "np.floor_divide(a, b)", "np.remainder(a, b)"),
        "one": UNARY + MATH + tuple(f"np.{name}(a)" for name in UFUNCS),
    }  # fmt: skip


def scalars_of(kind: str, first: str, second: str) -> list[tuple[object, ...]]:
    """The operands of one kind of expressions."""
    left = list(values(first))
    if kind == "one":
        return [(x,) for x in left]
    right = list(values(second) if kind == "any" else small(second))
    pairs = [(x, y) for x in left for y in right]
    # Not all pairs of a product: the file would be several megabytes.
    return pairs[:: 1 + len(pairs) // 8]


def operands_of(kind: str, first: str, second: str, form: str) -> list[tuple[object, ...]]:
    """The operands of every call of a case: numbers, or arrays of them where the form has the letter `a`."""
    operands = scalars_of(kind, first, second)
    if "a" not in form:
        return operands
    columns = [np.array(column, dtype) for column, dtype in zip(zip(*operands), (first, second))]
    return [tuple(c if f == "a" else c[0] for c, f in zip(columns, form))]


def all_cases() -> list[tuple[str, str, str, str, str]]:
    """Kind, expression, dtypes and form of every case: `s` for a number, `a` for an array."""
    cases = []
    for kind, some in expressions().items():
        for expression in some:
            is_python = expression.startswith(("max", "min", "math", "int", "float", "complex", "bool", "round", "abs"))
            for first in DTYPES:
                if kind == "one":
                    cases += [(kind, expression, first, "", form) for form in ("s", "a")[: 1 if is_python else 2]]
                    continue
                forms = ("ss",) if is_python else ("ss", "aa", "as", "sa")
                cases += [(kind, expression, first, second, form) for second in DTYPES for form in forms]
    cases += [("one", f"np.{name}(a)", dtype, "", "a") for name in REDUCTIONS for dtype in DTYPES]
    return cases


def function_of(expression: str) -> object:
    """A function of the operands whose result is the expression."""
    return eval(program(expression), {"np": np, "math": math})


def _recorded(case: tuple[str, str, str, str, str]) -> object:
    """The type of a result, with its values if the operands are numbers; "refused", or the exception's name."""
    import numba
    from numba.core import compiler, typed_passes
    from numba.core.registry import cpu_target

    kind, expression, first, second, form = case
    operands = operands_of(kind, first, second, form)
    function = function_of(expression)
    types = [numba.typeof(o) for o in operands[0]]
    code = compiler.run_frontend(function)
    target = cpu_target.target_context
    try:
        found = typed_passes.type_inference_stage(cpu_target.typing_context, target, code, types, None)
    except Exception:
        return "refused"
    result = str(found.return_type)
    if "a" in form:
        # The layout is another matter.
        return result.replace("array(", "").split(",")[0]
    try:
        compiled = numba.njit(function)
        return [result, [plain(compiled(*o)) for o in operands]]
    except (ZeroDivisionError, OverflowError, ValueError) as error:
        return type(error).__name__
    except Exception:
        return "refused"


def main() -> None:
    """Records all answers."""
    import numba

    numba.njit(lambda x: x)(1)
    warnings.simplefilter("ignore")
    answers: dict[str, dict[str, dict[str, dict[str, object]]]] = {}
    for case in all_cases():
        _, expression, first, second, form = case
        answers.setdefault(expression, {}).setdefault(form, {}).setdefault(first, {})[second] = _recorded(case)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(found)}" for name, found in answers.items())
    FILE.write_text(f"{{{lines}}}\n")


if __name__ == "__main__":
    main()
