"""`lancehead run`: a script's `import numba` gets lancehead.

A finder at the front of `sys.meta_path` answers for `numba` and everything below it, whether Numba is installed or not.
A module it makes has no contents of its own: each name is looked up in its counterpart in lancehead when it is asked
for.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import sys
import warnings
from types import ModuleType
from typing import Any

from lancehead import _absent, _core
from lancehead.options import OBJECT_MODE

#: The Numba whose interface is followed: what a script sees as `numba.__version__`.
NUMBA_VERSION = "0.68.1"

#: Modules of Numba and where their names are in lancehead.
COUNTERPARTS = {
    "numba": "lancehead",
    "numba.core": "lancehead",
    "numba.core.config": "lancehead.config",
    "numba.core.decorators": "lancehead",
    "numba.core.errors": "lancehead.errors",
    "numba.core.extending": "lancehead.extending",
    "numba.core.types": "lancehead.types",
    "numba.core.types.containers": "lancehead.types",
    **{
        f"numba.core.types.{part}": "lancehead.types"
        for part in ("abstract", "common", "functions", "misc", "npytypes", "scalars")
    },
    "numba.core.typing.cffi_utils": "lancehead.cffi_support",
    "numba.cuda": "lancehead.cuda",
    "numba.errors": "lancehead.errors",
    "numba.experimental": "lancehead.experimental",
    "numba.experimental.structref": "lancehead.experimental.structref",
    "numba.extending": "lancehead.extending",
    "numba.misc": "lancehead",
    "numba.misc.special": "lancehead",
    "numba.np": "lancehead",
    "numba.np.numpy_support": "lancehead.types",
    "numba.np.ufunc": "lancehead",
    "numba.np.unsafe": "lancehead",
    "numba.typed": "lancehead.typed",
    "numba.typed.typeddict": "lancehead.typed",
    "numba.typed.typedlist": "lancehead.typed",
    "numba.types": "lancehead.types",
    "numba.typing": "lancehead",
}


#: Decorators of functions, which have Numba's semantics under its name.
_COMPILING = ("jit", "njit", "vectorize", "guvectorize", "cfunc")


@functools.cache
def _as_numba(decorator: Any) -> Any:
    """A decorator with Numba's semantics."""

    @functools.wraps(decorator)
    def decorate(*args: Any, **options: Any) -> Any:
        return decorator(*args, **{"semantics": "numba", **options})

    return _absent.lenient(decorate) if decorator.__name__ in ("jit", "njit") else decorate


class Missing(AttributeError):
    """A name of Numba that lancehead does not have."""


class NumbaFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds and makes the modules of `COUNTERPARTS`."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname.split(".")[0] != "numba":
            return None
        if fullname not in COUNTERPARTS and fullname not in _absent.MODULES:
            parent, _, name = fullname.rpartition(".")
            if parent in COUNTERPARTS and hasattr(counterpart(parent), name):
                return None
            raise ImportError(f"lancehead {_core.__version__} does not provide `{fullname}`", name=fullname)
        return importlib.machinery.ModuleSpec(fullname, self, origin="lancehead", is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return NumbaModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


class NumbaModule(ModuleType):
    """A module of Numba whose names are lancehead's."""

    def __getattr__(self, name: str) -> Any:
        if name == "__version__" and self.__name__ == "numba":
            return NUMBA_VERSION
        full = f"{self.__name__}.{name}"
        if full in COUNTERPARTS or full in _absent.MODULES:
            return importlib.import_module(full)
        source = counterpart(self.__name__)
        if name == "__all__":
            return [public for public in getattr(source, "__all__", dir(source)) if not public.startswith("_")]
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(source, name, None)
        if found is None and (found := _absent.find(self.__name__, name)) is None:
            raise Missing(f"lancehead {_core.__version__} does not provide `{full}`")
        return _as_numba(found) if name in _COMPILING and found is getattr(counterpart("numba"), name, None) else found

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(counterpart(self.__name__))})


def counterpart(name: str) -> ModuleType:
    """lancehead's module for a module of Numba; an empty one for those that have only absent names."""
    return importlib.import_module(COUNTERPARTS[name]) if name in COUNTERPARTS else ModuleType(name)


def install() -> None:
    """Serves `import numba` from now on."""
    if any(isinstance(finder, NumbaFinder) for finder in sys.meta_path):
        return
    # Programs for Numba that turn object mode off and on are not to be told what they cannot change.
    warnings.filterwarnings("ignore", message=OBJECT_MODE)
    for name in [name for name in sys.modules if name.split(".")[0] == "numba"]:
        del sys.modules[name]
    sys.meta_path.insert(0, NumbaFinder())
