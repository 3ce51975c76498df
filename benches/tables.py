"""Writes the tables and single figures of pages from the results of benchmarks, `results/*.json`.

    python benches/tables.py            writes the pages that quote figures
    python benches/tables.py --check    fails where a page differs from the results

A page has these marks, between which the text is replaced:

    <!-- table RESULT TABLE [COLUMN, ...] -->    a table, or some of its columns
    <!-- figure RESULT NAME -->                  a single figure of `summary`, within a line
    <!-- runs -->                                a line for each result: processor, versions, commit

each followed by `<!-- end -->`. RESULT is a file's name without its ending.
"""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benches/results"
#: The pages that may have marks.
PAGES = ["README.md", "benches/README.md", "benches/gpu/h100.md"]
PAGES += sorted(f"docs/{path.name}" for path in ROOT.glob("docs/*.md"))
MARK = re.compile(r"(<!-- (table|figure|runs)(?: ([^>]*?))? -->)(.*?)(<!-- end -->)", re.DOTALL)
NAMES = {"numpy": "NumPy", "numba": "Numba", "scipy": "SciPy", "jax": "JAX", "cupy": "CuPy", "python": "CPython"}


class Wrong(Exception):
    """A mark asks for something that no result has."""


@cache
def result(name: str) -> dict[str, Any]:
    """The figures of a benchmark."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        raise Wrong(f"there is no benches/results/{name}.json")
    return json.loads(path.read_text())


def part(name: str, of: str, key: str) -> Any:
    """A table or a figure of a result."""
    found = result(name)[of]
    if key not in found:
        raise Wrong(f"benches/results/{name}.json has no {key!r} in {of}: {', '.join(found)}")
    return found[key]


def cell(value: Any, digits: int | None) -> str:
    """A cell's text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.replace("|", "\\|")
    return f"{value:,}" if digits is None else f"{value:,.{digits}f}"


def table(name: str, key: str, wanted: str) -> str:
    """A table in Markdown: numbers are aligned to the right."""
    found = part(name, "tables", key)
    columns = found["columns"]
    names = [column["name"] for column in columns]
    chosen = [word.strip() for word in wanted.split(",")] if wanted else names
    if unknown := [word for word in chosen if word not in names]:
        raise Wrong(f"the table {key!r} of {name} has no column {', '.join(unknown)}: {', '.join(names)}")
    places = [names.index(word) for word in chosen]
    rows = [[cell(row[k], columns[k]["digits"]) for k in places] for row in found["rows"]]
    is_number = [all(not isinstance(row[k], str) for row in found["rows"]) for k in places]
    heads = [", ".join(filter(None, (columns[k]["name"], columns[k]["unit"]))) for k in places]
    lines = [heads, ["---:" if right else "---" for right in is_number], *rows]
    return "".join(line_of(line) for line in lines)


def line_of(cells: list[str]) -> str:
    """A line of a table; empty cells have one space."""
    return "|" + "|".join(f" {text} " if text else " " for text in cells) + "|\n"


def runs() -> str:
    """A line for each result."""
    lines = [["result", "processor, threads", "versions", "commit"], ["---"] * 4]
    for path in sorted(RESULTS.glob("*.json")):
        data = result(path.stem)
        versions = ", ".join(f"{NAMES.get(p, p)} {v}" for p, v in data["versions"].items() if p != "lancehead")
        kernel = f"; BLAS {data['blas']}" if data.get("blas") else ""
        lines.append([f"`{path.stem}`", f"{data['processor']}, {data['threads']}", versions + kernel, data["commit"]])
    return "".join(map(line_of, lines))


def text_for(kind: str, words: str) -> str:
    """The text that a mark asks for."""
    if kind == "runs":
        return f"\n{runs()}"
    name, _, rest = words.partition(" ")
    if kind == "figure":
        return cell(part(name, "summary", rest), None)
    key, _, columns = rest.partition(" ")
    return f"\n{table(name, key, columns)}"


def renewed(text: str) -> str:
    """A page's text with the figures that the results have."""
    return MARK.sub(lambda m: f"{m[1]}{text_for(m[2], m[3] or '')}{m[5]}", text)


def main() -> None:
    """Writes the pages, or checks them."""
    is_check, differing = "--check" in sys.argv[1:], []
    for name in PAGES:
        path = ROOT / name
        before = path.read_text()
        try:
            after = renewed(before)
        except Wrong as error:
            sys.exit(f"{name}: {error}")
        if after != before:
            differing.append(name)
            if not is_check:
                path.write_text(after)
    if is_check and differing:
        sys.exit(f"{', '.join(differing)} differ from benches/results: run `python benches/tables.py`")


if __name__ == "__main__":
    main()
