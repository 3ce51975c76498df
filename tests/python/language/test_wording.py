"""Diagnostics at the program's own line, with advice about packages and the names that were meant."""

from __future__ import annotations

import dis
import doctest
import hmac
import importlib
import math
import platform
import re
import shlex
import sys
import zipfile
from collections import Counter, deque
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from lancehead import cuda, errors, njit, sparse, types, vectorize, wording, xp
from lancehead import cupy as cp
from lancehead.experimental import jitclass
from lancehead.gradients import grad, jacfwd, value_and_grad

HERE = Path(__file__).name


def said(call, *arguments):
    """The message of the error that a call ends with."""
    with pytest.raises((errors.NumbaError, TypeError, AttributeError, ValueError)) as caught:
        call(*arguments)
    return str(caught.value)


def line_of(message):
    """The source line that a message shows."""
    place = re.search(r"--> (\S+?):(\d+)", message)
    assert place and Path(place[1]).name == HERE, message
    return Path(__file__).read_text().splitlines()[int(place[2]) - 1]


def test_examples():
    assert doctest.testmod(wording).failed == 0


GENERAL = "call it outside of the function and pass the result in"


def test_places_in_the_library_give_way_to_the_call():
    places = [
        (re.__file__, 277, ""),
        (re.__file__, 185, "called as `_compile` here"),
        ("/x/a.py", 9, "called as `sub` here"),
    ]
    told = wording.reworded("unsupported-type", "`dict` cannot be used in compiled code", "", places, [GENERAL], [])
    assert told == (
        "unsupported-call", "`re.sub` is not supported in compiled code", "", 2, [], [wording.PACKAGES["re"]], None,
    )  # fmt: skip


def test_places_in_the_package_give_way_and_the_headline_stays():
    own = str(Path(wording.__file__).with_name("gradients.py"))
    places = [(own, 3, ""), ("/x/a.py", 9, "called as `slope` here"), ("/x/b.py", 2, "called as `run` here")]
    told = wording.reworded("cannot-unify", "types differ", "", places, ["a note"], [])
    assert told == ("cannot-unify", "types differ", "in `slope`", 1, [2], ["a note"], None)


def test_one_line_of_the_program_is_told_once():
    places = [("/x/a.py", 9, "")] + [("/x/a.py", 9, "called as `f` here")] * 3 + [("/x/a.py", 5, "called from here")]
    assert wording.reworded("x", "y", "", places, [], [])[3:5] == (0, [4])


def test_places_without_a_line_of_the_program_give_way_to_the_line_that_runs():
    told = wording.reworded("x", "y", "z", [(re.__file__, 1, "")], [], [])
    assert told[2:5] == ("", 0, []) and told[6] == (__file__, told[6][1])
    assert wording.reworded("x", "y", "", [("", 0, "")], [], [])[3:] == (0, [], [], None)


# Packages.

#: Functions of Python's library by package, each with arguments.
OF_PYTHON = {
    "ast": ("parse", "1"), "base64": ("b64encode", b"a"), "calendar": ("monthrange", 2024, 1),
    "configparser": ("ConfigParser",), "copy": ("deepcopy", [1]), "csv": ("DictReader", "a"),
    "decimal": ("Decimal", 1.0), "difflib": ("get_close_matches", "a", ["a"]), "fractions": ("Fraction", 1),
    "glob": ("glob", "*"), "gzip": ("open", "a"), "hashlib": ("sha256", b"a"), "html": ("unescape", "&lt;"),
    "inspect": ("stack",), "io": ("StringIO", "a"), "json": ("loads", "[1]"), "locale": ("getlocale",),
    "logging": ("getLogger", "a"), "multiprocessing": ("Pool", 2), "os": ("getcwd",), "pathlib": ("Path", "a"),
    "pdb": ("post_mortem",), "pickle": ("dumps", 1), "pprint": ("pformat", 1), "queue": ("Queue",),
    "random": ("SystemRandom",), "re": ("sub", "a", "b", "abc"), "secrets": ("token_hex", 8),
    "shutil": ("which", "a"), "signal": ("getsignal", 2), "socket": ("socket",), "sqlite3": ("connect", "a"),
    "statistics": ("stdev", [1.0, 2.0]), "struct": ("pack", "d", 1.0), "subprocess": ("run", "a"),
    "sys": ("getsizeof", 1), "tempfile": ("mkdtemp",), "textwrap": ("dedent", " a"), "threading": ("Thread",),
    "time": ("ctime",), "traceback": ("format_exc",), "uuid": ("uuid4",), "warnings": ("simplefilter", "ignore"),
    "zlib": ("crc32", b"a"), "argparse": ("ArgumentParser",), "asyncio": ("run", 1),
}  # fmt: skip
#: Modules that programs import below a package of Python's library.
BELOW = {
    "concurrent": ("concurrent.futures", "ThreadPoolExecutor"), "http": ("http.client", "HTTPConnection", "a"),
    "urllib": ("urllib.parse", "urlsplit", "a"), "xml": ("xml.etree.ElementTree", "fromstring", "<a/>"),
    "datetime": ("datetime", "timezone", 1),
}  # fmt: skip
# Calls of tqdm are compiled, and refused with words of their own.
OTHERS = sorted(wording.PACKAGES.keys() - OF_PYTHON.keys() - BELOW.keys() - {"tqdm"})


