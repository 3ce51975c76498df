"""`parallel={"race": True}`: iterations that meet are found while the loop runs, and only those."""

from __future__ import annotations

import copy
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lancehead import errors, get_num_threads, njit, prange, set_num_threads
from test_parallel_races import RIGHT, WRONG

#: Loops whose variables need the order of iterations run on one thread, unsafe or not; the other one gets a
#: permutation.
SILENT = {"recurrence", "sum_that_is_read", "scattered", "counted_while_better", "written_while_better"}
SILENT |= {"set_to_something_else", "counted_until_found", "array_used_beside_its_sum"}
MEETING = [case for case in WRONG if case.id not in SILENT]
UNSAFE = {"unsafe": True, "race": True}


def found(function: Any, *args: Any, parallel: Any = UNSAFE) -> str:
    with pytest.raises(errors.ParallelRaceError) as error:
        njit(parallel=parallel)(function)(*args)
    return str(error.value)


@pytest.mark.parametrize(("function", "args"), RIGHT)
def test_right_loops_run_as_without_the_check(function: Any, args: Any) -> None:
    plain = njit(parallel=True)(function)(*copy.deepcopy(args))
    checked = njit(parallel={"race": True})(function)(*copy.deepcopy(args))
    for x, y in zip(plain, checked) if isinstance(plain, tuple) else [(plain, checked)]:
        np.testing.assert_allclose(y, x, rtol=1e-12)


@pytest.mark.parametrize(("function", "args"), MEETING)
def test_wrong_loops_are_found(function: Any, args: Any) -> None:
    assert re.match(r"iterations \d+ and \d+ of the parallel loop at ", found(function, *copy.deepcopy(args)))


def previous(a):
    for i in prange(1, len(a)):
        x = a[i - 1]
        a[i] = x + 1


def test_the_same_conflict_whatever_the_number_of_threads() -> None:
    line = previous.__code__.co_firstlineno + 1
    at = f"iterations 0 and 1 of the parallel loop at {__file__}:{line} meet at `a[1]`"
    expected = f"{at}: line {line + 2} writes it in iteration 0, line {line + 1} reads it in iteration 1"
    threads = get_num_threads()
    for n in range(1, threads + 1):
        set_num_threads(n)
        assert found(previous, np.zeros(5000)) == expected
    set_num_threads(threads)


def test_arguments_that_overlap() -> None:
    def shifted(a, b):
        for i in prange(len(a)):
            a[i] = b[i]

    checked = njit(parallel={"race": True})(shifted)
    a = np.arange(10.0)
    checked(a, a)
    checked(a, a.copy())
    with pytest.raises(errors.ParallelRaceError, match=r"iterations 0 and 1 .* meet at `b\[1\]`"):
        checked(a[1:], a[:-1])
    checked(a, a[::-1].copy())


def test_permutations_are_silent_and_other_indices_are_not() -> None:
    def scatter(p, a, out):
        for i in prange(len(p)):
            out[p[i], 1] = a[i]

    out = np.zeros((4, 3), order="F")
    njit(parallel=UNSAFE)(scatter)(np.array([2, 0, 3, 1]), np.arange(4.0), out)
    assert out[:, 1].tolist() == [1.0, 3.0, 0.0, 2.0]
    assert "iterations 1 and 3" in found(scatter, np.array([2, 0, 3, 0]), np.arange(4.0), out)
    assert "`out[0, 1]`" in found(scatter, np.array([2, 0, 3, 0]), np.arange(4.0), out[::-1][::-1])


@njit
def put(row, j, x):
    row[j] = x


