"""Ufuncs whose loops several threads ask for at once."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys, threading
import numpy as np
from lancehead import vectorize
sys.setswitchinterval(1e-5)
a = np.ones(50_000)
for n in range(20):
    g = vectorize(eval(f"lambda x, y: x * y + {n}"))
    g(a, a)
    start, found = threading.Barrier(4), []
    def work(k):
        start.wait()
        found.append(g(a, float(k))[0])
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
    assert sorted(found) == [n, n + 1.0, n + 2.0, n + 3.0]
"""


def test_threads_that_compile_the_same_version_of_a_loop():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
