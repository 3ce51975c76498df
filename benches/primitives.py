"""The primitives of lazy arrays beside loops by hand, NumPy, Thrust and JAX, on one and two threads.

    python benches/primitives.py [--sizes 100,10000,1000000,10000000] [--only reduce,scan] [--seconds 0.2]
        [--peers DIR] [--json FILE]
    python benches/primitives.py --sizes 100000000 --arrays a,b,mask --only map,reduce,chain,compact,union

A line for each primitive, size and number of threads: microseconds of the whole call from Python, of the compiled
function alone, and that time over those of the others (above 1, ours is slower). Those of up to 10,000 elements are
mostly the call, so that the compiled functions are compared there. Results are of `float64` in new memory.

Peers are optional. Thrust's headers are those of the wheel `nvidia-cuda-cccl`, compiled by g++ for one thread with the
back end C++, for two with OpenMP; JAX is in a Python of its own. `DIR` has both: `DIR/cccl` by `pip install --target`,
`DIR/v` as a virtual environment with JAX.
"""

from __future__ import annotations

import argparse
import ctypes
import glob
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import figures
import numpy as np
from peers.inputs import BINS, FEW, inputs

from lancehead import get_num_threads, set_num_threads, xp
from lancehead.xp.regions import region_of
from peers import loops

HERE = Path(__file__).parent
#: The peers that ratios are to, in the order of columns.
PEERS = ("loop", "NumPy", "Thrust", "JAX")
Case = tuple[Callable[[], Any], Callable[[], Any], Callable[[], Any] | None]


def add(a, b):
    return a + b


def linear(v):
    return v * 2.0 + 1.0


def times(a, b):
    return a * b


def half(v):
    return v * 0.5 + 1.0


def ten(v):
    for _ in range(10):
        v = xp.map(half, v)
    return xp.reduce(add, v, init=0.0)


def ten_numpy(v):
    for _ in range(10):
        v = v * 0.5 + 1.0
    return v.sum()


def scattered(x, places, y):
    out = x.copy()
    out[places] = y
    return out


def added(x, places, y):
    out = x.copy()
    np.add.at(out, places, y)
    return out


def sorted_by_key(keys, y):
    order = np.argsort(keys, kind="stable")
    return keys[order], y[order]


def greatest(x):
    places = np.argpartition(x, -FEW)[-FEW:]
    places = places[np.argsort(x[places])[::-1]]
    return x[places], places


def run_lengths(x):
    starts = np.flatnonzero(np.concatenate([[True], x[1:] != x[:-1]]))
    return x[starts], np.diff(np.append(starts, x.size))


def padded_plane(m):
    p = np.pad(m, 1, mode="edge")
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4.0 * m


def padded_line(x):
    p = np.pad(x, 1, mode="edge")
    return p[:-2] + p[1:-1] + p[2:]


def three(a, b, c):
    return a + b + c


def five(up, left, at, right, down):
    return up + down + left + right - 4.0 * at


CROSS = [(-1, 0), (0, -1), (0, 0), (0, 1), (1, 0)]


def folds(h: SimpleNamespace, g: SimpleNamespace) -> dict[str, Case]:
    """For each primitive ours, the loop and NumPy's: `h` has arrays of NumPy, `g` lazy ones."""
    x, y, m = h.x, h.y, h.matrix
    return {
        "map": (lambda: xp.map(linear, g.x), lambda: loops.map(x), lambda: linear(x)),
        "zipwith": (
            lambda: xp.zipwith(lambda a, b: a * b + 1.0, g.x, g.y),
            lambda: loops.zipwith(x, y),
            lambda: x * y + 1.0,
        ),
        "reduce": (lambda: xp.reduce(add, g.x, init=0.0), lambda: loops.reduce(x), lambda: x.sum()),
        "reduce rows": (
            lambda: xp.reduce(add, g.matrix, init=0.0, axis=1),
            lambda: loops.reduce_rows(m),
            lambda: m.sum(axis=1),
        ),
        "reduce columns": (
            lambda: xp.reduce(add, g.matrix, init=0.0, axis=0),
            lambda: loops.reduce_columns(m),
            lambda: m.sum(axis=0),
        ),
        "sum(map)": (lambda: xp.sum(xp.map(linear, g.x)), lambda: loops.sum_map(x), lambda: linear(x).sum()),
        "transform_reduce": (
            lambda: xp.transform_reduce(linear, add, 0.0, g.x),
            lambda: loops.sum_map(x),
            lambda: linear(x).sum(),
        ),
        "chain": (lambda: ten(g.x), lambda: loops.chain(x), lambda: ten_numpy(x)),
        "inner": (lambda: xp.inner(times, add, g.x, g.y, init=0.0), lambda: loops.inner(x, y), lambda: x @ y),
        "scan": (lambda: xp.scan(add, g.x), lambda: loops.scan(x), lambda: np.cumsum(x)),
        "exclusive_scan": (
            lambda: xp.exclusive_scan(add, g.x, init=0.0),
            lambda: loops.exclusive_scan(x),
            lambda: np.cumsum(x),
        ),
        "scan rows": (
            lambda: xp.scan(add, g.matrix, axis=1),
            lambda: loops.scan_rows(m),
            lambda: np.cumsum(m, axis=1),
        ),
        "segmented_reduce": (
            lambda: xp.segmented_reduce(add, g.x, g.offsets, 0.0),
            lambda: loops.segmented_reduce(x, h.offsets),
            lambda: np.add.reduceat(x, h.offsets[:-1].clip(0, x.size - 1)),
        ),
        "segmented_scan": (
            lambda: xp.segmented_scan(add, g.x, g.offsets),
            lambda: loops.segmented_scan(x, h.offsets),
            None,
        ),
    }


