"""Functions compiled ahead of time: `lancehead build` and `lancehead.pycc.CC`."""

import ctypes
import hashlib
import os
import py_compile
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path

import numpy as np
import pytest

from lancehead import _core, errors, njit
from lancehead._command import ahead
from lancehead.pycc import CC

SOURCE = """
import numpy as np
from lancehead import njit

TABLE = np.arange(10.0)[::-2]
SHARED = np.arange(3)


@njit("float64(float64[::1])")
def norm(a):
    return np.sqrt(np.sum(a * a))


@njit(["int64(int64, int64)", "float64(float64, float64)"])
def divide(x, y):
    return x // y


@njit("float64[:](float64[:])")
def rest(a):
    return a[1:]


@njit("float64[:](float64[:])")
def same(a):
    return a


@njit("Tuple((int64, unicode_type))(unicode_type, int64)")
def greet(name, n):
    return n + 1, "hello " + name * n


@njit("float64(int64)")
def look(i):
    return TABLE[i] + SHARED[i]


@njit("float64[:, ::1](int64)", parallel=True)
def table(n):
    return np.sin(np.arange(n * 2.0) * 1e6).reshape(n, 2)


@njit("complex64(complex64)", nogil=True)
def turn(z):
    return z * np.complex64(1j)


@njit("optional(int8)(optional(int8))")
def maybe(x):
    return x


@njit("void(int32[:])")
def fill(a):
    a[:] = 7


@njit("int64(boolean, Tuple((uint8, float32)))")
def mixed(flag, pair):
    return pair[0] + (1 if flag else 0) + int(pair[1])


@njit
def not_exported(x):
    return x


@njit("int64(int64)")
def refuse(x):
    if x > 1:
        raise ValueError("too large", x, 1.5, True)
    return x
"""


@pytest.fixture(scope="module", autouse=True)
def archive():
    """The run-time library of this build: in a build directory of cargo it is made here, elsewhere it is installed."""
    place = Path(_core.__file__).resolve().parent
    if place.name in ("debug", "release"):
        profile = ["--release"] if place.name == "release" else []
        subprocess.run(
            ["cargo", "build", "--quiet", "--package", "lh-aot", *profile],
            cwd=Path(__file__).parents[3],
            check=True,
            timeout=1200,
        )
    return ahead.archive()


def built(directory, name, source=SOURCE, **options):
    path = directory / f"{name}.py"
    path.write_text(source)
    _, exports = ahead.exports_of(path)
    return ahead.build(exports, ahead.Product(f"{name}_native", directory / "out", **options))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The three files, made by the command."""
    directory = tmp_path_factory.mktemp("ahead")
    (directory / "sample.py").write_text(SOURCE)
    command = [sys.executable, "-m", "lancehead", "build", "sample.py", "-o", "out"]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return directory / "out"


def in_python(directory, code):
    """Output of code in a process that cannot import lancehead."""
    text = (
        f"import sys; sys.path.insert(0, {str(directory)!r}); sys.modules['lancehead'] = None\nimport numpy as np, "
        f"sample_native as s\n{code}"
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def test_values_and_arrays_without_lancehead(made):
    code = """
print(s.norm(np.arange(4.0)) == 14 ** 0.5, s.divide(7, 2), s.divide(7.5, 2), s.divide(y=2, x=-7),
      s.divide(np.int64(9), 2))
print(s.rest(np.arange(4.0)[::-1]), s.same.__doc__, s.__name__)
a = np.arange(3.0); print(s.same(a) is a)
print(s.greet('ü', 2), s.greet(n=0, name=''), [s.look(i) for i in range(3)])
sines = np.sin(np.arange(6.0) * 1e6).reshape(3, 2)
print(np.array_equal(s.table(3), sines) or abs(s.table(3) - sines).max() < 1e-15)
print(s.turn(2 + 1j), s.turn(np.complex64(1)), s.maybe(None), s.maybe(-5), s.mixed(True, (250, 2.5)))
b = np.zeros(2, np.int32); print(s.fill(b), b, hasattr(s, 'not_exported'))
"""
    assert in_python(made, code) == [
        "True 3 3.0 -4 4",
        "[2. 1. 0.] same(a: array(float64, 1d, A)) -> array(float64, 1d, A) sample_native",
        "True",
        "(3, 'hello üü') (1, 'hello ') [9.0, 8.0, 7.0]",
        "True",
        "(-1+2j) 1j None -5 253",
        "None [7 7] False",
    ]


def test_exceptions_and_refused_arguments(made):
    code = """
import itertools
frozen = np.zeros(2, np.int32); frozen.flags.writeable = False
calls = [lambda: s.divide(1, 0), lambda: s.refuse(9), lambda: s.look(99), lambda: s.norm(np.arange(4)),
         lambda: s.norm(), lambda: s.divide(2**70, 1), lambda: s.norm(np.arange(8.0)[::2]), lambda: s.fill(frozen),
         lambda: s.maybe(200), lambda: s.maybe('x'), lambda: s.greet('\\ud800', 1), lambda: s.mixed(True, (1,)),
         lambda: s.divide(1, z=2), lambda: s.norm(np.zeros(3, '>f8'))]
