"""Whether lancehead works on the GPU of this machine.

    python benches/gpu/check_card.py [--seconds 200] [--only NAME,...] [--without NAME,...] [--patience 1] [report.txt]

Eleven steps, the files of `card/`, each in a process of its own with a time limit. A step has checks, which print
`PASS`, `FAIL` with the reason, or `SKIPPED` where something is lacking. None stops the rest. It ends with 0 if nothing
has failed. Where there is no GPU it says so, and ends with 0; with LANCEHEAD_CUDA_DEVICE=gpu that is a failure.

`--only` and `--without` take names of steps and of checks, such as `memory` and `memory.pinned`.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import time
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TextIO

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tests" / "cuda")]
from guarded import Report, Task, is_without_gpu, stop_when_asked, supervised, work

VERDICTS = {"passed": "PASS", "failed": "FAIL", "skipped": "SKIPPED", "late": "SKIPPED"}


class Step(NamedTuple):
    """Checks in a file: seconds that all may take, and one of them if it says nothing else."""

    name: str
    seconds: float
    each: float
    folder: Path = HERE / "card"

    @property
    def file(self) -> Path:
        """Where the checks are."""
        return self.folder / f"{self.name}.py"


# The sum of the limits is 200 s.
STEPS = (
    Step("environment", 20, 15), Step("vector_add", 15, 8), Step("memory", 15, 8), Step("kernels", 30, 6),
    Step("grid_sync", 15, 5),
    Step("debugging", 15, 5), Step("shared_memory", 10, 5), Step("errors", 10, 6), Step("neighbours", 30, 20),
    Step("threads", 20, 8),
    Step("linking", 20, 10),
)  # fmt: skip


def checks(file: Path) -> list[Task]:
    """The checks of a step."""
    spec = importlib.util.spec_from_file_location(f"card_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Functions that are pickled or cached are looked up by their module.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return list(module.checks())


def is_chosen(name: str, only: Sequence[str], without: Sequence[str]) -> bool:
    """Whether a check, or step and check, is to run."""
    step = name.partition(".")[0]
    asked = not only or name in only or step in only or any(o.partition(".")[0] == name for o in only)
    return asked and name not in without and step not in without


def run_step(step: Step, seconds: float, only: Sequence[str], without: Sequence[str]) -> Generator[Report, None, None]:
    """Reports of a step's checks."""
    command = [
        sys.executable,
        str(HERE / "check_card.py"),
        "--step",
        str(step.file),
        "--only",
        ",".join(only),
        "--without",
        ",".join(without),
    ]
    yield from supervised(command, seconds, step.each, {"LANCEHEAD_CUDA_DEVICE": "gpu"})


def line_of(step: str, report: Report, took: float) -> str:
    """A line for a report, and lines below it with what a failure says besides."""
    text = "there was no time left" if report.how == "late" else str(report.what or "")
    first, _, more = text.partition("\n")
    line = f"{VERDICTS[report.how]:8}{step}.{report.task} ({took:.1f} s){': ' if first else ''}{first}"
    return "\n".join([line, *(f"            {m[:300]}" for m in more.splitlines()[:12])])


def run_steps(
    steps: Sequence[Step], seconds: float, only: Sequence[str] = (), without: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """Verdicts and lines of all steps."""
    deadline = time.monotonic() + seconds
    for number, step in enumerate(steps, 1):
        if not is_chosen(step.name, only, without):
            continue
        left = deadline - time.monotonic()
        if left < 1:
            yield "SKIPPED", f"SKIPPED {step.name}: there was no time left"
            continue
        yield "", f"\n{number}. {step.name}"
        when, verdicts = time.monotonic(), set()
        for report in run_step(step, min(step.seconds, left), only, without):
            now = time.monotonic()
            verdicts.add(VERDICTS[report.how])
            yield VERDICTS[report.how], line_of(step.name, report, now - when)
            when = now
        if number == 1 and "FAIL" in verdicts:
            yield "", "\nTHE FIRST STEP HAS FAILED: what follows may fail for the same reason."


def check(
    steps: Sequence[Step], seconds: float, only: Sequence[str], without: Sequence[str], files: Sequence[TextIO]
) -> int:
    """Writes the report; gives 1 if something has failed."""
    count: Counter[str] = Counter()
    start = time.monotonic()

    def say(text: str) -> None:
        for file in files:
            print(text, file=file, flush=True)

    say(
        f"lancehead on this GPU, {time.strftime('%Y-%m-%d %H:%M')}, at most {seconds:.0f} s; not run: "
        f"{', '.join(without) or 'nothing'}"
    )
    for verdict, line in run_steps(steps, seconds, only, without):
        count[verdict] += 1
        say(line)
    del count[""]
    say(
        f"\n{count['PASS']} passed, {count['FAIL']} failed, {count['SKIPPED']} skipped in "
        f"{time.monotonic() - start:.0f} s"
    )
    return 1 if count["FAIL"] or not count["PASS"] else 0


def main(arguments: list[str]) -> int:
    """Runs all steps, or in a process of its own one."""
    names = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names.add_argument("report", nargs="?")
    names.add_argument("--seconds", type=float, default=200)
    names.add_argument("--only", type=lambda text: [n for n in text.split(",") if n], default=[])
    names.add_argument("--without", type=lambda text: [n for n in text.split(",") if n], default=[])
    names.add_argument("--patience", type=float, default=1, help="multiplies the limits of checks and steps")
    names.add_argument("--step", help=argparse.SUPPRESS)
    names.add_argument("--into", help=argparse.SUPPRESS)
    given = names.parse_args(arguments)
    if given.step:
        step = Path(given.step)
        work([t for t in checks(step) if is_chosen(f"{step.stem}.{t.name}", given.only, given.without)], given.into)
        return 0
    if is_without_gpu():
        print("no GPU here: nothing is checked")
        return 0
    stop_when_asked()
    with open(given.report or os.devnull, "w") as file:
        steps = [
            step._replace(seconds=step.seconds * given.patience, each=step.each * given.patience) for step in STEPS
        ]
        return check(steps, given.seconds, given.only, given.without, [sys.stdout, file])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
