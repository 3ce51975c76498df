"""Kernels of CUDA C texts: `RawKernel` and `RawModule`.

The text becomes functions of the compiler's own language, which run on the CPU device as on a GPU.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from lancehead import _core, typeof
from lancehead.cuda.gpu import here
from lancehead.cupy import arguments, layout
from lancehead.cupy.c.parsing import Function, Unit
from lancehead.cupy.c.programs import Program, failed, module, read
from lancehead.cupy.c.tokens import CompileException, Failure
from lancehead.cupy.c.values import WIDE, Pointer, scalar
from lancehead.cupy.cuda.driver import CUDADriverError
from lancehead.cupy.cuda.memory import MemoryPointer
from lancehead.cupy.cuda.stream import _STACKS, get_current_stream
from lancehead.cupy.hosted import ARRAY, wrap
from lancehead.options import NoMember
from lancehead.xp import arrays as lazy


def macros_of(options: Sequence[str]) -> dict[str, str]:
    """Macros that options of the compiler define."""
    found: dict[str, str] = {}
    rest = list(options)
    while rest:
        option = rest.pop(0)
        if option in ("-D", "--define-macro") and rest:
            option = "-D" + rest.pop(0)
        option = re.sub(r"^--define-macro=", "-D", option)
        if option.startswith("-D"):
            name, _, value = option[2:].partition("=")
            found[name] = value or "1"
    return found


class _Loaded:
    # A text that was read, and its kernels as they are written.
    def __init__(self, code: str, options: Sequence[str], name: str) -> None:
        self.code, self.options, self.name = code, tuple(options), name
        try:
            parser = read(code, {"__CUDACC__": "1", "__CUDA_ARCH__": "900", **macros_of(options)})
            self.unit: Unit = parser.parse()
            self.spaces = parser.spaces
            self.program = Program(self.unit, {})
        except Failure as e:
            raise failed(e, code, name, options) from None
        self.outer: dict[str, Any] = {}
        for array, (d, shape, values) in self.program.arrays.items():
            made = np.zeros(shape or (1,), d)
            if values is not None:
                made.reshape(-1)[: len(values)] = values
            self.outer[array] = wrap(layout.placed(made))

    def check(self) -> None:
        """Writes every function that is no template, so that errors come now."""
        for f in self.unit.functions.values():
            if not f.template and f.body is not None:
                self.instance(f, ())

    def warn(self, log: Any) -> None:
        """Writes the warnings of the text, with its lines, to a stream."""
        lines = self.code.splitlines()
        for line, text in self.program.warnings if log is not None else ():
            log.write(f"{self.name}({line}): warning: {text}\n    {lines[line - 1].strip()}\n")

    def instance(self, f: Function, explicit: tuple[Any, ...]) -> tuple[str, list[Any]]:
        env = dict(self.program.env)
        try:
            for (name, is_type), given in zip(f.template, explicit, strict=False):
                if is_type:
                    env[name] = scalar(given, self.program.env, f.line)
                else:
                    from lancehead.cupy.c.writing import Writer

                    env[f"={name}"] = Writer(self.program, self.program.env).value(given)
            own, _, types = self.program.instance(f, env)
        except Failure as e:
            raise failed(e, self.code, self.name, self.options) from None
        return own, types

    def kernel(self, name: str) -> tuple[Any, list[Any], Function]:
        """The kernel of a name, with the arguments of its template in `<>`."""
        explicit: tuple[Any, ...] = ()
        try:
            parser = read(name, {}, list(self.unit.aliases), self.spaces)
            parser.unit = self.unit
            stem = parser.name()
            if parser.now.text == "<":
                explicit = parser._template_arguments()
            parser.expect("")
        except Failure as e:
            raise failed(e, name, name, self.options) from None
        f = self.unit.functions.get(stem)
        if f is None or not f.is_kernel:
            raise CUDADriverError(500, f"there is no kernel {stem!r}")
        if f.template and not explicit:
            raise CompileException(
                f"{stem} is a template: its name needs types, as in {stem}<float>", self.code, self.name, self.options
            )
        own, types = self.instance(f, explicit)
        return module(self.program.text())[own], types, f


_FACTS = (
    "binary_version", "cache_mode_ca", "const_size_bytes", "local_size_bytes", "max_threads_per_block", "num_regs",
    "preferred_shared_memory_carveout", "ptx_version", "shared_size_bytes",
)  # fmt: skip
_BACKENDS = ("nvrtc", "nvcc")
#: The most geometries of a kernel whose launches are kept.
_MOST = 256


class RawKernel:
    """A kernel of a text in CUDA C.

    >>> text = 'extern "C" __global__ void twice(float* x, int n) { int i = threadIdx.x; if (i < n) x[i] *= 2; }'
    >>> kernel = cupy.RawKernel(text, "twice")
    >>> x = cupy.ones(3, dtype=cupy.float32)
    >>> kernel((1,), (32,), (x, 3)); x
    array([2., 2., 2.], dtype=float32)
    """

    def __init__(
        self, code: str, name: str, options: Sequence[str] = (), backend: str = "nvrtc",
        translate_cucomplex: bool = False, *, enable_cooperative_groups: bool = False, jitify: bool = False,
        _loaded: _Loaded | None = None,
    ) -> None:  # fmt: skip
        if isinstance(code, bytes):
            code = code.decode()
        if isinstance(options, list):
            options = tuple(options)
        if not isinstance(options, tuple):
            raise TypeError(f"options are a tuple, not {type(options).__name__}")
        if backend not in _BACKENDS:
            raise ValueError(f"backend is nvrtc or nvcc, which are the same here, not {backend!r}")
        self.code, self.name, self.file_path = code, name, None
        self.options, self.backend = options, backend
        self.enable_cooperative_groups = enable_cooperative_groups
        self.max_dynamic_shared_size_bytes = 48 * 1024
        self._loaded = _loaded
        self._kernel: Any = None
        self._types: list[Any] = []
        self._arguments: list[Any] = []
        self._launches: dict[Any, Any] = {}

    def __reduce__(self) -> Any:
        make = functools.partial(RawKernel, enable_cooperative_groups=self.enable_cooperative_groups)
        return make, (self.code, self.name, self.options, self.backend)

    def compile(self, log_stream: Any = None) -> None:
        """Reads the text; CompileException with the line of what is wrong."""
        if self._kernel is None:
            if self._loaded is None:
                self._loaded = _Loaded(self.code, self.options, f"{self.name.split('<')[0]}.cu")
            self._kernel, self._types, f = self._loaded.kernel(self.name)
            self._loaded.warn(log_stream)
            named = zip(self._types, f.parameters, strict=True)
            self._arguments = [self._argument(k, d, p.type.is_const) for k, (d, p) in enumerate(named)]

    @property
    def kernel(self) -> RawKernel:
        """The compiled kernel."""
        self.compile()
        return self

    def __getattr__(self, name: str) -> int:
        # Facts of the kernel are attributes, too.
        if name in _FACTS:
            return self.attributes[name]
        raise NoMember(f"{type(self).__name__!r} object", name, lambda: [*dir(self), *_FACTS])

    @property
    def attributes(self) -> dict[str, int]:
        """Facts of the compiled kernel."""
        self.compile()
        if not self._kernel.overloads:
            given = [convert(0) for convert in self._arguments]
            self._kernel.compile(tuple(typeof(x) for x in [*given, *self._outer()]))
        facts = next(iter(self._kernel.overloads.values()))
        return {
            "binary_version": 90, "cache_mode_ca": 0, "const_size_bytes": facts.const_mem_size,
            "local_size_bytes": facts.local_mem_per_thread,
            "max_dynamic_shared_size_bytes": self.max_dynamic_shared_size_bytes,
            "max_threads_per_block": facts.max_threads_per_block, "num_regs": facts.regs_per_thread,
            "preferred_shared_memory_carveout": -1, "ptx_version": 90, "shared_size_bytes": facts.shared_mem_per_block,
        }  # fmt: skip

    def _outer(self) -> list[Any]:
        # Variables outside of functions, as further arguments.
        assert self._loaded is not None, "it is compiled"
        return [arguments.pointed(x, None, True) for x in self._loaded.outer.values()]

    def __call__(self, grid: Any, block: Any, args: Any, *, shared_mem: int = 0, stream: Any = None) -> None:
        """Starts the kernel: blocks, threads of a block, arguments."""
        self.compile()
        if len(args) != len(self._types):
            raise TypeError(f"{self.name} takes {len(self._types)} arguments, not {len(args)}")
        given = [convert(x) for convert, x in zip(self._arguments, args)]
        if self._loaded.outer:  # type: ignore[union-attr]
            given += self._outer()
        if stream is not None or _STACKS.current is not None or type(grid) is not tuple or type(block) is not tuple:
            self._kernel[_extents(grid), _extents(block), _stream(stream), int(shared_mem)](*given)
            return
        key = grid, block, shared_mem, here.gpu
        try:
            launch = self._launches.get(key)
        except TypeError:
            # Extents that are arrays without axes.
            self._kernel[_extents(grid), _extents(block), 0, int(shared_mem)](*given)
            return
        if launch is None:
            launch = self._kernel[_extents(grid), _extents(block), 0, int(shared_mem)]
            if len(self._launches) < _MOST:
                self._launches[key] = launch
        launch(*given)

    def _argument(self, k: int, d: Any, is_constant: bool) -> Any:
        # From what is given for a parameter to the argument of a launch.
        if isinstance(d, Pointer):
            of, other, array = d.of, self._pointer(k, d, is_constant), ARRAY[0]

            def pointer(x: Any) -> Any:
                if type(x) is array and x._view is None and x._node.dtype is of:
                    value = arguments.memory(x, not is_constant)
                    return value if value._data.ndim == 1 else arguments.flat(value)
                return other(x)

            return pointer
        known, plain, own = arguments.number(d), int if d in WIDE else float, d.type

        def number(x: Any) -> Any:
            if type(x) is not plain and type(x) is not own:
                self._check_number(k, d, x)
            return known(x)

        return number

    def _check_number(self, k: int, d: Any, x: Any) -> None:
        if isinstance(x, lazy.ndarray):
            raise TypeError(f"argument {k + 1} of {self.name} is a number of type {d.name}, not an array")
        if not isinstance(x, (bool, int, float, complex, np.generic)) and not (
            isinstance(x, np.ndarray) and not x.ndim
        ):
            raise TypeError(f"Unsupported type {type(x)}")

    def _pointer(self, k: int, d: Pointer, is_constant: bool) -> Any:
        def pointer(x: Any) -> Any:
            if isinstance(x, lazy.ndarray):
                return arguments.pointed(x, d.of, not is_constant)
            if x is None or isinstance(x, int) and x == 0:
                from lancehead import cuda

                return cuda.device_array(0, d.of or np.uint8)
            if hasattr(x, "__cuda_array_interface__"):
                from lancehead import cuda

                return arguments.flat(cuda.as_cuda_array(x))
            if isinstance(x, MemoryPointer) and (owner := x.mem.typed(d.of)) is not None:
                found = arguments.pointed(owner, np.dtype(np.uint8), not is_constant)[x.ptr - x.mem.ptr :]
                itemsize = 1 if d.of is None else d.of.itemsize
                return found if d.of is None else found[: found.size // itemsize * itemsize].view(d.of)
            raise TypeError(f"argument {k + 1} of {self.name} is an array of the device, not {type(x).__name__}")

        return pointer


def _extents(of: Any) -> tuple[int, ...]:
    found = tuple(int(n) for n in of) if hasattr(of, "__iter__") else (int(of),)
    return found or (1,)


def _stream(stream: Any) -> Any:
    if stream is None and _STACKS.current is None:
        return 0
    there = get_current_stream() if stream is None else stream
    return there._there if there.ptr else 0


class RawModule:
    """Kernels and variables of a text in CUDA C, or of a file of it."""

    def __init__(
        self, *, code: str | None = None, path: str | None = None, options: Sequence[str] = (), backend: str = "nvrtc",
        translate_cucomplex: bool = False, enable_cooperative_groups: bool = False, name_expressions: Any = None,
        jitify: bool = False,
    ) -> None:  # fmt: skip
        if (code is None) == (path is None):
            raise TypeError("Exactly one of `code` and `path` keyword arguments must be given.")
        if name_expressions is not None and path is not None:
            raise TypeError("name_expressions are for code, not for a file")
        if backend not in _BACKENDS or (name_expressions is not None and backend != "nvrtc"):
            raise ValueError(f"name_expressions are for the backend nvrtc, not {backend!r}")
        if isinstance(code, bytes):
            code = code.decode()
        self.code, self.file_path, self.options, self.backend = code, path, tuple(options), backend
        self.enable_cooperative_groups = enable_cooperative_groups
        self.name_expressions = None if name_expressions is None else tuple(name_expressions)
        self._loaded: _Loaded | None = None
        self._kernels: dict[str, RawKernel] = {}

    def __reduce__(self) -> Any:
        names = ("code", "options", "backend", "enable_cooperative_groups", "name_expressions")
        return functools.partial(RawModule, path=self.file_path, **{n: getattr(self, n) for n in names}), ()

    def compile(self, log_stream: Any = None) -> None:
        """Reads the text; CompileException with the line of what is wrong."""
        if self._loaded is None:
            text = self.code
            if text is None:
                if not os.path.exists(str(self.file_path)):
                    raise CUDADriverError(301, str(self.file_path))
                if str(self.file_path).endswith((".cubin", ".ptx", ".fatbin")):
                    raise NotImplementedError(
                        "modules are read from CUDA C; PTX and machine code are linked by cuda.jit"
                    )
                text = _core.named_file(self.file_path).decode().replace("\r\n", "\n")
            self._loaded = _Loaded(text, self.options, str(self.file_path or "module.cu"))
            self._loaded.check()
            self._loaded.warn(log_stream)

    @property
    def module(self) -> RawModule:
        """The compiled module."""
        self.compile()
        return self

    def get_function(self, name: str) -> RawKernel:
        """The kernel of a name, of a template as one of `name_expressions`; CUDADriverError for another name."""
        self.compile()
        assert self._loaded is not None, "it is compiled"
        known = ["".join(n.split()) for n in self.name_expressions or ()]
        if "<" in name and "".join(name.split()) not in known:
            raise CUDADriverError(500, f"{name} is not in name_expressions")
        found = self._kernels.get(name)
        if found is None:
            together = self.enable_cooperative_groups
            more: dict[str, Any] = {"_loaded": self._loaded, "enable_cooperative_groups": together}
            found = RawKernel(self._loaded.code, name, self.options, self.backend, **more)
            found.compile()
            self._kernels[name] = found
        return found

    def get_global(self, name: str) -> Any:
        """The memory of a variable outside of functions."""
        self.compile()
        assert self._loaded is not None, "it is compiled"
        if name not in self._loaded.outer:
            raise CUDADriverError(500, f"there is no variable {name!r}")
        return self._loaded.outer[name].data


__all__ = ["CompileException", "RawKernel", "RawModule", "macros_of"]
