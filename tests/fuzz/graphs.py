"""Random graphs of lazy arrays: broadcasting, views, writes, reductions, maps, orders, with schedules at random.

All numbers are small integers, in whatever type, so that each result is exactly NumPy's. A fault is another result, an
exception, or a crash; it is reported with the smallest number of steps that shows it.

    python tests/fuzz/graphs.py --count 1000 --seed 7
    python tests/fuzz/graphs.py --count 1 --seed 7 --size 31
"""

from __future__ import annotations

import argparse
import random
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from lancehead import xp

Pool = list[Any]
TYPES = ("int8", "uint8", "int32", "int64", "float32", "float64")
EXTENTS = (1, 3, 4, 0)
#: Elements of an array, at most, and arrays that a program holds.
SIZE, HELD = 300, 8


def bounded(n: Any, x: Any) -> Any:
    """Elements modulo 16, so that all sums and products are exact."""
    return n.remainder(x, n.asarray(16, dtype=x.dtype))


def fitting(rng: random.Random, pool: Pool, x: Any) -> Any:
    """An array that broadcasts with another to one that is not too large; the other if there is none."""
    for y in rng.sample(pool, len(pool)):
        try:
            if np.prod(np.broadcast_shapes(x.shape, y.shape)) <= SIZE:
                return y
        except ValueError:
            pass
    return x


def binary(n: Any, rng: random.Random, pool: Pool) -> Any:
    x = rng.choice(pool)
    y = fitting(rng, pool, x)
    if np.result_type(x.dtype, y.dtype) != x.dtype or rng.random() < 0.2:
        y = n.astype(y, x.dtype)
    name = rng.choice(("add", "subtract", "multiply", "maximum", "minimum", "floor_divide"))
    if name == "floor_divide":
        y = n.maximum(y, n.asarray(1, dtype=y.dtype))
    return bounded(n, getattr(n, name)(x, y))


def chosen(n: Any, rng: random.Random, pool: Pool) -> Any:
    x = rng.choice(pool)
    y = fitting(rng, pool, x)
    return n.where(x > rng.randrange(9), x, n.astype(y, x.dtype))


def unary(n: Any, rng: random.Random, pool: Pool) -> Any:
    x = rng.choice(pool)
    name = rng.choice(("abs", "square", "positive", "sign", "astype", "clip"))
    if name == "astype":
        return n.astype(x, np.dtype(rng.choice(TYPES)))
    return n.clip(x, 2, 9) if name == "clip" else bounded(n, getattr(n, name)(x))


def reduced(n: Any, rng: random.Random, pool: Pool) -> Any:
    x = rng.choice(pool)
    name = rng.choice(("sum", "prod", "max", "min", "any", "all", "argmax"))
    axis = rng.choice((None, *range(x.ndim)))
    keepdims = rng.random() < 0.5
    if 0 in x.shape and name not in ("sum", "any", "all"):
        name = "sum"
    if name == "prod":
        x = n.remainder(x, n.asarray(3, dtype=x.dtype))
        axis = rng.randrange(x.ndim) if x.ndim else None
    if name == "argmax":
        return bounded(n, n.astype(n.asarray(n.argmax(x, axis=axis, keepdims=keepdims)), np.int64))
    found = n.asarray(getattr(n, name)(x, axis=axis, keepdims=keepdims))
    return bounded(n, n.astype(found, np.float64 if found.dtype == bool else found.dtype))


