"""The table of settings: variables of the environment whose names begin with `LANCEHEAD_`.

`lancehead.config` checks by it, and `xtask/options_page.py` writes the table of `docs/debugging.md` from it. Nothing of
lancehead is imported here but the table of options, which suggests names.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from typing import NamedTuple

from lancehead.options import suggestion

PREFIX = "LANCEHEAD_"
SEMANTICS = ("python", "numba")


class Setting(NamedTuple):
    """A variable of the environment."""

    name: str
    #: As an example, the way it is written in the page.
    example: str
    default: str
    meaning: str
    #: Whether it is `1` or `0`.
    is_flag: bool = False


#: All settings.
SETTINGS = (
    Setting("DISABLE_JIT", "1", "`0`", "runs the Python functions themselves", True),
    Setting("SERVE_NUMBA", "1", "`0`", "`import numba` gives lancehead, in processes that a program starts, too", True),
    Setting("NUM_THREADS", "4", "one a processor", "threads of parallel loops"),
    Setting("CACHE", "1", "those with `cache=True`",
            "keeps the code of every function, as with `cache=True`; `0` keeps none", True),
    Setting("CACHE_DIR", "path", "beside the sources", "where to"),
    Setting("CACHE_LEVELS", "all", "the processor at hand",
            "code for several levels of processors in one entry ([more](caching.md))"),
    Setting("CACHE_SIZE", "500M", "`2G`", "how much of it; what was not used for longest goes"),
    Setting("COMPILE_SECONDS", "2.5", "no limit",
            "how long the compilation of a call may take before it ends with a `CompilationTimeoutError`"),
    Setting("STORE", "path", "in the user's cache",
            "folder of the [store of objects](caching.md#library-code-is-compiled-once); `0` keeps none in files"),
    Setting("BOUNDSCHECK", "0", "`1`", "`0` leaves the checks of indices out, unless a decorator asks for them", True),
    Setting("UNCHECKED", "package,other.module", "none",
            "modules and packages whose functions have no checks of indices, unless a decorator asks for them"),
    Setting("SEMANTICS", "numba", "`python`",
            "the semantics of functions whose decorator says none: `python` or `numba`, or some modules and packages "
            "with `numba`, as in `package,other.module` ([more](semantics.md))"),
    Setting("DEBUGINFO", "1", "`0`", "compiles for debuggers, as with `debug=True`, unless a decorator says otherwise; "
            "`NUMBA_DEBUGINFO` means the same", True),
    Setting("DEBUG_CACHE", "1", "`0`", "prints what the cache reads and writes", True),
    Setting(
        "LIBRARY", "source", "as stored",
        "takes lancehead's library from its Python files, not as it was stored when lancehead was built; `decoded` "
        "types all of it anew, a path takes typed functions from that file",
    ),
    Setting("CPU_NAME", "x86-64-v3", "the one at hand",
            "the processor to compile for: one that LLVM knows, or `level` for the highest level that this one has"),
    Setting("CPU_FEATURES", "+avx2,-fma", "none", "changes to what that processor has"),
    Setting("PARALLEL_DIAGNOSTICS", "1", "`0`",
            "what became of parallel loops, whenever a function is compiled "
            "([more](parallel.md#what-became-of-loops))"),
    Setting("UNPROVEN", "error", "`serial`",
            "parallel loops whose iterations may depend on each other: `serial` runs them in order and warns, "
            "`parallel` trusts them, `error` refuses them ([more](parallel.md#loops-that-may-depend-on-their-order))"),
    Setting("RACE", "1", "`0`",
            "checks parallel loops for races while they run ([more](parallel.md)), and kernels for [what is not "
            "defined](checking.md)", True),
    Setting("CUDA_DEVICE", "cpu", "a GPU, if there is one",
            "where kernels run: `cpu` or `gpu` ([more](cuda.md#on-a-gpu))"),
    Setting("CUDA_DRIVER", "path", "`libcuda.so.1`", "the library of NVIDIA's driver"),
    Setting("CPU_DEVICES", "2", "`1`", "number of CPU devices that `lancehead.cuda` lists"),
    Setting("XP_DEVICE", "cuda:0", "`cpu`",
            "where `lancehead.xp` makes arrays of which nothing says where ([more](xp.md#devices))"),
    Setting("XP_KERNELS", "1", "`0`",
            "lets the CPU device compute arrays of `lancehead.xp` by the kernels of GPUs ([more](xp.md#devices))"),
    Setting("LOG", "compile", "nothing",
            "prints what is compiled, when, why again, and how long it took ([more](tools.md#what-is-compiled-when))"),
    Setting("PROFILE", "1", "`0`",
            "shows calls of compiled functions to profilers of Python ([more](tools.md#profiles))", True),
    Setting("PERF", "1", "`0`", "names for `perf`, above", True),
    Setting("DUMP", "fuse_elementwise", "none",
            "for those who change the compiler: prints typed IR after a pass, or after `all` of them"),
    Setting(
        "PASSES", "-bounds", "all",
        "for those who change the compiler: `-PASS` leaves a pass out, `only=PASS` and `until=PASS` run less, "
        "`limit=N` stops after so many runs "
        "(`cargo xtask bisect`), `damage=PASS` makes a pass leave what does not verify, `time` prints how long each "
        "took; several with commas between them",
    ),
)  # fmt: skip

#: Variables that lancehead's own tests and its build read.
_OF_TESTS = ("BLESS", "BUILD", "NVIDIA", "ORDER", "TORTURE", "UNDONE")


def flag(name: str, environment: Mapping[str, str]) -> bool | None:
    """The value of a setting that is on or off; `None` if it is not set.

    Raises:
        ValueError: it is neither `1` nor `0`.

    >>> flag("LANCEHEAD_CACHE", {"LANCEHEAD_CACHE": "1"})
    True
    """
    text = environment.get(name, "").strip()
    if text not in ("", "0", "1"):
        raise ValueError(f"{name}={text}: it is 1 or 0")
    return text == "1" if text else None


def unknown(environment: Mapping[str, str]) -> list[str]:
    """Complaints of variables that would be settings if they were spelt right.

    >>> unknown({"LANCEHEAD_CASHE": "1"})
    ['LANCEHEAD_CASHE is no setting of lancehead; did you mean `LANCEHEAD_CACHE`?']
    """
    known = [PREFIX + setting.name for setting in SETTINGS]
    read = {*known, *(PREFIX + name for name in _OF_TESTS)}
    strange = sorted(name for name in environment if name.startswith(PREFIX) and name not in read)
    return [f"{name} is no setting of lancehead{suggestion(name, known)}" for name in strange]


def unlikely(semantics: str) -> list[str]:
    """Complaints of semantics that are no module, and near to a name of semantics.

    >>> unlikely("nubma"), unlikely("numpy")
    (['LANCEHEAD_SEMANTICS=nubma: there is no such module; did you mean `numba`?'], [])
    """
    near = suggestion(semantics, SEMANTICS) if semantics.isidentifier() and semantics not in SEMANTICS else ""
    if not near or semantics in sys.modules or importlib.import_module("importlib.util").find_spec(semantics):
        return []
    return [f"LANCEHEAD_SEMANTICS={semantics}: there is no such module{near}"]


def check_flags(environment: Mapping[str, str]) -> None:
    """Refuses values of settings that are on or off.

    Raises:
        ValueError: a value is neither `1` nor `0`.
    """
    for setting in SETTINGS:
        if setting.is_flag:
            flag(PREFIX + setting.name, environment)


def named(name: str, environment: Mapping[str, str], *known: str) -> str:
    """The value of a setting that is one of some names; empty if it is not set.

    Raises:
        ValueError: it is none of them, with the name that is near.

    >>> named("LANCEHEAD_LOG", {"LANCEHEAD_LOG": "complie"}, "compile")
    Traceback (most recent call last):
    ValueError: LANCEHEAD_LOG=complie: it is compile; did you mean `compile`?
    """
    text = environment.get(name, "").strip()
    if text and text not in known:
        listed = ", ".join(known[:-1]) + " or " * (len(known) > 1) + known[-1]
        raise ValueError(f"{name}={text}: it is {listed}{suggestion(text, known)}")
    return text


def check_processor(variable: str, name: str, known: list[str]) -> None:
    """Refuses a processor that LLVM does not know.

    Raises:
        ValueError: it does not, with the names that are near.
    """
    if name not in known:
        raise ValueError(
            f"{variable}={name}: LLVM knows no such processor, as x86-64-v3, skylake or "
            f"znver4{suggestion(name, known, 3)}"
        )


def check_features(variable: str, text: str, known: list[str]) -> None:
    """Refuses features of processors that LLVM does not know.

    Raises:
        ValueError: one has no sign, or LLVM does not know it, with the names that are near.
    """
    for feature in filter(None, (part.strip() for part in text.split(","))):
        if feature[0] not in "+-":
            raise ValueError(f"{variable}={text}: a feature begins with + or -, as in +{feature}")
        if feature[1:] not in known:
            raise ValueError(
                f"{variable}={text}: LLVM knows no feature `{feature[1:]}`, as avx2 or "
                f"fma{suggestion(feature[1:], known, 3)}"
            )
