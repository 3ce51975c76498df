"""How long kernels take until they are there: PTX of a small one, and first launches on the CPU device, compiled and
from the cache.

    python benches/gpu/first.py [--json FILE]

Milliseconds of CPU, the least of several new processes, imports not counted. No GPU is needed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
import figures
import numpy as np

from lancehead import cuda

PROCESSES = 5
SIGNATURE = "void(float32[::1], float32[::1], float32[::1])"


def vector_add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


def ptx() -> float:
    """Compiles a kernel for sm_90."""
    start = time.process_time()
    text, _ = cuda.compile_ptx(vector_add, SIGNATURE, cc=(9, 0))
    assert "ld.global" in text
    return time.process_time() - start


def launch() -> float:
    """Launches a kernel, which may be in the cache."""
    a, out = np.ones(1000, np.float32), np.zeros(1000, np.float32)
    kernel = cuda.jit(cache=True)(vector_add)
    start = time.process_time()
    kernel[4, 256](a, a, out)
    taken = time.process_time() - start
    assert (out == 2).all()
    return taken


def least(what: str, environment: dict[str, str]) -> float:
    """Milliseconds of the quickest of several processes."""
    command = [sys.executable, __file__, what]
    runs = [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True) for _ in range(PROCESSES)
    ]
    return 1e3 * min(float(run.stdout) for run in runs)


def main() -> None:
    """Prints the table, or one time."""
    if sys.argv[1:] in (["ptx"], ["launch"]):
        print({"ptx": ptx, "launch": launch}[sys.argv[1]]())
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    figures.add_json(parser)
    given = parser.parse_args()
    result = figures.Result("gpu-first", "python benches/gpu/first.py", 1)
    table = result.table("first", "step", ("time", "ms CPU", 1))
    with tempfile.TemporaryDirectory() as folder:
        here = {**os.environ, "LANCEHEAD_CUDA_DEVICE": "cpu", "LANCEHEAD_CACHE_DIR": folder}
        cold = subprocess.run(
            [sys.executable, __file__, "launch"], env=here, capture_output=True, text=True, check=True
        )
        table.add("PTX of a small kernel", round(least("ptx", here), 1))
        table.add("first launch, compiled", round(1e3 * float(cold.stdout), 1))
        table.add("first launch, from the cache", round(least("launch", here), 1))
    for step, took in table.rows:
        print(f"{step}: {took} ms")
    result.write(given.json)


if __name__ == "__main__":
    main()
