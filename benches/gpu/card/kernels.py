"""Every kernel of the corpus and of the table against the CPU device, then under NVIDIA's compute-sanitizer."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import cases
import guarded
from guarded import Skipped, Task
from lancehead.cuda import toolkit

# Kernels for which a tool looks at everything of its kind: shared memory, atomics, barriers of blocks, warps and grids.
LOOKED_AT = (
    "matmul_shared", "corpus vector_add", "corpus strided_copy", "corpus block_sum", "corpus dynamic_reverse",
    "corpus transpose",
    "corpus histogram", "corpus counted_barrier", "corpus warp_sum", "corpus votes", "corpus bitonic_local",
    "corpus atomics_64",
    "corpus ticket", "corpus heat_steps",
)  # fmt: skip
TOOLS, SECONDS = ("memcheck", "racecheck", "synccheck"), 20


def as_the_cpu_device(run: cases.Run, cpu: cases.CpuDevice) -> str | None:
    """The same bits as on the CPU device."""
    said = cpu.agrees(run)
    assert said != "NO", "the results are not those of the CPU device"
    return None if said == "yes" else said


@functools.cache
def _started(folder: str) -> dict[str, subprocess.Popen[bytes]]:
    """The kernels under all tools, at the same time."""
    program, started = toolkit.program("compute-sanitizer"), {}
    if program is None:
        raise Skipped("compute-sanitizer is not installed")
    for tool in TOOLS:
        options = [
            "--tool",
            tool,
            "--error-exitcode",
            "9",
            *(["--report-api-errors", "no"] if tool == "memcheck" else []),
        ]
        command = [program, *options, sys.executable, cases.__file__, f"{folder}/{tool}.npz", *LOOKED_AT]
        with open(f"{folder}/{tool}.log", "wb") as file:
            started[tool] = subprocess.Popen(command, stdout=file, stderr=file, stdin=subprocess.DEVNULL)
    return started


def sanitized(tool: str, folder: str) -> str:
    """Kernels under a tool, which finds nothing."""
    process = _started(folder)[tool]
    seconds = min(SECONDS, guarded.left() - 2)
    try:
        code = process.wait(max(seconds, 0))
    except subprocess.TimeoutExpired:
        raise Skipped(f"compute-sanitizer had not ended after {seconds:.0f} s") from None
    said = Path(f"{folder}/{tool}.log").read_text(errors="replace").strip()
    if not re.search(r"(ERROR|RACECHECK) SUMMARY", said):
        raise Skipped(f"compute-sanitizer does not run here: {said[-300:]}")
    assert code == 0, f"ended with {code}\n{said[:600]}\n{said[-600:]}"
    return said.splitlines()[-1]


def checks() -> Iterator[Task]:
    """Of this step."""
    folder = os.environ[guarded.FOLDER]
    cpu = cases.CpuDevice(folder)
    for run in cases.runs():
        check: Callable[[], str | None] = functools.partial(as_the_cpu_device, run, cpu)
        yield Task(run.name.replace(" ", "_"), check, seconds=12)
    for tool in TOOLS:
        yield Task(tool, functools.partial(sanitized, tool, folder), seconds=SECONDS + 5)
