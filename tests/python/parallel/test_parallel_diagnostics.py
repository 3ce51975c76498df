"""The reports of `f.parallel_diagnostics()` and `f.explain()` on parallel loops."""

import os
import subprocess
import sys

import numpy as np
import pytest

from lancehead import config, njit, places, prange, stencil


@njit(parallel=True)
def many(a):
    s = 0.0
    h = np.zeros(4)
    b = a * 2 + 1
    c = np.sqrt(b) + a
    for i in prange(a.shape[0]):  # outer
        s += a[i]
        h[i % 4] += c[i]
        for j in prange(3):  # inner
            h[j] += 1
    for i in prange(10):  # left
        if a[i] > 1e9:
            break
    return s + h.sum()


def told(f, capsys, **which):
    """The remarks that are written, by the line that they are about."""
    f.parallel_diagnostics(**which)
    out, line = {}, None
    for text in capsys.readouterr().out.splitlines():
        if f"{places.shown(__file__)}:" in text:
            line = text.split(": ", 1)[1]
        elif line is not None and text.startswith("    - "):
            out.setdefault(line, []).append(text[6:])
    return out


def test_loops_and_array_expressions(capsys):
    many(np.arange(100.0))
    first = told(many, capsys)
    outer = many.py_func.__code__.co_firstlineno + 6
    assert {k: v for k, v in first.items() if ".sum()" not in k} == {
        "c = np.sqrt(b) + a": ["array expression: runs in parallel"],
        "for i in prange(a.shape[0]):  # outer": [
            "runs in parallel; blocks of iterations combine 1 variable and 1 array"
        ],
        "for j in prange(3):  # inner": [f"runs on one thread: inside the parallel loop of line {outer}"],
        "for i in prange(10):  # left": ["runs on one thread: `break` or `return` leaves it early"],
    }
    assert told(many, capsys, signature=many.signatures[0]) == first


def test_levels_tell_more(capsys):
    many(np.arange(100.0))
    texts = [str(told(many, capsys, level=level)) for level in (1, 2, 3, 4)]
    new = ("runs in parallel", "fused: 4 operations in one loop", "index checks: made once", "allocates")
    for level, text in enumerate(new):
        assert [text in t for t in texts] == [k >= level for k in range(4)]


def test_explain_says_it_too():
    many(np.arange(100.0))
    kinds = {n.kind for f in many.explain().sections[0].functions for line in f.lines for n in line.notes}
    assert {"parallel", "serial"} <= kinds


def test_the_word_of_the_program(capsys):
    @njit(parallel={"unsafe": True})
    def scatter(a, k):
        for i in prange(k.size):
            a[k[i]] = i

    scatter(np.zeros(8), np.arange(8))
    assert "the program's word" in str(told(scatter, capsys))


def test_loops_of_the_library_and_of_functions_that_are_called(capsys):
    mean = stencil(lambda a: (a[-1] + a[1]) / 2)

    @njit(parallel=True)
    def helper(n):
        s = 0
        for i in prange(n):
            s += i
        return s

    @njit(parallel=True)
    def f(a):
        b = mean(a)
        return b[1] + helper(a.size)

    f(np.arange(100.0))
    found = told(f, capsys)
    assert found["for i in prange(n):"] == ["runs in parallel; blocks of iterations combine 1 variable"]
    assert any("runs in parallel" in n for n in found["b = mean(a)"])


def test_what_it_refuses():
    serial = njit(lambda: 1)
    serial()
    with pytest.raises(ValueError, match="parallel=True"):
        serial.parallel_diagnostics()
    with pytest.raises(ValueError, match="level"):
        many.parallel_diagnostics(level=5)
    with pytest.raises(KeyError):
        many.parallel_diagnostics("(int8,)")


def test_nothing_to_tell(capsys):
    f = njit(lambda x: x + 1, parallel=True)
    f.parallel_diagnostics()
    assert capsys.readouterr().out == ""
    f(1)
    f.parallel_diagnostics()
    assert "No loop or array expression" in capsys.readouterr().out


def test_told_when_compiled(capsys, monkeypatch):
    monkeypatch.setattr(config, "PARALLEL_DIAGNOSTICS", 2)
    f = njit(many.py_func, parallel=True)
    f(np.arange(100.0))
    first = capsys.readouterr().out
    f.parallel_diagnostics(level=2)
    assert "fused" in first and first == capsys.readouterr().out
    f(np.arange(50.0))
    njit(lambda x: x + 1)(1)
    assert capsys.readouterr().out == ""


def test_told_by_the_environment():
    def level(**settings):
        code = "from lancehead import config; print(config.PARALLEL_DIAGNOSTICS)"
        return subprocess.run([sys.executable, "-c", code], env=os.environ | settings, capture_output=True, text=True)

    assert level(NUMBA_PARALLEL_DIAGNOSTICS="4").stdout == "4\n"
    assert level(NUMBA_PARALLEL_DIAGNOSTICS="4", LANCEHEAD_PARALLEL_DIAGNOSTICS="1").stdout == "1\n"
    assert "the level of parallel diagnostics" in level(LANCEHEAD_PARALLEL_DIAGNOSTICS="x").stderr
