"""NaN in elements that a function leaves out: no mode lets it into derivatives of the others."""

import numpy as np
import pytest

from lancehead import njit
from lancehead.gradients import grad, jacfwd, jacrev

WITH_NAN = np.array([np.nan, 1.0, 2.0, -3.0, np.nan, 0.5])
#: Elements that are NaN after some functions.
NEGATIVE = np.array([-1.0, 1.0, 2.0, 3.0, -0.2, 0.5])
CHOSEN = np.array([False, True, True, True, False, True])

INNER = [
    (lambda x: x, WITH_NAN),
    (lambda x: x * x, WITH_NAN),
    (lambda x: np.exp(x) * x, WITH_NAN),
    (lambda x: np.sqrt(x), NEGATIVE),
    (lambda x: x * np.log(x), NEGATIVE),
]

ALL_OF_THEM = [
    lambda x: np.nansum(x),
    lambda x: np.nansum(x.reshape(2, 3), axis=0),
    lambda x: np.nanmean(x),
    lambda x: np.nanmean(x.reshape(3, 2), axis=0, keepdims=True),
    lambda x: np.nanvar(x),
    lambda x: np.nanvar(x, ddof=1),
    lambda x: np.nanvar(x.reshape(2, 3), axis=1),
    lambda x: np.nanstd(x),
    lambda x: np.nanprod(x),
    lambda x: np.nanprod(x.reshape(2, 3), axis=1),
    lambda x: np.nancumsum(x),
    lambda x: np.nancumsum(x.reshape(2, 3), axis=1),
    lambda x: np.nancumprod(x),
    lambda x: np.nanmax(x),
    lambda x: np.nanmin(x.reshape(2, 3), axis=1),
    lambda x: np.nanmedian(x),
    lambda x: np.nanmedian(x.reshape(2, 3), axis=1),
    lambda x: np.nanquantile(x, 0.3),
    lambda x: np.nanpercentile(x.reshape(2, 3), np.array([20.0, 60.0]), axis=1),
    lambda x: np.sum(np.where(CHOSEN, x, 0.0)),
    lambda x: np.max(x, where=CHOSEN, initial=-10.0),
]


def composed(outer, inner):
    return njit(lambda x: outer(inner(x)))


@pytest.mark.parametrize("outer", ALL_OF_THEM)
def test_both_modes_leave_out_nan(outer):
    for inner, x in INNER:
        f = composed(njit(outer), njit(inner))
        forward, reverse = jacfwd(f)(x.copy()), jacrev(f)(x.copy())
        np.testing.assert_allclose(reverse, forward, rtol=1e-10)
        if x is WITH_NAN:
            assert not forward[..., ~CHOSEN].any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_other_types(dtype):
    x = WITH_NAN.astype(dtype)

    def f(x):
        return np.nansum((x * x).real) + np.nanmean((x * x * x).real) + np.nanvar(x * x)

    found = grad(f)(x)
    assert found.dtype == dtype
    shorter = grad(f)(x[CHOSEN])
    np.testing.assert_allclose(found[CHOSEN], shorter, rtol=1e-5)
    assert not found[~CHOSEN].any()


def test_values_that_are_not_chosen_have_no_slope():
    """Also where the slope there is infinite: neither extremes nor order statistics use all elements."""
    x = np.array([0.0, 4.0, 1.0])
    for f, expected in (
        (lambda x: np.max(np.sqrt(x)), [0, 0.25, 0]),
        (lambda x: np.median(np.sqrt(x)), [0, 0, 0.5]),
        (lambda x: np.partition(np.sqrt(x), 1)[1], [0, 0, 0.5]),
        (lambda x: np.linalg.norm(np.sqrt(x), np.inf), [0, 0.25, 0]),
        (lambda x: np.sum(np.take_along_axis(np.sqrt(x), np.array([1, 2]), 0)), [0, 0.25, 0.5]),
        (lambda x: np.sum(np.maximum(np.sqrt(x), 1.5)), [0, 0.25, 0]),
        (lambda x: np.sum(np.minimum(1.0 / x, 0.5)), [0, -1 / 16, 0]),
    ):
        assert grad(f)(x).tolist() == jacfwd(f)(x).tolist() == expected
