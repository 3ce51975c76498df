"""`sum` of arrays of rows."""

from __future__ import annotations

import numpy as np
import pytest

from lancehead import njit
from lancehead.errors import TypingError


@pytest.mark.parametrize("rows", [np.ones((2, 3)), [np.ones(3), np.ones(3)], (np.ones(3), np.ones(3))], ids=type)
def test_rows_are_added_to_an_array(rows):
    np.testing.assert_array_equal(njit(lambda x: sum(x, np.zeros(3)))(rows), sum(rows, np.zeros(3)))
    with pytest.raises(TypingError, match="`sum` adds arrays to a number") as caught:
        njit(lambda x: sum(x))(rows)
    assert "`a.sum(axis=0)`" in str(caught.value) and "sum(x)" in str(caught.value)
