"""Runs random programs in CPython and compiled and compares all that can be seen.

    python tests/fuzz/differential.py --count 10000 --seed 1 --jobs 2

A batch runs in a process of its own, which says which program it is about to run: a crash or a hang is that program's.
Programs whose answers differ are printed with their seeds; `--show SEED` prints one program and both its answers.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from forms import generate
from generate import Program

BATCH = 50
#: Seconds for a batch.
TIMEOUT = 300


def answers(program: Program, njit: Any) -> list[str]:
    """The text of every call's outcome, with what became of its arguments."""
    space = {"np": np, "math": math, "njit": njit}
    exec(compile(program.source, "<fuzz>", "exec"), space)
    return [outcome(space, call) for call in program.calls]


def outcome(space: dict[str, Any], call: str) -> str:
    arguments = eval(f"({call},)" if call else "()", space)
    try:
        with np.errstate(all="ignore"):
            value = space["f"](*arguments)
        text = show(value)
    except Exception as error:
        text = show_error(error)
    return f"{text} with {show(arguments)}"


def show(value: Any) -> str:
    """A value as text that tells types and signs of zero apart; NaNs are all the same."""
    if isinstance(value, (tuple, list)):
        inside = ", ".join(map(show, value))
        return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    if isinstance(value, np.ndarray):
        return f"array({value.dtype}, {value.shape}, {[show(x) for x in value.ravel().tolist()]})"
    if isinstance(value, np.generic):
        value = value.item()
    return "nan" if value != value else repr(value)


def show_error(error: Exception) -> str:
    """Class of an exception, with its arguments where the program chose them."""
    if type(error).__module__.startswith("lancehead"):
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    chosen = len(error.args) == 2 and error.args[0] in ("a", "b")
    return f"{type(error).__name__}{error.args if chosen else ''}"


def run_one(seed: int, module: Any) -> str:
    """`same`, or what differs."""
    program = generate(seed)
    expected = answers(program, lambda function: function)
    try:
        got = answers(program, module.njit)
    except Exception as error:
        got = [show_error(error)]
    differences = [
        f"  f({call})\n    CPython  {a}\n    compiled {b}" for call, a, b in zip(program.calls, expected, got) if a != b
    ]
    return "same" if not differences else "\n".join(differences)


def work(seeds: Iterable[int], one: Callable[[int, Any], str] = run_one) -> None:
    """Runs programs of a batch and prints a line of JSON before and after each."""
    import lancehead

    for seed in seeds:
        print(json.dumps({"start": seed}), flush=True)
        print(json.dumps({"seed": seed, "verdict": one(seed, lancehead)}), flush=True)


def run_batch(seeds: list[int], script: str = __file__) -> dict[int, str]:
    """Verdicts of a batch, by a script that does the work; starts again after a program that took the process down."""
    verdicts: dict[int, str] = {}
    left = list(seeds)
    while left:
        command = [sys.executable, script, "--work", ",".join(map(str, left))]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
            output, end = done.stdout, f"process ended with {done.returncode}: {done.stderr[-400:]}"
        except subprocess.TimeoutExpired as expired:
            output, end = (expired.stdout or b"").decode(), f"no answer in {TIMEOUT} s"
        started = None
        for line in output.splitlines():
            if not line.startswith("{"):
                continue
            message = json.loads(line)
            if "start" in message:
                started = message["start"]
            else:
                verdicts[message["seed"]] = message["verdict"]
                started = None
        if started is None and len([s for s in left if s not in verdicts]) == len(left):
            started = left[0]
        if started is not None:
            verdicts[started] = end
        left = [seed for seed in left if seed not in verdicts]
    return verdicts


def run(first: int, count: int, jobs: int, script: str = __file__) -> dict[int, str]:
    """Verdicts of `count` programs."""
    seeds = list(range(first, first + count))
    batches = [seeds[i : i + BATCH] for i in range(0, count, BATCH)]
    run_one_batch = functools.partial(run_batch, script=script)
    verdicts: dict[int, str] = {}
    with ThreadPoolExecutor(jobs) as pool:
        for batch in pool.map(run_one_batch, batches):
            verdicts |= batch
    return verdicts


def main(
    about: str = __doc__,
    script: str = __file__,
    source: Callable[[int], Program] = generate,
    one: Callable[[int, Any], str] = run_one,
) -> int:
    """The command, for this script or for one that has other programs."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", type=int, metavar="SEED")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(map(int, options.work.split(",")), one)
        return 0
    if options.show is not None:
        program = source(options.show)
        print(program.source, *program.calls, sep="\n")
        print(run_batch([options.show], script)[options.show])
        return 0
    verdicts = run(options.seed, options.count, options.jobs, script)
    wrong = {seed: text for seed, text in verdicts.items() if text != "same"}
    for seed, text in wrong.items():
        print(f"seed {seed}:\n{text}")
    print(f"{len(verdicts) - len(wrong)} of {len(verdicts)} programs agree")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
