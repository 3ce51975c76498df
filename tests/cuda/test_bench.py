"""The table of a GPU, `benches/gpu/run.py`: all of it runs, on the library that stands in for a driver; and its CUDA C
computes the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cases
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


def table(tmp_path: Path, *arguments: str, more: str = "") -> list[list[str]]:
    """Cells of the table that is made on the library."""
    (tmp_path / "sitecustomize.py").write_text(
        STARTS.format(tests=str(Path(__file__).parent), folder=str(tmp_path)) + more
    )
    path = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    printed = run("--small", *arguments, str(tmp_path / "table.md"), PYTHONPATH=path, LANCEHEAD_CUDA_DEVICE="")
    text = (tmp_path / "table.md").read_text()
    assert printed.endswith(text + "\n")
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line[:1] == "|"]


def test_the_whole_table(tmp_path: Path) -> None:
    lines = table(tmp_path)
    assert {len(line) for line in lines} == {7}
    assert {line[0] for line in lines[2:]} == {"1", "2", "3", "8", "10", "11", "12", "14", "16", "18"}
    assert {line[6] for line in lines[2:]} <= {"", "yes", "33 bit for bit"}
    assert all(line[2].endswith((" us", " ms")) for line in lines[2:-1])


# Rows that raise, end their process and hang: the child finds them in the module of cases.
FAULTS = """
import time
sys.path.insert(0, {tests!r})
import cases
FAULTS = {{"add float32": lambda: 1 / 0, "transpose": os.abort, "n_body": lambda: time.sleep(60)}}
plain = cases.cases
cases.cases = lambda *given: [c._replace(arguments=FAULTS[c.name]) if c.name in FAULTS else c for c in plain(*given)]
"""


def test_rows_that_fail_cost_nothing_but_themselves(tmp_path: Path) -> None:
    lines = table(tmp_path, "--each", "6", more=FAULTS.format(tests=str(Path(__file__).parent)))
    rows = {line[1]: line for line in lines[2:]}
    failed = {name: row[3] for name, row in rows.items() if row[2] == "-"}
    first = {f"first call of add float32, {when}" for when in ("cold", "cached")}
    assert set(failed) == {"add float32", "transpose", "n_body"} | first
    assert failed["add float32"].startswith("FAILED: ZeroDivisionError: division by zero")
    assert failed["transpose"].startswith("FAILED: the process ended by SIGABRT")
    assert failed["n_body"] == "FAILED: took longer than 6 s"
    assert all("ZeroDivisionError" in failed[name] for name in first)
    assert {name for name, row in rows.items() if row[6].startswith("FAILED")} == {"add float32", "transpose", "n_body"}
    assert (
        rows["copy float32"][6] == rows["Monte-Carlo pi"][6] == "yes"
        and rows["the corpus, 33 kernels"][6] == "33 bit for bit"
    )
    assert rows["copy float32"][2].endswith(" ms") and rows["Monte-Carlo pi"][2].endswith(" ms")
    assert rows["first call of matmul_shared, cached"][2].endswith(" ms")


def test_when_the_time_is_over_nothing_new_is_started(tmp_path: Path) -> None:
    rows = table(tmp_path, "--seconds", "2.5")[2:]
    assert rows[0][2].endswith(" us") or rows[0][3].startswith("FAILED: the time")
    assert rows[-2][2:4] == ["-", "not measured"] and rows[-1][6] == "not measured"


def test_the_file_has_what_is_known_when_the_command_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(STARTS.format(tests=str(Path(__file__).parent), folder=str(tmp_path)))
    given = {
        **os.environ,
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        "LANCEHEAD_CUDA_DEVICE": "",
    }
    command = [sys.executable, str(GPU / "run.py"), "--small", str(tmp_path / "table.md")]
    with subprocess.Popen(command, env=given, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        next(line for line in process.stdout if "launch with nothing" in line)
        process.terminate()
        assert process.wait(10) == 128 + signal.SIGTERM
    rows = [line.split("|") for line in (tmp_path / "table.md").read_text().splitlines() if "launch with" in line]
    assert rows[0][3].strip().endswith(" us") and rows[-1][4].strip() == "not measured"


def test_a_gpu_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    given = {**os.environ, "LANCEHEAD_CUDA_DEVICE": "gpu", "LANCEHEAD_CUDA_DRIVER": str(tmp_path / "nowhere.so")}
    done = subprocess.run(
        [sys.executable, str(GPU / "run.py"), "--small", "--seconds", "3"], env=given, capture_output=True, text=True
    )
    assert done.returncode == 1 and "there is no GPU that lancehead can use" in done.stdout


class Fixed(cases.Run):
    """A run with results that are given."""

    def results(self) -> list[np.ndarray]:
        return list(self.given())


def test_results_that_depend_on_the_order_of_threads_may_differ_a_little(tmp_path: Path) -> None:
    here = np.float32([1.0, 2.0])
    names = ["corpus float_sum", "corpus votes", "corpus heat"]
    np.savez(tmp_path / "cpu.npz", **{f"{name}/0": here + np.float32(1e-6) for name in names[:2]})
    cpu = cases.CpuDevice(str(tmp_path))
    told = lambda name, a: cpu.agrees(Fixed(name, lambda: abs, (), lambda: (a,)))
    assert told(names[0], here + np.float32(1e-6)) == "yes" and told(names[1], here) == "NO"
    assert "any order" in told(names[0], here) and told(names[0], here + 1) == "NO"
    with pytest.raises(RuntimeError, match="no results"):
        told(names[2], here)


def test_cuda_c_is_left_out_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases.toolkit, "library", lambda name: None)
    monkeypatch.setattr(cases.toolkit, "program", lambda name: None)
    assert [c.name for c in cases.cases(cuda, cases.SMALL) if c.row == "14"] == ["function of the dialect"]


def test_without_a_gpu_nothing_is_measured() -> None:
    assert "no GPU here" in run("--small", LANCEHEAD_CUDA_DEVICE="cpu")


@pytest.mark.skipif(toolkit.library("libnvrtc") is None, reason="needs NVRTC")
def test_the_kernels_in_cuda_c_compute_the_same() -> None:
    ptx, _ = nvrtc.compile((GPU / "peers.cu").read_text(), "peers.cu")
    for case in cases.cases(cuda, cases.SMALL):
        if case.row == "14" or case.name == "heat_steps":
            continue
        here, there = ([a.copy() if isinstance(a, np.ndarray) else a for a in case.arguments()] for _ in range(2))
        cuda.jit(case.kernel())[case.grid, case.block](
            *(cuda.to_device(a) if isinstance(a, np.ndarray) and a.dtype.names else a for a in here)
        )
        kernel = _core.PtxKernel(ptx, case.name.replace(" ", "_").replace("-", "_"))
        words = [
            a.ctypes.data if isinstance(a, np.ndarray) else int.from_bytes(a.tobytes(), "little")
            for a in (*there, np.int64(case.n))
        ]
        grid, block = ([*(e if isinstance(e, tuple) else (e,)), 1, 1][:3] for e in (case.grid, case.block))
        kernel.launch(grid, block, 0, words)
        for a, b in zip(here, there, strict=True):
            if isinstance(a, np.ndarray) and not a.dtype.names:
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6, err_msg=case.name)
