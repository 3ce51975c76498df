"""The programs in `examples/gradients` run: each compares its derivative with that by another method."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[3] / "examples" / "gradients"
PAGE = Path(__file__).parents[3] / "docs" / "grad.md"
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "checking")


@pytest.fixture
def program(monkeypatch):
    """Imports a program by its name; other folders have programs of these names, too."""
    monkeypatch.syspath_prepend(str(FOLDER))
    own = {"checking", *PROGRAMS}
    before = {name: sys.modules.pop(name) for name in own & set(sys.modules)}
    yield importlib.import_module
    for name in own & set(sys.modules):
        del sys.modules[name]
    sys.modules.update(before)


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivative_agrees(name, program, capsys):
    program(name).main()
    assert re.search(r"^derivative: [\de.+-]+ from .", capsys.readouterr().out, re.MULTILINE)


def test_programs_notice_wrong_derivatives(program, capsys):
    agree, differences = program("checking").agree, program("checking").differences
    x = np.array([1.0, 2.0])
    slopes = differences(lambda v: np.array([v[0] * v[1], v[1] ** 3]), x)
    agree("the closed form", slopes, [[2.0, 1.0], [0.0, 12.0]], 1e-8)
    assert "from the closed form" in capsys.readouterr().out
    for wrong in ([[2.0, 1.0], [0.0, 12.1]], [[2.0, 1.0]], [[2.0, np.nan], [0.0, 12.0]]):
        with pytest.raises(AssertionError):
            agree("the closed form", wrong, slopes, 1e-8)


def test_manual_names_every_program():
    text = PAGE.read_text(encoding="utf-8")
    assert sorted(set(re.findall(r"\(\.\./examples/gradients/(\w+)\.py\)", text))) == PROGRAMS
