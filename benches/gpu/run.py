"""Kernels on a GPU, beside numba-cuda and CuPy where they are installed: `python benches/gpu/run.py [--small] [table.md]`. Needs no network.

Times of kernels are the GPU's own, by events: medians of rounds after warming up. Arguments are random, outputs poisoned, both larger
than the L2 cache unless `--small` only tries whether everything works. `numba-cuda` and `CuPy` are their times divided by ours; CuPy
runs the same kernels in CUDA C (`peers.cu`). Where there is no GPU it says so, and ends with 0.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import numpy as np

from lancehead import cuda

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "cuda"))
from cases import SMALL, Case, Sizes, all_cases, as_the_cpu_device, cases

HEAD = "| row | case | here | | numba-cuda | CuPy | as the CPU device |\n|---|---|---:|---:|---:|---:|---|"
# Numbers of arrays and of scalars that launches have.
ARGUMENTS = {"nothing": (0, 0), "1 array": (1, 0), "16 scalars": (0, 16), "16 arrays": (16, 0), "256 scalars": (0, 256)}
NOTHING = b".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry nothing()\n{\n ret;\n}\n\0"


class Cupy:
    """CuPy's kernels, with the events of the other APIs."""

    def __init__(self) -> None:
        self.cupy = importlib.import_module("cupy")
        self.event, self.event_elapsed_time = self.cupy.cuda.Event, self.cupy.cuda.get_elapsed_time
        self.synchronize, self.to_device = self.cupy.cuda.runtime.deviceSynchronize, self.cupy.asarray

    def launch(self, case: Case, args: list[Any]) -> Callable[[], None]:
        """A launch of a case's kernel."""
        together = case.name == "heat_steps"
        module = self.cupy.RawModule(code=(HERE / "peers.cu").read_text(), enable_cooperative_groups=together, options=("-DCOOPERATIVE",) * together)
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
        configured = self.api.jit(case.kernel, **self.options)[case.grid, case.block]
        return lambda: configured(*args)

    def empty(self, count: int, args: list[Any]) -> Callable[[], None]:
        """A launch of a kernel that does nothing."""
        names: dict[str, Any] = {}
        exec(f"def nothing({', '.join(f'a{i}' for i in range(count))}): pass", names)
        configured = self.api.jit(names["nothing"])[1, 32]
        return lambda: configured(*args)


def peers() -> dict[str, Any]:
    """The others that work here."""

    def numba_cuda() -> Any:
        theirs = importlib.import_module("numba.cuda")
        importlib.import_module("numba.cuda.random")
        return Jitted(theirs) if theirs.is_available() else None

    return {"numba-cuda": attempt(numba_cuda), "CuPy": attempt(Cupy)}


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


def attempt(measure: Callable[[], Any]) -> Any:
    """What another library gives, or none where it fails, which is said."""
    try:
        return measure()
    except Exception as error:
        print(f"  {type(error).__name__}: {str(error)[:200]}")
        return None


def ratios(ours: float, theirs: dict[str, Any], measure: Callable[[Any], float]) -> str:
    """What the others need, in units of what we need."""
    found = {name: attempt(lambda: measure(api)) if api else None for name, api in theirs.items()}
    return " | ".join("-" if t is None else f"{t / ours:.2f}" for t in found.values())


def bare_us(small: bool) -> float:
    """A launch of nothing by the driver itself."""
    driver = ctypes.CDLL(os.environ.get("LANCEHEAD_CUDA_DRIVER") or "libcuda.so.1")
    module, function, one, none = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint(1), ctypes.c_void_p()
    # The context is the one that is in use here.
    if driver.cuModuleLoadDataEx(ctypes.byref(module), NOTHING, 0, None, None) or driver.cuModuleGetFunction(ctypes.byref(function), module, b"nothing"):
        raise RuntimeError("the driver does not load a kernel that does nothing")
    return host_us(lambda: driver.cuLaunchKernel(function, one, one, one, one, one, one, ctypes.c_uint(), none, none, none), driver.cuCtxSynchronize, small)


def launches(others: dict[str, Any], small: bool) -> Iterator[str]:
    """What launches cost the host."""

    def measure(api: Any, arrays: int, scalars: int) -> float:
        args = [api.to_device(np.zeros(32, np.float32)) for _ in range(arrays)] + [np.int32(i) for i in range(scalars)]
        run = api.empty(len(args), args)
        run()
        return host_us(run, api.synchronize, small)

    bare = attempt(lambda: bare_us(small))
    yield f"| 1 | cuLaunchKernel by ctypes | {'-' if bare is None else f'{bare:.2f} us'} | | | | |"
    for name, (arrays, scalars) in ARGUMENTS.items():
        ours = measure(Jitted(cuda), arrays, scalars)
        beside = ratios(ours, others, lambda api, a=arrays, s=scalars: measure(api, a, s))
        yield f"| 1 | launch with {name} | {ours:.2f} us | {'' if bare is None else f'{ours - bare:+.2f} us'} | {beside} | |"


