"""Pipelines of arrays by `lancehead.xp` beside NumPy, and JAX where it is installed.

    python benches/pipelines.py [--only softmax] [--sizes 10000 1000000] [--rounds 7] [--json FILE]

A pipeline is a function of a namespace and its arrays. The contenders take turns; a number is the least time of ours
over the least of theirs. Arguments are arrays of the namespace, results are waited for. JAX's functions are under
`jax.jit` in double precision.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import figures
import numpy as np

from lancehead import xp

Pipeline = Callable[..., Any]


def standardise(w: Any, x: Any) -> Any:
    return (x - w.mean(x, axis=0)) / w.std(x, axis=0)


def softmax(w: Any, x: Any) -> Any:
    e = w.exp(x - w.max(x, axis=1, keepdims=True))
    return e / w.sum(e, axis=1, keepdims=True)


def distances(w: Any, p: Any, q: Any) -> Any:
    return w.sqrt(w.sum((p[:, None, :] - q[None, :, :]) ** 2, axis=-1))


def polynomial(w: Any, v: Any) -> Any:
    return 1.0 + v * (0.5 + v * (0.25 + v * (0.125 - v * (0.0625 + v * 0.03125))))


def logistic_loss(w: Any, x: Any, y: Any, c: Any) -> Any:
    z = x @ c
    return w.mean(w.log1p(w.exp(-w.abs(z))) + w.where(z > 0.0, z, 0.0) - y * z)


def choice(w: Any, v: Any) -> Any:
    return w.where(v > 0.0, w.sqrt(w.abs(v)), v * v)


def covariance(w: Any, x: Any) -> Any:
    d = x - w.mean(x, axis=0)
    return d.T @ d / (x.shape[0] - 1)


def ordered(w: Any, v: Any) -> Any:
    return w.sort(v)


def running(w: Any, v: Any) -> Any:
    return (w.cumulative_sum(v) if hasattr(w, "cumulative_sum") else w.cumsum(v)) * 0.5


def stencil(w: Any, g: Any) -> Any:
    return g[1:-1, 1:-1] + 0.1 * (g[:-2, 1:-1] + g[2:, 1:-1] + g[1:-1, :-2] + g[1:-1, 2:] - 4.0 * g[1:-1, 1:-1])


def best(w: Any, x: Any) -> Any:
    return w.argmax(x * 2.0 - 1.0, axis=1)


def gathered(w: Any, v: Any, i: Any) -> Any:
    return w.take(v, i) * 2.0 + 1.0


def black_scholes(w: Any, s: Any, t: Any) -> Any:
    k, r, vol = 100.0, 0.02, 0.3
    root = vol * w.sqrt(t)
    d1 = (w.log(s / k) + (r + 0.5 * vol * vol) * t) / root
    d2 = d1 - root

    def normal(d: Any) -> Any:
        return 0.5 * (1.0 + w.tanh(0.7978845608 * (d + 0.044715 * d * d * d)))

    return s * normal(d1) - k * w.exp(-r * t) * normal(d2)


def moments(w: Any, v: Any) -> Any:
    d = v - w.mean(v)
    s = w.mean(d * d)
    return w.mean(d**3) / s**1.5, w.mean(d**4) / (s * s)


def layer(w: Any, x: Any, m: Any, b: Any) -> Any:
    return w.maximum(x @ m + b, 0.0)


def normalised_rows(w: Any, x: Any) -> Any:
    return x / w.sqrt(w.sum(x * x, axis=1, keepdims=True))


def clipped(w: Any, v: Any) -> Any:
    return w.clip(v * 3.0, -1.0, 1.0) + w.floor(v)


def differences(w: Any, v: Any) -> Any:
    d = v[1:] - v[:-1]
    return w.sum(d * d) / w.sum(v * v)


def counted(w: Any, v: Any) -> Any:
    return w.sum((v > 0.5) & (v < 1.5))


def energy(w: Any, x: Any, y: Any, z: Any) -> Any:
    return w.sum(1.0 / w.sqrt(x * x + y * y + z * z + 0.01))


def arrays(name: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """The arguments of a pipeline, `n` elements in all or nearly so."""
    rows, side = n // 20, math.isqrt(n)
    line, table = rng.normal(size=n), rng.normal(size=(rows, 20))
    made: dict[str, tuple[np.ndarray, ...]] = {
        "distances": (rng.normal(size=(side, 3)), rng.normal(size=(side, 3))),
        "logistic_loss": (table, rng.integers(0, 2, rows).astype(float), rng.normal(size=20)),
        "stencil": (rng.normal(size=(side, side)),),
        "gathered": (line, rng.integers(0, n, n)),
        "black_scholes": (rng.uniform(50.0, 150.0, n), rng.uniform(0.1, 2.0, n)),
        "layer": (table, rng.normal(size=(20, 20)), rng.normal(size=20)),
        "energy": (line, rng.normal(size=n), rng.normal(size=n)),
        **dict.fromkeys(("standardise", "softmax", "covariance", "best", "normalised_rows"), (table,)),
    }
    return made.get(name, (line,))


PIPELINES: tuple[Pipeline, ...] = (
    standardise, softmax, distances, polynomial, logistic_loss, choice, covariance, ordered, running, stencil, best,
    gathered, black_scholes, moments, layer, normalised_rows, clipped, differences, counted, energy,
)  # fmt: skip


def waited(result: Any) -> None:
    """Waits for a result, or several."""
    for x in result if isinstance(result, tuple) else (result,):
        if hasattr(x, "block_until_ready"):
            x.block_until_ready()
        elif isinstance(x, xp.ndarray):
            x.compute()


def contenders(pipeline: Pipeline, given: tuple[np.ndarray, ...]) -> dict[str, Callable[[], Any]]:
    """Calls of a pipeline by each namespace."""
    ours = [xp.asarray(a) for a in given]
    found: dict[str, Callable[[], Any]] = {
        "ours": lambda: waited(pipeline(xp, *ours)), "NumPy": lambda: pipeline(np, *given),
    }  # fmt: skip
    try:
        import jax
    except ImportError:
        return found
    jax.config.update("jax_enable_x64", True)
    compiled = jax.jit(lambda *a: pipeline(jax.numpy, *a))
    theirs = [jax.numpy.asarray(a) for a in given]
    return {**found, "JAX": lambda: waited(compiled(*theirs))}


def measured(pipeline: Pipeline, n: int, rounds: int) -> dict[str, float]:
    """The least seconds of each namespace."""
    calls = contenders(pipeline, arrays(pipeline.__name__, n, np.random.default_rng(1)))
    least = dict.fromkeys(calls, float("inf"))
    for call in calls.values():
        call()
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            for _ in range(max(1, 100_000 // n)):
                started = time.perf_counter()
                call()
                least[name] = min(least[name], time.perf_counter() - started)
    return least


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[p.__name__ for p in PIPELINES])
    parser.add_argument("--sizes", nargs="*", type=int, default=[1_000, 10_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=9)
    figures.add_json(parser)
    asked = parser.parse_args()
    result = figures.Result("pipelines", "benches/run.sh pipelines", 0)
    table = result.table(
        "pipelines", "pipeline", "elements", ("ours", "us", 1), ("over NumPy", "", 2), ("over JAX", "", 2)
    )
    means = result.table("means", "elements", "peer", ("geometric mean", "", 2), "slower than it")
    ratios = dict[tuple[int, str], list[float]]()
    for pipeline in [p for p in PIPELINES if p.__name__ in asked.only]:
        for n in asked.sizes:
            least = measured(pipeline, n, asked.rounds)
            over = {name: least["ours"] / least[name] for name in least if name != "ours"}
            for name, ratio in over.items():
                ratios.setdefault((n, name), []).append(ratio)
            table.add(pipeline.__name__, n, 1e6 * least["ours"], over["NumPy"], over.get("JAX", math.nan))
            shown = "".join(f"  {ratio:6.2f} of {name}" for name, ratio in over.items())
            print(f"{pipeline.__name__:16} {n:9,} {1e6 * least['ours']:10.1f} us{shown}", flush=True)
    for (n, name), found in ratios.items():
        slower = sum(r > 1.0 for r in found)
        means.add(n, name, figures.geometric_mean(found), slower)
        print(f"{n:,} elements: {figures.geometric_mean(found):.2f} of {name}'s time, {slower} slower")
    result.write(asked.json)


if __name__ == "__main__":
    main()
