"""`lancehead cache` and `lancehead pack`: files with compiled code, listed, checked, removed, shipped."""

from __future__ import annotations

import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lancehead import _core, config

#: Directory beside sources whose code is shipped with them.
PACK = "__lancehead__"
#: What a pack is made for unless the command says it.
LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")


def files(places: Sequence[Path]) -> Iterator[Path]:
    """Files with code in or below directories; by default, in the one for what is not kept beside its source."""
    for place in places or [p for p in [_core.cache_directory()] if p]:
        found = [place] if place.is_file() else place.rglob("*.nbc")
        # Numba's own files have the same suffix.
        yield from sorted(p for p in found if ".lh-py" in p.name)


def listing(places: Sequence[Path], long: bool) -> list[str]:
    """One line per entry; `long`: with what it has read."""
    lines = []
    for path in files(places):
        entry = _core.cache_entry(path)
        if entry is None:
            lines.append(f"damaged, or of another version: {path}")
            continue
        lines.append(f"{entry['size']:>8}  {entry['cpu']:<12} {entry['function']} {entry['signature']}")
        if long:
            lines.append(f"          {path}")
            lines += [f"          reads {name}" for name in entry["reads"][1:]]
    return lines


def facts(places: Sequence[Path]) -> list[str]:
    """Where code is kept, how much there is, and how much there may be."""
    found = list(files(places))
    size = sum(p.stat().st_size for p in found)
    everything = {None: "what says cache=True", True: "every function (LANCEHEAD_CACHE)", False: "nothing (LANCEHEAD_CACHE)"}
    return [
        f"directory  {', '.join(map(str, places)) or _core.cache_directory()}",
        f"entries    {len(found)}, {size / 1e3:.0f} kB",
        f"limit      {config.CACHE_SIZE / 1e6:.0f} MB",
        f"kept       {everything[config.CACHE]}",
    ]


def clear(places: Sequence[Path]) -> int:
    """Removes entries; how many."""
    removed = list(files(places))
    for path in removed:
        path.unlink(missing_ok=True)
        index = path.with_name(path.name.rsplit(".", 3)[0] + ".nbi")
        index.unlink(missing_ok=True)
    return len(removed)


def verify(places: Sequence[Path], remove: bool) -> tuple[int, list[Path]]:
    """How many entries are whole, and which are not."""
    checked = [(path, _core.cache_entry(path) is not None) for path in files(places)]
    damaged = [path for path, is_whole in checked if not is_whole]
    for path in damaged if remove else []:
        path.unlink(missing_ok=True)
    return len(checked) - len(damaged), damaged


def pack(places: Sequence[Path], out: Path) -> int:
    """Copies entries into a directory that can be used as `LANCEHEAD_CACHE_DIR`; how many."""
    copied = 0
    for path in files(places):
        entry = _core.cache_entry(path)
        if entry is not None:
            target = out / path.parent.name
            target.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / path.name)
            copied += 1
    return copied


def pack_package(package: Path, signatures: Sequence[str], levels: Sequence[str]) -> list[Path]:
    """Compiles a package's functions into directories beside its modules, for each level of processors.

    Functions are compiled for the signatures in their decorators and for those given, as `module.function(int64, float64)`.
    """
    package = package.resolve()
    before = set(package.rglob(f"{PACK}/*.nbc"))
    for path in before:
        path.unlink()
    code = "from pathlib import Path\nfrom lancehead._command import cache\n"
    code += f"cache.compile_package(Path({str(package)!r}), {list(signatures)!r}, "
    with tempfile.TemporaryDirectory() as directory:
        for level in levels:
            environment = {**os.environ, "LANCEHEAD_CACHE": "1", "LANCEHEAD_CACHE_DIR": f"{directory}/{level}"}
            environment |= {"LANCEHEAD_CPU_NAME": level, "LANCEHEAD_CPU_FEATURES": ""}
            subprocess.run([sys.executable, "-c", f"{code}{level == levels[0]})"], env=environment, check=True)
        # Not before all are made: one level's code would serve for the next.
        for path in sorted(Path(directory).rglob("*.nbc")):
            _take(path, package)
    return sorted(package.rglob(f"{PACK}/*.nbc"))


def compile_package(package: Path, signatures: Sequence[str], is_first: bool) -> None:
    """Imports the modules of a package, which compiles what has signatures, and compiles for those given."""
    sys.path.insert(0, str(package.parent))
    root = importlib.import_module(package.name)
    for found in pkgutil.walk_packages(root.__path__, root.__name__ + "."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    for text in signatures:
        path, _, types = text.partition("(")
        function: Any = root
        for part in path.strip().removeprefix(root.__name__ + ".").split("."):
            function = getattr(function, part)
        function.compile("(" + types)
        if is_first and not function.targetoptions.get("cache"):
            print(f"{path} has no cache=True: its entries serve where LANCEHEAD_CACHE=1 is set", file=sys.stderr)


def _take(path: Path, package: Path) -> None:
    """Moves an entry beside its source, if that is in the package."""
    entry = _core.cache_entry(path)
    source = Path(entry["file"]).resolve() if entry else Path()
    if source.is_relative_to(package):
        (source.parent / PACK).mkdir(exist_ok=True)
        shutil.copyfile(path, source.parent / PACK / path.name)
