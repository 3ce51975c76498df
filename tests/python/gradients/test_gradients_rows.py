"""The derivative of each row of the table of operations, against complex steps where NumPy has the function of complex
numbers, else against differences: over both types of floats, at ordinary and at extreme points."""

from __future__ import annotations

import math
import operator
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.special

from lancehead.gradients import grad, jvp

TABLE = Path(__file__).parents[3] / "crates" / "lh-ops" / "src" / "table"
#: Functions of rows that no name stands for, and of those whose name CPython lacks.
UNNAMED = {
    "fdiv": operator.truediv, "frem": math.fmod, "minnum": np.fmin, "maxnum": np.fmax, "pow": operator.pow,
    "select": lambda x, y: np.where(x > y, x, y)[()], "ldexp": lambda x: math.ldexp(x, 3),
    "fma": None, "add_any_order": None, "sub_any_order": None, "mul_any_order": None,
}  # fmt: skip
#: Functions of complex numbers where NumPy has those of reals only.
COMPLEX = {
    "erf": scipy.special.erf, "erfc": lambda z: 1.0 - scipy.special.erf(z), "cbrt": lambda z: np.sign(z.real) * (
        np.sign(z.real) * z) ** (1.0 / 3.0), "hypot": lambda x, y: np.sqrt(x * x + y * y),
    "fabs": lambda z: np.sign(z.real) * z, "abs": lambda z: np.sign(z.real) * z,
}  # fmt: skip
#: Functions of complex numbers that are no continuations of those of real ones.
REAL = {"pow"}
POINTS = np.array([-30.0, -2.6, -1.0, -0.35, 1e-3, 0.2, 0.71, 1.0, 1.9, 30.0])


def rows():
    """Rows with a derivative: the name, the names of callables, the number of operands that have one."""
    for path in sorted(TABLE.glob("*.rs")):
        text = path.read_text(encoding="utf-8")
        for name, row in re.findall(r'name: "(\w+)",(.*?)examples:', text, re.DOTALL):
            texts = re.search(r"grad: Grad::Partials\(&\[(.*?)\]\)", row, re.DOTALL)
            if texts:
                names = re.findall(r'"([\w.]+)"', re.search(r"python: &\[(.*?)\]", row + "python: &[]", re.DOTALL)[1])
                yield name, names, texts[1].count('"') // 2


def function_of(name, names):
    if name in UNNAMED:
        return UNNAMED[name]
    module, _, last = names[-1].partition(".")
    return getattr({"math": math, "numpy": np, "operator": operator}[module], last)


def value(function, *args):
    """The value, or NaN outside of the domain."""
    try:
        with np.errstate(all="ignore"):
            return float(function(*args))
    except (ValueError, OverflowError, ZeroDivisionError, TypeError):
        return math.nan


def slope(name, function, x, y):
    """The derivative with respect to the first or only operand, or NaN where it does not exist."""
    others = () if y is None else (y,)
    if not math.isfinite(value(function, x, *others)):
        return math.nan
    try:
        with np.errstate(all="ignore"):
            found = COMPLEX.get(name, function)(x + 1e-200j, *others)
        if np.iscomplexobj(found) and name.rstrip("'") not in REAL:
            return np.imag(found) / 1e-200
    except (TypeError, ValueError, OverflowError):
        pass
    step = 1e-6 * max(1.0, abs(x))
    return (value(function, x + step, *others) - value(function, x - step, *others)) / (2.0 * step)


def is_smooth(name, function, x, y):
    """Whether the slopes on both sides and at the point are nearly equal: at a jump, the difference is not."""
    step = 1e-5 * max(1.0, abs(x))
    near = [slope(name, function, x + s, y) for s in (step, 0.0, -step)]
    return np.isfinite(near).all() and np.ptp(near) < 1e-2 * (1.0 + abs(near[0]))


ROWS = [(name, names) for name, names, _ in rows()]


@pytest.mark.parametrize(("name", "names"), ROWS, ids=[name for name, _ in ROWS])
def test_row(name, names):
    function = function_of(name, names)
    if function is None:
        pytest.skip("it has no function of its own in this version of Python")
    is_binary = name != "ldexp" and name in {n for n, _, count in rows() if count > 1}
    called = (lambda x, y: function(x, y)) if is_binary else (lambda x: function(x))
    slopes = grad(called, (0, 1) if is_binary else (0,))
    compared = 0
    for x in POINTS.tolist():
        for y in (-1.7, 0.6, 2.0) if is_binary else (None,):
            if not is_smooth(name, function, x, y):
                continue
            args = (x,) if y is None else (x, y)
            wanted = [slope(name, function, x, y)]
            if is_binary:
                other = name + "'", lambda b, a: function(a, b), y, x
                wanted.append(slope(*other) if is_smooth(*other) else math.nan)
            found, singles = slopes(*args), slopes(*map(np.float32, args))
            for w, g, s in zip(wanted, found, singles, strict=True):
                if math.isfinite(w):
                    assert g == pytest.approx(w, rel=1e-5, abs=1e-9), args
                    assert s == pytest.approx(w, rel=1e-3, abs=1e-5), args
                    compared += 1
            tangent = jvp(called, args, (1.0,) + (0.0,) * (len(args) - 1))[1]
            assert tangent == pytest.approx(found[0], rel=1e-13, nan_ok=True), args
    assert compared >= 2
