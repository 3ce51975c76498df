"""The `lancehead` command."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest


def lancehead(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the command and returns what it did."""
    command = [sys.executable, "-m", "lancehead", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=600)


def test_demo_measures_every_program_and_draws_charts(tmp_path):
    done = lancehead("demo", "--quick", "--svg", tmp_path / "chart.svg", "--png", tmp_path / "chart.png")
    assert done.returncode == 0, done.stdout + done.stderr
    for title in (
        "Sum over a 2-D array",
        "Monte-Carlo pi",
        "Mandelbrot",
        "Levenshtein",
        "Sparse PCA",
        "PCA by eigh",
        "Ridge regression",
        "Poisson's equation by FFT",
        "Option price, Monte Carlo",
        "Kalman filter",
        "N-body",
        "nested lists",
    ):
        assert title in done.stdout
    assert "failed" not in done.stdout
    assert (tmp_path / "chart.svg").read_text().lstrip().startswith("<?xml")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


def test_demo_runs_one_program(tmp_path):
    done = lancehead("demo", "--quick", "--only", "pi")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Monte-Carlo pi" in done.stdout
    assert "Mandelbrot" not in done.stdout


def test_demo_runs_beside_a_blas_that_no_variable_slows(tmp_path):
    # Prescott's kernels run on every processor of x86-64.
    environment = {**os.environ, "OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_L2_SIZE": "4096"}
    command = [sys.executable, "-m", "lancehead", "demo", "--quick", "--only", "pi", "--svg", str(tmp_path / "a.svg")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Monte-Carlo pi" in done.stdout and "Mandelbrot" not in done.stdout
    assert "NumPy's BLAS: openblas" in done.stdout and "Prescott" not in done.stdout
    assert (tmp_path / "a.svg").exists()


def test_demo_knows_its_programs():
    done = lancehead("demo", "--only", "nothing")
    assert done.returncode == 2
    assert "nothing" in done.stderr and "mandelbrot" in done.stderr


WITHOUT_PACKAGES = """
import sys
for package in "dask english_words matplotlib PIL rich scipy sklearn threadpoolctl".split():
    sys.modules[package] = None
from lancehead.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("columns", [24, 48, 80, 120])
def test_f34_the_demo_needs_numpy_alone_and_names_what_else_would_run(columns):
    """Tables and sentences keep to the width that COLUMNS has."""
    line = [sys.executable, "-c", WITHOUT_PACKAGES, "demo", "--quick"]
    only = ["pi", "nbody", "pca", "sparse_tf_idf", "dask_components"]
    done = subprocess.run(
        [*line, *(f"--only={name}" for name in only)], capture_output=True, text=True, timeout=300,
        env={**os.environ, "COLUMNS": str(columns)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")
    words = " ".join(done.stdout.split())
    assert "Monte- Carlo pi" in words or "Monte-Carlo pi" in words
    for package, name in (("scikit-learn", "pca"), ("scipy", "sparse_tf_idf"), ("dask", "dask_components")):
        assert f"not run for want of {package}: {name}" in words
    lines = done.stdout.splitlines()
    assert lines.pop() == "all that they need: pip install 'lancehead[demo]'"
    assert max(map(len, lines)) <= columns


def test_f34_programs_that_run_are_done_and_charts_name_their_package(tmp_path):
    for arguments, status, said in (
        (["--only=pi"], 0, "Monte-Carlo pi"),
        (["--only=pi", f"--svg={tmp_path / 'a.svg'}"], 2, "a chart needs matplotlib: pip install 'lancehead[demo]'"),
    ):
        line = [sys.executable, "-c", WITHOUT_PACKAGES, "demo", "--quick", *arguments]
        done = subprocess.run(line, capture_output=True, text=True, timeout=300)
        assert (done.returncode, done.stderr) == (status, "") and said in done.stdout


@pytest.mark.parametrize("fails", ["inputs", "plain"])
def test_f34_what_fails_before_the_compiled_version_is_no_traceback(fails, monkeypatch, capsys):
    from lancehead import demo
    from lancehead.demo.program import Program

    def missing(*arguments):
        raise ImportError("pictures need a reader\nmore", name=None)

    program = Program("it", "It", "Python", lambda quick: (1,), str, abs, abs)
    monkeypatch.setattr(demo, "load", lambda name: replace(program, **{fails: missing}))
    assert demo.run(["pi"], True, []) == 1
    assert "not run for want of pictures need a reader: pi\n" in capsys.readouterr().out


def test_demo_names_a_program_that_fails(monkeypatch, capsys):
    from lancehead import demo
    from lancehead.demo.program import Program

    def broken(x):
        raise ValueError("on purpose")

    program = Program("broken", "Broken", "Python", lambda quick: (1,), str, abs, broken)
    monkeypatch.setattr(demo, "load", lambda name: program)
    assert demo.run(["pi"], True, []) == 1
    assert "failed broken: ValueError: on purpose" in " ".join(capsys.readouterr().out.split())


def test_demo_refuses_wrong_answers(monkeypatch, capsys):
    from lancehead import demo
    from lancehead.demo.program import Program

    program = Program("wrong", "Wrong", "Python", lambda quick: (-1,), str, abs, lambda x: x)
    monkeypatch.setattr(demo, "load", lambda name: program)
    assert demo.run(["pi"], True, []) == 1
    assert "answers differ by 2" in " ".join(capsys.readouterr().out.split())


SCRIPT = """
import sys
import numba
import numba.core.types
from numba import njit, types
from numba.core import errors

@njit
def f(x):
    return x + 1

print(f(41), f.signatures, types is numba.types, numba.njit is njit, sys.argv[1:], __name__)
try:
    f("a")
except errors.TypingError:
    print("typing error")
"""


def test_run_serves_numba(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = lancehead("run", script, "a", "--b")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["42 [(int64,)] True True ['a', '--b'] __main__", "typing error"]


def test_run_imports_from_the_folder_of_the_script(tmp_path):
    (tmp_path / "neighbour.py").write_text("import numba\n@numba.njit\ndef f(x): return x * 2\n")
    (tmp_path / "script.py").write_text("import neighbour\nprint(neighbour.f(21))\n")
    done = lancehead("run", tmp_path / "script.py")
    assert done.stdout == "42\n", done.stderr


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("from numba import no_such_name", "ImportError: lancehead"),
        ("import numba.no_such_module", "ImportError: lancehead"),
        ("import numba; numba.no_such_name", "does not provide `numba.no_such_name`"),
    ],
)
def test_run_says_what_is_missing(tmp_path, line, message):
    script = tmp_path / "script.py"
    script.write_text(line)
    done = lancehead("run", script)
    assert done.returncode == 1
    assert message in done.stderr.splitlines()[-1]


ABSENT = """
import numba
from numba import gdb_init, njit, types
from numba.core import callconv
from numba.core.typing.typeof import typeof_impl
from numba.extending import models, overload_classmethod, register_model

@njit("float64(float64)")
def asks_python(x):
    return gdb_init(x)

class Own(types.Type):
    def __init__(self): super().__init__(name="Own")

@register_model(Own)
class Model(models.StructModel):
    def __init__(self, manager, own): models.StructModel.__init__(self, manager, own, [])

class Place: pass

@typeof_impl.register(Place)
def of_own(value, context): return Own()

@overload_classmethod(Own, "method")
def method(own): return lambda own: 1

assert Own().name == "Own" and not isinstance(1, types.LiteralStrKey) and not issubclass(int, models.StructModel)
try:
    types.Tuple((types.LiteralStrKey(types.int64),))
except numba.errors.UnsupportedError as e:
    print(e)
for f in (asks_python,):
    try:
        f(1.0)
    except numba.TypingError as e:
        print(e.args[0].splitlines()[0])
for f in (callconv.BaseCallConv, types.LiteralStrKey, gdb_init, njit("int8(int8)")):
    try:
        f(no_such_name if callable(f) and hasattr(f, "__code__") else lambda: no_such_name)
    except (numba.errors.UnsupportedError, NameError, numba.TypingError) as e:
        print(str(e).split(";")[0])
print(repr(types.LiteralStrKey))
"""


def test_run_has_names_that_it_does_not_support(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(ABSENT)
    done = lancehead("run", script)
    assert done.returncode == 0, done.stderr
    said = [
        line.removeprefix("error[unsupported-call]: ").split(";")[0].removesuffix(" is not supported")
        for line in done.stdout.splitlines()
    ]
    assert said[:2] == ["`numba.types.LiteralStrKey`", "`numba.gdb_init`"]
    assert said[2:5] == ["`numba.core.callconv.BaseCallConv`", "`numba.types.LiteralStrKey`", "`numba.gdb_init`"]
    assert len(said) == 7
    assert said[6] == "<numba.types.LiteralStrKey, which lancehead does not support>"


def test_run_needs_a_file():
    done = lancehead("run", "no-such-file.py")
    assert done.returncode == 2
    assert "no-such-file.py" in done.stderr


def test_run_passes_exit_status_and_errors_on(tmp_path):
    (tmp_path / "script.py").write_text("import sys; sys.exit(7)")
    assert lancehead("run", tmp_path / "script.py").returncode == 7
    (tmp_path / "script.py").write_text("1 / 0")
    done = lancehead("run", tmp_path / "script.py")
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr


def test_info_prints_versions(monkeypatch):
    monkeypatch.setenv("LANCEHEAD_EXAMPLE", "shown")
    done = lancehead("info")
    assert done.returncode == 0, done.stderr
    for word in ("lancehead", "Python", "NumPy", "LLVM", "CPU", "LANCEHEAD_EXAMPLE"):
        assert word in done.stdout


def test_no_command_is_an_error():
    done = lancehead()
    assert done.returncode == 2
    assert "demo" in done.stderr
