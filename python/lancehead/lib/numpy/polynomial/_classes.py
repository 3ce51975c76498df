"""The base of the classes of polynomials: instances are values, of coefficients, domain, window and symbol.

A class has two functions: `_kind`, the class itself, and `_family`, six parts of its family: the rule (`None` for
powers, which have their own algorithms), its derivatives and integrals, the rule of its first polynomials, the series
of a line, and the lower end of its domain and window, whose upper end is one.
"""

import numpy as np

import lancehead.lib.numpy.polynomial._series as kernels
from lancehead.lib import prim
from lancehead.lib.conversions import check_flag, index_of, text_of_argument
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.polynomial._fitting import fit, zeros_of
from lancehead.lib.numpy.polynomial.polyutils import coefficients, float_of, getdomain, mapdomain, mapparms, trimcoef

#: In copies of the static methods that of a class.
_kind = None


class Series:
    """A series of polynomials of a family, in a variable that is mapped from a domain to a window."""

    @staticmethod
    def fit(x, y, deg, domain=None, rcond=None, full=False, w=None, window=None, symbol="x"):
        """The series that comes nearest to values at points."""
        return fit_of(_kind(), x, y, deg, domain, rcond, full, w, window, symbol)

    @staticmethod
    def fromroots(roots, domain=(), window=None, symbol="x"):
        """The series with these zeros."""
        return from_roots_of(_kind(), roots, domain, window, symbol)

    @staticmethod
    def identity(domain=None, window=None, symbol="x"):
        """The series whose value is where it is asked."""
        return identity_of(_kind(), domain, window, symbol)

    @staticmethod
    def basis(deg, domain=None, window=None, symbol="x"):
        """A single polynomial of the family."""
        return basis_of(_kind(), deg, domain, window, symbol)

    @staticmethod
    def cast(series, domain=None, window=None):
        """A series of any kind as one of this."""
        return series.convert(domain, _kind(), window)

    def _with(self, coef):
        return self._kind()(coef, self.domain, self.window, self.symbol)

    def _operand(self, other):
        # The coefficients of another series of this kind, or of what stands for them.
        if prim.is_scalar(other) or prim.is_array(other) or prim.is_tuple(other) or prim.is_a(other, "builtins.list"):
            return asarray(other)
        if prim.class_name(other) != prim.class_name(self):
            prim.error("Polynomial types differ: `convert` makes one of another")
        if not self.has_samedomain(other):
            raise TypeError("Domains differ")
        if not self.has_samewindow(other):
            raise TypeError("Windows differ")
        if self.symbol != other.symbol:
            raise ValueError("Polynomial symbols differ")
        return other.coef

    def __call__(self, arg):
        rule = self._kind()._family()[0]
        if prim.is_scalar(arg) or prim.is_array(arg) or prim.is_tuple(arg) or prim.is_a(arg, "builtins.list"):
            return kernels.value(rule, mapdomain(arg, self.domain, self.window), self.coef, True)
        off, scl = self.mapparms()
        return composed(rule, self.coef, arg * scl + off)

    def __len__(self):
        return self.coef.size

    def __iter__(self):
        for x in self.coef:
            yield x

    def __neg__(self):
        return self._with(-self.coef)

    def __pos__(self):
        return self

    def __add__(self, other):
        return self._with(kernels.add(self.coef, self._operand(other), 1))

    def __radd__(self, other):
        return self._with(kernels.add(self._operand(other), self.coef, 1))

    def __sub__(self, other):
        return self._with(kernels.add(self.coef, self._operand(other), -1))

    def __rsub__(self, other):
        return self._with(kernels.add(self._operand(other), self.coef, -1))

    def __mul__(self, other):
        return self._with(kernels.multiply(self._kind()._family()[0], self.coef, self._operand(other)))

    def __rmul__(self, other):
        return self._with(kernels.multiply(self._kind()._family()[0], self._operand(other), self.coef))

    def __truediv__(self, other):
        if not prim.is_number(other) or prim.is_bool(other):
            prim.error("a polynomial is divided by a number, or with `//`")
        return self // other

    def __floordiv__(self, other):
        return self.__divmod__(other)[0]

    def __mod__(self, other):
        return self.__divmod__(other)[1]

    def __divmod__(self, other):
        quotient, rest = kernels.divide(self._kind()._family()[0], self.coef, self._operand(other))
        return self._with(quotient), self._with(rest)

    def __rfloordiv__(self, other):
        return self.__rdivmod__(other)[0]

    def __rmod__(self, other):
        return self.__rdivmod__(other)[1]

    def __rdivmod__(self, other):
        quotient, rest = kernels.divide(self._kind()._family()[0], self._operand(other), self.coef)
        return self._with(quotient), self._with(rest)

    def __pow__(self, other):
        return self._with(kernels.power(self._kind()._family()[0], self.coef, other, 100))

    def __eq__(self, other):
        if prim.class_name(other) != prim.class_name(self):
            return False
        is_there = self.has_samedomain(other) and self.has_samewindow(other)
        return is_there and self.has_samecoef(other) and self.symbol == other.symbol

    def __ne__(self, other):
        return not self == other

    @property
    def maxpower(self):
        """The highest power to which a series is raised."""
        return 100

    def has_samecoef(self, other):
        """Whether the coefficients are equal."""
        return np.array_equal(self.coef, other.coef)

    def has_samedomain(self, other):
        """Whether the domains are equal."""
        return np.array_equal(self.domain, other.domain)

    def has_samewindow(self, other):
        """Whether the windows are equal."""
        return np.array_equal(self.window, other.window)

    def has_sametype(self, other):
        """Whether another value is a series of this kind."""
        return prim.class_name(other) == prim.class_name(self)

    def copy(self):
        """A copy."""
        return self._with(self.coef)

    def degree(self):
        """The degree: one less than there are coefficients."""
        return self.coef.size - 1

    def cutdeg(self, deg):
        """The series up to a degree."""
        return self.truncate(index_of(deg) + 1)

    def truncate(self, size):
        """The first coefficients."""
        n = index_of(size)
        if n < 1:
            raise ValueError("size must be a positive integer")
        return self._with(self.coef[:n])

    def trim(self, tol=0):
        """The series without its highest coefficients up to a tolerance."""
        return self._with(trimcoef(self.coef, tol))

    def mapparms(self):
        """Offset and scale of the map from the domain to the window."""
        return mapparms(self.domain, self.window)

    def convert(self, domain=None, kind=None, window=None):
        """The series as one of another kind, domain or window."""
        return self(identity_of(self._kind() if kind is None else kind, domain, window, self.symbol))

    def integ(self, m=1, k=(), lbnd=None):
        """The integral, several times."""
        rule, _, areas, _, _, _ = self._kind()._family()
        off, scl = self.mapparms()
        bound = 0 if lbnd is None else off + scl * lbnd
        return self._with(kernels.integrate(rule, areas, self.coef, m, k, bound, 1.0 / scl, 0))

    def deriv(self, m=1):
        """The derivative, several times."""
        return self._with(kernels.derive(self._kind()._family()[1], self.coef, m, self.mapparms()[1], 0))

    def roots(self):
        """The zeros, in the domain."""
        return mapdomain(zeros_of(self._kind()._family()[0], self.coef), self.window, self.domain)

    def linspace(self, n=100, domain=None):
        """Evenly spaced points of the domain, and the values there."""
        ends = self.domain if domain is None else domain
        x = np.linspace(ends[0], ends[1], n)
        return x, self(x)


