"""Runs SciPy's own tests of sparse arrays and graphs against `lancehead.sparse`, those of the SciPy that is installed.

Usage: python benches/scipy_sparse_suite.py [--json FILE] [part of a file's name] ...

The names of `scipy.sparse` are ours before the tests import them. Tests of SciPy's private modules and of arrays
of more than two dimensions (`test_coo.py`) are not run. A test
that ends in a name that is not there, or in a refusal, counts as not served.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

#: Files of tests of public names, and the longest time of one in seconds.
FILES = (
    "tests/test_arithmetic1d.py", "tests/test_base.py", "tests/test_common1d.py", "tests/test_construct.py",
    "tests/test_csc.py", "tests/test_csr.py", "tests/test_dok.py", "tests/test_extract.py",
    "tests/test_indexing1d.py", "tests/test_matrix_io.py", "tests/test_minmax1d.py",
    "csgraph/tests/test_connected_components.py", "csgraph/tests/test_shortest_path.py",
    "csgraph/tests/test_spanning_tree.py", "csgraph/tests/test_traversal.py",
)  # fmt: skip
LIMIT = 900
#: The most memory of a file's tests, in bytes.
MEMORY = 8 << 30


def pytest_configure(config: Any) -> None:
    """Puts our names in place of SciPy's, after its own modules have theirs."""
    for name in ("scipy.sparse.linalg", "scipy.sparse.csgraph"):
        importlib.import_module(name)
    from lancehead import sparse

    # There are no values of these types here: the tests do without them.
    sputils = importlib.import_module("scipy.sparse._sputils")
    sputils.supported_dtypes = [t for t in sputils.supported_dtypes if t not in (np.longdouble, np.clongdouble)]
    # Some tests import public names from the modules that define them.
    for part in ("", "._construct", "._extract", "._matrix_io", ".csgraph"):
        ours = sparse.csgraph if part == ".csgraph" else sparse
        theirs = importlib.import_module(f"scipy.sparse{part}")
        for public in ours.__all__:
            if public != "csgraph" and hasattr(theirs, public):
                setattr(theirs, public, getattr(ours, public))
    for mark in ("slow", "xslow", "thread_unsafe", "parallel_threads", "fail_slow", "xfail_on_32bit", "iterations"):
        config.addinivalue_line("markers", f"{mark}: of SciPy")


_COUNTS: dict[str, int] = {}
_FAILED: list[list[str]] = []
_MISSING: set[str] = set()


def pytest_runtest_makereport(item: Any, call: Any) -> None:
    """Notes whether a test ends in a name that is not there, or in a refusal."""
    error = call.excinfo.value if call.excinfo is not None else None
    if isinstance(error, AttributeError | NotImplementedError | ImportError) or "does not support dtype" in str(error):
        _MISSING.add(item.nodeid)


def pytest_runtest_logreport(report: Any) -> None:
    """Counts."""
    if report.when != "call" and not (report.when == "setup" and report.outcome != "passed"):
        return
    outcome = "skipped" if hasattr(report, "wasxfail") else report.outcome
    if outcome == "failed" and report.nodeid in _MISSING:
        outcome = "missing"
    _COUNTS[outcome] = _COUNTS.get(outcome, 0) + 1
    if outcome in ("failed", "missing"):
        message = str(getattr(report.longrepr, "reprcrash", None) and report.longrepr.reprcrash.message)
        _FAILED.append([outcome, report.nodeid, " ".join(message.splitlines()[:3])[:300]])
    if sum(_COUNTS.values()) % 20 == 0:
        # If the file takes too long, these are counted.
        _write()


def pytest_sessionfinish(session: Any) -> None:
    """Writes the counts."""
    _write()


def _write() -> None:
    if "SPARSE_SUITE_COUNTS" in os.environ:
        Path(os.environ["SPARSE_SUITE_COUNTS"]).write_text(json.dumps({"counts": _COUNTS, "failed": _FAILED}))


def _run(path: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        counts = Path(folder) / "counts.json"
        parts = [str(Path(__file__).resolve().parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        env = {**os.environ, "SPARSE_SUITE_COUNTS": str(counts), "PYTHONPATH": os.pathsep.join(parts)}
        command = [sys.executable, "-m", "pytest", "-q", "--noconftest", "-p", "scipy_sparse_suite", "--tb=line"]
        options = ["-p", "no:cacheprovider", "-W", "ignore", "-o", "addopts=", str(path)]
        try:
            done = subprocess.run(
                [*command, *options],
                env=env,
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=LIMIT,
                check=False,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
            )
            end = (done.stdout + done.stderr)[-600:]
        except subprocess.TimeoutExpired:
            end = f"no end after {LIMIT} s"
        found = json.loads(counts.read_text()) if counts.exists() else {"counts": {}, "failed": []}
        if not counts.exists() or end.startswith("no end"):
            found["failed"].append(["crash", str(path), end])
        return found  # type: ignore[no-any-return]


def page(found: dict[str, Any]) -> str:
    """The table of a run, by file."""
    lines = ["| tests of | tests | left out | not served | passed | |", "|---|---:|---:|---:|---:|---:|"]
    rows = []
    for name, result in found.items():
        c = result["counts"]
        row = [sum(c.values()), c.get("skipped", 0), c.get("missing", 0), c.get("passed", 0)]
        rows.append((Path(name).stem.removeprefix("test_"), row))
    total = [sum(column) for column in zip(*(row for _, row in rows), strict=True)]
    for name, (tests, skipped, missing, passed) in [*rows, ("all", total)]:
        share = f"{100 * passed / max(1, tests - skipped - missing):.0f} %"
        lines.append(f"| {name} | {tests} | {skipped} | {missing} | {passed} | {share} |")
    return "\n".join(lines)


def main() -> None:
    """Runs the files one by one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    root = Path(importlib.import_module("scipy.sparse").__path__[0])
    found: dict[str, Any] = json.loads(given.json.read_text()) if given.json and given.json.exists() else {}
    for name in FILES:
        if not given.parts or any(part in name for part in given.parts):
            found[name] = result = _run(root / name)
            print(name, result["counts"], *[f[2] for f in result["failed"] if f[0] == "crash"], flush=True)
            if given.json:
                given.json.write_text(json.dumps(found, indent=1))
    print(page(found))


if __name__ == "__main__":
    main()
