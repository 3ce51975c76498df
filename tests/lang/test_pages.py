"""The examples in `docs/diagnostics` produce the diagnostics that they explain."""

from __future__ import annotations

from pathlib import Path

import pytest

import lancehead
import language

PAGES = sorted((Path(__file__).parents[2] / "docs" / "diagnostics").glob("*.md"))
BLOCKS = [block for page in PAGES for block in language.read_blocks(page)]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.path.stem)
def test_example(block: language.Block) -> None:
    language.run_block(block, lancehead)


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem != "README"], ids=lambda page: page.stem)
def test_page_explains_its_own_diagnostic(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"# {page.stem}\n")
    assert "**Instead:**" in text
    if "```py" in text:
        assert f"# error: [{page.stem}]" in text
