"""The programs of `docs/scaling.md` run as they stand."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[3] / "docs" / "scaling.md").read_text(encoding="utf-8")
PROGRAMS = dict(re.findall(r"```python\n# (\w+)\.py\n(.*?)```", PAGE, re.DOTALL))


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_program(name, tmp_path):
    path = tmp_path / f"{name}.py"
    path.write_text(PROGRAMS[name])
    launch = []
    if name == "on_mpi":
        mpiexec = Path(sys.executable).parent / "mpiexec"
        launch = [str(mpiexec), "-n", "2"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(
        [*launch, sys.executable, str(path)], capture_output=True, text=True, env=environment, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == re.findall(r"print\(.*\)  # (.*)", PROGRAMS[name])
