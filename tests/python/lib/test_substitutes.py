"""The table of substitutes (`crates/lh-infer/src/substitutes.rs`) is true: each name is refused, and the message says
the text."""

from __future__ import annotations

import builtins
import importlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lancehead import errors, njit

SOURCE = Path(__file__).parents[3] / "crates/lh-infer/src/substitutes.rs"
ROWS = {
    name: re.sub(r"\\(.)", r"\1", text)
    for name, text in re.findall(r'^\s+\("([\w.]+)",\s+"((?:[^"\\]|\\.)*)"\),$', SOURCE.read_text(), re.MULTILINE)
}
VALUES: dict[str, Any] = {
    "builtins.str": "text",
    "builtins.bytes": b"text",
    "builtins.memoryview": memoryview(b"text"),
    "builtins.list": [1, 2],
    "numpy.ndarray": np.ones((2, 2)),
}


def program(name: str) -> tuple[Any, tuple[Any, ...]]:
    """A function that uses a name, and its arguments."""
    owner, attribute = name.rsplit(".", 1)
    if owner in VALUES:
        names: dict[str, Any] = {}
        exec(f"def use(value):\n    return value.{attribute}()", names)
        return names["use"], (VALUES[owner],)
    if owner == "nd_grid":
        return (lambda: np.mgrid[0:3]), ()
    module = importlib.import_module(owner)
    if not hasattr(module, attribute):
        # NumPy 2 has taken some away.
        names = {"module": module}
        exec(f"def use():\n    return module.{attribute}()", names)
        return names["use"], ()
    used = getattr(builtins if owner == "builtins" else module, attribute)
    names = {"used": used}
    given = ("a", "b") if owner == "re" else (np.ones(3),)
    exec("def use(*given):\n    return used(*given)", names)
    return names["use"], given


def test_there_are_enough() -> None:
    assert len(ROWS) >= 35


@pytest.mark.parametrize("name", ROWS)
def test_the_message_says_it(name: str) -> None:
    function, args = program(name)
    with pytest.raises((errors.TypingError, errors.UnsupportedError)) as caught:
        njit(function)(*args)
    assert f"help: {ROWS[name]}" in str(caught.value)
