"""Edit distance of two texts by scans: a row of the table is a running minimum.

The distances of a row are the least of t[k] + j - k for k up to j, where t has what the row above allows. Without the
j, which is added later, that is a running minimum of t[k] - k, and a minimum is associative.

    python examples/xp/levenshtein.py [DEVICE]
"""

import sys

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine

from lancehead import xp


@xp.trace
def next_row(row, letter, letters, places):
    """The row of the table after one more letter of the first text."""
    above = xp.minimum(row[1:] + 1, row[:-1] + xp.astype(letters != letter, xp.int64))
    allowed = xp.concat([row[:1] + 1, above])
    return xp.scan(lambda a, b: min(a, b), allowed - places) + places


def codes(text):
    """The letters of a text as numbers."""
    return np.array([ord(letter) for letter in text], np.int64)


def distance(a, b, device=None):
    """The number of letters to insert, remove or exchange that make one text of the other."""
    where = {} if device is None else {"device": device}
    first, second = (xp.asarray(codes(text), **where) for text in (a, b))
    row = places = xp.asarray(np.arange(len(b) + 1), **where)
    for i in range(len(a)):
        row = next_row(row, first[i], second, places).compute()
    return int(row[-1])


def table(a, b):
    """The same by the table, letter by letter."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        diagonal, row[0] = row[0], i + 1
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], diagonal if x == y else 1 + min(diagonal, row[j - 1], row[j])
    return row[-1]


def main(device=None):
    a, b = load_wine().DESCR[:800], load_breast_cancer().DESCR[:800]
    found = distance(a, b, device)
    assert found == table(a, b)
    print(f"{found} edits make the description of one data set that of another, of {len(a)} letters each")
    for one, other in (("kitten", "sitting"), ("Straße", "Strasse"), ("lancehead", "spearhead")):
        print(f"{one} -> {other}: {distance(one, other, device)}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
