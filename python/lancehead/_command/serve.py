"""`lancehead run`: a script's `import numba` gets lancehead.

A finder at the front of `sys.meta_path` answers for `numba`, for `numba_cuda_mlir` and everything below them, whether
they are installed or not. A module it makes has no contents of its own: each name is looked up in its counterpart in
lancehead when it is asked for.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import os
import sys
import warnings
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from lancehead import _absent, _core, cfuncs, config, type_texts
from lancehead.options import OBJECT_MODE, NoAttribute, NoImport, is_import

#: The Numba whose interface is followed: what a script sees as `numba.__version__`.
NUMBA_VERSION = "0.68.1"
#: The successor of numba-cuda, which has Numba's modules below its own name.
SUCCESSOR, SUCCESSOR_VERSION = "numba_cuda_mlir", "0.6.0"
#: Packages that are served, with their versions.
SERVED = {"numba": NUMBA_VERSION, "llvmlite": None, SUCCESSOR: SUCCESSOR_VERSION}

#: Modules of Numba and where their names are in lancehead.
COUNTERPARTS = {
    "numba": "lancehead",
    "numba.core": "lancehead",
    "numba.core.caching": "lancehead.caching",
    "numba.core.config": "lancehead.config",
    "numba.config": "lancehead.config",
    "numba.core.decorators": "lancehead",
    "numba.core.entrypoints": "lancehead.entrypoints",
    "numba.core.errors": "lancehead.errors",
    "numba.core.extending": "lancehead.extending",
    "numba.core.types": "lancehead.types",
    "numba.core.types.containers": "lancehead.types",
    **{
        f"numba.core.types.{part}": "lancehead.types"
        for part in ("abstract", "common", "functions", "iterators", "misc", "npytypes", "scalars", "types")
    },
    "numba.core.typing.cffi_utils": "lancehead.cffi_support",
    **{
        name: f"lancehead.lowlevel.{module}"
        for module, names in {
            "arrayobj": "numba.np.arrayobj numba.core.typing.arraydecl numba.core.typing.npydecl",
            "boxing": "numba.core.typing.typeof numba.core.typing.asnumbatype numba.core.boxing",
            "cgutils": "numba.core.cgutils",
            "context": "numba.core.base numba.core.typing.context numba.core.cpu numba.core.typing",
            "models": "numba.core.datamodel numba.core.datamodel.models numba.core.datamodel.manager "
            "numba.core.datamodel.registry",
            "pyapi": "numba.core.pythonapi",
            "registry": "numba.core.imputils numba.core.typing.templates",
            "external": "numba.core.unsafe.nrt",
            "lapack": "numba.np.linalg numba.np.arraymath",
            "unsafe": "numba.cpython.unsafe.tuple numba.cpython.unsafe.numbers numba.np.unsafe.ndarray "
            "numba.parfors.parfor",
            "function_types": "numba.experimental.function_type",
            "nrt": "numba.core.runtime._nrt_python",
            "texts": "numba.cpython.unicode numba.cpython.charseq",
            "ctypes_utils": "numba.core.typing.ctypes_utils",
            "dates": "numba.np.npdatetime_helpers",
            "irtypes": "llvmlite.ir llvmlite.ir.types llvmlite.ir.values llvmlite.ir.builder llvmlite.ir.module "
            "llvmlite.llvmpy.core",
            "binding": "llvmlite.binding",
        }.items()
        for name in names.split()
    },
    "llvmlite": "lancehead.lowlevel.llvm",
    "llvmlite.llvmpy": "lancehead.lowlevel.llvm",
    "numba.cuda": "lancehead.cuda",
    "numba.errors": "lancehead.errors",
    "numba.experimental": "lancehead.experimental",
    "numba.experimental.structref": "lancehead.experimental.structref",
    "numba.extending": "lancehead.extending",
    "numba.misc": "lancehead",
    "numba.misc.special": "lancehead",
    "numba.np": "lancehead",
    "numba.np.extensions": "lancehead.extensions",
    "numba.np.numpy_support": "lancehead.types",
    "numba.np.ufunc": "lancehead",
    "numba.np.unsafe": "lancehead",
    "numba.typed": "lancehead.typed",
    "numba.typed.typeddict": "lancehead.typed",
    "numba.typed.typedlist": "lancehead.typed",
    "numba.types": "lancehead.types",
    **{
        f"numba.types.{part}": "lancehead.types"
        for part in (
            "abstract",
            "common",
            "containers",
            "functions",
            "iterators",
            "misc",
            "npytypes",
            "scalars",
            "types",
        )
    },
    "numba.typing": "lancehead",
    SUCCESSOR: "lancehead",
    f"{SUCCESSOR}.cuda": "lancehead._command.successor",
}

#: Where the modules of Numba are that numba-cuda and its successor have copies of.
_COPIES = {
    **{
        f"{SUCCESSOR}.{name}": place
        for name, place in {
            "compiler": "numba.cuda",
            "errors": "numba.errors",
            "extending": "numba.extending",
            "models": "numba.core.datamodel.models",
            "numba_cuda": "numba.cuda",
            "types": "numba.types",
            "typing": "numba.core.typing",
            "cuda": "numba.cuda",
        }.items()
    },
    **{
        f"numba.cuda.{name}": place
        for name, place in {
            "cgutils": "numba.core.cgutils",
            "core": "numba.core",
            "cpython": "numba.cpython",
            "datamodel": "numba.core.datamodel",
            "extending": "numba.extending",
            "misc": "numba.misc",
            "np": "numba.np",
            "typeconv": "numba.core.typeconv",
            "types": "numba.types",
            "typing": "numba.core.typing",
            "utils": "numba.core.utils",
        }.items()
    },
}


#: Classes that programs ask for by the names that Numba has for them.
_CLASSES = {
    "numba.core.dispatcher.Dispatcher": "Dispatcher",
    "numba.core.registry.CPUDispatcher": "Dispatcher",
    "numba.np.ufunc.dufunc.DUFunc": "DUFunc",
}

#: Decorators of functions and classes, which have Numba's semantics under its name.
_COMPILING = {
    "numba": ("jit", "njit", "vectorize", "guvectorize", "cfunc", "stencil"),
    "numba.cuda": ("jit",),
    "numba.experimental": ("jitclass",),
}


@functools.cache
def _as_numba(decorator: Any) -> Any:
    """A decorator with Numba's semantics."""

    @functools.wraps(decorator)
    def decorate(*args: Any, **options: Any) -> Any:
        return decorator(*args, **{"semantics": "numba", **options})

    is_own = decorator.__name__ in ("jit", "njit") and decorator.__module__ == "lancehead.decorators"
    return _absent.lenient(decorate) if is_own else decorate