def test_callees_are_looked_into() -> None:
    def rows(a):
        for i in prange(len(a)):
            put(a[i // 2], 0, i)

    text = found(rows, np.zeros((6, 3)))
    assert "iterations 0 and 1" in text and f"line {put.py_func.__code__.co_firstlineno + 2} writes" in text


def test_library_functions_count_as_the_line_that_calls_them() -> None:
    def sums(a):
        for i in prange(4):
            a[i] = np.sum(a[4:])
            a[4] = 1.0

    line = sums.__code__.co_firstlineno + 2
    assert f"line {line + 1} writes it in iteration 0, line {line} reads it in iteration 1" in found(sums, np.ones(8))


def test_array_expressions_lists_and_small_elements() -> None:
    def overlap(a, n):
        for i in prange(4):
            a[i * n : (i + 1) * n + 1] = i

    def items(n):
        out = [0] * n
        for i in prange(n):
            out[i // 2] = i

    def grows(n):
        out = [0]
        for i in prange(n):
            out.append(i)

    def bytes_of(a):
        for i in prange(len(a)):
            a[i] = i % 7

    assert "`a[4]`" in found(overlap, np.ones(20), 4)
    assert "`out[0]`" in found(items, 8)
    assert "iterations 0 and 1" in found(grows, 8)
    for dtype in [np.bool_, np.int8, np.uint16, np.float32, np.complex128]:
        njit(parallel=UNSAFE)(bytes_of)(np.zeros(100, dtype))


def test_memory_that_iterations_make_is_their_own() -> None:
    def temporaries(n):
        out = np.zeros(n)
        for i in prange(n):
            t = np.zeros(5)
            t[1:] = t[0] + i
            found = [float(i)]
            found.append(t[2])
            out[i] = t.sum() + found[1]
        return out

    assert np.array_equal(njit(parallel=UNSAFE)(temporaries)(200), np.arange(200) * 5.0)


def test_loops_inside_are_part_of_an_iteration_and_later_loops_are_free() -> None:
    @njit(parallel=UNSAFE)
    def fill(row, x):
        for j in prange(len(row)):
            row[j] = x
        for j in prange(len(row)):
            row[len(row) - 1 - j] += x

    @njit(parallel=UNSAFE)
    def outer(a, same):
        for i in prange(len(a)):
            fill(a[0 if same else i], i)

    a = np.zeros((4, 6))
    outer(a, False)
    assert np.array_equal(a, np.repeat(2.0 * np.arange(4)[:, None], 6, axis=1))
    with pytest.raises(errors.ParallelRaceError, match="iterations 0 and 1"):
        outer(a, True)
    # After an exception nothing is left of the loop.
    outer(a, False)


def test_the_exception_is_one_that_compiled_code_can_handle() -> None:
    inner = njit(parallel=UNSAFE)(previous)

    @njit
    def caller(a):
        try:
            inner(a)
        except ValueError:
            return 1
        return 0

    assert caller(np.zeros(5)) == 1
    assert issubclass(errors.ParallelRaceError, (errors.UnsupportedError, ValueError))


def test_the_environment_variable_checks_everything() -> None:
    program = """
import numpy as np
from lancehead import errors, njit, prange

@njit(parallel={"unsafe": True})
def f(p, a):
    for i in prange(len(p)):
        a[p[i]] = i

f(np.array([1, 0]), np.zeros(2))
try:
    f(np.array([1, 1]), np.zeros(2))
except errors.ParallelRaceError as e:
    print(e)
"""
    run = [sys.executable, "-c", program]
    checked = subprocess.run(run, env={**os.environ, "LANCEHEAD_RACE": "1"}, capture_output=True, text=True, check=True)
    assert "meet at `a[1]`: line 8 writes it in iteration 0, line 8 writes it in iteration 1" in checked.stdout
    plain = subprocess.run(run, env={**os.environ, "LANCEHEAD_RACE": "0"}, capture_output=True, text=True, check=True)
    assert plain.stdout == ""


def test_the_example_in_the_manual() -> None:
    page = (Path(__file__).parents[3] / "docs" / "parallel.md").read_text(encoding="utf-8")
    code, text = re.findall(r"```(?:py|text)\n(.*?)```", page[page.index("### The check at run time") :], re.S)[:2]
    with pytest.raises(errors.ParallelRaceError) as error:
        exec(compile(code, "example.py", "exec"), {"np": np, "njit": njit, "prange": prange})
    assert str(error.value) == text.strip()


@pytest.mark.parametrize("n", [0, 1, 2, 100])
def test_results_of_few_iterations(n: int) -> None:
    x = np.arange(n) + 1.0
    for got, want in zip(njit(parallel={"race": True})(results)(x), results(x), strict=True):
        np.testing.assert_array_equal(got, want)


def results(x):
    s, m, total = np.zeros(2), 1.0, 0.0
    for i in prange(x.size):
        s += 1
        m = max(m, x[i])
        total += x[i]
    return s, m, total


@pytest.mark.parametrize(
    "call", ["a[i : i + 4].sort()", "a[i] = np.argsort(a[i : i + 4])[0]", "a[i : i + 4].partition(2)"]
)
def test_functions_of_the_run_time_library_on_slices_that_overlap(call: str) -> None:
    space = {"np": np, "prange": prange}
    exec(f"def f(a):\n    for i in prange(20):\n        {call}\n", space)
    exec(f"def apart(a):\n    for k in prange(20):\n        i = 4 * k\n        {call}\n", space)
    assert "iterations 0 and 1" in found(space["f"], np.arange(100.0)[::-1].copy())
    njit(parallel=UNSAFE)(space["apart"])(np.arange(100.0))
