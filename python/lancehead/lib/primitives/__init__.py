"""Loops of the primitives of `lancehead.xp`, for lazy arrays and for compiled code."""
