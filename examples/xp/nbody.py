"""Sun and outer planets under gravity for a century; the energy stays what it is.

python examples/xp/nbody.py [DEVICE]
"""

import sys

import numpy as np

from lancehead import xp
from lancehead.demo.programs.nbody import MASSES, POSITIONS, VELOCITIES

NAMES = ("Sun", "Jupiter", "Saturn", "Uranus", "Neptune")


def acceleration(positions, masses):
    """What all bodies do to each."""
    apart = positions[None, :, :] - positions[:, None, :]
    squares = xp.sum(apart * apart, axis=2)
    # A body does nothing to itself.
    pull = xp.where(squares > 0.0, masses / (squares * xp.sqrt(squares)), 0.0)
    return xp.sum(pull[:, :, None] * apart, axis=1)


@xp.trace
def step(positions, velocities, masses, years):
    """Positions and velocities some time later, by leapfrog."""
    half = velocities + acceleration(positions, masses) * (0.5 * years)
    positions = positions + half * years
    return positions, half + acceleration(positions, masses) * (0.5 * years)


def energy(positions, velocities, masses):
    """Kinetic and potential energy together."""
    apart = positions[None, :, :] - positions[:, None, :]
    squares = xp.sum(apart * apart, axis=2)
    pairs = xp.where(squares > 0.0, masses * masses[:, None] / xp.sqrt(squares), 0.0)
    return 0.5 * xp.sum(masses * xp.sum(velocities * velocities, axis=1)) - 0.5 * xp.sum(pairs)


def main(device=None):
    where = {} if device is None else {"device": device}
    masses = np.array(MASSES)
    velocities = np.array(VELOCITIES) - masses @ np.array(VELOCITIES) / masses.sum()
    x, v, m = (xp.asarray(a, **where) for a in (np.array(POSITIONS), velocities, masses))
    before = float(energy(x, v, m))
    for _ in range(2000):
        x, v = step(x, v, m, 0.05)
        x.compute()
    after = float(energy(x, v, m))
    assert abs(after - before) < 1e-4 * abs(before)
    places = np.asarray(x)
    for name, place in zip(NAMES[1:], places[1:] - places[0], strict=True):
        print(f"{name:8} {np.hypot(*place[:2]):6.2f} a.u. from the sun after a century")
    print(f"energy {before:.6f}, then {after:.6f}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
