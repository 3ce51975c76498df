"""Logistic regression of tumours, by Newton's method with a Hessian that nobody has derived.

python examples/gradients/logistic_regression.py
"""

import numpy as np
from checking import agree
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

from lancehead.gradients import grad, hessian, value_and_grad


def logistic(x):
    """`1 / (1 + exp(-x))` without overflow."""
    if x < 0.0:
        e = np.exp(x)
        return e / (1.0 + e)
    return 1.0 / (1.0 + np.exp(-x))


def loss(w, x, y):
    """The negative log-likelihood of labels -1 and 1, and a penalty on all weights but the last one, the offset."""
    return np.sum(np.logaddexp(0.0, -y * (x @ w[:-1] + w[-1]))) + 0.5 * np.sum(w[:-1] ** 2)


def tumours():
    """Measurements of cells, each of mean 0 and deviation 1, and whether the tumours are benign."""
    data = load_breast_cancer()
    return (data.data - data.data.mean(0)) / data.data.std(0), 2.0 * data.target - 1.0


def main():
    slope = grad(logistic)
    places = np.array([-800.0, -3.0, 0.0, 0.5, 40.0])
    chances = [logistic(z) for z in places]
    agree("s (1 - s)", [slope(z) for z in places], [s * (1.0 - s) for s in chances], 1e-15)

    x, y = tumours()
    both, curvature = value_and_grad(loss), hessian(loss)
    w = np.zeros(x.shape[1] + 1)
    values = []
    while len(values) < 2 or values[-2] - values[-1] > 1e-9:
        value, gradient = both(w, x, y)
        values.append(value)
        w -= np.linalg.solve(curvature(w, x, y), gradient)
    print(f"{x.shape[0]} tumours, {x.shape[1]} measurements: loss {value:.3f} after {len(values)} steps")

    ones = np.column_stack((x, np.ones(len(x))))
    s = 1.0 / (1.0 + np.exp(-ones @ w))
    agree("X' S (1 - S) X", curvature(w, x, y), (ones.T * s * (1.0 - s)) @ ones + np.diag([1.0] * 30 + [0.0]), 1e-12)
    known = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(x, y)
    agree("scikit-learn's weights", w, np.append(known.coef_[0], known.intercept_), 1e-6)
    print(f"{np.mean(np.sign(ones @ w) == y):.1%} of the tumours are told right")


if __name__ == "__main__":
    main()
