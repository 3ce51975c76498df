"""Errors that end a context, and text that the assembler refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from guarded import STICKY, Skipped, Task
from lancehead import cuda
from lancehead.cuda.cudadrv.driver import CudaAPIError
from lancehead.cuda.errors import LinkerError


@cuda.jit
def put(a, at):
    a[at] = 1


def _error(launch: Callable[[], Any]) -> CudaAPIError:
    try:
        launch()
        cuda.synchronize()
    except CudaAPIError as error:
        return error
    raise AssertionError("no error was told")


def wild_store() -> str:
    """A store far beyond an array is told by name; all later calls give the same error, and the process ends by
    itself."""
    there = cuda.to_device(np.zeros(4))
    error = _error(lambda: put[1, 1](there, 1 << 42))
    assert error.code in STICKY and "ILLEGAL_ADDRESS" in str(error), error
    for use in (
        lambda: put[1, 1](there, 0),
        there.copy_to_host,
        lambda: cuda.to_device(np.ones(4)),
        lambda: cuda.stream().synchronize(),
    ):
        assert _error(use).code == error.code
    return str(error)


def after_it() -> None:
    """Another process has no part in it."""
    there = cuda.to_device(np.zeros(4))
    put[1, 1](there, 2)
    assert there.copy_to_host().tolist() == [0, 0, 1, 0]


def misaligned() -> None:
    """An array that is not aligned is refused before the launch."""
    there = cuda.to_device(np.zeros(33, np.uint8))
    try:
        put[1, 1](there[1:].view(np.float64), 0)
    except cuda.errors.UnsupportedError as error:
        assert "aligned" in str(error), error
    else:
        raise AssertionError("the launch was not refused")


TEXT = """
.version 7.8
.target sm_75
.address_size 64
.visible .func (.param .b32 status) broken(.param .b64 result, .param .b32 x)
{
    .reg .b32 %r<4>;
    no.such.instruction %r1, %r2;
    ret;
}
"""


def wrong_text() -> str:
    """A mistake in linked PTX is told with what is wrong, and what comes next works."""
    broken = cuda.declare_device("broken", "int32(int32)", link=cuda.PTXSource(TEXT))

    @cuda.jit
    def kernel(a):
        a[0] = broken(a[0])

    a = np.zeros(1, np.int32)
    try:
        kernel[1, 1](a)
    except Exception as error:
        if isinstance(error, LinkerError) and "this needs" in str(error):
            raise Skipped("NVIDIA's linker is not installed") from None
        assert ".such" in str(error), f"{type(error).__name__}: {error}"
        told = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    else:
        raise AssertionError("it was linked")
    after_it()
    return told


def too_large_a_block() -> None:
    """More threads than a block can have are refused; that spoils nothing."""
    there = cuda.to_device(np.zeros(4))
    assert _error(lambda: put[1, 2048](there, 0)).code == 1
    after_it()


def checks() -> Iterator[Task]:
    """Of this step."""
    yield Task("wild_store", wild_store, alone=True)
    for check in (after_it, misaligned, wrong_text, too_large_a_block):
        yield Task(check.__name__, check)
