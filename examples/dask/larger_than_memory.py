"""Principal components of a table in a file that has four times the bytes that the program may use.

python examples/dask/larger_than_memory.py [MEBIBYTES]
"""

import os
import sys
import tempfile
from pathlib import Path

import dask
import dask.array as da
import numpy as np

from lancehead.xp import chunked

COLUMNS = 16


def write_table(path, rows, seed):
    """A table of which three directions explain most; what NumPy says of its columns, added up on the way."""
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(3, COLUMNS))
    total, squares = np.zeros(COLUMNS), np.zeros((COLUMNS, COLUMNS))
    with open(path, "wb") as file:
        for start in range(0, rows, 8192):
            n = min(8192, rows - start)
            part = rng.normal(size=(n, 3)) @ mix + 0.1 * rng.normal(size=(n, COLUMNS)) + 5.0
            file.write(part.tobytes())
            total += part.sum(axis=0)
            squares += part.T @ part
    mean = total / rows
    return mean, squares / rows - np.outer(mean, mean)


def components(path, rows, block_rows, out):
    """Variances along the components, greatest first; coordinates along the first three go to files in a folder."""
    table = np.memmap(path, np.float64, "r", shape=(rows, COLUMNS))
    x = chunked.from_array(table, (block_rows, COLUMNS))
    mean = x.mean(axis=0).compute()
    centred = x - mean
    covariance = (da.tensordot(centred, centred, ((0,), (0,))) / rows).compute()
    variances, directions = np.linalg.eigh(np.asarray(covariance))
    # A task reads a block, computes, and writes a file.
    da.to_npy_stack(out, da.tanh(centred @ np.ascontiguousarray(directions[:, :-4:-1])), axis=0)
    return np.asarray(mean), variances[::-1]


def memory(which):
    """The memory that the process has (`VmRSS`), or the most that it had (`VmHWM`), in bytes, as Linux counts."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(which):
            return int(line.split()[1]) * 1024
    raise OSError(f"there is no {which}")


def main(mebibytes="64"):
    limit = int(mebibytes) << 20
    rows = 4 * limit // (8 * COLUMNS)
    # Each thread has a block, what it is read from, and results in between.
    block_rows = max(limit // (16 * 8 * COLUMNS), 1)
    with tempfile.TemporaryDirectory() as folder, dask.config.set(scheduler="threads", num_workers=2):
        # What the libraries need, and the code of all regions, is not the data's: as many blocks, but small ones.
        small = Path(folder) / "small"
        write_table(small, 64 * 256, 1)
        components(small, 64 * 256, 256, os.path.join(folder, "scores of few"))
        path = Path(folder) / "table"
        mean, covariance = write_table(path, rows, 2)
        Path("/proc/self/clear_refs").write_text("5")  # forgets the most so far, which the compiler had
        before = memory("VmRSS")
        found, variances = components(path, rows, block_rows, os.path.join(folder, "scores"))
        used = memory("VmHWM") - before
        scores = da.from_npy_stack(os.path.join(folder, "scores"))
        assert np.allclose(found, mean)
        assert np.allclose(variances, np.linalg.eigvalsh(covariance)[::-1])
        assert scores.shape == (rows, 3) and used <= limit
        print(f"{path.stat().st_size >> 20} MiB of data in {-(-rows // block_rows)} blocks, at most {limit >> 20} MiB")
        print(f"memory beyond the libraries' own: {used >> 20} MiB")
        print("three components explain", f"{variances[:3].sum() / variances.sum():.1%}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
