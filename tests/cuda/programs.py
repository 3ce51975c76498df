"""Programs that tests run in processes of their own, as what they show may be a hang, or the end of the process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

STARTS = """
import ctypes, faulthandler, gc, os, sys, threading, time
from pathlib import Path
sys.path.insert(0, {tests!r})
import numpy as np
from stand_in import StandIn
gpu = StandIn(Path({folder!r}))
os.environ["LANCEHEAD_CUDA_DRIVER"] = str(gpu.path)
from lancehead import _core, cuda
from lancehead.cuda.cudadrv.driver import CudaAPIError

@cuda.jit
def scale(a, factor):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= factor

def foreign_stream(flags):
    handle = ctypes.c_void_p()
    assert gpu.library.cuStreamCreate(ctypes.byref(handle), flags) == 0
    return handle.value
"""


def started(library: Path) -> str:
    """The beginning of a program that uses a GPU of the library that stands in."""
    return STARTS.format(tests=str(Path(__file__).parent), folder=str(library.parent))


def run(library: Path, program: str, timeout: float = 60, **environment: str) -> tuple[int | None, str, str]:
    """Runs a program in a process and returns its exit status and output; None as the status if it hangs."""
    variables = {k: v for k, v in os.environ.items() if k != "LANCEHEAD_CUDA_DEVICE"}
    given = {**variables, "LANCEHEAD_CUDA_DRIVER": str(library), "PYTHONUNBUFFERED": "1", **environment}
    with subprocess.Popen(
        [sys.executable, "-c", program], env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            return None, out, err
    return process.returncode, out, err
