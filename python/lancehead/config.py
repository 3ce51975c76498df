"""Settings, read from the environment when lancehead is imported. They may be changed at run time."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable
from typing import Any

from lancehead import _core
from lancehead.errors import NumbaInvalidConfigWarning
from lancehead.notices import tell
from lancehead.options import public, suggestion


def _settings() -> Any:
    # The table is loaded where a variable is set, which is rare, so that an import stays quick.
    return importlib.import_module("lancehead.settings")


def _check() -> None:
    """Warns of settings that do not exist, and refuses values that nobody else looks at."""
    if any(name.startswith("LANCEHEAD_") for name in os.environ):
        complaints = _settings().unlikely(os.environ.get("LANCEHEAD_SEMANTICS", "").strip())
        for complaint in [*_settings().unknown(os.environ), *complaints]:
            tell(NumbaInvalidConfigWarning(complaint))
        _settings().check_flags(os.environ)
    name, features = _first("CPU_NAME"), _first("CPU_FEATURES")
    if name is None and features is None:
        return
    processors, known = _core.known_processors()
    if name and name[1] != "level":
        _settings().check_processor(*name, processors)
    if features:
        _settings().check_features(*features, known)


def _first(name: str) -> tuple[str, str] | None:
    """A variable, or Numba's of the same meaning, with its value."""
    names = (f"LANCEHEAD_{name}", f"NUMBA_{name}")
    return next(((n, os.environ[n]) for n in names if os.environ.get(n)), None)


def _flag(name: str) -> bool | None:
    return _settings().flag(name, os.environ) if os.environ.get(name) else None


def _named(name: str, *known: str) -> str:
    return str(_settings().named(name, os.environ, *known)) if os.environ.get(name) else ""


_check()

#: Keeps the code of every compiled function (`LANCEHEAD_CACHE=1`) or of none (`0`); by default, of those with
#: `cache=True`.
CACHE: bool | None = _flag("LANCEHEAD_CACHE")

#: Modules and packages whose functions have no checks of indices, unless a decorator asks for them.
UNCHECKED: tuple[str, ...] = tuple(filter(None, os.environ.get("LANCEHEAD_UNCHECKED", "").replace(" ", "").split(",")))

_CHECKED = _flag("LANCEHEAD_BOUNDSCHECK")

#: The semantics of functions whose decorators say none, or modules and packages whose functions have Numba's:
#: `LANCEHEAD_SEMANTICS=numba`, `LANCEHEAD_SEMANTICS=package,other.module`.
SEMANTICS: str = os.environ.get("LANCEHEAD_SEMANTICS", "").replace(" ", "")


def with_semantics(function: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The options of a decorator of a function, with the semantics that the settings say.

    >>> with_semantics(len, {"cache": True})
    {'cache': True}
    """
    is_numba = SEMANTICS == "numba" or bool(SEMANTICS) and _is_in(function, SEMANTICS.split(","))
    return {**options, "semantics": "numba"} if is_numba and "semantics" not in options else options


def with_settings(function: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The options of a decorator of a function, with what the settings say of semantics, of debugging and of checks of
    indices.

    >>> with_settings(len, {"cache": True})
    {'cache': True}
    """
    options = with_semantics(function, options)
    if DEBUGINFO_DEFAULT and options.get("debug") is None:
        options = {**options, "debug": True}
    if options.get("boundscheck") is not None:
        return options
    of_numba = BOUNDSCHECK if options.get("semantics") == "numba" else None
    is_checked = _CHECKED if _CHECKED is not None else of_numba != 0
    return options if is_checked and not _is_in(function, UNCHECKED) else {**options, "boundscheck": False}


def _is_in(function: Any, names: Iterable[str]) -> bool:
    """Whether a function is one of some modules and packages."""
    module = str(getattr(function, "__module__", ""))
    return any(module == name or module.startswith(f"{name}.") for name in names)


#: Where that is kept, instead of beside the sources.
CACHE_DIR: str = os.environ.get("LANCEHEAD_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR", "")

#: The folder of the store of objects, `0` for none (`LANCEHEAD_STORE`); by default, one in the user's cache. It is read
#: when a process compiles for the first time.
STORE: str = os.environ.get("LANCEHEAD_STORE", "")

#: The log that is printed: `compile` has each compilation (`LANCEHEAD_LOG`).
LOG: str = _named("LANCEHEAD_LOG", "compile")

#: Whether packs beside sources (`lancehead pack`) are looked at; a new pack is made without those.
PACKS: bool = True


def _size(text: str) -> int:
    units = {"K": 10**3, "M": 10**6, "G": 10**9}
    number = text.rstrip("KMG")
    if not number.replace(".", "", 1).isdecimal() or text[len(number) :] not in ("", *units):
        raise ValueError(f"LANCEHEAD_CACHE_SIZE={text}: bytes, or a number followed by K, M or G")
    return int(float(number) * units.get(text[len(number) :], 1))


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text or "inf")
    except ValueError:
        seconds = -1.0
    if not seconds > 0:
        raise ValueError(f"LANCEHEAD_COMPILE_SECONDS={text}: a number of seconds above 0")
    return seconds if text else None


