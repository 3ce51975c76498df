"""SciPy: what the library has of it."""
