"""Diagnostics in their readers' words: the program's own line, the package that is refused, the name that was meant.

`crates/lh-py` calls `reworded` where a diagnostic becomes an exception, and never before.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib.util
import os
import re
import sys
import sysconfig
from collections.abc import Iterable
from typing import Any

import numpy as np

from lancehead.notices import caller
from lancehead.options import suggestion

_OUT = "call it outside of the function and pass the result in"
_OBJMODE = 'or call it in a block: `with objmode(y="float64"):`'
_FETCHED = f"fetch the data before the call and pass them, {_OBJMODE}"
_FILES = f"read or write the file outside of the function, {_OBJMODE}"
_DRAWN = "return the arrays, and draw them outside of the function"
_TABLES = "pass columns as arrays, and make a table of the results outside of the function"
_DEBUG = "LANCEHEAD_DISABLE_JIT=1 runs the function in the interpreter, where debuggers work"
_MODELS = "pass arrays, and give its results to the function as arrays"
_NUMBERS = "compute with floats, or with integers of a fixed scale, such as cents"
_WORKERS = "loop over `prange` with `parallel=True`, or call compiled functions from its workers"
_BYTES = f"pass bytes or an array of uint8, and call it outside of the function, {_OBJMODE}"

#: Packages that programs use in loops and that are not compiled, and what one does instead; the nearest name counts.
#: `xtask/options_page.py` writes the table of `docs/not-compiled.md` from it.
PACKAGES: dict[str, str] = {
    # Python's own.
    "argparse": "parse the arguments outside of the function and pass the values",
    "ast": _OUT, "asyncio": "await outside of the function, and call it on the results",
    "base64": _BYTES, "calendar": "pass arrays of `datetime64`, whose operations are compiled",
    "concurrent": _WORKERS, "configparser": "read the settings outside of the function and pass the values",
    "copy": "copy arrays by `a.copy()`, lists by `list(items)`",
    "csv": f"pass arrays or lists of texts; {_FILES}",
    "datetime": "pass `np.datetime64` values or arrays of them, or numbers: `t.timestamp()`",
    "decimal": _NUMBERS, "difflib": _OUT, "fractions": _NUMBERS, "glob": _FILES, "gzip": _FILES, "hashlib": _BYTES,
    "html": _OUT, "http": _FETCHED, "inspect": _OUT, "io": _FILES,
    "json": f"parse the text outside of the function and pass lists, dictionaries or arrays, {_OBJMODE}",
    "locale": _OUT,
    "logging": "return what is to be logged, `print` it, or log in a block: `with objmode():`",
    "multiprocessing": _WORKERS, "os": f"pass what you need of it as numbers or texts, {_OBJMODE}",
    "pathlib": _FILES, "pdb": _DEBUG, "pickle": _FILES, "pprint": "use `print`",
    "queue": "use a list, `collections.deque` or `heapq`",
    "random": "use `np.random`, or pass a generator: `np.random.default_rng(seed)`",
    "re": f"use `find`, `startswith`, `split` and comparisons of characters, {_OBJMODE}",
    "secrets": "draw the numbers outside of the function and pass them", "shutil": _FILES, "signal": _OUT,
    "socket": _FETCHED, "sqlite3": _TABLES,
    "statistics": "use NumPy: `np.mean(a)`, `np.median(a)`, `np.std(a)`",
    "struct": "read bytes by `np.frombuffer(data, dtype)`, of which a structured dtype has the fields",
    "subprocess": _OUT, "sys": "pass what you need of it as numbers or texts; raise an exception to end a program",
    "tempfile": _FILES, "textwrap": "format the text outside of the function; f-strings, `split` and `join` work",
    "threading": _WORKERS, "time": "take the time around the call, outside of the function",
    "traceback": _DEBUG, "urllib": _FETCHED, "uuid": "make the names outside of the function and pass them",
    "warnings": "return a flag and warn outside of the function", "xml": _FILES, "zlib": _BYTES,
    # Others.
    "PIL": "pass the picture as an array: `np.asarray(image)`", "bokeh": _DRAWN,
    "cv2": "pass pictures as arrays, and call OpenCV outside of the function",
    "cupy": "`lancehead.cupy` has its functions, and is compiled",
    "dask": "compute first: `x.compute()`; or map the compiled function over blocks",
    "h5py": "read the part that is needed as an array: `dataset[a:b]`", "httpx": _FETCHED,
    "jax": "pass arrays: `np.asarray(x)`; `lancehead.gradients` has derivatives",
    "joblib": _WORKERS, "keras": _MODELS, "matplotlib": _DRAWN,
    "networkx": "pass the edges as arrays, or use `lancehead.sparse.csgraph`", "numexpr": "write the formula itself",
    "pandas": 'pass the values of columns, `df["x"].to_numpy()`; make a Series or DataFrame of the results outside',
    "plotly": _DRAWN, "polars": f'{_TABLES}: `df["x"].to_numpy()`', "psutil": _OUT, "pyarrow": _TABLES,
    "pydantic": "use `@dataclass`, whose instances are compiled", "requests": _FETCHED,
    "rich": "return what is to be shown, and print it outside of the function",
    "scipy": f"call it outside of the function and pass arrays, {_OBJMODE}",
    "scipy.integrate": "give the compiled function to SciPy, which calls it: `solve_ivp(f, ...)`; or use `numbalsoda`",
    "scipy.interpolate": "use `np.interp`, or evaluate it outside of the function and pass the array",
    "scipy.ndimage": "use `@stencil`, or call it outside of the function and pass the array",
    "scipy.optimize": "give the compiled function to SciPy, which calls it: `minimize(f, x0)`",
    "scipy.signal": "filter outside of the function and pass the array, or write the loop",
    "scipy.sparse": "`lancehead.sparse` has its classes and functions, also in compiled code",
    "scipy.spatial": "query outside of the function and pass the indices as arrays",
    "scipy.stats": "write the formula (normal: `0.5 * math.erfc(-x / 2 ** 0.5)`), use `numba-stats`, or pass arrays",
    "seaborn": _DRAWN, "skimage": _MODELS, "sklearn": _MODELS, "statsmodels": _MODELS,
    "sympy": "make a function by `sympy.lambdify(x, formula, 'math')` outside, and compile that",
    "tensorflow": _MODELS, "torch": "pass an array over the tensor's memory: `t.numpy()`",
    "tqdm": "loop over `tqdm(items)`, with `desc`, `total`, `leave`, `disable` only, or `lancehead.progress(items)`",
    "urllib3": _FETCHED,
    "xarray": "pass the values: `a.values`", "yaml": _FILES, "zarr": "read the part that is needed as an array",
}  # fmt: skip

#: Advice that holds for anything, in place of which that for a package or a name stands.
# Packages of lancehead whose functions run in the interpreter, and refusals that are meant for the user.
_OF_ARRAYS = ("cupy", "cupyx", "sparse", "xp")
_DELIBERATE = ("extension-failed", "no-matching-call")
_UNSUPPORTED = "is not supported in compiled code"
_GENERAL = (_OUT, "decorate the class with", "pass it as an argument, or what you need of it", "compute it outside of")
#: Functions of `lancehead.gradients` that the program has not written.
_INNER = re.compile(
    r"(in )?`(derivatives_of|derivatives_with|pulled|pushed|product_with_hessian|\w+_jacobian)(`|\(\)` takes no .*)"
)
_OPERATOR = re.compile(r"`([^`]+)` is not supported between `(.*)` and `(.*)`")
_ARITHMETIC = ("+", "-", "*", "/", "//", "%", "**", "<", ">", "<=", ">=")
#: Names that other languages and libraries have for what containers do.
_OTHER_WORDS = {
    "length": "`len(x)`", "size": "`len(x)`", "len": "`len(x)`", "push": "`append`", "push_back": "`append`",
    "contains": "`x in y`", "has": "`x in y`", "add": "`append`", "substr": "`s[a:b]`", "trim": "`strip`",
}  # fmt: skip
#: Attributes by which the library knows its own classes.
_PRIVATE = re.compile(r"`(.*)` has no attribute `_[a-z]\w*`")
_DTYPES = ("bool", "complex64", "complex128", "float16", "float32", "float64", "int8", "int16", "int32", "int64") + (
    "uint8", "uint16", "uint32", "uint64",
)  # fmt: skip
_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep
_STANDARD = sysconfig.get_path("stdlib") + os.sep
_FOREIGN = re.compile(r".*/(?:site|dist)-packages/")


def package_of(name: str) -> str | None:
    """The package in the table that a dotted name belongs to.

    >>> package_of("scipy.stats._distn.norm"), package_of("scipy.special.erf"), package_of("numpy.sin")
    ('scipy.stats', 'scipy', None)
    """
    parts = name.lstrip("_").split(".")
    if parts[0] == "posix":  # Functions of `os` are defined there.
        parts[0] = "os"
    names = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((n for n in names if n in PACKAGES), None)


def module_of(file: str) -> str | None:
    """The dotted name of a module of Python's library or of an installed package, by its file."""
    is_standard = file.startswith(_STANDARD) and not _FOREIGN.match(file)
    below = file.removeprefix(_STANDARD) if is_standard else _FOREIGN.sub("", file)
    if below == file or not below.endswith(".py"):
        return None
    return below.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def is_foreign(file: str) -> bool:
    """Whether a file is not the program's: one of lancehead, of Python's library, or of an installed package."""
    return file.startswith(_OWN) or module_of(file) is not None


