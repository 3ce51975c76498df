"""Runs CuPy's own tests against `lancehead.cupy`, from a checkout that CUPY_CHECKOUT names.

Usage:

    CUPY_CHECKOUT=... python benches/cupy_suite.py [--json FILE] [--jobs N] [--limit SECONDS] [part of a path] ...
    python benches/cupy_suite.py --page FILE.json        the table of docs/conformance.md

`cupy` and `cupyx` are these packages here; what they lack is a placeholder that raises when it is used. A test that
needs such a name counts as not served.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.abc
import importlib.machinery
import json
import os
import subprocess
import sys
import tempfile
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

#: Folders whose tests are run.
FOLDERS = (
    "binary", "core", "creation", "cuda", "fft", "functional", "indexing", "io", "lib", "linalg", "logic",
    "manipulation", "math", "misc", "padding", "polynomial", "random", "sorting", "statistics", "testing",
)  # fmt: skip
#: Tests of what is not served, by parts of their names, and why. They count with those of names that are not there.
NOT_SERVED = {
    "test_graph.py": "graphs of CUDA: operations are compiled together without them",
    "TestRawNameExpressionCache": "machine code in files of CuPy's own cache",
    "TestRaw::test_dynamical_parallelism[": "kernels that start kernels",
    "testing_tests/test_condition.py": "private decorators, which this suite has in a form that tries a test once",
}


class NotServed(AttributeError):
    """A name that is not there."""


class Missing:
    """In place of a name that is not there: any use of it raises."""

    def __init__(self, name: str) -> None:
        self.__dict__["missing"] = name

    def __call__(self, *given: Any, **named: Any) -> Any:
        raise NotServed(self.missing)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self.missing}.{name}")

    def __bool__(self) -> bool:
        return False

    def __iter__(self) -> Any:
        return iter(())

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        return (object,)


class _Placeholder(types.ModuleType):
    __path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self.__name__}.{name}")


class Rest(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules of `lancehead.cupy` that are not there are placeholders."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """A placeholder."""
        if name.startswith(("lancehead.cupy.", "lancehead.cupyx.")):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> Any:
        """A placeholder."""
        return _Placeholder(spec.name.removeprefix("lancehead."))

    def exec_module(self, module: Any) -> None:
        """Nothing is left to do."""


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports of `cupy` and `cupyx` are those of `lancehead`."""

    kept: dict[str, Any] = {}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The module of a name of CuPy's."""
        if name.split(".")[0] in ("cupy", "cupyx", "cupy_backends"):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> Any:
        """Ours, or a placeholder."""
        try:
            found = importlib.import_module(f"lancehead.{spec.name}")
        except ImportError:
            found = _Placeholder(spec.name)
        # The file of a module stays its own.
        self.kept[spec.name] = getattr(found, "__spec__", None)
        return found

    def exec_module(self, module: Any) -> None:
        """Nothing is left to do, but private names are placeholders."""
        name = module.__spec__.name if module.__spec__ else module.__name__
        if self.kept.get(name) is not None:
            module.__spec__ = self.kept[name]


