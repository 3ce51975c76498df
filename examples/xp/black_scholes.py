"""Prices of options by Black and Scholes, for all strikes and times at once, and how they change with the price.

python examples/xp/black_scholes.py [DEVICE]
"""

import math
import sys

import numpy as np
from scipy.stats import norm

from lancehead import xp


def below(x):
    """Probability that a standard normal number is below x."""
    return 0.5 * math.erfc(-x * 0.7071067811865476)


def call_and_put(price, strike, years, rate, volatility):
    """Prices of calls and puts, and the calls' deltas."""
    spread = volatility * xp.sqrt(years)
    d = (xp.log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / spread
    discounted = strike * xp.exp(-rate * years)
    delta = xp.map(below, d)
    call = price * delta - discounted * xp.map(below, d - spread)
    return call, call - price + discounted, delta


def main(device=None):
    where = {} if device is None else {"device": device}
    strikes, years = np.linspace(60.0, 140.0, 401), np.linspace(0.05, 2.0, 400)[:, None]
    call, put, delta = call_and_put(100.0, xp.asarray(strikes, **where), xp.asarray(years, **where), 0.03, 0.25)
    d = (np.log(100.0 / strikes) + (0.03 + 0.5 * 0.25**2) * years) / (0.25 * np.sqrt(years))
    expected = 100.0 * norm.cdf(d) - strikes * np.exp(-0.03 * years) * norm.cdf(d - 0.25 * np.sqrt(years))
    np.testing.assert_allclose(np.asarray(call), expected, rtol=1e-9, atol=1e-12)
    print("strike   call    put  delta   (a year)")
    row = int(np.argmin(np.abs(years - 1.0)))
    for column in range(0, 401, 80):
        values = [float(x[row, column]) for x in (call, put, delta)]
        print("{:6.0f} {:6.2f} {:6.2f} {:6.2f}".format(strikes[column], *values))


if __name__ == "__main__":
    main(*sys.argv[1:2])
