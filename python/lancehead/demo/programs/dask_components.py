"""Principal components of a table in a file, block by block: lazy arrays as chunks of Dask's, beside NumPy's arrays."""

import functools
import os
import tempfile

import dask
import dask.array as da
import numpy as np
from threadpoolctl import threadpool_limits

from lancehead.demo.program import Program
from lancehead.xp import chunked

COLUMNS, BLOCK_ROWS = 16, 32_768


def components(x):
    """Variances along the components, greatest first, and what three of them explain of each row, added up."""
    with dask.config.set(scheduler="threads", num_workers=2):
        centred = x - x.mean(axis=0).compute()
        covariance = (da.tensordot(centred, centred, ((0,), (0,))) / x.shape[0]).compute()
        variances, directions = np.linalg.eigh(np.asarray(covariance))
        scores = da.tanh(centred @ np.ascontiguousarray(directions[:, :-4:-1]))
        return variances[::-1], np.abs(np.asarray((scores * scores).mean(axis=0).compute()))


def table(path):
    return np.memmap(path, np.float64, "r").reshape(-1, COLUMNS)


def plain(path):
    # As Dask's manual has it: tasks are on all processors, so that BLAS is to have one thread.
    with threadpool_limits(1):
        return components(da.from_array(table(path), (BLOCK_ROWS, COLUMNS)))


def compiled(path):
    return components(chunked.from_array(table(path), (BLOCK_ROWS, COLUMNS)))


@functools.cache
def folder():
    """A folder that is removed when the program ends."""
    return tempfile.TemporaryDirectory(prefix="lancehead-demo-")


def inputs(quick):
    path = os.path.join(folder().name, "table")
    rng = np.random.default_rng(5)
    mix = rng.normal(size=(3, COLUMNS))
    with open(path, "wb") as file:
        for _ in range(1 if quick else 16):
            part = rng.normal(size=(2 * BLOCK_ROWS, 3)) @ mix
            part += 0.1 * rng.normal(size=part.shape) + 5.0
            file.write(part.tobytes())
    return (path,)


def objection(answer):
    # The table is three directions and noise with a deviation of 0.1, of which each component has its share.
    variances, _ = answer
    noise = np.abs(variances[3:] - 0.01).max()
    return "" if noise < 1e-3 else f"the noise's variance is {noise:.1e} off"


PROGRAM = Program(
    name="dask_components",
    title="PCA of a file in blocks, Dask",
    baseline="Dask",
    inputs=inputs,
    size=lambda path: f"{os.path.getsize(path) >> 20} MiB, blocks of {BLOCK_ROWS * COLUMNS * 8 >> 20} MiB",
    plain=plain,
    compiled=compiled,
    tolerance=1e-9,
    objection=objection,
)
