"""Every function of NumPy that compiled code has, at the ends of each type, against NumPy.

A form is a call of a function, a method or a ufunc's method, found from names and signatures: arguments are those that
NumPy takes. A case compiles a form for a dtype and an arrangement of the operand (a line, one with a negative step,
tables by rows and by columns, an array of rank 0), and tries it on ends of the type, infinities, NaN, subnormal
numbers, zeros of both signs and Python numbers outside of the type. Value, type, shape, class of the exception and
changed operands must be NumPy's; a call that NumPy answers and the compiler refuses counts apart.

    python tests/fuzz/extremes.py --count 20000 --seed 7000
    python tests/fuzz/extremes.py --from np.median --until np.quantile --turns 3
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import random
import re
import resource
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import calls
import children
from extreme_values import ARRANGEMENTS, DTYPES, Operands, inputs, numbers
from lancehead import errors, njit
from numpy_signatures import parameters

#: Cases of a process. A crash costs a new one.
BATCH = 500
#: Bytes that a process may have: sizes that come from ends of types are refused at once.
MEMORY = 6 << 30
HOMES = ("numpy", "numpy.linalg", "numpy.fft", "ndarray")
#: Their results say nothing of their operands, are undefined, or are no values.
UNCOMPARED = {"empty", "empty_like", "ndarray", "nditer", "from_dlpack", "getfield", "setfield", "data", "device",
              "to_device", "flat", "may_share_memory", "shares_memory", "dtype", "flags", "fromstring"}  # fmt: skip
UFUNC_METHODS = {
    "reduce": ("A", "A, axis=-1", "A, axis=None, initial=V", "A, where=M, initial=V", "A, keepdims=True",
               "A, dtype=np.float32", "A, dtype=np.complex128"),
    "accumulate": ("A", "A, axis=-1", "A, dtype=np.float64"),
    "reduceat": ("A, I.ravel()", "A, [0, 1, 0], dtype=np.float64"),
    "outer": ("A, B", "A, V", "V, A"),
    "at": ("A, 0, V", "A, [0, 1, 0], B[:1]", "A, [0, 0]"),
}  # fmt: skip
#: Texts for parameters of these names; others get those of `ANY`.
BY_NAME = {
    "axis": ("0", "-1", "None"), "axes": ("(1, 0)",), "dtype": ("np.float32", "np.int8", "np.complex128"),
    "shape": ("(2, -1)", "3"), "newshape": ("(-1,)",), "bins": ("S", "3"), "xp": ("S",), "fp": ("B",),
    "q": ("50", "0.25", "Q"),
    "method": tuple(map(repr, ("lower", "higher", "nearest", "midpoint", "weibull", "inverted_cdf", "hazen"))),
    "out": ("np.zeros_like(A)",), "side": ("'right'",), "mode": ("'valid'", "'same'", "'wrap'", "'clip'"),
    "where": ("M",), "condition": ("M",), "mask": ("M",), "indices": ("I", "1"), "ind": ("I", "1"),
    "obj": ("1", "[0, 1]"),
    "kth": ("1",), "kind": ("'stable'",), "repeats": ("2", "I"), "pad_width": ("1",), "casting": (),
    "ord": ("1", "np.inf", "-1", "2", "3"), "signature": (), "subok": (), "like": (), "device": (),
    "overwrite_input": (), "copy": ("True",),
    "sorter": (), "func1d": ("np.max",), "func": ("np.sum",), "norm": ("'ortho'",), "UPLO": ("'U'",),
    "indices_or_sections": ("1",), "ids": (), "num": ("3",), "N": ("3",), "n": ("1", "2"), "k": ("1",), "M": ("3",),
    "rcond": ("1e-8",), "kwargs": (), "args": (), "weights": ("B", "A", "I"), "fweights": ("I",), "aweights": ("B",),
    "deg": ("1",), "m": ("1", "2"),
    "nan": ("V",), "x": ("A", "V", "B"), "sections": ("1",), "subscripts": (), "range": ("(0, 3)",),
}  # fmt: skip
ANY = ("A", "B", "V", "I", "1", "(A, B)", "M", "np.float32", "True")
#: Most forms of a name.
SLOTS = 24
TOGETHER = 1 << 40


@functools.cache
def names() -> list[tuple[str, str]]:
    """The text before the parenthesis, and the kind of its first operand, in the order of the manual's page."""
    found = [(text.replace("a.", "A.") if home == "ndarray" else text, home) for text, home in calls.names()]
    return [(t, h) for t, h in found if h in HOMES and t.rpartition(".")[2] not in UNCOMPARED]


