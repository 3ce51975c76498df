"""Signatures and help of the names that kernels use, read when somebody asks for them.

Most names stand in `lancehead.cuda.declared`. Functions of `libdevice`, `fp16` and `bf16` are described by their code
in `lib/cuda`; a name that ends in `f` or in a way of rounding shares the code of the name without. Their examples are
made here.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from typing import Any

#: Ways of rounding by the ends of names.
_ROUNDED = {"_rn": "to the nearest", "_rd": "down", "_ru": "up", "_rz": "towards zero"}
#: Parameters that functions of the library take before those of the name: the way of rounding and the type.
_TAKEN = ("mode", "t")
#: Parts of names of functions whose first argument is an integer.
_OF_INTEGERS = (
    "abs", "llabs", "brev", "clz", "ffs", "popc", "int2", "uint2", "ll2", "ull2", "short", "ushort", "longlong_as",
    "int_as", "half2float", "int16_as", "uint16_as", "int32_to", "uint32_to", "int64_to", "uint64_to", "int16_to",
    "uint16_to",
)  # fmt: skip
#: Arguments of examples by the names of parameters.
_ARGUMENTS = {"y": "0.25", "z": "0.125", "n": "2", "a": "6", "b": "3", "c": "1", "s": "0x3210", "hi": "6", "lo": "3"}
_PAIRS = ("sincos", "frexp", "modf", "remquo")


def signature(path: str) -> inspect.Signature:
    """Parameters of a function of kernels, and the type of its result where it is declared.

    >>> from lancehead import cuda
    >>> signature("cuda.atomic.cas")
    <Signature (array: Any, index: int | tuple[int, ...], old: Any, value: Any, /) -> Any>

    Raises:
        AttributeError: the name is no function.
    """
    if _library(path) is not None:
        return inspect.Signature(_parameters(path))
    found = _declared(path)
    if not inspect.isfunction(found):
        raise AttributeError(f"{path} is no function")
    return inspect.signature(found, eval_str=True)


def text(path: str, name: str) -> str:
    """The help of a name: a sentence and an example; of a function, its parameters before.

    >>> print(text("cuda.libdevice.sinf", "sinf"))
    sinf(x)
    <BLANKLINE>
    Sine. Arguments become `float32`.
    <BLANKLINE>
    >>> @cuda.jit
    ... def kernel(out): out[0] = cuda.libdevice.sinf(0.5)
    >>> out = np.zeros(1); kernel[1, 1](out)
    """
    if (function := _library(path)) is not None:
        return f"{name}{signature(path)}\n\n{_sentence(path, function)}\n\n{_example(path, name)}"
    found = _declared(path)
    if inspect.isfunction(found):
        # Functions of a group that derives from another one are described there.
        owner, said = found.__qualname__.rpartition(".")[0], inspect.getdoc(found) or ""
        said = said.replace(owner, path.split(".")[1]) if owner else said
        return f"{name}{str(signature(path)).replace('~', '')}\n\n{said}"
    # Parts of what has parts are described as a whole.
    whole = _declared(path.rsplit(".", 1)[0]) if type(found) is int else found
    return inspect.getdoc(whole) or ""


def _declared(path: str) -> Any:
    found: Any = importlib.import_module("lancehead.cuda.declared")
    for part in path.split(".")[1:]:
        found = getattr(found, part)
    return found


@functools.cache
def _library(path: str) -> Callable[..., Any] | None:
    """The function of the library behind a name of `libdevice`, `fp16` or `bf16`, as the compiler finds it."""
    _, group, *rest = path.split(".")
    if group not in ("libdevice", "fp16", "bf16"):
        return None
    own, rounding = (
        importlib.import_module(f"lancehead.lib.cuda.{m}")
        for m in ("libdevice" if group == "libdevice" else "halves", "rounding")
    )
    name = rest[0]
    if name[-3:] in _ROUNDED and not hasattr(own, name):
        return getattr(rounding, name[:-3], None)
    candidates = (name, "_" + name, "_" + name.removesuffix("f"))
    return next((getattr(own, n) for n in candidates if hasattr(own, n)), None)


def _parameters(path: str) -> list[inspect.Parameter]:
    given = inspect.signature(_library(path) or _library).parameters.values()
    return [p.replace(kind=p.POSITIONAL_ONLY) for p in given if p.name not in _TAKEN]


def _sentence(path: str, function: Callable[..., Any]) -> str:
    name = path.rsplit(".", 1)[-1]
    sentence = inspect.getdoc(function) or ""
    if not sentence.endswith("."):
        sentence += "."
    half = "float16" if ".fp16." in path else "bfloat16"
    for general in ("float of 16 bits", "Float of 16 bits"):
        sentence = sentence.replace(general, f"`{half}`")
    if function.__module__.endswith("rounding"):
        return f"{sentence} It is rounded {_ROUNDED[name[-3:]]}."
    if not path.startswith("cuda.libdevice."):
        return sentence
    single = function.__name__ == "_" + name.removesuffix("f") != "_" + name
    return (
        sentence
        if not function.__name__.startswith("_")
        else f"{sentence} Arguments become `{'float32' if single else 'float64'}`."
    )


def _example(path: str, name: str) -> str:
    group = path.split(".")[1]
    of_integers = name.removeprefix("__").startswith(_OF_INTEGERS)
    given = {} if group != "libdevice" else _ARGUMENTS
    arguments = ", ".join("6" if of_integers else given.get(p.name, "0.5") for p in _parameters(path))
    of_pairs = name.removeprefix("fast_").startswith(_PAIRS)
    target = "out[0], out[1]" if of_pairs else "out[0]"
    return f""">>> @cuda.jit
... def kernel(out): {target} = cuda.{group}.{name}({arguments})
>>> out = np.zeros({2 if of_pairs else 1}); kernel[1, 1](out)"""


__all__ = ["signature", "text"]
