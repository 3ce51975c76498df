"""Kernels on a GPU, beside numba-cuda and CuPy where they are installed: `python benches/gpu/run.py [--small]
[--seconds N] [--json FILE] [table.md]`.

Needs no network. Times of kernels are the GPU's own, by events: medians of rounds after warming up. Arguments are
random, outputs poisoned, both larger than the L2 cache unless `--small` only tries whether everything works.
`numba-cuda` and `CuPy` are their times divided by ours; CuPy runs the same kernels in CUDA C (`peers.cu`). Where there
is no GPU it says so, and ends with 0; with LANCEHEAD_CUDA_DEVICE=gpu that is an error.

Groups of rows are measured in processes of their own, ours before the others'. A row that fails, ends its process or
takes too long says so, and the rest goes on. The file has at any time what is known so far.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import importlib
import importlib.util
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tests" / "cuda")]
sys.path.append(str(HERE.parent))
import figures  # isort: skip
import numpy as np

import guarded
from cases import SMALL, Case, CpuDevice, Sizes, cases, runs
from guarded import Report, Skipped, Task
from lancehead import cuda

HEAD = "| row | case | here | | numba-cuda | CuPy | as the CPU device |\n|---|---|---:|---:|---:|---:|---|"
OURS, PEERS = "lancehead", {"numba-cuda": "numba", "CuPy": "cupy"}
# Numbers of arrays and of scalars that launches have.
ARGUMENTS = {"nothing": (0, 0), "1 array": (1, 0), "16 scalars": (0, 16), "16 arrays": (16, 0), "256 scalars": (0, 256)}
NOTHING = b".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry nothing()\n{\n ret;\n}\n\0"
FIRST = ("add float32", "matmul_shared")
# The exit status of a process of a first call where the library does not work.
SKIPPED = 77
BARE, NOT_MEASURED = "cuLaunchKernel by ctypes", "not measured"
# Seconds that a group may take.
LIMITS = {"facts": 45, "row 2": 60, "row 14": 60, "kernels": 120, "the CPU device": 90}


class Cupy:
    """CuPy's kernels, with the events of the other APIs."""

    def __init__(self) -> None:
        self.cupy = importlib.import_module("cupy")
        self.event, self.event_elapsed_time = self.cupy.cuda.Event, self.cupy.cuda.get_elapsed_time
        self.synchronize, self.to_device = self.cupy.cuda.runtime.deviceSynchronize, self.cupy.asarray

    def launch(self, case: Case, args: list[Any]) -> Callable[[], None]:
        """A launch of a case's kernel."""
        together = case.name == "heat_steps"
        module = self.cupy.RawModule(
            code=(HERE / "peers.cu").read_text(),
            enable_cooperative_groups=together,
            options=("-DCOOPERATIVE",) * together,
        )
        function = module.get_function(case.name.replace(" ", "_").replace("-", "_"))
        grid, block = (extent if isinstance(extent, tuple) else (extent,) for extent in (case.grid, case.block))
        return lambda: function(grid, block, (*args, np.int64(case.n)))

    def empty(self, count: int, args: list[Any]) -> Callable[[], None]:
        """A launch of a kernel that does nothing."""
        kinds = ", ".join(f"{'float *' if hasattr(a, 'shape') and a.shape else 'int '}a{i}" for i, a in enumerate(args))
        kernel = self.cupy.RawKernel(f'extern "C" __global__ void nothing({kinds}) {{}}', "nothing")
        return lambda: kernel((1,), (32,), tuple(args))


class Jitted:
    """lancehead, or another implementation of its API."""

    def __init__(self, api: Any, **options: Any) -> None:
        self.api, self.options, self.event, self.event_elapsed_time = api, options, api.event, api.event_elapsed_time
        self.synchronize, self.to_device = api.synchronize, api.to_device

    def launch(self, case: Case, args: list[Any]) -> Callable[[], None]:
        """A launch of a case's kernel."""
        configured = self.api.jit(case.kernel(), **self.options)[case.grid, case.block]
        return lambda: configured(*args)

    def empty(self, count: int, args: list[Any]) -> Callable[[], None]:
        """A launch of a kernel that does nothing."""
        names: dict[str, Any] = {}
        exec(f"def nothing({', '.join(f'a{i}' for i in range(count))}): pass", names)
        configured = self.api.jit(names["nothing"])[1, 32]
        return lambda: configured(*args)


def device_ms(api: Any, run: Callable[[], None], small: bool) -> float:
    """Milliseconds of a launch by the device's clock: the median of rounds that are not short."""

    def between(count: int) -> float:
        start, end = api.event(), api.event()
        start.record()
        for _ in range(count):
            run()
        end.record()
        end.synchronize()
        return api.event_elapsed_time(start, end) / count

    run()
    count = 1 if small else max(1, min(500, int(40 / max(between(1), 1e-3))))
    return statistics.median(between(count) for _ in range(3 if small else 7))


