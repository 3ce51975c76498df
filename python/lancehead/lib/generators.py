"""The state of generators, which `yield` leaves and `next` continues."""


class generator:
    """A suspended function: its only item is the frame with the values that live across a `yield`."""

    __parameters__ = ("T",)
    __items__ = "T"
