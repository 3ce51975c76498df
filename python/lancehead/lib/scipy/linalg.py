"""`scipy.linalg`. The names are gathered here."""

from lancehead.lib.scipy.triangular import cho_factor as cho_factor
from lancehead.lib.scipy.triangular import cho_solve as cho_solve
from lancehead.lib.scipy.triangular import cholesky as cholesky
from lancehead.lib.scipy.triangular import lu as lu
from lancehead.lib.scipy.triangular import lu_factor as lu_factor
from lancehead.lib.scipy.triangular import lu_solve as lu_solve
from lancehead.lib.scipy.triangular import solve_triangular as solve_triangular
from lancehead.lib.scipy.systems import det as det
from lancehead.lib.scipy.systems import inv as inv
from lancehead.lib.scipy.systems import solve as solve
