"""Programs that the tests of the cache run in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

#: Prints a call's result and what the cache had, as JSON.
TELL = """
import json, sys, warnings
sys.path.insert(0, {path!r})
warnings.simplefilter("always")
def tell(f, *args):
    try:
        result = f(*args)
        result = result.tolist() if hasattr(result, "tolist") else result
    except Exception as e:
        result = f"{{type(e).__name__}}: {{e}}"
    print(json.dumps([result, sum(f.stats.cache_hits.values()), sum(f.stats.cache_misses.values())]))
"""


class Project:
    """A directory of modules, with processes that import them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # Python's own bytecode files go by the time stamp, which `replace` keeps.
        self.env: dict[str, str] = {"PYTHONDONTWRITEBYTECODE": "1"}

    def write(self, name: str, text: str) -> Path:
        """Writes a module."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("from lancehead import njit\nimport numpy as np\n" + textwrap.dedent(text))
        return path

    def replace(self, name: str, old: str, new: str) -> None:
        """Edits a module; its time stamp is what it was, so that nothing can rely on that."""
        path = self.path / name
        stat = path.stat()
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    def popen(self, code: str, *options: str) -> subprocess.Popen[str]:
        """Starts a process."""
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.path / "user cache"), **self.env}
        # Sources are read, not the interpreter's own cache of them, which goes by time stamps.
        command = [sys.executable, "-B", *options, "-c", TELL.format(path=str(self.path)) + textwrap.dedent(code)]
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd="/"
        )

    def run(self, code: str, *options: str) -> Any:
        """Runs code in a process and returns its report: of each call the result, hits and misses."""
        return self.finish(self.popen(code, *options))

    def finish(self, process: subprocess.Popen[str]) -> Any:
        """As `run`, of a process that was started before."""
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        self.errors = err
        told = [json.loads(line) for line in out.splitlines() if line.startswith("[")]
        return told[0] if len(told) == 1 else told

    def entries(self) -> list[Path]:
        """Files with code, wherever they are."""
        return sorted(self.path.rglob("*.nbc"))
