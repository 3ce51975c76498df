"""Sizes of kernels as machine code: `ptxas` and `nvdisasm` from NVIDIA's wheels, without a GPU."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import NamedTuple


class Size(NamedTuple):
    """Of a kernel."""

    instructions: int
    registers: int
    spills: int


def tool(name: str) -> str | None:
    """A program of CUDA's toolkit: from the wheels of this Python (or of another, in `LANCEHEAD_NVIDIA`), or on the
    path.
    """
    given = os.environ.get("LANCEHEAD_NVIDIA")
    root = Path(given) if given else Path(sysconfig.get_path("purelib")) / "nvidia"
    found = sorted(root.glob(f"*/bin/{name}")) if root.exists() else []
    return str(found[-1]) if found else shutil.which(name)


def version() -> str:
    """Of `ptxas`."""
    ptxas = tool("ptxas")
    assert ptxas, "ptxas is not installed"
    return re.findall(
        r"release (\S+),", subprocess.run([ptxas, "--version"], capture_output=True, text=True, check=True).stdout
    )[0]


def assemble(ptx: str, arch: str, counted: bool = True) -> Size:
    """Assembles a module with one kernel for an architecture such as `sm_90`; counts its instructions if asked."""
    ptxas, nvdisasm = tool("ptxas"), tool("nvdisasm")
    assert ptxas, "ptxas is not installed: pip install nvidia-cuda-nvcc nvidia-cuda-nvdisasm"
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        source.write_text(ptx)
        done = subprocess.run(
            [ptxas, "-v", f"-arch={arch}", str(source), "-o", str(cubin)], capture_output=True, text=True
        )
        assert done.returncode == 0 and "warning" not in done.stderr.lower(), f"{done.stderr}\n{ptx}"
        registers = max((int(n) for n in re.findall(r"Used (\d+) registers", done.stderr)), default=0)
        spills = sum(int(n) for n in re.findall(r"(\d+) bytes spill", done.stderr))
        if not (counted and nvdisasm):
            return Size(0, registers, spills)
        text = subprocess.run([nvdisasm, "-c", str(cubin)], capture_output=True, text=True, check=True).stdout
    lines = [line for line in text.splitlines() if re.search(r"/\*[0-9a-f]{4,}\*/\s+\S", line)]
    # The padding of the last line of code and the jump to itself before it are not instructions of the program.
    count = sum(
        1 for line in lines if not re.search(r"\b(NOP|BRA `\(\.L_x_\d+\)$)", line.split("*/", 1)[1].strip().rstrip(";"))
    )
    return Size(count, registers, spills)
