"""Finds NVIDIA's toolkit, installed as wheels or as a whole, and calls the tools that work without a GPU: assembler,
disassembler, linker.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from lancehead.cuda.errors import LinkerError


def homes() -> list[Path]:
    """Folders that hold parts of the toolkit."""
    toolkit = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    return [*([Path(toolkit)] if toolkit else []), *_wheels(), Path("/usr/local/cuda")]


def _wheels() -> Iterator[Path]:
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations or ()) if spec else ():
        yield from sorted((p for p in Path(root).iterdir() if p.is_dir()), reverse=True)


def library(name: str) -> ctypes.CDLL | None:
    """A library, `libnvrtc` for example."""
    for home in homes():
        for folder in ("lib", "lib64", "bin"):
            for path in sorted((home / folder).glob(f"{name}.so*")):
                return ctypes.CDLL(str(path))
    return None


def program(name: str) -> str | None:
    """The path of a program, `ptxas` for example."""
    found = (str(home / "bin" / name) for home in homes() if (home / "bin" / name).exists())
    return next(found, None) or shutil.which(name)


@functools.cache
def assembled(ptx: str, arch: str, options: tuple[str, ...] = ()) -> tuple[bytes, int | None]:
    """Machine code of PTX for an architecture such as `sm_90`, and registers of a thread.

    Raises:
        RuntimeError: there is no assembler.
        LinkerError: it refuses the PTX.
    """
    ptxas = _needed("ptxas", "nvidia-cuda-nvcc")
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        source.write_text(ptx)
        command = [ptxas, "-v", *options, f"-arch={arch}", str(source), "-o", str(cubin)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise LinkerError(done.stderr.replace(folder + os.sep, ""))
        used = [int(n) for n in re.findall(r"Used (\d+) registers", done.stderr)]
        return cubin.read_bytes(), max(used, default=None)


def disassembled(cubin: bytes, *options: str) -> str:
    """The text of machine code.

    Raises:
        RuntimeError: there is no disassembler.
    """
    nvdisasm = _needed("nvdisasm", "nvidia-cuda-nvdisasm")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [nvdisasm, *options, file.name]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout


def _needed(name: str, wheel: str) -> str:
    path = program(name)
    if path is None:
        raise RuntimeError(f"{name} was not found: `pip install {wheel}`, or add that of a CUDA toolkit to PATH")
    return path


# `nvJitLinkInputType`.
_INPUTS = {"cubin": 1, "ptx": 2, "ltoir": 3, "fatbin": 4, "o": 5, "a": 6}


def linked(items: list[tuple[str, str, bytes]], *options: str) -> bytes:
    """Machine code of modules, given by their kinds, names and bytes; with the option `-ptx`, PTX of their LLVM IR.

    Raises:
        LinkerError: there is no linker, or it refuses them; the text says why.
    """
    found = library("libnvJitLink")
    if found is None:
        raise LinkerError("this needs NVIDIA's linker: `pip install nvidia-nvjitlink`")
    handle = ctypes.c_void_p()
    given = [o.encode() for o in (*options, *(["-lto"] if any(kind == "ltoir" for kind, _, _ in items) else ()))]
    status = _jit(found, "Create")(ctypes.byref(handle), len(given), (ctypes.c_char_p * len(given))(*given))
    if status != 0:
        raise LinkerError(f"nvJitLinkCreate gives the error {status}")
    try:
        for kind, name, data in items:
            # PTX ends with a zero byte.
            data = data + b"\0" if kind == "ptx" else data
            status = status or _jit(found, "AddData")(
                handle, _INPUTS[kind], data, ctypes.c_size_t(len(data)), name.encode()
            )
        if status or _jit(found, "Complete")(handle):
            said = (
                read(_jit(found, "GetErrorLogSize"), _jit(found, "GetErrorLog"), handle)
                .rstrip(b"\0")
                .decode(errors="replace")
            )
            raise LinkerError(said.rstrip() or f"nvJitLink gives the error {status}")
        what = "Ptx" if "-ptx" in options else "Cubin"
        return read(_jit(found, f"GetLinked{what}Size"), _jit(found, f"GetLinked{what}"), handle)
    finally:
        _jit(found, "Destroy")(ctypes.byref(handle))


def _jit(found: ctypes.CDLL, name: str) -> Callable[..., int]:
    # Until CUDA 12.4 the functions' names ended in their version.
    names = [f"nvJitLink{name}", *(f"__nvJitLink{name}_12_{n}" for n in range(9))]
    function: Callable[..., int] = next(getattr(found, n) for n in names if hasattr(found, n))
    return function


def read(size_of: Callable[..., int], get: Callable[..., int], handle: ctypes.c_void_p) -> bytes:
    """Bytes that one function gives the number of, and another one the bytes."""
    size = ctypes.c_size_t()
    size_of(handle, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(max(size.value, 1))
    get(handle, buffer)
    return buffer.raw[: size.value]
