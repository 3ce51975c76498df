"""Tools of every day: coverage, profiles, the log of compilations."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lancehead import guvectorize, njit, typed, vectorize, xp

PROGRAM = """
from lancehead import njit

@njit
def choose(x):
    if x > 0:
        return 1
    return 2

print(choose(1), type(choose).__name__)
"""


def run(folder, *arguments, **settings):
    """Runs Python in a folder, with some variables of the environment."""
    environment = {k: v for k, v in os.environ.items() if k != "LANCEHEAD_DISABLE_JIT"} | settings
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
    assert "ValueError: LANCEHEAD_LOG=complie: it is compile; did you mean `compile`?" in wrong.stderr


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


def test_the_log_has_ufuncs_and_says_what_is_not_the_programs_own(caplog):
    @vectorize
    def plus(x, y):
        return x + y

    @guvectorize("(n)->(n)")
    def halves(a, out):
        for i in range(a.size):
            out[i] = a[i] / 2

    with caplog.at_level(logging.INFO, "lancehead"):
        plus(np.ones(2), 1.5)
        vectorize(["float32(float32)"])(lambda x: x)
        halves(np.ones(3), np.ones(3))
        typed.List([2.5]).append(1.5)
        xp.asarray([1.5, 2.5]).prod().compute()
    assert re.search(r"\.plus\(float64, float64\) -> float64 .* \S*test_tools.py:\d+: first call", caplog.text)
    assert "<lambda>(float32) -> float32 compiled" in caplog.text
    assert "halves(array(float64, 1d, A)) -> array(float64, 1d, A) compiled" in caplog.text
    names = {record.getMessage().partition("(")[0] for record in caplog.records}
    names = {name for name in names if "<locals>" not in name}
    assert names and all(name.startswith(("lancehead.typed.", "lancehead.xp.")) for name in names), names


# Profiles.

PROFILED = """
import cProfile
import pstats
import numpy as np
from lancehead import njit, objmode

def made(k):
    @njit
    def captured(x, y=1.0):
        return x * k + y
    return captured

@njit
def nothing():
    return 1

@njit
def total(a):
    s = 0.0
    for x in a:
        s += x
    return s

@njit
def outer(a):
    with objmode(y="float64"):
        y = total(a)
    return y + total(a)

@njit
def counted(n):
    return 0 if n == 0 else 1 + counted(n - 1)

@njit
def fails(x):
    if x > 0:
        raise ValueError("no", x)
    return x

def all_of_them():
    answers = [nothing(), nothing(), total(np.ones(3)), made(2.0)(3.0), made(3.0)(y=2.0, x=1.0), counted(5)]
    answers += [outer(np.ones(4)), len(list(map(total, [np.ones(2)] * 3)))]
    for arguments in [(1,), (1, 2)]:
        try:
            fails(*arguments)
        except (TypeError, ValueError) as error:
            answers.append(type(error).__name__)
    return answers

with cProfile.Profile() as profile:
    print(all_of_them())
print({name: row[1] for (file, _, name), row in pstats.Stats(profile).stats.items() if "program" in file})
print(next(line for (_, line, name) in pstats.Stats(profile).stats if name == "total"))
"""


def test_f37_cprofile_has_compiled_functions_by_name(tmp_path):
    (tmp_path / "program.py").write_text(PROFILED)
    done = run(tmp_path, "program.py", LANCEHEAD_PROFILE="1")
    answers, names, line = done.stdout.splitlines()
    assert answers == "[1, 1, 3.0, 7.0, 5.0, 5, 8.0, 3, 'ValueError', 'TypeError']", done.stderr
    # Calls from compiled code are none of Python's.
    expected = {
        "all_of_them": 1,
        "nothing": 2,
        "total": 5,
        "made": 2,
        "captured": 2,
        "counted": 1,
        "outer": 1,
        "fails": 2,
    }
    found = eval(names)
    assert {name: found.get(name) for name in expected} == expected
    assert int(line) == PROFILED[: PROFILED.index("def total")].count("\n")
    assert run(tmp_path, "program.py").stdout.splitlines()[0] == answers


HOOKED = """
import copy
import pickle
import sys
from lancehead import njit

@njit
def doubled(x):
    return 2 * x

seen = []
def hook(frame, event, argument):
    if event == "call" and frame.f_code.co_name == "doubled":
        seen.append(doubled(10))

sys.setprofile(hook)
doubled(1)
sys.setprofile(None)
print(seen, pickle.loads(pickle.dumps(doubled))(2), copy.deepcopy(doubled)(3))
"""


def test_f37_a_profiler_may_call_the_function_that_it_sees(tmp_path):
    (tmp_path / "program.py").write_text(HOOKED)
    done = run(tmp_path, "program.py", LANCEHEAD_PROFILE="1")
    assert done.stdout == "[20] 4 6\n", done.stderr


def test_f37_without_the_setting_it_has_their_callers(tmp_path):
    (tmp_path / "program.py").write_text(PROFILED.rpartition("print(next(")[0])
    names = eval(run(tmp_path, "program.py").stdout.splitlines()[1])
    assert names["all_of_them"] == 1 and "total" not in names


SPINNING = (
    PROGRAM.rpartition("print")[0]
    + """
@njit
def spin(a, n):
    for i in range(n):
        a[i % 10] += choose(i) / (i + 1)

for _ in range(100):
    spin([0.0] * 10, 10_000_000)
"""
)


def test_f37_py_spy_has_compiled_functions_by_name(tmp_path):
    (tmp_path / "program.py").write_text(SPINNING)
    recorded = [
        Path(sys.executable).with_name("py-spy"),
        "record",
        "-d",
        "3",
        "-f",
        "raw",
        "-o",
        "stacks.txt",
        "--",
        sys.executable,
        "program.py",
    ]
    environment = {**os.environ, "LANCEHEAD_PROFILE": "1"}
    done = subprocess.run(recorded, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100)
    if "ermission" in done.stderr:
        pytest.skip("py-spy may not read other processes")
    assert "spin (program.py" in (tmp_path / "stacks.txt").read_text(), done.stderr
