"""Kernels and functions for devices: `cuda.jit`, launches, `forall`."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

import numpy as np

from lancehead import _core, config, pickling
from lancehead import options as table
from lancehead.cuda import linking, toolkit
from lancehead.cuda.args import native, natives
from lancehead.cuda.compiling import default_cc, limits
from lancehead.cuda.devicearray import MappedNDArray
from lancehead.cuda.errors import CudaAPIError, UnsupportedError
from lancehead.cuda.gpu import CPU_INSTEAD, current_gpu, here
from lancehead.cuda.launching import launch_on, placed
from lancehead.cuda.streams import check, on_gpu
from lancehead.decorated import function_of
from lancehead.errors import NumbaInvalidConfigWarning, NumbaPerformanceWarning
from lancehead.notices import tell
from lancehead.options import near_members

if TYPE_CHECKING:
    from typing import Literal, Unpack

    from lancehead.typing_ import (
        CompilesDeviceFunction,
        CompilesKernel,
        CudaOptions,
        InsteadOfArray,
        LaunchConfiguration,
        Signatures,
    )

P = ParamSpec("P")
R = TypeVar("R")

_MISSING = """Kernel launch configuration was not specified. Use the syntax:

kernel_function[blockspergrid, threadsperblock](arg0, arg1, ..., argn)

