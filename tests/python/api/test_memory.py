"""The memory of a process after importing lancehead and after a first compilation, beside NumPy's share.

`xtask/order.py` keeps it small.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lancehead import _core

pytestmark = pytest.mark.skipif(
    b"Linker: LLD" not in Path(_core.__file__).read_bytes(), reason="another linker does not lay functions in order"
)

MEASURE = """
import os
import numpy as np

def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))

before = peak()
import lancehead
{program}
print((peak() - before) / 1024)
module, code, is_code = os.path.realpath(lancehead._core.__file__), 0, False
for line in open("/proc/self/smaps"):
    if "-" in line.split()[0]:
        is_code = module in line and " r-xp " in line
    elif is_code and line.startswith("Rss:"):
        code += int(line.split()[1])
print(code / 1024)
"""

SMALL = """
@lancehead.njit
def f(x, y):
    return x + y

assert f(1, 2) == 3
"""

ARRAYS = """
@lancehead.njit
def f(a, b):
    x = np.linalg.solve(a, b)
    s = np.sort(x)[np.argsort(b)]
    w = np.where(s > s.mean(), s, -s)
    m = a * w - b.reshape(-1, 1)
    return np.sum(m[1:-1, ::2]) + np.max(m) + np.concatenate((w, s)).sum() + np.cumsum(np.abs(w))[-1] + np.dot(s, s)

assert np.isfinite(f(np.eye(9) * 3, np.arange(9.0)))
"""


# MiB in all, and of code. Release builds have 6, 20 and 36, of which 2, 12 and 19 are code; without the order 20, 37
# and 53, of which 15, 28 and 33.
@pytest.mark.parametrize(
    ("program", "most", "code"), [("", 14, 5), (SMALL, 32, 20), (ARRAYS, 57, 27)], ids=["import", "small", "arrays"]
)
def test_peak(program, most, code):
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "LANCEHEAD_CACHE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", MEASURE.format(program=program)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    peak, resident = map(float, done.stdout.split())
    assert peak < most
    assert 0 < resident < code


def test_the_compilers_own_code_leaves_with_what_it_compiled():
    # A process of its own: pages of code that others have read count as well.
    program = """
import numpy as np
from lancehead import njit
def resident():
    with open("/proc/self/statm") as size:
        return int(size.read().split()[1]) * 4096 / 2**20
def made(k):
    return njit(eval(f"lambda a: (np.sort(a) * {k}).sum()"))
before = resident()
kept = [made(k) for k in range(12)]
for f in kept:
    f(np.ones(3))
most = resident()
f = kept.clear()
print(most - before, resident() - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    most, least = map(float, done.stdout.split())
    assert least < most - 8
