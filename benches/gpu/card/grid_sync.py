"""Barriers of the whole grid."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from guarded import Skipped, Task
from lancehead import cuda
from lancehead.cuda.cudadrv.driver import CudaAPIError

STEPS, LAUNCHES, THREADS = 1000, 5, 64


def kernel():
    """A kernel whose blocks count steps, and look at what another block has counted between two barriers."""

    @cuda.jit
    def count(counts, wrong, steps):
        g = cuda.cg.this_grid()
        block, blocks = cuda.blockIdx.x, cuda.gridDim.x
        for s in range(steps):
            if cuda.threadIdx.x == 0:
                counts[block] += 1
            g.sync()
            if cuda.threadIdx.x == 0 and counts[(block + 1 + s) % blocks] != s + 1:
                cuda.atomic.add(wrong, 0, 1)
            g.sync()

    return count


def _counted(blocks: int, launches: int = LAUNCHES) -> None:
    count = kernel()
    for launch in range(launches):
        counts, wrong = cuda.to_device(np.zeros(blocks, np.int32)), cuda.to_device(np.zeros(1, np.int32))
        count[blocks, THREADS](counts, wrong, STEPS)
        assert (counts.copy_to_host() == STEPS).all(), f"launch {launch}: {counts.copy_to_host()}"
        assert wrong.copy_to_host()[0] == 0, (
            f"launch {launch}: {wrong.copy_to_host()[0]} times a block was not at the step"
        )


def one_block() -> None:
    """A grid of one block."""
    _counted(1)


def a_block_each() -> None:
    """As many blocks as there are multiprocessors."""
    _counted(cuda.get_current_device().MULTIPROCESSOR_COUNT)


def two_blocks_each() -> None:
    """Twice as many."""
    _counted(2 * cuda.get_current_device().MULTIPROCESSOR_COUNT)


def _compiled():
    count = kernel()
    count[1, THREADS](np.zeros(1, np.int32), np.zeros(1, np.int32), 1)
    return count, next(iter(count.overloads.values()))


def too_many_blocks() -> str:
    """One block more than fit is refused, and the next launch works."""
    count, facts = _compiled()
    most = facts.max_cooperative_grid_blocks(1024)
    refused = False
    try:
        count[most + 1, 1024](cuda.to_device(np.zeros(most + 1, np.int32)), cuda.to_device(np.zeros(1, np.int32)), 1)
        cuda.synchronize()
    except CudaAPIError as error:
        assert error.code == 720 and "COOPERATIVE_LAUNCH_TOO_LARGE" in str(error), error
        refused = True
    assert refused, f"{most + 1} blocks of 1024 threads were launched"
    counts = cuda.to_device(np.zeros(1, np.int32))
    count[1, 1024](counts, cuda.to_device(np.zeros(1, np.int32)), 10)
    assert counts.copy_to_host()[0] == 10
    return f"{most} blocks of 1024 threads fit"


def as_many_as_fit() -> None:
    """As many blocks of 1024 threads as fit run."""
    count, facts = _compiled()
    most = facts.max_cooperative_grid_blocks(1024)
    counts, wrong = cuda.to_device(np.zeros(most, np.int32)), cuda.to_device(np.zeros(1, np.int32))
    count[most, 1024](counts, wrong, 10)
    assert (counts.copy_to_host() == 10).all() and wrong.copy_to_host()[0] == 0


def blocks_with_shared_memory() -> str:
    """How many blocks with 100 KiB of dynamic shared memory fit is known, and so many run."""
    device, shared = cuda.get_current_device(), 100 << 10
    if device.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN < shared:
        raise Skipped(f"blocks have {device.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN} bytes of shared memory")
    # Asked of a kernel that has not been launched with so much.
    count, facts = _compiled()
    most = facts.max_cooperative_grid_blocks(THREADS, shared)
    assert most >= device.MULTIPROCESSOR_COUNT, f"{most} blocks on {device.MULTIPROCESSOR_COUNT} multiprocessors"
    assert most <= facts.max_cooperative_grid_blocks(THREADS, 0)
    counts, wrong = cuda.to_device(np.zeros(most, np.int32)), cuda.to_device(np.zeros(1, np.int32))
    count[most, THREADS, 0, shared](counts, wrong, 10)
    assert (counts.copy_to_host() == 10).all() and wrong.copy_to_host()[0] == 0
    return f"{most} blocks"


def two_streams() -> None:
    """Two grids of one kernel at once do not pass each other's barriers."""
    count, streams = kernel(), [cuda.stream(), cuda.stream()]
    blocks = min(8, cuda.get_current_device().MULTIPROCESSOR_COUNT)
    given = [(cuda.to_device(np.zeros(blocks, np.int32)), cuda.to_device(np.zeros(1, np.int32))) for _ in streams]
    count[blocks, THREADS](*given[0], 0)
    cuda.synchronize()
    for (counts, wrong), stream in zip(given, streams, strict=True):
        count[blocks, THREADS, stream](counts, wrong, STEPS)
    for (counts, wrong), stream in zip(given, streams, strict=True):
        stream.synchronize()
        assert (counts.copy_to_host() == STEPS).all() and wrong.copy_to_host()[0] == 0, wrong.copy_to_host()


def checks() -> Iterator[Task]:
    """Of this step."""
    for check in (
        one_block,
        a_block_each,
        two_blocks_each,
        too_many_blocks,
        as_many_as_fit,
        blocks_with_shared_memory,
        two_streams,
    ):
        yield Task(check.__name__, check)