For n elements and 128 threads in a block that is kernel_function[(n + 127) // 128, 128](...); `help(cuda.jit)` has an
example, and more is on the page "CUDA kernels" of the documentation (docs/cuda.md)."""


@near_members
class CUDADispatcher(Generic[P, R]):
    """A kernel, or a function that kernels call, compiled when it is first needed.

    >>> @cuda.jit
    ... def kernel(a): a[cuda.grid(1)] += 1
    >>> a = np.zeros(3)
    >>> kernel[1, 3](a); kernel.signatures
    [(array(float64, 1d, C),)]
    """

    py_func: Callable[P, R]

    def __init__(self, function: Callable[P, R], signatures: list[Any], device: bool, options: dict[str, Any]) -> None:
        self.py_func = function
        options = config.with_semantics(function, options)
        self.targetoptions = {"device": device, **options}
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__
        self.__doc__, self.__module__, self.__wrapped__ = function.__doc__, function.__module__, function
        #: Linked code with setup or teardown callbacks; `loaded` holds its loaded modules by argument types.
        self.callbacks = [
            i
            for i in linking.sources(options.get("link"))
            if getattr(i, "setup_callback", None) or getattr(i, "teardown_callback", None)
        ]
        self.loaded: dict[Any, Any] = {}
        self._device = device
        self._given = _compile_options(options)
        if linked := linking.number(options.get("link")):
            self._given["_link"] = linked
        self._eager = signatures
        # The dispatchers that compile it: under None the CPU device's, and one for each GPU.
        self._dispatchers: dict[_core.Gpu | None, _core.Dispatcher[..., Any]] = {}
        # Types are compiled for now, options are checked; without types the driver is left alone until a launch.
        self._for(current_gpu() if signatures and not device else None)
        self._specialized = len(signatures) == 1 and not device
        self.specializations: dict[Any, CUDADispatcher[P, R]] = {}
        self._extensions = list(options.get("extensions") or [])
        # Earlier launches, by their geometry and the GPU in use.
        self._launches: dict[Any, Launch[P]] = {}

    def _for(self, gpu: _core.Gpu | None) -> _core.Dispatcher[..., Any]:
        """The dispatcher that compiles it for a device."""
        made = self._dispatchers.get(gpu)
        if made is None:
            given: dict[str, Any]
            if gpu is None:
                given = {"_device": "function" if self._device else "kernel", **self._given}
            else:
                options = self.targetoptions
                bounds = limits(options.get("launch_bounds"), options.get("max_registers"))
                # Nobody sees what is raised there, unless it is asked for.
                checked = bool(options.get("debug") or options.get("boundscheck"))
                given = {
                    **self._given,
                    "_check": False,
                    "boundscheck": checked,
                    "_gpu": (gpu, bounds, bool(options.get("lineinfo"))),
                }
            made = self._dispatchers[gpu] = _core.dispatcher(self.py_func, given, self._eager, bool(self._eager))
        return made

    @property
    def _dispatcher(self) -> _core.Dispatcher[..., Any]:
        return self._for(None if self._device else current_gpu())

    def __reduce__(self) -> Any:
        return pickling.reduce(self)

    def _by_value(self) -> Any:
        options = {k: v for k, v in self.targetoptions.items() if k != "device"}
        eager = not self._dispatcher._can_compile
        signatures = list(self._dispatcher.nopython_signatures) if eager else []
        return CUDADispatcher, (self.py_func, signatures, self._device, options)

    def __repr__(self) -> str:
        return f"CUDADispatcher({self.py_func!r})"

    def __getitem__(self, config: LaunchConfiguration) -> Launch[P]:
        # Numbers that equal integers without being some are refused, known or not.
        plain = type(config) is tuple and len(config) == 2 and _is_plain(*config)
        if plain and (known := self._launches.get((config, here.gpu))) is not None:
            return known
        given = config if isinstance(config, tuple) else (config,)
        if not 2 <= len(given) <= 5:
            raise ValueError("must specify at least the griddim and blockdim")
        made = self.configure(*given)
        if plain and len(self._launches) < 128:
            self._launches[config, here.gpu] = made
        return made

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if self._device:
            raise RuntimeError(f"{self.__name__} is a function for devices: kernels call it")
        raise ValueError(_MISSING)

    def configure(
        self, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int | None = 0, cluster: Any = None
    ) -> Launch[P]:
        """The kernel with the geometry of a launch. Clusters change nothing on the CPU device."""
        if self._device:
            raise RuntimeError(f"Cannot compile a device function as a kernel: {self.__name__} is called by kernels")
        grid, gpu = dimensions("griddim", griddim), current_gpu()
        if cluster is not None:
            _check_cluster(grid, dimensions("cluster", cluster), gpu is not None)
        made = Launch(self, grid, dimensions("blockdim", blockdim), stream, sharedmem or 0)
        # A prepared launch for one device takes the same arguments.
        return made if made.prepares else made.on_cpu() if gpu is None else made.on(gpu)[0]  # type: ignore[return-value]

    def forall(self, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> ForAll[P]:
        """The kernel for one thread to each of some tasks, in one dimension."""
        return ForAll(self, ntasks, tpb, stream, sharedmem)

    def compile(self, sig: Any) -> Any:
        """Compiles for a signature."""
        return self._dispatcher.compile(sig)

    def compile_device(self, args: Any, return_type: Any = None) -> Any:
        """Compiles for argument types."""
        return self._dispatcher.compile(tuple(args))

    def recompile(self) -> None:
        """Compiles every specialisation anew."""
        self._dispatcher.recompile()

    def disable_compile(self, val: bool = True) -> None:
        """Refuses argument types that it is not compiled for."""
        self._dispatcher.disable_compile(val)

    def specialize(self, *args: Any) -> CUDADispatcher[P, R]:
        """The kernel for the types of these arguments only."""
        if self._specialized:
            raise RuntimeError("Dispatcher already specialized")
        types = tuple(_core.typeof(native(a)) for a in args)
        made = self.specializations.get(types)
        if made is None:
            options = {k: v for k, v in self.targetoptions.items() if k != "device"}
            options["extensions"] = self._extensions
            made = CUDADispatcher(self.py_func, [types], self._device, options)
            self.specializations[types] = made
        return made

    @property
    def specialized(self) -> bool:
        """Whether it is for one tuple of types only."""
        return self._specialized

    @property
    def signatures(self) -> list[Any]:
        """Argument types that it is compiled for."""
        found: list[Any] = self._dispatcher.signatures
        return found

    @property
    def nopython_signatures(self) -> list[Any]:
        """Signatures that it is compiled for."""
        found: list[Any] = self._dispatcher.nopython_signatures
        return found

    @property
    def overloads(self) -> dict[Any, KernelFacts]:
        """The facts of each specialisation, by its argument types."""
        return {t: KernelFacts(self, t, f) for t, f in _core.kernel_facts(self._dispatcher).items()}

    @property
    def stats(self) -> Any:
        """Compilations so far."""
        return self._dispatcher.stats

    @property
    def extensions(self) -> list[Any]:
        """Objects that prepare arguments."""
        # Programs add to it. Launches of before are made anew then.
        self._launches.clear()
        return self._extensions

    def _facts(self, signature: Any, what: Callable[[KernelFacts], Any]) -> Any:
        overloads = self.overloads
        if signature is not None:
            return what(overloads[tuple(getattr(signature, "args", signature))])
        if self._specialized:
            return what(next(iter(overloads.values())))
        return {t: what(f) for t, f in overloads.items()}

    def get_regs_per_thread(self, signature: Any = None) -> Any:
        """Registers of each thread, as the driver says; without a GPU, on one of compute capability 9.0 as `ptxas`
        says; without it, 32."""
        return self._facts(signature, lambda f: f.regs_per_thread)

    def get_const_mem_size(self, signature: Any = None) -> Any:
        """Bytes of constant memory."""
        return self._facts(signature, lambda f: f.const_mem_size)

    def get_shared_mem_per_block(self, signature: Any = None) -> Any:
        """Bytes of static shared memory of a block."""
        return self._facts(signature, lambda f: f.shared_mem_per_block)

    def get_local_mem_per_thread(self, signature: Any = None) -> Any:
        """Bytes of each thread's own memory."""
        return self._facts(signature, lambda f: f.local_mem_per_thread)

    def get_max_threads_per_block(self, signature: Any = None) -> Any:
        """Threads that a block can have."""
        return self._facts(signature, lambda f: f.max_threads_per_block)

    def inspect_llvm(self, signature: Any = None, cc: Any = None) -> Any:
        """LLVM IR, of all specialisations or of one: of the code in use, or for a GPU of a compute capability."""
        gpu = None if self._device else current_gpu()
        if cc is None and gpu is None:
            return self._dispatcher.inspect_llvm(signature)
        cc = cc or (gpu and gpu.capability)
        return self._inspect(signature, lambda types: self._device_code(types, cc, llvm=True).llvm)

    def inspect_asm(self, signature: Any = None, cc: Any = None) -> Any:
        """PTX for a GPU of a compute capability (9.0 unless given), of all specialisations or of one."""
        return self._inspect(signature, lambda types: self._device_code(types, cc or self._capability()).ptx)

    #: The name of numba-cuda's successor.
    inspect_ptx = inspect_asm

    def inspect_lto_ptx(self, signature: Any = None, cc: Any = None) -> Any:
        """As `inspect_asm`, whose PTX has what the kernel is linked with."""
        return self.inspect_asm(signature, cc)

    def inspect_sass(self, signature: Any = None, cc: Any = None) -> Any:
        """Machine code for a GPU of a compute capability (9.0 unless given), of all specialisations or of one: by
        `ptxas` and `nvdisasm`.

        Raises:
            RuntimeError: one of the two is not installed, or this is a function for devices.
        """
        return self._disassembled(signature, cc, "-gi", what="inspect SASS")

    def inspect_sass_cfg(self, signature: Any = None, cc: Any = None) -> Any:
        """As `inspect_sass`: how control flows, in the language of `dot`."""
        return self._disassembled(signature, cc, "-cfg", what="get the CFG")

    def _disassembled(self, signature: Any, cc: Any, *options: str, what: str) -> Any:
        if self._device:
            raise RuntimeError(f"Cannot {what} of a device function")
        return self._inspect(signature, lambda types: toolkit.disassembled(self._machine_code(types, cc)[0], *options))

    def _machine_code(self, types: Any, cc: Any = None) -> tuple[bytes, int | None]:
        major, minor = default_cc(cc or self._capability())
        lines = ("-lineinfo",) if self.targetoptions.get("lineinfo") else ()
        code, arch = self._device_code(types, (major, minor)), f"sm_{major}{minor}"
        if code.linked:
            return linking.machine_code(code.ptx, code.linked, self._given.get("_link", 0), arch, bool(lines)), None
        return toolkit.assembled(code.ptx, arch, lines)

    def _capability(self) -> tuple[int, int]:
        gpu = current_gpu()
        return (9, 0) if gpu is None else gpu.capability

    def _inspect(self, signature: Any, text: Callable[[Any], Any]) -> Any:
        if signature is not None:
            return text(tuple(getattr(signature, "args", signature)))
        return {types: text(types) for types in self.signatures}

    def _device_code(self, types: Any, cc: Any, llvm: bool = False) -> _core.DevicePtx:
        options = self.targetoptions
        return _core.compile_ptx(
            self.py_func, types, "", default_cc(cc), abi="numba" if self._device else "kernel",
            debug=bool(options.get("debug")), lineinfo=bool(options.get("lineinfo")),
            fastmath=bool(options.get("fastmath")),
            limits=limits(options.get("launch_bounds"), options.get("max_registers")), llvm=llvm,
            link=self._given.get("_link", 0),
        )  # fmt: skip

    def inspect_types(self, file: Any = None) -> None:
        """Writes the source with the types of its variables."""
        self._dispatcher.inspect_types(file)


class KernelFacts:
    """The facts of a kernel that is compiled for certain argument types: memory, registers, code."""

    def __init__(self, kernel: CUDADispatcher[..., Any], types: Any, facts: dict[str, Any]) -> None:
        self._kernel, self.argument_types = kernel, types
        self.cooperative: bool = facts["cooperative"]
        self.shared_mem_per_block: int = facts["shared"]
        self.local_mem_per_thread: int = facts["local"]
        self.const_mem_size: int = facts["constant"]
        self.max_threads_per_block: int = (
            facts.get("max_threads") or limits(kernel.targetoptions.get("launch_bounds"))[0] or 1024
        )
        self._registers: int | None = facts.get("registers")
        self.entry: str = facts["entry"]
        self.gangs: str = facts["gangs"]

    @property
    def regs_per_thread(self) -> int:
        """Registers of each thread, see `CUDADispatcher.get_regs_per_thread`."""
        if self._registers is not None:
            return self._registers
        if toolkit.program("ptxas") is None:
            return 32
        return self._kernel._machine_code(self.argument_types)[1] or 0

    def max_cooperative_grid_blocks(self, blockdim: Any, dynsmemsize: int = 0) -> int:
        """Blocks of a grid whose threads can wait for each other."""
        x, y, z = dimensions("blockdim", blockdim)
        if self._registers is not None:
            return _core.resident_blocks(self._kernel._dispatcher, self.argument_types, x * y * z, dynsmemsize)
        return (1 << 15) // max(1, x * y * z)

    def inspect_llvm(self) -> str:
        """LLVM IR, see `CUDADispatcher.inspect_llvm`."""
        return self._kernel.inspect_llvm(self.argument_types)  # type: ignore[no-any-return]

    def inspect_asm(self, cc: Any = None) -> str:
        """PTX, see `CUDADispatcher.inspect_asm`."""
        return self._kernel.inspect_asm(self.argument_types, cc)  # type: ignore[no-any-return]


if TYPE_CHECKING:

    class _Launches(Generic[P]):
        """The type of `kernel[grid, block]` for type checkers: accepts the kernel's parameters, or an array-like for an
        array.
        """

        @overload
        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> None: ...
        @overload
        def __call__(self, first: InsteadOfArray, /, *rest: Any) -> None: ...
        @overload
        def __call__(self, a: Any, second: InsteadOfArray, /, *rest: Any) -> None: ...
        @overload
        def __call__(self, a: Any, b: Any, third: InsteadOfArray, /, *rest: Any) -> None: ...
        @overload
        def __call__(self, a: Any, b: Any, c: Any, fourth: InsteadOfArray, /, *rest: Any) -> None: ...
        def __call__(self, *args: Any, **kwargs: Any) -> None: ...

else:
    _Launches = Generic


class Launch(_Launches[P]):
    """A kernel with the geometry of its launches."""

    __slots__ = (
        "__weakref__",
        "_block",
        "_extensions",
        "_grid",
        "_launch",
        "_there",
        "dispatcher",
        "pre_launch_callbacks",
        "sharedmem",
        "stream",
    )

    def __init__(
        self, kernel: CUDADispatcher[P, Any], grid: tuple[int, ...], block: tuple[int, ...], stream: Any, sharedmem: int
    ) -> None:
        check(stream)
        most, threads = limits(kernel.targetoptions.get("launch_bounds"))[0], block[0] * block[1] * block[2]
        if most and threads > most:
            text = (
                f"Call to cuLaunchKernel results in CUDA_ERROR_INVALID_VALUE: a block of {threads} threads, and "
                f"launch_bounds says at most {most}"
            )
            raise CudaAPIError(1, text)
        self.dispatcher, self.stream, self.sharedmem = kernel, stream, sharedmem
        self._grid, self._block, self._launch = grid, block, kernel._dispatcher if current_gpu() is None else None
        self._there: dict[_core.Gpu, tuple[_core.Launch, _core.GpuStream | None]] = {}
        self._extensions = tuple(reversed(kernel._extensions))
        #: Called with the kernel and this before each launch; a launch configuration is one object as long as its
        #: kernel keeps it.
        self.pre_launch_callbacks: list[Callable[[CUDADispatcher[P, Any], Launch[P]], object]] = []
        blocks = grid[0] * grid[1] * grid[2]
        if config.CUDA_LOW_OCCUPANCY_WARNINGS and blocks < 128:
            text = f"Grid size {blocks} will likely result in GPU under-utilization due to low occupancy."
            tell(NumbaPerformanceWarning(text))

    @property
    def prepares(self) -> bool:
        """Whether something is done before, by extensions."""
        return bool(self._extensions)

    def on_cpu(self) -> Any:
        """A launch prepared for the CPU device; this launch itself if there is work to do before it."""
        if self.stream or self.dispatcher.callbacks:
            return self
        return _core.Launch(
            self, self._launch or self.dispatcher._dispatcher, None, None, (self._grid, self._block), self.sharedmem
        )

    def on(self, gpu: _core.Gpu) -> tuple[_core.Launch, _core.GpuStream | None]:
        """A launch prepared for a GPU, and its stream there."""
        there = self._there.get(gpu)
        if there is None:
            if self.dispatcher.callbacks:
                raise UnsupportedError(f"callbacks of linked code are not called on a GPU; {CPU_INSTEAD}")
            stream, kernel = on_gpu(gpu, self.stream), self.dispatcher._for(gpu)
            made = _core.Launch(self, kernel, gpu, stream, (self._grid, self._block), self.sharedmem)
            there = self._there[gpu] = made, stream
        return there

    @property
    def griddim(self) -> tuple[int, ...]:
        """Blocks of the grid."""
        return self._grid

    @property
    def blockdim(self) -> tuple[int, ...]:
        """Threads of a block."""
        return self._block

    def __reduce__(self) -> Any:
        if self.pre_launch_callbacks:
            raise pickle.PicklingError("Cannot pickle configured launches with pre-launch callbacks")
        return CUDADispatcher.configure, (self.dispatcher, self._grid, self._block, self.stream, self.sharedmem)

    if not TYPE_CHECKING:

        def __call__(self, *args: Any) -> None:
            for callback in self.pre_launch_callbacks:
                callback(self.dispatcher, self)
            for extension in self._extensions:
                args = tuple(
                    extension.prepare_args(_core.typeof(native(a)), a, stream=self.stream, retr=[])[1] for a in args
                )
            if config.CUDA_WARN_ON_IMPLICIT_COPY and any(
                isinstance(a, np.ndarray) and not isinstance(a, MappedNDArray) for a in args
            ):
                text = "Host array used in CUDA kernel will incur copy overhead to/from device."
                tell(NumbaPerformanceWarning(text))
            if self.stream:
                check(self.stream)
            if (gpu := current_gpu()) is not None:
                launch_on(gpu, *self.on(gpu), args)
                return
            if self.dispatcher.callbacks:
                linking.load(self.dispatcher, self.dispatcher.callbacks, tuple(_core.typeof(native(a)) for a in args))
            try:
                _core.launch(
                    self._launch or self.dispatcher._dispatcher, self._grid, self._block, self.sharedmem, natives(args)
                )
            except Exception as error:
                raise placed(error) from error.__cause__


class ForAll(_Launches[P]):
    """A kernel for one thread to each of some tasks."""

    def __init__(self, kernel: CUDADispatcher[P, Any], ntasks: int, tpb: int, stream: Any, sharedmem: int) -> None:
        if ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
        self.dispatcher, self.ntasks, self.thread_per_block = kernel, ntasks, tpb
        self.stream, self.sharedmem = stream, sharedmem

    if not TYPE_CHECKING:

        def __call__(self, *args: Any) -> None:
            if self.ntasks == 0:
                return
            threads = self.thread_per_block or 256
            blocks = (self.ntasks + threads - 1) // threads
            self.dispatcher.configure(blocks, threads, self.stream, self.sharedmem)(*args)


def _check_cluster(grid: tuple[int, ...], cluster: tuple[int, ...], is_on_gpu: bool) -> None:
    """Refuses clusters that a grid is not made of, and on a GPU all that are more than a block."""
    if any(c < 1 or g % c for g, c in zip(grid, cluster, strict=True)):
        text = f"Call to cuLaunchKernelEx results in CUDA_ERROR_INVALID_CLUSTER_SIZE: {cluster} in a grid of {grid}"
        raise CudaAPIError(912, text)
    if is_on_gpu and cluster != (1, 1, 1):
        raise UnsupportedError(f"clusters of blocks are not launched on a GPU; {CPU_INSTEAD}")


def _is_plain(*extents: Any) -> bool:
    return all(type(e) is int or type(e) is tuple and {*map(type, e)} == {int} for e in extents)


def dimensions(name: str, given: Any) -> tuple[int, int, int]:
    """One to three extents as three."""
    values = list(given) if isinstance(given, (tuple, list)) else [given]
    if not 1 <= len(values) <= 3:
        raise ValueError(f"{name} must be a sequence of 1, 2 or 3 integers, got {values!r}")
    try:
        found = [v.__index__() for v in values]
    except AttributeError:
        raise TypeError(f"{name} must be a sequence of integers, got {values!r}") from None
    return tuple([*found, 1, 1][:3])


#: `fastmath=True` as CUDA has it: there may be NaNs and infinities.
_FAST_MATH = frozenset({"nsz", "arcp", "contract", "afn", "reassoc"})


def _compile_options(options: dict[str, Any]) -> dict[str, Any]:
    debug, fast = bool(options.get("debug")), options.get("fastmath") or False
    bounds = options.get("boundscheck")
    return {
        # An index out of range would write anywhere in the process, so it is checked unless the user says otherwise.
        "boundscheck": bounds is None or bool(bounds),
        "overflow": options.get("overflow", "wrap"),
        "error_model": "python" if debug and not fast else "numpy",
        "fastmath": _FAST_MATH if fast is True else fast,
        "cache": bool(options.get("cache")),
        "semantics": options.get("semantics") or "python",
        "_check": debug,
    }


@overload
def jit(
    func_or_sig: Callable[P, None],
    device: Literal[False] = False,
    debug: bool | None = None,
    opt: bool | None = None,
    **options: Unpack[CudaOptions],
) -> CUDADispatcher[P, None]: ...
@overload
def jit(
    func_or_sig: Callable[P, R],
    device: Literal[True],
    debug: bool | None = None,
    opt: bool | None = None,
    **options: Unpack[CudaOptions],
) -> CUDADispatcher[P, R]: ...
@overload
def jit(
    func_or_sig: Signatures | None = None,
    device: Literal[False] = False,
    debug: bool | None = None,
    opt: bool | None = None,
    **options: Unpack[CudaOptions],
) -> CompilesKernel: ...
@overload
def jit(
    func_or_sig: Signatures | None = None,
    *,
    device: Literal[True],
    debug: bool | None = None,
    opt: bool | None = None,
    **options: Unpack[CudaOptions],
) -> CompilesDeviceFunction: ...
def jit(
    func_or_sig: Any = None, device: bool = False, debug: bool | None = None, opt: bool | None = None, **options: Any
) -> Any:
    """Compiles a kernel, or with `device=True` a function that kernels call.

    >>> from lancehead import cuda
    >>> import numpy as np
    >>> @cuda.jit
    ... def double(a):
    ...     i = cuda.grid(1)
    ...     if i < a.size:
    ...         a[i] *= 2
    >>> a = np.arange(5)
    >>> double[1, 32](a)
    >>> a
    array([0, 2, 4, 6, 8])
    """
    for name in ("argtypes", "restype", "bind"):
        if options.get(name) is not None:
            raise ValueError(f"the option {name} is not supported any more; give a signature instead")
        options.pop(name, None)
    table.check("cuda.jit", {"device": device, "debug": debug, "opt": opt, **options})
    if device and options.get("link"):
        raise ValueError("link keyword invalid for device function")
    if debug and (opt or opt is None and options.get("lineinfo")):
        text = (
            "debug=True with opt=True (the default) is not supported by CUDA. This may result in a crash - set "
            "debug=False or opt=False."
        )
        tell(NumbaInvalidConfigWarning(text))
    if debug and options.get("lineinfo"):
        text = "debug and lineinfo are mutually exclusive. Use debug to get full debug info"
        tell(NumbaInvalidConfigWarning(text))
    limits(options.get("launch_bounds"))
    _check_carveout(options.get("shared_memory_carveout"))
    settled = {k: v for k, v in {"debug": debug, "opt": opt, **options}.items() if v is not None}
    if isinstance(func_or_sig, (FunctionType, CUDADispatcher)):
        return _made(func_or_sig, [], device, settled)
    given = func_or_sig
    signatures = [] if given is None else list(given) if isinstance(given, list) else [given]
    return lambda function: _made(function, signatures, device, settled)


table.describe("cuda.jit", jit)


def _check_carveout(carveout: Any) -> None:
    """Checks the shared-memory carveout, which is a hint for a GPU: a percentage from 0 to 100, -1, or a name."""
    if isinstance(carveout, str):
        if carveout.lower() not in ("default", "maxl1", "maxshared"):
            raise ValueError(
                f"Invalid carveout value: {carveout!r}. Must be -1 to 100, 'default', 'MaxL1' or 'MaxShared'"
            )
    elif carveout is not None and not -1 <= carveout <= 100:
        raise ValueError(f"Carveout value must be between -1 and 100, got {carveout}")


def _made(function: Any, signatures: list[Any], device: bool, options: dict[str, Any]) -> CUDADispatcher[..., Any]:
    given = function.py_func if isinstance(function, CUDADispatcher) else function
    return CUDADispatcher(function_of(given, "cuda.jit"), signatures, device, options)
