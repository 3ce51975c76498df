"""Sparse principal components of the digits by random projection, many tries at a time.

The columns of V are the data's leading directions. Each thread mixes them with a random unit vector c of its own into
a = V c and takes the norm of the k largest entries of a: how much of the variance k pixels alone explain. The best is
kept.
"""

import math

import numpy as np
from sklearn.datasets import load_digits

from lancehead import cuda
from lancehead.cuda.random import create_xoroshiro128p_states, xoroshiro128p_normal_float64

K = 10
DIRECTIONS = 8


@cuda.jit
def project(v, states, tries, norms, supports):
    """norms[thread], supports[thread] = the best of `tries` random directions.

    Shapes: v (p, DIRECTIONS), norms (threads,), supports (threads, K).
    """
    thread = cuda.grid(1)
    if thread >= norms.size:
        return
    c = cuda.local.array(DIRECTIONS, np.float64)
    values = cuda.local.array(K, np.float64)
    largest = cuda.local.array(K, np.int64)
    best = -1.0
    for _ in range(tries):
        square = 0.0
        for j in range(DIRECTIONS):
            c[j] = xoroshiro128p_normal_float64(states, thread)
            square += c[j] * c[j]
        for slot in range(K):
            values[slot], largest[slot] = -1.0, 0
        for i in range(v.shape[0]):
            total = 0.0
            for j in range(DIRECTIONS):
                total += v[i, j] * c[j]
            a = abs(total)
            if a > values[0]:
                # Insert into the k largest so far, which are in ascending order.
                slot = 0
                while slot + 1 < K and values[slot + 1] < a:
                    values[slot], largest[slot] = values[slot + 1], largest[slot + 1]
                    slot += 1
                values[slot], largest[slot] = a, i
        norm = 0.0
        for slot in range(K):
            norm += values[slot] * values[slot]
        norm = math.sqrt(norm / square)
        if norm > best:
            best = norm
            for slot in range(K):
                supports[thread, slot] = largest[slot]
    norms[thread] = best


if __name__ == "__main__":
    images = load_digits().data
    _, scales, directions = np.linalg.svd(images - images.mean(axis=0), full_matrices=False)
    v = np.ascontiguousarray((directions[:DIRECTIONS] * scales[:DIRECTIONS, None]).T)
    threads, tries = 512, 40
    norms, supports = np.zeros(threads), np.zeros((threads, K), np.int64)
    project[-(-threads // 64), 64](v, create_xoroshiro128p_states(threads, seed=1), tries, norms, supports)
    best = norms.argmax()
    support = np.sort(supports[best])
    # With its pixels given, the best mix is the leading singular vector of those rows: no random one explains more.
    bound = np.linalg.svd(v[support], compute_uv=False)[0]
    assert 0.9 * bound < norms[best] <= bound * (1 + 1e-12)
    print(f"{K} of {v.shape[0]} pixels explain {norms[best] / scales[0]:.3f} of the first component's scale:", support)
