"""Kernels for GPUs in the cache: machine code is found by later processes, which compile nothing, and never when it
does not fit."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from lancehead import config, cuda
from lancehead._command import cache
from stand_in import StandIn

PROGRAM = """
import ctypes, json, os
import numpy as np
from lancehead import cuda

table = np.arange(float(os.environ.get("TABLE", 4)))
SCALE = int(os.environ.get("SCALE", 2))

@cuda.jit(device=True)
def scaled(x):
    return x * SCALE

@cuda.jit(cache=True)
def kernel(a, x):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = scaled(x) + table[i % 4]

@cuda.jit(cache=True, debug=True, opt=False)
def checked(a, x):
    if a[0] < 0:
        raise ValueError("negative")
    a[0] = x

def main():
    cuda.device_array(1)
    kernel[1, 8](cuda.device_array(8), 3.0)
    driver = ctypes.CDLL(os.environ["LANCEHEAD_CUDA_DRIVER"])
    stats = kernel.stats
    print(json.dumps([driver.fake_assembled(), sum(stats.cache_hits.values()), sum(stats.cache_misses.values())]))
"""


@pytest.fixture
def program(gpu: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LANCEHEAD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def run(program: Path, **environment: str) -> list[int]:
    """The counts that a process reports: how often the driver has assembled, hits and misses of the cache."""
    command = [sys.executable, "-c", "import program; program.main()"]
    path = f"{program.parent}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    given = {**os.environ, "PYTHONPATH": path, **environment}
    made = subprocess.run(command, env=given, check=True, capture_output=True, text=True, cwd=program.parent).stdout
    return json.loads(made.splitlines()[-1])  # type: ignore[no-any-return]


def files(program: Path) -> list[Path]:
    return list(cache.files([program.parent / "cache"]))


def load(program: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("program", program)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules["program"] = made
    spec.loader.exec_module(made)
    return made


def test_a_second_process_compiles_nothing(program: Path) -> None:
    assert run(program) == [1, 0, 1]
    assert run(program) == [0, 1, 0]
    assert len(files(program)) == 1
    assert any("sm_90/12.4" in line for line in cache.listing([program.parent / "cache"], long=False))
    reads = cache.listing([program.parent / "cache"], long=True)
    assert any("SCALE" in line for line in reads) and any("table" in line for line in reads)


def test_what_it_depends_on(program: Path) -> None:
    run(program)
    for change in ({"SCALE": "3"}, {"TABLE": "5"}, {"FAKE_CUDA_VERSION": "12080"}):
        assert run(program, **change) == [1, 0, 1]
        assert run(program, **change) == [0, 1, 0]
    assert run(program) == [0, 1, 0]


def test_damaged_files_are_not_read(program: Path) -> None:
    run(program)
    (file,) = files(program)
    whole = file.read_bytes()
    for damaged in (whole[:-7], whole[:40], b"", whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:]):
        file.write_bytes(damaged)
        assert cache.verify([program.parent / "cache"], remove=False)[1] == [file]
        assert run(program) == [1, 0, 1]
        assert run(program) == [0, 1, 0]
    assert cache.clear([program.parent / "cache"]) == [file]
    assert run(program) == [1, 0, 1]


def test_what_is_found_runs(program: Path, gpu: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(program.parent))
    for expected in ([0, 1], [1, 0]):
        found = load(program)
        a = np.zeros(8)
        found.kernel[1, 8](a, 3.0)
        assert a.tolist() == [6 + i % 4 for i in range(8)]
        assert [sum(c.values()) for c in (found.kernel.stats.cache_hits, found.kernel.stats.cache_misses)] == expected
        found.checked[1, 1](a, 3.0)
        a[0] = -1
        with pytest.raises(ValueError, match=r"tid=\[0, 0, 0\] ctaid=\[0, 0, 0\]: negative"):
            found.checked[1, 1](a, 3.0)
    assert len(files(program)) == 2


def test_the_cpu_device_has_entries_of_its_own(program: Path) -> None:
    run(program)
    assert run(program, LANCEHEAD_CUDA_DEVICE="cpu") == [0, 0, 1]
    assert run(program, LANCEHEAD_CUDA_DEVICE="cpu") == [0, 1, 0]
    assert run(program) == [0, 1, 0]
    assert len(files(program)) == 2


def test_captured_arrays_are_those_of_the_first_launch(gpu: StandIn) -> None:
    table = np.arange(3.0)

    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        a[i] = table[i]

    a = np.zeros(3)
    kernel[1, 3](a)
    table[0] = 9
    kernel[1, 3](a)
    assert a.tolist() == [0, 1, 2]
