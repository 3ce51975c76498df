"""Warnings at the line of the program that leads to them, not at one of lancehead's own files."""

from __future__ import annotations

import os
import sys
import warnings

_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep


def tell(message: str | Warning, category: type[Warning] | None = None) -> None:
    """Warns at the innermost line outside of lancehead: that of a call which compiles, of a decorator, of an import.

    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     tell("something is odd", RuntimeWarning)
    >>> caught[0].filename == __file__
    False
    """
    warnings.warn(message, category, stacklevel=caller()[2])


def caller() -> tuple[str, int, int]:
    """File and number of that line, and how many frames of lancehead are inside of it, as `warnings.warn` counts."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and _is_own(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    return frame.f_code.co_filename, frame.f_lineno, level


def _is_own(file: str) -> bool:
    return file.startswith((_OWN, "<frozen importlib")) or file in ("<string>", "<recorded>")
