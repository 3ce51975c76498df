"""A hook of MkDocs: pages that lie outside of `docs/`, and links that lead out of it.

Pages are written for readers of the repository, so their links are paths in it. On the site, a link to a page of the
site leads there; a link to any other file becomes its text, since the site does not hold that file.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
# Path in the repository -> page of the site.
OUTSIDE = {"CHANGELOG.md": "changelog.md", "ARCHITECTURE.md": "architecture.md", "benches/README.md": "benchmarks.md"}
# A folder stands for its page with the list of what is in it.
FOLDERS = {
    "tests/lang": "language/index.md",
    "examples/cuda": "examples/cuda.md",
    "docs/diagnostics": "diagnostics/README.md",
    "docs/decisions": "decisions/README.md",
}
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")


def language_pages():
    """Path in the repository and page of the site of every page of the language."""
    return {f"tests/lang/{p.name}": f"language/{p.name}" for p in sorted((ROOT / "tests/lang").glob("*.md"))}


def heading(path):
    """The first heading of a Markdown file."""
    return re.search(r"^# (.*)", path.read_text(encoding="utf-8"), re.MULTILINE)[1]


def language_index():
    """The list of the language's pages."""
    rows = [f"- [{heading(ROOT / source)}]({Path(page).name})" for source, page in language_pages().items()]
    return "\n".join([
        "# The language", "",
        ("Each page is a specification and a test. Every block runs compiled and in CPython, and both must agree, "
        "except where"),
        "the text says why not. The blocks take `from lancehead import *` and `import numpy as np` for granted.", "",
        *rows, "",
    ])  # fmt: skip


def kernel_programs():
    """The programs with kernels, as one page."""
    out = ["# Programs with kernels", "", "Every program runs as it is, on the CPU device too; the tests run them.", ""]
    for path in sorted((ROOT / "examples/cuda").glob("*.py")):
        out += [f"## {path.stem}", "", "```python", path.read_text(encoding="utf-8").rstrip(), "```", ""]
    return "\n".join(out)


def on_config(config):
    """Completes the sections of the navigation that have a page for each file of a folder."""
    more = {"language/index.md": list(language_pages().values())}
    for folder in ("diagnostics", "decisions"):
        names = sorted(p.name for p in (ROOT / "docs" / folder).glob("*.md") if p.name != "README.md")
        more[f"{folder}/README.md"] = [f"{folder}/{name}" for name in names]
    for section in config.nav:
        for items in section.values():
            for below in [value for item in items if isinstance(item, dict) for value in item.values()]:
                if isinstance(below, list):
                    below += more[below[0]]
    return config


def on_files(files, config):
    """Adds the pages from outside of `docs/`."""
    for source, page in {**OUTSIDE, **language_pages()}.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    for page, text in (("language/index.md", language_index()), ("examples/cuda.md", kernel_programs())):
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown, page, files, **_):
    """Makes links of the repository links of the site."""
    sites = {**OUTSIDE, **language_pages(), **FOLDERS}
    sources = {page_: source for source, page_ in {**OUTSIDE, **language_pages()}.items()}
    here = page.file.src_uri
    if here not in sources and files.get_file_from_path(here).abs_src_path is None:
        return markdown
    home = posixpath.dirname(sources.get(here, f"docs/{here}"))

    def moved(match):
        text, target = match.groups()
        path, mark, anchor = target.partition("#")
        if not path or ":" in path:
            return match[0]
        place = posixpath.normpath(posixpath.join(home, path))
        site = sites.get(place) or (place.removeprefix("docs/") if place.startswith("docs/") else None)
        if site is None:
            return text
        return f"[{text}]({posixpath.relpath(site, posixpath.dirname(here) or '.')}{mark}{anchor})"

    return LINK.sub(moved, markdown)
