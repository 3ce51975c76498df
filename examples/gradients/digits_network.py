"""A network of two layers learns to read digits: products of matrices, their gradient, and nothing else.

python examples/gradients/digits_network.py
"""

import numpy as np
from checking import agree
from sklearn.datasets import load_digits

from lancehead import njit
from lancehead.gradients import value_and_grad


def loss(layers, images, labels):
    """The mean of the negative logarithms of the chances that the network gives to the right digits."""
    first, first_offset, second, second_offset = layers
    hidden = np.maximum(images @ first + first_offset, 0.0)
    scores = hidden @ second + second_offset
    scores = scores - scores.max(axis=1).reshape(-1, 1)
    total = 0.0
    for i in range(labels.size):
        total += np.log(np.sum(np.exp(scores[i]))) - scores[i, labels[i]]
    return total / labels.size


both = value_and_grad(loss)


@njit
def trained(layers, images, labels, batch, rounds, rate):
    """The layers after rounds of gradient descent with momentum."""
    w1, b1, w2, b2 = layers
    v1, u1, v2, u2 = np.zeros_like(w1), np.zeros_like(b1), np.zeros_like(w2), np.zeros_like(b2)
    for _ in range(rounds):
        order = np.random.permutation(labels.size)
        for start in range(0, labels.size - batch + 1, batch):
            chosen = order[start : start + batch]
            g1, h1, g2, h2 = both((w1, b1, w2, b2), images[chosen], labels[chosen])[1]
            v1, u1, v2, u2 = 0.9 * v1 - rate * g1, 0.9 * u1 - rate * h1, 0.9 * v2 - rate * g2, 0.9 * u2 - rate * h2
            w1, b1, w2, b2 = w1 + v1, b1 + u1, w2 + v2, b2 + u2
    return w1, b1, w2, b2


def by_hand(layers, images, labels):
    """The gradient by backpropagation as it is written by hand."""
    w1, b1, w2, b2 = layers
    hidden = np.maximum(images @ w1 + b1, 0.0)
    scores = hidden @ w2 + b2
    chances = np.exp(scores - scores.max(1, keepdims=True))
    of_scores = (chances / chances.sum(1, keepdims=True) - np.eye(b2.size)[labels]) / labels.size
    of_hidden = of_scores @ w2.T * (hidden > 0.0)
    return images.T @ of_hidden, of_hidden.sum(0), hidden.T @ of_scores, of_scores.sum(0)


@njit
def seed(number):
    np.random.seed(number)


def main():
    digits = load_digits()
    images, labels = digits.data / 16.0, digits.target
    learned = np.arange(labels.size) % 5 != 0
    rng = np.random.default_rng(3)
    layers = (rng.normal(0.0, 0.15, (64, 32)), np.zeros(32), rng.normal(0.0, 0.2, (32, 10)), np.zeros(10))
    start, found = both(layers, images, labels)
    for own, expected in zip(found, by_hand(layers, images, labels)):
        agree("backpropagation by hand", own, expected, 1e-12)

    seed(1)
    layers = trained(layers, images[learned], labels[learned], 32, 20, 0.05)
    scores = np.maximum(images @ layers[0] + layers[1], 0.0) @ layers[2] + layers[3]
    right = scores.argmax(1) == labels
    print(f"{labels.size} digits: loss {start:.2f}, then {both(layers, images, labels)[0]:.3f}")
    print(f"read right: {right[learned].mean():.1%} of those learned, {right[~learned].mean():.1%} of the others")
    assert right[~learned].mean() > 0.94


if __name__ == "__main__":
    main()
