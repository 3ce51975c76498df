"""A Kalman smoother: the filter forwards, then Rauch, Tung and Striebel's pass backwards."""

import numpy as np

from lancehead import njit

STEP, PUSH, NOISE = 0.1, 0.5, 2.0


@njit
def smoothed(measured):
    """Places and velocities of a body of which only places are measured, by all measurements."""
    steps = measured.shape[0]
    move, see = np.eye(4), np.eye(2, 4)
    move[0, 2] = move[1, 3] = STEP
    push = PUSH * np.concatenate((0.5 * STEP * STEP * np.eye(2), STEP * np.eye(2)))
    state = np.zeros(4)
    state[:2] = measured[0]
    covariance = np.diag(np.array([NOISE * NOISE, NOISE * NOISE, 100.0, 100.0]))
    states, covariances = np.empty((steps, 4)), np.empty((steps, 4, 4))
    guesses, spreads = np.empty((steps, 4)), np.empty((steps, 4, 4))
    for t in range(steps):
        guesses[t] = move @ state
        spreads[t] = move @ covariance @ move.T + push @ push.T
        seen = see @ spreads[t] @ see.T + NOISE * NOISE * np.eye(2)
        gain = spreads[t] @ see.T @ np.linalg.inv(seen)
        state = guesses[t] + gain @ (measured[t] - see @ guesses[t])
        covariance = (np.eye(4) - gain @ see) @ spreads[t]
        states[t], covariances[t] = state, covariance
    for t in range(steps - 2, -1, -1):
        back = np.linalg.solve(spreads[t + 1], move @ covariances[t]).T
        states[t] += back @ (states[t + 1] - guesses[t + 1])
        covariances[t] += back @ (covariances[t + 1] - spreads[t + 1]) @ back.T
    return states, covariances


def track(steps):
    """Measured places of a body that is pushed at random."""
    rng = np.random.default_rng(11)
    velocity = 5.0 + STEP * np.cumsum(rng.normal(0.0, PUSH, (steps, 2)), axis=0)
    return np.cumsum(STEP * velocity, axis=0) + rng.normal(0.0, NOISE, (steps, 2))


MEASURED = track(50)


def first():
    return smoothed(MEASURED)


def is_right(found):
    return all(np.allclose(a, b) for a, b in zip(found, smoothed.py_func(MEASURED)))
