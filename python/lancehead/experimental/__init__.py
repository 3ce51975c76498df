"""Classes in compiled code: `jitclass`."""

from lancehead.experimental.jitclasses import jitclass

__all__ = ["jitclass"]
