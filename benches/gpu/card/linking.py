"""Code of other compilers that is linked to kernels, and machine code that is kept in files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from guarded import Skipped, Task
from lancehead import cuda
from lancehead.cuda import nvrtc, toolkit

SOURCE = 'extern "C" __device__ int scaled(float *result, float x) { *result = 2.5f * x + 1.0f; return 0; }'


def _calls(link: Any) -> None:
    scaled = cuda.declare_device("scaled", "float32(float32)", link=link)

    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = scaled(a[i])

    a = np.arange(1000, dtype=np.float32)
    kernel[4, 256](a)
    np.testing.assert_array_equal(a, np.arange(1000, dtype=np.float32) * np.float32(2.5) + 1)


def _needs_nvrtc() -> None:
    if toolkit.library("libnvrtc") is None:
        raise Skipped("NVRTC is not installed")


def cuda_c() -> None:
    """A function in CUDA C."""
    if toolkit.library("libnvrtc") is None and toolkit.program("nvcc") is None:
        raise Skipped("neither NVRTC nor nvcc is installed")
    _calls(cuda.CUSource(SOURCE))


def lto_ir() -> None:
    """A function in LTO-IR."""
    _needs_nvrtc()
    if toolkit.library("libnvJitLink") is None:
        raise Skipped("nvJitLink is not installed")
    _calls(cuda.LTOIR(nvrtc.lto_ir(SOURCE)))


def machine_code(kind: str) -> None:
    """A function in what nvcc makes for this GPU."""
    nvcc = toolkit.program("nvcc")
    if nvcc is None:
        raise Skipped("nvcc is not installed")
    if toolkit.library("libnvJitLink") is None:
        raise Skipped("nvJitLink is not installed")
    major, minor = cuda.get_current_device().compute_capability
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder) / "scaled.cu", Path(folder) / f"scaled.{kind}"
        source.write_text(SOURCE)
        command = [nvcc, "-rdc=true", f"-{kind}", f"-arch=sm_{major}{minor}", str(source), "-o", str(made)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10)
        if done.returncode:
            raise Skipped(f"nvcc: {done.stderr.strip()[-300:]}")
        _calls((cuda.Fatbin if kind == "fatbin" else cuda.Cubin)(made.read_bytes()))


def fatbin() -> None:
    """A function in a fat binary."""
    machine_code("fatbin")


def cubin() -> None:
    """A function in machine code."""
    machine_code("cubin")


PROGRAM = """
import json, time
import numpy as np
from lancehead import cuda

@cuda.jit(cache=True)
def kernel(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = a[i] * 3 + i

def main():
    a = np.arange(100.0)
    cuda.synchronize()
    start = time.perf_counter()
    kernel[1, 128](a)
    took = time.perf_counter() - start
    assert (a == np.arange(100.0) * 4).all()
    print(json.dumps([sum(kernel.stats.cache_hits.values()), sum(kernel.stats.cache_misses.values()), took]))
"""


def cache() -> str:
    """A second process finds the first one's machine code."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "program.py").write_text(PROGRAM)
        path = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
        given = {**os.environ, "PYTHONPATH": path, "LANCEHEAD_CACHE_DIR": f"{folder}/cache"}
        found = []
        for _ in range(2):
            command = [sys.executable, "-c", "import program; program.main()"]
            done = subprocess.run(command, env=given, capture_output=True, text=True, timeout=10, cwd=folder)
            assert done.returncode == 0, done.stderr[-1000:]
            found.append(json.loads(done.stdout.splitlines()[-1]))
    assert [f[:2] for f in found] == [[0, 1], [1, 0]], found
    return f"first call {found[0][2] * 1e3:.1f} ms, from the cache {found[1][2] * 1e3:.1f} ms"


def checks() -> Iterator[Task]:
    """Of this step."""
    for check in (cuda_c, lto_ir, fatbin, cubin, cache):
        yield Task(check.__name__, check)