def key(rng: random.Random, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Slices of all axes."""
    found = []
    for k in shape:
        step = rng.choice((1, 1, 2, -1, -2))
        start = rng.choice((None, rng.randrange(-k, k) if k else 0))
        found.append(slice(start, None, step))
    return tuple(found)


def view(n: Any, rng: random.Random, pool: Pool) -> Any:
    x = rng.choice(pool)
    match rng.randrange(4):
        case 0:
            order = list(range(x.ndim))
            rng.shuffle(order)
            return np.transpose(x, order) if n is np else n.permute_dims(x, tuple(order))
        case 1 if x.ndim < 3:
            return x[..., None]
        case 2:
            return n.reshape(x, (-1,)) if x.size else x
    return x[key(rng, x.shape)]


def moved(n: Any, rng: random.Random, pool: Pool) -> Any:
    x = rng.choice(pool)
    k = rng.randrange(x.ndim) if x.ndim else 0
    match rng.randrange(6):
        case 0 if x.ndim:
            return n.concat([x, n.astype(x[key(rng, x.shape[:1])], x.dtype)]) if x.size * 2 <= SIZE else x + x * 0
        case 1:
            return n.flip(x).copy() if n is np else n.flip(x)
        case 2 if x.ndim:
            return n.roll(x, rng.randrange(5), axis=k)
        case 3 if x.ndim and x.shape[k]:
            return n.take(x, n.asarray([rng.randrange(x.shape[k]) for _ in range(3)]), axis=k)
        case 4 if x.ndim and x.shape[k]:
            return n.sort(x, axis=k)
        case 5 if x.ndim and x.ndim < 3 and x.size * 3 <= SIZE:
            found = n.broadcast_to(x, (3, *x.shape))
            return found.copy() if n is np else found
    return bounded(n, x)


MAPS: tuple[tuple[Callable[[Any], Any], Callable[[Any], Any]], ...] = (
    (lambda v: v * v if v > 3 else -v, lambda a: np.where(a > 3, a * a, -a)),
    (lambda v: v * 2 + 1, lambda a: a * 2 + 1),
    (lambda v: max(v, 5), lambda a: np.maximum(a, 5)),
)


def mapped(n: Any, rng: random.Random, pool: Pool) -> Any:
    x = n.astype(rng.choice(pool), rng.choice((np.dtype(np.int64), np.dtype(np.float64))))
    f, oracle = rng.choice(MAPS)
    if rng.random() < 0.7 or not x.size:
        return bounded(n, np.asarray(oracle(x)) if n is np else n.map(f, x))
    found = np.asarray(np.sum(oracle(x))) if n is np else n.transform_reduce(f, lambda a, b: a + b, 0, x)
    return bounded(n, found)


def written(n: Any, rng: random.Random, pool: Pool) -> Any:
    x = rng.choice([x for x in pool if x.ndim] or [None])
    if x is None:
        return None
    where, number = key(rng, x.shape), rng.randrange(9)
    match rng.randrange(6):
        case 0:
            x[where] = number
        case 1:
            y = n.astype(fitting(rng, pool, x), x.dtype)
            if np.broadcast_shapes(x.shape, y.shape) == x.shape:
                x[...] = y
        case 2:
            x[where] += x[where] * 0 + number
        case 3:
            x[x > number] = number
        case 4 if x.shape[0]:
            x[n.asarray([rng.randrange(x.shape[0]) for _ in range(2)])] = number
        case _:
            x += number
            x[...] = bounded(n, x)
    return None


KINDS = (binary, binary, binary, chosen, unary, reduced, reduced, view, view, moved, mapped, written, written)


def options(rng: random.Random, x: Any) -> dict[str, Any]:
    """A schedule, which may be one that the array refuses."""
    match rng.randrange(8):
        case 0:
            return {"fuse": False}
        case 1:
            return {"recompute": rng.random() < 0.5}
        case 2:
            return {"chunks": rng.randrange(1, 6), "unroll": rng.choice((None, None, None, 2))}
        case 3:
            return {"tile": tuple(rng.randrange(1, 5) for _ in x.shape), "unroll": rng.choice((None, None, None, 2))}
        case 4:
            return {"place": "cpu"}
        case 5:
            return {"unroll": rng.choice((None, 1, 4)), "vectorize": rng.choice((None, True, False, 2, 16))}
        case 6:
            return {"vectorize": rng.choice((1, 4)), "chunks": rng.randrange(1, 4)}
    return {"chunks": 2, "recompute": False}


def program(n: Any, seed: int, size: int) -> Pool:
    """The arrays that a program of so many steps ends with, computed by NumPy or lazily."""
    rng, scheduling = random.Random(seed), random.Random(seed + 1)
    share = scheduling.choice((0.0, 0.1, 0.4))
    values = np.random.default_rng(seed)
    pool: Pool = []
    for _ in range(3):
        shape = tuple(rng.choice(EXTENTS[: 4 if rng.random() < 0.1 else 3]) for _ in range(rng.randrange(1, 4)))
        pool.append(n.asarray(values.integers(0, 9, shape).astype(rng.choice(TYPES))))
    for _ in range(size):
        kind = rng.choice(KINDS)
        found = kind(n, rng, pool)
        if found is not None:
            # Results of lazy operations are in row-major order, which decides where `reshape` gives a view.
            pool.append(np.asarray(found, order="K" if kind is view else "C") if n is np else found)
            if len(pool) > HELD:
                del pool[rng.randrange(HELD)]
        if n is xp and scheduling.random() < share:
            x = pool[-1] if scheduling.random() < 0.7 else scheduling.choice(pool)
            try:
                x.schedule(**options(scheduling, x))
            except ValueError as refused:
                assert str(refused), "a reason"
        if rng.random() < 0.02:
            rng.choice(pool).tolist() if n is np else rng.choice(pool).compute()
    return pool


def fault(seed: int, size: int) -> str:
    """The difference between a program's arrays and NumPy's; nothing if there is none."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = program(np, seed, size)
        except Exception as error:
            return f"NumPy does not run it: {error!r}"
        try:
            for x, a in zip(program(xp, seed, size), expected, strict=True):
                found = x.numpy()
                assert (x.dtype, x.shape, found.dtype, found.shape) == (a.dtype, a.shape) * 2, (
                    x.dtype,
                    a.dtype,
                    x.shape,
                )
                np.testing.assert_array_equal(found, a)
        except Exception as error:
            return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return ""


def size_of(seed: int) -> int:
    """How many steps the program of a seed has: mostly few, which compile fast."""
    return 200 if seed % 40 == 39 else (4, 6, 8, 10, 12, 15, 20, 40)[seed % 8]


def run(first: int, count: int, size: int | None = None) -> dict[str, str]:
    """Faults by seed and number of steps."""
    faults = {}
    for seed in range(first, first + count):
        steps = size or size_of(seed)
        said = fault(seed, steps)
        if said and size is None:
            # A program is the beginning of those with more steps.
            steps, said = next((k, text) for k in range(1, steps + 1) if (text := fault(seed, k)))
        if said:
            faults[f"--seed {seed} --size {steps}"] = said
    return faults


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=None)
    asked = parser.parse_args()
    count = 0
    for seed in range(asked.seed, asked.seed + asked.count):
        for what, said in run(seed, 1, asked.size).items():
            count += 1
            print(f"{what}: {said}", flush=True)
    sys.exit(bool(count))
