"""Makes `docs/conformance.md` from what `numba_suite.py` prints.

    python benches/conformance.py target/bench/suite.log > docs/conformance.md
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HEAD = """# Conformance

How much of Numba's own public-API tests passes: the open selection, run by `benches/run.sh suite` against this repository's wheel. A module that returns Python functions
unchanged passes about half of some areas. What is low here is mostly what the language does not have yet: typed containers, sets and dictionaries, records, datetimes,
`jitclass`, `overload`, `cfunc`, `objmode`. There is no object mode: `forceobj=True` is accepted and changes nothing.

| area | tests | passed | |
|---|---:|---:|---:|"""

ROW = re.compile(r"^(\S.*?)\s{2,}(\d+)\s+(\d+)\b")


def rows(log: str) -> list[tuple[str, int, int]]:
    """Area, tests, passed; the last is the total."""
    table = log[log.index("\narea ") :].splitlines()[2:]
    found = []
    for line in table:
        if match := ROW.match(line):
            found.append((match[1], int(match[2]), int(match[3])))
            if match[1] == "total":
                break
    return found


def main() -> None:
    print(HEAD)
    for area, tests, passed in rows(Path(sys.argv[1]).read_text(encoding="utf-8")):
        mark = "**" if area == "total" else ""
        print(f"| {mark}{area}{mark} | {tests} | {passed} | {100 * passed / tests:.0f} % |")


if __name__ == "__main__":
    main()
