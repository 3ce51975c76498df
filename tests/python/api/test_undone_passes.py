"""Passes that leave functions which do not verify are undone: the setting `damage=PASS` plays such a pass."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]

PROGRAM = """
import warnings

import numpy as np
from lancehead import errors, njit

def sums(a, b, n):
    for i in range(1, a.size - 1):
        a[i - 1] += b[i] * n
        a[i + 1] -= b[i]
    s = 0.0
    for i in range(b.size):
        s += b[i] / n + (b[i] * n - b[i] * n)
    k = 3
    while k > 0:
        k -= 1
        s += b[k]
    return s

gen = np.random.default_rng(1)
a, b = gen.integers(-9, 9, (2, 50)) / 4
c = a.copy()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    got = njit(fastmath=True, parallel=True)(sums)(a, b, 4)
assert got == sums(c, b, 4) and (a == c).all()
told = [str(w.message) for w in caught if issubclass(w.category, errors.OptimisationWarning)]
assert all(w.filename == __file__ for w in caught)
print(*[text for text in told if "`sums`" in text], sep="\\n")
"""


def run(tmp_path: Path, program: str, damaged: str, *command: str) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "test_program.py"
    path.write_text(program, encoding="utf-8")
    environment = {**os.environ, "LANCEHEAD_PASSES": f"damage={damaged}", "LANCEHEAD_UNDONE": str(tmp_path / "undone")}
    return subprocess.run([sys.executable, *command, path], env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("name", ["fold", "bounds", "split_sums", "poll_signals"])
def test_a_pass_at_fault_is_undone_with_a_warning(tmp_path: Path, name: str) -> None:
    done = run(tmp_path, PROGRAM, name)
    assert done.returncode == 0, done.stderr
    assert "warning[optimisation-undone]: `sums` is compiled without an optimisation that failed" in done.stdout
    assert f"`{name}` gave sums" in done.stdout
    assert f"`{name}` gave sums" in (tmp_path / "undone").read_text(encoding="utf-8")


def test_a_pass_that_is_needed_is_not_undone(tmp_path: Path) -> None:
    done = run(tmp_path, PROGRAM, "refcount")
    assert "InternalError" in done.stderr and "after `refcount`" in done.stderr
    assert not (tmp_path / "undone").exists()


def test_tests_fail_if_a_pass_is_undone(tmp_path: Path) -> None:
    program = "from lancehead import njit\n\ndef test_it():\n    assert njit(lambda x: (x + 0) * 1)(7) == 7\n"
    command = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "conftest", f"--rootdir={tmp_path}")
    path = os.pathsep.join([str(TESTS), *sys.path])
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", path)
        done = run(tmp_path, program, "fold", *command)
        assert "1 passed" in done.stdout and "passes were undone" in done.stdout, done.stdout
        assert done.returncode == pytest.ExitCode.TESTS_FAILED
        (tmp_path / "undone").unlink()
        assert run(tmp_path, program, "unroll_and_jam", *command).returncode == 0