def _jit_module(**options: Any) -> None:
    """Numba's `jit_module`, which compiles the functions of the module that calls it."""
    importlib.import_module("lancehead.decorators").compile_module(
        sys._getframe(1).f_globals, {"semantics": "numba", **options}
    )


def _is_cuda_available() -> bool:
    """Whether there is a GPU, or the CPU device was asked for: as Numba's programs mean the question."""
    settings = ("LANCEHEAD_CUDA_DEVICE", "LANCEHEAD_CPU_DEVICES")
    if config.ENABLE_CUDASIM or any(os.environ.get(name) for name in settings):
        return bool(importlib.import_module("lancehead.cuda").is_available())
    return bool(importlib.import_module("lancehead.cuda.gpu").count() > 0)


#: Names that differ from their namesakes in lancehead, or are elsewhere.
_OWN = {
    "numba.jit_module": _jit_module,
    "numba.core.utils.PYVERSION": sys.version_info[:2],
    "numba.cuda.is_available": _is_cuda_available,
    "numba.np.numpy_support.carray": cfuncs.carray,
    "numba.np.numpy_support.farray": cfuncs.farray,
    "numba.np.numpy_support.numpy_version": tuple(map(int, np.__version__.split(".")[:2])),
}


def in_numba(name: str) -> str:
    """The module of Numba that a module is a copy of, or itself.

    >>> in_numba("numba_cuda_mlir.numba_cuda.np.numpy_support")
    'numba.np.numpy_support'
    """
    parts = name.split(".")
    for n in range(len(parts), 1, -1):
        if name not in _absent.MODULES and (place := _COPIES.get(".".join(parts[:n]))):
            return in_numba(".".join([place, *parts[n:]]))
    return name


def place(name: str) -> str | None:
    """The module of lancehead with the names of a module of Numba, if there is one."""
    if known := COUNTERPARTS.get(name) or COUNTERPARTS.get(name := in_numba(name)):
        return known
    parent, _, last = name.rpartition(".")
    if parent.startswith("numba.cuda") and (above := place(parent)):
        found = getattr(importlib.import_module(above), last, None)
        if isinstance(found, ModuleType) and found.__name__.startswith("lancehead."):
            return found.__name__
    return None


def of_modules() -> list[tuple[str, tuple[str, ...]]]:
    """Modules of Numba that have been asked for, and their decorators."""
    return [(name, names) for name, names in _COMPILING.items() if name == "numba" or COUNTERPARTS[name] in sys.modules]


class Missing(NoAttribute):
    """A name of Numba that lancehead does not have."""

    _text = f"lancehead {_core.__version__} does not provide `{{}}.{{}}`"


class MissingImport(NoImport):
    """A name of Numba that an import does not find."""

    _text = Missing._text


class _VersionInfo(NamedTuple):
    """Numba's `version_info`."""

    major: int
    minor: int
    patch: int
    short: tuple[int, int]
    full: tuple[int, int, int]
    string: str
    tuple: tuple[str, ...]
    git_revision: str | None


