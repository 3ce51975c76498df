"""The common setup of all tests of the package, and the option `--parallel`."""

from __future__ import annotations

import functools
import importlib
import os
import sys
import zlib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

import lancehead
from lancehead import type_texts

# Tests of all folders import modules of `shared`. pytest has put this folder on the path, where folders named after a
# package (`numba`, `cupy`) would be found as that package if it is not installed.
HERE = Path(__file__).parent
sys.path[sys.path.index(str(HERE))] = str(HERE / "shared")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--parallel",
        type=int,
        nargs="?",
        const=1,
        metavar="N",
        help="compile with parallel=True where a test does not say otherwise, in blocks of one iteration; only every "
        "Nth test, chosen by the hash of its name",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("parallel"):
        # Before the modules of tests import them.
        lancehead.jit, lancehead.njit = in_parallel(lancehead.jit), in_parallel(lancehead.njit)
        reduce_on_the_pool()


def reduce_on_the_pool() -> None:
    """Lowers the sizes from which reductions run on the pool, which the arrays of tests do not reach."""
    # As stored, the library has the values of its globals when it was built.
    os.environ["LANCEHEAD_LIBRARY"] = "source"
    # Nothing else imports the library.
    for module in map(importlib.import_module, ("lancehead.lib.numpy.folds", "lancehead.lib.numpy.reductions")):
        for name, value in {"MANY": 1, "FEW": 2, "COLUMNS": 2, "BLOCK": 128}.items():
            if hasattr(module, name):
                setattr(module, name, value)


def in_parallel(decorator: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator of functions whose array expressions and reductions run on threads."""

    @functools.wraps(decorator)
    def decorate(*given: Any, **options: Any) -> Any:
        return decorator(*given, **{"parallel": True, **options})

    return decorate


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    share = config.getoption("parallel")
    if share:
        others = [item for item in items if zlib.crc32(item.nodeid.encode()) % share]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if not zlib.crc32(item.nodeid.encode()) % share]


@pytest.fixture(autouse=True)
def blocks_of_one_iteration(request: pytest.FixtureRequest) -> Iterator[None]:
    """With `--parallel`: the arrays of tests are so short that loops over them would be one block."""
    if not request.config.getoption("parallel"):
        yield
        return
    with lancehead.parallel_chunksize(1):
        yield


#: Folders whose tests look at machine code, speed, reports, debugging, threads or files of code; and that of the whole
#: library, whose functions go through all passes there.
OPTIMISED = {"api", "cache", "cuda", "cudalib", "cupy", "docs", "lib", "loops", "parallel"}


def is_optimised(config: pytest.Config, path: Path) -> bool:
    """Whether LLVM optimises all that a file's functions become."""
    if config.getoption("--optimised") or config.getoption("parallel") or path.parent.name in OPTIMISED:
        return True
    return is_marked(path)


@functools.cache
def is_marked(path: Path) -> bool:
    """Whether a whole file has the mark, which is known before it is imported."""
    return "\npytestmark = pytest.mark.optimised\n" in path.read_text(encoding="utf-8")


def with_little_optimisation(patched: pytest.MonkeyPatch) -> None:
    """Functions are compiled as for debuggers, unless their decorators speak of debugging or of parallel loops, which
    run in order in such functions."""
    settled = lancehead.config.with_settings

    def with_settings(function: Any, options: dict[str, Any]) -> dict[str, Any]:
        options = settled(function, options)
        is_free = options.get("debug") is None and not options.get("parallel")
        return {**options, "debug": True} if is_free else options

    patched.setattr(lancehead.config, "with_settings", with_settings)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, object, object]:
    """Imports a file under the setting that its tests have."""
    if not isinstance(collector, pytest.Module) or is_optimised(collector.config, collector.path):
        return (yield)
    with pytest.MonkeyPatch.context() as patched:
        with_little_optimisation(patched)
        return (yield)


@pytest.fixture(autouse=True)
def unoptimised(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions that a test compiles have little of LLVM's optimisation, which would be most of the time of tests that
    look at results. Files and tests with the mark `optimised` and folders of such have it, at night all do."""
    if not is_optimised(request.config, request.path) and not request.node.get_closest_marker("optimised"):
        with_little_optimisation(monkeypatch)


@pytest.fixture(autouse=True)
def served_only_by_a_test():
    """A test that serves Numba in its own process serves it to no other test."""
    served, finders, variable = type_texts.served, list(sys.meta_path), os.environ.get("LANCEHEAD_SERVE_NUMBA")
    yield
    if type_texts.served != served:
        sys.meta_path[:] = finders
        type_texts.served = served
        for name in [name for name in sys.modules if name.split(".")[0] in ("numba", "llvmlite")]:
            del sys.modules[name]
        if variable is None:
            os.environ.pop("LANCEHEAD_SERVE_NUMBA", None)