def host_us(run: Callable[[], Any], wait: Callable[[], Any], small: bool) -> float:
    """Microseconds that the host needs for a launch: the median of rounds, which end before they are waited for."""
    times = []
    for _ in range(3 if small else 15):
        start = time.perf_counter()
        for _ in range(2 if small else 200):
            run()
        times.append((time.perf_counter() - start) / (2 if small else 200) * 1e6)
        wait()
    return statistics.median(times[1:])


def bare_us(small: bool) -> float:
    """A launch of nothing by the driver itself."""
    driver = ctypes.CDLL(os.environ.get("LANCEHEAD_CUDA_DRIVER") or "libcuda.so.1")
    module, function, one, none = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint(1), ctypes.c_void_p()
    # The context is the one that is in use here, once something has been done in it.
    cuda.synchronize()
    if driver.cuModuleLoadDataEx(ctypes.byref(module), NOTHING, 0, None, None) or driver.cuModuleGetFunction(
        ctypes.byref(function), module, b"nothing"
    ):
        raise RuntimeError("the driver does not load a kernel that does nothing")
    return host_us(
        lambda: driver.cuLaunchKernel(function, one, one, one, one, one, one, ctypes.c_uint(), none, none, none),
        driver.cuCtxSynchronize,
        small,
    )


def launch_us(api: Any, kind: str, small: bool) -> dict[str, float]:
    """The time of a launch on the host."""
    arrays, scalars = ARGUMENTS[kind]
    args = [api.to_device(np.zeros(32, np.float32)) for _ in range(arrays)] + [np.int32(i) for i in range(scalars)]
    run = api.empty(len(args), args)
    run()
    return {"time": host_us(run, api.synchronize, small)}


def kernel_ms(api: Any, case: Case, small: bool) -> dict[str, Any]:
    """Milliseconds of a case."""
    states = case.row == "12" and isinstance(api, Cupy)
    args = [
        a.view(np.uint64) if states and isinstance(a, np.ndarray) and a.dtype.names else a for a in case.arguments()
    ]
    ms = device_ms(api, api.launch(case, [api.to_device(a) if isinstance(a, np.ndarray) else a for a in args]), small)
    return {"time": ms, "figure": case.figure(ms)}


def first_call(library: str, name: str) -> float:
    """Milliseconds of a kernel's first call in this process: compiled, loaded and done."""
    api = opened(library, cache=True)
    case = next(c for c in cases(getattr(api, "api", cuda), SMALL) if c.name == name)
    api.synchronize()
    args = [api.to_device(a) if isinstance(a, np.ndarray) else a for a in case.arguments()]
    start = time.perf_counter()
    api.launch(case, args)()
    api.synchronize()
    return (time.perf_counter() - start) * 1e3


def first_ms(library: str, name: str) -> dict[str, float]:
    """The same in a process of its own, with caches in the folder of this group: it finds what the one before has left
    there."""
    folder = f"{os.environ[guarded.FOLDER]}/{name}"
    caches = dict.fromkeys(("LANCEHEAD_CACHE_DIR", "NUMBA_CACHE_DIR", "CUPY_CACHE_DIR", "CUDA_CACHE_PATH"), folder)
    done = subprocess.run(
        [sys.executable, str(HERE / "run.py"), "--first", library, name],
        env={**os.environ, **caches},
        capture_output=True,
        text=True,
    )
    if done.returncode == SKIPPED:
        raise Skipped(done.stdout.strip())
    if done.returncode:
        raise RuntimeError(
            f"the process ended with {done.returncode}: {(done.stderr.strip().splitlines() or [''])[-1]}"
        )
    return {"time": float(done.stdout.split()[-1])}


def opened(library: str, **options: Any) -> Any:
    """A library, on the GPU."""
    if library == OURS:
        return Jitted(cuda, **options)
    try:
        if library == "CuPy":
            return Cupy()
        theirs = importlib.import_module("numba.cuda")
        importlib.import_module("numba.cuda.random")
    except ImportError as error:
        raise Skipped(str(error)) from None
    if not theirs.is_available():
        raise Skipped(f"{library} finds no GPU")
    return Jitted(theirs, **options)


