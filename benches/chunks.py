"""Lazy arrays as chunks of Dask's: the time of a task beyond that of its block, on processes of one computer.

    python -P benches/chunks.py [--workers 4] [--tasks 400] [--milliseconds 5] [--rounds 3] [--json FILE]

Tasks are one fused expression each, of blocks that take so many milliseconds. `beyond` is the wall time of all tasks,
less the blocks' own time on the cores that there are, for each task; the best of the rounds, after one that compiles.
Chunks of NumPy's arrays with the same expression are beside them: that time is Dask's own. `CPU` is the processors'
time of the scheduler and the workers for a task, less that of its block, which other programs on the machine do not
change much.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

# For `figures` only: Dask would find the `sparse.py` of this folder.
sys.path.append(str(Path(__file__).parent))
import figures  # isort: skip

sys.path.pop()
import dask.array as da
import numpy as np
import psutil
from distributed import Client, LocalCluster, wait

from lancehead import xp
from lancehead.xp import chunked


def expression(x: Any, k: float) -> Any:
    return np.exp(-x) * k + np.sqrt(x + 1.0) * x


def first(block: Any) -> Any:
    """All that stays of a block, so that memory does not count."""
    return block[:1]


def own_time(make: Any, size: int) -> float:
    """Seconds of a block without Dask, with what makes it, by the processor's clock: the least of some."""
    found = []
    for _ in range(15):
        began = time.process_time()
        np.asarray(first(chunked.settled(expression(make(np.ones(size)), 2.5))))
        found.append(time.process_time() - began)
    return min(found)


def size_for(make: Any, seconds: float) -> int:
    """Elements of a block that takes so long."""
    size = 100
    while own_time(make, size) < seconds:
        size *= 2
    return size


def seconds_of_processors(client: Client) -> float:
    """The processor time of the scheduler, which is in this process, and of the workers."""
    pids = [os.getpid(), *client.run(os.getpid).values()]
    return sum(sum(psutil.Process(pid).cpu_times()[:2]) for pid in pids)


def measure(client: Client, make: Any, tasks: int, milliseconds: float, rounds: int) -> tuple[float, float, float]:
    """Milliseconds of a block, of a task beyond it, and of the processors beyond it."""
    size = size_for(make, milliseconds / 1000)
    own = own_time(make, size)
    cores = min(len(client.ncores()), len(os.sched_getaffinity(0)))
    beyond, used = [], []
    for k in range(rounds + 1):
        x = da.ones(tasks * size, chunks=size).map_blocks(make)
        cpu, began = seconds_of_processors(client), time.perf_counter()
        held = expression(x, k + 0.5).map_blocks(first, chunks=(1,), dtype=x.dtype, meta=x._meta).persist()
        wait(held)
        passed = time.perf_counter() - began
        if k:
            beyond.append(passed / tasks - own / cores)
            used.append((seconds_of_processors(client) - cpu) / tasks - own)
    return own * 1e3, min(beyond) * 1e3, min(used) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--tasks", type=int, default=400)
    parser.add_argument("--milliseconds", type=float, nargs="*", default=[0.0, 5.0])
    parser.add_argument("--rounds", type=int, default=3)
    figures.add_json(parser)
    given = parser.parse_args()
    result = figures.Result("dask", "benches/run.sh dask", given.workers)
    times = [("own", "ms", 2), ("beyond", "ms", 2), ("CPU beyond", "ms", 2)]
    table = result.table("tasks", "chunks of", *times)
    options: Any = {"host": "127.0.0.1", "dashboard_address": None}
    with LocalCluster(n_workers=given.workers, threads_per_worker=1, **options) as cluster, Client(cluster) as client:
        print(f"{given.workers} workers, {given.tasks} tasks of a block each; milliseconds of a task")
        print("chunks of   own  beyond    CPU")
        for milliseconds in given.milliseconds:
            for name, make in (("xp", xp.asarray), ("NumPy", np.asarray)):
                own, beyond, used = measure(client, make, given.tasks, milliseconds, given.rounds)
                print(f"{name:8} {own:6.2f} {beyond:7.2f} {used:6.2f}", flush=True)
                chunks = "lazy arrays" if name == "xp" else "NumPy's arrays"
                table.add(chunks, round(own, 3), round(beyond, 2), round(used, 2))
    result.write(given.json)


if __name__ == "__main__":
    main()
