"""The library: builtins, operators, math and NumPy as functions which lancehead compiles like the user's own.

The path is the name: `numpy.linalg.norm` is `lib/numpy/linalg.py::norm`, methods are in classes named as their types.
The modules are read by the compiler and never called by the interpreter.
"""
