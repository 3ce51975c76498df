"""Functions of `bfloat16` by NVIDIA's names and by those of NumPy's types, for kernels; operators and `math` work on it
too.

Their code is that of `cuda.fp16`, for another type. Arrays of it have the dtype of the package `ml_dtypes`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lancehead.cuda.fp16 import INTEGERS, MODES, NAMES
from lancehead.cuda.names import Name
from lancehead.options import missing
from lancehead.types import bfloat16

_NAMES = {name.replace("half", "bfloat16"): path for name, path in NAMES.items()} | {
    "int16_as_bfloat16": "short_as_half", "uint16_as_bfloat16": "short_as_half", "bfloat16_as_int16": "half_as_short",
    "bfloat16_as_uint16": "half_as_ushort", "bfloat16_to_int8_rz": "half2char_rz",
    "bfloat16_to_uint8_rz": "half2uchar_rz",
    "bfloat16_to_float32": "half2float", "float32_to_bfloat16": "float2half", "float64_to_bfloat16": "double2half",
    **{f"float32_to_bfloat16_{m}": f"float2half_{m}" for m in MODES},
    **{f"{n}_to_bfloat16_{m}": f"{c}2half_{m}" for n, c in INTEGERS.items() for m in MODES},
    **{f"bfloat16_to_{n}_{m}": f"half2{c}_{m}" for n, c in INTEGERS.items() for m in MODES},
}  # fmt: skip

_KNOWN = {name: Name(f"cuda.bf16.{path}", name=name) for name, path in _NAMES.items()}


def __getattr__(name: str) -> Callable[..., Any]:
    if name not in _KNOWN:
        raise missing(__name__, name)
    return _KNOWN[name]


def __dir__() -> list[str]:
    return sorted([*_NAMES, "bfloat16"])


__all__ = ["bfloat16"]
