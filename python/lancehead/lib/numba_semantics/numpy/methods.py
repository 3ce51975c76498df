"""Methods of arrays as Numba has them: those whose functions differ."""

from lancehead.lib.numba_semantics.numpy.elements import clip
from lancehead.lib.numba_semantics.numpy.shapes import repeat


class ndarray:
    """An array."""

    def repeat(self, repeats, axis=None):
        """Elements, each several times."""
        return repeat(self, repeats, axis)

    def clip(self, min=None, max=None, out=None):
        """Elements limited to an interval."""
        return clip(self, min, max, out)
