"""`lancehead.experimental.structref` in compiled code."""

from lancehead.lib import prim


def new(struct_type):
    """A struct whose fields are zeros."""
    return prim.new_struct(struct_type)
