"""The exception of texts that do not compile, and what names of kernels are."""

from __future__ import annotations

import re

from lancehead.cupy.c.tokens import CompileException
from lancehead.options import public


def is_valid_kernel_name(name: str) -> bool:
    """Whether a kernel can have a name."""
    return re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) is not None


__all__ = ["CompileException", "is_valid_kernel_name"]
public(globals())
