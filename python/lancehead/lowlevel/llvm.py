"""The names of `llvmlite` itself."""

from lancehead.lowlevel import binding as binding
from lancehead.lowlevel import irtypes as ir

__version__ = "0.48.0"
__all__ = ["binding", "ir"]
