"""The methods of functions that `functools.cache` has decorated, once compiled code keeps results of them, too."""

from __future__ import annotations

from typing import Any

from lancehead import _core


def watch(function: Any) -> None:
    """Lets `cache_clear` forget what compiled code has kept, and `cache_info` count its calls.

    >>> import functools
    >>> square = functools.cache(lambda x: x * x)
    >>> watch(square)
    >>> square.cache_info().currsize
    0
    """
    own_clear, own_info = function.cache_clear, function.cache_info

    def cache_clear() -> None:
        """Clear the cache and cache statistics."""
        own_clear()
        _core.clear_kept(function)

    def cache_info() -> Any:
        """Report cache statistics."""
        own = own_info()
        hits, misses, size = _core.kept_counts(function)
        return own._replace(hits=own.hits + hits, misses=own.misses + misses, currsize=own.currsize + size)

    function.cache_clear, function.cache_info = cache_clear, cache_info


__all__ = ["watch"]
