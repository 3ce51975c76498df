"""A Kalman filter for several bodies at once, of nearly constant velocity, whose places are measured with noise.

Each body has a 4-vector, place and velocity, and a 4 × 4 covariance: products and inverses of stacks of small matrices.
"""

import numpy as np

from lancehead import njit
from lancehead.demo.program import Program

STEP, PUSH, NOISE = 0.1, 0.5, 2.0


def plain(measured):
    steps, bodies, _ = measured.shape
    move, see = np.eye(4), np.eye(2, 4)
    move[0, 2] = move[1, 3] = STEP
    push = PUSH * np.concatenate((0.5 * STEP * STEP * np.eye(2), STEP * np.eye(2)))
    state = np.zeros((bodies, 4, 1))
    state[:, :2, 0] = measured[0]
    covariance = np.zeros((bodies, 4, 4)) + np.diag(np.array([NOISE * NOISE, NOISE * NOISE, 100.0, 100.0]))
    found = np.empty((steps, bodies, 4))
    found[0] = state[:, :, 0]
    for t in range(1, steps):
        state = move @ state
        covariance = move @ covariance @ move.T + push @ push.T
        seen = see @ covariance @ see.T + NOISE * NOISE * np.eye(2)
        gain = covariance @ see.T @ np.linalg.inv(seen)
        state = state + gain @ (measured[t][:, :, None] - see @ state)
        covariance = (np.eye(4) - gain @ see) @ covariance
        found[t] = state[:, :, 0]
    return found


def tracks(steps, bodies):
    """True places, and measured ones."""
    rng = np.random.default_rng(11)
    pushes = rng.normal(0.0, PUSH, (steps, bodies, 2))
    velocity = rng.normal(0.0, 5.0, (bodies, 2)) + STEP * np.cumsum(pushes, axis=0)
    places = np.cumsum(STEP * velocity, axis=0)
    return places, places + rng.normal(0.0, NOISE, places.shape)


def inputs(quick):
    return (tracks(100 if quick else 2_000, 5)[1],)


def objection(answer):
    places, measured = tracks(*answer.shape[:2])
    # Root mean squares, once the filter has found the velocities.
    before, after = (np.sqrt(((a - places)[50:] ** 2).mean()) for a in (measured, answer[:, :, :2]))
    return "" if after < 0.5 * before else f"true places are {after:.2g} away, measured ones {before:.2g}"


PROGRAM = Program(
    name="kalman",
    title="Kalman filter",
    baseline="NumPy",
    inputs=inputs,
    size=lambda measured: f"made tracks, {measured.shape[1]} bodies, {measured.shape[0]:,} steps",
    plain=plain,
    compiled=njit(plain),
    tolerance=1e-12,
    objection=objection,
)
