"""Ridge regression on the diabetes data of scikit-learn: the penalty by cross-validation, then the weights by lstsq."""

import numpy as np
from sklearn.datasets import load_diabetes

from lancehead import njit
from lancehead.demo.program import Program


def plain(x, y, penalties, folds):
    patients, measures = x.shape
    errors = np.zeros(len(penalties))
    for fold in range(folds):
        first, end = fold * patients // folds, (fold + 1) * patients // folds
        x_train, y_train = np.concatenate((x[:first], x[end:])), np.concatenate((y[:first], y[end:]))
        gram, moments = x_train.T @ x_train, x_train.T @ y_train
        for i in range(len(penalties)):
            weights = np.linalg.solve(gram + penalties[i] * np.eye(measures), moments)
            errors[i] += ((x[first:end] @ weights - y[first:end]) ** 2).sum()
    best = penalties[np.argmin(errors)]
    # A penalty is as many further rows, which ask for weights of 0.
    rows = np.concatenate((x, np.sqrt(best) * np.eye(measures)))
    weights = np.linalg.lstsq(rows, np.concatenate((y, np.zeros(measures))), rcond=None)[0]
    return best, weights, np.sqrt(errors / patients)


def inputs(quick):
    data = load_diabetes()
    penalties = np.logspace(-4.0, 2.0, 10 if quick else 200)
    return data.data, data.target - data.target.mean(), penalties, 10


PROGRAM = Program(
    name="ridge",
    title="Ridge regression",
    baseline="NumPy",
    inputs=inputs,
    size=lambda x, y, p, folds: f"diabetes, {x.shape[0]} × {x.shape[1]}, {len(p)} × {folds} fits",
    plain=plain,
    compiled=njit(plain),
    tolerance=1e-12,
)
