"""`numpy.polynomial`: six families of polynomials, a module for each, and their classes."""

from lancehead.lib.numpy.polynomial.classes import *  # noqa: F403
