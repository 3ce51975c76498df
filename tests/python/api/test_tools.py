"""Tools of every day: coverage, profiles, the log of compilations."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lancehead import njit

PROGRAM = """
from lancehead import njit

@njit
def choose(x):
    if x > 0:
        return 1
    return 2

print(choose(1), type(choose).__name__)
"""


def run(folder, *arguments):
    """Runs Python in a folder."""
    environment = {k: v for k, v in os.environ.items() if k != "LANCEHEAD_DISABLE_JIT"}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=folder, env=environment, timeout=200
    )


def test_f37_the_plugin_turns_compilation_off(tmp_path):
    code = "import os; from lancehead import coverage_plugin, njit; coverage_plugin.coverage_init(None, {}); "
    code += "print(type(njit(lambda x: x)).__name__, os.environ['LANCEHEAD_DISABLE_JIT'])"
    assert run(tmp_path, "-c", code).stdout == "function 1\n"


def test_f37_coverage_counts_lines_of_compiled_functions(tmp_path):
    pytest.importorskip("coverage")
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "pyproject.toml").write_text('[tool.coverage.run]\nplugins = ["lancehead.coverage_plugin"]\n')
    done = run(tmp_path, "-m", "coverage", "run", "--include=program.py", "program.py")
    assert (done.returncode, done.stdout) == (0, "1 function\n"), done.stderr
    report = run(tmp_path, "-m", "coverage", "report", "-m").stdout
    # One statement is not reached.
    assert report.splitlines()[2].split() == ["program.py", "7", "1", "86%", "8"], report


def test_f37_without_the_plugin_they_are_missed(tmp_path):
    pytest.importorskip("coverage")
    (tmp_path / "program.py").write_text(PROGRAM)
    run(tmp_path, "-m", "coverage", "run", "--include=program.py", "program.py")
    report = run(tmp_path, "-m", "coverage", "report", "-m").stdout
    assert report.splitlines()[2].split()[1:3] == ["7", "3"], report


# The log of compilations.

LOGGED = """
from lancehead import njit
SCALE = 2
@njit
def f(x): return x * SCALE
f(1)
f(1)
f(1.0)
SCALE = 3
f(1)
f.recompile()
"""


def test_f37_the_setting_logs_compilations(tmp_path, monkeypatch):
    (tmp_path / "program.py").write_text(LOGGED)
    monkeypatch.setenv("LANCEHEAD_LOG", "compile")
    done = subprocess.run([sys.executable, "program.py"], capture_output=True, text=True, cwd=tmp_path, timeout=100)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    pattern = r"\d\d:\d\d:\d\d lancehead: (.*) -> (\w+) compiled in [\d.]+ ms at program.py:(\d+): (.*)"
    assert [re.fullmatch(pattern, line).groups() for line in done.stderr.splitlines()][:3] == [
        ("f(int64)", "int64", "6", "first call with these types"),
        ("f(float64)", "float64", "8", "first call with these types"),
        ("f(int64)", "int64", "10", "again, because `SCALE` changed"),
    ]
    assert done.stderr.splitlines()[-1].endswith("asked for anew")
    monkeypatch.setenv("LANCEHEAD_LOG", "complie")
    wrong = subprocess.run([sys.executable, "program.py"], capture_output=True, text=True, cwd=tmp_path, timeout=100)
    assert "ValueError: LANCEHEAD_LOG=complie: there is `compile`" in wrong.stderr


def test_f37_a_logger_has_the_same(caplog):
    f = njit(lambda x: x + 1)
    with caplog.at_level(logging.INFO, "lancehead"):
        f(1)
        f(2)
    assert [record.name for record in caplog.records] == ["lancehead"]
    assert "(int64) -> int64 compiled in" in caplog.text and f"{Path(__file__).name}:" in caplog.text
    caplog.clear()
    f(1.0)
    assert caplog.records == []
