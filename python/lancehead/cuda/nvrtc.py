"""NVIDIA's compiler of CUDA C: its library NVRTC, or `nvcc`. Both come in wheels, and neither needs a GPU."""

from __future__ import annotations

import ctypes
import functools
import os
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from lancehead import config
from lancehead.cuda import toolkit
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
    library = toolkit.library("libnvrtc")
    if library is not None:
        made, log = _by_library(library, source, name, tuple(f"-I{f}" for f in folders), "PTX")
        return made.rstrip(b"\0").decode(), log
    compiler = toolkit.program("nvcc")
    if compiler is not None:
        return _by_program(compiler, source, name, folders)
    raise LinkerError(_ADVICE)


def _headers() -> list[Path]:
    return [home / "include" for home in toolkit.homes() if (home / "include").is_dir()]


def lto_ir(source: str) -> bytes:
    """LLVM IR of NVIDIA's, of CUDA C.

    Raises:
        LinkerError: there is no NVRTC.
    """
    library = toolkit.library("libnvrtc")
    if library is None:
        raise LinkerError("this needs NVRTC: `pip install nvidia-cuda-nvrtc`")
    return _by_library(library, source, "source.cu", ("-dlto",), "LTOIR")[0]


def _by_library(library: ctypes.CDLL, source: str, name: str, extra: tuple[str, ...], kind: str) -> tuple[bytes, str]:
    program = ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), 0, None, None)
    options = [b"--gpu-architecture=compute_90", b"-rdc=true", *(o.encode() for o in extra)]
    status = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    log = toolkit.read(library.nvrtcGetProgramLogSize, library.nvrtcGetProgramLog, program).rstrip(b"\0").decode()
    if status != 0:
        library.nvrtcDestroyProgram(ctypes.byref(program))
        raise NvrtcError(f'NVRTC_ERROR_COMPILATION in the compilation of "{name}":\n{log}')
    made = toolkit.read(getattr(library, f"nvrtcGet{kind}Size"), getattr(library, f"nvrtcGet{kind}"), program)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return made, log.strip()


def _by_program(program: str, source: str, name: str, folders: tuple[str, ...]) -> tuple[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder) / (Path(name).name if name.endswith(".cu") else "source.cu")
        where.write_text(source)
        out = Path(folder) / "out.ptx"
        command = [
            program,
            "-ptx",
            "-rdc=true",
            "-arch=compute_90",
            *(f"-I{f}" for f in folders),
            str(where),
            "-o",
            str(out),
        ]
        # Programs that nvcc starts write to its standard input, whatever that is.
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        log = (done.stderr + done.stdout).replace(folder + os.sep, "").strip()
        if done.returncode != 0:
            raise NvrtcError(f'NVRTC_ERROR_COMPILATION in the compilation of "{name}":\n{log}')
        return out.read_text(), log
