"""A network of two layers learns to read digits: backpropagation by hand in NumPy, and by `value_and_grad`."""

import numpy as np
from sklearn.datasets import load_digits

from lancehead import njit
from lancehead.demo.program import Program
from lancehead.gradients import value_and_grad


def loss(layers, images, labels):
    first, first_offset, second, second_offset = layers
    hidden = np.tanh(images @ first + first_offset)
    scores = hidden @ second + second_offset
    total = 0.0
    for i in range(labels.size):
        total += np.log(np.sum(np.exp(scores[i]))) - scores[i, labels[i]]
    return total / labels.size


both = value_and_grad(loss)


@njit
def compiled(layers, images, labels, batch, rounds, rate):
    w1, b1, w2, b2 = layers
    losses = np.zeros(rounds)
    for k in range(rounds):
        for start in range(0, labels.size, batch):
            value, slopes = both((w1, b1, w2, b2), images[start : start + batch], labels[start : start + batch])
            g1, h1, g2, h2 = slopes
            losses[k] += value
            w1, b1, w2, b2 = w1 - rate * g1, b1 - rate * h1, w2 - rate * g2, b2 - rate * h2
    return losses, w1, b1, w2, b2


def plain(layers, images, labels, batch, rounds, rate):
    w1, b1, w2, b2 = layers
    losses = np.zeros(rounds)
    for k in range(rounds):
        for start in range(0, labels.size, batch):
            seen, right = images[start : start + batch], labels[start : start + batch]
            hidden = np.tanh(seen @ w1 + b1)
            chances = np.exp(hidden @ w2 + b2)
            sums = chances.sum(1, keepdims=True)
            chances /= sums
            places = np.arange(right.size), right
            losses[k] -= np.log(chances[places]).sum() / right.size
            chances[places] -= 1.0
            of_scores = chances / right.size
            of_hidden = of_scores @ w2.T * (1.0 - hidden * hidden)
            w2, b2 = w2 - rate * (hidden.T @ of_scores), b2 - rate * of_scores.sum(0)
            w1, b1 = w1 - rate * (seen.T @ of_hidden), b1 - rate * of_hidden.sum(0)
    return losses, w1, b1, w2, b2


def inputs(quick):
    digits = load_digits()
    rng = np.random.default_rng(3)
    layers = (rng.normal(0.0, 0.15, (64, 32)), np.zeros(32), rng.normal(0.0, 0.2, (32, 10)), np.zeros(10))
    return layers, digits.data / 16.0, digits.target, 32, 1 if quick else 20, 0.2


PROGRAM = Program(
    name="grad_digits",
    title="Network reads digits, by `grad`",
    baseline="NumPy",
    inputs=inputs,
    size=lambda layers, images, labels, batch, rounds, rate: f"{labels.size:,} digits, {rounds} rounds",
    plain=plain,
    compiled=compiled,
    tolerance=1e-9,
    objection=lambda answer: "" if len(answer[0]) < 20 or answer[0][-1] < 0.2 * answer[0][0] else "nothing is learned",
)
