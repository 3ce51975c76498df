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
        # Sentences beside the names would be narrow columns in a narrow terminal.
        is_narrow = columns - width < 40
        text = textwrap.wrap(_first_sentence(path), columns - (4 if is_narrow else width))
        first = "" if is_narrow or not text else text.pop(0)
        lines += [f"{name:<{width}}{first}".rstrip(), *(f"{'':<{4 if is_narrow else width}}{rest}" for rest in text)]
    return lines


def wrapped(page: str, columns: int) -> str:
    """A page in lines of so many characters, but for programs and tables; of links, the names of the pages stay."""
    if max(map(len, page.splitlines())) <= columns:
        return page
    page = re.sub(r"\[([^]]*)\]\((?:\.\./)*([\w-]+\.md)[^)]*\)", r"\1 (\2)", page)
    parts, is_program = [], False
    for part in page.split("\n\n"):
        is_program ^= part.count("```") % 2 == 1
        if is_program or "```" in part or part.startswith("|"):
            parts.append(part)
        else:
            items = re.split(r"\n(?=- )", part.rstrip("\n"))
            hanging = "  " if part.startswith("- ") else ""
            filled = (textwrap.fill(item.replace("\n", " "), columns, subsequent_indent=hanging) for item in items)
            parts.append("\n".join(filled))
    return "\n\n".join(parts).rstrip("\n") + "\n"


def _first_sentence(path: Path) -> str:
    paragraphs = path.read_text(encoding="utf-8").split("\n\n")
    text = " ".join(paragraphs[1].split()) if len(paragraphs) > 1 else ""
    sentence = re.split(r"(?<=[.:])\s(?=[A-Z]|$)", text)[0].rstrip(":")
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", sentence).replace("`", "")
