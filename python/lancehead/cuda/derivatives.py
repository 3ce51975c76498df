"""Derivatives of kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lancehead.cuda.dispatcher import jit
from lancehead.gradients import kernel_adjoint


class KernelDerivative:
    """A kernel that runs another one and takes adjoints back through it; see `vjp`.

    >>> from lancehead import cuda
    >>> @cuda.jit
    ... def double(x, y):
    ...     y[0] = 2 * x[0]
    >>> x, y, gx, gy = np.ones(1), np.zeros(1), np.zeros(1), np.ones(1)
    >>> KernelDerivative(double, {})[1, 1](x, y, gx, gy)
    >>> gx
    array([2.])
    """

    def __init__(self, kernel: Any, options: dict[str, Any]) -> None:
        function = jit(device=True)(getattr(kernel, "py_func", kernel))

        def backward(*given):  # type: ignore[no-untyped-def]
            kernel_adjoint(function, given)

        backward.__name__ = f"{function.py_func.__name__}_vjp"
        #: The kernel, as `jit` makes it: it takes the arguments, then the adjoints.
        self.dispatcher = jit(**options)(backward)

    def __getitem__(self, configuration: Any) -> Callable[..., None]:
        if isinstance(configuration, tuple) and len(configuration) > 3:
            # Shared memory whose size the launch gives has its shadow behind it.
            configuration = (*configuration[:3], 2 * configuration[3], *configuration[4:])
        launch = self.dispatcher[configuration]

        def run(*given: Any) -> None:
            if len(given) % 2:
                raise TypeError("a derivative of a kernel takes the kernel's arguments, then the adjoint of each")
            launch(*given)

        return run


def vjp(kernel: Any, **options: Any) -> KernelDerivative:
    """A kernel that runs `kernel` and takes adjoints back through it: `vjp(kernel)[grid, block](*args, *adjoints)`.

    There is an adjoint for each argument: for an array one of its shape and type, for a float an array of one element,
    `None` for a constant; that of a complex number is `d/dx + i d/dy`. Adjoints of elements that the kernel reads are
    added to those that are there; the adjoint of an overwritten element moves to its old value, so adjoints of pure
    outputs end as zero. Each thread runs the kernel, then its steps in reverse order: loads become atomic
    sums, barriers stay barriers, shared and local memory have shadows. A loop that needs its values again keeps them in
    the memory of the thread: of a loop with a constant number of iterations up to 64 KiB, else 4 KiB; RuntimeError is
    raised where that does not suffice. Blocks must not wait for each other's results, but by a barrier of the grid.
    `options` are those of `cuda.jit`, such as `debug=True` for the checker.
    Raises `TypingError` for operations without a derivative, such as shuffles of warps.

    >>> import numpy as np
    >>> from lancehead import cuda
    >>> @cuda.jit
    ... def square(x, y):
    ...     i = cuda.grid(1)
    ...     if i < x.size:
    ...         y[i] = x[i] * x[i]
    >>> x, y = np.arange(3.0), np.zeros(3)
    >>> gx, gy = np.zeros(3), np.ones(3)
    >>> vjp(square)[1, 32](x, y, gx, gy)
    >>> gx
    array([0., 2., 4.])
    """
    return KernelDerivative(kernel, options)
