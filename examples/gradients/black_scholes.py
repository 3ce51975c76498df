"""The greeks of an option: first and second derivatives of its price, against their closed forms.

python examples/gradients/black_scholes.py
"""

import math

import numpy as np
from checking import agree

from lancehead import njit
from lancehead.gradients import grad, hessian


def below(x):
    """The chance that a normal number is below `x`."""
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def call(p):
    """The price of a call; `p` has the price of the share, volatility, rate, time and strike."""
    share, volatility, rate, time, strike = p
    spread = volatility * math.sqrt(time)
    d1 = (math.log(share / strike) + (rate + 0.5 * volatility * volatility) * time) / spread
    return share * below(d1) - strike * math.exp(-rate * time) * below(d1 - spread)


first, second = grad(call), hessian(call)


@njit
def greeks(shares, p):
    """The first and second derivatives for many prices of the share."""
    slopes, curvatures = np.empty((shares.size, 5)), np.empty((shares.size, 5, 5))
    for i in range(shares.size):
        own = p.copy()
        own[0] = shares[i]
        slopes[i] = first(own)
        curvatures[i] = second(own)
    return slopes, curvatures


def main():
    shares = np.linspace(60.0, 160.0, 101)
    p = np.array([100.0, 0.25, 0.03, 0.75, 105.0])
    slopes, curvatures = greeks(shares, p)

    _, volatility, rate, time, strike = p
    root = np.sqrt(time)
    d1 = (np.log(shares / strike) + (rate + 0.5 * volatility**2) * time) / (volatility * root)
    d2 = d1 - volatility * root
    density = np.exp(-0.5 * d1 * d1) / np.sqrt(2.0 * np.pi)
    now = strike * np.exp(-rate * time)
    chance = np.array([[below(a), below(b)] for a, b in zip(d1, d2)])
    vega = shares * density * root
    known = {
        "delta": (slopes[:, 0], chance[:, 0]),
        "vega": (slopes[:, 1], vega),
        "rho": (slopes[:, 2], time * now * chance[:, 1]),
        "theta": (slopes[:, 3], shares * density * volatility / (2.0 * root) + rate * now * chance[:, 1]),
        "gamma": (curvatures[:, 0, 0], density / (shares * volatility * root)),
        "vanna": (curvatures[:, 0, 1], -density * d2 / volatility),
        "volga": (curvatures[:, 1, 1], vega * d1 * d2 / volatility),
    }
    for name, (found, expected) in known.items():
        agree(f"the closed form of {name}", found, expected, 1e-12)
    agree("its transpose, of second derivatives", curvatures, np.swapaxes(curvatures, 1, 2), 1e-13)
    print(f"share {shares[40]:.0f}: delta {slopes[40, 0]:.4f}, gamma {curvatures[40, 0, 0]:.4f}")


if __name__ == "__main__":
    main()
