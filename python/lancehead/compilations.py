"""The log of compilations: `LANCEHEAD_LOG=compile`, and the logger `lancehead` of `logging`.

`crates/lh-py` asks `are_read` after each compilation, and calls `tell` if so.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from lancehead import config
from lancehead.decorated import is_own
from lancehead.notices import caller
from lancehead.places import shown

#: `logging.INFO`, which is not imported for it.
_INFO = 20


def are_read() -> bool:
    """Whether the setting, or a logger that the program has set up, asks for the log."""
    return config.LOG == "compile" or _logger() is not None


def _logger() -> Any:
    # Nobody has set up a logger who has not imported `logging`.
    logging = sys.modules.get("logging")
    logger = logging.getLogger("lancehead") if logging else None
    return logger if logger is not None and logger.isEnabledFor(_INFO) else None


def _name(function: Any) -> str:
    """The name of a function, with its module if it is lancehead's own."""
    name, file = function.__qualname__, function.__code__.co_filename
    if not is_own(function):
        return str(name)
    # Those of text have the module in the name of their file.
    return f"{file[1:].split(' ')[0].rstrip('>') if file[0] == '<' else function.__module__}.{name}"


def tell(done: tuple[Any, str, str, float], is_found: bool, is_anew: bool, changed: list[str] | None) -> None:
    """Tells of a new specialisation: its function, types, result and time, whether the cache had it, and what has
    changed since the last one for these types, if there was one."""
    function, types, result, seconds = done
    why = "first call with these types"
    if is_anew:
        why = "asked for anew"
    elif changed is not None:
        why = f"again, because {' and '.join(changed) or 'something that it reads'} changed"
    file, line, _ = caller()
    how = "found in the cache" if is_found else "compiled"
    text = f"{_name(function)}({types}) -> {result} {how} in {seconds * 1e3:.1f} ms at {shown(file)}:{line}: {why}"
    logger = _logger()
    if logger is not None:
        logger.info("%s", text)
    else:
        print(f"{time.strftime('%H:%M:%S')} lancehead: {text}", file=sys.stderr)