def measured(api: Any, case: Case, small: bool) -> float:
    """Milliseconds of a case."""
    states = case.row == "12" and isinstance(api, Cupy)
    args = [a.view(np.uint64) if states and a.dtype.names else a for a in case.args]
    return device_ms(api, api.launch(case, [api.to_device(a) if isinstance(a, np.ndarray) else a for a in args]), small)


def kernels(others: dict[str, Any], sizes: Sizes, same: dict[str, bool], small: bool) -> Iterator[str]:
    """The kernels' times."""
    of_numba = others["numba-cuda"] and all_cases(others["numba-cuda"].api, sizes)
    for case in all_cases(cuda, sizes):
        twin = attempt(lambda: next(of_numba)) if of_numba and case.name != "function in LTO-IR" else None
        ours = measured(Jitted(cuda), case, small)
        there = {"numba-cuda": others["numba-cuda"] if twin else None, "CuPy": others["CuPy"] if case.row != "14" else None}
        beside = ratios(ours, there, lambda api, own=case, other=twin: measured(api, other if isinstance(api, Jitted) else own, small))
        yield f"| {case.row} | {case.name} | {ours:.3f} ms | {case.figure(ours)} | {beside} | {'yes' if same[case.name] else 'NO'} |"


def first_call(package: str, name: str) -> float:
    """Milliseconds of a kernel's first call in this process: compiled, loaded and done."""
    api = Cupy() if package == "cupy" else Jitted(importlib.import_module(package), cache=True)
    case = next(c for c in cases(getattr(api, "api", cuda), SMALL) if c.name == name)
    api.synchronize()
    args = [api.to_device(a) if isinstance(a, np.ndarray) else a for a in case.args]
    start = time.perf_counter()
    api.launch(case, args)()
    api.synchronize()
    return (time.perf_counter() - start) * 1e3


def first_calls(others: dict[str, Any]) -> Iterator[str]:
    """First calls in processes of their own: with empty caches, then with what those have left there."""

    def measure(package: str, name: str, folder: str) -> float:
        caches = {v: f"{folder}/{package}" for v in ("LANCEHEAD_CACHE_DIR", "NUMBA_CACHE_DIR", "CUPY_CACHE_DIR", "CUDA_CACHE_PATH")}
        command = [sys.executable, str(HERE / "run.py"), "--first", package, name]
        return float(subprocess.run(command, env={**os.environ, **caches}, stdout=subprocess.PIPE, text=True, check=True).stdout.split()[-1])

    names = {"numba-cuda": "numba.cuda", "CuPy": "cupy"}
    for name in ("add float32", "matmul_shared"):
        with tempfile.TemporaryDirectory() as folder:
            for when in ("cold", "cached"):
                ours = measure("lancehead.cuda", name, folder)
                beside = ratios(ours, {p: api and names[p] for p, api in others.items()}, lambda p, n=name, f=folder: measure(p, n, f))
                yield f"| 16 | first call of {name}, {when} | {ours:.1f} ms | | {beside} | |"


def environment() -> Iterator[str]:
    """The card, its clocks, and the versions of everything."""
    device, facts = cuda.get_current_device(), ("MULTIPROCESSOR_COUNT", "L2_CACHE_SIZE", "CLOCK_RATE", "MEMORY_CLOCK_RATE")
    total = cuda.current_context().get_memory_info().total >> 20
    yield f"{device.name.decode()}, {device.compute_capability}, {total} MiB, " + ", ".join(f"{f} {getattr(device, f)}" for f in facts)
    if shutil.which("nvidia-smi"):
        asked = "--query-gpu=driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw"
        yield subprocess.run(["nvidia-smi", asked, "--format=csv"], capture_output=True, text=True, check=False).stdout
    known = {d.metadata["Name"]: d.version for d in distributions()}
    yield f"Python {platform.python_version()}, " + ", ".join(f"{n} {v}" for n, v in known.items() if n in ("lancehead", "numpy", "numba-cuda") or n[:4] == "cupy")
    yield ""


def table(small: bool) -> Iterator[str]:
    """All lines."""
    device, others = cuda.get_current_device(), peers()
    sizes = SMALL if small else Sizes(blocks=2 * device.MULTIPROCESSOR_COUNT).within(cuda.current_context().get_memory_info().total)
    yield from environment()
    yield HEAD
    yield from launches(others, small)
    same = as_the_cpu_device()
    yield from kernels(others, sizes, same, small)
    yield from first_calls(others)
    of_corpus = {name.removeprefix("corpus "): is_same for name, is_same in same.items() if name.startswith("corpus ")}
    differ = ", ".join(name for name, is_same in of_corpus.items() if not is_same)
    yield f"| 18 | the corpus, {len(of_corpus)} kernels | | | | | {sum(of_corpus.values())} bit for bit{f'; not {differ}' if differ else ''} |"


def main(arguments: list[str]) -> int:
    """Writes the table."""
    if arguments[:1] == ["--first"]:
        print(first_call(*arguments[1:]))
        return 0
    if cuda.get_current_device().name == b"CPU":
        print("no GPU here: kernels would run on the CPU device, which `cpu_device.py` measures")
        return 0
    files = [open(a, "w") for a in arguments if not a.startswith("--")]
    for line in table("--small" in arguments):
        for file in (sys.stdout, *files):
            print(line, file=file, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
