"""Nonlinear least squares by Levenberg and Marquardt: a solver in compiled code that takes any model.

The data and the certified results are those of the problem Misra1a of NIST (Statistical Reference Datasets).

python examples/gradients/levenberg_marquardt.py
"""

import numpy as np
from checking import agree

from lancehead import njit
from lancehead.gradients import jacfwd

X = "77.6 114.9 141.1 190.8 239.9 289.0 332.8 378.4 434.8 477.3 536.8 593.1 689.1 760.0"
Y = "10.07 14.73 17.94 23.93 29.61 35.18 40.02 44.82 50.76 55.05 61.01 66.40 75.47 81.78"
CERTIFIED = np.array([238.94212918, 5.5015643181e-4])


def residuals(b, x, y):
    """The volume that a monolayer takes under pressure, less what was measured."""
    return b[0] * (1.0 - np.exp(-b[1] * x)) - y


def solver(residuals):
    """A compiled function that fits the parameters of any residuals."""
    jacobian = jacfwd(residuals)

    @njit
    def solve(b, x, y, rounds):
        damping = 1e-3
        off = residuals(b, x, y)
        for k in range(rounds):
            j = jacobian(b, x, y)
            normal, right = j.T @ j, j.T @ off
            step = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), right)
            new = residuals(b - step, x, y)
            if np.sum(new * new) < np.sum(off * off):
                b, off = b - step, new
                damping *= 0.3
            else:
                damping *= 4.0
            if np.max(np.abs(step / b)) < 1e-13:
                return b, k + 1
        return b, rounds

    return solve


def main():
    x, y = (np.array(text.split(), float) for text in (X, Y))
    start = np.array([500.0, 1e-4])
    exact = np.column_stack((1.0 - np.exp(-start[1] * x), start[0] * x * np.exp(-start[1] * x)))
    agree("the closed form", jacfwd(residuals)(start, x, y), exact, 1e-15)
    b, rounds = solver(residuals)(start, x, y, 100)
    assert np.allclose(b, CERTIFIED, rtol=1e-9)
    print(f"{rounds} rounds: {b[0]:.8f}, {b[1]:.10e}; certified {CERTIFIED[0]:.8f}, {CERTIFIED[1]:.10e}")


if __name__ == "__main__":
    main()
