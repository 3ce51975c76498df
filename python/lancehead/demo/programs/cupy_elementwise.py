"""A CuPy tutorial's function of two arrays, by an elementwise kernel in C."""

from dataclasses import replace

from lancehead import cupy as cp
from lancehead.demo.programs import cupy_saxpy_trig

KERNEL = cp.ElementwiseKernel("T a, T x, T y", "T z", "z = exp(a * sin(x) + cos(y))", "saxpy_trig")


def compiled(a, host, device):
    return cp.asnumpy(KERNEL(a, *device))


PROGRAM = replace(
    cupy_saxpy_trig.PROGRAM,
    name="cupy_elementwise",
    title="saxpy_trig, ElementwiseKernel",
    compiled=compiled,
)