def name_of(thing: Any) -> str | None:
    """The name of an object's class with its package, if that is in the table."""
    kind = type(thing)
    package = package_of(str(getattr(kind, "__module__", "")))
    return f"{package}.{kind.__name__}" if package else None


def _is_inside(file: str) -> bool:
    """Whether a place is in lancehead, in Python's library, or in a package of the table: not the program's own."""
    if file.startswith((_OWN, "<frozen ")):
        return True
    module = module_of(file)
    return module is not None and (file.startswith(_STANDARD) and not _FOREIGN.match(file) or bool(package_of(module)))


def reworded(
    id: str, headline: str, label: str, places: list[tuple[str, int, str]], notes: list[str], names: list[str]
) -> tuple[str, str, str, int, list[int], list[str], tuple[str, int] | None]:
    """A diagnostic in other words.

    `places` are those of the culprit and of the calls that led there, innermost first, each with a file, a line and a
    text; `names` are names that exist where one was not found, and classes that have them. The result has an id, a
    headline, a label, the number of the place that is shown, the numbers of calls that are told beside it, advice, and
    the program's line if no place is one of its own.
    """
    label = "" if _INNER.fullmatch(label) else label
    shown = next((i for i, (file, *_) in enumerate(places) if file and not _is_inside(file)), 0)
    if shown:
        callee = re.match("called as `(.*)` here", places[shown][2])
        inner = places[shown - 1][0]
        module = None if inner.startswith(_OWN) else module_of(inner)
        label = label or (f"in `{callee[1]}`" if callee else "")
        if module:
            name, package = _public(module, callee[1]) if callee else module, package_of(module)
            reason = _UNSUPPORTED if package else f"cannot be compiled: {headline}"
            id, label, headline = "unsupported-call", "", f"`{name}` {reason}"
            notes = [PACKAGES[package] if package else f"{_OUT}, {_OBJMODE}"]
        elif found := _PRIVATE.match(headline):
            headline, label, notes, names = f"`{found[1]}` is not supported as an operand or argument here", "", [], []
        elif callee and id not in _DELIBERATE and (package := inner.removeprefix(_OWN).partition("/")[0]) in _OF_ARRAYS:
            id, label, headline = "unsupported-call", "", f"`{callee[1]}` of `lancehead.{package}` {_UNSUPPORTED}"
            notes, names = [_OUT], []
    running = caller()[:2] if not shown and places and _is_inside(places[0][0]) else None
    here = running if running and not _is_inside(running[0]) else None
    if "`derivative_not_stated`" in headline:
        headline, notes = "the derivative of this function is not stated yet", ["call its `defvjp` or `defjvp` before"]
    headline, notes = _advised(headline, notes)
    headline, notes = _with_near(headline, notes, names)
    headline = re.sub(r" \(`lh_\w+`\)$", "", headline)
    told: list[int] = []
    seen = {places[shown][:2]} if places else set()
    for i, (file, line, _) in enumerate(places):
        # One line of the program calls several functions of lancehead.
        if i > shown and (file, line) not in seen and not file.startswith(_OWN):
            told.append(i)
            seen.add((file, line))
    return id, headline, "" if here else label, shown, told, notes, here


