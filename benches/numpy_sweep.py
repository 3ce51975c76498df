"""Functions of NumPy in compiled code beside NumPy itself: products, factors, transforms, random numbers, sorting.

    OPENBLAS_NUM_THREADS=1 python benches/numpy_sweep.py [--only products] [--rounds 7] [--json FILE]

A compiled function and the same function in Python take turns in one process; a number is the least time of the
compiled one over the least of NumPy's, so that 0.5 is half of NumPy's time. The time of an empty compiled call is left
in. Both have one thread. The last row of a group is the geometric mean and the greatest ratio.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import figures
import numpy as np

from lancehead import njit, set_num_threads

#: A name, a function and its arguments.
Case = tuple[str, Callable[..., Any], tuple[Any, ...]]
RNG = np.random.default_rng(1)
SIZES = (2, 3, 4, 8, 16, 32, 64, 200, 500)
#: From so many rows on, a product takes longer than its call.
LARGE = 64


def matrix(*shape: int, dtype: Any = np.float64) -> np.ndarray:
    return RNG.standard_normal(shape).astype(dtype)


def small_products() -> Iterator[Case]:
    """Products that are mostly the call."""
    yield from products_of([n for n in SIZES if n < LARGE])


def products() -> Iterator[Case]:
    """Products in which the BLAS kernels work, and flat and long ones."""
    yield from products_of([n for n in SIZES if n >= LARGE])
    for rows, columns in ((1000, 10), (10, 1000), (2000, 50), (50, 2000)):
        a = matrix(rows, columns)
        yield f"a @ a.T, {rows} x {columns}", lambda a: a @ a.T, (a,)
        yield f"a @ v, {rows} x {columns}", lambda a, v: a @ v, (a, matrix(columns))


def products_of(sizes: list[int]) -> Iterator[Case]:
    for n in sizes:
        a, b, v = matrix(n, n), matrix(n, n), matrix(n)
        yield f"a @ b, {n}", lambda a, b: a @ b, (a, b)
        yield f"a.T @ a, {n}", lambda a: a.T @ a, (a,)
        yield f"a @ v, {n}", lambda a, v: a @ v, (a, v)
        yield f"v @ a, {n}", lambda a, v: v @ a, (a, v)
        yield f"dot(v, v), {n}", lambda v: np.dot(v, v), (v,)
        yield f"a[:, ::2] @ b[::2], {n}", lambda a, b: a[:, ::2] @ b[::2], (a, b)
        yield f"float32 a @ b, {n}", lambda a, b: a @ b, (a.astype(np.float32), b.astype(np.float32))
    for n in (n for n in (3, 16, 64, 200) if n in sizes):
        z = matrix(n, n) + 1j * matrix(n, n)
        yield f"complex a @ b, {n}", lambda a, b: a @ b, (z, z)
        yield f"vdot, {n * n}", lambda a: np.vdot(a, a), (z,)
        yield f"einsum ij,kj, {n}", lambda a, b: np.einsum("ij,kj->ik", a, b), (matrix(n, n), matrix(n, n))


def factors() -> Iterator[Case]:
    for n in SIZES:
        a, v = matrix(n, n), matrix(n)
        s = a @ a.T + n * np.eye(n)
        yield f"solve, {n}", lambda a, v: np.linalg.solve(a, v), (a, v)
        yield f"inv, {n}", lambda a: np.linalg.inv(a), (a,)
        yield f"cholesky, {n}", lambda s: np.linalg.cholesky(s), (s,)
        yield f"qr, {n}", lambda a: np.linalg.qr(a)[0], (a,)
        yield f"eigh, {n}", lambda s: np.linalg.eigh(s)[0], (s,)
        yield f"svd, {n}", lambda a: np.linalg.svd(a)[1], (a,)
        yield f"lstsq, {2 * n} x {n}", lambda a, v: np.linalg.lstsq(a, v)[0], (matrix(2 * n, n), matrix(2 * n))
        yield f"det, {n}", lambda a: np.linalg.det(a), (a,)


def transforms() -> Iterator[Case]:
    for n in (8, 60, 64, 127, 1000, 1024, 4096, 10007, 65536, 262144):
        z = matrix(n) + 1j * matrix(n)
        yield f"fft, {n}", lambda z: np.fft.fft(z), (z,)
        yield f"rfft, {n}", lambda x: np.fft.rfft(x), (z.real.copy(),)
        yield f"irfft, {n}", lambda z: np.fft.irfft(z), (z[: n // 2 + 1],)
    for shape in ((16, 16), (128, 128), (512, 512), (30, 1000)):
        yield f"fft2, {shape}", lambda z: np.fft.fft2(z), (matrix(*shape) + 0j,)
        yield f"rfft2, {shape}", lambda x: np.fft.rfft2(x), (matrix(*shape),)


def draws() -> Iterator[Case]:
    n = 100_000
    for kind in (np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64):
        rng = np.random.Generator(kind(1))
        yield f"random, {kind.__name__}", lambda rng: rng.random(n), (rng,)
    rng = np.random.default_rng(1)
    yield "standard_normal", lambda rng: rng.standard_normal(n), (rng,)
    yield "exponential", lambda rng: rng.exponential(2.0, n), (rng,)
    yield "gamma", lambda rng: rng.gamma(2.5, 1.0, n), (rng,)
    yield "beta", lambda rng: rng.beta(2.5, 1.5, n), (rng,)
    yield "poisson", lambda rng: rng.poisson(4.0, n), (rng,)
    yield "binomial", lambda rng: rng.binomial(20, 0.3, n), (rng,)
    yield "integers below 100", lambda rng: rng.integers(0, 100, n), (rng,)
    yield "integers of 62 bits", lambda rng: rng.integers(0, 1 << 62, n), (rng,)
    yield "random, float32", lambda rng: rng.random(n, dtype=np.float32), (rng,)
    yield "permutation", lambda rng: rng.permutation(n), (rng,)
    yield "choice", lambda rng: rng.choice(n, 1000), (rng,)


def sorting() -> Iterator[Case]:
    for n in (10, 1000, 100_000):
        for dtype in (np.float64, np.float32, np.int64, np.int16):
            x = (matrix(n) * 1000).astype(dtype)
            yield f"sort, {n} {x.dtype}", lambda x: np.sort(x), (x,)
            yield f"argsort, {n} {x.dtype}", lambda x: np.argsort(x), (x,)
        x = matrix(n)
        yield f"partition, {n}", lambda x, k: np.partition(x, k), (x, n // 2)
        yield f"unique, {n}", lambda x: np.unique(x), ((x * 100).astype(np.int64),)
        yield f"searchsorted, {n}", lambda x, y: np.searchsorted(x, y), (np.sort(x), matrix(n))
        yield f"lexsort, {n}", lambda x, y: np.lexsort((x, y)), (x, (x * 3).astype(np.int64))


#: Calls above 1.1 that a row of groups names.
SHOWN = 4
GROUPS = {
    "small products": small_products, "products": products, "factors": factors, "transforms": transforms,
    "draws": draws, "sorting": sorting,
}  # fmt: skip


def least(f: Callable[..., Any], args: tuple[Any, ...], repeats: int) -> float:
    """Seconds of a call, over so many calls."""
    start = time.perf_counter()
    for _ in range(repeats):
        f(*args)
    return (time.perf_counter() - start) / repeats


def ratio(f: Callable[..., Any], args: tuple[Any, ...], rounds: int) -> tuple[float, float]:
    """The time of the compiled function over that of NumPy, and that of NumPy."""
    compiled = njit(f)
    compiled(*args)
    repeats = max(1, int(0.003 / max(least(f, args, 1), 1e-7)))
    ours, theirs = math.inf, math.inf
    for _ in range(rounds):
        ours, theirs = min(ours, least(compiled, args, repeats)), min(theirs, least(f, args, repeats))
    return ours / theirs, theirs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=sorted(GROUPS))
    parser.add_argument("--rounds", type=int, default=7)
    figures.add_json(parser)
    given = parser.parse_args()
    # OpenBLAS has one thread, and large products would run on the pool.
    set_num_threads(1)
    print(f"NumPy's BLAS: {figures.blas()}")
    result = figures.Result("numpy", "benches/run.sh numpy", 1)
    groups = result.table("groups", "group", "calls", ("geometric mean", "", 2), "above 1.1")
    calls = result.table("calls", "group", "call", ("NumPy", "us", 2), ("over NumPy", "", 2))
    for name in [given.only] if given.only else GROUPS:
        print(f"\n{name}: compiled over NumPy, NumPy's microseconds")
        found = {}
        for text, f, args in GROUPS[name]():
            found[text], theirs = ratio(f, args, given.rounds)
            print(f"  {text:32} {found[text]:6.2f} {theirs * 1e6:12.1f}", flush=True)
            calls.add(name, text, round(theirs * 1e6, 2), round(found[text], 3))
        mean, greatest = figures.geometric_mean(found.values()), sorted(found, key=found.__getitem__, reverse=True)
        print(f"  {len(found)} cases: mean {mean:.2f}, greatest {found[greatest[0]]:.2f} ({greatest[0]})")
        above = [f"`{text}` {found[text]:.2f}" for text in greatest if found[text] > 1.1]
        shown = "; ".join([*above[:SHOWN], *[f"{len(above) - SHOWN} more"] * (len(above) > SHOWN)])
        groups.add(name, len(found), mean, shown or "none")
    result.write(given.json)


if __name__ == "__main__":
    main()
