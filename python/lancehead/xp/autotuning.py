"""Schedules that are found by measuring, and kept for the next time and the next process."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import itertools
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from lancehead import _core, config, cuda
from lancehead._core import __version__, cache_directory
from lancehead.caches import Cache
from lancehead.cuda.errors import CudaAPIError
from lancehead.xp.arrays import ndarray
from lancehead.xp.device_regions import prepare, runner, steps_of, synchronize
from lancehead.xp.device_schedules import again, is_elsewhere
from lancehead.xp.devices import as_device, has_kernels, is_gpu
from lancehead.xp.graph import Node, size
from lancehead.xp.kernels import how
from lancehead.xp.regions import compute, groups, ordered, region_of
from lancehead.xp.rows import How, Kind
from lancehead.xp.scheduled import check
from lancehead.xp.schedules import Schedule

#: Bytes of pieces that are tried: parts of the caches of a core.
_PIECES = (1 << 15, 1 << 18, 1 << 20)
#: Threads of a block, and rows of a tile of a product.
_BLOCKS, _SQUARES = (64, 128, 512, 1024), (8, 32)
_TILES = ((256, 256), (64, 256), (512, 512), (64, 64), (256, 64), (16, 256))
#: One that takes so much longer is not measured again.
_HOPELESS = 1.3
#: The share of the former time below which a schedule must stay, so that noise does not choose it.
_GAIN = 0.95
_TAKES_LONG = 1.0

#: The fields of a schedule that are tuned; the others stay.
_TUNED = ("tile", "chunks", "unroll", "vectorize", "block")

#: Schedules that were found, by what they hold for.
_FOUND: Cache[str, Schedule] = Cache(1024)


def autotune(f: Callable[..., ndarray] | ndarray, *arguments: Any, budget: float = 1.0) -> Schedule:
    """As `lancehead.xp.autotune` says."""
    x = f if isinstance(f, ndarray) else f(*arguments) if callable(f) else None
    if not isinstance(x, ndarray) or (x is f and arguments):
        raise TypeError("an array, or a function that gives an array for its arguments, is tuned")
    if not budget > 0:
        raise ValueError(f"a budget is a positive number of seconds, not {budget}")
    node = x.node()
    if node.value is not None:
        raise ValueError("the array has been computed, so that there is nothing to tune")
    if is_elsewhere(node):
        raise ValueError(f"the array is computed on another device by {node.schedule}; it is tuned without that")
    if node.device is not None and node.device.number is not None and not _is_there(node):
        # Schedules of the CPU device are those of GPUs' kernels, which it does without.
        return node.schedule or Schedule()
    if _is_there(node):
        _prepared(node)
    else:
        for some in groups([node])[:-1]:
            compute(*some)
    own = node.schedule
    before = Schedule() if own is None else dataclasses.replace(own, **dict.fromkeys(_TUNED))
    node.schedule = None if before == Schedule() else before
    try:
        key = _key(node)
        found = _FOUND.get(key) or _read(key, node)
        if found is None:
            found = _measured(node, before, budget)
            _write(key, found)
        _FOUND[key] = found
    except BaseException:
        node.schedule = own
        raise
    found = dataclasses.replace(before, **{name: getattr(found, name) for name in _TUNED})
    node.schedule = None if found == Schedule() else found
    return found


def _is_there(node: Node) -> bool:
    return has_kernels(node.device)


def _prepared(node: Node) -> None:
    # Computes what is computed before the node by itself.
    own, node.schedule = node.schedule, None
    try:
        prepare([node])
    finally:
        node.schedule = own


def _refusals(node: Node) -> tuple[type[BaseException], ...]:
    if not _is_there(node):
        return ()
    return (CudaAPIError,)


def _there(node: Node) -> list[dict[str, Any]]:
    # The candidates on a device.
    kind = how(node)
    if kind is How.TILED:
        return [{"tile": (n, n)} for n in _SQUARES]
    tried: list[dict[str, Any]] = [{"block": n} for n in _BLOCKS]
    return tried + ([{"unroll": 4}, {"block": 128, "unroll": 4}] if kind is How.FUSED else [])


def _candidates(node: Node, before: Schedule) -> Iterator[Schedule]:
    # Without loops first, then those which share a compiled function after each other.
    yield before
    for options in _there(node) if _is_there(node) else _here(node):
        with contextlib.suppress(ValueError):
            schedule = dataclasses.replace(before, **options)
            check(node, schedule, as_device)
            yield schedule


def _here(node: Node) -> list[dict[str, Any]]:
    # The candidates on the host.
    base = node.inputs[0] if node.op.kind is Kind.REDUCTION and node.inputs else node
    shape, tried = base.shape, list[dict[str, Any]]()
    if shape and -1 not in shape:
        chunks = {size(base) // n for n in _PIECES} | {2}
        tried += [{"chunks": n} for n in sorted(chunks) if 1 < n <= shape[0]]
    if len(shape) > 1:
        sizes = [size for size in _TILES if size[0] < 2 * shape[-2] and size[1] < 2 * shape[-1]]
        tiles = [(1,) * (len(shape) - 2) + size for size in sizes]
        tried += [{"tile": tile} for tile in tiles]
    return tried + [{"unroll": 4}, {"vectorize": True}]


def _measured(node: Node, before: Schedule, budget: float) -> Schedule:
    started = perf_counter()
    times: dict[Schedule, float] = {}
    candidates = list(_candidates(node, before))
    with _progress(len(candidates) if budget >= _TAKES_LONG else 0) as advance:
        for schedule in candidates:
            left = budget - (perf_counter() - started)
            if times and left <= 0:
                break
            node.schedule = schedule
            # The first is what all others have to be better than. A GPU may not have the registers for large blocks.
            with contextlib.suppress(*(_refusals(node) if times else ())):
                times[schedule] = _best(node, left / 4, min(times.values(), default=float("inf")))
            advance()
    fastest = min(times, key=times.__getitem__)
    if times[fastest] >= _GAIN * times[before]:
        return before
    # Other load of the machine may have distorted the measurement: both are measured again.
    again = []
    for schedule in (before, fastest):
        node.schedule = schedule
        again.append(_best(node, 0.05, float("inf")))
    return fastest if again[1] < _GAIN * again[0] else before


def _call(node: Node) -> Callable[[], Any]:
    # A function that computes the node without giving it a value.
    device = node.device
    if not _is_there(node):
        step = region_of([node])
        return functools.partial(step.region.function, *step.arguments())
    run = runner(device, *again(*ordered([node])))

    def call() -> None:
        run()
        synchronize(device)

    return call


def _best(node: Node, seconds: float, so_far: float) -> float:
    # The shortest of some calls after the first, which compiles.
    call = _call(node)
    call()
    best, until = float("inf"), perf_counter() + min(seconds, 0.2)
    for count in itertools.count():
        started = perf_counter()
        call()
        ended = perf_counter()
        best = min(best, ended - started)
        if (count >= 2 and ended > until) or best > _HOPELESS * so_far:
            return best
    raise AssertionError("the loop returns")


@contextlib.contextmanager
def _progress(count: int) -> Iterator[Callable[[], None]]:
    # A bar, if it takes long and somebody sees it.
    if not count or not sys.stderr.isatty():
        yield lambda: None
        return
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        yield lambda: None
        return
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("schedules", total=count)
        yield lambda: progress.advance(task)


@functools.cache
def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
        model = [
            line for line in lines if line.startswith(("model name", "flags", "cache size", "Features", "CPU part"))
        ]
    except OSError:
        model = [platform.processor()]
    return repr((platform.machine(), model, os.cpu_count()))


def _device(node: Node) -> Any:
    if not is_gpu(node.device):
        return str(node.device) if _is_there(node) else "cpu"
    found = cuda.get_current_device()
    return found.name, found.compute_capability


def _key(node: Node) -> str:
    # Structure, types, sizes to the next power of two, and what it runs on.
    if _is_there(node):
        found = steps_of(node)
        leaves, kept, text = found.leaves, found.kept, "".join(step.text for step in found.steps)
    else:
        step = region_of([node])
        leaves, kept, text = step.leaves, list(step.kept), step.region.text
    sizes = [(n.dtype.name, [k.bit_length() for k in n.shape]) for n in (*leaves, *kept)]
    base = [k.bit_length() for k in (node.inputs[0] if node.inputs else node).shape]
    known = repr((__version__, _processor(), _device(node), text, sizes, base))
    return hashlib.sha256(known.encode()).hexdigest()[:32]


def _file(key: str) -> Path | None:
    directory = None if config.CACHE is False else cache_directory()
    return None if directory is None else directory / "schedules" / f"{key}.json"


def _read(key: str, node: Node) -> Schedule | None:
    file = _file(key)
    if file is None:
        return None
    try:
        # A file of another program, or one that is damaged, says nothing.
        found = Schedule(**json.loads(_core.kept_file(file.parent, file.name) or b"none"))
        check(node, found, as_device)
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return found


def _write(key: str, schedule: Schedule) -> None:
    file = _file(key)
    if file is None:
        return
    said = {name: x for name, x in dataclasses.asdict(schedule).items() if x is not None}
    # Nothing depends on the file.
    with contextlib.suppress(OSError):
        _core.keep_file(file.parent, file.name, json.dumps(said).encode())


__all__ = ["autotune"]
