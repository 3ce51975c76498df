"""`lancehead cache`: files with compiled code, listed, checked, removed, copied."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from lancehead import _core, config

#: Where code of functions lies whose source can be written beside.
BESIDE = "__pycache__"
#: The directory of schedules that `lancehead.xp.autotuning` found.
SCHEDULES = "schedules"
_HEADER = f"{'size':>9}  {'processor':<12}  function and types"
_UNITS = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))


def places_of(given: Sequence[Path]) -> list[Path]:
    """Directories and scripts to look at: those given, else the user's cache, the store of objects if it is elsewhere,
    and `__pycache__` of the working directory.

    Raises:
        FileNotFoundError: one that is given does not exist.
    """
    for place in given:
        if not place.exists():
            raise FileNotFoundError(f"there is no {place}")
    kept, store = _core.cache_directory(), _core.store_folder()
    elsewhere = store is not None and not (kept and store.is_relative_to(kept))
    return list(given) or [*([kept] if kept else []), *([store] if store and elsewhere else []), Path(BESIDE)]


def files(places: Sequence[Path]) -> Iterator[Path]:
    """Files with code: in or below directories, and beside scripts."""
    for place in places:
        if place.suffix == ".py":
            # Entries begin with the name of their source, without characters that are awkward in names of files.
            stem = "".join(c for c in place.stem if c.isalnum() or c in "._-")
            found = [p for p in (place.parent / BESIDE).glob("*.nbc") if p.name.startswith(f"{stem}.")]
        else:
            found = [place] if place.is_file() else list(place.rglob("*.nbc"))
        # Numba's own files have the same suffix.
        yield from sorted(p for p in found if ".lh-py" in p.name and p.is_file())


def objects(places: Sequence[Path]) -> list[Path]:
    """Files of the store of objects, in or below directories."""
    found = {path for place in places if place.is_dir() for path in place.rglob("*.nbo") if path.is_file()}
    return sorted(found)


def _objects_text(places: Sequence[Path]) -> str:
    """How many files of the store of objects there are, and their size."""
    found = objects(places)
    return f"{counted(len(found), 'object', 'objects')}, {size_text(sum(p.stat().st_size for p in found))}"


def listing(places: Sequence[Path], long: bool) -> list[str]:
    """The entries of each place as a table; `long`: with what each has read."""
    lines = []
    for place in places:
        lines.append(f"{place}")
        rows = [row for path in files([place]) for row in _rows(path, long)]
        lines += [_HEADER, *rows] if rows else ["  no entries"]
    found = list(files(places))
    lines.append(f"{counted(len(found), 'entry', 'entries')}, {size_text(sum(p.stat().st_size for p in found))}")
    if objects(places):
        lines.append(f"store of library code: {_objects_text(places)}")
    return lines if found else [*lines, *_advice()]


def _rows(path: Path, long: bool) -> Iterator[str]:
    entry = _core.cache_entry(path)
    if entry is None:
        yield f"{size_text(path.stat().st_size):>9}  damaged, or of another version: {path}"
        return
    yield f"{size_text(entry['size']):>9}  {entry['cpu']:<12}  {entry['function']} {entry['signature']}"
    if long:
        yield f"{'':9}    {path}"
        yield from (f"{'':9}    reads {name}" for name in entry["reads"][1:])


def _advice() -> list[str]:
    """How code of scripts is found, if nothing was."""
    return [
        f"Entries of a script are in {BESIDE} beside it; name the script or its directory: lancehead cache ls DIRECTORY"
    ]


def counted(number: int, one: str, many: str) -> str:
    """A number with its noun.

    >>> counted(1, "entry", "entries")
    '1 entry'
    """
    return f"{number} {one if number == 1 else many}"


def size_text(size: float) -> str:
    """A number of bytes with a unit.

    >>> size_text(3620)
    '3.6 kB'
    """
    return next((f"{size / factor:.1f} {unit}" for unit, factor in _UNITS if size >= factor), f"{size:.0f} B")


def facts(places: Sequence[Path]) -> list[str]:
    """Where code is kept, how much there is, and how much there may be."""
    everything = {
        None: "functions with cache=True",
        True: "every function (LANCEHEAD_CACHE)",
        False: "nothing (LANCEHEAD_CACHE)",
    }
    lines, total = [], 0
    for place in places:
        found = list(files([place]))
        total += len(found)
        lines.append(
            f"directory  {place}: {counted(len(found), 'entry', 'entries')}, "
            f"{size_text(sum(p.stat().st_size for p in found))}"
        )
    store = _core.store_folder()
    lines += [
        f"entries    {total}",
        f"objects    {store}: {_objects_text([store])}" if store else "objects    in memory only (LANCEHEAD_STORE)",
        f"limit      {size_text(config.CACHE_SIZE)}, and a quarter of it for objects",
        f"kept       {everything[config.CACHE]}",
    ]
    return lines if total else [*lines, *_advice()]


def files_text(found: Sequence[Path]) -> str:
    """How many entries and stored objects are among files.

    >>> files_text([Path("f.nbc"), Path("a.nbo"), Path("b.nbo")])
    '1 entry and 2 objects'
    """
    stored = sum(path.suffix == ".nbo" for path in found)
    entries = counted(len(found) - stored, "entry", "entries")
    return f"{entries} and {counted(stored, 'object', 'objects')}" if stored else entries


def clear(places: Sequence[Path]) -> list[Path]:
    """Removes entries and stored objects, and schedules of lazy arrays beside them; those that were there."""
    for place in places:
        for path in (place / SCHEDULES).glob("*.json"):
            path.unlink(missing_ok=True)
    removed = [*files(places), *objects(places)]
    # The store notes when it looked at its size.
    for path in [*removed, *(path for place in places for path in place.rglob(".lh-checked"))]:
        path.unlink(missing_ok=True)
        if path.suffix == ".nbc":
            path.with_name(path.name.rsplit(".", 3)[0] + ".nbi").unlink(missing_ok=True)
    return removed


def verify(places: Sequence[Path], remove: bool) -> tuple[list[Path], list[Path]]:
    """The entries and stored objects that are complete, and those that are not."""
    checked = [(path, _core.cache_entry(path) is not None) for path in files(places)]
    checked += [(path, _core.store_is_whole(path)) for path in objects(places)]
    damaged = [path for path, is_whole in checked if not is_whole]
    for path in damaged if remove else []:
        path.unlink(missing_ok=True)
    return [path for path, is_whole in checked if is_whole], damaged


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
