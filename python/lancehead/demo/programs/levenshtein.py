"""Edit distance of two real texts: the descriptions of two data sets that scikit-learn bundles."""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine

from lancehead import njit
from lancehead.demo.program import Program


def plain(a, b):
    first, second = a.tolist(), b.tolist()
    row = list(range(len(second) + 1))
    for i, x in enumerate(first):
        diagonal, row[0] = row[0], i + 1
        left = i + 1
        for j, y in enumerate(second, 1):
            above = row[j]
            left = diagonal if x == y else 1 + min(diagonal, above, left)
            diagonal = above
            row[j] = left
    return row[-1]


@njit
def compiled(a, b):
    row = np.arange(len(b) + 1)
    for i in range(len(a)):
        diagonal = row[0]
        row[0] = i + 1
        left = i + 1
        for j in range(len(b)):
            above = row[j + 1]
            if a[i] == b[j]:
                left = diagonal
            else:
                left = 1 + min(diagonal, above, left)
            diagonal = above
            row[j + 1] = left
    return row[-1]


def inputs(quick):
    length = 300 if quick else 10_000
    texts = load_wine().DESCR, load_breast_cancer().DESCR
    return tuple(np.frombuffer(text.encode()[:length], np.uint8).copy() for text in texts)


PROGRAM = Program(
    name="levenshtein",
    title="Levenshtein distance",
    baseline="Python",
    inputs=inputs,
    size=lambda a, b: f"{len(a):,} × {len(b):,} bytes",
    plain=plain,
    compiled=compiled,
)
