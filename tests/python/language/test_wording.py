"""Diagnostics at the program's own line, with advice about packages and the names that were meant."""

from __future__ import annotations

import doctest
import importlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from lancehead import errors, njit, wording
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
        "unsupported-call", "`re.sub` is not supported in compiled code", "", 2, [], [wording.PACKAGES["re"]],
    )  # fmt: skip


def test_places_in_the_package_give_way_and_the_headline_stays():
    own = str(Path(wording.__file__).with_name("gradients.py"))
    places = [(own, 3, ""), ("/x/a.py", 9, "called as `slope` here"), ("/x/b.py", 2, "called as `run` here")]
    told = wording.reworded("cannot-unify", "types differ", "", places, ["a note"], [])
    assert told == ("cannot-unify", "types differ", "in `slope`", 1, [2], ["a note"])


def test_one_line_of_the_program_is_told_once():
    places = [("/x/a.py", 9, "")] + [("/x/a.py", 9, "called as `f` here")] * 3 + [("/x/a.py", 5, "called from here")]
    assert wording.reworded("x", "y", "", places, [], [])[3:5] == (0, [4])


def test_places_without_a_line_of_the_program_stay():
    assert wording.reworded("x", "y", "", [(re.__file__, 1, "")], [], [])[3] == 0
    assert wording.reworded("x", "y", "", [("", 0, "")], [], [])[3:5] == (0, [])


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


MISSPELT = [
    (lambda a: a.meann(), np.ones(2), "mean"), (lambda a: np.meen(a), np.ones(2), "mean"),
    (lambda t: t.uper(), "a", "upper"), (lambda v: v.apend(1), [1], "append"), (lambda d: d.itmes(), {1: 2}, "items"),
    (lambda p: p.widht, Point(1.0), "width"), (lambda a: np.sum(a, axs=0), np.ones(2), "axis"),
    (lambda a: scaled(a, facter=1.0), np.ones(2), "factor"), (lambda a: np.zeros(3, dtype="flota64"), 1, "float64"),
    (lambda a: np.zeros(3, dtype=np.flota64), 1, "float64"), (lambda a: np.linalg.nrom(a), np.ones(2), "norm"),
    (lambda r: r.tims, np.zeros(1, [("time", "f8")])[0], "time"), (lambda a: lne(a), np.ones(2), "len"),  # noqa: F821
]  # fmt: skip


@pytest.mark.parametrize("use, given, meant", MISSPELT, ids=[row[2] + str(i) for i, row in enumerate(MISSPELT)])
def test_f29_the_nearest_name_is_told(use, given, meant):
    message = said(njit(use), given)
    assert f"did you mean `{meant}`?" in message.splitlines()[0], message
    assert "outside of the function" not in message


def test_f29_a_name_that_is_near_to_nothing_is_told_as_before():
    message = said(njit(lambda a: a.qqqq()), np.ones(2))
    assert "did you mean" not in message and "outside of the function" in message


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
