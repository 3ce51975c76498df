"""Bundle adjustment, of ADBench: places of cameras and points that explain what is seen; a sparse Jacobian.

python examples/gradients/bundle_adjustment.py
"""

import numpy as np
from checking import agree, differences
from scipy.optimize import least_squares
from scipy.sparse import csr_matrix

from lancehead import njit
from lancehead.gradients import jacfwd

#: A camera is a rotation, a centre, a focal length, a principal point and two distortions; a point has three numbers.
CAMERA, POINT = 11, 3


def rotated(rotation, x):
    """A point turned about the axis `rotation` by its length, by the formula of Rodrigues."""
    square = np.sum(rotation * rotation)
    if square == 0.0:
        return x + np.cross(rotation, x)
    angle = np.sqrt(square)
    axis = rotation / angle
    return x * np.cos(angle) + np.cross(axis, x) * np.sin(angle) + axis * (np.sum(axis * x) * (1.0 - np.cos(angle)))


def projected(camera, x):
    """The place of a point in the picture of a camera."""
    seen = rotated(camera[:3], x - camera[3:6])
    flat = seen[:2] / seen[2]
    square = np.sum(flat * flat)
    return flat * (1.0 + camera[9] * square + camera[10] * square * square) * camera[6] + camera[7:9]


def residual(p, feature):
    """How far a camera's picture of a point, whose numbers and the weight follow those of the camera, is off."""
    return p[CAMERA + POINT] * (projected(p[:CAMERA], p[CAMERA : CAMERA + POINT]) - feature)


derivative = jacfwd(residual)


@njit
def residuals(cameras, points, weights, seen, features):
    out = np.empty((len(seen), 2))
    for i in range(len(seen)):
        camera, point = seen[i]
        out[i] = weights[i] * (projected(cameras[camera], points[point]) - features[i])
    return out


@njit
def blocks(cameras, points, weights, seen, features):
    """For each observation, the derivatives with respect to its camera, its point and its weight."""
    out = np.empty((len(seen), 2, CAMERA + POINT + 1))
    for i in range(len(seen)):
        camera, point = seen[i]
        out[i] = derivative(np.concatenate((cameras[camera], points[point], weights[i : i + 1])), features[i])
    return out


def scene(rng):
    """Cameras around points, what they see with some noise, and guesses of both."""
    points = rng.normal(size=(40, POINT))
    cameras = np.zeros((6, CAMERA))
    cameras[:, :3] = 0.2 * rng.normal(size=(6, 3))
    cameras[:, 3:6] = 0.3 * rng.normal(size=(6, 3)) - (0.0, 0.0, 8.0)
    cameras[:, 6:] = 500.0, 320.0, 240.0, 1e-2, 1e-3
    seen = np.array([(c, p) for c in range(6) for p in range(40) if rng.random() < 0.7])
    features = np.array([projected(cameras[c], points[p]) for c, p in seen]) + 0.1 * rng.normal(size=(len(seen), 2))
    near = cameras.copy()
    near[:, :6] += 0.01 * rng.normal(size=(6, 6))
    return near, points + 0.05 * rng.normal(size=points.shape), np.ones(len(seen)), seen, features


def main():
    cameras, points, weights, seen, features = scene(np.random.default_rng(4))
    places = np.concatenate((cameras[seen[0, 0]], points[seen[0, 1]], [0.7]))
    agree("differences", derivative(places, features[0]), differences(lambda p: residual(p, features[0]), places), 1e-7)

    def parts(v):
        return v[: cameras.size].reshape(cameras.shape), v[cameras.size :].reshape(points.shape)

    def jacobian(v):
        of_camera = blocks(*parts(v), weights, seen, features)[:, :, : CAMERA + POINT]
        first = np.concatenate((seen[:, :1] * CAMERA + np.arange(CAMERA),
                                cameras.size + seen[:, 1:] * POINT + np.arange(POINT)), axis=1)  # fmt: skip
        columns = np.broadcast_to(first[:, None], of_camera.shape)
        rows = np.arange(0, of_camera.size + 1, CAMERA + POINT)
        return csr_matrix((of_camera.ravel(), columns.ravel(), rows), (2 * len(seen), v.size))

    start = np.concatenate((cameras.ravel(), points.ravel()))

    def errors(v):
        return residuals(*parts(v), weights, seen, features).ravel()

    along = np.random.default_rng(5).normal(size=start.size)
    moved = (errors(start + 1e-6 * along) - errors(start - 1e-6 * along)) / 2e-6
    agree("differences along one direction", jacobian(start) @ along, moved, 1e-6)
    found = least_squares(errors, start, jacobian, x_scale="jac", method="trf", max_nfev=50)
    before, after = np.sqrt(np.mean(errors(start) ** 2)), np.sqrt(np.mean(found.fun**2))
    print(f"{len(seen)} observations: {before:.1f} pixels off, then {after:.2f}; {found.njev} Jacobians")
    # Noise is 0.1, of which parameters take their part.
    assert after < 0.1


if __name__ == "__main__":
    main()
