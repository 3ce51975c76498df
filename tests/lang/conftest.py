"""Collects ``*.md`` as tests: one per block, run by `language.run_block`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import language


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix == ".md":
        return MarkdownFile.from_parent(parent, path=file_path)
    return None


class MarkdownFile(pytest.File):
    def collect(self):
        if os.environ.get("LANCEHEAD_BLESS"):
            language.bless(self.path)
        for block in language.read_blocks(self.path):
            yield MarkdownBlock.from_parent(self, name=block.name, block=block)


class MarkdownBlock(pytest.Item):
    def __init__(self, *, block: language.Block, **rest):
        super().__init__(**rest)
        self.block = block

    def runtest(self) -> None:
        import lancehead

        language.run_block(self.block, lancehead)

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, language.Mismatch):
            cause = excinfo.value.__cause__
            return f"{excinfo.value}" + (f"\n    cause: {type(cause).__name__}: {cause}" if cause else "")
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, self.block.line - 1, f"{self.path.name}: {self.name}"
