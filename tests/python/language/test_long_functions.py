"""The time to compile is linear in the length of a program, in each stage: four times the lines take less than
eight times the time (sixteen were the square), but for the programs in `LIMITS`."""

import os
import subprocess
import sys

import pytest

RUN = """
import sys, time
from lancehead import njit
names = {}
exec("import numpy as np\\n" + sys.stdin.read(), names)
for f in (names["warm"], names["f"]):
    start = time.process_time()
    answer = njit(f)(5)
    seconds = time.process_time() - start
print(seconds, answer == names["f"](5))
"""


def lines(text, n):
    return "def f(n):\n    s = 0\n" + "".join(text.format(i=i, j=i + 3) for i in range(n)) + "    return s\n"


def items(text, n):
    return ", ".join(text.format(i=i) for i in range(n))


PROGRAMS = {
    "conditions on one value": (500, lambda n: lines("    if n > {i}: s += n % {j}\n", n)),
    "equal or else": (250, lambda n: lines("    if n == {i}: s += {j}\n", n)),
    "exceptions": (
        250,
        lambda n: lines("    try:\n        s += 1 // (n - {i})\n    except ZeroDivisionError:\n        s -= 1\n", n),
    ),
    "assignments": (500, lambda n: lines("    s = s % 7 + n * {i}\n", n)),
    "fields of a text": (200, lambda n: "def f(n):\n    return f'" + "".join(f"{{n}}a{i}" for i in range(n)) + "'\n"),
    "a loop over a tuple": (
        2000,
        lambda n: f"def f(n):\n    s = 0\n    for v in ({items('{i}', n)}):\n        s += v * n\n    return s\n",
    ),
    "an item of a tuple": (2000, lambda n: f"def f(n):\n    return ({items('{i}', n)})[n % {n}]\n"),
    "a list of constants": (5000, lambda n: f"def f(n):\n    return len([{items('{i}', n)}])\n"),
    "a list of sums": (5000, lambda n: f"def f(n):\n    return len([{items('n + {i}', n)}])\n"),
    "accesses of an array": (
        200,
        lambda n: (
            "def f(n):\n    a = np.zeros(10)\n"
            + "".join(f"    a[{i} % 10] = n + a[(n + {i}) % 10]\n" for i in range(n))
            + "    return a.sum()\n"
        ),
    ),
}


#: LLVM's merging of blocks takes the square of the items, which is a third of the time for 8,000 of them.
LIMITS = {"an item of a tuple": 10}


def seconds(program, n):
    warm = program(4).replace("def f(", "def warm(")
    environment = {**os.environ, "LANCEHEAD_CACHE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        input=warm + program(n),
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    time, agrees = done.stdout.split()
    assert agrees == "True"
    return float(time)


@pytest.mark.parametrize("name", PROGRAMS)
def test_time_is_linear(name):
    n, program = PROGRAMS[name]
    short = min(seconds(program, n) for _ in range(3))
    # Very short times are those of the clock.
    assert min(seconds(program, 4 * n) for _ in range(2)) < LIMITS.get(name, 8) * max(short, 0.05)


def test_very_long():
    n, program = PROGRAMS["conditions on one value"]
    assert seconds(program, 12 * n) < 20
