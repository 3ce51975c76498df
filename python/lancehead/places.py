"""How places in the source are shown: a cell of a notebook by its number, a file by its shorter path."""

from __future__ import annotations

import os
import sys


def shown(file: str) -> str:
    """A file name as a reader knows it: `Cell In[3]` for a cell, a path from the working directory where that is
    shorter.

    >>> shown("/nowhere/model.py"), shown("<string>")
    ('/nowhere/model.py', '<string>')
    """
    return _cell(file) or _relative(file)


def _cell(file: str) -> str | None:
    # IPython knows its cells by made-up names of files. Nobody has cells who has not loaded it.
    loaded = sys.modules.get("IPython")
    shell = loaded.get_ipython() if hasattr(loaded, "get_ipython") else None  # type: ignore[union-attr]
    named = getattr(getattr(shell, "compile", None), "format_code_name", None)
    parts = named(file) if named else None
    return " ".join(parts) if parts else None


def _relative(file: str) -> str:
    if not os.path.isabs(file):
        return file
    try:
        from_here = os.path.relpath(file)
    except (OSError, ValueError):
        # The working directory may have been removed, or be on another drive.
        return file
    return from_here if len(from_here) < len(file) else file
