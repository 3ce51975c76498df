"""Runs the tests of numba-cuda-mlir on the CPU device, from a checkout of its repository that MLIR_CHECKOUT names.

Usage:

    MLIR_CHECKOUT=... python benches/mlir_suite.py [--json FILE] [--jobs N] [--limit SECONDS] [part of a path] ...
    python benches/mlir_suite.py --page FILE.json        the table of docs/conformance.md

`numba_cuda_mlir` is the one that `lancehead run` serves; modules below it that are not served are placeholders that
raise when they are used. A test that needs one counts as not served. Needs `filecheck`, as the tests themselves do.
"""

from __future__ import annotations

import argparse
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PACKAGE = "numba_cuda_mlir"
#: Folders of tests of the compiler's own parts, and of speed.
LEFT_OUT = ("ast_transforms", "benchmarks", "infra", "mlir")
#: Files of the checkout that help its tests.
HELPERS = {
    f"{PACKAGE}.testing": "testing/__init__.py",
    **{
        f"{base}.{name}": f"numba_cuda/{file}"
        for base in (f"{PACKAGE}.numba_cuda", "numba.cuda")
        for name, file in {"testing": "testing.py", "tests.support": "tests/support.py"}.items()
    },
}
#: Parts of messages about names that are not served.
SAID = (
    "which lancehead does not support", "does not provide `", "is not supported; write it", "is not supported:",
    "`Absent`", "(Absent)", "'Placeholder'", "inspect_mlir", "CUDA_DUMP_NVVM",
)  # fmt: skip
KINDS = ("passed", "failed", "left out", "not served")


class Placeholder(ModuleType):
    """A module that is not served."""

    __path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        from lancehead._absent import Absent

        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name__}.{name}")


