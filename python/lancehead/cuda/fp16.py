"""Functions of `float16` by NVIDIA's names, for kernels; operators and `math` work on it too.

Their code is in `lancehead/lib/cuda/halves.py` and `rounding.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lancehead.cuda.names import Name
from lancehead.options import missing

INTEGERS = {"int16": "short", "uint16": "ushort", "int32": "int", "uint32": "uint", "int64": "ll", "uint64": "ull"}
MODES = ("rn", "rz", "rd", "ru")

# The functions that the library has for both 16-bit types, under NVIDIA's names for `float16`.
NAMES = {
    name: name for name in (
        "habs", "hadd", "hadd_sat", "hceil", "hcos", "hdiv", "heq", "hequ", "hexp", "hexp10", "hexp2", "hfloor", "hfma",
        "hfma_relu", "hfma_sat", "hge", "hgeu", "hgt", "hgtu", "hisinf", "hisnan", "hle", "hleu", "hlog", "hlog10",
        "hlog2", "hlt", "hltu", "hmax", "hmax_nan", "hmin", "hmin_nan", "hmul", "hmul_sat", "hne", "hneg", "hneu",
        "hrcp", "hrint", "hrsqrt", "hsin", "hsqrt", "hsub", "hsub_sat", "htanh", "htrunc", "half2float", "float2half",
        "double2half", "half_as_short", "half_as_ushort", "short_as_half",
        "half2char_rz", "half2uchar_rz", *(f"float2half_{m}" for m in MODES),
        *(f"{c}2half_{m}" for c in INTEGERS.values() for m in MODES),
        *(f"half2{c}_{m}" for c in INTEGERS.values() for m in MODES),
    )
} | {"hadd_rn": "hadd", "hsub_rn": "hsub", "hmul_rn": "hmul", "htanh_approx": "htanh",
     "ushort_as_half": "short_as_half"}  # fmt: skip

_KNOWN = {name: Name(f"cuda.fp16.{path}", name=name) for name, path in NAMES.items()}


def __getattr__(name: str) -> Callable[..., Any]:
    found = _KNOWN.get(name.removeprefix("__"))
    if found is None:
        raise missing(__name__, name)
    return found


def __dir__() -> list[str]:
    return sorted(NAMES)