def _version() -> tuple[Any, ...]:
    parts = NUMBA_VERSION.split(".")
    major, minor, patch = map(int, parts)
    return major, minor, patch, (major, minor), (major, minor, patch), NUMBA_VERSION, tuple(parts), None


class NumbaFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds and makes the modules of `COUNTERPARTS`."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname.split(".")[0] not in SERVED:
            return None
        if place(fullname) is None and in_numba(fullname) not in _absent.MODULES:
            parent, _, name = fullname.rpartition(".")
            if place(parent) and hasattr(counterpart(parent), name):
                return None
            raise MissingImport(parent, name)
        return importlib.machinery.ModuleSpec(fullname, self, origin="lancehead", is_package=True)

    def find_distributions(self, context: Any = None) -> list[importlib.metadata.Distribution]:
        return distributions(context)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return NumbaModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


class NumbaModule(ModuleType):
    """A module of Numba whose names are lancehead's."""

    def __getattr__(self, name: str) -> Any:
        if name == "__version__" and SERVED.get(self.__name__):
            return SERVED[self.__name__]
        if name == "version_info" and self.__name__ == "numba":
            return _VersionInfo(*_version())
        own, full = (f"{module}.{name}" for module in (self.__name__, in_numba(self.__name__)))
        if full in _OWN:
            return _OWN[full]
        if full in _CLASSES:
            return getattr(_core, _CLASSES[full])
        if any(known in COUNTERPARTS or known in _absent.MODULES for known in (own, full)):
            return importlib.import_module(own)
        source = counterpart(self.__name__)
        if name == "__all__":
            return [public for public in getattr(source, "__all__", dir(source)) if not public.startswith("_")]
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(source, name, None) if self.__name__ != SUCCESSOR or name in ("carray", "farray") else None
        names = (self.__name__, in_numba(self.__name__))
        if found is None and (found := next(filter(None, (_absent.find(n, name) for n in names)), None)) is None:
            raise (MissingImport if is_import() else Missing)(self.__name__, name)
        has_semantics = any(name in names and found is getattr(counterpart(m), name, None) for m, names in of_modules())
        return _as_numba(found) if has_semantics else found

    def __setattr__(self, name: str, value: Any) -> None:
        # Settings have one place, whose changes decorators see.
        is_setting = place(self.__name__) == "lancehead.config" and not name.startswith("__")
        if is_setting:
            setattr(counterpart(self.__name__), name, value)
        else:
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(counterpart(self.__name__))})


def counterpart(name: str) -> ModuleType:
    """lancehead's module for a module of Numba; an empty one for those that have only absent names."""
    return importlib.import_module(found) if (found := place(name)) else ModuleType(name)


def install() -> None:
    """Serves `import numba` from now on, in processes that this one starts, too."""
    os.environ["LANCEHEAD_SERVE_NUMBA"] = "1"
    if any(isinstance(finder, NumbaFinder) for finder in sys.meta_path):
        return
    type_texts.served = True
    # Programs for Numba that turn object mode off and on are not to be told what they cannot change.
    warnings.filterwarnings("ignore", message=OBJECT_MODE)
    for name in [name for name in sys.modules if name.split(".")[0] in SERVED]:
        del sys.modules[name]
    sys.meta_path.insert(0, NumbaFinder())
    _core.extensions_pending()


def serve_numba() -> None:
    """Has `import numba` give lancehead from now on, whether Numba is installed or not, and in processes that this
    one starts. Modules of Numba that were imported before are forgotten; those who have them keep them.

    >>> from lancehead import serve_numba
    >>> serve_numba()
    >>> import numba
    >>> numba.njit(lambda x: x + 1)(41)
    42
    """
    install()


def first(name: str) -> importlib.machinery.ModuleSpec | None:
    """The spec of numba at its first import, for the finder of a `.pth` file; installs lancehead's finder."""
    sys.meta_path[:] = [f for f in sys.meta_path if getattr(f, "__name__", "") != "LanceheadForNumba"]
    install()
    return NumbaFinder().find_spec(name)


class _Distribution(importlib.metadata.Distribution):
    """A package that is served, as programs ask `importlib.metadata` for its version."""

    def __init__(self, package: str, version: str) -> None:
        self._package, self._version = package.replace("_", "-"), version

    def read_text(self, filename: str) -> str | None:
        if filename not in ("METADATA", "PKG-INFO"):
            return None
        return f"Metadata-Version: 2.1\nName: {self._package}\nVersion: {self._version}\n"

    def locate_file(self, path: Any) -> Any:
        raise FileNotFoundError(path)


def distributions(context: Any) -> list[importlib.metadata.Distribution]:
    """The distributions that `importlib.metadata` finds for a context: those of the packages that it asks for."""
    name = getattr(context, "name", None)
    asked = SERVED if name is None else [name.lower().replace("-", "_")]
    return [_Distribution(package, version) for package in asked if (version := SERVED.get(package))]