def neighbours(h: SimpleNamespace, g: SimpleNamespace) -> dict[str, Case]:
    """The same of primitives that read neighbours or pairs of elements."""
    x, m = h.x, h.matrix
    return {
        "stencil line": (lambda: xp.stencil(three, g.x, 1), lambda: loops.stencil_line(x), lambda: padded_line(x)),
        "stencil plane": (
            lambda: xp.stencil(five, g.matrix, CROSS),
            lambda: loops.stencil_plane(m),
            lambda: padded_plane(m),
        ),
        "outer": (
            lambda: xp.outer(times, g.left, g.right),
            lambda: loops.outer(h.left, h.right),
            lambda: np.outer(h.left, h.right),
        ),
        "adjacent_difference": (
            lambda: xp.adjacent_difference(g.x),
            lambda: loops.adjacent_difference(x),
            lambda: np.diff(x, prepend=0.0),
        ),
    }


def selections(h: SimpleNamespace, g: SimpleNamespace) -> dict[str, Case]:
    """The same of primitives that choose, order and count elements."""
    x, y, middle = h.x, h.y, h.x.size // 2
    return {
        "gather": (lambda: xp.gather(g.x, g.places), lambda: loops.gather(x, h.places), lambda: x[h.places]),
        "scatter": (
            lambda: xp.scatter(g.x, g.places, g.y),
            lambda: loops.scatter(x, h.places, y),
            lambda: scattered(x, h.places, y),
        ),
        "scatter add": (
            lambda: xp.scatter(g.x, g.keys, g.y, "add"),
            lambda: loops.scatter_add(x, h.keys, y),
            lambda: added(x, h.keys, y),
        ),
        "compact": (lambda: xp.compact(g.x, g.mask), lambda: loops.compact(x, h.mask), lambda: x[h.mask]),
        "partition": (
            lambda: xp.partition(g.x, g.mask),
            lambda: loops.partition(x, h.mask),
            lambda: np.concatenate([x[h.mask], x[~h.mask]]),
        ),
        "sort_by_key": (
            lambda: xp.sort_by_key(g.keys, g.y),
            lambda: loops.sort_by_key(h.keys, y),
            lambda: sorted_by_key(h.keys, y),
        ),
        "top_k": (lambda: xp.top_k(g.x, FEW), lambda: loops.top_k(x, FEW), lambda: greatest(x)),
        "k_select": (
            lambda: xp.k_select(g.x, middle + 1),
            lambda: loops.k_select(x, middle + 1),
            lambda: np.partition(x, middle)[middle],
        ),
        "unique": (lambda: xp.unique(g.runs), lambda: loops.unique(h.runs), lambda: np.unique(h.runs)),
        "run_length": (lambda: xp.run_length(g.runs), lambda: loops.run_length(h.runs), lambda: run_lengths(h.runs)),
        "histogram": (
            lambda: xp.histogram(g.x, BINS, (0.0, 1.0)),
            lambda: loops.histogram(x, BINS),
            lambda: np.histogram(x, BINS, (0.0, 1.0)),
        ),
        "bincount": (lambda: xp.bincount(g.counts), lambda: loops.bincount(h.counts), lambda: np.bincount(h.counts)),
    }


