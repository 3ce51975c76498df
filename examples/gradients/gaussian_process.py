"""A Gaussian process: scales and noise that make what was measured most likely, through Cholesky's factor.

python examples/gradients/gaussian_process.py
"""

import numpy as np
from checking import agree
from sklearn.datasets import load_diabetes
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from lancehead.gradients import grad, hessian


def likelihood(p, x, y):
    """The logarithm of the density of `y`; `p` has logarithms of variance, a scale for each column, and of noise."""
    n, d = x.shape
    k = np.empty((n, n))
    for i in range(n):
        for j in range(i + 1):
            square = 0.0
            for c in range(d):
                square += ((x[i, c] - x[j, c]) * np.exp(-p[1 + c])) ** 2
            k[i, j] = np.exp(p[0] - 0.5 * square)
            k[j, i] = k[i, j]
        k[i, i] += np.exp(p[-1])
    factor = np.linalg.cholesky(k)
    half = np.linalg.solve(factor, y)
    return -0.5 * (half @ half) - np.sum(np.log(np.diag(factor))) - 0.5 * n * np.log(2.0 * np.pi)


def main():
    data = load_diabetes()
    x, y = data.data[:80, [2, 3, 8]], data.target[:80]
    x, y = (x - x.mean(0)) / x.std(0), (y - y.mean()) / y.std()
    p = np.array([0.0, 0.5, 0.5, 0.5, -1.0])
    slope, curvature = grad(likelihood), hessian(likelihood)

    kernel = ConstantKernel() * RBF([1.0] * 3) + WhiteKernel()
    known = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(x, y)
    value, gradient = known.log_marginal_likelihood(p, eval_gradient=True)
    agree("scikit-learn's", slope(p, x, y), gradient, 1e-11)
    assert np.isclose(likelihood(p, x, y), value)

    h = 1e-5
    moved = [known.log_marginal_likelihood(p + s * h * np.eye(5)[i], eval_gradient=True)[1] for i in range(5)
             for s in (1.0, -1.0)]  # fmt: skip
    by_differences = (np.array(moved[::2]) - np.array(moved[1::2])) / (2.0 * h)
    agree("differences of that, of the second derivative", curvature(p, x, y), by_differences, 1e-7)

    # Newton's method where the likelihood is concave, as far as a step may go.
    for _ in range(30):
        values, vectors = np.linalg.eigh(curvature(p, x, y))
        step = vectors @ ((vectors.T @ slope(p, x, y)) / np.maximum(np.abs(values), 1e-3))
        p = p + step * min(1.0, 0.5 / np.abs(step).max())
    last = likelihood(p, x, y)
    print(f"{len(y)} patients: log-likelihood {value:.2f}, then {last:.2f}; noise {np.exp(p[-1]):.2f} of the variance")
    assert last > value and np.abs(slope(p, x, y)).max() < 1e-2


if __name__ == "__main__":
    main()
