"""The cost of parallel loops, and their use of two threads: an empty region, memory bandwidth, uneven rows.

    python benches/parallel.py [--rounds 30] [--json FILE]

Times are the least of so many rounds, in which what is compared takes turns. The bandwidth is that of two Python
threads which each run the serial loop over half of the arrays; Mandelbrot rows on one and on two threads.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Callable

import figures
import numpy as np

from lancehead import get_thread_id, njit, parallel_chunksize, prange, set_num_threads

LOOPS = 2000
ELEMENTS = 1 << 24


@njit(parallel=True)
def regions(n: int, out: np.ndarray) -> None:
    for k in range(n):
        for i in prange(2):
            out[8 * i] = k


@njit(parallel=True)
def triad(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    for i in prange(a.shape[0]):
        c[i] = a[i] + 3.0 * b[i]


@njit(parallel=True)
def squares(a: np.ndarray) -> float:
    s = 0.0
    for i in prange(a.shape[0]):
        s += a[i] * a[i]
    return s


@njit(nogil=True)
def triad_serial(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    for i in range(a.shape[0]):
        c[i] = a[i] + 3.0 * b[i]


@njit(nogil=True, fastmath=True)
def squares_serial(a: np.ndarray) -> float:
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * a[i]
    return s


@njit(parallel=True)
def mandelbrot(out: np.ndarray, who: np.ndarray, limit: int) -> None:
    rows, columns = out.shape
    for i in prange(rows):
        who[i] = get_thread_id()
        for j in range(columns):
            c = complex(-2.2 + 3.0 * j / columns, -1.5 + 3.0 * i / rows)
            z = 0j
            n = 0
            while n < limit and z.real * z.real + z.imag * z.imag < 4.0:
                z = z * z + c
                n += 1
            out[i, j] = n


def least(rounds: int, *functions: Callable[[], object]) -> list[float]:
    """Least time of each function, which take turns."""
    best = [float("inf")] * len(functions)
    for _ in range(rounds):
        for k, f in enumerate(functions):
            start = time.perf_counter()
            f()
            best[k] = min(best[k], time.perf_counter() - start)
    return best


def halves(f: Callable[..., object], *arrays: np.ndarray) -> Callable[[], None]:
    """A function on both halves of arrays, by two Python threads that wait for each other."""
    middle = len(arrays[0]) // 2

    def run() -> None:
        other = threading.Thread(target=f, args=[a[middle:] for a in arrays])
        other.start()
        f(*(a[:middle] for a in arrays))
        other.join()

    return run


def empty_region(rounds: int, table: figures.Table) -> None:
    out = np.zeros(16)
    for threads in (1, 2):
        set_num_threads(threads)
        with parallel_chunksize(1):
            regions(LOOPS, out)
            (t,) = least(rounds, lambda: regions(LOOPS, out))
            rested = []
            for _ in range(10 * rounds):
                time.sleep(0.002)
                start = time.perf_counter()
                regions(1, out)
                rested.append(time.perf_counter() - start)
        after = f"{np.median(rested) * 1e6:.1f} us after a rest (median, with the call)"
        print(
            f"empty region, {threads} thread{'s' * (threads > 1)}: {t / LOOPS * 1e6:.2f} us one after the other, "
            f"{after}"
        )
        region = f"empty region, {threads} thread{'s' * (threads > 1)}"
        table.add(f"{region}, one after the other", round(t / LOOPS * 1e6, 2), "us")
        table.add(f"{region}, after a rest of 2 ms", round(float(np.median(rested)) * 1e6, 1), "us")


def bandwidth(rounds: int, table: figures.Table) -> None:
    a, b, c = (np.full(ELEMENTS, x) for x in (1.0, 2.0, 0.0))
    for name, loop, serial, arrays in [
        ("c = a + 3 b", triad, triad_serial, (a, b, c)),
        ("sum of squares", squares, squares_serial, (a,)),
    ]:
        both = halves(serial, *arrays)
        loop(*arrays), both()
        pool, threads, one = least(rounds, lambda f=loop, x=arrays: f(*x), both, lambda f=serial, x=arrays: f(*x))
        size = len(arrays) * a.nbytes / 1e9
        print(
            f"{name}: {size / pool:.1f} GB/s, {threads / pool:.0%} of two threads ({size / threads:.1f}), one has "
            f"{size / one:.1f}"
        )
        table.add(f"`{name}`, of the bandwidth of two serial threads", round(100 * threads / pool), "%")


def balance(rounds: int, table: figures.Table) -> None:
    out, who = np.zeros((600, 600), np.int64), np.zeros(600, np.int64)

    def on(threads: int) -> Callable[[], None]:
        def run() -> None:
            set_num_threads(threads)
            mandelbrot(out, who, 500)

        return run

    on(2)()
    one, two = least(rounds, on(1), on(2))
    on(2)()
    work = [int(out[who == k].sum()) for k in (0, 1)]
    print(
        f"Mandelbrot rows: {one / two:.2f} times faster on two threads; of the work {work[0] / sum(work):.0%} and "
        f"{work[1] / sum(work):.0%}"
    )
    table.add("Mandelbrot rows, two threads over one", round(one / two, 2), "times")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    figures.add_json(parser)
    given = parser.parse_args()
    result = figures.Result("parallel", "benches/run.sh parallel", 2)
    table = result.table("measures", "measure", "value", "unit")
    for measure in (empty_region, bandwidth, balance):
        measure(given.rounds, table)
    result.write(given.json)


if __name__ == "__main__":
    main()
