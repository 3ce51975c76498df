"""Functions of C by their names, and the tables of Numba's that extensions ask for."""

from __future__ import annotations

from typing import Any

from lancehead import types
from lancehead.lowlevel.builder import address_of
from lancehead.lowlevel.registry import intrinsic


class ExternalFunction(types.WrapperAddressProtocol):
    """A function of C that compiled code calls: its name in a loaded library, and its signature."""

    def __init__(self, symbol: str, sig: Any) -> None:
        self.symbol, self.sig = symbol, sig
        self.__name__ = symbol

    def __wrapper_address__(self) -> int:
        """Where it is."""
        return address_of(self.symbol)

    def signature(self) -> Any:
        """Types of its parameters and of its result."""
        return self.sig

    def __repr__(self) -> str:
        return f"ExternalFunction({self.symbol})"


@intrinsic
def NRT_get_api(typingctx: Any) -> Any:
    """The address of the table by which C code manages memory."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.get_nrt_api(builder)

    return types.voidptr(), generate