def _levels(text: str) -> list[str]:
    known = [f"x86-64-v{n}" for n in (2, 3, 4)]
    named = text.replace("all", " ".join(known)).replace(",", " ").split()
    for level in named:
        if level not in known:
            near = suggestion(level, [*known, "all"])
            raise ValueError(f"LANCEHEAD_CACHE_LEVELS={text}: {', '.join(known)} or all{near}")
    return named


def _diagnostics() -> int:
    for name in ("LANCEHEAD_PARALLEL_DIAGNOSTICS", "NUMBA_PARALLEL_DIAGNOSTICS"):
        text = os.environ.get(name, "").strip()
        if text not in ("", "0", "1", "2", "3", "4"):
            raise ValueError(f"{name}={text}: the level of parallel diagnostics is 1, 2, 3 or 4")
        if text:
            return int(text)
    return 0


def _unproven() -> str:
    return _named("LANCEHEAD_UNPROVEN", "serial", "parallel", "error") or "serial"


def _threads() -> int:
    for name in ("LANCEHEAD_NUM_THREADS", "NUMBA_NUM_THREADS"):
        text = os.environ.get(name, "").strip()
        if text and not (text.isdecimal() and int(text) > 0):
            raise ValueError(f"{name}={text}: the number of threads is an integer above 0")
    return _core.max_threads()


#: Bytes that it may have there, after which what was not used for longest goes: `LANCEHEAD_CACHE_SIZE=500M`.
CACHE_SIZE: int = _size(os.environ.get("LANCEHEAD_CACHE_SIZE") or "2G")

#: How long the compilation of a call may take, in seconds; None for no limit: `LANCEHEAD_COMPILE_SECONDS=2.5`.
COMPILE_SECONDS: float | None = _seconds(os.environ.get("LANCEHEAD_COMPILE_SECONDS", ""))

#: Levels of processors (`x86-64-v2 x86-64-v3 x86-64-v4`) that every entry shall have code for, so that a cluster shares
#: it: `LANCEHEAD_CACHE_LEVELS`, or `all` for these three. By default, code is for the processor at hand.
CACHE_LEVELS: list[str] = _levels(os.environ.get("LANCEHEAD_CACHE_LEVELS", ""))

#: Prints what the cache reads and writes: `LANCEHEAD_DEBUG_CACHE=1`.
DEBUG_CACHE: bool = bool(_flag("LANCEHEAD_DEBUG_CACHE"))

#: Runs the Python functions themselves: `LANCEHEAD_DISABLE_JIT=1`.
DISABLE_JIT: int = int(bool(_flag("LANCEHEAD_DISABLE_JIT")))

#: Prints what `f.parallel_diagnostics(level=n)` does when a function with `parallel=True` has been compiled:
#: `LANCEHEAD_PARALLEL_DIAGNOSTICS=n`.
PARALLEL_DIAGNOSTICS: int = _diagnostics()

