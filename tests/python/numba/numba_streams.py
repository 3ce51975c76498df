"""Random numbers that Numba draws: `python numba_streams.py` records them with an installed Numba."""

from __future__ import annotations

import json
import pathlib
import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

RECORDED = pathlib.Path(__file__).with_name("numba_streams.json")

# fmt: off
#: Eight numbers of each are drawn.
NUMBERS = [
    "np.random.random()", "np.random.normal(1.5, 2.5)", "np.random.uniform(1.0, 3.0)", "np.random.randint(-3, 70000)",
    "np.random.gamma(0.5, 2.0)", "np.random.gamma(1.0, 2.0)", "np.random.gamma(2.5, 2.0)",
    "np.random.standard_gamma(3.0)",
    "np.random.beta(0.5, 0.7)", "np.random.beta(2.0, 3.0)", "np.random.exponential(2.0)",
    "np.random.lognormal(0.5, 1.5)",
    "np.random.pareto(3.0)", "np.random.weibull(2.0)", "np.random.vonmises(0.5, 2.5)", "np.random.binomial(10, 0.3)",
    "np.random.chisquare(2.5)", "np.random.f(2.5, 3.5)", "np.random.geometric(0.3)", "np.random.gumbel(0.5, 1.5)",
    "np.random.hypergeometric(10, 20, 5)", "np.random.hypergeometric(100, 200, 50)", "np.random.laplace(0.5, 1.5)",
    "np.random.logistic(0.5, 1.5)", "np.random.logseries(0.6)", "np.random.negative_binomial(10, 0.5)",
    "np.random.poisson(3.0)", "np.random.poisson(30.0)", "np.random.power(2.5)", "np.random.rayleigh(2.0)",
    "np.random.standard_cauchy()", "np.random.standard_t(3.0)", "np.random.triangular(1.0, 2.0, 4.0)",
    "np.random.wald(1.5, 2.5)", "np.random.zipf(2.5)", "np.random.vonmises(0.5, 0.0)",
    "random.random()", "random.uniform(1.0, 3.0)", "random.randint(1, 6)", "random.randrange(10)",
    "random.randrange(3, 50, 4)", "random.randrange(16)", "random.gauss(0.5, 1.5)", "random.normalvariate(0.5, 1.5)",
    "random.expovariate(2.0)", "random.gammavariate(2.5, 1.5)", "random.gammavariate(0.5, 1.5)",
    "random.betavariate(2.5, 1.5)", "random.triangular(1.0, 2.0, 1.5)", "random.paretovariate(2.5)",
    "random.weibullvariate(2.5, 1.5)", "random.vonmisesvariate(0.5, 2.5)", "random.lognormvariate(0.5, 1.5)",
    "random.getrandbits(5)", "random.getrandbits(40)",
]
#: Arrays.
ARRAYS = [
    "np.random.permutation(12)", "np.random.choice(np.arange(20), 6)", "np.random.dirichlet(np.array([1.0, 2.0, 3.0]))",
    "np.random.choice(np.arange(20), 6, replace=False)", "np.random.multinomial(20, np.array([0.2, 0.3, 0.5]))",
    "np.random.noncentral_chisquare(2.5, 1.5, 5)", "np.random.noncentral_chisquare(0.5, 1.5, 5)",
    "np.random.standard_gamma(0.7, 5)", "np.random.rand(5)", "np.random.randn(5)", "np.random.gamma(2.0, 3.0, (2, 2))",
]
# fmt: on


def drawn(text: str, njit: Callable[..., Any]) -> list[float]:
    """The numbers of a call after seeds of both modules, compiled by a decorator."""
    result = text if text in ARRAYS else f"[{text} for _ in range(8)]"
    seen: dict[str, Any] = {"np": np, "random": random}
    exec(f"def f():\n    np.random.seed(7)\n    random.seed(7)\n    return {result}", seen)
    return [float(x) for x in np.ravel(njit(seen["f"])())]


def main() -> None:
    import numba

    recorded = {text: drawn(text, numba.njit) for text in NUMBERS + ARRAYS}
    RECORDED.write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
