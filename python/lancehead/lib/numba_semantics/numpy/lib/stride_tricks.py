"""`numpy.lib.stride_tricks` as Numba has it."""

import numpy as np

from lancehead.lib.numba_semantics.checks import axis_in, need_integers
from lancehead.lib.numpy.layout import as_ints


def sliding_window_view(x, window_shape, axis=None):
    """Views of all windows of a shape, over all dimensions or along some, which can be stored into."""
    need_integers(window_shape, "window_shape must be an integer or tuple of integer")
    if axis is not None:
        need_integers(axis, "axis must be None, an integer or tuple of integer")
    elif len(as_ints(window_shape)) != x.ndim:
        raise ValueError("Must provide matching length window_shape and axis arguments")
    if axis is not None and len(as_ints(axis)) != len(as_ints(window_shape)):
        raise ValueError("Must provide matching length window_shape and axis arguments")
    if axis is not None:
        for k in as_ints(axis):
            axis_in("sliding_window_view", "axis", x.ndim, k)
    axes = range(x.ndim) if axis is None else as_ints(axis)
    for k, n in zip(axes, as_ints(window_shape)):
        if n > x.shape[k]:
            raise ValueError("window_shape cannot be larger than input array shape")
    return np.lib.stride_tricks.sliding_window_view(x, window_shape, axis, writeable=True)
