"""x."""

from __future__ import annotations

from typing import Any


class Gpu:
    """x."""

    def __init__(self, session: Any) -> None: ...
