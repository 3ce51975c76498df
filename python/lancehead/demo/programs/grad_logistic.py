"""Logistic regression of tumours by gradient descent: with the gradient that is derived by hand, and with `grad`."""

import math

import numpy as np
from sklearn.datasets import load_breast_cancer

from lancehead import njit
from lancehead.demo.program import Program
from lancehead.gradients import value_and_grad


def loss(w, x, y):
    total = 0.0
    for i in range(x.shape[0]):
        z = 0.0
        for j in range(x.shape[1]):
            z += w[j] * x[i, j]
        total += math.log1p(math.exp(-y[i] * z))
    for j in range(x.shape[1]):
        total += 0.5 * w[j] * w[j]
    return total


both = value_and_grad(loss)


@njit
def compiled(x, y, rounds, rate):
    w = np.zeros(x.shape[1])
    losses = np.empty(rounds)
    for k in range(rounds):
        losses[k], slope = both(w, x, y)
        w -= rate * slope
    return w, losses


def plain(x, y, rounds, rate):
    w = np.zeros(x.shape[1])
    losses = np.empty(rounds)
    for k in range(rounds):
        losses[k] = loss(w, x, y)
        slope = w.copy()
        for i in range(x.shape[0]):
            z = 0.0
            for j in range(x.shape[1]):
                z += w[j] * x[i, j]
            factor = -y[i] / (1.0 + math.exp(y[i] * z))
            for j in range(x.shape[1]):
                slope[j] += factor * x[i, j]
        w -= rate * slope
    return w, losses


def inputs(quick):
    data = load_breast_cancer()
    x = (data.data - data.data.mean(0)) / data.data.std(0)
    return x, 2.0 * data.target - 1.0, 5 if quick else 50, 5e-4


PROGRAM = Program(
    name="grad_logistic",
    title="Logistic regression by `grad`",
    baseline="Python",
    inputs=inputs,
    size=lambda x, y, rounds, rate: f"{x.shape[0]} tumours, {rounds} gradients",
    plain=plain,
    compiled=compiled,
    tolerance=1e-11,
)
