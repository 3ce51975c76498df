"""The greatest singular values of a photograph by power iteration, and the photograph from them alone.

python examples/xp/power_svd.py [DEVICE]
"""

import sys

import numpy as np
from sklearn.datasets import load_sample_image

from lancehead import xp


@xp.trace
def round_trip(a, v):
    """A vector after a product with the matrix and one with its transpose, and the length of the first product."""
    u = a @ v
    w = a.T @ u
    return w / xp.linalg.vector_norm(w), xp.linalg.vector_norm(u)


def singular(a, count, where, rounds=2000, tolerance=1e-13):
    """The greatest singular values with their left and right vectors, one after the other."""
    found, rng = [], xp.random.default_rng(1)
    for _ in range(count):
        v, length = xp.asarray(rng.standard_normal(a.shape[1]).numpy(), **where), 0.0
        v = v / xp.linalg.vector_norm(v)
        for _ in range(rounds):
            before, (v, now) = length, round_trip(a, v)
            length = float(now)
            if abs(length - before) < tolerance * length:
                break
        u = (a @ v) / length
        found.append((length, u, v))
        a = a - length * u[:, None] * v
    return found


def main(device=None):
    where = {} if device is None else {"device": device}
    grey = load_sample_image("flower.jpg").mean(axis=2)[::3, ::3]
    found = singular(xp.asarray(grey, **where), 5, where)
    values = np.array([length for length, _, _ in found])
    expected = np.linalg.svd(grey, compute_uv=False)
    np.testing.assert_allclose(values, expected[:5], rtol=1e-6)
    total = (expected**2).sum()
    for k, value in enumerate(values, 1):
        print(
            f"{k} of {min(grey.shape)}: {value:9.1f}, together {(values[:k] ** 2).sum() / total:.2%} of the photograph"
        )


if __name__ == "__main__":
    main(*sys.argv[1:2])
