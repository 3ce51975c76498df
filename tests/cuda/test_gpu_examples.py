"""The programs of `examples/cuda` say the same on a GPU, that of the library that stands in for a driver, as on the CPU
device."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lancehead.cuda import toolkit
from test_bench import STARTS

EXAMPLES = Path(__file__).parents[2] / "examples" / "cuda"
# Ufuncs of the CPU round products and sums on their own.
DIFFER = {"vmult"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("starts")
    (made / "sitecustomize.py").write_text(STARTS.format(tests=str(Path(__file__).parent), folder=str(made)))
    return made


@pytest.mark.parametrize("name", sorted(p.stem for p in EXAMPLES.glob("*.py")))
def test_it_says_the_same(folder: Path, name: str) -> None:
    if name == "cuda_c" and toolkit.library("libnvrtc") is None:
        pytest.skip("needs NVRTC")

    def said(device: str, path: str) -> str:
        variables = {**os.environ, "LANCEHEAD_CUDA_DEVICE": device, "PYTHONPATH": path}
        return subprocess.run(
            [sys.executable, str(EXAMPLES / f"{name}.py")], env=variables, capture_output=True, text=True, check=True
        ).stdout

    known = os.environ.get("PYTHONPATH", "")
    there = said("gpu", f"{folder}{os.pathsep}{known}")
    assert there == said("cpu", known) or name in DIFFER and there
