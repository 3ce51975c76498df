"""The table of a GPU, `benches/gpu/run.py`: all of it runs, on the library that stands in for a driver; and its CUDA C computes the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import cases
import numpy as np
import pytest
from lancehead import _core, cuda
from lancehead.cuda import nvrtc, toolkit

GPU = Path(__file__).parents[2] / "benches" / "gpu"

STARTS = """
import os, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
if os.environ.get("LANCEHEAD_CUDA_DEVICE") != "cpu":
    import stand_in
    made = stand_in.StandIn(Path({folder!r}))
    os.environ["LANCEHEAD_CUDA_DRIVER"] = str(made.path)
"""


def run(*arguments: str, **environment: str) -> str:
    command = [sys.executable, str(GPU / "run.py"), *arguments]
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True).stdout


def test_the_whole_table(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(STARTS.format(tests=str(Path(__file__).parent), folder=str(tmp_path)))
    run("--small", str(tmp_path / "table.md"), PYTHONPATH=f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}", LANCEHEAD_CUDA_DEVICE="")
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in (tmp_path / "table.md").read_text().splitlines() if line[:1] == "|"]
    assert {len(line) for line in lines} == {7}
    assert {line[0] for line in lines[2:]} == {"1", "2", "3", "8", "10", "11", "12", "14", "16", "18"}
    assert {line[6] for line in lines[2:]} <= {"", "yes", "33 bit for bit"}


def test_without_a_gpu_nothing_is_measured() -> None:
    assert "no GPU here" in run("--small", LANCEHEAD_CUDA_DEVICE="cpu")


@pytest.mark.skipif(toolkit.library("libnvrtc") is None, reason="needs NVRTC")
def test_the_kernels_in_cuda_c_compute_the_same() -> None:
    ptx, _ = nvrtc.compile((GPU / "peers.cu").read_text(), "peers.cu")
    states = cuda.random.create_xoroshiro128p_states(256 * cases.SMALL.blocks, seed=1).copy_to_host()
    for case in cases.cases(cuda, cases.SMALL, states):
        if case.row == "14" or case.name == "heat_steps":
            continue
        here, there = ([a.copy() if isinstance(a, np.ndarray) else a for a in case.args] for _ in range(2))
        cuda.jit(case.kernel)[case.grid, case.block](*(cuda.to_device(a) if isinstance(a, np.ndarray) and a.dtype.names else a for a in here))
        kernel = _core.PtxKernel(ptx, case.name.replace(" ", "_").replace("-", "_"))
        words = [a.ctypes.data if isinstance(a, np.ndarray) else int.from_bytes(a.tobytes(), "little") for a in (*there, np.int64(case.n))]
        grid, block = ([*(e if isinstance(e, tuple) else (e,)), 1, 1][:3] for e in (case.grid, case.block))
        kernel.launch(grid, block, 0, words)
        for a, b in zip(here, there, strict=True):
            if isinstance(a, np.ndarray) and not a.dtype.names:
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6, err_msg=case.name)
