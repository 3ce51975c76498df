"""Settings, read from the environment when lancehead is imported. They may be changed at run time."""

from __future__ import annotations

import os

#: Runs the Python functions themselves: `LANCEHEAD_DISABLE_JIT=1`.
DISABLE_JIT: int = int(os.environ.get("LANCEHEAD_DISABLE_JIT", "0") or "0")
