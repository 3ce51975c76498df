"""Keywords of NumPy's ufuncs in compiled code: `where`, `dtype`, `signature`, `casting`, `order` beside `out`."""

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
np.add(A, L, signature="dd->d")
np.add(A, F, signature="ll->l")
np.add(A, F, signature="ll->l", casting="unsafe")
np.add(A, A, signature=(None, None, np.float32))
np.add(A, 2, signature=("f", "f", np.float32), out=F)
np.equal(A, 1, signature="dd->?", where=B, out=B)
np.equal(A, 1, dtype=np.bool_)
np.sqrt(A, signature="f->f")
np.sqrt(A, signature=("e", None))
np.modf(A, signature="f->ff")
np.add(A, A, signature="dd->f")
np.add(A, A, signature="d->d")
np.add(A, A, signature="dd->d", dtype=np.float64)
np.modf(F, dtype=np.float32)
np.frexp(F, dtype=np.float32)
np.divmod(A, 2, dtype=np.float64)
np.divmod(F, 2, out=(F, np.ones((3, 4))), where=B)
np.divmod(A, 2, A, None, where=True)
np.divmod(A, 5, out=(None, A), where=True, casting="unsafe")
np.divmod(F, 2, out=(A, A), where=B)
np.divmod(F, 2, out=(F,), where=B)
np.modf(F, where=True)
np.frexp(2.5, where=True)
np.modf(F, np.zeros((3, 4), np.float32), dtype=np.float64)
np.divmod(A, 0, where=A < 0, out=(A, A))
np.add(A, 1, order="X")
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


def in_orders(a, b):
    by_columns = np.add(a, 1, order="F"), np.sqrt(a, order="F"), np.modf(a, order="F")[1], np.add(a, b, order="f")
    by_rows = np.add(a, b, order="C"), np.less(a, b, order="C"), np.add(a, 1, order="F", where=a > -1)
    return by_columns, by_rows, np.add(a, b, order="A"), np.add(a, 1, order="A"), np.multiply(2, a, order="K")


def test_results_lie_in_memory_as_the_order_says() -> None:
    compiled, table = njit(in_orders), np.arange(24.0).reshape(4, 6)
    arrays = table, table.T, table.copy("F"), table[::2, ::3], table[:, :1], table[:1].T, table[1], np.zeros((3, 0))
    for a in arrays:
        for b in (a, a.copy("F"), a.copy("C"), a[..., ::-1]):
            for got, wanted in zip(flat(compiled(a, b)), flat(in_orders(a, b)), strict=True):
                assert got.dtype == wanted.dtype and steps(got) == steps(wanted)
                np.testing.assert_array_equal(got, wanted)


def steps(a):
    return [step for n, step in zip(a.shape, a.strides, strict=True) if n > 1 and a.size > 0]


def flat(x):
    return [item for part in x for item in flat(part)] if isinstance(x, tuple) else [x]


def test_what_is_refused() -> None:
    a = np.arange(4.0)
    for f in (
        lambda a: np.add(a, 1, order=1),
        lambda a: np.add(a, 1, nothing=3),
        lambda a: np.divide(a, 2, dtype=np.int64, casting="unsafe"),
    ):
        with pytest.raises(errors.TypingError):
            njit(f)(a)
