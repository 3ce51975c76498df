"""The documentation: every block runs alone, links lead somewhere, generated pages are current, every page is found."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from doc_blocks import Block, blocks

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
# tests/python/docs/test_scaling.py runs the programs of scaling.md: one of them needs mpiexec.
PAGES = [ROOT / "README.md", *(p for p in sorted(DOCS.glob("*.md")) if p.name != "scaling.md")]
PROSE = [*PAGES, DOCS / "scaling.md", ROOT / "CHANGELOG.md"]
GENERATED = {"supported.md", "numpy.md", "options.md"}
RUN = Path(__file__).with_name("doc_blocks.py")


def runs(block: Block) -> bool:
    """Whether a block is run or looked at."""
    return bool(block.file or block.mark or block.language in ("py", "python"))


@pytest.mark.parametrize(
    "page", [p for p in PAGES if any(map(runs, blocks(p.read_text(encoding="utf-8"))))], ids=lambda p: p.name
)
def test_every_block_runs_alone(page, tmp_path):
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "LANCEHEAD_CUDA_DEVICE": "cpu"}
    for name in ("LANCEHEAD_CACHE", "LANCEHEAD_CACHE_DIR", "LANCEHEAD_RACE"):
        environment.pop(name, None)
    done = subprocess.run(
        [sys.executable, RUN, page], cwd=tmp_path, capture_output=True, text=True, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stderr


WRONG = {
    "```py\nundefined\n```\n": "NameError",
    "```py\nprint(1)  # 2\n```\n": "does not print",
    "```py\nlen([])  # raises: TypeError\n```\n": "does not raise",
    "```py\nint('x')  # raises: ValueError: no such words\n```\n": "ValueError",
    "```py\n# a.py\nraise SystemExit(3)\n```\n": "gives 3",
    "<!-- run -->\n```sh\nexit 4\n```\n": "gives 4",
    "```py\nprint(1)\n```\n\n<!-- prints -->\n```text\n2\n```\n": "does not show",
}


@pytest.mark.parametrize("page", WRONG)
def test_a_wrong_block_is_noticed(page, tmp_path):
    path = tmp_path / "page.md"
    path.write_text("# Page\n\n" + page)
    done = subprocess.run([sys.executable, RUN, path], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and WRONG[page] in done.stderr


def anchors(path: Path) -> set[str]:
    """The anchors of a page's headings."""
    prose = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", h)).strip().lower().replace(" ", "-")
        for h in headings
    }


# Pages for contributors: `cargo xtask tidy` checks the files that they name.
CONTRIBUTORS = [
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "tests/README.md",
    *sorted(p for p in (ROOT / "python").rglob("README.md") if p.parent.name != "_pages"),
]
LINKING = [*PROSE, *sorted(DOCS.glob("*/*.md")), *CONTRIBUTORS]


@pytest.mark.parametrize("page", LINKING, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if ":" in target:
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file), target


SHORT = [*(p for p in PROSE if p.name not in GENERATED), *sorted(DOCS.glob("decisions/*.md")), *CONTRIBUTORS]


@pytest.mark.parametrize("page", SHORT, ids=lambda p: str(p.relative_to(ROOT)))
def test_lines_of_prose_are_short(page):
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    # A row of a table is one line, whatever it holds.
    long = [line for line in prose.splitlines() if len(line) > 120 and not line.startswith("|")]
    assert long == []


def test_every_page_is_in_the_navigation():
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [*DOCS.glob("*.md"), *DOCS.glob("*/*.md")]
    # xtask/site.py adds the pages beside the list of a folder.
    listed = {p.parent for p in DOCS.glob("*/README.md")}
    missing = [p.name for p in pages if f"{p.relative_to(DOCS)}" not in menu and p.parent not in listed]
    assert missing == []
    assert listed == {DOCS / "decisions", DOCS / "diagnostics"}
    assert [f"{folder.name}/README.md" in menu for folder in listed] == [True, True]


def test_every_decision_is_in_the_list():
    page = (DOCS / "decisions/README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- \[(\d{3}) .*\]\((\1-[\w-]+\.md)\)$", page, re.MULTILINE)
    names = sorted(p.name for p in DOCS.glob("decisions/*.md") if p.name != "README.md")
    assert [name for _, name in listed] == names
    headings = [(DOCS / "decisions" / name).read_text(encoding="utf-8").split("\n")[0] for name in names]
    assert [f"# {text}" for text in re.findall(r"^- \[(.*)\]", page, re.MULTILINE)] == headings


CLASSES = {
    "Typing": "errors.TypingError", "Unsupported": "errors.UnsupportedError",
    "Lowering": "errors.LoweringError",
    "Bytecode": "errors.UnsupportedBytecodeError",
    "Value": "errors.NumbaValueError", "Race": "errors.ParallelRaceError", "Kernel": "cuda.errors.CudaCheckError",
    "Optimisation": "errors.OptimisationWarning",
}  # fmt: skip


def test_every_diagnostic_is_in_the_list_with_its_class():
    source = (ROOT / "crates/lh-ir/src/diag.rs").read_text(encoding="utf-8")
    declared = {name: CLASSES[kind] for name, kind in re.findall(r'= "([\w-]+)", (\w+);', source)}
    page = (DOCS / "diagnostics/README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[([\w-]+)\]\(\1\.md\) \| .* \| `([\w.]+)` \|$", page, re.MULTILINE)
    assert len(declared) > 10 and dict(listed) == declared and len(listed) == len(declared)


def test_generated_pages_are_current():
    done = subprocess.run(
        [sys.executable, ROOT / "xtask/reference.py", "--check"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


def test_the_site_fetches_nothing():
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "font: false" in menu
    assert not re.findall(r"https?://", menu + (DOCS / "site.css").read_text(encoding="utf-8"))
