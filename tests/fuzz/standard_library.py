"""Compiles functions of the standard library's own text, which nobody wrote for a compiler of numbers.

Each compilation must end in machine code or in a diagnostic. Nothing is called.

    python tests/fuzz/standard_library.py --count 500
"""

from __future__ import annotations

import functools
import importlib
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

import children
import lancehead

MODULES = (
    "bisect calendar colorsys copy difflib fnmatch fractions functools graphlib heapq inspect ipaddress json.encoder "
    "ntpath numbers operator optparse posixpath random shlex statistics string subprocess textwrap timeit tokenize"
).split()
T = lancehead.types
#: Types of the first parameter and of the others.
PATTERNS = [(T.int64, T.int64), (T.float64[:], T.int64), (T.unicode_type, T.float64), (T.List(T.int64), T.unicode_type)]


@functools.cache
def functions() -> list[tuple[str, Callable[..., Any]]]:
    """Functions and methods of the modules, in the order of their text."""
    found = []
    for module in MODULES:
        for name, value in vars(importlib.import_module(module)).items():
            members = vars(value).items() if isinstance(value, type) else [("", value)]
            found += [(f"{module}.{name}.{k}".rstrip("."), f) for k, f in members if isinstance(f, types.FunctionType)]
    return found


def judge(number: int) -> str:
    """Describes the faults in the compilations of a function; empty if there are none."""
    _, function = functions()[number]
    faults = []
    for first, rest in PATTERNS:
        count = function.__code__.co_argcount
        signature = tuple(first if i == 0 else rest for i in range(count))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                lancehead.njit(function).compile(signature)
        except lancehead.errors.InternalError as e:
            faults.append(f"{signature}: {e}"[:300])
        except lancehead.errors.NumbaError:
            pass
        except Exception as e:
            faults.append(f"{signature}: {type(e).__name__}: {e}"[:300])
    return "; ".join(faults)


def describe(number: int) -> str:
    return functions()[number][0]


def run(first: int, count: int) -> dict[int, str]:
    """Faults by number, each with the function's name."""
    faults = children.run(__file__, first, min(count, len(functions()) - first), 500)
    return {number: f"{describe(number)}: {fault}" for number, fault in faults.items()}


if __name__ == "__main__":
    sys.exit(children.main(__file__, str(__doc__), judge, describe, len(functions())))
