"""`numpy.lib.stride_tricks`."""

from lancehead.lib.numpy.editing import as_strided, sliding_window_view

__all__ = ["as_strided", "sliding_window_view"]
