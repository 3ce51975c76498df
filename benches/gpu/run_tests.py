"""Tests of kernels on the GPU of this machine, with pytest: `python benches/gpu/run_tests.py [--seconds 60] FILE.py
...`.

Each test has a time limit. One that ends the process or spoils the context costs nothing but itself: the tests after it
run in a new process.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from guarded import STICKY, Told, is_sticky, stop_when_asked, supervised

HERE = Path(__file__).parent
# Tests of what the CPU device does and a GPU does not.
ELSEWHERE = {
    "test_an_index_out_of_range_is_an_error_by_default": "GPUs check bounds when they are asked to",
    "test_what_kept_launches_refuse": "GPUs check bounds when they are asked to",
    "test_callbacks_of_linked_code": "callbacks of linked code are for the CPU device",
    "test_what_waits_to_be_freed_is_counted": "the driver keeps what waits to be freed",
}


class Reporter:
    """A plugin of pytest that tells how tests end."""

    def __init__(self, into: str, stop: type[BaseException]) -> None:
        self.told, self.exit, self.spoilt = Told(into), stop, False

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Runs what no process before has started."""
        to_do = set(self.told.to_do([item.nodeid for item in items]))
        for item in items:
            if item.nodeid in to_do and item.name in ELSEWHERE:
                self.told.start(item.nodeid)
                self.told.end(item.nodeid, "skipped", ELSEWHERE[item.name])
        items[:] = [item for item in items if item.nodeid in to_do and item.name not in ELSEWHERE]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test starts."""
        self.told.start(nodeid)

    def pytest_exception_interact(self, call: Any) -> None:
        """Looks for errors after which nothing works."""
        self.spoilt = (
            self.spoilt
            or is_sticky(call.excinfo.value)
            or any(f"[{code}] Call to" in str(call.excinfo.value) for code in STICKY)
        )

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A test, or what is made for it, has ended."""
        if report.when == "call" or report.outcome != "passed":
            text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr or "")
            said = [line[2:].strip() for line in text.splitlines() if line.startswith("E ")] or text.splitlines()[-1:]
            self.told.end(report.nodeid, report.outcome, "\n".join(said[:3])[:600])

    def pytest_runtest_logfinish(self) -> None:
        """Leaves the rest to a new process."""
        if self.spoilt:
            raise self.exit("the context is spoilt", 0)


def main(arguments: list[str]) -> int:
    """Runs the tests; gives 1 if one has failed."""
    names = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names.add_argument("files", nargs="+")
    names.add_argument("--seconds", type=float, default=60)
    names.add_argument("--each", type=float, default=10)
    names.add_argument("--into", help=argparse.SUPPRESS)
    given = names.parse_args(arguments)
    if importlib.util.find_spec("pytest") is None:
        print("SKIPPED: pytest is not installed")
        return 0
    if given.into:
        # It may be lacking, which is said above.
        pytest = importlib.import_module("pytest")
        code = pytest.main(
            ["-q", "-p", "no:cacheprovider", *given.files], plugins=[Reporter(given.into, pytest.exit.Exception)]
        )
        return 0 if code in (0, 1, 5) else 1
    stop_when_asked()
    count: Counter[str] = Counter()
    for report in supervised(
        [sys.executable, str(HERE / "run_tests.py"), *given.files],
        given.seconds,
        given.each,
        {"LANCEHEAD_CUDA_DEVICE": "gpu"},
    ):
        count[report.how] += 1
        if report.how in ("failed", "skipped", "late"):
            print(
                f"{report.how.upper():8}{report.task}: {' '.join(str(report.what or 'no time left').split())[:400]}",
                flush=True,
            )
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped, {count['late']} not run")
    return 1 if count["failed"] else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
