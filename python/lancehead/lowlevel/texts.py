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


def _codepoint_to_kind(codepoint: int) -> int:
    """Bytes that each character of a text in CPython has, if this one is its highest.

    >>> _codepoint_to_kind(8364)
    2
    """
    return 1 if codepoint < 256 else 2 if codepoint < 65536 else 4
