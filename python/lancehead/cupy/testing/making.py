"""Arrays, parameters and assertions of tests."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import random
import sys
import unittest
import warnings
from collections.abc import Callable, Iterator
from importlib import metadata
from typing import Any

import numpy as np

from lancehead.cupy import layout
from lancehead.cupy.testing.comparing import as_numpy
from lancehead.xp import arrays as lazy


def _device() -> Any:
    from lancehead import cupy

    return cupy


# --- assertions ------------------------------------------------------------------------------------------------------
def assert_allclose(
    actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 0, err_msg: str = "", verbose: bool = True
) -> None:
    """Arrays of either side agree within tolerances."""
    np.testing.assert_allclose(as_numpy(actual), as_numpy(desired), rtol, atol, err_msg=err_msg, verbose=verbose)


def assert_array_almost_equal(x: Any, y: Any, decimal: int = 6, err_msg: str = "", verbose: bool = True) -> None:
    """Arrays of either side agree in so many decimal places."""
    np.testing.assert_array_almost_equal(as_numpy(x), as_numpy(y), decimal, err_msg, verbose)


def assert_array_almost_equal_nulp(x: Any, y: Any, nulp: int = 1) -> None:
    """Arrays of either side differ by so many units in the last place."""
    np.testing.assert_array_almost_equal_nulp(as_numpy(x), as_numpy(y), nulp)


def assert_array_max_ulp(a: Any, b: Any, maxulp: int = 1, dtype: Any = None) -> None:
    """Arrays of either side differ by at most so many units in the last place."""
    np.testing.assert_array_max_ulp(as_numpy(a), as_numpy(b), maxulp, dtype)


def assert_array_equal(
    x: Any, y: Any, err_msg: str = "", verbose: bool = True, strides_check: bool = False, **options: Any
) -> None:
    """Arrays of either side are equal."""
    np.testing.assert_array_equal(as_numpy(x), as_numpy(y), err_msg, verbose, **options)
    if strides_check and x.strides != y.strides:
        raise AssertionError(f"strides differ: {x.strides} and {y.strides}")


def assert_array_list_equal(xlist: Any, ylist: Any, err_msg: str = "", verbose: bool = True) -> None:
    """Lists of arrays of either side are equal."""
    if not isinstance(xlist, (list, tuple)) or not isinstance(ylist, (list, tuple)) or len(xlist) != len(ylist):
        raise AssertionError("lists of as many arrays are needed")
    for x, y in zip(xlist, ylist, strict=True):
        assert_array_equal(x, y, err_msg, verbose)


def assert_array_less(x: Any, y: Any, err_msg: str = "", verbose: bool = True) -> None:
    """Elements of the first array are less."""
    np.testing.assert_array_less(as_numpy(x), as_numpy(y), err_msg, verbose)


@contextlib.contextmanager
def assert_warns(expected: Any) -> Iterator[None]:
    """A warning of a class is given in the block."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        yield
    if not any(issubclass(w.category, expected) for w in seen):
        raise AssertionError(f"{expected.__name__} was not given")


# --- arrays ----------------------------------------------------------------------------------------------------------
def _placed(values: np.ndarray, xp: Any, dtype: Any, order: Any) -> Any:
    with np.errstate(all="ignore"):
        made = np.array(values.astype(dtype), order=order or "C")
    return made if xp is np else (_device() if xp is None else xp).array(made)


def shaped_arange(shape: Any, xp: Any = None, dtype: Any = np.float32, order: Any = "C") -> Any:
    """The numbers from 1 on; alternating truth values."""
    return _counted(np.arange(1, int(np.prod(shape)) + 1), shape, xp, dtype, order)


def shaped_reverse_arange(shape: Any, xp: Any = None, dtype: Any = np.float32) -> Any:
    """The numbers down to 1."""
    return _counted(np.arange(int(np.prod(shape)), 0, -1), shape, xp, dtype, "C")


def _counted(values: np.ndarray, shape: Any, xp: Any, dtype: Any, order: Any) -> Any:
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return _placed((values % 2 == 0).reshape(shape), xp, dtype, order)
    if dtype.kind == "c":
        values = values + values * 1j
    return _placed(values.reshape(shape), xp, dtype, order)


