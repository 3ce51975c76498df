"""Programs whose memory ends, by a limit of their address space: each is to raise MemoryError and to go on."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

_BEGIN = """
import gc, resource, sys
import numpy as np
from lancehead import cuda, njit, prange, typed, vectorize
def limit(mebibytes):
    with open("/proc/self/statm") as size: base = int(size.read().split()[0]) * 4096
    resource.setrlimit(resource.RLIMIT_AS, (base + mebibytes * 2**20, resource.RLIM_INFINITY))
def unlimited():
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
"""

# Calls of code that is compiled: what `f` makes grows with its argument without end.
CALLS = {
    "texts": """
def f(n):
    d = []
    for i in range(n): d.append(str(i))
    return len(d)
""",
    "rows": """
def f(n):
    d = []
    for i in range(n): d.append([i] * 100)
    return len(d)
""",
    "keyed": """
def f(n):
    d = {}
    for i in range(n): d[i] = str(i)
    return len(d)
""",
    "by text": """
def f(n):
    d = {}
    for i in range(n): d["k" + str(i)] = [i]
    return len(d)
""",
    "sets": """
def f(n):
    d = set()
    for i in range(n): d.add((i, str(i)))
    return len(d)
""",
    "joins": """
def f(n):
    s = "ab"
    for i in range(min(n, 40)): s = ",".join([s, s])
    return len(s) if n > 9 else n
""",
    "doubling": """
def f(n):
    s = "ab"
    for i in range(min(n, 60)): s = s + s
    return len(s) if n > 9 else n
""",
    "a text that grows": """
def f(n):
    s = "ab"
    for i in range(n): s += "abcdefgh" * 100
    return len(s) // 800
""",
    "replacing": """
def f(n):
    s = "ab" * 1000
    for i in range(min(n, 40)): s = s.replace("a", "aba")
    return n if len(s) else 0
""",
    "upper": """
def f(n):
    d = []
    for i in range(n): d.append(("straße" * 50).upper())
    return len(d)
""",
    "split": """
def f(n):
    d = []
    for i in range(n): d.append(("ab cd " * 50).split())
    return len(d)
""",
    "format": """
def f(n):
    d = []
    for i in range(n): d.append(f"{i:>200}{i * 1.5:.3f}")
    return len(d)
""",
    "arrays": """
def f(n):
    d = []
    for i in range(n): d.append(np.ones(1000) * i)
    return len(d)
""",
    "small arrays": """
def f(n):
    d = []
    for i in range(n): d.append(np.arange(3))
    return len(d)
""",
    "one array": """
def f(n):
    return n if np.ones((n, 100)).sum() >= 0 else 0
""",
    "sorts": """
def f(n):
    a = np.arange(n)[::-1].copy()
    return a.size if np.sort(a)[0] == 0 and np.unique(a).size else 0
""",
    "concatenation": """
def f(n):
    a = np.ones(3)
    for i in range(min(n, 50)): a = np.concatenate((a, a))
    return n if a.size else 0
""",
    "solve": """
def f(n):
    n = min(n, 3 * 10**4)
    return int(round(np.linalg.solve(np.eye(n), np.ones(n)).sum()))
""",
    "fft": """
def f(n):
    return n if np.fft.fft(np.ones(n)).size else 0
""",
    "exceptions": """
def f(n):
    d = []
    for i in range(n):
        try: raise ValueError(str(i) * 50)
        except ValueError as e: d.append(str(e))
    return len(d)
""",
    "bytes": """
def f(n):
    d = []
    for i in range(n): d.append(bytes([i % 256]) * 100)
    return len(d)
""",
    "tuples": """
def f(n):
    d = []
    for i in range(n): d.append((i, str(i), [i]))
    return len(d)
""",
    "closures": """
def f(n):
    d = []
    for i in range(n): d.append([j for j in range(i % 50)])
    return len(d)
""",
    "results": """
def f(n):
    d = []
    for i in range(n): d.append([str(i)])
    return d
""",
    "a dictionary as the result": """
def f(n):
    d = {}
    for i in range(n): d[str(i)] = i
    return d
""",
    "random": """
def f(n):
    return np.random.normal(0, 1, n).size
""",
    "permutations": """
def f(n):
    return np.random.permutation(n).size
""",
    "comprehensions": """
def f(n):
    return len({i: [i] for i in range(n)}) + 0 * len([str(i) for i in range(n)])
""",
    "parallel": """
def f(n):
    a = np.zeros(max(n, 1))
    for i in prange(min(n, 10**6)): a[i] = len([str(i)] * 3)
    return n if a.size else 0
f.parallel = True
""",
    "parallel texts": """
def f(n):
    s = 0
    for i in prange(n):
        d = []
        for j in range(n): d.append(str(j))
        s += len(d)
    return s // max(n, 1)
f.parallel = True
""",
    "deques": """
from collections import deque
def f(n):
    d = deque([0])
    for i in range(n - 1): d.append(i)
    return len(d)
""",
    "counters": """
from collections import defaultdict
def f(n):
    d = defaultdict(list)
    for i in range(n): d[i].append(i)
    return len(d)
