"""Whether arrays are a sparse matrix, and in what order its entries are."""

from lancehead import prange
from lancehead.lib.sparse.places import at, is_outside

#: Answers of `fault`, beside 0: numbers of rows that go back, indices below 0 and above the last.
BACKWARD, NEGATIVE, LARGE = 1, 2, 3


def fault(indptr, indices, rows, columns):
    """Why arrays are no matrix of so many rows and columns; 0 if they are one."""
    found = pointer_fault(indptr, indices.shape[0], rows)
    return found if found != 0 else index_fault(indices, at(indptr, rows), columns)


def pointer_fault(indptr, size, rows):
    """Whether the places where rows begin go back or beyond the entries."""
    if indptr.shape[0] != rows + 1 or at(indptr, 0) != 0 or at(indptr, rows) > size:
        return BACKWARD
    bad = 0
    for i in range(rows):
        bad += at(indptr, i) > at(indptr, i + 1)
    return BACKWARD if bad > 0 else 0


def index_fault(indices, size, n):
    """Whether some of the first indices are below 0 or above the last of so many."""
    bad = 0
    for k in prange(size):
        bad += is_outside(at(indices, k), n)
    if bad == 0:
        return 0
    for k in range(size):
        if at(indices, k) < 0:
            return NEGATIVE
    return LARGE


def falls(indptr, indices, i, least):
    """How many indices of a row are not greater than the one before by so much."""
    found = 0
    for k in range(at(indptr, i) + 1, at(indptr, i + 1)):
        found += at(indices, k) - at(indices, k - 1) < least
    return found


def is_sorted(indptr, indices, rows):
    """Whether the indices of each row ascend, equal ones included."""
    found = 0
    for i in prange(rows):
        found += falls(indptr, indices, i, 0)
    return found == 0


def is_canonical(indptr, indices, rows):
    """Whether the indices of each row ascend, and no two are equal."""
    found = 0
    for i in prange(rows):
        found += falls(indptr, indices, i, 1)
    return found == 0
