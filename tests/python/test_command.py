"""The `lancehead` command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def lancehead(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the command and returns what it did."""
    command = [sys.executable, "-m", "lancehead", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=600)


def test_demo_measures_every_program_and_draws_charts(tmp_path):
    done = lancehead("demo", "--quick", "--svg", tmp_path / "chart.svg", "--png", tmp_path / "chart.png")
    assert done.returncode == 0, done.stdout + done.stderr
    for title in ("Sum over a 2-D array", "Monte-Carlo pi", "Mandelbrot", "Levenshtein", "Sparse PCA", "N-body", "nested lists"):
        assert title in done.stdout
    assert "failed" not in done.stdout
    assert (tmp_path / "chart.svg").read_text().lstrip().startswith("<?xml")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


def test_demo_runs_one_program(tmp_path):
    done = lancehead("demo", "--quick", "--only", "pi")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Monte-Carlo pi" in done.stdout
    assert "Mandelbrot" not in done.stdout


def test_demo_knows_its_programs():
    done = lancehead("demo", "--only", "nothing")
    assert done.returncode == 2
    assert "nothing" in done.stdout and "mandelbrot" in done.stdout


def test_demo_names_a_program_that_fails(monkeypatch, capsys):
    from lancehead import demo
    from lancehead.demo.program import Program

    def broken(x):
        raise ValueError("on purpose")

    program = Program("broken", "Broken", "Python", lambda quick: (1,), str, abs, broken)
    monkeypatch.setattr(demo, "load", lambda names: [program])
    assert demo.run(["pi"], True, []) == 1
    assert "failed broken: ValueError: on purpose" in " ".join(capsys.readouterr().out.split())


def test_demo_refuses_wrong_answers(monkeypatch, capsys):
    from lancehead import demo
    from lancehead.demo.program import Program

    program = Program("wrong", "Wrong", "Python", lambda quick: (-1,), str, abs, lambda x: x)
    monkeypatch.setattr(demo, "load", lambda names: [program])
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
