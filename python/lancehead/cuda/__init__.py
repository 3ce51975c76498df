"""CUDA kernels in Python. Without a GPU they run on the CPU, compiled, with the semantics of CUDA.

>>> import numpy as np
>>> from lancehead import cuda
>>> @cuda.jit
... def add(x, y, out):
...     i = cuda.grid(1)
...     if i < out.size:
...         out[i] = x[i] + y[i]
>>> out = np.zeros(4)
>>> add[1, 32](np.arange(4.0), np.ones(4), out)
>>> out
array([1., 2., 3., 4.])
"""

from lancehead import config, types
from lancehead.cuda import bf16, cudadrv, errors, fp16, libdevice, np, random, typing, vector_types
from lancehead.cuda.args import In, InOut, Out
from lancehead.cuda.compiling import (
    compile,
    compile_all,
    compile_for_current_device,
    compile_ptx,
    compile_ptx_for_current_device,
)
from lancehead.cuda.devicearray import (
    DeviceNDArray, DeviceRecord, as_cuda_array, device_array, device_array_like, from_cuda_array_interface, from_dlpack,
    is_cuda_array,
    managed_array, mapped, mapped_array, mapped_array_like, open_ipc_array, pinned_array, pinned_array_like, to_device,
)  # fmt: skip
from lancehead.cuda.derivatives import KernelDerivative, vjp
from lancehead.cuda.devices import (
    close, cuda_error, current_context, defer_cleanup, detect, get_current_device, gpus, is_available,
    is_bfloat16_supported, is_float16_supported, is_supported_version, list_devices, pinned, profile_start,
    profile_stop, profiling, require_context, select_device, synchronize,
)  # fmt: skip
from lancehead.cuda.cudadrv.runtime import runtime
from lancehead.cuda.dispatcher import CUDADispatcher, jit
from lancehead.cuda.linking import (
    LTOIR,
    Archive,
    Cubin,
    CUSource,
    Fatbin,
    LinkableCode,
    Object,
    PTXSource,
    declare_device,
)
from lancehead.cuda.names import (
    activemask, all_sync, any_sync, atomic, ballot_sync, block, blockDim, blockIdx, brev, cbrt, cg, clz, const, eq_sync,
    ffs, fma, grid, gridDim, gridsize, laneid, lanemask_lt, ldca, ldcg, ldcs, ldcv, ldlu, local, match_all_sync,
    match_any_sync, nanosleep, popc, selp, shared, shfl_down_sync, shfl_sync, shfl_up_sync, shfl_xor_sync, stcg, stcs,
    stwb, stwt, syncthreads, syncthreads_and, syncthreads_count, syncthreads_or, syncwarp, threadfence,
    threadfence_block, threadfence_system, threadIdx, warp, warpsize,
)  # fmt: skip
from lancehead.cuda.reduction import Reduce, reduce
from lancehead.cuda.streams import (
    Event, Stream, default_stream, event, event_elapsed_time, external_stream, legacy_default_stream,
    per_thread_default_stream, stream,
)  # fmt: skip
from lancehead.cuda.ufuncs import guvectorize, vectorize
from lancehead.cuda.vector_types import *  # noqa: F403
from lancehead.decorators import literal_unroll
from lancehead.options import public
from lancehead.types import (
    b1, bfloat16, bool_, boolean, byte, c8, c16, char, complex64, complex128, double, f2, f4, f8, float16, float32,
    float64, i1, i2, i4, i8, int8, int16, int32, int64, int_, intc, intp, long_, longlong, short, size_t, ssize_t, u1,
    u2, u4, u8, uchar, uint, uint8, uint16, uint32, uint64, uintc, uintp, ulong, ulonglong, ushort, void,
)  # fmt: skip

__all__ = [
    "LTOIR", "Archive", "CUDADispatcher", "CUSource", "Cubin", "DeviceNDArray", "DeviceRecord", "Event", "Fatbin", "In",
    "InOut", "LinkableCode", "Object", "Out", "PTXSource", "Reduce", "Stream", "activemask", "all_sync", "any_sync",
    "as_cuda_array", "b1", "bool_", "boolean", "byte", "c16", "c8", "char", "complex128", "complex64", "double", "f2",
    "f4", "f8", "float16", "float32", "float64", "i1", "i2", "i4", "i8", "int16", "int32", "int64", "int8", "int_",
    "intc", "intp", "long_", "longlong", "runtime", "short", "size_t", "ssize_t", "types", "u1", "u2", "u4", "u8",
    "uchar", "uint", "uint16", "uint32", "uint64", "uint8", "uintc", "uintp", "ulong", "ulonglong", "ushort", "void",
    "atomic", "ballot_sync", "bf16", "bfloat16", "blockDim", "blockIdx", "brev", "cbrt", "cg", "close", "clz",
    "compile", "compile_all", "compile_for_current_device", "compile_ptx", "compile_ptx_for_current_device", "config",
    "const", "cuda_error", "cudadrv", "current_context", "declare_device", "default_stream", "defer_cleanup", "detect",
    "device_array", "device_array_like", "eq_sync", "errors", "event", "event_elapsed_time", "external_stream", "ffs",
    "fma", "fp16", "from_cuda_array_interface", "from_dlpack", "get_current_device", "gpus", "grid", "gridDim",
    "gridsize", "guvectorize", "is_available", "is_bfloat16_supported", "is_cuda_array", "is_float16_supported",
    "is_supported_version", "jit", "laneid", "lanemask_lt", "ldca", "ldcg", "ldcs", "ldcv", "ldlu",
    "legacy_default_stream", "libdevice", "list_devices", "literal_unroll", "local", "managed_array", "mapped",
    "mapped_array", "mapped_array_like", "match_all_sync", "match_any_sync", "nanosleep", "open_ipc_array",
    "per_thread_default_stream", "pinned", "pinned_array", "pinned_array_like", "popc", "profile_start", "profile_stop",
    "profiling", "random", "reduce", "require_context", "select_device", "selp", "shared", "shfl_down_sync",
    "shfl_sync", "shfl_up_sync", "shfl_xor_sync", "stcg", "stcs", "stream", "stwb", "stwt", "synchronize",
    "syncthreads", "syncthreads_and", "syncthreads_count", "syncthreads_or", "syncwarp", "threadIdx", "threadfence",
    "threadfence_block", "threadfence_system", "to_device", "vectorize", "warp", "warpsize",
]  # fmt: skip
__all__ += ["KernelDerivative", "block", "vjp", *vector_types.__all__]  # noqa: PLE0604
public(globals())
