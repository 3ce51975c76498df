"""The programs of `examples/programs` print the same as in plain Python."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = sorted((Path(__file__).parents[3] / "examples" / "programs").glob("*.py"))


def printed(program, **settings):
    """The output of a program without times, its numbers as Python prints them."""
    env = os.environ | settings
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=300, env=env, check=False)
    assert done.returncode == 0, done.stderr
    assert "time: " in done.stdout
    without_times = re.sub(r"time: .*", "", done.stdout)
    return re.sub(r"np\.\w+\(([^()]*)\)", r"\1", without_times)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_as_in_plain_python(program):
    assert printed(program) == printed(program, LANCEHEAD_DISABLE_JIT="1")
