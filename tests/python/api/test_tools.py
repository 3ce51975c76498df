"""Tools of every day: coverage, profiles, the log of compilations."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

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
