"""Functions whose modules, with those of devices, their first call loads: few programs need them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lancehead.options import near_keywords
from lancehead.xp.arrays import ndarray, set_operators
from lancehead.xp.graph import Backend, set_backend
from lancehead.xp.schedules import Schedule

if TYPE_CHECKING:
    from lancehead.xp.explaining import Explanation


def explain(x: ndarray, /) -> Explanation:
    """Explains how an array will be computed: operations, regions compiled together, memory. Computes nothing."""
    # It has the modules of devices, too.
    from lancehead.xp import explaining

    return explaining.Explanation(x)


def autotune(f: Callable[..., ndarray] | ndarray, *arguments: Any, budget: float = 1.0) -> Schedule:
    """The fastest schedule for an array, or for a function's result, among those tried in so many seconds.

    On a device other than the host they have other blocks of threads, and for products other tiles. Each is compiled
    and measured with the operands that are there. The fastest one is kept for arrays of the same structure, types and
    about the same size: in the process, and in lancehead's directory of cached code for others on the same processor.
    Then it is the answer at once. An array gets the schedule, too, and is not computed; arrays that its region reads
    are. Raises ValueError for an array that has been computed or a budget that is not positive, TypeError unless there
    is an array.
    """
    # It has the modules of devices, too.
    from lancehead.xp import autotuning

    return autotuning.autotune(f, *arguments, budget=budget)


def _backend() -> Backend:
    # Kernels, and with them CUDA, are for programs with arrays on devices.
    from lancehead.xp import device_regions

    return device_regions.BACKEND


set_backend(_backend)
set_operators(explain=explain, autotune=autotune)

__all__ = ["autotune", "explain"]

near_keywords(globals())
