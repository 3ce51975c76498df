"""NumPy. The names are gathered here; `numpy.linalg` and `numpy.random` are modules beside."""

from lancehead.lib.numpy._ufuncs import *  # noqa: F403
from lancehead.lib.numpy.applied import *  # noqa: F403
from lancehead.lib.numpy.busdays import busday_count, busday_offset, is_busday
from lancehead.lib.numpy.choices import *  # noqa: F403
from lancehead.lib.numpy.creation import *  # noqa: F403
from lancehead.lib.numpy.date_functions import datetime_as_string, datetime_data
from lancehead.lib.numpy.datetimes import datetime64, isnat, timedelta64
from lancehead.lib.numpy.editing import *  # noqa: F403
from lancehead.lib.numpy.einsum import einsum, einsum_path, tensordot
from lancehead.lib.numpy.histograms import histogram, histogram2d, histogram_bin_edges, histogramdd
from lancehead.lib.numpy.indexing import *  # noqa: F403
from lancehead.lib.numpy.iteration import broadcast, nditer
from lancehead.lib.numpy.joining import *  # noqa: F403
from lancehead.lib.numpy.manip import *  # noqa: F403
from lancehead.lib.numpy.matrices import *  # noqa: F403
from lancehead.lib.numpy.meshes import *  # noqa: F403
from lancehead.lib.numpy.methods import generic, ndarray
from lancehead.lib.numpy.nans import *  # noqa: F403
from lancehead.lib.numpy.numbering import *  # noqa: F403
from lancehead.lib.numpy.padding import pad
from lancehead.lib.numpy.polynomials import poly, polyadd, polyder, polydiv, polyfit, polyint, polymul, polysub, roots
from lancehead.lib.numpy.products import dot, inner, kron, matmul, vdot
from lancehead.lib.numpy.quantiles import *  # noqa: F403
from lancehead.lib.numpy.questions import *  # noqa: F403
from lancehead.lib.numpy.reductions import *  # noqa: F403
from lancehead.lib.numpy.selection import *  # noqa: F403
from lancehead.lib.numpy.series import *  # noqa: F403
from lancehead.lib.numpy.sets import *  # noqa: F403
from lancehead.lib.numpy.sorting import *  # noqa: F403
from lancehead.lib.numpy.standard import *  # noqa: F403
from lancehead.lib.numpy.texts import array2string, array_repr, array_str, fromstring
from lancehead.lib.numpy.types import *  # noqa: F403
from lancehead.lib.numpy.vectors import cross, trace
from lancehead.lib.numpy.windows import i0, kaiser