""",
}

_CALLS = """
{program}
options = dict(parallel=True) if getattr(f, "parallel", False) else dict()
f = njit(**options)(f)
size = lambda r: r if isinstance(r, int) else len(r)
f(3); f(5)
limit({mebibytes})
try:
    f(10**8)
except MemoryError: print("raised")
assert size(f(5)) == 5
unlimited()
assert size(f(5)) == 5
print("went on")
"""

# Arguments and results that are converted: what is `x` is made before the limit.
ARGUMENTS = {
    "lists of texts": "[str(i) for i in range(10**6)]",
    "lists of lists": "[[i, i] for i in range(10**6)]",
    "lists of numbers": "list(range(5 * 10**6))",
    "dictionaries": "{i: i * 0.5 for i in range(10**6)}",
    "dictionaries of texts": "{str(i): str(i) for i in range(5 * 10**5)}",
    "sets": "set(range(10**6))",
    "tuples in lists": "[(i, 1.5) for i in range(10**6)]",
    "lists of arrays": "[np.ones(3) for _ in range(3 * 10**5)]",
    "bytes": "[bytes([i % 256]) * 9 for i in range(10**6)]",
}

_ARGUMENTS = """
f = njit(lambda d: (len(d), d)[0])
g = njit(lambda d: d)
x = {program}
small = type(x)(list(x.items())[:3] if isinstance(x, dict) else list(x)[:3])
assert f(small) == 3 and len(g(small)) == 3
limit({mebibytes})
for call in (f, g):
    for _ in range(3):
        try: call(x)
        except MemoryError: print("raised")
assert f(small) == 3 and len(g(small)) == 3
unlimited()
assert f(small) == 3 and len(g(small)) == 3 and f(x) == len(x)
print("went on")
"""

# Functions that are compiled when there is hardly any memory.
COMPILATIONS = {
    "a sum": "lambda x: x + 1",
    "an array": "lambda x: np.sort(np.ones(3) * x).sum()",
    "texts": "lambda x: len(str(x).join(['a', 'b']).upper().split('A'))",
    "solve": "lambda x: np.linalg.solve(np.eye(3) * x, np.ones(3)).sum()",
    "a dictionary": "lambda x: len({str(i): [i] for i in range(3)})",
    "parallel": "parallel",
    "long": "long",
    "kernel": "kernel",
}

_COMPILATIONS = """
def parallel(x):
    s = 0.0
    for i in prange(100): s += np.sin(i * x)
    return s
names = {{"np": np}}
lines = [
    f"    x = x * {{k}}.5 + np.sin(x) if x > {{k}} else np.sort(np.array([x, {{k}}.0]))[0]\\n" for k in range(60)
]
exec("def long(x):\\n" + "".join(lines) + "    return x\\n", names)
long = names["long"]
def kernel(x):
    a = np.zeros(64)
    @cuda.jit
    def fill(a, x):
        i = cuda.grid(1)
        a[i] = np.sin(i * x)
    fill[2, 32](a, x)
    return a.sum()
if {warm}: njit(lambda x: x * 3)(1)
f = {program}
make = (lambda: f) if f is kernel else (lambda: njit(parallel=f is parallel)(f))
limit({mebibytes})
try:
    make()(3)
except MemoryError: print("raised")
try:
    make()(3.5)
except MemoryError: print("raised")
unlimited()
g = make()
assert abs(g(3) - make()(3)) < 1e-9 and g(2.5) is not None
print("went on")
"""


def cases() -> Iterator[tuple[str, str, str]]:
    for kind, template, programs in (
        ("calls", _CALLS, CALLS),
        ("arguments", _ARGUMENTS, ARGUMENTS),
        ("compilations", _COMPILATIONS, COMPILATIONS),
    ):
        for name, program in programs.items():
            yield kind, name, template.replace("{program}", program)


def outcome(program: str, mebibytes: float, warm: bool = True) -> str:
    """Runs a program within so much more memory; an empty text if it went on, else what went wrong."""
    text = program.replace("{mebibytes}", str(mebibytes)).replace("{warm}", str(warm))
    if "names = {{" in text:
        text = text.replace("{{", "{").replace("}}", "}")
    text = _BEGIN + text
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "program.py")
        path.write_text(text, encoding="utf-8")
        try:
            run = subprocess.run([sys.executable, path], capture_output=True, timeout=120, text=True, errors="replace")
        except subprocess.TimeoutExpired:
            return "timeout"
    if run.returncode == 0 and run.stdout.endswith("went on\n"):
        return ""
    return f"status {run.returncode}\n{run.stdout[-300:]}{run.stderr[-1500:]}"


def main() -> int:
    """Runs the programs of a kind, or all: `memory.py [KIND [NAME [LIMIT...]]]`."""
    kind = sys.argv[1] if len(sys.argv) > 1 else ""
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    limits = [float(a) for a in sys.argv[3:]] or [1, 8, 40, 200]
    wrong = count = 0
    for of, name, program in cases():
        if kind not in of or only not in name:
            continue
        for mebibytes in limits:
            said = outcome(program, int(mebibytes))
            count += 1
            wrong += bool(said)
            print(f"{of}, {name}, {mebibytes:g} MiB: {said or 'ok'}", flush=True)
    print(f"{wrong} of {count} wrong")
    return wrong


if __name__ == "__main__":
    sys.exit(main() != 0)
