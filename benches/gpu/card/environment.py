"""The environment: driver, card, versions, and a kernel that does nothing."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator

import numpy as np

import lancehead
from guarded import Skipped, Task
from lancehead import _core, cuda


def nvidia_smi() -> str:
    """The report of the driver's own program."""
    if shutil.which("nvidia-smi") is None:
        raise Skipped("nvidia-smi is not installed")
    asked = "--query-gpu=name,driver_version,memory.total,clocks.sm,clocks.mem,temperature.gpu,mig.mode.current"
    done = subprocess.run(["nvidia-smi", asked, "--format=csv,noheader"], capture_output=True, text=True, timeout=8)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def detect() -> str:
    """The device is a GPU, and it says what it is."""
    assert cuda.detect() and cuda.is_available()
    device = cuda.get_current_device()
    assert device.name != b"CPU", "kernels run on the CPU"
    free, total = cuda.current_context().get_memory_info()
    assert 0 < free <= total
    return (
        f"{len(cuda.gpus)} GPU, {device!r}, compute capability {device.compute_capability}, "
        f"{device.MULTIPROCESSOR_COUNT} multiprocessors, {total >> 20} MiB"
    )


def versions() -> str:
    """Versions of what is in use."""
    driver, version = ctypes.CDLL(os.environ.get("LANCEHEAD_CUDA_DRIVER") or "libcuda.so.1"), ctypes.c_int()
    assert driver.cuDriverGetVersion(ctypes.byref(version)) == 0
    found = (
        f"driver for CUDA {version.value // 1000}.{version.value % 1000 // 10}, lancehead {lancehead.__version__} in "
        f"{_core.__file__}"
    )
    return f"{found}, Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} CPUs"


def nothing() -> None:
    """A kernel that does nothing is loaded, launched and waited for."""
    cuda.jit(lambda: None)[1, 1]()
    cuda.synchronize()


def checks() -> Iterator[Task]:
    """Of this step."""
    for check in (nvidia_smi, detect, versions, nothing):
        yield Task(check.__name__, check)