def facts(small: bool) -> dict[str, Any]:
    """The card, its clocks, the versions of everything, and the sizes of arguments for it."""
    device, names = (
        cuda.get_current_device(),
        ("MULTIPROCESSOR_COUNT", "L2_CACHE_SIZE", "CLOCK_RATE", "MEMORY_CLOCK_RATE"),
    )
    total = cuda.current_context().get_memory_info().total
    lines = [
        f"{device.name.decode()}, {device.compute_capability}, {total >> 20} MiB, "
        + ", ".join(f"{n} {getattr(device, n)}" for n in names)
    ]
    if shutil.which("nvidia-smi"):
        asked = "--query-gpu=driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw"
        lines.append(
            subprocess.run(
                ["nvidia-smi", asked, "--format=csv,noheader"], capture_output=True, text=True, check=False
            ).stdout.strip()
        )
    known = {d.metadata["Name"]: d.version for d in distributions()}
    shown = [
        f"{n} {v}"
        for n, v in known.items()
        if n and (n in ("lancehead", "numpy", "numba-cuda") or n.startswith("cupy"))
    ]
    lines.append(", ".join([f"Python {platform.python_version()}", *shown]))
    return {"lines": lines, "sizes": SMALL if small else Sizes(blocks=2 * device.MULTIPROCESSOR_COUNT).within(total)}


def tasks(library: str, group: str, sizes: Sizes, small: bool) -> Iterator[Task]:
    """Of a group of rows."""
    api = functools.cache(lambda: opened(library))
    if group == "facts":
        yield Task("facts", lambda: facts(small))
    elif group == "launches":
        if library == OURS:
            yield Task(BARE, lambda: {"time": bare_us(small)})
        yield from (Task(f"launch with {kind}", lambda kind=kind: launch_us(api(), kind, small)) for kind in ARGUMENTS)
    elif group == "the CPU device":
        cpu = CpuDevice(os.environ[guarded.FOLDER])
        # The first computes on the CPU device, too.
        yield from (
            Task(run.name, lambda run=run: cpu.agrees(run), seconds=None if i else 60) for i, run in enumerate(runs())
        )
    elif group == "first calls":
        for name in FIRST:
            yield from (
                Task(f"first call of {name}, {when}", lambda name=name: first_ms(library, name))
                for when in ("cold", "cached")
            )
    else:
        numba = library == "numba-cuda"
        rows = cases(importlib.import_module("numba.cuda") if numba else cuda, sizes)
        left_out = {"CuPy": lambda c: c.row == "14", "numba-cuda": lambda c: c.name == "function in LTO-IR"}.get(
            library, lambda c: False
        )
        chosen = [c for c in rows if group == "kernels" and c.name != "heat_steps" or group_of(c) == group]
        yield from (Task(c.name, lambda c=c: kernel_ms(api(), c, small)) for c in chosen if not left_out(c))


def group_of(case: Case) -> str:
    """The group in which a case is measured here."""
    return "grid barriers" if case.name == "heat_steps" else f"row {case.row}"


class Row:
    """A line of the table."""

    def __init__(self, row: str, name: str, unit: str, digits: int) -> None:
        self.row, self.name, self.unit, self.digits = row, name, unit, digits
        self.here: float | None = None
        self.note = NOT_MEASURED
        self.beside: dict[str, float] = {}
        self.same = ""

    def __str__(self) -> str:
        here = "-" if self.here is None else f"{self.here:.{self.digits}f} {self.unit}"
        ratios = [f"{self.beside[p] / self.here:.2f}" if self.here and p in self.beside else "-" for p in PEERS]
        return f"| {self.row} | {self.name} | {here} | {self.note} | {' | '.join(ratios)} | {self.same} |"


