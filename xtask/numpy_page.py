"""Writes `docs/numpy.md`: each public name of NumPy, and whether compiled code may use it, without which arguments.

`cargo xtask docs` runs it; with `--check` it only says whether the page is current. Support is read from the operation
table and the library, arguments from the signatures of NumPy's functions and of the library's. A name that is neither
supported nor in `numpy_refused.py` is an error, and so is one that is both.
"""

import ast
import functools
import inspect
import re
import sys

import numpy as np
from library_names import ROOT, exports, home_of, is_refused, members, rows
from numpy_refused import ARGUMENTS, REASONS

PAGE = ROOT / "docs/numpy.md"
FAMILIES = ("polynomial", "chebyshev", "legendre", "laguerre", "hermite", "hermite_e", "polyutils")
BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
# Provided by the compiler itself, not as functions of the library.
BUILT_IN = {
    "numpy": {"datetime64", "dtype", "finfo", "iinfo", "ndenumerate", "ndindex", "timedelta64"},
    "numpy.ndarray": {"T", "ctypes", "dtype", "flat", "imag", "itemsize", "nbytes", "ndim", "real", "shape", "size"}
    | {"strides"},
    "numpy.ufunc": {"identity", "nargs", "nin", "nout", "ntypes", "signature", "types"},
}
#: Parameters in NumPy's signatures that it refuses: those of ufuncs whose operands have several core dimensions, and
#: the names of some that are given by position.
REFUSED = dict.fromkeys(("matmul", "matvec", "vecmat"), {"axis", "keepdims"}) | {
    f"unique_{what}": {"x"} for what in ("all", "counts", "inverse", "values")
}
#: Parameters that instances of subclasses or other libraries are for; no function of compiled code takes them.
OF_OTHERS = {"like", "subok"}
HEAD = """# NumPy

The functions of NumPy {version} that compiled code may call, and those that it may not. `cargo xtask docs`
(`xtask/numpy_page.py`) writes this page and counts: names are those of NumPy, support is read from the sources of the
library, and arguments are compared by name and position in both signatures. Answers that differ are in
[differences](differences.md), names of other modules in [functions](supported.md).

The functions of a module are the names in its `__all__` that can be called and are no classes. Classes are counted
apart, without exceptions and types of elements. `like=` and `subok=` are left out, since all arrays are plain ones. A
name that is not supported is refused while compiling. Shapes and axes are tuples; a list that is written in the call,
or has no other use, is one, too.
"""


def is_function(thing):
    """Whether it can be called, and is no class."""
    return callable(thing) and not inspect.isclass(thing)


def functions(module):
    """Names of the functions of a module."""
    names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    return sorted(name for name in names if is_function(getattr(module, name)))


def classes(module):
    """Names of the classes of a module that are neither exceptions nor types of elements."""
    found = {n for n in module.__all__ if inspect.isclass(getattr(module, n)) and not n.startswith("_")}
    unlisted = (BaseException, np.generic)
    return sorted(n for n in found if not issubclass(getattr(module, n), unlisted)) + ["datetime64", "timedelta64"] * (
        module is np
    )


@functools.cache
def known(module):
    """`name -> (file, definition)` of a module of the library."""
    home = home_of(module)
    return exports(home) if home else {}


def found_in(module, name, thing):
    """The library's definition of a function, `True` for what has none but is supported, or `None`."""
    own, home = getattr(thing, "__name__", name), getattr(thing, "__module__", None) or module
    # Some names stand for a function of another name, and some for one of another module.
    for path, at in ((module, own), (module, name), (home, own)):
        if f"{path}.{at}" in rows_of_table() or at in BUILT_IN.get(path, ()):
            return True
        if at in known(path):
            return constructor(known(path)[at][1])
    return None


def constructor(node):
    """The function that makes an instance of a class; a function itself, unless it only refuses."""
    if isinstance(node, ast.FunctionDef):
        return None if is_refused(node) else node
    return next((m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == "__new__"), None)


@functools.cache
def rows_of_table():
    return rows()


