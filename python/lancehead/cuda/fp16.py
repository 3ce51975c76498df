"""Functions of `float16` by NVIDIA's names, for kernels; operators and `math` work on it too. Their code is in `lancehead/lib/cuda/fp16.py`."""

from __future__ import annotations

from lancehead.cuda.names import Name

(
    habs, hadd, hceil, hcos, hdiv, heq, hexp, hexp10, hexp2, hfloor, hfma, hge, hgt, hle, hlog, hlog10, hlog2, hlt, hmax, hmin, hmul,
    hne, hneg, hrcp, hrint, hrsqrt, hsin, hsqrt, hsub, htanh, htanh_approx, htrunc,
) = (
    Name(f"cuda.fp16.{name}") for name in (
        "habs", "hadd", "hceil", "hcos", "hdiv", "heq", "hexp", "hexp10", "hexp2", "hfloor", "hfma", "hge", "hgt", "hle", "hlog",
        "hlog10", "hlog2", "hlt", "hmax", "hmin", "hmul", "hne", "hneg", "hrcp", "hrint", "hrsqrt", "hsin", "hsqrt", "hsub", "htanh",
        "htanh_approx", "htrunc",
    )
)  # fmt: skip
