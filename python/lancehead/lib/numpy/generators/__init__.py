"""`numpy.random.Generator`: NumPy's streams, bit for bit, from bit generators of NumPy and of compiled code."""
