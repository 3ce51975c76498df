"""Threads whose first calls are the first of the process, while the interpreter goes from thread to thread."""

import random
import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading
sys.setswitchinterval(1e-6)
import numpy as np
from lancehead import cuda, njit, prange, typed, types, vectorize, xp
from lancehead.experimental import jitclass
from lancehead.gradients import grad

def squares():
    return njit(lambda n: sum([i * i for i in range(n)]))(10) == 285

def dictionary():
    return njit(lambda x: {1: x, 2: x + 1}[2])(3) == 4

def sort():
    return njit(lambda a: np.sort(a)[0])(np.arange(5.0)[::-1]) == 0

def universal():
    return vectorize(lambda x: x + 1)(np.arange(3.0)).sum() == 6

def parallel():
    @njit(parallel=True)
    def f(n):
        s = 0
        for i in prange(n): s += i
        return s
    return f(100) == 4950

def text():
    return njit(lambda s: s.split(","))("a,b") == ["a", "b"]

def kernel():
    @cuda.jit
    def f(a):
        i = cuda.grid(1)
        if i < a.size: a[i] += 1
    a = np.zeros(10)
    f[1, 32](a)
    return a.sum() == 10

def slope():
    return grad(lambda x: x * x)(3.0) == 6

def lazy():
    return float((xp.arange(4.0) + 1).sum()) == 10

def container():
    return njit(lambda l: len(l))(typed.List([1, 2])) == 2

def instance():
    @jitclass([("x", types.float64)])
    class C:
        def __init__(self, x): self.x = x
        def twice(self): return self.x * 2
    return njit(lambda x: C(x).twice())(2.0) == 4

def closure():
    k = 3
    return njit(lambda f, x: f(x))(njit(lambda x: x + k), 1) == 4

def random_numbers():
    return 0 <= njit(lambda g: g.random())(np.random.default_rng(1)) < 1

chosen = [globals()[name] for name in sys.argv[1:]]
go, results = threading.Barrier(len(chosen)), []

def run(f):
    go.wait()
    results.append((f.__name__, bool(f())))

threads = [threading.Thread(target=run, args=(f,), daemon=True) for f in chosen]
for t in threads: t.start()
for t in threads: t.join(60)
assert len(results) == len(chosen) and all(right for _, right in results), results
"""
KINDS = [line.split("(")[0].removeprefix("def ") for line in PROGRAM.splitlines() if line.endswith("():")]


@pytest.mark.parametrize("count", [2, 4, 8])
def test_threads_that_begin_together(count, some):
    for seed in range(some(40, 2)):
        chosen = random.Random(seed).sample(KINDS, count)
        done = subprocess.run([sys.executable, "-c", PROGRAM, *chosen], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, (chosen, done.stderr[-2000:])
