"""Writes the tables and single figures of pages from the results of benchmarks, `results/*.json`.

    python benches/tables.py            writes the pages that quote figures
    python benches/tables.py --check    fails where a page differs from the results

A page has these marks, between which the text is replaced:

    <!-- table RESULT TABLE [COLUMN; ...] -->    a table, or some of its columns
    <!-- figure RESULT NAME -->                  a single figure of `summary`, within a line

each followed by `<!-- end -->`. RESULT is a file's name without its ending. `benches/figures.md` has every table of
every result.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benches/results"
#: The pages that may have marks.
PAGES = ["README.md", "benches/README.md", "benches/gpu/h100.md"]
PAGES += sorted(f"docs/{path.name}" for path in ROOT.glob("docs/*.md"))
MARK = re.compile(r"(<!-- (table|figure) ([^>]*?) -->)(.*?)(<!-- end -->)", re.DOTALL)
EVERYTHING = "benches/figures.md"
HEAD = """# All figures

`python benches/tables.py` writes this page from the results in `benches/results`; [Speed](README.md) explains them.
"""
#: Rows of the longest table that is shown.
LONGEST = 100
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
    """A cell's text. From 10 on, numbers have at most three digits or no decimals."""
    if value is None:
        return ""
    if isinstance(value, list):
        return "; ".join(value)
    if isinstance(value, str):
        return value.replace("|", "\\|")
    if digits is None:
        return f"{value:,}"
    before = len(str(int(abs(value))))
    return f"{value:,.{digits if before < 2 else min(digits, max(0, 3 - before))}f}"


def table(name: str, key: str, wanted: str) -> str:
    """A table in Markdown: numbers are aligned to the right."""
    found = part(name, "tables", key)
    columns = found["columns"]
    names = [column["name"] for column in columns]
    chosen = [word.strip() for word in wanted.split(";")] if wanted else names
    if unknown := [word for word in chosen if word not in names]:
        raise Wrong(f"the table {key!r} of {name} has no column {', '.join(unknown)}: {', '.join(names)}")
    places = [names.index(word) for word in chosen]
    rows = [[cell(row[k], columns[k]["digits"]) for k in places] for row in found["rows"]]
    is_number = [all(not isinstance(row[k], str) for row in found["rows"]) for k in places]
    heads = [", ".join(filter(None, (columns[k]["name"], columns[k]["unit"].replace("us", "µs")))) for k in places]
    lines = [heads, ["---:" if right else "---" for right in is_number], *rows]
    return "".join(line_of(line) for line in lines)


def line_of(cells: list[str]) -> str:
    """A line of a table; empty cells have one space."""
    return "|" + "|".join(f" {text} " if text else " " for text in cells) + "|\n"


def ran_on(data: dict[str, Any]) -> str:
    """The machine and versions that a result was measured with, and the origin of its figures."""
    facts = [data["processor"], data["threads"] and f"threads: {data['threads']}"]
    facts += [f"{NAMES.get(package, package)} {version}" for package, version in data["versions"].items()]
    facts += [data["blas"] and f"BLAS {data['blas']}", data["load"] and f"load {data['load']}"]
    where = f"commit {data['commit']}" if data["source"] == "a run" else f"taken from {data['source']}"
    return f"{', '.join(filter(None, facts))}; {where}."


def every_table() -> str:
    """The page that has all tables but the longest."""
    parts = [HEAD]
    for name in sorted(path.stem for path in RESULTS.glob("*.json")):
        data = result(name)
        parts.append(f"## {name}\n\n`{data['command']}`. {ran_on(data)}\n")
        parts += [f"{data['notes']}\n"] if "notes" in data else []
        if data["summary"]:
            parts.append("; ".join(f"{key}: {cell(value, None)}" for key, value in data["summary"].items()) + ".\n")
        for key, found in data["tables"].items():
            if len(found["rows"]) > LONGEST:
                parts.append(f"### {key}\n\n{len(found['rows'])} rows, in `results/{name}.json`.\n")
            else:
                parts.append(f"### {key}\n\n{table(name, key, '')}")
    return "\n".join(parts)


def text_for(kind: str, words: str) -> str:
    """The text that a mark asks for."""
    name, _, rest = words.partition(" ")
    if kind == "figure":
        return cell(part(name, "summary", rest), None)
    key, _, columns = rest.partition(" ")
    return f"\n{table(name, key, columns)}"


def renewed(text: str) -> str:
    """A page's text with the figures that the results have."""
    return MARK.sub(lambda m: f"{m[1]}{text_for(m[2], m[3])}{m[5]}", text)


def pages() -> Iterator[tuple[str, str, str]]:
    """Names of pages, their texts and the texts that they should have."""
    for name in PAGES:
        text = (ROOT / name).read_text()
        try:
            yield name, text, renewed(text)
        except Wrong as error:
            sys.exit(f"{name}: {error}")
    path = ROOT / EVERYTHING
    yield EVERYTHING, path.read_text() if path.exists() else "", every_table()


def main() -> None:
    """Writes the pages, or checks them."""
    is_check, differing = "--check" in sys.argv[1:], []
    for name, before, after in pages():
        if after != before:
            differing.append(name)
            if not is_check:
                (ROOT / name).write_text(after)
    if is_check and differing:
        sys.exit(f"{', '.join(differing)} differ from benches/results: run `python benches/tables.py`")


if __name__ == "__main__":
    main()
