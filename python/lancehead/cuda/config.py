"""Settings of numba-cuda that programs set. Most mean nothing here: what they turn on is always there, or never."""

from __future__ import annotations

ENABLE_CUDASIM: int = 0
CUDA_ENABLE_NRT: int = 1
CUDA_DEBUGINFO_DEFAULT: int = 0
CUDA_LOW_OCCUPANCY_WARNINGS: int = 1
CUDA_WARN_ON_IMPLICIT_COPY: int = 1
CUDA_LOG_LEVEL: str = ""
CUDA_LOG_API_ARGS: int = 0
CUDA_ENABLE_PYNVJITLINK: int = 0
CUDA_ARRAY_INTERFACE_SYNC: int = 1
CUDA_PER_THREAD_DEFAULT_STREAM: int = 0
ALWAYS_WARN_UNINIT_VAR: int = 0
DEBUG: int = 0
DISABLE_JIT: int = 0
DUMP_BYTECODE: int = 0
DUMP_CFG: int = 0
DUMP_IR: int = 0
DUMP_LLVM: int = 0
DUMP_ASSEMBLY: int = 0
