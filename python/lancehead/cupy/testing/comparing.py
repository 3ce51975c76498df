"""Decorators that run a test with NumPy and with this package, and compare results and exceptions."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from lancehead.cupy.testing.loops import skips, without


def _modules(name: str, sp_name: str | None, scipy_name: str | None) -> list[dict[str, Any]]:
    from lancehead import cupy

    ours: dict[str, Any] = {name: cupy}
    theirs: dict[str, Any] = {name: np}
    for asked, own, other in (
        (sp_name, "lancehead.cupyx.scipy.sparse", "scipy.sparse"), (scipy_name, "lancehead.cupyx.scipy", "scipy"),
    ):  # fmt: skip
        if asked:
            ours[asked], theirs[asked] = importlib.import_module(own), importlib.import_module(other)
    return [ours, theirs]


def _ran(impl: Callable[..., Any], given: Any, named: Any) -> tuple[Any, BaseException | None]:
    try:
        with np.errstate(all="ignore"):
            return impl(*given, **named), None
    except Exception as e:
        return None, e
    except skips() as e:
        return None, e


def _both(
    impl: Callable[..., Any], given: Any, named: Any, of: list[dict[str, Any]], accept_error: Any
) -> tuple[Any, Any] | None:
    # The two results; None if both raised an accepted exception.
    (ours, error), (theirs, expected) = [_ran(impl, given, {**named, **modules}) for modules in of]
    for e in (error, expected):
        if isinstance(e, skips()):
            raise e
    if error is None and expected is None:
        return ours, theirs
    if error is None:
        raise AssertionError(f"only NumPy raised: {type(expected).__name__}: {expected}") from expected
    if expected is None:
        raise AssertionError(f"only the device raised: {type(error).__name__}: {error}") from error
    wanted = Exception if accept_error is True else accept_error or ()
    if not (isinstance(error, wanted) and isinstance(expected, wanted)):
        raise AssertionError(f"both raised: {type(error).__name__}: {error}; {expected}") from error
    if not (isinstance(error, type(expected)) or isinstance(expected, type(error))):
        raise AssertionError(f"different exceptions: {error!r} and {expected!r}") from error
    return None


def as_numpy(x: Any) -> Any:
    """A value of either side as an array of NumPy."""
    from lancehead import cupy

    if hasattr(x, "todense") and not isinstance(x, np.ndarray):
        x = x.toarray() if hasattr(x, "toarray") else x.todense()
    return np.asarray(cupy.asnumpy(x))


def _compare(ours: Any, theirs: Any, check: Callable[[Any, Any], None], type_check: Any, contiguous: bool) -> None:
    if isinstance(theirs, (list, tuple)):
        assert isinstance(ours, (list, tuple)) and len(ours) == len(theirs), f"{len(theirs)} results are needed"
        for a, b in zip(ours, theirs, strict=True):
            _compare(a, b, check, type_check, contiguous)
        return
    if theirs is None or ours is None:
        raise AssertionError("a test gives results to compare")
    a, b = as_numpy(ours), as_numpy(theirs)
    if type_check:
        assert a.dtype == b.dtype, f"types differ: {a.dtype} here, {b.dtype} in NumPy"
    assert a.shape == b.shape, f"shapes differ: {a.shape} here, {b.shape} in NumPy"
    if contiguous and isinstance(theirs, np.ndarray) and hasattr(ours, "flags"):
        for name in ("c_contiguous", "f_contiguous"):
            assert getattr(ours.flags, name) or not getattr(theirs.flags, name), f"the result is not {name}"
    check(a, b)


def _decorator(
    check: Callable[[Any, Any], None], name: str, type_check: Any, accept_error: Any, sp_name: Any, scipy_name: Any,
    contiguous: bool = True,
) -> Any:  # fmt: skip
    names = [n for n in (name, sp_name, scipy_name) if n]

    def decorate(impl: Callable[..., Any]) -> Any:
        def test(*given: Any, **named: Any) -> None:
            found = _both(impl, given, named, _modules(name, sp_name, scipy_name), accept_error)
            if found is not None:
                _compare(*found, check, type_check, contiguous)

        return without(test, impl, names)

    return decorate


def _tolerance(of: Any, dtype: Any, default: float) -> float:
    if not isinstance(of, dict):
        return float(of)
    for known, value in of.items():
        if known != "default" and np.dtype(known) == dtype:
            return float(value)
    return float(of.get("default", default))


def numpy_cupy_allclose(
    rtol: Any = 1e-7, atol: Any = 0, err_msg: str = "", verbose: bool = True, name: str = "xp", type_check: Any = True,
    accept_error: Any = False, sp_name: Any = None, scipy_name: Any = None, contiguous_check: bool = True, *,
    _check_sparse_format: bool = True,
) -> Any:  # fmt: skip
    """Results agree within tolerances, which may depend on the type."""

    def check(a: Any, b: Any) -> None:
        relative, absolute = _tolerance(rtol, a.dtype, 1e-7), _tolerance(atol, a.dtype, 0)
        np.testing.assert_allclose(a, b, relative, absolute, err_msg=err_msg, verbose=verbose)

    return _decorator(check, name, type_check, accept_error, sp_name, scipy_name, contiguous_check)


def numpy_cupy_array_almost_equal(
    decimal: int = 6, err_msg: str = "", verbose: bool = True, name: str = "xp", type_check: Any = True,
    accept_error: Any = False, sp_name: Any = None, scipy_name: Any = None,
) -> Any:  # fmt: skip
    """Results agree in so many decimal places."""

    def check(a: Any, b: Any) -> None:
        np.testing.assert_array_almost_equal(a, b, decimal, err_msg, verbose)

    return _decorator(check, name, type_check, accept_error, sp_name, scipy_name)


def numpy_cupy_array_almost_equal_nulp(
    nulp: int = 1, name: str = "xp", type_check: Any = True, accept_error: Any = False, sp_name: Any = None,
    scipy_name: Any = None,
) -> Any:  # fmt: skip
    """Results differ by so many units in the last place."""

    def check(a: Any, b: Any) -> None:
        np.testing.assert_array_almost_equal_nulp(a, b, nulp)

    return _decorator(check, name, type_check, accept_error, sp_name, scipy_name, False)


def numpy_cupy_array_max_ulp(
    maxulp: int = 1, dtype: Any = None, name: str = "xp", type_check: Any = True, accept_error: Any = False,
    sp_name: Any = None, scipy_name: Any = None,
) -> Any:  # fmt: skip
    """Results differ by at most so many units in the last place."""

    def check(a: Any, b: Any) -> None:
        np.testing.assert_array_max_ulp(a, b, maxulp, dtype)

    return _decorator(check, name, type_check, accept_error, sp_name, scipy_name, False)


def numpy_cupy_array_equal(
    err_msg: str = "", verbose: bool = True, name: str = "xp", type_check: Any = True, accept_error: Any = False,
    sp_name: Any = None, scipy_name: Any = None, strides_check: bool = False,
) -> Any:  # fmt: skip
    """Results are equal."""

    def check(a: Any, b: Any) -> None:
        np.testing.assert_array_equal(a, b, err_msg, verbose)

    decorate = _decorator(check, name, type_check, accept_error, sp_name, scipy_name, strides_check)
    return decorate


def numpy_cupy_array_list_equal(
    err_msg: str = "", verbose: bool = True, name: str = "xp", sp_name: Any = None, scipy_name: Any = None
) -> Any:
    """Lists of arrays are equal."""

    def check(a: Any, b: Any) -> None:
        np.testing.assert_array_equal(a, b, err_msg, verbose)

    return _decorator(check, name, False, False, sp_name, scipy_name, False)


def numpy_cupy_array_less(
    err_msg: str = "", verbose: bool = True, name: str = "xp", type_check: Any = True, accept_error: Any = False,
    sp_name: Any = None, scipy_name: Any = None,
) -> Any:  # fmt: skip
    """The result is less than NumPy's."""

    def check(a: Any, b: Any) -> None:
        np.testing.assert_array_less(a, b, err_msg, verbose)

    return _decorator(check, name, type_check, accept_error, sp_name, scipy_name, False)


def numpy_cupy_equal(name: str = "xp", sp_name: Any = None, scipy_name: Any = None) -> Any:
    """Results that are no arrays are equal."""
    names = [n for n in (name, sp_name, scipy_name) if n]

    def decorate(impl: Callable[..., Any]) -> Any:
        def test(*given: Any, **named: Any) -> None:
            found = _both(impl, given, named, _modules(name, sp_name, scipy_name), False)
            assert found is not None, "there are results"
            assert found[0] == found[1], f"results differ: {found[0]} here, {found[1]} in NumPy"

        return without(test, impl, names)

    return decorate


def numpy_cupy_raises(
    name: str = "xp", sp_name: Any = None, scipy_name: Any = None, accept_error: Any = Exception
) -> Any:
    """Both raise, exceptions of one class."""
    names = [n for n in (name, sp_name, scipy_name) if n]

    def decorate(impl: Callable[..., Any]) -> Any:
        def test(*given: Any, **named: Any) -> None:
            found = _both(impl, given, named, _modules(name, sp_name, scipy_name), accept_error)
            assert found is None, "nothing was raised"

        return without(test, impl, names)

    return decorate
