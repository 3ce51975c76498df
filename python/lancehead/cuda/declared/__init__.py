"""What kernels may use, declared: parameters, types, a sentence and an example for each name, for `help`, editors and type checkers.

No function here is called, and the package is loaded when somebody asks for the help of a name: `lancehead.cuda.names` has what the compiler
knows. Of functions with an implementation in `lib/cuda` the parameters are the same, which a test holds. Examples have `np`, `cuda` and
`types` (NumPy, `lancehead.cuda`, `lancehead.types`).
"""

from lancehead.cuda.declared import random as random
from lancehead.cuda.declared.atomics import atomic
from lancehead.cuda.declared.memory import (
    const, ldca, ldcg, ldcs, ldcv, ldlu, local, shared, stcg, stcs, stwb, stwt, threadfence, threadfence_block, threadfence_system,
)  # fmt: skip
from lancehead.cuda.declared.numbers import brev, cbrt, clz, ffs, fma, popc, selp
from lancehead.cuda.declared.threads import (
    blockDim, blockIdx, cg, grid, grid_group, gridDim, gridsize, laneid, nanosleep, syncthreads, syncthreads_and, syncthreads_count,
    syncthreads_or, threadIdx, warpsize,
)  # fmt: skip
from lancehead.cuda.declared.warps import (
    activemask, all_sync, any_sync, ballot_sync, eq_sync, lanemask_lt, match_all_sync, match_any_sync, shfl_down_sync, shfl_sync,
    shfl_up_sync, shfl_xor_sync, syncwarp,
)  # fmt: skip

__all__ = [
    "activemask", "all_sync", "any_sync", "atomic", "ballot_sync", "blockDim", "blockIdx", "brev", "cbrt", "cg", "clz", "const", "eq_sync",
    "ffs", "fma", "grid", "gridDim", "grid_group", "gridsize", "laneid", "lanemask_lt", "ldca", "ldcg", "ldcs", "ldcv", "ldlu", "local",
    "match_all_sync", "match_any_sync", "nanosleep", "popc", "selp", "shared", "shfl_down_sync", "shfl_sync", "shfl_up_sync",
    "shfl_xor_sync", "stcg", "stcs", "stwb", "stwt", "syncthreads", "syncthreads_and", "syncthreads_count", "syncthreads_or", "syncwarp",
    "threadIdx", "threadfence", "threadfence_block", "threadfence_system", "warpsize",
]  # fmt: skip