for call in calls:
    try: print(call())
    except Exception as e: print(type(e).__name__, e.args[:1] if len(e.args) == 1 else e.args)
"""
    lines = in_python(made, code)
    assert lines[:3] == [
        "ZeroDivisionError ('integer division or modulo by zero',)",
        "ValueError ('too large', 9, 1.5, True)",
        "IndexError ('index 99 is out of bounds for axis 0 with size 5',)",
    ]
    kinds = [line.split()[0] for line in lines[3:]]
    assert kinds == [
        "TypeError", "TypeError", "OverflowError", "TypeError", "TypeError", "OverflowError", "TypeError",
        "UnicodeEncodeError", "TypeError", "TypeError", "TypeError",
    ]  # fmt: skip
    assert "norm(array(float64, 1d, C)) -> float64" in lines[3]


def test_nothing_leaks(made):
    code = """
import gc, sys
a, t = np.arange(1000.0), 'x' * 1000
def work():
    for i in range(2000):
        s.rest(a); s.same(a); s.greet(t, 3); s.table(50)
        try: s.refuse(5)
        except ValueError: pass
        try: s.norm(a, 1)
        except TypeError: pass
work()
import resource
before, counts = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, (sys.getrefcount(a), sys.getrefcount(t))
work(); work(); gc.collect()
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(grown < 4000, counts == (sys.getrefcount(a), sys.getrefcount(t)))
"""
    assert in_python(made, code) == ["True True"]


def test_a_program_in_c(made):
    program = made.parent / "main.c"
    program.write_text("""
