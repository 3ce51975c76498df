"""Histogram equalisation of a photograph: each grey becomes the share of pixels that are not brighter.

python examples/xp/equalise.py [DEVICE]
"""

import sys

import numpy as np
from sklearn.datasets import load_sample_image

from lancehead import xp


def equalised(grey):
    """The greys of an image of bytes, spread so that all ranges of them are about equally frequent."""
    counts = xp.bincount(xp.reshape(grey, (-1,)), minlength=256)
    share = xp.cumulative_sum(counts)
    first = xp.min(xp.where(counts > 0, share, grey.size))
    table = xp.round(255.0 * (share - first) / (grey.size - first))
    return xp.gather(xp.astype(table, xp.uint8), grey)


def bars(values):
    """A histogram of bytes in one line."""
    counts = np.histogram(values, 32, (0, 256))[0]
    return "".join("▁▂▃▄▅▆▇█"[k] for k in (7 * counts // counts.max()))


def main(device=None):
    where = {} if device is None else {"device": device}
    photo = load_sample_image("china.jpg")
    grey = (photo @ np.array([0.299, 0.587, 0.114])).astype(np.uint8)
    result = np.asarray(equalised(xp.asarray(grey, **where)))
    share = np.bincount(grey.ravel(), minlength=256).cumsum()
    table = np.round(255.0 * (share - share[grey.min()]) / (grey.size - share[grey.min()]))
    assert (result == table[grey].astype(np.uint8)).all()
    print("before", bars(grey), f"deviation {grey.std():.1f}")
    print("after ", bars(result), f"deviation {result.std():.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
