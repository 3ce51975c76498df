"""Ahead-of-time compilation, as Numba's `pycc` has it: functions with signatures become an extension module."""

from __future__ import annotations

import importlib
import sys
import sysconfig
from pathlib import Path
from typing import Any

from lancehead import _core
from lancehead.options import public


class CC:
    """An extension module in the making.

    >>> from lancehead.pycc import CC
    >>> cc = CC("fast_math")
    >>> @cc.export("square", "float64(float64)")
    ... def square(x):
    ...     return x * x

    `cc.compile()` writes it into `output_dir`; `lancehead build` with the module's path makes a shared library for C as
    well.
    """

    def __init__(self, extension_name: str, source_module: Any = None) -> None:
        if not extension_name.isidentifier():
            raise ValueError("basename should be a simple module name, not qualified")
        caller = sys._getframe(1).f_globals
        source = getattr(source_module, "__file__", None) if source_module else caller.get("__file__")
        self.name = extension_name
        self.output_dir = str(Path(source).resolve().parent) if source else "."
        self.output_file = f"{extension_name}{sysconfig.get_config_var('EXT_SUFFIX')}"
        self.target_cpu: Any = ""
        self.verbose = False
        self.use_nrt = True
        self._exported: dict[str, tuple[Any, Any]] = {}

    def export(self, exported_name: str, sig: Any) -> Any:
        """Marks a function to be exported under a name, with one signature."""
        if not exported_name.isidentifier():
            raise ValueError(f"{exported_name!r} cannot be the name of a function")
        signature = _core.parse_signature(sig) if isinstance(sig, str) else sig
        if not isinstance(signature, _core.Signature) and not isinstance(signature, tuple):
            raise TypeError(f"a signature was expected, not {sig!r}")

        def mark(function: Any) -> Any:
            if exported_name in self._exported:
                raise KeyError(f"duplicated export symbol {exported_name}")
            self._exported[exported_name] = (function, signature)
            return function

        return mark

    def exports(self) -> list[Any]:
        """The exported functions, in order."""
        return [_ahead().Export(name, function, signature) for name, (function, signature) in self._exported.items()]

    def compile(self) -> None:
        """Writes the extension module into `output_dir`, as `output_file`."""
        _ahead().build(self.exports(), self._product(Path(self.output_dir)))

    def distutils_extension(self, **kwargs: Any) -> Any:
        """The module as a `setuptools.Extension`: its files are made below `build` now, and linked by setuptools."""
        return _ahead().extension(self.exports(), self._product(Path("build") / f"lancehead.{self.name}"), kwargs)

    def _product(self, directory: Path) -> Any:
        ahead = _ahead()
        wanted = [self.target_cpu] if isinstance(self.target_cpu, str) else list(self.target_cpu)
        levels = ahead.levels([cpu for cpu in wanted if cpu not in ("", "generic")])
        return ahead.Product(self.name, directory, levels, file=self.output_file, library=False, verbose=self.verbose)


def _ahead() -> Any:
    # Loaded when something is built: a program that only imports the module has nothing to do with it.
    return importlib.import_module("lancehead._command.ahead")


__all__ = ["CC"]
public(globals())
