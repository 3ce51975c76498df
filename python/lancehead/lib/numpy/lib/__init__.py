"""`numpy.lib`."""
