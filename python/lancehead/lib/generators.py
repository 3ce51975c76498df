"""The state of generators, which `yield` leaves and `next` continues."""

from lancehead.lib import prim


class generator:
    """A suspended function: its only item is the frame with the values that live across a `yield`."""

    __parameters__ = ("T",)
    __items__ = "T"

    def close(self):
        """Raises `GeneratorExit` where the generator is, which ends it."""
        if prim.generator_state(self) > 0:
            try:
                self.throw(GeneratorExit())
            except (GeneratorExit, StopIteration):
                return
            raise RuntimeError("generator ignored GeneratorExit")
        prim.generator_end(self)

    def __contains__(self, x):
        for item in self:
            if item == x:
                return True
        return False

    def __iter__(self):
        return self
