"""Code for GPUs, compiled without one."""

from __future__ import annotations

from typing import Any

from lancehead import _core
from lancehead.cuda.devices import gpus
from lancehead.errors import NumbaInvalidConfigWarning
from lancehead.notices import tell
from lancehead.options import near_keywords

# The oldest that compilers still make code for.
_OLDEST = (7, 5)


def compile(
    pyfunc: Any,
    sig: Any,
    debug: bool | None = None,
    lineinfo: bool = False,
    device: bool = True,
    fastmath: bool = False,
    cc: tuple[int, int] | None = None,
    opt: bool | None = None,
    abi: str = "c",
    abi_info: dict[str, Any] | None = None,
    output: str = "ptx",
    forceinline: bool = False,
    launch_bounds: Any = None,
) -> tuple[str, Any]:
    """PTX of a function for argument types, and the type of its result.

    >>> from lancehead import cuda
    >>> ptx, result = cuda.compile(lambda x: x + 1, "int64(int64)", abi_info={"abi_name": "up"})
    >>> result
    int64
    """
    if output not in ("ptx", "ltoir"):
        raise NotImplementedError(f"Unsupported output type: {output}")
    if output == "ltoir":
        raise NotImplementedError(
            "LTO-IR is read, not written: ask for PTX, output='ptx', which nvJitLink takes beside LTO-IR of others"
        )
    if forceinline:
        raise ValueError("Can only designate forced inlining in LTO-IR")
    made = _compile(pyfunc, sig, debug, lineinfo, device, fastmath, cc, opt, abi, abi_info, launch_bounds)
    return made.ptx, made.return_type


def compile_ptx(
    pyfunc: Any,
    sig: Any,
    debug: bool | None = None,
    lineinfo: bool = False,
    device: bool = False,
    fastmath: bool = False,
    cc: tuple[int, int] | None = None,
    opt: bool | None = None,
    abi: str = "numba",
    abi_info: dict[str, Any] | None = None,
    forceinline: bool = False,
    launch_bounds: Any = None,
) -> tuple[str, Any]:
    """As `compile`, by default of a kernel.

    >>> from lancehead import cuda
    >>> def kernel(a):
    ...     a[cuda.grid(1)] = 0
    >>> ".visible .entry" in cuda.compile_ptx(kernel, "void(float32[::1])")[0]
    True
    """
    return compile(
        pyfunc, sig, debug, lineinfo, device, fastmath, cc, opt, abi, abi_info, "ptx", forceinline, launch_bounds
    )


def compile_for_current_device(pyfunc: Any, sig: Any, *args: Any, **options: Any) -> tuple[str, Any]:
    """As `compile`, for the device in use.

    >>> ptx, result = cuda.compile_for_current_device(lambda x: x + 1, "int64(int64)", abi_info={"abi_name": "up"})
    >>> result
    int64
    """
    return compile(pyfunc, sig, *args, **options, cc=gpus.current.compute_capability)  # type: ignore[misc]


def compile_ptx_for_current_device(pyfunc: Any, sig: Any, *args: Any, **options: Any) -> tuple[str, Any]:
    """As `compile_ptx`, for the device in use.

    >>> def kernel(a): a[cuda.grid(1)] = 0
    >>> ".visible .entry" in cuda.compile_ptx_for_current_device(kernel, "void(float32[::1])")[0]
    True
    """
    return compile_ptx(pyfunc, sig, *args, **options, cc=gpus.current.compute_capability)  # type: ignore[misc]


def compile_all(pyfunc: Any, sig: Any, *args: Any, output: str = "ptx", **options: Any) -> tuple[list[str], Any]:
    """As `compile`: a list of the code and of what it depends on.

    >>> code, result = cuda.compile_all(lambda x: x + 1, "int64(int64)", abi_info={"abi_name": "up"})
    >>> len(code), result
    (1, int64)
    """
    ptx, result = compile(pyfunc, sig, *args, output=output, **options)  # type: ignore[misc]
    return [ptx], result


def default_cc(cc: Any) -> tuple[int, int]:
    """The compute capability to compile for."""
    if cc is None:
        return _OLDEST
    major, minor = int(cc[0]), int(cc[1])
    if (major, minor) < _OLDEST:
        raise ValueError(
            f"compute capability {major}.{minor} is not supported: the oldest is {_OLDEST[0]}.{_OLDEST[1]}"
        )
    return major, minor


def limits(
    launch_bounds: Any, max_registers: int | None = None
) -> tuple[int | None, int | None, int | None, int | None]:
    """Threads of a block, blocks of a multiprocessor, registers of a thread and blocks of a cluster, as far as they are
    given."""
    given = (
        launch_bounds if isinstance(launch_bounds, (tuple, list)) else () if launch_bounds is None else (launch_bounds,)
    )
    if len(given) > 3:
        raise ValueError(
            f"Got {len(given)} launch bounds: {given}. A maximum of three are supported: (max_threads, min_blocks, "
            "max_cluster_rank)"
        )
    threads, blocks, cluster = [*given, None, None, None][:3]
    return threads, blocks, max_registers, cluster


def _compile(
    pyfunc: Any, sig: Any, debug: bool | None, lineinfo: bool, device: bool, fastmath: bool, cc: Any, opt: bool | None,
    abi: str,
    abi_info: dict[str, Any] | None, launch_bounds: Any,
) -> _core.DevicePtx:  # fmt: skip
    if abi not in ("numba", "c"):
        raise NotImplementedError(f"Unsupported ABI: {abi}")
    if abi == "c" and not device:
        raise NotImplementedError("The C ABI is not supported for kernels")
    if debug and (opt is None or opt):
        text = (
            "debug=True with opt=True is not supported by CUDA. This may result in a crash - set debug=False or "
            "opt=False."
        )
        tell(NumbaInvalidConfigWarning(text))
    function = getattr(pyfunc, "py_func", pyfunc)
    name = (abi_info or {}).get("abi_name", "")
    return _core.compile_ptx(
        function, sig, name, default_cc(cc), abi=abi if device else "kernel", debug=bool(debug), lineinfo=lineinfo,
        fastmath=bool(fastmath), limits=limits(launch_bounds),
    )  # fmt: skip


near_keywords(globals())
