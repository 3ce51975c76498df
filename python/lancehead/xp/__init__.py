"""Lazily fused arrays: the Python array API standard, version 2024.12. Operations are compiled together.

>>> from lancehead import xp
>>> x = xp.asarray([1.0, 2.0, 3.0])
>>> float(xp.sum((x - xp.mean(x)) ** 2))
2.0
"""

from __future__ import annotations

from typing import Any

from lancehead.options import public
from lancehead.xp import (  # noqa: F401
    by_numpy,
    creation,
    dtypes,
    elementwise,
    fft,
    folds,
    indexing,
    linalg,
    manipulation,
    primitives,
    products,
    random,
    reducing,
    selections,
)
from lancehead.xp.arrays import ndarray
from lancehead.xp.creation import *  # noqa: F403
from lancehead.xp.devices import CPU, Device
from lancehead.xp.devices import default_device as _default_device
from lancehead.xp.devices import devices as _devices
from lancehead.xp.dtypes import *  # noqa: F403
from lancehead.xp.elementwise import *  # noqa: F403
from lancehead.xp.folds import *  # noqa: F403
from lancehead.xp.later import autotune, explain
from lancehead.xp.manipulation import *  # noqa: F403
from lancehead.xp.methods import bind
from lancehead.xp.primitives import *  # noqa: F403
from lancehead.xp.products import *  # noqa: F403
from lancehead.xp.reducing import *  # noqa: F403
from lancehead.xp.schedules import Schedule
from lancehead.xp.selections import *  # noqa: F403
from lancehead.xp.tracing import trace

__array_api_version__ = "2024.12"

e, pi, inf, nan, newaxis = 2.718281828459045, 3.141592653589793, float("inf"), float("nan"), None


class _Information:
    """The capabilities of the namespace, as the standard defines them."""

    def capabilities(self) -> dict[str, Any]:
        """Shapes that depend on values, indexing by masks, and the greatest number of axes."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 32}

    def default_device(self) -> Device:
        """Where arrays are that are made without a device."""
        return _default_device()

    def devices(self) -> list[Device]:
        """All devices."""
        return _devices()

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """Types of arrays that are made without one."""
        return {
            "real floating": dtypes.float64, "complex floating": dtypes.complex128, "integral": dtypes.int64,
            "indexing": dtypes.int64,
        }  # fmt: skip

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """Types by their names, all or those of a kind."""
        return {d.name: d for d in dtypes.ALL if kind is None or dtypes.isdtype(d, kind)}


bind(globals())


def __array_namespace_info__() -> _Information:
    """The capabilities of the namespace, as the standard defines them."""
    return _Information()


#: The names of the standard and of the primitives stand in the modules that define them.
__all__ = [
    "CPU", "Device", "Schedule", "autotune", "e", "explain", "fft", "inf", "linalg", "nan", "ndarray", "newaxis", "pi",
    "random", "trace",
]  # fmt: skip
__all__ += creation.__all__ + dtypes.__all__ + elementwise.__all__ + folds.__all__ + manipulation.__all__
__all__ += primitives.__all__ + products.__all__ + reducing.__all__ + selections.__all__
public(globals())
