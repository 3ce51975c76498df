"""Classes of the library: what `library/toys.py` declares is all that the compiler knows of them."""

import json
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

FOLDER = pathlib.Path(__file__).parents[1] / "library"
START = """
import json, sys, warnings
import numpy as np
import lancehead.lib
lancehead.lib.__path__.append({folder!r})
from lancehead import _core, njit, prange
from lancehead.lib.toys import cell, chain, pair, ring
"""


def run(code, folder=FOLDER, **environment):
    """The JSON output of a program, in a process whose library has the folder's modules."""
    code = START.format(folder=str(folder)) + textwrap.dedent(code)
    command = [sys.executable, "-c", code]
    out = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, cwd="/")
    assert out.returncode == 0, out.stderr
    return json.loads(out.stdout.splitlines()[-1])


def test_methods_fields_and_dunders():
    assert run("""
    @njit
    def f(n):
        r = ring(3, np.float64)
        empty = bool(r)
        for i in range(n):
            r.push(i)
        r[0] = 2.5
        total = 0.0
        for x in r:
            total += x
        return empty, bool(r), len(r), r[0], r[-1], total, n - 1 in r, -1.0 in r
    print(json.dumps(f(5)))
    """) == [False, True, 3, 2.5, 4.0, 9.5, True, False]


def test_operators_and_comparisons():
    assert run("""
    @njit
    def f():
        r, s = ring(2, np.int64), ring(4, np.int64)
        alias = r
        r += range(5)
        s += [3, 4]
        c = cell(2) + cell(3)
        d = 10 + c
        return r == s, r != s, alias is r, r is s, r == 3, c.value, d.value, c < d, c > d, isinstance(r, ring)
    @njit
    def g(x):
        c = cell(x)
        return (-c).value, c(factor=3), type(c) is cell, type([x]) is list, type(c) is ring
    print(json.dumps(f() + g(2)))
    """) == [True, False, True, False, False, 5, 15, True, False, True, -2, 6, True, True, False]


def test_values_and_hashes():
    assert run("""
    @njit
    def f(n):
        p = pair("a" + str(n), np.arange(n))
        q = p.swapped()
        both = [pair(i, str(i)) for i in range(n)]
        c = cell(q)
        c.value.first[0] = 5
        return q.second, p.second.sum(), both[-1].second, len(both), hash(pair(1, 2.5)), pair(1, 2) == pair(1, 2)
    before = _core.live_allocations()
    told = [f(4)]
    print(json.dumps([told[0][:3], told[0][3:], told[0][4] == hash((1, 2.5)), _core.live_allocations() - before],
                     default=int))
    """) == [["a4", 11, "3"], [4, 396935360214441795, True], True, 0]


def test_exceptions_of_methods():
    assert run("""
    @njit
    def f(size, i):
        r = ring(size, np.float64)
        r.push(1.0)
        try:
            return r[i]
        except IndexError:
            return -1.0
    told = [f(1, 0), f(1, 7)]
    try:
        f(0, 0)
    except ValueError as e:
        told.append(str(e))
    print(json.dumps(told))
    """) == [1.0, -1.0, "a ring has room for one number at least"]


def test_fields_of_any_type_and_no_leaks():
    assert run("""
    @njit
    def last(c):
        return c.value[-1]
    @njit
    def texts(n):
        c = cell("a")
        for i in range(n):
            old = c.swap(c.value + str(i))
        return c.value, old
    @njit
    def nested(n):
        inner = cell(np.zeros(n))
        outer = cell((inner, [inner, inner], "text"))
        outer.value[1][0].value[0] = 3.0
        return inner.value.sum(), len(outer.value[1]), last(cell([1, 2, n]))
    @njit
    def linked(n):
        c = chain(0)
        for i in range(1, n):
            c = c.before(i)
        total = 0
        while c:
            total += c.item
            c = c.after
        return total
    @njit
    def raises(n):
        c = cell("kept" + str(n))
        r = ring(1, np.float64)
        d = cell((c, r))
        return d.value[1][n]
    before = _core.live_allocations()
    told = [texts(3), nested(4), linked(100_000)]
    for n in range(3):
        try:
            raises(n)
        except IndexError:
            pass
    print(json.dumps(told + [_core.live_allocations() - before]))
    """) == [["a012", "a01"], [3.0, 2, 4], 4999950000, 0]


def test_a_loop_over_threads_that_changes_an_object_runs_in_order():
    told = run("""
    @njit(parallel=True)
    def own(n):
        out = np.zeros(n)
        for i in prange(n):
            c = cell(i)
            c.value += 1
            out[i] = c.value
        return out
    @njit(parallel=True)
    def shared(n):
        r = ring(100, np.float64)
        for i in prange(n):
            r.push(i)
        return len(r)
    @njit(parallel=True)
    def field(n):
        c = cell(0)
        for i in prange(n):
            c.value = i
        return c.value
    told = [own(4).tolist()]
    for f in (shared, field):
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            told.append([f(50), len(given)])
    print(json.dumps(told))
    """)
    assert told == [[1.0, 2.0, 3.0, 4.0], [50, 1], [49, 1]]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return ring(1, np.float64)", "an instance of a class of the library"),
        ("return ring(1, np.float64) + 1", "`+` is not supported between"),
        ("return ring(1, np.float64) < 1", "`<` is not supported between"),
        ("return ring(1, np.float64).size", "has no attribute `size`"),
        ("return ring(1, np.float64)._count", "has no attribute `_count`"),
        ("c = cell(1)\n        c.value = 'a'", "the field `value` holds `int`"),
        ("return len(cell(1))", "has no length"),
        ("return hash(cell(1))", "only numbers, texts and tuples of them have a hash"),
        ("p = pair(1, 2)\n        p.first = 3", "is a value, whose `first` cannot be assigned"),
    ],
)
def test_diagnostics(body, message):
    assert message in run(f"""
    @njit
    def f():
        {body}
    try:
        f()
    except Exception as e:
        print(json.dumps(str(e)))
    """)


def test_the_cache_knows_the_declaration(tmp_path):
    program = tmp_path / "program.py"
    folder = tmp_path / "library"
    folder.mkdir()
    text = (FOLDER / "toys.py").read_text()

    def called(source):
        (folder / "toys.py").write_text(source)
        program.write_text(
            START.format(folder=str(folder))
            + textwrap.dedent("""
        @njit(cache=True)
        def f():
            c = cell(41)
            return c.value + 1
        print(json.dumps(f()))
        """)
        )
        environment = {**os.environ, "LANCEHEAD_CACHE_DIR": str(tmp_path / "cache"), "LANCEHEAD_DEBUG_CACHE": "1"}
        out = subprocess.run([sys.executable, str(program)], env=environment, capture_output=True, text=True)
        assert out.returncode == 0, out.stderr
        return json.loads(out.stdout.splitlines()[-1]), out.stdout + out.stderr

    first, _ = called(text)
    again, told = called(text)
    assert (first, again) == (42, 42)
    other, told_of_other = called(text.replace('"value": "T"', '"unused": "float64", "value": "T"'))
    assert other == 42
    assert told != told_of_other
