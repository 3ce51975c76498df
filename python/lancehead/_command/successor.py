"""The names of `numba_cuda_mlir.cuda`, as `lancehead run` serves them: those of `lancehead.cuda`, and some of its own.

Its decorator has more options than numba-cuda's, and takes the signature of a kernel from annotations.
"""

from __future__ import annotations

import inspect
from typing import Any

from lancehead import _core, cfuncs, cuda, notices
from lancehead.cuda.names import Name
from lancehead.errors import NumbaInvalidConfigWarning
from lancehead.options import of, suggestion

#: Options that choose how a GPU's code is made, or that only the compiler itself gives.
_MUTE = (
    "annotations_as_signatures capi chip experimental_ast_transforms fast_math features no_cpython_wrapper opt_level "
    "profile_jit ptxas_options signature _dbg_optnone _nrt"
).split()
#: Options that write what there is not here.
_DUMPS = (
    "dump dump_ast dump_ast_after_all dump_cubin dump_llvmir dump_mlir dump_numba_ir dump_ptx print_after_all "
    "print_before_all"
).split()
_OWN = ("HAS_NUMBA", "carray", "compile_for", "farray", "jit", "local_array", "shared_array", "vector")

HAS_NUMBA = False
carray, farray = cfuncs.carray, cfuncs.farray
local_array, shared_array = cuda.local.array, cuda.shared.array
#: `vector.load(array, index, shape)` and `vector.store(array, index, vector)`, of several elements at once.
vector = Name("cuda.vector", ("load", "store"))

_KNOWN = {*of("cuda.jit"), *_MUTE, *_DUMPS} - {"boundscheck", "overflow", "semantics", "output"}


def jit(func_or_sig: Any = None, **options: Any) -> Any:
    """`cuda.jit` as `numba_cuda_mlir` has it: annotations of all parameters are the signature.

    Raises:
        ValueError: there is no such option, its value is not possible, or `debug=True` goes with optimisation.
        TypeError: an option's value is of a wrong type, or a function has both a signature and annotations.
        SystemExit: `help` was given.
    """
    given = _settled(options)
    plain = [] if func_or_sig is None or inspect.isfunction(func_or_sig) else func_or_sig
    annotated = options.get("annotations_as_signatures", True)

    def decorate(function: Any) -> Any:
        found = _signature(function) if annotated and inspect.isfunction(function) else None
        if found is not None and plain != []:
            raise TypeError(
                f"Conflicting signature sources for '{function.__name__}': both an explicit signature and type "
                "annotations are provided. Use one or the other, or annotations_as_signatures=False"
            )
        signature = found if plain == [] else plain
        return cuda.jit(**given)(function) if signature is None else cuda.jit(signature, **given)(function)

    return decorate if func_or_sig is None or plain != [] else decorate(func_or_sig)


def _settled(options: dict[str, Any]) -> dict[str, Any]:
    """The options of lancehead for those of `numba_cuda_mlir`."""
    if "help" in options:
        raise SystemExit(_listed("help was specified"))
    if unknown := sorted(set(options) - _KNOWN):
        near = suggestion(unknown[0], sorted(_KNOWN))
        raise ValueError(_listed(f"Got invalid options: {', '.join(unknown)}{near}."))
    if "opt" in options and "opt_level" in options:
        raise ValueError("Cannot specify both opt and opt_level at the same time.")
    level = options.get("opt_level", 0 if options.get("opt") in (False, 0) else 3)
    if not isinstance(level, int):
        raise TypeError(_listed(f"Expected opt_level to be of type {int}, got {level}"))
    if not 0 <= level <= 3:
        raise ValueError(_listed(f"opt_level: Expected opt_level to be between 0 and 3, got {level}"))
    if options.get("debug") and level > 0:
        raise ValueError(
            "debug=True requires opt_level=0 (ptxas does not support optimized debugging). Set opt_level=0 or "
            "opt=False."
        )
    if printing := [name for name in _DUMPS if options.get(name)]:
        text = f"{', '.join(printing)}: nothing is written, since no MLIR is made; see `inspect_llvm` and `inspect_asm`"
        notices.tell(NumbaInvalidConfigWarning(text))
    given = {name: value for name, value in options.items() if name not in (*_MUTE, *_DUMPS)}
    if options.get("fast_math") is not None:
        given["fastmath"] = options["fast_math"]
    if callable(given.get("inline")):
        del given["inline"]
    return {**given, "opt": level > 0, "semantics": "numba"}


def _listed(why: str) -> str:
    shown = sorted(name for name in _KNOWN if not name.startswith("_"))
    return f"Printing the options because: {why}\n\nThe options of numba_cuda_mlir.cuda.jit are:\n" + "\n".join(
        f"    {name}" for name in shown
    )


def _signature(function: Any) -> Any:
    """The signature that annotations say; None unless all parameters have types of compiled code."""
    signature = inspect.signature(function)
    types = [parameter.annotation for parameter in signature.parameters.values()]
    if not types or not all(isinstance(found, _core.Type) for found in types):
        return None
    result = signature.return_annotation
    return result(*types) if isinstance(result, _core.Type) else tuple(types)


def compile_for(function: Any, *args: Any) -> Any:
    """A kernel compiled for the types of some arguments."""
    kernel = cuda.jit(function, semantics="numba")
    return kernel.specialize(*args)


def __getattr__(name: str) -> Any:
    return getattr(cuda, name)


def __dir__() -> list[str]:
    return sorted({*cuda.__all__, *_OWN})
