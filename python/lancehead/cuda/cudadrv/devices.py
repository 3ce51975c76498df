"""Devices and contexts."""

from lancehead.cuda.devices import current_context as get_context
from lancehead.cuda.devices import gpus, require_context
from lancehead.options import public

__all__ = ["get_context", "gpus", "require_context"]
public(globals())
