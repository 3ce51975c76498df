"""Numbered cases that other processes judge, since each of them may be the end of its process."""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
from collections.abc import Callable

#: Seconds for a case, unless a fuzzer says otherwise.
TIMEOUT = 20


def work(judge: Callable[[int], str], first: int, count: int, seconds: int = TIMEOUT) -> None:
    """Judges a batch, and prints a line of JSON before each case and for each fault."""
    for number in range(first, first + count):
        print(json.dumps({"start": number}), flush=True)
        signal.alarm(seconds)
        if fault := judge(number):
            print(json.dumps({"number": number, "fault": fault}), flush=True)
    signal.alarm(0)


def run(script: str, first: int, count: int, batch: int) -> dict[int, str]:
    """Faults by the case's number; the end of a process is the fault of the case that had been started."""
    faults: dict[int, str] = {}
    end = first + count
    while first < end:
        size = min(batch, end - first)
        command = [sys.executable, script, "--work", f"{first}:{size}"]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        # Output of the cases stands between the lines.
        messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(('{"start', '{"number'))]
        faults |= {m["number"]: m["fault"] for m in messages if "fault" in m}
        if done.returncode == 0:
            first += size
            continue
        last = max((m["start"] for m in messages if "start" in m), default=first)
        faults[last] = f"process ended with {done.returncode}: {done.stderr[-300:]}"
        first = last + 1
    return faults


def main(
    script: str,
    doc: str,
    judge: Callable[[int], str],
    describe: Callable[[int], str],
    count: int,
    seconds: int = TIMEOUT,
) -> int:
    """The command line of a fuzzer whose cases have so many seconds each."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--seed", type=int, default=0, help="number of the first case")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        work(judge, *map(int, asked.work.split(":")), seconds)
        return 0
    faults = run(script, asked.seed, asked.count, 500)
    for number, fault in faults.items():
        print(f"{number}: {describe(number)}: {fault}")
    print(f"{len(faults)} of {asked.count} are faults")
    return int(bool(faults))
