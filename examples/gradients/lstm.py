"""A recurrent network with memory, of ADBench, which learns to foretell the bits of a text's next character.

python examples/gradients/lstm.py
"""

import numpy as np
from checking import agree, differences
from sklearn.datasets import load_wine

from lancehead.gradients import value_and_grad

#: Bits of a character, and layers of the network.
BITS, LAYERS = 7, 2


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def objective(layers, ends, sequence):
    """The mean loss of foretelling each row of a sequence by those before it.

    `layers` has four weights and four offsets of gates for each layer and bit; `ends` scales what goes in and out.
    """
    hidden, cell = np.zeros((LAYERS, BITS)), np.zeros((LAYERS, BITS))
    total = 0.0
    for t in range(sequence.shape[0] - 1):
        x = sequence[t] * ends[0]
        for k in range(LAYERS):
            weight, offset = layers[k, 0], layers[k, 1]
            forget = sigmoid(x * weight[0] + offset[0])
            entry = sigmoid(hidden[k] * weight[1] + offset[1])
            leave = sigmoid(x * weight[2] + offset[2])
            change = np.tanh(hidden[k] * weight[3] + offset[3])
            cell[k] = cell[k] * forget + entry * change
            hidden[k] = leave * np.tanh(cell[k])
            x = hidden[k]
        foretold = x * ends[1] + ends[2]
        total += np.sum(sequence[t + 1] * (foretold - np.log(np.sum(np.exp(foretold)) + 2.0)))
    return -total / (BITS * (sequence.shape[0] - 1))


def bits(text):
    codes = np.frombuffer(text.encode("ascii", "replace"), np.uint8)
    return (codes[:, None] >> np.arange(BITS) & 1).astype(np.float64)


def main():
    sequence = bits(load_wine().DESCR[:1000])
    rng = np.random.default_rng(1)
    layers, ends = rng.uniform(-0.5, 0.5, (LAYERS, 2, 4, BITS)), rng.uniform(-0.5, 0.5, (3, BITS))
    both = value_and_grad(objective, (0, 1))
    start, (of_layers, of_ends) = both(layers, ends, sequence)

    def moved(p):
        return both(layers + p[0] * of_layers, ends + p[1] * of_ends, sequence)[0]

    squares = np.array([np.sum(of_layers**2), np.sum(of_ends**2)])
    agree("differences along the gradient", squares, differences(moved, np.zeros(2), 1e-5), 1e-6)
    short = sequence[:20]
    each = differences(lambda p: both(p.reshape(layers.shape), ends, short)[0], layers.ravel())
    agree("differences of each weight", both(layers, ends, short)[1][0], each.reshape(layers.shape), 1e-6)

    for _ in range(150):
        _, (of_layers, of_ends) = both(layers, ends, sequence)
        layers, ends = layers - 2.0 * of_layers, ends - 2.0 * of_ends
    last = both(layers, ends, sequence)[0]
    print(f"{len(sequence)} characters: loss {start:.3f}, after 150 steps {last:.3f}")
    assert last < 0.9 * start


if __name__ == "__main__":
    main()
