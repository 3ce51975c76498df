"""JAX's side of the comparison: `with_jax.py SECONDS SIZES NAMES` prints a line of JSON for each size and primitive."""

from __future__ import annotations

import json
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from inputs import BINS, FEW, inputs

jax.config.update("jax_enable_x64", True)


def _ten(v):
    for _ in range(10):
        v = v * 0.5 + 1.0
    return v


def _plane(m):
    p = jnp.pad(m, 1, mode="edge")
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4.0 * m


def _line(x):
    p = jnp.pad(x, 1, mode="edge")
    return p[:-2] + p[1:-1] + p[2:]


def _sorted_pairs(keys, y):
    return jax.lax.sort((keys, y), num_keys=1, is_stable=True)


def _compiled(name, of):
    # The function and its arguments; results whose sizes depend on values are not compiled, as JAX wants it.
    segments = len(of.offsets) - 1
    number = jnp.asarray(np.repeat(np.arange(segments), np.diff(of.offsets)))
    g = {k: jnp.asarray(v) for k, v in vars(of).items()}
    x, y, m, a, b = g["x"], g["y"], g["matrix"], g["a"], g["b"]
    cases = {
        "map": (lambda x: x * 2.0 + 1.0, x),
        "zipwith": (lambda x, y: x * y + 1.0, x, y),
        "reduce": (jnp.sum, x),
        "reduce rows": (lambda m: jnp.sum(m, axis=1), m),
        "reduce columns": (lambda m: jnp.sum(m, axis=0), m),
        "sum(map)": (lambda x: jnp.sum(x * 2.0 + 1.0), x),
        "transform_reduce": (lambda x: jnp.sum(x * 2.0 + 1.0), x),
        "chain": (lambda x: jnp.sum(_ten(x)), x),
        "inner": (lambda x, y: jnp.sum(x * y), x, y),
        "scan": (jnp.cumsum, x),
        "exclusive_scan": (lambda x: jnp.cumsum(x) - x, x),
        "scan rows": (lambda m: jnp.cumsum(m, axis=1), m),
        "segmented_reduce": (
            lambda x, s: jax.ops.segment_sum(x, s, segments, indices_are_sorted=True), x, number,
        ),
        "gather": (lambda x, p: x[p], x, g["places"]),
        "scatter": (lambda x, p, y: x.at[p].set(y), x, g["places"], y),
        "scatter add": (lambda x, p, y: x.at[p].add(y), x, g["keys"], y),
        "sort_by_key": (_sorted_pairs, g["keys"], y),
        "top_k": (lambda x: jax.lax.top_k(x, FEW), x),
        "k_select": (lambda x: jnp.partition(x, x.size // 2)[x.size // 2], x),
        "histogram": (lambda x: jnp.histogram(x, BINS, (0.0, 1.0)), x),
        "bincount": (lambda c: jnp.bincount(c, length=1000), g["counts"]),
        "merge": (lambda a, b: jnp.sort(jnp.concatenate([a, b])), a, b),
        "stencil line": (_line, x),
        "stencil plane": (_plane, m),
        "outer": (jnp.outer, g["left"], g["right"]),
        "adjacent_difference": (lambda x: jnp.concatenate([x[:1], x[1:] - x[:-1]]), x),
    }  # fmt: skip
    eager = {
        "compact": (lambda x, k: x[k], x, g["mask"]),
        "unique": (jnp.unique, g["runs"]),
        "union": (jnp.union1d, a, b),
        "intersection": (jnp.intersect1d, a, b),
        "symmetric_difference": (jnp.setxor1d, a, b),
    }
    if name in cases:
        f, *arguments = cases[name]
        return jax.jit(f), arguments
    if name in eager:
        f, *arguments = eager[name]
        return f, arguments
    return None, ()


def main():
    seconds, sizes, names = float(sys.argv[1]), sys.argv[2].split(","), sys.argv[3].split(",")
    for n in map(int, sizes):
        of = inputs(n)
        for name in names:
            f, arguments = _compiled(name, of)
            if f is None:
                continue
            jax.block_until_ready(f(*arguments))
            best, spent, rounds = float("inf"), 0.0, 0
            while rounds < 3 or (spent < seconds and rounds < 10_000):
                start = time.perf_counter()
                jax.block_until_ready(f(*arguments))
                took = time.perf_counter() - start
                best, spent, rounds = min(best, took), spent + took, rounds + 1
            print(json.dumps([n, name, best]), flush=True)


if __name__ == "__main__":
    main()
