"""A share of the tests of NumPy's functions under `parallel=True`, in blocks of one iteration; all of them take as long
as without it: `cargo xtask test FILES --parallel`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

TESTS = Path(__file__).parents[1]
PATTERNS = (
    "lib/test_lib_decompositions.py", "lib/test_lib_methods.py", "lib/test_lib_numpy.py", "numpy/test_arrays_*.py",
    "numpy/test_einsum.py", "numpy/test_numpy_*.py", "numpy/test_scipy_*.py", "values/test_datetime64.py",
    "values/test_float16.py", "values/test_records.py", "values/test_text_arrays.py",
)  # fmt: skip


def test_a_share_of_the_tests_in_parallel(some: Callable[[int, int], int]) -> None:
    """One test of so many runs: at night less than a minute, else a third of it."""
    files = sorted({path for pattern in PATTERNS for path in TESTS.glob(pattern)} - {Path(__file__)})
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--parallel={some(16, 48)}"]
    run = subprocess.run([*command, *map(str, files)], cwd=TESTS, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
    assert "passed" in run.stdout