class Table:
    """All rows. A file has what is known so far."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        self.head: list[str] = []
        self.rows = {
            BARE: Row("1", BARE, "us", 2),
            **{n: Row("1", n, "us", 2) for n in (f"launch with {kind}" for kind in ARGUMENTS)},
        }
        self.rows |= {c.name: Row(c.row, c.name, "ms", 3) for c in cases(cuda, SMALL)}
        self.rows |= {
            n: Row("16", n, "ms", 1)
            for n in (f"first call of {name}, {when}" for name in FIRST for when in ("cold", "cached"))
        }
        self.corpus: dict[str, str] = {}
        self.remarks: list[str] = []
        self.told: set[tuple[str, str]] = set()

    def note(self, library: str, group: str, report: Report) -> None:
        """Enters what has been measured."""
        if (report.task, report.how) == (guarded.EXIT, "passed"):
            return
        row, text = self.rows.get(report.task), " ".join(str(report.what).split())[:300].replace("|", "/")
        failed = {"failed": f"FAILED: {text}", "skipped": f"skipped: {text}", "late": NOT_MEASURED}.get(report.how)
        if report.task == "facts" and not failed:
            self.head = report.what["lines"]
        elif group == "the CPU device" and report.task.startswith("corpus "):
            self.corpus[report.task.removeprefix("corpus ")] = failed or report.what
        elif group == "the CPU device" and row:
            row.same = failed or report.what
        elif row and library == OURS:
            row.note = failed or report.what.get("figure", "")
            row.here = None if failed else report.what["time"]
        elif row and not failed:
            row.beside[library] = report.what["time"]
        # A library that is not there says the same of all rows.
        if failed and report.how != "late" and not (report.how == "skipped" and (library, failed) in self.told):
            self.told.add((library, failed))
            self.remarks.append(f"{library}, {report.task}: {failed}")
        self.write()
        print(f"  {library}, {report.task}: {failed or report.what}", flush=True)

    def __str__(self) -> str:
        bare = self.rows[BARE].here
        for name in (f"launch with {kind}" for kind in ARGUMENTS):
            if bare is not None and (ours := self.rows[name].here) is not None:
                self.rows[name].note = f"{ours - bare:+.2f} us"
        return "\n".join(
            [*self.head, "", HEAD, *map(str, self.rows.values()), self._corpus_row(), "", *self.remarks, ""]
        )

    def _corpus_row(self) -> str:
        same = sum(how == "yes" for how in self.corpus.values())
        others = "".join(f"; {name}: {how}" for name, how in self.corpus.items() if how != "yes")
        said = f"{same} bit for bit{others}" if self.corpus else NOT_MEASURED
        return f"| 18 | the corpus, {len(self.corpus)} kernels | | | | | {said} |"

    def result(self) -> figures.Result:
        """The figures, in the form of all benchmarks."""
        result = figures.Result("gpu", "python benches/gpu/run.py", 1, summary={"facts": self.head})
        heads = [(name, "", 2) for name in reversed(PEERS)]
        table = result.table("rows", "case", "here", "figure", *heads, "as the CPU device")
        for row in self.rows.values():
            here = "-" if row.here is None else f"{row.here:.{row.digits}f} {row.unit}"
            found = [row.beside.get(peer) for peer in reversed(PEERS)]
            ratios = [round(time / row.here, 2) if time and row.here else None for time in found]
            table.add(row.name, here, row.note, *ratios, row.same)
        same = sum(how == "yes" for how in self.corpus.values())
        table.add(f"the corpus, {len(self.corpus)} kernels", "", "", *[None] * len(PEERS), f"{same} bit for bit")
        return result

    def write(self) -> None:
        """Replaces the file."""
        if self.path:
            Path(f"{self.path}.new").write_text(str(self))
            os.replace(f"{self.path}.new", self.path)


def measure(table: Table, small: bool, seconds: float, each: float) -> None:
    """Fills the table: first our own rows, then the others', group by group, until the time is over."""
    deadline, sizes = time.monotonic() + seconds, SMALL
    here = dict.fromkeys(group_of(c) for c in cases(cuda, SMALL))
    plan = [(OURS, g) for g in ("facts", "launches", *here, "the CPU device", "first calls")]
    plan += [(peer, g) for peer in PEERS for g in ("launches", "kernels", "grid barriers", "first calls")]
    for library, group in plan:
        limit = min(deadline - time.monotonic(), LIMITS.get(group, 40))
        if limit < 1 or (library != OURS and importlib.util.find_spec(PEERS[library]) is None):
            continue
        command = [
            sys.executable,
            str(HERE / "run.py"),
            "--library",
            library,
            "--group",
            group,
            "--sizes",
            json.dumps(sizes),
        ]
        # Processes of the others leave the GPU to them: our part in them runs on the CPU device.
        device = {"LANCEHEAD_CUDA_DEVICE": "gpu" if library == OURS else "cpu"}
        for report in guarded.supervised([*command, *["--small"] * small], limit, each, device):
            table.note(library, group, report)
            if (report.task, report.how) == ("facts", "passed"):
                sizes = Sizes(*report.what["sizes"])


def main(arguments: list[str]) -> int:
    """Writes the table."""
    if arguments[:1] == ["--first"]:
        try:
            print(first_call(*arguments[1:]))
        except Skipped as reason:
            print(reason)
            return SKIPPED
        return 0
    names = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names.add_argument("table", nargs="?")
    names.add_argument("--small", action="store_true", help="tries whether everything works")
    names.add_argument("--seconds", type=float, default=600, help="after which nothing new is started")
    names.add_argument("--each", type=float, default=20, help="seconds that a row may take")
    figures.add_json(names)
    for hidden in ("library", "group", "sizes", "into"):
        names.add_argument(f"--{hidden}", help=argparse.SUPPRESS)
    given = names.parse_args(arguments)
    if given.group:
        guarded.work(tasks(given.library, given.group, Sizes(*json.loads(given.sizes)), given.small), given.into)
        return 0
    if guarded.is_without_gpu():
        print("no GPU here: kernels would run on the CPU device, which `cpu_device.py` measures")
        return 0
    guarded.stop_when_asked()
    table = Table(given.table)
    measure(table, given.small, given.seconds, given.each)
    print(table)
    table.result().write(given.json)
    return 0 if any(row.here is not None for row in table.rows.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
