"""Derivatives by central differences, with which tests compare others."""

from __future__ import annotations

import numpy as np


def copies(args):
    """Arguments for a function that may change them."""
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


def differences(f, *args, number=0, step=1e-6):
    """`d/dx` with respect to an argument, and `d/dx + i d/dy` with respect to a complex one."""
    base = np.array(args[number])
    found = np.zeros_like(base)
    for place in np.ndindex(base.shape):
        for unit in (1.0, 1j) if np.iscomplexobj(base) else (1.0,):
            ends = []
            for sign in (1.0, -1.0):
                moved = base.copy()
                moved[place] += sign * step * unit
                given = copies(args)
                given[number] = moved if isinstance(args[number], np.ndarray) else moved.item()
                ends.append(f(*given))
            found[place] += unit * (ends[0] - ends[1]) / (2.0 * step)
    return found
