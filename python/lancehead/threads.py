"""Threads of parallel loops: how many, which, and how many iterations each takes at once."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator
from contextlib import contextmanager

from lancehead import _core, config
from lancehead.options import public

#: Layers that Numba has.
_LAYERS = ("tbb", "omp", "workqueue")


def get_num_threads() -> int:
    """Number of threads that a parallel loop begun by this thread uses.

    >>> before = get_num_threads()
    >>> set_num_threads(1)
    >>> get_num_threads()
    1
    >>> set_num_threads(before)
    """
    return _core.get_num_threads()


def set_num_threads(n: int) -> None:
    """Sets the number of threads of parallel loops begun by this thread.

    >>> set_num_threads(1)
    >>> get_num_threads()
    1
    """
    _core.set_num_threads(_integer(n, "The number of threads must be an integer"))


def get_thread_id() -> int:
    """Number of this thread in the parallel loop around, from 0 to before `get_num_threads()`; 0 outside.

    >>> get_thread_id()
    0
    """
    return _core.get_thread_id()


def get_parallel_chunksize() -> int:
    """Iterations of a block that parallel loops begun by this thread are cut into; 0: lancehead chooses.

    >>> get_parallel_chunksize()
    0
    """
    return _core.get_parallel_chunksize()


def set_parallel_chunksize(n: int) -> int:
    """Sets the iterations of a block; returns what was set before.

    >>> set_parallel_chunksize(16)
    0
    >>> set_parallel_chunksize(0)
    16
    """
    return _core.set_parallel_chunksize(_integer(n, "The parallel chunksize must be an integer"))


@contextmanager
def parallel_chunksize(n: int) -> Iterator[None]:
    """Sets the iterations of a block while a `with` statement runs.

    >>> with parallel_chunksize(8):
    ...     get_parallel_chunksize()
    8
    """
    before = set_parallel_chunksize(n)
    try:
        yield
    finally:
        set_parallel_chunksize(before)


def threading_layer() -> str:
    """Name of the pool that parallel loops run on: there is one, which stands for the layer that a program asks for.

    >>> threading_layer()
    'lancehead'
    """
    layer = str(config.THREADING_LAYER)
    if layer in _LAYERS:
        return layer
    if layer == "default" and os.environ.get("NUMBA_THREADING_LAYER_PRIORITY"):
        return next((name for name in config.THREADING_LAYER_PRIORITY if name in _LAYERS), "lancehead")
    return "lancehead"


def _integer(n: object, message: str) -> int:
    if isinstance(n, bool) or not hasattr(n, "__index__"):
        raise TypeError(message)
    # Numbers beyond machine integers are clamped: they are out of range as well.
    return max(-(2**62), min(operator.index(n), 2**62))


__all__ = [
    "get_num_threads", "get_parallel_chunksize", "get_thread_id", "parallel_chunksize", "set_num_threads",
    "set_parallel_chunksize", "threading_layer",
]  # fmt: skip
public(globals())
