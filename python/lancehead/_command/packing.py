"""`lancehead pack`: a package's functions, compiled into files beside its modules, which are shipped with it."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lancehead import _core, config, errors
from lancehead.options import suggestion

#: Directory beside sources whose code is shipped with them.
PACK = "__lancehead__"
#: Processors that a pack is made for unless the command names others.
LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")
_CHILD = "import sys; from lancehead._command import packing; sys.exit(packing.child(sys.argv[1]))"
_NOTHING = (
    "nothing to pack: no function of {} has a signature in its decorator; give one: -s '{}.module.function(float64[:])'"
)


class PackError(Exception):
    """Why there is no pack, in words for the user."""


def pack_package(package: Path, signatures: Sequence[str], levels: Sequence[str]) -> list[Path]:
    """Compiles a package's functions into directories beside its modules, for each level of processors.

    Functions are compiled for the signatures in their decorators and for those given, as `module.function(int64,
    float64)`. An earlier pack stays until the new one is complete.

    Raises:
        PackError: something cannot be compiled, or there is nothing to compile.
    """
    package = package.resolve()
    with tempfile.TemporaryDirectory() as directory:
        for level in levels:
            environment = {**os.environ, "LANCEHEAD_CACHE": "1", "LANCEHEAD_CACHE_DIR": f"{directory}/{level}"}
            environment |= {"LANCEHEAD_CPU_NAME": level, "LANCEHEAD_CPU_FEATURES": ""}
            order = json.dumps([str(package), list(signatures), level == levels[0]])
            done = subprocess.run([sys.executable, "-c", _CHILD, order], env=environment, check=False)
            if done.returncode:
                # The child has said why.
                raise PackError("")
        made = _beside_sources(Path(directory), package)
        if not made:
            raise PackError(_NOTHING.format(package.name, package.name))
        try:
            return _installed(made, package)
        except OSError as error:
            raise PackError(str(error)) from error


def child(order: str) -> int:
    """The process that compiles for one level."""
    package, signatures, is_first = json.loads(order)
    try:
        compile_package(Path(package), signatures, is_first)
    except PackError as error:
        print(f"lancehead pack: {error}", file=sys.stderr)
        return 1
    return 0


def compile_package(package: Path, signatures: Sequence[str], is_first: bool) -> None:
    """Imports the modules of a package, which compiles what has signatures, and compiles for those given.

    Raises:
        PackError: a module cannot be imported, there is no such function, or it cannot be compiled for a signature.
    """
    # Code of the earlier pack would be taken instead of being made.
    config.PACKS = False
    sys.path.insert(0, str(package.parent))
    root = _imported(package.name)
    for found in pkgutil.walk_packages(root.__path__, root.__name__ + "."):
        if not found.name.endswith("__main__"):
            _imported(found.name)
    for text in signatures:
        path, bracket, types = (part.strip() for part in text.partition("("))
        if not bracket or not types.endswith(")"):
            raise PackError(f"{text!r} is no signature; write '{path}(float64[:])'")
        function = _function(root, path)
        try:
            function.compile("(" + types)
        except (errors.NumbaError, NameError, SyntaxError, TypeError, ValueError) as error:
            raise PackError(f"{text} cannot be compiled\n{error}") from error
        if is_first and not function.targetoptions.get("cache"):
            print(f"{path} has no cache=True: its entries serve where LANCEHEAD_CACHE=1 is set", file=sys.stderr)


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise PackError(f"{name} cannot be imported: {type(error).__name__}: {error}") from error


def _function(root: Any, path: str) -> Any:
    """The compiled function of a path, which begins with the package or in it."""
    found, so_far = root, root.__name__
    for part in path.removeprefix(root.__name__ + ".").split("."):
        if not hasattr(found, part):
            near = [name for name in vars(found) if not name.startswith("_")] if hasattr(found, "__dict__") else []
            raise PackError(f"{so_far} has no `{part}`{suggestion(part, near)}")
        found, so_far = getattr(found, part), f"{so_far}.{part}"
    if not isinstance(found, _core.Dispatcher):
        raise PackError(f"{so_far} is not a compiled function, but {type(found).__name__}; decorate it with @njit")
    return found


def _beside_sources(directory: Path, package: Path) -> dict[Path, list[Path]]:
    """Entries by the directory of their source, as far as that is in the package."""
    made: dict[Path, list[Path]] = {}
    for path in sorted(directory.rglob("*.nbc")):
        entry = _core.cache_entry(path)
        source = Path(entry["file"]).resolve() if entry else Path()
        if source.is_relative_to(package):
            made.setdefault(source.parent, []).append(path)
    return made


def _installed(made: dict[Path, list[Path]], package: Path) -> list[Path]:
    """Puts entries beside their sources: first all of them under another name, then in the place of the earlier
    ones."""
    staged = [place / f"{PACK}.new" for place in made]
    try:
        for place, stage in zip(made, staged):
            shutil.rmtree(stage, ignore_errors=True)
            stage.mkdir()
            for path in made[place]:
                shutil.copyfile(path, stage / path.name)
    except OSError:
        for stage in staged:
            shutil.rmtree(stage, ignore_errors=True)
        raise
    for stage in staged:
        target, aside = stage.with_name(PACK), stage.with_name(f"{PACK}.old")
        if target.exists():
            shutil.rmtree(aside, ignore_errors=True)
            target.rename(aside)
        stage.rename(target)
        shutil.rmtree(aside, ignore_errors=True)
    for old in sorted(package.rglob(PACK)):
        if old.parent not in made:
            shutil.rmtree(old)
    return sorted(path for place in made for path in (place / PACK).glob("*.nbc"))
