"""What lets compiled code be extended from Python."""

from __future__ import annotations

from typing import Any

from lancehead.decorators import is_jitted


def register_jitable(*args: Any, **options: Any) -> Any:
    """Marks a function as one to be compiled into its callers, which every Python function is."""
    if args and callable(args[0]):
        return args[0]
    return lambda function: function


__all__ = ["is_jitted", "register_jitable"]