def tame() -> list[dict[str, Any]]:
    """Operands that nearly every function takes, for finding its forms: new ones, since some calls change them."""
    found = []
    for dtype, rank in itertools.product(("f8", "i8", "?", "c16"), (1, 2)):
        line = np.array([3, 1, 2, 0]).astype(dtype)
        found.append(Operands(line if rank == 1 else np.stack((line[:2], line[2:]))).values(1))
    return found


def is_taken(text: str) -> bool:
    """Whether NumPy gives an answer for operands of some type."""
    code = compile(text, "call", "eval")
    for values in tame():
        try:
            eval(code, {"np": np}, values)
        except Exception:
            continue
        return True
    return False


def is_ufunc(name: str) -> bool:
    return isinstance(getattr(np, name[3:], None), np.ufunc)


def required(name: str, home: str) -> list[str]:
    """Calls with the arguments that are required, at most six."""
    known = [
        p
        for p in parameters(name, home)
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    offered = []
    for place, p in enumerate(known):
        some = BY_NAME.get(p.name, ANY)
        offered.append(("S",) if place == 0 and name == "np.searchsorted" else some)
    found = [", ".join(given) for given in itertools.product(*offered)]
    if home != "ndarray" and known:
        found = [given for given in found if re.search(r"\b[AVMS]\b", given)]
    taken = [given for given in found if is_taken(f"{name}({given})")]
    # Those with an array as the last operand, and those with a number.
    return list(dict.fromkeys([*taken[:3], *[t for t in taken if t.endswith(("V", "1"))][:2], *taken[-1:]]))


def optional(name: str, home: str, given: str) -> list[str]:
    """The same call with one more argument."""
    found = []
    for p in parameters(name, home):
        if p.default is not p.empty and p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD):
            if p.name == "mode" and name.endswith("choose") or p.name == "out" and "cum" in name:
                # NumPy subtracts the number of choices until the number is small, and crashes on arrays of rank 0.
                continue
            some = (str(not p.default),) if isinstance(p.default, bool) else ("V", "B", "True", "1", "M")
            texts = [f"{given}, {p.name}={text}".removeprefix(", ") for text in BY_NAME.get(p.name, some)]
            if p.name == "where" and is_ufunc(name):
                # Elements without an output are undefined.
                texts = [f"{given}, out=np.zeros((2, 2)), where=M", f"{given}, out=np.zeros(A.shape, A.dtype), where=M"]
            taken = [t for t in texts if is_taken(f"{name}({t})")]
            found += taken if p.name in BY_NAME else taken[:2]
    return found


