"""What README shows runs and prints what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from lancehead import settings

README = Path(__file__).parents[2] / "README.md"


def test_examples_print_what_their_comments_say(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for number, block in enumerate(blocks):
        script = tmp_path / f"example{number}.py"
        script.write_text(block)
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines() == re.findall(r"print\(.*\)\s+# (.*)", block)


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#:]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / target).exists(), target


def test_every_setting_is_listed():
    root = README.parent
    sources = [p for p in (*root.glob("crates/*/src/**/*.rs"), *root.glob("python/lancehead/**/*.py")) if p.name != "settings.py"]
    used = {name for p in sources for name in re.findall(r"\"(LANCEHEAD_[A-Z_]+)\"", p.read_text(encoding="utf-8"))}
    listed = set(re.findall(r"^\| `(LANCEHEAD_[A-Z_]+)", (root / "docs/debugging.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert used - {"LANCEHEAD_BUILD"} == listed
    assert listed == {settings.PREFIX + setting.name for setting in settings.SETTINGS}


def test_document_on_ufuncs(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (README.parent / "docs" / "ufuncs.md").read_text(encoding="utf-8"), re.DOTALL)
    script = tmp_path / "ufuncs.py"
    script.write_text("\n".join(blocks) + "\nprint(energy(np.ones(2), np.ones(2)))\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    said = re.findall(r"print\(.*\)\s+# (.*)", "\n".join(blocks))
    printed = done.stdout.splitlines()
    assert said and [line for line in said if line not in printed] == []
