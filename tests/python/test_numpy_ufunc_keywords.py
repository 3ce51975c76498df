"""Keywords of NumPy's ufuncs in compiled code: `where`, `dtype`, `casting` beside `out`."""

from __future__ import annotations

import numpy as np
import pytest

from lancehead import errors, njit
from numpy_agreement import agrees

EXPRESSIONS = """
np.add(A, 1, where=B, out=A)
np.add(A, F, F, where=B)
np.divide(F, A, out=np.zeros((3, 4)), where=A != 0)
np.divide(A, L, where=L > 1, out=np.ones((3, 4)))
np.sqrt(F, where=B, out=F)
np.log(F, where=F > 0, out=np.full((3, 4), -1.0))
np.invert(A, where=B, out=A)
np.isnan(F, where=B, out=B)
np.square(A, where=[True, False, True, False], out=A)
np.maximum(A, 5, where=B[0], out=A)
np.multiply(F, 2.0, where=False, out=F)
np.multiply(F, 2.0, where=True)
np.less(A, 5, where=B, out=np.ones((3, 4), np.bool_))
np.bitwise_count(A, where=B, out=np.zeros((3, 4), np.uint8))
np.add(L, 1.0, where=B, out=np.zeros((3, 4)))
np.add(2.0, 1.0, where=B, out=np.zeros((3, 4)))
np.add(A, 1, dtype=np.float32)
np.sqrt(A, dtype=np.float32)
np.add(F, A, dtype=np.int64, casting="unsafe")
np.add(F, 1, dtype=np.complex128, out=Z)
np.multiply(A, A, dtype=np.int32, out=np.zeros((3, 4), np.int32))
np.add(F, A, out=A)
np.add(F, A, dtype=np.int64)
np.add(A, A, out=A, casting="no")
np.add(A, A, order="K", subok=True)
np.negative(A, where=B[:2], out=A)
np.add(A, A, where=B, out=np.zeros((3, 3), np.int64))
"""


@pytest.mark.parametrize("text", EXPRESSIONS.strip().splitlines())
def test_agrees(text: str) -> None:
    agrees(text)


def test_without_output_the_masked_elements_are_numpys() -> None:
    a = np.arange(12).reshape(3, 4)
    mask = a % 3 == 0
    got = njit(lambda a, mask: np.add(a, 1, where=mask))(a, mask)
    assert got.shape == a.shape and got.dtype == a.dtype
    np.testing.assert_array_equal(got[mask], (a + 1)[mask])


def test_what_is_refused() -> None:
    a = np.arange(4.0)
    for f in (
        lambda a: np.add(a, 1, order="F"),
        lambda a: np.modf(a, where=a > 1),
        lambda a: np.add(a, 1, nothing=3),
        lambda a: np.divide(a, 2, dtype=np.int64, casting="unsafe"),
    ):
        with pytest.raises(errors.TypingError):
            njit(f)(a)
