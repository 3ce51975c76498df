"""The names of `llvmlite.binding` that programs use: libraries and symbols."""

from __future__ import annotations

import ctypes

from lancehead.lowlevel import builder


def load_library_permanently(filename: str) -> None:
    """Loads a library, whose functions code generators may call from now on.

    Raises:
        RuntimeError: it cannot be loaded.
    """
    try:
        builder.LIBRARIES.append(ctypes.CDLL(filename))
    except OSError as error:
        raise RuntimeError(str(error)) from None


def add_symbol(name: str, address: int) -> None:
    """Says at which address a function is."""
    builder.SYMBOLS[name] = address


def address_of_symbol(name: str) -> int | None:
    """The address of a function; None if nothing has that name."""
    try:
        return builder.address_of(name)
    except NotImplementedError:
        return None


def initialize() -> None:
    """Says nothing: there is nothing to initialise."""


initialize_native_target = initialize_native_asmprinter = initialize_all_targets = initialize
