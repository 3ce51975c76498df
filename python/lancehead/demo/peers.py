"""The demo's peers: NumPy's BLAS, and the variables that would make it slow."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys

#: By these OpenBLAS takes kernels or block sizes of another processor. It reads them when NumPy is imported.
SLOWING = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


def are_slowed() -> bool:
    """Whether NumPy has read a variable that may make its products slower than this processor allows."""
    return any(name in os.environ for name in SLOWING)


def run_unslowed(arguments: list[str]) -> int:
    """Runs `lancehead` with these arguments in a new process, which has no such variable, and returns its status."""
    environment = {name: value for name, value in os.environ.items() if name not in SLOWING}
    return subprocess.run([sys.executable, "-m", "lancehead", *arguments], env=environment, check=False).returncode


def blas() -> str:
    """NumPy's BLAS with its kernel and threads, or "" if it or a missing threadpoolctl does not tell."""
    try:
        threads = importlib.import_module("threadpoolctl")
    except ImportError:
        return ""
    pools = [pool for pool in threads.threadpool_info() if pool["user_api"] == "blas"]
    pools.sort(key=lambda pool: "numpy" not in pool["filepath"])
    if not pools:
        return ""
    found = pools[0]
    kernel = f", kernel {found['architecture']}" if "architecture" in found else ""
    return f"{found['internal_api']} {found['version']}{kernel}, {found['num_threads']} threads"
