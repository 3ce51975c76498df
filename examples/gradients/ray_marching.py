"""Where is the ball? Its place and size from a picture of distances: rays march until they meet a surface.

python examples/gradients/ray_marching.py
"""

import numpy as np
from checking import agree

from lancehead.gradients import grad, value_and_grad

FAR = 10.0


def distance(x, y, z, ball):
    """From a point to the nearest surface: the ball or the floor."""
    dx, dy, dz = x - ball[0], y - ball[1], z - ball[2]
    return min(np.sqrt(dx * dx + dy * dy + dz * dz) - ball[3], y + 1.0)


def depth(dx, dy, dz, ball):
    """How far a ray from the origin goes: it may go on as far as the nearest surface is, and so on."""
    t = 0.0
    off = distance(0.0, 0.0, 0.0, ball)
    while off > 1e-10 and t < FAR:
        t += off
        off = distance(t * dx, t * dy, t * dz, ball)
    return min(t, FAR)


def picture(ball, n):
    out = np.empty((n, n))
    for row in range(n):
        for column in range(n):
            dx, dy = (2.0 * column - n + 1.0) / n, (n - 1.0 - 2.0 * row) / n
            size = np.sqrt(dx * dx + dy * dy + 1.0)
            out[row, column] = depth(dx / size, dy / size, 1.0 / size, ball)
    return out


def miss(ball, seen):
    """The mean square by which depths are not those that are seen, of rays that meet the same surface."""
    off = picture(ball, seen.shape[0]) - seen
    return np.mean(np.where(np.abs(off) < 1.0, off * off, 0.0))


def by_quadratic(d, ball):
    """The derivative of the distance of a ball along a ray, by the root of the quadratic equation."""
    along = d @ ball[:3]
    root = np.sqrt(along * along - ball[:3] @ ball[:3] + ball[3] ** 2)
    return np.append(d - (along * d - ball[:3]) / root, -ball[3] / root)


def main():
    ball = np.array([0.2, -0.1, 3.0, 0.8])
    d = np.array([0.15, 0.1, 1.0]) / np.linalg.norm([0.15, 0.1, 1.0])
    slope = grad(depth, 3)
    agree("the quadratic equation", slope(*d, ball), by_quadratic(d, ball), 1e-4)
    assert np.all(slope(0.0, -0.9, 0.1, ball) == 0.0), "the floor does not depend on the ball"

    both = value_and_grad(miss)
    seen = picture(ball, 24)
    guess = np.array([0.0, 0.1, 2.6, 0.7])
    start = both(guess, seen)[0]
    for _ in range(300):
        guess = guess - 2.0 * both(guess, seen)[1]
    last = both(guess, seen)[0]
    print(f"{seen.size} rays: mean square {start:.3f}, then {last:.1e}; ball at {np.round(guess, 4)}")
    assert np.allclose(guess, ball, atol=0.01)


if __name__ == "__main__":
    main()
