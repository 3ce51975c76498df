"""Programs whose main thread leaves while daemon threads are in lancehead, with exit statuses of their own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

_BEGIN = """
import sys, threading, time
import numpy as np
from lancehead import cuda, guvectorize, njit, objmode, prange, vectorize
def runs(work, threads=3):
    for k in range(threads):
        threading.Thread(target=work, args=(k,), daemon=True).start()
    time.sleep({wait})
"""
_END = """
sys.exit({status})
"""

PROGRAMS = {
    "calls": """
f = njit(lambda x: x + 1)
f(1)
def work(k):
    while True: f(k)
runs(work)
""",
    "refused calls": """
f = njit(lambda x: x + 1)
def work(k):
    while True:
        try: f("x")
        except Exception: pass
runs(work)
""",
    "first calls": """
def work(k):
    while True:
        def g(n):
            s = 0
            for i in range(n): s += i * k
            return s
        njit(g)(1000 + k)
runs(work)
""",
    "parallel first calls": """
def work(k):
    while True:
        def g(n):
            s = 0
            for i in prange(n): s += i
            return s
        njit(parallel=True)(g)(1000 + k)
runs(work, 4)
""",
    "parallel loops": """
@njit(parallel=True, nogil=True)
def f(a):
    for i in prange(a.size): a[i] = np.sqrt(a[i] + i)
a = np.ones(200_000)
f(a)
def work(k):
    while True: f(a)
runs(work)
""",
    "without the lock": """
@njit(nogil=True)
def f(a):
    s = 0.0
    for i in range(a.size): s += np.sin(a[i])
    return s
a = np.ones(100_000)
f(a)
def work(k):
    while True: f(a)
runs(work)
""",
    "kernels": """
@cuda.jit
def f(a):
    i = cuda.grid(1)
    if i < a.size:
        for _ in range(200): a[i] = a[i] * 0.5 + 1.0
a = np.ones(100_000)
f[400, 256](a)
def work(k):
    mine = cuda.to_device(np.ones(100_000))
    while True:
        f[400, 256](mine)
        cuda.synchronize()
runs(work)
""",
    "interpreted code inside": """
def look(x):
    return float(len(str(x)))
@njit(nogil=True)
def f(x):
    with objmode(y="float64"):
        y = look(x)
    return y + 1
f(1.0)
def work(k):
    while True: f(float(k))
runs(work)
""",
    "prints in parallel": """
@njit(parallel=True)
def f(n):
    for i in prange(n): print(i)
f(2)
def work(k):
    while True: f(20)
runs(work)
""",
    "universal functions": """
f = vectorize(["float64(float64)"])(lambda x: x * 2 + 1)
g = vectorize(lambda x, y: x * y)
def work(k):
    a = np.ones(50_000)
    while True: f(a); g(a, k); g(k, 2)
runs(work)
""",
    "lists and exceptions": """
@njit
def f(d, n):
    d.append([str(n)] * 10)
    if n > 2: raise ValueError(str(n))
    return {n: d}
def work(k):
    while True:
        for n in range(4):
            try: f([["a"]], n)
            except ValueError: pass
runs(work)
""",
    "generators": """
@njit
def f(n):
    for i in range(n): yield np.ones(i)
def work(k):
    while True:
        for a in f(20): a.sum()
runs(work)
""",
    "one function at a time": """
def work(k):
    while True:
        names = {"np": np}
        lines = [f"    x = np.sin(x) + {i} if x > {i} else x * {k + 2}\\n" for i in range(60)]
        exec("def f(x):\\n" + "".join(lines) + "    return x\\n", names)
        njit(names["f"])(1.0)
runs(work)
""",
    "a function that calls at the end": """
import atexit
f = njit(lambda x: x * 3)
class Last:
    def __del__(self): f(1.5); f("ab")
last = Last()
atexit.register(lambda: f(2))
def work(k):
    while True: njit(lambda x: x * k)(k)
runs(work)
""",
}


def status(name: str, expected: int, wait: float) -> str:
    """Runs a program; an empty text if it leaves with the status that it asked for, else what went wrong."""
    program = _BEGIN.replace("{wait}", str(wait)) + PROGRAMS[name] + _END.replace("{status}", str(expected))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "program.py")
        path.write_text(program, encoding="utf-8")
        return _run(name, path, expected)


def _run(name: str, path: Path, expected: int) -> str:
    start = time.monotonic()
    try:
        run = subprocess.run([sys.executable, path], capture_output=True, timeout=90)
    except subprocess.TimeoutExpired:
        return f"{name}: it did not leave"
    if run.returncode == expected and time.monotonic() - start < 60:
        return ""
    return f"{name}: status {run.returncode}, not {expected}\n{run.stderr.decode(errors='replace')[-1500:]}"


def main() -> int:
    """Runs each program so often; the number of those that went wrong."""
    count, wrong = int(sys.argv[1]), 0
    for round_ in range(count):
        for i, name in enumerate(PROGRAMS):
            if len(sys.argv) > 2 and sys.argv[2] not in name:
                continue
            said = status(name, (0, 3, 7)[(round_ + i) % 3], 0.05 + 0.07 * (round_ % 7))
            wrong += bool(said)
            print(said or f"{name}: ok", flush=True)
    print(f"{wrong} wrong")
    return wrong


if __name__ == "__main__":
    sys.exit(main() != 0)
