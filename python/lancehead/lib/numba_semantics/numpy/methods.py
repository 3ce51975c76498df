"""Methods of arrays as Numba has them: those whose functions differ."""

from lancehead.lib import prim
from lancehead.lib.numba_semantics.numpy.construction import transpose
from lancehead.lib.numba_semantics.numpy.elements import clip
from lancehead.lib.numba_semantics.numpy.shapes import repeat, reshape, swapaxes, take


class ndarray:
    """An array."""

    def reshape(self, *shape, order="C", copy=None):
        """The elements in another shape."""
        if len(shape) == 0:
            prim.error("`reshape` takes a shape")
        return reshape(self, shape[0] if len(shape) == 1 else shape, order, copy=copy)

    def transpose(self, *axes):
        """A view with the axes in another order."""
        if len(axes) == 0:
            return transpose(self)
        return transpose(self, axes[0] if len(axes) == 1 else axes)

    def swapaxes(self, axis1, axis2, /):
        """A view with two axes exchanged."""
        return swapaxes(self, axis1, axis2)

    def repeat(self, repeats, axis=None):
        """Elements, each several times."""
        return repeat(self, repeats, axis)

    def take(self, indices, axis=None, out=None, mode="raise"):
        """Elements at indices."""
        return take(self, indices, axis, out, mode)

    def clip(self, min=None, max=None, out=None):
        """Elements limited to an interval."""
        return clip(self, min, max, out)
