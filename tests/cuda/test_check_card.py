"""The checks for a machine with a GPU run on the library that stands in for a driver: all of their parts work, and none
stops the others.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

from test_bench import GPU, STARTS

sys.path.insert(0, str(GPU))
import check_card
import guarded

ROOT = GPU.parents[1]

# Checks that the stand-in library cannot run, and why.
WITHOUT = {
    "memory.events": "its kernels take no time",
    "grid_sync.a_block_each": "a thousand barriers of so many threads take the CPU too long",
    "grid_sync.two_blocks_each": "the same",
    "grid_sync.as_many_as_fit": "each thread has a stack, and these are 270 thousand",
    "shared_memory.dynamic_227_KiB": "a lifted kernel aligns its memory, and has a few bytes less",
    "debugging.prints": "what kernels print is not lifted",
    "errors.wild_store": "kernels run on the CPU, whose process a wild store ends",
    "linking.fatbin": "it loads no machine code",
    "linking.cubin": "it loads no machine code",
}
# Messages about things that may be lacking here.
LACKING = ("not installed", "cannot be imported", "finds no GPU", "none works here", "MiB free")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Has Python start with the library."""
    (tmp_path / "sitecustomize.py").write_text(STARTS.format(tests=str(Path(__file__).parent), folder=str(tmp_path)))
    return {
        **os.environ,
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        "LANCEHEAD_CUDA_DEVICE": "",
    }


def run(*arguments: str, environment: dict[str, str]) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, str(GPU / "check_card.py"), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def test_all_steps(environment: dict[str, str], tmp_path: Path) -> None:
    code, text = run(
        "--seconds",
        "280",
        "--patience",
        "8",
        "--without",
        ",".join(WITHOUT),
        str(tmp_path / "report.txt"),
        environment=environment,
    )
    assert (tmp_path / "report.txt").read_text() == text
    lines = [line for line in text.splitlines() if line.startswith(("PASS", "FAIL", "SKIPPED"))]
    assert [line for line in lines if line.startswith("FAIL")] == [] and code == 0, text
    skipped = [line for line in lines if line.startswith("SKIPPED")]
    assert all(any(reason in line for reason in LACKING) for line in skipped), skipped
    seen = {line.split()[1].partition(".")[0] for line in lines if line.startswith("PASS")}
    assert seen == {step.name for step in check_card.STEPS}
    names = [line.split()[1] for line in lines]
    assert len(names) == len(set(names)) and not set(names) & set(WITHOUT)


def test_the_limits_are_what_a_run_may_take() -> None:
    assert len(check_card.STEPS) == 11 and sum(step.seconds for step in check_card.STEPS) <= 200
    assert all(step.file.exists() and step.each <= step.seconds for step in check_card.STEPS)


def test_without_a_gpu_it_says_so(environment: dict[str, str], tmp_path: Path) -> None:
    environment["LANCEHEAD_CUDA_DEVICE"] = "cpu"
    assert run(environment=environment) == (0, "no GPU here: nothing is checked\n")


def test_a_gpu_that_is_asked_for_and_cannot_be_used_is_a_failure(tmp_path: Path) -> None:
    environment = {**os.environ, "LANCEHEAD_CUDA_DEVICE": "gpu", "LANCEHEAD_CUDA_DRIVER": str(tmp_path / "nowhere.so")}
    code, text = run("--only", "environment", environment=environment)
    assert code == 1 and "FAIL    environment.detect" in text and "there is no GPU that lancehead can use" in text
    assert "THE FIRST STEP HAS FAILED" in text


FAULTS = """
import os, signal, time
from guarded import Skipped, Task

class Driver(Exception):
    code = 700

def raised(): raise ValueError("as planned")
def aborts(): print("last words", flush=True); os.abort()
def hangs(): signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)
def spoils():
    try:
        raise Driver("sticky")
    except Driver as error:
        assert False, error
def lacks(): raise Skipped("no tool")
def number(): return os.getpid()
def at_exit(): import atexit; atexit.register(os.abort)

def checks():
    for check in (raised, aborts, hangs, spoils, number, lacks):
        yield Task(check.__name__, check)
    yield Task("alone", number, alone=True)
    yield Task("again", number)
    yield Task("at_exit", at_exit)
"""


def faulty(tmp_path: Path, text: str = FAULTS) -> check_card.Step:
    (tmp_path / "faulty.py").write_text(text)
    return check_card.Step("faulty", 20, 1, tmp_path)


def test_faults_cost_nothing_but_themselves(tmp_path: Path) -> None:
    fine = check_card.Step("fine", 20, 5, tmp_path)
    fine.file.write_text("from guarded import Task\ndef checks():\n    yield Task('works', lambda: 'well')\n")
    lines = [line for _, line in check_card.run_steps([faulty(tmp_path), fine], 30)]
    heads = {line.split()[1]: line for line in lines if line.startswith(("PASS", "FAIL", "SKIPPED"))}
    assert "ValueError: as planned" in heads["faulty.raised"] and "raised()" in heads["faulty.raised"]
    assert "ended by SIGABRT" in heads["faulty.aborts"] and "last words" in heads["faulty.aborts"]
    assert heads["faulty.hangs"].startswith("FAIL") and "took longer than 1 s" in heads["faulty.hangs"]
    assert heads["faulty.spoils"].startswith("FAIL") and "sticky" in heads["faulty.spoils"]
    assert heads["faulty.lacks"].startswith("SKIPPED") and "no tool" in heads["faulty.lacks"]
    processes = [heads[f"faulty.{name}"].split()[-1] for name in ("number", "alone", "again")]
    assert (
        all(heads[f"faulty.{name}"].startswith("PASS") for name in ("number", "alone", "again"))
        and len(set(processes)) == 3
    )
    assert heads["faulty.at_exit"].startswith("PASS")
    assert (
        heads["faulty.exit"].startswith("FAIL")
        and "after at_exit" in heads["faulty.exit"]
        and "SIGABRT" in heads["faulty.exit"]
    )
    assert heads["fine.works"].endswith(": well") and heads["fine.exit"].startswith("PASS")
    assert any("THE FIRST STEP HAS FAILED" in line for line in lines)


