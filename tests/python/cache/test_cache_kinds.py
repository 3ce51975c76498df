"""The cache keeps more than plain functions: kernels, ufuncs, stencils, generators; entries for several processors;
everything at once.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cache_programs import Project
from lancehead import _core

PROGRAM = """
import sys
import numpy as np
import lancehead as lh
from lancehead import cuda, njit

{decorated}
"""

KINDS = {
    "kernel": """
@cuda.jit({options})
def k(a, b):
    tile = cuda.shared.array(8, np.float64)
    i = cuda.grid(1)
    tile[cuda.threadIdx.x] = a[i]
    cuda.syncthreads()
    b[i] = tile[7 - cuda.threadIdx.x] * SCALE
SCALE = 2.0
def use():
    a, b = np.arange(16.0), np.zeros(16)
    k[2, 8](a, b)
    return b.tolist()
""",
    "kernel without barriers": """
@cuda.jit({options})
def k(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = i + 1
def use():
    a = np.zeros(10)
    k[2, 8](a)
    return a.tolist()
""",
    "cooperative kernel": """
@cuda.jit({options})
def k(a, b):
    i = cuda.grid(1)
    a[i] = i
    cuda.cg.this_grid().sync()
    b[i] = a[a.size - 1 - i]
def use():
    a, b = np.zeros(8), np.zeros(8)
    k[2, 4](a, b)
    return b.tolist()
""",
    "eager ufunc": """
@lh.vectorize(["int64(int64)", "float64(float64)"], {options})
def u(x): return x * 3
def use(): return [u(2), u(2.5), *u(np.arange(3)).tolist()]
""",
    "lazy ufunc": """
@lh.vectorize({options})
def u(x): return x * 3
def use(): return [int(u(2)), float(u(2.5)), *u(np.arange(3)).tolist()]
""",
    "generalised ufunc": """
@lh.guvectorize(["(float64[:], float64[:])"], "(n)->()", {options})
def u(a, out): out[0] = a.sum()
def use(): return u(np.ones((2, 3))).tolist()
""",
    "stencil": """
@lh.stencil
def s(a): return a[-1] + a[1]
@njit({options})
def f(a): return s(a)
def use(): return f(np.arange(4.0)).tolist()
""",
    "stencil itself": """
@lh.stencil({options})
def s(a): return a[-1] + a[1]
def use(): return s(np.arange(4.0)).tolist()
""",
    "parallel": """
@njit(parallel=True, {options})
def f(n):
    total = 0
    for i in lh.prange(n):
        total += i
    return total
def use(): return f(1000)
""",
    "several signatures": """
@njit(["int64(int64)", "float64(float64)", "complex128(complex128)"], {options})
def f(x): return x + 1
def use(): return [f(1), f(1.5), str(f(1j))]
""",
}


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def run(project, kind, options, environment=None):
    """Runs a program and returns its output, and how many entries it has saved and loaded."""
    text = PROGRAM.format(decorated=KINDS[kind].format(options=options)) + "\nprint('result', use())\n"
    (project.path / "program.py").write_text(text)
    settings = {"LANCEHEAD_DEBUG_CACHE": "1", "XDG_CACHE_HOME": str(project.path / "user"), **(environment or {})}
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=project.path,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    result = next(line for line in done.stdout.splitlines() if line.startswith("result"))
    return result, done.stdout.count("data saved to"), done.stdout.count("data loaded from"), done.stdout


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["decorator", "everything"])
def test_second_process_compiles_nothing(project, kind, how):
    options, environment = ("cache=True", None) if how == "decorator" else ("", {"LANCEHEAD_CACHE": "1"})
    plain = run(project, kind, "")
    assert plain[1:3] == (0, 0)
    first = run(project, kind, options, environment)
    assert first[0] == plain[0] and first[1] > 0 and "not kept" not in first[3]
    second = run(project, kind, options, environment)
    assert (second[0], second[1]) == (plain[0], 0) and second[2] == first[1]


def test_a_kernel_is_never_stale(project):
    first = run(project, "kernel", "cache=True")
    kind = KINDS["kernel"]
    KINDS["changed"] = kind.replace("SCALE = 2.0", "SCALE = 3.0")
    try:
        second = run(project, "changed", "cache=True")
    finally:
        del KINDS["changed"]
    assert second[1] == 1 and second[0] != first[0]
    assert run(project, "kernel", "cache=True")[:3] == (first[0], 0, 1)


def levels_of_this_computer():
    flags = Path("/proc/cpuinfo").read_text()
    words = set(next(line for line in flags.splitlines() if line.startswith("flags")).split())
    found = ["x86-64-v2"] if {"sse4_2", "popcnt"} <= words else []
    found += ["x86-64-v3"] if {"avx2", "fma", "bmi2"} <= words else []
    return [*found, *(["x86-64-v4"] if {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd"} <= words else [])]


def test_one_entry_for_several_processors(project):
    environment = {"LANCEHEAD_CACHE_LEVELS": "all"}
    first = run(project, "parallel", "cache=True", environment)
    assert first[1] == 1
    (entry,) = project.entries()
    facts = _core.cache_entry(entry)
    assert facts["cpu"] == "x86-64-v2+x86-64-v3+x86-64-v4"
    assert run(project, "parallel", "cache=True", environment)[:3] == (first[0], 0, 1)
    # The order and the way to say it are another matter than the processor.
    again = {"LANCEHEAD_CACHE_LEVELS": "x86-64-v2,x86-64-v3,x86-64-v4"}
    assert run(project, "parallel", "cache=True", again)[2] == 1
    # Without it, code is for the processor at hand, as before.
    assert run(project, "parallel", "cache=True")[1] == 1 and len(project.entries()) == 2
    sizes = sorted(_core.cache_entry(p)["code"] for p in project.entries())
    assert sizes[1] > 2 * sizes[0]


@pytest.mark.parametrize("level", ["x86-64-v2", "x86-64-v3", "x86-64-v4"])
def test_each_level_runs(project, level):
    if level not in levels_of_this_computer():
        pytest.skip(f"this processor is not of level {level}")
    environment = {"LANCEHEAD_CACHE_LEVELS": level}
    plain = run(project, "several signatures", "")
    assert run(project, "several signatures", "cache=True", environment)[1] == 3
    assert run(project, "several signatures", "cache=True", environment)[:3] == (plain[0], 0, 3)