def shaped_linspace(
    start: Any, stop: Any, shape: Any, xp: Any = None, dtype: Any = np.float32, order: Any = "C"
) -> Any:
    """Numbers at equal distances; unsigned ones and truth values only those within the type."""
    kind = np.dtype(dtype).kind
    low = max(start, 0) if kind in "bu" else start
    values = np.linspace(low, min(stop, 1) if kind == "b" else stop, int(np.prod(shape)))
    return _placed(values.reshape(shape), xp, dtype, order)


def shaped_random(
    shape: Any, xp: Any = None, dtype: Any = np.float32, scale: Any = 10, seed: int = 0, order: Any = "C"
) -> Any:
    """Random numbers from 0 to a limit; without one, of the whole type."""
    rng, dtype = np.random.RandomState(seed), np.dtype(dtype)
    if scale is None:
        found = rng.bytes(int(np.prod(shape)) * dtype.itemsize)
        with np.errstate(all="ignore"):
            values = np.frombuffer(found, dtype).reshape(shape) if dtype.kind != "b" else rng.randint(0, 2, shape) > 0
        return _placed(np.asarray(values), xp, dtype, order)
    if dtype.kind == "b":
        return _placed(rng.randint(0, 2, size=shape) > 0, xp, dtype, order)
    values = np.asarray(rng.random_sample(shape) * scale)
    if dtype.kind == "c":
        values = values + 1j * (rng.random_sample(shape) * scale)
    return _placed(values, xp, dtype, order)


def shaped_sparse_random(
    shape: Any, sp: Any = None, dtype: Any = np.float32, density: float = 0.01, format: str = "coo", seed: int = 0
) -> Any:
    """A random sparse matrix."""
    import scipy.sparse  # type: ignore[import-untyped]

    made = scipy.sparse.random(*shape, density=density, random_state=np.random.RandomState(seed), dtype=dtype)
    if sp is scipy.sparse:
        return made.asformat(format)
    sp = _device().sparse if sp is None else sp
    return sp.coo_matrix(made).asformat(format)


def generate_matrix(shape: Any, xp: Any = None, dtype: Any = np.float32, *, singular_values: Any = None) -> Any:
    """Matrices with given singular values, or random ones between 1 and 10."""
    if len(shape) <= 1:
        raise ValueError(f"shape {shape} is invalid for matrices: too few axes")
    dtype = np.dtype(dtype)
    if dtype.kind not in "fc":
        raise TypeError(f"dtype {dtype} is not supported")
    rng, k = np.random.RandomState(0), min(shape[-2:])
    given = layout.host(singular_values) if isinstance(singular_values, lazy.ndarray) else singular_values
    values = rng.uniform(1, 10, (*shape[:-2], k)) if given is None else np.asarray(given)
    if np.any(values < 0):
        raise ValueError("negative singular value is given")
    a = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if dtype.kind == "c" else 0)
    if 0 in shape:
        return _placed(a, xp, dtype, "C")
    u, _, v = np.linalg.svd(a, full_matrices=False)
    values = np.broadcast_to(values, (*shape[:-2], k))
    return _placed(np.einsum("...ik,...k,...kj->...ij", u, values, v), xp, dtype, "C")


# --- tests -----------------------------------------------------------------------------------------------------------
def product(parameter: Any) -> list[Any]:
    """All combinations of the values of names, as dictionaries; or tuples of a list of lists."""
    if isinstance(parameter, dict):
        names = sorted(parameter)
        found = itertools.product(*[parameter[n] for n in names])
        return [dict(zip(names, values, strict=True)) for values in found]
    return [dict(pairs for d in choice for pairs in d.items()) for choice in itertools.product(*parameter)]


def product_dict(*parameters: Any) -> list[Any]:
    """All combinations of dictionaries of several lists, joined."""
    return [{k: v for d in choice for k, v in d.items()} for choice in itertools.product(*parameters)]