def sets(h: SimpleNamespace, g: SimpleNamespace) -> dict[str, Case]:
    """The same of primitives of sorted lines."""
    return {
        "merge": (
            lambda: xp.merge(g.a, g.b),
            lambda: loops.merge(h.a, h.b),
            lambda: np.sort(np.concatenate([h.a, h.b]), kind="stable"),
        ),
        "union": (
            lambda: xp.union(g.a, g.b, is_sorted=True),
            lambda: loops.set_operation(h.a, h.b, True, True, True),
            lambda: np.union1d(h.a, h.b),
        ),
        "intersection": (
            lambda: xp.intersection(g.a, g.b, is_sorted=True),
            lambda: loops.set_operation(h.a, h.b, False, True, False),
            lambda: np.intersect1d(h.a, h.b),
        ),
        "difference": (
            lambda: xp.difference(g.a, g.b, is_sorted=True),
            lambda: loops.set_operation(h.a, h.b, True, False, False),
            lambda: np.setdiff1d(h.a, h.b),
        ),
        "symmetric_difference": (
            lambda: xp.symmetric_difference(g.a, g.b, is_sorted=True),
            lambda: loops.set_operation(h.a, h.b, True, False, True),
            lambda: np.setxor1d(h.a, h.b),
        ),
    }


def least(seconds: float, *functions: Callable[[], Any]) -> list[float]:
    """The least seconds of each function; they take turns until each has had its time.

    A turn is three calls, so that memory of the call before is there again, as it is for Thrust and JAX, which are
    measured alone.
    """
    best, spent, rounds = [math.inf] * len(functions), 0.0, 0
    while rounds < 3 or (spent < seconds * len(functions) and rounds < 10_000):
        for k, f in enumerate(functions):
            for _ in range(3):
                start = time.perf_counter()
                f()
                took = time.perf_counter() - start
                best[k], spent = min(best[k], took), spent + took
        rounds += 1
    return best


def value(found: Any) -> None:
    """Computes results."""
    if isinstance(found, tuple):
        for one in found:
            one.compute()
    else:
        found.compute()


class Wanted(Exception):
    """Nodes whose values were asked for."""


def compiled(make: Callable[[], Any]) -> Callable[[], Any]:
    """The compiled function of a primitive, with its arguments."""

    def stop(*nodes: Any) -> None:
        raise Wanted(*nodes)

    with mock.patch("lancehead.xp.arrays.compute", stop), mock.patch("lancehead.xp.selections.compute", stop):
        try:
            found = make()
            stop(*(x.node() for x in (found if isinstance(found, tuple) else (found,))))
        except Wanted as wanted:
            step = region_of(wanted.args)
            f, arguments = step.region.function, step.arguments()
            return lambda: f(*arguments)
    raise AssertionError("a value was asked for")


class Arrays(ctypes.Structure):
    """The struct of the same name in `thrust.cpp`."""

    _numbers = ("n", "columns", "segments", "side")
    _arrays = ("x", "y", "a", "b", "runs", "left", "right", "keys", "places", "segment_of", "counts", "mask")
    _fields_ = [(f, ctypes.c_int64) for f in _numbers] + [(f, ctypes.c_void_p) for f in _arrays]


def thrust(peers: Path) -> dict[int, Any]:
    """Thrust's `measure` by the number of threads, or nothing."""
    found = glob.glob(str(peers / "cccl/nvidia/*/include/cccl")) + glob.glob(str(peers / "cccl/nvidia/*/include"))
    if not found:
        print(f"Thrust is not there: no headers in {peers}/cccl")
        return {}
    libraries = {}
    # Threads of OpenMP that spin would take the cores from those of other contenders.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    for threads, system in ((1, "CPP"), (2, "OMP")):
        at = peers / f"libthrust_{system.lower()}.so"
        source = HERE / "peers/thrust.cpp"
        if not at.exists() or at.stat().st_mtime < source.stat().st_mtime:
            command = ["g++", "-O3", "-march=native", "-std=c++17", "-shared", "-fPIC", f"-I{found[0]}"]
            command += [f"-DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_{system}"]
            command += ["-DTHRUST_HOST_SYSTEM=THRUST_HOST_SYSTEM_CPP", *["-fopenmp"] * (system == "OMP")]
            done = subprocess.run([*command, str(source), "-o", str(at)], capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"Thrust is not there: {done.stderr[-300:]}")
                return {}
        libraries[threads] = ctypes.CDLL(str(at)).measure
        libraries[threads].restype = ctypes.c_double
    return libraries


def by_thrust(measure: Any, h: SimpleNamespace, name: str, threads: int, seconds: float) -> float:
    """The least seconds of Thrust, NaN if it has no such algorithm."""
    none = np.empty(0)
    offsets = getattr(h, "offsets", np.zeros(1, np.int64))
    if name.startswith("segmented"):
        h.segment_of = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    numbers = (h.x.size, h.matrix.shape[1], offsets.size - 1, getattr(h, "left", none).size)
    given = Arrays(*numbers, *(getattr(h, f, none).ctypes.data for f in Arrays._arrays))
    return measure(name.encode(), ctypes.byref(given), ctypes.c_int(threads), ctypes.c_double(seconds))


