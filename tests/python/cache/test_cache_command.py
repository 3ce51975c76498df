"""`lancehead cache` and `lancehead pack`; the limit of the cache's size."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cache_programs import Project

SOURCE = "@njit(cache=True)\ndef f(x): return x + 1\n"
CALL = "import m; tell(m.f, 10)"


@pytest.fixture
def project(tmp_path):
    project = Project(tmp_path)
    project.write("m.py", SOURCE)
    project.env["LANCEHEAD_CACHE_DIR"] = str(tmp_path / "kept")
    return project


def lancehead(project, *arguments, check=True):
    command = [sys.executable, "-m", "lancehead", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **project.env}, timeout=300)
    assert not check or done.returncode == 0, done.stderr
    return done


def test_list_and_facts(project):
    nothing = lancehead(project, "cache", "ls").stdout
    assert "no entries" in nothing and str(project.path / "kept") in nothing
    project.write("helper.py", "K = 1\n")
    project.write("m.py", "import helper\n@njit(cache=True)\ndef f(x): return x + helper.K\n")
    project.run("import m; m.f(1); m.f(1.5)")
    lines = lancehead(project, "cache", "ls").stdout.splitlines()
    assert sum("  m.f (" in line for line in lines) == 2 and "m.f (float64) -> float64" in "".join(lines)
    long = lancehead(project, "cache", "ls", project.path / "kept" / "m", "--long").stdout
    assert "reads helper in m.f" in long and "reads helper.K" in long
    options_first = lancehead(project, "cache", "ls", "--long", project.path / "kept" / "m").stdout
    assert options_first == long
    assert "entries    2\n" in lancehead(project, "cache", "info").stdout


def test_verify_and_clear(project):
    project.run("import m; m.f(1); m.f(1.5)")
    assert lancehead(project, "cache", "verify").stdout == "2 entries and 2 objects are complete\n"
    entry = project.entries()[0]
    entry.write_bytes(entry.read_bytes()[:-1])
    done = lancehead(project, "cache", "verify", "--remove", check=False)
    assert done.returncode == 1 and str(entry) in done.stdout and not entry.exists()
    assert lancehead(project, "cache", "clear", "--yes").stdout == "1 entry and 2 objects removed\n"
    assert [p for p in (project.path / "kept").rglob("*") if p.is_file()] == []
    assert project.run(CALL) == [11, 0, 1]


def test_copy_for_another_computer(project):
    project.run("import m; m.f(1)")
    out = project.path / "copy"
    assert "1 entry copied" in lancehead(project, "cache", "pack", "--out", out).stdout
    project.env["LANCEHEAD_CACHE_DIR"] = str(out)
    assert project.run(CALL) == [11, 1, 0]
    assert lancehead(project, "cache", "pack", check=False).returncode == 2


def test_copy_of_what_lies_beside_sources(project):
    del project.env["LANCEHEAD_CACHE_DIR"]
    project.run("import m; m.f(1)")
    out = project.path / "copy"
    lancehead(project, "cache", "pack", project.path / "__pycache__", "--out", out)
    project.env["LANCEHEAD_CACHE_DIR"] = str(out)
    assert project.run(CALL) == [11, 1, 0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CACHE_SIZE", "much"),
        ("CACHE_SIZE", "-5"),
        ("CACHE_LEVELS", "x86-64-v9"),
        ("NUM_THREADS", "0"),
        ("NUM_THREADS", "two"),
    ],
)
def test_settings_that_mean_nothing(project, name, value):
    project.env[f"LANCEHEAD_{name}"] = value
    done = lancehead(project, "info", check=False)
    assert done.returncode == 1 and f"ValueError: LANCEHEAD_{name}={value}: " in done.stderr


def test_processors_that_there_are_not(project):
    # It has 32 bits, and no atomic operations of 64.
    project.env["LANCEHEAD_CPU_NAME"] = "i386"
    assert project.run(CALL) == [11, 0, 1]
    project.write("m.py", """
        from lancehead import prange
        @njit(parallel=True)
        def f(n):
            found = np.zeros(4, np.int64)
            for i in prange(n):
                found[i % 4] += i
            return found.sum()
    """)  # fmt: skip
    assert project.run("import m; tell(m.f, 1000)")[0] == 499500


def test_size_limit(project):
    project.write("m.py", "def make(k):\n    @njit(cache=True)\n    def f(x): return x + k\n    return f\n")
    code = "import m\nfor k in range({}): m.make(k)(1)\n"
    project.run(code.format(60))
    assert len(project.entries()) == 60
    project.env["LANCEHEAD_CACHE_SIZE"] = "20K"
    project.run("import m; m.make(1000)(1)")
    left = project.entries()
    assert 10 < len(left) < 40 and sum(p.stat().st_size for p in left) <= 20000
    # The newest is among them.
    assert project.run("import m; tell(m.make(1000), 1)") == [1001, 1, 0]


def package(project):
    project.write("pkg/__init__.py", "")
    project.write("pkg/sub/__init__.py", "")
    project.write("pkg/sub/fast.py", """
        K = 2
        @njit(["float64(float64)", "int64(int64)"])
        def eager(x): return x * K
        @njit(cache=True)
        def lazy(a): return a.sum()
    """)  # fmt: skip
    return project.path / "pkg"


def test_packs_are_shipped_with_sources(project):
    path = package(project)
    done = lancehead(
        project, "pack", path, "-s", "pkg.sub.fast.lazy(float64[::1])", "--level", "x86-64-v2", "--level", "x86-64-v3"
    )
    assert "6 entries" in done.stdout, done.stdout
    entries = sorted((path / "sub" / "__lancehead__").glob("*.nbc"))
    assert len(entries) == 6
    # Read-only, used for what is cached, and preferred to compiling.
    for entry in entries:
        entry.chmod(0o444)
    project.env["LANCEHEAD_CACHE_DIR"] = str(project.path / "empty")
    code = "import numpy as np\nfrom pkg.sub import fast; tell(fast.lazy, np.arange(4.0))"
    assert project.run(code) == [6.0, 1, 0]
    project.env["LANCEHEAD_CACHE"] = "1"
    assert project.run("from pkg.sub import fast; tell(fast.eager, 3)") == [6, 2, 0]
    # As everywhere, what has changed is seen.
    project.replace("pkg/sub/fast.py", "K = 2", "K = 3")
    assert project.run("from pkg.sub import fast; tell(fast.eager, 3)") == [9, 0, 2]


def test_what_cannot_be_packed(project):
    done = lancehead(project, "pack", project.path / "nowhere", check=False)
    assert done.returncode == 2 and done.stderr.endswith("nowhere is not the folder of a package\n")
    path = package(project)
    done = lancehead(project, "pack", path, "-s", "pkg.sub.fast.absent(int64)", check=False)
    assert done.returncode == 1 and done.stderr == "lancehead pack: pkg.sub.fast has no `absent`\n"


def test_packed_functions_that_are_not_cached_are_named(project):
    path = package(project)
    done = lancehead(project, "pack", path, "-s", "pkg.sub.fast.eager(float64)", "-s", "pkg.sub.fast.lazy(float64[:])")
    assert done.stderr == "pkg.sub.fast.eager has no cache=True: its entries serve where LANCEHEAD_CACHE=1 is set\n"


def test_levels_share_code(project):
    project.env["LANCEHEAD_CPU_NAME"] = "level"
    assert project.run(CALL) == [11, 0, 1]
    assert project.run(CALL) == [11, 1, 0]
    assert "x86-64-v" in lancehead(project, "cache", "ls").stdout
    assert Path(project.env["LANCEHEAD_CACHE_DIR"]).is_dir()
