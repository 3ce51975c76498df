"""A CuPy tutorial's function of two arrays, by `fuse`."""

from dataclasses import replace

from lancehead import cupy as cp
from lancehead.demo.programs import cupy_saxpy_trig


@cp.fuse(kernel_name="saxpy_trig")
def fused(a, x, y):
    return cp.exp(a * cp.sin(x) + cp.cos(y))


def compiled(a, host, device):
    return cp.asnumpy(fused(a, *device))


PROGRAM = replace(
    cupy_saxpy_trig.PROGRAM,
    name="cupy_fuse",
    title="saxpy_trig, fuse",
    compiled=compiled,
)
