"""Tests run kernels on the CPU device, where there is a GPU too; those of the GPU choose it themselves.

Options are for `cargo xtask check`: `--times` keeps the seconds of each test, `--optimised` and `--whole` do what a
night has time for.
"""

from __future__ import annotations

import os
import tempfile
from collections import defaultdict
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The seconds of an example are those of a compilation, or none.
settings.register_profile(
    "lancehead", deadline=None, max_examples=60, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("lancehead")

os.environ.setdefault("LANCEHEAD_CUDA_DEVICE", "cpu")
# By these NumPy's BLAS takes kernels of another processor, and `lancehead demo` starts a process without them.
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)
# Warnings of passes that were undone in this process or in those that it starts. There must be none, see
# `docs/diagnostics/optimisation-undone.md`.
os.environ.setdefault("LANCEHEAD_UNDONE", str(Path(tempfile.mkdtemp("", "lancehead-")) / "undone.txt"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--times", type=Path, metavar="FILE", help="write the seconds of each test, and of each import")
    parser.addoption("--optimised", action="store_true", help="optimise code in all tests")
    parser.addoption("--whole", action="store_true", help="run all cases of tests that have very many, not a sample")


def pytest_configure(config: pytest.Config) -> None:
    if into := config.getoption("--times"):
        config.pluginmanager.register(Times(into))


@pytest.fixture
def some(request: pytest.FixtureRequest) -> Callable[[int, int], int]:
    """The first of two numbers with `--whole`, else the second."""
    return lambda whole, sample: whole if request.config.getoption("--whole") else sample


def undone() -> str:
    """The warnings of passes that were undone so far."""
    path = Path(os.environ["LANCEHEAD_UNDONE"])
    return path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if undone():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if said := undone():
        terminalreporter.section(f"passes were undone: {said.count('warning[')}", red=True)
        terminalreporter.write(said)


def processor_seconds() -> float:
    """Seconds of processors for this process and its children, which do not depend on what else the machine does."""
    return sum(os.times()[:4])


class Times:
    """A plugin that writes a line for each test and each file: seconds of processors, and the name."""

    def __init__(self, into: Path) -> None:
        self.into, self.seconds = into, defaultdict[str, float](float)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, object, object]:
        start = processor_seconds()
        report = yield
        if isinstance(collector, pytest.File):
            self.seconds[collector.nodeid] += processor_seconds() - start
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        start = processor_seconds()
        done = yield
        self.seconds[item.nodeid] += processor_seconds() - start
        return done

    def pytest_sessionfinish(self) -> None:
        self.into.write_text("".join(f"{seconds:.3f} {name}\n" for name, seconds in self.seconds.items()))
