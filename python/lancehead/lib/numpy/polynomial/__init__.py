"""`numpy.polynomial`: six families of polynomials, a module for each."""