@functools.cache
def ufunc_keywords():
    """Keywords that compiled code takes of ufuncs."""
    text = (ROOT / "crates/lh-infer/src/calls/ufuncs.rs").read_text()
    return set(re.findall(r'"(\w+)"', re.search(r"const KNOWN: \[&str; \d+\] = \[(.*?)\];", text)[1]))


def parameters(thing):
    """The parameters of a function; where Python does not know them, the documentation begins with them."""
    try:
        return list(inspect.signature(thing).parameters.values())
    except ValueError:
        space = {}
        exec(f"def {thing.__doc__.splitlines()[0]}: ...", space)
        return list(inspect.signature(space[thing.__name__]).parameters.values())


def without(thing, node, is_mapped=False, bound=0):
    """The parameters that NumPy's function has and the library's has not, in NumPy's order; `bound` ones are given."""
    given = parameters(thing)[bound:]
    if is_mapped:
        missing = [p.name for p in given if p.kind != p.POSITIONAL_ONLY and p.name not in ufunc_keywords()]
    else:
        missing = (
            [] if node is True else [text for i, p in enumerate(given) if (text := absent(p, i, node.args, bound))]
        )
    unwanted = OF_OTHERS | REFUSED.get(thing.__name__, set())
    return [name for name in missing if name not in unwanted]


def absent(p, at, mine, bound):
    """A parameter of NumPy's, the one at a place, if the library's function has none like it; else nothing."""
    positional = [a.arg for a in [*mine.posonlyargs, *mine.args]][bound:]
    by_name = {a.arg for a in [*mine.args, *mine.kwonlyargs]}
    if p.kind == p.POSITIONAL_ONLY:
        return None if at < len(positional) or mine.vararg else p.name
    if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
        # They have no names.
        return None
    if p.name not in by_name and not mine.kwarg:
        # NumPy's signature of `ndarray.fill` names a parameter that has no name.
        return None if p.name == "value" and at < len(positional) else p.name
    is_in_place = p.kind == p.KEYWORD_ONLY or p.name in positional[at : at + 1] or mine.vararg
    return None if is_in_place else f"{p.name} by position"


def of_module(module, names=None):
    """`path -> parameters that are not taken` of the functions of a module; `None` for one that is not supported."""
    out = {}
    path = module.__name__
    for name in names or functions(module):
        thing = getattr(module, name)
        node = found_in(path, name, thing)
        own = getattr(thing, "__name__", name)
        is_mapped = isinstance(thing, np.ufunc) and (node is True or own in known("numpy._ufuncs"))
        out[f"{path}.{name}"] = None if node is None else without(thing, node, is_mapped)
    return out


def of_class(path, kind, own):
    """The same of the methods and attributes of a class, of which the library has some."""
    out = {}
    for name in sorted(n for n in dir(kind) if not n.startswith("_")):
        thing, node = getattr(kind, name), own.get(name)
        if name in BUILT_IN.get(path, ()):
            out[f"{path}.{name}"] = []
        elif node is None:
            out[f"{path}.{name}"] = None
        else:
            # The class is given to its methods, which are static in the library.
            bound = 0 if inspect.ismethod(thing) else 1
            out[f"{path}.{name}"] = without(thing, node, bound=bound) if callable(thing) else []
    return out


def methods(path):
    """The public methods that a class of the library has."""
    module, _, name = path.rpartition(".")
    home, node = known(module)[name]
    fields = [
        assigned(home, n.value) for n in node.body if isinstance(n, ast.Assign) and n.targets[0].id == "__fields__"
    ]
    return members(*known(module)[name]) | {n: True for f in fields for n in f if not n.startswith("_")}


def assigned(home, value):
    """A value that a class assigns; a name stands for one of its module's."""
    if not isinstance(value, ast.Name):
        return ast.literal_eval(value)
    body = ast.parse(home.read_text()).body
    return next(ast.literal_eval(n.value) for n in body if isinstance(n, ast.Assign) and n.targets[0].id == value.id)


