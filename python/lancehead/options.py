"""The table of the decorators' options: names, values, defaults, effects.

Decorators check by it, the docstring of `jit` is made from it, and `xtask/options_page.py` writes `docs/options.md`.
Nothing of lancehead is imported here, so that the page can be written without the compiler.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from opcode import opmap
from types import FunctionType
from typing import Any, NamedTuple, NoReturn, TypeVar

T = TypeVar("T")

#: Why options for it change nothing.
OBJECT_MODE = "there is no object mode to fall back to"
#: Flags of `fastmath`, as LLVM names them.
FASTMATH = ("nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast")
#: Keys of `parallel`.
PARALLEL = (
    "comprehension",
    "prange",
    "inplace_binop",
    "setitem",
    "reduction",
    "numpy",
    "stencil",
    "fusion",
    "unsafe",
    "race",
)


class Values(NamedTuple):
    """Values that an option may have: in words, and as a check that raises an exception or returns a complaint."""

    text: str
    complaint: Callable[[Any], str | None]


class Option(NamedTuple):
    """An option of one or several decorators."""

    name: str
    values: Values
    default: str
    #: One sentence.
    effect: str
    #: The difference from Numba, if there is one.
    numba: str
    decorators: tuple[str, ...]


def _is_flag(value: Any) -> bool:
    # Numba takes the truth of anything; `None` is the default there, too.
    if value is None or isinstance(value, bool):
        return True
    return (
        type(value) is int
        and value in (0, 1)
        or type(value).__module__ == "numpy"
        and type(value).__name__ in ("bool", "bool_")
    )


def _names(given: Iterable[Any], known: tuple[str, ...], what: str) -> str | None:
    for name in given:
        if name not in known:
            return f"{name!r} is no {what}{suggestion(str(name), known)}"
    return None


def _fastmath(value: Any) -> str | None:
    if isinstance(value, (set, frozenset, list, tuple, dict)):
        complaint = _names(value, FASTMATH, "flag")
        # Numba's words, which programs look for.
        return complaint and f"Unrecognized fastmath flags: {complaint}"
    return None if isinstance(value, bool) else "Expected fastmath option(s) to be a bool, dict or set"


def _parallel(value: Any) -> str | None:
    if isinstance(value, dict):
        complaint = _names(value, PARALLEL, "key")
        if complaint is not None:
            # As in Numba.
            raise NameError(
                f"Unrecognized parallel options: {complaint}\n  parallel takes {plain(PARALLEL_VALUES.text)}"
            )
        return None
    return None if value is None or isinstance(value, bool) else ""


def one_of(*names: str, also: Callable[[Any], bool] = lambda value: False, text: str = "") -> Values:
    """One of several strings, or anything that passes a test, which the text describes."""
    words = " or ".join([*(f'`"{name}"`' for name in names), *([text] if text else [])])
    return Values(words, lambda value: None if isinstance(value, str) and value in names or also(value) else "")


def said(text: str) -> Values:
    """Values that are checked where they are used."""
    return Values(text, lambda value: None)


FLAG = Values("`True` or `False`", lambda value: None if _is_flag(value) else "")
ANYTHING = said("anything")
FASTMATH_VALUES = Values(
    "`True`, `False`, or flags: a set, list or dictionary of " + ", ".join(f"`{flag}`" for flag in FASTMATH), _fastmath
)
PARALLEL_VALUES = Values(
    "`True`, `False`, or a dictionary from " + ", ".join(f"`{key}`" for key in PARALLEL) + " to booleans", _parallel
)
MAPPING = Values(
    "a dictionary from names of variables to types",
    lambda value: None if value is None or isinstance(value, Mapping) else "",
)
INLINE = one_of("never", "always", also=lambda value: value is None or callable(value), text="a function")

_JIT = ("jit", "njit", "vectorize", "guvectorize", "cfunc")
_CUDA = ("cuda.jit",)

#: All options. Those that mean nothing are Numba's, and stay accepted so that programs for Numba go on.
OPTIONS = (
    Option(
        "parallel", PARALLEL_VALUES, "`False`",
        "Runs loops over `prange` and operations on whole arrays on several threads.",
        "", _JIT,
    ),
    Option(
        "cache", FLAG, "`False`",
        "Keeps the compiled code in files for the next process.",
        "", (*_JIT, "stencil", *_CUDA),
    ),
    Option(
        "fastmath", FASTMATH_VALUES, "`False`",
        "Lets floats be computed as if they were real numbers, which is faster and less exact; flags allow a part of "
        "that.", "", (*_JIT, *_CUDA),
    ),
    Option(
        "boundscheck", FLAG, "`True`",
        "Indices are checked; `False` leaves the checks out.",
        "not checked by default", (*_JIT, *_CUDA),
    ),
    Option("nogil", FLAG, "`False`", "Releases the interpreter's lock while compiled code runs.", "", _JIT),
    Option(
        "error_model", one_of("python", "numpy"), '`"python"`',
        ('Division of numbers by zero raises, or with `"numpy"` gives infinity or NaN; for ufuncs, `"numpy"` is the '
        'default.'),
        "", _JIT,
    ),
    Option(
        "overflow", one_of("wrap", "check"), '`"wrap"`',
        'With `"check"`, integer operations whose result does not fit raise `OverflowError`.',
        "does not exist", (*_JIT, *_CUDA),
    ),
    Option(
        "semantics", one_of("python", "numba"), '`"python"`',
        "Whose answers the code gives where they differ: those of CPython and NumPy, or Numba's "
        "([more](semantics.md)).",
        "its own", (*_JIT, "stencil", *_CUDA),
    ),
    Option(
        "debug", FLAG, "`False`",
        "Makes line tables for debuggers, with little optimisation; kernels are checked while they run.",
        "no checks of kernels", (*_JIT, *_CUDA),
    ),
    Option(
        "inline", INLINE, '`"never"`',
        "Changes nothing: the compiler decides which calls are inlined.",
        "inlines before types are inferred", _JIT,
    ),
    Option("locals", MAPPING, "`{}`", "Gives variables the types that their names are mapped to.", "", _JIT),
    Option(
        "nopython", FLAG, "`True`",
        "Changes nothing: there is no object mode to fall back to; `jit` and `njit` warn of `False`.",
        "`False` asks for object mode", (*_JIT, *_CUDA),
    ),
    Option(
        "forceobj", FLAG, "`False`",
        "With `jit`, the function runs in the interpreter, as it is, and compiled functions refuse to call it; `njit` "
        "warns and compiles, `cfunc` refuses it.",
        "compiles to calls of the interpreter", ("jit",),
    ),
    Option(
        "forceobj", FLAG, "`False`",
        "Changes nothing: the function is compiled; `njit` warns of `True`, `cfunc` refuses it.",
        "compiles in object mode", tuple(name for name in _JIT if name != "jit"),
    ),
    Option(
        "looplift", FLAG, "`True`",
        "Changes nothing: a function is compiled, or runs in the interpreter, as a whole.",
        "compiles loops of functions in object mode", _JIT,
    ),
    Option(
        "forceinline", FLAG, "`False`",
        "Changes nothing: the compiler decides which calls are inlined.",
        "has LLVM inline every call", (*_JIT, *_CUDA),
    ),
    Option("no_cpython_wrapper", FLAG, "`False`", "Changes nothing.", "makes no function for Python", _JIT),
    Option("no_cfunc_wrapper", FLAG, "`False`", "Changes nothing.", "makes no function for C", _JIT),
    Option("no_rewrites", FLAG, "`False`", "Changes nothing.", "leaves out rewriting passes", _JIT),
    Option("pipeline_class", said("a class"), "`None`", "Changes nothing.", "has a compiler of its own", _JIT),
    Option("pipeline", said("a class"), "`None`", "Changes nothing.", "has a compiler of its own", _JIT),
    Option(
        "target", said('`"cpu"`, `"parallel"` or `"cuda"`'), '`"cpu"`',
        'For ufuncs: `"parallel"` uses all threads, `"cuda"` a device. For `jit` it changes nothing.',
        "", _JIT,
    ),
    Option("target_backend", said("a string"), "`None`", "Changes nothing.", "names a code generator", _JIT),
    Option(
        "identity", said('`0`, `1`, `None` or `"reorderable"`'), "`None`",
        "For ufuncs: the value that reductions start from.",
        "", _JIT,
    ),
    Option(
        "writable_args", said("names or positions"), "`()`",
        "For generalised ufuncs: the inputs that the function stores into.",
        "", _JIT,
    ),
    Option("_nrt", FLAG, "`True`", "Changes nothing.", "compiles without reference counts", _JIT),
    Option(
        "_dbg_extend_lifetimes", FLAG, "`False`",
        "Changes nothing.",
        "keeps variables until the function ends", _JIT,
    ),
    Option("_dbg_optnone", FLAG, "`False`", "Changes nothing.", "leaves a function without optimisation", _JIT),
    Option(
        "neighborhood", said("pairs of integers"), "`None`",
        "Ranges of relative indices, one pair for each dimension, instead of those that are seen in the function.",
        "", ("stencil",),
    ),
    Option(
        "standard_indexing", said("a name or several"), "`()`",
        "Names of arrays that are indexed from their beginning, not relative to the element.",
        "", ("stencil",),
    ),
    Option(
        "cval", said("a number"), "`0`",
        "The value of elements at the border, whose neighbourhood leaves the array.",
        "", ("stencil",),
    ),
    Option(
        "index_offsets", said("integers"), "`()`",
        "Numbers that are added to relative indices, one for each dimension.",
        "", ("stencil",),
    ),
    Option("device", FLAG, "`False`", "Makes a function that kernels call, instead of a kernel.", "", _CUDA),
    Option(
        "inline", one_of("never", "always", also=_is_flag, text="a boolean"), '`"never"`',
        "Changes nothing: the compiler decides which calls are inlined.",
        "", _CUDA,
    ),
    Option(
        "opt", FLAG, "`True`",
        "Changes nothing: kernels are always optimised, unless `debug=True`.",
        "`False` leaves optimisation out", _CUDA,
    ),
    Option("lineinfo", FLAG, "`False`", "Puts line numbers into PTX for profilers.", "", _CUDA),
    Option(
        "link", said("paths or objects with code, one or several"), "`()`",
        "Files of CUDA C, PTX or machine code whose functions the kernel calls.",
        "", _CUDA,
    ),
    Option(
        "extensions", said("objects"), "`()`",
        "Objects whose `prepare_args` converts arguments before a launch.",
        "", _CUDA,
    ),
    Option("max_registers", said("an integer"), "`None`", "The most registers of a thread on a GPU.", "", _CUDA),
    Option(
        "launch_bounds", said("one to three integers"), "`None`",
        "The most threads of a block, and how many blocks a multiprocessor shall hold.",
        "", _CUDA,
    ),
    Option(
        "shared_memory_carveout", said('-1 to 100, `"default"`, `"MaxL1"` or `"MaxShared"`'), "`None`",
        "The share of a multiprocessor's memory that blocks get, in percent; a hint.",
        "", _CUDA,
    ),
    *(
        Option(name, ANYTHING, "`None`", "Changes nothing: `cuda.compile` has it.", "", _CUDA)
        for name in ("cc", "abi", "abi_info", "output")
    ),
    Option("lto", ANYTHING, "`None`", "Changes nothing.", "optimises while linking", _CUDA),
)  # fmt: skip


def of(decorator: str) -> dict[str, Option]:
    """The options of a decorator by name.

    >>> of("stencil")["cval"].default
    '`0`'
    """
    return {option.name: option for option in OPTIONS if decorator in option.decorators}


def check(decorator: str, given: Mapping[str, Any]) -> None:
    """Refuses options that a decorator does not have, and values that they do not take.

    Raises:
        TypeError: there is no such option, or its value is of a wrong type.
        ValueError: the value is not one of those that the option takes.
        NameError: `parallel` is a dictionary with an unknown key, as in Numba.

    >>> check("jit", {"nopyhton": True})
    Traceback (most recent call last):
    TypeError: jit() got an unexpected option 'nopyhton'; did you mean `nopython`?
      options: parallel, cache, fastmath, boundscheck, nogil, error_model, overflow, semantics, debug, inline, locals, forceobj
      accepted for Numba: nopython, looplift, forceinline, no_cpython_wrapper, no_cfunc_wrapper, no_rewrites, pipeline_class, pipeline, target, target_backend, identity, writable_args
    """  # noqa: E501
    known = _KNOWN[decorator]
    for name, value in given.items():
        if name not in known:
            raise TypeError(unexpected(decorator, name))
        complaint = known[name].values.complaint(value)
        if complaint is None:
            continue
        because = f": {complaint}" if complaint else ""
        # Numba raises `ValueError` for wrong strings, and for anything that `fastmath` and `parallel` do not take.
        wrong = ValueError if isinstance(value, str) or complaint or name in ("fastmath", "parallel") else TypeError
        raise wrong(f"{decorator}() got {name}={value!r}{because}\n  {name} takes {plain(known[name].values.text)}")


def unexpected(decorator: str, name: str) -> str:
    """The message for an option that a decorator does not have: the nearest one, and the list of all."""
    known = _KNOWN[decorator]
    shown = [n for n, option in known.items() if not n.startswith("_")]
    mute = [n for n in shown if is_mute(decorator, known[n])]
    lines = [f"{decorator}() got an unexpected option {name!r}{suggestion(name, known)}"]
    lines.append("  options: " + ", ".join(n for n in shown if n not in mute))
    return "\n".join(lines + (["  accepted for Numba: " + ", ".join(mute)] if mute else []))


def is_mute(decorator: str, option: Option) -> bool:
    """Whether a decorator accepts an option only so that programs for Numba go on."""
    elsewhere = option.name in ("target", "identity", "writable_args") and decorator in ("jit", "njit", "cfunc")
    elsewhere = elsewhere or (option.name, decorator) == ("writable_args", "vectorize")
    return option.name != "inline" and option.effect.startswith("Changes nothing") or elsewhere


def described(decorator: str) -> str:
    """The options of a decorator as a part of its docstring.

    >>> print(described("stencil").splitlines()[3].strip())
    cache (default False): Keeps the compiled code in files for the next process.
    """
    lines = ["", "", "Options:"]
    for option in of(decorator).values():
        if not is_mute(decorator, option) and not option.name.startswith("_"):
            lines += _wrapped(f"    {option.name} (default {plain(option.default)}): {plain(option.effect)}")
            lines += _wrapped(f"        It takes {plain(option.values.text)}.")
    return "\n    ".join(lines) + "\n"


def _wrapped(text: str) -> list[str]:
    """A line of a docstring in lines that fit beside the indentation of `help`; `textwrap` takes an import's time."""
    first, *words = text.lstrip().split(" ")
    lines = [" " * (len(text) - len(text.lstrip())) + first]
    for word in words:
        if len(lines[-1]) + len(word) < 96:
            lines[-1] += f" {word}"
        else:
            lines.append(f"        {word}")
    return lines


