"""The exception of texts that do not compile."""

from __future__ import annotations

from lancehead.cupy.c.tokens import CompileException

__all__ = ["CompileException"]