def test_the_table_is_large_and_has_every_case():
    assert len(wording.PACKAGES) >= 60
    assert OF_PYTHON.keys() | BELOW.keys() <= wording.PACKAGES.keys()


@pytest.mark.parametrize("package", [*OF_PYTHON, *BELOW])
def test_functions_of_pythons_library_are_refused_at_the_line_of_the_program(package):
    module, name, *given = (package, *OF_PYTHON[package]) if package in OF_PYTHON else BELOW[package]
    function = getattr(importlib.import_module(module), name)

    @njit
    def use(*given):
        return function(*given)

    message = said(use, *given)
    assert "function(*given)" in line_of(message), message
    assert package in message.splitlines()[0], message
    assert wording.PACKAGES[package] in message or package in ("copy", "pickle", "random", "sys", "time"), message


@pytest.mark.parametrize(
    ("use", "named"),
    [
        (lambda: platform.system(), "platform.system"), (lambda: dis.dis(len), "dis.dis"),
        (lambda: hmac.new(b"a"), "hmac."), (lambda: shlex.split("a b"), "shlex."),
        (lambda: zipfile.ZipFile("a"), "zipfile.ZipFile"),
    ],
)  # fmt: skip
def test_other_functions_of_pythons_library_are_named_and_none_is_to_be_decorated(use, named):
    message = said(njit(use))
    assert "lambda" in line_of(message) and f"`{named}" in message.splitlines()[0], message
    assert f"help: {GENERAL}, or call it in a block" in message and "decorate" not in message


