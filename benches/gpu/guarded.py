"""Tasks in processes of their own, so that one that fails, ends its process or hangs costs nothing but itself.

`supervised` starts a process, in which `work` runs tasks one after the other and writes to a file when one starts and
how it ended. A task without an end has ended its process, or is killed with it when its time is over; the tasks after
it run in a new process. So do those after an error of the driver that spoils a context for good.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

# Errors of the driver after which every call of the process gives the same error.
STICKY = frozenset({700, 702, 716, 717, 718, 719})
# Seconds until a process has imported what it needs, and until one that is killed is given up.
START, KILLED = 40.0, 5.0
# Environment of the processes: when the command's time is over, and a folder that they share until then.
DEADLINE, FOLDER = "LANCEHEAD_BENCH_DEADLINE", "LANCEHEAD_BENCH_FOLDER"
# Tasks of reports that are about the process: that it did not come to its first task, and how it ended.
BEFORE, EXIT = "start", "exit"


class Skipped(Exception):
    """A task that cannot run here, for the reason given."""


class Task(NamedTuple):
    """A task of a process. One that is `alone` has a process of its own; `seconds` is its own limit, if it has one."""

    name: str
    run: Callable[[], Any]
    alone: bool = False
    seconds: float | None = None


class Report(NamedTuple):
    """How a task has ended: `passed` with a value, `skipped` or `failed` with a text; `late` if there was no time for
    it."""

    task: str
    how: str
    what: Any = None


def is_without_gpu() -> bool:
    """Whether kernels run on the CPU device because there is no GPU. It is asked in another process, as that may hang.

    With LANCEHEAD_CUDA_DEVICE=gpu there has to be one; the first task says why it cannot be used.
    """
    if os.environ.get("LANCEHEAD_CUDA_DEVICE") == "gpu":
        return False
    code = "from lancehead import cuda; print('none' if cuda.get_current_device().name == b'CPU' else 'one')"
    try:
        return (
            subprocess.run(
                [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, timeout=START
            ).stdout.strip()
            == "none"
        )
    except subprocess.TimeoutExpired:
        return False


class Told:
    """The reports of the processes of a command, to which this one adds."""

    def __init__(self, into: str) -> None:
        self._file = Path(into)
        said = [json.loads(line) for line in self._file.read_text().splitlines()]
        self._known = {line["start"] for line in said if "start" in line}

    def to_do(self, names: list[str]) -> list[str]:
        """Of all tasks those that no process has started."""
        self._write({"names": names})
        return [name for name in names if name not in self._known]

    def start(self, name: str, seconds: float | None = None) -> None:
        """A task starts."""
        self._write({"start": name, "seconds": seconds})

    def end(self, name: str, how: str, what: Any) -> None:
        """And ends."""
        self._write({"task": name, "how": how, "what": what})

    def _write(self, line: dict[str, Any]) -> None:
        with self._file.open("a") as file:
            file.write(json.dumps(line, default=str) + "\n")


def work(tasks: Iterable[Task], into: str) -> None:
    """Runs the tasks that no process before has started. Returns early if the rest is for a new process."""
    told, known = Told(into), {task.name: task for task in tasks}
    for i, name in enumerate(told.to_do(list(known))):
        task = known[name]
        if task.alone and i:
            return
        told.start(name, task.seconds)
        how, what, spoilt = _ended(task)
        told.end(name, how, what)
        if spoilt or task.alone:
            return


def left() -> float:
    """Seconds until the time of this process's command is over."""
    return float(os.environ.get(DEADLINE, "inf")) - time.time()


def _ended(task: Task) -> tuple[str, Any, bool]:
    try:
        return "passed", task.run(), False
    except Skipped as reason:
        return "skipped", str(reason), False
    except Exception as error:
        return "failed", described(error), is_sticky(error)


def is_sticky(error: BaseException | None) -> bool:
    """Whether an error, or one before it, has spoilt the context."""
    return error is not None and (
        getattr(error, "code", None) in STICKY or is_sticky(error.__cause__ or error.__context__)
    )


def described(error: BaseException) -> str:
    """An error in a line, and where it was raised in lines after it."""
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    text = str(error).strip() or (frames[-1].line if frames else None) or ""
    places = [f"{Path(f.filename).name}:{f.lineno} in {f.name}: {f.line}" for f in frames]
    return "\n".join([f"{type(error).__name__}: {text[:1500]}", *places])


