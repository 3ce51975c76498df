"""NVIDIA's compiler of CUDA C: its library NVRTC, or `nvcc`. Both come in wheels, and neither needs a GPU."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from lancehead import config
from lancehead.cuda.errors import LinkerError, NvrtcError

_ADVICE = "CUDA C needs NVIDIA's compiler: `pip install nvidia-cuda-nvrtc nvidia-cuda-runtime` (or `nvidia-cuda-nvcc`)"


def compile(source: str, name: str, folders: Iterable[str] = ()) -> tuple[str, str]:
    """PTX of CUDA C, and what the compiler remarks.

    Raises:
        NvrtcError: the source is wrong; the text says where.
        LinkerError: there is no compiler; the text says what to install.
    """
    extra = [f for f in config.CUDA_NVRTC_EXTRA_SEARCH_PATHS.split(os.pathsep) if f]
    return _compiled(source, name, (*folders, *extra, *map(str, _headers())))


@functools.cache
def _compiled(source: str, name: str, folders: tuple[str, ...]) -> tuple[str, str]:
    library = _library()
    if library is not None:
        return _by_library(library, source, name, folders)
    compiler = _program()
    if compiler is not None:
        return _by_program(compiler, source, name, folders)
    raise LinkerError(_ADVICE)


def _wheels() -> Iterator[Path]:
    """Folders of NVIDIA's wheels."""
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations or ()) if spec else ():
        yield from sorted((p for p in Path(root).iterdir() if p.is_dir()), reverse=True)


def _homes() -> list[Path]:
    toolkit = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    return [*([Path(toolkit)] if toolkit else []), *_wheels(), Path("/usr/local/cuda")]


def _headers() -> list[Path]:
    return [home / "include" for home in _homes() if (home / "include").is_dir()]


def _library() -> ctypes.CDLL | None:
    for home in _homes():
        for folder in ("lib", "lib64", "bin"):
            for path in sorted((home / folder).glob("libnvrtc.so*")):
                return ctypes.CDLL(str(path))
    return None


def _program() -> str | None:
    found = (str(home / "bin" / "nvcc") for home in _homes() if (home / "bin" / "nvcc").exists())
    return next(found, None) or shutil.which("nvcc")


def _by_library(library: ctypes.CDLL, source: str, name: str, folders: tuple[str, ...]) -> tuple[str, str]:
    program = ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), 0, None, None)
    options = [b"--gpu-architecture=compute_90", b"-rdc=true", *(f"-I{f}".encode() for f in folders)]
    status = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    log = _text(library.nvrtcGetProgramLogSize, library.nvrtcGetProgramLog, program)
    if status != 0:
        library.nvrtcDestroyProgram(ctypes.byref(program))
        raise NvrtcError(f'NVRTC_ERROR_COMPILATION in the compilation of "{name}":\n{log}')
    ptx = _text(library.nvrtcGetPTXSize, library.nvrtcGetPTX, program)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return ptx, log.strip()


def _text(size_of: object, get: object, program: ctypes.c_void_p) -> str:
    size = ctypes.c_size_t()
    size_of(program, ctypes.byref(size))  # type: ignore[operator]
    buffer = ctypes.create_string_buffer(size.value)
    get(program, buffer)  # type: ignore[operator]
    return buffer.value.decode()


def _by_program(program: str, source: str, name: str, folders: tuple[str, ...]) -> tuple[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder) / (Path(name).name if name.endswith(".cu") else "source.cu")
        where.write_text(source)
        out = Path(folder) / "out.ptx"
        command = [program, "-ptx", "-rdc=true", "-arch=compute_90", *(f"-I{f}" for f in folders), str(where), "-o", str(out)]
        # What nvcc starts writes to its standard input, whatever that is.
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        log = (done.stderr + done.stdout).replace(folder + os.sep, "").strip()
        if done.returncode != 0:
            raise NvrtcError(f'NVRTC_ERROR_COMPILATION in the compilation of "{name}":\n{log}')
        return out.read_text(), log
