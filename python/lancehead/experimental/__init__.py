"""Classes in compiled code: `jitclass`, and mutable structs: `structref`."""

from lancehead.experimental import structref
from lancehead.experimental.jitclasses import jitclass

__all__ = ["jitclass", "structref"]
__dir__ = __all__.copy