#include "sample_native.h"
#include <stdio.h>
int main(void) {
    double numbers[4] = {0, 1, 2, 3}, r;
    lancehead_float64_1d a = {0, numbers, {4}, {8}}, b;
    int32_t status = sample_native_norm(a, &r);
    printf("%d %.6f\\n", status, r);
    int64_t q;
    status = sample_native_divide_int64_int64(1, 0, &q);
    printf("%d %s\\n", status, sample_native_error());
    lancehead_text name = {0, "bob", 3}, text;
    sample_native_greet(name, 2, &q, &text);
    printf("%d %.*s\\n", (int)q, (int)text.length, text.data);
    sample_native_release(text.owner);
    sample_native_rest(a, &b);
    printf("%d %g %d\\n", (int)b.shape[0], b.data[0], b.owner == 0);
    lancehead_float64_2d t;
    sample_native_table(1000, &t);
    printf("%d %d\\n", (int)t.shape[0], (int)t.strides[0]);
    sample_native_release(t.owner);
    bool has; int8_t x;
    sample_native_maybe(true, 5, &has, &x);
    printf("%d %d\\n", has, x);
    return 0;
}
""")
    command = [
        "cc",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-I.",
        "../main.c",
        "-o",
        "main",
        "-L.",
        "-lsample_native",
        "-Wl,-rpath,.",
    ]
    subprocess.run(command, cwd=made, check=True, timeout=300)
    done = subprocess.run(["./main"], cwd=made, capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.splitlines() == [
        "0 3.741657", "1 ZeroDivisionError: integer division or modulo by zero", "3 hello bobbob", "3 1 1", "1000 16",
        "1 5",
    ]  # fmt: skip


def test_the_library_needs_no_python_and_shows_its_functions_only(made):
    symbols = subprocess.run(
        ["nm", "-D", "libsample_native.so"], cwd=made, capture_output=True, text=True, check=True
    ).stdout
    assert " U Py" not in symbols
    visible = [line.split()[-1] for line in symbols.splitlines() if " T " in line]
    assert len(visible) == 15 and all(name.startswith("sample_native_") for name in visible), visible
    library = ctypes.CDLL(str(made / "libsample_native.so"))
    out = ctypes.c_double()
    assert library.sample_native_look(ctypes.c_int64(1), ctypes.byref(out)) == 0 and out.value == 8.0


def test_the_same_input_gives_the_same_bytes(made, tmp_path):
    again = built(tmp_path, "sample")
    for path in again:
        assert hashlib.sha256(path.read_bytes()).digest() == hashlib.sha256((made / path.name).read_bytes()).digest(), (
            path.name
        )
        assert str(tmp_path).encode() not in path.read_bytes()


def test_several_levels_of_processors(tmp_path):
    files = built(tmp_path, "levels", levels=ahead.levels(["x86-64-v3", "x86-64"]), module=False)
    library = ctypes.CDLL(str(files[0]))
    out = ctypes.c_double()
    assert library.levels_native_look(ctypes.c_int64(1), ctypes.byref(out)) == 0 and out.value == 8.0
    assert files[0].stat().st_size > built(tmp_path, "levels", levels=["x86-64"], module=False)[0].stat().st_size
    assert ahead.levels(["host"]) == [None]
    with pytest.raises(ValueError, match="no level"):
        ahead.levels(["pentium"])


def test_cc(tmp_path):
    cc = CC("cc_made")
    cc.output_dir = str(tmp_path)
    cc.target_cpu = "host"

    @cc.export("multf", "f8(f8, f8)")
    @cc.export("multi", "i4(i4, i4)")
    @njit
    def mult(a, b):
        return a * b

    @cc.export("halved", "float32(int64)")
    def half(x):
        return x / 2

    assert mult(2, 3) == 6 and half(3) == 1.5
    cc.compile()
    assert (
        cc.output_file == "cc_made" + sysconfig.get_config_var("EXT_SUFFIX") and (tmp_path / cc.output_file).is_file()
    )
    code = "import cc_made as m; print(m.multf(2.5, 2), m.multi(3, 4), m.halved(3), m.multf.__name__)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.stdout.split() == ["5.0", "12", "1.5", "multf"], done.stderr
    with pytest.raises(KeyError, match="duplicated"):
        cc.export("multf", "f8(f8)")(half)
    with pytest.raises(ValueError, match="simple module name"):
        CC("a.b")


def test_cc_with_setuptools(tmp_path):
    (tmp_path / "source.py").write_text(
        "from lancehead.pycc import CC\ncc = CC('from_setup')\n@cc.export('twice', 'int64(int64)')\ndef twice(x):\n    "
        "return x * 2\n"
    )
    (tmp_path / "setup.py").write_text(
        "from setuptools import setup\nfrom source import cc\nsetup(name='x', ext_modules=[cc.distutils_extension()])\n"
    )
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    done = subprocess.run(
        [sys.executable, "-c", "import from_setup; print(from_setup.twice(21))"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["42"], done.stderr


def test_build_of_a_file_with_a_cc(tmp_path):
    (tmp_path / "exports.py").write_text(
        "from lancehead.pycc import CC\ncc = CC('named')\n@cc.export('f', 'int64(int64)')\ndef inner(x):\n    return "
        "-x\n"
    )
    command = [sys.executable, "-m", "lancehead", "build", "exports.py", "--no-module"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and sorted(p.name for p in tmp_path.glob("*named*")) == ["libnamed.so", "named.h"], (
        done.stderr
    )
    assert "int32_t named_f(int64_t x_, int64_t *result);" in (tmp_path / "named.h").read_text()


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("x = 1", "nothing to build"),
        (
            "from lancehead import njit\nclass Own(Exception): pass\n@njit('int64(int64)')\ndef f(x):\n    if x: raise "
            "Own('no')\n    return x",
            "Own",
        ),
        ("from lancehead import njit\n@njit('float16(float16[:])')\ndef f(x): return x[0]", "unsupported-type"),
        ("from lancehead import njit\n@njit('int64(List(int64))')\ndef f(x): return x[0]", "unsupported-type"),
    ],
)
def test_what_cannot_be_built_is_told(tmp_path, source, text):
    (tmp_path / "m.py").write_text(source)
    command = [sys.executable, "-m", "lancehead", "build", "m.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1 and text in done.stderr and "Traceback" not in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir() if p.name != "__pycache__") == ["m.py"]


def test_no_compiler_and_bad_names(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(errors.UnsupportedError, match="no C compiler"):
        built(tmp_path, "small", "from lancehead import njit\n@njit('int64(int64)')\ndef f(x): return x\n")
    with pytest.raises(ValueError, match="name of a module"):
        ahead.build([ahead.Export("f", lambda x: x, "int64(int64)")], ahead.Product("a-b", tmp_path))
    assert ahead.name_for(Path("my-file.py")) == "my_file_native"


def test_threads_may_call_at_once(made):
    library = ctypes.CDLL(str(made / "libsample_native.so"))
    wrong = []

    def work(n):
        out = ctypes.c_int64()
        for i in range(500):
            if library.sample_native_divide_int64_int64(
                ctypes.c_int64(n), ctypes.c_int64(i % 2), ctypes.byref(out)
            ) != (i % 2 == 0):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong and np.isfinite(1.0)


def test_a_module_is_built_as_it_is_written(tmp_path):
    """Python's bytecode files know an edit by its second and size, which need not differ."""
    path = tmp_path / "edited.py"
    for n in (1, 2):
        path.write_text(f"from lancehead import njit\n@njit('int64(int64)')\ndef f(x): return x + {n}\n")
        os.utime(path, (1e9, 1e9))
        if n == 1:
            py_compile.compile(str(path))
        _, [export] = ahead.exports_of(path)
        assert export.function(1) == 1 + n