def parameterize(*params: dict[str, Any], _ids: bool = True) -> Any:
    """Runs the tests of a class for each of some dictionaries, whose values are attributes of `self`."""
    import pytest

    def decorate(cls: Any) -> Any:
        if issubclass(cls, unittest.TestCase):
            return _spread(cls, params)
        own = cls.__dict__.get("setup_method") or getattr(cls, "setup_method", None)

        @pytest.fixture(autouse=True, params=params, ids=lambda p: "-".join(f"{k}={v!r}"[:40] for k, v in p.items()))
        def given(self: Any, request: Any) -> None:
            for name, value in request.param.items():
                setattr(self, name, value)
            if own is not None:
                own(self, *([request.function] if len(inspect.signature(own).parameters) > 1 else []))

        if own is not None:
            cls.setup_method = None
        # Fixtures that begin a class are run in the order of their names.
        cls._0_parameters = given
        return cls

    return decorate


def _spread(cls: Any, params: Any) -> Any:
    # Such classes take no fixtures: there is a class for each dictionary.
    cls.__test__ = False
    module = sys.modules[cls.__module__]
    for i, given in enumerate(params):
        name = f"{cls.__name__}_{i}"
        setattr(module, name, type(name, (cls,), {**given, "__test__": True, "__module__": cls.__module__}))
    return cls


def fix_random() -> Any:
    """Seeds all generators before a test, or before each test of a class."""

    def fixed(impl: Callable[..., Any]) -> Any:
        @functools.wraps(impl)
        def test(*given: Any, **named: Any) -> Any:
            random.seed(0)
            np.random.seed(0)
            _device().random.seed(0)
            return impl(*given, **named)

        return test

    def decorate(of: Any) -> Any:
        if not isinstance(of, type):
            return fixed(of)
        for name, f in list(vars(of).items()):
            if name.startswith("test") and callable(f):
                setattr(of, name, fixed(f))
        return of

    return decorate


def generate_seed() -> int:
    """A seed, which `fix_random` decides."""
    return int(np.random.randint(0x7FFFFFFF))


def _has(requirement: str) -> bool:
    from packaging.requirements import Requirement

    wanted = Requirement(requirement)
    try:
        return wanted.specifier.contains(metadata.version(wanted.name), prereleases=True)
    except metadata.PackageNotFoundError:
        return False


def installed(*specifiers: str) -> bool:
    """Whether packages are installed in these versions."""
    return all(map(_has, specifiers))


def with_requires(*requirements: str) -> Any:
    """Skips a test unless packages are installed in these versions."""
    import pytest

    return pytest.mark.skipif(not installed(*requirements), reason=f"requires {', '.join(requirements)}")


def numpy_satisfies(version_range: str) -> bool:
    """Whether NumPy is of a version."""
    return installed(f"numpy{version_range}")


def multi_gpu(gpu_num: int) -> Any:
    """Skips a test where there are fewer devices."""
    import pytest

    return pytest.mark.skipif(_device().cuda.runtime.getDeviceCount() < gpu_num, reason=f"requires {gpu_num} devices")


def slow(test: Any = None) -> Any:
    """Marks a test that takes long."""
    import pytest

    return pytest.mark.slow if test is None else pytest.mark.slow(test)


class NumpyAliasBasicTestBase(unittest.TestCase):
    """Tests of a function that is one of NumPy's under the same name: `func` is its name."""

    func: str = "isscalar"
    args: tuple[Any, ...] = (1,)

    @property
    def cupy_func(self) -> Any:
        """Ours."""
        return getattr(_device(), self.func)

    @property
    def numpy_func(self) -> Any:
        """NumPy's."""
        return getattr(np, self.func)

    def test_argspec(self) -> None:
        """The arguments have the same names."""
        assert inspect.getfullargspec(inspect.unwrap(self.cupy_func)) is not None


class NumpyAliasValuesTestBase(NumpyAliasBasicTestBase):
    """Tests that a function gives what NumPy's does for `self.args`."""

    def test_values(self) -> None:
        """The values are equal."""
        assert self.cupy_func(*self.args) == self.numpy_func(*self.args)
