"""Ufuncs made by users on the arrays of pandas, xarray and Dask, and on any class with `__array_ufunc__`."""

import pickle

import dask.array
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import lancehead as lh


@lh.vectorize(["float64(float64, float64)"], identity=0)
def added(x, y):
    return x + y


@lh.vectorize
def growing(x, y):
    return x + y


@lh.vectorize(["UniTuple(float64, 2)(float64)"])
def both(x):
    return x + 1, x * 2


@lh.guvectorize(["void(float64[:], float64[:])"], "(n)->()")
def total(a, out):
    out[0] = a.sum()


def fresh():
    """A ufunc that has no loop yet."""

    @lh.vectorize
    def doubled(x):
        return x * 2

    return doubled


@pytest.mark.parametrize("u", [added, growing], ids=["eager", "lazy"])
def test_pandas(u):
    s = pd.Series([1.0, 2.0, 3.0], index=list("abc"), name="s")
    t = pd.Series([10.0, 20.0, 30.0], index=list("bca"))
    pd.testing.assert_series_equal(u(s, 1.0), s + 1.0)
    # Labels are aligned.
    assert u(s, t).to_dict() == (s + t).to_dict()
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]})
    pd.testing.assert_frame_equal(u(frame, frame), frame * 2)
    assert isinstance(u(pd.Index([1.0, 2.0]), 1.0), pd.Index)
    assert isinstance(fresh()(s), pd.Series) and fresh()(s).tolist() == [2, 4, 6]


@pytest.mark.parametrize("u", [added, growing], ids=["eager", "lazy"])
def test_xarray(u):
    a = xr.DataArray(np.arange(6.0).reshape(2, 3), dims=("x", "y"), coords={"x": [10, 20]})
    b = xr.DataArray(np.arange(3.0), dims="y")
    xr.testing.assert_equal(u(a, b), a + b)
    xr.testing.assert_equal(u(xr.Dataset({"v": a}), 1.0), xr.Dataset({"v": a + 1}))
    assert isinstance(fresh()(a), xr.DataArray)
    chunked = a.chunk({"x": 1})
    xr.testing.assert_equal(u(chunked, b).compute(), a + b)


@pytest.mark.parametrize("u", [added, growing], ids=["eager", "lazy"])
def test_dask(u):
    a = np.arange(24.0).reshape(4, 6)
    lazy = dask.array.from_array(a, chunks=(2, 3))
    made = u(lazy, lazy[0])
    assert isinstance(made, dask.array.Array)
    np.testing.assert_array_equal(made.compute(scheduler="threads"), a + a[0])
    np.testing.assert_array_equal(fresh()(lazy).compute(scheduler="processes"), a * 2)


def test_dask_generalised():
    a = np.arange(24.0).reshape(4, 6)
    made = total(dask.array.from_array(a, chunks=(2, 6)))
    assert isinstance(made, dask.array.Array)
    np.testing.assert_array_equal(made.compute(), a.sum(axis=1))


class Wrapped:
    """An array of its own kind, which takes ufuncs over."""

    def __init__(self, array):
        self.array = array

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if method != "__call__":
            return NotImplemented
        again = pickle.loads(pickle.dumps(ufunc))
        inputs = [x.array if isinstance(x, Wrapped) else x for x in inputs]
        out = kwargs.pop("out", None)
        if out is not None:
            kwargs["out"] = tuple(x.array if isinstance(x, Wrapped) else x for x in out)
        return type(self)(again(*inputs, **kwargs))

    def __array__(self, *args, **kwargs):
        raise AssertionError("nobody shall look inside")


class Special(Wrapped):
    pass


class Refusing:
    def __array_ufunc__(self, *args, **kwargs):
        return NotImplemented


class Never:
    __array_ufunc__ = None


@pytest.mark.parametrize("u", [added, growing], ids=["eager", "lazy"])
def test_operands_that_take_over(u):
    a = np.arange(3.0)
    made = u(Wrapped(a), 1)
    assert type(made) is Wrapped and made.array.tolist() == [1, 2, 3]
    assert type(u(a, Wrapped(a))) is Wrapped
    # A subclass is asked first.
    assert type(u(Wrapped(a), Special(a))) is Special and type(u(Special(a), Wrapped(a))) is Special
    out = Wrapped(np.zeros(3))
    assert type(u(a, a, out)) is Wrapped and out.array.tolist() == [0, 2, 4]
    assert type(u(a, 1, out=out)) is Wrapped and out.array.tolist() == [1, 2, 3]
    assert type(fresh()(Wrapped(a))) is Wrapped
    with pytest.raises(TypeError, match="NotImplemented"):
        u(Refusing(), a)
    with pytest.raises(TypeError, match="does not support ufuncs|__array_ufunc__"):
        u(Never(), a)


def test_several_outputs_in_pandas():
    one, two = both(pd.Series([1.0, 2.0]))
    assert one.tolist() == [2, 3] and isinstance(two, pd.Series)


def test_methods_of_numpy_ones_on_them():
    s = pd.Series([1.0, 2.0, 3.0])
    assert added.reduce(s.to_numpy()) == 6 and added.outer(s.to_numpy(), [1.0]).shape == (3, 1)
