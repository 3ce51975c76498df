"""The library as it is stored when lancehead is built: the same functions as its Python modules have, without these."""

import importlib
import json
import os
import pkgutil
import shutil
import subprocess
import sys
import textwrap
import types

import lancehead
import lancehead.lib
from lancehead import _core

LIB = "lancehead.lib"


def run(code, **environment):
    command = [sys.executable, "-c", "import sys, json, numpy as np\nfrom lancehead import njit\n" + textwrap.dedent(code)]
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
    return np.mean(c) + np.median(b) + len(str(b.size)) + sum([1, 2]) + a.T.max() + (a > 0.5).any() + np.where(a < 1, a, 0.0)[0, 0]
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
    assert text == same


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