def _public(module: str, function: str) -> str:
    """The name by which programs know a function of a module: that of the package, if it has it."""
    parts = module.split(".")
    for n in range(1, len(parts) + 1):
        name = ".".join(parts[:n])
        if hasattr(sys.modules.get(name), function):
            return f"{name}.{function}"
    return f"{module}.{function}"


def _advised(headline: str, notes: list[str]) -> tuple[str, list[str]]:
    """Advice about a package in place of that for anything."""
    if found := re.fullmatch(r"module `([\w.]+)` cannot be imported here", headline):
        package, known = found[1].partition(".")[0], package_of(found[1])
        advice = [PACKAGES[known]] if known else []
        if package not in sys.modules and importlib.util.find_spec(package) is None:
            return f"module `{found[1]}` is not installed", ["install it, or take the import away", *advice]
        # To import it elsewhere helps only if something of it is compiled.
        is_compiled = not known or known == "scipy"
        return headline, [*(notes if is_compiled else []), *advice]
    if headline.startswith("`function` cannot be indexed"):
        return headline, ["a function is called, `f(x)`; kernels are started outside of compiled code"]
    if headline.startswith("the list is a global, a captured one"):
        return headline, [
            *notes,
            "a function that only appends to it may do so, as callbacks that record do; here it does more with it",
        ]
    found = re.match(r"`([\w.]+)` (?:cannot be (?:called|used)|is not supported) in compiled code", headline)
    package = found and package_of(found[1])
    if package and all(note.startswith(_GENERAL) for note in notes):
        return headline, [PACKAGES[package]]
    if found and _is_others(found[1]) and any(note.startswith("decorate the class with") for note in notes):
        return headline, [f"{_OUT}, {_OBJMODE}"]
    return headline, notes


