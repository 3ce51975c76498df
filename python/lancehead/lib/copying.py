"""Functions that several modules have, with rules of their own."""

import types


def copied(f, name, own):
    """A function under another name, with other values for some of its global names; among these is its module's."""
    made = types.FunctionType(f.__code__, {**f.__globals__, **own}, name, f.__defaults__)
    made.__qualname__ = name
    return made
