"""Writes `docs/supported.md`: every Python and NumPy name that compiled code may use, from the operation table and the
library.

`cargo xtask docs` runs it; with `--check` it only says whether the page is current. Names count if the module they
belong to has them, so the library's own parts are left out.
"""

import ast
import bisect
import cmath
import collections
import contextlib
import dataclasses
import functools
import heapq
import itertools
import math
import operator
import random
import sys

import numpy
import scipy.linalg
from library_names import LIB, ROOT, exports, home_of, is_refused, members, rows, summary

PAGE = ROOT / "docs/supported.md"
MODULES = {
    "builtins": sys.modules["builtins"],
    "math": math,
    "cmath": cmath,
    "operator": operator,
    "random": random,
    "heapq": heapq,
    "itertools": itertools,
    "functools": functools,
    "bisect": bisect,
    "collections": collections,
    "contextlib": contextlib,
    "dataclasses": dataclasses,
    "numpy": numpy,
    "numpy.linalg": numpy.linalg,
    "numpy.random": numpy.random,
    "numpy.fft": numpy.fft,
    "scipy.linalg": scipy.linalg,
}
# Files of the library that make up a module, where they are not the one of its name.
PARTS = {
    "builtins": [
        f"{part}.py" for part in "bytearrays bytestrings calls dicts lists memoryviews scalars sets strings".split()
    ],
    "numpy.linalg": ["numpy/linalg.py", "numpy/solving.py", "numpy/decompositions.py"],
    "numpy.random": ["numpy/random.py"],
    "numpy.fft": ["numpy/fft.py"],
    "scipy.linalg": [
        f"scipy/{part}.py" for part in "banded exponential special_matrices spectra systems triangular".split()
    ],
}
# Provided by the compiler itself, not as functions of the library.
BUILT_IN = {
    "builtins": {
        "bool": "Truth of a number, string, tuple, list or array.",
        "enumerate": "Pairs of a running number and an element.",
        "isinstance": "Whether a value is of a type, known when the function is compiled.",
        "len": "Number of elements.",
        "print": "Writes values to the standard output.",
        "reversed": "The elements from the last to the first.",
        "zip": "Tuples of elements of several sequences.",
    },
    "contextlib": {"contextmanager": "Makes a context manager of a generator."},
    "dataclasses": {
        "asdict": "Names and values of the fields, as a dictionary.",
        "astuple": "The values of the fields, as a tuple.",
        "is_dataclass": "Whether a value is an instance of a dataclass, or one.",
        "replace": "A new instance with some fields changed.",
    },
}


def files_of(module):
    """The library's files of a module that is spread over several."""
    return [LIB / name for name in PARTS.get(module, []) if (LIB / name).exists()]


def definitions(module):
    """`name -> (file, definition)` of a module of the library."""
    home = home_of(module)
    found = dict(exports(home)) if home else {}
    for path in files_of(module):
        found |= exports(path)
    return found


def library(module):
    """Names of a module that the library defines, each with what it is."""
    found, classes = {}, {}
    for name, (path, node) in definitions(module).items():
        if hasattr(MODULES[module], name) and not name.startswith("_") and not is_refused(node):
            found[name] = summary(ast.get_docstring(node))
            if isinstance(node, ast.ClassDef):
                classes[name] = set(members(path, node))
    return found, classes


def typed_containers():
    """The containers of `lancehead.typed`, which are those of Python under names of their own."""
    out = ["", "## lancehead.typed", "", "| name | |", "|---|---|"]
    kinds = {"Dict": ("dicts.py", "dict"), "List": ("lists.py", "list"), "Set": ("sets.py", "set")}
    path = LIB / "lancehead/typed.py"
    made = {name: members(*found) for name, found in exports(path).items() if name in kinds}
    for name, (_, of) in kinds.items():
        out.append(f"| `{name}` | A `{of}` of fixed types, which compiled code and Python share. |")
    for name, (home, of) in kinds.items():
        own = made.get(name, set()) | members(*exports(LIB / home)[of])
        out += ["", f"Of `{name}`: " + ", ".join(f"`{member}`" for member in sorted(own)) + "."]
    return out


def primitives():
    """The primitives of `lancehead.xp`."""
    found = exports(LIB / "lancehead/xp/__init__.py")
    rows = {name: summary(ast.get_docstring(node)) for name, (_, node) in found.items() if not name.startswith("_")}
    out = ["", "## lancehead.xp", "", "| name | |", "|---|---|"]
    return out + [f"| `{name}` | {rows[name].replace('|', chr(92) + '|')} |" for name in sorted(rows)]


def page():
    """The text of the page."""
    table = rows()
    out = [
        "# What compiled code may call",
        "",
        "The operators, statements and types are described in [the language](../tests/lang). Functions below follow",
        "CPython's and NumPy's meaning; what differs is listed in [differences](differences.md). This page is written",
        "by `cargo xtask docs`. [NumPy](numpy.md) has the arguments that NumPy's functions take here, and why some are",
        "lacking.",
    ]
    for module, real in MODULES.items():
        names, classes = library(module)
        names |= BUILT_IN.get(module, {})
        for path, text in table.items():
            home, _, name = path.rpartition(".")
            if home == module and hasattr(real, name):
                names[name] = text
        if names:
            out += ["", f"## {module}", "", "| name | |", "|---|---|"]
            out += [f"| `{name}` | {names[name].replace('|', chr(92) + '|')} |" for name in sorted(names)]
        for name in sorted(classes):
            if classes[name]:
                out += ["", f"Of `{name}`: " + ", ".join(f"`{member}`" for member in sorted(classes[name])) + "."]
    out += typed_containers()
    out += primitives()
    return "\n".join(out) + "\n"


def main():
    """Writes the page, or checks it."""
    text = page()
    if "--check" in sys.argv[1:]:
        if PAGE.read_text() != text:
            sys.exit("docs/supported.md is not current: run `cargo xtask docs`")
        return
    PAGE.write_text(text)


main()