def test_functions_that_cannot_be_decoded_are_refused_at_the_line_of_the_program(installed):
    rich = installed("rich")
    file = Path(rich.__file__)
    file.write_text("def go(x):\n    from . import other\n    return other.f(x)\n")
    rich = importlib.reload(rich)
    message = said(njit(lambda x: rich.go(x)), 1)
    assert "lambda" in line_of(message) and "`rich" in message.splitlines()[0], message


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Makes packages that look like installed ones."""
    site = tmp_path / "site-packages"
    monkeypatch.syspath_prepend(str(site))
    made = []

    def make(name):
        folder = site / name.replace(".", "/")
        folder.mkdir(parents=True)
        for part in [folder, *folder.parents][: name.count(".") + 1]:
            (part / "__init__.py").touch()
        (folder / "__init__.py").write_text(
            "_CACHE = {1: 2, 'a': 'b'}\ndef inner(x):\n    return _CACHE[x]\ndef go(x):\n    return inner(x)\n"
            "class Thing:\n    def of(self, x): return x\nthing = Thing()\n"
        )
        for n in list(sys.modules):
            if n.partition(".")[0] == name.partition(".")[0]:
                made.append((n, sys.modules.pop(n)))
        return importlib.import_module(name)

    yield make
    for n in [n for n in sys.modules if str(getattr(sys.modules[n], "__file__", "")).startswith(str(site))]:
        del sys.modules[n]
    for n, module in made:
        sys.modules[n] = module


@pytest.mark.parametrize("package", OTHERS)
def test_packages_are_refused_at_the_line_of_the_program(package, installed):
    module = installed(package)
    for use in (lambda x: module.go(x), lambda x: module.Thing(), lambda x: module.thing.of(x)):
        message = said(njit(use), 1)
        assert "lambda" in line_of(message), message
        assert f"`{package}." in message.splitlines()[0], message
        assert f"help: {wording.PACKAGES[package]}" in message, message


def test_a_package_that_is_not_installed_says_so():
    def use():
        import no_such_package_at_all

        return no_such_package_at_all.x

    message = said(njit(use))
    assert "module `no_such_package_at_all` is not installed" in message
    assert "top of the file" not in message and "import no_such_package_at_all" in line_of(message)


# Names that were meant.


@dataclass
class Point:
    width: float

    def area(self):
        return self.width


def scaled(values, factor=2.0):
    return values * factor


class Colour(IntEnum):
    RED = 1


class Pair(NamedTuple):
    first: int
    second: float


@jitclass([("width", types.int64)])
class Box:
    def __init__(self, width):
        self.width = width

    def area(self):
        return self.width


RANDOM = np.random.default_rng(1)
LIMITS = np.finfo(np.float64)


MISSPELT = [
    (lambda a: a.meann(), np.ones(2), "mean"), (lambda a: np.meen(a), np.ones(2), "mean"),
    (lambda t: t.uper(), "a", "upper"), (lambda v: v.apend(1), [1], "append"), (lambda d: d.itmes(), {1: 2}, "items"),
    (lambda p: p.widht, Point(1.0), "width"), (lambda a: np.sum(a, axs=0), np.ones(2), "axis"),
    (lambda a: scaled(a, facter=1.0), np.ones(2), "factor"), (lambda a: np.zeros(3, dtype="flota64"), 1, "float64"),
    (lambda a: np.zeros(3, dtype=np.flota64), 1, "float64"), (lambda a: np.linalg.nrom(a), np.ones(2), "norm"),
    (lambda r: r.tims, np.zeros(1, [("time", "f8")])[0], "time"), (lambda a: lne(a), np.ones(2), "len"),  # noqa: F821
    (lambda p: p.aera(), Point(1.0), "area"), (lambda b: b.aera(), Box(2), "area"),
    (lambda b: b.widht, Box(2), "width"),
    (lambda p: p.frist, Pair(1, 2.0), "first"), (lambda p: p.idnex(1), Pair(1, 2.0), "index"),
    (lambda x: Colour.RDE, 1, "RED"), (lambda g: g.nromal(), RANDOM, "normal"),
    (lambda a: np.add.reduc(a), np.ones(2), "reduce"),
    (lambda v: deque(v).popleftt(), [1], "popleft"), (lambda v: Counter(v).most_comon(), [1], "most_common"),
    (lambda s: s.todens(), sparse.csr_array(np.eye(2)), "todense"), (lambda a: a.dtype.itmsize, np.ones(2), "itemsize"),
    (lambda a: a.flags.c_contigous, np.ones(2), "c_contiguous"), (lambda x: LIMITS.epss, 1, "eps"),
    (lambda x: np.iinfo(np.int64).mx, 1, "max"), (lambda x: scald(x), 1.0, "scaled"),  # noqa: F821
    (lambda x: print(x, spe=","), 1, "sep"), (lambda v: [i for i in zip(v, v, strct=True)], [1], "strict"),
    (lambda v: [i for i in enumerate(v, strt=1)], [1], "start"), (lambda x: Pair(first=x, secnd=2.0), 1, "second"),
    (lambda p: p._replace(frist=2), Pair(1, 2.0), "first"), (lambda a: np.add(a, a, wher=True), np.ones(2), "where"),
    (lambda r: r.strat, range(3), "start"), (lambda t: t.cuont(1), (1, 2), "count"), (lambda z: z.rael, 1j, "real"),
]  # fmt: skip


@pytest.mark.parametrize("use, given, meant", MISSPELT, ids=[row[2] + str(i) for i, row in enumerate(MISSPELT)])
def test_f29_the_nearest_name_is_told(use, given, meant):
    message = said(njit(use), given)
    assert f"did you mean `{meant}`?" in message.splitlines()[0], message
    assert "outside of the function" not in message


def test_f29_a_name_that_is_near_to_nothing_is_told_as_before():
    message = said(njit(lambda a: a.qqqq()), np.ones(2))
    assert "did you mean" not in message and "outside of the function" in message


@pytest.mark.parametrize("signature", ["flaot64(float64)", "float64(flaot64[:])"])
def test_f29_the_nearest_type_of_a_signature_is_told(signature):
    with pytest.raises(NameError, match=r"name 'flaot64' is not a type; did you mean `float64`\?$"):
        njit(signature)(lambda x: x)


def test_a_field_that_is_given_twice():
    message = said(njit(lambda x: Pair(x, 2.0, first=x)), 1)
    assert "`Pair` got multiple values for `first`" in message and "did you mean" not in message


def test_f29_the_nearest_parameter_is_told_to_callers_in_python():
    assert "unexpected keyword argument 'facter'; did you mean `factor`?" in said(lambda: njit(scaled)(1.0, facter=2.0))


# The program's own line.


@pytest.mark.parametrize(
    "call",
    [
        lambda: grad(lambda a: a * 2)(3), lambda: grad(lambda a: 2)(3.0), lambda: grad(lambda a: a)(np.ones(2)),
        lambda: value_and_grad(lambda a: float(str(a)))(1.0), lambda: jacfwd(lambda a: str(a))(1.0),
    ],
)  # fmt: skip
def test_f25_errors_of_derivatives_are_at_the_line_of_the_function(call):
    message = said(call)
    assert "lambda" in line_of(message)
    assert message.count(HERE) == 1 and "gradients.py" not in message and "derivatives_of" not in message
    assert "lh_" not in message


#: Ufuncs that are refused for numbers of a kind, with a number of that kind.
UFUNCS = [
    *((name, 1j) for name in ("fmod", "cbrt", "remainder", "floor_divide", "deg2rad", "gcd", "ldexp", "bitwise_count")),
    *((name, 1j) for name in ("frexp", "divmod", "signbit", "heaviside", "logaddexp", "nextafter", "invert", "hypot")),
    *((name, 1.5) for name in ("gcd", "invert", "bitwise_and", "left_shift", "bitwise_count")),
]


@pytest.mark.parametrize(("name", "number"), UFUNCS)
def test_f31_ufuncs_are_refused_at_the_line_of_the_program(name, number):
    ufunc = getattr(np, name)
    use = (lambda a: ufunc(a)) if ufunc.nin == 1 else (lambda a: ufunc(a, a))
    for given in (np.array([number]), number):
        message = said(njit(use), given)
        assert "lambda a: ufunc" in line_of(message), message
        assert (
            "lancehead/lib" not in message
            and "`fabs`" not in message
            and "not supported in compiled code" not in message
        )


def test_what_runs_without_a_line_of_the_program_is_refused_at_the_line_that_calls():
    for make in (
        lambda: vectorize(["float64(float64)"])(lambda x: "a")(np.ones(2)),
        lambda: cuda.reduce(lambda x: x)(np.ones(2)),
    ):
        message = said(make)
        assert "lambda" in line_of(message), message


def test_operands_of_sparse_arrays_are_refused_without_names_of_the_library():
    message = said(njit(lambda S: S + "a"), sparse.csr_array(np.eye(2)))
    assert "`str` is not supported as an operand or argument here" in message.splitlines()[0]
    assert "_shape" not in message and 'S + "a"' in line_of(message)


def test_lazy_arrays_as_arguments_name_the_array_to_pass():
    assert "help: pass an array: `np.asarray(x)`" in said(njit(lambda x: x.sum()), xp.asarray(np.ones(2)))
    assert "help: pass an array: `x.get()`" in said(njit(lambda x: x.sum()), cp.asarray(np.ones(2)))


def test_a_function_of_too_few_elements_is_told_by_name():
    def double(x):
        return 2 * x

    for call in (xp.reduce, xp.scan):
        with pytest.raises(TypeError, match="^`double` is called with 2 elements, and takes 1$"):
            call(double, xp.asarray(np.ones(2)))


def test_f26_imports_of_packages_that_are_not_compiled_give_no_false_hope(installed):
    installed("pandas")
    del sys.modules["pandas"]

    def use():
        import pandas

        return pandas.x

    message = said(njit(use))
    assert "top of the file" not in message and f"help: {wording.PACKAGES['pandas']}" in message


# `None` where a value is needed.

NONE = [
    lambda x: -x, lambda x: +x, lambda x: ~x, lambda x: x + 1, lambda x: x < 1, lambda x: math.sqrt(x),
    lambda x: range(x)[0], lambda x: abs(x),
]  # fmt: skip
NO_LIST = [
    lambda v: v[0], lambda v: len(v), lambda v: [i for i in v], lambda v: v.append(1), lambda v: v.count(1),
]  # fmt: skip


def no_pair(pair):
    a, b = pair
    return a


@pytest.mark.parametrize("use", [*NONE, *NO_LIST, no_pair])
def test_f33_errors_of_none_are_those_of_python(use):
    def call_number(flag):
        return use(None if flag else 1)

    def call_list(flag):
        return use(None if flag else [1])

    def call_pair(flag):
        return use(None if flag else (1, 2))

    call = call_number if use in NONE else call_list if use in NO_LIST else call_pair
    with pytest.raises((TypeError, AttributeError)) as expected:
        call(True)
    with pytest.raises(type(expected.value)) as caught:
        njit(call)(True)
    assert str(caught.value) == str(expected.value)
    call(False)


def test_f33_an_item_of_none_cannot_be_assigned():
    @njit
    def store(flag):
        values = None if flag else [1]
        values[0] = 2

    with pytest.raises(TypeError, match="^'NoneType' object does not support item assignment$"):
        store(True)


def test_f30_breakpoint_names_the_switch():
    message = said(njit(lambda a: breakpoint()), 1)
    assert "LANCEHEAD_DISABLE_JIT=1" in message


def test_f32_keyword_arguments_have_an_id_and_a_way_out():
    def use(**k):
        return k["a"]

    message = said(lambda: njit(use)(a=1))
    assert message.startswith("error[unsupported-syntax]") and "help: give the parameter a name" in message


def test_f20_a_sparse_array_of_scipy_names_ours():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    for made, name in ((scipy_sparse.csr_array(np.eye(2)), "csr_array"), (scipy_sparse.csc_matrix(np.eye(2)), "csc_")):
        assert f"`lancehead.sparse.{name}" in said(njit(lambda A: A.shape), made)


def test_f21_callbacks_that_record():
    times = []

    def refused(t):
        times.append(t)
        return len(times)

    def record(t):
        times.append(t)

    @njit
    def solve(callback, n):
        for i in range(n):
            callback(i * 0.5)

    assert "a function that only appends to it may do so" in said(solve, refused, 3)
    solve(record, 3)
    solve(record, 1)
    assert times == [0.0, 0.5, 1.0, 0.0]


@pytest.mark.parametrize(
    ("f", "given", "parts"),
    [
        (lambda n: np.zeros(n / 2), (4,), ("an integer is needed here, not `float`", "`//`")),
        (lambda a: a[1.0], (np.ones(3),), ("float",)),
        (lambda n: _two(n), (3,), ("cannot unpack non-iterable `int`",)),
        (lambda x: np.max(x, x), (np.ones(3),), ("not `array(float64, 1d, C)`",)),
    ],
)
def test_numbers_that_do_not_fit_are_told_by_their_types(f, given, parts):
    message = said(njit(f), *given)
    assert all(part in message for part in parts), message


def _two(n):
    a, b = n
    return a + b


@pytest.mark.parametrize(
    ("f", "given", "instead"),
    [
        (lambda a: a.sqrt(), np.ones(2), "`np.sqrt(a)`"), (lambda a: a.abs(), np.ones(2), "`np.abs(a)`"),
        (lambda s: s.length, "abc", "`len(x)`"), (lambda s: s.contains("a"), "abc", "`x in y`"),
        (lambda x: x.push(1.0), [1.0], "`append`"), (lambda d: d.x, {"x": 1}, '`d["x"]`'),
        (lambda s: s.append(1), {1}, "`add`"), (lambda x: math.ln(x), 1.0, "`math.log`"),
        (lambda x: x - x, [1.0], "`np.array(x)`"), (lambda x: x / 2, [1.0], "`np.array(x)`"),
        (lambda x: x ^ 2, 1.5, "`**`"), (lambda x: x > 1 & x < 3, 1.5, "parentheses"),
    ],
)  # fmt: skip
def test_names_and_operators_of_other_languages_are_told_with_pythons(f, given, instead):
    assert instead in said(njit(f), given)
