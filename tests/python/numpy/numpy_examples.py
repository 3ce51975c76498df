"""The examples in the docstrings of NumPy's functions that compiled code has, each as a compiled function.

`python tests/python/numpy/numpy_examples.py [NAME ...]` runs those of all functions, or of some, and prints wrong
answers; with `--record` it writes `numpy_examples.json`: for each function how many examples give NumPy's answer, and
why others are refused. Nothing of the docstrings is kept. An example runs in the interpreter; if it calls the function
that it is of, its source is also compiled, with the names that it reads as parameters, and what it gives, binds and
prints is compared.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import doctest
import io
import json
import linecache
import re
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import lancehead
from lib_cases import same

sys.path.insert(0, str(Path(__file__).parents[3] / "xtask"))
import numpy_page

RECORD = Path(__file__).with_name("numpy_examples.json")
#: Examples, by a part of their source, that need not agree: `docs/differences.md` says so, or NumPy leaves it open.
OPEN: dict[str, str] = {
    "plt.": "draws",
    "hist(": "draws",
    "stats.": "is of SciPy",
    "errstate": "settings of errors are the process's",
    "np.ma.": "masked arrays",
    "asmatrix": "matrices",
    "np.matrix": "matrices",
    "1/np.copysign(0": "scalars are divided as Python's",
    "np.asarray(a) is a": "records of `np.recarray` are plain ones",
    "np.cross(x, y)": "of vectors of two components and of lists: how long these are is no part of their type",
    "np.empty_like": "undefined contents",
    "np.empty(": "undefined contents",
    "np.ndarray(shape=": "undefined contents",
    "np.ldexp(5": "no `float16` of small integers",
    "overwrite_input": "undefined contents",
    "np.partition(a, (4, 8))": "an order that NumPy leaves open",
    "a.partition(3)": "an order that NumPy leaves open",
    "np.random.random(1)": "a stream that nobody has seeded",
    "np.poly(P)": "complex eigenvalues of a real matrix",
    "np.array([[1, -1], [1, 1]])": "complex eigenvalues of a real matrix",
    "np.unique_values": "an order that NumPy leaves open",
    "ctypes.data": "an address",
    "LA.eig": "signs of vectors",
    "np.linalg.svd": "signs of vectors",
    "multivariate_normal([0, 0], cov, size=800)": "signs of vectors",
    "inv(a)": "of a matrix that is nearly singular",
    "matrix_power(i, -3)": "a type that depends on a value",
    "key=key+i": "an integer of 128 bits",
    "type(rng.random())": "scalars are NumPy's or Python's by their type",
    "rng.spawn": "a generator that was made in Python spawns there",
    "spawn(20)": "a generator that was made in Python spawns there",
    "polyfromroots((-j,0,j))": "the order of roots depends on LAPACK",
    "lagdiv(": "a remainder of rounding errors",
    "isinstance(x.dtype, np.dtype)": "refused: `x.dtype` and `np.float64` have one type",
}


class Refused(Exception):
    """An example that does not compile: why."""


def covered() -> dict[str, Any]:
    """`path -> object` of what the page of NumPy counts as supported and has examples."""
    found = {}
    for section in dict(numpy_page.sections()).values():
        for path, missing in section.items():
            thing: Any = np
            for name in path.split(".")[1:]:
                thing = getattr(thing, name, None)
            if missing is not None and ">>>" in (getattr(thing, "__doc__", None) or ""):
                found[path] = thing
    return found


def names_in(tree: ast.AST, kind: type) -> list[str]:
    """Names that are read, or bound, in the order of the source."""
    found = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, kind)]
    inner = {a.arg for n in ast.walk(tree) if isinstance(n, ast.arguments) for a in n.args}
    inner |= {x.id for n in ast.walk(tree) if isinstance(n, ast.comprehension) for x in ast.walk(n.target)
              if isinstance(x, ast.Name)}  # fmt: skip
    return [name for name in dict.fromkeys(found) if name not in inner]


def calls(tree: ast.AST, name: str) -> bool:
    """Whether a function of a name is called, or an attribute of that name is read."""
    return any(
        (isinstance(n, ast.Attribute) and n.attr == name) or (isinstance(n, ast.Name) and n.id == name)
        for n in ast.walk(tree)
    )


def wrapped(source: str, space: dict[str, Any]) -> tuple[Any, list[str]]:
    """A function of the values that an example reads: it gives what the example does and the values it may change."""
    tree = ast.parse(source)
    reads = [n for n in names_in(tree, ast.Load) if n in space and is_value(space[n])]
    bound = names_in(tree, ast.Store)
    changed = [n for n in reads if isinstance(space[n], np.ndarray | list)] + [n for n in bound if n not in reads]
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        value = ast.unparse(last.value)
        given = group(["result_", *changed])
        body = [*map(ast.unparse, tree.body[:-1]), f"result_ = {value}", f"return {given}"]
    else:
        body = [ast.unparse(s) for s in tree.body] + [f"return {group(changed)}"]
    lines = [line for text in body for line in text.splitlines()]
    text = f"def example({', '.join(reads)}):\n" + "\n".join("    " + line for line in lines)
    file = f"<example {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    globals_ = {k: v for k, v in space.items() if k not in reads}
    exec(compile(text, file, "exec"), globals_)
    return globals_["example"], reads


def group(names: list[str]) -> str:
    return f"({''.join(name + ', ' for name in names)})"


def is_value(x: Any) -> bool:
    """Whether it is an argument of an example, not a module, function or class that it names."""
    return isinstance(x, int | float | complex | str | bytes | tuple | list | dict | np.ndarray | np.generic) or (
        isinstance(x, np.random.Generator | np.random.BitGenerator | np.random.SeedSequence)
    )


def outcome(f: Any, args: list[Any]) -> tuple[Any, str]:
    """The result of a function or the class of its exception, and its output."""
    out = io.StringIO()
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(out):
        warnings.simplefilter("ignore")
        try:
            return f(*args), out.getvalue()
        except (lancehead.errors.TypingError, lancehead.errors.UnsupportedError, lancehead.errors.LoweringError) as e:
            raise Refused(re.sub(r"^error\[[\w-]+\]: ", "", str(e).splitlines()[0])) from None
        except Exception as e:
            return next(k for k in (ValueError, IndexError, TypeError, Exception) if isinstance(e, k)), out.getvalue()


def plain(x: Any) -> Any:
    """A result without the differences between NumPy's scalars and Python's numbers, and of named tuples."""
    if isinstance(x, tuple | list):
        return tuple(plain(i) for i in x)
    if isinstance(x, dict):
        return tuple((k, plain(v)) for k, v in x.items())
    if isinstance(x, np.random.Generator | np.random.BitGenerator):
        return ()
    if isinstance(x, np.dtype) or (isinstance(x, type) and issubclass(x, np.generic)):
        return str(np.dtype(x))
    if isinstance(x, np.ndarray) and x.dtype.names:
        return x.tolist(), x.dtype.str
    return x.item() if isinstance(x, np.generic) or (isinstance(x, np.ndarray) and x.ndim == 0) else x


def agree(want: Any, got: Any, path: str) -> bool:
    """Whether results are the same; numbers of a stream that nobody has seeded are not compared."""
    a, b = plain(want), plain(got)
    if path.startswith("numpy.random.") and path.count(".") == 2 and not isinstance(a, type):
        return type(a) is type(b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(agree(x, y, path) for x, y in zip(a, b, strict=True))
    if isinstance(a, str | bytes | None.__class__) or isinstance(a, type):
        return bool(a == b)
    return same(a, b, 1e-9) or repr(a) == repr(b)


def results(path: str, thing: Any) -> list[tuple[int, str, str]]:
    """`(number, "same" | "refused" | "wrong", text)` of the examples of a function that call it."""
    space: dict[str, Any] = {"np": np}
    found = []
    for number, example in enumerate(doctest.DocTestParser().get_examples(thing.__doc__)):
        try:
            tree = ast.parse(example.source)
        except SyntaxError:
            continue
        takes_part = (
            calls(tree, path.rpartition(".")[2])
            and not isinstance(tree.body[-1], ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)
            and not any(part in example.source for part in OPEN)
        )
        if takes_part:
            with contextlib.suppress(NameError):
                found.append((number, *compared(path, example.source, dict(space))))
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(tree, "<example>", "exec"), space)
    return found


#: As in `docs/differences.md`: real ones have real results only.
_BY_VALUE = ("numpy.roots",)


def compared(path: str, source: str, space: dict[str, Any]) -> tuple[str, str]:
    """How an example fares."""
    f, reads = wrapped(source, space)
    want = outcome(f, [copy.deepcopy(space[n]) for n in reads])
    if want[0] is Exception:
        raise NameError(source)
    try:
        got = outcome(lancehead.njit(f), [copy.deepcopy(space[n]) for n in reads])
    except Refused as e:
        return ("same", "") if isinstance(want[0], type) else ("refused", str(e))
    except lancehead.errors.InternalError as e:
        return "wrong", f"{source.strip()}: {e}"
    if agree(want[0], got[0], path) and (want[1] == got[1] or path.startswith("numpy.random.")):
        return "same", ""
    if got[0] is ValueError and path in _BY_VALUE:
        return "refused", "the type of the result depends on the values"
    return "wrong", f"{source.strip()}\n  NumPy: {want!r}\n  compiled: {got!r}"


def summary(path: str, thing: Any) -> tuple[dict[str, Any], list[str]]:
    """The record of a function, and its wrong answers."""
    found = results(path, thing)
    refused = {str(number): text for number, how, text in found if how == "refused"}
    record: dict[str, Any] = {"same": sum(how == "same" for _, how, _ in found)}
    if refused:
        record["refused"] = refused
    return record, [f"{path} {number}: {text}" for number, how, text in found if how == "wrong"]


def main() -> None:
    """Runs all, or those of some names."""
    names = [a for a in sys.argv[1:] if not a.startswith("--")]
    record, wrong = {}, 0
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for path, thing in covered().items():
            if names and path not in names:
                continue
            record[path], bad = summary(path, thing)
            wrong += len(bad)
            print("\n".join(bad), end="\n" * bool(bad), flush=True)
            if names:
                print(json.dumps(record[path], indent=1))
    refused = sum(len(r.get("refused", ())) for r in record.values())
    print(f"{sum(r['same'] for r in record.values())} as in NumPy, {refused} refused, {wrong} wrong")
    if "--record" in sys.argv:
        version = ".".join(np.__version__.split(".")[:2])
        lines = ",\n".join(f"  {json.dumps(path)}: {json.dumps(found)}" for path, found in record.items())
        RECORD.write_text(f'{{"version": "{version}", "functions": {{\n{lines}\n}}}}\n')
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
