"""`lancehead help`: the pages of diagnostics, by their ids."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from lancehead.options import suggestion

#: Where pages are: in the repository, or in the package, where a build has copied them to.
_FOLDERS = (Path(__file__).parents[3] / "docs/diagnostics", Path(__file__).parents[1] / "_pages")


def folder() -> Path:
    """Where the pages are."""
    return next((f for f in _FOLDERS if f.is_dir()), _FOLDERS[-1])


def ids() -> dict[str, Path]:
    """Paths of the pages by the ids of diagnostics."""
    found = sorted(folder().glob("*.md"))
    return {path.stem: path for path in found if path.stem != "README"}


def page(name: str, commands: tuple[str, ...] = ()) -> str:
    """The page of a diagnostic, whose id may be given as it is shown: `error[read-only]`.

    Raises:
        KeyError: there is no such id, with the nearest one, or the nearest command.
    """
    known = ids()
    bare = re.sub(r"^\w*\[|\]$", "", name.strip()).lower()
    if bare not in known:
        raise KeyError(f"no diagnostic or command has the name {bare}{suggestion(bare, [*known, *commands])}")
    return known[bare].read_text(encoding="utf-8")


def contents(columns: int) -> list[str]:
    """All ids, each with the first sentence of its page, in lines of a terminal."""
    known = ids()
    width = max(map(len, known), default=0) + 2
    lines = []
    for name, path in known.items():
        text = textwrap.wrap(_first_sentence(path), max(columns - width, 40)) or [""]
        lines += [f"{name:<{width}}{text[0]}", *(f"{'':<{width}}{rest}" for rest in text[1:])]
    return lines


def _first_sentence(path: Path) -> str:
    paragraphs = path.read_text(encoding="utf-8").split("\n\n")
    text = " ".join(paragraphs[1].split()) if len(paragraphs) > 1 else ""
    sentence = re.split(r"(?<=[.:])\s(?=[A-Z]|$)", text)[0].rstrip(":")
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", sentence).replace("`", "")
