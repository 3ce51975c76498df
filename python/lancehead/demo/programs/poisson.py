"""Poisson's equation on a torus by Fourier transforms, which make products of derivatives.

The source is made so that the solution is known: exp(sin x cos 2y), less its mean.
"""

import numpy as np

from lancehead import njit
from lancehead.demo.program import Program


def plain(source):
    rows, columns = source.shape
    spectrum = np.fft.rfft2(source)
    squares = np.fft.fftfreq(rows, 1.0 / rows)[:, None] ** 2 + np.fft.rfftfreq(columns, 1.0 / columns) ** 2
    # A solution's mean is free: it is 0 here.
    squares[0, 0] = 1.0
    spectrum[0, 0] = 0.0
    return np.fft.irfft2(-spectrum / squares, (rows, columns))


def inputs(quick):
    n = 64 if quick else 512
    x, y = 2.0 * np.pi / n * np.mgrid[:n, :n]
    slopes = (np.cos(x) * np.cos(2.0 * y)) ** 2 + (2.0 * np.sin(x) * np.sin(2.0 * y)) ** 2
    # The second derivatives of the solution.
    return (np.exp(np.sin(x) * np.cos(2.0 * y)) * (slopes - 5.0 * np.sin(x) * np.cos(2.0 * y)),)


def objection(answer):
    x, y = 2.0 * np.pi / len(answer) * np.mgrid[: len(answer), : len(answer)]
    solution = np.exp(np.sin(x) * np.cos(2.0 * y))
    off = np.abs(answer - (solution - solution.mean())).max()
    return "" if off < 1e-9 else f"the solution is {off:.1e} away"


PROGRAM = Program(
    name="poisson",
    title="Poisson's equation by FFT",
    baseline="NumPy",
    inputs=inputs,
    size=lambda source: f"made source, {source.shape[0]} × {source.shape[1]}",
    plain=plain,
    compiled=njit(plain),
    tolerance=1e-14,
    objection=objection,
)