def test_a_step_that_cannot_begin(tmp_path: Path) -> None:
    step = faulty(tmp_path, "import no_such_module\n")
    ((verdict, line),) = [found for found in check_card.run_steps([step], 30) if found[0]]
    assert verdict == "FAIL" and "faulty.start" in line and "No module named 'no_such_module'" in line


def test_what_there_is_no_time_for_is_said(tmp_path: Path) -> None:
    text = (
        "import time\nfrom guarded import Task\ndef checks():\n    return [Task(n, lambda: time.sleep(1.5)) for n in "
        "'abcd']\n"
    )
    step = faulty(tmp_path, text)._replace(seconds=2, each=30)
    found = {line.split()[1]: (verdict, line) for verdict, line in check_card.run_steps([step, step], 2.5) if verdict}
    assert found["faulty.a"][0] == "PASS" and found["faulty.b"][0] == "FAIL" and "was over" in found["faulty.b"][1]
    assert found["faulty.c"][0] == found["faulty.d"][0] == found["faulty:"][0] == "SKIPPED"


def test_a_command_that_is_stopped_takes_its_processes_with_it(tmp_path: Path) -> None:
    step = faulty(
        tmp_path, f"import os, time\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)\n"
    )
    code = (
        f"import sys; sys.path.insert(0, {str(GPU)!r})\nimport check_card, guarded; from pathlib import "
        "Path\nguarded.stop_when_asked()\n"
    )
    code += f"list(check_card.run_steps([check_card.Step('faulty', 50, 50, Path({str(step.folder)!r}))], 50))"
    assert (
        subprocess.run(["timeout", "3", sys.executable, "-c", code], capture_output=True, text=True).returncode == 124
    )
    assert ends((tmp_path / "pid").read_text())


def ends(pid: str) -> bool:
    """Whether a process ends within some seconds; nobody may be there to take what is left of it."""
    status = Path("/proc", pid, "status")
    for _ in range(100):
        try:
            if "State:\tZ" in status.read_text():
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.1)
    return False


def wheel(folder: Path) -> Path:
    """A wheel of what is installed."""
    found = distribution("lancehead")
    tag = next(
        line.split(": ")[1] for line in (found.read_text("WHEEL") or "").splitlines() if line.startswith("Tag: ")
    )
    path = folder / f"lancehead-{found.version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for file in found.files or ():
            if (
                file.parts[0].startswith("lancehead")
                and file.suffix != ".pyc"
                and (there := Path(str(file.locate()))).exists()
            ):
                packed.write(there, str(file))
    return path


def test_the_folder_to_carry(environment: dict[str, str], tmp_path: Path) -> None:
    """From an empty folder, with what is in the folder only: the four parts run one after the other and leave their
    files."""
    carried, empty, out = tmp_path / "carried", tmp_path / "empty", tmp_path / "out"
    subprocess.run(
        [str(ROOT / "tools" / "gpu_folder.sh"), str(wheel(tmp_path)), str(carried)], check=True, capture_output=True
    )
    empty.mkdir()
    limits = {"FULL": "11", "SMALL": "100", "TESTS": "100", "PATIENCE": "8"}
    given = {
        **environment,
        **limits,
        "PYTHON": sys.executable,
        "OUT": str(out),
        "WITHOUT": ",".join([*WITHOUT, "kernels"]),
    }
    done = subprocess.run(
        ["sh", str(carried / "run.sh")], cwd=empty, env=given, capture_output=True, text=True, timeout=400
    )
    assert done.returncode == 0, done.stderr
    summary = (out / "summary.txt").read_text()
    assert summary == done.stdout and not list(empty.iterdir())
    assert {file.name for file in out.iterdir()} == {
        "summary.txt",
        "card.txt",
        "small.txt",
        "small.md",
        "tests.txt",
        "table.txt",
        "table.md",
        "gpu.json",
    }
    assert "checks: ended with 0" in summary, (out / "card.txt").read_text()
    assert "small table: ended with 0" in summary and "table: ended with 0" in summary
    assert f"lancehead {distribution('lancehead').version}" in summary
    assert "STOPPED" not in summary
    # The package is that of the folder.
    (versions,) = [line for line in (out / "card.txt").read_text().splitlines() if "environment.versions" in line]
    assert "site-packages" not in versions
    assert "| yes |" in (out / "small.md").read_text() and "not measured" not in (out / "small.md").read_text()
    passed = int((out / "tests.txt").read_text().splitlines()[-1].split()[0])
    assert passed > 50
    assert len([line for line in (out / "table.md").read_text().splitlines() if line.startswith("|")]) > 25


def test_reports_are_read_as_they_come(tmp_path: Path) -> None:
    """A report is there before the process has ended."""
    text = (
        "import time\nfrom guarded import Task\ndef checks():\n    yield Task('first', lambda: 1)\n    yield "
        "Task('second', lambda: time.sleep(30))\n"
    )
    reports = check_card.run_step(faulty(tmp_path, text)._replace(each=30), 30, (), ())
    assert next(reports) == guarded.Report("first", "passed", 1)
    reports.close()
