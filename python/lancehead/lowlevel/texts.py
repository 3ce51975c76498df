"""Texts and bytes as extensions reach them: names of `numba.cpython.unicode` and `numba.cpython.charseq`."""

from __future__ import annotations

from lancehead import types

#: The type of `bytes`.
bytes_type = types.Bytes(types.uint8, 1, "C", readonly=True)


def _get_code_point(text: str, at: int) -> int:
    """The code point at a place of a text.

    >>> _get_code_point("a\\u20ac", 1)
    8364
    """
    return ord(text[at])