class Rest(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds helpers in the checkout, and placeholders for what is not served."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """A helper's or a placeholder's spec, or None for what is served."""
        from lancehead._command import serve

        if name in HELPERS:
            file = Path(os.environ["MLIR_CHECKOUT"], "src", PACKAGE, HELPERS[name])
            return importlib.util.spec_from_file_location(
                name, file, submodule_search_locations=[] if file.name == "__init__.py" else None
            )
        above, _, last = name.rpartition(".")
        if name == "numba.cuda.tests":
            return importlib.machinery.ModuleSpec(name, self)
        if not above.startswith(PACKAGE) or serve.place(name) or serve.in_numba(name) in serve._absent.MODULES:
            return None
        if serve.place(above) and hasattr(sys.modules[above], last):
            return None
        return None if above == PACKAGE and last == "njit" else importlib.machinery.ModuleSpec(name, self)

    def create_module(self, spec: Any) -> ModuleType:
        """A placeholder."""
        return Placeholder(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is left to do."""


def pytest_addoption(parser: Any) -> None:
    """The option of the package's own `conftest.py`, which looks for a GPU and is left out."""
    parser.addoption("--dump-failed-filechecks", action="store_true")


def pytest_configure(config: Any) -> None:
    """Puts the modules in place."""
    from lancehead._command import serve

    for name in ("numba_cuda_test_binaries", "requires_cc_min", "requires_cc_exact"):
        config.addinivalue_line("markers", name)
    serve.install()
    sys.meta_path.insert(0, Rest())
    for base in (f"{PACKAGE}.numba_cuda", "numba.cuda"):
        # A library of NVIDIA's, without which the tests' own helpers leave out whole classes.
        importlib.import_module(f"{base}.testing").cudadevrt_missing = lambda: False


@pytest.fixture(scope="class")
def initialize_from_pytest_config(request: Any) -> None:
    """The fixture of the package's own `conftest.py`."""
    request.cls._dump_failed_filechecks = False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Any:
    """Keeps each test's outcome, and why it did not pass."""
    report = yield
    text = str(report.longrepr or "")
    kind = {"passed": "passed", "skipped": "left out"}.get(report.outcome, "failed")
    if kind == "failed" and item.get_closest_marker("numba_cuda_test_binaries"):
        kind = "left out"
    if kind == "failed":
        error = call.excinfo.value
        if any(said in text for said in SAID):
            kind = "not served"
        elif isinstance(error, ModuleNotFoundError) and not str(error.name).startswith(PACKAGE):
            kind = "left out"
    if report.when == "call" or kind != "passed":
        name = item.nodeid.rpartition("tests/")[2]
        with open(os.environ["MLIR_RESULTS"], "a", encoding="utf-8") as file:
            file.write(json.dumps([name, kind, text[-2000:]]) + "\n")
    return report


def run(checkout: Path, file: Path, limit: float) -> dict[str, tuple[str, str]]:
    """The outcomes of a file's tests."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder, "results")
        results.touch()
        paths = [str(Path(__file__).parent), str(checkout / "tests"), os.environ.get("PYTHONPATH", "")]
        variables = {
            "PYTHONPATH": os.pathsep.join(paths), "MLIR_RESULTS": str(results), "LANCEHEAD_CUDA_DEVICE": "cpu",
            "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": "0", "LANCEHEAD_SERVE_NUMBA": "1",
        }  # fmt: skip
        command = [
            sys.executable, "-m", "pytest", "-q", "--noconftest", "-p", "mlir_suite", "-p", "no:cacheprovider",
            "--import-mode=importlib", "-c", os.devnull, f"--rootdir={checkout}", str(file),
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command, env={**os.environ, **variables}, capture_output=True, text=True, timeout=limit, cwd=folder,
                check=False,
            )  # fmt: skip
            said, status = done.stdout + done.stderr, done.returncode
        except subprocess.TimeoutExpired:
            said, status = "out of time", -1
        lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    found = {name: (kind, text) for name, kind, text in lines}
    if status not in (0, 1, 5):
        kind = "not served" if any(part in said for part in (*SAID, "ImportError", "ModuleNotFound")) else "failed"
        found[f"{file.relative_to(checkout / 'tests')} (file)"] = kind, said[-3000:]
    return found


def page(found: dict[str, list[str]]) -> str:
    """The table of the manual."""
    areas: dict[str, Counter[str]] = {}
    for name, (kind, _) in found.items():
        folder = name.removeprefix("numba_cuda_tests/").split("::")[0].rpartition("/")[0] or "(top)"
        areas.setdefault(folder, Counter())[kind] += 1
    areas["all"] = sum(areas.values(), Counter())
    lines = ["| folder | tests | left out | names not served | passed | |", "|---|---:|---:|---:|---:|---:|"]
    for area, kinds in sorted(areas.items(), key=lambda item: (item[0] == "all", item[0])):
        total = sum(kinds.values())
        share = 100 * kinds["passed"] / max(1, total - kinds["left out"] - kinds["not served"])
        numbers = f"{total} | {kinds['left out']} | {kinds['not served']} | {kinds['passed']} | {share:.0f} %"
        lines.append(f"| {area} | {numbers} |")
    return "\n".join(lines)


def main() -> None:
    """Runs the tests, or prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=300)
    options = parser.parse_args()
    if options.page:
        print(page(json.loads(options.page.read_text(encoding="utf-8"))))
        return
    checkout = Path(os.environ["MLIR_CHECKOUT"]).resolve()
    files = [
        file
        for file in sorted((checkout / "tests").rglob("test_*.py"))
        if not {*LEFT_OUT} & {*file.relative_to(checkout / "tests").parts}
        and (not options.parts or any(part in str(file) for part in options.parts))
    ]
    found: dict[str, tuple[str, str]] = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        for part in pool.map(lambda file: run(checkout, file, options.limit), files):
            found.update(part)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    print(page({name: [*outcome] for name, outcome in found.items()}))


if __name__ == "__main__":
    main()