def pytest_configure(config: Any) -> None:
    """Puts the modules in place."""
    from lancehead import cupy
    from lancehead.cupy import testing
    from lancehead.cupy.testing import loops

    # Modules that are imported later are there before names that are lacking become placeholders.
    for name in ("arguments", "kernels", "raw"):
        importlib.import_module(f"lancehead.cupy.{name}")
    sys.meta_path.insert(0, Finder())
    sys.meta_path.append(Rest())
    conditions = types.ModuleType("cupy.testing._condition")
    for name in ("retry", "repeat", "repeat_with_success_at_least"):
        setattr(conditions, name, lambda *given: lambda f: f)
    testing._condition, sys.modules["cupy.testing._condition"] = conditions, conditions
    private = types.ModuleType("cupy.testing._loops")
    private._wraps_partial = lambda f, *names: lambda g: loops.without(g, f, names)
    private._wraps_partial_xp = private._wraps_partial
    testing._loops, sys.modules["cupy.testing._loops"] = private, private
    for name in ("_core", "_util", "_environment", "_logic", "_math", "_manipulation", "_sorting", "_binary"):
        setattr(cupy, name, _Placeholder(f"cupy.{name}"))
    for name in (
        "",
        ".cuda",
        ".cuda.device",
        ".cuda.driver",
        ".cuda.memory_hooks",
        ".cuda.runtime",
        ".cuda.stream",
        ".cuda.compiler",
        ".cuda.memory",
        ".cuda.pinned_memory",
        ".fft",
        ".linalg",
        ".random",
    ):
        module = importlib.import_module(f"lancehead.cupy{name}")
        module.__getattr__ = _fallback(getattr(module, "__getattr__", None), f"cupy{name}")
    # The tests of raw kernels begin with these; texts are kept by the compiler's own cache.
    caches = types.ModuleType("cupy.cuda._compiler_cache")
    caches.DiskKernelCacheBackend = type("DiskKernelCacheBackend", (), {"__init__": lambda self, path: None})
    sys.modules["cupy.cuda._compiler_cache"] = sys.modules["lancehead.cupy.cuda._compiler_cache"] = caches
    cupy.cuda._compiler_cache, cupy.cuda.get_nvcc_path = caches, lambda: "nvcc"
    cupy.cuda.compiler._run_cc = lambda *given: "release 12.0"
    # Private names that only choose tests, or are a public one's other name.
    cupy.cuda.driver._is_cuda_python, cupy._util.clear_memo = lambda: False, cupy.clear_memo
    cupy.cuda.compiler._get_nvrtc_version = lambda: divmod(cupy.cuda.runtime.runtimeGetVersion() // 10, 100)
    for mark in ("slow", "multi_gpu"):
        config.addinivalue_line("markers", f"{mark}: of CuPy")


def _fallback(own: Any, module: str) -> Any:
    # Names that a module does not have are placeholders.
    def find(name: str) -> Any:
        if own is not None:
            try:
                return own(name)
            except AttributeError:
                pass
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{module}.{name}")

    return find


def _is_missing(error: BaseException | None) -> bool:
    seen = 0
    while error is not None and seen < 9:
        if isinstance(error, (NotServed, ModuleNotFoundError)):
            return True
        text = str(error)
        modules = ("module 'lancehead", "module 'cupy", "'ndarray' object has no")
        if isinstance(error, AttributeError) and any(part in text for part in modules):
            return True
        if isinstance(error, ImportError) and "lancehead" in text:
            return True
        error, seen = error.__cause__ or error.__context__, seen + 1
    return False


def pytest_collection_modifyitems(items: Any) -> None:
    """Notes the tests of what is not served."""
    for item in items:
        if any(part in item.nodeid for part in NOT_SERVED):
            _HERE[item.nodeid] = True


_COUNTS: dict[str, int] = {}
_FAILED: list[list[str]] = []
_HERE: dict[str, bool] = {}


def pytest_runtest_makereport(item: Any, call: Any) -> None:
    """Notes whether a test needs a name that is not there."""
    if call.excinfo is not None and _is_missing(call.excinfo.value):
        _HERE[item.nodeid] = True


def pytest_runtest_logreport(report: Any) -> None:
    """Counts."""
    if report.when != "call" and not (report.when == "setup" and report.outcome != "passed"):
        return
    outcome = report.outcome
    if hasattr(report, "wasxfail"):
        outcome = "skipped"
    elif outcome == "failed" and _HERE.get(report.nodeid):
        outcome = "missing"
    _COUNTS[outcome] = _COUNTS.get(outcome, 0) + 1
    if sum(_COUNTS.values()) % 20 == 0:
        # If the file takes too long, these are counted.
        _write()
    if outcome in ("failed", "missing"):
        lines = str(getattr(report.longrepr, "reprcrash", None) and report.longrepr.reprcrash.message).splitlines()
        _FAILED.append([outcome, report.nodeid, " ".join(lines[:3])[:300]])


def pytest_collectreport(report: Any) -> None:
    """A file that is not imported has no test that is served."""
    if report.failed:
        _FAILED.append(["collect", report.nodeid, str(report.longrepr)[-300:]])


def pytest_sessionfinish(session: Any) -> None:
    """Writes the counts."""
    _write()


def _write() -> None:
    if "CUPY_SUITE_COUNTS" in os.environ:
        found = {"counts": _COUNTS, "failed": _FAILED}
        Path(os.environ["CUPY_SUITE_COUNTS"]).write_text(json.dumps(found))


def _run(checkout: Path, path: Path, limit: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        counts = Path(folder) / "counts.json"
        # Programs that tests start, too, import these packages by CuPy's name.
        text = "import sys\n\nimport lancehead.cupy\n\nsys.modules['cupy'] = lancehead.cupy\n"
        (Path(folder) / "cupy.py").write_text(text)
        here = str(Path(__file__).resolve().parent)
        parts = [here, str(checkout / "tests"), *filter(None, [os.environ.get("PYTHONPATH")]), folder]
        env = {**os.environ, "CUPY_SUITE_COUNTS": str(counts), "PYTHONPATH": os.pathsep.join(parts)}
        command = [sys.executable, "-m", "pytest", "-q", "--noconftest", "-p", "cupy_suite"]
        options = ["-p", "no:cacheprovider", "-m", "not slow", "-W", "ignore", "--tb=line", "-o", "addopts=", str(path)]
        try:
            done = subprocess.run(
                [*command, *options], env=env, cwd=folder, capture_output=True, text=True, timeout=limit, check=False
            )
        except subprocess.TimeoutExpired:
            found = json.loads(counts.read_text()) if counts.exists() else {"counts": {}, "failed": []}
            found["failed"].append(["timeout", str(path), ""])
            return found
        if not counts.exists():
            return {"counts": {}, "failed": [["crash", str(path), (done.stdout + done.stderr)[-600:]]]}
        return json.loads(counts.read_text())  # type: ignore[no-any-return]


def page(found: dict[str, Any]) -> str:
    """The table of a run, by module."""
    lines = ["| module | tests | left out | names not served | passed | |", "|---|---:|---:|---:|---:|---:|"]
    rows: dict[str, list[int]] = {}
    for name, result in found.items():
        c = result["counts"]
        folder = name.split("/")[0].removesuffix("_tests")
        row = rows.setdefault(folder, [0, 0, 0, 0])
        for k, n in enumerate((sum(c.values()), c.get("skipped", 0), c.get("missing", 0), c.get("passed", 0))):
            row[k] += n
    total = [sum(column) for column in zip(*rows.values(), strict=True)]
    for name, (tests, skipped, missing, passed) in [*sorted(rows.items()), ("all", total)]:
        served = tests - skipped - missing
        share = f"{100 * passed / served:.0f} %" if served else ""
        lines.append(f"| {name} | {tests} | {skipped} | {missing} | {passed} | {share} |")
    return "\n".join(lines)


def main() -> None:
    """Runs the files one by one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=600, help="the longest time of a file in seconds")
    given = parser.parse_args()
    if given.page:
        print(page(json.loads(given.page.read_text())))
        return
    checkout = Path(os.environ["CUPY_CHECKOUT"])
    root = checkout / "tests/cupy_tests"
    files = [p for f in FOLDERS for p in sorted((root / f"{f}_tests").rglob("test_*.py"))]
    files = [p for p in files if not given.parts or any(part in str(p.relative_to(root)) for part in given.parts)]
    found: dict[str, Any] = json.loads(given.json.read_text()) if given.json and given.json.exists() else {}
    with ThreadPoolExecutor(given.jobs) as pool:
        for path, result in zip(files, pool.map(lambda p: _run(checkout, p, given.limit), files), strict=True):
            name = str(path.relative_to(root))
            found[name] = result
            print(name, result["counts"], *[f[2] for f in result["failed"] if f[0] in ("crash", "timeout")], flush=True)
            if given.json:
                given.json.write_text(json.dumps(found, indent=1))
    print(page(found))


if __name__ == "__main__":
    main()