class _Log:
    """The output of processes, as far as it has been read."""

    def __init__(self, path: Path) -> None:
        self.path, self.at = path, 0
        self.names: list[str] = []
        self.started: list[str] = []
        self.running: str | None = None
        #: The limit of what runs, and when the last line was seen.
        self.limit: float | None = None
        self.when = time.monotonic()

    def read(self) -> Iterator[Report]:
        """Reports of the tasks that have ended since."""
        with self.path.open("rb") as file:
            file.seek(self.at)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self.at += len(whole)
        for line in map(json.loads, whole.splitlines()):
            self.when = time.monotonic()
            if "names" in line:
                self.names = line["names"]
            elif "start" in line:
                self.started.append(line["start"])
                self.running, self.limit = line["start"], line["seconds"]
            else:
                self.running = None
                yield Report(line["task"], line["how"], line["what"])

    @property
    def left(self) -> list[str]:
        """Tasks that have not been started."""
        return [name for name in self.names if name not in self.started]


def supervised(
    command: list[str], seconds: float, each: float, environment: dict[str, str] | None = None,
) -> Generator[Report, None, None]:  # fmt: skip
    """Reports of the tasks of a command, as they end.

    All of them take `seconds` at most, and a task `each` if it has no limit of its own. The command gets `--into FILE`,
    which is for `work`. The report of `EXIT` says whether all processes have ended as they should.
    """
    deadline, exits = time.monotonic() + seconds, True
    given = {**os.environ, **(environment or {}), DEADLINE: str(time.time() + seconds)}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        into, output = Path(folder) / "said", Path(folder) / "output"
        into.touch()
        given[FOLDER] = folder
        log = _Log(into)
        while True:
            before = len(log.started)
            with output.open("wb") as file:
                process = subprocess.Popen(
                    [*command, "--into", str(into)], stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                    start_new_session=True, env=given,
                )  # fmt: skip
            try:
                late = yield from _watched(process, log, deadline, each)
            finally:
                # Whatever it has started and left goes with it, and all of it where this command is stopped.
                kill(process)
            reason = late or _exit_text(process.returncode, output)
            if log.running is not None:
                yield Report(log.running, "failed", reason or "the process has ended in it, without an error")
                log.running = None
            elif reason and log.started[before:]:
                exits = False
                yield Report(EXIT, "failed", f"after {log.started[-1]}: {reason}")
            elif len(log.started) == before:
                yield from _unstarted(log, reason or "the process ran none of its tasks", time.monotonic() >= deadline)
                return
            if not log.left:
                break
            if time.monotonic() >= deadline:
                yield from (Report(name, "late") for name in log.left)
                break
    if exits:
        yield Report(EXIT, "passed")


def _unstarted(log: _Log, reason: str, late: bool) -> Iterator[Report]:
    """Of a process that has not come to a task."""
    if not log.names:
        yield Report(BEFORE, "failed", reason)
    yield from (Report(name, "late") if late else Report(name, "failed", reason) for name in log.left)


def _watched(
    process: subprocess.Popen[bytes], log: _Log, deadline: float, each: float
) -> Generator[Report, None, str | None]:
    """Reports until the process has ended; gives the reason if it had to be killed."""
    log.when, before, pause = time.monotonic(), len(log.started), 0.002
    while process.poll() is None:
        yield from log.read()
        limit = START if len(log.started) == before else log.limit or each
        if time.monotonic() > min(deadline, log.when + limit):
            took, is_late = time.monotonic() - log.when, time.monotonic() > deadline
            kill(process)
            yield from log.read()
            return (
                f"the time for all of them was over after {took:.1f} s of it"
                if is_late
                else f"took longer than {took:.0f} s"
            )
        time.sleep(pause)
        pause = min(0.05, pause * 1.2)
    yield from log.read()
    return None


def stop_when_asked() -> None:
    """Has SIGTERM, which `timeout` sends, end this process in such a way that it kills those that it has started."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def kill(process: subprocess.Popen[Any]) -> None:
    """Kills a process and those it has started. It does not wait for one that a system call keeps from ending."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    try:
        process.wait(KILLED)
    except subprocess.TimeoutExpired:
        pass


def _exit_text(code: int | None, output: Path) -> str | None:
    """How a process has ended and what it wrote last, if that is not as it should."""
    if code == 0:
        return None
    by = (
        "still runs after SIGKILL"
        if code is None
        else f"ended by {signal.Signals(-code).name}"
        if code < 0
        else f"ended with {code}"
    )
    lines = [line for line in output.read_text(errors="replace").splitlines() if line.strip()]
    return "\n".join([f"the process {by}", *(line[:300] for line in lines[-8:])])
