"""Operators, indexing and calls on pairs of values of all kinds, whether they fit or not.

Compiled code must answer as CPython does, or refuse with a diagnostic of at most 25 lines. An internal error, a crash
or another answer is a fault.

    python tests/fuzz/operands.py --count 20000 --seed 7
"""

from __future__ import annotations

import argparse
import collections
import copy
import enum
import itertools
import random
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from lancehead import errors, njit

Pair = collections.namedtuple("Pair", "a b")


class Plain(enum.Enum):
    A = 1
    B = "x"


class Whole(enum.IntEnum):
    A = 1


NUMBERS = (int, float, complex, np.number, np.bool_)
RECORDS = np.zeros(2, [("a", "i4"), ("b", "f8")])
# fmt: off
VALUES: list[Any] = [
    0, 3, -2, True, None, 1.5, float("nan"), 1j, "", "ab", (), (1,), (1, 2.5), ("a", 1), [1, 2], [1.5], ["a"],
    [[1], [2]], [(1, 2.0)],
    range(4), slice(1, 3), np.arange(3), np.arange(3.0)[::-1], np.ones((2, 3), np.float32), np.array(5),
    np.array([], np.int8),
    np.array([1j, 2, 3]), RECORDS, RECORDS[0], Pair(1, 2.0), Plain.A, Whole.A,
    abs, np.sin, len, Ellipsis, ValueError,
]
# Numbers of NumPy's types are Python's in compiled code, a dtype and its class are one, an empty list holds integers,
# bytes and truth values of arrays are Python's: what CPython answers is not asked.
OWN: list[Any] = [np.int8(-3), np.uint8(200), np.uint64(2**63), np.float32(1.5), np.complex64(1j), np.bool_(True),
                  np.float64, np.dtype("i4"), [], b"ab", np.array([True, False, True])]
EXPRESSIONS = [
    "a + b", "a - b", "a * b", "a / b", "a // b", "a % b", "a ** b", "a << b", "a >> b", "a & b", "a | b", "a ^ b",
    "a @ b",
    "a == b", "a != b", "a < b", "a >= b", "a is b", "a in b", "a and b", "a or b", "a[b]", "a[b:]", "a if b else b",
    "max(a, b)",
    "list(zip(a, b))", "list(enumerate(a, b))", "pow(a, b)", "divmod(a, b)", "round(a, b)", "complex(a, b)",
    "isinstance(a, (int, float, str, tuple, list, np.ndarray))",
    "[a, b]", "[a] + [b]", "(a, b)[1]", "f'{a}' + str(b)", "repr(a)", "np.add(a, b)", "np.maximum(a, b)",
    "np.dot(a, b)", "np.full(a, b)", "np.where(a, b, a)",
    "np.concatenate((a, b))", "np.array([a, b])", "sorted(a)", "sum(a, b)", "min(a)", "len(a)", "list(a)",
    "tuple([a, b])", "bool(a)", "int(a)", "float(a)",
]
STATEMENTS = ["a += b\n return a", "a[0] = b\n return a", "c = [a]\n c.append(b)\n return c",
              "try:\n  return a[b]\n except Exception:\n  return -1"]
# fmt: on


def functions() -> list[Callable[..., Any]]:
    """A Python function for each operation."""
    found = []
    for text in [f"return {e}" for e in EXPRESSIONS] + STATEMENTS:
        space: dict[str, Any] = {"np": np}
        exec(f"def f(a, b):\n {text}", space)
        space["f"].__qualname__ = text
        found.append(space["f"])
    return found


def is_same(want: Any, got: Any) -> bool:
    """Whether two answers are equal, numbers but for rounding and their type."""
    if isinstance(want, np.ndarray) or isinstance(got, np.ndarray):
        want, got = np.asarray(want), np.asarray(got)
        if want.shape != got.shape or want.dtype.kind not in "biufc":
            return want.shape == got.shape
        return np.allclose(want, got, rtol=1e-6, equal_nan=True)
    if isinstance(want, (tuple, list)):
        return isinstance(got, (tuple, list)) and len(want) == len(got) and all(map(is_same, want, got))
    if isinstance(want, dict) and any(isinstance(v, np.ndarray) for v in want.values()):
        return type(got) is type(want) and list(want) == list(got) and all(is_same(want[k], got[k]) for k in want)
    if isinstance(want, (dict, set)):
        return type(got) is type(want) and (want == got or sorted(map(repr, want)) == sorted(map(repr, got)))
    if isinstance(want, slice) and isinstance(got, slice):
        return all(is_same(getattr(want, part), getattr(got, part)) for part in ("start", "stop", "step"))
    if isinstance(want, (type, np.dtype)) and isinstance(got, type):
        return np.dtype(want) == np.dtype(got)
    if isinstance(want, (np.datetime64, np.timedelta64)):
        both = np.array([want]), np.array([got])
        return both[0].dtype == both[1].dtype and bool((both[0].view(np.int64) == both[1].view(np.int64)).all())
    if isinstance(want, NUMBERS) and isinstance(got, NUMBERS):
        return bool(np.isclose(want, got, rtol=1e-6, equal_nan=True))
    return type(want) is type(got) and (want == got or not isinstance(want, (str, bytes, enum.Enum, range, slice)))


def own_copy(value: Any) -> Any:
    """A copy that the other run does not change."""
    return copy.deepcopy(value) if isinstance(value, (list, np.ndarray, np.void)) else value


def is_deliberate(operation: Callable[..., Any], a: Any, b: Any) -> bool:
    """Whether docs/differences.md names it: comparisons with None, NaN among integers, powers of negative numbers."""
    if "a ** b" in operation.__qualname__ or "pow(a, b)" in operation.__qualname__:
        return isinstance(a, (int, float)) and a < 0 and isinstance(b, float)
    if operation.__qualname__.startswith("a[0] ="):
        return isinstance(b, float) and b != b
    return operation.__qualname__ in ("return a == b", "return a != b") and (a is None or b is None)


def verdict(compiled: Callable[..., Any], plain: Callable[..., Any], a: Any, b: Any) -> str:
    """`same`, `refused`, or what is wrong."""
    given = own_copy(a), own_copy(b)
    try:
        got = compiled(own_copy(a), own_copy(b))
    except (errors.InternalError, SystemError) as e:
        return f"{type(e).__name__}: {e}"[:300]
    except Exception as e:
        lines = len(str(e).splitlines())
        return "refused" if lines <= 25 else f"a message of {lines} lines"
    if any(v is o for v in (a, b) for o in OWN) or is_deliberate(plain, a, b):
        return "same"
    try:
        want = plain(*given)
    except Exception as e:
        return f"gave {got!r:.60}, CPython raises {type(e).__name__}: {e}"
    return "same" if is_same(want, got) else f"gave {got!r:.60}, CPython {want!r:.60}"


def run(seed: int, count: int) -> dict[str, str]:
    """Verdicts that are faults, by operation and operands."""
    pairs = list(itertools.product(functions(), VALUES + OWN, VALUES + OWN))
    compiled: dict[Callable[..., Any], Callable[..., Any]] = {}
    faults = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for f, a, b in random.Random(seed).sample(pairs, count):
            said = verdict(compiled.setdefault(f, njit(f)), f, a, b)
            if said not in ("same", "refused"):
                faults[f"{f.__qualname__!r} of {a!r:.60} and {b!r:.60}"] = said
    return faults


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    faults = run(asked.seed, asked.count)
    for what, said in faults.items():
        print(f"{what}: {said}")
    sys.exit(bool(faults))