#: How parallel loops run whose iterations may depend on each other, as it was when lancehead was imported; decorators
#: read `LANCEHEAD_UNPROVEN` themselves.
UNPROVEN: str = _unproven()

#: Threads of parallel loops, if it is to be another number than that of processors: `LANCEHEAD_NUM_THREADS`.
NUM_THREADS: int = _threads()
NUMBA_NUM_THREADS: int = NUM_THREADS

#: The processors that the process may run on.
NUMBA_DEFAULT_NUM_THREADS: int = len(os.sched_getaffinity(0))

#: Accepted for programs written for Numba: there is one pool, which is safe in all ways. `threading_layer` names what
#: was asked for.
THREADING_LAYER: str = os.environ.get("NUMBA_THREADING_LAYER", "default")
THREADING_LAYER_PRIORITY: list[str] = os.environ.get("NUMBA_THREADING_LAYER_PRIORITY", "tbb omp workqueue").split()

#: Numba's switch for its simulator of GPUs. The CPU device is there anyway; where lancehead serves as Numba,
#: `cuda.is_available()` says so only if somebody asked for it.
ENABLE_CUDASIM: int = int(os.environ.get("NUMBA_ENABLE_CUDASIM", "").strip() == "1")

#: Settings of Numba and numba-cuda that programs set. Most mean nothing here: what they turn on is always there, or
#: never.
CUDA_ENABLE_NRT: int = 1
CUDA_DEBUGINFO_DEFAULT: int = 0
CUDA_DEBUG_POLY: int = 0
#: Where set, launches warn of what would be slow on a GPU: few threads, arrays of the host.
CUDA_LOW_OCCUPANCY_WARNINGS: int = 0
CUDA_WARN_ON_IMPLICIT_COPY: int = 0
CUDA_LOG_LEVEL: str = ""
CUDA_LOG_API_ARGS: int = 0
CUDA_ENABLE_PYNVJITLINK: int = 0
CUDA_ARRAY_INTERFACE_SYNC: int = 1
CUDA_PER_THREAD_DEFAULT_STREAM: int = 0
ALWAYS_WARN_UNINIT_VAR: int = 0
DEBUG: int = 0
BOUNDSCHECK: int | None = {"0": 0, "1": 1}.get(os.environ.get("NUMBA_BOUNDSCHECK", "").strip())
USING_SVML: bool = False
_DEBUGINFO = _flag("LANCEHEAD_DEBUGINFO")
#: Functions whose decorators do not say it are compiled for debugging.
DEBUGINFO_DEFAULT: int = int(os.environ.get("NUMBA_DEBUGINFO", "").strip() == "1" if _DEBUGINFO is None else _DEBUGINFO)
DISABLE_PERFORMANCE_WARNINGS: int = int(os.environ.get("NUMBA_DISABLE_PERFORMANCE_WARNINGS", "").strip() == "1")
FULL_TRACEBACKS: int = 0
LOOP_VECTORIZE: int = 1
SLP_VECTORIZE: int = 0
OPT: int = 3
DUMP_OPTIMIZED: int = 0
DUMP_BYTECODE: int = 0
DUMP_CFG: int = 0
DUMP_IR: int = 0
DUMP_LLVM: int = 0
DUMP_ASSEMBLY: int = 0

#: Device memory that may wait to be freed, as numba-cuda counts it: pieces, and share of all memory.
CUDA_DEALLOCS_COUNT: int = 10
CUDA_DEALLOCS_RATIO: float = 0.2

#: The manager of device memory that numba-cuda would import: there is one.
CUDA_MEMORY_MANAGER: str = "default"

#: Where CUDA C that kernels link finds its headers, separated by colons.
CUDA_NVRTC_EXTRA_SEARCH_PATHS: str = os.environ.get("NUMBA_CUDA_NVRTC_EXTRA_SEARCH_PATHS", "")


def __dir__() -> list[str]:
    return [name for name in globals() if name.isupper() and name[0] != "_"]


public(globals())
