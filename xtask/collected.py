"""The list of all tests, and how it differs from one that was saved: `cargo xtask collected > FILE` before a change,
`cargo xtask collected FILE` after it.

A line is a test of pytest, a `#[test]` of Rust, or a file of `tests/ir` or `tests/infer`. A test is the same if its
file has moved, or if its file is gone and one other file has a test of its name; else it is gone. The exit status is 1
if a test is gone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUST = re.compile(r"#\[test\]\s*(?:#\[[^\n]*\]\s*|//[^\n]*\s*)*fn\s+(\w+)")


def collected(root: Path) -> list[str]:
    """All tests, each as `file::name`; files of expectations are tests, too."""
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=root, capture_output=True, text=True, env={**os.environ, "PYTHONHASHSEED": "0"},
    )  # fmt: skip
    if run.returncode:
        sys.exit(run.stdout[-4000:] + run.stderr[-4000:])
    # Some names have the address of a function.
    tests = [re.sub(" at 0x[0-9a-f]+", "", line) for line in run.stdout.splitlines() if "::" in line]
    for place in ("crates", "xtask"):
        for path in sorted((root / place).rglob("*.rs")):
            tests += [f"{path.relative_to(root)}::{name}" for name in RUST.findall(path.read_text("utf-8"))]
    for suffix in ("lir", "uir"):
        tests += [f"{path.relative_to(root)}::file" for path in sorted((root / "tests").rglob(f"*.{suffix}"))]
    return sorted(tests)


def parts(test: str) -> tuple[str, str]:
    """The file of a test, and its name in it."""
    file, _, name = test.partition("::")
    return file, name


def compared(old: list[str], new: list[str]) -> tuple[dict[str, str], list[str], list[str]]:
    """Tests that have moved, from where to where; those that are gone; those that are new."""
    gone, come, moved = sorted(set(old) - set(new)), sorted(set(new) - set(old)), {}
    files = {parts(test)[0] for test in new}
    keys: list[Callable[[str], tuple[str, str] | None]] = [
        lambda test: (parts(test)[0].rsplit("/", 1)[-1], parts(test)[1]),
        # In a file of another name, only if that of the old one is gone.
        lambda test: None if test in before and parts(test)[0] in files else ("", parts(test)[1]),
    ]
    before = set(old)
    for key in keys:
        places = defaultdict(list)
        for test in come:
            places[key(test)].append(test)
        for test in gone:
            if (at := key(test)) and len(places[at]) == 1:
                moved[test] = places[at].pop()
        gone = [test for test in gone if test not in moved]
        come = sorted(set(come) - set(moved.values()))
    return moved, gone, come


def main() -> int:
    tests = collected(ROOT)
    if len(sys.argv) == 1:
        print(*tests, sep="\n")
        return 0
    old = [line for line in Path(sys.argv[1]).read_text("utf-8").splitlines() if "::" in line]
    moved, gone, come = compared(old, tests)
    for before, after in sorted({(parts(a)[0], parts(b)[0]) for a, b in moved.items()}):
        print(f"moved  {before} -> {after}")
    print(*[f"gone   {test}" for test in gone], *[f"new    {test}" for test in come], sep="\n")
    print(f"{len(old)} tests were there and {len(tests)} are: {len(moved)} moved, {len(gone)} gone, {len(come)} new")
    return int(bool(gone))


if __name__ == "__main__":
    sys.exit(main())