@functools.cache
def forms(name: str, home: str) -> list[str]:
    """Calls of a function, at most so many as there are slots."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if home == "ndarray" and not callable(getattr(np.ndarray, name[2:], None)):
            return [name]
        owner = "S.searchsorted" if name == "A.searchsorted" else name
        given = required(owner, home)
        found = [f"{owner}({g})" for g in given]
        found += [f"{owner}({o})" for g in dict.fromkeys((*given[:1], *given[-1:])) for o in optional(owner, home, g)]
        if is_ufunc(name):
            texts = [f"{name}.{method}({g})" for method, some in UFUNC_METHODS.items() for g in some]
            found += [text for text in texts if is_taken(text)]
    return random.Random(name).sample(sorted(set(found)), min(SLOTS, len(set(found))))


@functools.cache
def variants(text: str) -> list[tuple[str, str, str]]:
    """Dtype, arrangement and kind of number of each case of a form, in an order of its own."""
    kinds = ("int", "float") if "V" in text else ("int",)
    found = list(itertools.product(DTYPES, ARRANGEMENTS, kinds))
    random.Random(text).shuffle(found)
    return found


def case(number: int) -> tuple[str, tuple[str, str, str]] | None:
    """A call and its variant, if the slot has one: a turn has as many slots for each name. The first numbers are one of
    each name; from `TOGETHER` on, those of a name are together.
    """
    if number >= TOGETHER:
        rest, slot = divmod(number - TOGETHER, SLOTS)
        turn, at = divmod(rest, len(names()))
    else:
        rest, at = divmod(number, len(names()))
        turn, slot = divmod(rest, SLOTS)
    some = forms(*names()[at])
    if slot >= len(some):
        return None
    return some[slot], variants(some[slot])[turn % len(variants(some[slot]))]


def function(text: str, result: str = "x") -> Callable[..., Any]:
    used = [n for n in "ABSIMVQ" if re.search(rf"\b{n}\b", text)]
    space: dict[str, Any] = {"np": np}
    exec(f"def f({', '.join(used)}):\n    x = {text}\n    return {result}", space)
    space["f"].used = used
    return space["f"]


def outcome(f: Callable[..., Any], used: list[str], values: dict[str, Any]) -> tuple[Any, list[Any]]:
    """The result or exception of a call, and the operands after it."""
    given = [
        v.copy(order="K") if isinstance(v, np.ndarray) and v.flags.forc else copied(v) for v in map(values.get, used)
    ]
    try:
        return f(*given), given
    except Exception as e:
        return e, given


def copied(v: Any) -> Any:
    """A copy with the same steps."""
    return v[::-1].copy()[::-1] if isinstance(v, np.ndarray) else v


def judge(number: int) -> str:
    """Describes the fault of a case; empty if there is none."""
    from extreme_answers import difference, is_listed

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    if (found := case(number)) is None:
        return ""
    text, (dtype, arrangement, kind) = found
    plain = function(text)
    compiled = njit(debug=True)(plain)
    for a in inputs(dtype, arrangement):
        for v in numbers(dtype, kind) if "V" in text else [1]:
            values = Operands(a).values(v)
            if "bincount" in text and a.dtype.kind in "iu" and a.size and int(a.max()) > 2**40:
                # NumPy's number of bins overflows, and it writes somewhere.
                continue
            if "np.resize" in text and isinstance(v, int) and v >= 2**40:
                # NumPy makes a tuple of so many arrays.
                continue
            want, after = outcome(plain, plain.used, values)
            if isinstance(want, MemoryError) or (isinstance(want, ValueError) and "too large" in str(want)):
                continue
            got, mine = outcome(compiled, plain.used, values)
            if isinstance(got, errors.TypingError):
                return "" if isinstance(want, Exception) else f"refused: {str(got).splitlines()[0]}"
            said = difference(want, got, compiled)
            if not said and not isinstance(want, Exception):
                said = difference(after, mine, None)
            if said and not is_listed(text, dtype, values, want, got):
                shown = ", ".join(f"{n}={values[n]!r}" for n in plain.used)
                return f"{' '.join(shown.split())}: {' '.join(str(said).split())}"[:600]
    return ""


def describe(number: int) -> str:
    text, (dtype, arrangement, _) = case(number) or ("nothing", ("", "", ""))
    return f"{text} of {dtype}, {arrangement}"


def run(first: int, count: int) -> dict[int, str]:
    """Faults by number, each with its call; `len(names())` numbers are one case of each function."""
    faults = children.run(__file__, first, count, BATCH)
    return {n: f"{describe(n)}: {fault}" for n, fault in faults.items() if not fault.startswith("refused")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0, help="number of the first case")
    parser.add_argument("--from", dest="first", help="name of the first function")
    parser.add_argument("--until", help="name of the last function")
    parser.add_argument("--turns", type=int, default=1, help="cases of each form")
    parser.add_argument("--turn", type=int, default=0, help="the first one")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        children.work(judge, *map(int, asked.work.split(":")))
        return 0
    order = [name for name, _ in names()]
    begin = order.index(asked.first) if asked.first else 0
    end = order.index(asked.until) + 1 if asked.until else len(order)
    turns = range(asked.turn, asked.turn + asked.turns)
    parts = [(TOGETHER + (turn * len(order) + begin) * SLOTS, (end - begin) * SLOTS) for turn in turns]
    if asked.count:
        parts = [(asked.seed, asked.count)]
    refused = wrong = 0
    for first, count in parts:
        for part in range(first, first + count, BATCH):
            for number, fault in children.run(__file__, part, min(BATCH, first + count - part), BATCH).items():
                refused += fault.startswith("refused")
                wrong += not fault.startswith("refused")
                print(f"{number}: {describe(number)}: {fault}", flush=True)
    print(json.dumps({"cases": sum(c for _, c in parts), "wrong": wrong, "refused": refused}))
    return int(bool(wrong))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    sys.exit(main())
