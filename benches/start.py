"""From the start of a process to its end, when its functions come from the cache: beside the same program in plain
Python.

    OPENBLAS_NUM_THREADS=1 python benches/start.py [--module lancehead] [--rounds 15] [--json FILE]

Each program runs in processes of its own that take turns with one that only imports NumPy, and with the same program
whose decorators change nothing: what is over that is what the module costs. Milliseconds of CPU (user and system), the
least of the rounds; wall time in brackets.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import figures

PLAIN = """
def njit(**options):
    return lambda function: function
"""

HEAD = """
import numpy as np
from {module} import njit
"""

ONE = """
@njit(cache=True)
def add(x, y):
    return x + y
assert add(1, 2) == 3
"""

TABLE = """
@njit(cache=True)
def total(table):
    s = 0.0
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            s += table[i, j]
    return s
assert total(np.ones((20, 30))) == 600
"""

NUMPY = """
@njit(cache=True)
def solve(a, b):
    x = np.linalg.solve(a + a.shape[0] * np.eye(a.shape[0]), b)
    s = np.sort(a @ x)
    w = np.where(s > s.mean(), s, -s)
    m = a * w - b.reshape(b.size, 1)
    c = np.concatenate((w, np.zeros(b.size)[: b.size // 2]))
    return np.sum(m[1:-1, ::2]) + np.max(m) - np.min(w) + np.sqrt(np.abs(c)).sum() + np.dot(s, s) + np.cumsum(c)[-1]
assert np.isfinite(solve(np.arange(144.0).reshape(12, 12) % 7, np.arange(12.0)))
"""

FIFTY = "".join(
    f"""
@njit(cache=True)
def f{i}(x, y):
    s = 0.0
    for k in range(x):
        s += y * {i} + k
    return s
assert f{i}(3, 2.0) == {6.0 * i + 3}
"""
    for i in range(50)
)

PROGRAMS = {"`x + y`": ONE, "sum over a 2-D array": TABLE, "NumPy calls": NUMPY, "50 small functions": FIFTY}


def run(path: Path, folder: Path) -> tuple[float, float]:
    """CPU and wall time of one process, ms."""
    cache = str(folder / "cache")
    path_list = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path_list, "LANCEHEAD_CACHE_DIR": cache, "NUMBA_CACHE_DIR": cache}
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, str(path)], env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{path.name} failed")
    return (usage.ru_utime + usage.ru_stime) * 1e3, (time.perf_counter() - start) * 1e3


def main() -> None:
    """Prints a line per program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--module", default="lancehead")
    parser.add_argument("--rounds", type=int, default=15)
    figures.add_json(parser)
    options = parser.parse_args()
    result = figures.Result("start", "benches/run.sh start", 1)
    heads = [(head, "ms") for head in ("NumPy alone", "plain Python", "cached functions")]
    tables = [result.table(clock, "program", *heads, ("over plain Python", "ms", 1)) for clock in ("cpu", "wall")]
    print(
        f"| program | NumPy alone | plain Python | {options.module}, cached | over plain Python "
        "|\n|---|---:|---:|---:|---:|"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "unchanged.py").write_text(PLAIN)
        (folder / "alone.py").write_text("import numpy\n")
        for title, program in PROGRAMS.items():
            paths = [folder / "alone.py", folder / "plain.py", folder / "cached.py"]
            paths[1].write_text(HEAD.format(module="unchanged") + program)
            paths[2].write_text(HEAD.format(module=options.module) + program)
            rounds = [[run(path, folder) for path in paths] for _ in range(options.rounds + 1)][1:]
            least = [[min(r[k][clock] for r in rounds) for k in range(3)] for clock in range(2)]
            cells = [f"{cpu:.0f} ({wall:.0f})" for cpu, wall in zip(*least, strict=True)]
            over = [clock[2] - clock[1] for clock in least]
            print(f"| {title} | {' | '.join(cells)} | {over[0]:.1f} ({over[1]:.1f}) |", flush=True)
            for table, times, more in zip(tables, least, over, strict=True):
                table.add(title, *map(round, times), round(more, 1))
    result.write(options.json)


if __name__ == "__main__":
    main()
