"""Follows several bodies by noisy measurements: a Kalman filter on stacks of small matrices (`@`, `np.linalg`)."""

import numpy as np
from showing import compare, picture_asked_for, save

from lancehead import njit


@njit
def followed(measured, dt, push, noise):
    """Places and velocities of bodies of which only places are measured: `measured[time, body, axis]`."""
    steps, bodies, _ = measured.shape
    one, move, see = np.eye(2), np.eye(4), np.eye(2, 4)
    move[:2, 2:] = dt * one
    pushed = push * np.concatenate((0.5 * dt * dt * one, dt * one))
    state = np.zeros((bodies, 4, 1))
    covariance = np.zeros((bodies, 4, 4)) + 1000.0 * np.eye(4)
    found = np.empty((steps, bodies, 4))
    for t in range(steps):
        state = move @ state
        covariance = move @ covariance @ move.T + pushed @ pushed.T
        gain = covariance @ see.T @ np.linalg.inv(see @ covariance @ see.T + noise * noise * one)
        state = state + gain @ (measured[t][:, :, None] - see @ state)
        covariance = (np.eye(4) - gain @ see) @ covariance
        found[t] = state[:, :, 0]
    return found


def tracks(steps, bodies, dt, push, noise, seed):
    """Ways of bodies that are pushed at random, and the same with noise."""
    rng = np.random.default_rng(seed)
    pushes = push * rng.normal(size=(steps, bodies, 2))
    velocities = rng.normal(0.0, 5.0, (bodies, 2)) + dt * np.cumsum(pushes, axis=0)
    places = np.cumsum(dt * velocities, axis=0)
    return places, places + noise * rng.normal(size=places.shape)


def draw(path):
    """Measurements and what the filter makes of them."""
    from matplotlib.figure import Figure

    places, measured = tracks(100, 3, 0.1, 4.0, 2.0, 8)
    found = followed(measured, 0.1, 4.0, 2.0)
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    axes = figure.subplots()
    for body in range(places.shape[1]):
        axes.plot(*measured[:, body].T, ".", color="#9dbbe0", markersize=3)
        axes.plot(*places[:, body].T, color="#888888", linewidth=1)
        axes.plot(*found[10:, body, :2].T, color="#c0392b", linewidth=1.2)
    axes.set_aspect("equal", "datalim")
    axes.legend(["measured", "true way", "Kalman filter"], frameon=False, fontsize=9)
    save(figure, path)


if __name__ == "__main__":
    png = picture_asked_for(__doc__)
    places, measured = tracks(2000, 5, 0.1, 0.5, 2.0, 11)
    found = followed(measured, 0.1, 0.5, 2.0)
    off, noise = (np.sqrt(((where - places)[50:] ** 2).mean()) for where in (found[:, :, :2], measured))
    print(f"5 bodies, 2,000 steps: {off:.2f} from the true places; measurements are {noise:.2f} away")
    compare(
        "500 steps", lambda: followed.py_func(measured[:500], 0.1, 0.5, 2.0),
        lambda: followed(measured[:500], 0.1, 0.5, 2.0), rtol=1e-9,
    )  # fmt: skip
    if png:
        draw(png)
