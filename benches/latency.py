"""CPU time of first calls in new processes: with an empty store of compiled code, and with one that is filled.

    python benches/latency.py [--processes 7] [--only kalman,pipeline] [--json FILE]

Each program of `first_calls/` runs in a process of its own, which imports NumPy, lancehead and the program, and then
measures its first calls: milliseconds of CPU of all threads. LANCEHEAD_STORE and LANCEHEAD_CACHE_DIR name a new, empty
folder for one process ("empty") and stay for a second one ("filled"). Programs take turns, and a first round, which
fills the system's cache of files, is left out. No function asks for a cache by itself.

The answers are checked after the clock has stopped, against the same functions in Python or what theory knows.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import figures

PROGRAMS = {
    "add": "`a + b`",
    "loops": "three plain loops",
    "numpy_calls": "a dozen NumPy calls",
    "kalman": "Kalman smoother",
    "elements": "finite elements",
    "pipeline": "`xp`, 20 operations",
}
STORES = ("empty", "filled")


def child(name: str) -> None:
    """Runs a program's first calls and prints milliseconds of CPU: of the import of lancehead, and of the calls."""
    importlib.import_module("numpy")
    start = time.process_time()
    importlib.import_module("lancehead.xp" if name == "pipeline" else "lancehead")
    imported = time.process_time()
    program = importlib.import_module(f"first_calls.{name}")
    began = time.process_time()
    found = program.first()
    ended = time.process_time()
    if not program.is_right(found):
        raise SystemExit(f"{name} gave a wrong answer")
    print(json.dumps([(imported - start) * 1e3, (ended - began) * 1e3]))


def measured(name: str, folder: str) -> list[float]:
    """Milliseconds that a new process measures, with its store in a folder."""
    environment = {**os.environ, "LANCEHEAD_STORE": folder, "LANCEHEAD_CACHE_DIR": folder, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--child", name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name} failed: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout.splitlines()[-1])


def rounds(names: list[str], processes: int) -> dict[tuple[str, str], list[list[float]]]:
    """Milliseconds that so many processes of each program measure, by program and store."""
    found: dict[tuple[str, str], list[list[float]]] = {(name, store): [] for name in names for store in STORES}
    for k in range(processes + 1):
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                for store in STORES:
                    times = measured(name, folder)
                    if k:
                        found[name, store].append(times)
    return found


def main() -> None:
    """Prints a line per program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=7)
    parser.add_argument("--only", default=",".join(PROGRAMS))
    parser.add_argument("--child", help=argparse.SUPPRESS)
    figures.add_json(parser)
    given = parser.parse_args()
    if given.child:
        child(given.child)
        return
    result = figures.Result("latency", "benches/run.sh latency", 1)
    heads = [(f"{store} store, {kind}", "ms CPU", 1) for store in STORES for kind in ("least", "median")]
    table = result.table("first-calls", "first calls of", *heads)
    found = rounds(given.only.split(","), given.processes)
    for name in given.only.split(","):
        calls = [[times[1] for times in found[name, store]] for store in STORES]
        table.add(PROGRAMS[name], *(round(f(times), 1) for times in calls for f in (min, statistics.median)))
    imports = [times[0] for (name, _), all_times in found.items() if name != "pipeline" for times in all_times]
    if imports:
        result.summary["import"] = f"{min(imports):.1f} ms"
    print("| " + " | ".join(["first calls of", *(f"{name}, {unit}" for name, unit, _ in heads)]) + " |")
    print("|---|" + "---:|" * len(heads))
    for title, *times in table.rows:
        print(f"| {title} | " + " | ".join(f"{t:.1f}" for t in times) + " |")
    print(f"import lancehead after NumPy: {result.summary.get('import', 'not measured')}")
    result.write(given.json)


if __name__ == "__main__":
    main()
