"""Compilations that a signal's handler ends at any time: how long that takes, and that nothing half made is left."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from lancehead import njit, prange


class Ended(Exception):
    """Raised by the handler."""


def _end(*_: object) -> None:
    raise Ended


def long(lines: int) -> Callable[[float], float]:
    names: dict[str, Any] = {"np": np}
    body = [f"    x = x * {k}.5 + np.sin(x) if x > {k} else np.sort(np.array([x, {k}.0]))[0]\n" for k in range(lines)]
    exec("def f(x):\n" + "".join(body) + "    return x\n", names)
    return names["f"]


def _branches(lines: int) -> Callable[[int], int]:
    names: dict[str, Any] = {}
    body = [f"    if n > {i}: s += n % {i + 3}\n" for i in range(lines)]
    exec("def f(n):\n    s = 0\n" + "".join(body) + "    return s\n", names)
    return names["f"]


def _calls(count: int) -> Callable[[float], float]:
    names: dict[str, Any] = {"njit": njit, "np": np}
    for k in range(count):
        exec(f"@njit\ndef g{k}(x):\n    return np.cumsum(np.ones(3) * x)[1] + len(str(x)) + {k}\n", names)
    exec("def f(x):\n    return " + " + ".join(f"g{k}(x)" for k in range(count)) + "\n", names)
    return names["f"]


def _nest(x: float) -> float:
    s = 0.0
    for i in prange(100):
        for j in range(50):
            s += np.sin(i * x) * np.cos(j * x) + np.sqrt(x)
    return s


PROGRAMS: dict[str, tuple[Callable[[], Callable[..., Any]], tuple[Any, ...]]] = {
    "long": (lambda: njit(long(600)), (1.0,)),
    "branches": (lambda: njit(_branches(2000)), (5,)),
    "calls": (lambda: njit(_calls(60)), (1.5,)),
    "parallel": (lambda: njit(parallel=True)(_nest), (0.5,)),
    "library": (lambda: njit(lambda x: np.linalg.svd(np.eye(3) * x)[1].sum() + np.median(np.ones(5) * x)), (2.0,)),
}


def latency(name: str, delay: float) -> float | None:
    """Seconds from the signal to the exception; None if the compilation was done before.

    The same function is called again at once, and has to be compiled then.
    """
    make, arguments = PROGRAMS[name]
    f = make()
    signal.signal(signal.SIGALRM, _end)
    taken = None
    start = time.perf_counter()
    try:
        signal.setitimer(signal.ITIMER_REAL, delay)
        f(*arguments)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except Ended:
        taken = time.perf_counter() - start - delay
    if name != "long" and name != "branches":
        got = f(*arguments)
        assert abs(got - f.py_func(*arguments)) <= 1e-9 * abs(got), (got, f.py_func(*arguments))
    return taken


def main() -> int:
    """`interrupts.py [NAME [COUNT [MOST SECONDS]]]`."""
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    most = float(sys.argv[3]) if len(sys.argv) > 3 else 3.0
    slow = 0
    for name in PROGRAMS:
        if only in name:
            all_ = [latency(name, most * (k + 0.5) / count) for k in range(count)]
            said = " ".join("-" if t is None else f"{t * 1000:.0f}" for t in all_)
            slow += sum(t is not None and t > 0.1 for t in all_)
            print(f"{name}: {said} ms", flush=True)
    return slow


if __name__ == "__main__":
    sys.exit(main())
