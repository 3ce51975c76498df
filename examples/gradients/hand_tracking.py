"""Hand tracking, of ADBench: a pose of 26 numbers that brings a skinned model of a hand to measured points.

python examples/gradients/hand_tracking.py
"""

import numpy as np
from checking import agree, differences

from lancehead import njit
from lancehead.gradients import jacfwd

FINGERS, BONES = 5, 22


def about_axis(v):
    """The rotation about the axis `v` by its length, by the formula of Rodrigues."""
    angle = np.sqrt(np.sum(v * v))
    if angle < 1e-4:
        return np.eye(3)
    x, y, z = v / angle
    across = np.zeros((3, 3))
    across[0, 1], across[0, 2], across[1, 2] = -z, y, -x
    across -= across.T
    return np.eye(3) + np.sin(angle) * across + (1.0 - np.cos(angle)) * (across @ across)


def by_angles(x, y, z):
    """The rotation about the axis of x, then that of y, then that of z."""
    cx, sx, cy, sy, cz, sz = np.cos(x), np.sin(x), np.cos(y), np.sin(y), np.cos(z), np.sin(z)
    turn = np.eye(4)
    turn[0, :3] = cy * cz, sx * sy * cz - cx * sz, cx * sy * cz + sx * sz
    turn[1, :3] = cy * sz, sx * sy * sz + cx * cz, cx * sy * sz - sx * cz
    turn[2, :3] = -sy, sx * cy, cx * cy
    return turn


def angles_of(theta):
    """Angles of bones: wrist and palm are still, each finger bends in three joints and spreads in the first one."""
    angles = np.zeros((BONES, 3))
    k = 6
    for finger in range(FINGERS):
        for joint in range(3):
            angles[2 + 4 * finger + joint, 0] = theta[k]
            k += 1
            if joint == 0:
                angles[2 + 4 * finger, 1] = theta[k]
                k += 1
    return angles


def skinned(theta, relatives, parents, inverses, vertices, weights):
    """Places of the vertices: each moves with several bones, by its weights, and all turn and move with the hand."""
    angles = angles_of(theta)
    absolutes = np.empty((BONES, 4, 4))
    places = np.zeros((3, vertices.shape[1]))
    for b in range(BONES):
        own = relatives[b] @ by_angles(angles[b, 0], angles[b, 1], angles[b, 2])
        absolutes[b] = own if parents[b] < 0 else absolutes[parents[b]] @ own
        places += ((absolutes[b] @ inverses[b])[:3] @ vertices) * weights[b]
    return about_axis(theta[:3]) @ places + theta[3:6].reshape(3, 1)


def errors(theta, hand, measured, nearest):
    """Distances of measured points from the vertices that belong to them, by axes."""
    relatives, parents, inverses, vertices, weights = hand
    return (measured - skinned(theta, relatives, parents, inverses, vertices, weights)[:, nearest]).ravel()


def hand_model(rng):
    """A hand of a wrist, a palm, and five fingers of three bones and a tip; vertices are strewn about the bones."""
    relatives = np.tile(np.eye(4), (BONES, 1, 1))
    parents = np.array([-1, 0] + [1 if bone % 4 == 0 else bone + 1 for bone in range(4 * FINGERS)])
    relatives[1, :3, 3] = 0.0, 0.5, 0.0
    for bone in range(4 * FINGERS):
        relatives[2 + bone, :3, 3] = (0.25 * (bone // 4 - 2), 0.6, 0.0) if bone % 4 == 0 else (0.0, 0.3, 0.0)
    absolutes = relatives.copy()
    for b in range(1, BONES):
        absolutes[b] = absolutes[parents[b]] @ relatives[b]
    owners = np.repeat(np.arange(BONES), 12)
    vertices = np.ones((4, owners.size))
    vertices[:3] = absolutes[owners, :3, 3].T + 0.1 * rng.normal(size=(3, owners.size))
    near = np.exp(-20.0 * ((vertices[None, :3] - absolutes[:, :3, 3:]) ** 2).sum(1))
    return relatives, parents, np.linalg.inv(absolutes), vertices, near / near.sum(0)


@njit
def tracked(theta, hand, measured, nearest, steps):
    """The pose after steps of Gauss and Newton, with a penalty that keeps it near."""
    for _ in range(steps):
        j = derivative(theta, hand, measured, nearest)
        off = errors(theta, hand, measured, nearest)
        theta = theta - np.linalg.solve(j.T @ j + 1e-3 * np.eye(theta.size), j.T @ off)
    return theta


derivative = jacfwd(errors)


def main():
    rng = np.random.default_rng(2)
    hand = hand_model(rng)
    nearest = rng.integers(0, hand[3].shape[1], 200)
    pose = np.concatenate(([0.3, -0.2, 0.1, 0.05, 0.1, -0.1], rng.uniform(0.1, 0.6, 4 * FINGERS)))
    measured = -errors(pose, hand, np.zeros((3, 200)), nearest).reshape(3, 200)
    theta = np.full(26, 0.05)
    found = derivative(theta, hand, measured, nearest)
    agree("differences", found, differences(lambda t: errors(t, hand, measured, nearest), theta), 1e-7)
    ends = [theta, tracked(theta, hand, measured, nearest, 15)]
    before, after = (np.sqrt(np.mean(errors(t, hand, measured, nearest) ** 2)) for t in ends)
    print(f"{measured.shape[1]} points, {BONES} bones: {before:.3f} off, after 15 steps {after:.1e}")
    assert after < 1e-4


if __name__ == "__main__":
    main()
