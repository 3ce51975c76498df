"""Classes in compiled code: `jitclass`, and mutable structs: `structref`."""

from lancehead.experimental import structref
from lancehead.experimental.jitclasses import jitclass
from lancehead.options import public

__all__ = ["jitclass", "structref"]
public(globals())
