"""Declarations of the names that kernels use, for `help`, editors and type checkers.

Each has its parameters, types, a sentence and an example. No function here is called: the compiler knows the names by
`lancehead.cuda.names`, and this package is loaded when somebody asks for the help of one. Functions with code in
`lib/cuda` have the same parameters there, which a test checks. Examples take `np` and `cuda` for imported.
"""

from lancehead.cuda.declared import random as random
from lancehead.cuda.declared.atomics import atomic
from lancehead.cuda.declared.groups import block, warp
from lancehead.cuda.declared.memory import (
    const, ldca, ldcg, ldcs, ldcv, ldlu, local, shared, stcg, stcs, stwb, stwt, threadfence, threadfence_block,
    threadfence_system,
)  # fmt: skip
from lancehead.cuda.declared.numbers import brev, cbrt, clz, ffs, fma, popc, selp
from lancehead.cuda.declared.threads import (
    blockDim, blockIdx, cg, grid, grid_group, gridDim, gridsize, laneid, nanosleep, syncthreads, syncthreads_and,
    syncthreads_count, syncthreads_or, threadIdx, warpsize,
)  # fmt: skip
from lancehead.cuda.declared.warps import (
    activemask, all_sync, any_sync, ballot_sync, eq_sync, lanemask_lt, match_all_sync, match_any_sync, shfl_down_sync,
    shfl_sync, shfl_up_sync, shfl_xor_sync, syncwarp,
)  # fmt: skip

__all__ = [
    "activemask", "all_sync", "any_sync", "atomic", "ballot_sync", "block", "blockDim", "blockIdx", "brev", "cbrt",
    "cg", "clz", "const", "eq_sync", "ffs", "fma", "grid", "gridDim", "grid_group", "gridsize", "laneid", "lanemask_lt",
    "ldca", "ldcg", "ldcs", "ldcv", "ldlu", "local", "match_all_sync", "match_any_sync", "nanosleep", "popc", "selp",
    "shared", "shfl_down_sync", "shfl_sync", "shfl_up_sync", "shfl_xor_sync", "stcg", "stcs", "stwb", "stwt",
    "syncthreads", "syncthreads_and", "syncthreads_count", "syncthreads_or", "syncwarp", "threadIdx", "threadfence",
    "threadfence_block", "threadfence_system", "warp", "warpsize",
]  # fmt: skip
