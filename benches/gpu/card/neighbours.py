"""Other libraries in the process: CuPy, PyTorch, numba-cuda. Each has processes of its own, which end well."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from guarded import Skipped, Task
from lancehead import cuda


def _library(name: str) -> Any:
    if importlib.util.find_spec(name.partition(".")[0]) is None:
        raise Skipped(f"{name} is not installed")
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Skipped(f"{name} cannot be imported: {error}") from None


def _kernel(api: Any = cuda) -> Any:
    @api.jit
    def scale(a, factor):
        i = api.grid(1)
        if i < a.size:
            a[i] *= factor

    return scale


def _cupy() -> Any:
    cupy = _library("cupy")
    if not cupy.cuda.is_available():
        raise Skipped("CuPy finds no GPU")
    return cupy


def cupy_arrays() -> None:
    """CuPy's arrays as arguments, ours as CuPy's, by both protocols and in a stream of CuPy's."""
    cupy, scale = _cupy(), _kernel()
    theirs = cupy.arange(1000, dtype=cupy.float32)
    scale[4, 256](theirs, np.float32(2))
    assert (theirs.get() == np.arange(1000) * 2).all()
    ours = cuda.to_device(np.arange(1000, dtype=np.float32))
    for seen in (cupy.asarray(ours), cupy.from_dlpack(ours)):
        seen += 1
        cupy.cuda.get_current_stream().synchronize()
    assert (ours.copy_to_host() == np.arange(1000) + 2).all()
    for seen in (cuda.as_cuda_array(theirs), cuda.from_dlpack(theirs)):
        scale[4, 256](seen, np.float32(0.5))
    assert (theirs.get() == np.arange(1000) * 0.5).all()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        a = cupy.zeros(1 << 20, cupy.float32)
        for _ in range(20):
            a += 1
            scale[1 << 12, 256, cuda.external_stream(stream.ptr)](a, np.float32(1))
        assert float(a.sum()) == 20 * (1 << 20)


def _torch() -> Any:
    torch = _library("torch")
    if not torch.cuda.is_available():
        raise Skipped("PyTorch finds no GPU")
    return torch


def torch_tensors() -> None:
    """PyTorch's tensors as arguments, ours as tensors, by both protocols."""
    torch, scale = _torch(), _kernel()
    theirs = torch.arange(1000, dtype=torch.float32, device="cuda")
    scale[4, 256](theirs, np.float32(2))
    cuda.synchronize()
    assert (theirs.cpu().numpy() == np.arange(1000) * 2).all()
    ours = cuda.to_device(np.arange(1000, dtype=np.float32))
    for seen in (torch.as_tensor(ours, device="cuda"), torch.from_dlpack(ours)):
        seen += 1
        torch.cuda.synchronize()
    assert (ours.copy_to_host() == np.arange(1000) + 2).all()
    with torch.no_grad():
        scale[4, 256](cuda.from_dlpack(theirs[::2]), np.float32(0.5))
    cuda.synchronize()
    assert theirs[:3].tolist() == [0, 2, 2]


def torch_bfloat16() -> None:
    """Tensors of bfloat16."""
    torch = _torch()

    @cuda.jit
    def double(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = a[i] + a[i]

    theirs = torch.arange(100, dtype=torch.bfloat16, device="cuda")
    try:
        ours = cuda.from_dlpack(theirs)
    except ImportError as error:
        raise Skipped(f"arrays of bfloat16 need ml_dtypes: {error}") from None
    double[1, 128](ours)
    cuda.synchronize()
    assert theirs.float().tolist() == [float(2 * i) for i in range(100)]


def torch_stream() -> None:
    """A kernel in a side stream of PyTorch's finds what that has put into a tensor, and the other way round."""
    torch, scale = _torch(), _kernel()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        a = torch.zeros(1 << 20, device="cuda")
        for _ in range(20):
            a += 1
            scale[1 << 12, 256, cuda.external_stream(side.cuda_stream)](a, np.float32(1))
        assert float(a.sum()) == 20 * (1 << 20)
        ours = cuda.to_device(np.ones(1 << 20, np.float32))
        scale[1 << 12, 256](ours, np.float32(2))
        # This protocol has the consumer say in which stream it reads.
        assert float(torch.from_dlpack(ours).sum()) == 2 << 20


def torch_memory() -> None:
    """Memory that is freed here can be had there."""
    torch = _torch()
    free = cuda.current_context().get_memory_info().free
    ours = cuda.device_array(free * 6 // 10, np.uint8)
    del ours
    cuda.synchronize()
    theirs = torch.empty(free * 6 // 10, dtype=torch.uint8, device="cuda")
    assert theirs.numel() == free * 6 // 10


def _numba_cuda() -> Any:
    theirs = _library("numba.cuda")
    if not theirs.is_available():
        raise Skipped("numba-cuda finds no GPU")
    return theirs


def _beside_numba() -> None:
    theirs = _numba_cuda()
    ours, other = _kernel(), _kernel(theirs)
    for first, second in ((cuda, theirs), (theirs, cuda)):
        array = first.to_device(np.arange(1000, dtype=np.float32))
        ours[4, 256](cuda.as_cuda_array(array), np.float32(2))
        cuda.synchronize()
        other[4, 256](theirs.as_cuda_array(array), np.float32(3))
        theirs.synchronize()
        assert (array.copy_to_host() == np.arange(1000) * 6).all(), second


def numba_cuda_after() -> None:
    """Arrays go both ways; we have used the GPU first."""
    _kernel()[1, 32](np.ones(4), 2)
    _beside_numba()


def numba_cuda_before() -> None:
    """The same, and numba-cuda has used the GPU first."""
    theirs = _numba_cuda()
    theirs.to_device(np.ones(4))
    _beside_numba()


def all_of_them() -> str:
    """All that are there, in one process."""
    found = []
    for check in (cupy_arrays, torch_tensors, numba_cuda_after):
        try:
            check()
            found.append(check.__name__)
        except Skipped:
            pass
    if not found:
        raise Skipped("none works here")
    return f"{', '.join(found)}; modules: {', '.join(m for m in ('cupy', 'torch', 'numba') if m in sys.modules)}"


def checks() -> Iterator[Task]:
    """Of this step."""
    every: tuple[Callable[[], Any], ...] = (
        cupy_arrays, torch_tensors, torch_bfloat16, torch_stream, torch_memory, numba_cuda_after, numba_cuda_before,
        all_of_them,
    )  # fmt: skip
    for check in every:
        yield Task(check.__name__, check, alone=True)
