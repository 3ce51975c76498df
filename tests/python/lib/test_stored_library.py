"""The library as it is stored when lancehead is built: the same functions as its Python modules have, without these."""

import importlib
import json
import os
import pathlib
import pkgutil
import re
import shutil
import subprocess
import sys
import textwrap
import types

import pytest

import lancehead
import lancehead.lib
from lancehead import _core

LIB = "lancehead.lib"


def run(code, **environment):
    command = [
        sys.executable,
        "-c",
        "import sys, json, numpy as np\nfrom lancehead import njit\n" + textwrap.dedent(code),
    ]
    out = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, cwd="/")
    assert out.returncode == 0, out.stderr
    return json.loads(out.stdout)


def functions():
    """All of the library's, by a path of each."""
    found = {}

    def add(path, o):
        if isinstance(o, types.FunctionType) and o.__module__.startswith(LIB):
            found.setdefault(o, path)

    for info in pkgutil.walk_packages(lancehead.lib.__path__, LIB + "."):
        module = importlib.import_module(info.name)
        start = info.name.removeprefix(LIB + ".")
        for name, value in vars(module).items():
            add(f"{start}.{name}", value)
            if isinstance(value, type):
                for member, held in vars(value).items():
                    held = held.fget if isinstance(held, property) else getattr(value, member)
                    add(f"{start}.{name}.{member}", held)
    return found


def test_all_functions_are_stored_as_they_are():
    for function, path in functions().items():
        stored = _core.stored_function(path)
        assert stored, f"{path} is not stored: lancehead was built from other sources"
        same, text, decoded, defaults, names = stored
        assert same is function
        assert text == decoded
        assert defaults == [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        for name, value in names.items():
            assert value is function.__globals__[name] or value == function.__globals__[name], (path, name)


PROGRAM = """
@njit
def f(a):
    b = np.sort(a.reshape(-1))
    c = np.linalg.solve(a, np.cumsum(a, axis=1))
    low = np.where(a < 1, a, 0.0)[0, 0]
    return np.mean(c) + np.median(b) + len(str(b.size)) + sum([1, 2]) + a.T.max() + (a > 0.5).any() + low
a = np.random.default_rng(0).random((5, 5))
result = [f(a), f.py_func(a)]
modules = sorted(m for m in sys.modules if m.startswith("lancehead.lib"))
print(json.dumps([result, modules, f.inspect_ir(f.signatures[0])]))
"""


def test_no_module_of_the_library_is_imported():
    (result, expected), modules, text = run(PROGRAM)
    assert abs(result - expected) < 1e-9
    assert modules == []
    (from_source, _), modules, same = run(PROGRAM, LANCEHEAD_LIBRARY="source")
    assert result == from_source
    assert "lancehead.lib.numpy.sorting" in modules
    assert parts(text) == parts(same)


def test_what_has_no_stored_form_is_imported():
    code = """
    @njit
    def f(a): return a.flags.c_contiguous
    print(json.dumps([f(np.zeros(3)), "lancehead.lib.numpy.methods" in sys.modules]))
    """
    assert run(code) == [True, True]


def test_an_edited_library_is_seen(tmp_path):
    copy = tmp_path / "lancehead"
    shutil.copytree(lancehead.__path__[0], copy, ignore=shutil.ignore_patterns("__pycache__"))
    code = "f = njit(lambda x: np.deg2rad(x)); print(json.dumps([f(180.0), 'lancehead.lib' in sys.modules]))"
    assert run(code, PYTHONPATH=str(tmp_path)) == [3.141592653589793, False]
    path = copy / "lib" / "numpy" / "_ufuncs.py"
    stat = path.stat()
    path.write_text(path.read_text() + "\n\ndef deg2rad(x):\n    return 2.0 * x\n")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert run(code, PYTHONPATH=str(tmp_path)) == [360.0, True]


TYPER = pathlib.Path(__file__).resolve().parents[3] / "xtask" / "type_library.py"


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    """The library as it is typed for the wheel."""
    path = tmp_path_factory.mktemp("typed") / "library.typed"
    subprocess.run([sys.executable, TYPER, path], check=True, cwd="/")
    return path


def parts(text):
    """Typed functions without the numbers that they happen to have, sorted."""
    text = re.sub(r"(%\w+|<\w+>)\.\d+|\bspec\d+", r"\1", text)
    return sorted(text.split("\n\n") if "\n\n" in text else re.split(r"\n(?=function )", text))


def test_what_is_typed_before_is_what_would_be_typed(typed):
    (result, expected), modules, text = run(PROGRAM, LANCEHEAD_LIBRARY=str(typed))
    assert abs(result - expected) < 1e-9
    assert modules == []
    (decoded, _), _, same = run(PROGRAM, LANCEHEAD_LIBRARY="decoded")
    assert decoded == result
    assert text != same, "nothing was taken from the file"
    assert parts(text) == parts(same)


EXCEPTIONS = """
class Mine(Exception):
    pass
@njit
def own(): raise Mine(1)
@njit
def f(a): return np.sum(a, axis=3)
@njit
def g(a): return np.linalg.solve(a, a[0])
told = []
for call in (own, lambda: f(np.zeros((2, 2))), lambda: g(np.zeros((2, 2)))):
    try:
        call()
    except Exception as e:
        told.append([type(e).__name__, str(e)])
print(json.dumps(told))
"""


def test_exceptions_of_typed_code(typed):
    # The user's class has the number that NumPy's had when the library was typed.
    told = run(EXCEPTIONS, LANCEHEAD_LIBRARY=str(typed))
    assert [t[0] for t in told] == ["Mine", "AxisError", "LinAlgError"]
    assert told == run(EXCEPTIONS, LANCEHEAD_LIBRARY="source")


def test_options_have_code_of_their_own(typed):
    code = """
    a = np.array([[1.0, np.nan]] * 40)
    f = njit(lambda a: np.sum(a, axis=0)[0] + a[0, 0])
    g = njit(lambda a: np.max(a[:, 0]) + np.sum(a[:, 0]), fastmath=True)
    h = njit(lambda a: np.sort(a[:, 0])[3], parallel=True)
    print(json.dumps([f(a), g(a), h(a)]))
    """
    assert run(code, LANCEHEAD_LIBRARY=str(typed)) == [41.0, 41.0, 1.0]


def test_files_of_another_build_are_not_used(typed, tmp_path):
    other = tmp_path / "library.typed"
    data = typed.read_bytes()
    # The first bytes say what it was made for.
    other.write_bytes(data[:4] + b"0000" + data[8:])
    assert run(PROGRAM, LANCEHEAD_LIBRARY=str(other))[2] == run(PROGRAM, LANCEHEAD_LIBRARY="decoded")[2]
    other.write_bytes(b"")
    assert run(PROGRAM, LANCEHEAD_LIBRARY=str(other))[2] == run(PROGRAM, LANCEHEAD_LIBRARY="decoded")[2]


def test_overloads_reach_the_library(typed):
    code = """
    from lancehead.extending import overload
    def mine(x): pass
    @overload(mine)
    def _(x): return lambda x: x + 1
    f = njit(lambda a: mine(np.sum(a)))
    print(json.dumps(f(np.ones(3))))
    """
    assert run(code, LANCEHEAD_LIBRARY=str(typed)) == 4.0