def composed(rule, c, x):
    """The value of a series at a series, by Clenshaw's algorithm."""
    n = c.size
    total = x * 0.0 + c[n - 1]
    if rule is None:
        for k in range(n - 2, -1, -1):
            total = total * x + c[k]
        return total
    before = total * 0.0
    for k in range(n - 2, -1, -1):
        a, b, _ = rule(k + 1)
        d = rule(k + 2)[2]
        total, before = (x * a + b) * total - before * d + c[k], total
    return total


def parts(coef, domain, window, low, symbol):
    """Coefficients, domain and window of an instance."""
    if not text_of_argument(symbol).isidentifier():
        raise ValueError("Symbol string must be a valid Python identifier")
    c = coefficients(coef, float_of(prim.dtype_of(asarray(coef))))
    return c, interval(domain, low, "Domain"), interval(window, low, "Window")


def interval(given, low, name):
    """An interval of two numbers, by default one that ends at one."""
    if given is None:
        return np.array([low, 1.0])
    if prim.is_complex(prim.dtype_of(asarray(given))):
        prim.error("domains and windows are of real numbers")
    ends = coefficients(given, np.float64)
    if ends.size != 2:
        raise ValueError(name + " has wrong number of elements.")
    return ends


def identity_of(kind, domain, window, symbol):
    """The series whose value is where it is asked."""
    _, _, _, _, line, low = kind._family()
    d, w = interval(domain, low, "Domain"), interval(window, low, "Window")
    off, scl = mapparms(w, d)
    return kind(line(off, scl), d, w, symbol)


def basis_of(kind, deg, domain, window, symbol):
    """A single polynomial of a family."""
    n = index_of(deg)
    if n < 0:
        raise ValueError("deg must be non-negative integer")
    coef = np.zeros(n + 1)
    coef[n] = 1.0
    return kind(coef, domain, window, symbol)


def fit_of(kind, x, y, deg, domain, rcond, full, w, window, symbol):
    """The series that comes nearest to values at points, whose domain is theirs unless one is given."""
    check_flag(full)
    _, _, _, rule, _, low = kind._family()
    if domain is None:
        of_points = getdomain(x)
        if of_points[0] == of_points[1]:
            of_points[0] -= 1
            of_points[1] += 1
        return fit_of(kind, x, y, deg, of_points, rcond, full, w, window, symbol)
    ends, onto = interval(domain, low, "Domain"), interval(window, low, "Window")
    found = fit(rule, mapdomain(x, ends, onto), y, deg, rcond, full, w)
    if full:
        return kind(found[0], ends, onto, symbol), found[1]
    return kind(found, ends, onto, symbol)


def from_roots_of(kind, roots, domain, window, symbol):
    """The series with these zeros whose highest power has a factor of one."""
    rule, _, _, _, _, low = kind._family()
    if domain is None:
        return from_roots_of(kind, roots, getdomain(roots), window, symbol)
    ends = interval(None if prim.is_tuple(domain) and len(domain) == 0 else domain, low, "Domain")
    onto = interval(window, low, "Window")
    off, scl = mapparms(ends, onto)
    zeros = asarray(roots)
    return kind(kernels.from_roots(rule, zeros * scl + off) / scl**zeros.size, ends, onto, symbol)
