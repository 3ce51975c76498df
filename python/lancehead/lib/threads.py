"""Settings of parallel loops that hold while a `with` statement runs."""

from collections import namedtuple

from lancehead import get_parallel_chunksize, set_parallel_chunksize
from lancehead.lib import prim

#: Iterations of a block inside the statement, and before it.
Chunksize = namedtuple("Chunksize", ["parallel_chunksize", "before"])
prim.means("chunk_size")(Chunksize)


def parallel_chunksize(n):
    """The context manager of `with parallel_chunksize(n)`."""
    return Chunksize(n, get_parallel_chunksize())


class chunksize:
    """Methods of `Chunksize`."""

    def __enter__(self):
        """Sets the size."""
        set_parallel_chunksize(self.parallel_chunksize)

    def __exit__(self, kind, value, traceback):
        """Sets what was there before."""
        set_parallel_chunksize(self.before)
