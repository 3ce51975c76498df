"""Functions of other languages that kernels call: CUDA C, PTX, and machine code.

PTX is read back and compiled with the kernel. CUDA C becomes PTX by NVIDIA's compiler: NVRTC or `nvcc`, whichever is
installed. Machine code, and PTX that cannot be read back, is joined to kernels for GPUs by NVIDIA's linker.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from lancehead import _core
from lancehead.cuda import nvrtc, toolkit
from lancehead.cuda.devices import current_context
from lancehead.cuda.errors import LinkerError
from lancehead.notices import tell


class LinkableCode:
    """Code in memory that can be linked to a kernel.

    >>> cuda.LinkableCode(b"...", name="tables").name
    'tables'
    """

    kind = ""

    def __init__(
        self, data: Any, name: str | None = None, setup_callback: Callable[[Any], object] | None = None,
        teardown_callback: Callable[[Any], object] | None = None, nrt: bool = False,
    ) -> None:  # fmt: skip
        for callback in (setup_callback, teardown_callback):
            if callback is not None and not callable(callback):
                raise TypeError(f"a callback must be callable, not {callback!r}")
        self._data, self.name = data, name or f"<unnamed-{self.kind}>"
        self.setup_callback, self.teardown_callback, self.nrt = setup_callback, teardown_callback, nrt

    @property
    def data(self) -> Any:
        """The code."""
        return self._data.read() if hasattr(self._data, "read") else self._data


class CUSource(LinkableCode):
    """CUDA C.

    >>> text = 'extern "C" __device__ int twice(int *out, int x) { *out = 2 * x; return 0; }'
    >>> cuda.CUSource(text, name="twice.cu").kind
    'cu'
    """

    kind = "cu"


class PTXSource(LinkableCode):
    """PTX.

    >>> cuda.PTXSource(".version 7.0", name="twice.ptx").kind
    'ptx'
    """

    kind = "ptx"


class Cubin(LinkableCode):
    """Machine code for a GPU.

    >>> cuda.Cubin(b"...", name="twice.cubin").kind
    'cubin'
    """

    kind = "cubin"


class Fatbin(LinkableCode):
    """Code for several GPUs.

    >>> cuda.Fatbin(b"...").kind
    'fatbin'
    """

    kind = "fatbin"


class Archive(LinkableCode):
    """A library of objects.

    >>> cuda.Archive(b"...").kind
    'a'
    """

    kind = "a"


class Object(LinkableCode):
    """An object file.

    >>> cuda.Object(b"...").kind
    'o'
    """

    kind = "o"


class LTOIR(LinkableCode):
    """LLVM IR of NVIDIA's.

    >>> cuda.LTOIR(b"...").kind
    'ltoir'
    """

    kind = "ltoir"


class LoadedCode:
    """The loaded module that callbacks receive on the CPU device: the code of a kernel for one tuple of argument types.
    Functions of the driver do not accept its handle.
    """

    def __init__(self) -> None:
        self.handle = object()


_LOADING = threading.RLock()


def load(kernel: Any, items: list[LinkableCode], types: Any) -> None:
    """Calls the callbacks of what a kernel is linked with: once before it runs with arguments of these types, and when
    it goes, its context is reset or Python ends."""
    with _LOADING:
        if (known := kernel.loaded.get(types)) is None or not known.alive:
            code = LoadedCode()
            _call([i.setup_callback for i in items], code)
            kernel.loaded[types] = weakref.finalize(kernel, _call, [i.teardown_callback for i in items], code)
            current_context().loaded.append(kernel.loaded[types])


def _call(callbacks: list[Callable[[Any], object] | None], code: LoadedCode) -> None:
    for callback in filter(None, callbacks):
        callback(code)


_KINDS = {code.kind: code.__name__ for code in LinkableCode.__subclasses__()}


class DeclaredFunction:
    """A function that is defined elsewhere, see `declare_device`."""

    def __init__(self, name: str, sig: _core.Signature, link: tuple[Any, ...], abi: str) -> None:
        self.name, self.sig, self.link, self.abi = name, sig, link, abi

    def __repr__(self) -> str:
        return f"<declared device function {self.name}{self.sig}>"

    def __call__(self, *args: Any) -> Any:
        raise RuntimeError(f"{self.name} is a function for devices: kernels call it")


def declare_device(
    name: str, sig: Any, link: Any = None, use_cooperative: bool = False, abi: str = "numba"
) -> DeclaredFunction:
    """A function for devices that is defined in CUDA C or PTX.

    `link` says where: paths of files, `CUSource`, `PTXSource`, or several of them; without it, the kernel's own `link`
    has to. By Numba's convention (`abi="numba"`) it is `extern "C" __device__ int f(T *result, ...)`, which gives 0; by
    C's, `T f(...)`.

    >>> from lancehead import cuda
    >>> cuda.declare_device("twice", "int32(int32)").sig
    (int32) -> int32

    Raises:
        TypeError: the signature has no return type.
        ValueError: `abi` is neither `numba` nor `c`.
    """
    if abi not in ("numba", "c"):
        raise ValueError(f"abi must be 'numba' or 'c', not {abi!r}")
    signature = _core.parse_signature(sig) if isinstance(sig, str) else sig
    if not isinstance(signature, _core.Signature) or signature.return_type is None:
        raise TypeError("Return type must be provided for device declarations")
    return DeclaredFunction(name, signature, sources(link), abi)


def sources(link: Any) -> tuple[Any, ...]:
    """The items to link, as a tuple.

    Raises:
        RuntimeError: a file whose extension says nothing.
    """
    if link is None:
        return ()
    given = tuple(link) if isinstance(link, Iterable) and not isinstance(link, (str, bytes)) else (link,)
    for item in given:
        _kind(item)
    return given


def _kind(item: Any) -> str:
    if isinstance(item, LinkableCode):
        return item.kind
    extension = Path(item).suffix[1:]
    if not extension:
        raise RuntimeError("Don't know how to link file with no extension")
    if extension not in _KINDS:
        raise RuntimeError(f"Don't know how to link file with extension .{extension}")
    return extension


_offered: list[tuple[Any, ...]] = [()]


def number(link: Any) -> int:
    """A number for what a kernel links, by which the compiler asks for it; 0 for nothing."""
    given = sources(link)
    if not given:
        return 0
    for item in given:
        if not isinstance(item, LinkableCode) and not Path(item).exists():
            raise LinkerError(f"{item} not found")
    _offered.append(given)
    return len(_offered) - 1


def ptx_of(function: DeclaredFunction, kernel: int) -> tuple[str, str | None]:
    """PTX of what a function is linked with, and the kernel that calls it: one module of all; and why some of it has
    none."""
    modules = _modules([function], kernel)
    made = [data.decode() for kind, _, data in modules if kind == "ptx"]
    ir = [module for module in modules if module[0] == "ltoir"]
    mixed = [module for module in modules if module[0] in _MIXED]
    machine = next((f"{name} is machine code" for kind, name, _ in modules if kind == "cubin"), None)
    if mixed:
        try:
            return _joined([*made, _of_ir(function.name, [*ir, *mixed])]), machine
        except LinkerError as e:
            machine = machine or f"{mixed[0][1]} is machine code, or cannot be linked: {e}"
    if ir:
        made.append(_of_ir(function.name, ir))
    return _joined(made), machine


def machine_code(ptx: str, functions: list[DeclaredFunction], kernel: int, arch: str, lines: bool) -> bytes:
    """Machine code of a kernel's PTX and of all that it, and functions that it calls, are linked with.

    Raises:
        LinkerError: there is no linker, or it refuses something; the text says why.
    """
    modules = _modules(functions, kernel)
    own, options = ("ptx", "kernel", ptx.encode()), (f"-arch={arch}", *(("-lineinfo",) if lines else ()))
    machine = [module for module in modules if module[0] in ("cubin", *_MIXED)]
    try:
        # PTX and sources beside machine code may define the same functions once more, for the CPU device.
        return toolkit.linked([own, *(machine or modules)], *options)
    except LinkerError:
        if len(machine) in (0, len(modules)):
            raise
        return toolkit.linked([own, *modules], *options)


# Containers that may hold NVIDIA's LLVM IR or machine code.
_MIXED = ("fatbin", "o", "a")


def _modules(functions: list[DeclaredFunction], kernel: int) -> list[tuple[str, str, bytes]]:
    """Kinds, names and contents of all that functions and their kernel are linked with, each once; CUDA C is PTX."""
    given = [item for f in functions for item in f.link] + list(_offered[kernel])
    items = {item if isinstance(item, LinkableCode) else str(item): item for item in given}
    return [_module(item) for item in items.values()]


def _of_ir(name: str, modules: list[tuple[str, str, bytes]]) -> str:
    # Only what something refers to is kept: a variable with the function's address.
    keep = f'extern "C" {{ __device__ void {name}(); __device__ void (*lh_keep_{name})() = {name}; }}'
    ptx = (
        toolkit.linked([*modules, ("ltoir", "keep", nvrtc.lto_ir(keep))], "-arch=sm_90", "-ptx").rstrip(b"\0").decode()
    )
    return "\n".join(line for line in ptx.splitlines() if f"lh_keep_{name}" not in line)


def _read(item: Any) -> tuple[str, str, Any]:
    kind = _kind(item)
    if isinstance(item, LinkableCode):
        return kind, item.name, item.data
    path = Path(item)
    if not path.exists():
        raise LinkerError(f"{item} not found")
    try:
        return kind, path.name, _core.named_file(path)
    except OSError as error:
        # The program may read it itself.
        raise LinkerError(f"{item} is not linked: {error}; its content is, as cuda.{_KINDS[kind]}") from error


def _module(item: Any) -> tuple[str, str, bytes]:
    kind, name, data = _read(item)
    data = data.encode() if isinstance(data, str) else bytes(data)
    if kind != "cu":
        return kind, name, data
    folder = () if isinstance(item, LinkableCode) else (str(Path(item).parent),)
    made, log = nvrtc.compile(data.decode(), name, folder)
    if log:
        tell(f"NVRTC log messages: {log}")
    return "ptx", name, made.encode()


def _joined(modules: Iterable[str]) -> str:
    """Several modules as one: what heads each stands once, and what one declares another may define."""
    lines: list[str] = []
    for i, text in enumerate(modules):
        kept = text.replace("\0", "").splitlines()
        lines += (
            kept
            if i == 0
            else [line for line in kept if not line.lstrip().startswith((".version", ".target", ".address_size"))]
        )
    return "\n".join(lines) + "\n"