class Default:
    """A default value in a signature, shown as the table has it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


class OptionsSignature(inspect.Signature):
    """The signature of a decorator with its options, which it takes as keywords.

    Options that are accepted for Numba's sake only are left to the last parameter.

    >>> list(OptionsSignature("stencil", lambda mode="constant", **options: None).parameters)[:3]
    ['mode', 'cache', 'semantics']
    """

    def __init__(self, decorator: str, function: Any) -> None:
        super().__init__()
        self._decorator, self._function = decorator, function

    # Made when it is read: an import of lancehead has no time for hundreds of parameters.
    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:  # type: ignore[override]
        """The parameters by their names."""
        f = self._function
        # The function itself has this signature.
        bare = FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__)
        bare.__kwdefaults__ = f.__kwdefaults__
        *own, rest = inspect.signature(bare).parameters.values()
        names = {p.name for p in own}
        added = [
            inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=Default(plain(option.default)))
            for option in of(self._decorator).values()
            if option.name not in names and not option.name.startswith("_") and not is_mute(self._decorator, option)
        ]
        return inspect.Signature([*own, *added, rest]).parameters

    def replace(self, **changes: Any) -> inspect.Signature:  # type: ignore[override]
        """An ordinary signature, changed."""
        return inspect.Signature(list(self.parameters.values())).replace(**changes)

    __replace__ = replace  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return OptionsSignature, (self._decorator, self._function)


def describe(decorator: str, function: Any) -> None:
    """Completes the help of a decorator by its options: they are in its docstring and in its signature."""
    # Without docstrings (`python -OO`) there is none to complete.
    if function.__doc__:
        function.__doc__ = function.__doc__.rstrip() + described(decorator)
    function.__signature__ = OptionsSignature(decorator, function)


def plain(text: str) -> str:
    """A text without Markdown's marks of code and links to other pages.

    >>> plain('Both, or `"python"` ([more](semantics.md)).')
    'Both, or "python".'
    """
    before, link, after = text.replace("`", "").partition(" ([more](")
    return before + after.partition("))")[2] if link else before


def suggest(name: str, known: Iterable[str]) -> list[str]:
    """The names that are near to a misspelt one, nearest first.

    >>> suggest("nopyhton", ["parallel", "nopython"])
    ['nopython']
    """
    # Of two that differ in their case only, that with the case of the misspelt one comes last, and counts.
    of_case = sorted(known, key=lambda n: n[:1].isupper() == name[:1].isupper())
    spelt = {n.lower().replace("_", "").replace("-", ""): n for n in of_case}
    # Loaded for those who misspell.
    difflib = importlib.import_module("difflib")
    plain = name.lower().replace("_", "").replace("-", "")
    near = difflib.get_close_matches(plain, spelt, 9, 0.6)
    # The commonest slip exchanges letters.
    near.sort(key=lambda n: sorted(n) != sorted(plain))
    return [spelt[n] for n in near[:3]]


def suggestion(name: str, known: Iterable[str], most: int = 1) -> str:
    """The end of a message about a misspelt name: the nearest names, if there are any that are near.

    >>> suggestion("skylaek", ["skylake", "znver4"])
    '; did you mean `skylake`?'
    """
    near = suggest(name, known)[:most]
    return f"; did you mean {' or '.join(f'`{n}`' for n in near)}?" if near else ""


#: Modules that are searched for a name that the package lacks.
_PARTS = ("gradients", "experimental", "extending", "typed", "sparse", "xp", "cuda")


class NearName:
    """A name that something lacks. The nearest one is looked for when the message is read: `hasattr` costs nothing."""

    args: tuple[Any, ...]
    name: str | None
    #: As pickles have it.
    _plain: type[Exception]
    _text = "module {!r} has no attribute {!r}"

    def __init_subclass__(cls) -> None:
        # Tracebacks show it as what it is.
        cls.__module__, cls.__qualname__ = "builtins", cls._plain.__name__

    def __init__(self, module: str, name: str, reason: str = "") -> None:
        super().__init__(self._text.format(module, name) + reason, name=name)  # type: ignore[call-arg]
        self._module, self._reason = module, reason

    def __reduce__(self) -> Any:
        return self._plain, (str(self),)

    def __str__(self) -> str:
        name = self.name or ""
        if self._module == "lancehead":
            for part in _PARTS:
                if name in importlib.import_module(f"lancehead.{part}").__all__:
                    return f"{self.args[0]}; it is in `lancehead.{part}`"
        known = () if self._reason else self._known()
        return f"{self.args[0]}{suggestion(name, (n for n in known if n[0] != '_'))}"

    def _known(self) -> Iterable[str]:
        return dir(sys.modules.get(self._module))


class NoAttribute(NearName, AttributeError):
    """A name that a module lacks.

    >>> str(NoAttribute("lancehead", "vectorise"))
    "module 'lancehead' has no attribute 'vectorise'; did you mean `vectorize`?"
    """

    _plain = AttributeError


class NoMember(NoAttribute):
    """A name that an object lacks; its names are those that the function gives."""

    def __init__(self, owner: str, name: str, known: Callable[[], Iterable[str]]) -> None:
        AttributeError.__init__(self, f"{owner} has no attribute {name!r}", name=name)
        self._module, self._reason = "", ""
        self._known = known  # type: ignore[method-assign]


class NoImport(NearName, ImportError):
    """A name that `from module import name` does not find, which drops the text of an AttributeError."""

    _plain = ImportError
    _text = "cannot import name {1!r} from {0!r}"


class NearModules:
    """The last finder of modules, which tells the nearest one after one that a package of lancehead lacks."""

    @staticmethod
    def find_spec(full: str, path: Any = None, target: Any = None) -> None:
        """Finds none: an import that ends here fails with the nearest name; a mere question gets no answer."""
        package, _, name = full.rpartition(".")
        if package.partition(".")[0] != "lancehead" or sys._getframe(2).f_code.co_name != "_find_and_load_unlocked":
            return
        files = importlib.import_module("pkgutil").iter_modules(path)
        near = suggestion(name, {file.name for file in files} & {*dir(sys.modules[package])})
        raise ModuleNotFoundError(f"No module named {full!r}{near}", name=full)


def missing(module: str, name: str, reason: str = "", calls: int = 1) -> NoAttribute | NoImport:
    """The error for a name that a module lacks, for the function that is so many calls out and that Python asks."""
    return (NoImport if is_import(calls + 1) else NoAttribute)(module, name, reason)


def is_import(calls: int = 1) -> bool:
    """Whether the function that is so many calls out was called by `from module import name`."""
    frame = sys._getframe(calls + 1)
    return frame.f_lasti >= 0 and frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_FROM"]


def lacking(module: str) -> Callable[[str], NoReturn]:
    """The `__getattr__` of a module that has no other names than its own."""

    def __getattr__(name: str) -> NoReturn:
        raise missing(module, name)

    return __getattr__


def public(module: dict[str, Any]) -> None:
    """Lets a module tell the nearest name after one that it lacks, and show the names of its `__all__` alone, unless it
    says itself what it shows.

    It is not written as `__getattr__` in the module, by which type checkers would believe in any name.
    """
    if "__dir__" not in module:
        module["__dir__"] = module["__all__"].copy
    module.setdefault("__getattr__", lacking(module["__name__"]))


def near_members(kind: type[T]) -> type[T]:
    """Lets instances of a class tell the nearest name after an attribute that they lack."""

    def __getattr__(self: Any, name: str) -> NoReturn:
        # NumPy and others ask each object for these.
        if name[:2] == "__":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        # A property exists, and has an error of its own.
        if hasattr(type(self), name):
            object.__getattribute__(self, name)
        raise NoMember(f"{type(self).__name__!r} object", name, functools.partial(dir, self))

    kind.__getattr__ = __getattr__  # type: ignore[attr-defined]
    return kind


def near_keywords(module: dict[str, Any]) -> None:
    """Lets a module's public functions name the nearest keyword argument after one that they do not have, as CPython
    does by itself from 3.13.

    >>> def scaled(x, *, factor=1.0):
    ...     return x * factor
    >>> module = {"__name__": __name__, "scaled": scaled}
    >>> near_keywords(module)
    >>> module["scaled"](2.0, facter=3.0)
    Traceback (most recent call last):
    TypeError: scaled() got an unexpected keyword argument 'facter'; did you mean `factor`?
    """
    if sys.version_info >= (3, 13):
        return
    made: dict[FunctionType, Callable[..., Any]] = {}  # Some have two names.
    for name, function in list(module.items()):
        if name[0] != "_" and isinstance(function, FunctionType) and function.__module__ == module["__name__"]:
            code = inspect.unwrap(function).__code__
            known = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]
            if known and not code.co_flags & inspect.CO_VARKEYWORDS:
                module[name] = made[function] = made.get(function) or _with_near_keywords(function, known)


def _with_near_keywords(function: FunctionType, known: tuple[str, ...]) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except TypeError as error:
            text = str(error)
            for name in options:
                if (
                    name not in known
                    and text == f"{function.__qualname__}() got an unexpected keyword argument {name!r}"
                ):
                    error.args = (text + suggestion(name, known),)
            raise

    return called


_KNOWN = {decorator: of(decorator) for decorator in (*_JIT, "stencil", *_CUDA)}
