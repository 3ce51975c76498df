"""The price of a call option by Monte Carlo: each stream of draws has a generator of its own, spawned from one seed.

So the price does not depend on the number of threads, and NumPy draws the same numbers. Black and Scholes' formula
tells the exact price.
"""

import math

import numpy as np

from lancehead import njit, prange
from lancehead.demo.program import Program

SPOT, STRIKE, RATE, VOLATILITY, YEARS = 100.0, 105.0, 0.03, 0.2, 1.0
DRIFT = (RATE - 0.5 * VOLATILITY**2) * YEARS
SPREAD = VOLATILITY * math.sqrt(YEARS)
DISCOUNT = math.exp(-RATE * YEARS)


def plain(seed, streams, draws):
    children = np.random.SeedSequence(seed).spawn(streams)
    total = squares = 0.0
    for i in prange(streams):
        rng = np.random.default_rng(children[i])
        prices = SPOT * np.exp(DRIFT + SPREAD * rng.standard_normal(draws))
        gains = DISCOUNT * np.maximum(prices - STRIKE, 0.0)
        total += gains.sum()
        squares += (gains * gains).sum()
    mean = total / (streams * draws)
    # The price and its standard error.
    return mean, math.sqrt((squares / (streams * draws) - mean * mean) / (streams * draws))


def inputs(quick):
    return (2026, 8, 5_000) if quick else (2026, 64, 50_000)


def black_scholes():
    def below(x):
        return 0.5 * math.erfc(-x / math.sqrt(2.0))

    d = (math.log(SPOT / STRIKE) + DRIFT) / SPREAD
    return SPOT * below(d + SPREAD) - STRIKE * DISCOUNT * below(d)


def objection(answer):
    price, error = answer
    off = abs(price - black_scholes()) / error
    return "" if off < 3.0 else f"the price of Black and Scholes is {off:.1f} standard errors away"


PROGRAM = Program(
    name="options",
    title="Option price, Monte Carlo",
    baseline="NumPy",
    inputs=inputs,
    size=lambda seed, streams, draws: f"made market, {streams} × {draws:,} draws",
    plain=plain,
    compiled=njit(parallel=True)(plain),
    tolerance=1e-12,
    objection=objection,
)
