"""Names that have a meaning in kernels only: geometry, barriers, atomics.

The compiler knows each by its path; the code is in `lancehead/lib/cuda`. Type checkers see the declaration of a name in
`lancehead.cuda.declared`, and `help` reads it there.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from lancehead.options import NoMember


class Name:
    # Something that kernels may use, known by its path. There is no docstring, because instances have their own.
    path: str

    def __init__(self, path: str, parts: tuple[str, ...] = (), name: str | None = None) -> None:
        self.path = path
        self.__name__ = name or path.rsplit(".", 1)[-1]
        self._parts = parts
        for part in parts:
            setattr(self, part, Name(f"{path}.{part}"))

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """A sentence and an example."""
        found: str = importlib.import_module("lancehead.cuda.described").text(self.path, self.__name__)
        return found

    @property
    def __signature__(self) -> inspect.Signature:
        """Parameters of a function."""
        found: inspect.Signature = importlib.import_module("lancehead.cuda.described").signature(self.path)
        return found

    @property
    def __call__(self) -> Callable[..., NoReturn]:
        """Refuses to be called, with the parameters of the name: IPython shows those of `__call__`."""

        def refuse(*args: Any, **kwargs: Any) -> NoReturn:
            raise RuntimeError(f"{self.path} has a meaning in kernels only")

        # Values have no parameters.
        if (signature := getattr(self, "__signature__", None)) is not None:
            refuse.__signature__ = signature  # type: ignore[attr-defined]
        return refuse

    def __getattr__(self, name: str) -> Any:
        # Its own attributes may be asked for before there are any.
        raise NoMember(vars(self).get("path", "a name of kernels"), name, functools.partial(dir, self))

    def __dir__(self) -> tuple[str, ...]:
        return self._parts

    def __repr__(self) -> str:
        return f"<{self.path}>"


_XYZ = ("x", "y", "z")
_ATOMICS = (
    "add", "sub", "max", "min", "nanmax", "nanmin", "and_", "or_", "xor", "exch", "inc", "dec", "cas",
    "compare_and_swap",
)  # fmt: skip

_OF_GROUPS = (
    "exclusive_scan", "exclusive_sum", "inclusive_scan", "inclusive_sum", "reduce", "scan", "sort", "sum", "top_k",
)  # fmt: skip

if TYPE_CHECKING:
    from lancehead.cuda.declared import *  # noqa: F403
else:
    threadIdx, blockIdx, blockDim, gridDim = (
        Name(f"cuda.{n}", _XYZ) for n in ("threadIdx", "blockIdx", "blockDim", "gridDim")
    )
    grid, gridsize = Name("cuda.grid"), Name("cuda.gridsize")
    laneid, warpsize = Name("cuda.laneid"), Name("cuda.warpsize")
    shared, local, const = (
        Name("cuda.shared", ("array",)),
        Name("cuda.local", ("array",)),
        Name("cuda.const", ("array_like",)),
    )
    atomic = Name("cuda.atomic", _ATOMICS)
    block, warp = Name("cuda.block", _OF_GROUPS), Name("cuda.warp", _OF_GROUPS)
    syncthreads, syncthreads_count = Name("cuda.syncthreads"), Name("cuda.syncthreads_count")
    syncthreads_and, syncthreads_or = Name("cuda.syncthreads_and"), Name("cuda.syncthreads_or")
    syncwarp, activemask, lanemask_lt = Name("cuda.syncwarp"), Name("cuda.activemask"), Name("cuda.lanemask_lt")
    threadfence, threadfence_block, threadfence_system = (
        Name("cuda.threadfence"), Name("cuda.threadfence_block"), Name("cuda.threadfence_system"),
    )  # fmt: skip
    shfl_sync, shfl_up_sync = Name("cuda.shfl_sync"), Name("cuda.shfl_up_sync")
    shfl_down_sync, shfl_xor_sync = Name("cuda.shfl_down_sync"), Name("cuda.shfl_xor_sync")
    all_sync, any_sync, eq_sync = Name("cuda.all_sync"), Name("cuda.any_sync"), Name("cuda.eq_sync")
    ballot_sync, match_any_sync, match_all_sync = (
        Name("cuda.ballot_sync"),
        Name("cuda.match_any_sync"),
        Name("cuda.match_all_sync"),
    )
    popc, brev, clz, ffs = Name("cuda.popc"), Name("cuda.brev"), Name("cuda.clz"), Name("cuda.ffs")
    fma, cbrt, selp, nanosleep = Name("cuda.fma"), Name("cuda.cbrt"), Name("cuda.selp"), Name("cuda.nanosleep")
    ldca, ldcg, ldcs, ldlu, ldcv = (Name(f"cuda.{n}") for n in ("ldca", "ldcg", "ldcs", "ldlu", "ldcv"))
    stcg, stcs, stwb, stwt = (Name(f"cuda.{n}") for n in ("stcg", "stcs", "stwb", "stwt"))
    cg = Name("cuda.cg", ("this_grid",))
    grid_group = Name("cuda.grid_group", ("sync",))