def by_jax(peers: Path, threads: int, seconds: float, sizes: list[int], names: list[str]) -> dict[Any, float]:
    """JAX's least seconds by sizes and names, or nothing."""
    python = peers / "v/bin/python"
    if not python.exists():
        print(f"JAX is not there: no {python}")
        return {}
    script = [str(python), str(HERE / "peers/with_jax.py"), str(seconds), ",".join(map(str, sizes)), ",".join(names)]
    environment = dict(os.environ, JAX_PLATFORMS="cpu")
    if threads == 1:
        script = ["taskset", "-c", "0", *script]
        environment["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    done = subprocess.run(script, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"JAX stopped: {done.stderr[-300:]}")
    return {(n, name): took for n, name, took in map(json.loads, done.stdout.splitlines())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="100,10000,1000000,10000000")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--arrays", default="", help="the inputs that are made besides x and y, all without it")
    parser.add_argument("--peers", type=Path, default=HERE.parent / "target/peers")
    figures.add_json(parser)
    given = parser.parse_args()
    result, measured = figures.Result("primitives", "benches/run.sh primitives", get_num_threads()), []
    sizes, counts = ([int(n) for n in text.split(",")] for text in (given.sizes, given.threads))
    libraries = thrust(given.peers)
    for n in sizes:
        h = inputs(n, given.arrays.split(",") if given.arrays else ())
        g = SimpleNamespace(**{k: xp.asarray(v, copy=False) for k, v in vars(h).items()})
        cases = {**folds(h, g), **neighbours(h, g), **selections(h, g), **sets(h, g)}
        names = given.only.split(",") if given.only else list(cases)
        for threads in counts:
            of_jax = {} if given.arrays else by_jax(given.peers, threads, given.seconds, [n], names)
            set_num_threads(threads)
            print(f"\n{n} elements, {threads} thread{'s' * (threads > 1)}")
            print(f"{'primitive':22}{'call us':>10}{'alone us':>10}{'loop':>8}{'NumPy':>8}{'Thrust':>8}{'JAX':>8}")
            for name in names:
                jax = of_jax.get((n, name), math.nan)
                found = row(name, cases[name], h, libraries.get(threads), jax, threads, given)
                measured.append((n, threads, name, *found))
    add_tables(result, measured)
    result.write(given.json)


def add_tables(result: figures.Result, measured: list[tuple[Any, ...]]) -> None:
    """Tables of 10^4 and of 10^6 elements, means of all sizes, and everything that was measured."""
    times, ratios = [("call", "us", 1), ("alone", "us", 1)], [(peer, "", 2) for peer in PEERS]
    small = result.table("small", "primitive", *times, *ratios[:3])
    two = [("two threads", "us", 1), *((f"{peer}, 2", "", 2) for peer in PEERS if peer != "NumPy")]
    large = result.table("large", "primitive", ("one thread", "us", 1), *ratios, *two)
    means = result.table("means", "measured at", *ratios)
    known = {row[:3]: row[3:] for row in measured}
    for n, threads in dict.fromkeys(row[:2] for row in measured):
        columns = list(zip(*(row[5:] for row in measured if row[:2] == (n, threads))))
        words = f"{n:,} elements, {threads} thread{'s' * (threads > 1)}"
        means.add(words, *(figures.geometric_mean(ratio for ratio in column if ratio > 0) for column in columns))
    for name in dict.fromkeys(row[2] for row in measured):
        if found := known.get((10**4, 1, name)):
            small.add(name, *found[:5])
        if (one := known.get((10**6, 1, name))) and (both := known.get((10**6, 2, name))):
            large.add(name, one[1], *one[2:], both[1], both[2], *both[4:])
    everything = result.table("all", "elements", "threads", "primitive", *times, *ratios)
    for row in measured:
        everything.add(*row)


def row(name: str, case: Case, h: Any, measure: Any, jax: float, threads: int, given: Any) -> tuple[float, ...]:
    """Measures and prints a line of the table: microseconds of the call and alone, and ratios to the peers."""
    make, loop, of_numpy = case
    alone = compiled(make)
    functions = [lambda: value(make()), alone, loop, *([of_numpy] if of_numpy else [])]
    for f in functions:
        f()
    call, ours, by_hand, *rest = least(given.seconds, *functions)
    others = [by_hand, *(rest or [math.nan])]
    others.append(by_thrust(measure, h, name, threads, given.seconds) if measure else math.nan)
    ratios = [f"{ours / other:8.2f}" if other == other else f"{'':>8}" for other in (*others, jax)]
    print(f"{name:22}{call * 1e6:10.1f}{ours * 1e6:10.1f}{''.join(ratios)}", flush=True)
    rounded = (round(ours / other, 2) for other in (*others, jax))
    return round(call * 1e6, 1), round(ours * 1e6, 1), *rounded


if __name__ == "__main__":
    sys.exit(main())