def _is_others(name: str) -> bool:
    """Whether a dotted name is of Python's library or of an installed package: programs cannot change its source.

    >>> _is_others("hmac.HMAC"), _is_others("__main__.Thing")
    (True, False)
    """
    root = name.partition(".")[0]
    if root == "__main__":
        return False
    return root in sys.stdlib_module_names or is_foreign(getattr(sys.modules.get(root), "__file__", None) or "")


def _with_near(headline: str, notes: list[str], names: Iterable[str]) -> tuple[str, list[str]]:
    """The nearest name after one that does not exist."""
    if found := re.match("`(.*)` is not a dtype", headline):
        return headline + suggestion(found[1], _DTYPES), notes
    if operands := _OPERATOR.fullmatch(headline):
        return headline, [*notes, *_by_operator(*operands.groups())]
    found = re.match(r"(?:`(?P<of>.*)` has no \w+|(?P<free>name)) `(?P<name>\w+)`", headline)
    if not found:
        return headline, notes
    if instead := _instead(found["of"] or "", found["name"]):
        return f"{headline}; {instead}", [n for n in notes if not n.startswith(_GENERAL)]
    known = dir(builtins) if found["free"] else []
    for name in names:
        known += _names_of(name) if "." in name else [name]
    # A name that exists, though not in compiled code, was meant.
    near = "" if found["name"] in known else suggestion(found["name"], known)
    return (headline + near, [n for n in notes if not n.startswith(_GENERAL)]) if near else (headline, notes)


def _instead(of: str, name: str) -> str:
    """The way to write what programs take for an attribute, by the type that lacks it.

    >>> _instead("array(float64, 1d, C)", "sqrt"), _instead("list[int]", "push"), _instead("str", "upper")
    ('write `np.sqrt(a)`', 'write `append`', '')
    """
    kind = re.match(r"\w*", of)
    owner = kind[0] if kind else ""
    if owner == "array":
        return f"write `np.{name}(a)`" if callable(getattr(np, name, None)) else ""
    if owner == "dict" and of.startswith("dict[str"):
        return f'write `d["{name}"]`'
    if owner == "set" and name in ("append", "push"):
        return "write `add`"
    if owner in ("list", "str", "set", "tuple", "dict", "bytes", "deque"):
        return f"write {_OTHER_WORDS[name]}" if name in _OTHER_WORDS else ""
    return "write `math.log`" if (of, name) == ("math", "ln") else ""


def _by_operator(operator: str, left: str, right: str) -> list[str]:
    """Advice for an operator that its operands do not have."""
    if any(t.startswith(("list[", "tuple[")) for t in (left, right)) and operator in _ARITHMETIC:
        return ["lists are not computed with: make arrays of them, `np.array(x)`"]
    if operator == "^" and "float" in (left, right):
        return ["powers are written `**`"]
    if operator in ("&", "|") and "float" in (left, right):
        return ["comparisons need parentheses, `(x > 1) & (x < 3)`; truth values have `and` and `or`"]
    return []


def _names_of(path: str) -> list[str]:
    """Public names of a class of Python's or of the library.

    >>> _names_of("builtins.range")
    ['count', 'index', 'start', 'step', 'stop']
    """
    module, _, name = path.rpartition(".")
    places = [sys.modules.get(module)]
    with contextlib.suppress(ImportError):
        places.append(importlib.import_module(f"lancehead.lib.{module}"))
    return sorted({n for place in places for n in dir(getattr(place, name, object)) if n[0] != "_"})
