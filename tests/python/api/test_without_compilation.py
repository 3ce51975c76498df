"""`LANCEHEAD_DISABLE_JIT=1`: the program's functions run in the interpreter, and what it cannot run is compiled."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAMS = {
    "derivatives": """
from lancehead import njit
from lancehead.gradients import grad, hessian, jacfwd, jvp, custom_vjp
square = njit(lambda x: x * x)
print(type(square).__name__, grad(square)(3.0), hessian(lambda x: (x**2).sum())(np.ones(2)).tolist())
print(jacfwd(lambda x: x * 2.0)(np.ones(2)).tolist(), jvp(lambda x: x * x, (2.0,), (1.0,)))
f = custom_vjp(lambda x: x * x)
f.defvjp(lambda x: (x * x, x), lambda r, g: (2 * r * g,))
print(grad(f)(3.0))
""",
    "arrays": """
from lancehead import sparse, xp
print((sparse.csr_array(np.eye(3)) @ np.arange(3.0)).tolist())
x = xp.asarray([3.0, 1.0, 3.0])
print(float(xp.reduce(lambda a, b: a + b, x, init=0.0)), xp.unique_values(x).numpy().tolist())
print(xp.map(lambda a: a + 1, x).numpy().tolist(), float(xp.sum(xp.exp(x * 0.0))))
""",
    "ufuncs": """
from lancehead import guvectorize, vectorize
sign = vectorize(lambda x: 1 if x > 0 else 2)
print(sign(np.array([1.0, -1.0])).tolist(), int(sign(3.0)))
more = vectorize(["float64(float64)"])(lambda x: x + 1 if x > 0 else x)
print(more(np.array([1.0, -1.0])).tolist(), more(2.0))

@guvectorize(["(float64[:], float64[:])"], "(n)->()")
def total(a, o):
    o[0] = a.sum()

@guvectorize("(n)->()")
def untyped(a, o):
    o[0] = a.sum()

out = np.zeros(2)
untyped(np.ones((2, 3)), out)
print(total(np.ones((2, 3))).tolist(), out.tolist())
""",
}


def output(program: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", f"import numpy as np\n{program}"], capture_output=True, text=True, timeout=120,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_give_the_same_answers_without_compilation(name):
    compiled = output(PROGRAMS[name], LANCEHEAD_DISABLE_JIT="0").replace("Dispatcher", "function")
    assert output(PROGRAMS[name], LANCEHEAD_DISABLE_JIT="1") == compiled


def test_commands_end_quietly_when_nobody_reads_on():
    for command in ("help", "cache ls", "cache info", "info"):
        done = subprocess.run(
            f"{sys.executable} -m lancehead {command} | head -n 0",
            shell=True,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert "Traceback" not in done.stderr and "BrokenPipe" not in done.stderr, command
