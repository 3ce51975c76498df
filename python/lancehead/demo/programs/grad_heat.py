"""The gradient of a control through thousands of steps of heat: by hand, backwards in time, and by `value_and_grad`."""

import numpy as np

from lancehead.demo.program import Program
from lancehead.gradients import value_and_grad

DIFFUSION, RADIATION = 0.4, 1e-4


def miss(control, wanted):
    """How far the last temperatures are from those wanted; `control` has that of the first cell at each step."""
    cells = wanted.shape[0]
    u, v = np.zeros(cells), np.zeros(cells)
    for step in range(control.shape[0]):
        u[0] = control[step]
        v[0] = u[0]
        for i in range(1, cells - 1):
            v[i] = u[i] + DIFFUSION * (u[i - 1] - 2.0 * u[i] + u[i + 1]) - RADIATION * u[i] ** 4
        v[cells - 1] = v[cells - 2]
        u, v = v, u
    total = 0.0
    for i in range(cells):
        total += (u[i] - wanted[i]) ** 2
    return total


def plain(control, wanted):
    cells, steps = wanted.shape[0], control.shape[0]
    kept = np.zeros((steps + 1, cells))
    for step in range(steps):
        u, v = kept[step], kept[step + 1]
        u[0] = control[step]
        v[0] = u[0]
        for i in range(1, cells - 1):
            v[i] = u[i] + DIFFUSION * (u[i - 1] - 2.0 * u[i] + u[i + 1]) - RADIATION * u[i] ** 4
        v[cells - 1] = v[cells - 2]
    total = 0.0
    for i in range(cells):
        total += (kept[steps, i] - wanted[i]) ** 2
    slope = np.zeros(steps)
    of_v = 2.0 * (kept[steps] - wanted)
    for step in range(steps - 1, -1, -1):
        u, of_u = kept[step], np.zeros(cells)
        of_v[cells - 2] += of_v[cells - 1]
        for i in range(1, cells - 1):
            of_u[i - 1] += DIFFUSION * of_v[i]
            of_u[i] += of_v[i] * (1.0 - 2.0 * DIFFUSION - 4.0 * RADIATION * u[i] ** 3)
            of_u[i + 1] += DIFFUSION * of_v[i]
        slope[step] = of_u[0] + of_v[0]
        of_u[0] = 0.0
        of_v = of_u
    return total, slope


def inputs(quick):
    cells, steps = (20, 200) if quick else (40, 10_000)
    return 1.0 + 0.5 * np.sin(np.linspace(0.0, 20.0, steps)), np.linspace(1.0, 0.8, cells)


PROGRAM = Program(
    name="grad_heat",
    title="Gradient of a heat control",
    baseline="Python",
    inputs=inputs,
    size=lambda control, wanted: f"{len(wanted)} cells, {len(control):,} steps",
    plain=plain,
    compiled=value_and_grad(miss),
    tolerance=1e-11,
)
