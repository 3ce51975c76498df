"""Functions whose answers in Numba are others than in Python and NumPy: code under Numba's semantics calls these."""
