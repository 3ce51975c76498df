"""Random programs with fresh seeds, for some minutes: `python tests/fuzz/night.py --minutes 20`.

The fuzzers take turns. A case that fails, and fails again when it runs alone, is written to
`tests/fuzz/found/FUZZER-SEED.txt`, which becomes part of the repository: `test_found.py` runs it again from then on.
"""

from __future__ import annotations

import argparse
import random
import secrets
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from fuzzers import FUZZERS, Fuzzer

FOUND = Path(__file__).with_name("found")
#: Seeds are below it.
SEEDS = 2**31


def found(folder: Path) -> list[tuple[str, int]]:
    """The fuzzers and seeds of cases that have failed once."""
    cases = [path.stem.rpartition("-") for path in sorted(folder.glob("*.txt"))]
    return [(name, int(seed)) for name, _, seed in cases]


def run(fuzzers: dict[str, Fuzzer], seed: int, seconds: float, folder: Path) -> list[tuple[str, int]]:
    """The cases that fail within some seconds; each fuzzer has one turn at least."""
    draw, end, failed = random.Random(seed), time.monotonic() + seconds, []
    turns = 0
    while turns < len(fuzzers) or time.monotonic() < end:
        name, fuzzer = list(fuzzers.items())[turns % len(fuzzers)]
        for case, text in fuzzer.run(draw.randrange(SEEDS), fuzzer.turn).items():
            failed.append((name, case))
            again = fuzzer.run(case, 1)
            if again:
                folder.mkdir(exist_ok=True)
                (folder / f"{name}-{case}.txt").write_text(f"{text}\n", encoding="utf-8")
            print(f"{name}, seed {case}{'' if again else ', not again when it ran alone'}:\n{text}", flush=True)
        turns += 1
    print(f"{turns} turns of {len(fuzzers)} fuzzers, {len(failed)} cases fail", flush=True)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(SEEDS))
    parser.add_argument("--only", choices=FUZZERS, help="one of the fuzzers")
    asked = parser.parse_args()
    print(f"--seed {asked.seed}", flush=True)
    chosen = {asked.only: FUZZERS[asked.only]} if asked.only else FUZZERS
    return int(bool(run(chosen, asked.seed, 60 * asked.minutes, FOUND)))


if __name__ == "__main__":
    sys.exit(main())
