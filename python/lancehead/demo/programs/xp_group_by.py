"""Grouping a table, the pixels of a photograph by colour: counts, means and extremes of the brightness."""

import numpy as np
from sklearn.datasets import load_sample_image

from lancehead import xp
from lancehead.demo.program import Program


def plain(keys, values):
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    starts = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
    counts = np.diff(np.r_[starts, keys.size])
    means = np.add.reduceat(values, starts) / counts
    least, most = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    return keys[starts], counts, means, least, most


def compiled(keys, values):
    keys, values = xp.sort_by_key(xp.asarray(keys), xp.asarray(values))
    groups, counts = xp.run_length(keys)
    offsets = xp.cumulative_sum(counts, include_initial=True)
    means = xp.segmented_reduce(lambda a, b: a + b, values, offsets, 0.0) / counts
    least = xp.segmented_reduce(lambda a, b: min(a, b), values, offsets, np.inf)
    most = xp.segmented_reduce(lambda a, b: max(a, b), values, offsets, -np.inf)
    return groups.numpy(), counts.numpy(), means.numpy(), least.numpy(), most.numpy()


def inputs(quick):
    photo = load_sample_image("china.jpg")
    photo = photo[::4, ::4] if quick else photo
    red, green, blue = (photo[:, :, k].ravel().astype(np.int64) >> 3 for k in range(3))
    return red << 10 | green << 5 | blue, photo.reshape(-1, 3) @ np.array([0.299, 0.587, 0.114])


PROGRAM = Program(
    name="xp_group_by",
    title="Group by colour, lazy arrays",
    baseline="NumPy",
    inputs=inputs,
    size=lambda keys, values: f"photograph, {keys.size:,} rows",
    plain=plain,
    compiled=compiled,
    tolerance=1e-12,
)
