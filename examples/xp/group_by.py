"""Grouping a table: the pixels of a photograph by their colour, with counts, means and extremes of the brightness.

Equal keys come together by sorting; where the sorted key changes, a segment begins, and each segment is reduced.

    python examples/xp/group_by.py [DEVICE]
"""

import sys

import numpy as np
from sklearn.datasets import load_sample_image

from lancehead import xp


def grouped(keys, values):
    """Different keys, and for each the count, the mean, the least and the greatest of its values."""
    keys, values = xp.sort_by_key(keys, values)
    groups, counts = xp.run_length(keys)
    offsets = xp.cumulative_sum(counts, include_initial=True)
    sums = xp.segmented_reduce(lambda a, b: a + b, values, offsets, 0.0)
    least = xp.segmented_reduce(lambda a, b: min(a, b), values, offsets, np.inf)
    most = xp.segmented_reduce(lambda a, b: max(a, b), values, offsets, -np.inf)
    return groups, counts, sums / counts, least, most


def table():
    """The rows of the table: for each pixel its colour in 512 steps, and its brightness."""
    photo = load_sample_image("china.jpg")
    red, green, blue = (photo[:, :, k].ravel().astype(np.int64) >> 5 for k in range(3))
    return red << 6 | green << 3 | blue, (photo.reshape(-1, 3) @ np.array([0.299, 0.587, 0.114]))


def main(device=None):
    where = {} if device is None else {"device": device}
    keys, values = table()
    found = grouped(xp.asarray(keys, **where), xp.asarray(values, **where))
    groups, counts, means, least, most = (np.asarray(x) for x in found)
    assert (groups == np.unique(keys)).all()
    assert (counts == np.bincount(keys)[groups]).all()
    np.testing.assert_allclose(means, np.bincount(keys, values)[groups] / counts, rtol=1e-12)
    print(f"{keys.size:,} pixels, {groups.size} colours")
    print("red green blue   pixels   mean  least   most")
    for k in np.argsort(-counts)[:6]:
        red, green, blue = groups[k] >> 6, groups[k] >> 3 & 7, groups[k] & 7
        print(f"{red:3} {green:5} {blue:4} {counts[k]:8,} {means[k]:6.1f} {least[k]:6.1f} {most[k]:6.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
