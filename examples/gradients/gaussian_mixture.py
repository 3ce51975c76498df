"""The likelihood of a Gaussian mixture, of ADBench: means, shapes and shares of clusters all at once.

Each inverse square root of a covariance is a lower triangle whose diagonal is `exp(q)`; a Wishart prior keeps it small.

python examples/gradients/gaussian_mixture.py
"""

import math

import numpy as np
from checking import agree, differences
from sklearn.datasets import load_iris

from lancehead.gradients import value_and_grad


def log_sum_exp(x):
    largest = np.max(x)
    return largest + np.log(np.sum(np.exp(x - largest)))


def squared_distance(offset, shape):
    """Of a point from a mean, as the cluster measures it: `shape` has the diagonal, then the triangle by columns."""
    d = offset.shape[0]
    total = 0.0
    for i in range(d):
        along = math.exp(shape[i]) * offset[i]
        for j in range(i):
            along += shape[d + j * (2 * d - j - 1) // 2 + i - j - 1] * offset[j]
        total += along * along
    return total


def log_likelihood(alphas, means, shapes, x, gamma, m):
    """The logarithm of the density of all points, and of the prior of the shapes."""
    n, d = x.shape
    k = means.shape[0]
    terms = np.empty(k)
    total = -n * (0.5 * d * math.log(2.0 * math.pi) + log_sum_exp(alphas))
    for i in range(n):
        for c in range(k):
            diagonal = 0.0
            for j in range(d):
                diagonal += shapes[c, j]
            terms[c] = alphas[c] + diagonal - 0.5 * squared_distance(x[i] - means[c], shapes[c])
        total += log_sum_exp(terms)
    return total + log_wishart_prior(shapes, d, gamma, m)


def log_wishart_prior(shapes, d, gamma, m):
    k = shapes.shape[0]
    n = d + m + 1
    total = 0.0
    for c in range(k):
        for j in range(d):
            total += 0.5 * gamma * gamma * math.exp(2.0 * shapes[c, j]) - m * shapes[c, j]
        for j in range(d, shapes.shape[1]):
            total += 0.5 * gamma * gamma * shapes[c, j] * shapes[c, j]
    constant = n * d * (math.log(gamma) - 0.5 * math.log(2.0)) - log_multigamma(0.5 * n, d)
    return k * constant - total


def log_multigamma(a, d):
    total = 0.25 * d * (d - 1) * math.log(math.pi)
    for j in range(d):
        total += math.lgamma(a - 0.5 * j)
    return total


def main():
    flowers = load_iris()
    x = (flowers.data - flowers.data.mean(0)) / flowers.data.std(0)
    k, d = 3, x.shape[1]
    # From a flower of each part of the data on.
    alphas, means, shapes = np.zeros(k), x[[25, 75, 125]], np.zeros((k, d * (d + 1) // 2))
    both = value_and_grad(log_likelihood, (0, 1, 2))

    def likelihood(flat):
        parts = flat[:k], flat[k : k + k * d].reshape(k, d), flat[k + k * d :].reshape(k, -1)
        return both(*parts, x, 1.0, 0)

    place = np.concatenate((alphas, means.ravel(), shapes.ravel()))
    first, gradient = likelihood(place)
    found = np.concatenate([g.ravel() for g in gradient])
    agree("differences", found, differences(lambda p: likelihood(p)[0], place), 1e-7)

    speed = np.zeros_like(place)
    for _ in range(500):
        speed = 0.9 * speed + 5e-4 * np.concatenate([g.ravel() for g in likelihood(place)[1]])
        place = place + speed
    last = likelihood(place)[0]
    shares = np.exp(place[:k]) / np.exp(place[:k]).sum()
    print(f"{len(x)} flowers: log-likelihood {first:.2f}, then {last:.2f}; shares {np.round(np.sort(shares), 2)}")
    assert last > first + 100.0


if __name__ == "__main__":
    main()
