"""Sun and outer planets under gravity; the answer is the energy before and after."""

import math

import numpy as np

from lancehead import njit
from lancehead.demo.program import Program

# Positions (astronomical units), velocities (a.u. per year) and masses (4 pi^2 for the sun).
YEAR = 365.24
SUN = 4.0 * math.pi * math.pi
POSITIONS = [
    [0.0, 0.0, 0.0],
    [4.84143144246472090, -1.16032004402742839, -0.103622044471123109],
    [8.34336671824457987, 4.12479856412430479, -0.403523417114321381],
    [12.8943695621391310, -15.1111514016986312, -0.223307578892655734],
    [15.3796971148509165, -25.9193146099879641, 0.179258772950371181],
]
VELOCITIES = [
    [0.0, 0.0, 0.0],
    [0.00166007664274403694 * YEAR, 0.00769901118419740425 * YEAR, -0.0000690460016972063023 * YEAR],
    [-0.00276742510726411942 * YEAR, 0.00499852801234917238 * YEAR, 0.0000230417297573763929 * YEAR],
    [0.00296460137564761618 * YEAR, 0.00237847173959480950 * YEAR, -0.0000296589568540237556 * YEAR],
    [0.00268067772490389322 * YEAR, 0.00162824170038242295 * YEAR, -0.0000951592254519715870 * YEAR],
]
MASSES = [
    SUN,
    0.000954791938424326609 * SUN,
    0.000285885980666130812 * SUN,
    0.0000436624404335156298 * SUN,
    0.0000515138902046611451 * SUN,
]


def plain_energy(bodies):
    total = 0.0
    for i, (p, v, m) in enumerate(bodies):
        total += 0.5 * m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
        for q, _, n in bodies[i + 1 :]:
            total -= m * n / math.sqrt((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 + (p[2] - q[2]) ** 2)
    return total


def plain(positions, velocities, masses, steps, dt):
    bodies = list(zip(positions.tolist(), velocities.tolist(), masses.tolist()))
    before = plain_energy(bodies)
    pairs = [(a, b) for i, a in enumerate(bodies) for b in bodies[i + 1 :]]
    for _ in range(steps):
        for (p, v, m), (q, w, n) in pairs:
            dx, dy, dz = p[0] - q[0], p[1] - q[1], p[2] - q[2]
            square = dx * dx + dy * dy + dz * dz
            factor = dt / (square * math.sqrt(square))
            v[0] -= dx * n * factor
            v[1] -= dy * n * factor
            v[2] -= dz * n * factor
            w[0] += dx * m * factor
            w[1] += dy * m * factor
            w[2] += dz * m * factor
        for p, v, _ in bodies:
            p[0] += dt * v[0]
            p[1] += dt * v[1]
            p[2] += dt * v[2]
    return before, plain_energy(bodies)


@njit
def energy(positions, velocities, masses):
    total = 0.0
    for i in range(len(masses)):
        v = velocities[i]
        total += 0.5 * masses[i] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
        for j in range(i + 1, len(masses)):
            square = 0.0
            for axis in range(3):
                square += (positions[i, axis] - positions[j, axis]) ** 2
            total -= masses[i] * masses[j] / math.sqrt(square)
    return total


@njit
def compiled(positions, velocities, masses, steps, dt):
    before = energy(positions, velocities, masses)
    count = len(masses)
    for _ in range(steps):
        for i in range(count):
            for j in range(i + 1, count):
                dx = positions[i, 0] - positions[j, 0]
                dy = positions[i, 1] - positions[j, 1]
                dz = positions[i, 2] - positions[j, 2]
                square = dx * dx + dy * dy + dz * dz
                factor = dt / (square * math.sqrt(square))
                velocities[i, 0] -= dx * masses[j] * factor
                velocities[i, 1] -= dy * masses[j] * factor
                velocities[i, 2] -= dz * masses[j] * factor
                velocities[j, 0] += dx * masses[i] * factor
                velocities[j, 1] += dy * masses[i] * factor
                velocities[j, 2] += dz * masses[i] * factor
        for i in range(count):
            for axis in range(3):
                positions[i, axis] += dt * velocities[i, axis]
    return before, energy(positions, velocities, masses)


def inputs(quick):
    steps = 2_000 if quick else 100_000
    return np.array(POSITIONS), np.array(VELOCITIES), np.array(MASSES), steps, 0.01


PROGRAM = Program(
    name="nbody",
    title="N-body",
    baseline="Python",
    inputs=inputs,
    size=lambda positions, velocities, masses, steps, dt: f"{len(masses)} bodies, {steps:,} steps",
    plain=plain,
    compiled=compiled,
    tolerance=1e-12,
)
