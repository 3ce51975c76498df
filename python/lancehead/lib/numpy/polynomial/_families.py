"""The functions of all families of polynomials but powers. `series` stands for what names in a family begin with.

A family's module has its rules and what only it has; `copy_functions` gives it these functions with its rules.
"""

import lancehead.lib.numpy.polynomial._series as kernels
from lancehead.lib.copying import copied
from lancehead.lib.numpy.polynomial._fitting import companion, fit, zeros_of
from lancehead.lib.numpy.polynomial._series import minus, plus

_rule = _slopes = _areas = None

seriesadd = plus
seriessub = minus


def seriesmulx(c):
    """The series times `x`."""
    return kernels.times_x(_rule, c)


def seriesmul(c1, c2):
    """The product of two series."""
    return kernels.multiply(_rule, c1, c2)


def seriesdiv(c1, c2):
    """Quotient and remainder of two series."""
    return kernels.divide(_rule, c1, c2)


def seriespow(c, pow, maxpower=16):
    """A series to a power."""
    return kernels.power(_rule, c, pow, maxpower)


def seriesval(x, c, tensor=True):
    """The value of a series at points, or of each of several."""
    return kernels.value(_rule, x, c, tensor)


def seriesval2d(x, y, c):
    """The value of a series in two coordinates at points."""
    return kernels.value_2d(_rule, x, y, c)


def seriesval3d(x, y, z, c):
    """The value of a series in three coordinates at points."""
    return kernels.value_3d(_rule, x, y, z, c)


def seriesgrid2d(x, y, c):
    """The value of a series in two coordinates at all pairs of points."""
    return kernels.value(_rule, y, kernels.value(_rule, x, c, True), True)


def seriesgrid3d(x, y, z, c):
    """The value of a series in three coordinates at all triples of points."""
    return kernels.value(_rule, z, kernels.value(_rule, y, kernels.value(_rule, x, c, True), True), True)


def seriesder(c, m=1, scl=1, axis=0):
    """The derivative of a series, m times."""
    return kernels.derive(_slopes, c, m, scl, axis)


def seriesint(c, m=1, k=(), lbnd=0, scl=1, axis=0):
    """The integral of a series from a bound, m times."""
    return kernels.integrate(_rule, _areas, c, m, k, lbnd, scl, axis)


def seriesfromroots(roots):
    """The series with these zeros."""
    return kernels.from_roots(_rule, roots)


def seriesvander(x, deg):
    """The values of the first polynomials at points, along a last axis."""
    return kernels.powers(_rule, x, deg)


def seriesvander2d(x, y, deg):
    """The products of the first polynomials of two coordinates, along a last axis."""
    return kernels.powers_2d(_rule, x, y, deg)


def seriesvander3d(x, y, z, deg):
    """The products of the first polynomials of three coordinates, along a last axis."""
    return kernels.powers_3d(_rule, x, y, z, deg)


def seriesfit(x, y, deg, rcond=None, full=False, w=None):
    """The series that comes nearest to values at points, by least squares."""
    return fit(_rule, x, y, deg, rcond, full, w)


def seriescompanion(c):
    """The companion matrix of a series, whose eigenvalues are its zeros."""
    return companion(_rule, c)


def seriesroots(c):
    """The zeros of a series, sorted."""
    return zeros_of(_rule, c)


def series2poly(c):
    """The series in powers."""
    return kernels.to_powers(_rule, c)


def poly2series(pol):
    """A series in powers in these polynomials."""
    return kernels.from_powers(_rule, pol)


_FUNCTIONS = {name: f for name, f in globals().items() if name.startswith("series") or name.endswith("2series")}


def copy_functions(home, prefix):
    """Adds the functions to a family's module, by names that begin with a prefix and with its rules."""
    own = dict(home)
    for name, f in _FUNCTIONS.items():
        name = name.replace("series", prefix)
        home[name] = copied(f, name, own) if f.__module__ == __name__ else f
