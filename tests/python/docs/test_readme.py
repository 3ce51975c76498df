"""The manual lists every setting that the sources read."""

from __future__ import annotations

import re
from pathlib import Path

from lancehead import settings

README = Path(__file__).parents[3] / "README.md"


def test_every_setting_is_listed():
    root = README.parent
    sources = [
        p
        for p in (*root.glob("crates/*/src/**/*.rs"), *root.glob("python/lancehead/**/*.py"))
        if p.name != "settings.py"
    ]
    used = {name for p in sources for name in re.findall(r"\"(LANCEHEAD_[A-Z_]+)\"", p.read_text(encoding="utf-8"))}
    listed = set(
        re.findall(r"^\| `(LANCEHEAD_[A-Z_]+)", (root / "docs/debugging.md").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert used - {"LANCEHEAD_ALLOC_ERROR_HANDLER", "LANCEHEAD_BUILD", "LANCEHEAD_UNDONE"} == listed
    assert listed == {settings.PREFIX + setting.name for setting in settings.SETTINGS}