def sections():
    """Titles, and what is in them."""
    yield "numpy", of_module(np)
    yield "Classes of numpy", of_module(np, classes(np))
    yield "Methods and attributes of ndarray", of_class("numpy.ndarray", np.ndarray, methods("numpy.ndarray"))
    yield "Methods and attributes of ufuncs", of_class("numpy.ufunc", np.ufunc, {k: v[1] for k, v in loops().items()})
    for module in (np.linalg, np.fft, np.random):
        yield module.__name__, of_module(module)
    yield "Classes of numpy.random", of_module(np.random, classes(np.random))
    for name in ("Generator", "SeedSequence"):
        path = f"numpy.random.{name}"
        yield f"Methods and attributes of {name}", of_class(path, getattr(np.random, name), methods(path))
    own = methods("numpy.random.BitGenerator")
    together = {}
    for name in BIT_GENERATORS:
        together |= of_class("numpy.random.BitGenerator", getattr(np.random, name), own)
    yield "Methods and attributes of bit generators", together
    for name in FAMILIES:
        yield f"numpy.polynomial.{name}", of_module(getattr(np.polynomial, name))
    yield (
        "Classes of numpy.polynomial",
        of_module(np.polynomial, [n for n in np.polynomial.__all__ if inspect.isclass(getattr(np.polynomial, n))]),
    )
    path = "numpy.polynomial.Chebyshev"
    yield "Methods and attributes of polynomials", of_class(path, np.polynomial.Chebyshev, methods(path))
    yield "numpy.lib.stride_tricks", of_module(np.lib.stride_tricks)


def loops():
    """The library's methods of ufuncs."""
    return exports(home_of("ufunc_methods"))


def listed(names):
    """Names, in a line of text each."""
    return ", ".join(f"`{name.rpartition('.')[2]}`" for name in names)


def section(title, found):
    """The text of a section."""
    supported = {path: [*missing, *ARGUMENTS.get(path, ())] for path, missing in found.items() if missing is not None}
    whole = [path for path, missing in supported.items() if not missing]
    partly = [path for path in supported if supported[path]]
    refused = [path for path in found if path not in supported]
    out = ["", f"## {title}", "", f"{len(supported)} of {len(found)}."]
    if whole:
        out += ["", f"With all arguments: {listed(whole)}."]
    if partly:
        out += ["", "| arguments that are not taken | of |", "|---|---|"]
        for missing in sorted({tuple(supported[path]) for path in partly}):
            of = [path for path in partly if tuple(supported[path]) == missing]
            out.append(f"| {', '.join(f'`{a}`' for a in missing)} | {listed(of)} |")
    if refused:
        out += ["", "| why not, and the way out | of |", "|---|---|"]
        for reason in dict.fromkeys(REASONS.get(path, "") for path in refused):
            out.append(f"| {reason} | {listed(path for path in refused if REASONS.get(path, '') == reason)} |")
    return out


def page():
    """The text of the page, and the names about which the tables are silent or wrong."""
    everything = dict(sections())
    paths = {path: missing for found in everything.values() for path, missing in found.items()}
    wrong = [f"{path}: neither supported nor refused" for path in paths if paths[path] is None and path not in REASONS]
    wrong += [f"{path}: supported, and yet refused" for path in REASONS if paths.get(path) is not None]
    wrong += [f"{path}: no name of NumPy's" for path in REASONS if path not in paths]
    out = [HEAD.format(version=".".join(np.__version__.split(".")[:2])).rstrip()]
    out += ["", "| | supported |", "|---|---|"]
    for title, found in everything.items():
        count = sum(missing is not None for missing in found.values())
        anchor = re.sub(r"[^\w\- ]", "", title).lower().replace(" ", "-")
        out.append(f"| [{title}](#{anchor}) | {count} of {len(found)} |")
    for title, found in everything.items():
        out += section(title, found)
    return "\n".join(out) + "\n", wrong


def main():
    """Writes the page, or checks it."""
    text, wrong = page()
    if wrong:
        sys.exit("\n".join(["xtask/numpy_refused.py is not complete:", *wrong]))
    if "--check" in sys.argv[1:]:
        if PAGE.read_text() != text:
            sys.exit("docs/numpy.md is not current: run `cargo xtask docs`")
        return
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
