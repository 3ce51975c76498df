"""Predators and prey: rates from what was counted, through a solver of differential equations that chooses its steps.

The derivative is that of the program: the steps depend on the rates, too, and are differentiated with the rest.

python examples/gradients/ode_fit.py
"""

import numpy as np
from checking import agree
from scipy.integrate import solve_ivp

from lancehead import njit
from lancehead.gradients import jacfwd, value_and_grad

#: Pelts of hares and lynxes in thousands, of the Hudson's Bay Company from 1900 to 1920.
HARES = "30 47.2 70.2 77.4 36.3 20.6 18.1 21.4 22 25.4 27.1 40.3 57 76.6 52.3 19.5 11.2 7.6 14.6 16.2 24.7"
LYNXES = "4 6.1 9.8 35.2 59.4 41.7 19 13 8.3 9.1 7.4 8 12.3 19.5 45.7 51.1 29.7 15.8 9.7 10.1 8.6"


def slope(y, rates):
    """The equations of Lotka and Volterra."""
    out = np.empty(2)
    out[0] = y[0] * (rates[0] - rates[1] * y[1])
    out[1] = y[1] * (rates[2] * y[0] - rates[3])
    return out


def advanced(y, span, rates, tolerance):
    """The state after a span of time, by the pair of Bogacki and Shampine: steps shrink and grow with the error."""
    t, h = 0.0, 0.1
    k1 = slope(y, rates)
    while t < span:
        h = min(h, span - t)
        k2 = slope(y + 0.5 * h * k1, rates)
        k3 = slope(y + 0.75 * h * k2, rates)
        new = y + h * (2.0 * k1 + 3.0 * k2 + 4.0 * k3) / 9.0
        k4 = slope(new, rates)
        off = h * np.abs(-5.0 * k1 + 6.0 * k2 + 8.0 * k3 - 9.0 * k4) / 72.0
        error = np.max(off / (tolerance * (1.0 + np.abs(new))))
        if error <= 1.0:
            t += h
            y, k1 = new, k4
        h *= min(5.0, max(0.2, 0.9 * (error + 1e-10) ** (-1.0 / 3.0)))
    return y


def loss(p, counted, tolerance):
    """Squared differences of logarithms; `p` has logarithms of the rates and of the first numbers."""
    rates, y = np.exp(p[:4]), np.exp(p[4:])
    total = np.sum((np.log(y) - np.log(counted[0])) ** 2)
    for year in range(1, counted.shape[0]):
        y = advanced(y, 1.0, rates, tolerance)
        total += np.sum((np.log(y) - np.log(counted[year])) ** 2)
    return total


def residuals(p, counted, tolerance):
    rates, y = np.exp(p[:4]), np.exp(p[4:])
    out = np.empty(counted.shape)
    out[0] = np.log(y) - np.log(counted[0])
    for year in range(1, counted.shape[0]):
        y = advanced(y, 1.0, rates, tolerance)
        out[year] = np.log(y) - np.log(counted[year])
    return out.ravel()


derivative = jacfwd(residuals)


@njit
def fitted(p, counted, tolerance, steps):
    """Parameters after steps of Gauss and Newton that are halved until they help."""
    for _ in range(steps):
        j, off = derivative(p, counted, tolerance), residuals(p, counted, tolerance)
        step = np.linalg.solve(j.T @ j, j.T @ off)
        while loss(p - step, counted, tolerance) > np.sum(off * off) and np.max(np.abs(step)) > 1e-9:
            step = 0.5 * step
        p = p - step
    return p


def by_equations(p, counted):
    """The gradient of the loss by the differential equations of the sensitivities, and a solver of high order."""

    def right(t, z):
        (x, y), s = z[:2], z[2:].reshape(2, 6)
        a, b, c, d = np.exp(p[:4])
        own = np.zeros((2, 6))
        own[0, :2], own[1, 2:4] = (a * x, -b * x * y), (c * x * y, -d * y)
        change = np.array([[a - b * y, -b * x], [c * y, c * x - d]]) @ s + own
        return np.concatenate(([x * (a - b * y), y * (c * x - d)], change.ravel()))

    y0 = np.exp(p[4:])
    start = np.zeros((2, 6))
    start[:, 4:] = np.diag(y0)
    years = np.arange(float(len(counted)))
    z = solve_ivp(right, (0.0, years[-1]), [*y0, *start.ravel()], "DOP853", years, rtol=1e-11, atol=1e-11).y
    off = np.log(z[:2] / counted.T)
    return 2.0 * np.sum(off[:, None] * z[2:].reshape(2, 6, -1) / z[:2, None], axis=(0, 2))


def main():
    counted = np.column_stack([np.array(text.split(), float) for text in (HARES, LYNXES)])
    p = np.log([0.5, 0.025, 0.025, 0.8, 30.0, 4.0])
    start, gradient = value_and_grad(loss)(p, counted, 1e-7)
    agree("equations of the sensitivities", gradient, by_equations(p, counted), 1e-4)
    agree("forward mode", gradient, 2.0 * derivative(p, counted, 1e-7).T @ residuals(p, counted, 1e-7), 1e-8)
    p = fitted(p, counted, 1e-6, 10)
    last = loss(p, counted, 1e-6)
    print(f"{len(counted)} years: loss {start:.2f}, then {last:.2f}; rates {np.round(np.exp(p[:4]), 3)}")
    assert last < start and np.abs(value_and_grad(loss)(p, counted, 1e-6)[1]).max() < 1e-3


if __name__ == "__main__":
    main()
