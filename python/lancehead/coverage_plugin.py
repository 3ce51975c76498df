"""A plugin of coverage.py: functions run in the interpreter while coverage is measured, so that their lines count.

In `pyproject.toml`: `[tool.coverage.run]`, `plugins = ["lancehead.coverage_plugin"]`.
"""

from __future__ import annotations

import os
from typing import Any

from lancehead import config


def coverage_init(registry: Any, options: Any) -> None:
    """Turns compilation off, in processes that the program starts, too."""
    os.environ["LANCEHEAD_DISABLE_JIT"] = "1"
    config.DISABLE_JIT = 1
