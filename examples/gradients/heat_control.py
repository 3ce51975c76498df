"""A rod that radiates is heated at one end: the heating that gives a wanted temperature, by gradient descent.

python examples/gradients/heat_control.py
"""

import numpy as np
from checking import agree, differences

from lancehead.gradients import value_and_grad

#: Seconds of a step over the square of a cell, and the part of heat that a cell radiates.
DIFFUSION, RADIATION = 0.4, 1e-4


def miss(control, wanted, cells, steps):
    """The mean square by which the last temperatures miss the wanted one, and the price of changes of the heating.

    `control` has the temperature of the first cell at some moments, and is linear between them.
    """
    u, v = np.zeros(cells), np.zeros(cells)
    moments = (control.size - 1) / steps
    for step in range(steps):
        at = step * moments
        k = int(at)
        u[0] = control[k] + (at - k) * (control[k + 1] - control[k])
        for i in range(1, cells):
            right = u[i + 1] if i + 1 < cells else u[i]
            v[i] = u[i] + DIFFUSION * (u[i - 1] - 2.0 * u[i] + right) - RADIATION * u[i] ** 4
        u, v = v, u
    total = 0.0
    for i in range(1, cells):
        total += (u[i] - wanted[i]) ** 2
    total /= cells
    for k in range(control.size - 1):
        total += 1e-4 * (control[k + 1] - control[k]) ** 2
    return total


def main(steps=10_000):
    cells = 40
    wanted = 1.0 + 0.2 * np.cos(np.linspace(0.0, np.pi, cells))
    both = value_and_grad(miss)
    control = np.ones(12)
    start, gradient = both(control, wanted, cells, steps)
    agree("differences", gradient, differences(lambda c: both(c, wanted, cells, steps)[0], control), 1e-5)

    for _ in range(40):
        control = control - 2.0 * both(control, wanted, cells, steps)[1]
    last = both(control, wanted, cells, steps)[0]
    print(f"{steps:,} steps of time, {cells} cells: miss {start:.4f}, after 40 steps of descent {last:.4f}")
    print("heating:", np.round(control, 2))
    assert last < 0.5 * start


if __name__ == "__main__":
    main()
