"""Lazy arrays keep two things for the next process: code of regions, and schedules that were found by measuring."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lancehead import xp
from lancehead._command import cache
from lancehead.xp import autotuning

REGIONS = """
import sys
import numpy as np
from lancehead import xp

SCALE, TABLE = {scale}, np.array([{scale}])

def read_by_another(i):
    return TABLE[0] + i

def made():
    c = {scale}

    def f(v):
        return v * c if v > 0.5 else SCALE

    x = xp.asarray(np.linspace(0.0, 1.0, 11))
    kinds = [
        lambda: xp.sum(xp.exp(-x) * x + 1.0),
        lambda: xp.map(f, x) + 1.0,
        lambda: xp.reduce(lambda a, b: a + b * SCALE, x, init=0.0),
        lambda: xp.scan(max, x),
        lambda: xp.trace(lambda a: (a * a + {scale}) * a)(x) + 1.0,
        lambda: (x * 2.0 + 1.0).schedule(chunks=3),
        lambda: xp.top_k(x, 3)[0],
        lambda: xp.map(lambda v: read_by_another(v), x),
    ]
    found = []
    for i in range(8) if sys.argv[1] == "0" else reversed(range(8)):
        y = kinds[i]()
        # The value of the other process, at the time when results are computed.
        TABLE[0] = 4.0 - {scale}
        found.append(float(xp.sum(y)))
        TABLE[0] = {scale}
    return found

print(made())
"""


def run(directory: Path, program: str, *arguments: str) -> Any:
    """The output of a program in a process of its own, with a directory for its cache."""
    environment = dict(os.environ, LANCEHEAD_CACHE_DIR=str(directory / "kept"))
    environment.pop("LANCEHEAD_CACHE", None)
    (directory / "program.py").write_text(program)
    command = [sys.executable, str(directory / "program.py"), *arguments]
    return eval(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def kept(directory: Path) -> set[str]:
    """Files in the cache, but for the store of objects."""
    files = (file for file in (directory / "kept").rglob("*") if file.is_file())
    return {file.name for file in files if "objects" not in file.parts}


@pytest.mark.skipif(os.environ.get("LANCEHEAD_CACHE") == "0", reason="nothing is kept")
def test_regions_are_kept_and_never_stale(tmp_path: Path) -> None:
    first = run(tmp_path, REGIONS.format(scale=2.5), "0")
    files = kept(tmp_path)
    assert len(files) > 7
    # Names in the texts of regions do not depend on the order in which a process makes them.
    assert run(tmp_path, REGIONS.format(scale=2.5), "1") == first[::-1]
    assert kept(tmp_path) == files
    other = run(tmp_path, REGIONS.format(scale=1.5), "0")
    assert [a == b for a, b in zip(first, other, strict=True)] == [True, False, False, True, False, True, True, False]
    assert len(kept(tmp_path)) > len(files)
    assert run(tmp_path, REGIONS.format(scale=2.5), "1") == first[::-1]


TUNED = """
import numpy as np
from lancehead import xp
from lancehead.xp import autotuning

measured = []
def best(node, seconds, so_far):
    measured.append(node.schedule)
    return 1.0 if measured[-1].chunks is None else 0.5

autotuning._best = best
x = xp.asarray(np.ones((300, 5)))
y = xp.exp(x) * 2.0 + x
found = y.autotune(budget=60.0)
again = xp.autotune(lambda a: xp.exp(a) * 2.0 + a, x)
print([found.chunks, again == found == y.node().schedule, len(measured), float(y[0, 0])])
"""


@pytest.mark.skipif(os.environ.get("LANCEHEAD_CACHE") == "0", reason="nothing is kept")
def test_schedules_that_were_found_are_kept(tmp_path: Path) -> None:
    chunks, is_same, measured, value = run(tmp_path, TUNED)
    assert chunks == 2 and is_same and measured > 2 and abs(value - (np.exp(1.0) * 2.0 + 1.0)) < 1e-14
    assert run(tmp_path, TUNED) == [2, True, 0, value]
    (file,) = (tmp_path / "kept" / "schedules").iterdir()
    assert json.loads(file.read_text()) == {"chunks": 2}
    # Damaged files, and those of programs that know other options, are measured again and replaced.
    for text in ("{", '{"chunks": -1}', '{"more": 1}', "[1]"):
        file.write_text(text)
        assert run(tmp_path, TUNED)[2] > 0, text
        assert json.loads(file.read_text()) == {"chunks": 2}
    cache.clear([tmp_path / "kept"])
    assert not [name for name in kept(tmp_path) if name.endswith((".json", ".nbc"))]


def test_processes_that_tune_at_the_same_time(tmp_path: Path) -> None:
    environment = dict(os.environ, LANCEHEAD_CACHE_DIR=str(tmp_path / "kept"))
    (tmp_path / "program.py").write_text(TUNED)
    command = [sys.executable, str(tmp_path / "program.py")]
    started = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert all(json.loads(p.communicate()[0].replace("True", "true"))[:2] == [2, True] for p in started)
    assert all(name.endswith((".json", ".nbc", ".nbi")) for name in kept(tmp_path))


def test_tuning_of_an_array(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(autotuning, "_file", lambda key: None)
    a = np.random.default_rng(0).normal(size=(700, 600))
    x = xp.asarray(a)
    stored = (x * 3.0).schedule(fuse=False)
    y = stored + x.T[:1, :600] - x
    found = y.autotune(budget=0.5)
    assert y.node().value is None and y.node().schedule == (None if found == xp.Schedule() else found)
    np.testing.assert_array_equal(y.numpy(), a * 3.0 + a.T[:1, :600] - a)
    # There is nothing to choose for these.
    assert xp.sort(x).autotune() == xp.Schedule()
    assert xp.autotune(lambda v: v[0, 0] + 1.0, x) == xp.Schedule()
    with pytest.raises(ValueError, match="computed"):
        y.autotune()
    with pytest.raises(ValueError, match="budget"):
        (x + 1.0).autotune(budget=0)
    for f in (3, lambda: 3):
        with pytest.raises(TypeError, match="array"):
            xp.autotune(f)  # type: ignore[arg-type]


def test_progress_is_shown_on_terminals(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with autotuning._progress(3) as advance:
        advance()
    with autotuning._progress(0) as advance:
        advance()
    shown = capsys.readouterr().err
    pytest.importorskip("rich")
    assert "schedules" in shown
