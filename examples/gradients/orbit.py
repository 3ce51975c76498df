"""A probe on its way among planets: the start that brings it to its goal, by the derivative of the whole flight.

python examples/gradients/orbit.py
"""

import numpy as np
from checking import agree, differences

from lancehead import njit
from lancehead.gradients import jacfwd, jacrev

#: Gravity of the sun, in units in which a year of the earth is 2 pi, and of two planets, heavier than true ones.
MASSES = np.array([1.0, 3e-3, 1e-3])


def pulls(places, masses, out):
    """Accelerations of all bodies; the last one, the probe, pulls none."""
    bodies = places.shape[0]
    out[:] = 0.0
    for i in range(bodies):
        for j in range(masses.size):
            if i != j:
                dx, dy = places[j, 0] - places[i, 0], places[j, 1] - places[i, 1]
                square = dx * dx + dy * dy + 1e-6
                f = masses[j] / (square * np.sqrt(square))
                out[i, 0] += f * dx
                out[i, 1] += f * dy


def flown(probe, planets, masses, time, steps):
    """The probe's place and velocity after some time, by leapfrog. `planets` has places and velocities."""
    bodies = masses.size + 1
    x, v, a = np.empty((bodies, 2)), np.empty((bodies, 2)), np.empty((bodies, 2))
    x[:-1], v[:-1] = planets[:, :2], planets[:, 2:]
    x[-1], v[-1] = probe[:2], probe[2:]
    h = time / steps
    pulls(x, masses, a)
    for _ in range(steps):
        v += 0.5 * h * a
        x += h * v
        pulls(x, masses, a)
        v += 0.5 * h * a
    return np.concatenate((x[-1], v[-1]))


derivative = jacfwd(flown)


@njit
def aimed(probe, goal, planets, masses, time, steps, rounds):
    """The probe with the velocity that brings it to the goal: Newton's method on two numbers."""
    for _ in range(rounds):
        off = flown(probe, planets, masses, time, steps)[:2] - goal
        j = derivative(probe, planets, masses, time, steps)[:2, 2:]
        probe = probe.copy()
        probe[2:] -= np.linalg.solve(j, off)
    return probe


def main():
    planets = np.array([[0.0, 0.0, 0.0, 0.0], [0.9, 0.0, 0.0, 1.05], [0.0, 1.6, -0.79, 0.0]])
    probe = np.array([1.1, 0.1, -0.05, 1.0])
    time, steps = 2.5, 2000

    found = derivative(probe, planets, MASSES, time, steps)
    agree("differences", found, differences(lambda p: flown(p, planets, MASSES, time, steps), probe), 1e-7)
    agree("reverse mode", found, jacrev(flown)(probe, planets, MASSES, time, steps), 1e-11)
    # Leapfrog keeps areas of places and velocities, as nature does: the derivative is a symplectic matrix.
    areas = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    agree("a matrix that keeps areas", found.T @ areas @ found, areas, 1e-10)

    goal = flown(probe, planets, MASSES, time, steps)[:2] + np.array([0.1, 0.1])
    aim = aimed(probe, goal, planets, MASSES, time, steps, 8)
    before, after = (np.linalg.norm(flown(p, planets, MASSES, time, steps)[:2] - goal) for p in (probe, aim))
    print(f"{steps:,} steps: {before:.3f} from the goal, after 8 rounds {after:.0e}")
    print("velocity at the start:", np.round(aim[2:], 4))
    assert after < 1e-12


if __name__ == "__main__":
    main()
