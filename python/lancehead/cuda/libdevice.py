"""NVIDIA's mathematical functions by their own names. Their code is in `lancehead/lib/cuda/libdevice.py`, from whose
text the names derive: a function with a docstring is one of them.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from lancehead.cuda.names import Name
from lancehead.options import public

# NVIDIA has no such functions: other conversions of halves are in `fp16`, exact ones need no rounding, and of fast
# functions there are only those of `float32`.
_ABSENT = re.compile("fast_.*[^f]|saturate|(?!float2half_rn).*half.*_r[nduz]|u?int2double_r[duz]")


def _defined(file: str) -> list[str]:
    text = (pathlib.Path(__file__).parents[1] / "lib/cuda" / file).read_text(encoding="utf-8")
    return re.findall(r'^def (\w+)\(.*\):\n    """', text, re.MULTILINE)


def _names() -> Iterator[str]:
    for name in _defined("libdevice.py") + _defined("special.py"):
        # A function of any float type has a name for each of two.
        yield from (name[1:], f"{name[1:]}f") if name.startswith("_") else (name,)
    for name in _defined("rounding.py"):
        yield from (f"{name}_{way}" for way in ("rn", "rd", "ru", "rz"))


globals().update({name: Name(f"cuda.libdevice.{name}") for name in _names() if not _ABSENT.fullmatch(name)})

if TYPE_CHECKING:

    def __getattr__(name: str) -> Callable[..., Any]: ...


def __dir__() -> list[str]:
    return [name for name, value in globals().items() if isinstance(value, Name)]


public(globals())
