"""Kernels of `cpu_device.py` in Numba's simulator, small enough for it to come to an end: `NUMBA_ENABLE_CUDASIM=1
python simulator.py`."""

import sys
import time
from pathlib import Path

import numba
import numba.cuda

# The kernels' `from lancehead import cuda, njit` means Numba's.
sys.modules["lancehead"], sys.modules["lancehead.cuda"] = numba, numba.cuda
sys.path.insert(0, str(Path(__file__).parents[1]))
import cpu_device

for row in (
    cpu_device.vector_add(2048), cpu_device.matmul(32), cpu_device.block_sum(512), cpu_device.heat_steps(256, 4),
):  # fmt: skip
    start = time.perf_counter()
    row.launch()
    print(f"| {row.name} | {(time.perf_counter() - start) / row.units * 1e9:.0f} |", flush=True)
